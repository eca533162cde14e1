package pyramid

import (
	"math"
	"slices"
	"testing"

	"github.com/untoldkit/untold/cook/internal/bake"
	"github.com/untoldkit/untold/cook/mesh"
	"github.com/untoldkit/untold/internal/geom"
)

// TestSetTangents: they agree with MikkTSpace's where that splits nothing, and no vertex
// becomes two.
func TestSetTangents(t *testing.T) {
	var coarse mesh.Mesh
	for y := range 5 {
		for x := range 5 {
			coarse.Positions = append(coarse.Positions, geom.Vec3{float64(x), float64((x * x * y) % 3), float64(y)})
			coarse.Normals = append(coarse.Normals, [3]float32{0, 1, 0})
		}
	}
	for y := range uint32(4) {
		for x := range uint32(4) {
			a := 5*y + x
			coarse.Indices = append(coarse.Indices, a, a+5, a+1, a+1, a+5, a+6)
		}
	}
	layout, err := bake.Pack(bake.Unwrap(coarse.Positions, coarse.Indices), 64)
	if err != nil {
		t.Fatal(err)
	}
	indices, uv, from := layout.Mesh(coarse.Indices)
	m := mesh.Mesh{Indices: indices, UV: [2][][2]float32{uv}}
	for _, v := range from {
		m.Positions, m.Normals = append(m.Positions, coarse.Positions[v]), append(m.Normals, coarse.Normals[v])
	}
	other := m
	other.Indices = slices.Clone(m.Indices)
	other.GenerateTangents()
	setTangents(&m)
	if len(m.Tangents) != len(uv) {
		t.Fatalf("%d tangents, %d vertices", len(m.Tangents), len(uv))
	}
	for i, v := range m.Indices {
		got, want := m.Tangents[v], other.Tangents[other.Indices[i]]
		cosine := geom.Vec3{float64(got[0]), float64(got[1]), float64(got[2])}.Dot(geom.Vec3{float64(want[0]), float64(want[1]), float64(want[2])})
		if got[3] != want[3] || cosine < 0.9 {
			t.Errorf("corner %d has tangent %v, MikkTSpace's is %v", i, got, want)
		}
		if n := geom.FromF32(m.Normals[v]); math.Abs(n.Dot(geom.Vec3{float64(got[0]), float64(got[1]), float64(got[2])})) > 1e-6 {
			t.Errorf("tangent %v is not perpendicular to %v", got, n)
		}
	}
}

// TestSetTangentsWithoutArea: where no triangle tells a direction, some tangent is
// perpendicular to the normal.
func TestSetTangentsWithoutArea(t *testing.T) {
	m := mesh.Mesh{
		Positions: []geom.Vec3{{}, {1, 0, 0}, {0, 1, 0}}, Normals: [][3]float32{{0, 0, 1}, {1, 0, 0}, {0, 1, 0}},
		UV: [2][][2]float32{{{.5, .5}, {.5, .5}, {.5, .5}}}, Indices: []uint32{0, 1, 2},
	}
	setTangents(&m)
	for v, n := range m.Normals {
		x := m.Tangents[v]
		a := geom.Vec3{float64(x[0]), float64(x[1]), float64(x[2])}
		if math.Abs(a.Len()-1) > 1e-6 || math.Abs(a.Dot(geom.FromF32(n))) > 1e-6 || x[3] != -1 {
			t.Errorf("normal %v has tangent %v", n, x)
		}
	}
}
