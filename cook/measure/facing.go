package measure

import (
	"math"

	"github.com/untoldkit/untold/internal/geom"
)

// Facing finds nearest points among the triangles that face along a direction. It
// is safe for concurrent use.
type Facing struct {
	x       *Index
	normals []geom.Vec3 // in leaf order, of unit length, or 0 for a triangle without area
	both    []bool      // in leaf order: it is seen from both sides
}

// Near is a point of a surface. The zero value of Hint is no hint.
type Near struct {
	Triangle  int
	Weights   [3]float64 // of the triangle's corners
	Distance2 float64    // squared, metres
	Hint      Hint       // speeds up a query nearby
}

// Hint remembers where a query ended.
type Hint int32

// NewFacing prepares queries. Both tells which triangles are seen from both sides;
// nil stands for none.
func NewFacing(x *Index, both func(triangle int) bool) *Facing {
	f := &Facing{x: x, normals: make([]geom.Vec3, len(x.tris)), both: make([]bool, len(x.tris))}
	for i := range x.tris {
		t := &x.tris[i]
		f.normals[i] = t[1].Sub(t[0]).Cross(t[2].Sub(t[0])).Normalize(1e-30, geom.Vec3{})
		f.both[i] = both != nil && both(int(x.order[i]))
	}
	return f
}

// filter accepts triangles whose cosine to a direction of unit length is at least so
// much, or those of a list.
type filter struct {
	*Facing
	along  geom.Vec3
	cosine float64
	only   []bool // in leaf order; nil: directions count
}

func (f *filter) accepts(leaf int32) bool {
	if f.only != nil {
		return f.only[leaf]
	}
	d := dot(&f.normals[leaf], &f.along)
	return d >= f.cosine || f.both[leaf] && -d >= f.cosine
}

// AnyCosine is below that of opposite vectors, however they are rounded: all triangles
// have as much.
const AnyCosine = -2

// filter returns what accepts the triangles whose cosine is at least so much; nil for all.
func (f *Facing) filter(along geom.Vec3, cosine float64) *filter {
	if cosine <= AnyCosine {
		return nil
	}
	return &filter{Facing: f, along: along, cosine: cosine}
}

// Nearest returns the point nearest to p of the triangles whose cosine to a unit
// vector is at least so much. It reports false if there is none within a distance
// in metres.
func (f *Facing) Nearest(p, along geom.Vec3, cosine, within float64, hint Hint) (Near, bool) {
	return f.nearestFrom(nil, p, along, cosine, within, hint)
}

func (f *Facing) nearestFrom(w *Walk, p, along geom.Vec3, cosine, within float64, hint Hint) (Near, bool) {
	return f.nearestOf(w, p, along, cosine, 0, notAbove(within), hint)
}

// notAbove returns the least number that the square of a distance within metres is below.
func notAbove(within float64) float64 { return math.Nextafter(float64(within*within), math.Inf(1)) }

func (f *Facing) nearestOf(w *Walk, p, along geom.Vec3, cosine, enough, below float64, hint Hint) (Near, bool) {
	best := f.x.nearestOf(p, int32(hint)-1, enough, below, f.filter(along, cosine), w)
	if best.leaf < 0 {
		return Near{}, false
	}
	return Near{int(f.x.order[best.leaf]), best.w, best.d2, Hint(best.leaf + 1)}, true
}

// First returns the first point that a ray meets of the triangles whose cosine to a
// unit vector is at least so much. The ray comes from a point p moved ahead metres
// along the vector, against which it runs, and ends behind metres behind p. Near has
// the squared distance from p; of triangles that are met at one point the first counts.
// It reports false if the ray meets none.
func (f *Facing) First(p, along geom.Vec3, cosine, ahead, behind float64, hint Hint) (Near, bool) {
	return f.firstFrom(nil, p, along, cosine, ahead, behind, hint)
}

func (f *Facing) firstFrom(walk *Walk, p, along geom.Vec3, cosine, ahead, behind float64, hint Hint) (Near, bool) {
	x := f.x
	if len(x.tris) == 0 {
		return Near{}, false
	}
	only := filter{Facing: f, along: along, cosine: cosine}
	found := meeting{at: -behind, leaf: -1}
	known := int32(hint) - 1
	if known >= 0 && only.accepts(known) {
		found.meet(x, known, &p, &along, ahead)
	}
	// The way is short against the surface: few boxes touch the one round it. What is met
	// behind the hint does not count any more, but for what rounds otherwise.
	behind = min(behind, float64(1e-6*(math.Abs(ahead)+math.Abs(behind)))-found.at)
	var lo, hi [3]float32
	middle, half := p, float64(0.5*(ahead-behind))
	for k := range 3 {
		middle[k] += float64(half * along[k])
		a, b := p[k]-float64(behind*along[k]), p[k]+float64(ahead*along[k])
		slack := float64(1e-12 * (math.Abs(p[k]) + math.Abs(a) + math.Abs(b)))
		lo[k], hi[k] = wellBelow(min(a, b)-slack), -wellBelow(-(max(a, b) + slack))
	}
	var stack [maxStack]uint32
	stack[0] = walk.from(&middle, math.Abs(float64(0.5*(ahead+behind))))
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
			if i != known && only.accepts(i) {
				found.meet(x, i, &p, &along, ahead)
			}
		}
	}
	if found.leaf < 0 {
		return Near{}, false
	}
	w := [3]float64{1 - found.u - found.v, found.u, found.v}
	return Near{int(x.order[found.leaf]), w, float64(found.at * found.at), Hint(found.leaf + 1)}, true
}

