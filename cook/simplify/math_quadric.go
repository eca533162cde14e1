package simplify

// quadric32 is a quadratic function of a point y, y'Ay + 2b'y + c, with symmetric
// A. Its origin is a vertex: numbers stay small there, so that single
// precision stores it without loss that matters.
type quadric32 struct {
	axx, ayy, azz, axy, axz, ayz float32
	bx, by, bz                   float32
	c                            float32
}

// quadric is a quadric32 in double precision, for calculations.
type quadric struct {
	axx, ayy, azz, axy, axz, ayz float64
	b                            vec
	c                            float64
}

func (q *quadric32) double() quadric {
	return quadric{
		float64(q.axx), float64(q.ayy), float64(q.azz), float64(q.axy), float64(q.axz), float64(q.ayz),
		vec{float64(q.bx), float64(q.by), float64(q.bz)},
		float64(q.c),
	}
}

func (f *quadric) single() quadric32 {
	return quadric32{
		float32(f.axx), float32(f.ayy), float32(f.azz), float32(f.axy), float32(f.axz), float32(f.ayz),
		float32(f.b.x), float32(f.b.y), float32(f.b.z), float32(f.c),
	}
}

// mul returns A v.
func (f *quadric) mul(v vec) vec {
	return vec{
		float64(f.axx*v.x) + float64(f.axy*v.y) + float64(f.axz*v.z),
		float64(f.axy*v.x) + float64(f.ayy*v.y) + float64(f.ayz*v.z),
		float64(f.axz*v.x) + float64(f.ayz*v.y) + float64(f.azz*v.z),
	}
}

// at returns the value at a point.
func (f *quadric) at(v vec) float64 {
	return v.dot(f.mul(v).add(f.b).add(f.b)) + f.c
}

// recentre moves the origin to o: the same function of points relative to it.
func (f *quadric) recentre(o vec) {
	ao := f.mul(o)
	f.c += o.dot(ao.add(f.b).add(f.b))
	f.b = f.b.add(ao)
}

func (f *quadric) addSingle(q *quadric32) {
	f.axx += float64(q.axx)
	f.ayy += float64(q.ayy)
	f.azz += float64(q.azz)
	f.axy += float64(q.axy)
	f.axz += float64(q.axz)
	f.ayz += float64(q.ayz)
	f.b.x += float64(q.bx)
	f.b.y += float64(q.by)
	f.b.z += float64(q.bz)
	f.c += float64(q.c)
}

// addSquare adds w (g'y + d)^2.
func (f *quadric) addSquare(g vec, d, w float64) {
	wg := g.scale(w)
	f.axx += float64(wg.x * g.x)
	f.ayy += float64(wg.y * g.y)
	f.azz += float64(wg.z * g.z)
	f.axy += float64(wg.x * g.y)
	f.axz += float64(wg.x * g.z)
	f.ayz += float64(wg.y * g.z)
	f.b = f.b.add(wg.scale(d))
	f.c += float64(float64(w*d) * d)
}

// add adds a quadric.
func (q *quadric32) add(f *quadric) {
	q.axx += float32(f.axx)
	q.ayy += float32(f.ayy)
	q.azz += float32(f.azz)
	q.axy += float32(f.axy)
	q.axz += float32(f.axz)
	q.ayz += float32(f.ayz)
	q.bx += float32(f.b.x)
	q.by += float32(f.b.y)
	q.bz += float32(f.b.z)
	q.c += float32(f.c)
}

