package meshopt

import (
	"encoding/binary"
	"math/bits"
)

const (
	maxStride   = 256
	groupSize   = 16  // elements whose deltas are packed alike
	mostInBlock = 256 // elements
	blockBytes  = 8192
	mostInGroup = groupSize/2 + groupSize // bytes that a packed group takes
)

// blockElements returns how many elements a block holds but for the last.
func blockElements(stride int) int {
	return min(blockBytes/stride&^(groupSize-1), mostInBlock)
}

// vertexTail returns the size of the tail with its padding, which is never
// less than mostInGroup: a group may be read before its end is checked.
func vertexTail(stride, version int) int {
	if version == 0 {
		return max(stride, 32)
	}
	return max(stride+stride/4, mostInGroup)
}

// vertexLeast returns the fewest bytes that the blocks of count elements can
// take: those of all-zero deltas.
func vertexLeast(count, stride int64, version int) int64 {
	per := int64(blockElements(int(stride)))
	full, rest := count/per, count%per
	if version == 0 {
		// Two bits per group of every byte position.
		of := func(n int64) int64 { return ((n+groupSize-1)/groupSize + 3) / 4 * stride }
		return full*of(per) + of(rest)
	}
	return (full + (rest+per-1)/per) * (stride / 4)
}

// vertexReader reads the blocks of an attribute stream.
type vertexReader struct {
	src    []byte
	pos    int
	end    int    // where the tail begins
	modes  []byte // channel modes, one per four bytes of an element
	v1     bool
	planes [4][mostInBlock]byte // deltas of four consecutive byte positions
}

// The widths of a group's deltas in bits, by version 0 or control mode, and
// by the group's two header bits.
var widths = [...][4]uint8{{0, 1, 2, 4}, {1, 2, 4, 8}, {0, 2, 4, 8}}

// Control modes of version 1 beyond the two that choose widths, and the row
// of widths that version 0 uses.
const (
	controlZero    = 2
	controlLiteral = 3
	version0       = 2
)

// decodeVertices decodes mode 0. The length of src has been checked against
// the tail.
func decodeVertices(dst, src []byte, stride, version int) error {
	r := vertexReader{src: src, pos: 1, end: len(src) - vertexTail(stride, version), v1: version == 1}
	var last [maxStride]byte
	tail := src[len(src)-stride-r.modeBytes(stride):]
	copy(last[:stride], tail)
	r.modes = make([]byte, stride/4)
	if r.v1 {
		copy(r.modes, tail[stride:])
	}
	for k, m := range r.modes {
		if m&15 > 2 || m&15 < 2 && m>>4 != 0 {
			return malformed(len(src)-len(r.modes)+k, "channel mode 0x%02X", m)
		}
	}
	step := blockElements(stride) * stride
	for len(dst) > 0 {
		n := min(step, len(dst))
		if err := r.block(dst[:n], stride, last[:stride]); err != nil {
			return err
		}
		copy(last[:stride], dst[n-stride:n])
		dst = dst[n:]
	}
	if r.pos != r.end {
		return malformed(r.pos, "%d bytes are left over", r.end-r.pos)
	}
	return nil
}

func (r *vertexReader) modeBytes(stride int) int {
	if r.v1 {
		return stride / 4
	}
	return 0
}

// block decodes one block of len(dst)/stride elements; last is the element
// before the first.
func (r *vertexReader) block(dst []byte, stride int, last []byte) error {
	n := len(dst) / stride
	control := r.src[r.pos:r.pos]
	if r.v1 {
		if r.end-r.pos < stride/4 {
			return malformed(r.pos, "the control bytes of a block are cut off")
		}
		control = r.src[r.pos : r.pos+stride/4]
		r.pos += stride / 4
	}
	for c := range stride / 4 {
		for j := range r.planes {
			mode := uint8(version0)
			if r.v1 {
				mode = control[c] >> (2 * j) & 3
			}
			if err := r.plane(&r.planes[j], n, mode); err != nil {
				return err
			}
		}
		seed := binary.LittleEndian.Uint32(last[4*c:])
		switch mode := r.modes[c]; mode & 15 {
		case 0:
			r.deltas8(dst[4*c:], n, stride, seed)
		case 1:
			r.deltas16(dst[4*c:], n, stride, seed)
		default:
			r.deltas32(dst[4*c:], n, stride, seed, int(mode>>4))
		}
	}
	return nil
}

// plane reads the deltas of one byte position for n elements.
func (r *vertexReader) plane(out *[mostInBlock]byte, n int, mode uint8) error {
	if r.v1 && mode >= controlZero {
		if mode == controlZero {
			clear(out[:n])
			return nil
		}
		if r.end-r.pos < n {
			return malformed(r.pos, "%d literal bytes are cut off", n)
		}
		copy(out[:n], r.src[r.pos:])
		r.pos += n
		return nil
	}
	groups := (n + groupSize - 1) / groupSize
	size := (groups + 3) / 4
	if r.end-r.pos < size {
		return malformed(r.pos, "the header of a data block is cut off")
	}
	header := binary.LittleEndian.Uint32(r.src[r.pos:]) // size <= 4; the tail follows
	r.pos += size
	width := &widths[mode]
	for g := range groups {
		// pos <= end, so that mostInGroup bytes can be read.
		n := group((*[groupSize]byte)(out[g*groupSize:]), (*[mostInGroup]byte)(r.src[r.pos:]), width[header&3])
		header >>= 2
		if r.end-r.pos < n {
			return malformed(r.pos, "a group of deltas is cut off")
		}
		r.pos += n
	}
	return nil
}

