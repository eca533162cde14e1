package texfile

import (
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
	// ASTC4x4 is the first of the encodings of ASTC: blocks of 16 bytes, from
	// 4 x 4 to 12 x 12 texels, in the order of their numbers everywhere.
	ASTC4x4

	encodings = ASTC4x4 + Encoding(len(astcBlocks))
)

// astcBlocks are the sizes of the blocks of ASTC in texels.
var astcBlocks = [...][2]int{
	{4, 4},
	{5, 4},
	{5, 5},
	{6, 5},
	{6, 6},
	{8, 5},
	{8, 6},
	{8, 8},
	{10, 5},
	{10, 6},
	{10, 8},
	{10, 10},
	{12, 10},
	{12, 12},
}

// String returns rgba8, bc7, bc5 or such as astc-4x4.
func (e Encoding) String() string {
	if e.ASTC() {
		w, h := e.Block()
		return fmt.Sprintf("astc-%dx%d", w, h)
	}
	return [...]string{"rgba8", "bc7", "bc5"}[min(e, BC5)]
}

// ParseEncoding is the inverse of String.
func ParseEncoding(s string) (Encoding, bool) {
	for e := range encodings {
		if e.String() == s {
			return e, true
		}
	}
	return RGBA8, false
}

// Encodings returns the names of all encodings.
func Encodings() []string {
	var out []string
	for e := range encodings {
		out = append(out, e.String())
	}
	return out
}

// ASTC reports whether the encoding is one of ASTC.
func (e Encoding) ASTC() bool { return e >= ASTC4x4 && e < encodings }

// Block returns the texels of a block; 1 x 1 for RGBA8.
func (e Encoding) Block() (w, h int) {
	switch {
	case e.ASTC():
		b := astcBlocks[e-ASTC4x4]
		return b[0], b[1]
	case e == RGBA8:
		return 1, 1
	}
	return 4, 4
}

// RowBytes returns the bytes of one row of texels, or of one row of blocks.
func (e Encoding) RowBytes(width int) int {
	if e == RGBA8 {
		return 4 * width
	}
	w, _ := e.Block()
	return (width + w - 1) / w * 16
}

// Rows returns the rows of texels or blocks of a level.
func (e Encoding) Rows(height int) int {
	_, h := e.Block()
	return (height + h - 1) / h
}

// DecodeAt is Decode for a file of a known size: it also reads cooked textures
// (.utex and KTX2), of which it fetches the levels up to Options.MaxSize only. With
// Options.Blocks and Options.ASTC their blocks stay as they are, else they
// become RGBA8; those of UASTC become BC7 or ASTC, whichever is taken.
func DecodeAt(src io.ReaderAt, size int64, o Options) (*Image, error) {
	c, err := OpenCooked(src, size)
	switch {
	case err != nil:
		return nil, err
	case c == nil:
		return Decode(io.NewSectionReader(src, 0, size), o)
	}
	return c.decode(o)
}

// encodingOf returns how the levels of a cooked texture are stored.
func encodingOf(r *utex.Reader) (Encoding, error) {
	switch r.Format {
	case utex.BC7, utex.BC7SRGB:
		return BC7, nil
	case utex.BC5:
		return BC5, nil
	}
	if b, _ := r.Format.Block(); r.Format.ASTC() {
		for i, size := range astcBlocks {
			if size == [2]int{b.Width, b.Height} {
				return ASTC4x4 + Encoding(i), nil
			}
		}
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

// checkPixels refuses a first level with too many texels; limit is that of Options.
func checkPixels(kind string, w, h, limit int) error {
	if limit <= 0 {
		limit = DefaultMaxPixels
	}
	if int64(w)*int64(h) > int64(limit) {
		return fmt.Errorf("%s: %w: %d x %d, at most %d are accepted", kind, ErrTooLarge, w, h, limit)
	}
	return nil
}

func decodeUtex(r *utex.Reader, o Options) (*Image, error) {
	enc, err := encodingOf(r)
	if err != nil {
		return nil, err
	}
	blocks := o.Blocks
	if enc.ASTC() {
		blocks = o.ASTC
	}
	first := 0
	if o.MaxSize > 0 {
		first = r.StartLevel(o.MaxSize)
	}
	if o.WebGL && enc.ASTC() {
		blocks = blocks && !r.PacksNormals()
	} else if o.WebGL {
		blocks = blocks && (r.Levels[first].Width|r.Levels[first].Height)%4 == 0
	}
	if err := checkPixels("utex", r.Levels[first].Width, r.Levels[first].Height, o.MaxPixels); err != nil {
		return nil, err
	}
	var need int64
	for _, l := range r.Levels[first:] {
		need += levelBytes(enc, l.Width, l.Height)
		if !blocks {
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
		if !blocks {
			if pix, err = r.Decode(first+i, pix); err != nil {
				return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
			}
		}
		img.Levels = append(img.Levels, Level{l.Width, l.Height, pix})
	}
	if !blocks {
		img.Encoding = RGBA8
	}
	img.NormalPacked = blocks && r.PacksNormals()
	return img, nil
}
