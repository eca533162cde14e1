package simplify

import "math"

// cluster merges all vertices in a cell of a grid, with the finest grid that
// leaves no more than target triangles (Rossignac and Borrel, "Multi-resolution
// 3D approximations for rendering complex scenes", 1993). Locked vertices stay
// alone. It reports whether the target is reached; the diagonal of a cell is not
// longer than maxError.
func (s *Simplifier) cluster(target int, maxError float64) bool {
	if target <= 0 {
		return false
	}
	coarsest := 1
	if cells := math.Ceil(float64(math.Sqrt(3)*s.diag) / maxError); cells > 1 {
		coarsest = int(min(cells, clusterFinest))
	}
	cells := make([]uint32, len(s.vertices))
	if s.clusters(coarsest, cells) > target {
		return false
	}
	// The count grows with the resolution, nearly always.
	low, high := coarsest, clusterFinest
	for high-low > 1 {
		if mid := (low + high) / 2; s.clusters(mid, cells) <= target {
			low = mid
		} else {
			high = mid
		}
	}
	s.clusters(low, cells)
	s.merge(cells)
	s.stats.sloppy = true
	// Triangles can span what was a gap between cells.
	s.stats.least = max(s.stats.least, float64(math.Sqrt(3)*s.diag)/float64(low))
	return s.triangles <= target
}

// clusterFinest is the finest grid tried, in cells along the diagonal.
const clusterFinest = 1 << 14

// clusters numbers each vertex's cell by the first vertex in it and returns how
// many triangles span three cells.
func (s *Simplifier) clusters(resolution int, cells []uint32) int {
	scale := 0.0
	if s.diag > 0 {
		scale = float64(resolution) / s.diag
	}
	t := newTable(len(s.vertices))
	grid := func(v uint32) [3]int32 {
		p := s.vertices[v].pos
		var g [3]int32
		for i := range g {
			g[i] = int32(math.Floor(float64((float64(p[i]) + float64(s.diag/2)) * scale)))
		}
		return g
	}
	for i := range s.vertices {
		v := uint32(i)
		cells[i] = v
		if s.vertices[i].first == none || s.vertices[i].flags&flagLocked != 0 {
			continue
		}
		g := grid(v)
		h := mix(mix(uint64(uint32(g[0]))<<32|uint64(uint32(g[1]))) ^ uint64(uint32(g[2])))
		for h &= t.mask; ; h = (h + 1) & t.mask {
			j := t.slots[h]
			if j == none {
				t.slots[h] = v
				break
			}
			if grid(j) == g {
				cells[i] = j
				break
			}
		}
	}
	// Count triangles over three cells, each kind once.
	kinds := newTable(s.triangles)
	turned := func(c uint32) [3]uint32 { return turn(cells[s.at(c)], cells[s.at(c+1)], cells[s.at(c+2)]) }
	left := 0
	for c := uint32(0); int(c) < len(s.cornerWedge); c += 3 {
		if s.cornerWedge[c] == none {
			continue
		}
		if k := turned(c); k[0] != k[1] && k[1] != k[2] && k[2] != k[0] && !kinds.insert(c, turned) {
			left++
		}
	}
	return left
}

// turn rotates three numbers until the least is the first.
func turn(a, b, c uint32) [3]uint32 {
	switch {
	case b < a && b < c:
		return [3]uint32{b, c, a}
	case c < a && c < b:
		return [3]uint32{c, a, b}
	}
	return [3]uint32{a, b, c}
}

