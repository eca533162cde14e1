package mesh

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/geom"

	"github.com/untoldkit/untold/format/vertex"
)

func vertices(p *Packed) (out []vertex.Vertex) {
	for b := p.Vertices; len(b) > 0; b = b[vertex.Size:] {
		out = append(out, vertex.Get(b))
	}
	return out
}

func pack(t testing.TB, m *Mesh, o PackOptions) *Packed {
	t.Helper()
	p, err := m.Pack(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPackDefaults(t *testing.T) {
	m := &Mesh{Positions: []geom.Vec3{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, Indices: []uint32{0, 1, 2}}
	got := vertices(pack(t, m, PackOptions{RepeatU: 1, RepeatV: 1}))
	want := vertex.Vertex{
		Normal: vertex.PackNormal([3]float32{0, 0, 1}), Tangent: vertex.PackTangent([4]float32{1, 0, 0, 1}),
		Color: [4]uint8{255, 255, 255, 255},
	}
	for i, p := range [][3]float32{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}} {
		want.Position = p
		if diff := cmp.Diff(want, got[i]); diff != "" {
			t.Errorf("vertex %d:\n%s", i, diff)
		}
	}
}

func TestPackAttributes(t *testing.T) {
	m := plane([2]float32{0, 1}, [2]float32{1, 1}, [2]float32{1, 0}, [2]float32{0, 0})
	m.UV[1] = [][2]float32{{0, .25}, {3, 4}, {0, 0}, {0, 1}}
	m.Tangents = [][4]float32{{0, 2, 0, -1}, {1, 0, 0, 1}, {0, 0, 0, 1}, {1, 0, 0, 1}}
	m.Colors = [][4]float32{{1, .5, 0, .25}, {2, -1, 0, 1}, {}, {}}
	got := vertices(pack(t, m, PackOptions{}))
	half := func(u, v float32) [2]uint16 { return [2]uint16{vertex.Half(u), vertex.Half(v)} }
	if got[0].UV0 != half(0, 0) || got[2].UV0 != half(1, 1) {
		t.Errorf("v is not stored bottom-up: %v, %v", got[0].UV0, got[2].UV0)
	}
	if got[0].UV1 != half(0, .75) || got[1].UV1 != half(3, -3) {
		t.Errorf("second UV set: %v, %v", got[0].UV1, got[1].UV1)
	}
	if got[0].Tangent != vertex.PackTangent([4]float32{0, 1, 0, -1}) || got[2].Tangent != vertex.PackTangent([4]float32{1, 0, 0, 1}) {
		t.Errorf("tangents %x, %x", got[0].Tangent, got[2].Tangent)
	}
	if got[0].Color != [4]uint8{255, 128, 0, 64} || got[1].Color != [4]uint8{255, 0, 0, 255} {
		t.Errorf("colours %v, %v", got[0].Color, got[1].Color)
	}
}

// TestPackWeld: vertices are merged when, and only when, all 32 bytes agree;
// the numbers follow the first use.
func TestPackWeld(t *testing.T) {
	m := cube()
	m.Tangents, m.Colors = nil, nil
	flat := copyOf(m)
	flat.FlatNormals()
	p := pack(t, flat, PackOptions{})
	if n := len(p.Vertices) / vertex.Size; n != 24 {
		t.Errorf("36 corners of a cube became %d vertices, want 24", n)
	}
	smooth := copyOf(m)
	smooth.Normals, smooth.UV = nil, [2][][2]float32{}
	if n := len(pack(t, smooth, PackOptions{}).Vertices) / vertex.Size; n != 8 {
		t.Errorf("a cube without normals has %d vertices, want 8", n)
	}

	// -0 and 0 are one place and one coordinate, also where a half rounds to -0.
	zero := math.Copysign(0, -1)
	m = &Mesh{
		Positions: []geom.Vec3{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {zero, zero, zero}, {0, 2, 0}, {0, 3, 0}},
		Indices:   []uint32{0, 1, 2, 3, 4, 1},
	}
	m.UV[0] = [][2]float32{{0, 1}, {0, 1}, {0, 1}, {-1e-9, 1.00000001}, {0, 1}, {0, 1}}
	p = pack(t, m, PackOptions{})
	if diff := cmp.Diff([]uint32{0, 1, 2, 0, 3, 1}, p.Indices); diff != "" {
		t.Errorf("indices:\n%s", diff)
	}
}

func TestPackFirstUseAndUnused(t *testing.T) {
	m := &Mesh{Indices: []uint32{9, 4, 6, 4, 9, 1}}
	for i := range 12 {
		m.Positions = append(m.Positions, geom.Vec3{float64(i), float64(i * i), 0})
	}
	p := pack(t, m, PackOptions{})
	if diff := cmp.Diff([]uint32{0, 1, 2, 1, 0, 3}, p.Indices); diff != "" {
		t.Errorf("indices:\n%s", diff)
	}
	var x []float32
	for _, v := range vertices(p) {
		x = append(x, v.Position[0])
	}
	if diff := cmp.Diff([]float32{9, 4, 6, 1}, x); diff != "" {
		t.Errorf("vertices are not in order of first use:\n%s", diff)
	}
}

func TestPackDegenerate(t *testing.T) {
	m := &Mesh{
		// 3 lies so close to 0 that single precision cannot tell.
		Positions: []geom.Vec3{{1, 1, 1}, {2, 0, 0}, {0, 2, 0}, {1 + 1e-12, 1, 1}, {7, 7, 7}},
		Indices:   []uint32{4, 4, 1, 0, 3, 1, 0, 1, 2, 2, 1, 3, 0, 1, 0},
	}
	p := pack(t, m, PackOptions{})
	if p.Degenerate != 3 {
		t.Errorf("%d degenerate triangles, want 3", p.Degenerate)
	}
	if diff := cmp.Diff([]uint32{0, 1, 2, 2, 1, 0}, p.Indices); diff != "" {
		t.Errorf("indices:\n%s", diff)
	}
	if v := vertices(p); len(v) != 3 || v[0].Position != [3]float32{1, 1, 1} {
		t.Errorf("vertices %v: those of dropped triangles must vanish", v)
	}
	all := &Mesh{Positions: m.Positions, Indices: []uint32{0, 0, 1, 0, 3, 2}}
	if p := pack(t, all, PackOptions{}); len(p.Vertices) != 0 || len(p.Indices) != 0 || p.Degenerate != 2 {
		t.Errorf("nothing but degenerate triangles: %+v", p)
	}
	if p := pack(t, &Mesh{}, PackOptions{}); len(p.Vertices) != 0 || len(p.Indices) != 0 {
		t.Errorf("nothing at all: %+v", p)
	}
}

func TestPackUVClamped(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	m := plane([2]float32{1e6, -1e6}, [2]float32{0, 0}, [2]float32{65504, 0}, [2]float32{inf, nan})
	m.UV[1] = [][2]float32{{-inf, 0}, {0, 0}, {0, 0}, {nan, 0}}
	p := pack(t, m, PackOptions{RepeatU: 1, RepeatV: 1})
	if p.UVClamped != 2 {
		t.Errorf("%d vertices clamped, want 2", p.UVClamped)
	}
	for i, v := range vertices(p) {
		for _, h := range []uint16{v.UV0[0], v.UV0[1], v.UV1[0], v.UV1[1]} {
			if f := vertex.FromHalf(h); math.IsInf(float64(f), 0) || f != f {
				t.Errorf("vertex %d holds %v", i, f)
			}
		}
	}
	if v := vertices(p); vertex.FromHalf(v[0].UV0[0]) != 65504 || vertex.FromHalf(v[0].UV1[0]) != -65504 {
		t.Errorf("clamped to %v", v[0])
	}
}

func TestPackOutOfRange(t *testing.T) {
	for _, x := range []float64{1e39, -1e39, math.Inf(1), math.NaN()} {
		m := plane()
		m.UV[0] = nil
		m.Positions[2][1] = x
		if _, err := m.Pack(PackOptions{}); err == nil {
			t.Errorf("position %v was packed", x)
		}
		m.Indices = m.Indices[:0]
		if _, err := m.Pack(PackOptions{}); err != nil {
			t.Errorf("a vertex that no triangle uses matters: %v", err)
		}
	}
}

// TestPackAgainstPlain compares with the obvious way to do it: a map from the
// 32 bytes to the number.
func TestPackAgainstPlain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "vertices")
		grid := rapid.Float64Range(-2, 2)
		m := &Mesh{Normals: [][3]float32{}}
		for range n {
			p := geom.Vec3{math.Round(grid.Draw(t, "x")), math.Round(grid.Draw(t, "y")), 0}
			m.Positions = append(m.Positions, p)
			m.Normals = append(m.Normals, [3]float32{0, float32(math.Round(grid.Draw(t, "ny"))), 1})
		}
		m.Indices = rapid.SliceOfN(rapid.Uint32Range(0, uint32(n-1)), 0, 90).Draw(t, "indices")
		m.Indices = m.Indices[:len(m.Indices)/3*3]
		before := slices.Clone(m.Indices)
		got, err := m.Pack(PackOptions{})
		if err != nil {
			t.Fatal(err)
		}
		want := plainPack(m)
		if !slices.Equal(got.Indices, want.Indices) || string(got.Vertices) != string(want.Vertices) || got.Degenerate != want.Degenerate {
			t.Fatalf("got %v, %d dropped; want %v, %d dropped", got.Indices, got.Degenerate, want.Indices, want.Degenerate)
		}
		if !slices.Equal(before, m.Indices) {
			t.Fatal("the source was written into")
		}
	})
}

