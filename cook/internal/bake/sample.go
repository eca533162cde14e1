package bake

import (
	"math"

	"github.com/untoldkit/untold/cook/measure"
)

// seeker looks for what the texels of a row show.
type seeker struct {
	*measure.Walk
	hint  measure.Hint
	value value   // of the last sample
	sum   value   // of those of a texel
	count float64 // how many
}

// A wall takes the look of what comes first just before it or behind it and faces its
// way; where there is nothing, of the nearest point that faces its way; and only then
// of the nearest point of all.
const alongCosine = 0.3

var nearestCosines = [...]float64{0, -1}

// texel finds what one texel shows: the mean of its samples. Where the first and the last
// one, at opposite corners, see one triangle, those between them are left out.
func (b *baker) texel(i int, s *seeker) {
	c := &b.cells[i]
	if c.triangle < 0 || b.card[c.triangle] {
		return
	}
	n := max(1, b.o.Samples)
	s.sum, s.count = value{}, 0
	ok := b.take(c, 0, n, s)
	if first := s.hint; n > 1 && (!b.take(c, n*n-1, n, s) || !ok || s.hint != first) {
		for k := 1; k < n*n-1; k++ {
			b.take(c, k, n, s)
		}
	}
	if s.count > 0 {
		b.values[i], b.found[i] = s.sum.mean(s.count), true
	}
}

// take adds a sample of a texel that has n along each side.
func (b *baker) take(c *cell, k, n int, s *seeker) bool {
	at := *c
	if n > 1 {
		at.move(&b.slopes[c.triangle], (float64(k%n)+0.5)/float64(n)-0.5, (float64(k/n)+0.5)/float64(n)-0.5)
	}
	ok := b.sample(&at, b.area/float64(n*n), s)
	if ok {
		s.sum.add(&s.value)
		s.count++
	}
	return ok
}

// seeThrough bounds how many gaps between leaves a ray goes through.
const seeThrough = 8

// sample finds what is seen at a point of the coarse mesh: the seeker's value.
func (b *baker) sample(c *cell, area float64, s *seeker) bool {
	face := b.faces[c.triangle]
	p := b.point(c)
	ahead := b.o.Ahead
	var first value
	found := false
	for range seeThrough {
		n, ok := s.First(p, face, alongCosine, ahead, b.o.Ahead, s.hint)
		if !ok {
			break
		}
		s.hint = n.Hint
		b.solid.look(&point{n.Triangle, n.Weights, area}, b.solidDensity, &s.value)
		if s.value.color[3] >= 0.5 {
			return true
		}
		if !found {
			first, found = s.value, true
		}
		ahead = math.Nextafter(b.solid.point(&n).Sub(p).Dot(face)-float64(1e-6*b.o.Ahead), math.Inf(-1))
	}
	for k := 0; !found && k < len(nearestCosines); k++ {
		if n, ok := s.Nearest(p, face, nearestCosines[k], b.o.Reach, s.hint); ok {
			s.hint = n.Hint
			b.solid.look(&point{n.Triangle, n.Weights, area}, b.solidDensity, &s.value)
			return true
		}
	}
	if found {
		s.value = first
	}
	return found
}
