package partition

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/geom"
)

func TestTileSteps(t *testing.T) {
	for _, c := range []struct{ v, above, below float64 }{
		{1, 1, 0.875}, {1.01, 1.25, 1}, {24, 24, 20}, {25, 28, 24}, {57, 64, 56}, {0.01, 0.013671875 - 0.001953125, 0.009765625},
	} {
		side := stepAbove(c.v)
		if side != c.above || stepBelow(side) != c.below {
			t.Errorf("%v: %v and %v, want %v and %v", c.v, side, stepBelow(side), c.above, c.below)
		}
	}
}

// blocks is a square of n x n objects of 8 m, 10 m apart.
func blocks(n, triangles int) []Object {
	var out []Object
	for z := range n {
		for x := range n {
			lo := geom.Vec3{1000 + 10*float64(x), 0, -300 + 10*float64(z)}
			out = append(out, Object{ID: len(out), Box: geom.Box{Min: lo, Max: lo.Add(geom.Vec3{8, 5, 8})}, Triangles: triangles})
		}
	}
	return out
}

func TestFitTileSize(t *testing.T) {
	dense := append(blocks(40, 10), blocks(2, 150_000)...)
	ground := append(blocks(40, 1000), Object{ID: 9999, Box: geom.Box{Min: geom.Vec3{0, 0, -2000}, Max: geom.Vec3{4000, 1, 2000}}, Triangles: 2})
	for _, c := range []struct {
		name    string
		objects []Object
		goal    TileGoal
		want    float64
	}{
		{"nothing", nil, TileGoal{}, DefaultTileSide},
		{"one tile below four times the goal", blocks(20, 500), TileGoal{}, 224},
		{"1.6 M triangles on 400 m", blocks(40, 1000), TileGoal{}, 64},
		{"a tighter goal", blocks(40, 1000), TileGoal{Triangles: 10_000}, 28},
		{"few tiles allowed", blocks(40, 1000), TileGoal{Triangles: 10_000, MaxTiles: 50}, 56},
		{"few tiles allowed, but they would be too full", blocks(40, 1000), TileGoal{Triangles: 1000, MaxTiles: 50}, 20},
		{"a crowded corner", dense, TileGoal{}, 10},
		{"a ground plane counts as tiles alone", ground, TileGoal{}, 96},
		{"a wall on the far edge, which is a border of cells", wallAtEdge(0), TileGoal{}, 80},
		{"a wall of one bit there", wallAtEdge(1e-14), TileGoal{}, 80},
		{"a wall there that is thick", wallAtEdge(0.1), TileGoal{}, 64},
		{"a millimetre", []Object{{Box: geom.Box{Max: geom.Vec3{0.001, 0.001, 0.001}}, Triangles: 1}}, TileGoal{}, stepAbove(0.01)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := FitTileSize(c.objects, c.goal); got != c.want {
				l := loadAt(c.objects, got)
				t.Errorf("%v m, want %v: %+v", got, c.want, l)
			}
		})
	}
}

// wallAtEdge is a house of 64 m and a wall along one of its outer faces.
func wallAtEdge(thick float64) []Object {
	return []Object{
		{ID: 0, Box: geom.Box{Max: geom.Vec3{64, 5, 64}}, Triangles: 100},
		{ID: 1, Box: geom.Box{Min: geom.Vec3{64 - thick, 0, 0}, Max: geom.Vec3{64, 5, 64}}, Triangles: 2},
	}
}

// A scene that is to be one tile is one, whatever stands on its edges.
func TestOneTileIsOne(t *testing.T) {
	objects := wallAtEdge(0)
	plan, err := Grid(objects, GridOptions{Fit: &TileGoal{}, AtScene: true, Clip: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Tiles) != 1 {
		t.Errorf("%d tiles of %v m", len(plan.Tiles), plan.TileSize)
	}
}

func loadAt(objects []Object, side float64) load {
	loads, _, _ := loadsOf(objects)
	return loads.at(side)
}

// Whatever the scene is, the grid of the size that was chosen keeps the
// promises about numbers of tiles.
func TestFitTileSizeProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "objects")
		var objects []Object
		for i := range n {
			lo := geom.Vec3{rapid.Float64Range(-2000, 2000).Draw(t, "x"), 0, rapid.Float64Range(-2000, 2000).Draw(t, "z")}
			s := rapid.Float64Range(0, 300).Draw(t, "size")
			objects = append(objects, Object{ID: i, Box: geom.Box{Min: lo, Max: lo.Add(geom.Vec3{s, s, s})}, Triangles: rapid.IntRange(0, 500_000).Draw(t, "triangles")})
		}
		side := FitTileSize(objects, TileGoal{})
		if !(side > 0) || math.IsInf(side, 1) {
			t.Fatal(side)
		}
		l := loadAt(objects, side)
		total := 0
		for i := range objects {
			total += objects[i].Triangles
		}
		if total <= wholeTiles*DefaultTileTriangles && l.tiles > 1 {
			t.Errorf("%d triangles in %d tiles", total, l.tiles)
		}
		coarser := loadAt(objects, stepAbove(side*1.01))
		if l.tiles > DefaultMaxTiles && coarser.fullest <= wholeTiles*DefaultTileTriangles {
			t.Errorf("%d tiles", l.tiles)
		}
	})
}