func plainPack(m *Mesh) *Packed {
	out := &Packed{}
	number := map[string]uint32{}
	for i := 0; i < len(m.Indices); i += 3 {
		var key [3]string
		places := map[[3]float32]bool{}
		for k := range key {
			v := m.Indices[i+k]
			fv := vertex.Vertex{
				Position: m.Positions[v].F32(), Normal: vertex.PackNormal(m.Normals[v]),
				Tangent: vertex.PackTangent([4]float32{1, 0, 0, 1}), Color: [4]uint8{255, 255, 255, 255},
			}
			for a, c := range fv.Position {
				if c == 0 {
					fv.Position[a] = 0
				}
			}
			places[fv.Position] = true
			key[k] = string(vertex.Append(nil, []vertex.Vertex{fv}))
		}
		if len(places) < 3 {
			out.Degenerate++
			continue
		}
		for _, k := range key {
			if _, ok := number[k]; !ok {
				number[k] = uint32(len(number))
				out.Vertices = append(out.Vertices, k...)
			}
			out.Indices = append(out.Indices, number[k])
		}
	}
	return out
}

// TestBakeConcurrently bakes one mesh from many goroutines: under the race
// detector this shows that nothing writes into what is shared.
func TestBakeConcurrently(t *testing.T) {
	src := hills(24)
	for i := range src.UV[0] { // mirrored halves, so that vertices are split
		src.UV[0][i][0] = float32(math.Abs(float64(src.UV[0][i][0]) - 4))
	}
	before := copyOf(src)
	results := make([]*Packed, 8)
	var wg sync.WaitGroup
	for i := range results {
		wg.Go(func() {
			world := rotated()
			if i%2 == 1 {
				world = world.Mul(geom.TRS(geom.Vec3{}, [4]float64{0, 0, 0, 1}, geom.Vec3{-1, 1, 1}))
			}
			results[i] = bake(t, src, &world)
		})
	}
	wg.Wait()
	for i := 2; i < len(results); i++ {
		if diff := cmp.Diff(results[i%2], results[i]); diff != "" {
			t.Fatal("results differ")
		}
	}
	if diff := cmp.Diff(before, src); diff != "" {
		t.Error("the source was written into")
	}
}

func ExampleMesh_Pack() {
	m := Mesh{
		Positions: []geom.Vec3{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}},
		Indices:   []uint32{0, 1, 2},
	}
	world := geom.TRS(geom.Vec3{10, 0, 0}, [4]float64{0, 0, 0, 1}, geom.Vec3{1, 1, 1})
	m.Transform(&world)
	m.FlatNormals()
	m.GenerateTangents()
	p, err := m.Pack(PackOptions{RepeatU: 1, RepeatV: 1})
	if err != nil {
		panic(err)
	}
	fmt.Println(len(p.Vertices), p.Indices, vertex.Get(p.Vertices).Position)
	// Output: 96 [0 1 2] [10 0 0]
}
