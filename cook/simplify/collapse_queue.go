package simplify

import "math"

// key rounds a cost down to 16 bits that sort like it: the exponent and eight
// bits of the fraction of a single-precision number.
func key(cost float64) uint16 {
	if cost > math.MaxFloat32 {
		return never
	}
	return max(unpriced+1, uint16(math.Float32bits(float32(cost))>>15))
}

const (
	unpriced = 0      // the key of edges that were not looked at yet
	never    = 0xffff // the key of edges that are not to be collapsed
	barred   = 0xfffe // of those that exceed the error limit, and will as long as it stands
	infinite = 0xff00 // the key of +Inf
)

// edgeQueue knows what every edge's collapse costs at least, as a key at one of its
// corners, and finds a price that few edges do not exceed. It promises that least
// is never above a key of its block. It knows corners by their numbers alone.
type edgeQueue struct {
	corners  int
	cost     []uint16 // per corner: key of the edge to the next corner of the triangle
	least    []uint16 // lower bounds of blocks of cost
	unpriced bool     // some edges have no price
	barLimit float64  // the error limit of barred edges
}

// block is some keys that share an entry of edgeQueue.least.
type block [blockSize]uint16

// lowest returns the lowest key.
func (b *block) lowest() uint16 {
	return min(
		min(min(b[0], b[1]), min(b[2], b[3]), min(b[4], b[5]), min(b[6], b[7])),
		min(min(b[8], b[9]), min(b[10], b[11]), min(b[12], b[13]), min(b[14], b[15])),
	)
}

// upTo has a bit for each key that is not above a limit. Which ones these are
// can't be foretold, so there are no branches.
func (b *block) upTo(limit uint16) uint32 {
	above := uint32(limit) + 1
	quarter := func(a, b, c, d uint16) uint32 {
		// The top bit is that of a negative number.
		return (uint32(a)-above)>>31 | (uint32(b)-above)>>31<<1 | (uint32(c)-above)>>31<<2 | (uint32(d)-above)>>31<<3
	}
	return quarter(b[0], b[1], b[2], b[3]) | quarter(b[4], b[5], b[6], b[7])<<4 |
		quarter(b[8], b[9], b[10], b[11])<<8 | quarter(b[12], b[13], b[14], b[15])<<12
}

// blockSize is how many corners share an entry of edgeQueue.least.
const blockSize = 16

// block returns the keys that share an entry of edgeQueue.least.
func (q *edgeQueue) block(i int) *block {
	return (*block)(q.cost[i*blockSize:])
}

// setKey stores a key that may be lower than before.
func (q *edgeQueue) setKey(c uint32, key uint16) {
	q.cost[c] = key
	q.least[c/blockSize] = min(q.least[c/blockSize], key)
}

// threshold returns a cost that a small share of the edges does not exceed, or
// no more than wanted; never when no edge is left. Of large meshes it looks at
// a sample, as long as nothing depends on single edges. While edges are without
// a price, it prices a sample: the pass that follows prices the others when it
// comes to them, those that are left.
func (s *Simplifier) threshold(wanted int) uint16 {
	stride := max(1, min(len(s.cornerWedge)/thresholdSample, wanted/thresholdLeast))
	if s.unpriced {
		s.unpriced = false
		first := max(1, s.blocks()/firstSample)
		s.priceSome(first)
		if limit := s.quantile(s.parts, first, wanted); limit != never {
			return limit
		}
		s.priceSome(1)
	}
	limit := s.quantile(s.parts, stride, wanted)
	if limit == never && stride > 1 {
		limit = s.quantile(s.parts, 1, wanted)
	}
	return limit
}

const (
	thresholdSample = 1 << 12 // corners
	thresholdLeast  = 16      // collapses wanted, of those in the sample
	firstSample     = 64      // blocks
)

// priceSome prices the edges of every so many blocks that have no price yet.
func (s *Simplifier) priceSome(stride int) {
	for i := 0; i < len(s.least); i += stride {
		if s.least[i] != unpriced {
			continue
		}
		keys := s.block(i)
		for j, k := range keys {
			if k == unpriced {
				keys[j] = s.firstKey(uint32(i*blockSize + j))
			}
		}
		s.least[i] = keys.lowest()
	}
}

// firstKey is the key of an edge's price, or a lower bound if that needs the
// triangles around.
func (s *Simplifier) firstKey(c uint32) uint16 {
	n, _ := corners(c)
	u, v := s.at(c), s.at(n)
	var e candidate
	s.seek(u, v, &e)
	if (s.vertices[u].flags|s.vertices[v].flags)&flagMulti == 0 {
		s.join(u, v, &e)
	}
	return key(e.cost)
}

// quantile is threshold on one of stride blocks.
func (q *edgeQueue) quantile(parts []part, stride, wanted int) uint16 {
	var h histogram
	for i := 0; i < len(q.least); i += stride {
		h.add(q, i)
	}
	for i := 0; i < len(parts); i += stride {
		h.even[parts[i].key>>histogramShift]++
		h.keys++
	}
	open := h.open()
	if open == 0 {
		return never
	}
	return h.limit(min(int(passShare*float64(open)), wanted/stride))
}

