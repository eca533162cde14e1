package astc

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/fuzzbound"
	"github.com/untoldkit/untold/internal/race"
)

// pictureOf returns w x h texels of one of several kinds: noise, gradients,
// edges, grey, with and without alpha.
func pictureOf(kind, w, h int, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, uint64(kind)))
	pix := make([]byte, 4*w*h)
	for i := range w * h {
		x, y := i%w, i/w
		p := pix[4*i:][:4]
		switch kind % 6 {
		case 0:
			for c := range p {
				p[c] = byte(r.UintN(256))
			}
		case 1:
			p[0], p[1], p[2], p[3] = byte(3*x), byte(2*y+x), byte(255-3*x), 255
		case 2:
			p[0], p[1], p[2], p[3] = 200, 40, 10, 255
			if x+y/2 > w/2 {
				p[0], p[1], p[2] = byte(20+r.UintN(9)), 80, 240
			}
		case 3:
			v := byte(8*y + int(r.UintN(6)))
			p[0], p[1], p[2], p[3] = v, v, v, byte(5*x)
		case 4:
			p[0], p[1], p[2], p[3] = byte(90+r.UintN(9)), byte(60+r.UintN(30)), byte(x*4), byte(128+r.UintN(99))
		case 5:
			v := byte(40 + x)
			p[0], p[1], p[2], p[3] = v, v, v, 255
		}
	}
	return pix
}

// errorBetween is the sum of squared differences.
func errorBetween(a, b []byte) (sum int64) {
	for i := range a {
		d := int64(a[i]) - int64(b[i])
		sum += d * d
	}
	return sum
}

// TestEncodeDecode: what the encoder says about its error is what the decoder
// shows, and the blocks are valid ones.
func TestEncodeDecode(t *testing.T) {
	for _, f := range Footprints {
		if !f.Encodes() {
			continue
		}
		for kind := range 6 {
			if race.Enabled && (kind != 4 || f.Width != f.Height) {
				continue // make test encodes all without the detector
			}
			for _, o := range []Options{{}, {SRGB: true}, {Quality: High}} {
				w, h := 3*f.Width+1, 2*f.Height+3
				pix := pictureOf(kind, w, h, 5)
				out := make([]byte, f.Size(w, h))
				said, err := Encode(out, f, o, pix, 4*w, w, h)
				if err != nil {
					t.Fatal(err)
				}
				got, err := Decode(f, o.SRGB, out, w, h)
				if err != nil {
					t.Fatal(err)
				}
				if is := errorBetween(pix, got); is != said {
					t.Errorf("%v, kind %d, %+v: error %d, decoded %d", f, kind, o, said, is)
				}
			}
		}
	}
}

// TestEncodedBytes holds the bytes that every processor has to give.
func TestEncodedBytes(t *testing.T) {
	if race.Enabled {
		t.Skip("make test compares the bytes without the detector")
	}
	var lines []string
	for _, f := range Footprints {
		if !f.Encodes() {
			continue
		}
		for q := range High + 1 {
			var all []byte
			for kind := range 7 {
				const w, h = 33, 23
				pix := grain(w, h)
				if kind < 6 {
					pix = pictureOf(kind, w, h, 11)
				}
				out := make([]byte, f.Size(w, h))
				if _, err := Encode(out, f, Options{SRGB: kind&1 == 0, Quality: q}, pix, 4*w, w, h); err != nil {
					t.Fatal(err)
				}
				all = append(all, out...)
			}
			lines = append(lines, fmt.Sprintf("%v quality %d: %s", f, q, hashOf(all)))
		}
	}
	golden(t, "encoded.txt", lines)
}

