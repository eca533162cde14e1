package vertex

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// The vectors are the reference engine's.

func TestHalf(t *testing.T) {
	for _, c := range []struct {
		in   float64
		want uint16
	}{
		{0, 0},
		{1, 0x3C00},
		{-1, 0xBC00},
		{0.5, 0x3800},
		{0.25, 0x3400},
		{2, 0x4000},
		{1.0 / 3, 0x3555},
		{0.1, 0x2E66},
		{30.3, 0x4F93},
		{65504, 0x7BFF},
		{6e-8, 1},
		{2.9e-8, 0},
		{1.00048828125, 0x3C00},
		{1.00146484375, 0x3C02},
		{2049, 0x6800},
		{2051, 0x6802},
		{math.Copysign(0, -1), 0x8000},
		{65519, 0x7BFF},
		{65520, 0x7C00},
		{math.Inf(-1), 0xFC00},
		{6.103515625e-05, 0x0400},
		{6.1e-05, 0x03FF},
	} {
		if got := Half(float32(c.in)); got != c.want {
			t.Errorf("Half(%v) = %04X, want %04X", c.in, got, c.want)
		}
	}
	if v := FromHalf(Half(float32(math.NaN()))); v == v {
		t.Errorf("NaN became %v", v)
	}
}

func TestHalfRoundTrip(t *testing.T) {
	for h := range 1 << 16 {
		f := FromHalf(uint16(h))
		if f != f {
			continue
		}
		if got := Half(f); got != uint16(h) {
			t.Fatalf("half %04X is %v, which packs to %04X", h, f, got)
		}
	}
}

func TestHalfIsNearest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.Float32Range(-65504, 65504).Draw(t, "f")
		h := Half(f)
		err := math.Abs(float64(FromHalf(h)) - float64(f))
		for _, n := range []uint16{h - 1, h + 1} {
			v := FromHalf(n)
			if v != v || math.IsInf(float64(v), 0) || n&0x8000 != h&0x8000 {
				continue
			}
			if d := math.Abs(float64(v) - float64(f)); d < err || d == err && h&1 == 1 {
				t.Fatalf("Half(%v) = %04X, but %04X is nearer or even", f, h, n)
			}
		}
	})
}

func TestSnorm10(t *testing.T) {
	for _, c := range []struct {
		in   float64
		want uint32
	}{
		{0, 0},
		{1, 0x1FF},
		{-1, 0x201},
		{0.5, 0x100},
		{-0.5, 0x300},
		{0.25, 0x080},
		{0.70710678, 0x169},
		{-0.70710678, 0x297},
		{1.0 / 3, 0x0AA},
		{2, 0x1FF},
		{-2, 0x201},
	} {
		if got := snorm10(c.in); got != c.want {
			t.Errorf("snorm10(%v) = %03X, want %03X", c.in, got, c.want)
		}
	}
}

func TestPackNormal(t *testing.T) {
	nan := float32(math.NaN())
	for _, c := range []struct {
		in   [3]float32
		want uint32
	}{
		{[3]float32{0, 0, 1}, 0x1FF00000},
		{[3]float32{0, 1, 0}, 0x0007FC00},
		{[3]float32{1, 0, 0}, 0x000001FF},
		{[3]float32{0, 0, -1}, 0x20100000},
		{[3]float32{-1, 0, 0}, 0x00000201},
		{[3]float32{0, -1, 0}, 0x00080400},
		{[3]float32{1, 1, 1}, 0x12749D27},
		{[3]float32{0.25, 0.9, -0.35}, 0x34D73480},
		{[3]float32{}, 0x1FF00000},
		{[3]float32{nan, 0, 0}, 0x1FF00000},
	} {
		if got := PackNormal(c.in); got != c.want {
			t.Errorf("PackNormal(%v) = %08X, want %08X", c.in, got, c.want)
		}
	}
}

