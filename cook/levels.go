package cook

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/band"
	"github.com/untoldkit/untold/partition"
)

// The defaults of the level options.
const (
	DefaultLevelMinTriangles = 12
	DefaultHLODMaxTexture    = 256
	DefaultLevelMaxPixels    = 24
	DefaultLevelPixels       = 2    // with Options.FitDistances
	DefaultLevelFovY         = 60   // degrees
	DefaultLevelHeight       = 1080 // pixels
	// levelSaves is the part of the finer representation's triangles that a
	// level must save.
	levelSaves = 0.2
	// levelSavesLeast is how many triangles it saves at least, where cook decides
	// itself which levels there are: fewer cost less than one more file to ask for,
	// and a ground tile of some dozens looks best as it is.
	levelSavesLeast = 128
)

// ParseLODLevel reads DISTANCE:RATIO, such as 0.3:0.5. A distance of at most 1
// is a fraction of the band between the radii, a larger one is metres.
func ParseLODLevel(s string) (manifest.LODLevel, error) {
	var l manifest.LODLevel
	f := strings.Split(s, ":")
	if len(f) != 2 {
		return l, fmt.Errorf("%q is not DISTANCE:RATIO, such as 0.3:0.5", s)
	}
	var err error
	if l.SwitchDistance, l.DecimateRatio, err = parseLevel(f[0], f[1]); err != nil {
		return l, fmt.Errorf("%q: %w", s, err)
	}
	return l, nil
}

// ParseHLODLevel reads SUFFIX:DISTANCE:RATIO, such as _hlod:1:0.1.
func ParseHLODLevel(s string) (manifest.HLODLevel, error) {
	var l manifest.HLODLevel
	f := strings.Split(s, ":")
	if len(f) != 3 {
		return l, fmt.Errorf("%q is not SUFFIX:DISTANCE:RATIO, such as _hlod:1:0.1", s)
	}
	var err error
	if l.SwitchDistance, l.ReductionRatio, err = parseLevel(f[1], f[2]); err != nil {
		return l, fmt.Errorf("%q: %w", s, err)
	}
	l.Suffix = f[0]
	return l, nil
}

func parseLevel(distance, ratio string) (d, r float64, err error) {
	if d, err = strconv.ParseFloat(distance, 64); err != nil {
		return 0, 0, fmt.Errorf("the distance %q is not a number", distance)
	}
	if r, err = strconv.ParseFloat(ratio, 64); err != nil {
		return 0, 0, fmt.Errorf("the ratio %q is not a number", ratio)
	}
	return d, r, checkLevel(d, r)
}

func checkLevel(distance, ratio float64) error {
	switch {
	case !(distance >= 0 && distance <= math.MaxFloat32):
		return fmt.Errorf("the distance %v is not 0 or more: up to 1 a fraction of the band, above that metres", distance)
	case !(ratio > 0 && ratio <= 1):
		return fmt.Errorf("the ratio %v is not above 0 and at most 1", ratio)
	}
	return nil
}

// Suffixes become parts of file names; _lod1 and the like are the LODs'.
var (
	hlodSuffix = regexp.MustCompile(`^_[A-Za-z0-9_-]{1,32}$`)
	lodSuffix  = regexp.MustCompile(`^_lod[0-9]+$`)
)

