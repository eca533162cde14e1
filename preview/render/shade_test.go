//go:build cgo && !nopreview

package render

import (
	"image/color"
	"math"
	"path/filepath"
	"testing"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/runtime"
)

// neutral is Khronos PBR Neutral as it was published.
func neutral(c [3]float64) [3]float64 {
	const start, desaturation, d = 0.8 - 0.04, 0.15, 1 - (0.8 - 0.04)
	x := min(c[0], c[1], c[2])
	offset := 0.04
	if x < 0.08 {
		offset = x - 6.25*x*x
	}
	for i := range c {
		c[i] -= offset
	}
	peak := max(c[0], c[1], c[2])
	if peak < start {
		return c
	}
	to := 1 - d*d/(peak+d-start)
	g := 1 - 1/(desaturation*(peak-to)+1)
	for i := range c {
		c[i] = c[i]*to/peak*(1-g) + to*g
	}
	return c
}

func aces(c [3]float64) [3]float64 {
	for i, x := range c {
		c[i] = min(1, x*(2.51*x+0.03)/(x*(2.43*x+0.59)+0.14))
	}
	return c
}

// TestTones: what glows has the colour that the curve gives it; the neutral one
// leaves orange orange, where the other makes it yellow.
func TestTones(t *testing.T) {
	for _, tc := range []struct {
		tone  Tone
		curve func([3]float64) [3]float64
	}{{ToneNeutral, neutral}, {ToneACES, aces}} {
		r := headless(t, Options{Width: 16, Height: 16, ShadowSize: -1, Tone: tc.tone})
		for _, light := range [][3]float64{{0.1, 0.2, 0.3}, {0.5, 0.5, 0.5}, {3, 1.2, 0.2}, {8, 8, 8}, {0, 30, 2}} {
			m := defaultMaterial()
			m.BaseColor, m.Metallic, m.Roughness = [4]float32{0, 0, 0, 1}, 1, 1
			for i := range light {
				m.Emissive[i] = float32(light[i] / exposureBias[tc.tone])
			}
			r.Draw(Frame{Camera: at(0), Drawn: put(t, r, assemble([]part{screen(-5)}, []records.Material{m})), Sun: [3]float64{0, 0, -1}})
			var want color.NRGBA
			for i, v := range tc.curve(light) {
				b := uint8(math.Round(255 * encodeSRGB(v)))
				switch i {
				case 0:
					want.R = b
				case 1:
					want.G = b
				case 2:
					want.B = b
				}
			}
			// A black surface still reflects a little of the sky at its edge.
			wantPixel(t, r.ReadPixels(), 8, 8, want, 9)
		}
	}
	of := func(c [3]float64) float64 { return c[1] / c[0] }
	if n, a := of(neutral([3]float64{3, 1.2, 0.2})), of(aces([3]float64{3, 1.2, 0.2})); n > 0.75 || a < 0.85 {
		t.Errorf("green of orange: %.2f neutral, %.2f aces", n, a)
	}
}

func encodeSRGB(v float64) float64 {
	if v <= 0.0031308 {
		return 12.92 * max(0, v)
	}
	return 1.055*math.Pow(min(1, v), 1/2.4) - 0.055
}

func TestToneNames(t *testing.T) {
	for tone := range tones {
		if got, ok := ParseTone(tone.String()); got != tone || !ok {
			t.Errorf("%v is read as %v, %t", tone, got, ok)
		}
	}
	if _, ok := ParseTone("warm"); ok {
		t.Error("there is no such curve")
	}
}

// TestMappedMetalHasNoBlackRing: where a mapped normal reflects what is below the
// surface, the picture is not darker than elsewhere on the metal.
func TestMappedMetalHasNoBlackRing(t *testing.T) {
	dir := t.TempDir()
	writePNG(t, filepath.Join(dir, "bumps.png"), bumps(256))
	both(t, Options{Width: 96, Height: 96, ShadowSize: -1}, func(t *testing.T, r *Renderer) {
		m := defaultMaterial()
		m.BaseColor, m.Metallic, m.Roughness = [4]float32{0.9, 0.9, 0.9, 1}, 1, 0.2
		darkest := func(texture uint32) uint8 {
			m.NormalTexture = texture
			a := assemble([]part{ball(geom.Vec3{}, 1)}, []records.Material{m}, "bumps.png")
			a.Dir = dir
			r.Draw(Frame{
				Camera: runtime.Camera{Position: [3]float64{0, 0, 5}, Forward: [3]float64{0, 0, -1}, FovYDegrees: 30, Near: 0.1, Far: 100},
				Drawn:  put(t, r, a),
			})
			img, least := r.ReadPixels(), uint8(255)
			for y := range 96 {
				for x := range 96 {
					least = min(least, img.NRGBAAt(x, y).G)
				}
			}
			return least
		}
		if smooth, mapped := darkest(records.NoIndex), darkest(0); int(mapped) < int(smooth)-12 {
			t.Errorf("darkest green: %d smooth, %d mapped", smooth, mapped)
		}
	})
}
