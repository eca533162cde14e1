package hud

import (
	"flag"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/untoldkit/untold/preview/render"
)

var update = flag.Bool("update", false, "write the golden pictures anew")

// paint draws an overlay as the renderer does: display colours, straight
// alpha, the nearest texel.
func paint(o *render.Overlay, w, h int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w { // something to be seen through the panels
			img.SetNRGBA(x, y, color.NRGBA{uint8(60 + 80*y/h), uint8(90 + 60*y/h), uint8(130 - 60*y/h), 255})
		}
	}
	for i := 0; i < len(o.Indices); i += 3 {
		triangle(img, o, o.Vertices[o.Indices[i]], o.Vertices[o.Indices[i+1]], o.Vertices[o.Indices[i+2]])
	}
	return img
}

func triangle(img *image.NRGBA, o *render.Overlay, a, b, c render.OverlayVertex) {
	edge := func(p, q render.OverlayVertex, x, y float32) float32 { return (q.X-p.X)*(y-p.Y) - (q.Y-p.Y)*(x-p.X) }
	area := edge(a, b, c.X, c.Y)
	if area == 0 {
		return
	}
	if area < 0 {
		b, c, area = c, b, -area
	}
	owns := func(p, q render.OverlayVertex) bool { return p.Y > q.Y || p.Y == q.Y && p.X < q.X }
	x0, x1 := int(min(a.X, b.X, c.X)), int(math.Ceil(float64(max(a.X, b.X, c.X))))
	y0, y1 := int(min(a.Y, b.Y, c.Y)), int(math.Ceil(float64(max(a.Y, b.Y, c.Y))))
	for y := max(y0, 0); y < min(y1, img.Rect.Max.Y); y++ {
		for x := max(x0, 0); x < min(x1, img.Rect.Max.X); x++ {
			px, py := float32(x)+0.5, float32(y)+0.5
			wa, wb, wc := edge(b, c, px, py), edge(c, a, px, py), edge(a, b, px, py)
			if wa < 0 || wb < 0 || wc < 0 || wa == 0 && !owns(b, c) || wb == 0 && !owns(c, a) || wc == 0 && !owns(a, b) {
				continue
			}
			u := (wa*a.U + wb*b.U + wc*c.U) / area
			v := (wa*a.V + wb*b.V + wc*c.V) / area
			s := o.Atlas.AlphaAt(int(u*float32(o.Atlas.Rect.Dx())), int(v*float32(o.Atlas.Rect.Dy())))
			blend(img.Pix[img.PixOffset(x, y):], a.Color, float32(s.A)/255)
		}
	}
}

func blend(p []uint8, c Color, cover float32) {
	alpha := float32(c[3]) / 255 * cover
	for i := range 3 {
		p[i] = uint8(float32(p[i])*(1-alpha) + float32(c[i])*alpha + 0.5)
	}
}

// golden compares with a committed picture: few pixels may differ visibly.
func golden(t *testing.T, name string, got *image.NRGBA) {
	t.Helper()
	path := filepath.Join("testdata", name+".png")
	if *update {
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(f, got); err != nil {
			t.Fatal(err)
		}
		return
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want, err := png.Decode(f)
	if err != nil || want.Bounds() != got.Bounds() {
		t.Fatalf("%s: %v, %v", path, err, want.Bounds())
	}
	bad := 0
	for y := range got.Rect.Dy() {
		for x := range got.Rect.Dx() {
			r, g, b, _ := want.At(x, y).RGBA()
			p := got.NRGBAAt(x, y)
			if d := abs(int(r>>8)-int(p.R)) + abs(int(g>>8)-int(p.G)) + abs(int(b>>8)-int(p.B)); d > 48 {
				bad++
			}
		}
	}
	if bad > got.Rect.Dx()*got.Rect.Dy()/500 {
		t.Errorf("%s: %d pixels differ; go test -update writes it anew", name, bad)
	}
}

func abs(i int) int { return max(i, -i) }