// meeting is the first point that a ray meets, of those that were looked at.
type meeting struct {
	at   float64 // how far along the vector
	leaf int32   // -1 for none
	u, v float64 // weights of the second and third corner
}

// meet looks at a triangle in leaf order, no farther than ahead.
func (m *meeting) meet(x *Index, i int32, p, along *geom.Vec3, ahead float64) {
	t, u, v, ok := x.tris[i].crosses(p, along)
	if ok && t <= ahead && (t > m.at || t == m.at && (m.leaf < 0 || x.order[i] < x.order[m.leaf])) {
		*m = meeting{t, i, u, v}
	}
}

// wellBelow returns a number in single precision that is below v, by a few units of its
// last place.
func wellBelow(v float64) float32 { return float32(v - float64(2e-7*math.Abs(v)) - 1e-37) }

// line is a part of a straight line that is held against boxes.
type line struct {
	above, below geom.Vec3 // a point of it, with room for the rounding of what is compared
	inverse      geom.Vec3 // of the direction
	from, to     float64   // metres from the point
}

// line prepares a line from a point along a direction of unit length.
func (x *Index) line(p, dir *geom.Vec3, from, to float64) line {
	l := line{inverse: geom.Vec3{1 / dir[0], 1 / dir[1], 1 / dir[2]}, from: from, to: to} // infinite along an axis
	for k := range 3 {
		lo, hi := float64(x.nodes[0].min[k]), float64(x.nodes[0].max[k])
		slack := float64(1e-12 * (float64(3*math.Abs(p[k])) + float64(2*max(math.Abs(lo), math.Abs(hi)))))
		l.above[k], l.below[k] = p[k]+slack, p[k]-slack
	}
	return l
}

// meets reports whether some of a line lies in the node's box.
func (n *node) meets(l *line) bool {
	from, to := l.from, l.to
	for k := range 3 {
		lo, hi := float64(n.min[k])-l.above[k], float64(n.max[k])-l.below[k]
		inverse := l.inverse[k]
		if math.IsInf(inverse, 0) { // no way leads in or out here
			if lo > 0 || hi < 0 {
				return false
			}
			continue
		}
		a, b := float64(lo*inverse), float64(hi*inverse)
		if inverse < 0 {
			a, b = b, a
		}
		if a > from {
			from = a
		}
		if b < to {
			to = b
		}
		if from > to {
			return false
		}
	}
	return true
}

// Blocked reports whether a triangle lies on the way from a point along a direction
// of unit length, farther than from and nearer than to, in metres.
func (x *Index) Blocked(p, dir geom.Vec3, from, to float64) bool {
	return x.blockedFrom(nil, p, dir, from, to)
}

func (x *Index) blockedFrom(w *Walk, p, dir geom.Vec3, from, to float64) bool {
	if len(x.tris) == 0 {
		return false
	}
	way := x.line(&p, &dir, from, to)
	var stack [maxStack]uint32
	stack[0] = w.from(&p, to)
	for top := 1; top > 0; {
		top--
		at := stack[top]
		n := &x.nodes[at]
		if !n.meets(&way) {
			continue
		}
		if n.count == 0 {
			stack[top], stack[top+1] = n.next, at+1
			top += 2
			continue
		}
		for i := n.next; i < n.next+n.count; i++ {
			if t, _, _, ok := x.tris[i].crosses(&p, &dir); ok && t > from && t < to {
				return true
			}
		}
	}
	return false
}

// crosses returns how far along a line the triangle is, and the weights of its second
// and third corner there. It reports false if the line misses it (Möller and Trumbore,
// Fast, Minimum Storage Ray/Triangle Intersection, 1997).
func (t *corners) crosses(p, dir *geom.Vec3) (at, u, v float64, ok bool) {
	// Vectors would lie in memory: these are registers.
	ax, ay, az := t[0][0], t[0][1], t[0][2]
	abx, aby, abz := t[1][0]-ax, t[1][1]-ay, t[1][2]-az
	acx, acy, acz := t[2][0]-ax, t[2][1]-ay, t[2][2]-az
	dx, dy, dz := dir[0], dir[1], dir[2]
	hx := float64(dy*acz) - float64(dz*acy)
	hy := float64(dz*acx) - float64(dx*acz)
	hz := float64(dx*acy) - float64(dy*acx)
	det := float64(abx*hx) + float64(aby*hy) + float64(abz*hz)
	if det == 0 {
		return 0, 0, 0, false
	}
	apx, apy, apz := p[0]-ax, p[1]-ay, p[2]-az
	// Most triangles are missed: that is known without a division.
	size := math.Abs(det)
	nu := float64(apx*hx) + float64(apy*hy) + float64(apz*hz)
	if det < 0 {
		nu = -nu
	}
	if nu < 0 || nu > size {
		return 0, 0, 0, false
	}
	qx := float64(apy*abz) - float64(apz*aby)
	qy := float64(apz*abx) - float64(apx*abz)
	qz := float64(apx*aby) - float64(apy*abx)
	nv := float64(dx*qx) + float64(dy*qy) + float64(dz*qz)
	if det < 0 {
		nv = -nv
	}
	if nv < 0 || nv > size {
		return 0, 0, 0, false
	}
	if u, v = nu/size, nv/size; u+v > 1 {
		return 0, 0, 0, false
	}
	return (float64(acx*qx) + float64(acy*qy) + float64(acz*qz)) / det, u, v, true
}
