package simplify

import (
	"fmt"
	"math"
)

// part is a connected component of the surface, or what Options.Parts says.
type part struct {
	min, max [3]float32
	corners  int32
	locked   bool
	whole    bool   // collapses leave two triangles
	key      uint16 // price of its removal, never if it must stay
}

// components are what may vanish as a whole: the connected components of the
// surface, or what Options.Parts says. Each knows its box, its corners that are
// left and what its removal costs.
type components struct {
	parts      []part
	given      []part   // parts, if they are those of the options
	partOf     []uint32 // per vertex; nil if no component may go
	ofTriangle []int32  // Options.Parts
}

// checkParts refuses parts that are not within their lists.
func checkParts(o *Options) error {
	if len(o.PartWhole) != len(o.PartCosts) {
		return fmt.Errorf("%w: PartWhole has length %d, PartCosts %d", ErrMesh, len(o.PartWhole), len(o.PartCosts))
	}
	for t, p := range o.Parts {
		if p < 0 || int(p) >= len(o.PartCosts) {
			return fmt.Errorf("%w: Parts[%d] is %d, but there are %d parts", ErrMesh, t, p, len(o.PartCosts))
		}
	}
	return nil
}

func (p *part) diagonal() float64 {
	return math.Sqrt(fromF32(&p.max).sub(fromF32(&p.min)).length2())
}

// findParts numbers the connected components by their first vertex.
func (s *Simplifier) findParts() {
	s.scaled = s.triangles
	if len(s.opt.Parts) > 0 {
		s.givenParts()
		return
	}
	if !(s.opt.PruneBelow > 0) {
		return
	}
	of := make([]uint32, len(s.vertices))
	s.partOf = of
	for i := range of {
		of[i] = uint32(i)
	}
	cornerWedge, wedgeVertex := s.cornerWedge, s.wedgeVertex
	for c := 0; c < len(cornerWedge)-2; c += 3 {
		if cornerWedge[c] == none {
			continue
		}
		a := rootOf(of, wedgeVertex[cornerWedge[c]])
		a = joinTrees(of, a, wedgeVertex[cornerWedge[c+1]])
		joinTrees(of, a, wedgeVertex[cornerWedge[c+2]])
	}
	count := 0
	for i, v := range of {
		if v == uint32(i) {
			count++
		}
	}
	s.parts = make([]part, 0, count)
	// Roots come before their members.
	for i := range s.vertices {
		nd := &s.vertices[i]
		if of[i] != uint32(i) {
			of[i] = of[of[i]]
			s.parts[of[i]].add(nd)
			continue
		}
		of[i] = uint32(len(s.parts))
		s.parts = append(s.parts, part{min: nd.pos, max: nd.pos, key: never, locked: nd.flags&flagLocked != 0})
	}
}

// givenParts takes over the parts of the options.
func (s *Simplifier) givenParts() {
	s.ofTriangle = s.opt.Parts
	s.given = make([]part, len(s.opt.PartCosts))
	for i := range s.given {
		s.given[i] = part{min: [3]float32{inf, inf, inf}, max: [3]float32{-inf, -inf, -inf}, key: never, whole: s.opt.PartWhole[i]}
	}
	for c := 0; c < len(s.cornerWedge); c += 3 {
		if s.cornerWedge[c] == none {
			continue
		}
		p := &s.given[s.opt.Parts[c/3]]
		for i := range 3 {
			p.add(&s.vertices[s.at(uint32(c+i))])
		}
		p.corners += 3
	}
	s.parts = s.given
}

// partAt returns the part of the triangle of a corner.
func (co *components) partAt(c, v uint32) *part {
	if co.given != nil {
		return &co.given[co.ofTriangle[c/3]]
	}
	return &co.parts[co.partOf[v]]
}

// lost reports whether a source corner's part of the options is gone.
func (co *components) lost(c int) bool {
	return co.given != nil && co.given[co.ofTriangle[c/3]].corners == 0
}

