package partition

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
)

// The defaults of GridOptions.
const (
	DefaultSpanningTiles  = 4
	DefaultSplitMaxTiles  = 400
	FutureSplitTiles      = 15 // from this many tiles across, an object is a future_split_candidate
	DefaultPerimeterDepth = 1
	DefaultSampleFraction = 0.1
	DefaultTileHeight     = 10000.0
	DefaultTileSide       = 25.0
	DefaultMaxCells       = 10_000     // see GridOptions.MaxCellsPerObject
	DefaultMaxAssignments = 32_000_000 // see GridOptions.MaxAssignments
	boxShrink             = 1e-4       // metres: a box that touches a plane by less stays on its side
	maxIndex              = 1 << 30    // largest grid coordinate
	splitTriangles        = 64         // for each cell: what has so many is clipped into any number
)

// GridOptions controls Grid. The zero value gives the defaults without
// clipping.
type GridOptions struct {
	// TileSize is the size of a cell along u, h and v, in metres; all zero is
	// 25, 10000, 25.
	TileSize geom.Vec3
	// Auto replaces the horizontal sides of TileSize by one that suits the
	// number of objects; see AutoTileSize.
	Auto bool
	// Fit replaces those of them that are 0 by FitTileSize.
	Fit *TileGoal
	// Side is what Auto or Fit finds, where the Plan of an earlier run with the same objects
	// has told it; 0 has it found.
	Side float64
	// AtScene puts the grid's corner to the scene's. Off, it lies at the
	// multiple of the tile size below that, so that an object is in the same
	// cell whatever else the scene holds.
	AtScene bool
	// Clip says that the caller cuts geometry at the cells' planes. Then
	// spanning objects go to the tiles that they overlap. Off, they go to the
	// shared bucket, and an object that overlaps several tiles is meant to be
	// written whole into each.
	Clip bool
	// Compat routes spanning objects as the reference exporter does, which
	// matters with Clip only: an object goes to tiles only where it overlaps,
	// in all three dimensions, the box around the objects that do not span.
	Compat bool
	// SpanningTiles is how many tiles long or deep an object may be without
	// being spanning; 0 is 4.
	SpanningTiles float64
	// OverlapThreshold is how many cells an object may overlap in the
	// horizontal plane; 0 is the square of SpanningTiles.
	OverlapThreshold int
	// SplitMaxTiles: a spanning object that overlaps more cells than this in
	// the horizontal plane is not clipped, unless (without Compat) it has 64 triangles
	// or more for each of them, as a terrain; 0 is 400.
	SplitMaxTiles int
	// SampleFraction keeps only this part of the tiles, those nearest to the
	// world's origin: 0 or 1 keeps all.
	SampleFraction float64
	// PerimeterDepth keeps only this many rings of tiles at the outside of the
	// occupied area: 0 keeps all.
	PerimeterDepth int
	// TierRadii: an override for ExteriorShell, else one for StructuralInterior,
	// replaces the radii of the whole grid; others have no effect.
	TierRadii manifest.TierRadii
	// MaxCellsPerObject: an object that overlaps more cells than this, height
	// included, goes to the shared bucket even when it is forced into tiles;
	// 0 is 10,000.
	MaxCellsPerObject int
	// MaxAssignments: ErrTooManyCells when all objects together would go to
	// more cells than this; 0 is 32,000,000 (about 1 GiB of memory).
	MaxAssignments int
	// MaxTiles: ErrTooManyCells when more tiles than this have an object; 0 is
	// any number.
	MaxTiles int
}

