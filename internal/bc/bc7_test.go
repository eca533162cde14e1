//go:build !(386 || arm || mips || mipsle)

package bc

import (
	"bytes"
	"image"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/woozymasta/bcn"
	"pgregory.net/rapid"
)

// missOf returns how far a decoder's texels are from those of a block, in the channels that
// count.
func missOf(t rapid.TB, e *encoder, block *[BlockBytes]byte) (sum int32) {
	t.Helper()
	pix, err := bcn.DecodeBC7(block[:], 4, 4)
	if err != nil {
		t.Fatal(err)
	}
	for i := range e.px {
		for c := range 4 {
			if got := pix[4*i+c]; c == 3 && e.opaque {
				if got < 254 || got == 254 && !e.alphaUnused {
					t.Fatalf("texel %d is opaque and has an alpha of %d", i, got)
				}
				continue
			}
			d := int32(pix[4*i+c]) - e.px[i][c]
			sum += d * d
		}
	}
	return sum
}

// drawBlock draws a block of a few colours with grain, whose channels may differ in it.
func drawBlock(t *rapid.T, px *[16][4]int32) {
	sets := rapid.SliceOfN(rapid.SliceOfN(rapid.Int32Range(0, 255), 4, 4), 1, 3).Draw(t, "colours")
	grain := rapid.SliceOfN(rapid.Int32Range(0, 40), 4, 4).Draw(t, "grain")
	mask := rapid.SampledFrom(patterns3[:]).Draw(t, "pattern")
	opaque, together := rapid.Bool().Draw(t, "opaque"), rapid.Bool().Draw(t, "together")
	// Numbers of their own kind: what rapid draws texel by texel is 0 most of the time.
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	for i := range px {
		of := sets[(int(mask[0]>>i&1)+2*int(mask[1]>>i&1))%len(sets)]
		at := r.Int32N(41)
		for c := range 4 {
			if !together {
				at = r.Int32N(41)
			}
			px[i][c] = min(max(of[c]+grain[c]*at/40, 0), 255)
		}
		if opaque {
			px[i][3] = 255
		}
	}
}

// TestMiss: what the encoder says that a block misses is what a decoder's texels do, in every
// mode, and high quality is no worse than fast by more than its other ways to begin explain.
func TestMiss(t *testing.T) {
	modes := map[uint8]bool{}
	rapid.Check(t, func(t *rapid.T) {
		var miss [2]int32
		var px [16][4]int32
		drawBlock(t, &px)
		unused := rapid.Bool().Draw(t, "alpha unused")
		for _, q := range []Quality{Fast, High} {
			e := newEncoder(q, unused)
			e.px = px
			e.find()
			modes[e.best.mode] = true
			var block [BlockBytes]byte
			e.best.write(&block)
			if got := missOf(t, e, &block); got != e.best.err {
				t.Fatalf("mode %d: %d, the encoder says %d", e.best.mode, got, e.best.err)
			}
			if bits.TrailingZeros8(block[0]) != int(e.best.mode) {
				t.Fatalf("the block begins with %08b, mode %d", block[0], e.best.mode)
			}
			miss[q] = e.best.err
		}
		if miss[High] > 2*miss[Fast]+64 {
			t.Fatalf("high misses %d, fast %d", miss[High], miss[Fast])
		}
	})
	t.Logf("modes %v", modes)
}

// TestEveryMode: each mode, with every pattern and rotation that it has, says what it misses.
func TestEveryMode(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	met := map[uint8]int{}
	try := func(opaque, unused bool, mode uint8, find func(e *encoder)) {
		t.Helper()
		e := newEncoder(Quality(r.IntN(2)), unused)
		for i := range e.px {
			for c := range 4 {
				e.px[i][c] = int32(r.IntN(256)) >> r.IntN(4)
			}
			if opaque {
				e.px[i][3] = 255
			}
		}
		e.opaque = opaque
		e.best = coded{err: nothing}
		find(e)
		if e.best.err == nothing || e.best.mode != mode {
			t.Fatalf("mode %d gave mode %d, %d", mode, e.best.mode, e.best.err)
		}
		met[mode]++
		var block [BlockBytes]byte
		e.best.write(&block)
		if got := missOf(t, e, &block); got != e.best.err {
			t.Fatalf("mode %d: %d, the encoder says %d", mode, got, e.best.err)
		}
	}
	for range 20 {
		for p := range uint8(64) {
			for _, l := range []*layout{&layout0, &layout1, &layout2, &layout3, &layout7} {
				if l != &layout0 || p < patterns0 {
					try(l != &layout7, false, l.mode, func(e *encoder) { e.pattern(l, p) })
				}
			}
		}
		for c := range 4 {
			for k := range splits {
				try(c < 3 && k > 0, false, splits[k].layout.mode, func(e *encoder) { e.split(c, &splits[k]) })
			}
		}
		for k := range 4 {
			try(k&1 > 0, k > 1, 6, func(e *encoder) {
				e.whole.take(&e.px, 0xffff, 4, 4)
				e.single()
			})
		}
	}
	if len(met) != 8 {
		t.Errorf("modes %v were met", met)
	}
}

