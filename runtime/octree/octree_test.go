package octree

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/geom"
)

// linear is the definition that Sphere must agree with.
func linear(boxes []geom.Box, center geom.Vec3, r float64, out []int32) []int32 {
	for i := range boxes {
		if !boxes[i].IsEmpty() && boxes[i].Distance(center) <= r {
			out = append(out, int32(i))
		}
	}
	return out
}

func genBox(t *rapid.T) geom.Box {
	coord := rapid.OneOf(
		rapid.Float64Range(-1000, 1000),
		rapid.Map(rapid.IntRange(-8, 8), func(i int) float64 { return float64(i) }),
		rapid.SampledFrom([]float64{0, 1e30, -1e30, math.MaxFloat64, -math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN(), 1e-320}),
	)
	var b geom.Box
	for a := range 3 {
		lo := coord.Draw(t, "lo")
		b.Min[a], b.Max[a] = lo, lo
		switch rapid.IntRange(0, 7).Draw(t, "kind") {
		case 0: // flat
		case 1: // maybe empty
			b.Max[a] = coord.Draw(t, "hi")
		default:
			b.Max[a] = lo + rapid.Float64Range(0, 60).Draw(t, "edge")
		}
	}
	return b
}

func TestSphereAgreesWithLinear(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		boxes := rapid.SliceOfN(rapid.Custom(genBox), 0, 300).Draw(t, "boxes")
		tree := New(boxes)
		for range 8 {
			c := geom.Vec3{}
			for a := range 3 {
				c[a] = rapid.OneOf(rapid.Float64Range(-1200, 1200), rapid.SampledFrom([]float64{0, 5, 1e300, -math.MaxFloat64})).Draw(t, "c")
			}
			r := rapid.OneOf(rapid.Float64Range(0, 2000), rapid.SampledFrom([]float64{0, 1, 3, 1e-170, 1e200, math.Inf(1)})).Draw(t, "r")
			prefix := []int32{-7}
			got, want := tree.Sphere(c, r, prefix), linear(boxes, c, r, []int32{-7})
			if !slices.Equal(got, want) {
				t.Fatalf("centre %v, radius %v: %v, want %v", c, r, got, want)
			}
		}
	})
}

func TestSphereBoundaryIsInclusive(t *testing.T) {
	boxes := []geom.Box{{Min: geom.Vec3{3, 0, 0}, Max: geom.Vec3{4, 1, 1}}, {Min: geom.Vec3{-4, -1, -1}, Max: geom.Vec3{-3.0000001, 0, 0}}}
	if got := New(boxes).Sphere(geom.Vec3{}, 3, nil); !slices.Equal(got, []int32{0}) {
		t.Errorf("found %v", got)
	}
}

func TestHostileBoxes(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	all := geom.Box{Min: geom.Vec3{-inf, -inf, -inf}, Max: geom.Vec3{inf, inf, inf}}
	bad := []geom.Box{
		geom.EmptyBox(),
		{Min: geom.Vec3{nan, 0, 0}, Max: geom.Vec3{1, 1, 1}},
		{Min: geom.Vec3{0, 0, 0}, Max: geom.Vec3{1, nan, 1}},
		{Min: geom.Vec3{1, 0, 0}, Max: geom.Vec3{0, 1, 1}},
	}
	tree := New(bad)
	if tree.Len() != 0 || !tree.Bounds().IsEmpty() || len(tree.Sphere(geom.Vec3{}, inf, nil)) != 0 {
		t.Error("an empty or NaN box is found")
	}
	tree = New(append(slices.Clone(bad), all, geom.Box{}))
	if got := tree.Sphere(geom.Vec3{1e9, 0, 0}, 0, nil); !slices.Equal(got, []int32{4}) {
		t.Errorf("found %v", got)
	}
	for _, c := range []struct {
		center geom.Vec3
		r      float64
	}{{geom.Vec3{}, -1}, {geom.Vec3{}, nan}, {geom.Vec3{nan, 0, 0}, 1}, {geom.Vec3{0, inf, 0}, inf}} {
		if got := tree.Sphere(c.center, c.r, nil); len(got) != 0 {
			t.Errorf("centre %v, radius %v found %v", c.center, c.r, got)
		}
	}
	if len(New(nil).Sphere(geom.Vec3{}, 1, nil)) != 0 {
		t.Error("nothing finds something")
	}
	same := make([]geom.Box, 5000)
	if got := New(same).Sphere(geom.Vec3{0, 2, 0}, 2, nil); len(got) != len(same) {
		t.Errorf("%d of %d identical boxes", len(got), len(same))
	}
}

