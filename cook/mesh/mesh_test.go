package mesh

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/geom"
)

// cube is a closed box from -1 to 1 with outward normals, and UVs (v top-down)
// that show the picture upright on every side.
func cube() *Mesh {
	m := &Mesh{}
	for axis := range 3 {
		for _, side := range []float64{1, -1} {
			var n, u geom.Vec3
			n[axis], u[(axis+1)%3] = side, 1
			v := n.Cross(u) // u, v, n are right-handed
			base := uint32(len(m.Positions))
			for _, c := range [][2]float64{{-1, -1}, {1, -1}, {1, 1}, {-1, 1}} {
				m.Positions = append(m.Positions, n.Add(u.Scale(c[0])).Add(v.Scale(c[1])))
				m.Normals = append(m.Normals, n.F32())
				m.Tangents = append(m.Tangents, [4]float32{float32(u[0]), float32(u[1]), float32(u[2]), 1})
				m.UV[0] = append(m.UV[0], [2]float32{float32(c[0]+1) / 2, 1 - float32(c[1]+1)/2})
				m.Colors = append(m.Colors, [4]float32{float32(c[0]+1) / 2, 0, 1, 1})
			}
			m.Indices = append(m.Indices, base, base+1, base+2, base, base+2, base+3)
		}
	}
	return m
}

// copyOf is a mesh with slices of its own.
func copyOf(m *Mesh) *Mesh {
	c := &Mesh{
		Positions: append([]geom.Vec3(nil), m.Positions...), Normals: append([][3]float32(nil), m.Normals...),
		Tangents: append([][4]float32(nil), m.Tangents...), Colors: append([][4]float32(nil), m.Colors...),
		Indices: append([]uint32(nil), m.Indices...),
	}
	for k := range m.UV {
		c.UV[k] = append([][2]float32(nil), m.UV[k]...)
	}
	return c
}

// volume is the signed volume of a closed mesh.
func volume(m *Mesh) (v float64) {
	for i := 0; i < len(m.Indices); i += 3 {
		a, b, c := m.Positions[m.Indices[i]], m.Positions[m.Indices[i+1]], m.Positions[m.Indices[i+2]]
		v += a.Dot(b.Cross(c)) / 6
	}
	return v
}

func faceNormal(m *Mesh, i int) geom.Vec3 {
	a, b, c := m.Positions[m.Indices[i]], m.Positions[m.Indices[i+1]], m.Positions[m.Indices[i+2]]
	return b.Sub(a).Cross(c.Sub(a)).Normalize(0, geom.Vec3{})
}

func vec(t [4]float32) geom.Vec3 { return geom.FromF32([3]float32(t[:3])) }

// bitangent is what a renderer computes.
func bitangent(n [3]float32, t [4]float32) geom.Vec3 {
	return geom.FromF32(n).Cross(vec(t)).Scale(float64(t[3]))
}

// affine draws a matrix, every second one mirrored, with a determinant that
// is not nearly 0.
func affine(t *rapid.T) geom.Mat4 {
	f := rapid.Float64Range(-3, 3)
	m := geom.Identity()
	for c := range 4 {
		for r := range 3 {
			m[4*c+r] = f.Draw(t, "element")
		}
	}
	if math.Abs(m.Det3()) < 0.05 {
		t.Skip("nearly singular")
	}
	return m
}

// TestTransformKeepsOutside checks that under any affine matrix a closed mesh
// stays one whose faces, normals, tangents and handedness look outwards.
func TestTransformKeepsOutside(t *testing.T) {
	src := cube()
	before := copyOf(src)
	rapid.Check(t, func(t *rapid.T) {
		world := affine(t)
		m := *src
		m.Transform(&world)
		if got, want := volume(&m), 8*math.Abs(world.Det3()); math.Abs(got-want) > 1e-9*(1+want)*100 {
			t.Fatalf("volume %v, want %v", got, want)
		}
		for i := 0; i < len(m.Indices); i += 3 {
			face := faceNormal(&m, i)
			for _, v := range m.Indices[i : i+3] {
				if d := face.Dot(geom.FromF32(m.Normals[v])); d < 1-1e-5 {
					t.Fatalf("vertex %d: the normal is %v off the face's, cosine %v", v, m.Normals[v], d)
				}
				if l := vec(m.Tangents[v]).Len(); math.Abs(l-1) > 1e-6 {
					t.Fatalf("tangent of length %v", l)
				}
				if d := vec(m.Tangents[v]).Dot(face); math.Abs(d) > 1e-5 {
					t.Fatalf("tangent leaves the surface: %v", d)
				}
				want := world.Dir(bitangent(src.Normals[v], src.Tangents[v]))
				if got := bitangent(m.Normals[v], m.Tangents[v]); got.Dot(want) <= 0 {
					t.Fatalf("bitangent %v, the surface's v grows along %v", got, want)
				}
			}
		}
	})
	if diff := cmp.Diff(before, src); diff != "" {
		t.Errorf("the source was written into:\n%s", diff)
	}
}

