package manifest

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/untoldkit/untold/finding"
	"github.com/untoldkit/untold/internal/human"
	"github.com/untoldkit/untold/manifest/payloadpath"
)

// queryCeiling is the distance in metres beyond which the reference engine
// tears everything down, whatever the radii say.
const queryCeiling = 500.0

// ValidateOptions controls Validate. The zero value looks at the manifest
// only.
type ValidateOptions struct {
	// CheckFiles looks at the payload files: existence, declared sizes and
	// hashes. Each file is read once.
	CheckFiles bool
	// SkipHashes leaves the hashes out of CheckFiles.
	SkipHashes bool
	// queryCeiling in metres replaces the engine's 500 m; 0 keeps it.
	QueryCeiling float64
	// MaxPerCode bounds the findings of one code; a last one says how many
	// more there are. 0 is unlimited.
	MaxPerCode int
}

// Validate reports what is wrong or odd about a manifest whose folder is dir.
// Its findings carry no byte offsets; those of ValidateFile do. The order is
// fixed: the top level, the shared bucket, the tiles, the pyramid, names and floors,
// distances, files. Bands
// and radii that many tiles share are reported once, at the first tile, with
// the number of the others. It never fails; an unreadable file is a finding.
func Validate(m *Manifest, dir string, opts ValidateOptions) []finding.Finding {
	v := newValidator(m, dir, opts, nil)
	v.run()
	return v.limited()
}

// ValidateFile decodes the manifest at path and validates it, files relative
// to its folder. Unlike Load it goes on after an error that leaves the text
// readable, and its findings carry byte offsets. The error is about reading
// the file at path only.
func ValidateFile(path string, opts ValidateOptions) ([]finding.Finding, error) {
	data, err := readFile(path)
	var long *DecodeError
	if errors.As(err, &long) {
		return []finding.Finding{newFinding(codeOf(long), "", long.Offset, long.what())}, nil
	}
	if err != nil {
		return nil, err
	}
	if IsPlan(data) {
		return validatePlan(data, filepath.Dir(path), opts), nil
	}
	return ValidateBytes(data, filepath.Dir(path), opts), nil
}

// validatePlan judges the manifest in a plan; offsets are those of the plan.
func validatePlan(data []byte, dir string, opts ValidateOptions) []finding.Finding {
	inner, at, err := openPlan(data)
	var e *DecodeError
	if errors.As(err, &e) {
		return []finding.Finding{newFinding(codeOf(e), e.Pointer, e.Offset, e.what())}
	}
	found := ValidateBytes(inner, dir, opts)
	for i := range found {
		offset := found[i].Offset
		if offset >= 0 {
			offset += at
		}
		place(&found[i], "/manifest"+found[i].Pointer, offset)
	}
	return found
}

// ValidateBytes is ValidateFile for the text of a manifest in the folder dir.
func ValidateBytes(data []byte, dir string, opts ValidateOptions) []finding.Finding {
	d := decode(data, true)
	v := newValidator(d.manifest, dir, opts, d)
	for _, e := range d.errs {
		v.findings = append(v.findings, newFinding(codeOf(e), e.Pointer, e.Offset, fmt.Sprintf(
			"line %d, column %d: %s", e.Line, e.Column, e.what())))
		if e.Hint != "" {
			v.findings[len(v.findings)-1].Hint = e.Hint
		}
	}
	v.findings = append(v.findings, d.notes...)
	slices.SortStableFunc(v.findings, func(a, b finding.Finding) int { return cmp.Compare(a.Offset, b.Offset) })
	if d.dropped > 0 {
		v.add(codeTruncated, "", "%d more findings about the text", d.dropped)
	}
	if d.err == nil {
		at := len(v.findings)
		v.run()
		locateAll(data, v.findings[at:])
	}
	return v.limited()
}

// validator is one run of Validate.
type validator struct {
	m        *Manifest
	dir      string
	opts     ValidateOptions
	doc      *document // nil without text
	findings []finding.Finding
	ids      map[string]string // tile id -> pointer of the first
	paths    map[string]string // path in lower case -> pointer of the first
	files    []file            // to check, in order
}

func newValidator(m *Manifest, dir string, opts ValidateOptions, doc *document) *validator {
	if opts.QueryCeiling == 0 {
		opts.QueryCeiling = queryCeiling
	}
	return &validator{
		m: m, dir: dir, opts: opts, doc: doc,
		ids: make(map[string]string, len(m.Tiles)), paths: make(map[string]string, len(m.Tiles)),
	}
}

