package basisu

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// psnr compares pictures in all channels.
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

// painted is a picture of a kind: what surfaces show, smooth with grain and edges.
func painted(kind string, w, h int) []byte {
	out := make([]byte, 0, 4*w*h)
	seed := uint32(7)
	for y := range h {
		for x := range w {
			seed = seed*1664525 + 1013904223
			grain := int(seed>>24) % 24
			r, g, b, a := 60+x*120/w+grain, 90+y*100/h+grain/2, 140-x*60/w+grain, 255
			if (x/9+y/7)%3 == 0 {
				r, g, b = 200-grain, 60+grain, 40
			}
			switch kind {
			case "gray":
				g, b = r, r
			case "haze":
				r = 90 + (x*2+y)*40/(w+h) + grain/5
				g, b = r, r
			case "cutout":
				if (x*x+y*y)%97 < 40 {
					a = 0
				}
			case "glass":
				a = 40 + (x+y)*150/(w+h) + grain
			case "luminance":
				g, b, a = r, r, 255-r/2
			}
			out = append(out, uint8(r), uint8(g), uint8(b), uint8(a))
		}
	}
	return out
}

func TestEncodeUASTC(t *testing.T) {
	for _, c := range []struct {
		kind string
		w, h int
		want float64 // dB
	}{
		{"color", 128, 128, 37},
		{"gray", 64, 60, 45},
		{"cutout", 64, 64, 33},
		{"glass", 65, 63, 36},
		{"luminance", 64, 64, 41},
		{"color", 1, 1, 99},
		{"color", 3, 6, 30},
	} {
		pix := painted(c.kind, c.w, c.h)
		blocks := EncodeUASTC(nil, pix, 4*c.w, c.w, c.h)
		got := make([]byte, len(pix))
		if err := DecodeUASTC(got, blocks, c.w, c.h); err != nil {
			t.Fatal(err)
		}
		if p := psnr(pix, got); p < c.want {
			t.Errorf("%s of %d x %d: %.2f dB, want %v", c.kind, c.w, c.h, p, c.want)
		} else {
			t.Logf("%s of %d x %d: %.2f dB", c.kind, c.w, c.h, p)
		}
	}
}

// TestEncodeModes: what a trial says of its error is what the decoder makes of its bits,
// in every mode.
func TestEncodeModes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var e blockEncoder
		base := rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "base")
		spread := rapid.IntRange(1, 256).Draw(t, "spread")
		pix := make([]byte, 64)
		for i := range pix {
			pix[i] = base[i%4] + byte(rapid.IntRange(0, spread-1).Draw(t, "p"))
		}
		i := rapid.IntRange(0, len(modes)-1).Draw(t, "mode")
		m := &modes[i]
		for k := range 16 {
			if m.components == 2 {
				pix[4*k+1], pix[4*k+2] = pix[4*k], pix[4*k]
			}
			if m.components == 3 {
				pix[4*k+3] = 255
			}
		}
		if m.components == 0 {
			return
		}
		e.gather(pix, 16, 0, 0, 4, 4)
		e.choose()
		e.best = trial{cost: math.MaxFloat32}
		pattern, plane := 0, m.plane
		if m.patterns != nil {
			pattern = rapid.IntRange(0, len(m.patterns)-1).Draw(t, "pattern")
		}
		if m.planeStored {
			plane = uint(rapid.IntRange(0, m.components-1).Draw(t, "plane"))
		}
		c := choice{m: m, pattern: uint8(pattern), plane: uint8(plane)}
		if m.subsets > 1 {
			c.split = &split{}
			p := &m.patterns[pattern]
			for s := range m.subsets {
				c.split.sums[s] = e.momentsOf(p.pixels(s))
				c.split.lines[s] = c.split.sums[s].line(&fullChannels)
				c.split.lines[s].reach(&e.pixels, p.pixels(s))
			}
		}
		e.try(&c, rapid.Bool().Draw(t, "kept"))
		got := make([]byte, 64)
		if err := DecodeUASTC(got, e.best.appendTo(nil), 4, 4); err != nil {
			t.Fatal(err)
		}
		var sum int64
		for k := range pix {
			d := int64(pix[k]) - int64(got[k])
			sum += d * d
		}
		if sum != e.best.err {
			t.Fatalf("mode %d: the error is %d, said to be %d", i, sum, e.best.err)
		}
	})
}

func BenchmarkEncodeUASTC(b *testing.B) {
	for _, kind := range []string{"color", "glass"} {
		b.Run(kind, func(b *testing.B) {
			pix := painted(kind, 256, 256)
			out := make([]byte, 0, UASTCSize(256, 256))
			b.SetBytes(256 * 256) // pixels
			for b.Loop() {
				out = EncodeUASTC(out[:0], pix, 4*256, 256, 256)
			}
		})
	}
}

// FuzzEncodeUASTC: any picture becomes blocks that decode.
func FuzzEncodeUASTC(f *testing.F) {
	f.Add(painted("glass", 5, 6), uint8(5), uint8(6))
	f.Add(painted("gray", 4, 4), uint8(4), uint8(4))
	f.Fuzz(func(t *testing.T, pix []byte, width, height uint8) {
		w, h := int(width%16)+1, int(height%16)+1
		if len(pix) < 4*w*h {
			return
		}
		blocks := EncodeUASTC(nil, pix, 4*w, w, h)
		if err := DecodeUASTC(make([]byte, 4*w*h), blocks, w, h); err != nil {
			t.Fatal(err)
		}
	})
}

// appendTo writes the block as it is, without hints.
func (t *trial) appendTo(dst []byte) []byte {
	var out [uastcBlock]byte
	t.put(&out)
	return append(dst, out[:]...)
}

// TestEncodeUASTCBytes: blocks are the same on every machine. Who changes them raises
// uastcStage in cook/internal/texture, and this hash.
func TestEncodeUASTCBytes(t *testing.T) {
	h := sha256.New()
	for _, kind := range []string{"color", "gray", "cutout", "glass", "luminance"} {
		h.Write(EncodeUASTC(nil, painted(kind, 65, 63), 4*65, 65, 63))
	}
	// Opaque and translucent in one block: its mode depends on how BC7 keeps what is opaque.
	half, err := hex.DecodeString("4a2f58614e2a585c4a2f58614e2a585c2cacabff44355868483058634a2f5861" +
		"3bafa3ff37afa5ff4d2c585e473258642cacabff46b29eff3eb0a1ff45335866")
	if err != nil {
		t.Fatal(err)
	}
	h.Write(EncodeUASTC(nil, half, 4*BlockSize, BlockSize, BlockSize))
	const want = "9fd8d375267138dcec797bd19ad1a5a24e3a6fdd2127869efbe6b4150ef7acca"
	if got := hex.EncodeToString(h.Sum(nil)); got != want {
		t.Errorf("the hash is %s, want %s", got, want)
	}
}
