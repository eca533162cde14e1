package astc

import (
	"encoding/binary"
	"fmt"
	"sync"
)

// Quality is how much an encoder tries.
type Quality uint8

// The qualities.
const (
	Fast Quality = iota
	High
)

// Options say how to encode.
type Options struct {
	// SRGB is whether the blocks will be decoded as sRGB.
	SRGB    bool
	Quality Quality
}

// maxEncode is the largest block, in texels, that can be encoded: 8 x 8.
const maxEncode = 64

// Encodes reports whether there is an encoder for blocks of f.
func (f Footprint) Encodes() bool { return f.index() >= 0 && f.texels() <= maxEncode }

// Encode fills out, of f.Size(w, h) bytes, with the blocks of w x h texels of
// RGBA, of which each row has stride bytes. Blocks that reach beyond the border
// repeat its last texels. It returns the sum of squared differences between the
// texels and what Decode makes of them, of all four channels.
func Encode(out []byte, f Footprint, o Options, pix []byte, stride, w, h int) (int64, error) {
	if !f.Encodes() {
		return 0, fmt.Errorf("astc: blocks of %v texels are not encoded; use 4x4 to 8x8", f)
	}
	if w <= 0 || h <= 0 || w > MaxEdge || h > MaxEdge {
		return 0, fmt.Errorf("astc: %d x %d texels; edges are 1 to %d", w, h, MaxEdge)
	}
	if want := f.Size(w, h); int64(len(out)) != want {
		return 0, fmt.Errorf("astc: %d bytes for %d x %d texels in blocks of %v, which have %d", len(out), w, h, f, want)
	}
	if stride < 4*w || len(pix) < stride*(h-1)+4*w {
		return 0, fmt.Errorf("astc: %d bytes in rows of %d are not %d x %d texels", len(pix), stride, w, h)
	}
	e := newEncoder(f, o)
	var sum int64
	for y := 0; y < h; y += f.Height {
		for x := 0; x < w; x += f.Width {
			e.gather(pix, stride, x, y, w, h)
			sum += e.block((*[BlockBytes]byte)(out)) - e.beyond(x, y, w, h)
			out = out[BlockBytes:]
		}
	}
	return sum, nil
}

// encoder has the memory for one block.
type encoder struct {
	*encodeTables
	o      Options
	effort effort
	round  *[64*255 + 1]uint8 // 64 times an interpolated colour, decoded

	n      int // texels
	px     [maxEncode][4]int32
	opaque bool
	grey   bool
	live   [4]bool // channels that vary

	plans     []plan // memory; the first used ones are in use
	used      int
	distances []uint8 // of partitionings from clusters
	choices   choices
	best      solution
	work      solution
	fits      [3]fit
	target    [2][maxEncode]int32
}

// effort is what a quality stands for.
type effort struct {
	first   int     // choices that are refined of the plain plan
	choices int     // of all the others
	rounds  int     // of refinement
	nearby  int     // partitionings that are judged by their lines
	two     int     // of these those that become plans
	three   int     // the same of three partitions
	duals   int     // channels that are tried for a second plane
	enough  int64   // error of a texel with which the plain plan does
	worth   float32 // so it does where its error is this many times what is off its line
}

var efforts = [...]effort{
	Fast: {first: 2, choices: 3, rounds: 2, nearby: 8, two: 1, three: 0, duals: 1, enough: 6, worth: 3},
	High: {first: 4, choices: 12, rounds: 4, nearby: 32, two: 5, three: 1, duals: 3, enough: 0, worth: 20},
}

func newEncoder(f Footprint, o Options) *encoder {
	e := &encoder{encodeTables: encodeTablesOf(f.index()), o: o, effort: efforts[min(o.Quality, High)]}
	e.round = rounding(o.SRGB)
	e.n = f.texels()
	return e
}

var roundings [2]struct {
	once  sync.Once
	table [64*255 + 1]uint8
}

// rounding returns what a decoder makes of 64 times an interpolated colour.
func rounding(sRGB bool) *[64*255 + 1]uint8 {
	i := 0
	if sRGB {
		i = 1
	}
	r := &roundings[i]
	r.once.Do(func() {
		for x := range r.table {
			if sRGB {
				r.table[x] = uint8((x + 32) >> 6)
			} else {
				r.table[x] = unorm8()[uint16((257*x+32)>>6)]
			}
		}
	})
	return &r.table
}

// gather takes over the texels of a block.
func (e *encoder) gather(pix []byte, stride, x, y, w, h int) {
	i := 0
	for r := range e.Height {
		line := pix[min(y+r, h-1)*stride:]
		for c := range e.Width {
			p := line[4*min(x+c, w-1):][:4]
			e.px[i] = [4]int32{int32(p[0]), int32(p[1]), int32(p[2]), int32(p[3])}
			i++
		}
	}
}

// beyond returns the error of the texels beyond the border.
func (e *encoder) beyond(x, y, w, h int) int64 {
	if x+e.Width <= w && y+e.Height <= h {
		return 0
	}
	var sum int64
	for i := range e.n {
		if x+i%e.Width >= w || y+i/e.Width >= h {
			sum += e.best.texelError(e, i)
		}
	}
	return sum
}

// block encodes what was gathered and returns its error.
func (e *encoder) block(out *[BlockBytes]byte) int64 {
	if !e.inspect() {
		return e.constant(out)
	}
	e.best.err = 1 << 62
	e.used = 0
	e.choices.reset(e.effort.first)
	plain := e.plain()
	e.propose(plain)
	e.refineChoices()
	// Other plans bring the texels nearer to their lines.
	if e.best.err > e.effort.enough*int64(e.n) && plain.rest*e.effort.worth > float32(e.best.err) {
		e.choices.reset(e.effort.choices)
		e.split()
		e.secondPlane()
		e.refineChoices()
	}
	b := e.best.bits(e)
	binary.LittleEndian.PutUint64(out[:8], b.lo)
	binary.LittleEndian.PutUint64(out[8:], b.hi)
	return e.best.err
}

// inspect finds out what a block needs; false means that all texels are equal.
func (e *encoder) inspect() bool {
	e.live = [4]bool{}
	e.opaque, e.grey = true, true
	first := e.px[0]
	for _, p := range e.px[:e.n] {
		for c := range p {
			e.live[c] = e.live[c] || p[c] != first[c]
		}
		e.opaque = e.opaque && p[3] == 255
		e.grey = e.grey && p[0] == p[1] && p[1] == p[2]
	}
	return e.live != [4]bool{}
}

// constant writes a block of one colour, which is exact.
func (e *encoder) constant(out *[BlockBytes]byte) int64 {
	c := &e.px[0]
	*out = Constant([4]uint8{uint8(c[0]), uint8(c[1]), uint8(c[2]), uint8(c[3])})
	e.best = solution{err: 0, flat: true}
	return 0
}

// Constant returns a block of one colour: red, green, blue and alpha.
func Constant(c [4]uint8) (out [BlockBytes]byte) {
	binary.LittleEndian.PutUint64(out[:8], 0xfffffffffffffdfc)
	for i, v := range c {
		binary.LittleEndian.PutUint16(out[8+2*i:], 257*uint16(v))
	}
	return out
}

// refineChoices works out what was proposed, the most promising first.
func (e *encoder) refineChoices() {
	for i := range e.choices.n {
		e.refine(&e.choices.list[i])
	}
}