// wouldHalve reports whether a collapse that removes the triangles of list would leave
// less than two of a part that must stay whole.
func (co *components) wouldHalve(list []ray) bool {
	for i := range list {
		p := &co.given[co.ofTriangle[list[i].c/3]]
		if !p.whole {
			continue
		}
		left := p.corners / 3
		for k := range list {
			if &co.given[co.ofTriangle[list[k].c/3]] == p {
				left--
			}
		}
		if left < 2 {
			return true
		}
	}
	return false
}

// rootOf finds the root of a tree, and halves the way to it.
func rootOf(of []uint32, v uint32) uint32 {
	for of[v] != v {
		of[v] = of[of[v]]
		v = of[v]
	}
	return v
}

// joinTrees joins the tree with root a and that of v. The lowest number becomes the
// root, whatever the order.
func joinTrees(of []uint32, a, v uint32) uint32 {
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

// add adds a vertex.
func (p *part) add(nd *vertex) {
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
func (co *components) joinParts(cells []uint32) {
	if co.parts == nil || co.given != nil {
		return
	}
	of := make([]uint32, len(co.parts))
	for i := range of {
		of[i] = uint32(i)
	}
	for i, cell := range cells {
		joinTrees(of, rootOf(of, co.partOf[i]), co.partOf[cell])
	}
	for i := range co.parts {
		if root := rootOf(of, uint32(i)); root != uint32(i) {
			co.parts[root].join(&co.parts[i])
		}
	}
	for i, p := range co.partOf {
		co.partOf[i] = rootOf(of, p)
	}
}

// priceParts finds what the removal of each component costs: its area times
// the square of a part of its extent.
func (r *run) priceParts() {
	s := r.s
	if s.parts == nil {
		return
	}
	if s.given != nil {
		r.priceGiven()
		return
	}
	area := make([]float64, len(s.parts))
	for i := range s.parts {
		s.parts[i].corners = 0
	}
	for c := 0; c < len(s.cornerWedge); c += 3 {
		if s.cornerWedge[c] == none {
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

// priceGiven is priceParts for parts of the options. What a part costs is shared
// out to its triangles: a collapse removes two.
func (r *run) priceGiven() {
	s := r.s
	for i := range s.given {
		p := &s.given[i]
		p.key = never
		if d := p.diagonal(); p.corners > 0 && !p.locked && d < s.opt.PruneBelow && d <= r.limit {
			p.key = key(float64(6*s.opt.PartCosts[i]) / float64(p.corners))
		}
	}
}

// going is the key of a part of which the first triangles went.
const going = unpriced

// cheapestPart returns the lowest key of the options' parts that may go, or never.
func (co *components) cheapestPart() uint16 {
	least := uint16(never)
	for i := range co.given {
		least = min(least, co.given[i].key)
	}
	return least
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
	var touched []uint32
	for c := 0; c < len(s.cornerWedge); c += 3 {
		if s.cornerWedge[c] == none {
			continue
		}
		p := s.partAt(uint32(c), s.at(uint32(c)))
		if p.key > limit {
			continue
		}
		if p.key != going {
			if s.triangles <= r.target || s.triangles-int(p.corners/3) < r.target/2 {
				p.key = never // stays for now
				continue
			}
			p.key = going
			s.stats.pruned++
			s.stats.least = max(s.stats.least, p.diagonal())
		}
		for i := range 3 {
			if v := s.at(uint32(c + i)); s.given == nil {
				s.vertices[v].first = none
			} else {
				touched = append(touched, v)
			}
		}
		s.drop(uint32(c))
		s.triangles--
		r.changed++
	}
	for _, v := range touched {
		s.scratch.ringU = s.ring(v, s.scratch.ringU) // forgets vertices that are empty now
	}
	for i := range s.parts {
		if s.parts[i].key <= limit {
			s.parts[i].key = never
		}
	}
	return s.triangles <= r.target
}
