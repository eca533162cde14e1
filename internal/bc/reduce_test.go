package bc

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"
)

// plaster is a picture like an atlas: faces of a few colours with grain of several strengths,
// with and without holes.
func plaster(w, h int, opaque bool, seed uint64) *image.NRGBA {
	r := rand.New(rand.NewPCG(seed, 1))
	var colours [12][3]int
	for i := range colours {
		colours[i] = [3]int{40 + r.IntN(180), 40 + r.IntN(180), 40 + r.IntN(180)}
	}
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			face := (x/23 + 5*(y/17)) % len(colours)
			grain := r.IntN(2 + 3*(face%6))
			p := img.Pix[y*img.Stride+4*x:][:4]
			for c := range 3 {
				p[c] = uint8(min(colours[face][c]+grain*(c+2)/3+r.IntN(3), 255))
			}
			if p[3] = 255; !opaque && face%3 == 0 {
				p[3] = uint8(r.IntN(256))
			}
		}
	}
	return img
}

// decoded returns the texels of a block.
func decoded(block []byte, f Format) (px texels) {
	if f == BC7 {
		decodeBC7(block, &px)
		return px
	}
	for c := range 2 {
		for i, v := range decodeBC4(binary.LittleEndian.Uint64(block[8*c:])) {
			px[i][c] = v
		}
	}
	return px
}

// TestReduce: errors grow by no more than what the bits of a block are worth, in smooth blocks by
// less; what is opaque stays so, and cut-outs cover the texels that they did. What is kept of
// earlier blocks has bounds, and the same call gives the same bytes.
func TestReduce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		edges := rapid.SampledFrom([]int{1, 4, 7, 30, 64, 130})
		w, h := edges.Draw(t, "width"), edges.Draw(t, "height")
		o := Options{
			Format:      rapid.SampledFrom([]Format{BC7, BC7, BC5}).Draw(t, "format"),
			AlphaUnused: rapid.Bool().Draw(t, "alpha unused"),
		}
		opaque := o.AlphaUnused || rapid.Bool().Draw(t, "opaque")
		how := Reduction{Bit: rapid.SampledFrom([]int{1, 16, 80, 500, MaxBit}).Draw(t, "bit"), Cutoff: rapid.SampledFrom([]uint8{0, 1, 128, 255}).Draw(t, "cutoff")}
		img := plaster(w, h, opaque, rapid.Uint64().Draw(t, "seed"))
		was := make([]byte, Size(w, h)+BlockBytes)
		if err := Encode(was, img, o); err != nil {
			t.Fatal(err)
		}
		got, again := bytes.Clone(was), bytes.Clone(was)
		for _, b := range [][]byte{got, again} {
			if err := Reduce(b, img, o, how); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(got, again) || !bytes.Equal(got[Size(w, h):], was[Size(w, h):]) {
			t.Fatal("the bytes depend on more than the picture, or there are too many")
		}
		at := 0
		for y := 0; y < h; y += 4 {
			for x := 0; x < w; x += 4 {
				a, b := decoded(was[at:], o.Format), decoded(got[at:], o.Format)
				at += BlockBytes
				var s source
				s.take(img, x, y)
				if o.Format == BC5 {
					for c := range 2 {
						worth := int32(how.Bit) * literalBits / scaleOf(s.contrast(c), 1)
						if m, before := missIn(&s.px, &b, c), missIn(&s.px, &a, c); m > before+worth {
							t.Fatalf("block at %d, %d, channel %d: %d, was %d", x, y, c, m, before)
						}
					}
					continue
				}
				worth := int32(how.Bit) * 2 * literalBits / scaleOf(s.contrast(0)+s.contrast(1)+s.contrast(2), 3)
				if m, before := s.miss(&b, nothing), s.miss(&a, nothing); m > before+worth {
					t.Fatalf("block at %d, %d: %d, was %d, and bits are worth %d", x, y, m, before, worth)
				}
				for i := range b {
					if least := uint8(254); s.opaque && (b[i][3] < least || !o.AlphaUnused && b[i][3] == least) {
						t.Fatalf("block at %d, %d: texel %d is opaque and has an alpha of %d", x, y, i, b[i][3])
					}
					if !s.opaque && how.Cutoff > 0 && (a[i][3] >= how.Cutoff) != (b[i][3] >= how.Cutoff) {
						t.Fatalf("block at %d, %d: texel %d had an alpha of %d and has %d", x, y, i, a[i][3], b[i][3])
					}
				}
			}
		}
	})
}

