package meshopt

import "encoding/binary"

const (
	triangleTail = 16 // the table of codes
	sequenceTail = 4  // padding
	fifoSize     = 16
)

// triangleReader holds the state of decoding mode 1.
type triangleReader struct {
	data []byte // the extra data
	base int    // position of data in the stream
	pos  int    // in data
	next uint32 // the lowest index not yet seen
	last uint32 // the last index that was given explicitly
	latest
	fault error
}

// latest holds the latest edges and vertices, and how many were ever pushed.
type latest struct {
	edges                  [fifoSize][2]uint32
	vertices               [fifoSize]uint32
	edgeCount, vertexCount uint
}

func (l *latest) pushEdge(a, b uint32) {
	l.edges[l.edgeCount%fifoSize] = [2]uint32{a, b}
	l.edgeCount++
}

func (l *latest) pushVertex(v uint32) {
	l.vertices[l.vertexCount%fifoSize] = v
	l.vertexCount++
}

// edge returns the edge that was pushed back pushes ago, 0 the latest; there must have been
// so many. vertex does so for vertices.
func (l *latest) edge(back uint) [2]uint32 { return l.edges[(l.edgeCount-1-back)%fifoSize] }
func (l *latest) vertex(back uint) uint32  { return l.vertices[(l.vertexCount-1-back)%fifoSize] }

// named is vertex for a place that the stream names.
func (r *triangleReader) named(back uint) uint32 {
	if back >= r.vertexCount {
		r.fail("names a vertex before the first")
		return 0
	}
	return r.vertex(back)
}

func (r *triangleReader) fail(format string, args ...any) {
	if r.fault == nil {
		r.fault = malformed(r.base+r.pos, format, args...)
	}
}

// explicit reads an index that is coded as the difference to the last one.
func (r *triangleReader) explicit() uint32 {
	v, n := varint(r.data[r.pos:])
	if n == 0 {
		r.fail("an index is cut off or too long")
		return 0
	}
	r.pos += n
	r.last += v>>1 ^ -(v & 1)
	return r.last
}

// fresh returns the next index.
func (r *triangleReader) fresh() uint32 {
	r.next++
	return r.next - 1
}

// varint reads an unsigned LEB128 number of at most 5 bytes, of which it
// keeps 32 bits; n is 0 if there is none.
func varint(b []byte) (v uint32, n int) {
	for n < 5 && n < len(b) {
		v |= uint32(b[n]&0x7F) << (7 * n)
		n++
		if b[n-1] < 0x80 {
			return v, n
		}
	}
	return 0, 0
}

// decodeTriangles decodes mode 1.
func decodeTriangles(dst, src []byte, stride, version int) error {
	n := len(dst) / stride / 3
	codes := src[1 : 1+n]
	tail := len(src) - triangleTail
	table := (*[triangleTail]byte)(src[tail:])
	for i, v := range table {
		if v>>4 == 15 || v&15 == 15 || i >= 14 && v != 0 {
			return malformed(tail+i, "the table of codes holds 0x%02X", v)
		}
	}
	r := triangleReader{data: src[1+n : tail], base: 1 + n}
	// Version 1 gave two of the places in the FIFO to neighbours of last.
	fifoCodes := byte(15)
	if version == 1 {
		fifoCodes = 13
	}
	for i, code := range codes {
		var a, b, c uint32
		switch {
		case code < 0xF0:
			a, b, c = r.edgeAndVertex(code, fifoCodes)
		case code < 0xFE:
			a, b, c = r.threeFromTable(table[code&15])
		default:
			a, b, c = r.three(code)
		}
		if r.fault != nil {
			return r.fault
		}
		if stride == 2 {
			out := dst[6*i : 6*i+6]
			binary.LittleEndian.PutUint16(out, uint16(a))
			binary.LittleEndian.PutUint16(out[2:], uint16(b))
			binary.LittleEndian.PutUint16(out[4:], uint16(c))
		} else {
			out := dst[12*i : 12*i+12]
			binary.LittleEndian.PutUint32(out, a)
			binary.LittleEndian.PutUint32(out[4:], b)
			binary.LittleEndian.PutUint32(out[8:], c)
		}
	}
	if r.pos != len(r.data) {
		return malformed(r.base+r.pos, "%d bytes are left over", len(r.data)-r.pos)
	}
	return nil
}

