package mesh

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/geom"
)

// plane is a unit square in the plane z = 0 that faces +Z, its UVs given for
// the corners lower left, lower right, upper right, upper left.
func plane(uv ...[2]float32) *Mesh {
	m := &Mesh{
		Positions: []geom.Vec3{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}},
		Indices:   []uint32{0, 1, 2, 0, 2, 3},
	}
	for range m.Positions {
		m.Normals = append(m.Normals, [3]float32{0, 0, 1})
	}
	m.UV[0] = uv
	return m
}

// TestTangentPlane spells the convention out: v is top-down, so an upright
// picture has v = 1 at the bottom; the bitangent cross(N, T) * w points along
// the growing stored v' = 1 - v.
func TestTangentPlane(t *testing.T) {
	for _, c := range []struct {
		name string
		uv   [][2]float32
		want [4]float32
	}{
		{"upright", [][2]float32{{0, 1}, {1, 1}, {1, 0}, {0, 0}}, [4]float32{1, 0, 0, 1}},
		{"mirrored in u", [][2]float32{{1, 1}, {0, 1}, {0, 0}, {1, 0}}, [4]float32{-1, 0, 0, -1}},
		{"upside down", [][2]float32{{0, 0}, {1, 0}, {1, 1}, {0, 1}}, [4]float32{1, 0, 0, -1}},
		{"quarter turn", [][2]float32{{0, 0}, {0, 1}, {1, 1}, {1, 0}}, [4]float32{0, 1, 0, 1}},
		{"tiled", [][2]float32{{0, 50}, {50, 50}, {50, 0}, {0, 0}}, [4]float32{1, 0, 0, 1}},
		{"sheared", [][2]float32{{0, 1}, {1, 1}, {1.5, 0}, {0.5, 0}}, [4]float32{1, 0, 0, 1}}, // where v stays
	} {
		t.Run(c.name, func(t *testing.T) {
			m := plane(c.uv...)
			m.GenerateTangents()
			want := vec(c.want).Normalize(0, geom.Vec3{})
			for v, got := range m.Tangents {
				if got[3] != c.want[3] || vec(got).Sub(want).Len() > 1e-6 {
					t.Errorf("vertex %d: %v, want %v and sign %v", v, got, want, c.want[3])
				}
			}
		})
	}
}

// TestTangentFollowsUV is the definition as a property: for any triangle with
// any UVs, the tangent is where u grows and v stays, and moving along the
// bitangent grows the stored v.
func TestTangentFollowsUV(t *testing.T) {
	coordinate, uv := rapid.Float64Range(-10, 10), rapid.Float32Range(-4, 4)
	rapid.Check(t, func(t *rapid.T) {
		m := &Mesh{Indices: []uint32{0, 1, 2}}
		for range 3 {
			m.Positions = append(m.Positions, geom.Vec3{coordinate.Draw(t, "x"), coordinate.Draw(t, "y"), coordinate.Draw(t, "z")})
			m.UV[0] = append(m.UV[0], [2]float32{uv.Draw(t, "u"), uv.Draw(t, "v")})
		}
		e1, e2 := m.Positions[1].Sub(m.Positions[0]), m.Positions[2].Sub(m.Positions[0])
		u1, v1 := float64(m.UV[0][1][0]-m.UV[0][0][0]), float64(m.UV[0][0][1]-m.UV[0][1][1])
		u2, v2 := float64(m.UV[0][2][0]-m.UV[0][0][0]), float64(m.UV[0][0][1]-m.UV[0][2][1])
		det := u1*v2 - u2*v1
		area := e1.Cross(e2)
		if area.Len() < 0.1 || math.Abs(det) < 0.01 {
			t.Skip("nearly without an area")
		}
		m.Normals = [][3]float32{area.Normalize(0, geom.Vec3{}).F32(), {}, {}}
		m.Normals[1], m.Normals[2] = m.Normals[0], m.Normals[0]
		m.GenerateTangents()
		// By Cramer's rule: where u grows and v' stays, and the reverse.
		growU := e1.Scale(v2 / det).Sub(e2.Scale(v1 / det))
		growV := e2.Scale(u1 / det).Sub(e1.Scale(u2 / det))
		for i, tan := range m.Tangents {
			if cos := vec(tan).Dot(growU.Normalize(0, geom.Vec3{})); cos < 1-1e-4 {
				t.Fatalf("vertex %d: tangent %v, u grows along %v", i, tan, growU)
			}
			if bitangent(m.Normals[i], tan).Dot(growV) <= 0 {
				t.Fatalf("vertex %d: bitangent points against growing v", i)
			}
		}
	})
}

