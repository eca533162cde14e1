package simplify

import "math"

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
