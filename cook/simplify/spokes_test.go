package simplify

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestSpokes compares the short way through places with pairs of triangles at
// all edges with the general one.
func TestSpokes(t *testing.T) {
	for name, m := range map[string]*Mesh{
		"hills": grid(20, hills), "sphere": sphere(3), "boxes": boxes(3), "slit": slit(),
	} {
		t.Run(name, func(t *testing.T) { compareConstraints(t, m, Options{}) })
	}
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

func compareConstraints(t fatalf, m *Mesh, o Options) {
	t.Helper()
	short, err := New(m, o)
	if err != nil {
		t.Fatalf("%v", err)
	}
	long, _ := New(m, o)
	for _, s := range []*Simplifier{short, long} {
		for i := range s.nodes {
			s.nodes[i].flags, s.nodes[i].sum = 0, quad{}
		}
		clear(s.geo)
		s.lock()
		s.closeEdges()
	}
	short.constrain(true)
	for i := range long.nodes {
		if long.nodes[i].first != none {
			long.constrainAround(uint32(i), true, nil)
		}
	}
	for i := range short.nodes {
		a, b := &short.nodes[i], &long.nodes[i]
		if a.flags != b.flags {
			t.Fatalf("place %d has flags %x, %x by searches", i, a.flags, b.flags)
		}
		for _, q := range [2][2]quad{{a.sum, b.sum}, {short.geo[i], long.geo[i]}} {
			f, g := q[0].form(), q[1].form()
			size := f.axx + f.ayy + f.azz
			if d := math.Abs(f.axx-g.axx) + math.Abs(f.ayy-g.ayy) + math.Abs(f.azz-g.azz) +
				math.Abs(f.axy-g.axy) + math.Abs(f.axz-g.axz) + math.Abs(f.ayz-g.ayz); d > 1e-5*size {
				t.Fatalf("place %d holds %v, %v by searches", i, f, g)
			}
		}
	}
	for c, k := range short.cost {
		if long.cost[c] != k {
			t.Fatalf("the edge of corner %d has key %d, %d by searches", c, k, long.cost[c])
		}
	}
}
