package bake

import (
	"cmp"
	"math"
	"slices"
)

// hull returns the convex hull of points, counter-clockwise (Andrew, Another
// efficient algorithm for convex hulls in two dimensions, 1979).
func hull(points [][2]float64) [][2]float64 {
	sorted := slices.Clone(points)
	slices.SortFunc(sorted, func(a, b [2]float64) int {
		return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
	})
	sorted = slices.Compact(sorted)
	if len(sorted) < 3 {
		return sorted
	}
	var out [][2]float64
	half := func(least int, p [2]float64) {
		for len(out) >= least+2 && turn(out[len(out)-2], out[len(out)-1], p) <= 0 {
			out = out[:len(out)-1]
		}
		out = append(out, p)
	}
	for _, p := range sorted {
		half(0, p)
	}
	lower := len(out) - 1
	for i := len(sorted) - 2; i >= 0; i-- {
		half(lower, sorted[i])
	}
	return out[:len(out)-1]
}

// turn is twice the area of a triangle, positive if it is counter-clockwise.
func turn(a, b, c [2]float64) float64 {
	return float64((b[0]-a[0])*(c[1]-a[1])) - float64((b[1]-a[1])*(c[0]-a[0]))
}

// smallestTurn returns the direction of the side of the smallest rectangle round a
// hull: one of its sides lies on it (Freeman and Shapira, Determining the
// minimum-area encasing rectangle for an arbitrary closed curve, 1975).
func smallestTurn(hull [][2]float64) [2]float64 {
	best, dir := math.Inf(1), [2]float64{1, 0}
	for i, p := range hull {
		q := hull[(i+1)%len(hull)]
		d := [2]float64{q[0] - p[0], q[1] - p[1]}
		l := math.Sqrt(float64(d[0]*d[0]) + float64(d[1]*d[1]))
		if !(l > 1e-140) { // the squares of less have no digits left
			continue
		}
		d[0], d[1] = d[0]/l, d[1]/l
		lo, hi := [2]float64{math.Inf(1), math.Inf(1)}, [2]float64{math.Inf(-1), math.Inf(-1)}
		for _, r := range hull {
			u := float64(r[0]*d[0]) + float64(r[1]*d[1])
			v := float64(r[1]*d[0]) - float64(r[0]*d[1])
			lo[0], hi[0], lo[1], hi[1] = min(lo[0], u), max(hi[0], u), min(lo[1], v), max(hi[1], v)
		}
		// A hundredth of a percent keeps the first of sides that are as good, whatever
		// the last digits of their products are.
		if area := float64((hi[0] - lo[0]) * (hi[1] - lo[1])); area < float64(best*0.9999) {
			best, dir = area, d
		}
	}
	return dir
}

// overlap reports whether two triangles reach into one another by more than slack:
// no side of either has the other one behind it.
func overlap(a, b *[3][2]float64, slack float64) bool {
	return !apart(a, b, slack) && !apart(b, a, slack)
}

// apart reports whether b lies behind a side of a.
func apart(a, b *[3][2]float64, slack float64) bool {
	sign := 1.0
	if area := turn(a[0], a[1], a[2]); area < 0 {
		sign = -1
	} else if area == 0 {
		return true
	}
	for k := range 3 {
		p, q := a[k], a[(k+1)%3]
		d := [2]float64{q[0] - p[0], q[1] - p[1]}
		l := math.Sqrt(float64(d[0]*d[0]) + float64(d[1]*d[1]))
		behind := true
		for _, r := range b {
			if float64(sign*turn(p, q, r)) > float64(slack*l) {
				behind = false
				break
			}
		}
		if behind {
			return true
		}
	}
	return false
}
