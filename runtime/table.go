package runtime

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/band"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/payload"
)

// Flags of a tile.
const (
	flagInterior  uint8 = 1 << iota // gated by the interior zone
	flagFloor                       // gated by the floor's height
	flagHLOD                        // the first of its levels is the HLOD
	flagShared                      // the shared bucket
	flagEntity                      // a streaming entity: nothing stands in for it
	flagMeshes                      // its full representation has streamed mesh by mesh
	flagEstimated                   // the manifest estimates its memory
	flagNode                        // a node of the pyramid
)

// table holds what is known of every tile, idle ones included, as one slice
// per property: an idle tile costs its row and nothing else.
type table struct {
	tiles    int // rows that are tiles; nodes of the pyramid come behind
	box      []geom.Box
	radius   []radii
	id       []string
	full     []fileRef
	memory   []int64 // bytes that parsing takes
	centerY  []float64
	priority []int32
	flags    []uint8
	node     []int32   // parent region in the hierarchy, -1: none
	levelAt  []uint32  // first level; one more entry than tiles
	levels   []level   // HLOD if any, then LODs ascending, tile after tile
	record   []int32   // place of the tile's record, -1: idle
	wake     []float64 // odometer up to which nothing changes
}

// radii are the distances of a full tile, in metres.
type radii struct{ stream, unload, prefetch float64 }

// dispatch returns how far away a tile may be dispatched. Beyond its unload radius it would
// be in grace at once and come and go for ever.
func (r *radii) dispatch(epsilon float64) float64 { return min(r.prefetch+epsilon, r.unload) }

// fileRef names a file.
type fileRef struct {
	path, sha256 string
	size         int64 // of the file; 0: unknown
	geometry     int64 // bytes that the manifest lets expect of it on the device; 0: unknown, and of full tiles
	gpu          int64 // bytes of geometry that it took on the device; 0: not loaded yet
}

// level is a coarser representation.
type level struct {
	fileRef
	from float64 // switch distance in metres
}

func (t *table) len() int { return len(t.box) }

func (t *table) has(i int32, flag uint8) bool { return t.flags[i]&flag != 0 }

// hlod returns the switch distance of the tile's HLOD; ok is false without.
func (t *table) hlod(i int32) (from float64, ok bool) {
	if !t.has(i, flagHLOD) {
		return 0, false
	}
	return t.levels[t.levelAt[i]].from, true
}

// lods returns the tile's LOD levels, finest first.
func (t *table) lods(i int32) []level {
	l := t.levels[t.levelAt[i]:t.levelAt[i+1]]
	if t.has(i, flagHLOD) {
		return l[1:]
	}
	return l
}

// hasRep reports whether the tile has a representation.
func (t *table) hasRep(i int32, r payload.Rep) bool {
	switch r {
	case payload.RepNone:
		return false
	case payload.RepFull:
		return true
	case payload.RepHLOD:
		return t.has(i, flagHLOD)
	}
	return int(r-payload.RepLOD0) < len(t.lods(i))
}

// fileOf returns the file of a representation.
func (t *table) fileOf(i int32, r payload.Rep) *fileRef {
	switch {
	case r == payload.RepFull:
		return &t.full[i]
	case r == payload.RepHLOD:
		return &t.levels[t.levelAt[i]].fileRef
	}
	lods := t.lods(i)
	return &lods[r-payload.RepLOD0].fileRef
}

// begin returns the switch distance of a level.
func (t *table) begin(i int32, rep payload.Rep) float64 {
	if rep == payload.RepHLOD {
		return t.levels[t.levelAt[i]].from
	}
	return t.lods(i)[rep-payload.RepLOD0].from
}

// finer returns the next finer representation than a level.
func (t *table) finer(i int32, rep payload.Rep) payload.Rep {
	n, ok := rep.Level()
	if !ok {
		n = len(t.lods(i))
	}
	if n == 0 {
		return payload.RepFull
	}
	return payload.LOD(n - 1)
}