// checkLevels fills in defaults, refuses level options that cannot work, and
// sorts the levels.
func (o *Options) checkLevels() error {
	orDefault := func(v *int, def int) {
		if *v == 0 {
			*v = def
		}
	}
	orDefault(&o.LODMinTriangles, DefaultLevelMinTriangles)
	orDefault(&o.HLODMaxTexture, DefaultHLODMaxTexture)
	orDefault(&o.LevelHeight, DefaultLevelHeight)
	if o.LevelFovY == 0 {
		o.LevelFovY = DefaultLevelFovY
	}
	switch {
	case o.LODMaxErrorPixels == 0:
		o.LODMaxErrorPixels = DefaultLevelMaxPixels
	case math.IsInf(o.LODMaxErrorPixels, 0): // keys and states have finite numbers
		o.LODMaxErrorPixels = -1
	}
	if o.LODErrorPixels == 0 && o.FitDistances {
		o.LODErrorPixels = DefaultLevelPixels
	}
	for _, l := range o.LODs {
		if err := checkLevel(l.SwitchDistance, l.DecimateRatio); err != nil {
			return fmt.Errorf("cook: lod level: %w", err)
		}
	}
	// The caller's slices stay as they are.
	o.LODs, o.HLODs = slices.Clone(o.LODs), slices.Clone(o.HLODs)
	slices.SortStableFunc(o.LODs, func(a, b manifest.LODLevel) int {
		return cmp.Or(cmp.Compare(metres(a.SwitchDistance), metres(b.SwitchDistance)), cmp.Compare(b.DecimateRatio, a.DecimateRatio))
	})
	for i := 1; i < len(o.LODs); i++ {
		if a, b := o.LODs[i-1], o.LODs[i]; b.DecimateRatio >= a.DecimateRatio {
			return fmt.Errorf("cook: the lod level at distance %v keeps %v of the triangles, the nearer one at %v only %v: farther levels must be coarser",
				b.SwitchDistance, b.DecimateRatio, a.SwitchDistance, a.DecimateRatio)
		}
	}
	seen := map[string]bool{}
	for _, l := range o.HLODs {
		if err := checkLevel(l.SwitchDistance, l.ReductionRatio); err != nil {
			return fmt.Errorf("cook: hlod level: %w", err)
		}
		if !hlodSuffix.MatchString(l.Suffix) || lodSuffix.MatchString(strings.ToLower(l.Suffix)) {
			return fmt.Errorf("cook: the hlod suffix %q is not an underscore with letters, digits, _ or - behind it, such as _hlod", l.Suffix)
		}
		if key := strings.ToLower(l.Suffix); seen[key] {
			return fmt.Errorf("cook: the hlod suffix %q is used twice", l.Suffix)
		} else {
			seen[key] = true
		}
	}
	switch {
	case !(o.LODErrorPixels >= 0 && o.LODErrorPixels <= 1e4):
		return fmt.Errorf("cook: the error in pixels is %v; it must be between 0 (off) and 10000", o.LODErrorPixels)
	case o.LODMaxErrorPixels > 0 && o.LODErrorPixels > o.LODMaxErrorPixels:
		return fmt.Errorf("cook: levels would begin where their error is %v pixels high, but none may have more than %v there: raise the largest error in pixels",
			o.LODErrorPixels, o.LODMaxErrorPixels)
	case o.LODMaxErrorPixels != o.LODMaxErrorPixels:
		return fmt.Errorf("cook: the largest error in pixels is not a number")
	case !(o.LevelFovY > 0 && o.LevelFovY < 180):
		return fmt.Errorf("cook: the field of view is %v degrees; it must be between 0 and 180", o.LevelFovY)
	case o.LevelHeight < 1:
		return fmt.Errorf("cook: the screen is %d pixels high; it must be 1 or more", o.LevelHeight)
	case o.LODMinTriangles < 1:
		return fmt.Errorf("cook: a level's least number of triangles is %d; it must be 1 or more", o.LODMinTriangles)
	case o.HLODMaxTexture < 1:
		return fmt.Errorf("cook: an hlod's texture size is %d pixels; it must be 1 or more", o.HLODMaxTexture)
	}
	return nil
}

// metres ranks distances: all fractions come before those in metres.
func metres(d float64) float64 {
	if d <= 1 {
		return d
	}
	return d + 1
}

// level is one coarser representation of a tile, planned and then built.
type level struct {
	hlod     bool
	index    int    // in Options.LODs or HLODs
	name     string // lod1, lod2, ..., hlod
	file     string // relative to the output folder
	ratio    float64
	distance float64 // metres

	// results
	made       bool
	takenBack  bool // its staged file goes
	written    written
	triangles  int
	err        float64 // metres
	seen       float64 // what is seen of the difference, metres
	gpuBytes   int64
	textures   []string           // file names in the folder of textures
	scales     map[string]float64 // textureScales, by these names
	atlas      *fileRecord        // its own texture
	atlasBytes int64
	atlasGPU   int64 // bytes of video memory
}

