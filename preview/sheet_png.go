//go:build !js

package preview

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"strings"

	xdraw "golang.org/x/image/draw"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// The contact sheet: pictures are so wide at most, in pixels.
const (
	sheetWidth = 960
	sheetGap   = 8
	sheetText  = 16
)

// writePNG writes the pictures as one.
func (s *sheet) writePNG(w io.Writer) error {
	face, err := sheetFace()
	if err != nil {
		return err
	}
	defer face.Close()
	width := min(s.Width, sheetWidth)
	height := max(1, s.Height*width/max(s.Width, 1))
	line := face.Metrics().Height.Ceil()
	full := 3*width + 2*sheetGap
	head := wrapped(face, s.Title+"; "+s.Summary, full)
	var columns [3][]string
	names := 0 // lines of the columns' names
	for k, c := range s.Columns {
		columns[k] = wrapped(face, c, width)
		names = max(names, len(columns[k]))
	}
	above := 0 // lines above the pictures of a row, in all rows the same
	texts := make([][]string, len(s.Rows))
	for i := range s.Rows {
		texts[i] = append(wrapped(face, s.Rows[i].Title, full), wrapped(face, s.Rows[i].Subtitle, full)...)
		above = max(above, len(texts[i]))
	}
	row := height + above*line + 2*sheetGap
	top := (len(head)+names)*line + 3*sheetGap
	out := image.NewNRGBA(image.Rect(0, 0, 3*width+4*sheetGap, top+row*len(s.Rows)))
	draw.Draw(out, out.Rect, image.NewUniform(color.NRGBA{24, 24, 24, 255}), image.Point{}, draw.Src)
	pen := font.Drawer{Dst: out, Src: image.NewUniform(color.NRGBA{230, 230, 230, 255}), Face: face}
	text := func(x, y int, lines []string) {
		for i, s := range lines {
			pen.Dot = fixed.P(x, y+i*line+face.Metrics().Ascent.Ceil())
			pen.DrawString(s)
		}
	}
	text(sheetGap, sheetGap, head)
	for k, c := range columns {
		text(sheetGap+k*(width+sheetGap), sheetGap+len(head)*line, c)
	}
	for i := range s.Rows {
		r := &s.Rows[i]
		y := top + i*row
		text(sheetGap, y+(above-len(texts[i]))*line, texts[i])
		for k, img := range r.Pictures {
			at := image.Rect(0, 0, width, height).Add(image.Pt(sheetGap+k*(width+sheetGap), y+above*line+sheetGap/2))
			if width == s.Width {
				draw.Draw(out, at, img, img.Bounds().Min, draw.Src)
			} else {
				xdraw.CatmullRom.Scale(out, at, img, img.Bounds(), draw.Src, nil)
			}
		}
	}
	return (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(w, out)
}

// wrapped breaks a text between words into lines of so many pixels. A word that alone is wider
// is a line.
func wrapped(face font.Face, text string, width int) (lines []string) {
	for _, word := range strings.Fields(text) {
		last := len(lines) - 1
		if last >= 0 && font.MeasureString(face, lines[last]+" "+word).Ceil() <= width {
			lines[last] += " " + word
			continue
		}
		lines = append(lines, word)
	}
	return lines
}

func sheetFace() (font.Face, error) {
	parsed, err := opentype.Parse(gomono.TTF)
	if err != nil {
		return nil, fmt.Errorf("preview: %w", err)
	}
	return opentype.NewFace(parsed, &opentype.FaceOptions{Size: sheetText, DPI: 72, Hinting: font.HintingFull})
}
