package texfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/bits"
)

// MaxEdge is the longest edge of a texture in texels: wider than what any GPU
// takes, and small enough that sizes fit in an int everywhere.
const MaxEdge = 1 << 16

// ErrChain is matched by errors about images whose levels contradict their
// size. Whoever made such an image has a defect.
var ErrChain = errors.New("texture: inconsistent mip chain")

// Size is what the header of a texture's file says: its texels, and how many
// levels it has, each half the size of the one before, rounded down.
type Size struct {
	Width, Height int // texels of the first level, 1 to MaxEdge
	// Mips is how many levels there are: of a cooked texture those of its file,
	// of an image a chain down to 1 x 1.
	Mips int
	// Encoding is how the levels are stored on a device that takes blocks.
	Encoding Encoding
}

// Measure reads the header of a PNG, JPEG, WebP, .utex or KTX2 file of a known size,
// and no texels. Errors are those of DecodeAt.
func Measure(src io.ReaderAt, size int64) (Size, error) {
	cooked, err := OpenCooked(src, size)
	if err != nil {
		return Size{}, err
	}
	if cooked != nil {
		return cooked.size()
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

// NewSize returns the size of an image with all its levels; an edge outside 1 to
// MaxEdge is an error that matches ErrTooLarge or ErrDamaged.
func NewSize(width, height int, e Encoding) (Size, error) {
	switch {
	case width < 1 || height < 1:
		return Size{}, fmt.Errorf("%w: %d x %d texels", ErrDamaged, width, height)
	case width > MaxEdge || height > MaxEdge:
		return Size{}, fmt.Errorf("%w: %d x %d texels, at most %d each", ErrTooLarge, width, height, MaxEdge)
	}
	return Size{width, height, fullMips(width, height), e}, nil
}

// SizeOf checks an image and returns the size of its file and with which level
// of that it begins. The error matches ErrChain.
func SizeOf(img *Image) (s Size, start int, err error) {
	if img == nil {
		return Size{}, 0, fmt.Errorf("%w: no image", ErrChain)
	}
	s = Size{Width: img.SourceWidth, Height: img.SourceHeight, Encoding: img.Encoding}
	switch {
	case s.Encoding >= encodings:
		return Size{}, 0, fmt.Errorf("%w: encoding %d", ErrChain, s.Encoding)
	case s.Width < 1 || s.Height < 1 || s.Width > MaxEdge || s.Height > MaxEdge:
		return Size{}, 0, fmt.Errorf("%w: a source of %d x %d texels", ErrChain, s.Width, s.Height)
	case len(img.Levels) < 1:
		return Size{}, 0, fmt.Errorf("%w: no levels", ErrChain)
	}
	full := fullMips(s.Width, s.Height)
	for start < full && !img.Levels[0].hasSize(s.Mip(start)) {
		start++
	}
	if s.Mips = start + len(img.Levels); s.Mips > full {
		return Size{}, 0, fmt.Errorf("%w: %d levels from %d x %d texels, of %d x %d", ErrChain,
			len(img.Levels), img.Levels[0].Width, img.Levels[0].Height, s.Width, s.Height)
	}
	for i := range img.Levels {
		l, w, h := &img.Levels[i], 0, 0
		if w, h = s.Mip(start + i); !l.hasSize(w, h) {
			return Size{}, 0, fmt.Errorf("%w: level %d is %d x %d texels, not %d x %d", ErrChain, start+i, l.Width, l.Height, w, h)
		}
		if n := levelBytes(s.Encoding, w, h); int64(len(l.Pix)) != n && !(img.Blank && l.Pix == nil) {
			return Size{}, 0, fmt.Errorf("%w: level %d has %d bytes, not %d", ErrChain, start+i, len(l.Pix), n)
		}
	}
	return s, start, nil
}

func (l *Level) hasSize(w, h int) bool { return l.Width == w && l.Height == h }

// Mip returns the size of a level; level 0 is the source.
func (s Size) Mip(level int) (w, h int) { return max(1, s.Width>>level), max(1, s.Height>>level) }

// Edge returns the longest edge of a level.
func (s Size) Edge(level int) int { return max(s.Mip(level)) }

// StartFor returns the first level whose edges are at most limit; the last one
// where none is small enough.
func (s Size) StartFor(limit int) int {
	k := 0
	for e := max(s.Width, s.Height); e > limit && k < s.Mips-1; e >>= 1 {
		k++
	}
	return k
}

// Bytes returns the bytes of the levels from start.
func (s Size) Bytes(start int) (n int64) {
	for k := start; k < s.Mips; k++ {
		w, h := s.Mip(k)
		n += levelBytes(s.Encoding, w, h)
	}
	return n
}

// MostBytes bounds the bytes of a texture of which only the longest edge is
// known.
func MostBytes(edge int) int64 { return Size{edge, edge, fullMips(edge, edge), RGBA8}.Bytes(0) }

// Blank returns the image that DecodeAt would give for a file of this size,
// without its texels: for simulations, whose device only counts. maxSize is that
// of Options.
func (s Size) Blank(use Use, maxSize int) *Image {
	first := 0
	if maxSize > 0 {
		first = s.StartFor(maxSize)
	}
	img := &Image{Use: use, Encoding: s.Encoding, SourceWidth: s.Width, SourceHeight: s.Height, Blank: true}
	img.Levels = make([]Level, 0, max(0, s.Mips-first))
	for k := first; k < s.Mips; k++ {
		w, h := s.Mip(k)
		img.Levels = append(img.Levels, Level{Width: w, Height: h})
	}
	return img
}

func levelBytes(e Encoding, w, h int) int64 { return int64(e.RowBytes(w)) * int64(e.Rows(h)) }

// fullMips returns the number of levels down to 1 x 1.
func fullMips(w, h int) int { return bits.Len(uint(max(w, h))) }
