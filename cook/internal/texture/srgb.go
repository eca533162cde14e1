package texture

// linear holds linear light, 0 to 65535, by sRGB value.
var linear = linearTable()

// linearTable computes the sRGB transfer function (IEC 61966-2-1) with
// additions, products and quotients alone: math.Pow may differ between
// machines.
func linearTable() [256]uint16 {
	var t [256]uint16
	for i := range t {
		t[i] = uint16(float64(decodeSRGB(float64(i)/255)*65535) + 0.5)
	}
	return t
}

// decodeSRGB returns the linear light of an sRGB value, both 0 to 1.
func decodeSRGB(v float64) float64 {
	if v <= 0.04045 {
		return v / 12.92
	}
	x := (v + 0.055) / 1.055
	r := fifthRoot(x)
	return float64(float64(x*x) * float64(r*r)) // x to the power 2.4
}

// fifthRoot of x in (0, 1], by Newton's method.
func fifthRoot(x float64) float64 {
	r := 1.0
	for range 60 {
		r2 := float64(r * r)
		r = (float64(4*r) + x/float64(r2*r2)) / 5
	}
	return r
}

// Linear returns the linear light of an sRGB value, 0 to 1.
func Linear(v uint8) float32 { return float32(linear[v]) / 65535 }

// Linear16 returns the same, where 1 is 65535.
func Linear16(v uint8) uint16 { return linear[v] }

// FromLinear returns the sRGB value nearest to linear light, clamped to 0..1.
func FromLinear(v float32) uint8 { return toSRGB(float64(float64(v) * 65535)) }

// toSRGB returns the sRGB value whose linear light is nearest to v.
func toSRGB(v float64) uint8 {
	switch {
	case v <= 0:
		return 0
	case !(v < 65535): // or NaN
		return 255
	}
	i := nearby[int(v)>>nearbyShift]
	for i < 255 && float64(linear[i])+float64(linear[i+1]) < 2*v {
		i++
	}
	return i
}

// nearby are the sRGB values of linear light in steps: what lies between two of them is
// the first one's or little more.
var nearby = func() (out [65536 >> nearbyShift]uint8) {
	i := 0
	for k := range out {
		for i < 255 && int(linear[i])+int(linear[i+1]) < 2*(k<<nearbyShift) {
			i++
		}
		out[k] = uint8(i)
	}
	return out
}()

const nearbyShift = 5
