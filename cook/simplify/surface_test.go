package simplify

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/race"
	"pgregory.net/rapid"
)

// checkState returns what is wrong with a simplifier's lists, which must hold
// between any two calls of Reduce.
func checkState(s *Simplifier) error {
	corners := make([]int, len(s.vertices)) // living ones of each vertex
	triangles := 0
	for c, w := range s.cornerWedge {
		if w == none {
			if s.cost[c] != never {
				return fmt.Errorf("corner %d is gone, but has the key %#x", c, s.cost[c])
			}
			continue
		}
		if c%3 == 0 {
			triangles++
			if a, b, d := s.at(uint32(c)), s.at(uint32(c+1)), s.at(uint32(c+2)); a == b || b == d || d == a {
				return fmt.Errorf("triangle %d has the places %d, %d and %d", c/3, a, b, d)
			}
		}
		p := s.wedgeVertex[w]
		if p&gone != 0 {
			return fmt.Errorf("corner %d has wedge %d, which went into another one", c, w)
		}
		if nd := &s.vertices[p]; nd.flags&flagMulti == 0 && nd.wedge != w {
			return fmt.Errorf("corner %d has wedge %d, place %d knows only %d", c, w, p, nd.wedge)
		}
		corners[p]++
	}
	if triangles != s.triangles {
		return fmt.Errorf("%d triangles are left, not %d", triangles, s.triangles)
	}
	seen := make([]bool, len(s.cornerWedge))
	for i := range s.vertices {
		nd := &s.vertices[i]
		if nd.first == none {
			if corners[i] != 0 {
				return fmt.Errorf("%d corners of place %d are in no ring", corners[i], i)
			}
			continue
		}
		for c, n := s.next[nd.first], 0; ; c, n = s.next[c], n+1 {
			if n > len(s.cornerWedge) {
				return fmt.Errorf("the ring of place %d has no end", i)
			}
			if s.cornerWedge[c] != none {
				if seen[c] || s.at(c) != uint32(i) {
					return fmt.Errorf("corner %d of place %d is in the ring of place %d", c, s.at(c), i)
				}
				seen[c] = true
				corners[i]--
			}
			if c == nd.first {
				break
			}
		}
		if corners[i] != 0 {
			return fmt.Errorf("%d corners of place %d are not in its ring", corners[i], i)
		}
	}
	for i, least := range s.least {
		if lowest := s.block(i).lowest(); lowest < least {
			return fmt.Errorf("block %d has a key %#x below %#x", i, lowest, least)
		}
	}
	return nil
}

// checkOpen returns an edge with two open keys. Once all edges were opened anew
// there may be some.
func checkOpen(s *Simplifier) error {
	open := make(map[[2]uint32]uint32)
	for c, w := range s.cornerWedge {
		if w == none || s.cost[c] >= barred {
			continue
		}
		n, _ := corners(uint32(c))
		a, b := s.at(uint32(c)), s.at(n)
		k := [2]uint32{min(a, b), max(a, b)}
		if d, twice := open[k]; twice {
			return fmt.Errorf("the edge of places %d and %d is open at corners %d and %d", a, b, c, d)
		}
		open[k] = uint32(c)
	}
	return nil
}

// Rings, keys and counts are right after each of several calls of Reduce.
func TestState(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m, o := soup(rt)
		reduceSeveral(t, rt, m, o)
	})
}

func TestStateOfParts(t *testing.T) {
	race.Checks(t, 25) // make test does all of them without the detector
	rapid.Check(t, func(rt *rapid.T) {
		m := rapid.SampledFrom([]*Mesh{
			boxes(1), boxes(3), grid(2, hills), grid(12, hills), sphere(2), cone(500),
			join(grid(7, hills), boxes(2), grid(5, flat)),
		}).Draw(rt, "mesh")
		o := Options{
			LockBorder: rapid.Bool().Draw(rt, "border"),
			Seams:      SeamMode(rapid.IntRange(0, 2).Draw(rt, "seams")),
			PruneBelow: rapid.SampledFrom([]float64{0, 2, math.Inf(1)}).Draw(rt, "prune"),
			Sloppy:     rapid.Bool().Draw(rt, "sloppy"),
			NoRefine:   rapid.Bool().Draw(rt, "raw"),
		}
		reduceSeveral(t, rt, m, o)
	})
}

