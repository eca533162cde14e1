package simplify

// Weights of the planes that hold lines in place, per squared length of the
// edge: planes through the edge, perpendicular to its triangle.
const (
	borderWeight = 1.0
	seamWeight   = 0.2
	// With Options.ColorSeams: of those without a difference in colour, what the
	// square of the difference adds, and the greatest.
	plainSeam = 0.05
	colorSeam = 1
	mostSeam  = 0.5
)

// edgeSide is a triangle at an edge.
type edgeSide struct {
	cu, cv uint32 // its corners at the two ends
	opp    uint32 // vertex opposite
}

// constrain looks at every edge of the vertices that are marked, and takes the
// marks away. It finds open edges, sharp folds and seams, marks border vertices and
// those with several wedges, adds the quadrics that hold such lines, and leaves
// one corner of each edge open for collapses. anyHighValence says that there may be
// vertices of high valence.
func (s *Simplifier) constrain(anyHighValence bool) {
	var f incidentTriangles
	var sides []edgeSide
	for i := range s.vertices {
		n := &s.vertices[i]
		marks := n.flags & (flagSuspect | flagDoubt)
		if marks == 0 {
			continue
		}
		n.flags &^= marks
		u := uint32(i)
		if n.first == none || marks == flagDoubt && s.distinct(u) {
			continue
		}
		if s.gatherIncident(u, &f) && !(anyHighValence && s.highValenceNear(&f)) && s.pairIncident(u, &f) {
			s.constrainIncident(u, &f)
		} else {
			sides = s.constrainAround(u, anyHighValence, sides)
		}
	}
}

// constrainAround looks at a vertex's edges to vertices with greater numbers and
// to those of high valence, whatever the triangles there are like. It returns the memory
// for sides.
func (s *Simplifier) constrainAround(u uint32, anyHighValence bool, sides []edgeSide) []edgeSide {
	f := &s.scratch.wheel
	s.gather(u, f, maxCorners)
	w := s.cornerWedge[f.c[0]]
	for _, c := range f.c {
		if s.cornerWedge[c] != w {
			s.vertices[u].flags |= flagMulti
			break
		}
	}
	for i, v := range f.a {
		if v > u {
			s.cost[f.c[i]] = never // only one corner of the edge is to be open
		}
	}
	if len(f.c) > highValenceCorners {
		s.openHighValence(u, f)
		return sides // its edges are looked at from their other ends
	}
	for i, v := range f.a {
		if v < u && !(anyHighValence && s.highValence(v)) {
			continue
		}
		if before, _ := count(f.a[:i], v); before == 0 {
			s.cost[f.c[i]] = unpriced
			sides = s.sidesOf(f, v, sides)
			s.constrainEdge(u, v, sides)
		}
	}
	for i, v := range f.b {
		if v < u && !(anyHighValence && s.highValence(v)) {
			continue
		}
		na, _ := count(f.a, v)
		before, _ := count(f.b[:i], v)
		if na+before == 0 {
			_, n2 := corners(f.c[i])
			s.cost[n2] = unpriced
			sides = s.sidesOf(f, v, sides)
			s.constrainEdge(u, v, sides)
		}
	}
	return sides
}

// openHighValence opens the edges of a vertex of high valence to others, at all corners.
func (s *Simplifier) openHighValence(u uint32, f *wheel) {
	for i, v := range f.a {
		if v > u && s.highValence(v) {
			s.cost[f.c[i]] = unpriced
		}
		if w := f.b[i]; w > u && s.highValence(w) {
			_, n2 := corners(f.c[i])
			s.cost[n2] = unpriced
		}
	}
}

// sidesOf returns the triangles of a wheel that have an edge to v.
func (s *surface) sidesOf(f *wheel, v uint32, sides []edgeSide) []edgeSide {
	sides = sides[:0]
	for i, c := range f.c {
		n1, n2 := corners(c)
		switch v {
		case f.a[i]:
			sides = append(sides, edgeSide{c, n1, f.b[i]})
		case f.b[i]:
			sides = append(sides, edgeSide{c, n2, f.a[i]})
		}
	}
	return sides
}

// highValence reports whether a vertex has too many triangles to look at edges from
// there.
func (s *surface) highValence(v uint32) bool {
	head := s.vertices[v].first
	c := head
	for range highValenceCorners {
		c = s.next[c]
		if c == head {
			return false
		}
	}
	return true
}

const highValenceCorners = 64

