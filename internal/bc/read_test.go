//go:build !(386 || arm || mips || mipsle)

package bc

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/woozymasta/bcn"
)

// TestDecode: blocks of all modes, and such that no encoder makes, are read as another decoder
// reads them.
func TestDecode(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	modes := [9]int{}
	for range 20000 {
		var block [BlockBytes]byte
		mode := r.IntN(9)
		binary.LittleEndian.PutUint64(block[:], r.Uint64()<<(mode+1)|1<<mode)
		binary.LittleEndian.PutUint64(block[8:], r.Uint64())
		if mode == 8 {
			block[0] = 0
		}
		modes[mode]++
		want, err := bcn.DecodeBC7(block[:], 4, 4)
		if err != nil {
			t.Fatal(err)
		}
		var got texels
		decodeBC7(block[:], &got)
		for i, p := range got {
			if p != [4]uint8(want[4*i:]) {
				t.Fatalf("mode %d, texel %d: %v, the other decoder says %v", mode, i, p, want[4*i:][:4])
			}
		}
		if want, err = bcn.DecodeBC5(block[:], 4, 4); err != nil {
			t.Fatal(err)
		}
		for c := range 2 {
			for i, v := range decodeBC4(binary.LittleEndian.Uint64(block[8*c:])) {
				if v != want[4*i+c] {
					t.Fatalf("channel %d, texel %d: %d, the other decoder says %d", c, i, v, want[4*i+c])
				}
			}
		}
	}
	t.Log(modes)
}
