package verify

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/untoldkit/untold/finding"
	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/utex"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/payloadpath"
)

// The codes of findings about a manifest and a container that disagree; each
// of both may be faultless alone.
const (
	CodePayloadType      = "payload-type"      // error: another kind of file than the entry is for
	CodePayloadBounds    = "payload-bounds"    // error: the file's geometry lies elsewhere
	CodePayloadOutside   = "payload-outside"   // warning: the file's geometry reaches beyond the entry's bounds
	CodePayloadTriangles = "payload-triangles" // error: another number of triangles
)

// slack is how far geometry may reach beyond bounds, in metres: rounding.
const slack = 1e-3

// comparison holds a manifest against its containers.
type comparison struct {
	dir   string
	file  *File
	limit int // findings per code, below 0 none
	count map[finding.Code]int
	// parity: the manifest was cooked as the reference exporter does it, with
	// cells as the bounds of uncut objects.
	parity bool
}

// comparePayloads adds findings about containers that are not what the
// manifest says of them. Files that are missing or damaged have findings of
// their own.
func (f *File) comparePayloads(m *manifest.Manifest, dir string, limit int) {
	if m.DryRun {
		return
	}
	c := &comparison{dir: dir, file: f, limit: limit, count: map[finding.Code]int{}, parity: m.Parity()}
	for i := range m.Tiles {
		c.tile(&m.Tiles[i], fmt.Sprintf("/tiles/%d", i), format.FileTile)
	}
	if b := m.SharedBucket; b != nil {
		c.tile(&b.Tile, "/shared_bucket", format.FileShared)
	}
	if m.Pyramid != nil {
		for i := range m.Pyramid.Nodes {
			n, at := &m.Pyramid.Nodes[i], fmt.Sprintf("/pyramid/nodes/%d", i)
			c.payload(n.Path, at+"/path_relative_to_manifest", at, n.ID, format.FileHLOD, n.TriangleCount, &n.Bounds)
		}
	}
}

func (c *comparison) tile(t *manifest.Tile, at string, want format.FileType) {
	c.payload(t.Path, at+"/path_relative_to_manifest", at, t.ID, want, t.TriangleCount, &t.Bounds)
	for k := range t.HLODLevels {
		l, p := &t.HLODLevels[k], fmt.Sprintf("%s/hlod_levels/%d", at, k)
		c.payload(l.Path, p+"/path", p, t.ID, format.FileHLOD, l.TriangleCount, nil)
	}
	for k := range t.LODLevels {
		l, p := &t.LODLevels[k], fmt.Sprintf("%s/lod_levels/%d", at, k)
		c.payload(l.Path, p+"/path", p, t.ID, format.FileLOD, l.TriangleCount, nil)
	}
}

// payload compares one entry with its file. triangles of 0 and bounds of nil
// are unknown.
func (c *comparison) payload(rel, pathAt, at, id string, want format.FileType, triangles int, bounds *manifest.Bounds) {
	path, err := payloadpath.Resolve(c.dir, rel)
	if err != nil {
		return
	}
	r, err := format.Open(path)
	if err != nil {
		return
	}
	defer r.Close()
	if got := r.Header().FileType; got != want {
		c.add(CodePayloadType, finding.Error, pathAt, fmt.Sprintf("%s: %s is a file of type %s, the entry is for a %s", id, rel, got, want),
			"the entries of two payloads may have been swapped; cook again, or rebuild with `untold manifest build`")
	}
	if n := trianglesOf(r); triangles != 0 && n != triangles {
		c.add(CodePayloadTriangles, finding.Error, at+"/triangle_count", fmt.Sprintf("%s: %s holds %d triangles, the manifest says %d", id, rel, n, triangles),
			"cook again, or rebuild with `untold manifest build`")
	}
	if bounds != nil && len(r.Meshes()) > 0 {
		c.bounds(r, rel, at, id, bounds)
	}
}

func (c *comparison) bounds(r *format.Reader, rel, at, id string, bounds *manifest.Bounds) {
	w := worldBox(r)
	file, entry := geom.Box{Min: geom.FromF32(w.Min), Max: geom.FromF32(w.Max)}, bounds.Box()
	apart, beyond := 0.0, 0.0
	for a := range 3 {
		apart = max(apart, file.Min[a]-entry.Max[a], entry.Min[a]-file.Max[a])
		beyond = max(beyond, entry.Min[a]-file.Min[a], file.Max[a]-entry.Max[a])
	}
	// Single precision ends at some 1e-7 of a coordinate.
	size := slack
	for a := range 3 {
		size = max(size, 1e-6*max(abs(file.Min[a]), abs(file.Max[a])))
	}
	switch {
	case apart > size:
		c.add(CodePayloadBounds, finding.Error, at+"/bounds", fmt.Sprintf("%s: the geometry of %s lies %.4g m outside of its bounds", id, rel, apart),
			"distances are measured to the bounds: cook again, or rebuild with `untold manifest build`")
	case beyond > size:
		severity := finding.Warning
		if c.parity {
			severity = finding.Info
		}
		c.add(CodePayloadOutside, severity, at+"/bounds", fmt.Sprintf("%s: the geometry of %s reaches %.4g m beyond its bounds", id, rel, beyond),
			"distances are measured to the bounds; cells as bounds of uncut objects have this")
	}
}

// worldBox returns the header's box, which is tight, unless it cannot contain the
// file's root transform.
func worldBox(r *format.Reader) records.Bounds {
	w := r.Header().WorldBounds
	_, placed := r.Placed()
	for a := range 3 {
		size := slack + float64(1e-6*max(abs(float64(placed.Min[a])), abs(float64(placed.Max[a]))))
		if float64(w.Min[a]) < float64(placed.Min[a])-size || float64(w.Max[a]) > float64(placed.Max[a])+size {
			return placed
		}
	}
	return w
}

func abs(x float64) float64 { return max(x, -x) }

// trianglesOf counts a container's triangles; instances count once each.
func trianglesOf(r *format.Reader) int {
	n := 0
	for _, m := range r.Meshes() {
		n += int(m.IndexCount / 3)
	}
	return n
}

// add reports a finding unless there are enough of its code.
func (c *comparison) add(code finding.Code, severity finding.Severity, pointer, message, hint string) {
	c.count[code]++
	if c.limit >= 0 && c.count[code] > c.limit {
		switch severity {
		case finding.Error:
			c.file.errors++
		case finding.Warning:
			c.file.warnings++
		}
		return
	}
	c.file.add(finding.Finding{
		Code: code, Severity: severity, Message: message, Hint: hint, Record: -1, Pointer: pointer, Offset: -1,
		Place: strings.TrimPrefix(pointer, "/"),
	})
}

// IsTexture reports whether a path names a cooked texture: .utex and .ktx2 files.
func IsTexture(path string) bool {
	return strings.EqualFold(filepath.Ext(path), utexExt) || strings.EqualFold(filepath.Ext(path), ".ktx2")
}

const utexExt = ".utex"

// addTexture judges a cooked texture. There are at most a few findings per
// level, so none is held back, but that the reference engine does not load a
// format is said only of a file that was named: a folder has many alike.
func (f *File) addTexture(many bool) error {
	if !strings.EqualFold(filepath.Ext(f.Path), utexExt) {
		return f.addKTX2(many)
	}
	found, err := utex.ValidateFile(f.Path)
	for _, x := range found {
		if many && x.Code == utex.CodeEngine {
			continue
		}
		f.add(x)
	}
	return err
}
