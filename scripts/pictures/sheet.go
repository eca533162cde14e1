package main

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// row is a line of pictures of one size, with its caption above.
type row struct {
	caption string
	cells   []image.Image
}

// The contact sheet, in pixels.
const (
	sheetGap  = 4
	sheetText = 13
)

// sheet puts rows of pictures together; a row without a caption takes no line for it.
func sheet(rows []row) (image.Image, error) {
	face, err := sheetFace()
	if err != nil {
		return nil, err
	}
	defer face.Close()
	line := face.Metrics().Height.Ceil() + sheetGap
	var size image.Point
	for _, r := range rows {
		width := sheetGap * (len(r.cells) - 1)
		height := 0
		for _, c := range r.cells {
			width += c.Bounds().Dx()
			height = max(height, c.Bounds().Dy())
		}
		if r.caption != "" {
			height += line
		}
		size.X = max(size.X, width)
		size.Y += height + sheetGap
	}
	out := image.NewNRGBA(image.Rect(0, 0, size.X, size.Y-sheetGap))
	draw.Draw(out, out.Rect, image.NewUniform(color.NRGBA{24, 24, 24, 255}), image.Point{}, draw.Src)
	pen := font.Drawer{Dst: out, Src: image.NewUniform(color.NRGBA{230, 230, 230, 255}), Face: face}
	y := 0
	for _, r := range rows {
		if r.caption != "" {
			pen.Dot = fixed.P(sheetGap, y+face.Metrics().Ascent.Ceil())
			if w := pen.MeasureString(r.caption).Ceil(); w > size.X-2*sheetGap {
				return nil, fmt.Errorf("the caption %q is %d pixels wide, %d too many", r.caption, w, w-size.X+2*sheetGap)
			}
			pen.DrawString(r.caption)
			y += line
		}
		x, height := 0, 0
		for _, c := range r.cells {
			b := c.Bounds()
			draw.Draw(out, b.Sub(b.Min).Add(image.Pt(x, y)), c, b.Min, draw.Src)
			x += b.Dx() + sheetGap
			height = max(height, b.Dy())
		}
		y += height + sheetGap
	}
	return out, nil
}

func sheetFace() (font.Face, error) {
	parsed, err := opentype.Parse(gomono.TTF)
	if err != nil {
		return nil, err
	}
	return opentype.NewFace(parsed, &opentype.FaceOptions{Size: sheetText, DPI: 72, Hinting: font.HintingFull})
}

// reportCells cuts the pictures of n rows out of a contact sheet of untold preview
// (--report, --pop-report), which has three of w x h pixels a row. Below each lie twelve lines
// of pixels without anything; text has as many lines above as it takes, in all rows the same.
func reportCells(m image.Image, w, h, n int) ([][]image.Image, error) {
	const gap, below = 8, 12
	b := m.Bounds()
	pitch := h
	if n > 1 {
		pitch = 0
		for y, empty := b.Dy()-below-h-1, 0; y >= 0; y-- {
			if emptyLine(m, b.Min.Y+y) {
				empty++
			} else if empty >= below {
				pitch = b.Dy() - below - (y + 1)
				break
			} else {
				empty = 0
			}
		}
	}
	top := b.Dy() - below - (n-1)*pitch - h // of the first row
	if b.Dx() != 3*w+4*gap || pitch < h || top < gap {
		return nil, fmt.Errorf("a report of %d x %d pixels does not have %d rows of pictures of %d x %d", b.Dx(), b.Dy(), n, w, h)
	}
	out := make([][]image.Image, n)
	for i := range out {
		for k := range 3 {
			at := image.Rect(0, 0, w, h).Add(b.Min).Add(image.Pt(gap+k*(w+gap), top+i*pitch))
			cell := image.NewNRGBA(image.Rect(0, 0, w, h))
			draw.Draw(cell, cell.Rect, m, at.Min, draw.Src)
			out[i] = append(out[i], cell)
		}
	}
	return out, nil
}

// emptyLine tells whether a line of pixels has the colour of its first one throughout.
func emptyLine(m image.Image, y int) bool {
	b := m.Bounds()
	for x := b.Min.X + 1; x < b.Max.X; x++ {
		if m.At(x, y) != m.At(b.Min.X, y) {
			return false
		}
	}
	return true
}
