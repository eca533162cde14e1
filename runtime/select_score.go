package runtime

import (
	"math"

	"github.com/untoldkit/untold/internal/geom"
)

// scoreStep is the resolution of scores. Quantising them makes the order of
// candidates a strict weak order.
const scoreStep = 0.001

// solidAngle estimates the part of the view that a box takes: its area
// projected along the direction to its middle over the squared distance, in
// steradians for distances large against the box.
func solidAngle(b *geom.Box, v *view, distance float64) float64 {
	var half, u [3]float64 // u points to the middle
	for i := range 3 {
		half[i] = (b.Max[i] - b.Min[i]) * 0.5
		u[i] = float64((b.Min[i]+b.Max[i])*0.5) - v.pos[i]
	}
	l := length(u)
	if !(l > 1e-4) {
		u, l = v.forward, 1
	}
	area := float64(half[1]*half[2]*math.Abs(u[0])) + float64(half[0]*half[2]*math.Abs(u[1])) + float64(half[0]*half[1]*math.Abs(u[2]))
	return 2 * area / l / max(float64(distance*distance), 1)
}

// alignment returns the weight of the direction to a box: 1 ahead, minimum
// beside and behind the camera, 1 inside the box.
func alignment(b *geom.Box, v *view, minimum float64) float64 {
	var w [3]float64 // to the closest point
	for i, p := range v.pos {
		w[i] = max(b.Min[i], min(b.Max[i], p)) - p
	}
	l := length(w)
	if !(l > 1e-9) {
		return 1
	}
	ahead := (float64(w[0]*v.forward[0]) + float64(w[1]*v.forward[1]) + float64(w[2]*v.forward[2])) / l
	return minimum + float64((1-minimum)*max(0, ahead))
}

func length(v [3]float64) float64 {
	return math.Sqrt(float64(v[0]*v[0]) + float64(v[1]*v[1]) + float64(v[2]*v[2]))
}

// clip returns the part of a box inside limits, or the box itself when they do
// not meet or there are no limits: boxes of uniform grids may be kilometres
// tall.
func clip(b, limits geom.Box) geom.Box {
	for i := range 3 {
		limits.Min[i] = max(limits.Min[i], b.Min[i])
		limits.Max[i] = min(limits.Max[i], b.Max[i])
	}
	if limits.IsEmpty() {
		return b
	}
	return limits
}
