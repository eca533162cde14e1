package basisu

import (
	"encoding/binary"
	"math"
)

// EncodeUASTC appends the blocks of a picture to dst: RGBA with rows of stride bytes, from
// the first on. Of the ways to lay out a block the most promising ones are tried, and the
// one is taken whose squared error is least, all channels alike, with a part of what is
// lost where blocks become BC7. Hints say how blocks become ETC1, ETC2 and BC1.
//
// The same pixels give the same blocks on every machine.
func EncodeUASTC(dst, pix []byte, stride, width, height int) []byte {
	setNoises()
	var e blockEncoder
	for y := 0; y < height; y += BlockSize {
		for x := 0; x < width; x += BlockSize {
			e.gather(pix, stride, x, y, width, height)
			dst = e.append(dst)
		}
	}
	return dst
}

// color is a pixel or an endpoint, in 0 to 255.
type color [4]int32

// blockEncoder encodes one block at a time.
type blockEncoder struct {
	pixels [16]color
	best   trial
	opaque bool // all pixels have alpha 255
	gray   bool // red, green and blue are alike in each pixel

	all    moments
	whole  line // through all pixels
	trials trials

	room       [16]split
	splitCount int
	palette    [32]color
}

// trial is a way to encode the block.
type trial struct {
	symbols
	kept bool    // its endpoints are such that BC7 keeps them
	err  int64   // squared
	cost float32 // err with a part of BC7's
}

// gather takes a block's pixels; the last column and row stand for what is outside.
func (e *blockEncoder) gather(pix []byte, stride, x, y, width, height int) {
	e.opaque, e.gray = true, true
	for k := range 4 {
		row := pix[min(y+k, height-1)*stride:]
		for i := range 4 {
			p := row[4*min(x+i, width-1):]
			e.pixels[4*k+i] = color{int32(p[0]), int32(p[1]), int32(p[2]), int32(p[3])}
			e.opaque = e.opaque && p[3] == 255
			e.gray = e.gray && p[0] == p[1] && p[1] == p[2]
		}
	}
}

// enough is the squared error of a block, of 16 pixels, below which no further modes are
// tried: about 53 dB.
const enough = 16 * 4

// append encodes the block.
func (e *blockEncoder) append(dst []byte) []byte {
	first, uniform := e.pixels[0], true
	for _, p := range e.pixels {
		uniform = uniform && p == first
	}
	if uniform {
		return appendSolid(dst, first)
	}
	e.best = trial{cost: math.MaxFloat32}
	e.choose()
	limit := float32(enough)
	if e.gray { // an eye sees steps in it, and three channels err alike
		limit = enough / 16
	}
	for i := range e.trials.n {
		c := &e.trials.list[i]
		if c.cost > float32(1.25*e.best.cost)+enough/2 || e.best.cost <= limit {
			break
		}
		e.try(c, false)
	}
	if e.best.err < fine && e.best.cost > limit {
		for _, i := range e.keeping() {
			e.try(&choice{m: &modes[i]}, true)
		}
	}
	var out [uastcBlock]byte
	e.best.put(&out)
	e.hint(&out)
	return append(dst, out[:]...)
}

// fine is the squared error of a block below which that of BC7 is calculated: about 44 dB.
// Above it, what BC7 loses is small beside it, and estimated.
const fine = 16 * 32

// keeping are the modes of one subset which BC7 can keep, with endpoints that suit it.
func (e *blockEncoder) keeping() []int {
	switch {
	case e.opaque:
		return []int{0, 5}
	case e.gray:
		return []int{15}
	}
	return []int{12}
}