// merge makes one vertex of all that have the same cell. Wedges of a group in
// a cell become one.
func (s *Simplifier) merge(cells []uint32) {
	members := make([]uint32, len(s.vertices)) // of the cell whose first vertex it is
	sums := make([]vec, len(s.vertices))
	for i, cell := range cells {
		if s.vertices[i].first == none {
			continue
		}
		members[cell]++
		sums[cell] = sums[cell].add(s.point(uint32(i)))
	}
	for i, cell := range cells {
		nd := &s.vertices[i]
		if nd.first == none || members[cell] < 2 {
			continue
		}
		// Everything moves to the mean of the members.
		mean := sums[cell].scale(1 / float64(members[cell]))
		pos := mean.f32()
		s.shift(uint32(i), fromF32(&pos).sub(s.point(uint32(i))))
		nd.pos = pos
		nd.flags |= flagMoved | flagMulti
		if to := &s.vertices[cell]; int(cell) != i {
			f, g := to.sum.double(), s.geo[cell].double()
			f.addSingle(&nd.sum)
			g.addSingle(&s.geo[i])
			to.sum, s.geo[cell] = f.single(), g.single()
			to.flags |= nd.flags
		}
	}
	s.joinParts(cells)
	s.mergeCellWedges(cells)
	s.relink()
}

// mergeCellWedges gives all wedges of a group in a cell to the first of them, with
// the mean of their attributes.
func (s *Simplifier) mergeCellWedges(cells []uint32) {
	t := newTable(len(s.wedgeVertex))
	group := func(w uint32) int32 {
		if s.wedges.group == nil {
			return 0
		}
		return s.wedges.group[w]
	}
	for i := range s.wedgeVertex {
		w := uint32(i)
		if s.wedgeVertex[w]&gone != 0 || s.vertices[s.wedgeVertex[w]].first == none {
			continue
		}
		cell := cells[s.wedgeVertex[w]]
		if s.vertices[cell].flags&flagLocked != 0 {
			continue
		}
		h := mix(uint64(cell)<<32 | uint64(uint32(group(w))))
		for h &= t.mask; ; h = (h + 1) & t.mask {
			j := t.slots[h]
			if j == none {
				t.slots[h] = w
				s.wedgeVertex[w] = cell
				break
			}
			if s.wedgeVertex[j] == cell && group(j) == group(w) {
				s.absorb(j, w)
				break
			}
		}
	}
}

// absorb adds a wedge to another.
func (s *Simplifier) absorb(j, w uint32) {
	a, b := s.record(j)[:s.stride], s.record(w)[:s.stride]
	area := float64(a[0]) + float64(b[0])
	wa, wb := float64(a[0])/area, float64(b[0])/area
	for k := 1; k < len(a) && area > 0; k += 3 {
		p, q := (*[3]float32)(a[k:]), (*[3]float32)(b[k:])
		p[0] = float32(float64(wa*float64(p[0])) + float64(wb*float64(q[0])))
		setSlope(p, slopeIn(p).scale(wa).add(slopeIn(q).scale(wb)))
	}
	a[0] = float32(area)
	s.wedgeVertex[w] = gone | j
}

// relink renames corners, drops triangles that lost a side and those that
// repeat another one, and strings the rings anew.
func (s *Simplifier) relink() {
	for i := range s.vertices {
		s.vertices[i].first = none
	}
	t := newTable(s.triangles)
	s.triangles = 0
	for c := 0; c < len(s.cornerWedge); c += 3 {
		if s.cornerWedge[c] == none {
			continue
		}
		for i := range 3 {
			s.cornerWedge[c+i] = s.root(s.cornerWedge[c+i])
		}
		if s.repeats(uint32(c), &t) {
			s.drop(uint32(c))
			continue
		}
		s.triangles++
	}
	s.reopen(s.cornerWedge)
	s.link()
}

// repeats reports whether a triangle has two corners at one vertex or the same
// corners, in the same sense, as one that is in the table.
func (s *surface) repeats(c uint32, t *table) bool {
	turned := func(c uint32) [3]uint32 { return turn(s.at(c), s.at(c+1), s.at(c+2)) }
	p := turned(c)
	if p[0] == p[1] || p[1] == p[2] || p[2] == p[0] {
		return true
	}
	return t.insert(c, turned)
}
