// Package meshopt decodes and encodes the compressed bufferViews of the glTF
// extensions KHR_meshopt_compression and EXT_meshopt_compression.
//
// It implements the bitstreams and filters that appendices A and B of the
// KHR extension's specification publish: attributes in versions 0 and 1,
// triangles in versions 0 and 1, index sequences, and the filters octahedral,
// quaternion, exponential and colour. The EXT extension is a subset.
//
// Streams are taken for hostile: Decode allocates at most 1024 times as much
// as the stream holds, every read is checked, and what the specification
// calls invalid is an error. What it leaves unspecified (values that no
// encoder writes) decodes to some value that is the same on every machine.
package meshopt

import (
	"errors"
	"fmt"
	"math"
)

// ErrMalformed is wrapped by every error about a stream's bytes.
var ErrMalformed = errors.New("meshopt: malformed stream")

// ErrLayout is wrapped by every error about a Layout that the extension does
// not allow, whatever the stream holds.
var ErrLayout = errors.New("meshopt: invalid layout")

// Mode is the codec of a stream, the extension's property mode.
type Mode uint8

// The modes.
const (
	Attributes Mode = iota // elements of any kind
	Triangles              // the indices of a triangle list
	Indices                // other indices
)

var modeNames = [...]string{Attributes: "ATTRIBUTES", Triangles: "TRIANGLES", Indices: "INDICES"}

// String returns the mode's name in glTF, such as "ATTRIBUTES".
func (m Mode) String() string { return nameOf(modeNames[:], uint8(m), "mode") }

// ParseMode returns the mode of a glTF name; ok is false for an unknown one.
func ParseMode(name string) (m Mode, ok bool) {
	v, ok := find(modeNames[:], name)
	return Mode(v), ok
}

// Filter is what is done to decoded attributes, the extension's property
// filter.
type Filter uint8

// The filters; NoFilter is the default.
const (
	NoFilter    Filter = iota
	Octahedral         // unit vectors, stride 4 (8 bit) or 8 (16 bit)
	Quaternion         // unit quaternions, stride 8
	Exponential        // floats, any stride
	Color              // RGBA, stride 4 (8 bit) or 8 (16 bit); KHR only
)

var filterNames = [...]string{
	NoFilter: "NONE", Octahedral: "OCTAHEDRAL", Quaternion: "QUATERNION",
	Exponential: "EXPONENTIAL", Color: "COLOR",
}

// String returns the filter's name in glTF, such as "OCTAHEDRAL".
func (f Filter) String() string { return nameOf(filterNames[:], uint8(f), "filter") }

// ParseFilter returns the filter of a glTF name; ok is false for an unknown
// one.
func ParseFilter(name string) (f Filter, ok bool) {
	v, ok := find(filterNames[:], name)
	return Filter(v), ok
}

func nameOf(names []string, v uint8, kind string) string {
	if int(v) < len(names) {
		return names[v]
	}
	return fmt.Sprintf("%s %d", kind, v)
}

func find(names []string, name string) (uint8, bool) {
	for i, n := range names {
		if n == name {
			return uint8(i), true
		}
	}
	return 0, false
}

// Layout says what a stream decodes to: Count elements of Stride bytes.
type Layout struct {
	Mode   Mode
	Filter Filter
	Count  int // elements; for Triangles indices, three per triangle
	Stride int // bytes per element
}

