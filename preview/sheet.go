package preview

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"io"
	"path/filepath"
	"strings"

	xdraw "golang.org/x/image/draw"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"

	"github.com/untoldkit/untold/internal/atomicfile"
)

// ReportFormat reports whether WriteReport knows a file's name: .html, .json or
// .png.
func ReportFormat(path string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".html", ".json", ".png":
		return true
	}
	return false
}

// WriteReport writes the comparison to a file: figures to a .json file, a contact
// sheet to a .png one, both to a .html page that needs no other file.
func (c *Comparison) WriteReport(path string) error { return writeReport(path, c, c.sheet) }

// WriteReport writes the switches to a file: all of them to a .json file, the
// pictures of the worst to a contact sheet, .png, or a page, .html, that needs no
// other file.
func (p *Pops) WriteReport(path string) error { return writeReport(path, p, p.sheet) }

func writeReport(path string, figures any, pictures func() *sheet) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		switch strings.ToLower(filepath.Ext(path)) {
		case ".html":
			return pictures().writeHTML(w)
		case ".json":
			enc := json.NewEncoder(w)
			enc.SetIndent("", "  ")
			return enc.Encode(figures)
		case ".png":
			return pictures().writePNG(w)
		}
		return fmt.Errorf("preview: the report %s is neither .html, .json nor .png", path)
	})
}

// sheet is a page of pictures, three a row.
type sheet struct {
	Title, Summary, Note string
	Columns              [3]string
	Width, Height        int // of the pictures
	Head                 []string
	Rows                 []sheetRow
}

// sheetRow has the second picture shown over the first under the pointer.
type sheetRow struct {
	Name, Title, Subtitle string
	Cells                 []string // of the table, after the name
	Pictures              [3]image.Image
	URLs                  [3]template.URL
}

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
	row := height + 2*line + 2*sheetGap
	out := image.NewNRGBA(image.Rect(0, 0, 3*width+4*sheetGap, 2*line+3*sheetGap+row*len(s.Rows)))
	draw.Draw(out, out.Rect, image.NewUniform(color.NRGBA{24, 24, 24, 255}), image.Point{}, draw.Src)
	pen := font.Drawer{Dst: out, Src: image.NewUniform(color.NRGBA{230, 230, 230, 255}), Face: face}
	text := func(x, y int, s string) {
		pen.Dot = fixed.P(x, y+face.Metrics().Ascent.Ceil())
		pen.DrawString(s)
	}
	text(sheetGap, sheetGap, s.Title+"; "+s.Summary)
	for k, c := range s.Columns {
		text(sheetGap+k*(width+sheetGap), sheetGap+line, c)
	}
	for i := range s.Rows {
		r := &s.Rows[i]
		y := 2*line + 3*sheetGap + i*row
		text(sheetGap, y, r.Title)
		text(sheetGap, y+line, r.Subtitle)
		for k, img := range r.Pictures {
			at := image.Rect(0, 0, width, height).Add(image.Pt(sheetGap+k*(width+sheetGap), y+2*line+sheetGap/2))
			if width == s.Width {
				draw.Draw(out, at, img, img.Bounds().Min, draw.Src)
			} else {
				xdraw.CatmullRom.Scale(out, at, img, img.Bounds(), draw.Src, nil)
			}
		}
	}
	return (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(w, out)
}

func sheetFace() (font.Face, error) {
	parsed, err := opentype.Parse(gomono.TTF)
	if err != nil {
		return nil, fmt.Errorf("preview: %w", err)
	}
	return opentype.NewFace(parsed, &opentype.FaceOptions{Size: sheetText, DPI: 72, Hinting: font.HintingFull})
}

// jpegQuality is that of pictures in a page; the map is stored as it is.
const jpegQuality = 92

// writeHTML writes a page with a table and the pictures.
func (s *sheet) writeHTML(w io.Writer) error {
	for i := range s.Rows {
		r := &s.Rows[i]
		for k, img := range r.Pictures {
			kind := "jpeg"
			if k == 2 {
				kind = "png"
			}
			url, err := dataURL(img, kind)
			if err != nil {
				return err
			}
			r.URLs[k] = url
		}
	}
	return sheetPage.Execute(w, s)
}

func dataURL(img image.Image, kind string) (template.URL, error) {
	var b bytes.Buffer
	var err error
	if kind == "png" {
		err = png.Encode(&b, img)
	} else {
		err = jpeg.Encode(&b, img, &jpeg.Options{Quality: jpegQuality})
	}
	return template.URL("data:image/" + kind + ";base64," + base64.StdEncoding.EncodeToString(b.Bytes())), err
}

var sheetPage = template.Must(template.New("sheet").Parse(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{{.Title}}</title>
<style>
body { background: #181818; color: #e6e6e6; font: 14px/1.4 system-ui, sans-serif; margin: 1em }
table { border-collapse: collapse; margin: 1em 0 }
td, th { padding: .2em .8em; text-align: right; border-bottom: 1px solid #444 }
td:first-child, th:first-child { text-align: left }
.row { display: grid; grid-template-columns: 1fr 1fr 1fr; gap: 6px }
.row img { width: 100%; display: block }
.flip { position: relative }
.flip img + img { position: absolute; top: 0; left: 0; opacity: 0 }
.flip:hover img + img { opacity: 1 }
a { color: #9cf }
</style></head><body>
<h1>{{.Title}}</h1>
<p>{{.Summary}}.</p><p>{{.Note}}</p>
<table><tr>{{range .Head}}<th>{{.}}</th>{{end}}</tr>
{{range $i, $r := .Rows}}<tr>{{range $k, $c := .Cells}}<td>{{if $k}}{{$c}}{{else}}<a href="#row{{$i}}">{{$c}}</a>{{end}}</td>{{end}}</tr>
{{end}}</table>
{{$names := .Columns}}{{range $i, $r := .Rows}}<h2 id="row{{$i}}">{{.Title}}</h2><p>{{.Subtitle}}</p>
<div class="row"><div class="flip"><img alt="{{index $names 0}}" src="{{index .URLs 0}}"><img alt="{{index $names 1}}" src="{{index .URLs 1}}"></div>
<div><img alt="{{index $names 1}}" src="{{index .URLs 1}}"></div><div><img alt="{{index $names 2}}" src="{{index .URLs 2}}"></div></div>
{{end}}</body></html>
`))
