package scenegen

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math"
)

// mapKind tells which glTF map is made of a surface.
type mapKind int

const (
	mapBase mapKind = iota
	mapNormal
	mapMetalRough
	mapEmissive
)

func (k mapKind) suffix() string { return [...]string{"", "_normal", "_orm", "_emissive"}[k] }

// texel is what a surface is at one point.
type texel struct {
	r, g, b, a   float64 // sRGB colour and alpha in [0,1]
	height       float64 // in texture widths, for the normal map
	rough, metal float64
	glow         float64 // emission in [0,1]
}

// shade scales the colour.
func (t texel) shade(k float64) texel {
	t.r, t.g, t.b = t.r*k, t.g*k, t.b*k
	return t
}

func rgb(r, g, b float64) texel { return texel{r: r, g: g, b: b, a: 1, rough: 0.9} }

// paintMap evaluates a surface on a size x size raster, which repeats
// seamlessly.
func paintMap(surface string, kind mapKind, size int) *image.NRGBA {
	f := surfaces[surface]
	if f == nil {
		panic("gen: no surface " + surface)
	}
	texels := make([]texel, size*size)
	for y := range size {
		for x := range size {
			texels[y*size+x] = f((float64(x)+0.5)/float64(size), (float64(y)+0.5)/float64(size))
		}
	}
	img := image.NewNRGBA(image.Rect(0, 0, size, size))
	for y := range size {
		for x := range size {
			t := texels[y*size+x]
			c := color.NRGBA{A: 255}
			switch kind {
			case mapBase:
				c = color.NRGBA{level(t.r), level(t.g), level(t.b), level(t.a)}
			case mapMetalRough:
				c = color.NRGBA{255, level(t.rough), level(t.metal), 255}
			case mapEmissive:
				c = color.NRGBA{level(t.glow), level(t.glow), level(t.glow), 255}
			case mapNormal:
				c = normalTexel(texels, x, y, size)
			}
			img.SetNRGBA(x, y, c)
		}
	}
	return img
}

// normalTexel encodes the slope of the height field, +Y up the picture.
func normalTexel(t []texel, x, y, size int) color.NRGBA {
	h := func(x, y int) float64 { return t[(y+size)%size*size+(x+size)%size].height }
	k := float64(size) / 2
	n := vec{(h(x-1, y) - h(x+1, y)) * k, (h(x, y+1) - h(x, y-1)) * k, 1}
	n = n.Normalize(0, n)
	return color.NRGBA{level((n[0] + 1) / 2), level((n[1] + 1) / 2), level((n[2] + 1) / 2), 255}
}

// level rounds to one of 256 levels.
func level(v float64) uint8 { return uint8(float64(clamp01(v)*255) + 0.5) }

// encodeMap returns the file bytes and their media type.
func encodeMap(img *image.NRGBA, asJPEG bool) ([]byte, string) {
	var b bytes.Buffer
	if asJPEG {
		if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: 85}); err != nil {
			panic(err) // a buffer does not fail
		}
		return b.Bytes(), "image/jpeg"
	}
	if err := png.Encode(&b, img); err != nil {
		panic(err)
	}
	return b.Bytes(), "image/png"
}

// noise is value noise in [0,1] with cells of 1/px by 1/py that repeats at 1.
func noise(u, v float64, px, py int, seed uint64) float64 {
	x, y := float64(u*float64(px)), float64(v*float64(py))
	fx, fy := math.Floor(x), math.Floor(y)
	i, j := int(fx), int(fy)
	at := func(i, j int) float64 {
		i, j = ((i%px)+px)%px, ((j%py)+py)%py
		return float64(mix(seed+uint64(i)*0x9e3779b97f4a7c15+uint64(j)*0xc2b2ae3d27d4eb4f)>>40) / (1 << 24)
	}
	tx, ty := smooth(x-fx), smooth(y-fy)
	return lerp(lerp(at(i, j), at(i+1, j), tx), lerp(at(i, j+1), at(i+1, j+1), tx), ty)
}

// fractal sums octaves of noise, the first with p cells, weights halving.
func fractal(u, v float64, p, octaves int, seed uint64) float64 {
	sum, w, total := 0.0, 1.0, 0.0
	for o := range octaves {
		sum += float64(w * noise(u, v, p<<o, p<<o, seed+uint64(o)*77))
		total += w
		w /= 2
	}
	return sum / total
}

// fract returns the part of x above its floor.
func fract(x float64) float64 {
	x = float64(x) // a caller's product must not fuse with the difference
	return x - math.Floor(x)
}

// within reports whether x lies in [a,b).
func within(x, a, b float64) bool { return x >= a && x < b }
