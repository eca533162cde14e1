package geom

import "math"

// Mix interpolates between a (t = 0) and b (t = 1); between equal ends it is
// exact.
func Mix(a, b, t float64) float64 { return a + float64(t*(b-a)) }

// Mix32 is Mix in single precision, rounded once.
func Mix32(a, b float32, t float64) float32 { return float32(Mix(float64(a), float64(b), t)) }

// MixDir interpolates directions, to one of length 1. Where they cancel out it
// takes the nearer; between equal ends it is exact.
func MixDir(a, b [3]float32, t float64) [3]float32 {
	if a == b {
		return a
	}
	var d Vec3
	for i := range d {
		d[i] = Mix(float64(a[i]), float64(b[i]), t)
	}
	nearer := a
	if t > 0.5 {
		nearer = b
	}
	const tiny = 1e-6 // the rounding of single precision
	if l := d.Len(); !(l > tiny && l <= math.MaxFloat64) {
		return nearer
	}
	return d.Normalize(0, Vec3{}).F32()
}

// MixTangent interpolates tangents. The handedness is a sign and cannot be
// mixed: where the ends differ, which no valid mesh has, the nearer end's
// tangent is taken whole.
func MixTangent(a, b [4]float32, t float64) [4]float32 {
	if a[3] != b[3] {
		if t > 0.5 {
			return b
		}
		return a
	}
	d := MixDir([3]float32(a[:3]), [3]float32(b[:3]), t)
	return [4]float32{d[0], d[1], d[2], a[3]}
}
