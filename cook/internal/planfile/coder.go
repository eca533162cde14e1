// Package planfile is the file that a plan is kept in: sections of records behind a line
// that says what it is, and a hash of all of it at the end.
//
// A record is described once, by calls of a Coder, which writes values or reads them
// back. What is read is hostile: counts are checked against what is left of the section,
// and what they take in memory against the size of the file, before anything is allocated,
// and a value that is not finite or out of its range ends the reading.
package planfile

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"unsafe"

	"github.com/klauspost/compress/zstd"
)

// ErrDamaged is wrapped by the errors of files that are no plans, or damaged ones.
var ErrDamaged = errors.New("is no plan of this version of untold, or a damaged one: write it anew with --dry-run --plan")

// Coder writes the values that it is called with, or sets them to what it reads. The first
// error stays, and all later calls do nothing.
type Coder struct {
	packed  bytes.Buffer
	pack    *zstd.Encoder
	in      *bufio.Reader
	unpack  *zstd.Decoder
	done    uint64 // bytes that were written
	left    uint64 // bytes that are still to be read
	held    uint64 // bytes that what was coded takes in memory
	room    uint64 // how many those may be, for reading
	err     error
	word    [binary.MaxVarintLen64]byte
	scratch [512]byte // numbers and names
}

// NewWriter returns a Coder that writes.
func NewWriter() *Coder {
	c := &Coder{}
	c.pack, c.err = zstd.NewWriter(&c.packed, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false))
	return c
}

// mostUnpacked is how many bytes a byte of a section stands for at most: plans hold
// transforms, names and places, which do not repeat more often.
const mostUnpacked = 256

// mostHeld is how many bytes of memory a byte of a section stands for at most, beside
// freelyHeld: a plan takes some 25 bytes for an object and its mesh, of which a kilobyte is
// known.
const (
	mostHeld   = 64
	freelyHeld = 1 << 20
)

// Section ends the writing and returns what was written, for Open.
func (c *Coder) Section() ([]byte, error) {
	if c.err != nil {
		return nil, c.err
	}
	if err := c.pack.Close(); err != nil {
		return nil, err
	}
	// What repeats more often than a reader believes is followed by what it need not read.
	least := c.done / mostUnpacked
	if c.held > freelyHeld {
		least = max(least, (c.held-freelyHeld)/mostHeld+1)
	}
	if n := uint64(c.packed.Len()); n < least {
		c.packed.Write(make([]byte, least-n))
	}
	return append(binary.LittleEndian.AppendUint64(nil, c.done), c.packed.Bytes()...), nil
}

// Open returns a Coder that reads a section. Close lets go of it.
func Open(section []byte) (*Coder, error) {
	c := &Coder{}
	if len(section) < 8 {
		return nil, ErrDamaged
	}
	c.left = binary.LittleEndian.Uint64(section)
	section = section[8:]
	if c.left/mostUnpacked > uint64(len(section)) {
		return nil, ErrDamaged
	}
	c.room = freelyHeld + mostHeld*uint64(len(section))
	var err error
	c.unpack, err = zstd.NewReader(bytes.NewReader(section), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(16<<20), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, fmt.Errorf("%w (%w)", ErrDamaged, err)
	}
	c.in = bufio.NewReaderSize(c.unpack, 64<<10)
	return c, nil
}

// Close lets go of a section that is read.
func (c *Coder) Close() {
	if c.unpack != nil {
		c.unpack.Close()
	}
}

// Reading tells whether values are read.
func (c *Coder) Reading() bool { return c.in != nil }

// Err returns the first error.
func (c *Coder) Err() error { return c.err }

// Fail says that what was read cannot be.
func (c *Coder) Fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("%w (%s)", ErrDamaged, fmt.Sprintf(format, args...))
	}
}

// End wants all of a section to have been read.
func (c *Coder) End() error {
	if c.err == nil && c.left > 0 {
		c.Fail("%d bytes too many", c.left)
	}
	return c.err
}

func (c *Coder) write(b []byte) {
	if c.err == nil {
		_, c.err = c.pack.Write(b)
		c.done += uint64(len(b))
	}
}

// read fills b.
func (c *Coder) read(b []byte) bool {
	if c.err != nil {
		return false
	}
	if uint64(len(b)) > c.left {
		c.Fail("it ends too early")
		return false
	}
	if _, err := io.ReadFull(c.in, b); err != nil {
		c.Fail("%v", err)
		return false
	}
	c.left -= uint64(len(b))
	return true
}

// ReadByte implements io.ByteReader for numbers.
func (c *Coder) ReadByte() (byte, error) {
	if c.err == nil && c.left == 0 {
		c.Fail("it ends too early")
	}
	if c.err != nil {
		return 0, c.err
	}
	b, err := c.in.ReadByte()
	if err != nil {
		c.Fail("%v", err)
		return 0, c.err
	}
	c.left--
	return b, nil
}

// Hold counts bytes that what is coded takes in memory beside lists, texts and bytes, which
// count by themselves. Who writes calls it as who reads does. It reports whether there is
// room for them.
func (c *Coder) Hold(bytes uint64) bool {
	if c.held += bytes; c.Reading() && c.held > c.room {
		c.Fail("it holds more than a file of its size")
	}
	return c.err == nil
}

