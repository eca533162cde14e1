package partition

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
)

func box(x0, y0, z0, x1, y1, z1 float64) geom.Box {
	return geom.Box{Min: geom.Vec3{x0, y0, z0}, Max: geom.Vec3{x1, y1, z1}}
}

// one makes objects out of boxes.
func of(boxes ...geom.Box) []Object {
	var out []Object
	for i, b := range boxes {
		out = append(out, Object{ID: i, Name: fmt.Sprint("o", i), Box: b})
	}
	return out
}

var tens = GridOptions{TileSize: geom.Vec3{10, 100, 10}}

func mustGrid(t testing.TB, objects []Object, opts GridOptions) *Plan {
	t.Helper()
	p, err := Grid(objects, opts)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// layout lists the tiles with their objects.
func layout(p *Plan) map[string][]int {
	out := map[string][]int{}
	for _, t := range p.Tiles {
		out[t.ID] = t.Objects
	}
	return out
}

func TestGridCells(t *testing.T) {
	at := func(x0, x1, z0, z1 float64) CellRange {
		// An anchor keeps the origin at 0, 0, 0.
		return mustGrid(t, of(box(0, 0, -1, 1, 1, 0), box(x0, 0, -z1, x1, 3, -z0)), tens).Objects[1].Cells
	}
	for _, c := range []struct {
		name     string
		got      CellRange
		min, max [3]int32
	}{
		{"three columns", at(8, 22, 1, 4), [3]int32{0, 0, 0}, [3]int32{2, 0, 0}},
		{"one cell", at(1, 4, 1, 4), [3]int32{0, 0, 0}, [3]int32{0, 0, 0}},
		{"exactly one cell", at(10, 20, 10, 20), [3]int32{1, 0, 1}, [3]int32{1, 0, 1}},
		{"within the slack", at(10-1e-4, 20+9e-5, 10, 20), [3]int32{1, 0, 1}, [3]int32{1, 0, 1}},
		{"beyond the slack", at(10-3e-4, 20+3e-4, 10, 20), [3]int32{0, 0, 1}, [3]int32{2, 0, 1}},
		{"a point on a plane", at(10, 10, 10, 10), [3]int32{1, 0, 1}, [3]int32{1, 0, 1}},
		{"a sheet", at(5, 5, 3, 25), [3]int32{0, 0, 0}, [3]int32{0, 0, 2}},
	} {
		if c.got.Min != c.min || c.got.Max != c.max {
			t.Errorf("%s: %v", c.name, c.got)
		}
		if !c.got.Contains([3]int{int(c.min[0]), 0, int(c.max[2])}) || c.got.Contains([3]int{int(c.max[0]) + 1, 0, int(c.min[2])}) {
			t.Errorf("%s: Contains is wrong", c.name)
		}
	}
}

func TestGridTilesHeightAndNegativeCoordinates(t *testing.T) {
	p := mustGrid(t, of(box(-5, -50, 5, -4, -49, 6), box(12, 60, -17, 13, 160, -16)), tens)
	if d := gocmp.Diff(map[string][]int{"tile_0_0_0": {0}, "tile_2_1_2": {1}, "tile_2_2_2": {1}}, layout(p)); d != "" {
		t.Error(d)
	}
	if p.Origin != (geom.Vec3{-10, -50, -10}) {
		t.Error(p.Origin)
	}
	if got := p.Cell([3]int{2, 1, 2}); got != box(10, 50, -20, 20, 150, -10) {
		t.Error(got)
	}
}

func TestGridCellPlanesAreShared(t *testing.T) {
	p := mustGrid(t, of(box(0.3, 0, -7, 95, 1, 3)), GridOptions{TileSize: geom.Vec3{0.7, 0.3, 1.1}, SpanningTiles: 1000, OverlapThreshold: 1 << 20})
	for x := range 50 {
		a, b := p.Cell([3]int{x, x, x}), p.Cell([3]int{x + 1, x + 1, x + 1})
		if a.Max[0] != b.Min[0] || a.Max[1] != b.Min[1] || a.Min[2] != b.Max[2] {
			t.Fatalf("%v and %v", a, b)
		}
	}
}

func TestGridClassification(t *testing.T) {
	for _, c := range []struct {
		name    string
		box     geom.Box
		opts    GridOptions
		policy  Policy
		export  Export
		reasons []string
		overlap int
	}{
		{"4x4 aligned", box(0, 0, -40, 40, 1, 0), tens, 0, ExportLocal, []string{}, 16},
		{"4x4 not aligned", box(5, 0, -45, 45, 1, -5), tens, 0, ExportShared, []string{"overlap_threshold"}, 25},
		{"explicit limit", box(0, 0, -9, 48, 1, 0), GridOptions{TileSize: tens.TileSize, OverlapThreshold: 4, SpanningTiles: 5}, 0, ExportShared, []string{"overlap_threshold"}, 5},
		{"wide", box(0, 0, -5, 50, 1, 0), tens, 0, ExportShared, []string{"width_threshold"}, 5},
		{"deep", box(0, 0, -50, 5, 1, 0), tens, 0, ExportShared, []string{"depth_threshold"}, 5},
		{"long", box(0, 0, -5, 151, 1, 0), tens, 0, ExportFutureSplit, []string{"width_threshold"}, 16},
		{"exactly 15 tiles", box(0, 0, -5, 150, 1, 0), tens, 0, ExportShared, []string{"width_threshold"}, 15},
		{"forced into tiles", box(0, 0, -5, 50, 1, 0), tens, PolicyForceLocal, ExportLocal, []string{"width_threshold", "force_local"}, 5},
		{"force_local on a local object", box(0, 0, -5, 5, 1, 0), tens, PolicyForceLocal, ExportLocal, []string{}, 1},
		{"forced into the bucket", box(0, 0, -5, 5, 1, 0), tens, PolicyForceShared, ExportShared, []string{"force_shared"}, 1},
		{"no geometry", geom.EmptyBox(), tens, 0, ExportSkipped, []string{}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			objects := of(box(0, 0, -1, 1, 1, 0), c.box)
			objects[1].Policy = c.policy
			p := mustGrid(t, objects, c.opts)
			got := p.Objects[1]
			if got.Export != c.export || got.XZOverlap != c.overlap || !slices.Equal(got.Reasons.Strings(), c.reasons) {
				t.Errorf("%+v", got)
			}
			if want := c.export == ExportLocal; got.InTiles != want {
				t.Error("InTiles is", got.InTiles)
			}
			if want := c.export == ExportShared || c.export == ExportFutureSplit; slices.Contains(p.Shared, 1) != want {
				t.Error("shared:", p.Shared)
			}
			if want := c.export == ExportSkipped; slices.Contains(p.Skipped, 1) != want {
				t.Error("skipped:", p.Skipped)
			}
		})
	}
}