// edgeAndVertex decodes a triangle at a recent edge.
func (r *triangleReader) edgeAndVertex(code, fifoCodes byte) (a, b, c uint32) {
	back := uint(code >> 4)
	if back >= r.edgeCount {
		r.fail("names an edge before the first")
		return 0, 0, 0
	}
	edge := r.edge(back)
	a, b = edge[0], edge[1]
	known := false
	switch third := code & 15; {
	case third == 0:
		c = r.fresh()
	case third < fifoCodes:
		c, known = r.named(uint(third)), true
	case third == 15:
		c = r.explicit()
	case third == 13:
		r.last--
		c = r.last
	default:
		r.last++
		c = r.last
	}
	r.pushEdge(c, b)
	r.pushEdge(a, c)
	if !known {
		r.pushVertex(c)
	}
	return a, b, c
}

// threeFromTable decodes a triangle that begins with a fresh vertex.
func (r *triangleReader) threeFromTable(code byte) (a, b, c uint32) {
	a = r.fresh()
	b = r.freshOrRecent(code >> 4)
	c = r.freshOrRecent(code & 15)
	r.push(a, b, c, code>>4 == 0, code&15 == 0)
	return a, b, c
}

// freshOrRecent returns the next index for 0, else a recent vertex.
func (r *triangleReader) freshOrRecent(code byte) uint32 {
	if code == 0 {
		return r.fresh()
	}
	return r.named(uint(code) - 1)
}

// three decodes a triangle whose codes stand in the extra data.
func (r *triangleReader) three(code byte) (a, b, c uint32) {
	if r.pos >= len(r.data) {
		r.fail("the codes of a triangle are cut off")
		return 0, 0, 0
	}
	codes := r.data[r.pos]
	r.pos++
	if codes == 0 {
		r.next = 0
	}
	if code == 0xFE {
		a = r.fresh()
	} else {
		a = r.explicit()
	}
	second, third := codes>>4, codes&15
	if b = 0; second == 15 {
		b = r.explicit()
	} else {
		b = r.freshOrRecent(second)
	}
	if third == 15 {
		c = r.explicit()
	} else {
		c = r.freshOrRecent(third)
	}
	r.push(a, b, c, second == 0 || second == 15, third == 0 || third == 15)
	return a, b, c
}

// push remembers a triangle without a recent edge; b and c count as vertices
// only if they were new.
func (r *triangleReader) push(a, b, c uint32, newB, newC bool) {
	r.pushEdge(b, a)
	r.pushEdge(c, b)
	r.pushEdge(a, c)
	r.pushVertex(a)
	if newB {
		r.pushVertex(b)
	}
	if newC {
		r.pushVertex(c)
	}
}

// decodeSequence decodes mode 2, whose versions 0 and 1 are alike.
func decodeSequence(dst, src []byte, stride int) error {
	end := len(src) - sequenceTail
	pos := 1
	var last [2]uint32
	for i := 0; i < len(dst); i += stride {
		v, n := varint(src[pos:end])
		if n == 0 {
			return malformed(pos, "an index is cut off or too long")
		}
		pos += n
		// Bit 0 chooses the base line, the others are a zigzag difference.
		base := &last[v&1]
		*base += v>>2 ^ -(v >> 1 & 1)
		if stride == 2 {
			binary.LittleEndian.PutUint16(dst[i:], uint16(*base))
		} else {
			binary.LittleEndian.PutUint32(dst[i:], *base)
		}
	}
	if pos != end {
		return malformed(pos, "%d bytes are left over", end-pos)
	}
	return nil
}
