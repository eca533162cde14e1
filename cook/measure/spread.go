package measure

import "math"

// Spread returns the mean of the squared distances between two surfaces, of the given number
// of samples on each (at least 1), seen from both: 0 for two surfaces without area, +Inf when
// one of them has none. It works in the calling goroutine.
func Spread(a, b *Index, samples int) float64 {
	if a.Area() == 0 && b.Area() == 0 {
		return 0
	}
	if a.Area() == 0 || b.Area() == 0 {
		return math.Inf(1)
	}
	return (spread(a, b, samples) + spread(b, a, samples)) / 2
}

// spread is Spread from a to b alone.
func spread(a, b *Index, samples int) float64 {
	list := a.samples(max(samples, 1))
	hint, sum := int32(-1), 0.0
	for _, s := range list {
		h := b.nearest(a.point(s), hint, 0)
		hint = h.leaf
		sum += h.d2
	}
	return sum / float64(len(list))
}
