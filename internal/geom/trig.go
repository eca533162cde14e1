package geom

import "math"

// Sincos returns sine and cosine by their Taylor series around the nearest
// multiple of a right angle, exact at those. math.Sincos differs in the last
// bit between architectures, because its sums of products are fused on some.
func Sincos(x float64) (sin, cos float64) {
	if x-x != 0 || math.Abs(x) > 1e9 {
		return 0, 1 // no angle that anybody meant
	}
	quarter := math.RoundToEven(x / (math.Pi / 2))
	r := x - float64(quarter*(math.Pi/2))
	r2 := float64(r * r)
	s, c := 1.0, 1.0
	for n := 20; n > 0; n -= 2 {
		c = 1 - float64(r2*c)/float64(n*(n-1))
		s = 1 - float64(r2*s)/float64(n*(n+1))
	}
	s = float64(s * r)
	switch ((int64(quarter) % 4) + 4) % 4 {
	case 1:
		return c, -s
	case 2:
		return -s, -c
	case 3:
		return -c, s
	}
	return s, c
}

// Tan returns the tangent, the same on every machine.
func Tan(x float64) float64 {
	sin, cos := Sincos(x)
	return sin / cos
}
