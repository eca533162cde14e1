package meshopt

import (
	"encoding/binary"
	"math"
)

// PutOctahedral writes a direction and a number of -127 to 127, such as the sign of a
// tangent, as the four bytes that the filter Octahedral turns into normalized bytes.
// Of the octahedral points around it that is taken whose direction is closest. A
// vector without direction becomes (0, 0, 1).
func PutOctahedral(b []byte, v [3]float32, w int8) {
	x, y, z := float64(v[0]), float64(v[1]), float64(v[2])
	sum := math.Abs(x) + math.Abs(y) + math.Abs(z)
	length := math.Sqrt(float64(x*x) + float64(y*y) + float64(z*z))
	if !(sum > 0) || math.IsInf(length, 0) {
		b[0], b[1], b[2], b[3] = 0, 0, 127, byte(w)
		return
	}
	px, py := x/sum, y/sum
	if z < 0 {
		px, py = fold(px, py), fold(py, px)
	}
	best, bestX, bestY := math.Inf(-1), int8(0), int8(0)
	fx, fy := math.Floor(px*127), math.Floor(py*127)
	for _, d := range [...][2]float64{{0, 0}, {1, 0}, {0, 1}, {1, 1}} {
		qx, qy := int8(min(fx+d[0], 127)), int8(min(fy+d[1], 127))
		rx, ry, rz := unfold(qx, qy, int8(127), 127)
		ax, ay, az := float64(rx), float64(ry), float64(rz)
		dot := float64(ax*x) + float64(ay*y) + float64(az*z)
		if cos := dot / math.Sqrt(float64(ax*ax)+float64(ay*ay)+float64(az*az)); cos > best {
			best, bestX, bestY = cos, qx, qy
		}
	}
	b[0], b[1], b[2], b[3] = byte(bestX), byte(bestY), 127, byte(w)
}

// fold mirrors a coordinate of the lower hemisphere at the edge of the upper one's.
func fold(v, other float64) float64 {
	f := 1 - math.Abs(other)
	if v < 0 {
		return -f
	}
	return f
}

// The range of Exponential's mantissas.
const (
	MaxMantissa = 1<<23 - 1
	MinMantissa = -1 << 23
)

// PutExponential writes the four bytes that the filter Exponential turns into mantissa *
// 2^exponent; the mantissa is of MinMantissa to MaxMantissa, the exponent of -128 to 127.
func PutExponential(b []byte, mantissa int32, exponent int8) {
	binary.LittleEndian.PutUint32(b, uint32(mantissa)&0xFFFFFF|uint32(uint8(exponent))<<24)
}
