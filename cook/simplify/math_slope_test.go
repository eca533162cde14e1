package simplify

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestSlopeBits fixes the bits of slopes, which are the same on every machine.
func TestSlopeBits(t *testing.T) {
	for _, c := range []struct {
		x, y, z float32
		want    string
	}{
		{0, 0, 0, "00000000 00000000"},
		{1, 0, 0, "3f800000 00000000"},
		{0, -2, 0, "00000000 c0000000"},
		{0, 0, 1, "000001fc 00000000"},
		{0, 0, -1, "000005fc 00000000"},
		{1, 2, 3, "3f800202 40000000"},
		{0.1, -0.1, 0.3, "3dccd1f4 bdccd666"},
		{1.0001220, 1.0001221, 1e-9, "3f800184 3f800a5c"},
		{1e-45, -1e-42, 1e-40, "00000000 80000046"},
		{1.5e38, -1.5e38, 1.5e38, "7ee1b3f7 fee1b06c"},
	} {
		p, q := slopeOf(c.x, c.y, c.z)
		if got := fmt.Sprintf("%08x %08x", math.Float32bits(p), math.Float32bits(q)); got != c.want {
			t.Errorf("%g %g %g: %s, want %s", c.x, c.y, c.z, got, c.want)
		}
	}
}

// TestSlopesRound looks at how much is lost.
func TestSlopesRound(t *testing.T) {
	number := rapid.OneOf(
		rapid.Custom(func(rt *rapid.T) float32 {
			return math.Float32frombits(rapid.Uint32().Draw(rt, "bits"))
		}).Filter(func(x float32) bool { return x > -0x1p127 && x < 0x1p127 }),
		rapid.Float32Range(-2, 2),
		rapid.SampledFrom([]float32{0, 1, -1, 0x1p-126, -0x1p-149, 0x1.fffffep126, -0x1.fffffep126}),
	)
	rapid.Check(t, func(rt *rapid.T) {
		in := [3]float32{number.Draw(rt, "x"), number.Draw(rt, "y"), number.Draw(rt, "z")}
		p, q := slopeOf(in[0], in[1], in[2])
		var out [3]float32
		out[0], out[1], out[2] = slope(p, q)
		for i, x := range in {
			x, y := float64(x), float64(out[i])
			precision := [3]float64{0x1p-13, 0x1p-13, 0x1p-14}[i]
			if d := math.Abs(x - y); !(d <= max(math.Abs(x)*precision, 0x1p-139)) {
				rt.Fatalf("%g became %g", x, y)
			}
			if math.Signbit(x) != math.Signbit(y) || x == 0 && y != 0 {
				rt.Fatalf("%g became %g", x, y)
			}
		}
		if again, b := slopeOf(out[0], out[1], out[2]); math.Float32bits(again) != math.Float32bits(p) ||
			math.Float32bits(b) != math.Float32bits(q) {
			rt.Fatalf("%g is not what it was when it is packed again", out)
		}
	})
}

// TestSlopesOfTexture lets texture coordinates be linear: wedges must know how.
func TestSlopesOfTexture(t *testing.T) {
	m := grid(6, flat)
	for i, p := range m.Positions {
		m.UV[0][i] = [2]float32{float32(float64(3*p[0]) - float64(0.7*p[2]) + 5), float32(p[2] / 3)}
	}
	for _, seams := range []SeamMode{SeamsKeep, SeamsWeld} {
		s, err := New(m, Options{Seams: seams})
		if err != nil {
			t.Fatal(err)
		}
		if s.stride != 16 {
			t.Errorf("the record of a normal and texture coordinates has %d numbers", s.stride)
		}
		for w := range s.wedgeVertex {
			r := s.record(uint32(w))
			for i, want := range [5]vec{{}, {}, {}, {x: 3, z: -0.7}, {z: 1. / 3}} {
				got := slopeIn((*[3]float32)(r[1+3*i:])).scale(1 / float64(s.scale[i]))
				if d := got.sub(want); d.length2() > 1e-7*want.length2() {
					t.Fatalf("the slope of attribute %d of wedge %d is %v, not %v", i, w, got, want)
				}
			}
		}
	}
}

// TestDivideOverflow: where a gradient is too large for single precision there is
// none, however many attributes there are.
func TestDivideOverflow(t *testing.T) {
	for k := 1; k <= maxAttributes; k++ {
		var r record
		stride := 1 + 3*k
		for i := range stride {
			r[i] = float32(1 + i)
		}
		r[0], r[1] = 1, 3e38
		var sum quadric32
		r.divide(uint(stride), &sum)
		if r != (record{1}) || sum != (quadric32{}) {
			t.Errorf("%d attributes: left %v and %v", k, r, sum)
		}
	}
}
