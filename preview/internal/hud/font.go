package hud

import (
	"fmt"
	"image"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
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

// NewFont rasterises Go Mono at a height in pixels, which is kept within 7 and
// 64.
func NewFont(pixels int) (*Font, error) {
	parsed, err := opentype.Parse(gomono.TTF)
	if err != nil {
		return nil, fmt.Errorf("hud: %w", err)
	}
	face, err := opentype.NewFace(parsed, &opentype.FaceOptions{
		Size: float64(max(minFont, min(pixels, maxFont))), DPI: 72, Hinting: font.HintingFull,
	})
	if err != nil {
		return nil, fmt.Errorf("hud: %w", err)
	}
	defer face.Close()
	m := face.Metrics()
	advance, _ := face.GlyphAdvance('0')
	f := &Font{
		Advance: advance.Ceil(), Height: (m.Ascent + m.Descent).Ceil(), Ascent: m.Ascent.Ceil(),
		columns: 16, index: map[rune]int{},
	}
	runes := []rune{0} // the first cell is the solid one
	for r := rune(firstGlyph); r <= lastGlyph; r++ {
		runes = append(runes, r)
	}
	for _, r := range moreGlyphs {
		f.index[r] = len(runes)
		runes = append(runes, r)
	}
	rows := (len(runes) + f.columns - 1) / f.columns
	f.atlas = image.NewAlpha(image.Rect(0, 0, f.columns*(f.Advance+1), rows*(f.Height+1)))
	d := font.Drawer{Dst: f.atlas, Src: image.Opaque, Face: face}
	for i, r := range runes {
		x, y := f.cell(i)
		if i == 0 {
			for py := range f.Height {
				for px := range f.Advance {
					f.atlas.Pix[f.atlas.PixOffset(x+px, y+py)] = 255
				}
			}
			continue
		}
		d.Dot = fixed.P(x, y+f.Ascent)
		d.DrawString(string(r))
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