func TestClassificationEntry(t *testing.T) {
	p := mustGrid(t, of(box(0, 0, -12.34567, 3.00049, 1.5, 0)), GridOptions{})
	want := manifest.Classification{
		Name: "n", ExportPolicy: "local_overlap", XZOverlapCount: 1,
		Dimensions: [3]float64{3, 12.346, 1.5}, DimRatio: 0.49, Reasons: []string{},
	}
	if d := gocmp.Diff(want, p.Objects[0].Entry("n")); d != "" {
		t.Error(d)
	}
}

// The 90 x 90 m ground under a small prop, as in the reference's tests.
func TestGridClipping(t *testing.T) {
	ground, prop := box(-30, -0.5, -60, 60, 0.5, 30), box(1, 0, -4, 4, 2, -1)
	for _, c := range []struct {
		name    string
		ground  geom.Box
		policy  Policy
		opts    GridOptions
		inTiles bool
		cells   int // of the ground
	}{
		{"no clipping", ground, 0, tens, false, 0},
		{"clipping", ground, 0, GridOptions{TileSize: tens.TileSize, Clip: true}, true, 81},
		{"clipping as in the reference", ground, 0, GridOptions{TileSize: tens.TileSize, Clip: true, Compat: true}, true, 1},
		{"only touching", box(-30, -1, -60, 60, 0, 30), 0, GridOptions{TileSize: tens.TileSize, Clip: true}, true, 81},
		{"only touching, as in the reference", box(-30, -1, -60, 60, 0, 30), 0, GridOptions{TileSize: tens.TileSize, Clip: true, Compat: true}, false, 0},
		{"too many tiles", ground, 0, GridOptions{TileSize: tens.TileSize, Clip: true, SplitMaxTiles: 80}, false, 0},
		{"just enough", ground, 0, GridOptions{TileSize: tens.TileSize, Clip: true, SplitMaxTiles: 81}, true, 81},
		{"forced into the bucket", ground, PolicyForceShared, GridOptions{TileSize: tens.TileSize, Clip: true}, false, 0},
		{"forced into tiles", ground, PolicyForceLocal, GridOptions{TileSize: tens.TileSize}, true, 81},
	} {
		t.Run(c.name, func(t *testing.T) {
			objects := of(c.ground, prop)
			objects[0].Policy = c.policy
			p := mustGrid(t, objects, c.opts)
			n := 0
			for _, tile := range p.Tiles {
				if slices.Contains(tile.Objects, 0) {
					n++
				}
				if c.opts.Clip && !c.opts.Compat && !tile.Cell.Contains(tile.Content, boxShrink) {
					t.Errorf("%s: content %v, cell %v", tile.ID, tile.Content, tile.Cell)
				}
			}
			if got := p.Objects[0]; got.InTiles != c.inTiles || n != c.cells {
				t.Errorf("%+v, %d cells", got, n)
			}
			if slices.Contains(p.Shared, 0) == c.inTiles {
				t.Error("shared:", p.Shared)
			}
			if want := c.policy != PolicyForceLocal; (p.Objects[0].Export == ExportShared) != want {
				t.Error(p.Objects[0].Export)
			}
		})
	}
}

