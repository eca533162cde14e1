// Package ktx2 reads and writes KTX 2.0 files with a single picture and its mip
// levels: the container, its supercompression, and the pixels of formats that
// textures of scenes come in: Basis Universal (ETC1S and UASTC), BC1 to BC5 and BC7,
// and plain channels of 8 bits.
//
// Parse takes memory by the length of the file alone. A level is inflated and decoded
// on its own, which takes what File.Cost says: callers have limits of their own.
package ktx2

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

// Errors that callers can test for.
var (
	// ErrDamaged: the bytes break the rules of the format. Typically a file that is
	// cut off.
	ErrDamaged = errors.New("damaged KTX2 file")
	// ErrUnsupported: the file is sound as far as it was read, but holds what this
	// package does not decode: another format, a cube, a volume or an array.
	ErrUnsupported = errors.New("unsupported KTX2 file")
)

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

func unsupported(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUnsupported, fmt.Sprintf(format, args...))
}

// Identifier begins every file.
const Identifier = "\xabKTX 20\xbb\r\n\x1a\n"

// headerSize is the size of the header and the index up to the levels.
const headerSize = 80

// MaxEdge is the longest edge of a picture that is read, in pixels.
const MaxEdge = 1 << 16

// Scheme is the compression that lies over the blocks or pixels.
type Scheme uint32

// The schemes of the specification.
const (
	None Scheme = iota
	BasisLZ
	Zstandard
	ZLIB
)

// File is a parsed file. It keeps the bytes that it was parsed from.
type File struct {
	Format        Format
	Width, Height int // pixels of level 0
	Scheme        Scheme
	Descriptor    Descriptor
	// Metadata are the values by their keys, without the NUL at the end of texts.
	Metadata map[string]string

	levels []level
	global []byte // of BasisLZ
}

// level is a level as stored.
type level struct {
	data     []byte
	inflated int64 // bytes without the scheme; 0 with BasisLZ
}

// Levels returns how many levels are stored, at least 1.
func (f *File) Levels() int { return len(f.levels) }

// Size returns the size of a level in pixels.
func (f *File) Size(level int) (width, height int) {
	return max(1, f.Width>>level), max(1, f.Height>>level)
}

// Cost returns the bytes that decoding a level takes: its blocks or pixels and the
// picture in RGBA.
func (f *File) Cost(level int) int64 {
	w, h := f.Size(level)
	return f.levels[level].inflated + 4*int64(w)*int64(h)
}

// Parse reads all but the levels themselves. The error matches ErrDamaged or
// ErrUnsupported.
func Parse(data []byte) (*File, error) {
	if len(data) < headerSize || string(data[:len(Identifier)]) != Identifier {
		return nil, damaged("the header is cut off or does not begin as it should")
	}
	le := binary.LittleEndian
	var h [9]uint32
	for i := range h {
		h[i] = le.Uint32(data[len(Identifier)+4*i:])
	}
	f := &File{Format: Format(h[0]), Scheme: Scheme(h[8])}
	width, height, depth, layers, faces, levels := h[2], h[3], h[4], h[5], h[6], h[7]
	switch {
	case width == 0 || faces != 1 && faces != 6:
		return nil, damaged("%d pixels wide, %d faces", width, faces)
	case height == 0 || depth > 0 || layers > 0 || faces > 1:
		return nil, unsupported("it is no plain 2D picture but has %d rows, %d slices, %d layers and %d faces", height, depth, layers, faces)
	case width > MaxEdge || height > MaxEdge:
		return nil, unsupported("%d x %d pixels, at most %d along an edge are read", width, height, MaxEdge)
	case int(levels) > bits.Len32(max(width, height)):
		return nil, damaged("%d levels of %d x %d pixels", levels, width, height)
	case f.Scheme > ZLIB:
		return nil, unsupported("supercompression scheme %d", f.Scheme)
	}
	f.Width, f.Height = int(width), int(height)
	at := len(Identifier) + 4*len(h)
	descriptor, err := section(data, "data format descriptor", uint64(le.Uint32(data[at:])), uint64(le.Uint32(data[at+4:])))
	if err != nil {
		return nil, err
	}
	metadata, err := section(data, "metadata", uint64(le.Uint32(data[at+8:])), uint64(le.Uint32(data[at+12:])))
	if err != nil {
		return nil, err
	}
	if f.global, err = section(data, "supercompression's global data", le.Uint64(data[at+16:]), le.Uint64(data[at+24:])); err != nil {
		return nil, err
	}
	if f.Descriptor, err = parseDescriptor(descriptor); err != nil {
		return nil, err
	}
	if f.Metadata, err = parseMetadata(metadata); err != nil {
		return nil, err
	}
	return f, f.parseLevels(data, int(max(1, levels)))
}

// section returns a part of the file.
func section(data []byte, what string, offset, size uint64) ([]byte, error) {
	if size == 0 {
		return nil, nil
	}
	if n := uint64(len(data)); offset > n || size > n-offset {
		return nil, damaged("the %s (%d bytes at %d) lies beyond the end of the file at %d", what, size, offset, n)
	}
	return data[offset:][:size:size], nil
}

// parseLevels reads the index of the levels and compares it with what the format
// makes of the picture's size.
func (f *File) parseLevels(data []byte, count int) error {
	const entry = 24
	if len(data) < headerSize+entry*count {
		return damaged("the index of %d levels is cut off", count)
	}
	le := binary.LittleEndian
	f.levels = make([]level, count)
	for i := range f.levels {
		e := data[headerSize+entry*i:]
		stored, err := section(data, fmt.Sprintf("level %d", i), le.Uint64(e), le.Uint64(e[8:]))
		if err != nil {
			return err
		}
		l := level{data: stored}
		if f.Scheme != BasisLZ {
			w, h := f.Size(i)
			l.inflated = f.levelSize(w, h)
			if said := le.Uint64(e[16:]); l.inflated > 0 && said != uint64(l.inflated) {
				return damaged("level %d says it has %d bytes, %d x %d pixels of %v have %d", i, said, w, h, f.Kind(), l.inflated)
			}
			if f.Scheme == None && l.inflated > 0 && len(stored) != int(l.inflated) {
				return damaged("level %d has %d bytes, its %d x %d pixels have %d", i, len(stored), w, h, l.inflated)
			}
		}
		if len(stored) == 0 {
			return damaged("level %d is empty", i)
		}
		f.levels[i] = l
	}
	return nil
}
