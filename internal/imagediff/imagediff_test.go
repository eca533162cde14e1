package imagediff

import (
	"errors"
	"image"
	"image/color"
	"math"
	"runtime"
	"slices"
	"testing"
)

// pattern makes a pair of small pictures by arithmetic alone.
func pattern(name string) (a, b *image.NRGBA) {
	const w, h = 96, 64
	a, b = image.NewNRGBA(image.Rect(0, 0, w, h)), image.NewNRGBA(image.Rect(0, 0, w, h))
	seed := uint32(1)
	for y := range h {
		for x := range w {
			var p, q [3]int
			for c := range 3 {
				switch name {
				case "checker moved by a pixel":
					p[c], q[c] = 40+180*((x/8+y/8)&1), 40+180*(((x+1)/8+y/8)&1)
				case "green and blue exchanged":
					p = [3]int{x * 255 / (w - 1), y * 255 / (h - 1), 128}
					q = [3]int{x * 255 / (w - 1), 128, y * 255 / (h - 1)}
				case "one white pixel":
					p[c], q[c] = 100, 100
					if x == 48 && y == 32 {
						q[c] = 255
					}
				case "noise":
					seed = seed*1664525 + 1013904223
					p[c] = int(seed >> 24)
					q[c] = min(max(p[c]+int(seed>>16&31)-16, 0), 255)
				case "green to blue":
					p, q = [3]int{0, 255, 0}, [3]int{0, 0, 255}
				}
			}
			a.SetNRGBA(x, y, color.NRGBA{uint8(p[0]), uint8(p[1]), uint8(p[2]), 255})
			b.SetNRGBA(x, y, color.NRGBA{uint8(q[0]), uint8(q[1]), uint8(q[2]), 255})
		}
	}
	return a, b
}

// The figures are those of the authors' own program (version 1.6, C++) for
// these pictures.
func TestFLIPReference(t *testing.T) {
	for _, c := range []struct {
		name                         string
		ppd, mean, largest, at, near float64
	}{
		{"checker moved by a pixel", PixelsPerDegree, 0.265143, 0.984743, 0.065342, 0.242508},
		{"checker moved by a pixel", 40, 0.234108, 0.986102, 0.002383, 0.508096},
		{"green and blue exchanged", PixelsPerDegree, 0.794699, 0.985651, 0.804820, 0.166557},
		{"green and blue exchanged", 40, 0.787903, 0.985255, 0.800957, 0.157765},
		{"one white pixel", PixelsPerDegree, 0.000909, 0.468655, 0.000000, 0.287721},
		{"one white pixel", 40, 0.000641, 0.760237, 0.000000, 0.230334},
		{"noise", PixelsPerDegree, 0.092535, 0.295308, 0.050579, 0.115408},
		{"noise", 40, 0.132831, 0.353425, 0.048724, 0.162985},
		{"green to blue", PixelsPerDegree, 1.000000, 1.000000, 1.000000, 1.000000},
		{"green to blue", 40, 1.000000, 1.000000, 1.000000, 1.000000},
	} {
		a, b := pattern(c.name)
		m, err := FLIP(a, b, c.ppd)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range []struct {
			what      string
			got, want float64
		}{
			{"mean", m.Mean(), c.mean},
			{"largest", m.Quantile(1), c.largest},
			{"pixel 10, 20", float64(m.Values[20*m.Width+10]), c.at},
			{"pixel 47, 31", float64(m.Values[31*m.Width+47]), c.near},
		} {
			if math.Abs(v.got-v.want) > 1e-4 {
				t.Errorf("%s at %v pixels per degree: %s %.6f, want %.6f", c.name, c.ppd, v.what, v.got, v.want)
			}
		}
	}
}

func TestEqualPictures(t *testing.T) {
	a, _ := pattern("noise")
	m, err := FLIP(a, a, PixelsPerDegree)
	if err != nil || m.Mean() != 0 || m.Quantile(1) != 0 {
		t.Error(err, m.Mean())
	}
	s, err := SSIM(a, a)
	if err != nil || math.Abs(s-1) > 1e-6 {
		t.Error(err, s)
	}
	if n, err := Changed(a, a, 0); err != nil || n != 0 {
		t.Error(err, n)
	}
}

// A constant offset has a structural similarity that can be worked out by hand:
// only the term of the means is left.
func TestSSIMOfFlatPictures(t *testing.T) {
	flat := func(v uint8) image.Image {
		img := image.NewGray(image.Rect(3, 5, 40, 30)) // not at the origin
		for i := range img.Pix {
			img.Pix[i] = v
		}
		return img
	}
	u, v := 100.0/255, 150.0/255
	want := (2*u*v + 1e-4) / (u*u + v*v + 1e-4)
	got, err := SSIM(flat(100), flat(150))
	if err != nil || math.Abs(got-want) > 1e-4 {
		t.Errorf("%v %v, want %v", err, got, want)
	}
}

