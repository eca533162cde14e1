package mesh

import (
	"math"
	"slices"

	"github.com/untoldkit/untold/internal/geom"
)

// clipCorner is a corner of a polygon. The edge to the next corner is a part
// of the line between the vertices from and to: an edge of the source's
// triangle, or where an earlier cut through that triangle began and ended.
// Cuts are computed from these two and not from the corners, so that they do
// not depend on what has been cut before.
type clipCorner struct{ v, from, to uint32 }

// clipScratch is memory for the polygons of one axis.
type clipScratch struct{ below, above, spare []clipCorner }

// cutKey names a cut vertex: a part of an edge between two vertices, the
// smaller first, and a plane. Triangles that share the edge find it there.
type cutKey struct {
	a, b        uint32
	axis, plane int32
}

// cut divides a convex polygon at the planes of an axis, and what comes out at
// those of the next ones. cell is known for the axes before.
func (c *clipper) cut(axis int, poly []clipCorner, cell [3]int) {
	if axis == 3 {
		c.emit(poly, cell)
		return
	}
	first, last := c.polygonSpan(axis, poly)
	s := &c.scratch[axis]
	for k := first; k < last; k++ {
		var ok bool
		if s.below, s.above, ok = c.divide(poly, axis, k, s.below[:0], s.above[:0]); !ok {
			c.cutTriangles(axis, poly, cell)
			return
		}
		cell[axis] = k
		if len(s.below) > 2 {
			c.cut(axis+1, s.below, cell)
		}
		poly = s.above
		s.above, s.spare = s.spare, s.above
	}
	cell[axis] = last
	if len(poly) > 2 {
		c.cut(axis+1, poly, cell)
	}
}

// cutTriangles is cut for a polygon that is not convex because of rounding: its
// triangles are. It has not been seen to happen.
func (c *clipper) cutTriangles(axis int, poly []clipCorner, cell [3]int) {
	poly, saved := slices.Clone(poly), c.scratch
	c.scratch = [3]clipScratch{}
	for i := 1; i+1 < len(poly); i++ {
		a, b, d := poly[0], poly[i], poly[i+1]
		if i > 1 {
			a.from, a.to = a.v, b.v
		}
		if i+2 < len(poly) {
			d.from, d.to = d.v, poly[0].v
		}
		c.cut(axis, []clipCorner{a, b, d}, cell)
	}
	c.scratch = saved
}

// polygonSpan returns the first and the last cell of a polygon.
func (c *clipper) polygonSpan(axis int, poly []clipCorner) (first, last int) {
	if len(c.grid.Planes[axis]) == 0 {
		return 0, 0
	}
	lo := along(&c.m.Positions[poly[0].v], axis)
	hi := lo
	for _, p := range poly[1:] {
		lo, hi = widen(lo, hi, along(&c.m.Positions[p.v], axis))
	}
	return cellSpan(c.grid.Planes[axis], lo, hi, 0)
}

// divide appends the parts of a polygon on the two sides of plane k. It fails,
// with nothing done, when the outline passes the plane more than twice.
func (c *clipper) divide(poly []clipCorner, axis, k int, below, above []clipCorner) (lo, hi []clipCorner, ok bool) {
	sides, ok := c.sides(poly, axis, c.grid.Planes[axis][k])
	if !ok {
		return below, above, false
	}
	// A corner whose edge to the next one runs in the plane; settled below,
	// when the next one is known.
	open := func(v uint32) clipCorner { return clipCorner{v, v, v} }
	for i, p := range poly {
		n := i + 1
		if n == len(poly) {
			n = 0
		}
		next := poly[n]
		switch {
		case sides[i] < 0 && sides[n] < 0:
			below = append(below, p)
		case sides[i] >= 0 && sides[n] >= 0:
			above = append(above, p)
		case sides[n] == 0: // up to the plane
			below = append(below, p, open(next.v))
		case sides[i] == 0: // down from the plane
			below, above = append(below, p), append(above, open(p.v))
		default:
			x := c.vertex(p, next.v, axis, k)
			rest := clipCorner{x, p.from, p.to}
			if sides[i] < 0 {
				below, above = append(below, p, open(x)), append(above, rest)
			} else {
				below, above = append(below, rest), append(above, p, open(x))
			}
		}
	}
	settle(below)
	settle(above)
	return below, above, true
}

