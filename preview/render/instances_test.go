//go:build cgo && !nopreview

package render

import (
	"image/color"
	"testing"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/payload"
)

// TestInstances: meshes that share a range of the geometry and differ in their
// transforms are one command where the driver takes many, and look as they do
// one by one.
func TestInstances(t *testing.T) {
	both(t, Options{Width: 64, Height: 16, ShadowSize: -1}, func(t *testing.T, r *Renderer) {
		colors := []records.Material{paint(255, 0, 0), paint(0, 255, 0), paint(0, 0, 255), paint(255, 255, 0)}
		small := quad(geom.Vec3{}, right.Scale(0.5), up.Scale(0.5))
		var parts []part
		for i := range colors {
			p := small
			m := geom.TRS(geom.Vec3{float64(2*i) - 3, 0, -2.5}, [4]float64{}, geom.Vec3{1, 1, 1})
			p.transform, p.material = &m, uint32(i)
			parts = append(parts, p)
		}
		a := assemble(parts, colors)
		for i := range a.Meshes { // one range for all
			a.Meshes[i].VertexOffset, a.Meshes[i].IndexOffset = a.Meshes[0].VertexOffset, a.Meshes[0].IndexOffset
		}
		f := Frame{Camera: at(0), Drawn: put(t, r, a)}
		s := r.Draw(f)
		img := r.ReadPixels()
		for i, want := range []color.NRGBA{{255, 0, 0, 255}, {0, 255, 0, 255}, {0, 0, 255, 255}, {255, 255, 0, 255}} {
			x := 32 + int((float64(2*i)-3)/2.5*8/0.5773)
			wantPixel(t, img, x, 8, want, 1)
		}
		if s.Draws != 4 || s.Instanced != 3 || s.Triangles != 8 || r.Info().MultiDraw && s.Calls != 1 {
			t.Errorf("%+v", s)
		}
		f.Drawn = append(f.Drawn, runtime.Drawn{Key: key(9, payload.RepFull), Fade: 1})
		if err := r.Upload(key(9, payload.RepFull), assemble([]part{quad(geom.Vec3{0, 0, -2.5}, right, up)}, colors)); err != nil {
			t.Fatal(err)
		}
		r.Pump(Budget{})
		if s := r.Draw(f); s.Draws != 5 || s.Instanced != 3 {
			t.Errorf("another mesh is an instance: %+v", s)
		}
	})
}
