package astc

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"sync"
)

// MaxEdge is the largest width and height that Decode and Encode take.
const MaxEdge = 1 << 16

// magenta stands for texels of blocks that are no valid ones, and of one colour
// of high dynamic range.
var magenta = [4]uint8{255, 0, 255, 255}

// magentaLinear is what texels between colours of high dynamic range become
// where it is not sRGB: in 16 bits 0xff00, which astcenc rounds down.
var magentaLinear = [4]uint8{254, 0, 254, 254}

// Decode turns w x h texels into RGBA, 8 bits each, rows from the top. With
// sRGB the colours stay sRGB; their interpolation rounds differently. data has
// f.Size(w, h) bytes. Blocks that are reserved, malformed or of high dynamic
// range become magenta, as the format wants it.
func Decode(f Footprint, sRGB bool, data []byte, w, h int) ([]byte, error) {
	index := f.index()
	if index < 0 {
		return nil, fmt.Errorf("astc: there are no blocks of %v texels", f)
	}
	if w <= 0 || h <= 0 || w > MaxEdge || h > MaxEdge {
		return nil, fmt.Errorf("astc: %d x %d texels; edges are 1 to %d", w, h, MaxEdge)
	}
	if want := f.Size(w, h); int64(len(data)) != want {
		return nil, fmt.Errorf("astc: %d bytes, %d x %d texels in blocks of %v have %d", len(data), w, h, f, want)
	}
	d := newDecoder(layoutOf(index), sRGB)
	out := make([]byte, 4*w*h)
	for y := 0; y < h; y += f.Height {
		rows := min(f.Height, h-y)
		for x := 0; x < w; x += f.Width {
			d.block((*[BlockBytes]byte)(data))
			data = data[BlockBytes:]
			n := 4 * min(f.Width, w-x)
			for r := range rows {
				copy(out[4*((y+r)*w+x):][:n], d.texels[4*r*f.Width:])
			}
		}
	}
	return out, nil
}

// decoder has the memory for one block.
type decoder struct {
	*layout
	sRGB   bool
	bytes  *[1 << 16]uint8 // of 16-bit values, where it is not sRGB
	hdr    [4]uint8
	texels [4 * maxTexels]uint8
}

func newDecoder(l *layout, sRGB bool) *decoder {
	d := &decoder{layout: l, sRGB: sRGB, bytes: unorm8(), hdr: magenta}
	if !sRGB {
		d.hdr = magentaLinear
	}
	return d
}

// block decodes one block into texels and reports whether it is a valid one.
func (d *decoder) block(data *[BlockBytes]byte) bool {
	b := bits128{binary.LittleEndian.Uint64(data[:8]), binary.LittleEndian.Uint64(data[8:])}
	mode := int(b.lo & 0x7ff)
	if mode&voidMask == void {
		return d.constant(b)
	}
	s, ok := d.parse(b, d.modes[mode])
	if !ok {
		return d.fill(magenta, false)
	}
	d.paint(&s)
	return true
}

// fill sets all texels and returns what it is given.
func (d *decoder) fill(c [4]uint8, ok bool) bool {
	for i := range d.Footprint.texels() {
		copy(d.texels[4*i:], c[:])
	}
	return ok
}

// constant decodes a block of one colour of 16 bits a channel.
func (d *decoder) constant(b bits128) bool {
	const all = 1<<13 - 1
	s0, s1, t0, t1 := b.at(12, 13), b.at(25, 13), b.at(38, 13), b.at(51, 13)
	everywhere := s0 == all && s1 == all && t0 == all && t1 == all
	if b.lo&voidHDR != 0 || b.at(10, 2) != 3 || !everywhere && (s0 >= s1 || t0 >= t1) {
		return d.fill(magenta, false)
	}
	var c [4]uint8
	for i := range c {
		v := uint16(b.hi >> (16 * i))
		if d.sRGB {
			c[i] = uint8(v >> 8)
		} else {
			c[i] = d.bytes[v]
		}
	}
	return d.fill(c, true)
}

// symbols is what a block says.
type symbols struct {
	mode       *modeUse
	partitions int
	seed       int
	colors     [4][2]color
	invalid    [4]bool // partitions with colours of high dynamic range
	planes     [2][maxWeights]uint8
	channel    int // of the second plane
}

