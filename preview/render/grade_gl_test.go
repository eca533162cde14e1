//go:build cgo && !nopreview

package render

import (
	"bytes"
	"image/color"
	"math"
	"testing"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/internal/cube"
)

// looks are tables: a lattice that swaps channels and bends them, and curves with a
// domain of their own.
func looks() []*cube.Table {
	const size = 5
	a := &cube.Table{Size: size, Lattice: true, Max: [3]float32{1, 1, 1}}
	for i := range size * size * size {
		r, g, b := float32(i%size)/(size-1), float32(i/size%size)/(size-1), float32(i/size/size)/(size-1)
		a.Entries = append(a.Entries, [3]float32{b, r * r, 1 - g})
	}
	b := &cube.Table{Size: 3, Min: [3]float32{-0.5, 0, 0}, Max: [3]float32{1.5, 2, 0.5}, Entries: [][3]float32{{0, 1, 0}, {0.2, 0.5, 2}, {1, 0, 1}}}
	return []*cube.Table{a, b}
}

// TestGrade: a display colour becomes what the table says, and that of a picture without
// it is not touched.
func TestGrade(t *testing.T) {
	both(t, Options{Width: 16, Height: 16, ShadowSize: -1}, func(t *testing.T, r *Renderer) {
		ungraded := r.programs.mesh
		for i, table := range []*cube.Table{nil, looks()[0], looks()[1], nil} {
			before := r.programs.mesh
			if err := r.SetGrade(table); err != nil {
				t.Fatal(err)
			}
			if made := r.programs.mesh != before; made != (i == 1) {
				t.Errorf("table %d: programs are made anew: %t", i, made)
			}
		}
		if r.programs.mesh == ungraded {
			t.Error("programs without a table know it")
		}
		m := defaultMaterial()
		m.Flags |= records.MaterialUnlit
		for _, shown := range [][3]float64{{0, 0, 0}, {0.2, 0.5, 0.8}, {0.9, 0.1, 0.4}, {1, 1, 1}} {
			for i, v := range shown {
				m.BaseColor[i] = float32(decoded(v))
			}
			drawn := put(t, r, assemble([]part{screen(-5)}, []records.Material{m}))
			for _, table := range append(looks(), nil) {
				if err := r.SetGrade(table); err != nil {
					t.Fatal(err)
				}
				var plain []byte
				for _, on := range []bool{false, true} {
					r.Draw(Frame{Camera: at(0), Drawn: drawn, Grade: on})
					img, want := r.ReadPixels(), shown
					if on && table != nil {
						want = table.Apply(shown)
					}
					var c color.NRGBA
					for i, b := range []*uint8{&c.R, &c.G, &c.B} {
						*b = uint8(math.Round(255 * max(0, min(1, want[i]))))
					}
					wantPixel(t, img, 8, 8, c, 2)
					if on && table == nil && !bytes.Equal(plain, img.Pix) {
						t.Error("no table changes the picture")
					}
					plain = img.Pix
				}
			}
		}
		bad := looks()[0]
		bad.Size = 4
		if r.SetGrade(bad) == nil {
			t.Error("a table with too many entries fits")
		}
	})
}

func decoded(v float64) float64 {
	if v <= 0.04045 {
		return v / 12.92
	}
	return math.Pow((v+0.055)/1.055, 2.4)
}
