// Package glb writes the GLB container of glTF 2.0 (section 4.4): a header, the
// JSON and, where there is one, the binary buffer.
package glb

import (
	"encoding/binary"
	"io"
)

const (
	magic   = 0x46546C67 // "glTF"
	version = 2
)

// The kinds of chunks.
const (
	JSON = 0x4E4F534A // "JSON"
	BIN  = 0x004E4942 // "BIN" and a zero byte
)

// Part is a chunk's content: its bytes, and what writes as many.
type Part struct {
	Size  int64
	Write func(io.Writer) error
}

// pad is what fills the JSON up to a multiple of 4.
func (p Part) pad() int64 { return (4 - p.Size%4) % 4 }

// Size returns the bytes of a file, which must not exceed 32 bits. The size of bin
// is a multiple of 4; 0 leaves its chunk out.
func Size(text, bin Part) int64 {
	n := 12 + 8 + text.Size + text.pad()
	if bin.Size > 0 {
		n += 8 + bin.Size
	}
	return n
}

// Write writes a file.
func Write(w io.Writer, text, bin Part) error {
	if _, err := w.Write(words(magic, version, uint32(Size(text, bin)), uint32(text.Size+text.pad()), JSON)); err != nil {
		return err
	}
	if err := text.Write(w); err != nil {
		return err
	}
	if _, err := io.WriteString(w, "   "[:text.pad()]); err != nil || bin.Size == 0 {
		return err
	}
	if _, err := w.Write(words(uint32(bin.Size), BIN)); err != nil {
		return err
	}
	return bin.Write(w)
}

// words returns little-endian words.
func words(vs ...uint32) []byte {
	var b []byte
	for _, v := range vs {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}
