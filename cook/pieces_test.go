package cook

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/mesh"
	"github.com/untoldkit/untold/internal/fuzzbound"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/testfile"
)

// sheets are nodes that each show triangles of half a square, one above the
// other.
func sheets(side float32, triangles, nodes int) *model {
	d := &model{}
	var at []float32
	for i := range triangles {
		h := float32(i) / 1000
		at = append(at, 0, h, 0, 0, h, side, side, h, 0)
	}
	m := add(&d.meshes, obj{"primitives": []obj{{"attributes": obj{"POSITION": d.floats(3, at...)}}}})
	for i := range nodes {
		add(&d.nodes, obj{"mesh": m, "translation": []float32{0, float32(i) / 2, 0}})
	}
	return d
}

// TestPiecesAreCounted: a small file whose few triangles are cut into very many
// is refused before they are made, with a remedy; so it is when the counting
// was too kind, with the memory that there is and not more.
func TestPiecesAreCounted(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Options)
		nodes  int
		most   uint64 // bytes of allocations
		want   []string
	}{
		"memory":      {func(o *Options) { o.Memory = 1 << 28 }, 500, 64 << 20, []string{"objects would be cut into more than", "take more than the 268 MB"}},
		"limit":       {func(o *Options) { o.MaxTriangles = 30_000 }, 500, 64 << 20, []string{"more than 30000 triangles, which is the limit"}},
		"when made":   {func(o *Options) { o.Memory = 1_800_000 }, 1, 32 << 20, []string{"the pieces of objects that lie in several tiles take ", "and they may take 2 MB"}},
		"with levels": {func(o *Options) { *o = levelOptions(); o.TileSize[0], o.TileSize[2], o.Memory = 25, 25, 1<<28 }, 500, 64 << 20, []string{"objects would be cut into"}},
	} {
		scene := sheets(480, 60, c.nodes).save(t) // 60 triangles of 20 x 20 / 2 cells
		o := ClassicOptions()
		o.Jobs = 2
		c.change(&o)
		dir := t.TempDir()
		var err error
		n := fuzzbound.Allocated(func() { _, err = Run(context.Background(), scene, dir, o) })
		if !errors.Is(err, gltfscene.ErrTooLarge) {
			t.Fatalf("%s: %v", name, err)
		}
		for _, part := range append(c.want, "tiles of 25 x 25 m", "Options.TileSize", "Options.Clip", "Options.MaxTriangles") {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %q is not in %v", name, part, err)
			}
		}
		if n > c.most {
			t.Errorf("%s: %d bytes allocated before it is refused", name, n)
		}
		if list := testfile.ReadTree(t, dir); len(list) != 0 {
			t.Errorf("%s: left behind %v", name, list)
		}
	}
}

// TestPiecesWithinMemory: what the memory carries is cut to the same bytes
// whether or not its pieces had to be counted.
func TestPiecesWithinMemory(t *testing.T) {
	scene := sheets(120, 16, 3).save(t)
	want, got := t.TempDir(), t.TempDir()
	mustRun(t, scene, want, ClassicOptions())
	o := ClassicOptions()
	o.Memory, o.Jobs = 120_000, 3
	mustRun(t, scene, got, o)
	if a, b := testfile.ReadTree(t, want), testfile.ReadTree(t, got); fmt.Sprint(a) != fmt.Sprint(b) {
		t.Errorf("%v, want %v", b, a)
	}
	o.MaxTriangles = 1 // the caller's limit is also that of what cutting makes
	if _, err := Run(context.Background(), scene, t.TempDir(), o); !errors.Is(err, gltfscene.ErrTooLarge) {
		t.Error(err)
	}
	o.MaxTriangles = -1
	mustRun(t, scene, t.TempDir(), o)
}

// TestPieceEstimate: pieces take no less than they are counted for, so that
// nothing is refused that the memory would carry.
func TestPieceEstimate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		side := rapid.IntRange(1, 12).Draw(t, "side")
		size := rapid.SampledFrom([]float64{1, 7.3, 30, 200}).Draw(t, "size")
		turn := rapid.Float64Range(0, 7).Draw(t, "turn")
		m := &mesh.Mesh{}
		sin, cos := math.Sincos(turn)
		for y := range side + 1 {
			for x := range side + 1 {
				u, v := size*float64(x)/float64(side), size*float64(y)/float64(side)
				m.Positions = append(m.Positions, geom.Vec3{cos*u - sin*v, 0, sin*u + cos*v})
				m.Normals = append(m.Normals, [3]float32{0, 1, 0})
			}
		}
		for y := range uint32(side) {
			for x := range uint32(side) {
				a := y*uint32(side+1) + x
				b := a + uint32(side) + 1
				m.Indices = append(m.Indices, a, b, a+1, a+1, b, b+1)
			}
		}
		var planes []float64
		for x := -300.0; x <= 300; x += 10 {
			planes = append(planes, x+0.37)
		}
		g := mesh.ClipGrid{Planes: [3][]float64{planes, nil, slices.Clone(planes)}}
		made := int64(0)
		for _, p := range m.Split(g) {
			made += p.Mesh.Bytes()
		}
		n := m.CountSplit(g, math.MaxInt64)
		if want := pieceBytes(n); want > made {
			t.Fatalf("%d bytes are made, %+v is counted as %d", made, n, want)
		}
	})
}

// TestCountInBatches: pieces are counted of some triangles at a time, as of all of them.
func TestCountInBatches(t *testing.T) {
	p := &gltfscene.Primitive{}
	for i := range 2*countBatch + 77 {
		x := float32(i%97) / 4
		p.Positions = append(p.Positions, [3]float32{x, 0, 0}, [3]float32{x, 0, 9}, [3]float32{x + float32(i%5), 0, 3})
		n := uint32(len(p.Positions))
		p.Indices = append(p.Indices, n-3, n-2, n-1)
	}
	world := geom.TRS(geom.Vec3{1, 2, 3}, [4]float64{0, 0, 0, 1}, geom.Vec3{2, 1, 1})
	var at []geom.Vec3
	for _, v := range p.Positions {
		at = append(at, world.Point(geom.FromF32(v)))
	}
	grid := mesh.ClipGrid{Planes: [3][]float64{{5, 10, 15, 20}, nil, {-9, -6}}}
	whole := mesh.Mesh{Positions: at, Indices: p.Indices}
	for _, limit := range []int64{maxPolygons, 5000, 1} {
		var got mesh.SplitCount
		n := pieceCount{}
		n.add(&got, p, &world, grid, limit)
		if want := whole.CountSplit(grid, limit); got != want {
			t.Errorf("up to %d: %+v, want %+v", limit, got, want)
		}
	}
}