// TestFlat: blocks of one colour are met exactly, opaque or not, and so is what modes with two
// sets make of two colours that meet where a pattern has them.
func TestFlat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := rapid.SampledFrom([]Quality{Fast, High}).Draw(t, "quality")
		e := newEncoder(q, false)
		var colour [4]int32
		for c := range colour {
			colour[c] = rapid.Int32Range(0, 255).Draw(t, "value")
		}
		for i := range e.px {
			e.px[i] = colour
		}
		e.find()
		var block [BlockBytes]byte
		e.best.write(&block)
		if got := missOf(t, e, &block); got != 0 || e.best.err != 0 {
			t.Fatalf("%v misses %d, the encoder says %d", colour, got, e.best.err)
		}
	})
}

// TestRank: of a block whose sets lie on lines of their own, the estimates put its pattern
// first.
func TestRank(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for p := range 64 {
		var px [16][4]int32
		colours := [3][4]int32{{20, 200, 90, 255}, {220, 30, 140, 255}, {90, 110, 10, 255}}
		for i := range px {
			d := int32(r.IntN(12))
			for c := range 3 {
				px[i][c] = colours[patterns[p]>>i&1][c] + d
			}
		}
		var k ranking
		var of [64]ranked
		k.prepare(&px, 3)
		k.two(of[:], false)
		if first := best(of[:], 1, 0)[0]; int(first.pattern) != p {
			t.Errorf("two sets: pattern %d is first, want %d", first.pattern, p)
		}
		k.prepare(&px, 4)
		k.two(of[:], true)
		if first := best(of[:], 1, 1)[0]; int(first.pattern) != p {
			t.Errorf("two sets with alpha: pattern %d is first, want %d", first.pattern, p)
		}
		for i := range px {
			d := int32(r.IntN(12))
			for c := range 3 {
				px[i][c] = colours[patterns3[p][0]>>i&1|patterns3[p][1]>>i&1<<1][c] + d
			}
		}
		k.prepare(&px, 3)
		k.three(&of)
		if first := best(of[:], 1, 1)[0]; int(first.pattern) != p {
			t.Errorf("three sets: pattern %d is first, want %d", first.pattern, p)
		}
	}
}

// TestEnough: where so much may be off it is no more than that, and of a block that mode 6 has
// closer already nothing changes.
func TestEnough(t *testing.T) {
	const w, h, enough = 64, 64, 100
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := range img.Pix {
		if img.Pix[i] = uint8(i/4%w*3 + i/4/w*(1+i%4) + i*i%7); i%4 == 3 {
			img.Pix[i] = 255
		}
	}
	thorough, quick := make([]byte, Size(w, h)), make([]byte, Size(w, h))
	for _, of := range []struct {
		out    []byte
		enough int32
	}{{thorough, 0}, {quick, enough}} {
		if err := Encode(of.out, img, Options{AlphaUnused: true, Enough: of.enough}); err != nil {
			t.Fatal(err)
		}
	}
	changed := 0
	for i := 0; i < len(quick); i += BlockBytes {
		if !bytes.Equal(quick[i:i+BlockBytes], thorough[i:i+BlockBytes]) {
			if changed++; quick[i]&0x7f != 0x40 { // mode 6
				t.Errorf("block %d begins with %#x", i/BlockBytes, quick[i])
			}
		}
	}
	if changed == 0 {
		t.Error("nothing was left out")
	}
}
