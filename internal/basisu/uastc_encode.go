package basisu

import (
	"encoding/binary"
	"math"
)

// EncodeUASTC appends the blocks of a picture to dst: RGBA with rows of stride bytes, from
// the first on. Every block is tried in the modes that suit it, and the one is taken whose
// squared error is least, all channels alike. The hints for ETC1 and BC1 are 0, so that
// readers which turn blocks into these get less of them than could be had.
//
// The same pixels give the same blocks on every machine.
func EncodeUASTC(dst, pix []byte, stride, width, height int) []byte {
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

	products [16][14]float32 // of each pixel: its channels, and their products
}

// trial is a way to encode the block.
type trial struct {
	m       *mode
	pattern int
	plane   uint
	ends    [18]uint8
	weights [2][16]uint8
	err     int64
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
		w := blockWriter{}
		w.put(uint32(modes[8].code), modes[8].codeBits)
		w.put(uint32(first[0])|uint32(first[1])<<8|uint32(first[2])<<16|uint32(first[3])<<24, 32)
		return w.append(dst)
	}
	e.best = trial{err: math.MaxInt64}
	switch {
	case e.opaque:
		e.tryAll(0, 5, 18, 1)
		if e.best.err > enough {
			e.tryPlanes(6, 3)
			e.trySplits(4, 2, twoSubsets, 2)
			e.trySplits(7, 7, mergedSubsets, 1)
			e.trySplits(3, 3, threeSubsets, 1)
		}
	case e.gray:
		e.tryAll(15, 17)
		if e.best.err > enough {
			e.trySplits(16, 16, twoSubsets, 2)
			e.tryAll(10, 12)
		}
	default:
		e.tryAll(10, 12, 14)
		if e.best.err > enough {
			e.tryPlanes(11, 4)
			e.try(&modes[13], 0, 3)
			e.trySplits(9, 9, twoSubsets, 2)
		}
	}
	return e.best.append(dst)
}

// tryAll tries modes of one subset.
func (e *blockEncoder) tryAll(list ...int) {
	for _, i := range list {
		e.try(&modes[i], 0, modes[i].plane)
	}
}

// tryPlanes tries a mode with each of the first channels apart.
func (e *blockEncoder) tryPlanes(mode, channels int) {
	for plane := range channels {
		e.try(&modes[mode], 0, uint(plane))
	}
}

// trySplits tries two modes, which may be one, with the patterns whose subsets lie
// closest to lines.
func (e *blockEncoder) trySplits(a, b int, patterns []pattern, most int) {
	var best [2]int
	rest := [2]float32{math.MaxFloat32, math.MaxFloat32}
	e.multiply()
	for i := range patterns {
		r := e.offLines(&patterns[i])
		switch {
		case r < rest[0]:
			best[1], rest[1] = best[0], rest[0]
			best[0], rest[0] = i, r
		case r < rest[1]:
			best[1], rest[1] = i, r
		}
	}
	for _, i := range best[:most] {
		e.try(&modes[a], i, 0)
		if b != a {
			e.try(&modes[b], i, 0)
		}
	}
}

// try encodes the block in a mode and keeps the result if it is better.
func (e *blockEncoder) try(m *mode, pattern int, plane uint) {
	t := trial{m: m, pattern: pattern, plane: plane}
	p := t.shape()
	var room [16]int
	for s := range m.subsets {
		f := fit{t: &t, list: room[:0], ends: t.ends[2*m.components*s:][:2*m.components]}
		for i, k := range p.subset {
			if int(k) == s {
				f.list = append(f.list, i)
			}
		}
		var channels [4]bool
		for c := range m.components {
			channels[c] = !m.dual || c != t.apart()
		}
		f.take(&e.pixels, channels)
		t.err += f.run(channels, &t.weights[0])
		if m.dual {
			channels = only(t.apart())
			f.take(&e.pixels, channels)
			t.err += f.run(channels, &t.weights[1])
		}
		if t.err >= e.best.err {
			return
		}
	}
	t.anchor()
	e.best = t
}

func only(c int) (channels [4]bool) {
	channels[c] = true
	return channels
}

// apart is the component that the second plane has.
func (t *trial) apart() int {
	if t.m.components == 2 {
		return 1 // alpha, behind luminance
	}
	return int(t.plane)
}

func (t *trial) shape() *pattern {
	if t.m.patterns == nil {
		return &onePattern
	}
	return &t.m.patterns[t.pattern]
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

// append writes the block.
func (t *trial) append(dst []byte) []byte {
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
	return w.append(dst)
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
