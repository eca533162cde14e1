package texture

import (
	"context"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"
)

func TestLinearTable(t *testing.T) {
	for i := range 256 {
		v := float64(i) / 255
		want := v / 12.92
		if v > 0.04045 {
			want = math.Pow((v+0.055)/1.055, 2.4)
		}
		if got := float64(linear[i]) / 65535; math.Abs(got-want) > 1e-5 {
			t.Fatalf("linear[%d] = %v, want %v", i, got, want)
		}
		if back := FromLinear(Linear(uint8(i))); back != uint8(i) {
			t.Fatalf("%d became %d", i, back)
		}
	}
}

func TestResizeMeans(t *testing.T) {
	checker := image.NewNRGBA(image.Rect(0, 0, 4, 4))
	for y := range 4 {
		for x := range 4 {
			v := uint8(255 * ((x + y) % 2))
			checker.SetNRGBA(x, y, color.NRGBA{v, v, v, 255})
		}
	}
	// Half the light is 188 in sRGB, half the number 128.
	if c := Resize(checker, 1, 1, Color).NRGBAAt(0, 0); c != (color.NRGBA{188, 188, 188, 255}) {
		t.Errorf("colour: %v", c)
	}
	if c := Resize(checker, 2, 2, Data).NRGBAAt(1, 1); c != (color.NRGBA{128, 128, 128, 255}) {
		t.Errorf("data: %v", c)
	}
	// A transparent pixel's colour does not bleed.
	leaf := image.NewNRGBA(image.Rect(0, 0, 2, 1))
	leaf.SetNRGBA(0, 0, color.NRGBA{0, 200, 0, 255})
	leaf.SetNRGBA(1, 0, color.NRGBA{255, 0, 255, 0})
	if c := Resize(leaf, 1, 1, Color).NRGBAAt(0, 0); c != (color.NRGBA{0, 200, 0, 128}) {
		t.Errorf("leaf: %v", c)
	}
}

func TestResizeKeepsFlatColours(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 40).Draw(t, "w"), rapid.IntRange(1, 40).Draw(t, "h")
		c := color.NRGBA{rapid.Byte().Draw(t, "r"), rapid.Byte().Draw(t, "g"), rapid.Byte().Draw(t, "b"), rapid.Byte().Draw(t, "a")}
		img := image.NewNRGBA(image.Rect(0, 0, w, h))
		for y := range h {
			for x := range w {
				img.SetNRGBA(x, y, c)
			}
		}
		use := rapid.SampledFrom([]Use{Data, Color}).Draw(t, "use")
		if use == Data {
			c.A = 255 // it has no alpha
		}
		out := Resize(img, rapid.IntRange(1, 40).Draw(t, "to w"), rapid.IntRange(1, 40).Draw(t, "to h"), use)
		for y := range out.Rect.Dy() {
			for x := range out.Rect.Dx() {
				if out.NRGBAAt(x, y) != c {
					t.Fatalf("%v became %v", c, out.NRGBAAt(x, y))
				}
			}
		}
	})
}

func TestShrink(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, w, h int) {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := png.Encode(f, image.NewNRGBA(image.Rect(0, 0, w, h))); err != nil {
			t.Fatal(err)
		}
	}
	write("big.png", 64, 16)
	write("small.png", 8, 8)
	staged := []Staged{{File: "big.png", Width: 64, Height: 16}, {File: "small.png", Width: 8, Height: 8}, {File: "big.png", Width: 64, Height: 16}, {}, {File: "small.png", Width: 8, Height: 8}}
	out, err := Shrink(context.Background(), dir, staged, []Use{Data, Color, Color, Color, Unused}, 32, "_hlod", Limits{}, 2)
	if err != nil {
		t.Fatal(err)
	}
	if out[0].File != "big_hlod.png" || out[0].Width != 32 || out[0].Height != 8 || out[2] != out[0] {
		t.Errorf("big: %+v, %+v", out[0], out[2])
	}
	if out[1] != staged[1] || out[3].File != "" || out[4].File != "" {
		t.Errorf("small %+v, none %+v, unused %+v", out[1], out[3], out[4])
	}
	st, err := os.Stat(filepath.Join(dir, "big_hlod.png"))
	if err != nil || st.Size() != out[0].Size {
		t.Errorf("%v, %+v", err, out[0])
	}
}

// TestFromLinear: the nearest sRGB value is found for every light, in or out of range.
func TestFromLinear(t *testing.T) {
	want := 0
	for k := range 4 * 65536 {
		v := float64(k) / 4
		for want < 255 && float64(linear[want])+float64(linear[want+1]) < 2*v {
			want++
		}
		if got := toSRGB(v); int(got) != want {
			t.Fatalf("toSRGB(%v) = %d, want %d", v, got, want)
		}
	}
	for v, want := range map[float32]uint8{-1: 0, 1: 255, 2: 255, float32(math.Inf(1)): 255, float32(math.Inf(-1)): 0} {
		if got := FromLinear(v); got != want {
			t.Errorf("FromLinear(%v) = %d, want %d", v, got, want)
		}
	}
}
