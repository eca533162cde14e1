package mesh

import (
	"math"

	"github.com/untoldkit/untold/internal/geom"
)

// vec3 is a vector in single precision; unlike an array, the compiler keeps it
// in registers. The conversions forbid fused multiply-add.
type vec3 struct{ x, y, z float32 }

func (a vec3) add(b vec3) vec3 { return vec3{a.x + b.x, a.y + b.y, a.z + b.z} }

func (a vec3) sub(b vec3) vec3 { return vec3{a.x - b.x, a.y - b.y, a.z - b.z} }

func (a vec3) scale(k float32) vec3 {
	return vec3{float32(a.x * k), float32(a.y * k), float32(a.z * k)}
}

func (a vec3) dot(b vec3) float32 {
	return float32(a.x*b.x) + float32(a.y*b.y) + float32(a.z*b.z)
}

func (a vec3) length() float32 { return float32(math.Sqrt(float64(a.dot(a)))) }

// unit returns the vector with length 1, or 0 and false when it has no
// direction.
func (a vec3) unit() (vec3, bool) {
	l := a.length()
	if !notZero(l) {
		return vec3{}, false
	}
	return a.scale(1 / l), true
}

// project returns the direction of b in the plane of the normal n, of unit
// length, or 0.
func (n vec3) project(b vec3) vec3 {
	b = b.sub(n.scale(n.dot(b)))
	l := b.length()
	if !notZero(l) {
		return vec3{}
	}
	return b.scale(1 / l)
}

// difference returns a - b, rounded once.
func difference(a, b *geom.Vec3) vec3 {
	return vec3{float32(a[0] - b[0]), float32(a[1] - b[1]), float32(a[2] - b[2])}
}