// constrainEdge handles one edge.
func (s *Simplifier) constrainEdge(u, v uint32, sides []edgeSide) {
	pu := s.point(u)
	d := s.point(v).sub(pu)
	l2 := d.length2()
	if l2 == 0 {
		return
	}
	open := true
	for _, a := range sides[1:] {
		if a.opp != sides[0].opp {
			open = false
		}
	}
	if open {
		s.markBorder(u, v)
	}
	for i := range sides {
		in := s.inward(sides[i].opp, pu, d, l2)
		if in == (vec{}) {
			continue
		}
		// Some triangle must go on beyond the edge, or the edge is an end.
		// Some triangle must have the same wedges, or the edge is on a seam.
		ends, seam := true, true
		for j := range sides {
			if j == i {
				continue
			}
			if in.dot(s.inward(sides[j].opp, pu, d, l2)) < foldCosine {
				ends = false
			}
			if s.cornerWedge[sides[j].cu] == s.cornerWedge[sides[i].cu] && s.cornerWedge[sides[j].cv] == s.cornerWedge[sides[i].cv] {
				seam = false
			}
		}
		weight := 0.0
		switch {
		case ends:
			weight = borderWeight
		case seam:
			for j := range sides {
				if j != i {
					weight = max(weight, s.seamWeight(s.cornerWedge[sides[i].cu], s.cornerWedge[sides[j].cu], s.cornerWedge[sides[i].cv], s.cornerWedge[sides[j].cv]))
				}
			}
		}
		s.hold(u, v, in, float64(weight*l2), ends)
	}
}

func (s *Simplifier) markBorder(u, v uint32) {
	flags := uint32(flagBorder)
	if s.opt.LockBorder {
		flags |= flagLocked
	}
	s.vertices[u].flags |= flags
	s.vertices[v].flags |= flags
}

// foldCosine: two triangles that enclose less than about 45 degrees end at
// their edge like a border; without this, thin shells would shrink.
const foldCosine = 0.7

// inward returns the unit vector in a triangle's plane, upright on its edge d
// from pu, that points to the opposite corner; zero if there is none.
func (s *surface) inward(opp uint32, pu, d vec, l2 float64) vec {
	e := s.point(opp).sub(pu)
	return unit(e.sub(d.scale(e.dot(d) / l2)))
}

// seamWeight returns the weight of the line between two sides of a seam, whose
// wedges at both ends are given.
func (s *Simplifier) seamWeight(wu, xu, wedgeVertex, xv uint32) float64 {
	if !s.opt.ColorSeams || s.in.Colors == nil {
		return seamWeight
	}
	return min(plainSeam+float64(colorSeam*max(s.contrast(wu, xu), s.contrast(wedgeVertex, xv))), mostSeam)
}

// contrast returns the square of the distance of two wedges' colours.
func (mt *metric) contrast(w, x uint32) float64 {
	if w == x {
		return 0
	}
	a, b := mt.record(w), mt.record(x)
	sum := 0.0
	for k := mt.attributeCount - 4; k < mt.attributeCount-1; k++ { // without alpha
		d := float64(a[1+3*k]-b[1+3*k]) / float64(mt.scale[k])
		sum += float64(d * d)
	}
	return sum
}

// hold adds to both ends of an edge the quadric of a plane through it.
func (s *surface) hold(u, v uint32, normal vec, weight float64, ends bool) {
	if weight == 0 {
		return
	}
	m := normal.scale(weight)
	xx, yy, zz := float32(m.x*normal.x), float32(m.y*normal.y), float32(m.z*normal.z)
	xy, xz, yz := float32(m.x*normal.y), float32(m.x*normal.z), float32(m.y*normal.z)
	s.vertices[u].sum.addSquare(xx, yy, zz, xy, xz, yz)
	s.vertices[v].sum.addSquare(xx, yy, zz, xy, xz, yz)
	if ends {
		s.geo[u].addSquare(xx, yy, zz, xy, xz, yz)
		s.geo[v].addSquare(xx, yy, zz, xy, xz, yz)
	}
}

// wheel is the living corners of a vertex and the vertices that they lead to.
type wheel struct {
	c    []uint32 // corners
	a, b []uint32 // vertices of the next corner in the triangle and of the last
}

// gather fills a wheel with at most so many corners.
func (s *surface) gather(v uint32, f *wheel, most int) {
	f.c = s.ringUpTo(v, f.c, most)
	n := len(f.c)
	if cap(f.a) < n {
		f.a, f.b = make([]uint32, 2*n), make([]uint32, 2*n)
	}
	f.a, f.b = f.a[:n], f.b[:n]
	a, b := f.a, f.b
	for i, c := range f.c {
		n1, n2 := corners(c)
		a[i], b[i] = s.at(n1), s.at(n2)
	}
}

// count returns how many of some numbers are x, and the index of the last one.
func count(list []uint32, x uint32) (n, last int) {
	for i, y := range list {
		step := 0
		if x == y {
			step, last = 1, i
		}
		n += step
	}
	return n, last
}
