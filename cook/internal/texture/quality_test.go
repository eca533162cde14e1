package texture

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"image"
	"math"
	"testing"

	"github.com/untoldkit/untold/format/utex"
	"github.com/untoldkit/untold/internal/race"
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
	for _, x := range []struct {
		mode                Mode
		astc                ASTC
		color, data, normal float64
	}{
		{ModeBC, ASTC{}, 53, 53, 41},
		{ModeBC, ASTC{High: true}, 53, 53, 41},
		{ModeASTC, ASTC{}, 55.5, 43.7, 43.3},
		{ModeASTC, ASTC{Block: [2]int{8, 8}}, 39.1, 39.1, 32.4},
		{ModeASTC, ASTC{High: true}, 56.5, 43.9, 43.3},
	} {
		if race.Enabled && x.mode == ModeASTC {
			continue // make test compresses in all modes without the detector
		}
		for use, want := range map[Use]float64{Color: x.color, Data: x.data, Normal: x.normal} {
			r := Role{Use: use}
			c := newWorkers(1)
			c.join()
			base := scaled(c, img, 256, 256, r)
			how := x.mode.coding(r, x.astc)
			data, err := compress(c, base, r, how)
			if err != nil {
				t.Fatal(err)
			}
			pix, err := utex.Decode(how.pixels, data, 256, 256)
			if err != nil {
				t.Fatal(err)
			}
			if how.packsNormals(r) {
				utex.UnpackNormals(pix)
			}
			if q := psnr(base.Pix, pix); q < want {
				t.Errorf("%v %+v, %v: %.2f dB, want %v", x.mode, x.astc, use, q, want)
			} else {
				t.Logf("%v %+v, %v: %.2f dB", x.mode, x.astc, use, q)
			}
		}
	}
}

// TestFilesKeepWhatLevelsHave: in the files of both modes, as a GPU reads them, cut-outs
// are drawn at every level as much as at full size, and normal maps have directions of
// length 1 near those that were filtered.
func TestFilesKeepWhatLevelsHave(t *testing.T) {
	one := newWorkers(1)
	one.join()
	masked := Role{Use: Color, Alpha: AlphaMasked, Cutoff: 0.5}
	leaves := scaled(one, foliage(600), 256, 256, Role{Use: Color, Alpha: AlphaBlended})
	for _, x := range []struct {
		mode           Mode
		astc           ASTC
		drawn, normals float64 // at most so far off
	}{{ModeBC, ASTC{}, 0.02, 0.002}, {ModeASTC, ASTC{}, 0.02, 0.003}, {ModeASTC, ASTC{Block: [2]int{8, 8}}, 0.06, 0.025}} {
		if race.Enabled && x.mode == ModeASTC {
			continue // make test encodes all without the detector
		}
		for _, c := range []struct {
			img  *image.NRGBA
			role Role
		}{{leaves, masked}, {photo(256, 256), Role{Use: Normal}}} {
			var file bytes.Buffer
			if _, err := EncodeOne(&file, "x", c.img, c.role, x.mode, x.astc); err != nil {
				t.Fatal(err)
			}
			r, err := utex.NewBytesReader(file.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			want := chain(t, c.img, c.role)
			for k := range r.Levels {
				data, err := r.ReadLevel(k, nil)
				if err != nil {
					t.Fatal(err)
				}
				pix, err := r.Decode(k, data)
				if err != nil {
					t.Fatal(err)
				}
				if l := r.Levels[k]; l.Width < 16 {
					break // too few texels to share
				}
				got := &image.NRGBA{Pix: pix, Stride: 4 * r.Levels[k].Width, Rect: want[k].Rect}
				if c.role.Use == Color {
					if a, b := drawnShare(got, 0.5), drawnShare(leaves, 0.5); math.Abs(a-b) > x.drawn {
						t.Errorf("%v %v, level %d: %.3f of the texels are drawn, want %.3f", x.mode, x.astc, k, a, b)
					}
					continue
				}
				worst, mean := 0.0, 0.0
				for i := 0; i < len(pix); i += 4 {
					dot, length := 0.0, 0.0
					for n := range 3 {
						a, b := float64(pix[i+n])/127.5-1, float64(want[k].Pix[i+n])/127.5-1
						dot, length = dot+a*b, length+a*a
					}
					worst = max(worst, math.Abs(math.Sqrt(length)-1))
					mean += 1 - dot
				}
				if mean /= float64(len(pix) / 4); mean > x.normals || worst > 0.3 {
					t.Errorf("%v %v, level %d: normals are off by %.4f, lengths by up to %.3f", x.mode, x.astc, k, mean, worst)
				} else {
					t.Logf("%v %v, level %d: normals are off by %.4f, lengths by up to %.3f", x.mode, x.astc, k, mean, worst)
				}
			}
		}
	}
}

// TestSameBytesEverywhere holds the bytes that every processor has to give.
func TestSameBytesEverywhere(t *testing.T) {
	color, normal := Role{Use: Color}, Role{Use: Normal}
	masked := Role{Use: Color, Alpha: AlphaMasked, Cutoff: 0.4}
	data := Role{Use: Data, Edges: [2]Edge{EdgeClamp, EdgeMirror}}
	for _, c := range []struct {
		role Role
		mode Mode
		astc ASTC
		want string
	}{
		{color, ModeBC, ASTC{}, "color"},
		{masked, ModeBC, ASTC{}, "masked"},
		{normal, ModeBC, ASTC{}, "normal"},
		{data, ModeBC, ASTC{}, "data"},
		{color, ModeBC, ASTC{High: true}, "color high"},
		{masked, ModeBC, ASTC{High: true}, "masked high"},
		{color, ModeASTC, ASTC{}, "color astc"},
		{masked, ModeASTC, ASTC{}, "masked astc"},
		{normal, ModeASTC, ASTC{}, "normal astc"},
		{data, ModeASTC, ASTC{}, "data astc"},
		{masked, ModeASTC, ASTC{Block: [2]int{5, 5}, High: true}, "masked astc high"},
		{color, ModeASTC, ASTC{Block: [2]int{8, 8}}, "color astc 8x8"},
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
		if _, err := writeBlocks(&b, one, base, c.role, c.mode.coding(c.role, c.astc)); err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(append(b.Bytes(), base.Pix...))
		if got := hex.EncodeToString(sum[:8]); got != sameBytes[c.want] {
			t.Errorf("%s: %s, want %s", c.want, got, sameBytes[c.want])
		}
	}
}

var sameBytes = map[string]string{
	"color": "5fa28c3b770cd6b7", "masked": "9bb824477a16536e", "normal": "0fa1987933b226cc", "data": "98fef4f657b0ef4d",
	"color high": "7898d64d4300d27d", "masked high": "ca7a18e55564eb8e",
	"color astc": "0589cc4ca6396a80", "masked astc": "20a1fdced634a6ca", "normal astc": "293341922c7376a1", "data astc": "38be7ef02a18bf56",
	"masked astc high": "baa7f34a7f7413c6", "color astc 8x8": "6cbd0ea11fefb16b",
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
			for _, m := range []Mode{ModeBC, ModeASTC} {
				var out bytes.Buffer
				if _, err := EncodeOne(&out, "x", pix, r, m, ASTC{}); err != nil {
					t.Fatal(err)
				}
				if _, err := utex.NewBytesReader(out.Bytes()); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}
