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

// creases are the normals of the state that was fitted last, or only numbers
// for them where there are none.
type creases struct {
	of      []uint32 // per corner of the triangles that are left: its normal
	normals []vec32  // in internal units: those of wedges, then two for each crease
	wedges  uint32   // how many are of wedges
}

// count returns how many places have two normals.
func (k *creases) count() int {
	return (len(k.normals) - min(len(k.normals), int(k.wedges))) / 2
}

// numberNormals gives each wedge that some triangle uses a normal. It returns
// these wedges and the triangles that are left, too.
func (s *Simplifier) numberNormals() (k creases, used, left ranks) {
	used, left = newRanks(len(s.wv)), newRanks(len(s.cw)/3)
	for t := range len(s.cw) / 3 {
		if s.cw[3*t] != none {
			left.put(uint32(t))
		}
	}
	left.number()
	for t := range left.all() {
		w := (*[3]uint32)(s.cw[3*t:])
		used.put(w[0])
		used.put(w[1])
		used.put(w[2])
	}
	k.wedges = uint32(used.number())
	k.of = make([]uint32, 0, 3*s.triangles)
	for t := range left.all() {
		w := (*[3]uint32)(s.cw[3*t:])
		k.of = append(k.of, used.of(w[0]), used.of(w[1]), used.of(w[2]))
	}
	return k, used, left
}

// startNormals starts with the normals of the wedges.
func (x *fitter) startNormals() {
	s := x.s
	k := &s.crease
	k.normals = make([]vec32, 0, int(k.wedges)+2*x.budget())
	for w := range x.wedges.all() {
		r := (*[8]float32)(s.wq[int(w)*s.stride:])
		k.normals = append(k.normals, vec32{r[1], r[4], r[7]})
	}
	x.turns = make([]pull, len(k.of))
	x.hits = make([]sampleHit, (len(s.in.Indices)+x.stride-1)/x.stride)
	x.unit = float32(s.scale[0])
}

// budget returns how many creases there may be.
func (x *fitter) budget() int {
	share := x.s.opt.Creases
	if share == 0 {
		share = defaultCreases
	}
	if !(share > 0) {
		return 0
	}
	return int(min(float64(share*float64(x.places)), float64(len(x.s.crease.of)/2)))
}

// cut is a possible crease: it parts a fan of corners in two.
type cut struct {
	gain     float32
	place    uint32
	fan      uint8 // the number of the fan among those of the place
	from, to uint8 // the corners that it takes away
}

// crease makes the creases that gain most.
func (x *fitter) crease() {
	s := x.s
	budget := x.budget()
	if budget == 0 {
		return
	}
	for _, c := range x.cuts(budget) {
		ring := s.ringUpTo(c.place, s.scratch.ringU, creaseCorners)
		s.scratch.ringU = ring
		for range c.fan + 1 {
			x.fan, ring = s.fan(ring, x.fan)
		}
		x.part(x.fan[c.from:c.to])
		x.part(x.fan[:c.from], x.fan[c.to:])
	}
}

// part gives corners a normal of their own.
func (x *fitter) part(fan ...[]uint32) {
	k := &x.s.crease
	var p pull
	var n vec32
	for _, part := range fan {
		for _, c := range part {
			i := x.corner(c)
			n = k.normals[k.of[i]]
			p.join(&x.turns[i])
			k.of[i] = uint32(len(k.normals))
		}
	}
	if p.w > 0 {
		n = n.add(p.mean())
	}
	k.normals = append(k.normals, n)
}

// cuts returns, of the best cuts of all fans that have a useful one, those that
// gain most.
func (x *fitter) cuts(most int) []cut {
	s := x.s
	var cuts []cut
	for v := range s.nodes {
		if nd := &s.nodes[v]; nd.first == none || nd.flags&flagLocked != 0 {
			continue
		}
		ring := s.ringUpTo(uint32(v), s.scratch.ringU, creaseCorners+1)
		s.scratch.ringU = ring
		if len(ring) > creaseCorners {
			continue
		}
		for i := uint8(0); len(ring) > 1; i++ {
			x.fan, ring = s.fan(ring, x.fan)
			if c := x.best(x.fan); c.to > 0 {
				c.place, c.fan = uint32(v), i
				if cuts == nil {
					cuts = make([]cut, 0, 2*most)
				}
				if len(cuts) == cap(cuts) {
					cuts = bestCuts(cuts, most)
				}
				cuts = append(cuts, c)
			}
		}
	}
	return bestCuts(cuts, most)
}

// bestCuts sorts cuts by what they gain and drops the last ones.
func bestCuts(cuts []cut, most int) []cut {
	slices.SortFunc(cuts, func(a, b cut) int {
		return cmp.Or(cmp.Compare(b.gain, a.gain), cmp.Compare(a.place, b.place), cmp.Compare(a.fan, b.fan))
	})
	return cuts[:min(len(cuts), most)]
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

func (a sums) plus(b sums) sums { return sums{a.d.add(b.d), a.w + b.w} }
func (a sums) sub(b sums) sums  { return sums{a.d.sub(b.d), a.w - b.w} }

func (p *pull) double() sums { return sums{vec32{p.x, p.y, p.z}.double(), float64(p.w)} }

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
	upTo := &x.upTo
	each := 0.0 // what a normal for each corner would save
	for i, c := range fan {
		d := x.turns[x.corner(c)].double()
		upTo[i+1] = upTo[i].plus(d)
		each += d.saved()
	}
	all := upTo[len(fan)]
	base := all.saved()
	turn := float64(creaseTurn * s.scale[0])
	gain := float64(float64(turn*turn) * all.w)
	if each-base < gain {
		return best // nothing saves more than that
	}
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

// turn applies the pulls on normals, makes creases, and does it once more. At
// first, pulls on corners with creases count for these and for the wedge's own
// normal, from which further levels start; then for creases alone.
func (x *fitter) turn() {
	k := &x.s.crease
	own := zeroed(x.pulls, int(k.wedges))
	for i, n := range k.of {
		own[n].join(&x.turns[i])
	}
	x.crease()
	x.turnWedges(own)
	sums := zeroed(x.turns, len(k.normals))
	x.gatherNormals(sums)
	x.turnWedges(sums[:k.wedges])
	for i := int(k.wedges); i < len(k.normals); i++ {
		if p := &sums[i]; p.w > 0 {
			k.normals[i] = k.normals[i].add(p.mean())
		}
	}
}

// zeroed returns so many empty sums, in the memory of others if that suffices.
func zeroed(p []pull, n int) []pull {
	p = slices.Grow(p[:0], n)[:n]
	clear(p)
	return p
}

// turnWedges adds to the normals of wedges that may change.
func (x *fitter) turnWedges(sums []pull) {
	s := x.s
	i := 0
	for w := range x.wedges.all() {
		p := &sums[i]
		if p.w > 0 && s.nodes[s.wv[w]].flags&flagLocked == 0 {
			n := &s.crease.normals[i]
			*n = n.add(p.mean())
			r := (*[8]float32)(s.wq[int(w)*s.stride:])
			r[1], r[4], r[7] = n.x, n.y, n.z
		}
		i++
	}
}
