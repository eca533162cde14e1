package format

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"github.com/untoldkit/untold/format/vertex"
)

// Compression delta stores by how much numbers differ from those before them, in planes:
// the first bytes of all records, then their second ones, and so on. Neighbours in a mesh
// are alike, so that most upper bytes are small and equal, which a general compressor sees
// only where they lie side by side. A payload is one byte that says what the numbers are,
// and a Zstandard frame of the planes. It decodes to exactly the bytes that were encoded,
// whatever they are. A payload of many vertices has several frames, and references.

// deltaKind is what the numbers of a payload are.
type deltaKind byte

const (
	deltaNone     deltaKind = iota // bytes as they are
	deltaVertices                  // of layout PBR_STATIC_V1
	deltaIndex16
	deltaIndex32
	deltaVertexRefs // as deltaVertices, which refer to others before them: see delta_refs.go
	deltaKinds
)

// kindOf returns what the numbers of a chunk are taken for. Indices of both widths may lie in one
// chunk: what a quick compressor makes smaller decides.
func kindOf(src []byte, t ChunkType) deltaKind {
	switch {
	case t == ChunkVertices && len(src) < leastRefs*vertex.Size:
		return deltaVertices
	case t == ChunkVertices:
		return deltaVertexRefs
	case t != ChunkIndices:
		return deltaNone
	}
	e := zstdEncoders.Get().(*zstd.Encoder)
	defer zstdEncoders.Put(e)
	if len(deltaIndex32.compress(e, src)) < len(deltaIndex16.compress(e, src)) {
		return deltaIndex32
	}
	return deltaIndex16
}

// compressDelta returns the payload of a chunk.
func compressDelta(src []byte, t ChunkType) []byte {
	k := kindOf(src, t)
	e := deltaEncoders.Get().(*zstd.Encoder)
	defer deltaEncoders.Put(e)
	return k.compress(e, src)
}

// compress returns the payload of numbers of a kind.
func (k deltaKind) compress(e *zstd.Encoder, src []byte) []byte {
	buf := deltaBuffers.get(k.contents(len(src)))
	defer deltaBuffers.put(buf)
	k.split(*buf, src)
	var planes []int
	if k == deltaVertexRefs {
		planes = framePlanes[:]
	}
	const frame = 32 // what one more takes at most, besides its bytes
	room := encodeBuffers.get(1 + e.MaxEncodedSize(len(*buf)) + frame*len(planes))
	defer encodeBuffers.put(room)
	(*room)[0] = byte(k)
	out, from := (*room)[:1], 0
	for _, plane := range planes {
		if to := plane * (len(src) / vertex.Size); to-from >= leastFrame {
			out, from = e.EncodeAll((*buf)[from:to], out), to
		}
	}
	return bytes.Clone(e.EncodeAll((*buf)[from:], out))
}

// contents returns how many bytes the frames of a payload hold that decodes to n.
func (k deltaKind) contents(n int) int {
	if k == deltaVertexRefs {
		n += int(referencesOf(uint64(n)))
	}
	return n
}

var errNoDelta = errors.New("no kind of numbers")

// decodeDelta expands a payload into dst, which has the decoded size, and takes as much
// again for the planes, with references.
func decodeDelta(dst, src []byte) error {
	if len(src) == 0 || src[0] >= byte(deltaKinds) {
		return fmt.Errorf("delta: %w in front of the frame", errNoDelta)
	}
	k := deltaKind(src[0])
	if k == deltaNone {
		return decodeZstd(dst, src[1:])
	}
	buf := deltaBuffers.get(k.contents(len(dst)))
	defer deltaBuffers.put(buf)
	if err := decodeZstd(*buf, src[1:]); err != nil {
		return err
	}
	k.join(dst, *buf)
	return nil
}

// split writes the planes of the differences of src, behind references where the kind has
// them. What lies behind the last whole record follows them as it is.
func (k deltaKind) split(dst, src []byte) {
	var refs []byte
	if k == deltaVertexRefs {
		n := referencesOf(uint64(len(src)))
		refs, dst = dst[:n], dst[n:]
		findReferences(refs, src)
	}
	k.convert(dst, src, refs, column.split)
}

// join is the inverse of split.
func (k deltaKind) join(dst, src []byte) {
	var refs []byte
	if k == deltaVertexRefs {
		n := referencesOf(uint64(len(dst)))
		refs, src = src[:n], src[n:]
	}
	k.convert(dst, src, refs, column.join)
}

// deltaBlock is how many records are converted at once, all columns of them: they stay in
// the processor's cache meanwhile.
const deltaBlock = 512

func (k deltaKind) convert(dst, src, refs []byte, do func(column, *run)) {
	columns, size := k.columns()
	if columns == nil {
		copy(dst, src)
		return
	}
	n := len(src) / size
	copy(dst[n*size:], src[n*size:])
	var before [len(vertexColumns)]uint32
	r := run{dst: dst, src: src, records: n, size: size}
	for r.to < n {
		r.from, r.to = r.to, min(r.to+deltaBlock, n)
		for i, c := range columns {
			r.before, r.refs = before[i], c.references(refs)
			do(c, &r)
			before[i] = r.before
		}
	}
}

// columns returns what a record consists of, and its bytes; nil where bytes stay as they are.
func (k deltaKind) columns() (list []column, size int) {
	switch k {
	case deltaVertices, deltaVertexRefs:
		return vertexColumns[:], vertex.Size
	case deltaIndex16:
		return []column{{0, 2, false}}, 2
	case deltaIndex32:
		return []column{{0, 4, false}}, 4
	}
	return nil, 0
}

