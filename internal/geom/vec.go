// Package geom holds the small linear algebra that several packages share:
// vectors, boxes and column-major 4x4 matrices in double precision, mixtures of
// what vertices have, and transforms of texture coordinates. Engine space is
// right-handed, +Y up, +Z forward, in metres, the same as glTF.
package geom

import (
	"math"
	"strconv"
)

// Vec3 is a point or direction.
type Vec3 [3]float64

// Add returns a + b.
func (a Vec3) Add(b Vec3) Vec3 { return Vec3{a[0] + b[0], a[1] + b[1], a[2] + b[2]} }

// Sub returns a - b.
func (a Vec3) Sub(b Vec3) Vec3 { return Vec3{a[0] - b[0], a[1] - b[1], a[2] - b[2]} }

// Scale returns a * s, rounded also when the sum of two such is taken.
func (a Vec3) Scale(s float64) Vec3 {
	return Vec3{float64(a[0] * s), float64(a[1] * s), float64(a[2] * s)}
}

// Dot returns the scalar product. The conversions here and in Cross forbid
// fused multiply-add, so that every architecture computes the same bits.
func (a Vec3) Dot(b Vec3) float64 {
	return float64(a[0]*b[0]) + float64(a[1]*b[1]) + float64(a[2]*b[2])
}

// Cross returns the vector product.
func (a Vec3) Cross(b Vec3) Vec3 {
	return Vec3{
		float64(a[1]*b[2]) - float64(a[2]*b[1]),
		float64(a[2]*b[0]) - float64(a[0]*b[2]),
		float64(a[0]*b[1]) - float64(a[1]*b[0]),
	}
}

// Len returns the Euclidean length.
func (a Vec3) Len() float64 { return math.Sqrt(a.Dot(a)) }

// Normalize returns a with length 1, or fallback when a is shorter than eps
// or not finite.
func (a Vec3) Normalize(eps float64, fallback Vec3) Vec3 {
	l := a.Len()
	if !(l > eps) || math.IsInf(l, 0) {
		return fallback
	}
	return a.Scale(1 / l)
}

// IsFinite reports whether no component is NaN or infinite.
func (a Vec3) IsFinite() bool {
	// x-x is 0 for finite x and NaN otherwise.
	s := (a[0] - a[0]) + (a[1] - a[1]) + (a[2] - a[2])
	return s == 0
}

// F32 rounds to single precision.
func (a Vec3) F32() [3]float32 {
	return [3]float32{float32(a[0]), float32(a[1]), float32(a[2])}
}

// FromF32 widens to double precision.
func FromF32(a [3]float32) Vec3 { return Vec3{float64(a[0]), float64(a[1]), float64(a[2])} }

// Round rounds to a number of decimals, exactly: to the nearest decimal, and
// to the even one of two equally near.
func Round(v float64, decimals int) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return v
	}
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'f', decimals, 64), 64)
	if err != nil {
		return v
	}
	return r
}
