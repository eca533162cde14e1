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
	"io"
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

// String returns none, BasisLZ, Zstandard or ZLIB.
func (s Scheme) String() string {
	return [...]string{"none", "BasisLZ", "Zstandard", "ZLIB"}[min(s, ZLIB)]
}

// File is a parsed file. It keeps the bytes that it was parsed from, or reads levels from
// its source when they are asked for. Its methods may be called concurrently when those of
// the source may.
type File struct {
	Format        Format
	Width, Height int // pixels of level 0
	Scheme        Scheme
	Descriptor    Descriptor
	// Metadata are the values by their keys, without the NUL at the end of texts.
	Metadata map[string]string

	in     input
	levels []level
	global span // of BasisLZ
	head   int64
}

// level is a level as stored.
type level struct {
	span
	inflated int64 // bytes without the scheme; 0 with BasisLZ
}

// Levels returns how many levels are stored, at least 1.
func (f *File) Levels() int { return len(f.levels) }

// Size returns the size of a level in pixels.
func (f *File) Size(level int) (width, height int) {
	return max(1, f.Width>>level), max(1, f.Height>>level)
}

// Range returns where a level is stored in the file, in bytes.
func (f *File) Range(level int) (offset, size int64) {
	l := f.levels[level]
	return l.offset, l.size
}

// Head returns how many bytes of the file have all but the levels, where these come last as
// Write puts them.
func (f *File) Head() int64 { return f.head }

// Inflated returns the bytes of a level's blocks or pixels without the scheme; 0 where
// that is not known (BasisLZ, formats that are not decoded).
func (f *File) Inflated(level int) int64 { return f.levels[level].inflated }

// Cost returns the bytes that decoding a level takes: what is stored where it has to be
// read, its blocks or pixels, and the picture in RGBA.
func (f *File) Cost(level int) int64 {
	w, h := f.Size(level)
	n := f.levels[level].inflated + 4*int64(w)*int64(h)
	if f.in.data == nil {
		n += f.levels[level].size + f.global.size
	}
	return n
}

// Parse reads all but the levels themselves. The error matches ErrDamaged or
// ErrUnsupported.
func Parse(data []byte) (*File, error) {
	return parse(input{data: data, size: int64(len(data))})
}

// Open is Parse for a file of size bytes behind src: a file, or a remote one that answers
// range requests. It reads the header, the descriptor and the metadata, a few hundred bytes
// at the beginning of most files. Errors of reading are those of src.
func Open(src io.ReaderAt, size int64) (*File, error) {
	return parse(input{src: src, size: size})
}

// Is reports whether a file begins like one of this format. The error is that of reading
// it; a file that is too short is none.
func Is(src io.ReaderAt) (bool, error) {
	var head [len(Identifier)]byte
	n, err := src.ReadAt(head[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return string(head[:n]) == Identifier, nil
}

// Limits of what Open reads of a file beside its levels.
const (
	maxDescriptor = 64 << 10
	maxMetadata   = 1 << 20
)

func parse(in input) (*File, error) {
	header, err := in.read("header", span{0, headerSize})
	if err != nil {
		return nil, err
	}
	if string(header[:len(Identifier)]) != Identifier {
		return nil, damaged("the header does not begin as it should")
	}
	le := binary.LittleEndian
	var h [9]uint32
	for i := range h {
		h[i] = le.Uint32(header[len(Identifier)+4*i:])
	}
	f := &File{Format: Format(h[0]), Scheme: Scheme(h[8]), in: in}
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
	field := func(k int) int64 { return int64(le.Uint32(header[at+4*k:])) }
	parts := [...]span{{field(0), field(1)}, {field(2), field(3)}}
	for i, what := range [...]string{"data format descriptor", "metadata"} {
		if _, err := in.locate(what, uint64(parts[i].offset), uint64(parts[i].size)); err != nil {
			return nil, err
		}
	}
	if parts[0].size > maxDescriptor || parts[1].size > maxMetadata {
		return nil, unsupported("the data format descriptor has %d bytes and the metadata %d, at most %d and %d are read", parts[0].size, parts[1].size, maxDescriptor, maxMetadata)
	}
	descriptor, err := in.read("data format descriptor", parts[0])
	if err != nil {
		return nil, err
	}
	metadata, err := in.read("metadata", parts[1])
	if err != nil {
		return nil, err
	}
	if f.global, err = in.locate("supercompression's global data", le.Uint64(header[at+16:]), le.Uint64(header[at+24:])); err != nil {
		return nil, err
	}
	for _, p := range [...]span{parts[0], parts[1], f.global} {
		f.head = max(f.head, p.offset+p.size)
	}
	if f.Descriptor, err = parseDescriptor(descriptor); err != nil {
		return nil, err
	}
	if f.Metadata, err = parseMetadata(metadata); err != nil {
		return nil, err
	}
	return f, f.parseLevels(int(max(1, levels)))
}

// parseLevels reads the index of the levels and compares it with what the format
// makes of the picture's size.
func (f *File) parseLevels(count int) error {
	const entry = 24
	index, err := f.in.read(fmt.Sprintf("index of %d levels", count), span{headerSize, entry * int64(count)})
	if err != nil {
		return err
	}
	f.head = max(f.head, headerSize+int64(len(index)))
	le := binary.LittleEndian
	f.levels = make([]level, count)
	for i := range f.levels {
		e := index[entry*i:]
		stored, err := f.in.locate(fmt.Sprintf("level %d", i), le.Uint64(e), le.Uint64(e[8:]))
		if err != nil {
			return err
		}
		l := level{span: stored}
		if f.Scheme != BasisLZ {
			w, h := f.Size(i)
			l.inflated = f.levelSize(w, h)
			if said := le.Uint64(e[16:]); l.inflated > 0 && said != uint64(l.inflated) {
				return damaged("level %d says it has %d bytes, %d x %d pixels of %v have %d", i, said, w, h, f.Kind(), l.inflated)
			}
			if f.Scheme == None && l.inflated > 0 && stored.size != l.inflated {
				return damaged("level %d has %d bytes, its %d x %d pixels have %d", i, stored.size, w, h, l.inflated)
			}
		}
		if stored.size == 0 {
			return damaged("level %d is empty", i)
		}
		f.levels[i] = l
	}
	return nil
}
