package draco

// The range coder is the rANS of J. Duda, "Asymmetric numeral systems"
// (2013), with bytes as digits. It reads from the end of its bytes.

// bitBase is the lower bound of the state of a bit decoder.
const bitBase = 4096

// ans is the state of a range decoder.
type ans struct {
	buf   []byte // what is left
	state uint32
}

// start reads the initial state, whose highest two bits give its size.
func (a *ans) start(buf []byte, base uint32, widest int) bool {
	if len(buf) == 0 {
		return false
	}
	n := int(buf[len(buf)-1]>>6) + 1
	if n > widest || n > len(buf) {
		return false
	}
	cut := len(buf) - n
	var v uint32
	for i, b := range buf[cut:] {
		v |= uint32(b) << (8 * i)
	}
	v &= 1<<(8*n-2) - 1
	a.buf, a.state = buf[:cut], v+base
	return a.state < base*256
}

// bitDecoder decodes bits of one probability.
type bitDecoder struct {
	ans
	zero uint8 // probability of 0 in 1/256
}

// bitDecoder reads the head of a sequence of bits.
func (r *reader) bitDecoder() (b bitDecoder) {
	b.zero = r.u8()
	buf := r.take(uint64(r.varint()))
	if r.err == nil && !b.start(buf, bitBase, 3) {
		r.fail("bits have an invalid state")
	}
	return b
}

// next returns the next bit. Beyond the end it returns anything.
func (b *bitDecoder) next() bool {
	if n := len(b.buf); b.state < bitBase && n > 0 {
		b.state = b.state<<8 | uint32(b.buf[n-1])
		b.buf = b.buf[:n-1]
	}
	one := uint32(-b.zero) // 256 - zero
	x, rem := b.state, b.state&255
	part := x >> 8 * one
	if rem < one {
		b.state = part + rem
		return true
	}
	b.state = x - part - one
	return false
}

// symbolDecoder decodes symbols of a table of probabilities.
type symbolDecoder struct {
	ans
	shift     uint // the probabilities' sum is 1<<shift
	lookup    []uint32
	prob, cum []uint32
}

// symbolDecoder reads a table of probabilities and the coded bytes.
func (r *reader) symbolDecoder(shift uint) *symbolDecoder {
	s := &symbolDecoder{shift: shift}
	// A byte of the table stands for at most 64 symbols.
	n := r.count("symbols", 64*len(r.data))
	s.prob, s.cum = alloc[uint32](r, n), alloc[uint32](r, n)
	s.lookup = alloc[uint32](r, 1<<shift)
	for i := 0; i < n && r.err == nil; i++ {
		b := r.u8()
		extra := int(b & 3)
		if extra == 3 { // a run of zeros
			if i += int(b >> 2); i >= n {
				r.fail("a run of symbols is too long")
			}
			continue
		}
		p := uint32(b >> 2)
		for j := range extra {
			p |= uint32(r.u8()) << (8*j + 6)
		}
		s.prob[i] = p
	}
	if r.err != nil {
		return s
	}
	sum := uint32(0)
	for i, p := range s.prob {
		if p > 1<<shift-sum {
			r.fail("probabilities exceed their sum")
			return s
		}
		s.cum[i] = sum
		for j := range p {
			s.lookup[sum+j] = uint32(i)
		}
		sum += p
	}
	if sum != 1<<shift {
		r.fail("probabilities miss their sum")
		return s
	}
	buf := r.take(r.varint64())
	if r.err == nil && !s.start(buf, s.base(), 4) {
		r.fail("symbols have an invalid state")
	}
	return s
}

func (s *symbolDecoder) base() uint32 { return 4 << s.shift }

// next returns the next symbol. Beyond the end it returns anything.
func (s *symbolDecoder) next() uint32 {
	for s.state < s.base() && len(s.buf) > 0 {
		n := len(s.buf)
		s.state = s.state<<8 | uint32(s.buf[n-1])
		s.buf = s.buf[:n-1]
	}
	rem := s.state & (1<<s.shift - 1)
	sym := s.lookup[rem]
	s.state = s.state>>s.shift*s.prob[sym] + rem - s.cum[sym]
	return sym
}

// symbols reads n numbers in groups of the given size.
func (r *reader) symbols(n, group int) []uint32 {
	if n == 0 || r.err != nil {
		return nil
	}
	out := alloc[uint32](r, n)
	budget := r.budget // the tables below live shortly
	defer func() { r.budget = budget }()
	switch scheme := r.u8(); scheme {
	case 0:
		r.tagged(out, group)
	case 1:
		width := uint(r.u8())
		if r.err == nil && (width < 1 || width > 18) {
			r.fail("symbols of %d bits", width)
		}
		r.budget += 4 << 20 // the largest lookup, whatever the mesh
		s := r.symbolDecoder(min(max(3*width/2, 12), 20))
		for i := 0; i < n && r.err == nil; i++ {
			out[i] = s.next()
		}
	default:
		r.fail("symbol scheme %d", scheme)
	}
	return out
}

// tagged reads groups of numbers whose width in bits is a coded symbol.
func (r *reader) tagged(out []uint32, group int) {
	s := r.symbolDecoder(12)
	b := bitReader{data: r.data}
	for i := 0; i < len(out) && r.err == nil; i += group {
		width := s.next()
		if width > 32 {
			r.fail("a number of %d bits", width)
			return
		}
		for j := i; j < min(i+group, len(out)); j++ {
			v, ok := b.get(int(width))
			if !ok {
				r.fail("is cut off within numbers")
				return
			}
			out[j] = v
		}
	}
	r.take(b.bytes())
}

// signed undoes the mapping of signed numbers to symbols: 0, -1, 1, -2 ...
func signed(v uint32) int32 { return int32(v>>1) ^ -int32(v&1) }
