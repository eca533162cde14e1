//go:build !js

package preview

import (
	"bytes"
	"encoding/base64"
	"html/template"
	"image"
	"image/jpeg"
	"image/png"
	"io"
)

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
