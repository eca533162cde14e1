package measure

import (
	"testing"

	"github.com/untoldkit/untold/internal/geom"
)

// Near finds what a look at all triangles finds.
func TestNear(t *testing.T) {
	s := &Surface{}
	for i := range 12 {
		for k := range 12 {
			x, z := float64(i), float64(k)
			n := uint32(len(s.Positions))
			s.Positions = append(s.Positions, geom.Vec3{x, float64((i * k) % 3), z}, geom.Vec3{x + 0.8, 0, z}, geom.Vec3{x, 0, z + 0.8})
			s.Indices = append(s.Indices, n, n+1, n+2)
		}
	}
	index := NewIndex(s)
	for i := range 200 {
		p := geom.Vec3{float64(i%17) - 2, float64(i%5) / 2, float64(i%13) - 1}
		d := float64(i%7) / 4
		for odd := range 2 {
			want := map[int]bool{}
			for k := range s.Triangles() {
				c := corners{s.Positions[3*k], s.Positions[3*k+1], s.Positions[3*k+2]}
				if d2, _ := c.nearest(&p); d2 <= d*d && k%2 == odd {
					want[k] = true
				}
			}
			got := map[int]bool{}
			index.Near(p, d, func(k int) bool {
				if k%2 == odd {
					got[k] = true
				}
				return false
			})
			if len(got) != len(want) {
				t.Errorf("%v within %v: %v, want %v", p, d, got, want)
			}
			for hint := range Hint(3) {
				if _, found := index.Part(func(k int) bool { return k%2 == odd }).Touches(p, d, 50*hint); found != (len(want) > 0) {
					t.Errorf("part of %v within %v: %t", p, d, found)
				}
			}
			if found := index.Near(p, d, func(k int) bool { return k%2 == odd }); found != (len(want) > 0) {
				t.Errorf("%v within %v: %t", p, d, found)
			}
		}
	}
	if NewIndex(&Surface{}).Near(geom.Vec3{}, 1, func(int) bool { return true }) {
		t.Error("something is near nothing")
	}
}
