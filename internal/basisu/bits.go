package basisu

// bitReader reads bits from the lowest of each byte on. Behind the end there are
// zeros: over tells, which callers ask once in a while instead of after each bit.
type bitReader struct {
	data []byte
	pos  int // bytes taken into buf, counting those behind the end
	buf  uint64
	have uint // bits in buf

	wrong bool // a code that no symbol has, or a table that is empty, was used
}

// fill makes at least 32 bits available.
func (r *bitReader) fill() {
	for r.have <= 56 {
		if r.pos < len(r.data) {
			r.buf |= uint64(r.data[r.pos]) << r.have
		}
		r.pos++
		r.have += 8
	}
}

// bits reads n bits, 32 at most.
func (r *bitReader) bits(n uint) uint32 {
	if r.have < n {
		r.fill()
	}
	v := uint32(r.buf & (1<<n - 1))
	r.buf >>= n
	r.have -= n
	return v
}

// vlc reads a number in pieces of n bits, each with a bit behind it that says
// whether another one follows.
func (r *bitReader) vlc(n uint) int {
	v := 0
	for shift := uint(0); shift < 32; shift += n {
		piece := int(r.bits(n + 1))
		v |= piece & (1<<n - 1) << shift
		if piece>>n == 0 {
			return v
		}
	}
	r.wrong = true
	return 0
}

// over reports whether what was read is no sound stream: more bits than there
// are, or codes without a symbol.
func (r *bitReader) over() bool {
	return r.wrong || 8*r.pos-int(r.have) > 8*len(r.data)
}
