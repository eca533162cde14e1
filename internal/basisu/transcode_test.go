//go:build !(386 || arm || mips || mipsle)

package basisu

import (
	"errors"
	"testing"

	"github.com/woozymasta/bcn"
	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/astc"
	"github.com/untoldkit/untold/internal/fuzzbound"
)

// drawBlock draws a block of a mode.
func drawBlock(t *rapid.T, i int) []byte {
	m := &modes[i]
	b := rapid.SliceOfN(rapid.Byte(), uastcBlock, uastcBlock).Draw(t, "block")
	b[0] = b[0]&^(1<<m.codeBits-1) | m.code
	if m.patterns != nil { // put in place of what may be none
		at := m.codeBits + m.hintBits
		n := uint64(rapid.IntRange(0, len(m.patterns)-1).Draw(t, "pattern"))
		for k := range m.patternBits {
			bit := &b[(at+k)/8]
			*bit = *bit&^(1<<((at+k)%8)) | byte(n>>k&1)<<((at+k)%8)
		}
	}
	return b
}

// near reports whether bytes differ by 1 at most: UASTC is cut off where ASTC is rounded.
func near(a, b []byte) bool {
	for i := range a {
		if d := int(a[i]) - int(b[i]); d < -1 || d > 1 {
			return false
		}
	}
	return len(a) == len(b)
}

// TestTranscodeASTC: every block of every mode means the same as ASTC.
func TestTranscodeASTC(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		i := rapid.IntRange(0, len(modes)-1).Draw(t, "mode")
		data := drawBlock(t, i)
		want, out := make([]byte, 64), make([]byte, uastcBlock)
		if err := DecodeUASTC(want, data, 4, 4); err != nil {
			t.Skip("digits beyond their range")
		}
		if err := TranscodeASTC(out, data); err != nil {
			t.Fatal(err)
		}
		got, err := astc.Decode(astc.Footprint{Width: 4, Height: 4}, false, out, 4, 4)
		if err != nil {
			t.Fatal(err)
		}
		if !near(got, want) {
			t.Fatalf("mode %d:\n got %v\nwant %v", i, got, want)
		}
	})
}

// bc7Off is how far a channel may be off in a mode: half a step of the ends, and what the
// nearest weight gives.
var bc7Off = [len(modes)]int{
	0: 6, 1: 3, 2: 4, 3: 5, 4: 4, 5: 7, 6: 3, 7: 5, 8: 0, 9: 5, 10: 6, 11: 3, 12: 6, 13: 3, 14: 3, 15: 6, 16: 5, 17: 3, 18: 10,
}

// TestTranscodeBC7: every block of every mode comes out as far as BC7's ends and weights
// reach, what is opaque stays opaque, and one colour is exact.
func TestTranscodeBC7(t *testing.T) {
	var worst [len(modes)]int
	rapid.Check(t, func(t *rapid.T) {
		i := rapid.IntRange(0, len(modes)-1).Draw(t, "mode")
		data := drawBlock(t, i)
		want, out := make([]byte, 64), make([]byte, uastcBlock)
		if err := DecodeUASTC(want, data, 4, 4); err != nil {
			t.Skip("digits beyond their range")
		}
		if err := TranscodeBC7(out, data); err != nil {
			t.Fatal(err)
		}
		got, err := bcn.DecodeBC7(out, 4, 4)
		if err != nil {
			t.Fatal(err)
		}
		for k := range want {
			off := max(int(got[k])-int(want[k]), int(want[k])-int(got[k]))
			worst[i] = max(worst[i], off)
			if off > bc7Off[i] {
				t.Fatalf("mode %d, channel %d of pixel %d: %d instead of %d", i, k%4, k/4, got[k], want[k])
			}
			if modes[i].components == 3 && k%4 == 3 && got[k] != 255 {
				t.Fatalf("mode %d: an opaque pixel has alpha %d", i, got[k])
			}
		}
	})
	t.Logf("most by mode: %v", worst)
}

// TestTranscodeKeepsOpaque: subsets whose ends are opaque stay so in all modes with alpha.
func TestTranscodeKeepsOpaque(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var x trial
		x.m = &modes[rapid.SampledFrom([]int{9, 10, 11, 12, 13, 14, 15, 16, 17}).Draw(t, "mode")]
		m := x.m
		if x.plane = m.plane; m.planeStored {
			x.plane = uint(rapid.IntRange(0, 3).Draw(t, "plane"))
		}
		if m.patterns != nil {
			x.pattern = rapid.IntRange(0, len(m.patterns)-1).Draw(t, "pattern")
		}
		for i := range 2 * m.components * m.subsets {
			x.ends[i] = uint8(rapid.IntRange(0, len(m.endpoints.values)-1).Draw(t, "end"))
			if i%(2*m.components) >= 2*(m.components-1) && i < 2*m.components { // alpha of the first subset
				x.ends[i] = m.endpoints.index[255]
			}
		}
		for plane := range x.weights {
			for i := range x.weights[plane] {
				x.weights[plane][i] = uint8(rapid.IntRange(0, 1<<m.weightBits-1).Draw(t, "weight"))
			}
		}
		x.anchor()
		var block, out [uastcBlock]byte
		x.put(&block)
		if err := TranscodeBC7(out[:], block[:]); err != nil {
			t.Fatal(err)
		}
		got, err := bcn.DecodeBC7(out[:], 4, 4)
		if err != nil {
			t.Fatal(err)
		}
		for i, part := range x.shape().subset {
			if part == 0 && got[4*i+3] != 255 {
				t.Fatalf("mode %d: pixel %d has alpha %d", m.number, i, got[4*i+3])
			}
		}
	})
}

