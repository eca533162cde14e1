// Package glb reads and writes the GLB container of glTF 2.0 (section 4.4), a
// header, the JSON and, where there is one, the binary buffer, and writes scenes
// of any size to it or to a .gltf.
package glb

import (
	"encoding/binary"
	"errors"
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

// Split cuts a file into its JSON and its buffer, which is nil where there is
// none; trailing counts the bytes after the end that the header states.
func Split(data []byte) (text, bin []byte, trailing int, err error) {
	if len(data) < 12 {
		return nil, nil, 0, fmt.Errorf("the GLB header is cut off after %d of 12 bytes", len(data))
	}
	if v := binary.LittleEndian.Uint32(data[4:]); v != version {
		return nil, nil, 0, fmt.Errorf("binary glTF version %d is not supported, only 2", v)
	}
	length := uint64(binary.LittleEndian.Uint32(data[8:]))
	if length > uint64(len(data)) {
		return nil, nil, 0, fmt.Errorf("the GLB header states %d bytes, the file has %d: it is cut off", length, len(data))
	}
	if length < 12 {
		return nil, nil, 0, fmt.Errorf("the GLB header states a length of %d bytes", length)
	}
	trailing = len(data) - int(length)
	data = data[:length:length]
	for pos, n := 12, 0; pos < len(data); n++ {
		rest := data[pos:]
		if len(rest) < 8 {
			return nil, nil, 0, fmt.Errorf("GLB chunk %d at byte %d: its header is cut off after %d of 8 bytes", n, pos, len(rest))
		}
		size, kind := binary.LittleEndian.Uint32(rest), binary.LittleEndian.Uint32(rest[4:])
		rest = rest[8:]
		switch {
		case uint64(size) > uint64(len(rest)):
			return nil, nil, 0, fmt.Errorf("GLB chunk %d at byte %d: states %d bytes, %d are left", n, pos, size, len(rest))
		case size%4 != 0:
			return nil, nil, 0, fmt.Errorf("GLB chunk %d at byte %d: its length %d is no multiple of 4", n, pos, size)
		case n == 0 && kind != kindJSON:
			return nil, nil, 0, fmt.Errorf("GLB chunk 0 must be JSON, its type is 0x%08X", kind)
		case n > 0 && kind == kindJSON:
			return nil, nil, 0, fmt.Errorf("GLB chunk %d at byte %d: a second JSON chunk", n, pos)
		case kind == kindBIN && bin != nil:
			return nil, nil, 0, fmt.Errorf("GLB chunk %d at byte %d: a second BIN chunk", n, pos)
		case kind == kindJSON:
			text = rest[:size:size]
		case kind == kindBIN:
			bin = rest[:size:size]
		}
		pos += 8 + int(size)
	}
	if text == nil {
		return nil, nil, 0, errors.New("the GLB holds no JSON chunk")
	}
	return text, bin, trailing, nil
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