// TestEncodeHigh: more effort is no worse, but for the few blocks where luck
// decides.
func TestEncodeHigh(t *testing.T) {
	for _, f := range []Footprint{{4, 4}, {6, 6}, {8, 8}} {
		if race.Enabled && f.Width != 8 {
			continue // make test encodes all without the detector
		}
		for kind := range 7 {
			if race.Enabled && kind%3 > 0 {
				continue // likewise
			}
			const w, h = 48, 48
			pix := grain(w, h)
			if kind < 6 {
				pix = pictureOf(kind, w, h, 3)
			}
			out := make([]byte, f.Size(w, h))
			var sums [2]int64
			for q := range sums {
				var err error
				if sums[q], err = Encode(out, f, Options{Quality: Quality(q)}, pix, 4*w, w, h); err != nil {
					t.Fatal(err)
				}
			}
			if sums[High]*100 > sums[Fast]*101 {
				t.Errorf("%v, kind %d: %d with high effort, %d with little", f, kind, sums[High], sums[Fast])
			}
		}
	}
}

// TestEncodeConstant: one colour is exact, also where a block reaches beyond the
// border.
func TestEncodeConstant(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := [4]byte{rapid.Byte().Draw(t, "r"), rapid.Byte().Draw(t, "g"), rapid.Byte().Draw(t, "b"), rapid.Byte().Draw(t, "a")}
		o := Options{SRGB: rapid.Bool().Draw(t, "srgb")}
		w, h := rapid.IntRange(1, 9).Draw(t, "w"), rapid.IntRange(1, 9).Draw(t, "h")
		pix := bytes.Repeat(c[:], w*h)
		f := Footprint{5, 4}
		out := make([]byte, f.Size(w, h))
		sum, err := Encode(out, f, o, pix, 4*w, w, h)
		if err != nil || sum != 0 {
			t.Fatalf("%d, %v", sum, err)
		}
		if got, err := Decode(f, o.SRGB, out, w, h); err != nil || !bytes.Equal(got, pix) {
			t.Fatalf("%v became %v, %v", c, got, err)
		}
	})
}

func TestEncodeRefuses(t *testing.T) {
	pix := make([]byte, 64)
	for _, c := range []struct {
		f            Footprint
		n            int
		stride, w, h int
	}{
		{Footprint{10, 8}, 16, 16, 4, 4},
		{Footprint{3, 3}, 64, 16, 4, 4},
		{Footprint{4, 4}, 32, 16, 4, 4},
		{Footprint{4, 4}, 16, 15, 4, 4},
		{Footprint{4, 4}, 32, 16, 4, 5},
		{Footprint{4, 4}, 16, 16, 0, 4},
	} {
		if _, err := Encode(make([]byte, c.n), c.f, Options{}, pix, c.stride, c.w, c.h); err == nil {
			t.Errorf("%+v encodes", c)
		}
	}
}

// FuzzEncode: whatever the texels are, the encoder's own error is that of the
// decoded blocks.
func FuzzEncode(f *testing.F) {
	f.Add(uint8(0), uint8(9), pictureOf(0, 9, 5, 1))
	f.Add(uint8(5), uint8(13), pictureOf(3, 13, 7, 1))
	f.Add(uint8(15), uint8(16), pictureOf(4, 16, 8, 1))
	f.Fuzz(func(t *testing.T, how, width uint8, pix []byte) {
		var fps []Footprint
		for _, fp := range Footprints {
			if fp.Encodes() {
				fps = append(fps, fp)
			}
		}
		fp := fps[int(how)%len(fps)]
		w := int(width)%32 + 1
		h := len(pix) / 4 / w
		if h == 0 || h > 32 {
			return
		}
		o := Options{SRGB: how&64 != 0, Quality: Quality(how >> 7)}
		out := make([]byte, fp.Size(w, h))
		fuzzbound.Run(t, len(pix), fuzzbound.Limits{Alloc: 64 << 20, PerByte: 64}, func() {
			said, err := Encode(out, fp, o, pix, 4*w, w, h)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Decode(fp, o.SRGB, out, w, h)
			if err != nil {
				t.Fatal(err)
			}
			if is := errorBetween(pix[:4*w*h], got); is != said {
				t.Fatalf("error %d, decoded %d", said, is)
			}
		})
	})
}
