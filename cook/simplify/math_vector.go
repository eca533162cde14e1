package simplify

import "math"

// vec is a vector of doubles. A struct, unlike an array, stays in registers.
type vec struct{ x, y, z float64 }

func (a vec) add(b vec) vec       { return vec{a.x + b.x, a.y + b.y, a.z + b.z} }
func (a vec) sub(b vec) vec       { return vec{a.x - b.x, a.y - b.y, a.z - b.z} }
func (a vec) scale(s float64) vec { return vec{float64(a.x * s), float64(a.y * s), float64(a.z * s)} }
func (a vec) dot(b vec) float64   { return float64(a.x*b.x) + float64(a.y*b.y) + float64(a.z*b.z) }
func (a vec) length2() float64    { return a.dot(a) }
func fromF32(a *[3]float32) vec   { return vec{float64(a[0]), float64(a[1]), float64(a[2])} }
func (a vec) f32() [3]float32     { return [3]float32{float32(a.x), float32(a.y), float32(a.z)} }
func (a vec) cross(b vec) vec {
	return vec{
		float64(a.y*b.z) - float64(a.z*b.y),
		float64(a.z*b.x) - float64(a.x*b.z),
		float64(a.x*b.y) - float64(a.y*b.x),
	}
}

// unit returns a vector's direction; zero if it has none.
func unit(e vec) vec {
	n := e.length2()
	if !(n > 0) {
		return vec{}
	}
	return e.scale(1 / math.Sqrt(n))
}

// vec32 is a vector in single precision: for points relative to one that is
// near, and for normals.
type vec32 struct{ x, y, z float32 }

func (a vec32) add(b vec32) vec32 { return vec32{a.x + b.x, a.y + b.y, a.z + b.z} }
func (a vec32) sub(b vec32) vec32 { return vec32{a.x - b.x, a.y - b.y, a.z - b.z} }
func (a vec32) scale(s float32) vec32 {
	return vec32{float32(a.x * s), float32(a.y * s), float32(a.z * s)}
}

func (a vec32) dot(b vec32) float32 {
	return float32(a.x*b.x) + float32(a.y*b.y) + float32(a.z*b.z)
}

func (a vec32) cross(b vec32) vec32 {
	return vec32{
		float32(a.y*b.z) - float32(a.z*b.y),
		float32(a.z*b.x) - float32(a.x*b.z),
		float32(a.x*b.y) - float32(a.y*b.x),
	}
}
func (a vec32) length2() float32 { return a.dot(a) }
func (a vec32) double() vec      { return vec{float64(a.x), float64(a.y), float64(a.z)} }

func (a vec) single() vec32 { return vec32{float32(a.x), float32(a.y), float32(a.z)} }

// sqrt32 is one instruction.
func sqrt32(x float32) float32 { return float32(math.Sqrt(float64(x))) }

// A slope is the gradient of an attribute in 64 bits, so that the record of a
// wedge with a normal and texture coordinates fills one cache line. It has the
// upper 21 bits of x and y and the upper 22 of z, rounded to the nearest: the sign,
// the exponent and 12 or 13 bits of the fraction. They are in two float32, which
// are x and y but for the last 11 bits, halves of z. What that loses moves texture
// coordinates on a plane by some 1e-5 of their range there, 2e-4 at most.

const (
	tailBits = 11
	tailMask = 1<<tailBits - 1
)

// slopeOf packs a gradient of finite numbers below 2^127, which do not become
// infinite: those of record.divide are below 2^116, and means of them as well.
func slopeOf(x, y, z float32) (float32, float32) {
	last := math.Float32bits(z) + 1<<(31-2*tailBits)
	a := (math.Float32bits(x)+1<<(tailBits-1))&^tailMask | last>>(32-tailBits)
	b := (math.Float32bits(y)+1<<(tailBits-1))&^tailMask | last>>(32-2*tailBits)&tailMask
	return math.Float32frombits(a), math.Float32frombits(b)
}

// slope unpacks it.
func slope(p, q float32) (x, y, z float32) {
	a, b := math.Float32bits(p), math.Float32bits(q)
	return math.Float32frombits(a &^ tailMask), math.Float32frombits(b &^ tailMask),
		math.Float32frombits(a<<(32-tailBits) | b&tailMask<<(32-2*tailBits))
}

// slopeIn returns the gradient of an attribute: r is its part of a record.
func slopeIn(r *[3]float32) vec {
	x, y, z := slope(r[1], r[2])
	return vec{float64(x), float64(y), float64(z)}
}

// setSlope sets it.
func setSlope(r *[3]float32, g vec) {
	r[1], r[2] = slopeOf(float32(g.x), float32(g.y), float32(g.z))
}