func TestGridContentWithoutClippingIsWhole(t *testing.T) {
	p := mustGrid(t, of(box(8, 0, -4, 22, 2, -1)), tens)
	for _, tile := range p.Tiles {
		if tile.Content != box(8, 0, -4, 22, 2, -1) {
			t.Error(tile)
		}
	}
	p = mustGrid(t, of(box(8, 0, -4, 22, 2, -1)), GridOptions{TileSize: tens.TileSize, Clip: true})
	if len(p.Tiles) != 3 || p.Tiles[1].Content != box(10, 0, -4, 20, 2, -1) || p.Tiles[2].Content != box(20, 0, -4, 22, 2, -1) {
		t.Errorf("%+v", p.Tiles)
	}
}

func TestGridPriorities(t *testing.T) {
	objects := of(box(0, 0, -1, 1, 1, 0), box(2, 0, -1, 3, 1, 0), box(12, 0, -1, 13, 1, 0), box(0, 0, -90, 90, 1, 0))
	objects[1].PriorityHint, objects[2].PriorityHint, objects[3].PriorityHint = 12, 3, 15
	p := mustGrid(t, objects, tens)
	if p.Tiles[0].Priority != 12 || p.Tiles[1].Priority != 10 || p.SharedRadii.Priority != 15 || p.Defaults.Priority != 10 {
		t.Errorf("%+v %+v", p.Tiles, p.SharedRadii)
	}
}

func TestGridDefaults(t *testing.T) {
	p := mustGrid(t, of(box(0, 0, -30, 40, 1, 0)), GridOptions{})
	if p.TileSize != (geom.Vec3{25, 10000, 25}) || p.Mode != manifest.ModeUniformGrid || p.HalfDiag != 25 || p.AutoTileSize {
		t.Errorf("%+v", p)
	}
	if p.SceneBounds != box(0, 0, -30, 40, 1, 0) {
		t.Error(p.SceneBounds)
	}
	if p.Defaults != (Radii{8.75, 13.125, 10}) || p.SharedRadii != (Radii{25, 37.5, 10}) {
		t.Error(p.Defaults, p.SharedRadii)
	}
}

