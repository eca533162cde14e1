package meshopt

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Products are converted before they are added: that forbids to fuse both,
// whose result would differ between machines.

// apply runs the filter over decoded elements, in place.
func (f Filter) apply(data []byte, stride int) {
	switch f {
	case Octahedral:
		if stride == 4 {
			octahedral8(data)
		} else {
			octahedral16(data)
		}
	case Quaternion:
		quaternion(data)
	case Exponential:
		exponential(data)
	case Color:
		if stride == 4 {
			color8(data)
		} else {
			color16(data)
		}
	}
}

func octahedral8(data []byte) {
	for ; len(data) >= 4; data = data[4:] {
		x, y, z := unfold(int8(data[0]), int8(data[1]), int8(data[2]), 127)
		data[0], data[1], data[2] = byte(x), byte(y), byte(z)
	}
}

func octahedral16(data []byte) {
	for ; len(data) >= 8; data = data[8:] {
		x, y, z := unfold(get16(data), get16(data[2:]), get16(data[4:]), 32767)
		put16(data, x)
		put16(data[2:], y)
		put16(data[4:], z)
	}
}

// unfold turns an octahedral pair, of which one stands for 1.0, into a unit
// vector of components within -top to top. The vector is not divided by one
// first: it is normalized anyway.
func unfold[T int8 | int16](px, py, one T, top float32) (int32, int32, int32) {
	x, y := float32(px), float32(py)
	z := float32(one) - abs(x) - abs(y)
	t := min(z, 0) // below 0 in the lower hemisphere, where the corners fold in
	if px >= 0 {
		x += t
	} else {
		x -= t
	}
	if py >= 0 {
		y += t
	} else {
		y -= t
	}
	length := sqrt(float32(float32(x*x)+float32(y*y)) + float32(z*z))
	if length == 0 {
		return 0, 0, 0 // no encoder writes this
	}
	s := top / length
	return round(x * s), round(y * s), round(z * s)
}

// quaternion restores the component of largest magnitude, which is positive,
// from the three others, which are stored times the root of 2.
func quaternion(data []byte) {
	const root = float32(1 / math.Sqrt2)
	for ; len(data) >= 8; data = data[8:] {
		code := get16(data[6:])
		s := root / float32(code|3)
		x, y, z := float32(get16(data))*s, float32(get16(data[2:]))*s, float32(get16(data[4:]))*s
		rest := 1 - float32(x*x) - float32(y*y) - float32(z*z)
		w := sqrt(max(rest, 0))
		at := int(code & 3)
		put16(data[2*at:], round(w*32767))
		put16(data[2*((at+1)&3):], round(x*32767))
		put16(data[2*((at+2)&3):], round(y*32767))
		put16(data[2*((at+3)&3):], round(z*32767))
	}
}

// powers holds 2^e for e of -128 to 127.
var powers = func() (p [256]float64) {
	for i := range p {
		p[i] = math.Ldexp(1, i-128)
	}
	return p
}()

// exponential turns an 8-bit exponent over a 24-bit mantissa, both signed,
// into a float.
func exponential(data []byte) {
	for ; len(data) >= 4; data = data[4:] {
		v := int32(binary.LittleEndian.Uint32(data))
		f := float32(float64(v<<8>>8) * powers[v>>24+128])
		binary.LittleEndian.PutUint32(data, math.Float32bits(f))
	}
}

func color8(data []byte) {
	for ; len(data) >= 4; data = data[4:] {
		c := rgba(int32(data[0]), int32(int8(data[1])), int32(int8(data[2])), uint32(data[3]), 255)
		for i, v := range c {
			data[i] = byte(v)
		}
	}
}

func color16(data []byte) {
	for ; len(data) >= 8; data = data[8:] {
		c := rgba(int32(uint16(get16(data))), int32(get16(data[2:])), int32(get16(data[4:])), uint32(uint16(get16(data[6:]))), 65535)
		for i, v := range c {
			put16(data[2*i:], v)
		}
	}
}

// rgba converts YCoCg. The highest bit of the alpha tells how many bits the
// components have; the alpha has one less.
func rgba(y, co, cg int32, alpha uint32, top int32) [4]int32 {
	one := int32(1)<<bits.Len32(alpha) - 1
	if one == 0 {
		return [4]int32{} // no encoder writes this
	}
	a := int32(alpha) & (one >> 1)
	a = a<<1 | a&1
	s := float32(top) / float32(one)
	out := [4]int32{y + co - cg, y + cg, y - co - cg, a}
	for i, v := range out {
		// What does not fit an int32 would be another number on every processor.
		out[i] = round(min(max(float32(float32(v)*s), 0), float32(top)))
	}
	return out
}

func get16(b []byte) int16    { return int16(binary.LittleEndian.Uint16(b)) }
func put16(b []byte, v int32) { binary.LittleEndian.PutUint16(b, uint16(v)) }

func abs(v float32) float32  { return math.Float32frombits(math.Float32bits(v) &^ (1 << 31)) }
func sqrt(v float32) float32 { return float32(math.Sqrt(float64(v))) }

// round rounds half away from zero. All its arguments fit an int32.
func round(v float32) int32 {
	v = float32(v) // the caller's product must not be fused with the sum
	if v < 0 {
		return int32(v - 0.5)
	}
	return int32(v + 0.5)
}