// TestTranscodeLoss compares pictures with what their encoder made of them.
func TestTranscodeLoss(t *testing.T) {
	for _, c := range []struct {
		kind string
		most float64 // dB
	}{{"color", 0.7}, {"gray", 2.2}, {"haze", 2.2}, {"cutout", 0.2}, {"glass", 0.6}, {"luminance", 2.5}} {
		const w, h = 128, 128
		pix := painted(c.kind, w, h)
		blocks := EncodeUASTC(nil, pix, 4*w, w, h)
		own, out := make([]byte, len(pix)), make([]byte, len(blocks))
		if err := errors.Join(DecodeUASTC(own, blocks, w, h), TranscodeBC7(out, blocks)); err != nil {
			t.Fatal(err)
		}
		got, err := bcn.DecodeBC7(out, w, h)
		if err != nil {
			t.Fatal(err)
		}
		before, after := psnr(pix, own), psnr(pix, got)
		if before-after > c.most {
			t.Errorf("%s: %.2f dB, %.2f dB as BC7", c.kind, before, after)
		}
		t.Logf("%s: %.2f dB, %.2f dB as BC7", c.kind, before, after)
	}
}

func TestTranscodeRefuses(t *testing.T) {
	reserved := make([]byte, uastcBlock)
	reserved[0] = 0x45
	for name, f := range map[string]func(dst, data []byte) error{"ASTC": TranscodeASTC, "BC7": TranscodeBC7} {
		for what, data := range map[string][]byte{"a reserved mode": reserved, "a part of a block": make([]byte, 15)} {
			if err := f(make([]byte, len(data)), data); !errors.Is(err, ErrDamaged) {
				t.Errorf("%s of %s: %v", name, what, err)
			}
		}
		if f(make([]byte, 32), make([]byte, 16)) == nil {
			t.Errorf("%s took a target of another size", name)
		}
	}
}

func BenchmarkTranscode(b *testing.B) {
	for _, kind := range []string{"color", "glass", "gray"} {
		const w, h = 256, 256
		blocks := EncodeUASTC(nil, painted(kind, w, h), 4*w, w, h)
		out, pix := make([]byte, len(blocks)), make([]byte, 4*w*h)
		for _, to := range []struct {
			name string
			run  func() error
		}{
			{"BC7", func() error { return TranscodeBC7(out, blocks) }},
			{"ASTC", func() error { return TranscodeASTC(out, blocks) }},
			{"RGBA", func() error { return DecodeUASTC(pix, blocks, w, h) }},
		} {
			b.Run(to.name+"/"+kind, func(b *testing.B) {
				b.SetBytes(w * h) // pixels
				for b.Loop() {
					if err := to.run(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// FuzzTranscode: any blocks become others or an error that matches ErrDamaged, as they
// become pixels or do not, and as ASTC they mean the same.
func FuzzTranscode(f *testing.F) {
	for i := range modes {
		b := make([]byte, 32)
		b[0], b[16] = modes[i].code, modes[i].code|1<<6
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		data = data[:len(data)&^(uastcBlock-1)]
		n := min(len(data), 64*uastcBlock)
		if data = data[:n]; n == 0 {
			return
		}
		fuzzbound.Run(t, n, fuzzbound.Limits{Alloc: 1 << 20}, func() {
			want, out := make([]byte, 4*n), make([]byte, n)
			width := n / uastcBlock * BlockSize
			err := DecodeUASTC(want, data, width, BlockSize)
			if bad := TranscodeBC7(out, data); (bad == nil) != (err == nil) {
				t.Fatalf("pixels: %v, BC7: %v", err, bad)
			}
			if bad := TranscodeASTC(out, data); (bad == nil) != (err == nil) {
				t.Fatalf("pixels: %v, ASTC: %v", err, bad)
			}
			if err != nil {
				if !errors.Is(err, ErrDamaged) {
					t.Fatalf("untyped error: %v", err)
				}
				return
			}
			got, err := astc.Decode(astc.Footprint{Width: 4, Height: 4}, false, out, width, BlockSize)
			if err != nil || !near(got, want) {
				t.Fatalf("ASTC means something else: %v", err)
			}
		})
	})
}
