//go:build !(386 || arm || mips || mipsle)

package bc

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/woozymasta/bcn"
	"pgregory.net/rapid"
)

// TestBC4: what the encoder says that a block misses is what a decoder's texels do, and the
// ends are no worse than the extremes.
func TestBC4(t *testing.T) {
	modes := map[bool]bool{}
	rapid.Check(t, func(t *rapid.T) {
		lo, hi := rapid.Int32Range(-40, 255).Draw(t, "lo"), rapid.Int32Range(0, 300).Draw(t, "hi")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		border := rapid.Bool().Draw(t, "border")
		var v [16]int32
		least, most := int32(255), int32(0)
		for i := range v {
			v[i] = min(max(lo+r.Int32N(max(hi-lo, 0)+1), 0), 255)
			if border && r.IntN(3) == 0 {
				v[i] = 255 * r.Int32N(2)
			}
			least, most = min(least, v[i]), max(most, v[i])
		}
		block, miss := encodeBC4(&v, reachBC4[rapid.SampledFrom([]Quality{Fast, High}).Draw(t, "quality")])
		modes[block&255 > block>>8&255] = true
		var both [16]byte
		binary.LittleEndian.PutUint64(both[:], block)
		pix, err := bcn.DecodeBC5(both[:], 4, 4)
		if err != nil {
			t.Fatal(err)
		}
		sum := int32(0)
		for i, x := range v {
			d := int32(pix[4*i]) - x
			sum += d * d
		}
		if sum != miss {
			t.Fatalf("%v: %d, the encoder says %d", v, sum, miss)
		}
		if plain := sevenths.miss(v[:], least, most, nothing); miss > plain {
			t.Fatalf("%v: %d is worse than its extremes, %d", v, miss, plain)
		}
	})
	if len(modes) != 2 {
		t.Errorf("modes %v were met", modes)
	}
}