// A direct evaluation of the definition, pixel by pixel.
func TestSSIMAgainstDefinition(t *testing.T) {
	for _, name := range []string{"noise", "checker moved by a pixel", "green and blue exchanged"} {
		a, b := pattern(name)
		got, err := SSIM(a, b)
		if err != nil {
			t.Fatal(err)
		}
		if want := slowSSIM(a, b); math.Abs(got-want) > 1e-3 {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func slowSSIM(a, b *image.NRGBA) float64 {
	gray := func(img *image.NRGBA, x, y int) float64 {
		c := img.NRGBAAt(x, y)
		return (0.299*float64(c.R) + 0.587*float64(c.G) + 0.114*float64(c.B)) / 255
	}
	w, h := a.Rect.Dx(), a.Rect.Dy()
	sum, n := 0.0, 0
	for cy := 5; cy < h-5; cy++ {
		for cx := 5; cx < w-5; cx++ {
			var weight, ma, mb, aa, bb, ab float64
			for y := cy - 5; y <= cy+5; y++ {
				for x := cx - 5; x <= cx+5; x++ {
					g := math.Exp(-float64((x-cx)*(x-cx)+(y-cy)*(y-cy)) / (2 * 1.5 * 1.5))
					p, q := gray(a, x, y), gray(b, x, y)
					weight += g
					ma, mb, aa, bb, ab = ma+g*p, mb+g*q, aa+g*p*p, bb+g*q*q, ab+g*p*q
				}
			}
			ma, mb = ma/weight, mb/weight
			va, vb, cov := aa/weight-ma*ma, bb/weight-mb*mb, ab/weight-ma*mb
			sum += (2*ma*mb + 1e-4) * (2*cov + 9e-4) / ((ma*ma + mb*mb + 1e-4) * (va + vb + 9e-4))
			n++
		}
	}
	return sum / float64(n)
}

func TestSizes(t *testing.T) {
	a, b := image.NewNRGBA(image.Rect(0, 0, 4, 4)), image.NewNRGBA(image.Rect(0, 0, 4, 5))
	if _, err := FLIP(a, b, PixelsPerDegree); !errors.Is(err, ErrSize) {
		t.Error(err)
	}
	if _, err := SSIM(a, image.NewNRGBA(image.Rectangle{})); !errors.Is(err, ErrSize) {
		t.Error(err)
	}
	if _, err := Changed(a, b, 1); !errors.Is(err, ErrSize) {
		t.Error(err)
	}
	if _, err := FLIP(a, a, 0); err == nil {
		t.Error("0 pixels per degree")
	}
	// Smaller than every filter.
	one := image.NewGray(image.Rect(0, 0, 1, 1))
	if m, err := FLIP(one, one, PixelsPerDegree); err != nil || m.Mean() != 0 {
		t.Error(err)
	}
	if s, err := SSIM(one, one); err != nil || s < 0.999 {
		t.Error(err, s)
	}
}

func TestChanged(t *testing.T) {
	a, b := pattern("one white pixel")
	for _, c := range []struct {
		threshold int
		want      float64
	}{{32, 1.0 / (96 * 64)}, {154, 1.0 / (96 * 64)}, {155, 0}} {
		if got, err := Changed(a, b, c.threshold); err != nil || got != c.want {
			t.Errorf("threshold %d: %v %v", c.threshold, got, err)
		}
		if got, _ := Changed(b, a, c.threshold); got != c.want {
			t.Errorf("threshold %d, exchanged: %v", c.threshold, got)
		}
	}
}

func TestMapImage(t *testing.T) {
	m := &Map{Width: 3, Height: 1, Values: []float32{0, 1, 2}}
	img := m.Image()
	if img.NRGBAAt(0, 0) != heat[0] || img.NRGBAAt(1, 0) != heat[len(heat)-1] || img.NRGBAAt(2, 0) != heat[len(heat)-1] {
		t.Error(img.Pix)
	}
	if q := m.Quantile(0.5); q != 1 {
		t.Error(q)
	}
}

func TestSameOnAnyNumberOfProcessors(t *testing.T) {
	a, b := pattern("noise")
	first, _ := FLIP(a, b, PixelsPerDegree)
	s1, _ := SSIM(a, b)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	second, _ := FLIP(a, b, PixelsPerDegree)
	s2, _ := SSIM(a, b)
	if !slices.Equal(first.Values, second.Values) || s1 != s2 {
		t.Error("the figures depend on the number of processors")
	}
}

func BenchmarkFLIP(b *testing.B) {
	img := image.NewNRGBA(image.Rect(0, 0, 960, 540))
	for i := range img.Pix {
		img.Pix[i] = uint8(i * 7919 >> 3)
	}
	for b.Loop() {
		if _, err := FLIP(img, img, PixelsPerDegree); err != nil {
			b.Fatal(err)
		}
	}
}
