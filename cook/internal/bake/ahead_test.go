package bake

import (
	"image"
	"image/color"
	"math"
	"testing"

	"github.com/untoldkit/untold/internal/geom"
)

// TestBakeAhead: a texture shows what comes first before the mesh within Ahead, and
// what lies behind gaps in it; with Ahead 0, what is on the mesh.
func TestBakeAhead(t *testing.T) {
	p, indices := plane(8, 0)
	sign, _ := plane(4, 0.3)
	gray, red := [4]float32{0.5, 0.5, 0.5, 1}, [4]float32{1, 0, 0, 1}
	leaf := image.NewNRGBA(image.Rect(0, 0, 1, 1)) // all gap
	for _, c := range []struct {
		name  string
		ahead float64
		gap   bool
		want  color.NRGBA
	}{
		{"a sign", 0.5, false, color.NRGBA{255, 0, 0, 255}},
		{"a gap", 0.5, true, color.NRGBA{128, 128, 128, 255}},
		{"too far ahead", 0.2, false, color.NRGBA{128, 128, 128, 255}},
		{"none asked for", 0, false, color.NRGBA{128, 128, 128, 255}},
	} {
		s := &Surface{Positions: append(p[:4:4], sign...), Materials: []int32{0, 0, 1, 1}, Looks: looks(gray, red)}
		s.Indices = append(indices[:6:6], 4, 5, 6, 4, 6, 7)
		if c.gap {
			s.UV[0] = make([][2]float32, len(s.Positions))
			s.Looks[1].Masked, s.Looks[1].Cutoff, s.Looks[1].Color.Image = true, 0.5, NewImage(leaf, func(uint8) float32 { return 1 })
		}
		a, _ := baked(t, s, p, indices, 32, Options{Ahead: c.ahead})
		found := 0
		for i := 0; i < len(a.Color.Pix); i += 4 {
			if near(color.NRGBA{a.Color.Pix[i], a.Color.Pix[i+1], a.Color.Pix[i+2], a.Color.Pix[i+3]}, c.want) {
				found++
			}
		}
		whole := 32 * 32
		if c.want.G == 0 {
			whole /= 4 // the sign's part
		}
		if found < whole*8/10 || c.want.G == 0 && found > whole*12/10 || a.Coverage {
			t.Errorf("%s: %d texels are %v, want about %d", c.name, found, c.want, whole)
		}
	}
}

// TestBakeSamples: of stripes that are thinner than texels the mean is baked, where one
// sample finds one stripe or the other.
func TestBakeSamples(t *testing.T) {
	p, indices := plane(8, 0)
	s := &Surface{Looks: looks([4]float32{1, 1, 1, 1}, [4]float32{0, 0, 0, 1})}
	const stripes = 128
	for i := range stripes {
		x0, x1 := 8*float64(i)/stripes, 8*float64(i+1)/stripes
		base := uint32(len(s.Positions))
		s.Positions = append(s.Positions, [3]float64{x0, 0, 0}, [3]float64{x0, 0, 8}, [3]float64{x1, 0, 8}, [3]float64{x1, 0, 0})
		s.Indices = append(s.Indices, base, base+1, base+2, base, base+2, base+3)
		s.Materials = append(s.Materials, int32(i%2), int32(i%2))
	}
	uneven := func(samples int) (n int) {
		a, _ := baked(t, s, p, indices, 32, Options{Samples: samples})
		for i := 0; i < len(a.Color.Pix); i += 4 {
			if v := a.Color.Pix[i]; v < 60 || v > 195 {
				n++
			}
		}
		return n
	}
	if one, four := uneven(1), uneven(4); one < 900 || four > 100 {
		t.Errorf("of 1024 texels %d are light or dark with one sample, %d with 16", one, four)
	}
	a, _ := baked(t, s, p, indices, 32, Options{Samples: 2, Jobs: 1})
	b, _ := baked(t, s, p, indices, 32, Options{Samples: 2, Jobs: 3})
	if string(a.Color.Pix) != string(b.Color.Pix) || len(a.Texels) != len(a.Points) || len(a.Texels) != len(a.Faces) {
		t.Error("bytes differ with more goroutines")
	}
}

// TestAround: the beam of a texel holds all of its samples.
func TestAround(t *testing.T) {
	p, indices := box(geom.Vec3{1000, -3, 7}, geom.Vec3{1003, 0.02, 30})
	l, err := Pack(Unwrap(p, indices), 32)
	if err != nil {
		t.Fatal(err)
	}
	const n = 3
	b := &baker{coarse: &Coarse{Positions: p, Indices: indices}, layout: l, cells: rasterize(l), slopes: slopesOf(l, len(indices)/3), o: Options{Samples: n}}
	seen := 0
	for i := range b.cells {
		c := &b.cells[i]
		if c.triangle < 0 {
			continue
		}
		seen++
		middle, around := b.point(c), b.around(c.triangle)
		for k := range n * n {
			d := b.part(c, k, n).Sub(middle)
			for axis := range d {
				if math.Abs(d[axis]) > around[axis] {
					t.Fatalf("texel %d, sample %d: %v, within %v", i, k, d, around)
				}
			}
		}
	}
	if seen == 0 {
		t.Error("no texel")
	}
}