// Int64 is a whole number.
func (c *Coder) Int64(v *int64) {
	if !c.Reading() {
		c.write(c.word[:binary.PutVarint(c.word[:], *v)])
		return
	}
	if c.err != nil {
		return
	}
	if b, _ := c.in.Peek(int(min(binary.MaxVarintLen64, c.left))); len(b) > 0 {
		if n, size := binary.Varint(b); size > 0 {
			_, c.err = c.in.Discard(size) // is there
			c.left -= uint64(size)
			*v = n
			return
		}
	}
	n, err := binary.ReadVarint(c) // fails
	if err != nil {
		c.Fail("%v", err)
		return
	}
	*v = n
}

// Int is a whole number from least to most.
func (c *Coder) Int(v *int, least, most int) {
	n := int64(*v)
	c.Int64(&n)
	if !c.Reading() {
		return
	}
	if n < int64(least) || n > int64(most) {
		c.Fail("%d is not between %d and %d", n, least, most)
		return
	}
	*v = int(n)
}

// Bool is a truth.
func (c *Coder) Bool(v *bool) {
	n := 0
	if *v {
		n = 1
	}
	c.Int(&n, 0, 1)
	*v = n == 1
}

// Floats are finite numbers.
func (c *Coder) Floats(list []float64) {
	for part := range slices.Chunk(list, len(c.scratch)/8) {
		b := c.scratch[:8*len(part)]
		if !c.Reading() {
			for i, v := range part {
				binary.LittleEndian.PutUint64(b[8*i:], math.Float64bits(v))
			}
			c.write(b)
			continue
		}
		if !c.read(b) {
			return
		}
		for i := range part {
			v := math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
			if math.IsNaN(v) || math.IsInf(v, 0) {
				c.Fail("a number is not finite")
				return
			}
			part[i] = v
		}
	}
}

// Sum is a hash.
func (c *Coder) Sum(v *[32]byte) { c.Fixed(v[:]) }

// Fixed are as many bytes as v has.
func (c *Coder) Fixed(v []byte) {
	if c.Reading() {
		c.read(v)
	} else {
		c.write(v)
	}
}

// Bytes are any bytes; none are nil.
func (c *Coder) Bytes(v *[]byte) {
	n := c.count(len(*v), 1)
	room := c.Hold(uint64(n))
	if !c.Reading() {
		c.write(*v)
		return
	}
	if *v = nil; room {
		*v = c.take(n)
	}
}

// BytesFrom writes n bytes as Bytes does, without holding them at a time.
func (c *Coder) BytesFrom(in io.Reader, n int) {
	c.count(n, 1)
	c.Hold(uint64(n))
	c.step(n, func(b []byte) error {
		_, err := io.ReadFull(in, b)
		c.write(b)
		return err
	})
}

// BytesTo reads what Bytes or BytesFrom has written, and returns how much that was. Where it
// goes may depend on that.
func (c *Coder) BytesTo(to func(n int) (io.Writer, error)) int {
	n := c.count(0, 1)
	if !c.Hold(uint64(n)) {
		return 0
	}
	out, err := to(n)
	if err != nil {
		c.err = err
		return 0
	}
	c.step(n, func(b []byte) (err error) {
		if c.read(b) {
			_, err = out.Write(b)
		}
		return err
	})
	return n
}

// step has f move n bytes, some at a time.
func (c *Coder) step(n int, f func(b []byte) error) {
	buf := make([]byte, min(n, 1<<16))
	for n > 0 && c.err == nil {
		b := buf[:min(n, len(buf))]
		if err := f(b); err != nil && c.err == nil {
			c.err = err
		}
		n -= len(b)
	}
}

// take reads n bytes.
func (c *Coder) take(n int) (out []byte) {
	const step = 1 << 16
	for n > 0 && c.err == nil { // grows by what has been read
		part := min(n, step)
		out = append(out, make([]byte, part)...)
		c.read(out[len(out)-part:])
		n -= part
	}
	return out
}

// Text is a text.
func (c *Coder) Text(v *string) {
	n := c.count(len(*v), 1)
	room := c.Hold(uint64(n))
	if !c.Reading() {
		c.write([]byte(*v))
		return
	}
	if *v = ""; !room {
		return
	}
	if n <= len(c.scratch) { // as names are
		if b := c.scratch[:n]; c.read(b) {
			*v = string(b)
		}
		return
	}
	*v = string(c.take(n))
}

// count writes or reads how many things follow, which take so many bytes each at least.
func (c *Coder) count(n, least int) int {
	v := int64(n)
	c.Int64(&v)
	if !c.Reading() {
		return n
	}
	if c.err != nil {
		return 0
	}
	if v < 0 || uint64(v) > c.left/uint64(least) {
		c.Fail("%d things of %d bytes in %d", v, least, c.left)
		return 0
	}
	return int(v)
}

// List codes a list whose elements take so many bytes each at least, 1 or more. An empty
// one is nil.
func List[T any](c *Coder, list *[]T, least int, each func(i int, v *T)) {
	n := c.count(len(*list), least)
	var one T
	room := c.Hold(uint64(n) * uint64(unsafe.Sizeof(one)))
	if c.Reading() {
		if *list = nil; n == 0 || !room {
			return
		}
		*list = make([]T, n)
	}
	for i := 0; i < n && c.err == nil; i++ {
		each(i, &(*list)[i])
	}
}

// OpenRaw returns a Coder that reads what a section holds, unpacked: for tests.
func OpenRaw(raw []byte) *Coder {
	return &Coder{in: bufio.NewReader(bytes.NewReader(raw)), left: uint64(len(raw)), room: freelyHeld + mostHeld*uint64(len(raw))}
}
