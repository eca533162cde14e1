package simplify

import (
	"testing"

	"pgregory.net/rapid"
)

// TestOwnAttributes compares wedges of any kinds of attributes with their
// vertices.
func TestOwnAttributes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m, o := soup(rt)
		o.Seams = SeamsKeep
		s, err := New(m, o)
		if err != nil {
			rt.Fatal(err)
		}
		var at [maxAttributes]float64
		for w := range s.wv {
			s.attributes(s.wedges.source(uint32(w)), &at)
			for k := range s.k {
				if got := s.wq[w*s.stride+1+4*k]; got != float32(at[k]) {
					rt.Fatalf("attribute %d of wedge %d is %g, not %g", k, w, got, at[k])
				}
			}
		}
	})
}
