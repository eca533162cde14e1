package simplify

import (
	"slices"

	"github.com/untoldkit/untold/internal/geom"
)

// surface is what is left of the mesh: vertices, wedges and corners (see the
// package's doc), with the geometric quadrics. It promises that following next
// from a vertex's first corner visits all living corners of the vertex, and that
// triangles counts those that are left. It knows nothing of prices.
type surface struct {
	in     *Mesh
	centre geom.Vec3 // of the source's box; positions are stored relative to it

	vertices []vertex
	geo      []quadric32 // per vertex: squared distance from the source's planes, times area

	wedgeVertex []uint32 // per wedge: its vertex; of a merged wedge the wedge that took over, marked by gone
	wedges      wedges

	cornerWedge []uint32 // per corner: its wedge, none when the triangle is gone
	next        []uint32 // per corner: the next corner at the same vertex, in a ring
	triangles   int      // left
}

// vertex is a position that some wedges share. It fills a cache line.
type vertex struct {
	pos   [3]float32 // relative to the centre
	sum   quadric32  // geo plus the quadric of attributes, see metric.go
	wedge uint32     // its wedge, where flagMulti is not set
	first uint32     // some corner, none when the vertex is gone
	flags uint32
}

// gone marks entries of wedgeVertex that name a wedge.
const gone = 1 << 31

// Flags of vertices.
const (
	flagLocked = 1 << iota // must not move or vanish
	flagBorder             // on an open edge
	flagMulti              // may have more than one wedge
	flagMoved              // not at its source position any more

	// In New only.
	flagSeen    // comes up a second time
	flagSuspect // something may have to be held there, see prepare_count.go
	flagDoubt   // two edges may lead to the same vertex
)

// flagTriangle is the unit of the number of triangles at a vertex, which New keeps
// in its flags, above all of these.
const flagTriangle = 1 << incidentShift

// append makes a corner the last of a vertex's ring.
func (n *vertex) append(c, w uint32, next []uint32) {
	last := n.first
	n.first = c
	if last == none {
		n.wedge = w
		next[c] = c
		return
	}
	next[c] = next[last]
	next[last] = c
}

// link strings the corners of each vertex into a ring, in their order.
func (s *surface) link() {
	for c := len(s.cornerWedge) - 1; c >= 0; c-- {
		w := s.cornerWedge[c]
		if w == none {
			continue
		}
		// Insert before the head's successor: the head stays the last one.
		v := &s.vertices[s.wedgeVertex[w]]
		v.wedge = w
		if h := v.first; h == none {
			v.first = uint32(c)
			s.next[c] = uint32(c)
		} else {
			s.next[c] = s.next[h]
			s.next[h] = uint32(c)
		}
	}
}

// corners returns the other two corners of a corner's triangle, in order.
func corners(c uint32) (n1, n2 uint32) {
	k := c % 3
	return c + toNext[k], c + toLast[k]
}

// Tables, as branches on a corner's number would be mispredicted.
var (
	toNext = [3]uint32{1, 1, 1<<32 - 2}
	toLast = [3]uint32{2, 1<<32 - 1, 1<<32 - 1}
)

// point returns a vertex's position relative to the centre.
func (s *surface) point(v uint32) vec { return fromF32(&s.vertices[v].pos) }

// scratch holds buffers that are reused.
type scratch struct {
	// Around the two ends of the edge, without the triangles at it: first those of
	// u, then, from fromV on, those of v.
	around     star
	fromV      int
	atU, atV   star // the triangles at the edge
	wheel      wheel
	ringU      []uint32 // corners
	nearU      []uint32 // neighbouring vertices
	opp        []uint32 // vertices opposite of the edge
	wedU, wedV []uint32 // wedges
	members    []member
	shares     []share
	toP, toR   [2*starMax + 1]uint32 // corners: two of each ray, and one that need not stay
	gaps       [maxAttributes]gap
}

// aroundU returns the triangles at u, but not at the edge.
func (x *scratch) aroundU() []ray { return x.around.rays[:x.fromV] }

// aroundV returns the triangles at v, but not at the edge.
func (x *scratch) aroundV() []ray { return x.around.rays[x.fromV:x.around.n] }