// A scene does not take more tiles than there is room for.
func TestMaxTiles(t *testing.T) {
	objects := blocks(40, 10)
	for _, c := range []struct {
		most int
		ok   bool
	}{{0, true}, {1600, true}, {1599, false}} {
		_, err := Grid(objects, GridOptions{TileSize: geom.Vec3{10, 100, 10}, AtScene: true, Clip: true, MaxTiles: c.most})
		if c.ok != (err == nil) || !c.ok && !errors.Is(err, ErrTooManyCells) {
			t.Errorf("at most %d: %v", c.most, err)
		}
	}
}

// What is all at one place cannot be divided.
func TestFitTileSizeOfOnePlace(t *testing.T) {
	for _, s := range []float64{0, 1e-230, 1e-9} {
		at := geom.Vec3{0.35, 0, -11.9}
		o := Object{Box: geom.Box{Min: at, Max: at.Add(geom.Vec3{s, s, s})}, Triangles: 500_000}
		if side := FitTileSize([]Object{o}, TileGoal{}); !(side > 0 && side <= 1) {
			t.Errorf("%v m: tiles of %v m", s, side)
		}
	}
}

// TestCellLoads: cells are counted the same in a table and by their coordinates.
func TestCellLoads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lo, hi := geom.Vec3{-7, 0, 3}, geom.Vec3{-7 + rapid.Float64Range(0, 50).Draw(t, "x"), 0, 3 + rapid.Float64Range(0, 50).Draw(t, "z")}
		side := rapid.Float64Range(1, 60).Draw(t, "side")
		dense, sparse := newCellLoads(lo, hi, side, 1000), &cellLoads{sparse: map[[2]int32]float64{}}
		if dense.sparse != nil {
			t.Fatal("few cells have no table")
		}
		for range rapid.IntRange(0, 99).Draw(t, "n") {
			at := func(axis int) int32 {
				return index(rapid.Float64Range(lo[axis], hi[axis]).Draw(t, "at"), side, lo[axis])
			}
			x, z, each := at(0), at(2), rapid.Float64Range(0.1, 9).Draw(t, "each")
			dense.add(x, z, each)
			sparse.add(x, z, each)
		}
		if a, b := dense.sorted(), sparse.sorted(); !slices.Equal(a, b) {
			t.Fatalf("%v, %v", a, b)
		}
	})
	if far := newCellLoads(geom.Vec3{}, geom.Vec3{1e9, 0, 1e9}, 1, 5); far.sparse == nil {
		t.Error("a table of all cells of a large scene")
	}
}

// TestKnownSide: a side that a plan tells gives the same plan.
func TestKnownSide(t *testing.T) {
	objects := blocks(40, 1000)
	for _, o := range []GridOptions{
		{Fit: &TileGoal{}}, {Auto: true}, {Fit: &TileGoal{}, TileSize: geom.Vec3{30, 100, 0}}, {TileSize: geom.Vec3{30, 100, 40}},
	} {
		want, err := Grid(objects, o)
		if err != nil || (want.Side > 0) != want.AutoTileSize {
			t.Fatalf("%+v: a side of %v m, %v", o, want.Side, err)
		}
		o.Side = want.Side
		got, err := Grid(objects, o)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%+v: %s", o, d)
		}
	}
	for _, side := range []float64{-1, 1e-9, math.NaN(), math.Inf(1)} {
		if _, err := Grid(objects, GridOptions{Auto: true, Side: side}); !errors.Is(err, ErrBadOptions) {
			t.Errorf("%v m: %v", side, err)
		}
	}
}
