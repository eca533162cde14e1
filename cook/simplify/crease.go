package simplify

import (
	"cmp"
	"slices"
)

// A triangle of a coarse level stands for many of the source, whose normals may
// turn at once along a ridge that no edge with several wedges marks. One normal
// per place averages that away. Where normals on two sides of a place pull
// different ways, the place gets two: a crease. Creases are part of the result,
// not of the mesh that goes on being reduced.

// defaultCreases is Options.Creases when that is 0. At equal numbers of
// triangles it takes about a fifth off the deviation of normals, for a quarter
// more bytes; and as the metric then needs less weight on normals, about a third
// off the distances.
const defaultCreases = 0.4

// creaseTurn is the least mean turn, in radians, that makes a crease worth its
// vertex.
const creaseTurn = 0.2 * 3.14159265 / 180

// creaseCorners is the largest number of corners of a place with a crease.
const creaseCorners = 64

// creases are the second normals of the state that was fitted last.
type creases struct {
	left    ranks    // the triangles of the source that are left
	of      []uint32 // per corner of these: index of its normal, or none
	normals []vec    // in internal units; two for each place with a crease
}

// number numbers the triangles that are left.
func (k *creases) number(s *Simplifier) {
	k.left = newRanks(len(s.cw)/3, func(t int) bool { return s.cw[3*t] != none })
	k.of = make([]uint32, 3*k.left.count)
	for i := range k.of {
		k.of[i] = none
	}
}

// index returns the number of a living corner among the living ones.
func (k *creases) index(c uint32) uint32 { return 3*k.left.of(c/3) + c%3 }

// at returns the index of a corner's normal, or none.
func (k *creases) at(c uint32) uint32 {
	if len(k.normals) == 0 {
		return none
	}
	return k.of[k.index(c)]
}

// normal returns the normal at a corner, in internal units.
func (s *Simplifier) normal(c uint32) vec { return s.normalAt(c, s.crease.index(c)) }

// normalAt is normal of the corner with number i among the living ones.
func (s *Simplifier) normalAt(c, i uint32) vec {
	if k := &s.crease; len(k.normals) > 0 && k.of[i] != none {
		return k.normals[k.of[i]]
	}
	r := s.wq[int(s.cw[c])*s.stride:]
	return vec{float64(r[1]), float64(r[5]), float64(r[9])}
}

// cut is a possible crease: it parts a fan of corners in two.
type cut struct {
	gain     float32
	fan      uint32 // offset among those of all cuts
	len      uint8
	from, to uint8 // the corners that it takes away
}

// crease makes the creases that gain most.
func (x *fitter) crease() {
	s := x.s
	share := s.opt.Creases
	if share == 0 {
		share = defaultCreases
	}
	budget := int(min(max(0, float64(share*float64(len(x.pulls)))), maxVertices))
	if budget == 0 {
		return
	}
	cuts, fans := x.cuts()
	slices.SortFunc(cuts, func(a, b cut) int {
		return cmp.Or(cmp.Compare(b.gain, a.gain), cmp.Compare(a.fan, b.fan))
	})
	cuts = cuts[:min(len(cuts), budget)]
	s.crease.normals = make([]vec, 0, 2*len(cuts))
	for _, c := range cuts {
		fan := fans[c.fan : c.fan+uint32(c.len)]
		x.part(fan[c.from:c.to])
		x.part(fan[:c.from], fan[c.to:])
	}
}

// part gives corners a normal of their own.
func (x *fitter) part(fan ...[]uint32) {
	k := &x.s.crease
	var p pull
	var n vec
	for _, part := range fan {
		for _, c := range part {
			n = x.s.normal(c)
			p.join(&x.turns[k.index(c)])
		}
	}
	if p.w > 0 {
		n = n.add(p.mean())
	}
	for _, part := range fan {
		for _, c := range part {
			k.of[k.index(c)] = uint32(len(k.normals))
		}
	}
	k.normals = append(k.normals, n)
}

// cuts returns the best cut of every fan that has a useful one, and the corners
// of these fans.
func (x *fitter) cuts() (cuts []cut, fans []uint32) {
	s := x.s
	var fan []uint32
	for v := range s.nodes {
		if nd := &s.nodes[v]; nd.first == none || nd.flags&flagLocked != 0 {
			continue
		}
		ring := s.ringUpTo(uint32(v), s.scratch.ringU, creaseCorners+1)
		s.scratch.ringU = ring
		if len(ring) > creaseCorners {
			continue
		}
		for len(ring) > 1 {
			fan, ring = s.fan(ring, fan)
			if c := x.best(fan); c.to > 0 {
				c.fan, c.len = uint32(len(fans)), uint8(len(fan))
				cuts = append(cuts, c)
				fans = append(fans, fan...)
			}
		}
	}
	return cuts, fans
}

