package simplify

import (
	"math"
	"slices"
	"testing"

	"github.com/untoldkit/untold/internal/geom"
	"pgregory.net/rapid"
)

// TestSpokes compares the short way through vertices with pairs of triangles at
// all edges with the general one.
func TestSpokes(t *testing.T) {
	for name, m := range map[string]*Mesh{
		"hills": grid(20, hills), "sphere": sphere(3), "boxes": boxes(3), "slit": slit(),
	} {
		t.Run(name, func(t *testing.T) { compareConstraints(t, m, Options{}) })
	}
	t.Run("patchwork", func(t *testing.T) {
		rapid.Check(t, func(rt *rapid.T) {
			m, o := patchwork(rt)
			compareConstraints(rt, m, o)
		})
	})
	t.Run("soups", func(t *testing.T) {
		rapid.Check(t, func(rt *rapid.T) {
			m, o := soup(rt)
			compareConstraints(rt, m, o)
		})
	})
}

// slit is a height field where two edges in a row are a seam, which ends at
// both sides.
func slit() *Mesh {
	m := grid(8, hills)
	v, w := uint32(4*9+4), uint32(len(m.Positions))
	m.Positions = append(m.Positions, m.Positions[v])
	m.Normals = append(m.Normals, m.Normals[v])
	m.UV[0] = append(m.UV[0], [2]float32{5, 5})
	for c := range m.Indices {
		if next, _ := corners(uint32(c)); m.Indices[c] == v && m.Indices[next] > v {
			m.Indices[c] = w
		}
	}
	return m
}

type fatalf interface {
	Helper()
	Fatalf(format string, args ...any)
}

// patchwork draws meshes that are closed and regular for the most part: pieces
// of height fields and a sphere, with any of the flaws that constrain must find.
func patchwork(t *rapid.T) (*Mesh, Options) {
	var heights [81]float64
	steep := rapid.SampledFrom([]float64{0, 0.05, 0.3, 3}).Draw(t, "steep")
	for i := range heights {
		heights[i] = steep * float64(rapid.IntRange(0, 4).Draw(t, "height"))
	}
	m := sphere(1)
	m.UV[0] = make([][2]float32, len(m.Positions))
	if n := rapid.IntRange(0, 8).Draw(t, "size"); n > 0 {
		step := float64(n) / 8
		m = grid(n, func(x, z float64) float64 {
			return heights[int(max(x, 0)*step*8.01)*9+int(max(z, 0)*step*8.01)]
		})
	}
	copies := rapid.IntRange(0, 2).Draw(t, "copies")
	base := *m
	for i := range copies { // of a part, with the same vertices
		flip, share := rapid.Bool().Draw(t, "back"), rapid.Bool().Draw(t, "share")
		b := uint32(len(m.Positions))
		from := 3 * rapid.IntRange(0, base.Triangles()-1).Draw(t, "from")
		if share {
			b = 0
		} else {
			m.Positions = append(m.Positions, base.Positions...)
			m.Normals = append(m.Normals, base.Normals...)
			m.UV[0] = append(m.UV[0], base.UV[0]...)
			if i == 0 && rapid.Bool().Draw(t, "apart") {
				for v := int(b); v < len(m.Positions); v++ {
					m.UV[0][v][0]++
				}
			}
		}
		for c := from; c < len(base.Indices); c += 3 {
			v, w, x := base.Indices[c], base.Indices[c+1], base.Indices[c+2]
			if flip {
				w, x = x, w
			}
			m.Indices = append(m.Indices, b+v, b+w, b+x)
		}
	}
	vertex := rapid.IntRange(0, len(m.Positions)-1)
	triangle := rapid.IntRange(0, m.Triangles()-1)
	for range rapid.IntRange(0, 3).Draw(t, "flaws") {
		v, c := vertex.Draw(t, "vertex"), 3*triangle.Draw(t, "triangle")
		switch rapid.IntRange(0, 5).Draw(t, "flaw") {
		case 0: // two vertices are one
			m.Positions[v] = m.Positions[vertex.Draw(t, "other")]
		case 1: // a hole
			m.Indices[c], m.Indices[c+1] = m.Indices[c+2], m.Indices[c+2]
		case 2: // a flipped triangle
			m.Indices[c], m.Indices[c+1] = m.Indices[c+1], m.Indices[c]
		case 3: // one more wedge at a corner
			w := m.Indices[c]
			m.Positions = append(m.Positions, m.Positions[w])
			m.Normals = append(m.Normals, m.Normals[w])
			m.UV[0] = append(m.UV[0], [2]float32{7, 7})
			m.Indices[c] = uint32(len(m.Positions) - 1)
		case 4: // a needle, or a vertex out of all others
			q := m.Positions[m.Indices[c]]
			x := rapid.SampledFrom([]float64{0, 1e-9, 1e-5, 1e-3, 0.5, 4}).Draw(t, "to")
			m.Positions[v] = q.Add(m.Positions[v].Sub(q).Scale(x))
		case 5: // one more triangle
			m.Indices = append(m.Indices, m.Indices[c], m.Indices[c+1], uint32(v))
		}
	}
	if rapid.Bool().Draw(t, "mixed") {
		shuffle(t, m)
	}
	if rapid.IntRange(0, 3).Draw(t, "groups") == 0 {
		for range m.Triangles() {
			m.Groups = append(m.Groups, int32(rapid.IntRange(0, 9).Draw(t, "group")/9))
		}
	}
	o := Options{Seams: SeamMode(rapid.IntRange(0, 2).Draw(t, "seams")), LockBorder: rapid.Bool().Draw(t, "border")}
	return m, o
}