const ones = 0x0101010101010101

// group unpacks 16 deltas of a width in bits and returns the number of bytes
// that they take. A value of all ones stands for one of the bytes that
// follow.
func group(out *[groupSize]byte, in *[mostInGroup]byte, width uint8) int {
	var lo, hi uint64          // the values, a byte each
	var isByte, isByte2 uint64 // 1 in the bytes of lo and hi that follow
	next := 0
	switch width {
	case 0:
	case 1:
		lo, hi = spread1[in[0]], spread1[in[1]]
		isByte, isByte2 = lo, hi
		next = 2
	case 2:
		lo = uint64(spread2[in[0]]) | uint64(spread2[in[1]])<<32
		hi = uint64(spread2[in[2]]) | uint64(spread2[in[3]])<<32
		isByte, isByte2 = (lo+ones)>>2&ones, (hi+ones)>>2&ones
		next = 4
	case 4:
		lo, hi = spread4(binary.LittleEndian.Uint32(in[0:])), spread4(binary.LittleEndian.Uint32(in[4:]))
		isByte, isByte2 = (lo+ones)>>4&ones, (hi+ones)>>4&ones
		next = 8
	default:
		lo, hi = binary.LittleEndian.Uint64(in[0:]), binary.LittleEndian.Uint64(in[8:])
		next = 16
	}
	binary.LittleEndian.PutUint64(out[0:], lo)
	binary.LittleEndian.PutUint64(out[8:], hi)
	// There are at most 16, so that next stays below mostInGroup.
	for ; isByte != 0; isByte &= isByte - 1 {
		out[bits.TrailingZeros64(isByte)>>3&15] = in[next]
		next++
	}
	for ; isByte2 != 0; isByte2 &= isByte2 - 1 {
		out[(8+bits.TrailingZeros64(isByte2)>>3)&15] = in[next]
		next++
	}
	return next
}

// spread4 gives each of eight 4-bit values, the high half of a byte first, a
// byte of its own.
func spread4(v uint32) uint64 {
	x := uint64(v)
	x = (x | x<<16) & 0x0000FFFF0000FFFF
	x = (x | x<<8) & 0x00FF00FF00FF00FF
	return (x>>4 | x<<8) & 0x0F0F0F0F0F0F0F0F
}

// spread2 does so for four 2-bit values, highest first, and spread1 for eight
// bits, lowest first.
var spread2, spread1 = spreads()

func spreads() (two [256]uint32, one [256]uint64) {
	for b := range 256 {
		for i := range 4 {
			two[b] |= uint32(b>>(6-2*i)&3) << (8 * i)
		}
		for i := range 8 {
			one[b] |= uint64(b>>i&1) << (8 * i)
		}
	}
	return two, one
}

// rows returns the four planes, n long.
func (r *vertexReader) rows(n int) (a, b, c, d []byte) {
	return r.planes[0][:n], r.planes[1][:n], r.planes[2][:n], r.planes[3][:n]
}

// deltas8 adds zigzag deltas byte by byte, four bytes at once.
func (r *vertexReader) deltas8(dst []byte, n, stride int, v uint32) {
	a, b, c, d := r.rows(n)
	at := 0
	for i := range a {
		z := uint32(a[i]) | uint32(b[i])<<8 | uint32(c[i])<<16 | uint32(d[i])<<24
		z = z>>1&0x7F7F7F7F ^ (z&0x01010101)*0xFF
		// Bits 7 are added apart, so that no carry enters the next byte.
		v = (v&0x7F7F7F7F + z&0x7F7F7F7F) ^ (v^z)&0x80808080
		binary.LittleEndian.PutUint32(dst[at:], v)
		at += stride
	}
}

// deltas16 adds zigzag deltas of 16 bits, two at once.
func (r *vertexReader) deltas16(dst []byte, n, stride int, v uint32) {
	a, b, c, d := r.rows(n)
	at := 0
	for i := range a {
		z := uint32(a[i]) | uint32(b[i])<<8 | uint32(c[i])<<16 | uint32(d[i])<<24
		z = z>>1&0x7FFF7FFF ^ (z&0x00010001)*0xFFFF
		v = (v&0x7FFF7FFF + z&0x7FFF7FFF) ^ (v^z)&0x80008000
		binary.LittleEndian.PutUint32(dst[at:], v)
		at += stride
	}
}

// deltas32 applies exclusive-or deltas of 32 bits that the encoder rotated
// left.
func (r *vertexReader) deltas32(dst []byte, n, stride int, v uint32, rotation int) {
	a, b, c, d := r.rows(n)
	at := 0
	for i := range a {
		z := uint32(a[i]) | uint32(b[i])<<8 | uint32(c[i])<<16 | uint32(d[i])<<24
		v ^= bits.RotateLeft32(z, -rotation)
		binary.LittleEndian.PutUint32(dst[at:], v)
		at += stride
	}
}
