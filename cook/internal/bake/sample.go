package bake

import (
	"math"

	"github.com/untoldkit/untold/cook/measure"
	"github.com/untoldkit/untold/internal/geom"
)

// seeker looks for what the texels of a row of blocks show.
type seeker struct {
	*measure.Walk
	hint  measure.Hint
	beam  measure.Beam // of some texels of a block that are of one triangle
	aimed bool         // else each asks for itself
	value value        // of the last sample
	sum   value        // of those of a texel
	count float64      // how many
}

// A wall takes the look of what comes first just before it or behind it and faces its
// way; where there is nothing, of the nearest point that faces its way; and only then
// of the nearest point of all.
const alongCosine = 0.3

var nearestCosines = [...]float64{0, -1}

// blockSide is how many texels along each side of a block look for what they show together:
// of those that are of one triangle all rays are alike but for where they begin.
const blockSide = 4

// block finds what the texels of a block show.
func (b *baker) block(x0, y0 int, s *seeker) {
	var texels, group [blockSide * blockSide]int
	n := 0
	for y := y0; y < min(y0+blockSide, b.layout.Side); y++ {
		for x := x0; x < min(x0+blockSide, b.layout.Side); x++ {
			i := y*b.layout.Side + x
			if t := b.cells[i].triangle; t >= 0 && !b.card[t] {
				texels[n] = i
				n++
			}
		}
	}
	for n > 0 {
		t := b.cells[texels[0]].triangle
		left, of := 0, 0
		for _, i := range texels[:n] {
			if b.cells[i].triangle == t {
				group[of] = i
				of++
			} else {
				texels[left] = i
				left++
			}
		}
		n = left
		b.aim(group[:of], s)
		for _, i := range group[:of] {
			b.texel(i, s)
		}
	}
}

// aimLeast is for how many texels it is worth while to look for all triangles around.
const aimLeast = 3

// aim prepares the beam of texels of one triangle.
func (b *baker) aim(group []int, s *seeker) {
	if s.aimed = len(group) >= aimLeast && b.o.Ahead > 0; !s.aimed {
		return
	}
	through := geom.EmptyBox()
	for _, i := range group {
		through = through.Extend(b.point(&b.cells[i]))
	}
	t := b.cells[group[0]].triangle
	around := b.around(t)
	through.Min, through.Max = through.Min.Sub(around), through.Max.Add(around)
	s.aimed = s.Aim(&s.beam, &through, b.faces[t], alongCosine, b.o.Ahead, b.o.Ahead)
}

// around returns how far samples of a texel of a triangle are at most from its middle, along
// each axis, with room for how weights round.
func (b *baker) around(t int32) (out geom.Vec3) {
	i := b.coarse.Indices[3*t : 3*t+3]
	p := b.coarse.Positions[i[0]]
	q, r := b.coarse.Positions[i[1]].Sub(p), b.coarse.Positions[i[2]].Sub(p)
	s := &b.slopes[t]
	for k := range out {
		size := max(q[k], r[k], 0) - min(q[k], r[k], 0)
		if b.o.Samples > 1 {
			x, y := float64(s[0][1]*q[k])+float64(s[0][2]*r[k]), float64(s[1][1]*q[k])+float64(s[1][2]*r[k])
			out[k] = min(float64(0.5*(math.Abs(x)+math.Abs(y))), 2*size) // what goes farther stays, see move
		}
		out[k] += float64(1e-6 * (size + math.Abs(p[k])))
	}
	return out
}

// part returns the point of the coarse mesh of a sample of a texel that has n along each side.
func (b *baker) part(c *cell, k, n int) geom.Vec3 {
	if n == 1 {
		return b.point(c)
	}
	at := *c
	at.move(&b.slopes[c.triangle], (float64(k%n)+0.5)/float64(n)-0.5, (float64(k/n)+0.5)/float64(n)-0.5)
	return b.point(&at)
}

// first returns what the ray through a point of the coarse mesh meets first.
func (s *seeker) first(p, face geom.Vec3, ahead, behind float64) (measure.Near, bool) {
	if s.aimed {
		return s.beam.First(p, ahead)
	}
	return s.First(p, face, alongCosine, ahead, behind, s.hint)
}

// texel finds what one texel shows: the mean of its samples. Where the first and the last
// one, at opposite corners, see one triangle, those between them are left out, and of one
// without textures what is in the middle is the mean.
func (b *baker) texel(i int, s *seeker) {
	c, n := &b.cells[i], max(1, b.o.Samples)
	face, part := b.faces[c.triangle], b.area/float64(n*n)
	first, seen := b.sample(b.part(c, 0, n), face, part, s)
	if n == 1 {
		if seen {
			b.look(&first, b.area, s)
			b.values[i], b.found[i] = s.value.keep(), true
		}
		return
	}
	last, ok := b.sample(b.part(c, n*n-1, n), face, part, s)
	alike := seen && ok && first.Hint == last.Hint
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
		between, ok := b.sample(b.part(c, k, n), face, part, s)
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

// seeThrough bounds how many gaps between leaves a ray goes through.
const seeThrough = 8

// sample finds the place that is seen at a point of the coarse mesh, with the normal of its
// triangle.
func (b *baker) sample(p, face geom.Vec3, area float64, s *seeker) (first measure.Near, found bool) {
	ahead := b.o.Ahead
	for range seeThrough {
		n, ok := s.first(p, face, ahead, b.o.Ahead)
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