// shuffle gives the vertices other numbers.
func shuffle(t *rapid.T, m *Mesh) {
	order := make([]uint32, len(m.Positions))
	for i := range order {
		order[i] = uint32(i)
	}
	order = rapid.Permutation(order).Draw(t, "order")
	p, n, uv := slices.Clone(m.Positions), slices.Clone(m.Normals), slices.Clone(m.UV[0])
	for v, w := range order {
		m.Positions[w], m.Normals[w], m.UV[0][w] = p[v], n[v], uv[v]
	}
	for c, v := range m.Indices {
		m.Indices[c] = order[v]
	}
}

// TestRegularPlaces: where triangles meet as they should, nothing is looked at.
func TestRegularPlaces(t *testing.T) {
	for _, c := range []struct {
		name string
		m    *Mesh
		want int // marked vertices
	}{
		{"hills", grid(20, hills), 80 + 2}, // the border, and on the smallest hill
		{"sphere", sphere(3), 0},
		{"slit", slit(), 32 + 3}, // the border, and where the slit goes
		{"cubes", boxes(2), 4 * 8},
	} {
		s, _, err := prepare(c.m, Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, doubt := 0, 0
		for i := range s.vertices {
			switch flags := s.vertices[i].flags; {
			case flags&flagSuspect != 0:
				got++
			case flags&flagDoubt != 0:
				doubt++
			}
		}
		if got != c.want || doubt > len(s.vertices)/4 {
			t.Errorf("%s: %d of %d places are marked, not %d; %d are in doubt", c.name, got, len(s.vertices), c.want, doubt)
		}
	}
}

// TestCrowdedPlaces: pyramids on both sides of a polygon with so many corners, and
// with their tops before or after these.
func TestCrowdedPlaces(t *testing.T) {
	for _, n := range []int{3, 32, 33, 60, 61, 64, 65, 255, 256, 300, 511, 512, 515, 1000, 1030} {
		for _, top := range []int{0, n} {
			m := &Mesh{Positions: make([]geom.Vec3, n+2)}
			m.Positions[top], m.Positions[top+1] = geom.Vec3{0, 1, 0}, geom.Vec3{0, -1, 0}
			corner := func(i int) uint32 { return uint32((top+2)%(n+2) + i%n) }
			for i := range n {
				x := float64(i)/float64(n)*2 - 1
				m.Positions[corner(i)] = geom.Vec3{2 * x / (1 + x*x), 0, (1 - x*x) / (1 + x*x)}
				m.Indices = append(m.Indices, corner(i), corner(i+1), uint32(top), corner(i+1), corner(i), uint32(top+1))
			}
			if _, anyHighValence, err := prepare(m, Options{}); err != nil || anyHighValence != (n > copiesValence) {
				t.Errorf("%d corners: anyHighValence is %v, error %v", n, anyHighValence, err)
			}
			compareConstraints(t, m, Options{})
		}
	}
}

// TestPleats: a pleat that rises from a vertex in a plane, of any dihedral angle,
// is found by the sum of normals there.
func TestPleats(t *testing.T) {
	for i := 1; i <= 60; i++ {
		for _, h := range []float64{0.3, 0.1, 0.01} {
			w := float64(h*float64(i)) / 60
			compareConstraints(t, around([]geom.Vec3{
				{1, w, 0}, {0, 1, 0}, {-1, 0, 0}, {0, -1, 0}, {1, -w, 0}, {1, 0, h},
			}), Options{})
		}
	}
}

// TestFoldedNeedles: a triangle that has next to no area folds back on another.
// Its normal has the wrong sign, or is not known at all.
func TestFoldedNeedles(t *testing.T) {
	for _, gap := range []float64{1e-31, 1e-12, 1e-9, 1e-8, 3e-8, 1e-7, 1e-5, 1e-3, 0.1} {
		for i := range 50 {
			x, y := 0.01*float64(i), 0.007*float64(i)
			m := around([]geom.Vec3{{1, 0, 0}, {1, -gap, 0}, {0.5, 1, 0}, {-1, 0.5, 0}, {-1, -0.5, 0}, {0.5, -1, 0}})
			m.Positions[0] = geom.Vec3{x, y, 0}
			for v := range m.Positions { // no axis is special
				p := &m.Positions[v]
				p[2] += float64(p[0]*0.37) + float64(p[1]*0.61)
			}
			compareConstraints(t, m, Options{})
		}
	}
}

// around makes triangles between the origin and the edges of a polygon, and more
// on the other side of these, to a vertex far off.
func around(p []geom.Vec3) *Mesh {
	m := &Mesh{Positions: append([]geom.Vec3{{}}, p...)}
	n, far := uint32(len(p)), uint32(len(p)+1)
	m.Positions = append(m.Positions, geom.Vec3{0, 0, -8})
	for i := range n {
		v, w := 1+i, 1+(i+1)%n
		m.Indices = append(m.Indices, 0, v, w, far, w, v)
	}
	return m
}

// compareConstraints prepares a mesh three times: as New does, with all vertices
// marked, and with searches at all of them.
func compareConstraints(t fatalf, m *Mesh, o Options) {
	t.Helper()
	var all [3]*Simplifier
	var anyHighValence bool
	for i := range all {
		var err error
		if all[i], anyHighValence, err = prepare(m, o); err != nil {
			t.Fatalf("%v", err)
		}
		for k := range all[i].vertices {
			all[i].vertices[k].sum = quadric32{}
		}
		clear(all[i].geo)
	}
	short, full, long := all[0], all[1], all[2]
	short.constrain(anyHighValence)
	full.suspectAll()
	full.constrain(anyHighValence)
	for i := range long.vertices {
		long.vertices[i].flags &^= flagSuspect | flagDoubt
	}
	for i := range long.vertices {
		if long.vertices[i].first != none {
			long.constrainAround(uint32(i), true, nil)
		}
	}
	for i := range short.vertices {
		a, b, c := &short.vertices[i], &full.vertices[i], &long.vertices[i]
		if *a != *b || short.geo[i] != full.geo[i] {
			t.Fatalf("place %d is %+v, %+v; where all are marked %+v, %+v", i, *a, short.geo[i], *b, full.geo[i])
		}
		if a.flags != c.flags {
			t.Fatalf("place %d has flags %x, %x by searches", i, a.flags, c.flags)
		}
		for _, q := range [2][2]quadric32{{a.sum, c.sum}, {short.geo[i], long.geo[i]}} {
			f, g := q[0].double(), q[1].double()
			size := f.axx + f.ayy + f.azz
			if d := math.Abs(f.axx-g.axx) + math.Abs(f.ayy-g.ayy) + math.Abs(f.azz-g.azz) +
				math.Abs(f.axy-g.axy) + math.Abs(f.axz-g.axz) + math.Abs(f.ayz-g.ayz); d > 1e-5*size {
				t.Fatalf("place %d holds %v, %v by searches", i, f, g)
			}
		}
	}
	for c, k := range short.cost {
		if full.cost[c] != k {
			t.Fatalf("the edge of corner %d has key %d, %d where all places are marked", c, k, full.cost[c])
		}
		if long.cost[c] != k {
			t.Fatalf("the edge of corner %d has key %d, %d by searches", c, k, long.cost[c])
		}
	}
}