// ray is a corner and the vertices of the next corner in its triangle and of
// the last.
type ray struct{ c, a, b uint32 }

// starMax is how many corners two ends of an edge may have together, with one more
// each that is seen before it is too many.
const starMax = 2 * (ringMax + 1)

// star is some corners at one or two vertices.
type star struct {
	rays [starMax]ray
	n    int
}

func (f *star) list() []ray { return f.rays[:f.n] }

// split gathers both ends of an edge, and reports whether there are at most so
// many corners, which must not be more than ringMax.
func (s *surface) split(x *scratch, u, v uint32, most int) bool {
	x.around.n = 0
	n := s.gatherApart(u, v, &x.around, &x.atU, most)
	if n > most {
		return false
	}
	x.fromV = x.around.n
	return n+s.gatherApart(v, u, &x.around, &x.atV, most) <= most
}

// gatherApart finds the living corners at u, those of triangles at the edge to
// v apart: these replace a star, the others are added to one. It returns how many
// there are, or one more than most, and takes dead ones out of the ring. As
// branches on what is where would be mispredicted, there are none: both lists
// are written to all the time, and only their ends depend on it.
func (s *surface) gatherApart(u, v uint32, others, edge *star, most int) int {
	in, at := others.n, 0
	most += in
	if head := s.vertices[u].first; head != none {
		cornerWedge, wedgeVertex, next := s.cornerWedge, s.wedgeVertex, s.next
		prev, c := head, next[head]
		for in+at <= most {
			n := next[c]
			k := c % 3
			wa, wb := cornerWedge[c+toNext[k]], cornerWedge[c+toLast[k]]
			dead := uint32(int32(wa) >> 31) // all bits, or none
			a, b := wedgeVertex[wa&^dead], wedgeVertex[wb&^dead]
			others.rays[in] = ray{c, a, b}
			edge.rays[at] = ray{c, a, b}
			step := 0
			if uint64(a^v)*uint64(b^v) == 0 { // one of them is v
				step = 1
			}
			live := 1 - int(dead&1)
			at += step & live
			in += live &^ step
			next[prev] = c ^ (c^n)&dead
			prev ^= (prev ^ c) &^ dead
			if c == head {
				s.vertices[u].first = prev
				break
			}
			c = n
		}
		if in+at == others.n {
			s.vertices[u].first = none
		}
	}
	n := in + at - others.n
	others.n, edge.n = in, at
	return n
}

// ring appends the living corners at a vertex to buf[:0] and takes dead ones
// out of the list.
func (s *surface) ring(v uint32, buf []uint32) []uint32 {
	return s.ringUpTo(v, buf, maxCorners)
}

// ringUpTo is ring for at most so many corners, so that vertices with very many
// triangles cost no more than others.
func (s *surface) ringUpTo(v uint32, buf []uint32, most int) []uint32 {
	buf = buf[:0]
	head := s.vertices[v].first
	if head == none {
		return buf
	}
	prev, c := head, s.next[head]
	for len(buf) < most {
		n := s.next[c]
		last := c == head
		if s.cornerWedge[c] == none {
			s.next[prev] = n
			if last {
				s.vertices[v].first = prev
			}
		} else {
			buf = append(buf, c)
			prev = c
		}
		if last {
			break
		}
		c = n
	}
	if len(buf) == 0 {
		s.vertices[v].first = none
	}
	return buf
}

// at returns a living corner's vertex.
func (s *surface) at(c uint32) uint32 { return s.wedgeVertex[s.cornerWedge[c]] }

// wedgesOf appends the distinct wedges of some corners.
func (s *surface) wedgesOf(buf []uint32, lists ...[]ray) []uint32 {
	for _, f := range lists {
		buf = slices.Grow(buf, len(f)+1)
		n := len(buf)
		buf = buf[:cap(buf)]
		for i := range f {
			w := s.cornerWedge[f[i].c]
			known := 0
			for _, x := range buf[:n] {
				known |= one(x == w)
			}
			buf[n] = w
			n += 1 - known
		}
		buf = buf[:n]
	}
	return buf
}
