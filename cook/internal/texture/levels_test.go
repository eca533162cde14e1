package texture

import (
	"bytes"
	"image"
	"image/color"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/format/utex"
)

// chain returns all levels.
func chain(t testing.TB, img *image.NRGBA, r Role) []*image.NRGBA {
	t.Helper()
	c := newWorkers(3)
	c.join()
	var out []*image.NRGBA
	err := levels(c, scaled(c, img, img.Rect.Dx(), img.Rect.Dy(), r), r, func(l *image.NRGBA) error {
		k := *l
		k.Pix = bytes.Clone(l.Pix)
		out = append(out, &k)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestSinPi(t *testing.T) {
	for x := -7.0; x < 7; x += 0.013 {
		if d := math.Abs(sinPi(x) - math.Sin(math.Pi*x)); d > 1e-12 {
			t.Fatalf("sinPi(%v) is off by %v", x, d)
		}
	}
}

func TestToByteSRGB(t *testing.T) {
	for i := range 256 {
		if got := toByteSRGB(light[i]); int(got) != i {
			t.Fatalf("%d became %d", i, got)
		}
	}
	for i := range 100000 {
		v := float64(i) / 99999
		e := 12.92 * v
		if v > 0.0031308 {
			e = 1.055*math.Pow(v, 1/2.4) - 0.055
		}
		if got := float64(toByteSRGB(float32(v))); math.Abs(got-255*e) > 0.501 {
			t.Fatalf("%v became %v, want %v", v, got, 255*e)
		}
	}
	if toByteSRGB(-1) != 0 || toByteSRGB(2) != 255 {
		t.Error("out of range")
	}
}

// TestTaps: the weights of every pixel sum up to 1, and with areas every source
// pixel counts the same.
func TestTaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(t, "n")
		m := rapid.IntRange(1, n).Draw(t, "m")
		lanczos := rapid.Bool().Draw(t, "lanczos")
		e := rapid.SampledFrom([]Edge{EdgeRepeat, EdgeMirror, EdgeClamp}).Draw(t, "edge")
		use := make([]float64, n)
		for i, p := range kernelTaps(n, m, lanczos, e) {
			sum := 0.0
			for k, w := range p.weight {
				sum += float64(w)
				use[p.at[k]] += float64(w)
			}
			if math.Abs(sum-1) > 1e-5 {
				t.Fatalf("pixel %d of %d from %d: weights sum up to %v", i, m, n, sum)
			}
		}
		for at, v := range use {
			if !lanczos && math.Abs(v*float64(n)/float64(m)-1) > 1e-4 {
				t.Fatalf("source pixel %d counts %v", at, v*float64(n)/float64(m))
			}
		}
	})
}

func TestEdges(t *testing.T) {
	for e, want := range map[Edge][]int{ // from -3 on
		EdgeRepeat: {0, 1, 2, 0, 1, 2, 0, 1, 2},
		EdgeMirror: {2, 1, 0, 0, 1, 2, 2, 1, 0},
		EdgeClamp:  {0, 0, 0, 0, 1, 2, 2, 2, 2},
	} {
		for k, w := range want {
			if got := e.inside(k-3, 3); got != w {
				t.Errorf("edge %d: %d became %d, want %d", e, k-3, got, w)
			}
		}
	}
}

