package cook

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"io"
	"math"

	"github.com/untoldkit/untold/internal/geom"
)

// sum is the hash of something that results follow from.
type sum [sha256.Size]byte

func (s sum) String() string { return hex.EncodeToString(s[:]) }

// hashOf is the SHA-256 of some bytes as files are listed with it.
func hashOf(data []byte) string { return sum(sha256.Sum256(data)).String() }

// hashAll is the same of all that a reader has, and how much that is.
func hashAll(r io.Reader) (hash string, size int64, err error) {
	h := sha256.New()
	size, err = io.Copy(h, r)
	return hex.EncodeToString(h.Sum(nil)), size, err
}

// digest hashes values one after the other, such that no two lists of values are the
// same bytes.
type digest struct {
	h   hash.Hash
	buf []byte
}

func newDigest() *digest { return &digest{h: sha256.New()} }

func (d *digest) flush(most int) {
	if len(d.buf) > most {
		d.h.Write(d.buf)
		d.buf = d.buf[:0]
	}
}

func (d *digest) sum() (out sum) {
	d.flush(0)
	d.h.Sum(out[:0])
	return out
}

// reset makes the digest that of nothing.
func (d *digest) reset() {
	d.h.Reset()
	d.buf = d.buf[:0]
}

const digestBuffer = 1 << 15

func (d *digest) int(v int) {
	d.buf = binary.LittleEndian.AppendUint64(d.buf, uint64(v))
	d.flush(digestBuffer)
}

func (d *digest) uint32(v uint32) {
	d.buf = binary.LittleEndian.AppendUint32(d.buf, v)
	d.flush(digestBuffer)
}

func (d *digest) bool(v bool) {
	b := byte(0)
	if v {
		b = 1
	}
	d.buf = append(d.buf, b)
}

func (d *digest) text(s string) {
	d.int(len(s))
	d.buf = append(d.buf, s...)
	d.flush(digestBuffer)
}

func (d *digest) add(s sum) { d.buf = append(d.buf, s[:]...) }

func (d *digest) floats(list ...float64) {
	for _, v := range list {
		d.buf = binary.LittleEndian.AppendUint64(d.buf, math.Float64bits(v))
	}
	d.flush(digestBuffer)
}

func (d *digest) box(b geom.Box) {
	d.floats(b.Min[:]...)
	d.floats(b.Max[:]...)
}

// attribute hashes what each vertex has of something; a list that is not there is not
// the same as an empty one.
func attribute[T [2]float32 | [3]float32 | [4]float32](d *digest, list []T) {
	d.bool(list != nil)
	d.int(len(list))
	for i := range list {
		switch v := any(&list[i]).(type) {
		case *[2]float32:
			d.float32s(v[:])
		case *[3]float32:
			d.float32s(v[:])
		case *[4]float32:
			d.float32s(v[:])
		}
	}
}

func (d *digest) float32s(list []float32) {
	for _, v := range list {
		d.buf = binary.LittleEndian.AppendUint32(d.buf, math.Float32bits(v))
	}
	d.flush(digestBuffer)
}

func (d *digest) indices(list []uint32) {
	d.int(len(list))
	for _, v := range list {
		d.buf = binary.LittleEndian.AppendUint32(d.buf, v)
		d.flush(digestBuffer)
	}
}
