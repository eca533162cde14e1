package hud

import (
	"fmt"
	"image"
)

// Fonts are sized in pixels.
const (
	minFont = 7
	maxFont = 64
)

// The glyphs of the atlas: printable ASCII and a few more. What else occurs in
// a name is shown as a question mark.
const (
	firstGlyph = ' '
	lastGlyph  = '~'
	moreGlyphs = "\u00b7\u00d7\u2026\u2014\u00b0\u00b5\u2192"
)

// Font is a monospaced font rasterised into an atlas. Its top left pixels are
// opaque, so that plain rectangles use the same texture.
type Font struct {
	// Advance and Height are those of every character, Ascent the distance from
	// the top of a line to its baseline; pixels.
	Advance, Height, Ascent int

	atlas   *image.Alpha
	columns int
	index   map[rune]int // of the glyphs beyond ASCII
}

// rasterizer draws the characters of a monospaced font; font_go.go and font_js.go have
// one.
type rasterizer interface {
	// metrics are those of every character, as in Font.
	metrics() (advance, height, ascent int)
	// draw draws a character with its left end and its baseline at a place.
	draw(r rune, x, baseline int)
	// finish returns what was drawn.
	finish() (*image.Alpha, error)
}

// NewFont rasterises a monospaced font, of which a line is so many pixels high; that is
// kept within 7 and 64. It is Go Mono, in a browser what that has.
func NewFont(pixels int) (*Font, error) {
	f := &Font{columns: 16, index: map[rune]int{}}
	runes := []rune{0} // the first cell is the solid one
	for r := rune(firstGlyph); r <= lastGlyph; r++ {
		runes = append(runes, r)
	}
	for _, r := range moreGlyphs {
		f.index[r] = len(runes)
		runes = append(runes, r)
	}
	rows := (len(runes) + f.columns - 1) / f.columns
	d, err := newRasterizer(max(minFont, min(pixels, maxFont)), func(advance, height int) (w, h int) {
		return f.columns * (advance + 1), rows * (height + 1)
	})
	if err != nil {
		return nil, fmt.Errorf("hud: %w", err)
	}
	f.Advance, f.Height, f.Ascent = d.metrics()
	for i, r := range runes[1:] {
		x, y := f.cell(i + 1)
		d.draw(r, x, y+f.Ascent)
	}
	if f.atlas, err = d.finish(); err != nil {
		return nil, fmt.Errorf("hud: %w", err)
	}
	for y := range f.Height {
		for x := range f.Advance {
			f.atlas.Pix[f.atlas.PixOffset(x, y)] = 255
		}
	}
	return f, nil
}

// cell returns the top left pixel of a glyph's cell.
func (f *Font) cell(i int) (x, y int) {
	return i % f.columns * (f.Advance + 1), i / f.columns * (f.Height + 1)
}

// glyph returns the cell of a character.
func (f *Font) glyph(r rune) int {
	if r >= firstGlyph && r <= lastGlyph {
		return 1 + int(r-firstGlyph)
	}
	if i, ok := f.index[r]; ok {
		return i
	}
	return 1 + '?' - firstGlyph
}
