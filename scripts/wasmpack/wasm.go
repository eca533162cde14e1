package main

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Sections of a module that are rewritten.
const (
	sectionData      = 11
	sectionDataCount = 12
)

// header is how a module begins: a magic number and version 1.
const header = "\x00asm\x01\x00\x00\x00"

// minGap is from how many zero bytes on a segment ends: an address costs about as much.
const minGap = 64

// errModule is matched by errors about what is no module as Go's linker writes it.
var errModule = errors.New("is no WebAssembly module of Go")

// pack returns a module that does the same. Where the table of functions is not as this
// package knows it, the module keeps its line numbers and the error matches errTable.
func pack(in []byte) ([]byte, error) {
	if len(in) < len(header) || string(in[:len(header)]) != header {
		return nil, fmt.Errorf("%w: it does not begin as one", errModule)
	}
	var left error
	count := -1 // of segments, once they were rewritten
	out := append([]byte(nil), in[:len(header)]...)
	counted := false
	for r := (reader{b: in, at: len(header)}); r.at < len(in); {
		id := r.byte()
		body := r.take(r.uint())
		if r.err != nil {
			return nil, r.err
		}
		switch id {
		case sectionData:
			mem, err := readSegments(body)
			if err != nil {
				return nil, err
			}
			left = stripLines(mem.bytes)
			body, count = mem.segments()
		case sectionDataCount:
			counted = true
		}
		out = append(out, id)
		out = binary.AppendUvarint(out, uint64(len(body)))
		out = append(out, body...)
	}
	if count < 0 || counted {
		return nil, fmt.Errorf("%w: its data is not one section without a count before it", errModule)
	}
	return out, left
}

// memory is what the segments of a module fill, from an address on.
type memory struct {
	base  int
	bytes []byte
}

// maxMemory is how much memory segments may span, in bytes: a program has 10 MB of it.
const maxMemory = 64 << 20

// readSegments reads a section of data.
func readSegments(body []byte) (memory, error) {
	type segment struct {
		at   int
		data []byte
	}
	var list []segment
	r := reader{b: body}
	base, end := maxMemory, 0
	n := r.uint()
	for i := 0; i < n && r.err == nil; i++ {
		plain := r.byte() == 0 && r.byte() == 0x41 // of memory 0, at i32.const
		s := segment{at: r.int()}
		plain = r.byte() == 0x0b && plain // end
		s.data = r.take(r.uint())
		if r.err == nil && (!plain || s.at < 0 || s.at > maxMemory-len(s.data)) {
			return memory{}, fmt.Errorf("%w: segment %d has no plain address: %d", errModule, i, s.at)
		}
		base, end = min(base, s.at), max(end, s.at+len(s.data))
		list = append(list, s)
	}
	if r.err == nil && (r.at != len(body) || n == 0) {
		r.err = fmt.Errorf("%w: its data has other than its %d segments", errModule, n)
	}
	if r.err != nil {
		return memory{}, r.err
	}
	m := memory{base: base, bytes: make([]byte, end-base)}
	for _, s := range list {
		copy(m.bytes[s.at-base:], s.data)
	}
	return m, nil
}

// segments returns the section of data that fills the memory, and how many segments it has.
func (m *memory) segments() (body []byte, n int) {
	for from := 0; ; {
		for from < len(m.bytes) && m.bytes[from] == 0 {
			from++
		}
		if from == len(m.bytes) {
			break
		}
		to, zeros := from, 0 // to is behind the last byte that is not zero
		for i := from; i < len(m.bytes) && zeros < minGap; i++ {
			if m.bytes[i] == 0 {
				zeros++
			} else {
				to, zeros = i+1, 0
			}
		}
		body = append(body, 0, 0x41)
		body = appendInt(body, m.base+from)
		body = append(body, 0x0b)
		body = binary.AppendUvarint(body, uint64(to-from))
		body = append(body, m.bytes[from:to]...)
		from = to
		n++
	}
	return append(binary.AppendUvarint(nil, uint64(n)), body...), n
}

// appendInt appends a number of WebAssembly with a sign.
func appendInt(b []byte, v int) []byte {
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

// reader reads a module. Behind its end it reads zeros, and err says so.
type reader struct {
	b   []byte
	at  int
	err error
}

func (r *reader) take(n int) []byte {
	if n < 0 || n > len(r.b)-r.at {
		if r.err == nil {
			r.err = fmt.Errorf("%w: it ends at %d, within %d bytes", errModule, r.at, n)
		}
		r.at = len(r.b)
		return nil
	}
	r.at += n
	return r.b[r.at-n : r.at]
}

func (r *reader) byte() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

// uint reads a number below 2^31 without a sign.
func (r *reader) uint() int {
	v, n := binary.Uvarint(r.b[r.at:])
	if n <= 0 || n > 5 || v >= 1<<31 {
		r.take(-1)
		return 0
	}
	r.at += n
	return int(v)
}

// int reads a number of 32 bits with a sign.
func (r *reader) int() int {
	v := int64(0)
	for shift := 0; shift < 35; shift += 7 {
		c := r.byte()
		v |= int64(c&0x7f) << shift
		if c&0x80 == 0 {
			if c&0x40 != 0 {
				v -= 1 << (shift + 7)
			}
			return int(int32(v))
		}
	}
	r.take(-1)
	return 0
}
