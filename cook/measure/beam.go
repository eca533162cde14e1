package measure

import (
	"math"

	"github.com/untoldkit/untold/internal/geom"
)

// Beam is a bundle of rays close together that run against one vector: which triangles any
// of them may meet is found once for all. The zero value has none.
type Beam struct {
	f         *Facing
	along     geom.Vec3
	right, up geom.Vec3 // across it
	middle    geom.Vec3 // what lies across and along is counted from here
	behind    float64
	met       []crossing // what reaches farthest along the vector first
}

// crossing is a triangle that a beam may meet, with what it covers across it.
type crossing struct {
	lo, hi [2]float64
	top    float64 // how far along the vector it reaches
	leaf   int32
}

// beamMost is how many triangles a beam has at most: with more, single rays ask less.
const beamMost = 48

// Aim prepares a beam for First through points within a box, with at most so much ahead.
// It reports false where the beam would meet too many triangles.
func (w *Walk) Aim(b *Beam, through *geom.Box, along geom.Vec3, cosine, ahead, behind float64) bool {
	b.f, b.along, b.behind, b.met = w.f, along, behind, b.met[:0]
	x := w.f.x
	if len(x.tris) == 0 {
		return true
	}
	axis := geom.Vec3{0, 1, 0}
	if math.Abs(along[1]) > 0.9 {
		axis = geom.Vec3{1, 0, 0}
	}
	b.right = axis.Cross(along).Normalize(0, geom.Vec3{0, 0, 1})
	b.up = along.Cross(b.right)
	b.middle = through.Center()
	size := through.Size()
	radius := float64(0.5 * size.Len() * (1 + 1e-9))
	// The beam across and along, and the box round it.
	var lo, hi [3]float32
	centre, half := b.middle, float64(0.5*(ahead-behind))
	wide := [2]float64{}
	for k := range 3 {
		wide[0] += float64(0.5 * size[k] * math.Abs(b.right[k]))
		wide[1] += float64(0.5 * size[k] * math.Abs(b.up[k]))
		centre[k] += float64(half * along[k])
		p, q := float64(ahead*along[k]), -float64(behind*along[k])
		from, to := through.Min[k]+min(p, q), through.Max[k]+max(p, q)
		slack := float64(1e-12 * (math.Abs(from) + math.Abs(to)))
		lo[k], hi[k] = wellBelow(from-slack), -wellBelow(-(to + slack))
	}
	far := max(math.Abs(ahead), math.Abs(behind)) + radius
	only := filter{Facing: w.f, along: along, cosine: cosine}
	var stack [maxStack]uint32
	stack[0] = w.from(&centre, radius+math.Abs(float64(0.5*(ahead+behind))))
	for top := 1; top > 0; {
		top--
		at := stack[top]
		n := &x.nodes[at]
		if n.min[0] > hi[0] || n.max[0] < lo[0] || n.min[1] > hi[1] || n.max[1] < lo[1] || n.min[2] > hi[2] || n.max[2] < lo[2] {
			continue
		}
		if n.count == 0 {
			stack[top], stack[top+1] = n.next, at+1
			top += 2
			continue
		}
		for i := int32(n.next); i < int32(n.next+n.count); i++ {
			if !only.accepts(i) {
				continue
			}
			c, ok := b.across(i, &wide, far)
			if !ok {
				continue
			}
			if len(b.met) == beamMost {
				return false
			}
			b.met = append(b.met, c)
		}
	}
	for i := 1; i < len(b.met); i++ { // few, of which many stand in order
		c, k := b.met[i], i
		for ; k > 0 && b.met[k-1].top < c.top; k-- {
			b.met[k] = b.met[k-1]
		}
		b.met[k] = c
	}
	return true
}

// across finds what a triangle covers across the beam, and reports whether this reaches into
// the beam and lies no farther away along it.
func (b *Beam) across(i int32, wide *[2]float64, far float64) (c crossing, ok bool) {
	t := &b.f.x.tris[i]
	c = crossing{lo: [2]float64{math.Inf(1), math.Inf(1)}, hi: [2]float64{math.Inf(-1), math.Inf(-1)}, top: math.Inf(-1), leaf: i}
	bottom := math.Inf(1)
	for k := range t {
		d := sub(&t[k], &b.middle)
		u, v, z := dot(&d, &b.right), dot(&d, &b.up), dot(&d, &b.along)
		c.lo[0], c.hi[0] = min(c.lo[0], u), max(c.hi[0], u)
		c.lo[1], c.hi[1] = min(c.lo[1], v), max(c.hi[1], v)
		c.top, bottom = max(c.top, z), min(bottom, z)
	}
	// With room for how crosses rounds.
	slack := float64(1e-9 * (max(c.hi[0], -c.lo[0], c.hi[1], -c.lo[1], c.top, -bottom) + far))
	c.lo[0], c.lo[1], c.hi[0], c.hi[1], c.top = c.lo[0]-slack, c.lo[1]-slack, c.hi[0]+slack, c.hi[1]+slack, c.top+slack
	return c, c.lo[0] <= wide[0] && c.hi[0] >= -wide[0] && c.lo[1] <= wide[1] && c.hi[1] >= -wide[1] && bottom-slack <= far && c.top >= -far
}

// First is Walk's for a ray of the beam through a point, from so many metres ahead.
func (b *Beam) First(p geom.Vec3, ahead float64) (Near, bool) {
	d := sub(&p, &b.middle)
	u, v, z := dot(&d, &b.right), dot(&d, &b.up), dot(&d, &b.along)
	found := meeting{at: -b.behind, leaf: -1}
	for k := range b.met {
		c := &b.met[k]
		if c.top-z < found.at {
			break
		}
		if u >= c.lo[0] && u <= c.hi[0] && v >= c.lo[1] && v <= c.hi[1] {
			found.meet(b.f.x, c.leaf, &p, &b.along, ahead)
		}
	}
	if found.leaf < 0 {
		return Near{}, false
	}
	w := [3]float64{1 - found.u - found.v, found.u, found.v}
	return Near{int(b.f.x.order[found.leaf]), w, float64(found.at * found.at), Hint(found.leaf + 1)}, true
}
