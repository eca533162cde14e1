package simplify

// Nearly all places have few triangles, and at nearly all edges two of them meet
// in the same sense. constrain finds the pairs of such places without a search.

// spoke is a corner of a place, with the edge to the next corner of the
// triangle.
type spoke struct {
	c      uint32 // the corner
	w      uint32 // its wedge
	a, b   uint32 // places of the next corner in the triangle and of the last
	wa, wb uint32 // and their wedges
	twin   uint32 // spoke of the triangle on the other side of the edge to a
}

// spokes are the corners of a place with at most so many.
type spokes struct {
	n    int
	list [32]spoke
}

// gatherSpokes gathers the corners of a place and marks it if it has several
// wedges. It reports whether they fit.
func (s *Simplifier) gatherSpokes(u uint32, f *spokes) bool {
	cw, next := s.cw, s.next
	head := s.nodes[u].first
	c, w0, multi := head, cw[head], uint32(0)
	for i := range f.list {
		c = next[c]
		n1, n2 := corners(c)
		p := &f.list[i]
		p.c, p.w, p.wa, p.wb = c, cw[c], cw[n1], cw[n2]
		multi |= p.w ^ w0
		if c == head {
			f.n = i + 1
			if multi != 0 {
				s.nodes[u].flags |= flagMulti
			}
			return true
		}
	}
	return false
}

// pairSpokes finds the other triangle of each edge to a place with a greater
// number. It reports whether there is just one each time, in the opposite
// sense.
func (s *Simplifier) pairSpokes(u uint32, f *spokes) bool {
	// For a while the flags of a place know the spoke of which it is b. Then
	// those that are a find it there.
	wv, nodes, list := s.wv, s.nodes, f.list[:f.n]
	open, missed := 0, uint32(0)
	for i := range list {
		p := &list[i]
		p.a, p.b = wv[p.wa], wv[p.wb]
		if p.b > u {
			flags := &nodes[p.b].flags
			*flags = *flags&flagMask | uint32(i+1)<<spokeShift
			open++
		}
	}
	for i := range list {
		p := &list[i]
		if p.a > u {
			flags := &nodes[p.a].flags
			p.twin = *flags>>spokeShift - 1
			missed |= p.twin >> spokeShift // 0 - 1 is great
			*flags &= flagMask
			open--
		}
	}
	// As many of them as marks, and each found its own: no number twice.
	if missed == 0 && open == 0 {
		return true
	}
	for i := range list {
		nodes[list[i].b].flags &= flagMask
	}
	return false
}

// crowdNear reports whether one of the places around is crowded.
func (s *Simplifier) crowdNear(f *spokes) bool {
	for i := range f.list[:f.n] {
		if p := &f.list[i]; s.crowded(s.wv[p.wa]) || s.crowded(s.wv[p.wb]) {
			return true
		}
	}
	return false
}

// spokeShift is where in a place's flags the number of a spoke is, plus one.
const (
	spokeShift = 8
	flagMask   = 1<<spokeShift - 1
)

// constrainSpokes is constrain for the edges of a place whose spokes are paired.
func (s *Simplifier) constrainSpokes(u uint32, f *spokes) {
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
func (s *Simplifier) holdPair(u, v uint32, m, n vec, weight float64, ends bool) {
	xx := float32((float64(m.x*m.x) + float64(n.x*n.x)) * weight)
	yy := float32((float64(m.y*m.y) + float64(n.y*n.y)) * weight)
	zz := float32((float64(m.z*m.z) + float64(n.z*n.z)) * weight)
	xy := float32((float64(m.x*m.y) + float64(n.x*n.y)) * weight)
	xz := float32((float64(m.x*m.z) + float64(n.x*n.z)) * weight)
	yz := float32((float64(m.y*m.z) + float64(n.y*n.z)) * weight)
	s.nodes[u].sum.addSquare(xx, yy, zz, xy, xz, yz)
	s.nodes[v].sum.addSquare(xx, yy, zz, xy, xz, yz)
	if ends {
		s.geo[u].addSquare(xx, yy, zz, xy, xz, yz)
		s.geo[v].addSquare(xx, yy, zz, xy, xz, yz)
	}
}
