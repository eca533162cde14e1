package mesh

import (
	"math"

	"github.com/untoldkit/untold/internal/geom"
)

// tangentSpace computes one tangent per triangle corner as MikkTSpace does
// (Mikkelsen, "Simulation of Wrinkled Surfaces Revisited", 2008, and the
// reference implementation's behaviour), so that normal maps baked elsewhere
// shade here as they did there:
//
//  1. vertices with the same position, normal and UV count as one;
//  2. every triangle gets the directions in which u and v grow, and the
//     orientation of its UVs;
//  3. the corners around a vertex form a group as long as their triangles
//     share edges and have the same orientation;
//  4. a group's tangent is the mean of its triangles' directions in the plane
//     of the normal, weighted by the corners' angles in that plane;
//  5. triangles without an area take the tangents of a neighbour.
//
// Unlike there, normals are made one unit long first, and corners without a
// direction still get a tangent at a right angle to the normal.
//
// It works in single precision with the reference's order of operations where
// that decides something. The UVs' v runs top-down, the space is that of
// v' = 1-v, as in glTF. A half-edge is known by its first corner: 3*triangle
// + 0, 1 or 2; "plus one" values leave 0 for none.
type tangentSpace struct {
	m     *Mesh
	n     int         // corners of whole triangles
	weld  []uint32    // vertex -> the first vertex equal to it
	norm  []vec3      // per vertex, of unit length
	faces []faceSpace // per triangle
	twin  []uint32    // half-edge -> opposite half-edge of the neighbour, plus one
	group []uint32    // corner -> group plus one
	sums  []groupSum
}

// faceSpace holds a triangle's directions of growing u and v; their lengths
// are 1 except when they are too short to tell.
type faceSpace struct {
	s, t  vec3
	flags uint8
}

const (
	faceFlat     = 1 << iota // two corners lie at one place
	faceAny                  // no direction of its own: joins any group
	facePositive             // the area in UV space (v') is positive
)

// groupSum accumulates the tangent of a group.
type groupSum struct {
	sum    vec3
	s0, t0 vec3 // the first triangle's projected directions
	orient uint8
	begun  bool
	wide   bool // directions may be opposite to each other
}

// newTangentSpace runs all steps but the last on a mesh that has normals and
// UVs.
func newTangentSpace(m *Mesh) *tangentSpace {
	n := len(m.Indices) / 3 * 3
	g := &tangentSpace{
		m: m, n: n, weld: weldVertices(m), norm: make([]vec3, len(m.Normals)),
		faces: make([]faceSpace, n/3), group: make([]uint32, n),
	}
	for i, v := range m.Normals {
		g.norm[i] = unitNormal(v)
	}
	for f := range g.faces {
		g.faces[f] = g.face(f)
	}
	g.link()
	g.buildGroups()
	g.accumulate()
	g.splitWideGroups()
	return g
}

// unitNormal returns a normal with length 1; one that has it, up to rounding,
// stays as it is.
func unitNormal(a [3]float32) vec3 {
	v := vec3{a[0], a[1], a[2]}
	l := v.dot(v)
	if l > 1-1e-6 && l < 1+1e-6 {
		return v
	}
	if u, ok := v.unit(); ok {
		return u
	}
	return vec3{0, 0, 1}
}

