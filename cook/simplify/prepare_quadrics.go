package simplify

import "math"

// Quadrics are assembled triangle by triangle: each adds the same plane and the
// same gradients to the vertices and wedges of its three corners.

// element is what attributes on a triangle need to know of it.
type element struct {
	// The gradient of an attribute, times weight, is u times its difference
	// along the first edge plus v times that along the edge to the third corner.
	ux, uy, uz, vx, vy, vz float32
	weight                 float32 // a third of the area
	inv                    float32 // 1 / weight
}

// addPlane looks at a triangle, adds the squared distance from its plane to the
// corners' quadrics, and a sixth of its normal to their linear parts for
// suspectFold, and reports whether it has an area. The normal is in double
// precision, as that of a needle is a small difference; the rest is products of
// that and the edges.
func (t *element) addPlane(a, b, c *[3]float32, qa, qb, qc *quadric32) bool {
	bx, by, bz := b[0]-a[0], b[1]-a[1], b[2]-a[2]
	cx, cy, cz := c[0]-a[0], c[1]-a[1], c[2]-a[2]
	n := vec{float64(bx), float64(by), float64(bz)}.cross(vec{float64(cx), float64(cy), float64(cz)})
	n2 := n.length2()
	if !(n2 > leastSquare) {
		spoil(qa, qb, qc)
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
	qa.addLinear(x, y, z)
	qb.addLinear(x, y, z)
	qc.addLinear(x, y, z)
	t.ux, t.uy, t.uz = float32(cy*z)-float32(cz*y), float32(cz*x)-float32(cx*z), float32(cx*y)-float32(cy*x)
	t.vx, t.vy, t.vz = float32(y*bz)-float32(z*by), float32(z*bx)-float32(x*bz), float32(x*by)-float32(y*bx)
	b2 := float32(bx*bx) + float32(by*by) + float32(bz*bz)
	c2 := float32(cx*cx) + float32(cy*cy) + float32(cz*cz)
	// No edge squared is longer than twice this sum.
	if long := float64(2 * (b2 + c2)); !(n2 >= float64(needle*long)*long) {
		x, y, z = cx-bx, cy-by, cz-bz
		long = float64(max(b2, c2, float32(x*x)+float32(y*y)+float32(z*z)))
		t.damp(float32(n2 / max(n2, float64(needle*long)*long)))
		spoil(qa, qb, qc) // its normal is not exact
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
func (t *element) addGradients(g gram, a, b, c *quadric32) {
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
func (q *quadric32) addSquare(xx, yy, zz, xy, xz, yz float32) {
	q.axx += xx
	q.ayy += yy
	q.azz += zz
	q.axy += xy
	q.axz += xz
	q.ayz += yz
}

// addLinear adds a linear part.
func (q *quadric32) addLinear(x, y, z float32) {
	q.bx += x
	q.by += y
	q.bz += z
}

// spoil makes suspectFold mark the vertices of a triangle without a normal.
func spoil(a, b, c *quadric32) {
	a.bx, b.bx, c.bx = nan, nan, nan
}

var nan = float32(math.NaN())

// buildQuadrics sums the quadrics of all triangles, strings the corners of each
// vertex into a ring, and marks vertices where triangles may be folded back. While
// it does, the wedges' sums of gradients lie where the attributes and slopes will
// be, in full.
func (s *Simplifier) buildQuadrics() {
	s.geo = make([]quadric32, len(s.vertices))
	s.wedgeQuadrics = make([]float32, len(s.wedgeVertex)*s.stride, len(s.wedgeVertex)*s.stride+recordSize)
	m := s.in.sanitize()
	mean := s.meanAttributes(m)
	cornerWedge, wedgeVertex, vertices, geo, next := s.cornerWedge, s.wedgeVertex, s.vertices, s.geo[:len(s.vertices)], s.next[:len(s.cornerWedge)]
	indices := m.Indices[:len(cornerWedge)]
	var t element
	var d record
	for c := 0; c < len(cornerWedge)-2; c += 3 {
		w0, w1, w2 := cornerWedge[c], cornerWedge[c+1], cornerWedge[c+2]
		if w0 == none {
			continue
		}
		p0, p1, p2 := wedgeVertex[w0], wedgeVertex[w1], wedgeVertex[w2]
		n0, n1, n2 := &vertices[p0], &vertices[p1], &vertices[p2]
		n0.append(uint32(c), w0, next)
		n1.append(uint32(c+1), w1, next)
		n2.append(uint32(c+2), w2, next)
		if !t.addPlane(&n0.pos, &n1.pos, &n2.pos, &geo[p0], &geo[p1], &geo[p2]) {
			continue
		}
		s.differences(m, indices[c], indices[c+1], indices[c+2], &d)
		g := t.addTo(s.record(w0), s.record(w1), s.record(w2), uint(s.stride), &d)
		t.addGradients(g, &n0.sum, &n1.sum, &n2.sum)
		if mean != nil {
			s.addWelded(m, c, &t, &d, mean)
		}
	}
	s.reduceWedges(m, mean)
	for i := range geo {
		g := &geo[i]
		vertices[i].sum.addSquare(g.axx, g.ayy, g.azz, g.axy, g.axz, g.ayz)
		vertices[i].suspectFold(g)
	}
}

// record starts with the stride numbers of a wedge in Simplifier.wedgeQuadrics, and is as
// long as any can be: an array needs no checks of bounds. There is room behind
// the last one.
type record [recordSize]float32

const recordSize = 1 + 3*maxAttributes

func (mt *metric) record(w uint32) *record {
	at := int(w) * mt.stride
	return (*record)(mt.wedgeQuadrics[at : at+recordSize])
}

// addTo adds a triangle to the wedges of its corners.
func (t *element) addTo(a, b, c *record, stride uint, d *record) (g gram) {
	a[0] += t.weight
	b[0] += t.weight
	c[0] += t.weight
	end := min(stride, uint(len(a)-2))
	for k := uint(1); k < end; k += 3 {
		u, v := d[k], d[k+1]
		if u == 0 && v == 0 {
			continue // as normals on flat faces
		}
		g.uu += float32(u * u)
		g.uv += float32(u * v)
		g.vv += float32(v * v)
		x := float32(t.ux*u) + float32(t.vx*v)
		a[k] += x
		b[k] += x
		c[k] += x
		y := float32(t.uy*u) + float32(t.vy*v)
		a[k+1] += y
		b[k+1] += y
		c[k+1] += y
		z := float32(t.uz*u) + float32(t.vz*v)
		a[k+2] += z
		b[k+2] += z
		c[k+2] += z
	}
	return g
}

// addWelded adds what else there is where vertices with different attributes may
// share a wedge: the differences from its mean are in the vertices' linear part. The
// constant part, a price already paid, is left out.
func (s *Simplifier) addWelded(m *Mesh, c int, t *element, d *record, mean []float32) {
	var own record
	for i := range 3 {
		w := s.cornerWedge[c+i]
		s.attributes(m, m.Indices[c+i], &own)
		of := mean[int(w)*(s.attributeCount+1)+1:]
		var x, y, z float32
		for i := range s.attributeCount {
			k := 1 + 3*i
			e := own[k] - of[i]
			u, v := float32(e*d[k]), float32(e*d[k+1])
			x += float32(t.ux*u) + float32(t.vx*v)
			y += float32(t.uy*u) + float32(t.vy*v)
			z += float32(t.uz*u) + float32(t.vz*v)
		}
		p := &s.vertices[s.wedgeVertex[w]].sum
		p.bx += x
		p.by += y
		p.bz += z
	}
}

// reduceWedges makes gradients of the wedges' sums, takes from the vertices what the
// best attributes at each point save, and gives the wedges their attributes: mean
// ones, if there are any, or those of their vertices.
func (s *Simplifier) reduceWedges(m *Mesh, mean []float32) {
	if s.attributeCount == 0 {
		return
	}
	for w, p := range s.wedgeVertex {
		q := s.record(uint32(w))
		q.divide(uint(s.stride), &s.vertices[p].sum)
		if mean == nil {
			s.attributes(m, s.wedges.source(uint32(w)), q)
			continue
		}
		for k, x := range mean[w*(s.attributeCount+1)+1:][:s.attributeCount] {
			q[1+3*k] = x
		}
	}
}

// divide makes slopes of the sums of gradients, which it divides by the area, and
// takes from a quadric what they save. Where sums are too large there are none.
func (r *record) divide(stride uint, sum *quadric32) {
	inv := float32(0)
	if r[0] > 0 {
		inv = 1 / r[0]
	}
	end := min(stride, uint(len(r)-2))
	var xx, yy, zz, xy, xz, yz float32
	for k := uint(1); k < end; k += 3 {
		x, y, z := r[k], r[k+1], r[k+2]
		if x == 0 && y == 0 && z == 0 {
			continue
		}
		mx, my, mz := float32(x*inv), float32(y*inv), float32(z*inv)
		xx -= float32(mx * x)
		yy -= float32(my * y)
		zz -= float32(mz * z)
		xy -= float32(mx * y)
		xz -= float32(mx * z)
		yz -= float32(my * z)
		r[k+1], r[k+2] = slopeOf(mx, my, mz)
	}
	if !(xx+yy+zz >= -math.MaxFloat32) {
		clear(r[1:min(stride, uint(len(r)))])
		return
	}
	sum.addSquare(xx, yy, zz, xy, xz, yz)
}