// missIn returns the sum of squared errors in a channel.
func missIn(a, b *texels, c int) (sum int32) {
	for i := range a {
		sum += square(int32(a[i][c]) - int32(b[i][c]))
	}
	return sum
}

// TestReduceSaysWhatItMisses: what a change is taken for is what a decoder makes of it and bits
// of a match; all kinds of changes are met, and what is kept does not grow with the picture.
func TestReduceSaysWhatItMisses(t *testing.T) {
	kinds := map[string]int{}
	for _, o := range []Options{{}, {AlphaUnused: true}} {
		img := plaster(512, 400, false, 7)
		data := make([]byte, Size(512, 400))
		if err := Encode(data, img, o); err != nil {
			t.Fatal(err)
		}
		r := newReducer(o, Reduction{Bit: 80})
		for y := 0; y < 400; y += 4 {
			for x := 0; x < 512; x += 4 {
				r.from.take(img, x, y)
				block := (*[BlockBytes]byte)(data[r.at:])
				was := *block
				r.block(block)
				px := decoded(block[:], BC7)
				paid := r.best - r.scale*r.from.miss(&px, nothing)
				if paid < r.bit || paid > r.bit*2*literalBits || paid%r.bit != 0 {
					t.Fatalf("block at %d, %d: %d sixteenths for bits worth %d", x, y, paid, r.bit)
				}
				first, other := bytes.Equal(was[:8], block[:8]), bytes.Equal(was[8:], block[8:])
				switch {
				case paid < r.bit*literalBits:
					kinds["whole"]++
				case paid == r.bit*2*literalBits:
					kinds["none"]++
				case !first && !other:
					kinds["half"]++
				default:
					kinds["own half"]++
				}
			}
		}
		if n, p, s := len(r.wholes.list), len(r.prefixes.list), len(r.suffixes.list); n != recentBlocks || len(r.faces) != n || p != recentHalves || s != recentHalves {
			t.Errorf("%d blocks, %d and %d halves are kept", n, p, s)
		}
	}
	if len(kinds) < 4 {
		t.Errorf("only %v were met", kinds)
	}
	t.Log(kinds)
}

// TestReduceCompresses: bytes fall with what a bit is worth.
func TestReduceCompresses(t *testing.T) {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	if err != nil {
		t.Fatal(err)
	}
	img := plaster(256, 256, true, 3)
	for _, f := range []Format{BC7, BC5} {
		o := Options{Format: f, AlphaUnused: true}
		last := 1.0
		for _, bit := range []int{0, 40, 80, 160} {
			data := make([]byte, Size(256, 256))
			if err := Encode(data, img, o); err != nil {
				t.Fatal(err)
			}
			if err := Reduce(data, img, o, Reduction{Bit: bit}); err != nil {
				t.Fatal(err)
			}
			share := float64(len(z.EncodeAll(data, nil))) / float64(len(data))
			if t.Logf("format %d, %d: %.3f", f, bit, share); bit > 0 && share > 0.97*last {
				t.Errorf("format %d: %d leaves %.3f of the bytes, less left %.3f", f, bit, share, last)
			}
			last = share
		}
	}
}

func TestReduceRefuses(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 5, 4))
	for _, x := range []struct{ size, bit int }{{31, 1}, {32, -1}, {32, MaxBit + 1}} {
		if Reduce(make([]byte, x.size), img, Options{}, Reduction{Bit: x.bit}) == nil {
			t.Errorf("%+v was no error", x)
		}
	}
}

// BenchmarkReduce is beside BenchmarkEncode, which comes before.
func BenchmarkReduce(b *testing.B) {
	const edge = 256
	for _, f := range []Format{BC7, BC5} {
		b.Run(fmt.Sprintf("format-%d", f), func(b *testing.B) {
			img, o := plaster(edge, edge, true, 3), Options{Format: f, AlphaUnused: true}
			was := make([]byte, Size(edge, edge))
			if err := Encode(was, img, o); err != nil {
				b.Fatal(err)
			}
			data := bytes.Clone(was)
			b.SetBytes(edge * edge)
			for b.Loop() {
				copy(data, was)
				if err := Reduce(data, img, o, Reduction{Bit: 80}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
