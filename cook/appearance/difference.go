package appearance

import (
	"bytes"
	"image"
	"math"

	"github.com/untoldkit/untold/cook/internal/texture"
	"github.com/untoldkit/untold/internal/imagediff"
)

// Difference is how a mesh looks beside another one, over any number of sides.
// The zero value has seen none.
type Difference struct {
	flip  float64 // the sum of the sides' means
	sides int     // on which anything is seen

	light    [2][3]float64 // sums of linear light, 0 to 1 a pixel
	coverage [2]float64    // sums of covered parts of pixels
}

// Add looks at one side of both meshes. The pictures must have the same bounds.
func (d *Difference) Add(a, b *Picture) error {
	d.sum(0, a)
	d.sum(1, b)
	x, coveredX := a.Image()
	y, coveredY := b.Image()
	if bytes.Equal(x.Pix, y.Pix) {
		d.sides++
		return nil
	}
	return d.addImages(x, y, coveredX, coveredY)
}

// addImages adds the mean FLIP of the pixels that either mesh covers or touches.
func (d *Difference) addImages(a, b *image.NRGBA, coveredA, coveredB []bool) error {
	m, err := imagediff.FLIP(a, b, imagediff.PixelsPerDegree)
	if err != nil {
		return err
	}
	sum, n := 0.0, 0
	for i, v := range m.Values {
		if coveredA[i] || coveredB[i] {
			sum += float64(v)
			n++
		}
	}
	if n > 0 {
		d.flip += sum / float64(n)
		d.sides++
	}
	return nil
}

func (d *Difference) sum(which int, p *Picture) {
	var light [3]int64
	coverage := int64(0)
	for _, q := range p.p.pix {
		for k := range light {
			light[k] += int64(q.channel(k))
		}
		coverage += int64(q.coverage())
	}
	for k := range light {
		d.light[which][k] += float64(light[k]) / one
	}
	d.coverage[which] += float64(coverage) / one
}

// FLIP returns the mean of the sides, each of which is the mean of the pixels that
// either mesh covers or touches: 0 for meshes that look the same, at most 1.
func (d *Difference) FLIP() float64 { return d.flip / float64(max(d.sides, 1)) }

// Color returns the mean colours of what each mesh covers, in sRGB of 0 to 255.
func (d *Difference) Color() (a, b [3]float64) {
	of := func(which int) (out [3]float64) {
		if d.coverage[which] == 0 {
			return out
		}
		for k, v := range d.light[which] {
			out[k] = 255 * encode(v/d.coverage[which])
		}
		return out
	}
	return of(0), of(1)
}

// Drift returns how far the mean colours are apart: the greatest difference of
// red, green and blue, 0 to 255. It is 0 if one mesh is not seen at all.
func (d *Difference) Drift() float64 {
	if d.coverage[0] == 0 || d.coverage[1] == 0 {
		return 0
	}
	a, b := d.Color()
	return max(math.Abs(a[0]-b[0]), math.Abs(a[1]-b[1]), math.Abs(a[2]-b[2]))
}

// Coverage returns the area that the second mesh covers, in parts of what the
// first does; 1 if that is nothing.
func (d *Difference) Coverage() float64 {
	if d.coverage[0] == 0 {
		return 1
	}
	return d.coverage[1] / d.coverage[0]
}

// encode is texture.FromLinear before it is rounded.
func encode(v float64) float64 {
	if v <= 0.0031308 {
		return 12.92 * v
	}
	return float64(1.055*math.Pow(v, 1/2.4)) - 0.055
}

// Image returns the picture in sRGB before a sky of half the full light, and
// which of its pixels the mesh covers or touches: rows from the top in both.
func (p *Picture) Image() (img *image.NRGBA, covered []bool) {
	w, h := p.p.w, p.p.h
	img, covered = image.NewNRGBA(image.Rect(0, 0, w, h)), make([]bool, w*h)
	for i := range covered {
		q := p.p.pix[(h-1-i/w)*w+i%w]
		covered[i] = q.coverage() > 0
		behind := (one - q.coverage()) * sky / one
		for k := range 3 {
			img.Pix[4*i+k] = texture.FromLinear(float32(min(q.channel(k)+behind, one)) / one)
		}
		img.Pix[4*i+3] = 255
	}
	return img, covered
}
