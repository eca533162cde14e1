//go:build !(386 || arm || mips || mipsle)

package bc

import (
	"image"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/woozymasta/bcn"
	"pgregory.net/rapid"
)

// decodeGray returns the values of a block; it has to be gray, and as opaque as it was asked
// for.
func decodeGray(t rapid.TB, block *[BlockBytes]byte, opaque bool) (v [16]uint8) {
	t.Helper()
	pix, err := bcn.DecodeBC7(block[:], 4, 4)
	if err != nil {
		t.Fatal(err)
	}
	for i := range v {
		p := pix[4*i:][:4]
		if p[0] != p[1] || p[0] != p[2] || p[3] < 254 || opaque && p[3] != 255 {
			t.Fatalf("texel %d is %v", i, p)
		}
		v[i] = p[0]
	}
	return v
}

func squares(a, b *[16]uint8) (sum int32) {
	for i := range a {
		d := int32(a[i]) - int32(b[i])
		sum += d * d
	}
	return sum
}

// TestGray: what the search says of a block is what a decoder makes of it, in both modes, and
// the ends are no worse than the extremes.
func TestGray(t *testing.T) {
	modes := map[bool]int{}
	rapid.Check(t, func(t *rapid.T) {
		opaque := rapid.Bool().Draw(t, "opaque")
		from := rapid.SliceOfN(rapid.Uint8(), 1, 3).Draw(t, "from")
		grain := rapid.IntRange(1, 40).Draw(t, "grain")
		var v [16]uint8
		for i := range v {
			at := int(rapid.SampledFrom(from).Draw(t, "value")) + rapid.IntRange(0, grain).Draw(t, "grain")
			v[i] = uint8(min(at, 255))
		}
		g := newGray(&v, opaque)
		g.find()
		modes[g.pattern < 0] = 1
		var block [BlockBytes]byte
		g.write(&block)
		got := decodeGray(t, &block, opaque)
		if miss := squares(&v, &got); miss != g.miss {
			t.Fatalf("%v became %v: %d, the search says %d", v, got, miss, g.miss)
		}
		if lo, hi := max(g.lo-1|1, 1), g.hi|1; g.miss > sixteen.miss(g.v[:], lo, hi, math.MaxInt32) {
			t.Fatalf("%v: %d is worse than its extremes", v, g.miss)
		}
	})
	if len(modes) != 2 {
		t.Errorf("modes %v were met", modes)
	}
}

// TestGrayExact: blocks of one value, of two, and of a small range are met exactly.
func TestGrayExact(t *testing.T) {
	for _, opaque := range []bool{false, true} {
		for lo := range 256 {
			for _, hi := range []int{lo, lo + 1, lo + 2, lo + 5, lo + 10, 255} {
				if hi > 255 {
					continue
				}
				var v [16]uint8
				for i := range v {
					v[i] = uint8(lo)
					if hi-lo > 10 { // two values, in a pattern that mode 1 has
						if i%4 > 1 {
							v[i] = uint8(hi)
						}
					} else {
						v[i] += uint8(i % (hi - lo + 1))
					}
				}
				var block [BlockBytes]byte
				EncodeGray(&block, &v, opaque)
				got := decodeGray(t, &block, opaque)
				reached := hi-lo <= 10 && (lo > 0 || !opaque) // mode 6 has no opaque 0
				if miss := squares(&v, &got); miss > 16 || reached && miss > 0 {
					t.Errorf("%v became %v, opaque %t", v, got, opaque)
				}
			}
		}
	}
}

// TestGrayBlocks: an image of gray blocks and others has each of them where it belongs, at any
// size and place, and what is opaque stays so where it has to.
func TestGrayBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, size := range []image.Point{{4, 4}, {1, 1}, {7, 13}, {64, 40}, {30, 61}} {
		big := image.NewNRGBA(image.Rect(0, 0, size.X+3, size.Y+2))
		img := big.SubImage(image.Rect(3, 2, size.X+3, size.Y+2)).(*image.NRGBA)
		for y := range size.Y {
			for x := range size.X {
				p := img.Pix[y*img.Stride+4*x:][:4]
				v := uint8(x*3 + y*2 + r.IntN(20))
				p[0], p[1], p[2], p[3] = v, v, v, 255
				if y/4%4 == 1 && x/4%3 > 0 {
					p[0], p[3] = 255-v, 200
				}
			}
		}
		for _, o := range []Options{{}, {AlphaUnused: true}, {Quality: High}, {Quality: High, AlphaUnused: true}} {
			out := make([]byte, Size(size.X, size.Y))
			if err := Encode(out, img, o); err != nil {
				t.Fatal(err)
			}
			pix, err := bcn.DecodeBC7(out, size.X, size.Y)
			if err != nil {
				t.Fatal(err)
			}
			for y := range size.Y {
				for x := range size.X {
					got, want := pix[4*(y*size.X+x):][:4], img.Pix[y*img.Stride+4*x:][:4]
					for c := range 4 {
						least := max(int(want[c])-20, 0)
						if c == 3 && want[c] == 255 {
							if least = 255; o.AlphaUnused {
								least = 254
							}
						}
						if int(got[c]) < least || int(got[c]) > int(want[c])+20 {
							t.Fatalf("%v, %+v: %v at %d, %d, want %v", size, o, got, x, y, want)
						}
					}
				}
			}
		}
	}
	if Encode(make([]byte, 15), image.NewNRGBA(image.Rect(0, 0, 1, 1)), Options{}) == nil {
		t.Error("15 bytes were enough")
	}
}

// BenchmarkEncode compares gray blocks and coloured ones, in both qualities, with what the
// package of BC5 makes of the same in mode 6 alone.
func BenchmarkEncode(b *testing.B) {
	const edge = 256
	r := rand.New(rand.NewPCG(1, 2))
	gray, colour := image.NewNRGBA(image.Rect(0, 0, edge, edge)), image.NewNRGBA(image.Rect(0, 0, edge, edge))
	for i := 0; i < len(gray.Pix); i += 4 {
		v := uint8(60 + 40*math.Sin(float64(i/4%edge)/9) + 30*math.Cos(float64(i/4/edge)/7) + float64(r.IntN(12)))
		gray.Pix[i], gray.Pix[i+1], gray.Pix[i+2], gray.Pix[i+3] = v, v, v, 255
		colour.Pix[i], colour.Pix[i+1], colour.Pix[i+2], colour.Pix[i+3] = v, v/2+uint8(r.IntN(6)), 200-v, 255
	}
	out := make([]byte, Size(edge, edge))
	for _, x := range []struct {
		name string
		img  *image.NRGBA
		of   Options
	}{{"colour", colour, Options{}}, {"colour high", colour, Options{Quality: High}}, {"gray", gray, Options{}}, {"gray high", gray, Options{Quality: High}}} {
		b.Run(x.name, func(b *testing.B) {
			b.SetBytes(edge * edge)
			for b.Loop() {
				if err := Encode(out, x.img, x.of); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("mode 6 alone", func(b *testing.B) {
		b.SetBytes(edge * edge)
		for b.Loop() {
			if _, _, _, err := bcn.EncodeImageInto(out, colour, bcn.FormatBC7, &bcn.EncodeOptions{QualityLevel: 1, Workers: 1}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