// face computes the directions of triangle f.
func (g *tangentSpace) face(f int) faceSpace {
	i := g.m.Indices[3*f : 3*f+3 : 3*f+3]
	p0, p1, p2 := &g.m.Positions[i[0]], &g.m.Positions[i[1]], &g.m.Positions[i[2]]
	if *p0 == *p1 || *p1 == *p2 || *p2 == *p0 {
		return faceSpace{flags: faceFlat}
	}
	a, b, c := g.m.UV[0][i[0]], g.m.UV[0][i[1]], g.m.UV[0][i[2]]
	d1, d2 := difference(p1, p0), difference(p2, p0)
	u1, v1, u2, v2 := b[0]-a[0], b[1]-a[1], c[0]-a[0], c[1]-a[1]
	// In v' the differences of v change sign, and so does the area.
	area := float32(v1*u2) - float32(u1*v2)
	out := faceSpace{flags: faceAny}
	sign := float32(1)
	if area > 0 {
		out.flags |= facePositive
		sign = -1
	}
	s := d1.scale(v2).sub(d2.scale(v1))
	t := d1.scale(u2).sub(d2.scale(u1))
	if area < 0 {
		area = -area
	}
	out.s, out.t = s.scale(sign), t.scale(sign)
	if !notZero(area) {
		return out
	}
	ls, lt := s.length(), t.length()
	if notZero(ls) {
		out.s = s.scale(sign / ls)
	}
	if notZero(lt) {
		out.t = t.scale(sign / lt)
	}
	if notZero(ls/area) && notZero(lt/area) {
		out.flags &^= faceAny
	}
	return out
}

// buildGroups gives every corner of a triangle with a direction a group, and
// lets the group spread over the edges around the vertex, first to one side,
// then to the other. Triangles without a direction of their own join the
// first group that reaches them.
func (g *tangentSpace) buildGroups() {
	for h := range uint32(g.n) {
		flags := g.faces[h/3].flags
		if flags&(faceFlat|faceAny) != 0 || g.group[h] != 0 {
			continue
		}
		orient := flags & facePositive
		g.sums = append(g.sums, groupSum{orient: orient})
		id := uint32(len(g.sums))
		g.group[h] = id
		for c := h; g.twin[c] != 0; {
			if c = after(g.twin[c] - 1); !g.join(c, id, orient) {
				break
			}
		}
		for c := h; g.twin[before(c)] != 0; {
			if c = g.twin[before(c)] - 1; !g.join(c, id, orient) {
				break
			}
		}
	}
}

// join puts corner c into a group unless it has one or its triangle's
// orientation is the other one.
func (g *tangentSpace) join(c, id uint32, orient uint8) bool {
	if g.group[c] != 0 {
		return false
	}
	f := c / 3
	face := &g.faces[f]
	if face.flags&faceAny != 0 && g.group[3*f]|g.group[3*f+1]|g.group[3*f+2] == 0 {
		face.flags = face.flags&^facePositive | orient
	}
	if face.flags&facePositive != orient {
		return false
	}
	g.group[c] = id
	return true
}

// accumulate adds up the groups' tangents in the order of the triangles.
func (g *tangentSpace) accumulate() {
	for f := range g.faces {
		face := &g.faces[f]
		if face.flags&(faceFlat|faceAny) != 0 {
			continue
		}
		for k := range uint32(3) {
			c := uint32(3*f) + k
			a := &g.sums[g.group[c]-1]
			n := g.norm[g.m.Indices[c]]
			s, t := n.project(face.s), n.project(face.t)
			a.sum = a.sum.add(s.scale(g.angle(c, n)))
			if !a.begun {
				a.begun, a.s0, a.t0 = true, s, t
			} else if !within45(s, a.s0) || !within45(t, a.t0) {
				a.wide = true
			}
		}
	}
}

// within45 reports whether the angle between two directions is clearly below
// 45 degrees; then none of several such can be opposite to each other.
func within45(a, b vec3) bool {
	d := a.dot(b)
	return d > 0 && float32(d*d) > 0.51*float32(a.dot(a)*b.dot(b))
}

// angle returns the angle of a corner, seen along the normal n.
func (g *tangentSpace) angle(c uint32, n vec3) float32 {
	m := g.m
	p := &m.Positions[m.Indices[c]]
	a := n.project(difference(&m.Positions[m.Indices[before(c)]], p))
	b := n.project(difference(&m.Positions[m.Indices[after(c)]], p))
	return float32(acos(float64(a.dot(b))))
}

// The reference leaves triangles out of a mean when their direction is
// opposite to the one's that asks. Only groups that turn by more than 90
// degrees have such, like the pole of a sphere. The work is quadratic, so that
// larger groups than this, which only a hostile file has, keep their mean.
const maxWideGroup = 256

