package texture

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math"
	"testing"

	"github.com/untoldkit/untold/format/utex"
)

// psnr compares two pictures in decibels; alpha counts like a colour.
func psnr(a, b []byte) float64 {
	sum := 0.0
	for i := range a {
		d := float64(a[i]) - float64(b[i])
		sum += d * d
	}
	if sum == 0 {
		return math.Inf(1)
	}
	return 10 * math.Log10(255*255*float64(len(a))/sum)
}

// TestQuality keeps the encoders at what was measured, on a picture with grain.
func TestQuality(t *testing.T) {
	img := photo(256, 256)
	for use, want := range map[Use]float64{Color: 53, Data: 53, Normal: 41} {
		r := Role{Use: use}
		c := newWorkers(1)
		c.join()
		base := scaled(c, img, 256, 256, r)
		pixels, _ := blockFormat(r)
		data, err := compress(c, base, pixels, nil)
		if err != nil {
			t.Fatal(err)
		}
		pix, err := utex.Decode(pixels, data, 256, 256)
		if err != nil {
			t.Fatal(err)
		}
		if q := psnr(base.Pix, pix); q < want {
			t.Errorf("%v: %.2f dB, want %v", use, q, want)
		} else {
			t.Logf("%v: %.2f dB", use, q)
		}
	}
}

// TestSameBytesEverywhere holds the bytes that every processor has to give.
func TestSameBytesEverywhere(t *testing.T) {
	for _, c := range []struct {
		role Role
		want string
	}{
		{Role{Use: Color}, "color"},
		{Role{Use: Color, Alpha: AlphaMasked, Cutoff: 0.4}, "masked"},
		{Role{Use: Normal}, "normal"},
		{Role{Use: Data, Edges: [2]Edge{EdgeClamp, EdgeMirror}}, "data"},
	} {
		img := photo(231, 173)
		if c.role.Alpha == AlphaMasked {
			img = foliage(200)
			for i := 3; i < len(img.Pix); i += 4 {
				img.Pix[i] = uint8(int(img.Pix[i])*3/4 + i%64)
			}
		}
		one := newWorkers(1)
		one.join()
		var b bytes.Buffer
		base := scaled(one, img, 187, 95, c.role)
		if _, err := writeBlocks(&b, one, base, c.role); err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(append(b.Bytes(), base.Pix...))
		if got := hex.EncodeToString(sum[:8]); got != sameBytes[c.want] {
			t.Errorf("%s: %s, want %s", c.want, got, sameBytes[c.want])
		}
	}
}

var sameBytes = map[string]string{
	"color": "5d9ff32e0166dafa", "masked": "47675f1e0b7bbbe4", "normal": "699847dc1a356833", "data": "d3f53464376f9046",
}

// FuzzLoad: no bytes panic; what decodes can be cooked in every role.
func FuzzLoad(f *testing.F) {
	pictures, order := odd(f)
	for _, name := range order {
		f.Add(pictures[name])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		img, err := decodeStaged(data)
		if err != nil {
			if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrFormat) {
				t.Fatalf("untyped error: %v", err)
			}
			return
		}
		b := img.Bounds()
		if b.Dx()*b.Dy() > 1<<14 {
			return
		}
		pix := toNRGBA(img)
		for _, r := range []Role{{Use: Color, Alpha: AlphaMasked, Cutoff: 0.5}, {Use: Normal}} {
			var out bytes.Buffer
			if _, err := EncodeOne(&out, "x", pix, r, ModeBC); err != nil {
				t.Fatal(err)
			}
			if _, err := utex.NewBytesReader(out.Bytes()); err != nil {
				t.Fatal(err)
			}
		}
	})
}