func (v *validator) add(code finding.Code, pointer, format string, args ...any) {
	v.findings = append(v.findings, newFinding(code, pointer, -1, fmt.Sprintf(format, args...)))
}

// grade is add with another severity than the rule's.
func (v *validator) grade(severity finding.Severity, code finding.Code, pointer, format string, args ...any) {
	v.add(code, pointer, format, args...)
	v.findings[len(v.findings)-1].Severity = severity
}

// parity is add, but only worth a note in a manifest that was cooked as the
// reference exporter does it, on demand.
func (v *validator) parity(code finding.Code, pointer, format string, args ...any) {
	if v.m.Parity() {
		v.grade(finding.Info, code, pointer, format, args...)
	} else {
		v.add(code, pointer, format, args...)
	}
}

// limited applies MaxPerCode.
func (v *validator) limited() []finding.Finding {
	if v.opts.MaxPerCode <= 0 {
		return v.findings
	}
	count := map[finding.Code]int{}
	var order []finding.Code
	out := v.findings[:0]
	for _, f := range v.findings {
		if count[f.Code]++; count[f.Code] <= v.opts.MaxPerCode {
			out = append(out, f)
		} else if count[f.Code] == v.opts.MaxPerCode+1 {
			order = append(order, f.Code)
		}
	}
	for _, c := range order {
		out = append(out, newFinding(codeTruncated, "", -1,
			fmt.Sprintf("%d more findings of %s", count[c]-v.opts.MaxPerCode, c)))
	}
	return out
}

// tilePointer returns the pointer of tile i, in the text if there is one.
func (v *validator) tilePointer(i int) string {
	if v.doc != nil {
		i = v.doc.tiles[i].index
	}
	return fmt.Sprintf("/tiles/%d", i)
}

// run applies the rules that need a decoded manifest.
func (v *validator) run() {
	v.top()
	if b := v.m.SharedBucket; b != nil {
		v.entry(&b.Tile, "/shared_bucket")
		v.bucket(b)
	}
	for i := range v.m.Tiles {
		v.entry(&v.m.Tiles[i], v.tilePointer(i))
		v.levels(&v.m.Tiles[i], v.tilePointer(i))
	}
	v.pyramid()
	v.names()
	v.radii()
	v.bands()
	v.ceiling()
	v.reach()
	if v.opts.CheckFiles && !v.m.DryRun {
		v.checkFiles()
	}
}

// top checks the keys of the top level.
func (v *validator) top() {
	m := v.m
	switch {
	case m.PartitioningMode == "" && m.Version >= VersionFloor:
		v.add(codeMode, "", "partitioning_mode is missing; version %d does not switch the floors on", m.Version)
	case m.PartitioningMode != "" && m.PartitioningMode != ModeUniformGrid && !m.HasFloors():
		v.add(codeMode, "/partitioning_mode", "unknown partitioning mode %q", human.Clip(m.PartitioningMode, 80))
	}
	if len(m.Tiles) == 0 && m.SharedBucket == nil {
		v.add(codeNoTiles, "/tiles", "the manifest names no tiles")
	}
	if t := m.TileSize; t != nil && !(t.X > 0 && t.Y > 0 && t.Z > 0) {
		v.add(codeTileSize, "/tile_size", "the tile size %v x %v x %v is not positive", t.X, t.Y, t.Z)
	}
	if m.PayloadDir != "" {
		if err := payloadpath.Check(m.PayloadDir); err != nil && m.PayloadDir != "." {
			v.path(err, "/payload_dir_relative_to_manifest")
		}
	}
	if m.SceneBounds != nil {
		v.box(*m.SceneBounds, "/scene_bounds", codeBounds)
	}
	if o := m.OriginOffset; o != nil {
		for i, axis := range []string{"x", "y", "z"} {
			if !(math.Abs(o[i]) <= maxOriginOffset) {
				v.add(codeOrigin, "/origin_offset", "along %s, %v m is farther than all that is on Earth", axis, o[i])
				break
			}
		}
	}
	if m.ContentBounds != nil {
		v.box(*m.ContentBounds, "/content_bounds", codeBounds)
	}
	for i := range m.Textures {
		if uv := m.Textures[i].UVPerMetre; !(uv >= 0) {
			v.add(codeTexture, fmt.Sprintf("/textures/%d/uv_per_metre", i), "%v of the texture %s on a metre", uv, human.Clip(m.Textures[i].URI, 80))
		}
	}
	v.interior()
	if m.ColorLUT != nil {
		v.lut(m.ColorLUT)
	}
	if m.ColorGradeLUT != nil {
		v.grading(m.ColorGradeLUT)
	}
	if m.DryRun && v.opts.CheckFiles {
		v.grade(finding.Info, codeDryRun, "/dry_run", "this is a plan: it has no files to check")
	}
}

