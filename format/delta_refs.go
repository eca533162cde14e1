package format

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/klauspost/compress/zstd"

	"github.com/untoldkit/untold/format/vertex"
)

// A vertex is often like one some way before it: at a seam of a texture or a crease it has the
// same place as another, and meshes of buildings go to and fro between few directions. So each
// vertex of this kind names two of the 256 before it, one for its place and one for its two
// directions, and holds by how much it differs from them.

const (
	refGroups = 2   // places, directions
	refsBack  = 256 // how far a vertex may refer
	// A reference beyond these many vertices is tried only if nothing differs there: more of
	// them gain 1 %, and take their time.
	refsTried = 32
	// Fewer vertices do not earn the bytes of their references.
	leastRefs = 64
)

// framePlanes are where payloads of this kind go on with another frame, in planes: the bytes of
// each have frequencies of their own. The references come first.
var framePlanes = [...]int{1, 2, 3, 4, 6, 7, 8, 10, 11, 12, 14, 17, 18, 21, 22, 23, 24, 25, 26}

// leastFrame is how many bytes a frame has at least, which costs a dozen itself.
const leastFrame = 1 << 10

// compressVertexRefs returns the payload of vertices with references.
func compressVertexRefs(e *zstd.Encoder, src []byte) []byte {
	n := len(src) / vertex.Size
	buf := deltaBuffers.get(len(src) + refGroups*n)
	defer deltaBuffers.put(buf)
	splitVertexRefs(*buf, src)
	const frame = 32 // what one more takes at most, besides its bytes
	room := encodeBuffers.get(1 + e.MaxEncodedSize(len(*buf)) + frame*len(framePlanes))
	defer encodeBuffers.put(room)
	(*room)[0] = byte(deltaVertexRefs)
	out, from := (*room)[:1], 0
	for _, plane := range framePlanes {
		if to := plane * n; to-from >= leastFrame {
			out, from = e.EncodeAll((*buf)[from:to], out), to
		}
	}
	return bytes.Clone(e.EncodeAll((*buf)[from:], out))
}

// splitVertexRefs writes references and planes of src, which has len(src) + refGroups bytes a
// vertex. What lies behind the last whole vertex follows as it is.
func splitVertexRefs(dst, src []byte) {
	n := len(src) / vertex.Size
	f := refFinder{src: src}
	for i := range n {
		dst[i], dst[n+i] = byte(f.place(i)-1), byte(f.directions(i)-1)
	}
	planes := dst[refGroups*n:]
	copy(planes[n*vertex.Size:], src[n*vertex.Size:])
	for k, c := range vertexColumns {
		if k >= placeColumns+directionColumns {
			c.split(&run{dst: planes, src: src, records: n, size: vertex.Size, to: n})
			continue
		}
		refs := dst[:n]
		if c.direction {
			refs = dst[n:]
		}
		for i := range n {
			v, u, d := number(src, i, c.at), numberAt(src, i-1-int(refs[i]), c.at), uint32(0)
			if c.direction {
				d = splitDirection(v, u)
			} else {
				d = c.difference(v, u)
			}
			for b := range c.bytes {
				planes[(c.at+b)*n+i] = byte(d >> (8 * b))
			}
		}
	}
}

// How many of vertexColumns are parts of the place, and how many after those directions.
const (
	placeColumns     = 3
	directionColumns = 2
	directionsAt     = 12
)

// number returns a 32-bit number of a vertex.
func number(b []byte, i, at int) uint32 { return binary.LittleEndian.Uint32(b[i*vertex.Size+at:]) }

// numberAt is number, and 0 in front of the first vertex.
func numberAt(b []byte, i, at int) uint32 {
	if i < 0 {
		return 0
	}
	return number(b, i, at)
}

