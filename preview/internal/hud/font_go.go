//go:build !js

package hud

import (
	"image"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// goMono draws with Go Mono.
type goMono struct{ font.Drawer }

// newRasterizer returns a rasterizer for a picture, whose size is asked for when that of
// characters is known.
func newRasterizer(pixels int, size func(advance, height int) (w, h int)) (rasterizer, error) {
	parsed, err := opentype.Parse(gomono.TTF)
	if err != nil {
		return nil, err
	}
	face, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: float64(pixels), DPI: 72, Hinting: font.HintingFull})
	if err != nil {
		return nil, err
	}
	g := &goMono{font.Drawer{Src: image.Opaque, Face: face}}
	advance, height, _ := g.metrics()
	w, h := size(advance, height)
	g.Dst = image.NewAlpha(image.Rect(0, 0, w, h))
	return g, nil
}

func (g *goMono) metrics() (advance, height, ascent int) {
	m := g.Face.Metrics()
	a, _ := g.Face.GlyphAdvance('0')
	return a.Ceil(), (m.Ascent + m.Descent).Ceil(), m.Ascent.Ceil()
}

func (g *goMono) draw(r rune, x, baseline int) {
	g.Dot = fixed.P(x, baseline)
	g.DrawString(string(r))
}

func (g *goMono) finish() (*image.Alpha, error) { return g.Dst.(*image.Alpha), g.Face.Close() }
