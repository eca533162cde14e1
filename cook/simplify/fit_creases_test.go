package simplify

import (
	"math"
	"testing"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/race"
)

// normalError is the mean angle, in degrees, between the normals of every few
// source triangles' middles and those at the nearest points of a result.
func normalError(source, m *Mesh) float64 {
	middle := func(c int) (p, n vec) {
		for _, v := range source.Indices[c : c+3] {
			q := source.Positions[v]
			p = p.add(vec{q[0], q[1], q[2]}.scale(1.0 / 3))
			n = n.add(fromF32(&source.Normals[v]))
		}
		return p, n
	}
	sum, count := 0.0, 0
	plates := platesOf(m)
	for c := 0; c < len(source.Indices); c += 3 * 37 {
		p, want := middle(c)
		at, u, v, _ := nearestPlate(plates, p)
		i := m.Indices[3*at:]
		got := fromF32(&m.Normals[i[0]]).scale(1 - u - v).add(fromF32(&m.Normals[i[1]]).scale(u)).add(fromF32(&m.Normals[i[2]]).scale(v))
		cos := got.dot(want) / math.Sqrt(got.length2()*want.length2())
		sum += math.Acos(max(-1, min(1, cos))) * 180 / math.Pi
		count++
	}
	return sum / float64(count)
}

func TestCreasesKeepShading(t *testing.T) {
	m := grid(128, rough)
	for _, c := range []struct {
		part int
		most float64 // of the deviation without creases
	}{{2, 1}, {5, 0.9}, {10, 0.95}} {
		part := c.part
		if race.Enabled && part != 5 {
			continue // make test simplifies to all without the detector
		}
		with, r := must(t, m, Options{}, m.Triangles()/part, 0)
		without, none := must(t, m, Options{Creases: -1}, m.Triangles()/part, 0)
		a, b := normalError(m, with), normalError(m, without)
		t.Logf("1/%d: %d vertices, normals %.2f degrees off; with %d creases %.2f", part, len(without.Positions), b, r.Creases, a)
		if r.Creases == 0 || none.Creases != 0 || !(a < c.most*b) {
			t.Errorf("1/%d: %d creases: normals are %.2f degrees off, %.2f without (%d)", part, r.Creases, a, b, none.Creases)
		}
		if len(with.Positions) != len(without.Positions)+r.Creases {
			t.Errorf("1/%d: %d vertices with %d creases, %d without", part, len(with.Positions), r.Creases, len(without.Positions))
		}
	}
}

// Creases are copies of vertices: the surface is the same, and nothing tears.
func TestCreasesTearNothing(t *testing.T) {
	for name, m := range map[string]*Mesh{"hills": grid(48, hills), "sphere": sphere(4), "boxes": boxes(8), "groups": join(grid(16, hills), boxes(3))} {
		for _, target := range []int{m.Triangles() / 2, m.Triangles() / 10} {
			with, r := must(t, m, Options{}, target, 0)
			if extra := float64(r.Creases); extra > 0.4*float64(len(with.Positions)) {
				t.Errorf("%s: %d creases for %d vertices", name, r.Creases, len(with.Positions))
			}
			if open, was := openEdges(with), openEdges(m); open > was {
				t.Errorf("%s at %d triangles: %d open edges, %d in the source", name, target, open, was)
			}
			for i, n := range with.Normals {
				if l := geom.FromF32(n).Len(); math.Abs(l-1) > 1e-5 {
					t.Fatalf("%s: normal %d has length %g", name, i, l)
				}
			}
		}
	}
}

// A level that only passes through a finer one is not changed by having been
// looked at there, and creases do not stay for coarser levels.
func TestCreasesOfOneLevelOnly(t *testing.T) {
	m := grid(32, rough)
	s, err := New(m, Options{})
	if err != nil {
		t.Fatal(err)
	}
	first := s.Reduce(600, 0)
	fine := s.Mesh()
	if again := s.Reduce(600, 0); again != first || hash(s.Mesh()) != hash(fine) {
		t.Errorf("%v, then %v", first, again)
	}
	coarse := s.Reduce(60, 0)
	if coarse.Creases > 60 {
		t.Errorf("%d creases at 60 triangles", coarse.Creases)
	}
}

// Locked vertices keep their one normal.
func TestCreasesLeaveLocked(t *testing.T) {
	m := grid(32, rough)
	locked := make([]bool, len(m.Positions))
	for i, p := range m.Positions {
		locked[i] = p[2] == 0 || p[2] == 1
	}
	s, err := New(m, Options{Locked: locked})
	if err != nil {
		t.Fatal(err)
	}
	s.Reduce(200, 0)
	out, source := s.MeshAndSources()
	at := map[geom.Vec3]int{}
	for i, p := range out.Positions {
		if p[2] != 0 && p[2] != 1 {
			continue
		}
		at[p]++
		if source[i] < 0 || out.Normals[i] != m.Normals[source[i]] {
			t.Errorf("vertex %d at %v has normal %v of source %d", i, p, out.Normals[i], source[i])
		}
	}
	for p, n := range at {
		if n > 1 {
			t.Errorf("%d vertices at %v", n, p)
		}
	}
}

// Normals of meshes whose areas are hardly numbers stay normals.
func TestNormalsOfTinyMeshes(t *testing.T) {
	for _, scale := range []float64{1e-12, 1e-16, 1e-18, 1e-19, 1e-22} {
		m := grid(24, hills)
		for i, p := range m.Positions {
			m.Positions[i] = geom.Vec3{float64(p[0] * scale), float64(p[1] * scale), float64(p[2] * scale)}
		}
		s, err := New(m, Options{})
		if err != nil {
			t.Fatal(err)
		}
		s.Reduce(m.Triangles()*7/8, 0)
		for w := range s.wedgeVertex {
			if n := s.normal(uint32(w)); n.dot(n) != n.dot(n) {
				t.Fatalf("scale %g: normal %v of wedge %d", scale, n, w)
			}
		}
	}
}
