package basisu

import (
	"errors"
	"math/bits"
	"testing"

	"github.com/untoldkit/untold/internal/fuzzbound"
)

// TestModeCodes: every value of the first seven bits is one mode's, but for the
// code that is reserved.
func TestModeCodes(t *testing.T) {
	n := map[*mode]int{}
	for code, m := range modeByCode {
		if n[m]++; m == nil && code != 0x45 {
			t.Errorf("code %#x has no mode", code)
		}
	}
	for i := range modes {
		if m := &modes[i]; n[m] != 1<<(7-m.codeBits) {
			t.Errorf("mode %d has %d codes", i, n[m])
		}
	}
	if n[nil] != 1 {
		t.Errorf("%d codes without a mode", n[nil])
	}
}

// TestModeSizes: no mode needs more than the 128 bits of a block.
func TestModeSizes(t *testing.T) {
	for i := range modes {
		m := &modes[i]
		if m.components == 0 {
			continue
		}
		n := m.codeBits + m.hintBits + m.patternBits
		values := 2 * m.components * m.subsets
		n += uint(values) * m.endpoints.bits
		if q := m.endpoints; q.base > 0 {
			group := map[uint32]int{3: 5, 5: 3}[q.base]
			for at := 0; at < values; at += group {
				n += digitBits(q.base, min(group, values-at))
			}
		}
		planes := uint(1)
		if m.dual {
			planes = 2
		}
		if m.planeStored {
			n += 2
		}
		n += planes * (16*m.weightBits - uint(m.subsets))
		if n > 128 {
			t.Errorf("mode %d has %d bits", i, n)
		}
	}
}

// TestPatterns compares with rows of the tables of the UASTC specification.
func TestPatterns(t *testing.T) {
	for _, tt := range []struct {
		in   []pattern
		at   int
		want [16]uint8
	}{
		{twoSubsets, 0, [16]uint8{0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1}},
		{twoSubsets, 10, [16]uint8{0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 1, 1, 1, 1, 1, 1}},
		{twoSubsets, 29, [16]uint8{1, 0, 0, 1, 0, 0, 1, 1, 0, 1, 1, 0, 1, 1, 0, 0}},
		{threeSubsets, 0, [16]uint8{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 2, 1, 1, 2, 2}},
		{threeSubsets, 10, [16]uint8{0, 0, 2, 2, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 2, 2}},
		{mergedSubsets, 0, [16]uint8{0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0}},
		{mergedSubsets, 18, [16]uint8{1, 1, 1, 1, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0}},
	} {
		if got := tt.in[tt.at].subset; got != tt.want {
			t.Errorf("pattern %d of %d: %v", tt.at, len(tt.in), got)
		}
	}
	for n, all := range map[int][]pattern{2: append(twoSubsets[:30:30], mergedSubsets...), 3: threeSubsets} {
		for i, p := range all {
			if bits.OnesCount16(p.anchors) != n || p.anchors&1 == 0 {
				t.Errorf("pattern %d of %d subsets has the anchors %b", i, n, p.anchors)
			}
		}
	}
}

// TestQuantization: the values of a quantization lie about evenly from 0 to 255, in
// another order where there are digits.
func TestQuantization(t *testing.T) {
	for _, q := range []*quantization{quant12, quant16, quant32, quant40, quant48, quant160, quant192, quant256} {
		var seen [256]bool
		for _, v := range q.values {
			if seen[v] {
				t.Errorf("%d values: %d occurs twice", len(q.values), v)
			}
			seen[v] = true
		}
		last, step := 0, 255/float64(len(q.values)-1)
		for v := range seen {
			if seen[v] != seen[255-v] {
				t.Errorf("%d values: %d is there, %d is not", len(q.values), v, 255-v)
			}
			if seen[v] {
				if gap := float64(v - last); v > 0 && (gap < step-1.01 || gap > step+3) {
					t.Errorf("%d values: %d and %d lie side by side", len(q.values), last, v)
				}
				last = v
			}
		}
		if !seen[0] || last != 255 {
			t.Errorf("%d values end at %d", len(q.values), last)
		}
	}
	if w := modes[18].weights; w[0] != 0 || w[15] != 30 || w[16] != 34 || w[31] != 64 {
		t.Errorf("the weights of five bits: %v", w)
	}
}

func TestDecodeUASTCRefuses(t *testing.T) {
	reserved, pattern := make([]byte, 16), make([]byte, 16)
	reserved[0] = 0x45
	pattern[0], pattern[2], pattern[3] = 0x03, 0xf0, 0xff // mode 3 with the pattern 15
	for name, tt := range map[string]struct {
		data          []byte
		width, height int
	}{
		"reserved mode":     {reserved, 4, 4},
		"unknown pattern":   {pattern, 4, 4},
		"too few blocks":    {make([]byte, 16), 5, 4},
		"too many blocks":   {make([]byte, 32), 4, 4},
		"a part of a block": {make([]byte, 15), 1, 1},
	} {
		dst := make([]byte, 4*tt.width*tt.height)
		if err := DecodeUASTC(dst, tt.data, tt.width, tt.height); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := DecodeUASTC(make([]byte, 63), make([]byte, 16), 4, 4); err == nil {
		t.Error("a picture of the wrong size was taken")
	}
}

// FuzzUASTC: any blocks give pixels or an error that matches ErrDamaged, and take
// no memory.
func FuzzUASTC(f *testing.F) {
	for i := range modes {
		b := make([]byte, 32)
		b[0], b[16] = modes[i].code, modes[i].code|1<<6
		f.Add(b, uint8(8), uint8(3))
	}
	f.Fuzz(func(t *testing.T, data []byte, width, height uint8) {
		w, h := int(width%64)+1, int(height%64)+1
		dst := make([]byte, 4*w*h)
		fuzzbound.Run(t, len(data), fuzzbound.Limits{Alloc: 1 << 20}, func() {
			if n := UASTCSize(w, h); len(data) > n {
				data = data[:n]
			}
			if err := DecodeUASTC(dst, data, w, h); err != nil && !errors.Is(err, ErrDamaged) {
				t.Errorf("untyped error: %v", err)
			}
		})
	})
}