func TestGridRefuses(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	ok := of(box(0, 0, 0, 1, 1, 1))
	for _, c := range []struct {
		name    string
		objects []Object
		opts    GridOptions
		want    error
	}{
		{"nothing", nil, tens, ErrNoObjects},
		{"only empty boxes", of(geom.EmptyBox(), geom.EmptyBox()), tens, ErrNoObjects},
		{"NaN", of(box(0, 0, 0, 1, nan, 1)), tens, ErrBadBox},
		{"infinite", of(box(0, 0, 0, inf, 1, 1)), tens, ErrBadBox},
		{"infinite both ways", of(box(-inf, 0, 0, inf, 1, 1)), tens, ErrBadBox},
		{"beyond reason", of(box(0, 0, 0, 1e31, 1, 1)), tens, ErrBadBox},
		{"part of the size is zero", ok, GridOptions{TileSize: geom.Vec3{0, 1, 1}}, ErrBadOptions},
		{"negative size", ok, GridOptions{TileSize: geom.Vec3{1, -1, 1}}, ErrBadOptions},
		{"NaN size", ok, GridOptions{TileSize: geom.Vec3{1, 1, nan}}, ErrBadOptions},
		{"infinite size", ok, GridOptions{TileSize: geom.Vec3{1, 1, inf}}, ErrBadOptions},
		{"negative limit", ok, GridOptions{SplitMaxTiles: -1}, ErrBadOptions},
		{"negative spanning limit", ok, GridOptions{SpanningTiles: -4}, ErrBadOptions},
		{"NaN spanning limit", ok, GridOptions{SpanningTiles: nan}, ErrBadOptions},
		{"negative fraction", ok, GridOptions{SampleFraction: -0.1}, ErrBadOptions},
		{"fraction above 1", ok, GridOptions{SampleFraction: 1.1}, ErrBadOptions},
		{"scene of 2^30 cells", of(box(0, 0, 0, 1, 1, 1), box(1e10, 0, 0, 1e10+1, 1, 1)), GridOptions{TileSize: geom.Vec3{1, 1, 1}}, ErrTooManyCells},
		{"too many assignments", of(box(0, 0, 0, 4, 1, 4)), GridOptions{TileSize: geom.Vec3{1, 1, 1}, MaxAssignments: 10}, ErrTooManyCells},
	} {
		if p, err := Grid(c.objects, c.opts); !errors.Is(err, c.want) || p != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// Absurd sizes end up in the shared bucket, at once.
func TestGridAbsurdSizes(t *testing.T) {
	small := box(0, 0, 0, 0.5, 0.5, 0.5)
	ones := GridOptions{TileSize: geom.Vec3{1, 1, 1}}
	for _, c := range []struct {
		name   string
		box    geom.Box
		opts   GridOptions
		policy Policy
	}{
		{"1e9 m on 1 m tiles", box(0, 0, 0, 1e9, 1, 1e9), ones, 0},
		{"forced", box(0, 0, 0, 1e9, 1, 1e9), ones, PolicyForceLocal},
		{"clipped", box(0, 0, 0, 1e9, 1, 1e9), GridOptions{TileSize: ones.TileSize, Clip: true, SplitMaxTiles: math.MaxInt}, 0},
		{"a tower", box(0, 0, 0, 0.5, 1e9, 0.5), ones, 0},
		{"any limit", box(0, 0, 0, 1e9, 1, 1e9), GridOptions{TileSize: ones.TileSize, SpanningTiles: 1 << 30, OverlapThreshold: math.MaxInt}, 0},
	} {
		objects := of(small, c.box)
		objects[1].Policy = c.policy
		p := mustGrid(t, objects, c.opts)
		if len(p.Tiles) != 1 || !slices.Equal(p.Shared, []int{1}) || p.Objects[1].InTiles {
			t.Errorf("%s: %d tiles, shared %v", c.name, len(p.Tiles), p.Shared)
		}
		if _, n := p.Objects[1].Cells.count(); n > DefaultMaxCells && (c.policy != 0 || c.opts.Clip || c.name == "a tower") &&
			p.Objects[1].Reasons&CellLimit == 0 {
			t.Errorf("%s: the limit is not named: %v", c.name, p.Objects[1].Reasons.Strings())
		}
	}
	// Points have a place too.
	if p := mustGrid(t, of(box(5, 5, 5, 5, 5, 5)), tens); len(p.Tiles) != 1 || p.HalfDiag != 0 {
		t.Error(p)
	}
}

// genObjects makes scenes that straddle cells in all ways.
func genObjects(t *rapid.T, most int) []Object {
	coordinate := rapid.OneOf(rapid.Float64Range(-60, 60), rapid.Map(rapid.IntRange(-6, 6), func(i int) float64 { return 10 * float64(i) }))
	extent := rapid.OneOf(rapid.Float64Range(0, 12), rapid.Float64Range(0, 60), rapid.Just(0.0), rapid.Just(10.0))
	objects := make([]Object, rapid.IntRange(1, most).Draw(t, "n"))
	for i := range objects {
		o := &objects[i]
		o.ID, o.Name = i, rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "name")
		o.Policy = rapid.SampledFrom([]Policy{0, 0, 0, 0, PolicyForceLocal, PolicyForceShared}).Draw(t, "policy")
		for a := range 3 {
			o.Box.Min[a] = coordinate.Draw(t, "min")
			o.Box.Max[a] = o.Box.Min[a] + extent.Draw(t, "extent")
		}
		if rapid.IntRange(0, 9).Draw(t, "empty") == 0 && i > 0 {
			o.Box = geom.EmptyBox()
		}
	}
	return objects
}

func genOptions(t *rapid.T) GridOptions {
	return GridOptions{
		TileSize: geom.Vec3{rapid.SampledFrom([]float64{10, 7.3, 25}).Draw(t, "tx"), rapid.SampledFrom([]float64{20, 10000}).Draw(t, "ty"), 10},
		Clip:     rapid.Bool().Draw(t, "clip"), Compat: rapid.Bool().Draw(t, "compat"),
		Auto:           rapid.IntRange(0, 5).Draw(t, "auto") == 0,
		SampleFraction: rapid.SampledFrom([]float64{0, 0, 0.3}).Draw(t, "sample"),
		PerimeterDepth: rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(t, "perimeter"),
	}
}

func TestGridDoesNotDependOnTheOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		objects, opts := genObjects(t, 20), genOptions(t)
		perm := rapid.Permutation(seq(len(objects))).Draw(t, "perm") // new index -> old
		shuffled := make([]Object, len(objects))
		for i, old := range perm {
			shuffled[i] = objects[old]
		}
		a, err := Grid(objects, opts)
		if err != nil {
			t.Fatal(err)
		}
		b, err := Grid(shuffled, opts)
		if err != nil {
			t.Fatal(err)
		}
		// Translate b's indices.
		for _, list := range append([][]int{b.Shared, b.Skipped}, tileObjects(b)...) {
			for i := range list {
				list[i] = perm[list[i]]
			}
		}
		classes := make([]Classification, len(objects))
		for i, old := range perm {
			classes[old] = b.Objects[i]
		}
		b.Objects = classes
		if d := gocmp.Diff(a, b, cmpopts.EquateEmpty()); d != "" {
			t.Fatal(d)
		}
	})
}

