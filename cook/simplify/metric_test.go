package simplify

import (
	"math"
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
		for w := range s.wedgeVertex {
			v := s.wedges.source(uint32(w))
			var own []float32
			if m.Normals != nil {
				own = append(own, m.Normals[v][:]...)
			}
			for _, uv := range m.UV {
				if uv != nil {
					own = append(own, uv[v][:]...)
				}
			}
			if m.Colors != nil {
				own = append(own, m.Colors[v][:]...)
			}
			for k, x := range own {
				got, want := s.wedgeQuadrics[w*s.stride+1+3*k], float32(finite(x)*float64(s.scale[k]))
				if got != want {
					rt.Fatalf("attribute %d of wedge %d is %g, not %g", k, w, got, want)
				}
			}
		}
	})
}

// TestSanitize: attributes that are not finite count as 0.
func TestSanitize(t *testing.T) {
	wild := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 1e30}
	a, b := grid(8, hills), grid(8, hills)
	for i := range a.Positions {
		a.Colors = append(a.Colors, [4]float32{1, 0.5, 0, 1})
		b.Colors = append(b.Colors, a.Colors[i])
	}
	if c := b.sanitize(); &c.Normals[0] != &b.Normals[0] || &c.UV[0][0] != &b.UV[0][0] || &c.Colors[0] != &b.Colors[0] {
		t.Error("attributes are copied that need not be")
	}
	for i := range a.Positions {
		switch x := wild[i%len(wild)]; i % 5 {
		case 0:
			a.Normals[i][i%3], b.Normals[i][i%3] = x, 0
		case 1:
			a.UV[0][i][i%2], b.UV[0][i][i%2] = x, 0
		case 2:
			a.Colors[i][i%4], b.Colors[i][i%4] = x, 0
		}
	}
	before := hash(a)
	if hash(a.sanitize()) != hash(b) {
		t.Error("attributes that are not finite do not become 0")
	}
	if hash(a) != before {
		t.Error("the source was changed")
	}
}