// isFiner reports whether one representation is finer than another; none is the
// coarsest.
func isFiner(a, b payload.Rep) bool {
	rank := func(rep payload.Rep) int {
		switch rep {
		case payload.RepNone:
			return math.MaxInt
		case payload.RepFull:
			return -1
		case payload.RepHLOD:
			return math.MaxInt - 1
		}
		return int(rep)
	}
	return rank(a) < rank(b)
}

// covers reports whether a level is meant for distance d.
func (t *table) covers(i int32, d float64) bool {
	for k := t.levelAt[i]; k < t.levelAt[i+1]; k++ {
		if d >= t.levels[k].from {
			return true
		}
	}
	return false
}

// newTable registers the tiles of a manifest; the shared bucket comes last.
func newTable(m *manifest.Manifest, cfg *config.Config) (*table, *hierarchy, error) {
	n, levels := len(m.Tiles), 0
	for i := range m.Tiles {
		levels += min(len(m.Tiles[i].HLODLevels), 1) + len(m.Tiles[i].LODLevels)
	}
	room := n
	if m.SharedBucket != nil {
		room++
	}
	if m.Pyramid != nil {
		room += len(m.Pyramid.Nodes)
		levels += len(m.Pyramid.Nodes)
	}
	t := &table{
		box: make([]geom.Box, 0, room), radius: make([]radii, 0, room), id: make([]string, 0, room),
		full: make([]fileRef, 0, room), memory: make([]int64, 0, room), centerY: make([]float64, 0, room),
		priority: make([]int32, 0, room), flags: make([]uint8, 0, room), node: make([]int32, 0, room),
		levelAt: make([]uint32, 1, room+1), levels: make([]level, 0, levels),
		record: make([]int32, room), wake: make([]float64, room),
	}
	for i := range t.record {
		t.record[i], t.wake[i] = -1, math.Inf(-1)
	}
	h := &hierarchy{byName: map[string]int32{}}
	b := tableBuilder{table: t, regions: h, manifest: m, normalize: cfg.NormalizeBands}
	if cfg.Handoff == config.HandoffCovered && m.ByUntold() {
		b.handover = cfg.LODHysteresisFactor
	}
	for i := range m.Tiles {
		if err := b.addTile(&m.Tiles[i]); err != nil {
			return nil, nil, err
		}
	}
	if m.SharedBucket != nil {
		b.addShared(&m.SharedBucket.Tile)
	}
	t.tiles = t.len()
	if m.Pyramid != nil {
		b.addNodes(m.Pyramid)
	}
	h.finish(t)
	return t, h, nil
}

type tableBuilder struct {
	*table
	regions   *hierarchy
	manifest  *manifest.Manifest
	normalize bool
	handover  float64 // the hysteresis of LODs where full tiles give way to them; 0: they stay
}

func (b *tableBuilder) addTile(t *manifest.Tile) error {
	if len(t.LODLevels) > payload.MaxLODLevels {
		return fmt.Errorf("runtime: tile %q has %d LOD levels, at most %d are supported: cook it with fewer", t.ID, len(t.LODLevels), payload.MaxLODLevels)
	}
	r := b.radiiOf(t)
	first := len(b.levels)
	var flags uint8
	if len(t.HLODLevels) > 0 && t.HLODLevels[0].SwitchDistance > 0 {
		flags |= flagHLOD
		b.levels = append(b.levels, levelOf(&t.HLODLevels[0]))
	}
	lods := len(b.levels)
	for i := range t.LODLevels {
		b.levels = append(b.levels, levelOf(&t.LODLevels[i]))
	}
	slices.SortStableFunc(b.levels[lods:], func(x, y level) int { return cmp.Compare(x.from, y.from) })
	if b.normalize {
		r = b.normalized(r, t, first, lods)
	}
	b.handOver(&r, first)
	if t.Interior {
		flags |= flagInterior
	}
	if b.manifest.HasFloors() && t.FloorID != nil {
		flags |= flagFloor
	}
	b.add(t, r, flags)
	return nil
}

