//go:build !(386 || arm || mips || mipsle)

package bc

import (
	"bytes"
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
// size and place; what is not gray is what the encoder beneath makes of it.
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
		for _, o := range []Options{{}, {AlphaUnused: true}} {
			out := make([]byte, Size(size.X, size.Y))
			if err := Encode(out, img, o); err != nil {
				t.Fatal(err)
			}
			whole := make([]byte, len(out))
			if err := encode(whole, img, BC7); err != nil {
				t.Fatal(err)
			}
			pix, err := bcn.DecodeBC7(out, size.X, size.Y)
			if err != nil {
				t.Fatal(err)
			}
			var values [16]uint8
			for y := 0; y < size.Y; y += 4 {
				for x := 0; x < size.X; x += 4 {
					at := y/4*Size(size.X, 1) + x/4*BlockBytes
					if !grayBlock(img, x, y, &values) {
						if !bytes.Equal(out[at:][:BlockBytes], whole[at:][:BlockBytes]) {
							t.Fatalf("%v: the block at %d, %d is not the encoder's", size, x, y)
						}
						continue
					}
					for i := range values {
						if x+i%4 >= size.X || y+i/4 >= size.Y {
							continue
						}
						p := pix[4*((y+i/4)*size.X+x+i%4):]
						if d := int(p[0]) - int(values[i]); max(d, -d) > 8 || p[3] < 254 || p[3] != 255 && !o.AlphaUnused {
							t.Fatalf("%v, %+v: %v at %d, %d, want %d", size, o, p[:4], x+i%4, y+i/4, values[i])
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

// BenchmarkEncode compares gray blocks with those that the encoder beneath gets.
func BenchmarkEncode(b *testing.B) {
	const edge = 256
	r := rand.New(rand.NewPCG(1, 2))
	img := image.NewNRGBA(image.Rect(0, 0, edge, edge))
	for i := 0; i < len(img.Pix); i += 4 {
		v := uint8(60 + 40*math.Sin(float64(i/4%edge)/9) + 30*math.Cos(float64(i/4/edge)/7) + float64(r.IntN(12)))
		img.Pix[i], img.Pix[i+1], img.Pix[i+2], img.Pix[i+3] = v, v, v, 255
	}
	out := make([]byte, Size(edge, edge))
	for _, gray := range []bool{false, true} {
		b.Run(map[bool]string{false: "beneath", true: "gray"}[gray], func(b *testing.B) {
			b.SetBytes(edge * edge)
			for b.Loop() {
				var err error
				if gray {
					err = Encode(out, img, Options{})
				} else {
					err = encode(out, img, BC7)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