// TestTransformCommutesWithGeneration checks that moving and then generating
// tangents gives what generating and then moving gives.
func TestTransformCommutesWithGeneration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		world := affine(t)
		a, b := cube(), cube()
		a.Tangents, b.Tangents = nil, nil
		a.Transform(&world)
		a.GenerateTangents()
		b.GenerateTangents()
		b.Transform(&world)
		for v := range a.Tangents {
			if a.Tangents[v][3] != b.Tangents[v][3] || vec(a.Tangents[v]).Dot(vec(b.Tangents[v])) < 1-1e-5 {
				t.Fatalf("vertex %d: %v and %v", v, a.Tangents[v], b.Tangents[v])
			}
		}
	})
}

func TestTransformIdentityKeepsSlices(t *testing.T) {
	m := cube()
	before := *m
	world := geom.Identity()
	m.Transform(&world)
	if &m.Positions[0] != &before.Positions[0] || &m.Indices[0] != &before.Indices[0] || &m.Normals[0] != &before.Normals[0] {
		t.Error("the identity made copies")
	}
}

func TestTransformSingular(t *testing.T) {
	for name, scale := range map[string]geom.Vec3{
		"flat": {2, 0, 3}, "line": {0, 1, 0}, "point": {}, "tiny": {1e-30, 1e-30, 1e-30}, "huge": {1e30, 1e30, 1e30},
		"flat mirrored": {-1, 0, 1}, "overflow": {1e200, 1e200, 1e200},
	} {
		m := cube()
		world := geom.TRS(geom.Vec3{1, 2, 3}, [4]float64{0, 0, 0, 1}, scale)
		m.Transform(&world)
		for i := range m.Normals {
			n, tan := geom.FromF32(m.Normals[i]), vec(m.Tangents[i])
			for _, l := range []float64{n.Len(), tan.Len()} {
				if !(l == 0 || math.Abs(l-1) < 1e-6) {
					t.Errorf("%s: direction of length %v", name, l)
				}
			}
		}
		if name == "flat" && m.Normals[8] != [3]float32{0, 1, 0} {
			t.Errorf("the normal along the flattened axis became %v", m.Normals[8])
		}
		if name == "overflow" {
			if _, err := m.Pack(PackOptions{}); err == nil {
				t.Error("positions beyond single precision were packed")
			}
		}
	}
}

func TestTransformWithoutAttributes(t *testing.T) {
	m := &Mesh{Positions: []geom.Vec3{{}, {1, 0, 0}, {0, 1, 0}}, Indices: []uint32{0, 1, 2}}
	world := geom.TRS(geom.Vec3{5, 0, 0}, [4]float64{0, 0, 0, 1}, geom.Vec3{-1, 1, 1})
	m.Transform(&world)
	want := &Mesh{Positions: []geom.Vec3{{5, 0, 0}, {4, 0, 0}, {5, 1, 0}}, Indices: []uint32{0, 2, 1}}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Error(diff)
	}
}

func TestFlatNormals(t *testing.T) {
	src := cube()
	src.UV[1] = append(src.UV[1], src.UV[0]...)
	before := copyOf(src)
	m := *src
	m.FlatNormals()
	if len(m.Positions) != 36 || m.Triangles() != 12 || m.Tangents != nil {
		t.Fatalf("%d vertices, %d triangles, tangents %v", len(m.Positions), m.Triangles(), m.Tangents)
	}
	for i, v := range m.Indices {
		o := src.Indices[i]
		if int(v) != i || m.Positions[v] != src.Positions[o] || m.UV[0][v] != src.UV[0][o] ||
			m.UV[1][v] != src.UV[1][o] || m.Colors[v] != src.Colors[o] {
			t.Fatalf("corner %d does not carry its vertex's attributes", i)
		}
		if m.Normals[v] != src.Normals[o] {
			t.Errorf("corner %d: normal %v, the cube's is %v", i, m.Normals[v], src.Normals[o])
		}
	}
	if diff := cmp.Diff(before, src); diff != "" {
		t.Errorf("the source was written into:\n%s", diff)
	}

	flat := &Mesh{Positions: []geom.Vec3{{}, {1, 0, 0}, {2, 0, 0}}, Indices: []uint32{0, 1, 2}}
	flat.FlatNormals()
	if flat.Normals[0] != [3]float32{0, 0, 1} || flat.Colors != nil || flat.UV[0] != nil {
		t.Errorf("triangle without an area: %+v", flat)
	}
	empty := &Mesh{}
	empty.FlatNormals()
	if len(empty.Positions) != 0 {
		t.Error("an empty mesh grew")
	}
}

func TestBounds(t *testing.T) {
	if b := cube().Bounds(); b.Min != (geom.Vec3{-1, -1, -1}) || b.Max != (geom.Vec3{1, 1, 1}) {
		t.Errorf("bounds of the cube: %v", b)
	}
	if !(&Mesh{}).Bounds().IsEmpty() {
		t.Error("bounds of nothing are not empty")
	}
}
