package appearance

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/geom"
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

// Light is that of the normals, of smaller mips that of their mean: bumps whose sides face
// the sun and away from it are as bright as what is flat.
func TestLight(t *testing.T) {
	lit := func(n geom.Vec3) texel {
		l := uint64(light(n))
		return makeTexel(l, l, l, one)
	}
	up, left, right := geom.Vec3{0, 1, 0}, geom.Vec3{-0.6, 0.8, 0}, geom.Vec3{0.6, 0.8, 0}
	l := NewLight([]geom.Vec3{left, right, up, {}, left, right, left, {}, {}, {}, {}, {}, {}, {}, {}, {}}, 4)
	if len(l.levels) != 3 {
		t.Fatalf("%d mips of 4 x 4 texels", len(l.levels))
	}
	for _, c := range []struct {
		what      string
		level, at int
		want      geom.Vec3
	}{
		{"a texel", 0, 0, left},
		{"its neighbour", 0, 1, right},
		{"one without a normal", 0, 3, up},
		{"the mean of both sides", 1, 0, up},
		{"the mean of those with a normal", 1, 1, up.Add(left).Normalize(0, up)},
		{"the mean of none", 1, 2, up},
	} {
		if got := l.levels[c.level].pix[c.at]; got != lit(c.want) {
			t.Errorf("%s is %x, want %x", c.what, got, lit(c.want))
		}
	}
}
