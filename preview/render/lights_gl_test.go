//go:build cgo && !nopreview

package render

import (
	"image"
	"slices"
	"testing"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/internal/geom"
)

// TestAuthoredLights: what lights do to a wall 5 m ahead, of which the camera sees 5.8 m.
func TestAuthoredLights(t *testing.T) {
	both(t, Options{Width: 64, Height: 64, ShadowSize: -1}, func(t *testing.T, r *Renderer) {
		m := defaultMaterial()
		m.BaseColor, m.Roughness = [4]float32{0.8, 0.8, 0.8, 1}, 0.9
		drawn := put(t, r, assemble([]part{screen(-5)}, []records.Material{m}))
		picture := func(day Daylight, sun geom.Vec3, lights ...Light) *image.NRGBA {
			r.Draw(Frame{Camera: at(0), Drawn: drawn, Sun: sun, Daylight: &day, Lights: lights})
			return r.ReadPixels()
		}
		ahead := geom.Vec3{0, 0, -1}
		dark := picture(Daylight{}, ahead)
		same := func(what string, a, b *image.NRGBA, x, y int) {
			t.Helper()
			if !near8(a.NRGBAAt(x, y), b.NRGBAAt(x, y), 1) {
				t.Errorf("%s: pixel %d, %d is %v, want %v", what, x, y, a.NRGBAAt(x, y), b.NRGBAAt(x, y))
			}
		}
		lit := func(what string, a *image.NRGBA, x, y int) {
			t.Helper()
			if a.NRGBAAt(x, y).G < dark.NRGBAAt(x, y).G+40 {
				t.Errorf("%s: pixel %d, %d is %v, %v without it", what, x, y, a.NRGBAAt(x, y), dark.NRGBAAt(x, y))
			}
		}
		white := func(by float64) [3]float64 { return [3]float64{by, by, by} }

		toSun := geom.Vec3{0.3, 0.4, 1}.Normalize(0, geom.Vec3{})
		far := picture(Daylight{}, ahead, Light{Kind: LightDirectional, Direction: toSun.Scale(-1), Color: white(1)})
		same("a directional light is like the sun", far, picture(Daylight{Sun: white(1)}, toSun), 32, 32)
		same("from behind the wall", picture(Daylight{}, ahead, Light{Kind: LightDirectional, Direction: toSun, Color: white(1)}), dark, 32, 32)

		near := picture(Daylight{}, ahead, Light{Position: geom.Vec3{0, 0, -4}, Color: white(0.5)})
		lit("a point", near, 32, 32)
		same("four times the light from twice as far", picture(Daylight{}, ahead, Light{Position: geom.Vec3{0, 0, -3}, Color: white(2)}), near, 32, 32)
		if c := near.NRGBAAt(63, 32); c.G >= near.NRGBAAt(32, 32).G {
			t.Errorf("aside of the point %v, below it %v", c, near.NRGBAAt(32, 32))
		}
		same("out of range", picture(Daylight{}, ahead, Light{Position: geom.Vec3{0, 0, -4}, Color: white(0.5), Range: 1.5}), dark, 60, 32)

		spot := picture(Daylight{}, ahead, Light{Kind: LightSpot, Position: geom.Vec3{0, 0, -2}, Direction: ahead, Color: white(6), InnerCone: 0.97, OuterCone: 0.94})
		lit("a spot", spot, 32, 32)
		same("outside of its cone", spot, dark, 50, 32)
		same("a spot that looks away", picture(Daylight{}, ahead, Light{Kind: LightSpot, Position: geom.Vec3{0, 0, -2}, Direction: geom.Vec3{0, 0, 1}, Color: white(6), InnerCone: 0.97, OuterCone: 0.94}), dark, 32, 32)

		// A surface shines by the cosine: as much ahead as a point, and half at 60 degrees.
		area := picture(Daylight{}, ahead, Light{Kind: LightArea, Position: geom.Vec3{0, 0, -4}, Direction: ahead, Color: white(0.5)})
		same("an area, ahead", area, near, 32, 32)
		aside := geom.Vec3{0, 0.8660254037844386, -0.5}
		half := picture(Daylight{}, ahead, Light{Position: geom.Vec3{0, 0, -4}, Color: white(0.25)})
		tilted := picture(Daylight{}, ahead, Light{Kind: LightArea, Position: geom.Vec3{0, 0, -4}, Direction: aside, Color: white(0.5)})
		// A pixel is not quite in the middle, where the cosine changes fast.
		if got, want := tilted.NRGBAAt(32, 32), half.NRGBAAt(32, 32); !near8(got, want, 8) {
			t.Errorf("an area at 60 degrees is %v, want about %v", got, want)
		}
		same("an area that looks away", picture(Daylight{}, ahead, Light{Kind: LightArea, Position: geom.Vec3{0, 0, -4}, Direction: geom.Vec3{0, 0, 1}, Color: white(0.5)}), dark, 32, 32)

		plain := Frame{Camera: at(0), Drawn: drawn}
		r.Draw(plain)
		before := r.ReadPixels()
		plain.Daylight = &Daylight{Sun: daylight.sun, Sky: 1}
		r.Draw(plain)
		if !slices.Equal(before.Pix, r.ReadPixels().Pix) {
			t.Error("the day by name is not the day")
		}
	})
}
