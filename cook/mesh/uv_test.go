package mesh

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/format/vertex"
)

func TestUVTransform(t *testing.T) {
	one := [2]float64{1, 1}
	for _, c := range []struct {
		name     string
		tr       UVTransform
		in, want [2]float32
	}{
		{"offset", UVTransform{Offset: [2]float64{.5, .25}, Scale: one}, [2]float32{1, 2}, [2]float32{1.5, 2.25}},
		{"scale", UVTransform{Scale: [2]float64{2, 3}}, [2]float32{1, 2}, [2]float32{2, 6}},
		// v runs downwards: counter-clockwise takes +u to -v.
		{"rotate u", UVTransform{Rot: math.Pi / 2, Scale: one}, [2]float32{1, 0}, [2]float32{0, -1}},
		{"rotate v", UVTransform{Rot: math.Pi / 2, Scale: one}, [2]float32{0, 1}, [2]float32{1, 0}},
		{"all", UVTransform{Offset: [2]float64{10, 20}, Rot: math.Pi, Scale: [2]float64{2, 3}}, [2]float32{1, 1}, [2]float32{8, 17}},
		{"scale 0", UVTransform{Offset: [2]float64{.5, .5}}, [2]float32{7, 9}, [2]float32{.5, .5}},
	} {
		in := [][2]float32{c.in}
		got := c.tr.Apply(in)
		if math.Abs(float64(got[0][0]-c.want[0])) > 1e-6 || math.Abs(float64(got[0][1]-c.want[1])) > 1e-6 {
			t.Errorf("%s: %v became %v, want %v", c.name, c.in, got[0], c.want)
		}
		if in[0] != c.in {
			t.Errorf("%s: the source was written into", c.name)
		}
	}
	identity := UVTransform{Scale: one}
	in := [][2]float32{{1, 2}}
	if got := identity.Apply(in); &got[0] != &in[0] {
		t.Error("the identity made a copy")
	}
	if (UVTransform{Rot: 1, Scale: one}).Apply(nil) != nil {
		t.Error("coordinates out of nothing")
	}
}

func TestRepeatShift(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		step   Repeat
		want   float64
	}{
		{0, 1, 1, 0},   // already best
		{-1, 0, 1, 0},  // as good as 0..1
		{1, 1.5, 1, 1}, // one bit
		{1, 2, 1, 1},   // one bit
		{100, 101, 1, 100},
		{-100.5, -100.25, 1, -101},
		{100, 101, 2, 100},
		{101, 102, 2, 102}, // even steps only: -1..0
		{101, 103, 2, 102}, // -1..1
		{101, 102, 0, 0},   // clamped textures stay
		{-50, 50, 1, 0},    // symmetric
		{0, 100, 1, 50},
		{0, 2, 1, 1},
		{0, 1e6, 1, 0}, // cannot fit
		{1e6, 1e6 + 5, 1, 1e6 + 2},
		{math.Inf(-1), 0, 1, 0},
		{0, math.Inf(1), 1, 0},
		{math.NaN(), 1, 1, 0},
		{math.Inf(1), math.Inf(-1), 1, 0}, // no vertices
	} {
		if got := repeatShift(c.lo, c.hi, c.step); got != c.want {
			t.Errorf("[%v, %v] by %v: %v, want %v", c.lo, c.hi, c.step, got, c.want)
		}
	}
}

// TestRepeatShiftProperties checks what a move may and must do.
func TestRepeatShiftProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		step := rapid.SampledFrom([]Repeat{1, 2}).Draw(t, "step")
		lo := rapid.Float64Range(-5000, 5000).Draw(t, "lo")
		hi := lo + rapid.Float64Range(0, 3000).Draw(t, "width")
		s := repeatShift(lo, hi, step)
		if math.Mod(s, float64(step)) != 0 {
			t.Fatalf("shift %v is not whole", s)
		}
		before, after := math.Max(math.Abs(lo), math.Abs(hi)), math.Max(math.Abs(lo-s), math.Abs(hi-s))
		if s != 0 && halfError(after) >= halfError(before) {
			t.Fatalf("[%v, %v] moved by %v gains nothing: %v, %v", lo, hi, s, halfError(before), halfError(after))
		}
		// No other step would have been better by a binade.
		for k := -6000.0; k <= 6000; k += float64(step) {
			if m := math.Max(math.Abs(lo-k), math.Abs(hi-k)); m > 1 && halfError(m) < halfError(after) {
				t.Fatalf("[%v, %v]: %v instead of %v would be better", lo, hi, k, s)
			}
		}
	})
}

// halfError is the largest rounding error of half floats up to m.
func halfError(m float64) float64 {
	f, e := math.Frexp(m)
	if f == 0.5 {
		e--
	}
	return math.Ldexp(1, e-12)
}

// TestPackUVShift follows coordinates through Pack: what a repeating sampler
// sees differs by no more than the rounding.
func TestPackUVShift(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.Float32Range(-300, 300).Draw(t, "base")
		local := rapid.Float32Range(0, 1)
		var uv [][2]float32
		for range 4 {
			uv = append(uv, [2]float32{base + local.Draw(t, "u"), -base + local.Draw(t, "v")})
		}
		p, err := plane(uv...).Pack(PackOptions{RepeatU: 1, RepeatV: 1})
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range vertices(p) {
			for k, want := range [2]float64{float64(uv[i][0]), 1 - float64(uv[i][1])} {
				got := float64(vertex.FromHalf(v.UV0[k]))
				d := got - want
				if d -= math.Round(d); math.Abs(d) > 1.0/1024 {
					t.Fatalf("vertex %d: %v is stored as %v", i, want, got)
				}
				if math.Abs(got) > 2 {
					t.Fatalf("%v stayed at %v", want, got)
				}
			}
		}
	})
}
