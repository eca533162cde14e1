package texfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/utex"
)

// Encoding says how the texels of an Image are stored.
type Encoding uint8

// The encodings.
const (
	RGBA8 Encoding = iota // 4 bytes per texel
	BC7                   // blocks of 4 x 4 texels in 16 bytes
	BC5                   // as BC7: red and green alone, of normals
)

// String returns rgba8, bc7 or bc5.
func (e Encoding) String() string { return [...]string{"rgba8", "bc7", "bc5"}[min(e, BC5)] }

// RowBytes returns the bytes of one row of texels, or of one row of blocks.
func (e Encoding) RowBytes(width int) int {
	if e == RGBA8 {
		return 4 * width
	}
	return (width + 3) / 4 * 16
}

// Rows returns the rows of texels or blocks of a level.
func (e Encoding) Rows(height int) int {
	if e == RGBA8 {
		return height
	}
	return (height + 3) / 4
}

const utexMagic = "UTEX\x00\x00\x00\x00"

// DecodeAt is Decode for a file of a known size: it also reads cooked textures
// (.utex), of which it fetches the levels up to Options.MaxSize only. With
// Options.Blocks their blocks stay as they are, else they become RGBA8.
func DecodeAt(src io.ReaderAt, size int64, o Options) (*Image, error) {
	var head [len(utexMagic)]byte
	n, err := src.ReadAt(head[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("texture: %w", err)
	}
	if !bytes.Equal(head[:n], []byte(utexMagic)) {
		return Decode(io.NewSectionReader(src, 0, size), o)
	}
	r, err := utex.NewReader(src, size)
	if err != nil {
		return nil, utexError(err)
	}
	return decodeUtex(r, o)
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

// utexError tells a damaged file from one that could not be read.
func utexError(err error) error {
	var bad *format.Error
	if errors.As(err, &bad) {
		return fmt.Errorf("%w: utex: %w", ErrDamaged, err)
	}
	return fmt.Errorf("texture: %w", err)
}

func decodeUtex(r *utex.Reader, o Options) (*Image, error) {
	enc, err := encodingOf(r)
	if err != nil {
		return nil, err
	}
	first := 0
	if o.MaxSize > 0 {
		first = r.StartLevel(o.MaxSize)
	}
	limit := o.MaxPixels
	if limit <= 0 {
		limit = DefaultMaxPixels
	}
	if l := r.Levels[first]; int64(l.Width)*int64(l.Height) > int64(limit) {
		return nil, fmt.Errorf("utex: %w: %d x %d, at most %d are accepted", ErrTooLarge, l.Width, l.Height, limit)
	}
	var need int64
	for _, l := range r.Levels[first:] {
		need += levelBytes(enc, l.Width, l.Height)
		if !o.Blocks {
			need += levelBytes(RGBA8, l.Width, l.Height)
		}
	}
	free, err := o.take(need)
	if err != nil {
		return nil, err
	}
	defer free()
	data, err := r.ReadLevels(first)
	if err != nil {
		return nil, utexError(err)
	}
	img := &Image{
		Use: o.Use, Opaque: r.Flags&utex.HasAlpha == 0, Encoding: enc,
		SourceWidth: r.Width, SourceHeight: r.Height,
	}
	for i, pix := range data {
		l := r.Levels[first+i]
		if !o.Blocks {
			if pix, err = utex.Decode(r.Format, pix, l.Width, l.Height); err != nil {
				return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
			}
		}
		img.Levels = append(img.Levels, Level{l.Width, l.Height, pix})
	}
	if !o.Blocks {
		img.Encoding = RGBA8
	}
	return img, nil
}
