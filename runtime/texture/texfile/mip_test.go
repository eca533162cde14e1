package texfile

import (
	"bytes"
	"image"
	"image/png"
	"math"
	"testing"

	"pgregory.net/rapid"
)

func level(w, h int, at func(x, y int) [4]byte) Level {
	l := Level{w, h, make([]byte, 0, 4*w*h)}
	for y := range h {
		for x := range w {
			p := at(x, y)
			l.Pix = append(l.Pix, p[:]...)
		}
	}
	return l
}

func TestHalve(t *testing.T) {
	checker := func(x, y int) [4]byte {
		v := byte(255 * ((x + y) % 2))
		return [4]byte{v, v, v, 255}
	}
	leaf := func(x, _ int) [4]byte { // green leaf, transparent red around
		if x%2 == 0 {
			return [4]byte{0, 200, 0, 255}
		}
		return [4]byte{255, 0, 0, 0}
	}
	tilted := func(x, _ int) [4]byte { // 45 degrees to the left and to the right
		if x%2 == 0 {
			return [4]byte{218, 128, 218, 255}
		}
		return [4]byte{37, 128, 218, 255}
	}
	for _, c := range []struct {
		name   string
		l      Level
		use    Use
		opaque bool
		want   [4]byte
	}{
		{"half of white is 188 in sRGB", level(2, 2, checker), Color, true, [4]byte{188, 188, 188, 255}},
		{"half of one is 128 in data", level(2, 2, checker), Data, true, [4]byte{128, 128, 128, 255}},
		{"transparent colours do not bleed", level(2, 2, leaf), Color, false, [4]byte{0, 200, 0, 128}},
		{"normals keep their length", level(2, 2, tilted), Normal, true, [4]byte{128, 128, 255, 255}},
		{"one column", level(1, 2, checker), Data, true, [4]byte{128, 128, 128, 255}},
		{"odd", level(3, 1, func(x, _ int) [4]byte { return [4]byte{byte(x * 90), 0, 0, 255} }), Data, true, [4]byte{90, 0, 0, 255}},
	} {
		if got := [4]byte(halve(c.l, c.use, c.opaque).Pix); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestLeavesDoNotFringe: a sampler that mixes a visible texel with a transparent
// neighbour finds the visible colour in both, on every level; where alpha has no
// meaning every colour is kept.
func TestLeavesDoNotFringe(t *testing.T) {
	for _, size := range [][2]int{{64, 64}, {50, 37}} {
		leaf := func(x, y int) [4]byte {
			if x, y := x-size[0]/2, y-size[1]/2; x*x+y*y < 150 {
				return [4]byte{20, 200, 10, 255}
			}
			return [4]byte{255, 0, 255, 0}
		}
		for k, l := range chain(level(size[0], size[1], leaf), Color, false, 0, 0) {
			for i := 0; i < len(l.Pix); i += 4 {
				if p := l.Pix[i:][:4]; p[0] > 24 || p[1] < 196 || p[2] > 14 {
					t.Fatalf("%v, level %d, texel %d: %v", size, k, i/4, p)
				}
			}
		}
	}
	var file bytes.Buffer
	img := image.NewNRGBA(image.Rect(0, 0, 2, 1))
	copy(img.Pix, []byte{20, 200, 10, 255, 255, 0, 255, 0})
	if err := png.Encode(&file, img); err != nil {
		t.Fatal(err)
	}
	got, err := Decode(&file, Options{Use: OpaqueColor})
	if err != nil {
		t.Fatal(err)
	}
	if pix := got.Levels[0].Pix; !bytes.Equal(pix, []byte{20, 200, 10, 255, 255, 0, 255, 255}) {
		t.Errorf("%v", pix)
	}
	if pix := got.Levels[1].Pix; !got.Opaque || pix[0] < 180 || pix[1] < 140 || pix[3] != 255 {
		t.Errorf("opaque %t, the last level is %v", got.Opaque, pix)
	}
}

// TestHalveAgrees: the fast paths do what the general filter does.
func TestHalveAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := 2*rapid.IntRange(1, 4).Draw(t, "w"), 2*rapid.IntRange(1, 4).Draw(t, "h")
		use := rapid.SampledFrom([]Use{Color, Data, Normal}).Draw(t, "use")
		l := Level{w, h, rapid.SliceOfN(rapid.Byte(), 4*w*h, 4*w*h).Draw(t, "pix")}
		if use == Color {
			for i := 3; i < len(l.Pix); i += 4 {
				l.Pix[i] = 255
			}
		}
		fast := halve(l, use, true)
		slow := Level{w / 2, h / 2, make([]byte, w*h)}
		halveOdd(slow, l, use, true)
		for i := range fast.Pix {
			if d := int(fast.Pix[i]) - int(slow.Pix[i]); d < -1 || d > 1 {
				t.Fatalf("byte %d: %d, the general filter says %d", i, fast.Pix[i], slow.Pix[i])
			}
		}
	})
}

// TestHalveKeepsTheMean: no size drifts or darkens.
func TestHalveKeepsTheMean(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 9).Draw(t, "w"), rapid.IntRange(1, 9).Draw(t, "h")
		l := Level{w, h, rapid.SliceOfN(rapid.Byte(), 4*w*h, 4*w*h).Draw(t, "pix")}
		mean := func(l Level) (m float64) {
			for i := 0; i < len(l.Pix); i += 4 {
				m += float64(l.Pix[i])
			}
			return m / float64(l.Width*l.Height)
		}
		if a, b := mean(l), mean(halve(l, Data, false)); math.Abs(a-b) > 0.51 {
			t.Fatalf("%d x %d: mean %v became %v", w, h, a, b)
		}
	})
}

func TestTables(t *testing.T) {
	lin, enc := linear(), encode()
	for v := range 256 {
		if got := enc[lin[v]]; int(got) != v {
			t.Errorf("%d comes back as %d", v, got)
		}
	}
	for i := 1; i < len(enc); i++ {
		if enc[i] < enc[i-1] {
			t.Fatalf("not monotone at %d", i)
		}
	}
}

// BenchmarkChain states its speed against copying the level, in the same run.
func BenchmarkChain(b *testing.B) {
	l := level(1024, 1024, func(x, y int) [4]byte { return [4]byte{byte(x), byte(y), byte(x * y), 255} })
	for _, use := range []Use{Color, Data, Normal} {
		b.Run(use.String(), func(b *testing.B) {
			b.SetBytes(int64(len(l.Pix)))
			for b.Loop() {
				chain(l, use, true, 0, 0)
			}
		})
	}
	b.Run("copy", func(b *testing.B) {
		b.SetBytes(int64(len(l.Pix)))
		dst := make([]byte, len(l.Pix))
		for b.Loop() {
			copy(dst, l.Pix)
		}
	})
}