// TestStrayBoxes: a box far away or as large as the scene does not make the
// queries of all others visit everything.
func TestStrayBoxes(t *testing.T) {
	boxes := tiles(100, 25)
	boxes = append(boxes,
		geom.Box{Min: geom.Vec3{1e30, 0, 0}, Max: geom.Vec3{2e30, 1, 1}},
		geom.Box{Min: geom.Vec3{-1e5, -1e5, -1e5}, Max: geom.Vec3{1e5, 1e5, 1e5}})
	tree := New(boxes)
	var near, inside int
	for i := range tree.levels[0] {
		d, _ := tree.levels[0][i].distances2(&geom.Vec3{1250, 10, 1250})
		if d <= 100*100 {
			near++
			inside += min(fan, len(tree.ids)-i*fan)
		}
	}
	want := len(linear(boxes, geom.Vec3{1250, 10, 1250}, 100, nil))
	if inside > 4*want {
		t.Errorf("%d leaves with %d boxes touch a sphere that holds %d", near, inside, want)
	}
}

func TestSphereDoesNotAllocate(t *testing.T) {
	tree := New(tiles(60, 25))
	out := make([]int32, 0, 3600)
	if n := testing.AllocsPerRun(20, func() { out = tree.Sphere(geom.Vec3{700, 0, 700}, 500, out[:0]) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if len(out) == 0 {
		t.Error("nothing found")
	}
}

func TestBytesPerBox(t *testing.T) {
	tree := New(tiles(300, 25))
	if per := float64(tree.Bytes()) / float64(tree.Len()); per > 8 {
		t.Errorf("%.1f bytes per box", per)
	}
	b := tree.Bounds()
	if !b.Contains(geom.Box{Max: geom.Vec3{7490, 15, 7490}}, 1e-6) {
		t.Errorf("bounds %v", b)
	}
}

// tiles lays out n x n city tiles of the given edge with some variation in size
// and height, row by row.
func tiles(n int, edge float64) []geom.Box {
	boxes := make([]geom.Box, 0, n*n)
	for z := range n {
		for x := range n {
			min := geom.Vec3{float64(x) * edge, 0, float64(z) * edge}
			size := geom.Vec3{edge - float64((x*7+z*3)%5), 15 + float64((x*13+z*29)%40), edge - float64((x+z)%3)}
			boxes = append(boxes, geom.Box{Min: min, Max: min.Add(size)})
		}
	}
	return boxes
}

func TestShape(t *testing.T) {
	for _, c := range []struct{ boxes, nodes, leaves, depth int }{{0, 0, 0, 0}, {1, 1, 1, 1}, {8, 1, 1, 1}, {9, 3, 2, 2}, {65, 9 + 2 + 1, 9, 3}} {
		boxes := make([]geom.Box, c.boxes)
		for i := range boxes {
			boxes[i] = geom.Box{Min: geom.Vec3{float64(i)}, Max: geom.Vec3{float64(i) + 1, 1, 1}}
		}
		if n, l, d := New(boxes).Shape(); n != c.nodes || l != c.leaves || d != c.depth {
			t.Errorf("%d boxes: %d nodes, %d leaves, depth %d", c.boxes, n, l, d)
		}
	}
}