func seq(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func tileObjects(p *Plan) (out [][]int) {
	for i := range p.Tiles {
		out = append(out, p.Tiles[i].Objects)
	}
	return out
}

// naive is the same grid, written down once more without any care for
// speed: what goes into which cell.
func naive(objects []Object, p *Plan, opts GridOptions) (cells map[[3]int][]int, shared []int) {
	cells = map[[3]int][]int{}
	span := func(a, b, t, o float64) (out []int) {
		lo, hi := a+1e-4, b-1e-4
		if lo > hi {
			lo = (a + b) / 2
			hi = lo
		}
		for i := int(math.Floor((lo - o) / t)); i <= int(math.Floor((hi-o)/t)); i++ {
			out = append(out, i)
		}
		return out
	}
	for i, o := range objects {
		b := o.Box
		if b.IsEmpty() {
			continue
		}
		us := span(b.Min[0], b.Max[0], opts.TileSize[0], p.Origin[0])
		hs := span(b.Min[1], b.Max[1], opts.TileSize[1], p.Origin[1])
		vs := span(-b.Max[2], -b.Min[2], opts.TileSize[2], p.Origin[2])
		base := max(opts.TileSize[0], opts.TileSize[2])
		spanning := (b.Max[0]-b.Min[0])/base > 4 || (b.Max[2]-b.Min[2])/base > 4 || len(us)*len(vs) > 16
		toTiles := !spanning || o.Policy == PolicyForceLocal || opts.Clip && len(us)*len(vs) <= 400
		if !toTiles || o.Policy == PolicyForceShared {
			shared = append(shared, i)
			continue
		}
		for _, u := range us {
			for _, h := range hs {
				for _, v := range vs {
					c := [3]int{u, h, v}
					cells[c] = append(cells[c], i)
				}
			}
		}
	}
	return cells, shared
}

func TestGridEqualsTheNaiveGrid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		objects, opts := genObjects(t, 20), genOptions(t)
		opts.Compat, opts.Auto, opts.SampleFraction, opts.PerimeterDepth = false, false, 0, 0
		p, err := Grid(objects, opts)
		if err != nil {
			t.Fatal(err)
		}
		cells, shared := naive(objects, p, opts)
		got := map[[3]int][]int{}
		for i, tile := range p.Tiles {
			got[tile.Coord] = tile.Objects
			if i > 0 && compareCoords(p.Tiles[i-1].Coord, tile.Coord) >= 0 {
				t.Fatalf("%s is not after %s", tile.ID, p.Tiles[i-1].ID)
			}
			if tile.ID != TileID(tile.Coord) || tile.Cell != p.Cell(tile.Coord) {
				t.Fatalf("%+v", tile)
			}
		}
		if d := gocmp.Diff(cells, got); d != "" {
			t.Fatal(d)
		}
		if d := gocmp.Diff(shared, p.Shared, cmpopts.EquateEmpty()); d != "" {
			t.Fatal(d)
		}
	})
}

