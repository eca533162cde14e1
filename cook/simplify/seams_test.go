package simplify

import (
	"math"
	"testing"

	"github.com/untoldkit/untold/internal/geom"
)

// checkered is a plane of n x n squares in two groups, which meet along a wave and
// have the given grays.
func checkered(n int, a, b float32) *Mesh {
	m := &Mesh{}
	for g, gray := range []float32{a, b} {
		first := uint32(len(m.Positions))
		for i := range n + 1 {
			middle := 0.5*float64(n) + math.Sin(float64(i)*2*math.Pi/float64(n))*0.1*float64(n)
			for k := range n/2 + 1 {
				t := float64(k) / float64(n/2)
				z := middle * t
				if g == 1 {
					z = middle + (float64(n)-middle)*t
				}
				m.Positions = append(m.Positions, geom.Vec3{float64(i), 0, z})
				m.Colors = append(m.Colors, [4]float32{gray, gray, gray, 1})
			}
		}
		row := uint32(n/2 + 1)
		for i := range uint32(n) {
			for k := range uint32(n / 2) {
				p := first + i*row + k
				m.Indices = append(m.Indices, p, p+1, p+row, p+row, p+1, p+row+1)
				m.Groups = append(m.Groups, int32(g), int32(g))
			}
		}
	}
	return m
}

// TestColorSeams: a line that is seen is held more than one that is not.
func TestColorSeams(t *testing.T) {
	// area returns what is covered by the other group than in the source.
	area := func(m *Mesh) float64 {
		out, r, err := Simplify(m, Options{ColorSeams: true}, 24, 0)
		if err != nil || r.Triangles > 24 {
			t.Fatal(r, err)
		}
		covered := 0.0
		for k, g := range out.Groups {
			if v := out.Indices[3*k : 3*k+3]; g == 0 {
				a := out.Positions[v[0]]
				covered += out.Positions[v[1]].Sub(a).Cross(out.Positions[v[2]].Sub(a)).Len() / 2
			}
		}
		return covered
	}
	for _, c := range []struct {
		a, b, least, most float64
	}{{0.5, 0.5, plainSeam, plainSeam}, {0.4, 0.6, 0.15, 0.2}, {0, 1, mostSeam, mostSeam}} {
		m := checkered(8, float32(c.a), float32(c.b))
		s, err := New(m, Options{ColorSeams: true})
		if err != nil {
			t.Fatal(err)
		}
		// Wedges at the same vertex along the line.
		found := 0
		for w := range s.wedgeVertex {
			for x := range w {
				if s.wedgeVertex[w] == s.wedgeVertex[x] {
					found++
					if got := s.seamWeight(uint32(w), uint32(x), uint32(w), uint32(x)); got < c.least-1e-6 || got > c.most+1e-6 {
						t.Fatalf("%v beside %v: %v", c.a, c.b, got)
					}
				}
			}
		}
		if found != 9 {
			t.Errorf("%d places on the seam", found)
		}
	}
	want := 32.0
	if got := area(checkered(8, 0, 1)); math.Abs(got-want) > 0.02*want {
		t.Errorf("%v m2 of %v are black", got, want)
	}
}