// withDefaults fills in the zero values and checks the rest.
func (o GridOptions) withDefaults() (GridOptions, error) {
	bad := func(what string, v any, want string) (GridOptions, error) {
		return o, fmt.Errorf("%w: %s is %v: it must be %s", ErrBadOptions, what, v, want)
	}
	if o.TileSize == (geom.Vec3{}) {
		o.TileSize = geom.Vec3{DefaultTileSide, DefaultTileHeight, DefaultTileSide}
		if o.Fit != nil {
			o.TileSize = geom.Vec3{0, DefaultTileHeight, 0}
		}
	}
	for i, axis := range []string{"x", "y", "z"} {
		if v := o.TileSize[i]; !(v == 0 && i != 1 && o.Fit != nil) && !(v >= 1e-3 && v <= maxCoordinate) {
			return bad("tile size "+axis, v, "at least 0.001 m and finite")
		}
	}
	if !(o.Side == 0 || o.Side >= 1e-3 && o.Side <= maxCoordinate) {
		return bad("the side of tiles", o.Side, "0, or at least 0.001 m and finite")
	}
	if o.SpanningTiles == 0 {
		o.SpanningTiles = DefaultSpanningTiles
	}
	if !(o.SpanningTiles > 0 && o.SpanningTiles <= maxIndex) {
		return bad("the spanning limit", o.SpanningTiles, "above 0")
	}
	if o.OverlapThreshold == 0 {
		o.OverlapThreshold = int(min(float64(o.SpanningTiles*o.SpanningTiles), math.MaxInt32))
	}
	for _, limit := range []struct {
		name string
		v    *int
		def  int
	}{
		{"the overlap limit", &o.OverlapThreshold, o.OverlapThreshold},
		{"the number of tiles to split into", &o.SplitMaxTiles, DefaultSplitMaxTiles},
		{"the number of cells per object", &o.MaxCellsPerObject, DefaultMaxCells},
		{"the number of assignments", &o.MaxAssignments, DefaultMaxAssignments},
		{"the perimeter depth", &o.PerimeterDepth, 0},
	} {
		if *limit.v == 0 {
			*limit.v = limit.def
		}
		if *limit.v < 0 {
			return bad(limit.name, *limit.v, "positive")
		}
	}
	if !(o.SampleFraction >= 0 && o.SampleFraction <= 1) {
		return bad("the sample fraction", o.SampleFraction, "between 0 and 1")
	}
	return o, checkRadii(o.TierRadii)
}

// Grid partitions by a uniform, world-aligned grid.
//
// Objects that are not large go to every tile that they overlap. An object is
// spanning when it is wider or deeper than SpanningTiles tiles or overlaps
// more than OverlapThreshold cells; those go to the shared bucket, or with
// Clip to the tiles. An object that would go to more than MaxCellsPerObject
// tiles goes to the shared bucket whatever its policy is. Objects with empty
// boxes are skipped; NaN and infinite boxes are ErrBadBox; a grid with more
// than 2^30 cells along an axis is ErrTooManyCells.
//
// It takes O(n log n) time and memory in objects and assignments.
func Grid(objects []Object, opts GridOptions) (*Plan, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	p, order, err := newPlan(objects)
	if err != nil {
		return nil, err
	}
	p.Mode = manifest.ModeUniformGrid
	if p.AutoTileSize = opts.Auto || opts.Fit != nil; p.AutoTileSize {
		switch p.Side = opts.Side; {
		case p.Side > 0:
		case opts.Auto:
			p.Side = AutoTileSize(objects)
		default:
			p.Side = FitTileSize(objects, *opts.Fit)
		}
	}
	for _, axis := range []int{0, 2} {
		if opts.Auto || opts.Fit != nil && opts.TileSize[axis] == 0 {
			opts.TileSize[axis] = p.Side
		}
	}
	g := &grid{opts: opts, objects: objects, order: order, plan: p}
	if err := g.place(); err != nil {
		return nil, err
	}
	g.classify()
	g.route()
	pairs, err := g.assign()
	if err != nil {
		return nil, err
	}
	pairs = g.subset(pairs)
	if n := countCells(pairs); opts.MaxTiles > 0 && n > opts.MaxTiles {
		return nil, fmt.Errorf("%w: the scene takes %d tiles of %v x %v m, and there is memory for %d: use larger tiles",
			ErrTooManyCells, n, opts.TileSize[0], opts.TileSize[2], opts.MaxTiles)
	}
	g.tiles(pairs)
	base := g.base()
	p.Defaults = defaultRadii(base, p.HalfDiag, opts.TierRadii)
	p.SharedRadii = SharedRadii(p.HalfDiag)
	g.prioritise()
	return p, nil
}

