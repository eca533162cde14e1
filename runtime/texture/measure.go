package texture

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/untoldkit/untold/format/utex"
)

// Size is what the header of a texture's file says.
type Size struct {
	Width, Height int // texels of the first level, 1 to 65536
	// Mips is how many levels there are: of a cooked texture those of its file,
	// of an image a chain down to 1 x 1.
	Mips int
	// Encoding is how the levels are stored on a device that takes blocks.
	Encoding Encoding
}

// Measure reads the header of a PNG, JPEG, WebP or .utex file of a known size,
// and no texels. Errors are those of DecodeAt.
func Measure(src io.ReaderAt, size int64) (Size, error) {
	var head [len(utexMagic)]byte
	n, err := src.ReadAt(head[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return Size{}, fmt.Errorf("texture: %w", err)
	}
	if bytes.Equal(head[:n], []byte(utexMagic)) {
		return measureUtex(src, size)
	}
	in := &source{r: bufio.NewReader(io.NewSectionReader(src, 0, size))}
	f, err := codecOf(in.r)
	if err != nil {
		return Size{}, err
	}
	c, err := f.config(in)
	if err != nil {
		return Size{}, in.explain(f.name, err)
	}
	if err := checkSize(c, 0); err != nil {
		return Size{}, fmt.Errorf("%s: %w", f.name, err)
	}
	return Size{c.Width, c.Height, fullMips(c.Width, c.Height), RGBA8}, nil
}

func measureUtex(src io.ReaderAt, size int64) (Size, error) {
	r, err := utex.NewReader(src, size)
	if err != nil {
		return Size{}, utexError(err)
	}
	enc, err := encodingOf(r)
	if err != nil {
		return Size{}, err
	}
	return Size{r.Width, r.Height, len(r.Levels), enc}, nil
}

// encodingOf returns how the levels of a cooked texture are stored.
func encodingOf(r *utex.Reader) (Encoding, error) {
	switch r.Format {
	case utex.BC7, utex.BC7SRGB:
		return BC7, nil
	case utex.BC5:
		return BC5, nil
	}
	return 0, fmt.Errorf("%w: utex of %v", ErrFormat, r.Format)
}

// NewSize returns the size of an image with all its levels; an edge outside 1 to
// 65536 is an error that matches ErrTooLarge or ErrDamaged.
func NewSize(width, height int, e Encoding) (Size, error) {
	switch {
	case width < 1 || height < 1:
		return Size{}, fmt.Errorf("%w: %d x %d texels", ErrDamaged, width, height)
	case width > maxEdge || height > maxEdge:
		return Size{}, fmt.Errorf("%w: %d x %d texels, at most %d each", ErrTooLarge, width, height, maxEdge)
	}
	return Size{width, height, fullMips(width, height), e}, nil
}

// Blank returns the image that a Loader would give for a file of this size,
// without its texels: for simulations, whose device only counts. maxSize is that
// of Options.
func (s Size) Blank(use Use, maxSize int) *Image {
	f := shape{s.Encoding, s.Width, s.Height, s.Mips}
	first := 0
	if maxSize > 0 {
		first = f.startFor(maxSize)
	}
	img := &Image{Use: use, Encoding: s.Encoding, SourceWidth: s.Width, SourceHeight: s.Height, Blank: true}
	img.Levels = make([]Level, 0, max(0, s.Mips-first))
	for k := first; k < s.Mips; k++ {
		w, h := f.mip(k)
		img.Levels = append(img.Levels, Level{Width: w, Height: h})
	}
	return img
}