// Check returns an error that wraps ErrLayout unless the extension allows
// the combination: strides of 4 to 256 in steps of 4 for attributes, 2 or 4
// for indices, whole triangles, and the strides that a filter works on.
func (l Layout) Check() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s", ErrLayout, fmt.Sprintf(format, args...))
	}
	switch {
	case int(l.Mode) >= len(modeNames):
		return bad("unknown %v", l.Mode)
	case int(l.Filter) >= len(filterNames):
		return bad("unknown %v", l.Filter)
	case l.Count < 0:
		return bad("%d elements", l.Count)
	case l.Mode != Attributes && l.Filter != NoFilter:
		return bad("mode %v has filter %v, only ATTRIBUTES may have one", l.Mode, l.Filter)
	case l.Mode != Attributes && l.Stride != 2 && l.Stride != 4:
		return bad("mode %v has a stride of %d bytes, must be 2 or 4", l.Mode, l.Stride)
	case l.Mode == Attributes && (l.Stride < 4 || l.Stride > maxStride || l.Stride%4 != 0):
		return bad("mode %v has a stride of %d bytes, must be a multiple of 4 within 4 to %d", l.Mode, l.Stride, maxStride)
	case l.Mode == Triangles && l.Count%3 != 0:
		return bad("%d indices are no whole triangles", l.Count)
	case (l.Filter == Octahedral || l.Filter == Color) && l.Stride != 4 && l.Stride != 8:
		return bad("filter %v has a stride of %d bytes, must be 4 or 8", l.Filter, l.Stride)
	case l.Filter == Quaternion && l.Stride != 8:
		return bad("filter %v has a stride of %d bytes, must be 8", l.Filter, l.Stride)
	}
	return nil
}

// Size returns the number of bytes that src decodes to, Count * Stride, or an
// error if the layout is invalid or src is too short to hold so many
// elements. It looks at the length and the first byte of src only, so that
// it can be asked before memory is committed; the result is at most
// 1024 * len(src).
func (l Layout) Size(src []byte) (int, error) {
	if err := l.Check(); err != nil {
		return 0, err
	}
	version, err := l.version(src)
	if err != nil {
		return 0, err
	}
	// This also keeps the arithmetic below from overflowing.
	if l.Count > math.MaxInt/l.Stride {
		return 0, fmt.Errorf("%w: %d elements of %d bytes are more than memory can hold", ErrLayout, l.Count, l.Stride)
	}
	least := int64(1)
	switch n := int64(l.Count); l.Mode {
	case Attributes:
		least += vertexLeast(n, int64(l.Stride), version) + int64(vertexTail(l.Stride, version))
	case Triangles:
		least += n/3 + triangleTail
	case Indices:
		least += n + sequenceTail
	}
	if int64(len(src)) < least {
		return 0, fmt.Errorf("%w: %d bytes, but %d elements of %d bytes take at least %d",
			ErrMalformed, len(src), l.Count, l.Stride, least)
	}
	return l.Count * l.Stride, nil
}

// The high half of a stream's first byte tells the codec, the low half its
// version.
var headers = [...]byte{Attributes: 0xA0, Triangles: 0xE0, Indices: 0xD0}

// version reads the first byte of src.
func (l Layout) version(src []byte) (int, error) {
	if len(src) == 0 {
		return 0, fmt.Errorf("%w: it is empty", ErrMalformed)
	}
	version := src[0] & 0x0F
	if src[0]&0xF0 != headers[l.Mode] || version > 1 {
		return 0, fmt.Errorf("%w: it starts with 0x%02X, mode %v with 0x%02X or 0x%02X",
			ErrMalformed, src[0], l.Mode, headers[l.Mode], headers[l.Mode]|1)
	}
	return int(version), nil
}

// Decode returns the Count * Stride bytes that src, which must be exactly
// one stream, decodes to. Errors wrap ErrMalformed or ErrLayout.
func Decode(src []byte, l Layout) ([]byte, error) {
	size, err := l.Size(src)
	if err != nil {
		return nil, err
	}
	dst := make([]byte, size)
	version := int(src[0] & 0x0F)
	switch l.Mode {
	case Attributes:
		err = decodeVertices(dst, src, l.Stride, version)
	case Triangles:
		err = decodeTriangles(dst, src, l.Stride, version)
	case Indices:
		err = decodeSequence(dst, src, l.Stride)
	}
	if err != nil {
		return nil, err
	}
	l.Filter.apply(dst, l.Stride)
	return dst, nil
}

// malformed returns an error about the byte at position pos.
func malformed(pos int, format string, args ...any) error {
	return fmt.Errorf("%w: byte %d: %s", ErrMalformed, pos, fmt.Sprintf(format, args...))
}