// newPlan checks the objects and fills what no strategy decides.
func newPlan(objects []Object) (*Plan, []int32, error) {
	if len(objects) > math.MaxInt32 {
		return nil, nil, fmt.Errorf("%w: %d objects: at most %d", ErrBadOptions, len(objects), math.MaxInt32)
	}
	p := &Plan{SceneBounds: geom.EmptyBox(), Objects: make([]Classification, len(objects))}
	order := canonical(objects)
	for _, i := range order {
		o := &objects[i]
		if err := checkBox(o); err != nil {
			return nil, nil, err
		}
		if o.Box.IsEmpty() {
			p.Skipped = append(p.Skipped, int(i))
			continue
		}
		p.SceneBounds = p.SceneBounds.Union(o.Box)
	}
	if p.SceneBounds.IsEmpty() {
		return nil, nil, fmt.Errorf("%w: %d given", ErrNoObjects, len(objects))
	}
	p.HalfDiag = HalfDiagonal(p.SceneBounds)
	return p, order, nil
}

// grid is one run of Grid.
type grid struct {
	opts    GridOptions
	objects []Object
	order   []int32 // canonical
	plan    *Plan
}

// base is the longer horizontal side of a tile.
func (g *grid) base() float64 { return max(g.opts.TileSize[0], g.opts.TileSize[2]) }

// toGrid converts a box in engine axes to intervals along u, h, v.
func toGrid(b geom.Box) (lo, hi geom.Vec3) {
	return geom.Vec3{b.Min[0], b.Min[1], -b.Max[2]}, geom.Vec3{b.Max[0], b.Max[1], -b.Min[2]}
}

// place chooses the origin.
func (g *grid) place() error {
	p, t := g.plan, g.opts.TileSize
	p.TileSize = t
	lo, hi := toGrid(p.SceneBounds)
	if p.Origin = lo; !g.opts.AtScene {
		p.Origin[0], p.Origin[2] = snapDown(lo[0], t[0]), snapDown(lo[2], t[2])
	}
	for i, axis := range []string{"x", "y", "z"} {
		if n := (hi[i] - p.Origin[i]) / t[i]; !(n < maxIndex) {
			return fmt.Errorf("%w: the scene is %v m along %s, the tiles are %v m: use larger tiles",
				ErrTooManyCells, hi[i]-lo[i], axis, t[i])
		}
	}
	return nil
}

// snapDown returns the multiple of t at or below v.
func snapDown(v, t float64) float64 { return float64(math.Floor(v/t) * t) }

// indexRange returns the first and last cell that the interval [a, b] overlaps
// for a pitch t and an origin o.
func indexRange(a, b, t, o float64) (first, last int32) {
	lo, hi := indexEnds(a, b)
	return index(lo, t, o), index(hi, t, o)
}

// indexEnds returns the coordinates in the first and in the last cell of an interval.
func indexEnds(a, b float64) (lo, hi float64) {
	lo, hi = a+boxShrink, b-boxShrink
	if lo > hi {
		lo = float64(a*0.5) + float64(b*0.5)
		hi = lo
	}
	return lo, hi
}

// index returns the cell of a coordinate. place has checked the range; the
// clamp is for coordinates outside the scene.
func index(v, t, o float64) int32 {
	return int32(min(max(math.Floor((v-o)/t), -maxIndex), maxIndex))
}

// cells returns the range of cells that a box overlaps.
func (g *grid) cells(b geom.Box) CellRange {
	lo, hi := toGrid(b)
	var r CellRange
	for i := range 3 {
		r.Min[i], r.Max[i] = indexRange(lo[i], hi[i], g.opts.TileSize[i], g.plan.Origin[i])
	}
	return r
}

// count returns the number of cells in the horizontal plane and in all; both
// are cut off at MaxInt32.
func (r CellRange) count() (flat, all int) {
	var n [3]float64
	for i := range n {
		n[i] = float64(r.Max[i]) - float64(r.Min[i]) + 1
	}
	return int(min(n[0]*n[2], math.MaxInt32)), int(min(n[0]*n[1]*n[2], math.MaxInt32))
}

