package simplify

import "math"

// cornerSums are sums of pulls on normals, one for each corner that is left, in
// half the precision of pull: few samples make a sum. Where at least as many
// triangles are gone as are left, sums lie in the memory of those.
type cornerSums struct {
	xy, zw []uint32
	left   ranks    // triangles of the source that are left
	at     []uint32 // where the sums of each of these lie: the number of a triangle
}

// borrow makes room for sums on the corners of the vertices that are left. Until
// giveBack, triangles that are gone look as if they were not; no ring has them.
func (s *surface) borrow(vertices ranks) cornerSums {
	t := cornerSums{left: newRanks(len(s.cornerWedge) / 3), at: make([]uint32, 0, s.triangles)}
	for i := range len(s.cornerWedge) / 3 {
		if s.cornerWedge[3*i] != none {
			t.left.put(uint32(i))
		}
	}
	t.left.number()
	if 2*s.triangles > len(s.cornerWedge)/3 {
		t.xy, t.zw = make([]uint32, 3*s.triangles), make([]uint32, 3*s.triangles)
		for i := range s.triangles {
			t.at = append(t.at, uint32(i))
		}
		return t
	}
	var ring []uint32
	for _, v := range vertices.all() {
		ring = s.ring(v, ring)
	}
	t.xy, t.zw = s.cornerWedge, s.next
	for i := uint32(0); len(t.at) < s.triangles; i++ {
		if c := 3 * i; s.cornerWedge[c] == none {
			t.at = append(t.at, i)
			s.cornerWedge[c], s.cornerWedge[c+1], s.cornerWedge[c+2] = 0, 0, 0
			s.next[c], s.next[c+1], s.next[c+2] = 0, 0, 0
		}
	}
	return t
}

// giveBack ends what borrow began.
func (s *surface) giveBack(t *cornerSums) {
	if &t.xy[0] != &s.cornerWedge[0] {
		return
	}
	for _, i := range t.at {
		s.cornerWedge[3*i], s.cornerWedge[3*i+1], s.cornerWedge[3*i+2] = none, none, none
	}
}

// start returns where the sums of a triangle's corners begin.
func (t *cornerSums) start(triangle uint32) uint32 { return 3 * t.at[t.left.of(triangle)] }

// of returns the sum of a corner.
func (t *cornerSums) of(c uint32) pull {
	i := t.start(c/3) + c%3
	return unpack(t.xy[i], t.zw[i])
}

// pack rounds two numbers to the upper halves of single-precision ones.
func pack(a, b float32) uint32 {
	return (math.Float32bits(a)+half)>>16 | (math.Float32bits(b)+half)&^0xffff
}

// packLow does that with the first number, and takes the second one from another
// pair.
func packLow(a float32, pair uint32) uint32 {
	return (math.Float32bits(a)+half)>>16 | pair&^0xffff
}

const half = 1 << 15

// low and high return the numbers of a pair.
func low(pair uint32) float32  { return math.Float32frombits(pair << 16) }
func high(pair uint32) float32 { return math.Float32frombits(pair &^ 0xffff) }

// unpack reads a sum.
func unpack(xy, zw uint32) pull { return pull{low(xy), high(xy), low(zw), high(zw)} }
