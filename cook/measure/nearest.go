package measure

import (
	"math"

	"github.com/untoldkit/untold/internal/geom"
)

// corners are the three corners of a triangle.
type corners [3]geom.Vec3

// hit is the point of a surface that is nearest to a query.
type hit struct {
	leaf int32      // position in leaf order, -1 for none
	d2   float64    // squared distance
	w    [3]float64 // barycentric coordinates
}

// nearest finds the point of the surface nearest to p. It looks at the
// triangle hint first, a position in leaf order or -1: a good one saves most
// of the work. It gives up as soon as the squared distance is at most enough,
// because the caller does not care below; 0 finds the very nearest.
func (x *Index) nearest(p geom.Vec3, hint int32, enough float64) hit {
	return x.nearestOf(p, hint, enough, math.Inf(1), nil, nil)
}

// nearestOf finds the nearest point whose squared distance is below a bound, of the
// triangles that a filter accepts; nil accepts all. A walk, which may be nil, saves the way
// down: what it leaves out is not nearer than the bound.
func (x *Index) nearestOf(p geom.Vec3, hint int32, enough, below float64, f *filter, w *Walk) hit {
	best := hit{leaf: -1, d2: below}
	if len(x.tris) == 0 {
		return best
	}
	if hint >= 0 && (f == nil || f.accepts(hint)) {
		if d2, w := x.tris[hint].nearest(&p); d2 < best.d2 {
			best = hit{hint, d2, w}
		}
	}
	type entry struct {
		node uint32
		d2   float64
	}
	var stack [maxStack]entry
	from := w.from(&p, math.Sqrt(best.d2))
	stack[0] = entry{from, x.nodes[from].distance2(&p)}
	for top := 1; top > 0 && best.d2 > enough; {
		top--
		e := stack[top]
		if e.d2 >= best.d2 {
			continue
		}
		n := &x.nodes[e.node]
		if n.count > 0 {
			for i := int32(n.next); i < int32(n.next+n.count); i++ {
				if i == hint || f != nil && !f.accepts(i) {
					continue
				}
				if d2, w := x.tris[i].nearest(&p); d2 < best.d2 {
					best = hit{i, d2, w}
				}
			}
			continue
		}
		a := entry{e.node + 1, x.nodes[e.node+1].distance2(&p)}
		b := entry{n.next, x.nodes[n.next].distance2(&p)}
		if a.d2 < b.d2 {
			a, b = b, a
		}
		if a.d2 < best.d2 { // the farther one waits
			stack[top] = a
			top++
		}
		if b.d2 < best.d2 {
			stack[top] = b
			top++
		}
	}
	return best
}

// distance2 returns the squared distance of p to the node's box.
func (n *node) distance2(p *geom.Vec3) float64 {
	// Of what is outside on either side, one is negative and counts as 0, without a branch
	// that nothing foretells. All is twice as much until the end.
	x, y, z := p[0], p[1], p[2]
	dx := positive(float64(n.min[0])-x) + positive(x-float64(n.max[0]))
	dy := positive(float64(n.min[1])-y) + positive(y-float64(n.max[1]))
	dz := positive(float64(n.min[2])-z) + positive(z-float64(n.max[2]))
	return float64((float64(dx*dx) + float64(dy*dy) + float64(dz*dz)) * 0.25)
}

// positive returns twice v, or 0 if v is negative.
func positive(v float64) float64 { return v + math.Abs(v) }

// nearest returns the squared distance of p to the triangle and the barycentric
// coordinates of the nearest point, by the regions of its corners, edges and
// face (Ericson, Real-Time Collision Detection, 2005, 5.1.5).
func (t *corners) nearest(p *geom.Vec3) (float64, [3]float64) {
	// Vectors would lie in memory: these are registers.
	ax, ay, az := t[0][0], t[0][1], t[0][2]
	abx, aby, abz := t[1][0]-ax, t[1][1]-ay, t[1][2]-az
	acx, acy, acz := t[2][0]-ax, t[2][1]-ay, t[2][2]-az
	apx, apy, apz := p[0]-ax, p[1]-ay, p[2]-az
	d1 := float64(abx*apx) + float64(aby*apy) + float64(abz*apz)
	d2 := float64(acx*apx) + float64(acy*apy) + float64(acz*apz)
	if d1 <= 0 && d2 <= 0 {
		return float64(apx*apx) + float64(apy*apy) + float64(apz*apz), [3]float64{1, 0, 0}
	}
	bpx, bpy, bpz := p[0]-t[1][0], p[1]-t[1][1], p[2]-t[1][2]
	d3 := float64(abx*bpx) + float64(aby*bpy) + float64(abz*bpz)
	d4 := float64(acx*bpx) + float64(acy*bpy) + float64(acz*bpz)
	if d3 >= 0 && d4 <= d3 {
		return float64(bpx*bpx) + float64(bpy*bpy) + float64(bpz*bpz), [3]float64{0, 1, 0}
	}
	cpx, cpy, cpz := p[0]-t[2][0], p[1]-t[2][1], p[2]-t[2][2]
	d5 := float64(abx*cpx) + float64(aby*cpy) + float64(abz*cpz)
	d6 := float64(acx*cpx) + float64(acy*cpy) + float64(acz*cpz)
	if d6 >= 0 && d5 <= d6 {
		return float64(cpx*cpx) + float64(cpy*cpy) + float64(cpz*cpz), [3]float64{0, 0, 1}
	}
	var w0, w1, w2 float64
	va, vb, vc := float64(d3*d6)-float64(d5*d4), float64(d5*d2)-float64(d1*d6), float64(d1*d4)-float64(d3*d2)
	switch {
	case vc <= 0 && d1 >= 0 && d3 <= 0:
		w1 = ratio(d1, d1-d3)
		w0 = 1 - w1
	case vb <= 0 && d2 >= 0 && d6 <= 0:
		w2 = ratio(d2, d2-d6)
		w0 = 1 - w2
	case va <= 0 && d4-d3 >= 0 && d5-d6 >= 0:
		w2 = ratio(d4-d3, (d4-d3)+(d5-d6))
		w1 = 1 - w2
	default:
		w1, w2 = ratio(vb, va+vb+vc), ratio(vc, va+vb+vc)
		w0 = 1 - w1 - w2
	}
	// The offset from the first corner keeps small distances exact far from
	// the origin.
	ex := apx - float64(w1*abx) - float64(w2*acx)
	ey := apy - float64(w1*aby) - float64(w2*acy)
	ez := apz - float64(w1*abz) - float64(w2*acz)
	return float64(ex*ex) + float64(ey*ey) + float64(ez*ez), [3]float64{w0, w1, w2}
}

// ratio is a / b, 0 for a triangle without extent.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

func sub(a, b *geom.Vec3) geom.Vec3 { return geom.Vec3{a[0] - b[0], a[1] - b[1], a[2] - b[2]} }

func dot(a, b *geom.Vec3) float64 {
	return float64(a[0]*b[0]) + float64(a[1]*b[1]) + float64(a[2]*b[2])
}
