package bake

import (
	"image"
	"math"
	"testing"

	"github.com/untoldkit/untold/internal/geom"
)

func linear(v uint8) float32    { return float32(v) / 255 }
func fromLinear(v float32) byte { return unit(float64(v)) }

// TestShrink: in a smaller square every chart keeps its own colour, halves keep their
// size in parts of it, and a mean of black and white is between them.
func TestShrink(t *testing.T) {
	p, indices := box(geom.Vec3{}, geom.Vec3{8, 8, 8})
	// Sides of their own: no edge is shared.
	var charts []Chart
	for side := range 6 {
		one := Unwrap(p, indices[6*side:6*side+6])
		for i := range one[0].Triangles {
			one[0].Triangles[i] += int32(2 * side)
		}
		charts = append(charts, one...)
	}
	layout := func(side int) *Layout {
		l, err := Pack(charts, side)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	from, to := layout(256), layout(32)
	a := &Atlas{Color: image.NewNRGBA(image.Rect(0, 0, 256, 256)), Normal: image.NewNRGBA(image.Rect(0, 0, 128, 128)), Roughness: 0.5}
	for c := range charts {
		q := &from.Places[c]
		for y := q.Y; y < q.Y+q.H; y++ {
			for x := q.X; x < q.X+q.W; x++ {
				v := uint8(40 * c)
				if c == 5 {
					v = uint8(255 * ((x + y) % 2))
				}
				copy(a.Color.Pix[a.Color.PixOffset(x, y):], []uint8{v, v, 255, 255})
				copy(a.Normal.Pix[a.Normal.PixOffset(x/2, y/2):], []uint8{128, 128, 200, 255})
			}
		}
	}
	out := a.Shrink(from, to, linear, fromLinear)
	if out.Color.Rect.Dx() != 32 || out.Normal.Rect.Dx() != 16 || out.ORM != nil || out.Emissive != nil || out.Roughness != 0.5 {
		t.Fatalf("%+v", out)
	}
	for c := range charts {
		q := &to.Places[c]
		for y := q.Y; y < q.Y+q.H; y++ {
			for x := q.X; x < q.X+q.W; x++ {
				got, want := out.Color.NRGBAAt(x, y), 40*float64(c)
				if c == 5 {
					want = 127
				}
				if math.Abs(float64(got.R)-want) > 20 || got.B != 255 || got.A != 255 {
					t.Fatalf("chart %d shows %v at %d, %d", c, got, x, y)
				}
			}
		}
	}
	if n := out.Normal.NRGBAAt(to.Places[0].X/2, to.Places[0].Y/2); n.B < 250 {
		t.Errorf("a normal is %v: not of unit length", n)
	}
}