// splitWideGroups gives the corners of wide groups their own means, where
// opposite triangles have to be left out.
func (g *tangentSpace) splitWideGroups() {
	var order []uint32
	members := map[uint32][]uint32{}
	for c, id := range g.group {
		if id == 0 || !g.sums[id-1].wide {
			continue
		}
		if members[id] == nil {
			order = append(order, id)
		}
		members[id] = append(members[id], uint32(c))
	}
	for _, id := range order {
		if len(members[id]) <= maxWideGroup {
			g.splitGroup(members[id])
		}
	}
}

// splitGroup compares all triangles of one group, given by their corners.
func (g *tangentSpace) splitGroup(corners []uint32) {
	type member struct {
		s, t, weighted vec3
		any            bool
	}
	all := make([]member, len(corners))
	for i, c := range corners {
		face, n := &g.faces[c/3], g.norm[g.m.Indices[c]]
		m := member{s: n.project(face.s), t: n.project(face.t), any: face.flags&faceAny != 0}
		if !m.any {
			m.weighted = m.s.scale(g.angle(c, n))
		}
		all[i] = m
	}
	for i, c := range corners {
		var sum vec3
		for k := range all {
			if all[i].any || all[k].any || i == k ||
				all[i].s.dot(all[k].s) > -1 && all[i].t.dot(all[k].t) > -1 {
				sum = sum.add(all[k].weighted)
			}
		}
		if a := &g.sums[g.group[c]-1]; sum != a.sum {
			g.sums = append(g.sums, groupSum{sum: sum, orient: a.orient})
			g.group[c] = uint32(len(g.sums))
		}
	}
}

// adopt lets the corners of triangles without an area use the group of the
// first corner at the same vertex.
func (g *tangentSpace) adopt() {
	var first []uint32 // vertex -> corner plus one
	for f := range g.faces {
		if g.faces[f].flags&faceFlat == 0 {
			continue
		}
		if first == nil {
			first = g.firstCorners()
		}
		for c := 3 * f; c < 3*f+3; c++ {
			if k := first[g.weld[g.m.Indices[c]]]; k != 0 {
				g.group[c] = g.group[k-1]
			}
		}
	}
}

// firstCorners maps welded vertices to their first corner, plus one, in a
// triangle that has an area.
func (g *tangentSpace) firstCorners() []uint32 {
	first := make([]uint32, len(g.weld))
	for c := g.n - 1; c >= 0; c-- {
		if g.faces[c/3].flags&faceFlat == 0 {
			first[g.weld[g.m.Indices[c]]] = uint32(c) + 1
		}
	}
	return first
}

// tangents returns the tangent of every group.
func (g *tangentSpace) tangents() [][4]float32 {
	out := make([][4]float32, len(g.sums))
	for i := range g.sums {
		a := &g.sums[i]
		t, _ := a.sum.unit()
		w := float32(-1)
		if a.orient != 0 {
			w = 1
		}
		out[i] = [4]float32{t.x, t.y, t.z, w}
	}
	return out
}

// defaultTangent is what a vertex gets that no direction reaches: the
// reference's +X, turned into the normal's plane.
func defaultTangent(normal vec3, w float32) [4]float32 {
	n := geom.Vec3{float64(normal.x), float64(normal.y), float64(normal.z)}
	t := geom.Vec3{1 - float64(n[0]*n[0]), 0 - float64(n[0]*n[1]), 0 - float64(n[0]*n[2])}
	if t = t.Normalize(0.1, geom.Vec3{}); t == (geom.Vec3{}) {
		t = perpendicular(n)
	}
	f := t.F32()
	return [4]float32{f[0], f[1], f[2], w}
}

// after and before return the next and the previous corner of a triangle.
func after(c uint32) uint32 {
	if c%3 == 2 {
		return c - 2
	}
	return c + 1
}

func before(c uint32) uint32 {
	if c%3 == 0 {
		return c + 2
	}
	return c - 1
}

// notZero reports whether a length or area is a normal number above 0.
func notZero(x float32) bool { return x > 0x1p-126 && x <= math.MaxFloat32 }
