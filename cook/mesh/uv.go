package mesh

import (
	"math"

	"github.com/untoldkit/untold/internal/geom"
)

// UVTransform is KHR_texture_transform: scale, then rotation, then offset.
type UVTransform struct {
	Offset [2]float64
	Rot    float64 // radians, counter-clockwise
	Scale  [2]float64
}

// IsIdentity reports whether the transform changes nothing.
func (t UVTransform) IsIdentity() bool {
	return t.Offset == [2]float64{} && t.Rot == 0 && t.Scale == [2]float64{1, 1}
}

// Apply returns transformed coordinates; uv is not written.
func (t UVTransform) Apply(uv [][2]float32) [][2]float32 {
	if uv == nil || t.IsIdentity() {
		return uv
	}
	m, out := geom.NewUVMap(t.Offset, t.Rot, t.Scale), make([][2]float32, len(uv))
	for i, c := range uv {
		at := m.At(c)
		out[i] = [2]float32{float32(at[0]), float32(at[1])}
	}
	return out
}

// Repeat is the step by which coordinates may be moved along an axis without
// changing the picture: 1 for repeating textures, 2 for mirrored ones, 0 when
// they must stay.
type Repeat float64

// repeatShift returns how far to move coordinates with the given extremes so
// that their largest magnitude falls into a smaller binade, which halves the
// half floats' rounding error or better. It is 0 when nothing is gained, and for
// coordinates so far apart that moving them would only push others out of
// range.
func repeatShift(lo, hi float64, step Repeat) float64 {
	if step == 0 || !(lo <= hi) || math.IsInf(lo, 0) || math.IsInf(hi, 0) {
		return 0
	}
	best, at := binade(lo, hi), 0.0
	s := float64(math.Floor((lo+hi)/2/float64(step)) * float64(step))
	for _, c := range [2]float64{s, s + float64(step)} {
		if b := binade(lo-c, hi-c); b < best {
			best, at = b, c
		}
	}
	if best > 16 {
		return 0
	}
	return at
}

// binade returns the exponent e of the smallest 2^e that bounds both
// magnitudes, at least 0: inside [-1, 1] nothing is worth a move.
func binade(lo, hi float64) int {
	f, e := math.Frexp(max(math.Abs(lo), math.Abs(hi)))
	if f == 0.5 {
		e--
	}
	return max(e, 0)
}