func reduceSeveral(t *testing.T, rt *rapid.T, m *Mesh, o Options) {
	o.Creases = rapid.SampledFrom([]float64{-1, 0, 1}).Draw(rt, "creases")
	s, err := New(m, o)
	if err != nil {
		rt.Fatal(err)
	}
	if err := checkState(s); err != nil {
		rt.Fatal("New: ", err)
	}
	target := m.Triangles()
	for range rapid.IntRange(1, 5).Draw(rt, "calls") {
		target = rapid.IntRange(-1, max(target, 0)).Draw(rt, "target")
		limit := rapid.SampledFrom([]float64{0, 0.001, 0.1, 0.3, 10, math.Inf(1)}).Draw(rt, "limit")
		r := s.Reduce(target, limit)
		if err := checkState(s); err != nil {
			rt.Fatalf("target %d, limit %g: %v: %v", target, limit, r, err)
		}
		out, sources := s.MeshAndSources()
		checkMesh(t, m, out, r, o)
		checkSources(rt, m, out, sources, o)
	}
}

// TestPruneClusters: components that share a cell of the grid are one from then
// on. If only some of their triangles went, others would be in no ring.
func TestPruneClusters(t *testing.T) {
	both := 0
	for seed := uint64(150); seed < 220; seed++ {
		rnd := rand.New(rand.NewPCG(seed, 0))
		m := &Mesh{}
		span := 5 + rnd.IntN(40)
		for range 2 + rnd.IntN(60) {
			o := geom.Vec3{float64(rnd.IntN(span)), float64(rnd.IntN(span)), float64(rnd.IntN(10))}
			side := float64(1 + rnd.IntN(8))
			addBox(m, o, geom.Vec3{side, side, side})
		}
		s, err := New(m, Options{Sloppy: true, PruneBelow: math.Inf(1), NoRefine: true})
		if err != nil {
			t.Fatal(err)
		}
		target, limit := m.Triangles(), 0.5*rnd.Float64()
		clustered, pruned := false, 0
		for range 5 {
			target, limit = target*3/4, limit*(1+3*rnd.Float64())
			r := s.Reduce(target, limit)
			if err := checkState(s); err != nil {
				t.Fatalf("seed %d: %v: %v", seed, r, err)
			}
			if clustered && r.Pruned > pruned {
				both++
			}
			clustered, pruned = r.Sloppy, r.Pruned
		}
	}
	if both == 0 {
		t.Error("no component was pruned after clustering")
	}
}

// At first each edge has one open key, and it stays so as vertices become one.
func TestOneKey(t *testing.T) {
	for _, m := range []*Mesh{grid(40, hills), sphere(4), boxes(6)} {
		s, err := New(m, Options{NoRefine: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []int{1, 2, 4, 6} {
			s.Reduce(m.Triangles()/part, 0)
			if err := checkOpen(s); err != nil {
				t.Errorf("%d triangles: %v", s.triangles, err)
			}
		}
	}
}

// Of two triangles with the same vertices one goes, and edges that were open there
// are so at the other.
func TestDropRepeats(t *testing.T) {
	m := &Mesh{
		Positions: []geom.Vec3{{}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0.5}},
		Indices:   []uint32{0, 1, 2, 2, 1, 3, 1, 2, 0},
	}
	s, err := New(m, Options{})
	if err != nil {
		t.Fatal(err)
	}
	// The first triangle's edges 0-1, 1-2 and 2-0, then those of the last.
	copy(s.cost, []uint16{never, 1000, 2000})
	copy(s.cost[6:], []uint16{900, barred, 300})
	s.dropRepeats(0)
	want := []uint16{300, 900, 2000}
	if s.cornerWedge[0] == none {
		t.Fatal("the first triangle went, not the last")
	}
	if s.triangles != 2 || s.cornerWedge[6] != none || !slices.Equal(s.cost[:3], want) {
		t.Errorf("%d triangles, keys %d, not %d", s.triangles, s.cost[:3], want)
	}
	if err := checkState(s); err != nil {
		t.Error(err)
	}
}