// interior checks that interior tiles have a zone to be inside of.
func (v *validator) interior() {
	n := 0
	for i := range v.m.Tiles {
		if v.m.Tiles[i].Interior {
			n++
		}
	}
	switch z := v.m.InteriorZone; {
	case z != nil:
		v.box(*z, "/interior_zone", codeInteriorZone)
	case n > 0:
		v.parity(codeInteriorZone, "", "%d tiles are interior, but there is no interior_zone", n)
	}
}

// lut checks the rules that the engine enforces on a colour table.
func (v *validator) lut(l *ColorLUT) {
	const at = "/colorLUT"
	if err := payloadpath.Check(l.URI); err != nil {
		v.path(err, at+"/lutUri")
	}
	if l.Size < 2 || l.Size > 64 {
		v.add(codeColorLUT, at+"/lutSize", "lutSize %d is not within 2 to 64", l.Size)
	}
	if l.DisplayDevice != nil && *l.DisplayDevice != "sRGB" {
		v.add(codeColorLUT, at+"/displayDevice", "displayDevice %q is neither null nor \"sRGB\"", human.Clip(*l.DisplayDevice, 80))
	}
	if !(l.Gamma > 0) {
		v.add(codeColorLUT, at+"/gamma", "gamma %v is not above 0", l.Gamma)
	}
	if !(l.ShaperMinStops < l.ShaperMaxStops) {
		v.add(codeColorLUT, at+"/shaperMinStops", "shaperMinStops %v is not below shaperMaxStops %v", l.ShaperMinStops, l.ShaperMaxStops)
	}
}

// path reports an error of payloadpath.Check or payloadpath.Resolve.
func (v *validator) path(err error, pointer string) {
	v.findings = append(v.findings, pathFinding(err, pointer))
}

func pathFinding(err error, pointer string) finding.Finding {
	var p *payloadpath.Error
	if errors.As(err, &p) {
		return newFinding(codePathEscapes, pointer, -1, fmt.Sprintf("the path %q %s", human.Clip(p.Path, 200), p.Reason))
	}
	return newFinding(codeFileAccess, pointer, -1, err.Error())
}

// box reports numbers that are not finite, or in the wrong order, and says which.
func (v *validator) box(b Bounds, pointer string, code finding.Code) bool {
	for i, axis := range []string{"x", "y", "z"} {
		lo, hi := b.Min[i], b.Max[i]
		if math.IsInf(lo, 0) || math.IsInf(hi, 0) || math.IsNaN(lo) || math.IsNaN(hi) {
			v.add(code, pointer, "along %s, min %v and max %v are not both finite", axis, lo, hi)
			return false
		}
		if lo > hi {
			v.add(code, pointer, "along %s, min %v is above max %v", axis, lo, hi)
			return false
		}
	}
	return true
}

// maxOriginOffset is the greatest origin_offset that makes sense, in metres:
// double precision steps by a tenth of a micrometre there.
const maxOriginOffset = 1e9

// entry checks what tiles and the shared bucket have in common.
func (v *validator) entry(t *Tile, at string) {
	if t.ID == "" {
		v.add(codeTileID, at+"/tile_id", "the tile id is empty")
	} else if first, ok := v.ids[t.ID]; ok {
		v.add(codeDuplicateTile, at+"/tile_id", "the tile id %q is also that of %s", human.Clip(t.ID, 80), first)
	} else {
		v.ids[t.ID] = at
	}
	if v.box(t.Bounds, at+"/bounds", codeBounds) {
		v.center(t, at)
	}
	if t.CellBounds != nil {
		v.box(*t.CellBounds, at+"/cell_bounds", codeBounds)
	}
	v.payload(at+"/path_relative_to_manifest", at, t.Path, t.FileSizeBytes, t.SHA256, true)
}