// classify judges every object by its size.
func (g *grid) classify() {
	base := g.base()
	for _, i := range g.order {
		o, c := &g.objects[i], &g.plan.Objects[i]
		if o.Box.IsEmpty() {
			continue // ExportSkipped
		}
		size := o.Box.Size()
		width, depth := size[0], size[2]
		c.Dimensions = [3]float64{width, depth, size[1]}
		c.DimRatio = max(width, depth) / base
		c.Cells = g.cells(o.Box)
		c.XZOverlap, _ = c.Cells.count()
		if width/base > g.opts.SpanningTiles {
			c.Reasons |= WidthThreshold
		}
		if depth/base > g.opts.SpanningTiles {
			c.Reasons |= DepthThreshold
		}
		if c.XZOverlap > g.opts.OverlapThreshold {
			c.Reasons |= OverlapThreshold
		}
		switch {
		case o.Policy == PolicyForceShared:
			c.Export, c.Reasons = ExportShared, c.Reasons|ForcedShared
		case c.Reasons == 0:
			c.Export = ExportLocal
		case o.Policy == PolicyForceLocal:
			c.Export, c.Reasons = ExportLocal, c.Reasons|ForcedLocal
		case c.DimRatio > FutureSplitTiles:
			c.Export = ExportFutureSplit
		default:
			c.Export = ExportShared
		}
	}
}

// route decides between tiles and the shared bucket.
func (g *grid) route() {
	local := geom.EmptyBox()
	for _, i := range g.order {
		if c := &g.plan.Objects[i]; c.Export == ExportLocal {
			local = local.Union(g.objects[i].Box)
		}
	}
	for _, i := range g.order {
		c := &g.plan.Objects[i]
		switch c.Export {
		case ExportSkipped:
			continue
		case ExportLocal:
			c.InTiles = true
		default:
			c.InTiles = g.split(&g.objects[i], c, local)
		}
		if _, n := c.Cells.count(); c.InTiles && n > g.opts.MaxCellsPerObject {
			c.InTiles, c.Reasons = false, c.Reasons|CellLimit
		}
		if !c.InTiles {
			g.plan.Shared = append(g.plan.Shared, int(i))
		}
	}
}

// split reports whether a spanning object is clipped into tiles, and narrows
// its cells where the reference does.
func (g *grid) split(o *Object, c *Classification, local geom.Box) bool {
	dense := !g.opts.Compat && o.Triangles/splitTriangles >= c.XZOverlap
	if !g.opts.Clip || o.Policy == PolicyForceShared || c.XZOverlap > g.opts.SplitMaxTiles && !dense {
		return false
	}
	if !g.opts.Compat {
		return true
	}
	common := geom.Box{Min: o.Box.Min, Max: o.Box.Max}
	for i := range 3 {
		common.Min[i] = max(common.Min[i], local.Min[i])
		common.Max[i] = min(common.Max[i], local.Max[i])
		if common.Min[i] >= common.Max[i] {
			return false
		}
	}
	c.Cells = g.cells(common)
	return true
}

// pair is one object in one cell.
type pair struct {
	z, y, x int32
	rank    int32 // of the object in canonical order
}

func (a pair) sameCell(b pair) bool { return a.z == b.z && a.y == b.y && a.x == b.x }

func comparePairs(a, b pair) int {
	if a.z != b.z {
		return cmp.Compare(a.z, b.z)
	}
	if a.y != b.y {
		return cmp.Compare(a.y, b.y)
	}
	if a.x != b.x {
		return cmp.Compare(a.x, b.x)
	}
	return cmp.Compare(a.rank, b.rank)
}

