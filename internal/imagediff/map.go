package imagediff

import (
	"image"
	"image/color"
	"slices"
)

// Map is the difference of every pixel, rows from top to bottom.
type Map struct {
	Width, Height int
	Values        []float32 // 0 (the same) to 1
}

// Mean returns the mean of all pixels.
func (m *Map) Mean() float64 {
	sum := 0.0
	for _, v := range m.Values {
		sum += float64(v)
	}
	return sum / float64(len(m.Values))
}

// Quantile returns the value that a part q of the pixels, 0 to 1, does not
// exceed.
func (m *Map) Quantile(q float64) float64 {
	sorted := slices.Sorted(slices.Values(m.Values))
	return float64(sorted[int(min(max(q, 0), 1)*float64(len(sorted)-1)+0.5)])
}

// heat is the scale of pictures of maps, from 0 to 1 in equal steps.
var heat = []color.NRGBA{
	{0, 0, 0, 255}, {44, 16, 92, 255}, {120, 28, 109, 255}, {190, 55, 82, 255}, {237, 105, 37, 255}, {251, 180, 26, 255}, {252, 255, 190, 255},
}

// Image draws the map: black where nothing differs, over purple and orange to
// white.
func (m *Map) Image() *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, m.Width, m.Height))
	for i, v := range m.Values {
		at := float64(min(max(v, 0), 1)) * float64(len(heat)-1)
		k := min(int(at), len(heat)-2)
		t := at - float64(k)
		mix := func(a, b uint8) uint8 { return uint8(float64(a)*(1-t) + float64(b)*t + 0.5) }
		a, b := heat[k], heat[k+1]
		copy(img.Pix[4*i:], []uint8{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 255})
	}
	return img
}

// Changed returns the part of all pixels of which a channel differs by more
// than threshold, 0 to 255.
func Changed(a, b image.Image, threshold int) (float64, error) {
	p, q, err := readPair(a, b)
	if err != nil {
		return 0, err
	}
	n := 0
	for i := range p.bytes[0] {
		for k := range p.bytes {
			if d := int(p.bytes[k][i]) - int(q.bytes[k][i]); max(d, -d) > threshold {
				n++
				break
			}
		}
	}
	return float64(n) / float64(len(p.bytes[0])), nil
}
