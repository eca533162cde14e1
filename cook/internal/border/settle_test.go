package border

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/geom"
)

// ground is a strip of height field on one side of x = 0, from which it goes away in
// steps of dx. Both sides have the same heights at x = 0.
func ground(heights []float64, dx float64, columns int) (positions []geom.Vec3, indices []uint32) {
	n := len(heights)
	for i := range columns + 1 {
		for k, h := range heights {
			positions = append(positions, geom.Vec3{dx * float64(i), h * float64(columns+1-i), float64(k)})
		}
	}
	for i := range columns {
		for k := range n - 1 {
			a, b := uint32(i*n+k), uint32((i+1)*n+k)
			indices = append(indices, a, a+1, b, b, a+1, b+1)
		}
	}
	return positions, indices
}

// edges returns the edges of a mesh that lie in x = 0, by their places.
func edges(positions []geom.Vec3, indices []uint32) map[[2]geom.Vec3]bool {
	out := map[[2]geom.Vec3]bool{}
	for i := range indices {
		a, b := positions[indices[i]], positions[indices[i-i%3+(i+1)%3]]
		if a[0] == 0 && b[0] == 0 && a != b {
			if comparePlaces(a, b) > 0 {
				a, b = b, a
			}
			out[[2]geom.Vec3{a, b}] = true
		}
	}
	return out
}

// TestNeighboursFindTheSameBorder: whatever lies on either side, the edges between
// are the same ones, and near to what was there.
func TestNeighboursFindTheSameBorder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		heights := rapid.SliceOfN(rapid.Float64Range(-2, 2), 2, 40).Draw(t, "heights")
		for i := range heights {
			heights[i] = float64(float32(heights[i]))
		}
		tolerance := rapid.Float64Range(0, 1).Draw(t, "tolerance")
		depth := float64(len(heights) - 1)
		var found [2]map[[2]geom.Vec3]bool
		for side, dx := range []float64{-1, 0.5} {
			columns := rapid.IntRange(1, 4).Draw(t, "columns")
			// At x = 0 the heights do not depend on the columns.
			scaled := make([]float64, len(heights))
			for i, h := range heights {
				scaled[i] = h / float64(columns+1)
			}
			p, indices := ground(scaled, dx, columns)
			for i := range heights {
				p[i][1] = heights[i]
			}
			cell := geom.Box{Min: geom.Vec3{min(0, dx*float64(columns)), -100, 0}, Max: geom.Vec3{max(0, dx*float64(columns)), 100, depth}}
			settled, locked := Settle(p, indices, &cell, tolerance, 0)
			found[side] = edges(settled, indices)
			for i, q := range settled {
				if p[i][0] == 0 && q[0] != 0 || p[i][0] == 0 && !locked[i] {
					t.Fatalf("side %d: %v goes to %v, locked %v", side, p[i], q, locked[i])
				}
			}
			for i := range heights { // the height of the border above its old places
				most := math.Inf(1)
				for e := range found[side] {
					most = min(most, fromSegment(p[i], e[0], e[1]))
				}
				if most > tolerance+1e-12 {
					t.Fatalf("side %d: the border is %v m from %v", side, most, p[i])
				}
			}
		}
		for e := range found[0] {
			if !found[1][e] {
				t.Fatalf("one side alone has %v: %v and %v", e, found[0], found[1])
			}
		}
		if len(found[0]) != len(found[1]) || len(found[0]) == 0 {
			t.Fatalf("%v and %v", found[0], found[1])
		}
	})
}

// TestBorderOfALine: what lies on a line keeps its ends.
func TestBorderOfALine(t *testing.T) {
	p, indices := ground(make([]float64, 50), 1, 3)
	cell := geom.Box{Min: geom.Vec3{0, -1, 0}, Max: geom.Vec3{3, 1, 49}}
	settled, locked := Settle(p, indices, &cell, 0.01, 0)
	if e := edges(settled, indices); len(e) != 1 || !e[[2]geom.Vec3{{0, 0, 0}, {0, 0, 49}}] {
		t.Error(e)
	}
	n := 0
	for i := range settled {
		if locked[i] {
			n++
		}
	}
	if n == 0 || locked[50+20] {
		t.Error(n, "are locked")
	}
	if same, none := Settle(p, indices, &geom.Box{Min: geom.Vec3{-9, -9, -9}, Max: geom.Vec3{99, 99, 99}}, 1, 0); none != nil || &same[0] != &p[0] {
		t.Error("nothing lies on a side, and something was done")
	}
}

// TestSmallCutsMayGo: what is cut along less than an extent has no place that must stay, the
// ground beside it has, and all that hangs together with the ground.
func TestSmallCutsMayGo(t *testing.T) {
	const n, least = 50, 5.0
	p, indices := ground(make([]float64, n), 1, 3)
	box := func(from, to, high float64) (first int) { // that stands across x = 0 and z = 0
		first = len(p)
		for _, x := range []float64{0, 1} {
			for _, z := range []float64{from, to} {
				for _, y := range []float64{0.5, high} {
					p = append(p, geom.Vec3{x, y, z})
				}
			}
		}
		b := uint32(first)
		for _, f := range [][4]uint32{{0, 1, 5, 4}, {1, 3, 7, 5}, {3, 2, 6, 7}} { // two walls and the roof
			indices = append(indices, b+f[0], b+f[1], b+f[2], b+f[0], b+f[2], b+f[3])
		}
		return first
	}
	car, house, corner := box(10, 14, 2), box(20, 30, 8), box(0, 3, 2)
	stands := box(40, 43, 2)
	for i := range p[stands:] { // on the ground's own places
		if q := &p[stands+i]; q[1] == 0.5 {
			q[1] = 0
		}
	}
	cell := geom.Box{Min: geom.Vec3{0, -1, 0}, Max: geom.Vec3{3, 99, n - 1}}
	settled, locked := Settle(p, indices, &cell, 0.01, least)
	held := func(from int) (held int) {
		for i := from; i < from+8; i++ {
			if locked[i] {
				held++
			}
			if settled[i] != p[i] {
				t.Errorf("%v goes to %v", p[i], settled[i])
			}
		}
		return held
	}
	for _, c := range []struct {
		name        string
		first, held int
	}{{"a car", car, 0}, {"a house", house, 4}, {"a thing in the corner", corner, 0}, {"one that stands on places of the ground", stands, 4}} {
		if got := held(c.first); got != c.held {
			t.Errorf("%s: %d places are held, not %d", c.name, got, c.held)
		}
	}
	if !locked[0] || !locked[n-1] {
		t.Error("the ends of the ground are free")
	}
}
