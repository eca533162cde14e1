package meshfile

import (
	"encoding/binary"
	"math"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/race"
)

// TestColumn: what is added is read again, from memory and from a file, and changes stay.
func TestColumn(t *testing.T) {
	for _, limit := range []int64{1 << 10, 1 << 30} {
		c := newColumn(12, limit)
		n := 100_000
		if race.Enabled {
			n = 10_000 // make test has more without the detector
		}
		for i := range n {
			b, err := c.add()
			if err != nil {
				t.Fatal(err)
			}
			binary.LittleEndian.PutUint32(b, uint32(i))
		}
		if err := c.seal(); err != nil {
			t.Fatal(err)
		}
		for k := range n {
			i := int64(k) * 7919 % int64(n)
			b, err := c.at(i)
			if err != nil || int64(binary.LittleEndian.Uint32(b)) != i {
				t.Fatalf("limit %d: %d: %v, %v", limit, i, b, err)
			}
		}
		c.drop()
		z, err := zeroColumn(8, int64(n), limit)
		if err != nil {
			t.Fatal(err)
		}
		for pass := range 3 {
			for k := range n {
				i := int64(k) * 7919 % int64(n)
				b, err := z.change(i)
				if err != nil || binary.LittleEndian.Uint64(b) != uint64(pass) {
					t.Fatalf("limit %d: %d: %v, %v", limit, i, b, err)
				}
				binary.LittleEndian.PutUint64(b, uint64(pass+1))
			}
		}
		z.drop()
	}
}

// TestParseFloat: numbers are those of strconv, but for what is none.
func TestParseFloat(t *testing.T) {
	for _, bad := range []string{"", "-", ".", "e5", "1e", "1e+", "nan", "NaN", "inf", "-Inf", "0x10", "1_0", "1,5", "1 ", "1e999", "--1", "1.2.3"} {
		if v, ok := parseFloat([]byte(bad)); ok {
			t.Errorf("%q: %v", bad, v)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(
			rapid.StringMatching(`[-+]?[0-9]{1,20}(\.[0-9]{0,20})?([eE][-+]?[0-9]{1,3})?`),
			rapid.Map(rapid.Float64(), func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }),
			rapid.Map(rapid.Float32(), func(v float32) string { return strconv.FormatFloat(float64(v), 'f', -1, 32) }),
		).Draw(t, "number")
		want, err := strconv.ParseFloat(s, 64)
		got, ok := parseFloat([]byte(s))
		if fits := err == nil && !math.IsInf(want, 0) && !math.IsNaN(want); ok != fits || ok && got != want {
			t.Fatalf("%s: %v %v, want %v %v", s, got, ok, want, err)
		}
	})
}
