package simplify

import "math"

// Quadrics are assembled triangle by triangle: each adds the same plane and the
// same gradients to the places and wedges of its three corners.

// element is what attributes on a triangle need to know of it.
type element struct {
	// The gradient of an attribute, times weight, is u times its difference
	// along the first edge plus v times that along the edge to the third corner.
	ux, uy, uz, vx, vy, vz float32
	weight                 float32 // a third of the area
	inv                    float32 // 1 / weight
}

// addPlane looks at a triangle, adds the squared distance from its plane to the
// corners' quadrics, and reports whether it has an area. The normal is in double
// precision, as that of a needle is a small difference; the rest is products of
// that and the edges.
func (t *element) addPlane(a, b, c *[3]float32, qa, qb, qc *quad) bool {
	bx, by, bz := b[0]-a[0], b[1]-a[1], b[2]-a[2]
	cx, cy, cz := c[0]-a[0], c[1]-a[1], c[2]-a[2]
	n := vec{float64(bx), float64(by), float64(bz)}.cross(vec{float64(cx), float64(cy), float64(cz)})
	n2 := n.length2()
	if !(n2 > leastSquare) {
		return false
	}
	size := math.Sqrt(n2)
	f := 1 / float64(6*size)
	m := n.scale(f) // a sixth of the unit normal
	xx, yy, zz := float32(n.x*m.x), float32(n.y*m.y), float32(n.z*m.z)
	xy, xz, yz := float32(n.x*m.y), float32(n.x*m.z), float32(n.y*m.z)
	qa.addSquare(xx, yy, zz, xy, xz, yz)
	qb.addSquare(xx, yy, zz, xy, xz, yz)
	qc.addSquare(xx, yy, zz, xy, xz, yz)
	t.weight, t.inv = float32(size*(1.0/6)), float32(36*f)

	x, y, z := float32(m.x), float32(m.y), float32(m.z)
	t.ux, t.uy, t.uz = float32(cy*z)-float32(cz*y), float32(cz*x)-float32(cx*z), float32(cx*y)-float32(cy*x)
	t.vx, t.vy, t.vz = float32(y*bz)-float32(z*by), float32(z*bx)-float32(x*bz), float32(x*by)-float32(y*bx)
	b2 := float32(bx*bx) + float32(by*by) + float32(bz*bz)
	c2 := float32(cx*cx) + float32(cy*cy) + float32(cz*cz)
	// No edge squared is longer than twice this sum.
	if long := float64(2 * (b2 + c2)); !(n2 >= float64(needle*long)*long) {
		x, y, z = cx-bx, cy-by, cz-bz
		long = float64(max(b2, c2, float32(x*x)+float32(y*y)+float32(z*z)))
		t.damp(float32(n2 / max(n2, float64(needle*long)*long)))
	}
	return true
}

// leastSquare, of twice the area, leaves single precision room for its inverse.
const leastSquare = 1e-60

// needle bounds the gradients of thin triangles, which would be wild: the
// square of the height to the length.
const needle = 1e-4

func (t *element) damp(f float32) {
	t.ux, t.uy, t.uz = float32(t.ux*f), float32(t.uy*f), float32(t.uz*f)
	t.vx, t.vy, t.vz = float32(t.vx*f), float32(t.vy*f), float32(t.vz*f)
}

// gram is the sum over attributes of the squares and the product of their two
// differences along a triangle's edges.
type gram struct{ uu, uv, vv float32 }

// addGradients adds the quadratic part of the sum of squares of all attributes'
// linear functions, times weight.
func (t *element) addGradients(g gram, a, b, c *quad) {
	// Gradients without weight, and what u and v are to be multiplied with.
	x, y, z := float32(t.ux*t.inv), float32(t.uy*t.inv), float32(t.uz*t.inv)
	px, py, pz := float32(x*g.uu), float32(y*g.uu), float32(z*g.uu)
	qx, qy, qz := float32(x*g.uv), float32(y*g.uv), float32(z*g.uv)
	x, y, z = float32(t.vx*t.inv), float32(t.vy*t.inv), float32(t.vz*t.inv)
	px, py, pz = px+float32(x*g.uv), py+float32(y*g.uv), pz+float32(z*g.uv)
	qx, qy, qz = qx+float32(x*g.vv), qy+float32(y*g.vv), qz+float32(z*g.vv)

	xx := float32(t.ux*px) + float32(t.vx*qx)
	yy := float32(t.uy*py) + float32(t.vy*qy)
	zz := float32(t.uz*pz) + float32(t.vz*qz)
	xy := float32(t.ux*py) + float32(t.vx*qy)
	xz := float32(t.ux*pz) + float32(t.vx*qz)
	yz := float32(t.uy*pz) + float32(t.vy*qz)
	a.addSquare(xx, yy, zz, xy, xz, yz)
	b.addSquare(xx, yy, zz, xy, xz, yz)
	c.addSquare(xx, yy, zz, xy, xz, yz)
}

// addSquare adds a quadratic part. Its numbers are on their own, as structs of
// more than four are not kept in registers.
func (q *quad) addSquare(xx, yy, zz, xy, xz, yz float32) {
	q.axx += xx
	q.ayy += yy
	q.azz += zz
	q.axy += xy
	q.axz += xz
	q.ayz += yz
}

