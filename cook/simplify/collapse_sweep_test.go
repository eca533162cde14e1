package simplify

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/untoldkit/untold/internal/race"
)

// sweepAll is Reduce without parts, without relaxing rules and without fitting.
func sweepAll(t *testing.T, s *Simplifier, target int) {
	t.Helper()
	r := run{s: s, target: target, limit: math.Inf(1), rules: steps[0]}
	for s.triangles > target {
		limit := s.threshold(max((s.triangles-target)/4, target/40, leastWanted))
		if limit == never {
			t.Fatalf("no edge is left at %d triangles", s.triangles)
		}
		if s.triangles > target+target/2 {
			s.reweight()
		}
		r.pass(limit, limit)
	}
}

// shuffled returns a mesh with its triangles in random order.
func shuffled(m *Mesh) *Mesh {
	out := *m
	out.Indices = nil
	for _, t := range rand.New(rand.NewPCG(1, 2)).Perm(m.Triangles()) {
		out.Indices = append(out.Indices, m.Indices[3*t:3*t+3]...)
	}
	return &out
}

// TestParts: passes that go through parts take what sweeps over all take, nearly,
// whatever the order of triangles.
func TestParts(t *testing.T) {
	ordered := grid(180, rough)
	for _, c := range []struct {
		name  string
		m     *Mesh
		share int // of the triangles
	}{
		{"to a third", ordered, 3},
		{"to a tenth", ordered, 10},
		{"to a hundredth", ordered, 100},
		{"random order", shuffled(ordered), 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			if race.Enabled && c.name != "to a tenth" {
				t.Skip("one is enough with the race detector; make test runs all without it")
			}
			var most, rms [2]float64
			target := c.m.Triangles() / c.share
			for i := range most {
				s, err := New(c.m, Options{NoRefine: true})
				if err != nil {
					t.Fatal(err)
				}
				if i == 0 {
					if r := (run{s: s, target: target}); r.last(1<<8) == 1<<8 {
						t.Fatalf("%d blocks make no parts", len(s.least))
					}
					s.Reduce(target, 0)
				} else {
					sweepAll(t, s, target)
				}
				if s.triangles > target || s.triangles < target-2 {
					t.Errorf("%d triangles, not %d", s.triangles, target)
				}
				if err := checkState(s); err != nil {
					t.Error(err)
				}
				if err := checkOpen(s); err != nil {
					t.Error(err)
				}
				most[i], rms[i] = s.distances(newFinder(s))
			}
			t.Logf("with parts %.3g (rms %.3g), without %.3g (rms %.3g)", most[0], rms[0], most[1], rms[1])
			if !(rms[0] < 1.1*rms[1]) || !(most[0] < 1.5*most[1]) {
				t.Error("passes through parts lose quality")
			}
		})
	}
}

func TestHalvings(t *testing.T) {
	for x := 0x1p-3; x < 0x1p30; x *= 1 + 1.0/64 {
		if h, want := halvings(x), math.Log2(x); math.Abs(h-want) > 0.01 || math.Abs(halvings(2*x)-h-1) > 1e-9 {
			t.Fatalf("%g: %g, not %g, and %g", x, h, want, halvings(2*x))
		}
	}
	for _, e := range []int{-5, 0, 1, 20} {
		if h := halvings(math.Ldexp(1, e)); h != float64(e) {
			t.Errorf("2^%d: %g", e, h)
		}
	}
}

// A pass goes beyond its limit only while the target is far, costs have a key
// and the mesh is large.
func TestLast(t *testing.T) {
	large := &Simplifier{edgeQueue: edgeQueue{least: make([]uint16, fewCells*cellBlocks)}, surface: surface{triangles: 16_000}}
	small := &Simplifier{edgeQueue: edgeQueue{least: make([]uint16, fewCells*cellBlocks-blockSize)}, surface: surface{triangles: 16_000}}
	for _, c := range []struct {
		s           *Simplifier
		target      int
		limit, last uint16
	}{
		{large, 8000, 1000, 1320},
		{large, 4000, 1000, 1512},
		{large, 1, 1000, 1512},
		{large, 0, 1000, 1512},
		{large, 9600, 1000, 1000},
		{large, 15_999, 1000, 1000},
		{large, 0, infinite - cellRise - 1, infinite - 1},
		{large, 0, infinite - cellRise, infinite - cellRise},
		{large, 0, barred - 1, barred - 1},
		{small, 0, 1000, 1000},
	} {
		r := run{s: c.s, target: c.target}
		if last := r.last(c.limit); last != c.last {
			t.Errorf("target %d, limit %d: %d, not %d", c.target, c.limit, last, c.last)
		}
	}
}
