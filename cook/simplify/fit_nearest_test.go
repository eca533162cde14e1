package simplify

import (
	"math"
	"slices"
	"testing"
)

// TestFacet compares gradients with the projection, in and outside of
// triangles of all shapes.
func TestFacet(t *testing.T) {
	for _, c := range []struct {
		name string
		e, f vec
	}{
		{"right angle", vec{1, 0, 0}, vec{0, 0, 1}},
		{"obtuse", vec{1, 0, 0}, vec{-3, 1, 0.5}},
		{"thin", vec{1, 0, 0}, vec{0.4, 1e-3, 0}},
		{"small", vec{1e-6, 0, 0}, vec{0, 1e-6, 1e-6}},
		{"large", vec{1e8, 0, 0}, vec{0, 1e8, 0}},
	} {
		var f facet
		f.set(9, c.e, c.f)
		n := c.e.cross(c.f)
		n = n.scale(0.1 * math.Sqrt(c.e.length2()/n.length2()))
		for i := -3; i < 8; i++ {
			for j := -3; j < 8; j++ {
				u, v := (float64(i)+0.5)/5, (float64(j)+0.5)/5
				off := c.e.scale(u).add(c.f.scale(v)).add(n)
				inside := u >= 0 && v >= 0 && 1-u-v >= 0
				gu, gv := f.u.dot(off.single()), f.v.dot(off.single())
				if 1-u-v > 1e-9 || u+v-1 > 1e-9 {
					if over := !negative(gu, gv, 1-gu-gv); over != inside {
						t.Errorf("%s: over %v at %g, %g", c.name, over, u, v)
					}
				}
				pu, pv := f.project(off.single())
				if negative(pu, pv, 1-pu-pv) {
					t.Errorf("%s: projected to %g, %g, which is outside", c.name, pu, pv)
				}
				if inside && math.Abs(float64(pu)-u)+math.Abs(float64(pv)-v) > 1e-3 {
					t.Errorf("%s: projected to %g, %g, not %g, %g", c.name, pu, pv, u, v)
				}
			}
		}
	}
}

// Nothing lies over a triangle without area, but it has a nearest point.
func TestFacetWithoutArea(t *testing.T) {
	s := &Simplifier{surface: surface{in: &Mesh{}}}
	x := &finder{s: s}
	around := &surroundings{facets: make([]facet, 2)}
	around.facets[0].set(0, vec{1, 0, 0}, vec{2, 0, 0})
	around.facets[1].set(3, vec{}, vec{})
	h := nothing()
	q := &query{p: vec{0.5, 1, 0}}
	if x.over(q, around, &h) {
		t.Errorf("over a triangle without area: %+v", h)
	}
	if !x.visit(q, around, &h) || h.d2 != 1 || h.c != 0 {
		t.Errorf("nearest is %+v", h)
	}
	h = nothing()
	if q.n = (vec32{0, 0, 1}); x.visit(q, around, &h) {
		t.Errorf("a triangle without area looks the right way: %+v", h)
	}
}

func TestRanks(t *testing.T) {
	put := []uint32{0, 1, 63, 64, 130, 191, 192, 199}
	r := newRanks(200)
	for _, i := range put {
		r.put(i)
	}
	if n := r.number(); n != len(put) {
		t.Errorf("%d of %d", n, len(put))
	}
	var got []uint32
	for n, i := range r.all() {
		if int(n) != len(got) {
			t.Errorf("%d is number %d, not %d", i, n, len(got))
		}
		got = append(got, i)
	}
	if !slices.Equal(got, put) {
		t.Errorf("%v, not %v", got, put)
	}
	for i, k := range put {
		if r.of(k) != uint32(i) {
			t.Errorf("%d has number %d, not %d", k, r.of(k), i)
		}
	}
}