// buildQuadrics sums the quadrics of all triangles.
func (s *Simplifier) buildQuadrics() {
	s.geo = make([]quad, len(s.nodes))
	s.wq = make([]float32, len(s.wv)*s.stride, len(s.wv)*s.stride+len(record{}))
	s.meanAttributes()
	welded := s.opt.Seams == SeamsWeld
	cw, wv, nodes, geo := s.cw, s.wv, s.nodes, s.geo[:len(s.nodes)]
	var t element
	for c := 0; c+2 < len(cw); c += 3 {
		w0, w1, w2 := cw[c], cw[c+1], cw[c+2]
		if w0 == none {
			continue
		}
		p0, p1, p2 := wv[w0], wv[w1], wv[w2]
		n0, n1, n2 := &nodes[p0], &nodes[p1], &nodes[p2]
		if !t.addPlane(&n0.pos, &n1.pos, &n2.pos, &geo[p0], &geo[p1], &geo[p2]) {
			continue
		}
		var g gram
		if welded {
			g = s.addWelded(c, &t)
		} else {
			g = t.addTo(s.record(w0), s.record(w1), s.record(w2), s.stride)
		}
		t.addGradients(g, &n0.sum, &n1.sum, &n2.sum)
	}
	s.reduceWedges()
	for i := range geo {
		g := &geo[i]
		nodes[i].sum.addSquare(g.axx, g.ayy, g.azz, g.axy, g.axz, g.ayz)
	}
}

// record starts with the stride numbers of a wedge in Simplifier.wq, and is as
// long as any can be: an array needs no checks of bounds. There is room behind
// the last one.
type record [1 + 4*maxAttributes]float32

func (s *Simplifier) record(w uint32) *record {
	at := int(w) * s.stride
	return (*record)(s.wq[at : at+len(record{})])
}

// addTo adds a triangle to the wedges of its corners.
func (t *element) addTo(a, b, c *record, stride int) (g gram) {
	a[0] += t.weight
	b[0] += t.weight
	c[0] += t.weight
	end := min(uint(stride), uint(len(a)-3))
	for k := uint(1); k < end; k += 4 {
		u, v := b[k]-a[k], c[k]-a[k]
		g.uu += float32(u * u)
		g.uv += float32(u * v)
		g.vv += float32(v * v)
		x := float32(t.ux*u) + float32(t.vx*v)
		a[k+1] += x
		b[k+1] += x
		c[k+1] += x
		y := float32(t.uy*u) + float32(t.vy*v)
		a[k+2] += y
		b[k+2] += y
		c[k+2] += y
		z := float32(t.uz*u) + float32(t.vz*v)
		a[k+3] += z
		b[k+3] += z
		c[k+3] += z
	}
	return g
}

// addWelded is addTo where vertices with different attributes may share a
// wedge: the differences from that are in the places' linear part. The constant
// part, a price already paid, is left out. The wedges have their areas already.
func (s *Simplifier) addWelded(c int, t *element) (g gram) {
	var at [3][maxAttributes]float64
	for i := range at {
		s.attributes(s.in.Indices[c+i], &at[i])
	}
	for k := range s.k {
		u, v := float32(at[1][k]-at[0][k]), float32(at[2][k]-at[0][k])
		g.uu += float32(u * u)
		g.uv += float32(u * v)
		g.vv += float32(v * v)
		x := float32(t.ux*u) + float32(t.vx*v)
		y := float32(t.uy*u) + float32(t.vy*v)
		z := float32(t.uz*u) + float32(t.vz*v)
		for i := range at {
			w := s.cw[c+i]
			r := (*[4]float32)(s.record(w)[1+4*k:])
			r[1] += x
			r[2] += y
			r[3] += z
			p, e := &s.nodes[s.wv[w]].sum, float32(at[i][k]-float64(r[0]))
			p.bx += float32(e * x)
			p.by += float32(e * y)
			p.bz += float32(e * z)
		}
	}
	return g
}

// reduceWedges divides the wedges' sums of gradients by their areas, and takes
// from the places what the best attributes at each point save.
func (s *Simplifier) reduceWedges() {
	if s.k == 0 {
		return
	}
	end := min(uint(s.stride), uint(len(record{})-3))
	for w, p := range s.wv {
		q := s.record(uint32(w))
		if !(q[0] > 0) {
			continue
		}
		inv := 1 / q[0]
		var xx, yy, zz, xy, xz, yz float32
		for k := uint(1); k < end; k += 4 {
			x, y, z := q[k+1], q[k+2], q[k+3]
			mx, my, mz := float32(x*inv), float32(y*inv), float32(z*inv)
			q[k+1], q[k+2], q[k+3] = mx, my, mz
			xx -= float32(mx * x)
			yy -= float32(my * y)
			zz -= float32(mz * z)
			xy -= float32(mx * y)
			xz -= float32(mx * z)
			yz -= float32(my * z)
		}
		s.nodes[p].sum.addSquare(xx, yy, zz, xy, xz, yz)
	}
}