// Drop is a LOD or HLOD that was asked for and is not in the manifest.
type Drop struct {
	Tile   string `json:"tile_id"` // empty: every tile, or every tile of the tier
	Tier   string `json:"tier,omitempty"`
	Level  string `json:"level"`  // lod1, lod2, ..., hlod
	Bands  bool   `json:"bands"`  // there is no room between the radii; else the level would not pay
	Reason string `json:"reason"` // one line
}

// mostTriangles is how many triangles a level may have beside a finer
// representation with so many.
func (o *Options) mostTriangles(finer int) float64 {
	most := (1 - levelSaves) * float64(finer)
	if o.FitDistances {
		most = min(most, float64(finer-levelSavesLeast))
	}
	return most
}

// hasLevels reports whether any LOD or HLOD is wanted.
func (o *Options) hasLevels() bool { return len(o.LODs)+len(o.HLODs) > 0 }

// levelTiers are the tiers of which levels are made; TierNone is a grid's.
var levelTiers = []partition.Tier{partition.TierNone, partition.ExteriorShell, partition.StructuralInterior}

// planLevels gives every tile its levels with their switch distances, and
// returns those for which the bands have no room.
func (c *scenePlan) planLevels(payloads []payload) (dropped []Drop) {
	if !c.opts.hasLevels() || c.whole {
		return nil
	}
	plans := map[partition.Tier][]level{}
	for i := range c.planned.Tiles {
		t := &c.planned.Tiles[i]
		if !slices.Contains(levelTiers, t.Tier) {
			continue
		}
		list, ok := plans[t.Tier]
		if !ok {
			var drops []Drop
			list, drops = c.opts.fitLevels(c.tileRadii(t))
			plans[t.Tier] = list
			c.ns.add("levels-without-room", len(drops), int(t.Tier), describeDrops(drops))
			for _, d := range drops {
				if d.Tier = ""; c.opts.hasFloors() {
					d.Tier = t.Tier.String()
				}
				dropped = append(dropped, d)
			}
		}
		payloads[i].levels = make([]level, len(list))
		for k, l := range list {
			l.file = c.opts.PayloadDir + "/" + l.fileName(t.ID, c.opts)
			payloads[i].levels[k] = l
		}
	}
	return dropped
}

// describeDrops names the first of some drops.
func describeDrops(drops []Drop) string {
	if len(drops) == 0 {
		return ""
	}
	return drops[0].Level + ": " + drops[0].Reason
}

func (l *level) fileName(tile string, o *Options) string {
	if l.hlod {
		return partition.HLODFile(tile, o.HLODs[l.index].Suffix)
	}
	return partition.LODFile(tile, l.index+1)
}

// distances returns the configured ones.
func (o *Options) distances() (hlods, lods []float64) {
	for _, l := range o.HLODs {
		hlods = append(hlods, l.SwitchDistance)
	}
	for _, l := range o.LODs {
		lods = append(lods, l.SwitchDistance)
	}
	return hlods, lods
}