// center checks that the centre is the middle of the bounds.
func (v *validator) center(t *Tile, at string) {
	if t.Bounds.centered(t.Center) {
		return
	}
	where := "not in the middle of"
	for i, c := range t.Center {
		if !(t.Bounds.Min[i] <= c && c <= t.Bounds.Max[i]) {
			where = "outside"
		}
	}
	v.add(codeCenter, at+"/center", "center %v is %s bounds, whose middle is %v", t.Center, where, t.Bounds.Center())
}

// centered reports whether c is the middle, to within a thousandth of the
// size. Half the slack is for single precision.
func (b Bounds) centered(c [3]float64) bool {
	middle := b.Center()
	for i := range c {
		lo, hi := b.Min[i], b.Max[i]
		slack := 1e-4 + float64(1e-3*(hi-lo)) + float64(1e-6*max(math.Abs(lo), math.Abs(hi)))
		if !(math.Abs(c[i]-middle[i]) <= slack) {
			return false
		}
	}
	return true
}

// payload checks a path and what is declared about its file, and remembers the
// file. declared says that a size belongs there.
func (v *validator) payload(at, entry, path string, size int64, sha string, declared bool) {
	if err := payloadpath.Check(path); err != nil {
		v.path(err, at)
		return
	}
	// Files that differ in case only are one file on Windows and macOS.
	key := strings.ToLower(path)
	if first, ok := v.paths[key]; ok {
		v.add(codeDuplicatePath, at, "the path %q is also that of %s", human.Clip(path, 200), first)
	} else {
		v.paths[key] = at
	}
	if sha != "" && !isSHA256(sha) {
		v.add(codeFileHash, entry+"/sha256", "%q is no SHA-256 in lower-case hexadecimal digits", human.Clip(sha, 80))
		sha = ""
	}
	switch {
	case size < 0:
		v.add(codeFileSize, entry+"/file_size_bytes", "the size %d is negative", size)
	case v.m.DryRun && (size != 0 || sha != ""):
		v.add(codeDryRun, entry+"/file_size_bytes", "a dry run declares a size or hash of a file")
	case !v.m.DryRun && declared && size == 0:
		v.grade(finding.Warning, codeFileSize, entry+"/file_size_bytes", "the size is 0")
	}
	if !v.opts.CheckFiles || v.m.DryRun {
		return
	}
	v.files = append(v.files, file{at: at, entry: entry, path: path, size: size, sha: sha, declared: declared || size != 0})
}

// isSHA256 reports whether s is 64 lower-case hexadecimal digits.
func isSHA256(s string) bool {
	return len(s) == 64 && strings.Trim(s, hexDigits) == ""
}

// levels checks the hlod and lod entries of a tile.
func (v *validator) levels(t *Tile, at string) {
	if n := len(t.HLODLevels); n > 1 {
		v.add(codeLevels, at+"/hlod_levels", "only the first of %d hlod levels is used", n)
	}
	if !slices.IsSortedFunc(t.LODLevels, func(a, b Level) int { return cmp.Compare(a.SwitchDistance, b.SwitchDistance) }) {
		v.add(codeLevels, at+"/lod_levels", "the lod levels are not in ascending order of switch_distance")
	}
	for _, list := range []struct {
		name   string
		levels []Level
	}{{"hlod_levels", t.HLODLevels}, {"lod_levels", t.LODLevels}} {
		for i := range list.levels {
			l := &list.levels[i]
			entry := fmt.Sprintf("%s/%s/%d", at, list.name, i)
			if !(l.SwitchDistance > 0) {
				v.add(codeLevels, entry+"/switch_distance", "the switch distance %v is not positive", l.SwitchDistance)
			}
			v.payload(entry+"/path", entry, l.Path, l.FileSizeBytes, l.SHA256, false)
			if l.GeometryBytes < 0 {
				v.add(codeFileSize, entry+"/geometry_bytes", "the geometry takes %d bytes", l.GeometryBytes)
			}
		}
	}
}

// bucket checks what concerns the shared bucket only.
func (v *validator) bucket(b *SharedBucket) {
	if v.m.StreamingDefaults.PrefetchRadius != nil && b.PrefetchRadius == nil {
		v.add(codeSharedPrefetch, "/shared_bucket",
			"the default prefetch_radius %v m applies to the shared bucket too, which then waits for the camera to come that near",
			*v.m.StreamingDefaults.PrefetchRadius)
	}
	if b.StreamingRadius != nil && b.UnloadRadius != nil {
		v.radiiOrder(*b.StreamingRadius, *b.UnloadRadius, "/shared_bucket", "")
	}
}
