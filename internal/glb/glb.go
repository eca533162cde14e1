// Package glb reads and writes the GLB container of glTF 2.0 (section 4.4), a
// header, the JSON and, where there is one, the binary buffer, and writes scenes
// of any size to it or to a .gltf.
package glb

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
)

const (
	magic   = 0x46546C67 // "glTF"
	version = 2
)

// The kinds of chunks.
const (
	kindJSON = 0x4E4F534A // "JSON"
	kindBIN  = 0x004E4942 // "BIN" and a zero byte
)

// Chunk is where the content of a chunk lies in its file. A chunk that is not there has
// no offset.
type Chunk struct{ Offset, Size int64 }

// Split cuts a file into its JSON and its buffer, which is nil where there is
// none; trailing counts the bytes after the end that the header states.
func Split(data []byte) (text, bin []byte, trailing int, err error) {
	t, b, rest, err := Locate(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, nil, 0, err
	}
	cut := func(c Chunk) []byte {
		if c.Offset == 0 {
			return nil
		}
		return data[c.Offset:][:c.Size:c.Size]
	}
	return cut(t), cut(b), int(rest), nil
}

// Locate finds the JSON and the buffer in a file of a size, of which it reads the headers
// alone; trailing counts the bytes after the end that the header states. Chunks follow each
// other without gaps, also where their sizes are no multiples of 4, which the format demands.
func Locate(r io.ReaderAt, size int64) (text, bin Chunk, trailing int64, err error) {
	fail := func(format string, args ...any) (Chunk, Chunk, int64, error) {
		return Chunk{}, Chunk{}, 0, fmt.Errorf(format, args...)
	}
	if size < 12 {
		return fail("the GLB header is cut off after %d of 12 bytes", size)
	}
	var head [12]byte
	if err := fill(r, head[:], 0); err != nil {
		return fail("%w", err)
	}
	if v := binary.LittleEndian.Uint32(head[4:]); v != version {
		return fail("binary glTF version %d is not supported, only 2", v)
	}
	length := int64(binary.LittleEndian.Uint32(head[8:]))
	if length > size {
		return fail("the GLB header states %d bytes, the file has %d: it is cut off", length, size)
	}
	if length < 12 {
		return fail("the GLB header states a length of %d bytes", length)
	}
	for pos, n := int64(12), 0; pos < length; n++ {
		left := length - pos
		if left < 8 {
			return fail("GLB chunk %d at byte %d: its header is cut off after %d of 8 bytes", n, pos, left)
		}
		if err := fill(r, head[:8], pos); err != nil {
			return fail("%w", err)
		}
		size, kind := int64(binary.LittleEndian.Uint32(head[:])), binary.LittleEndian.Uint32(head[4:])
		at := Chunk{pos + 8, size}
		switch {
		case size > left-8:
			return fail("GLB chunk %d at byte %d: states %d bytes, %d are left", n, pos, size, left-8)
		case n == 0 && kind != kindJSON:
			return fail("GLB chunk 0 must be JSON, its type is 0x%08X", kind)
		case n > 0 && kind == kindJSON:
			return fail("GLB chunk %d at byte %d: a second JSON chunk", n, pos)
		case kind == kindBIN && bin.Offset > 0:
			return fail("GLB chunk %d at byte %d: a second BIN chunk", n, pos)
		case kind == kindJSON:
			text = at
		case kind == kindBIN:
			bin = at
		}
		pos += 8 + size
	}
	if text.Offset == 0 {
		return fail("the GLB holds no JSON chunk")
	}
	return text, bin, size - length, nil
}

// fill reads all of b; a reader may report the end together with the last byte.
func fill(r io.ReaderAt, b []byte, off int64) error {
	n, err := r.ReadAt(b, off)
	if n == len(b) {
		return nil
	}
	return err
}

// part is a chunk's content: its bytes, and what writes as many.
type part struct {
	size  int64
	write func(io.Writer) error
}

// pad is what fills the JSON up to a multiple of 4.
func (p part) pad() int64 { return (4 - p.size%4) % 4 }

// size returns the bytes of a file, which must not exceed 32 bits. The size of bin
// is a multiple of 4; 0 leaves its chunk out.
func size(text, bin part) int64 {
	n := 12 + 8 + text.size + text.pad()
	if bin.size > 0 {
		n += 8 + bin.size
	}
	return n
}

// write writes a file.
func write(w io.Writer, text, bin part) error {
	if _, err := w.Write(words(magic, version, uint32(size(text, bin)), uint32(text.size+text.pad()), kindJSON)); err != nil {
		return err
	}
	if err := text.write(w); err != nil {
		return err
	}
	if _, err := io.WriteString(w, "   "[:text.pad()]); err != nil || bin.size == 0 {
		return err
	}
	if _, err := w.Write(words(uint32(bin.size), kindBIN)); err != nil {
		return err
	}
	return bin.write(w)
}

// words returns little-endian words.
func words(vs ...uint32) []byte {
	var b []byte
	for _, v := range vs {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}
