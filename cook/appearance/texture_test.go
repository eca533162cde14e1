package appearance

import (
	"testing"

	"pgregory.net/rapid"
)

// TestHalf: texels of a mip are means that count by alpha, rounded, whatever the alpha is.
func TestHalf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := mip{w: rapid.IntRange(1, 5).Draw(t, "w"), h: rapid.IntRange(1, 5).Draw(t, "h")}
		opaque := rapid.IntRange(0, 3).Draw(t, "opaque")
		value := rapid.Uint64Range(0, one)
		for range m.w * m.h {
			alpha := uint64(one)
			if rapid.IntRange(0, 2).Draw(t, "which") >= opaque {
				alpha = value.Draw(t, "alpha")
			}
			m.pix = append(m.pix, makeTexel(value.Draw(t, "red"), value.Draw(t, "green"), value.Draw(t, "blue"), alpha))
		}
		got := m.half()
		for i, p := range got.pix {
			var sum, plain [3]uint64
			alpha := uint64(0)
			for k := range 4 {
				q := m.pix[min(i/got.w*2+k/2, m.h-1)*m.w+min(i%got.w*2+k%2, m.w-1)]
				alpha += uint64(q >> 48)
				for c := range sum {
					plain[c] += uint64(q >> (16 * c) & 0xffff)
					sum[c] += uint64(q>>(16*c)&0xffff) * uint64(q>>48)
				}
			}
			for c := range sum {
				want := plain[c] / 4
				if alpha > 0 {
					want = (sum[c] + alpha/2) / alpha
				}
				if v := uint64(p >> (16 * c) & 0xffff); v != want {
					t.Fatalf("channel %d of texel %d is %d, want %d", c, i, v, want)
				}
			}
			if uint64(p>>48) != (alpha+2)/4 {
				t.Fatalf("alpha of texel %d is %d, want %d", i, p>>48, (alpha+2)/4)
			}
		}
	})
}