// TestLevelsKeepFlatColours: one colour stays that colour at every level and
// size, whatever it means.
func TestLevelsKeepFlatColours(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 40).Draw(t, "w"), rapid.IntRange(1, 40).Draw(t, "h")
		p := [4]byte{rapid.Byte().Draw(t, "r"), rapid.Byte().Draw(t, "g"), rapid.Byte().Draw(t, "b"), rapid.Byte().Draw(t, "a")}
		r := Role{Use: rapid.SampledFrom([]Use{Data, Color}).Draw(t, "use")}
		if r.Use == Color {
			r.Alpha = rapid.SampledFrom([]Alpha{AlphaIgnored, AlphaBlended, AlphaMasked}).Draw(t, "alpha")
			r.Cutoff = 0.5
		}
		if r.Alpha == AlphaIgnored {
			p[3] = 255
		}
		img := &image.NRGBA{Pix: bytes.Repeat(p[:], w*h), Stride: 4 * w, Rect: image.Rect(0, 0, w, h)}
		c := newWorkers(1)
		c.join()
		small := scaled(c, img, rapid.IntRange(1, w).Draw(t, "to w"), rapid.IntRange(1, h).Draw(t, "to h"), r)
		for i, b := range small.Pix {
			if b != p[i%4] {
				t.Fatalf("%v became %v", p, small.Pix[i&^3:][:4])
			}
		}
		err := levels(c, img, r, func(l *image.NRGBA) error {
			for i, b := range l.Pix {
				if b != p[i%4] {
					t.Fatalf("%v: %v became %v", l.Rect, p, l.Pix[i&^3:][:4])
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// TestLevelsAreLinear: half the light is 188 in sRGB and half the number 128.
func TestLevelsAreLinear(t *testing.T) {
	checker := image.NewNRGBA(image.Rect(0, 0, 64, 64))
	for y := range 64 {
		for x := range 64 {
			v := uint8(255 * ((x + y) % 2))
			checker.SetNRGBA(x, y, color.NRGBA{v, v, v, 255})
		}
	}
	for use, want := range map[Use]uint8{Color: 188, Data: 128} {
		all := chain(t, checker, Role{Use: use})
		if len(all) != 7 {
			t.Fatalf("%d levels", len(all))
		}
		for _, l := range all[1:] {
			for i, b := range l.Pix {
				if i%4 != 3 && b != want {
					t.Fatalf("%v of %v: %d, want %d", use, l.Rect, b, want)
				}
			}
		}
	}
}

// TestLevelsDoNotFringe: a green leaf on magenta nothing stays green.
func TestLevelsDoNotFringe(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 50, 38))
	for y := range 38 {
		for x := range 50 {
			c := color.NRGBA{255, 0, 255, 0}
			if (x-25)*(x-25)+(y-19)*(y-19) < 200 {
				c = color.NRGBA{10, 200, 20, 255}
			}
			img.SetNRGBA(x, y, c)
		}
	}
	for _, a := range []Alpha{AlphaBlended, AlphaMasked} {
		for _, l := range chain(t, img, Role{Use: Color, Alpha: a, Cutoff: 0.5}) {
			for i := 0; i < len(l.Pix); i += 4 {
				p := l.Pix[i:][:4]
				if p[3] > 4 && (p[0] > 14 || p[1] < 196 || p[2] > 24) {
					t.Fatalf("%v: a fringe of %v", l.Rect, p)
				}
			}
		}
	}
	// Where there is nothing at all the hidden colour stays for what bleeds.
	hidden := image.NewNRGBA(image.Rect(0, 0, 8, 8))
	for i := range hidden.Pix {
		hidden.Pix[i] = []byte{40, 90, 160, 0}[i%4]
	}
	for _, l := range chain(t, hidden, Role{Use: Color, Alpha: AlphaBlended}) {
		if !bytes.Equal(l.Pix[:4], []byte{40, 90, 160, 0}) {
			t.Errorf("%v: hidden colour %v", l.Rect, l.Pix[:4])
		}
	}
}

// TestBlocksDoNotFringe: in compressed textures too a sampler that mixes a visible
// texel with a hidden neighbour finds the visible colour in both, on every level;
// alpha stays what it was.
func TestBlocksDoNotFringe(t *testing.T) {
	for _, size := range [][2]int{{64, 64}, {50, 38}} {
		img := image.NewNRGBA(image.Rect(0, 0, size[0], size[1]))
		for y := range size[1] {
			for x := range size[0] {
				c := color.NRGBA{255, 0, 255, 0}
				if (x-25)*(x-25)+(y-19)*(y-19) < 200 {
					c = color.NRGBA{10, 200, 20, 255}
				}
				img.SetNRGBA(x, y, c)
			}
		}
		before := bytes.Clone(img.Pix)
		var file bytes.Buffer
		if _, err := EncodeOne(&file, "leaf", img, Role{Use: Color, Alpha: AlphaMasked, Cutoff: 0.5}, ModeBC, ASTC{}); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(img.Pix, before) {
			t.Fatal("the picture itself was changed")
		}
		r, err := utex.NewBytesReader(file.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		for k := range r.Info.Levels {
			data, err := r.ReadLevel(k, nil)
			if err != nil {
				t.Fatal(err)
			}
			w, h := max(1, size[0]>>k), max(1, size[1]>>k)
			pix, err := utex.Decode(utex.BC7SRGB, data, w, h)
			if err != nil {
				t.Fatal(err)
			}
			for i := 0; i < len(pix); i += 4 {
				p := pix[i:][:4]
				if p[0] > 20 || p[1] < 190 || p[2] > 30 {
					t.Fatalf("%v, level %d, texel %d: %v", size, k, i/4, p)
				}
				if want := before[i+3]; k == 0 && max(p[3], want)-min(p[3], want) > 4 {
					t.Fatalf("%v, texel %d: alpha %d, want %d", size, i/4, p[3], want)
				}
			}
		}
	}
}

// foliage is a picture with many small cut-outs.
func foliage(n int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, n, n))
	seed := uint32(7)
	for i := 0; i < len(img.Pix); i += 4 {
		img.Pix[i+1] = 180
	}
	for range n * n / 40 {
		seed = seed*1664525 + 1013904223
		cx, cy := int(seed>>8)%n, int(seed>>20)%n
		for y := -2; y <= 2; y++ {
			for x := -1; x <= 1; x++ {
				img.Pix[4*(((cy+y+n)%n)*n+(cx+x+n)%n)+3] = 255
			}
		}
	}
	return img
}

func drawnShare(img *image.NRGBA, cutoff float32) float64 {
	n := 0
	for i := 3; i < len(img.Pix); i += 4 {
		if part[img.Pix[i]] >= cutoff {
			n++
		}
	}
	return float64(n) / float64(len(img.Pix)/4)
}

// TestCoverage: the share of drawn texels stays, level by level and when the
// picture is made smaller; without care it does not.
func TestCoverage(t *testing.T) {
	one := newWorkers(1)
	one.join()
	// Soft borders: with alpha 0 and 255 alone, the first levels have so few
	// values that no factor hits the share.
	img := scaled(one, foliage(600), 256, 256, Role{Use: Color, Alpha: AlphaBlended})
	for _, cutoff := range []float32{0.25, 0.5, 0.8} {
		r := Role{Use: Color, Alpha: AlphaMasked, Cutoff: cutoff}
		want := drawnShare(img, cutoff)
		for _, l := range chain(t, img, r) {
			if l.Rect.Dx() < 16 {
				break // too few texels to share
			}
			if got := drawnShare(l, cutoff); math.Abs(got-want) > 0.02 {
				t.Errorf("cutoff %v, %v: %.3f of the texels are drawn, want %.3f", cutoff, l.Rect, got, want)
			}
		}
		if got := drawnShare(scaled(one, img, 100, 90, r), cutoff); math.Abs(got-want) > 0.01 {
			t.Errorf("cutoff %v, smaller: %.3f, want %.3f", cutoff, got, want)
		}
	}
	plain := chain(t, img, Role{Use: Color, Alpha: AlphaBlended})
	if got, want := drawnShare(plain[4], 0.8), drawnShare(img, 0.8); got > want/2 {
		t.Errorf("the test shows nothing: %.3f without care, %.3f with", got, want)
	}
}

// TestNormals: every level holds unit vectors that point out of the surface.
func TestNormals(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 61, 33))
	seed := uint32(3)
	for i := range img.Pix {
		seed = seed*1664525 + 1013904223
		img.Pix[i] = byte(seed >> 24)
	}
	for _, l := range chain(t, img, Role{Use: Normal}) {
		for i := 0; i < len(l.Pix); i += 4 {
			var sum float64
			for k := range 3 {
				v := float64(l.Pix[i+k])/127.5 - 1
				sum += v * v
			}
			if math.Abs(math.Sqrt(sum)-1) > 0.01 || l.Pix[i+2] < 127 || l.Pix[i+3] != 255 {
				t.Fatalf("%v: %v has the length %v", l.Rect, l.Pix[i:][:4], math.Sqrt(sum))
			}
		}
	}
	// Two opposite slopes are flat on average; nothing at all is flat, too.
	slopes := &image.NRGBA{Pix: []byte{218, 128, 218, 255, 37, 128, 218, 255}, Stride: 8, Rect: image.Rect(0, 0, 2, 1)}
	if p := chain(t, slopes, Role{Use: Normal})[1].Pix; !bytes.Equal(p, []byte{127, 128, 255, 255}) && !bytes.Equal(p, []byte{128, 128, 255, 255}) {
		t.Errorf("the mean of two slopes is %v", p)
	}
}