// joinVertexRefs is the inverse of splitVertexRefs.
func joinVertexRefs(dst, src []byte) {
	n := len(dst) / vertex.Size
	refs, planes := src[:refGroups*n], src[refGroups*n:]
	copy(dst[n*vertex.Size:], planes[n*vertex.Size:])
	var before [len(vertexColumns)]uint32
	for from := 0; from < n; from += deltaBlock {
		r := run{dst: dst, src: planes, records: n, size: vertex.Size, from: from, to: min(from+deltaBlock, n)}
		for at := 0; at < directionsAt; at += 4 {
			r.joinPlaces(at, refs[from:r.to])
		}
		for k := range directionColumns {
			r.joinDirectionRefs(directionsAt+4*k, refs[n+from:n+r.to])
		}
		for k := placeColumns + directionColumns; k < len(vertexColumns); k++ {
			r.before = before[k]
			vertexColumns[k].join(&r)
			before[k] = r.before
		}
	}
}

func (r *run) joinPlaces(at int, refs []byte) {
	n := len(refs)
	p0, p1, p2, p3 := r.plane(at)[:n], r.plane(at + 1)[:n], r.plane(at + 2)[:n], r.plane(at + 3)[:n]
	out := r.dst[at:]
	for i, ref := range refs {
		u := uint32(p0[i]) | uint32(p1[i])<<8 | uint32(p2[i])<<16 | uint32(p3[i])<<24
		v, k := u>>1^-(u&1), r.from+i
		if j := k - 1 - int(ref); j >= 0 {
			v += binary.LittleEndian.Uint32(out[j*vertex.Size:])
		}
		binary.LittleEndian.PutUint32(out[k*vertex.Size:], v)
	}
}

func (r *run) joinDirectionRefs(at int, refs []byte) {
	n := len(refs)
	p0, p1, p2, p3 := r.plane(at)[:n], r.plane(at + 1)[:n], r.plane(at + 2)[:n], r.plane(at + 3)[:n]
	out := r.dst[at:]
	lastD, lastU := uint32(0), uint32(0)
	v := joinDirection(lastD, lastU)
	for i, ref := range refs {
		d := uint32(p0[i]) | uint32(p1[i])<<8 | uint32(p2[i])<<16 | uint32(p3[i])<<24
		u, k := uint32(0), r.from+i
		if j := k - 1 - int(ref); j >= 0 {
			u = binary.LittleEndian.Uint32(out[j*vertex.Size:])
		}
		if d != lastD || u != lastU { // most are like the last
			lastD, lastU, v = d, u, joinDirection(d, u)
		}
		binary.LittleEndian.PutUint32(out[k*vertex.Size:], v)
	}
}

// parts returns the three parts of a packed direction.
func parts(v uint32) (x, y, z int32) {
	return int32(v<<22) >> 22, int32(v<<12) >> 22, int32(v<<2) >> 22
}

// packParts is the inverse of parts, of whose results the lower ten bits count.
func packParts(x, y, z int32) uint32 {
	return uint32(x)&0x3ff | uint32(y)&0x3ff<<10 | uint32(z)&0x3ff<<20
}

// guessPart returns the part of a direction of length 511 that u, the part of another, stands
// for, by what the two other parts are. Where these are multiples of 4, as those of nodes are, so
// is the guess.
func guessPart(u, b, c int32) int32 {
	a := int32(0)
	if left := 511*511 - b*b - c*c; left > 0 {
		a = int32(math.Sqrt(float64(left)))
	}
	if u < 0 {
		a = -a
	}
	if (b|c)&3 == 0 {
		a = (a + 2) &^ 3
	}
	return a
}

// splitDirection returns how much v differs from u in two parts, and in the third, where u is
// greatest, from what the two let expect of a direction; in bytes and bits as those of other kinds.
func splitDirection(v, u uint32) uint32 {
	x, y, z := parts(v)
	ux, uy, uz := parts(u)
	switch ax, ay, az := max(ux, -ux), max(uy, -uy), max(uz, -uz); {
	case ax >= ay && ax >= az:
		ux = guessPart(ux, y, z)
	case ay >= az:
		uy = guessPart(uy, z, x)
	default:
		uz = guessPart(uz, x, y)
	}
	dx, dy, dz := signLast(x-ux), signLast(y-uy), signLast(z-uz)
	return dx&0xff | dy&0xff<<8 | dz&0xff<<16 | (dx>>8|dy>>8<<2|dz>>8<<4)<<24 | (v^u)>>30<<30
}

