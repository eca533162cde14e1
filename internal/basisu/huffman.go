package basisu

import "math/bits"

const (
	maxCodeLength = 16
	firstBits     = 10 // of a code, that the first table is indexed with
	secondBits    = maxCodeLength - firstBits
)

// huffman decodes canonical Huffman codes like those of RFC 1951, with codes of up
// to 16 bits. The zero value is the table without symbols, which may be stored
// where none is ever read.
type huffman struct {
	// first is indexed with the next bits: a symbol and above it its length, or
	// the place of a second table and above it link, or 0 for no code.
	first  []uint32
	second []uint32
}

const link = 1 << 31

// newHuffman makes the table of symbols with the given code lengths, 0 for those
// that do not occur. The codes must be complete, but a single one may stand alone.
func newHuffman(lengths []uint8) (huffman, error) {
	var count, next [maxCodeLength + 2]int
	used := 0
	for _, n := range lengths {
		if n > 0 {
			count[n]++
			used++
		}
	}
	total := 0
	for n := 1; n <= maxCodeLength; n++ {
		next[n] = total
		total = (total + count[n]) << 1
	}
	if total != 1<<(maxCodeLength+1) && used != 1 {
		return huffman{}, damaged("the lengths of a Huffman table's codes make no code")
	}
	h := huffman{first: make([]uint32, 1<<firstBits)}
	for symbol, n := range lengths {
		if n == 0 {
			continue
		}
		code := int(bits.Reverse16(uint16(next[n])) >> (maxCodeLength - n))
		next[n]++
		entry := uint32(n)<<16 | uint32(symbol)
		if n <= firstBits {
			for ; code < len(h.first); code += 1 << n {
				h.first[code] = entry
			}
			continue
		}
		to := &h.first[code&(1<<firstBits-1)]
		if *to == 0 {
			*to = link | uint32(len(h.second))
			h.second = append(h.second, make([]uint32, 1<<secondBits)...)
		}
		table := h.second[*to&^link:][:1<<secondBits]
		for code >>= firstBits; code < len(table); code += 1 << (n - firstBits) {
			table[code] = entry
		}
	}
	return h, nil
}

// empty reports whether there are no symbols.
func (h *huffman) empty() bool { return h.first == nil }

// symbol reads the next symbol.
func (r *bitReader) symbol(h *huffman) int {
	if r.have < maxCodeLength {
		r.fill()
	}
	if h.first == nil {
		r.wrong = true
		return 0
	}
	e := h.first[r.buf&(1<<firstBits-1)]
	if e&link != 0 {
		e = h.second[int(e&^link)+int(r.buf>>firstBits&(1<<secondBits-1))]
	}
	if e == 0 {
		r.wrong = true
		return 0
	}
	n := uint(e >> 16)
	r.buf >>= n
	r.have -= n
	return int(e & 0xffff)
}

// Symbols that stand for several code lengths: runs of zeros, and repetitions of
// the last length.
const (
	shortZeros = 17 + iota
	longZeros
	shortRepeat
	longRepeat

	codeLengths // how many symbols describe code lengths
)

// lengthOrder is the order in which the lengths of those symbols' own codes are
// stored.
var lengthOrder = [codeLengths]uint8{17, 18, 19, 20, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15, 16}

// table reads a Huffman table.
func (r *bitReader) table() (huffman, error) {
	symbols := int(r.bits(14))
	if symbols == 0 {
		return huffman{}, nil
	}
	var own [codeLengths]uint8
	n := int(r.bits(5))
	if n < 1 || n > codeLengths {
		return huffman{}, damaged("a Huffman table has %d code length codes", n)
	}
	for _, symbol := range lengthOrder[:n] {
		own[symbol] = uint8(r.bits(3))
	}
	h, err := newHuffman(own[:])
	if err != nil {
		return huffman{}, err
	}
	lengths := make([]uint8, 0, symbols)
	for len(lengths) < symbols {
		var run int
		var value uint8
		switch s := r.symbol(&h); s {
		case shortZeros:
			run = 3 + int(r.bits(3))
		case longZeros:
			run = 11 + int(r.bits(7))
		case shortRepeat, longRepeat:
			if s == shortRepeat {
				run = 3 + int(r.bits(2))
			} else {
				run = 7 + int(r.bits(7))
			}
			if len(lengths) > 0 {
				value = lengths[len(lengths)-1]
			}
			if value == 0 {
				return huffman{}, damaged("a Huffman table repeats a code length that is not there")
			}
		default:
			run, value = 1, uint8(s)
		}
		if r.over() || len(lengths)+run > symbols {
			return huffman{}, damaged("a Huffman table does not end where it should")
		}
		for range run {
			lengths = append(lengths, value)
		}
	}
	return newHuffman(lengths)
}
