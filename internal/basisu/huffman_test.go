package basisu

import (
	"errors"
	"testing"
)

// bitWriter is the inverse of bitReader.
type bitWriter struct {
	data []byte
	at   uint
}

func (w *bitWriter) put(v uint32, n uint) {
	for i := range n {
		if w.at%8 == 0 {
			w.data = append(w.data, 0)
		}
		w.data[w.at/8] |= byte(v>>i&1) << (w.at % 8)
		w.at++
	}
}

// table writes a Huffman table whose code lengths are plain.
func (w *bitWriter) table(lengths []uint8) {
	w.put(uint32(len(lengths)), 14)
	// Codes of five bits for the 21 symbols of code lengths would not be complete:
	// 11 of four bits and 10 of five are.
	w.put(codeLengths, 5)
	var own [codeLengths]uint8
	for i := range own {
		if own[i] = 5; i < 11 {
			own[i] = 4
		}
	}
	for _, symbol := range lengthOrder {
		w.put(uint32(own[symbol]), 3)
	}
	for _, n := range lengths {
		w.code(own[:], int(n))
	}
}

// code writes the canonical code of a symbol.
func (w *bitWriter) code(lengths []uint8, symbol int) {
	code := uint32(0)
	for n := uint8(1); n <= lengths[symbol]; n++ {
		code <<= 1
		for s, l := range lengths {
			if l == n && (n < lengths[symbol] || s < symbol) {
				code++
			}
		}
	}
	for i := int(lengths[symbol]) - 1; i >= 0; i-- {
		w.put(code>>i&1, 1)
	}
}

// skewed are lengths of a complete code with some codes of all lengths to 16.
func skewed() []uint8 {
	var out []uint8
	for n := uint8(1); n <= 16; n++ {
		out = append(out, n)
	}
	return append(out, 16)
}

func TestHuffman(t *testing.T) {
	for name, lengths := range map[string][]uint8{
		"one symbol":          {0, 0, 1},
		"two":                 {1, 1},
		"gaps":                {0, 2, 0, 2, 2, 2},
		"all lengths to 16":   skewed(),
		"long ones come last": append([]uint8{12, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2}, 1),
	} {
		w := &bitWriter{}
		w.table(lengths)
		var symbols []int
		for s, n := range lengths {
			if n > 0 {
				symbols = append(symbols, s)
			}
		}
		for i := range 200 {
			w.code(lengths, symbols[i*7%len(symbols)])
		}
		r := &bitReader{data: w.data}
		h, err := r.table()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i := range 200 {
			if s, want := r.symbol(&h), symbols[i*7%len(symbols)]; s != want {
				t.Fatalf("%s: symbol %d is %d, want %d", name, i, s, want)
			}
		}
		if r.over() {
			t.Errorf("%s: more was read than is there", name)
		}
	}
}

func TestHuffmanRefuses(t *testing.T) {
	plain := func(lengths ...uint8) []byte {
		w := &bitWriter{}
		w.table(lengths)
		return w.data
	}
	repeat := &bitWriter{}
	repeat.put(3, 14)
	repeat.put(3, 5)
	repeat.put(0, 3) // 17
	repeat.put(0, 3) // 18
	repeat.put(1, 3) // 19 alone
	repeat.put(0, 32)
	for name, data := range map[string][]byte{
		"no codes":         plain(0, 0),
		"incomplete":       plain(1, 2),
		"too many":         plain(1, 1, 1),
		"cut off":          plain(2, 2, 2, 2)[:8],
		"repeats nothing":  repeat.data,
		"no code lengths":  {5, 0, 0, 0},
		"more code length": {5, 0, 0xff, 0xff},
	} {
		r := &bitReader{data: data}
		if _, err := r.table(); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A table without symbols, and a bit that no symbol has.
	r := &bitReader{data: make([]byte, 8)}
	h, err := r.table()
	if err != nil || !h.empty() || r.symbol(&h) != 0 || !r.over() {
		t.Error("the empty table", err)
	}
	one, _ := newHuffman([]uint8{1})
	if r = (&bitReader{data: []byte{2}}); r.symbol(&one) != 0 || r.over() || r.symbol(&one) != 0 || !r.over() {
		t.Error("a code without a symbol was taken")
	}
}

func TestVLC(t *testing.T) {
	w := &bitWriter{}
	w.put(5, 5)       // 5
	w.put(0x13, 5)    // 3, more
	w.put(1, 5)       // 16
	w.put(0xffff, 32) // too many pieces
	w.put(1<<32-1, 32)
	r := &bitReader{data: w.data}
	if a, b := r.vlc(4), r.vlc(4); a != 5 || b != 19 || r.over() {
		t.Error(a, b)
	}
	r = &bitReader{data: []byte{255, 255, 255, 255, 255, 255, 255, 255}}
	if r.vlc(7); !r.over() {
		t.Error("a number without an end was taken")
	}
}
