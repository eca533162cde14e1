package simplify

import "math"

// candidate is a possible collapse of u and v.
type candidate struct {
	cost  float64 // geometry and attributes, area times metres squared
	geo   float64 // geometry alone
	area  float64 // around u and v
	at    vec     // the new position, relative to u
	loose bool    // sides of a seam would be joined
}

// seek finds the best position for the collapse of u and v, and a lower bound of
// what it costs: all but the agreement of their attributes, see join. The position
// does not take that into account, which halves the work of a price and loses
// nothing that fitting does not bring back.
func (s *surface) seek(u, v uint32, c *candidate) {
	nu, nv := &s.vertices[u], &s.vertices[v]
	p := fromF32(&nu.pos)
	d := fromF32(&nv.pos).sub(p)
	var f quadric
	f.rise(&nu.sum, &nv.sum, d)
	at := vec{}
	switch {
	case (nu.flags|nv.flags)&flagLocked == 0:
		at = f.near(d)
	case nv.flags&flagLocked != 0:
		at = d
	}
	c.at = at.stored(p)
	c.cost = bounded(f.at(c.at))
}

// seekAt is seek with a position that is given, relative to u.
func (s *surface) seekAt(u, v uint32, at vec, c *candidate) {
	nu, nv := &s.vertices[u], &s.vertices[v]
	p := fromF32(&nu.pos)
	var f quadric
	f.rise(&nu.sum, &nv.sum, fromF32(&nv.pos).sub(p))
	c.at = at.stored(p)
	c.cost = bounded(f.at(c.at))
}

// stored rounds a point relative to p as it will be stored.
func (v vec) stored(p vec) vec {
	return vec{
		float64(float32(p.x+v.x)) - p.x,
		float64(float32(p.y+v.y)) - p.y,
		float64(float32(p.z+v.z)) - p.z,
	}
}

// bounded brings a cost into the range of keys.
func bounded(cost float64) float64 {
	if !(cost < math.MaxFloat32) {
		return math.MaxFloat32
	}
	return max(cost, 0)
}

// near returns the point where f is least; if that is far from the edge to d,
// as where planes are nearly parallel, the best of its ends and its middle.
func (f *quadric) near(d vec) vec {
	middle := d.scale(0.5)
	at := f.least(middle)
	if at.sub(middle).length2() <= float64(reach*reach*d.length2()) {
		return at
	}
	at = middle
	best := f.at(at)
	for _, p := range [2]vec{{}, d} {
		if e := f.at(p); e < best {
			at, best = p, e
		}
	}
	return at
}

// reach is how far from the middle of its edge a new position may lie, in lengths
// of the edge.
const reach = 2

// rise sets f to the sum of two quadrics less their values at their own origins: the
// error that a collapse adds. The origin of o lies at d.
func (f *quadric) rise(q, o *quadric32, d vec) {
	xx, yy, zz := float64(o.axx), float64(o.ayy), float64(o.azz)
	xy, xz, yz := float64(o.axy), float64(o.axz), float64(o.ayz)
	bx, by, bz := float64(o.bx), float64(o.by), float64(o.bz)
	// A d, and from it the other one's b and c here.
	ax := float64(xx*d.x) + float64(xy*d.y) + float64(xz*d.z)
	ay := float64(xy*d.x) + float64(yy*d.y) + float64(yz*d.z)
	az := float64(xz*d.x) + float64(yz*d.y) + float64(zz*d.z)
	f.c = float64(d.x*(ax-bx-bx)) + float64(d.y*(ay-by-by)) + float64(d.z*(az-bz-bz))
	f.b = vec{bx - ax + float64(q.bx), by - ay + float64(q.by), bz - az + float64(q.bz)}
	f.axx, f.ayy, f.azz = xx+float64(q.axx), yy+float64(q.ayy), zz+float64(q.azz)
	f.axy, f.axz, f.ayz = xy+float64(q.axy), xz+float64(q.axz), yz+float64(q.ayz)
}

// deviation returns the geometric part of a collapse's cost: the squared
// distance from the source's planes, times area.
func (s *surface) deviation(u, v uint32, at vec) float64 {
	d := s.point(v).sub(s.point(u))
	geo := s.geo[u].double()
	e := geo.at(at)
	geo = s.geo[v].double()
	return max(e+geo.at(at.sub(d)), 0)
}
