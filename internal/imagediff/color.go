package imagediff

import "math"

// linear holds the linear value of every sRGB byte.
var linear = func() (t [256]float32) {
	for i := range t {
		v := float64(i) / 255
		if v <= 0.04045 {
			v /= 12.92
		} else {
			v = math.Pow((v+0.055)/1.055, 2.4)
		}
		t[i] = float32(v)
	}
	return t
}()

// The XYZ of linear sRGB, as exact fractions of the primaries, and its white.
const (
	xr, xg, xb = 10135552.0 / 24577794, 8788810.0 / 24577794, 4435075.0 / 24577794
	yr, yg, yb = 2613072.0 / 12288897, 8788810.0 / 12288897, 887015.0 / 12288897
	zr, zg, zb = 1425312.0 / 73733382, 8788810.0 / 73733382, 70074185.0 / 73733382

	whiteX = 0.950428545
	whiteY = 1
	whiteZ = 1.088900371
)

func linearToXYZ(r, g, b float32) (x, y, z float32) {
	return float32(xr*r) + float32(xg*g) + float32(xb*b), float32(yr*r) + float32(yg*g) + float32(yb*b), float32(zr*r) + float32(zg*g) + float32(zb*b)
}

func xyzToLinear(x, y, z float32) (r, g, b float32) {
	return float32(3.241003275*x) - float32(1.537398934*y) - float32(0.498615861*z),
		float32(-0.969224334*x) + float32(1.875930071*y) + float32(0.041554224*z),
		float32(0.055639423*x) - float32(0.204011202*y) + float32(1.057148933*z)
}

// huntLab returns the L*a*b* of a colour; a and b shrink with lightness, since
// dark colours look less colourful (the Hunt effect).
func huntLab(x, y, z float32) (l, a, b float32) {
	fx, fy, fz := labCurve(x/whiteX), labCurve(y/whiteY), labCurve(z/whiteZ)
	l = float32(116*fy) - 16
	return l, 0.01 * l * 500 * (fx - fy), 0.01 * l * 200 * (fy - fz)
}

func labCurve(v float32) float32 {
	const delta = 6.0 / 29
	if v > delta*delta*delta {
		return float32(math.Cbrt(float64(v)))
	}
	return v/(3*delta*delta) + 4.0/29
}

func unit(v float32) float32  { return min(max(v, 0), 1) }
func abs32(v float32) float32 { return float32(math.Abs(float64(v))) }
func sqrt32(v float32) float32 {
	return float32(math.Sqrt(float64(v)))
}
