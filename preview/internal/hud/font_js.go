package hud

import (
	"errors"
	"fmt"
	"image"
	"math"
	"syscall/js"
)

// canvasFont draws with the monospaced font of the browser: a font of our own, and what
// draws it, would make the program of the page larger by a fifteenth.
type canvasFont struct {
	context                 js.Value // of a canvas in two dimensions
	advance, height, ascent int
	w, h                    int
}

// newRasterizer is that of font_go.go.
func newRasterizer(pixels int, size func(advance, height int) (w, h int)) (rasterizer, error) {
	canvas := js.Global().Get("document").Call("createElement", "canvas")
	c := canvas.Call("getContext", "2d", map[string]any{"willReadFrequently": true})
	if c.IsNull() {
		return nil, errors.New("the browser draws no text: it has no canvas for it")
	}
	font := fmt.Sprintf("%dpx ui-monospace, Menlo, Consolas, monospace", pixels)
	c.Set("font", font)
	m := c.Call("measureText", "0")
	f := &canvasFont{context: c}
	up := func(name string) int { return int(math.Ceil(m.Get(name).Float())) }
	f.advance, f.ascent = max(1, up("width")), up("fontBoundingBoxAscent")
	f.height = max(1, f.ascent+up("fontBoundingBoxDescent"))
	f.w, f.h = size(f.advance, f.height)
	canvas.Set("width", f.w)
	canvas.Set("height", f.h)
	c.Set("font", font) // which a change of the size forgets
	return f, nil
}

func (f *canvasFont) metrics() (advance, height, ascent int) { return f.advance, f.height, f.ascent }

func (f *canvasFont) draw(r rune, x, baseline int) {
	f.context.Call("fillText", string(r), x, baseline)
}

func (f *canvasFont) finish() (*image.Alpha, error) {
	pix := make([]byte, 4*f.w*f.h)
	js.CopyBytesToGo(pix, f.context.Call("getImageData", 0, 0, f.w, f.h).Get("data"))
	out := image.NewAlpha(image.Rect(0, 0, f.w, f.h))
	for i := range out.Pix {
		out.Pix[i] = pix[4*i+3]
	}
	return out, nil
}