// parse reads a block that has weights.
func (d *decoder) parse(b bits128, m *modeUse) (s symbols, ok bool) {
	if m == nil {
		return s, false
	}
	s.mode = m
	s.partitions = int(b.at(11, 2)) + 1
	if m.dual && s.partitions == 4 {
		return s, false
	}
	below := uint(128 - m.bits)
	var modes [4]endpointMode
	start := uint(17)
	if s.partitions == 1 {
		modes[0] = endpointMode(b.at(13, 4))
	} else {
		s.seed = int(b.at(13, 10))
		start = 29
		below -= readModes(b, modes[:s.partitions], below)
	}
	if m.dual {
		below -= 2
		s.channel = int(b.at(below, 2))
	}
	n := 0
	for _, e := range modes[:s.partitions] {
		n += e.numbers()
	}
	if n > 18 || below < start {
		return s, false
	}
	l := colorLevel[n][below-start]
	if l <= uint8(level6) {
		return s, false
	}
	var numbers [18 + 8]uint8
	readSequence(b.from(start), level(l-1), numbers[:n])
	for i, v := range numbers[:n] {
		numbers[i] = colorValue[l-1][v]
	}
	at := 0
	for i, e := range modes[:s.partitions] {
		c := &s.colors[i]
		if c[0], c[1], ok = e.colors((*[8]uint8)(numbers[at:])); !ok {
			s.invalid[i] = true
		}
		at += e.numbers()
	}
	s.readWeights(b)
	return s, true
}

// readModes reads the endpoint modes of several partitions, of which a part is
// below the weights, and returns its length.
func readModes(b bits128, modes []endpointMode, below uint) uint {
	code := b.at(23, 6)
	class := endpointMode(code & 3)
	if class == 0 {
		for i := range modes {
			modes[i] = endpointMode(code >> 2)
		}
		return 0
	}
	more := uint(3*len(modes) - 4)
	code = (code | b.at(below-more, more)<<6) >> 2
	for i := range modes {
		modes[i] = (class - 1 + endpointMode(code>>i&1)) << 2
	}
	code >>= len(modes)
	for i := range modes {
		modes[i] |= endpointMode(code >> (2 * i) & 3)
	}
	return more
}

// readWeights reads the weights, whose bits run down from the highest.
func (s *symbols) readWeights(b bits128) {
	m := s.mode
	var w [maxWeights]uint8
	n := m.count()
	readSequence(bits128{bits.Reverse64(b.hi), bits.Reverse64(b.lo)}, m.weights, w[:n])
	value := &weightValue[m.weights]
	if !m.dual {
		for i, v := range w[:n] {
			s.planes[0][i] = value[v&31]
		}
		return
	}
	for i, v := range w[:n] {
		s.planes[i&1][i>>1] = value[v&31]
	}
}

// paint fills in the texels.
func (d *decoder) paint(s *symbols) {
	n := d.Footprint.texels()
	var weights [2][maxTexels]uint8
	s.mode.grid.spread(s.planes[0][:], weights[0][:n])
	if s.mode.dual {
		s.mode.grid.spread(s.planes[1][:], weights[1][:n])
	}
	var parts [maxTexels]uint8
	if s.partitions > 1 {
		d.partition(s.seed, s.partitions, parts[:n])
	}
	for i := range n {
		p := parts[i] & 3
		if s.invalid[p] {
			copy(d.texels[4*i:], d.hdr[:])
			continue
		}
		e := &s.colors[p]
		w := [4]int32{int32(weights[0][i]), int32(weights[0][i]), int32(weights[0][i]), int32(weights[0][i])}
		if s.mode.dual {
			w[s.channel] = int32(weights[1][i])
		}
		t := d.texels[4*i:][:4]
		if d.sRGB {
			for c := range 4 {
				t[c] = uint8((e[0][c]*(64-w[c]) + e[1][c]*w[c] + 32) >> 6)
			}
			continue
		}
		for c := range 4 {
			t[c] = d.bytes[uint16((257*(e[0][c]*(64-w[c])+e[1][c]*w[c])+32)>>6)]
		}
	}
}

// unorm8 rounds 16-bit values to bytes by way of half-precision numbers, which
// is what texels are where they are not sRGB.
var unorm8 = sync.OnceValue(func() *[1 << 16]uint8 {
	var t [1 << 16]uint8
	for v := range t {
		h := v
		if v == 1<<16-1 {
			h = 1 << 16
		} else if drop := bits.Len(uint(v)) - 11; drop > 0 {
			h = v >> drop << drop
		}
		t[v] = uint8((h*255*2 + 1<<16) >> 17)
	}
	return &t
})
