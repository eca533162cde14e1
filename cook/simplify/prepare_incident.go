package simplify

// Nearly all vertices have few triangles, and at nearly all edges two of them meet
// in the same sense. constrain finds the pairs of such vertices without a search.

// incidentTriangle is a triangle at a vertex, by its corner there.
type incidentTriangle struct {
	c      uint32 // the corner
	w      uint32 // its wedge
	a, b   uint32 // vertices of the next corner in the triangle and of the last
	wa, wb uint32 // and their wedges
	twin   uint32 // number of the incident triangle on the other side of the edge to a
}

// incidentTriangles are the corners of a vertex with at most so many.
type incidentTriangles struct {
	n    int
	list [32]incidentTriangle
}

// gatherIncident gathers the corners of a vertex and marks it if it has several
// wedges. It reports whether they fit.
func (s *surface) gatherIncident(u uint32, f *incidentTriangles) bool {
	cornerWedge, next := s.cornerWedge, s.next
	head := s.vertices[u].first
	c, w0, multi := head, cornerWedge[head], uint32(0)
	for i := range f.list {
		c = next[c]
		n1, n2 := corners(c)
		p := &f.list[i]
		p.c, p.w, p.wa, p.wb = c, cornerWedge[c], cornerWedge[n1], cornerWedge[n2]
		multi |= p.w ^ w0
		if c == head {
			f.n = i + 1
			if multi != 0 {
				s.vertices[u].flags |= flagMulti
			}
			return true
		}
	}
	return false
}

// pairIncident finds the other triangle of each edge to a vertex with a greater
// number. It reports whether there is just one each time, in the opposite
// sense.
func (s *surface) pairIncident(u uint32, f *incidentTriangles) bool {
	// Temporarily store in each vertex's flags the triangle whose side ends there, so
	// that the triangle whose side starts there finds its twin.
	wedgeVertex, vertices, list := s.wedgeVertex, s.vertices, f.list[:f.n]
	open, missed := 0, uint32(0)
	for i := range list {
		p := &list[i]
		p.a, p.b = wedgeVertex[p.wa], wedgeVertex[p.wb]
		if p.b > u {
			flags := &vertices[p.b].flags
			*flags = *flags&flagMask | uint32(i+1)<<incidentShift
			open++
		}
	}
	for i := range list {
		p := &list[i]
		if p.a > u {
			flags := &vertices[p.a].flags
			p.twin = *flags>>incidentShift - 1
			missed |= p.twin >> incidentShift // 0 - 1 is great
			*flags &= flagMask
			open--
		}
	}
	// As many lookups as marks, and each found one: no side is there twice.
	if missed == 0 && open == 0 {
		return true
	}
	for i := range list {
		vertices[list[i].b].flags &= flagMask
	}
	return false
}

// highValenceNear reports whether one of the vertices around has a high valence.
func (s *surface) highValenceNear(f *incidentTriangles) bool {
	for i := range f.list[:f.n] {
		if p := &f.list[i]; s.highValence(s.wedgeVertex[p.wa]) || s.highValence(s.wedgeVertex[p.wb]) {
			return true
		}
	}
	return false
}

// incidentShift is the bit of a vertex's flags above which the number of an incident
// triangle stands, plus one.
const (
	incidentShift = 8
	flagMask      = 1<<incidentShift - 1
)

// constrainIncident is constrain for the edges of a vertex whose incident triangles
// are paired.
func (s *Simplifier) constrainIncident(u uint32, f *incidentTriangles) {
	pu := s.point(u)
	for i := range f.list[:f.n] {
		a := &f.list[i]
		if a.a < u {
			continue
		}
		b := &f.list[a.twin%uint32(len(f.list))]
		d, e, g := s.point(a.a).sub(pu), s.point(a.b).sub(pu), s.point(b.a).sub(pu)
		l2, ed, gd := d.length2(), e.dot(d), g.dot(d)
		seam := a.w != b.w || a.wa != b.wb
		// The product of the parts that are upright on the edge: nothing is to be
		// held where triangles do not fold back at all.
		if !seam && a.b != b.a && float64(e.dot(g)*l2) < float64(ed*gd) || l2 == 0 {
			continue
		}
		if a.b == b.a {
			s.markBorder(u, a.a)
		}
		in, on := unit(e.sub(d.scale(ed/l2))), unit(g.sub(d.scale(gd/l2)))
		switch {
		case !(in.dot(on) < foldCosine):
			s.holdPair(u, a.a, in, on, float64(borderWeight*l2), true)
		case seam:
			s.holdPair(u, a.a, in, on, float64(s.seamWeight(a.w, b.w, a.wa, b.wb)*l2), false)
		}
	}
}

// holdPair is hold for two planes.
func (s *surface) holdPair(u, v uint32, m, n vec, weight float64, ends bool) {
	xx := float32((float64(m.x*m.x) + float64(n.x*n.x)) * weight)
	yy := float32((float64(m.y*m.y) + float64(n.y*n.y)) * weight)
	zz := float32((float64(m.z*m.z) + float64(n.z*n.z)) * weight)
	xy := float32((float64(m.x*m.y) + float64(n.x*n.y)) * weight)
	xz := float32((float64(m.x*m.z) + float64(n.x*n.z)) * weight)
	yz := float32((float64(m.y*m.z) + float64(n.y*n.z)) * weight)
	s.vertices[u].sum.addSquare(xx, yy, zz, xy, xz, yz)
	s.vertices[v].sum.addSquare(xx, yy, zz, xy, xz, yz)
	if ends {
		s.geo[u].addSquare(xx, yy, zz, xy, xz, yz)
		s.geo[v].addSquare(xx, yy, zz, xy, xz, yz)
	}
}