// sides returns -1 for the corners of a polygon that are below a plane, 1 for
// those above and 0 for those in it. Where the outline touches the plane from
// below and returns, those in it are -1 as well; then all that are not -1 make
// one polygon above the plane, without an edge that one below it also has. It
// fails when the outline passes the plane more than twice, as rounding might
// make the outline of a polygon that is thin as a line.
func (c *clipper) sides(poly []clipCorner, axis int, plane float64) ([]int8, bool) {
	s := c.side[:0]
	for _, p := range poly {
		side := int8(0)
		switch x := along(&c.m.Positions[p.v], axis); {
		case x < plane:
			side = -1
		case x > plane:
			side = 1
		}
		s = append(s, side)
	}
	c.side = s
	start := slices.IndexFunc(s, func(side int8) bool { return side != 0 })
	if start < 0 {
		return s, true
	}
	passes := 0
	last := start // the last corner not in the plane
	for i := start + 1; i <= start+len(s); i++ {
		side := s[i%len(s)]
		if side == 0 {
			continue
		}
		if side != s[last%len(s)] {
			passes++
		} else if side < 0 {
			for k := last + 1; k < i; k++ {
				s[k%len(s)] = -1
			}
		}
		last = i
	}
	return s, passes <= 2
}

// settle gives the open edges of a polygon their ends.
func settle(poly []clipCorner) {
	for i := range poly {
		if p := &poly[i]; p.from == p.to {
			p.to = poly[(i+1)%len(poly)].v
		}
	}
}

// vertex returns the vertex where the edge from p to the vertex next meets
// plane k.
func (c *clipper) vertex(p clipCorner, next uint32, axis, k int) uint32 {
	key := cutKey{min(p.v, next), max(p.v, next), int32(axis), int32(k)}
	if v, ok := c.cuts[key]; ok {
		return v
	}
	v := uint32(len(c.m.Positions))
	c.cuts[key] = v
	// The end below the plane comes first, whichever way the edge runs.
	m, from, to, plane := &c.m, p.from, p.to, c.grid.Planes[axis][k]
	if along(&m.Positions[from], axis) > along(&m.Positions[to], axis) {
		from, to = to, from
	}
	lo, hi := along(&m.Positions[from], axis), along(&m.Positions[to], axis)
	t := (plane - lo) / (hi - lo)
	m.Positions = append(m.Positions, cutPosition(m, from, to, p.v, next, axis, t, plane))
	if m.Normals != nil {
		m.Normals = append(m.Normals, geom.MixDir(m.Normals[from], m.Normals[to], t))
	}
	if m.Tangents != nil {
		m.Tangents = append(m.Tangents, geom.MixTangent(m.Tangents[from], m.Tangents[to], t))
	}
	for i := range m.UV {
		if uv := m.UV[i]; uv != nil {
			a, b := uv[from], uv[to]
			m.UV[i] = append(uv, [2]float32{geom.Mix32(a[0], b[0], t), geom.Mix32(a[1], b[1], t)})
		}
	}
	if m.Colors != nil {
		a, b := m.Colors[from], m.Colors[to]
		m.Colors = append(m.Colors, [4]float32{geom.Mix32(a[0], b[0], t), geom.Mix32(a[1], b[1], t), geom.Mix32(a[2], b[2], t), geom.Mix32(a[3], b[3], t)})
	}
	return v
}

// cutPosition returns the point at t between two vertices, at most as far as
// two others, the ends of the part that is left of the edge. Without that
// limit rounding could move it out of a cell that has been cut before.
func cutPosition(m *Mesh, from, to, end1, end2 uint32, axis int, t, plane float64) geom.Vec3 {
	a, b := &m.Positions[from], &m.Positions[to]
	e, f := &m.Positions[end1], &m.Positions[end2]
	var p geom.Vec3
	for i := range p {
		if i == axis {
			continue
		}
		x := max(min(e[i], f[i]), min(max(e[i], f[i]), geom.Mix(a[i], b[i], t)))
		p[i] = x + 0 // one zero, +0, as in Pack
	}
	if p[axis] = plane + 0; axis == 2 {
		p[axis] = 0 - plane
	}
	return p
}

// emit puts a polygon as triangles into a cell, ear by ear at the shortest
// diagonal, which makes better triangles than a fan does.
func (c *clipper) emit(poly []clipCorner, cell [3]int) {
	ring := c.ears[:0]
	for _, p := range poly {
		ring = append(ring, p.v)
	}
	c.ears = ring
	b := c.bucket(cell)
	for len(ring) > 3 {
		n := len(ring)
		best, shortest := 0, math.Inf(1)
		for i := range ring {
			d := c.m.Positions[ring[(i+1)%n]].Sub(c.m.Positions[ring[(i+n-1)%n]])
			if l := d.Dot(d); l < shortest {
				best, shortest = i, l
			}
		}
		b.indices = append(b.indices, ring[(best+n-1)%n], ring[best], ring[(best+1)%n])
		ring = append(ring[:best], ring[best+1:]...)
	}
	b.indices = append(b.indices, ring[0], ring[1], ring[2])
}
