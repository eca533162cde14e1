package report

import (
	"cmp"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/tileid"
	"github.com/untoldkit/untold/partition"
)

// New fills a report from a manifest and the plan that it was made from.
// objects is the input of the plan; a nil plan leaves out what only a plan
// knows, so that a report of a foreign manifest is possible. The caller adds
// Clip, Options, Dropped, Compat, Notes and the textures of Totals.
func New(m *manifest.Manifest, plan *partition.Plan, objects []partition.Object) *Report {
	r := &Report{
		Mode: m.PartitioningMode, Generator: m.Generator, DryRun: m.DryRun, TileSize: m.TileSize,
		Failed: m.FailedTiles, Manifest: m,
	}
	if m.SourceSceneName != nil {
		r.Scene = *m.SourceSceneName
	}
	if p := m.StreamingProfile; p != nil {
		if r.Profile = p.Resolved; p.Requested != "" && p.Requested != p.Resolved {
			r.Profile += " (" + p.Requested + ")"
		}
	}
	if m.SceneBounds != nil && finite(*m.SceneBounds) {
		b := *m.SceneBounds
		r.Bounds = &b
	}
	r.addTiles(m)
	r.addShared(m)
	if m.HasFloors() {
		r.countTiers()
	}
	r.countFloors()
	if plan != nil {
		r.addPlan(m, plan, objects)
	}
	return r
}

// finite reports whether no coordinate is NaN or infinite.
func finite(b manifest.Bounds) bool {
	return geom.Vec3(b.Min).IsFinite() && geom.Vec3(b.Max).IsFinite()
}

func (r *Report) addTiles(m *manifest.Manifest) {
	for i := range m.Tiles {
		t := &m.Tiles[i]
		bands := m.BandsOf(t)
		e := Tile{
			ID: t.ID, Path: t.Path, Floor: t.FloorID, NodeID: t.QuadtreeNodeID, Tier: t.SemanticTier,
			Triangles: t.TriangleCount, Bytes: t.FileSizeBytes, Streaming: bands.Streaming, Unload: bands.Unload,
			Prefetch: bands.Prefetch, Priority: m.PriorityOf(t), Interior: t.Interior,
			Spanning: t.SecondaryRepresentationPolicy == "none_spanning_group", Bounds: t.Bounds, Levels: levelsOf(t),
		}
		e.Objects, e.MemoryBytes = counts(t)
		r.Tiles = append(r.Tiles, e)
		s := &r.Totals
		s.TileTriangles += e.Triangles
		s.TileBytes += e.Bytes
		s.MemoryBytes += e.MemoryBytes
		s.Levels += len(e.Levels)
		for _, l := range e.Levels {
			s.LevelTriangles += l.Triangles
			s.LevelBytes += l.Bytes
		}
	}
	r.Totals.Tiles, r.Totals.FailedTiles = len(m.Tiles), len(m.FailedTiles)
}

// counts returns what a tile says about itself; absent counts are 0.
func counts(t *manifest.Tile) (objects int, memory int64) {
	objects = len(t.Objects)
	if t.ObjectCount != nil {
		objects = *t.ObjectCount
	}
	if t.EstimatedMemoryBytes != nil {
		memory = *t.EstimatedMemoryBytes
	}
	return objects, memory
}

func levelsOf(t *manifest.Tile) []Level {
	out := []Level{}
	add := func(usual string, l *manifest.Level) {
		out = append(out, Level{levelName(t.ID, l.Path, usual), l.Path, l.TriangleCount, l.FileSizeBytes, l.GeometricError, l.SwitchDistance})
	}
	for i := range t.LODLevels {
		add("lod"+strconv.Itoa(i+1), &t.LODLevels[i])
	}
	for i := range t.HLODLevels {
		add("hlod", &t.HLODLevels[i])
	}
	return out
}

// levelName returns what a level's file name adds to the tile's id: a level
// that was not made leaves a gap in the numbers. Other names give the usual
// one.
func levelName(id, file, usual string) string {
	name, ok := strings.CutPrefix(strings.TrimSuffix(path.Base(file), partition.PayloadExt), id+"_")
	if !ok || name == "" {
		return usual
	}
	return name
}

func (r *Report) addShared(m *manifest.Manifest) {
	b := m.SharedBucket
	if b == nil {
		return
	}
	s := &Shared{
		Path: b.Path, Triangles: b.TriangleCount, Bytes: b.FileSizeBytes, Streaming: b.StreamingRadius,
		Unload: b.UnloadRadius, Priority: m.PriorityOf(&b.Tile), Bounds: b.Bounds,
	}
	if s.Objects, s.MemoryBytes = counts(&b.Tile); b.ObjectCount == nil {
		s.Objects = len(b.Members)
	}
	t := &r.Totals
	t.TileTriangles += s.Triangles
	t.TileBytes += s.Bytes
	t.MemoryBytes += s.MemoryBytes
	s.TriangleShare = share(float64(s.Triangles), float64(t.TileTriangles))
	s.ByteShare = share(float64(s.Bytes), float64(t.TileBytes))
	r.Shared = s
}

// share returns part / whole, 0 for nothing of nothing.
func share(part, whole float64) float64 {
	if !(whole > 0) {
		return 0
	}
	return part / whole
}

