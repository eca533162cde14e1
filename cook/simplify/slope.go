package simplify

import "math"

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
