package basisu

import (
	"encoding/binary"
	"fmt"
)

// symbols is what a UASTC block says.
type symbols struct {
	m       *mode
	pattern int
	plane   uint   // the channel of the second weights, where there are two
	color   uint32 // of a block of one colour, red in the lowest byte
	// ends are as they are stored: of each subset the low and the high one of each
	// component.
	ends    [18]uint8
	weights [2][16]uint8 // by pixel, as they are stored
}

// read reads a block. It is false for modes and patterns that are not defined.
func (s *symbols) read(data *[uastcBlock]byte) bool {
	b := block128{binary.LittleEndian.Uint64(data[:]), binary.LittleEndian.Uint64(data[8:])}
	m := modeByCode[b.lo&127]
	if m == nil {
		return false
	}
	s.m, s.pattern, s.plane = m, 0, m.plane
	b.skip(m.codeBits)
	if m.components == 0 {
		s.color = b.take(32)
		return true
	}
	b.skip(m.hintBits)
	if m.patterns != nil {
		if s.pattern = int(b.take(m.patternBits)); s.pattern >= len(m.patterns) {
			return false
		}
	}
	if m.planeStored {
		s.plane = uint(b.take(2))
	}
	m.endpoints.read(&b, s.ends[:2*m.components*m.subsets])
	anchors := s.shape().anchors
	for i := range 16 {
		n := m.weightBits
		if anchors>>i&1 != 0 {
			n-- // the first weights lack their highest bit, which is 0
		}
		s.weights[0][i] = uint8(b.take(n))
		if m.dual {
			s.weights[1][i] = uint8(b.take(n))
		}
	}
	return true
}

// shape says which subset each pixel belongs to.
func (s *symbols) shape() *pattern {
	if s.m.patterns == nil {
		return &onePattern
	}
	return &s.m.patterns[s.pattern]
}

// transcode makes blocks of blocks. The formats that they are turned into have blocks of
// the same size in bytes and pixels, in the same order.
func transcode(dst, data []byte, one func(out *[uastcBlock]byte, s *symbols)) error {
	if len(dst) != len(data) {
		return fmt.Errorf("basisu: %d bytes of blocks do not become %d", len(data), len(dst))
	}
	return eachBlock(data, func(at int, s *symbols) { one((*[uastcBlock]byte)(dst[at:]), s) })
}

// eachBlock reads blocks one after the other, at is where they lie in bytes.
func eachBlock(data []byte, one func(at int, s *symbols)) error {
	if len(data)%uastcBlock != 0 {
		return damaged("%d bytes are no whole UASTC blocks", len(data))
	}
	var s symbols
	for at := 0; at < len(data); at += uastcBlock {
		if !s.read((*[uastcBlock]byte)(data[at:])) {
			return damaged("the UASTC block at byte %d has a mode or a pattern that does not exist", at)
		}
		one(at, &s)
	}
	return nil
}

// CheckUASTC reports whether all blocks have a mode and a pattern that exist. The error
// matches ErrDamaged.
func CheckUASTC(data []byte) error { return eachBlock(data, func(int, *symbols) {}) }