func TestPackTangent(t *testing.T) {
	for _, c := range []struct {
		in   [4]float32
		want uint32
	}{
		{[4]float32{1, 0, 0, 1}, 0x400001FF},
		{[4]float32{1, 0, 0, -1}, 0xC00001FF},
		{[4]float32{0, 1, 0, 1}, 0x4007FC00},
		{[4]float32{-0.7, 0.1, 0.7, -1}, 0xD680CE98},
		{[4]float32{0, 0, 0, -1}, 0xC00001FF},
		{[4]float32{1, 0, 0, 0}, 0x400001FF},
		{[4]float32{1, 0, 0, -0.1}, 0xC00001FF},
	} {
		if got := PackTangent(c.in); got != c.want {
			t.Errorf("PackTangent(%v) = %08X, want %08X", c.in, got, c.want)
		}
	}
}

func TestUnpackInvertsPack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := rapid.Float32Range(-1, 1)
		v := [4]float32{g.Draw(t, "x"), g.Draw(t, "y"), g.Draw(t, "z"), g.Draw(t, "w")}
		l := float32(math.Sqrt(float64(v[0]*v[0] + v[1]*v[1] + v[2]*v[2])))
		if l < 1e-3 {
			t.Skip("no direction")
		}
		got := UnpackTangent(PackTangent(v))
		for i := range 3 {
			if d := math.Abs(float64(got[i] - v[i]/l)); d > 0.5/511+1e-6 {
				t.Fatalf("%v came back as %v", v, got)
			}
		}
		if got[3] != 1 && v[3] >= 0 || got[3] != -1 && v[3] < 0 {
			t.Fatalf("handedness of %v came back as %v", v[3], got[3])
		}
		if p := PackNormal([3]float32{v[0], v[1], v[2]}); !IsUnit(p) || HasMin(p) || p>>30 != 0 {
			t.Fatalf("packed normal %08x is not clean", p)
		}
	})
}

func TestPackColor(t *testing.T) {
	for _, c := range []struct {
		in   [4]float32
		want [4]uint8
	}{
		{[4]float32{1, 0.5, 0, 0.25}, [4]uint8{255, 128, 0, 64}},
		{[4]float32{2, -1, float32(math.NaN()), float32(math.Inf(1))}, [4]uint8{255, 0, 0, 255}},
	} {
		if got := PackColor(c.in); got != c.want {
			t.Errorf("PackColor(%v) = %v, want %v", c.in, got, c.want)
		}
	}
}

// Rounding leaves parts that are within half a step of what they were, and no more than 511
// from 0; the lowest bits are 0, and the top bits what they were.
func TestRoundDirection(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := [3]int32{}
		p := rapid.Uint32Range(0, 3).Draw(t, "top") << 30
		for k := range parts {
			parts[k] = rapid.Int32Range(-511, 511).Draw(t, "part")
			p |= uint32(parts[k]) & 0x3ff << (10 * k)
		}
		bits := rapid.IntRange(0, 8).Draw(t, "bits")
		got := RoundDirection(p, bits)
		if got>>30 != p>>30 || RoundDirection(got, bits) != got || bits == 0 && got != p {
			t.Errorf("%#x by %d bits: %#x", p, bits, got)
		}
		for k := range parts {
			part := int32(got>>(10*k)<<22) >> 22
			if part&(1<<bits-1) != 0 || part < -511 || part > 511 || max(part-parts[k], parts[k]-part) > 1<<bits-1 {
				t.Errorf("%d by %d bits: %d", parts[k], bits, part)
			}
		}
	})
}

// What is rounded by two bits is still of unit length.
func TestRoundedDirectionsAreUnit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.Float32Range(-1, 1)
		n := [3]float32{part.Draw(t, "x"), part.Draw(t, "y"), part.Draw(t, "z")}
		if p := RoundDirection(PackNormal(n), 2); !IsUnit(p) || HasMin(p) {
			t.Errorf("%v: %v", n, UnpackNormal(p))
		}
	})
}