// fitLevels resolves the configured levels against the radii of a tile: from
// fine to coarse, the HLODs last.
func (o *Options) fitLevels(r partition.Radii) ([]level, []Drop) {
	if o.FitDistances {
		var out []level
		for i := range o.LODs {
			out = append(out, o.level(false, i, 0))
		}
		for i := range min(len(o.HLODs), 1) {
			out = append(out, o.level(true, i, 0))
		}
		return out, nil
	}
	hlods, lods := o.distances()
	if o.Compat {
		h := band.HLODDistances(r.Streaming, r.Unload, hlods)
		var out []level
		for i, d := range band.LODDistances(r.Streaming, r.Unload, h, lods) {
			out = append(out, o.level(false, i, band.Round(d)))
		}
		for i, d := range h {
			out = append(out, o.level(true, i, band.Round(d)))
		}
		return out, nil
	}
	fit := band.Fit(r.Streaming, r.Unload, hlods, lods)
	var out []level
	for _, s := range fit.LODs {
		out = append(out, o.level(false, s.Level, s.Distance))
	}
	for _, s := range fit.HLOD {
		out = append(out, o.level(true, s.Level, s.Distance))
	}
	var drops []Drop
	for _, d := range fit.Dropped {
		l := o.level(d.HLOD, d.Level, 0)
		drops = append(drops, Drop{Level: l.name, Bands: true, Reason: d.Reason})
	}
	return out, drops
}

func (o *Options) level(hlod bool, i int, distance float64) level {
	if hlod {
		return level{hlod: true, index: i, name: strings.TrimPrefix(o.HLODs[i].Suffix, "_"), ratio: o.HLODs[i].ReductionRatio, distance: distance}
	}
	return level{index: i, name: "lod" + strconv.Itoa(i+1), ratio: o.LODs[i].DecimateRatio, distance: distance}
}

func (l *level) fileType() format.FileType {
	if l.hlod {
		return format.FileHLOD
	}
	return format.FileLOD
}

// listLevels writes a tile's levels into its manifest entry. Switch distances
// that come from errors are fitted here, for the levels that were made.
func (c *scenePlan) listLevels(e *manifest.Tile, b *payload, r partition.Radii) {
	var made []*level
	for i := range b.levels {
		if b.levels[i].made {
			made = append(made, &b.levels[i])
		}
	}
	switch {
	case c.opts.FitDistances:
		var bands band.Bands
		if c.radiiGiven(e.SemanticTier) {
			bands, made = c.fitGiven(b, made, r)
		} else {
			bands, made = c.fitDistances(b, made, c.leastRadii(r))
		}
		e.StreamingRadius, e.UnloadRadius, e.PrefetchRadius = &bands.Streaming, &bands.Unload, &bands.Prefetch
	case c.opts.LODErrorPixels > 0 && !c.opts.DryRun:
		made = c.fitErrors(b, made, r)
	}
	for _, l := range made {
		entry := manifest.Level{
			Path: l.file, SwitchDistance: l.distance, FileSizeBytes: l.written.size, SHA256: l.written.sha256, TriangleCount: l.triangles,
		}
		if !c.opts.DryRun {
			err := l.err
			entry.GeometricError = &err
			if !c.opts.Compat {
				entry.VisualError, entry.GeometryBytes = new(l.seen), l.gpuBytes
			}
		}
		if l.hlod {
			e.HLODLevels = append(e.HLODLevels, entry)
		} else {
			e.LODLevels = append(e.LODLevels, entry)
		}
	}
}

// describeLevels records what was configured.
func (c *scenePlan) describeLevels(m *manifest.Manifest) {
	o := c.opts
	r := c.planned.Defaults
	list, _ := o.fitLevels(r)
	hlods, lods := o.HLODs, o.LODs
	if c.whole {
		hlods, lods = nil, nil
	}
	m.HLODGeneration = &manifest.HLODGeneration{Enabled: len(hlods) > 0, Levels: hlods}
	m.LODGeneration = &manifest.LODGeneration{Enabled: len(lods) > 0, Levels: lods}
	if o.FitDistances {
		return // every tile has its own
	}
	for i := range list {
		l := &list[i]
		if l.hlod {
			m.HLODGeneration.Resolved = append(m.HLODGeneration.Resolved, manifest.HLODLevel{
				Suffix: o.HLODs[l.index].Suffix, ReductionRatio: l.ratio, SwitchDistance: l.distance,
			})
		} else {
			m.LODGeneration.Resolved = append(m.LODGeneration.Resolved, manifest.LODLevel{DecimateRatio: l.ratio, SwitchDistance: l.distance})
		}
	}
}