// vertexColumns are position, normal, tangent, two pairs of halves and four bytes.
var vertexColumns = [...]column{
	{0, 4, false},
	{4, 4, false},
	{8, 4, false},
	{12, 4, true},
	{16, 4, true},
	{20, 2, false},
	{22, 2, false},
	{24, 2, false},
	{26, 2, false},
	{28, 1, false},
	{29, 1, false},
	{30, 1, false},
	{31, 1, false},
}

// column is a number of a record: where it begins, its bytes, and whether it is a packed
// direction, whose parts differ each on its own.
type column struct {
	at, bytes int
	direction bool
}

// run is some records of a payload on their way from one form to the other.
type run struct {
	dst, src      []byte
	records, size int
	from, to      int
	before        uint32 // the number in front of them, then the last of them
	refs          []byte // of all records; nil where they refer to those before them
}

// split writes the differences of a column.
func (c column) split(r *run) {
	for i := r.from; i < r.to; i++ {
		v, d := uint32(0), uint32(0)
		for k := range c.bytes {
			v |= uint32(r.src[i*r.size+c.at+k]) << (8 * k)
		}
		switch {
		case r.refs == nil:
			d = c.difference(v, r.before)
		case c.direction:
			d = splitDirection(v, r.referred(i, c.at))
		default:
			d = c.difference(v, r.referred(i, c.at))
		}
		for k := range c.bytes {
			r.dst[(c.at+k)*r.records+i] = byte(d >> (8 * k))
		}
		r.before = v
	}
}

// difference returns how much a number differs from another: small numbers for small
// differences of either sign.
func (c column) difference(v, u uint32) uint32 {
	if !c.direction {
		unused := 32 - 8*c.bytes
		return signLast(int32((v-u)<<unused) >> unused)
	}
	x, y, z := parts(v)
	ux, uy, uz := parts(u)
	return packDifferences(x-ux, y-uy, z-uz, v^u)
}

// signLast returns a number with its sign as the last bit.
func signLast(d int32) uint32 { return uint32(d<<1 ^ d>>31) }

// signFirst is the inverse of signLast.
func signFirst(d uint32) int32 { return int32(d>>1 ^ -(d & 1)) }

// packDifferences returns the differences of the three parts of a direction and of its top bits:
// the lower bytes of the three, then what is above them.
func packDifferences(x, y, z int32, top uint32) uint32 {
	dx, dy, dz := signLast(tenBits(x)), signLast(tenBits(y)), signLast(tenBits(z))
	return dx&0xff | dy&0xff<<8 | dz&0xff<<16 | (dx>>8|dy>>8<<2|dz>>8<<4)<<24 | top>>30<<30
}

// join writes the numbers of a column.
func (c column) join(r *run) {
	switch {
	case r.refs != nil && c.direction:
		r.joinDirectionRefs(c.at)
	case r.refs != nil:
		r.joinPlaceRefs(c.at)
	case c.direction:
		r.joinDirections(c.at)
	case c.bytes == 4:
		r.join32(c.at)
	case c.bytes == 2:
		r.join16(c.at)
	default:
		r.join8(c.at)
	}
}

// plane returns the bytes of the records at a place in all of them.
func (r *run) plane(at int) []byte { return r.src[at*r.records+r.from : at*r.records+r.to] }

func (r *run) join32(at int) {
	p0, p1, p2, p3 := r.plane(at), r.plane(at+1), r.plane(at+2), r.plane(at+3)
	v, out := r.before, r.dst[r.from*r.size+at:]
	for i := range p0 {
		u := uint32(p0[i]) | uint32(p1[i])<<8 | uint32(p2[i])<<16 | uint32(p3[i])<<24
		v += u>>1 ^ -(u & 1)
		o := out[i*r.size:][:4]
		o[0], o[1], o[2], o[3] = byte(v), byte(v>>8), byte(v>>16), byte(v>>24)
	}
	r.before = v
}

func (r *run) joinDirections(at int) {
	p0, p1, p2, p3 := r.plane(at), r.plane(at+1), r.plane(at+2), r.plane(at+3)
	v, out := r.before, r.dst[r.from*r.size+at:]
	for i := range p0 {
		top := uint32(p3[i])
		x, y, z := uint32(p0[i])|top&3<<8, uint32(p1[i])|top>>2&3<<8, uint32(p2[i])|top>>4&3<<8
		x, y, z = x>>1^-(x&1), y>>1^-(y&1), z>>1^-(z&1)
		v = (v+x)&0x3ff | (v>>10+y)&0x3ff<<10 | (v>>20+z)&0x3ff<<20 | (v^top>>6<<30)&(3<<30)
		o := out[i*r.size:][:4]
		o[0], o[1], o[2], o[3] = byte(v), byte(v>>8), byte(v>>16), byte(v>>24)
	}
	r.before = v
}

func (r *run) join16(at int) {
	p0, p1 := r.plane(at), r.plane(at+1)
	v, out := r.before, r.dst[r.from*r.size+at:]
	for i := range p0 {
		u := uint32(p0[i]) | uint32(p1[i])<<8
		v += u>>1 ^ -(u & 1)
		o := out[i*r.size:][:2]
		o[0], o[1] = byte(v), byte(v>>8)
	}
	r.before = v
}

func (r *run) join8(at int) {
	v, out := r.before, r.dst[r.from*r.size+at:]
	for i, b := range r.plane(at) {
		u := uint32(b)
		v += u>>1 ^ -(u & 1)
		out[i*r.size] = byte(v)
	}
	r.before = v
}