// assign lists the objects of all cells, sorted by cell.
func (g *grid) assign() ([]pair, error) {
	total := 0
	for _, i := range g.order {
		if c := &g.plan.Objects[i]; c.InTiles {
			_, n := c.Cells.count()
			if total += n; total > g.opts.MaxAssignments {
				return nil, fmt.Errorf("%w: the objects overlap more than %d tiles of %v m in all: use larger tiles",
					ErrTooManyCells, g.opts.MaxAssignments, g.opts.TileSize)
			}
		}
	}
	pairs := make([]pair, 0, total)
	for rank, i := range g.order {
		c := &g.plan.Objects[i]
		if !c.InTiles {
			continue
		}
		for z := c.Cells.Min[2]; z <= c.Cells.Max[2]; z++ {
			for y := c.Cells.Min[1]; y <= c.Cells.Max[1]; y++ {
				for x := c.Cells.Min[0]; x <= c.Cells.Max[0]; x++ {
					pairs = append(pairs, pair{z, y, x, int32(rank)})
				}
			}
		}
	}
	slices.SortFunc(pairs, comparePairs)
	return pairs, nil
}

// Cell returns the box of a cell of the plan's grid, in engine axes.
func (p *Plan) Cell(coord [3]int) geom.Box {
	plane := func(axis, k int) float64 {
		// Adding zero turns a negative zero into a positive one.
		return p.Origin[axis] + float64(float64(k)*p.TileSize[axis]) + 0
	}
	return geom.Box{
		Min: geom.Vec3{plane(0, coord[0]), plane(1, coord[1]), 0 - plane(2, coord[2]+1)},
		Max: geom.Vec3{plane(0, coord[0]+1), plane(1, coord[1]+1), 0 - plane(2, coord[2])},
	}
}

// countCells counts the cells of sorted pairs.
func countCells(pairs []pair) int {
	count := 0
	for i := range pairs {
		if i == 0 || !pairs[i].sameCell(pairs[i-1]) {
			count++
		}
	}
	return count
}

// tiles makes the plan's tiles out of sorted pairs.
func (g *grid) tiles(pairs []pair) {
	p := g.plan
	p.Tiles = make([]Tile, 0, countCells(pairs))
	members := make([]int, len(pairs)) // shared by all tiles
	for from := 0; from < len(pairs); {
		to := from
		for ; to < len(pairs) && pairs[to].sameCell(pairs[from]); to++ {
			members[to] = int(g.order[pairs[to].rank])
		}
		c := pairs[from]
		t := Tile{Coord: [3]int{int(c.x), int(c.y), int(c.z)}, Objects: members[from:to:to]}
		t.ID, t.Cell = TileID(t.Coord), p.Cell(t.Coord)
		t.Content = g.content(&t)
		p.Tiles = append(p.Tiles, t)
		from = to
	}
}

// content returns the box around what the tile will hold.
func (g *grid) content(t *Tile) geom.Box {
	box := geom.EmptyBox()
	for _, i := range t.Objects {
		b := g.objects[i].Box
		if g.opts.Clip {
			b = clipToRange(b, t, g.plan.Objects[i].Cells)
		}
		box = box.Union(b)
	}
	return box
}

// clipToRange cuts a box at those planes of the cell that have more cells of
// the object's range behind them.
func clipToRange(b geom.Box, t *Tile, r CellRange) geom.Box {
	var before, after [3]bool // along u, h, v
	for i, c := range t.Coord {
		before[i], after[i] = c > int(r.Min[i]), c < int(r.Max[i])
	}
	// v runs against Z.
	before[2], after[2] = after[2], before[2]
	for i := range 3 {
		if before[i] {
			b.Min[i] = max(b.Min[i], t.Cell.Min[i])
		}
		if after[i] {
			b.Max[i] = min(b.Max[i], t.Cell.Max[i])
		}
	}
	return b
}

// prioritise raises priorities to the highest hint.
func (g *grid) prioritise() {
	p := g.plan
	for i := range p.Tiles {
		t := &p.Tiles[i]
		t.Priority = p.Defaults.Priority
		for _, o := range t.Objects {
			t.Priority = max(t.Priority, g.objects[o].PriorityHint)
		}
	}
	for _, o := range p.Shared {
		p.SharedRadii.Priority = max(p.SharedRadii.Priority, g.objects[o].PriorityHint)
	}
}