// try encodes the block in a mode and keeps the result if it is better.
func (e *blockEncoder) try(c *choice, kept bool) {
	m := c.m
	t := trial{symbols: symbols{m: m, pattern: int(c.pattern), plane: uint(c.plane)}, kept: kept}
	p := t.shape()
	for s := range m.subsets {
		f := fit{t: &t, list: p.pixels(s), palette: &e.palette, ends: t.ends[2*m.components*s:][:2*m.components]}
		if m.subsets == 1 {
			f.sums = &e.all
		} else {
			f.sums, f.along = &c.split.sums[s], &c.split.lines[s]
		}
		if m.dual {
			second := t.channel()
			f.take(&e.pixels, func(c int) bool { return c != second })
			f.run(&t.weights[0])
			f.take(&e.pixels, func(c int) bool { return c == second })
			f.run(&t.weights[1])
		} else {
			f.values, f.on = &e.pixels, [4]int32{-1, -1, -1, -1}
			if m.subsets == 1 {
				f.along = &e.whole
			}
			f.run(&t.weights[0])
		}
		if t.cost >= e.best.cost {
			return
		}
	}
	if t.err < fine {
		if t.cost = float32(t.err) + float32(bc7Part*float32(t.bc7Error(&e.pixels))); t.cost >= e.best.cost {
			return
		}
	}
	t.anchor()
	e.best = t
}

// apart is the component that the second plane has.
func (t *trial) apart() int {
	if t.m.components == 2 {
		return 1 // alpha, behind luminance
	}
	return int(t.plane)
}

// channel is the channel that the second plane has.
func (t *trial) channel() int {
	if t.m.components == 2 {
		return 3
	}
	return int(t.plane)
}

// anchor makes the weights that lack their highest bit small, by exchanging endpoints.
func (t *trial) anchor() {
	p, n := t.shape(), t.m.weightBits
	top := uint8(1)<<n - 1
	planes := 1
	if t.m.dual {
		planes = 2
	}
	for plane := range planes {
		for i := range 16 {
			if p.anchors>>i&1 == 0 || t.weights[plane][i]>>(n-1) == 0 {
				continue
			}
			for k := range 16 {
				if p.subset[k] == p.subset[i] {
					t.weights[plane][k] = top - t.weights[plane][k]
				}
			}
			ends := t.ends[2*t.m.components*int(p.subset[i]):]
			for c := range t.m.components {
				if second := t.m.dual && c == t.apart(); second == (plane == 1) {
					ends[2*c], ends[2*c+1] = ends[2*c+1], ends[2*c]
				}
			}
		}
	}
}

// put writes the block, without hints.
func (t *trial) put(out *[uastcBlock]byte) {
	m, p := t.m, t.shape()
	var w blockWriter
	w.put(uint32(m.code), m.codeBits)
	w.put(0, m.hintBits)
	if m.patterns != nil {
		w.put(uint32(t.pattern), m.patternBits)
	}
	if m.planeStored {
		w.put(uint32(t.plane), 2)
	}
	m.endpoints.write(&w, t.ends[:2*m.components*m.subsets])
	for i := range 16 {
		n := m.weightBits
		if p.anchors>>i&1 != 0 {
			n--
		}
		w.put(uint32(t.weights[0][i]), n)
		if m.dual {
			w.put(uint32(t.weights[1][i]), n)
		}
	}
	w.bytes(out)
}

// write is the inverse of read.
func (q *quantization) write(w *blockWriter, values []uint8) {
	if q.base > 0 {
		group := 3
		if q.base == 3 {
			group = 5
		}
		for at := 0; at < len(values); at += group {
			n := min(group, len(values)-at)
			v := uint32(0)
			for k := n - 1; k >= 0; k-- {
				v = v*q.base + uint32(values[at+k])>>q.bits
			}
			w.put(v, digitBits(q.base, n))
		}
	}
	for _, v := range values {
		w.put(uint32(v)&(1<<q.bits-1), q.bits)
	}
}

// blockWriter gathers the bits of a block from the lowest on.
type blockWriter struct {
	lo, hi uint64
	n      uint
}

// put adds n bits, at most 32.
func (w *blockWriter) put(v uint32, n uint) {
	x := uint64(v)
	if w.n < 64 {
		w.lo |= x << w.n
		w.hi |= x >> 1 >> (63 - w.n)
	} else {
		w.hi |= x << (w.n - 64)
	}
	w.n += n
}

// bytes returns the block.
func (w *blockWriter) bytes(out *[uastcBlock]byte) {
	binary.LittleEndian.PutUint64(out[:], w.lo)
	binary.LittleEndian.PutUint64(out[8:], w.hi)
}

func (w *blockWriter) append(dst []byte) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(dst, w.lo), w.hi)
}