// TestTangentMirrorSplit has two squares that share an edge, as halves of a
// mirrored texture do: the shared vertices must become two each.
func TestTangentMirrorSplit(t *testing.T) {
	m := &Mesh{
		Positions: []geom.Vec3{{-1, 0, 0}, {0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {-1, 1, 0}},
		Indices:   []uint32{0, 1, 4, 0, 4, 5, 1, 2, 3, 1, 3, 4},
	}
	for i, p := range m.Positions {
		m.Normals = append(m.Normals, [3]float32{0, 0, 1})
		m.UV[0] = append(m.UV[0], [2]float32{float32(math.Abs(p[0])), 1 - float32(p[1])})
		m.Colors = append(m.Colors, [4]float32{float32(i) / 5, 0, 0, 1})
	}
	// Spare room behind the slices belongs to somebody else.
	m.Positions = append(make([]geom.Vec3, 0, 64), m.Positions...)
	spare := m.Positions[:64]
	m.Colors = append(make([][4]float32, 0, 64), m.Colors...)
	before := copyOf(m)
	src := *m
	m.GenerateTangents()
	if len(m.Positions) != 8 || len(m.Normals) != 8 || len(m.UV[0]) != 8 || len(m.Colors) != 8 || len(m.Tangents) != 8 || m.UV[1] != nil {
		t.Fatalf("%d vertices, want 8: the two shared ones are split", len(m.Positions))
	}
	for i, v := range m.Indices {
		want := [4]float32{-1, 0, 0, -1}
		if i >= 6 {
			want = [4]float32{1, 0, 0, 1}
		}
		o := src.Indices[i]
		if m.Tangents[v] != want || m.Positions[v] != src.Positions[o] || m.Colors[v] != src.Colors[o] {
			t.Errorf("corner %d: tangent %v, want %v", i, m.Tangents[v], want)
		}
	}
	if diff := cmp.Diff(before, &src); diff != "" {
		t.Errorf("the source was written into:\n%s", diff)
	}
	for _, p := range spare[6:] {
		if p != (geom.Vec3{}) {
			t.Fatalf("memory behind the source's slice was written: %v", p)
		}
	}
}

func TestTangentDegenerate(t *testing.T) {
	inf := float32(math.Inf(1))
	for name, uv := range map[string][][2]float32{
		"one point": {{.5, .5}, {.5, .5}, {.5, .5}, {.5, .5}},
		"a line":    {{0, 0}, {1, 0}, {2, 0}, {3, 0}},
		"infinite":  {{0, 0}, {inf, 0}, {inf, inf}, {0, inf}},
	} {
		m := plane(uv...)
		m.GenerateTangents()
		for v, tan := range m.Tangents {
			if math.Abs(vec(tan).Len()-1) > 1e-6 || math.Abs(vec(tan).Dot(geom.FromF32(m.Normals[v]))) > 1e-6 || tan[3] != 1 {
				t.Errorf("%s: tangent %v", name, tan)
			}
		}
	}
	// A triangle without UV area must not spoil its neighbour's.
	m := plane([2]float32{0, 1}, [2]float32{1, 1}, [2]float32{1, 0}, [2]float32{0, 1})
	m.GenerateTangents()
	if m.Tangents[0] != [4]float32{1, 0, 0, 1} {
		t.Errorf("tangent beside a degenerate triangle: %v", m.Tangents[0])
	}
	// Nor one without an area in space, which Pack drops.
	m = plane([2]float32{0, 1}, [2]float32{1, 1}, [2]float32{1, 0}, [2]float32{0, 0})
	m.Positions = append(m.Positions, m.Positions[0])
	m.Normals = append(m.Normals, m.Normals[0])
	m.UV[0] = append(m.UV[0], [2]float32{0, 5})
	m.Indices = append(m.Indices, 0, 1, 4)
	m.GenerateTangents()
	if len(m.Positions) != 5 || vec(m.Tangents[0]).Dot(geom.Vec3{1, 0, 0}) < 0.99999 {
		t.Errorf("a triangle of two places turned the tangent to %v", m.Tangents[0])
	}
	m = plane()
	m.UV[0] = nil
	m.GenerateTangents()
	if m.Tangents != nil {
		t.Error("tangents without UVs")
	}
	for _, n := range [][3]float32{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, 0}, {-1, 0, 0}, {.95, .3, 0}} {
		v := geom.FromF32(n).Normalize(0, geom.Vec3{0, 0, 1})
		if p := perpendicular(v); math.Abs(p.Dot(v)) > 1e-6 || math.Abs(p.Len()-1) > 1e-6 {
			t.Errorf("perpendicular to %v: %v", v, p)
		}
	}
}

func TestAcos(t *testing.T) {
	for i := -1000; i <= 1000; i++ {
		x := float64(i) / 1000
		if got, want := acos(x), math.Acos(x); math.Abs(got-want) > 3e-8 {
			t.Fatalf("acos(%v) = %v, want %v", x, got, want)
		}
	}
	if acos(1.0000001) != 0 || acos(-1.0000001) != math.Pi {
		t.Error("arguments slightly outside [-1, 1] are not clamped")
	}
}
