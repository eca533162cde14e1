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
// one, at opposite corners, see one triangle, those between them are left out, and of one
// without textures what is in the middle is the mean.
func (b *baker) texel(i int, s *seeker) {
	c := &b.cells[i]
	if c.triangle < 0 || b.card[c.triangle] {
		return
	}
	n := max(1, b.o.Samples)
	first, seen := b.take(c, 0, n, s)
	if n == 1 {
		if seen {
			b.look(&first, b.area, s)
			b.values[i], b.found[i] = s.value.keep(), true
		}
		return
	}
	last, ok := b.take(c, n*n-1, n, s)
	alike := seen && ok && first.Hint == last.Hint
	part := b.area / float64(n*n)
	if alike && b.solid.Looks[b.solid.Materials[first.Triangle]].plain() {
		for k := range first.Weights {
			first.Weights[k] = float64(0.5 * (first.Weights[k] + last.Weights[k]))
		}
		b.look(&first, part, s)
		b.values[i], b.found[i] = s.value.keep(), true
		return
	}
	s.sum, s.count = value{}, 0
	add := func(n *measure.Near, ok bool) {
		if ok {
			b.look(n, part, s)
			s.sum.add(&s.value)
			s.count++
		}
	}
	add(&first, seen)
	add(&last, ok)
	for k := 1; k < n*n-1 && !alike; k++ {
		between, ok := b.take(c, k, n, s)
		add(&between, ok)
	}
	if s.count > 0 {
		mean := s.sum.mean(s.count)
		b.values[i], b.found[i] = mean.keep(), true
	}
}

// look finds what is seen at a point: the seeker's value.
func (b *baker) look(n *measure.Near, area float64, s *seeker) {
	b.solid.look(&point{n.Triangle, n.Weights, area}, b.solidDensity, &s.value)
}

// take finds the place that a sample of a texel sees that has n along each side.
func (b *baker) take(c *cell, k, n int, s *seeker) (measure.Near, bool) {
	at := *c
	if n > 1 {
		at.move(&b.slopes[c.triangle], (float64(k%n)+0.5)/float64(n)-0.5, (float64(k/n)+0.5)/float64(n)-0.5)
	}
	return b.sample(&at, b.area/float64(n*n), s)
}

// seeThrough bounds how many gaps between leaves a ray goes through.
const seeThrough = 8

// sample finds the place that is seen at a point of the coarse mesh.
func (b *baker) sample(c *cell, area float64, s *seeker) (first measure.Near, found bool) {
	face := b.faces[c.triangle]
	p := b.point(c)
	ahead := b.o.Ahead
	for range seeThrough {
		n, ok := s.First(p, face, alongCosine, ahead, b.o.Ahead, s.hint)
		if !ok {
			break
		}
		s.hint = n.Hint
		if b.solid.hides(&point{n.Triangle, n.Weights, area}, b.solidDensity) {
			return n, true
		}
		if !found {
			first, found = n, true
		}
		ahead = math.Nextafter(b.solid.point(&n).Sub(p).Dot(face)-float64(1e-6*b.o.Ahead), math.Inf(-1))
	}
	for k := 0; !found && k < len(nearestCosines); k++ {
		if n, ok := s.Nearest(p, face, nearestCosines[k], b.o.Reach, s.hint); ok {
			s.hint = n.Hint
			return n, true
		}
	}
	return first, found
}
