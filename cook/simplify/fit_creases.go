package simplify

import (
	"math"
	"slices"
)

// A triangle of a coarse level stands for many of the source, whose normals may
// turn at once along a ridge that no edge with several wedges marks. One normal
// per vertex averages that away. Where normals on two sides of a vertex pull
// different ways, the vertex gets two: a crease. Creases are part of the result,
// not of the mesh that goes on being reduced.

// defaultCreases is Options.Creases when that is 0. At equal numbers of
// triangles it takes about a fifth off the deviation of normals, for a quarter
// more bytes; and as the metric then needs less weight on normals, about a third
// off the distances.
const defaultCreases = 0.4

// creaseTurn is the least mean turn, in radians, that makes a crease worth its
// vertex.
const creaseTurn = 0.2 * 3.14159265 / 180

// creaseCorners is the largest number of corners of a vertex with a crease.
const creaseCorners = 64

// creases are those of the state that was fitted last. A crease parts the corners
// of a wedge in two.
type creases struct {
	triangles int      // of that state
	wedges    ranks    // that have one
	away      []uint64 // bits of corners that are left, numbered in their order: on the second side of a crease
	normals   []vec32  // in internal units, two for each crease
}

// count returns how many wedges have two normals.
func (k *creases) count() int { return len(k.normals) / 2 }

// cut reports whether a corner, by its number among those that are left, is on the
// second side of a crease.
func (k *creases) cut(i uint32) bool {
	return k.away != nil && k.away[i/64]>>(i&63)&1 != 0
}

// normal returns the normal of one of a wedge's corners if there is a crease, or
// nil.
func (k *creases) normal(w, i uint32) *vec32 {
	if k.away == nil || !k.wedges.has(w) {
		return nil
	}
	j := 2 * k.wedges.of(w)
	if k.cut(i) {
		j++
	}
	return &k.normals[j]
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
	return int(min(float64(share*float64(x.count)), float64(3*x.s.triangles/2)))
}

// cut is a possible crease: it parts a fan of corners in two.
type cut struct {
	gain     float32
	wedge    uint32
	fan      uint8 // the number of the fan among those of the vertex
	from, to uint8 // the corners that it takes away
}

// crease makes the creases that gain most.
func (x *fitter) crease() {
	s := x.s
	s.crease = creases{triangles: s.triangles}
	most := x.budget()
	if most == 0 {
		return
	}
	cuts := x.allCuts(most)
	if len(cuts) == 0 {
		return
	}
	k := &s.crease
	k.wedges, k.away = newRanks(len(s.wedgeVertex)), make([]uint64, (3*s.triangles+63)/64)
	for i := range cuts {
		k.wedges.put(cuts[i].wedge)
	}
	k.normals = make([]vec32, 2*k.wedges.number())
	for i := range cuts {
		x.part(&cuts[i])
	}
}

// part makes a crease.
func (x *fitter) part(c *cut) {
	s := x.s
	k := &s.crease
	ring := s.ringUpTo(s.wedgeVertex[c.wedge], s.scratch.ringU, creaseCorners)
	s.scratch.ringU = ring
	for range c.fan + 1 {
		x.fan, ring = s.fan(ring, x.fan)
	}
	for _, c := range x.fan[c.from:c.to] {
		i := 3*x.sums.left.of(c/3) + c%3
		k.away[i/64] |= 1 << (i & 63)
	}
	n := s.normal(c.wedge)
	i := 2 * k.wedges.of(c.wedge)
	k.normals[i], k.normals[i+1] = n, n
}

// allCuts returns, of the best cuts of all wedges that have a useful one, those
// that gain most.
func (x *fitter) allCuts(most int) []cut {
	s := x.s
	cuts := make([]cut, 0, most+most/4+1)
	least := float32(0)
	for _, v := range x.left.all() {
		if s.vertices[v].flags&flagLocked != 0 {
			continue
		}
		for _, c := range x.cutsAt(v) {
			if c.gain < least {
				continue
			}
			if len(cuts) == cap(cuts) {
				cuts, least = bestCuts(cuts, most)
			}
			cuts = append(cuts, c)
		}
	}
	cuts, _ = bestCuts(cuts, most)
	return cuts
}

// cutsAt returns the best cut of each wedge of a vertex that has a useful one.
func (x *fitter) cutsAt(v uint32) []cut {
	s := x.s
	x.cuts = x.cuts[:0]
	ring := s.ringUpTo(v, s.scratch.ringU, creaseCorners+1)
	s.scratch.ringU = ring
	if len(ring) > creaseCorners || !x.turns(ring) {
		return nil
	}
	for i := uint8(0); len(ring) > 1; i++ {
		x.fan, ring = s.fan(ring, x.fan)
		c := x.best(x.fan)
		if c.to == 0 {
			continue
		}
		c.wedge, c.fan = s.cornerWedge[x.fan[0]], i
		if j := slices.IndexFunc(x.cuts, func(d cut) bool { return d.wedge == c.wedge }); j < 0 {
			x.cuts = append(x.cuts, c)
		} else if c.gain > x.cuts[j].gain {
			x.cuts[j] = c
		}
	}
	return x.cuts
}

// turns reports whether some corner turns enough for a crease: where none does,
// no fan saves what a crease is worth.
func (x *fitter) turns(ring []uint32) bool {
	turn := float32(creaseTurn * x.unit)
	for _, c := range ring {
		p := x.sums.of(c)
		if d := (vec32{p.x, p.y, p.z}); d.length2() > float32(float32(turn*p.w)*float32(turn*p.w)) {
			return true
		}
	}
	return false
}

// bestCuts drops all but those cuts that gain most, which keep their order, and
// returns a gain that all of these reach. Of about equal ones the last go.
func bestCuts(cuts []cut, most int) ([]cut, float32) {
	if len(cuts) <= most {
		return cuts, 0
	}
	const shift = 19 // four bits of the fraction
	var bins [1 << (31 - shift)]int
	for i := range cuts {
		bins[math.Float32bits(cuts[i].gain)>>shift]++
	}
	bin, left := len(bins)-1, most
	for ; bins[bin] <= left; bin-- {
		left -= bins[bin]
	}
	kept := cuts[:0]
	for _, c := range cuts {
		switch b := int(math.Float32bits(c.gain) >> shift); {
		case b < bin:
			continue
		case b == bin:
			if left == 0 {
				continue
			}
			left--
		}
		kept = append(kept, c)
	}
	return kept, math.Float32frombits(uint32(bin) << shift)
}

// fan moves the corners that are connected to a ring's first one, and have its
// wedge, to fan, in their order around the vertex.
func (s *surface) fan(ring, buf []uint32) (fan, rest []uint32) {
	fan = append(buf[:0], ring[0])
	rest = ring[1:]
	w := s.cornerWedge[ring[0]]
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
func (s *surface) beside(fan, from []uint32, w uint32, back bool) int {
	_, end := corners(fan[len(fan)-1])
	if back {
		end, _ = corners(fan[0])
	}
	vertex := s.at(end)
	for i, c := range from {
		if s.cornerWedge[c] != w {
			continue
		}
		n, n2 := corners(c)
		if back {
			n = n2
		}
		if s.at(n) == vertex {
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
		p := x.sums.of(c)
		d := p.double()
		upTo[i+1] = upTo[i].plus(d)
		each += d.saved()
	}
	all := upTo[len(fan)]
	base := all.saved()
	turn := float64(creaseTurn * float64(s.scale[0]))
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
