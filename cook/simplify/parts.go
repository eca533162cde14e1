package simplify

import "math"

// part is a connected component of the surface.
type part struct {
	min, max [3]float32
	corners  int32
	locked   bool
	key      uint16 // price of its removal, never if it must stay
}

func (p *part) diagonal() float64 {
	return math.Sqrt(fromF32(&p.max).sub(fromF32(&p.min)).length2())
}

// findParts numbers the connected components by their first place.
func (s *Simplifier) findParts() {
	s.scaled = s.triangles
	if !(s.opt.PruneBelow > 0) {
		return
	}
	of := make([]uint32, len(s.nodes))
	s.partOf = of
	for i := range of {
		of[i] = uint32(i)
	}
	cw, wv := s.cw, s.wv
	for c := 0; c < len(cw)-2; c += 3 {
		if cw[c] == none {
			continue
		}
		a := rootOf(of, wv[cw[c]])
		a = unite(of, a, wv[cw[c+1]])
		unite(of, a, wv[cw[c+2]])
	}
	count := 0
	for i, v := range of {
		if v == uint32(i) {
			count++
		}
	}
	s.parts = make([]part, 0, count)
	// Roots come before their members.
	for i := range s.nodes {
		nd := &s.nodes[i]
		if of[i] != uint32(i) {
			of[i] = of[of[i]]
			s.parts[of[i]].add(nd)
			continue
		}
		of[i] = uint32(len(s.parts))
		s.parts = append(s.parts, part{min: nd.pos, max: nd.pos, key: never, locked: nd.flags&flagLocked != 0})
	}
}

// rootOf finds the root of a tree, and halves the way to it.
func rootOf(of []uint32, v uint32) uint32 {
	for of[v] != v {
		of[v] = of[of[v]]
		v = of[v]
	}
	return v
}

// unite joins the tree with root a and that of v. The lowest number becomes the
// root, whatever the order.
func unite(of []uint32, a, v uint32) uint32 {
	if of[v] == a {
		return a
	}
	b := rootOf(of, v)
	if a > b {
		a, b = b, a
	}
	of[b] = a
	return a
}

// add adds a place.
func (p *part) add(nd *node) {
	for k, x := range nd.pos {
		if x < p.min[k] {
			p.min[k] = x
		}
		if x > p.max[k] {
			p.max[k] = x
		}
	}
	p.locked = p.locked || nd.flags&flagLocked != 0
}

// join adds another component, but for its corners, which priceParts counts.
func (p *part) join(q *part) {
	for k := range p.min {
		p.min[k] = min(p.min[k], q.min[k])
		p.max[k] = max(p.max[k], q.max[k])
	}
	p.locked = p.locked || q.locked
}

// joinParts makes one component of those that share a cell, see cluster.
func (s *Simplifier) joinParts(cells []uint32) {
	if s.parts == nil {
		return
	}
	of := make([]uint32, len(s.parts))
	for i := range of {
		of[i] = uint32(i)
	}
	for i, cell := range cells {
		unite(of, rootOf(of, s.partOf[i]), s.partOf[cell])
	}
	for i := range s.parts {
		if root := rootOf(of, uint32(i)); root != uint32(i) {
			s.parts[root].join(&s.parts[i])
		}
	}
	for i, p := range s.partOf {
		s.partOf[i] = rootOf(of, p)
	}
}

// priceParts finds what the removal of each component costs: its area times
// the square of a part of its extent.
func (r *run) priceParts() {
	s := r.s
	if s.parts == nil {
		return
	}
	area := make([]float64, len(s.parts))
	for i := range s.parts {
		s.parts[i].corners = 0
	}
	for c := 0; c < len(s.cw); c += 3 {
		if s.cw[c] == none {
			continue
		}
		v := s.at(uint32(c))
		a := s.point(v)
		n := s.point(s.at(uint32(c + 1))).sub(a).cross(s.point(s.at(uint32(c + 2))).sub(a))
		i := s.partOf[v]
		area[i] += float64(math.Sqrt(n.length2()) / 2)
		s.parts[i].corners += 3
	}
	for i := range s.parts {
		p := &s.parts[i]
		p.key = never
		if d := p.diagonal(); p.corners > 0 && !p.locked && d < s.opt.PruneBelow && d <= r.limit {
			p.key = key(float64(area[i]*d) * float64(d*pruneFactor))
		}
	}
}

// pruneFactor is the square of the part of the diagonal by which points of a
// component are off once it is gone.
const pruneFactor = 0.5

// prune removes the components that cost no more than the limit, cheapest
// kinds first as the limit rises, and reports whether the target is reached.
func (r *run) prune(limit uint16) bool {
	s := r.s
	found := false
	for i := range s.parts {
		if s.parts[i].key <= limit {
			found = true
			break
		}
	}
	if !found {
		return false
	}
	for c := 0; c < len(s.cw); c += 3 {
		if s.cw[c] == none {
			continue
		}
		p := &s.parts[s.partOf[s.at(uint32(c))]]
		if p.key > limit {
			continue
		}
		if p.corners > 0 {
			if s.triangles <= r.target || s.triangles-int(p.corners/3) < r.target/2 {
				p.key = never // stays for now
				continue
			}
			p.corners = 0 // it goes as a whole
			s.stats.pruned++
			s.stats.least = max(s.stats.least, p.diagonal())
		}
		for i := range 3 {
			s.nodes[s.at(uint32(c+i))].first = none
		}
		s.drop(uint32(c))
		s.triangles--
		r.changed++
	}
	for i := range s.parts {
		if s.parts[i].key <= limit {
			s.parts[i].key = never
		}
	}
	return s.triangles <= r.target
}
