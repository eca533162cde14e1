// Package compact packs vertices for the GPU: 16 to 24 bytes instead of the 32 that
// they have in files (package vertex).
//
// Positions become whole steps on a lattice: origin + step * q, with q of 21 bits
// along each axis. The step is a power of two and the origin a multiple of it, so
// that the sum is exact in single precision, and a position is the multiple of the
// step that is nearest to it, whatever the origin. Representations with the same
// step that share a vertex find the same place for it, bit for bit.
package compact

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/untoldkit/untold/format/vertex"
)

// Layout is how a vertex is stored.
type Layout uint8

// The layouts. Normals and tangents are as in files (10, 10, 10 and 2 bits), texture
// coordinates half floats, colours four bytes. The second texture coordinates are in
// Full alone.
const (
	Full    Layout = iota // 32 bytes, as in files
	Plain                 // 16: position, normal, texture coordinates
	Mapped                // 20: and tangent
	Colored               // 24: and tangent and colour
	Layouts               // how many there are
)

var sizes = [Layouts]int{vertex.Size, 16, 20, 24}

// Size returns the bytes of a vertex.
func (l Layout) Size() int { return sizes[l] }

// Where the parts of a compact vertex begin, in bytes: a position is three words of 16
// bits, and one with the upper 5 bits of each, x lowest.
const (
	PositionAt = 0
	NormalAt   = 8
	UVAt       = 12
	TangentAt  = 16
	ColorAt    = 20
)

// Bits of a position along an axis: those of its word, and those in the fourth.
const (
	bits     = lowBits + highBits
	lowBits  = 16
	highBits = 5
	most     = 1<<bits - 1 // q, at most
)

// The step, as an exponent of two.
const (
	usual   = -13  // 0.12 mm: of what is 4 to 256 m large
	coarse  = -10  // 0.98 mm: at most, else vertices stay as they are
	fine    = 15   // what is smaller than 4 m has steps of at most its 2^15th part
	finest  = -100 // far from where single precision ends
	largest = 100
)

// Lattice is where positions may lie.
type Lattice struct {
	Origin [3]float32
	Step   float32
}

// At returns a position.
func (l *Lattice) At(q [3]uint32) (p [3]float32) {
	for i := range p {
		p[i] = l.Origin[i] + float32(l.Step*float32(q[i]))
	}
	return p
}

// Packing says how the vertices of a representation are stored. The zero value is as
// they are in files.
type Packing struct {
	Layout Layout
	Lattice
}

// Choose returns how to store vertices of vertex.Size bytes each. stretch is how many
// metres the vertices' unit has at most, where they are drawn; tangents says that a normal
// map needs them. The step is 2^-13 m; what is smaller than 4 m has finer ones, down to
// the 2^15th part of its size, and what is larger than 256 m coarser ones, 2^-10 m at most:
// beyond that, and where a position is not finite, the layout is Full.
func Choose(vertices []byte, stretch float64, tangents bool) Packing {
	if !(stretch > 0) || math.IsInf(stretch, 0) {
		return Packing{}
	}
	s := surveyOf(vertices)
	l := Plain
	switch {
	case !s.white:
		l = Colored
	case tangents:
		l = Mapped
	}
	scale := exponentBelow(stretch)
	if math.Ldexp(1, scale) < stretch {
		scale++
	}
	from, size := usual-max(0, scale), s.size()
	if size > 0 {
		from = min(from, exponentBelow(size)-fine)
	}
	return s.packing(l, from, coarse-scale)
}

// Join returns how to store the vertices of several representations as one: as With says
// of all, with a coarser step where their box asks for it. With the step of all places stay
// what they are. They are in metres.
func Join(vertices []byte, of Packing) Packing {
	if of.Layout == Full {
		return Packing{}
	}
	s := surveyOf(vertices)
	return s.packing(of.Layout, exponentBelow(float64(of.Step)), coarse)
}

// With returns how to store the vertices of two representations alike: with all that
// either has, by the coarser of the steps. The origin is for Join to find.
func (p Packing) With(o Packing) Packing {
	if p.Layout == Full || o.Layout == Full {
		return Packing{}
	}
	return Packing{Layout: max(p.Layout, o.Layout), Lattice: Lattice{Step: max(p.Step, o.Step)}}
}

// packing returns the first step that does, of those with exponents from one up to another
// one.
func (s *survey) packing(l Layout, from, to int) Packing {
	for exponent := from; s.sound && exponent <= to; exponent++ {
		inverse := math.Ldexp(1, -exponent)
		fits := true
		for i := range 3 {
			fits = fits && multiple(s.hi[i], inverse)-firstOf(s.lo[i], inverse) <= most
		}
		if !fits {
			continue
		}
		if exponent < finest || exponent > largest {
			break
		}
		p := Packing{Layout: l}
		p.Step = float32(math.Ldexp(1, exponent))
		for i := range 3 {
			p.Origin[i] = float32(math.Ldexp(firstOf(s.lo[i], inverse), exponent))
		}
		return p
	}
	return Packing{}
}