// TestResizeRepeats: a picture that tiles still tiles when it is smaller: its
// seam is no steeper than its inside.
func TestResizeRepeats(t *testing.T) {
	const n, m = 96, 32
	img := image.NewNRGBA(image.Rect(0, 0, n, n))
	for y := range n {
		for x := range n {
			v := uint8(128 + 100*math.Sin(2*math.Pi*(float64(x)+0.3)/n)*math.Cos(2*math.Pi*float64(y)/n))
			img.SetNRGBA(x, y, color.NRGBA{v, v, v, 255})
		}
	}
	c := newWorkers(1)
	c.join()
	out := scaled(c, img, m, m, Role{Use: Color})
	inside, seam := 0, 0
	diff := func(a, b int) int { return max(a-b, b-a) }
	for y := range m {
		for x := range m {
			d := diff(int(out.NRGBAAt(x, y).R), int(out.NRGBAAt((x+1)%m, y).R))
			if x == m-1 {
				seam = max(seam, d)
			} else {
				inside = max(inside, d)
			}
		}
	}
	if seam > inside+2 {
		t.Errorf("steps of %d at the seam, %d inside", seam, inside)
	}
}

// TestJobsDoNotMatter: bands on several goroutines give the same pixels.
func TestJobsDoNotMatter(t *testing.T) {
	img := photo(301, 517)
	for _, r := range []Role{{Use: Color}, {Use: Normal}, {Use: Color, Alpha: AlphaMasked, Cutoff: 0.4}} {
		one, many := newWorkers(1), newWorkers(8)
		one.join()
		many.join()
		a, b := scaled(one, img, 203, 399, r), scaled(many, img, 203, 399, r)
		if !bytes.Equal(a.Pix, b.Pix) {
			t.Errorf("%v differs", r)
		}
	}
}