// take adds another quadric and moves the origin, which lies at the given
// points relative to the present ones.
func (q *quadric32) take(o *quadric32, at, off vec) {
	xx, yy, zz := float64(q.axx), float64(q.ayy), float64(q.azz)
	xy, xz, yz := float64(q.axy), float64(q.axz), float64(q.ayz)
	bx, by, bz := float64(q.bx), float64(q.by), float64(q.bz)
	ax := float64(xx*at.x) + float64(xy*at.y) + float64(xz*at.z) + bx
	ay := float64(xy*at.x) + float64(yy*at.y) + float64(yz*at.z) + by
	az := float64(xz*at.x) + float64(yz*at.y) + float64(zz*at.z) + bz
	c := float64(at.x*(ax+bx)) + float64(at.y*(ay+by)) + float64(at.z*(az+bz)) + float64(q.c)
	ux, uy, uz := float64(o.axx), float64(o.ayy), float64(o.azz)
	q.axx, q.ayy, q.azz = float32(xx+ux), float32(yy+uy), float32(zz+uz)
	vx, vy, vz := float64(o.axy), float64(o.axz), float64(o.ayz)
	q.axy, q.axz, q.ayz = float32(xy+vx), float32(xz+vy), float32(yz+vz)
	bx, by, bz = float64(o.bx), float64(o.by), float64(o.bz)
	wx := float64(ux*off.x) + float64(vx*off.y) + float64(vy*off.z) + bx
	wy := float64(vx*off.x) + float64(uy*off.y) + float64(vz*off.z) + by
	wz := float64(vy*off.x) + float64(vz*off.y) + float64(uz*off.z) + bz
	q.bx, q.by, q.bz = float32(ax+wx), float32(ay+wy), float32(az+wz)
	q.c = float32(c + float64(off.x*(wx+bx)) + float64(off.y*(wy+by)) + float64(off.z*(wz+bz)) + float64(o.c))
}

// least returns the point where f is least, as near to m as f leaves open: on
// planes and straight creases that is a plane or a line of points. It solves
// for f plus a weak pull towards m, twice, the second time towards the first
// solution, which takes the bias away and leaves still what f does not move.
func (f *quadric) least(m vec) vec {
	xx, yy, zz, xy, xz, yz := f.axx, f.ayy, f.azz, f.axy, f.axz, f.ayz
	pull := float64((xx + yy + zz) * placementPull)
	// A + pull, and its inverse by cofactors: one division, and nothing that
	// waits long for something else.
	px, py, pz := xx+pull, yy+pull, zz+pull
	cxx := float64(py*pz) - float64(yz*yz)
	cxy := float64(xz*yz) - float64(xy*pz)
	cxz := float64(xy*yz) - float64(xz*py)
	cyy := float64(px*pz) - float64(xz*xz)
	cyz := float64(xy*xz) - float64(px*yz)
	czz := float64(px*py) - float64(xy*xy)
	det := float64(px*cxx) + float64(xy*cxy) + float64(xz*cxz)
	if !(px > 0 && czz > 0 && det > 0) {
		return m
	}
	inv := 1 / det
	rx := (float64(xx*m.x) + float64(xy*m.y)) + (float64(xz*m.z) + f.b.x)
	ry := (float64(xy*m.x) + float64(yy*m.y)) + (float64(yz*m.z) + f.b.y)
	rz := (float64(xz*m.x) + float64(yz*m.y)) + (float64(zz*m.z) + f.b.z)
	x := float64((float64(cxx*rx) + float64(cxy*ry) + float64(cxz*rz)) * inv)
	y := float64((float64(cxy*rx) + float64(cyy*ry) + float64(cyz*rz)) * inv)
	z := float64((float64(cxz*rx) + float64(cyz*ry) + float64(czz*rz)) * inv)
	// The residual of this solution is the pull times the step.
	inv = float64(inv * pull)
	return vec{
		m.x - x - float64((float64(cxx*x)+float64(cxy*y)+float64(cxz*z))*inv),
		m.y - y - float64((float64(cxy*x)+float64(cyy*y)+float64(cyz*z))*inv),
		m.z - z - float64((float64(cxz*x)+float64(cyz*y)+float64(czz*z))*inv),
	}
}

// placementPull is the weight of the pull towards the middle of the edge, as a
// part of the quadric's trace. Tuned on terrain and FlightHelmet: smaller
// numbers let vertices slide along flat regions, larger ones cost accuracy.
const placementPull = 3e-6
