package texture

import (
	"errors"
	"fmt"
	"math/bits"
)

// ErrChain is matched by errors about images whose levels contradict their
// size. A Loader that makes them has a defect.
var ErrChain = errors.New("texture: inconsistent mip chain")

// shape is what is known of a texture's file: its size in texels, and how many
// levels it has, each half the size of the one before, rounded down.
type shape struct {
	enc        Encoding
	w, h, mips int
}

// shapeOf checks an image and returns with which level of its file it begins.
func shapeOf(img *Image) (f shape, start int, err error) {
	if img == nil {
		return shape{}, 0, fmt.Errorf("%w: no image", ErrChain)
	}
	f = shape{enc: img.Encoding, w: img.SourceWidth, h: img.SourceHeight}
	switch {
	case f.enc > BC5:
		return shape{}, 0, fmt.Errorf("%w: encoding %d", ErrChain, f.enc)
	case f.w < 1 || f.h < 1 || f.w > maxEdge || f.h > maxEdge:
		return shape{}, 0, fmt.Errorf("%w: a source of %d x %d texels", ErrChain, f.w, f.h)
	case len(img.Levels) < 1:
		return shape{}, 0, fmt.Errorf("%w: no levels", ErrChain)
	}
	full := fullMips(f.w, f.h)
	for start < full && !img.Levels[0].hasSize(f.mip(start)) {
		start++
	}
	if f.mips = start + len(img.Levels); f.mips > full {
		return shape{}, 0, fmt.Errorf("%w: %d levels from %d x %d texels, of %d x %d", ErrChain,
			len(img.Levels), img.Levels[0].Width, img.Levels[0].Height, f.w, f.h)
	}
	for i := range img.Levels {
		l, w, h := &img.Levels[i], 0, 0
		if w, h = f.mip(start + i); !l.hasSize(w, h) {
			return shape{}, 0, fmt.Errorf("%w: level %d is %d x %d texels, not %d x %d", ErrChain, start+i, l.Width, l.Height, w, h)
		}
		if n := levelBytes(f.enc, w, h); int64(len(l.Pix)) != n && !(img.Blank && l.Pix == nil) {
			return shape{}, 0, fmt.Errorf("%w: level %d has %d bytes, not %d", ErrChain, start+i, len(l.Pix), n)
		}
	}
	return f, start, nil
}

func (l *Level) hasSize(w, h int) bool { return l.Width == w && l.Height == h }

// mip returns the size of a level.
func (f shape) mip(level int) (w, h int) { return max(1, f.w>>level), max(1, f.h>>level) }

// edge returns the longest edge of a level.
func (f shape) edge(level int) int { return max(f.mip(level)) }

// startFor returns the first level whose edges are at most limit; the last one
// where none is small enough.
func (f shape) startFor(limit int) int {
	k := 0
	for e := max(f.w, f.h); e > limit && k < f.mips-1; e >>= 1 {
		k++
	}
	return k
}

// bytes returns the bytes of the levels from start.
func (f shape) bytes(start int) (n int64) {
	for k := start; k < f.mips; k++ {
		w, h := f.mip(k)
		n += levelBytes(f.enc, w, h)
	}
	return n
}

func levelBytes(e Encoding, w, h int) int64 { return int64(e.RowBytes(w)) * int64(e.Rows(h)) }

// fullMips returns the number of levels down to 1 x 1.
func fullMips(w, h int) int { return bits.Len(uint(max(w, h))) }

// mostBytes bounds the bytes of a texture of which only the longest edge is
// known.
func mostBytes(edge int) int64 { return shape{RGBA8, edge, edge, fullMips(edge, edge)}.bytes(0) }
