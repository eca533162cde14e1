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

// CompareFormat reports whether WriteReport knows a file's name: .html, .json or
// .png.
func CompareFormat(path string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".html", ".json", ".png":
		return true
	}
	return false
}

// WriteReport writes the comparison to a file: figures to a .json file, a contact
// sheet to a .png one, both to a .html page that needs no other file.
func (c *Comparison) WriteReport(path string) error {
	write := c.WritePNG
	switch strings.ToLower(filepath.Ext(path)) {
	case ".html":
		write = c.WriteHTML
	case ".json":
		write = c.WriteJSON
	case ".png":
	default:
		return fmt.Errorf("preview: the report %s is neither .html, .json nor .png", path)
	}
	return atomicfile.Write(path, write)
}

// WriteJSON writes the figures.
func (c *Comparison) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(c)
}

// The contact sheet: three pictures a row, each so wide at most, in pixels.
const (
	sheetWidth = 960
	sheetGap   = 8
	sheetText  = 16
)

// WritePNG writes the contact sheet: streamed, whole, and where they differ.
func (c *Comparison) WritePNG(w io.Writer) error {
	face, err := sheetFace()
	if err != nil {
		return err
	}
	defer face.Close()
	width := min(c.Width, sheetWidth)
	height := max(1, c.Height*width/max(c.Width, 1))
	line := face.Metrics().Height.Ceil()
	row := height + 2*line + 2*sheetGap
	out := image.NewNRGBA(image.Rect(0, 0, 3*width+4*sheetGap, 2*line+3*sheetGap+row*len(c.Views)))
	draw.Draw(out, out.Rect, image.NewUniform(color.NRGBA{24, 24, 24, 255}), image.Point{}, draw.Src)
	pen := font.Drawer{Dst: out, Src: image.NewUniform(color.NRGBA{230, 230, 230, 255}), Face: face}
	text := func(x, y int, s string) {
		pen.Dot = fixed.P(x, y+face.Metrics().Ascent.Ceil())
		pen.DrawString(s)
	}
	text(sheetGap, sheetGap, c.summary())
	for k, s := range [...]string{"streamed", "whole", "FLIP: black is 0, white is 1"} {
		text(sheetGap+k*(width+sheetGap), sheetGap+line, s)
	}
	for i := range c.Views {
		d := &c.Views[i]
		y := 2*line + 3*sheetGap + i*row
		text(sheetGap, y, d.title())
		text(sheetGap, y+line, d.subtitle())
		for k, img := range [...]image.Image{d.Streamed, d.Whole, d.FLIP.Image()} {
			at := image.Rect(0, 0, width, height).Add(image.Pt(sheetGap+k*(width+sheetGap), y+2*line+sheetGap/2))
			if width == c.Width {
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

// summary is the line above the streamed pictures.
func (c *Comparison) summary() string {
	return fmt.Sprintf("%s; worst: SSIM %.4f, FLIP %.4f (p99 %.4f)", c.Scene, c.SSIMMin, c.FLIPMean, c.FLIPP99)
}

func (d *Difference) title() string {
	s := fmt.Sprintf("%s: SSIM %.4f, FLIP %.4f, p99 %.4f", d.Name, d.SSIM, d.FLIPMean, d.FLIPP99)
	if !d.AtRest {
		s += "; streaming did not come to rest"
	}
	return s
}

func (d *Difference) subtitle() string {
	s := fmt.Sprintf("drawn: full %d, lod %d, hlod %d; triangles %d of %d", d.Full, d.LOD, d.HLOD, d.Triangles, d.WholeTriangles)
	if d.Uncovered > 0 {
		s += fmt.Sprintf("; %d tiles show nothing", d.Uncovered)
	}
	return s
}

// jpegQuality is that of pictures in a page; the map is stored as it is.
const jpegQuality = 92

// WriteHTML writes a page with the figures and the pictures of every view.
func (c *Comparison) WriteHTML(w io.Writer) error {
	type row struct {
		*Difference
		Title, Subtitle       string
		Streamed, Whole, FLIP template.URL
	}
	page := struct {
		*Comparison
		Summary string
		Rows    []row
	}{c, c.summary(), nil}
	for i := range c.Views {
		d := &c.Views[i]
		r := row{Difference: d, Title: d.title(), Subtitle: d.subtitle()}
		for _, p := range [...]struct {
			dst  *template.URL
			img  image.Image
			kind string
		}{{&r.Streamed, d.Streamed, "jpeg"}, {&r.Whole, d.Whole, "jpeg"}, {&r.FLIP, d.FLIP.Image(), "png"}} {
			url, err := dataURL(p.img, p.kind)
			if err != nil {
				return err
			}
			*p.dst = url
		}
		page.Rows = append(page.Rows, r)
	}
	return comparePage.Execute(w, page)
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

var comparePage = template.Must(template.New("compare").Parse(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{{.Scene}}: streamed and whole</title>
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
<h1>{{.Scene}}: streamed and whole</h1>
<p>{{.Summary}}. {{.Width}} x {{.Height}} pixels, {{.Device}}. The streamed picture shows the whole one under the pointer.
FLIP is from 0 (the same) to 1, as seen at 67 pixels per degree; SSIM is 1 for the same.</p>
<table><tr><th>view</th><th>SSIM</th><th>FLIP mean</th><th>FLIP p99</th><th>full</th><th>LOD</th><th>HLOD</th><th>triangles</th><th>of</th><th>uncovered</th></tr>
{{range .Rows}}<tr><td><a href="#{{.Name}}">{{.Name}}</a></td><td>{{printf "%.4f" .SSIM}}</td><td>{{printf "%.4f" .FLIPMean}}</td><td>{{printf "%.4f" .FLIPP99}}</td>
<td>{{.Full}}</td><td>{{.LOD}}</td><td>{{.HLOD}}</td><td>{{.Triangles}}</td><td>{{.WholeTriangles}}</td><td>{{.Uncovered}}</td></tr>
{{end}}</table>
{{range .Rows}}<h2 id="{{.Name}}">{{.Title}}</h2><p>{{.Subtitle}}</p>
<div class="row"><div class="flip"><img alt="streamed" src="{{.Streamed}}"><img alt="whole" src="{{.Whole}}"></div>
<div><img alt="whole" src="{{.Whole}}"></div><div><img alt="FLIP" src="{{.FLIP}}"></div></div>
{{end}}</body></html>
`))