func compareCoords(a, b [3]int) int {
	return cmp.Or(cmp.Compare(a[2], b[2]), cmp.Compare(a[1], b[1]), cmp.Compare(a[0], b[0]))
}

// Whatever the options are, every object is in tiles, in the bucket or
// skipped; what is in tiles is covered by their contents.
func TestGridLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		objects, opts := genObjects(t, 20), genOptions(t)
		p, err := Grid(objects, opts)
		if err != nil {
			t.Fatal(err)
		}
		covered := make([]geom.Box, len(objects))
		for i := range covered {
			covered[i] = geom.EmptyBox()
		}
		for _, tile := range p.Tiles {
			if len(tile.Objects) == 0 || !slices.IsSortedFunc(tile.Objects, func(a, b int) int { return cmp.Compare(objects[a].ID, objects[b].ID) }) {
				t.Fatalf("%+v", tile)
			}
			for _, o := range tile.Objects {
				covered[o] = covered[o].Union(tile.Content)
				if !p.Objects[o].InTiles || !p.Objects[o].Cells.Contains(tile.Coord) {
					t.Fatalf("object %d is in %s: %+v", o, tile.ID, p.Objects[o])
				}
			}
		}
		whole := opts.SampleFraction == 0 && opts.PerimeterDepth == 0
		for i := range objects {
			places := 0
			for _, in := range []bool{!covered[i].IsEmpty(), slices.Contains(p.Shared, i), slices.Contains(p.Skipped, i)} {
				if in {
					places++
				}
			}
			if places != 1 {
				t.Fatalf("object %d is in %d places", i, places)
			}
			if whole && p.Objects[i].InTiles && !covered[i].Contains(objects[i].Box, 0) {
				t.Fatalf("object %d: %v is covered by %v only", i, objects[i].Box, covered[i])
			}
		}
	})
}

func TestGridEqualIDs(t *testing.T) {
	objects := of(box(0, 0, -1, 1, 1, 0), box(0, 0, -1, 1, 1, 0), box(0, 0, -1, 1, 1, 0))
	for i, name := range []string{"b", "a", "b"} {
		objects[i].ID, objects[i].Name = 7, name
	}
	if p := mustGrid(t, objects, tens); !slices.Equal(p.Tiles[0].Objects, []int{1, 0, 2}) {
		t.Error(p.Tiles[0].Objects)
	}
}

// scatter makes n objects of different sizes without randomness.
func scatter(n int) []Object {
	side := math.Sqrt(float64(n)) * 4
	state := uint32(1)
	next := func() float64 {
		state = state*1664525 + 1013904223
		return float64(state>>8) / (1 << 24)
	}
	objects := make([]Object, n)
	for i := range objects {
		x, y, z, s := next()*side, next()*20, -next()*side, 0.5+next()*8
		objects[i] = Object{ID: i, Name: "object", Box: box(x, y, z, x+s, y+s/2, z+s)}
	}
	return objects
}

func BenchmarkGrid(b *testing.B) {
	for _, n := range []int{10_000, 1_000_000} {
		objects := scatter(n)
		for _, auto := range []bool{false, true} {
			b.Run(fmt.Sprintf("%d objects, auto %v", n, auto), func(b *testing.B) {
				b.ReportAllocs()
				tiles := 0
				for b.Loop() {
					p, err := Grid(objects, GridOptions{Auto: auto, Clip: true})
					if err != nil {
						b.Fatal(err)
					}
					tiles = len(p.Tiles)
				}
				b.ReportMetric(float64(tiles), "tiles")
			})
		}
	}
}

// TestGridCutsTerrains: what has triangles enough for each of its cells is cut into any
// number of them.
func TestGridCutsTerrains(t *testing.T) {
	ground, prop := box(-30, -0.5, -60, 60, 0.5, 30), box(1, 0, -4, 4, 2, -1)
	for _, c := range []struct {
		triangles int
		compat    bool
		cut       bool
	}{{64*81 - 1, false, false}, {64 * 81, false, true}, {64 * 81, true, false}} {
		objects := of(ground, prop)
		objects[0].Triangles = c.triangles
		p := mustGrid(t, objects, GridOptions{TileSize: geom.Vec3{10, 1000, 10}, Clip: true, Compat: c.compat, SplitMaxTiles: 80})
		if p.Objects[0].InTiles != c.cut {
			t.Errorf("%+v: %+v", c, p.Objects[0])
		}
	}
}