// signLast returns the lower ten bits of a difference with the sign as the last of them.
func signLast(d int32) uint32 {
	s := d << 22 >> 22
	return uint32(s<<1^s>>31) & 0x3ff
}

// joinDirection is the inverse of splitDirection.
func joinDirection(d, u uint32) uint32 {
	top := d >> 24
	dx, dy, dz := d&0xff|top&3<<8, d>>8&0xff|top>>2&3<<8, d>>16&0xff|top>>4&3<<8
	ux, uy, uz := parts(u)
	x, y, z := signFirst(dx), signFirst(dy), signFirst(dz)
	switch ax, ay, az := max(ux, -ux), max(uy, -uy), max(uz, -uz); {
	case ax >= ay && ax >= az:
		y, z = tenBits(uy+y), tenBits(uz+z)
		x += guessPart(ux, y, z)
	case ay >= az:
		z, x = tenBits(uz+z), tenBits(ux+x)
		y += guessPart(uy, z, x)
	default:
		x, y = tenBits(ux+x), tenBits(uy+y)
		z += guessPart(uz, x, y)
	}
	return packParts(x, y, z) | (u^top>>6<<30)&(3<<30)
}

func signFirst(d uint32) int32 { return int32(d>>1 ^ -(d & 1)) }

// tenBits returns the number of ten bits with a sign that the lower ones of v are.
func tenBits(v int32) int32 { return v << 22 >> 22 }

// refFinder finds the vertices that take the fewest bits to differ from.
type refFinder struct {
	src  []byte
	last [refGroups][1 << 12]int32 // the latest vertex, counted from 1, by what it hashes to
}

// place returns how many vertices before vertex i that lies, 1 to refsBack, from which its
// place differs the least.
func (f *refFinder) place(i int) int {
	v := [...]uint32{number(f.src, i, 0), number(f.src, i, 4), number(f.src, i, 8)}
	cost := func(j, most int) int {
		n := lengthOf(v[0] - number(f.src, j, 0))
		if n < most {
			n += lengthOf(v[1]-number(f.src, j, 4)) + lengthOf(v[2]-number(f.src, j, 8))
		}
		return n
	}
	return f.find(0, i, v[0]^bits.RotateLeft32(v[1], 11)^bits.RotateLeft32(v[2], 22), cost)
}

// directions is place for both directions.
func (f *refFinder) directions(i int) int {
	normal, tangent := number(f.src, i, directionsAt), number(f.src, i, directionsAt+4)
	cost := func(j, most int) int {
		n := directionLength(normal, number(f.src, j, directionsAt))
		if n < most {
			n += directionLength(tangent, number(f.src, j, directionsAt+4))
		}
		return n
	}
	return f.find(1, i, normal^bits.RotateLeft32(tangent, 16), cost)
}

// find returns which of the vertices before i costs the least, the reference included.
func (f *refFinder) find(group, i int, key uint32, cost func(j, most int) int) int {
	best, least := 1, math.MaxInt
	slot := &f.last[group][key*0x9e3779b1>>20]
	if back := i + 1 - int(*slot); *slot > 0 && back <= refsBack && cost(int(*slot)-1, 1) == 0 {
		best, least = back, refLength(back)
	}
	*slot = int32(i) + 1
	for back := 1; back <= min(refsTried, i); back++ {
		ref := refLength(back)
		if ref >= least {
			break
		}
		if n := ref + cost(i-back, least-ref); n < least {
			best, least = back, n
		}
	}
	return best
}

// refLength returns about how many bits a reference takes: that to the vertex before is common.
func refLength(back int) int {
	if back == 1 {
		return 0
	}
	return bits.Len(uint(back))
}

// lengthOf returns how many bits a difference takes, sign included.
func lengthOf(d uint32) int { return bits.Len32(uint32(int32(d)<<1 ^ int32(d)>>31)) }

func directionLength(v, u uint32) int {
	if v == u {
		return 0
	}
	d := splitDirection(v, u)
	return bits.Len32(d&0xff) + bits.Len32(d>>8&0xff) + bits.Len32(d>>16&0xff) + bits.Len32(d>>24)
}
