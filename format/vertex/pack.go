package vertex

import "math"

// Half converts to IEEE-754 half precision, rounding to nearest even. Values
// of 65520 and more become infinity; NaN stays NaN.
func Half(f float32) uint16 {
	bits := math.Float32bits(f)
	sign := uint16(bits >> 16 & 0x8000)
	abs := bits & 0x7fffffff
	switch {
	case abs > 0x7f800000: // NaN
		return sign | 0x7e00
	case abs >= 0x477ff000: // rounds to 65536 or more
		return sign | 0x7c00
	case abs >= 0x38800000: // normal half
		// Rebias the exponent (127 - 15 = 112), then round the 13 dropped
		// bits to nearest even; a carry runs into the exponent as it should.
		v := abs - 112<<23
		return sign | uint16((v+0xfff+(v>>13&1))>>13)
	case abs > 0x33000000: // subnormal half; 2^-25 itself ties to zero
		m := abs&0x7fffff | 0x800000
		shift := 126 - abs>>23
		half := uint32(1) << (shift - 1)
		return sign | uint16((m+half-1+(m>>shift&1))>>shift)
	}
	return sign
}

// FromHalf converts from half precision, exactly.
func FromHalf(h uint16) float32 {
	sign := uint32(h&0x8000) << 16
	exp := uint32(h >> 10 & 0x1f)
	man := uint32(h & 0x3ff)
	switch exp {
	case 0:
		f := float32(man) * (1.0 / (1 << 24))
		return math.Float32frombits(math.Float32bits(f) | sign)
	case 31:
		return math.Float32frombits(sign | 0x7f800000 | man<<13)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | man<<13)
}

// snorm10 maps [-1, 1] to the 10-bit two's complement range -511..511.
func snorm10(v float64) uint32 {
	return uint32(int32(math.RoundToEven(max(-1, min(1, v))*511))) & 0x3ff
}

// unsnorm10 decodes the low ten bits.
func unsnorm10(v uint32) float32 {
	return max(float32(int32(v<<22)>>22)/511, -1)
}

// packDir normalises and packs a direction into bits 0-29. A vector shorter
// than 1e-8 or not finite becomes the fallback.
func packDir(x, y, z float32, fallback [3]float64) uint32 {
	v := [3]float64{float64(x), float64(y), float64(z)}
	l := math.Sqrt(float64(v[0]*v[0]) + float64(v[1]*v[1]) + float64(v[2]*v[2]))
	if !(l > 1e-8) || math.IsInf(l, 0) {
		v, l = fallback, 1
	}
	return snorm10(v[0]/l) | snorm10(v[1]/l)<<10 | snorm10(v[2]/l)<<20
}

// PackNormal packs a normal as signed normalised 10:10:10 with the top bits 0.
// The vector is normalised first; without a direction it becomes +Z.
func PackNormal(n [3]float32) uint32 {
	return packDir(n[0], n[1], n[2], [3]float64{0, 0, 1})
}

// PackTangent packs a tangent and its handedness: the top bits are 1 for w >= 0
// and 3 for w < 0. Without a direction the tangent becomes +X.
func PackTangent(t [4]float32) uint32 {
	v := packDir(t[0], t[1], t[2], [3]float64{1, 0, 0})
	if t[3] < 0 {
		return v | 3<<30
	}
	return v | 1<<30
}

// RoundDirection rounds the three parts of a packed normal or tangent such that so many of
// their lowest bits, at most 8, are 0: they compress better. The top bits stay.
func RoundDirection(p uint32, bits int) uint32 {
	if bits <= 0 {
		return p
	}
	out := p >> 30 << 30
	for k := 0; k < 30; k += 10 {
		part := int32(p>>k<<22) >> 22
		most := int32(511 >> bits << bits)
		part = max(-most, min((part+1<<(bits-1))>>bits<<bits, most))
		out |= uint32(part) & 0x3ff << k
	}
	return out
}

// UnpackNormal decodes a packed normal; it is of unit length only within the
// precision of 10 bits.
func UnpackNormal(p uint32) [3]float32 {
	return [3]float32{unsnorm10(p), unsnorm10(p >> 10), unsnorm10(p >> 20)}
}

// UnpackTangent decodes a packed tangent; w is +1 or -1.
func UnpackTangent(p uint32) [4]float32 {
	w := float32(1)
	if p>>31 != 0 {
		w = -1
	}
	return [4]float32{unsnorm10(p), unsnorm10(p >> 10), unsnorm10(p >> 20), w}
}

// PackColor maps linear [0, 1] to 8 bits by channel, clamped; NaN becomes 0.
func PackColor(c [4]float32) [4]uint8 {
	var out [4]uint8
	for i, v := range c {
		if v > 0 {
			out[i] = uint8(math.RoundToEven(float64(min(v, 1)) * 255))
		}
	}
	return out
}

// unitTolerance is how far a packed vector's length may be from 1: three
// components, each off by half a step of 1/511, and some slack for writers
// that round the other way.
const unitTolerance = 0.01

// IsUnit reports whether a packed direction is of unit length, within the precision
// of 10 bits.
func IsUnit(p uint32) bool {
	n := UnpackNormal(p)
	l := float64(n[0]*n[0]) + float64(n[1]*n[1]) + float64(n[2]*n[2])
	return math.Abs(math.Sqrt(float64(l))-1) <= unitTolerance
}

// HasMin reports a component of -512, which has no positive counterpart.
func HasMin(p uint32) bool {
	return p&0x3ff == 0x200 || p>>10&0x3ff == 0x200 || p>>20&0x3ff == 0x200
}