// exponentBelow returns the greatest e for which v >= 2^e.
func exponentBelow(v float64) int {
	_, e := math.Frexp(v)
	return e - 1
}

// Estimate returns about how many bytes become of bytes of vertices and indices in files: five
// eighths, if a triangle has one to two vertices of the Plain or the Mapped layout.
func Estimate(bytes int64) int64 { return bytes/8*5 + bytes%8*5/8 }

// multiple returns the number of the step that is nearest to a position.
func multiple(v float32, inverse float64) float64 {
	return math.RoundToEven(float64(v) * inverse)
}

// firstOf returns the number of the step at which a lattice begins: an even one, so that
// halves are rounded alike from there and from 0.
func firstOf(v float32, inverse float64) float64 { return 2 * math.Floor(multiple(v, inverse)/2) }

// survey is what is seen of vertices: their box, whether all are white, and whether there are
// any and all positions are finite.
type survey struct {
	lo, hi       [3]float32
	white, sound bool
}

// size returns the longest edge of the box.
func (s *survey) size() (size float64) {
	for i := range 3 {
		size = max(size, float64(s.hi[i])-float64(s.lo[i]))
	}
	return size
}

// white is the colour that changes nothing.
const white = 0xffffffff

func surveyOf(b []byte) survey {
	le := binary.LittleEndian
	inf := float32(math.Inf(1))
	lo, hi := [3]float32{inf, inf, inf}, [3]float32{-inf, -inf, -inf}
	color, sum := uint32(white), float32(0)
	for ; len(b) >= vertex.Size; b = b[vertex.Size:] {
		v := b[:vertex.Size:vertex.Size]
		x, y, z := math.Float32frombits(le.Uint32(v)), math.Float32frombits(le.Uint32(v[4:])), math.Float32frombits(le.Uint32(v[8:]))
		if x < lo[0] {
			lo[0] = x
		}
		if x > hi[0] {
			hi[0] = x
		}
		if y < lo[1] {
			lo[1] = y
		}
		if y > hi[1] {
			hi[1] = y
		}
		if z < lo[2] {
			lo[2] = z
		}
		if z > hi[2] {
			hi[2] = z
		}
		color &= le.Uint32(v[28:])
		sum += (x - x) + (y - y) + (z - z) // 0, unless one is not finite
	}
	return survey{lo, hi, color == white, sum == 0 && lo[0] <= hi[0]}
}

// White reports whether vertices of vertex.Size bytes are all white.
func White(vertices []byte) bool {
	color := uint32(white)
	for ; len(vertices) >= vertex.Size; vertices = vertices[vertex.Size:] {
		color &= binary.LittleEndian.Uint32(vertices[28:])
	}
	return color == white
}

// Append appends vertices of vertex.Size bytes in the layout; what is left of src behind
// the last whole one is not looked at. They lie in the box of those that Choose has seen.
func (p *Packing) Append(dst, src []byte) []byte {
	if p.Layout == Full {
		return append(dst, src[:len(src)/vertex.Size*vertex.Size]...)
	}
	count, size := len(src)/vertex.Size, p.Layout.Size()
	n := len(dst)
	dst = slices.Grow(dst, count*size)[:n+count*size]
	out := dst[n:]
	le := binary.LittleEndian
	inverse := 1 / float64(p.Step)
	var first [3]float64
	for i := range first {
		first[i] = float64(p.Origin[i]) * inverse
	}
	for ; len(out) >= size; src, out = src[vertex.Size:], out[size:] {
		v, o := src[:vertex.Size:vertex.Size], out[:size:size]
		x := steps(le.Uint32(v), inverse, first[0])
		y := steps(le.Uint32(v[4:]), inverse, first[1])
		z := steps(le.Uint32(v[8:]), inverse, first[2])
		high := x>>lowBits | y>>lowBits<<highBits | z>>lowBits<<(2*highBits)
		le.PutUint64(o[PositionAt:], x&0xffff|y&0xffff<<16|z&0xffff<<32|high<<48)
		le.PutUint32(o[NormalAt:], le.Uint32(v[12:]))
		le.PutUint32(o[UVAt:], le.Uint32(v[20:]))
		if size > TangentAt {
			le.PutUint32(o[TangentAt:], le.Uint32(v[16:]))
		}
		if size > ColorAt {
			le.PutUint32(o[ColorAt:], le.Uint32(v[28:]))
		}
	}
	return dst
}

// steps returns where on the lattice a coordinate lies. Numbers of 1.5 * 2^52 and
// around have no fractions, so that adding it rounds, halves to even.
func steps(v uint32, inverse, first float64) uint64 {
	at := float64(float64(math.Float32frombits(v))*inverse) - first
	return math.Float64bits(at+(3<<51)) & most
}

// Steps returns the position of a compact vertex on its lattice.
func Steps(b []byte) (q [3]uint32) {
	w := binary.LittleEndian.Uint64(b[PositionAt:])
	for i := range q {
		q[i] = uint32(w>>(16*i)&0xffff | w>>(48+highBits*i)&(1<<highBits-1)<<lowBits)
	}
	return q
}
