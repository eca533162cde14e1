package texfile

import (
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/untoldkit/untold/format/utex"
	"github.com/untoldkit/untold/internal/ktx2"
)

// IsCooked reports whether a file is a cooked texture by its name: .utex and .ktx2, whose
// levels can be read one by one.
func IsCooked(name string) bool {
	ext := path.Ext(name)
	return strings.EqualFold(ext, ".utex") || strings.EqualFold(ext, ".ktx2")
}

// Cooked is what the head of a cooked texture's file says.
type Cooked struct {
	Width, Height int   // texels of the first level
	Head          int64 // bytes of the file that have all but the levels
	// Levels are where the levels lie in the file, from large to small.
	Levels []Range

	utex *utex.Reader // or
	ktx2 *ktx2.File
}

// Range is a part of a file in bytes.
type Range struct{ Offset, Size int64 }

// OpenCooked reads the head of a .utex or KTX2 file of a known size, and no texels; it is
// nil for other files. Errors are those of DecodeAt.
func OpenCooked(src io.ReaderAt, size int64) (*Cooked, error) {
	ours, err := utex.Is(src)
	if err != nil {
		return nil, fmt.Errorf("texture: %w", err)
	}
	if ours {
		r, err := utex.NewReader(src, size)
		if err != nil {
			return nil, utexError(err)
		}
		c := &Cooked{Width: r.Width, Height: r.Height, Head: r.Prefix(len(r.Levels)), utex: r}
		for _, l := range r.Levels {
			c.Levels = append(c.Levels, Range{l.Offset, l.Size})
		}
		return c, nil
	}
	if ours, err = ktx2.Is(src); err != nil || !ours {
		if err != nil {
			err = fmt.Errorf("texture: %w", err)
		}
		return nil, err
	}
	f, err := ktx2.Open(src, size)
	if err != nil {
		return nil, ktx2Error(err)
	}
	c := &Cooked{Width: f.Width, Height: f.Height, Head: f.Head(), ktx2: f}
	for k := range f.Levels() {
		offset, n := f.Range(k)
		c.Levels = append(c.Levels, Range{offset, n})
	}
	return c, nil
}

// Need returns which parts of the file have the levels of at most maxSize texels, 0 for
// all; the last level where none is small enough.
func (c *Cooked) Need(maxSize int) []Range {
	if maxSize <= 0 {
		return c.Levels
	}
	return c.Levels[Size{Width: c.Width, Height: c.Height, Mips: len(c.Levels)}.StartFor(maxSize):]
}

// size returns what Measure does.
func (c *Cooked) size() (s Size, err error) {
	s = Size{c.Width, c.Height, len(c.Levels), RGBA8}
	if c.utex != nil {
		s.Encoding, err = encodingOf(c.utex)
	} else {
		s.Encoding = ktx2Encoding(c.ktx2)
	}
	return s, err
}

// decode is DecodeAt.
func (c *Cooked) decode(o Options) (*Image, error) {
	if c.utex != nil {
		return decodeUtex(c.utex, o)
	}
	return decodeKTX2(c.ktx2, o)
}