func (r *Report) countTiers() {
	at := map[string]int{}
	for i := range r.Tiles {
		t := &r.Tiles[i]
		k, ok := at[t.Tier]
		if !ok {
			k = len(r.Tiers)
			at[t.Tier] = k
			r.Tiers = append(r.Tiers, TierCount{Tier: t.Tier, Streaming: t.Streaming, Unload: t.Unload})
		}
		c := &r.Tiers[k]
		c.Tiles++
		c.Objects += t.Objects
		c.Triangles += t.Triangles
		c.Bytes += t.Bytes
	}
	slices.SortFunc(r.Tiers, func(a, b TierCount) int {
		return cmp.Or(cmp.Compare(tierRank(a.Tier), tierRank(b.Tier)), cmp.Compare(a.Tier, b.Tier))
	})
}

// tierNames are the semantic tiers from the outside in.
var tierNames = []string{
	tileid.TierExteriorShell, tileid.TierStructuralInterior, tileid.TierRoomContents, tileid.TierFineProps,
}

// tierRank orders tiers from the outside in, foreign words last.
func tierRank(tier string) int {
	if i := slices.Index(tierNames, tier); i >= 0 {
		return i
	}
	return len(tierNames)
}

func (r *Report) countFloors() {
	at := map[int]int{}
	for i := range r.Tiles {
		t := &r.Tiles[i]
		if t.Floor == nil {
			continue
		}
		k, ok := at[*t.Floor]
		if !ok {
			k = len(r.Floors.Floors)
			at[*t.Floor] = k
			r.Floors.Floors = append(r.Floors.Floors, Floor{ID: *t.Floor})
		}
		f := &r.Floors.Floors[k]
		f.Tiles++
		f.Objects += t.Objects
		f.Triangles += t.Triangles
		f.Bytes += t.Bytes
		lo, hi := t.Bounds.Min[1], t.Bounds.Max[1]
		if f.Bottom == nil {
			f.Bottom, f.Top = &lo, &hi
		} else {
			*f.Bottom, *f.Top = min(*f.Bottom, lo), max(*f.Top, hi)
		}
	}
	slices.SortFunc(r.Floors.Floors, func(a, b Floor) int { return cmp.Compare(a.ID, b.ID) })
}

// addPlan adds what only the plan knows.
func (r *Report) addPlan(m *manifest.Manifest, p *partition.Plan, objects []partition.Object) {
	f := &r.Floors
	f.Method, f.BandHeight = p.Floors.Method.String(), p.Floors.BandHeight
	for _, s := range p.Floors.Slabs {
		f.Slabs = append(f.Slabs, SlabLevel{s.Top, s.Area, s.Count})
	}
	in := newMembership(m, p, objects)
	for i := range objects {
		o := &objects[i]
		e := objectOf(o, &p.Objects[i], p, m.HasFloors())
		in.place(i, &e)
		if !o.Box.IsEmpty() {
			r.Totals.Objects++
			r.Totals.Triangles += o.Triangles
		}
		r.Objects = append(r.Objects, e)
	}
}

func objectOf(o *partition.Object, c *partition.Classification, p *partition.Plan, floors bool) Object {
	e := Object{
		Name: o.Name, Triangles: o.Triangles, Place: PlaceNone, Tiles: []string{}, Reasons: c.Reasons.Strings(),
	}
	size := o.Box.Size()
	for i, d := range [3]float64{size[0], size[2], size[1]} {
		if !math.IsInf(d, 0) && !math.IsNaN(d) {
			e.Dimensions[i] = geom.Round(d, 3)
		}
	}
	if o.Policy != partition.PolicyNone {
		e.Policy = o.Policy.String()
	}
	e.Export = c.Export.String()
	if floors {
		floor := int(c.Floor) + p.Floors.Base
		e.Tier, e.TierSource, e.Confidence = c.Tier.String(), c.TierSource.String(), geom.Round(c.TierConfidence, 2)
		e.Floor, e.Spanning = &floor, c.Spanning
		return e
	}
	e.Overlap, e.DimRatio = c.XZOverlap, geom.Round(c.DimRatio, 2)
	return e
}

// membership finds the tiles of an object.
type membership struct {
	tiles  [][]string // by object; the first MaxObjectTiles
	count  []int
	shared []bool
}

// newMembership reads the plan; of a grid's tiles it keeps the objects that
// the manifest lists by name, since a box may reach into a cell that its
// triangles do not.
func newMembership(m *manifest.Manifest, p *partition.Plan, objects []partition.Object) *membership {
	in := &membership{make([][]string, len(p.Objects)), make([]int, len(p.Objects)), make([]bool, len(p.Objects))}
	written := make(map[string]*manifest.Tile, len(m.Tiles))
	for i := range m.Tiles {
		written[m.Tiles[i].ID] = &m.Tiles[i]
	}
	for i := range p.Tiles {
		t := written[p.Tiles[i].ID]
		if t == nil {
			continue
		}
		listed := map[string]bool{}
		for _, name := range t.Objects {
			listed[name] = true
		}
		for _, o := range p.Tiles[i].Objects {
			if len(listed) > 0 && !listed[objects[o].Name] {
				continue
			}
			if in.count[o]++; in.count[o] <= MaxObjectTiles {
				in.tiles[o] = append(in.tiles[o], t.ID)
			}
		}
	}
	if m.SharedBucket != nil {
		for _, o := range p.Shared {
			in.shared[o] = true
		}
	}
	return in
}

func (in *membership) place(i int, e *Object) {
	switch {
	case in.count[i] > 0:
		e.Place, e.Tiles, e.TileCount = PlaceTiles, in.tiles[i], in.count[i]
	case in.shared[i]:
		e.Place = PlaceShared
	}
}