// fan moves the corners that are connected to a ring's first one, and have its
// wedge, to fan, in their order around the place.
func (s *Simplifier) fan(ring, buf []uint32) (fan, rest []uint32) {
	fan = append(buf[:0], ring[0])
	rest = ring[1:]
	w := s.cw[ring[0]]
	for _, back := range [2]bool{false, true} {
		for {
			next := s.beside(fan, rest, w, back)
			if next < 0 {
				break
			}
			c := rest[next]
			rest[next] = rest[0]
			rest = rest[1:]
			if back {
				fan = slices.Insert(fan, 0, c)
			} else {
				fan = append(fan, c)
			}
		}
	}
	return fan, rest
}

// beside returns which of the corners follows a fan, or precedes it, or -1.
func (s *Simplifier) beside(fan, from []uint32, w uint32, back bool) int {
	_, end := corners(fan[len(fan)-1])
	if back {
		end, _ = corners(fan[0])
	}
	place := s.at(end)
	for i, c := range from {
		if s.cw[c] != w {
			continue
		}
		n, n2 := corners(c)
		if back {
			n = n2
		}
		if s.at(n) == place {
			return i
		}
	}
	return -1
}

// sums are pulls in double precision.
type sums struct {
	d vec
	w float64
}

func (a sums) add(p *pull) sums {
	return sums{a.d.add(vec{float64(p.x), float64(p.y), float64(p.z)}), a.w + float64(p.w)}
}

func (a sums) sub(b sums) sums { return sums{a.d.sub(b.d), a.w - b.w} }

// saved is the squared deviation that turning one normal saves.
func (a sums) saved() float64 {
	if !(a.w > 0) {
		return 0
	}
	return a.d.length2() / a.w
}

// best returns the cut of a fan that saves most.
func (x *fitter) best(fan []uint32) (best cut) {
	s := x.s
	_, last := corners(fan[len(fan)-1])
	first, _ := corners(fan[0])
	closed := s.at(last) == s.at(first)
	var upTo [creaseCorners + 1]sums
	for i, c := range fan {
		upTo[i+1] = upTo[i].add(&x.turns[s.crease.index(c)])
	}
	all := upTo[len(fan)]
	base := all.saved()
	turn := float64(creaseTurn * s.scale[0])
	gain := float64(float64(turn*turn) * all.w)
	for i := 1; i < len(fan); i++ {
		j := len(fan)
		if closed {
			j = i + 1
		}
		for ; j <= len(fan); j++ {
			in := upTo[j].sub(upTo[i])
			if g := in.saved() + all.sub(in).saved() - base; g > gain {
				gain = g
				best = cut{gain: float32(g), from: uint8(i), to: uint8(j)}
			}
		}
	}
	return best
}

// turn applies the pulls on normals and clears them. In the first pass those on
// corners with creases have been applied to these; then they also count for the
// place's own normal, from which further levels start.
func (x *fitter) turn(first bool) {
	s := x.s
	k := &s.crease
	extra := make([]pull, len(k.normals))
	for v := range s.nodes {
		if nd := &s.nodes[v]; nd.first == none || nd.flags&flagLocked != 0 {
			continue
		}
		ring := s.ring(uint32(v), s.scratch.ringU)
		s.scratch.ringU = ring
		for len(ring) > 0 {
			w := s.cw[ring[0]]
			var p pull
			rest := ring[:0]
			for _, c := range ring {
				if s.cw[c] != w {
					rest = append(rest, c)
					continue
				}
				d := &x.turns[k.index(c)]
				if i := k.at(c); i != none && !first {
					extra[i].join(d)
				} else {
					p.join(d)
				}
			}
			ring = rest
			s.turnWedge(w, &p)
		}
	}
	for i := range extra {
		if extra[i].w > 0 {
			k.normals[i] = k.normals[i].add(extra[i].mean())
		}
	}
	clear(x.turns)
}

// turnWedge adds to a wedge's normal.
func (s *Simplifier) turnWedge(w uint32, p *pull) {
	if !(p.w > 0) {
		return
	}
	d := p.mean()
	r := s.wq[int(w)*s.stride:]
	r[1] += float32(d.x)
	r[5] += float32(d.y)
	r[9] += float32(d.z)
}