// cellLimit returns a cost that a small share of the edges of a range of blocks
// does not exceed, and how many there are.
func (q *edgeQueue) cellLimit(from, to int) (limit uint16, open int) {
	var h histogram
	for i := from; i < to; i++ {
		h.add(q, i)
	}
	open = h.open()
	return h.limit(int(passShare * float64(open))), open
}

// histogram counts keys, 16 bins for each factor of two. There are two sets of
// bins, as counting into one twice in a row is slow. Keys of edges that are
// closed, and no others, fall into the last.
type histogram struct {
	even, odd [1 << (16 - histogramShift)]int32
	keys      int
}

const histogramShift = 4

// add counts the keys of a block.
func (h *histogram) add(q *edgeQueue, i int) {
	if q.least[i] >= barred {
		return
	}
	b := q.block(i)
	for j := 0; j < len(b); j += 2 {
		h.even[b[j]>>histogramShift]++
		h.odd[b[j+1]>>histogramShift]++
	}
	h.keys += len(b)
}

// open returns how many keys are those of edges that are not closed.
func (h *histogram) open() int {
	const last = len(h.even) - 1
	return h.keys - int(h.even[last]+h.odd[last])
}

// limit returns a key that more than so many of the open ones do not exceed.
func (h *histogram) limit(wanted int) uint16 {
	const last = len(h.even) - 1
	for i, n := range h.even[:last] {
		if wanted -= int(n + h.odd[i]); wanted < 0 {
			return uint16(i)<<histogramShift | (1<<histogramShift - 1)
		}
	}
	return barred - 1
}

// reopen makes all edges candidates again, but for barred ones.
func (q *edgeQueue) reopen(cornerWedge []uint32) {
	for c, w := range cornerWedge {
		if w != none && q.cost[c] != barred {
			q.cost[c] = unpriced
		}
	}
	clear(q.least)
	q.unpriced = true
}

// countBarred counts the barred edges.
func (q *edgeQueue) countBarred() int {
	n := 0
	for _, k := range q.cost {
		if k == barred {
			n++
		}
	}
	return n
}

// unbar makes barred edges candidates again, when the error limit grows.
func (q *edgeQueue) unbar(limit float64) {
	if limit > q.barLimit {
		for c, k := range q.cost {
			if k == barred {
				q.setKey(uint32(c), unpriced)
				q.unpriced = true
			}
		}
	}
	q.barLimit = limit
}

// recall brings back the edges that were refused at a limit, among others.
func (q *edgeQueue) recall(limit uint16) {
	highest := uint16(min(uint32(limit)+refusedFactor, infinite-1))
	for c, k := range q.cost {
		if k > limit && k <= highest {
			q.setKey(uint32(c), limit)
		}
	}
}

// blocks returns how many blocks there are for corners; some that are empty may
// follow.
func (q *edgeQueue) blocks() int { return blocksOf(q.corners) }

func blocksOf(n int) int { return (n + blockSize - 1) / blockSize }

// makeKeys makes room for keys, in whole blocks of blocks.
func (q *edgeQueue) makeKeys(corners int) {
	q.corners = corners
	q.least = make([]uint16, blocksOf(q.blocks())*blockSize)
	q.cost = make([]uint16, len(q.least)*blockSize)
	for i := corners; i < len(q.cost); i++ {
		q.cost[i] = never
	}
	q.unpriced = true
}

// oneKeys leaves, of each vertex opposite of a collapsed edge, the lowest key of
// the corners of the edge to it, once. They are among those around.
func (q *edgeQueue) oneKeys(x *scratch, paid uint16) {
	// As it can't be foretold where the vertices are, all corners are written down,
	// and kept if so. Mostly there are two vertices.
	for i := 0; i < len(x.opp); i += 2 {
		j := min(i+1, len(x.opp)-1)
		p, r := x.opp[i], x.opp[j]
		n, m := 0, 0
		for _, e := range x.around.list() {
			_, d := corners(e.c)
			x.toP[n] = e.c
			n += one(e.a == p)
			x.toP[n] = d
			n += one(e.b == p)
			x.toR[m] = e.c
			m += one(e.a == r)
			x.toR[m] = d
			m += one(e.b == r)
		}
		q.oneKey(x.toP[:n], paid)
		if j > i {
			q.oneKey(x.toR[:m], paid)
		}
	}
}

// oneKey leaves the lowest key of some corners.
func (q *edgeQueue) oneKey(list []uint32, paid uint16) {
	if len(list) == 0 {
		return
	}
	cost := q.cost
	best, at := cost[list[0]], list[0]
	for _, c := range list {
		k := cost[c]
		cost[c] = never
		if k < best {
			at = c
		}
		best = min(best, k)
	}
	if best >= barred {
		best = paid // it stood in a triangle that is gone
	}
	q.setKey(at, best)
}

// one is 1 if so, else 0.
func one(is bool) int {
	n := 0
	if is {
		n = 1
	}
	return n
}
