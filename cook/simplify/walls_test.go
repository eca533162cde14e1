package simplify

import (
	"slices"
	"testing"
)

// The parts of a Simplifier work without one.

// TestEdgeQueue: keys keep their lower bounds, and a quantile is a key that the
// wanted number of edges does not exceed.
func TestEdgeQueue(t *testing.T) {
	var q edgeQueue
	q.makeKeys(100)
	if !q.unpriced || len(q.cost)%blockSize != 0 || q.cost[99] != unpriced || q.cost[100] != never {
		t.Fatalf("a new queue: unpriced %v, %d keys", q.unpriced, len(q.cost))
	}
	for c := range q.cost {
		q.cost[c] = never
	}
	for i := range q.least {
		q.least[i] = never
	}
	for c := range 50 {
		q.setKey(uint32(2*c), key(float64(c+1)))
	}
	for i := range q.blocks() {
		if q.least[i] != q.block(i).lowest() {
			t.Errorf("block %d: bound %d, lowest key %d", i, q.least[i], q.block(i).lowest())
		}
	}
	for _, c := range []struct{ wanted, least, most int }{{1, 1, 4}, {5, 5, 10}, {1000, 12, 20}} {
		limit, n := q.quantile(nil, 1, c.wanted), 0
		for _, k := range q.cost {
			if k <= limit {
				n++
			}
		}
		if n < c.least || n > c.most {
			t.Errorf("wanted %d: %d keys up to the limit", c.wanted, n)
		}
	}
	q.setKey(0, barred)
	if n := q.countBarred(); n != 1 {
		t.Errorf("%d edges are barred", n)
	}
	q.unbar(1)
	if q.cost[0] != unpriced || q.countBarred() != 0 {
		t.Errorf("a greater limit leaves key %d", q.cost[0])
	}
}

// TestSurfaceRing: a ring loses dead corners as it is read.
func TestSurfaceRing(t *testing.T) {
	// Two triangles at vertex 0: corners 0 and 3.
	s := surface{
		vertices:    make([]vertex, 5),
		wedgeVertex: []uint32{0, 1, 2, 3, 4},
		cornerWedge: []uint32{0, 1, 2, 0, 3, 4},
		next:        make([]uint32, 6),
		triangles:   2,
	}
	for i := range s.vertices {
		s.vertices[i].first = none
	}
	s.link()
	for _, c := range []struct {
		dead uint32 // first corner of a triangle, none at first
		want []uint32
	}{{none, []uint32{0, 3}}, {0, []uint32{3}}, {3, nil}} {
		if c.dead != none {
			copy(s.cornerWedge[c.dead:], []uint32{none, none, none})
		}
		got := s.ring(0, nil)
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("without %d: %v, want %v", c.dead, got, c.want)
		}
	}
	if s.vertices[0].first != none {
		t.Error("a vertex without corners keeps its ring")
	}
}

// TestMetricPair: wedges that agree cost nothing, others the square of their
// difference by half the harmonic mean of their areas.
func TestMetricPair(t *testing.T) {
	for _, c := range []struct {
		areaU, areaV, u, v float32
		area, cost         float64
	}{
		{1, 1, 5, 5, 2, 0},
		{1, 1, 5, 7, 2, 2},
		{3, 1, 0, 2, 4, 3},
		{0, 1, 0, 2, 1, 0}, // without area nothing counts
	} {
		m := metric{attributeCount: 1, stride: 4, gain: 1, wedgeQuadrics: make([]float32, 8+recordSize)}
		m.record(0)[0], m.record(0)[1] = c.areaU, c.u
		m.record(1)[0], m.record(1)[1] = c.areaV, c.v
		if area, cost := m.joinPair(0, 1, vec{}, vec{}); area != c.area || cost != c.cost {
			t.Errorf("%+v: area %v, cost %v", c, area, cost)
		}
	}
}

// TestComponentsHalve: a part that must stay whole keeps two triangles.
func TestComponentsHalve(t *testing.T) {
	for _, c := range []struct {
		left  int32 // triangles of the part
		whole bool
		want  bool
	}{{4, true, false}, {3, true, true}, {3, false, false}} {
		co := components{ofTriangle: []int32{0, 0}, given: []part{{corners: 3 * c.left, whole: c.whole}}}
		if got := co.wouldHalve([]ray{{c: 0}, {c: 3}}); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
