package format

import (
	"encoding/binary"
	"math"
	"math/bits"

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

// referencesOf returns how many bytes the references to vertices of so many bytes are.
func referencesOf(size uint64) uint64 { return size / vertex.Size * refGroups }

// findReferences writes those of src: the ones for places, then those for directions.
func findReferences(refs, src []byte) {
	f, n := refFinder{src: src}, len(refs)/refGroups
	for i := range n {
		refs[i], refs[n+i] = byte(f.place(i)-1), byte(f.directions(i)-1)
	}
}

// references returns those of a column, nil where it has none.
func (c column) references(refs []byte) []byte {
	n := len(refs) / refGroups
	switch {
	case refs == nil:
	case c.direction:
		return refs[n:]
	case c.bytes == 4: // a part of the place
		return refs[:n]
	}
	return nil
}

// referred returns the number of vertices that r refers to from record i, 0 in front of the first.
func (r *run) referred(i, at int) uint32 {
	if k := i - 1 - int(r.refs[i]); k >= 0 {
		return number(r.src, k, at)
	}
	return 0
}

// number returns a 32-bit number of a vertex.
func number(b []byte, i, at int) uint32 { return binary.LittleEndian.Uint32(b[i*vertex.Size+at:]) }

func (r *run) joinPlaceRefs(at int) {
	refs := r.refs[r.from:r.to]
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

func (r *run) joinDirectionRefs(at int) {
	refs := r.refs[r.from:r.to]
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
	return packDifferences(x-ux, y-uy, z-uz, v^u)
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
	const normalAt, tangentAt = 12, 16
	normal, tangent := number(f.src, i, normalAt), number(f.src, i, tangentAt)
	cost := func(j, most int) int {
		n := directionLength(normal, number(f.src, j, normalAt))
		if n < most {
			n += directionLength(tangent, number(f.src, j, tangentAt))
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
func lengthOf(d uint32) int { return bits.Len32(signLast(int32(d))) }

func directionLength(v, u uint32) int {
	if v == u {
		return 0
	}
	d := splitDirection(v, u)
	return bits.Len32(d&0xff) + bits.Len32(d>>8&0xff) + bits.Len32(d>>16&0xff) + bits.Len32(d>>24)
}
