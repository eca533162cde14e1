package measure

import (
	"math"

	"github.com/untoldkit/untold/internal/geom"
)

// Spread returns the mean of the squared distances between two surfaces, of the given number
// of samples on each (at least 1), seen from both: 0 for two surfaces without area, +Inf when
// one of them has none. It works in the calling goroutine.
func Spread(a *Part, b *Index, samples int) float64 {
	if a.Area() == 0 && b.Area() == 0 {
		return 0
	}
	if a.Area() == 0 || b.Area() == 0 {
		return math.Inf(1)
	}
	samples = max(samples, 1)
	there := spread(samplesOf(a.sums, samples), a.point, func(p geom.Vec3, hint int32) hit { return b.nearest(p, hint, 0) })
	back := spread(b.samples(samples), b.point, a.nearest)
	return (there + back) / 2
}

// spread is Spread one way alone: from the points of a list to what is nearest.
func spread(list []sample, point func(sample) geom.Vec3, nearest func(p geom.Vec3, hint int32) hit) float64 {
	hint, sum := int32(-1), 0.0
	for _, s := range list {
		h := nearest(point(s), hint)
		hint = h.leaf
		sum += h.d2
	}
	return sum / float64(len(list))
}