// handOver ends the full representation where the first of its levels, from the
// index first on, has begun for good: beyond its switch and the hysteresis.
// Manifests of untold's cook put the unload radius where nothing is seen of the
// tile any more.
func (b *tableBuilder) handOver(r *radii, first int) {
	if b.handover <= 0 || len(b.levels) == first {
		return
	}
	begins := math.Inf(1)
	for _, l := range b.levels[first:] {
		begins = min(begins, l.from)
	}
	r.unload = min(r.unload, max(begins/b.handover, r.stream+1))
}

// addShared registers the shared bucket: resident from anywhere unless it has
// radii of its own, and without the scene's prefetch radius, which would make
// it wait.
func (b *tableBuilder) addShared(t *manifest.Tile) {
	r := radii{stream: math.Inf(1), unload: math.Inf(1)}
	if t.StreamingRadius != nil {
		r.stream = *t.StreamingRadius
	}
	if t.UnloadRadius != nil {
		r.unload = *t.UnloadRadius
	}
	r.prefetch = autoPrefetch(r)
	if t.PrefetchRadius != nil && *t.PrefetchRadius > 0 {
		r.prefetch = *t.PrefetchRadius
	}
	b.add(t, r, flagShared)
}

func (b *tableBuilder) add(t *manifest.Tile, r radii, flags uint8) {
	b.box = append(b.box, t.Bounds.Box())
	b.radius = append(b.radius, r)
	b.id = append(b.id, t.ID)
	b.full = append(b.full, fileRef{path: t.Path, sha256: t.SHA256, size: t.FileSizeBytes})
	memory := t.FileSizeBytes
	if t.EstimatedMemoryBytes != nil && *t.EstimatedMemoryBytes > 0 {
		memory, flags = *t.EstimatedMemoryBytes, flags|flagEstimated // the file may be compressed
	}
	b.memory = append(b.memory, memory)
	b.centerY = append(b.centerY, t.Center[1])
	b.priority = append(b.priority, int32(max(math.MinInt32, min(math.MaxInt32, b.manifest.PriorityOf(t)))))
	b.flags = append(b.flags, flags)
	b.node = append(b.node, b.regions.parentOf(t.QuadtreeNodeID, 0))
	b.levelAt = append(b.levelAt, uint32(len(b.levels)))
}

// radiiOf resolves the radii: the tile's, else the scene's, else automatic.
func (b *tableBuilder) radiiOf(t *manifest.Tile) radii {
	d := &b.manifest.StreamingDefaults
	r := radii{stream: d.StreamingRadius, unload: d.UnloadRadius}
	if t.StreamingRadius != nil {
		r.stream = *t.StreamingRadius
	}
	if t.UnloadRadius != nil {
		r.unload = *t.UnloadRadius
	}
	switch {
	case t.PrefetchRadius != nil && *t.PrefetchRadius > 0:
		r.prefetch = *t.PrefetchRadius
	case d.PrefetchRadius != nil && *d.PrefetchRadius > 0:
		r.prefetch = *d.PrefetchRadius
	default:
		r.prefetch = autoPrefetch(r)
	}
	return r
}

// autoPrefetch lies half way between streaming and unload radius.
func autoPrefetch(r radii) float64 {
	if math.IsInf(r.unload, 1) {
		return r.unload
	}
	return r.stream + float64((r.unload-r.stream)*0.5)
}

// normalized clamps radii and the levels behind first as the reference engine
// does; levels that do not fit are dropped from the coarse end.
func (b *tableBuilder) normalized(r radii, t *manifest.Tile, first, lods int) radii {
	bands := band.Normalize(b.manifest.BandsOf(t))
	r.stream, r.unload = bands.Streaming, bands.Unload
	r.prefetch = bands.Prefetch
	if !(r.prefetch > 0) {
		r.prefetch = autoPrefetch(r)
	}
	if lods > first {
		b.levels[first].from = bands.HLOD
	}
	b.levels = b.levels[:lods+len(bands.LODs)]
	for i, from := range bands.LODs {
		b.levels[lods+i].from = from
	}
	return r
}

func levelOf(l *manifest.Level) level {
	return level{fileRef{path: l.Path, sha256: l.SHA256, size: l.FileSizeBytes, geometry: l.GPUBytes()}, l.SwitchDistance}
}
