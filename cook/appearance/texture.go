package appearance

import (
	"image"
	"math"
	"math/bits"

	"github.com/untoldkit/untold/internal/geom"
)

// texel is linear light, not multiplied by alpha, and alpha, in units of one:
// red, green, blue and alpha from the lowest 16 bits on.
type texel uint64

func makeTexel(r, g, b, a uint64) texel { return texel(r | g<<16 | b<<32 | a<<48) }

// Texture is a base colour texture with all its mips. It repeats.
type Texture struct {
	levels []mip // the largest first
}

type mip struct {
	w, h int
	pix  []texel
}

// NewTexture takes an sRGB image, whose pixels linear turns into linear light,
// 0 to 1, and makes mips of it. It keeps no reference to the image.
func NewTexture(img *image.NRGBA, linear func(uint8) float32) *Texture {
	var table, alpha [256]uint64
	for i := range table {
		table[i], alpha[i] = uint64(fixed(float64(linear(uint8(i))))), (uint64(i)*one+127)/255
	}
	size := img.Bounds().Size()
	base := mip{size.X, size.Y, make([]texel, size.X*size.Y)}
	for y := range size.Y {
		row := img.Pix[y*img.Stride:]
		for x := range size.X {
			p := row[4*x : 4*x+4]
			base.pix[y*size.X+x] = makeTexel(table[p[0]], table[p[1]], table[p[2]], alpha[p[3]])
		}
	}
	t := &Texture{}
	for level := base; ; level = level.half() {
		t.levels = append(t.levels, level)
		if level.w*level.h <= 1 {
			return t
		}
	}
}

// NewLight takes the normals of side x side texels, row by row, and makes a texture of how
// bright they are; side is a power of two, and a normal of length 0 counts for nothing. Mips
// are those of the mean normals, as a renderer has them that makes mips of normals.
func NewLight(normals []geom.Vec3, side int) *Texture {
	t := &Texture{}
	for {
		level := mip{side, side, make([]texel, side*side)}
		for i := range level.pix {
			l := uint64(light(normals[i].Normalize(1e-12, geom.Vec3{0, 1, 0})))
			level.pix[i] = makeTexel(l, l, l, one)
		}
		if t.levels = append(t.levels, level); side <= 1 {
			return t
		}
		half := side / 2
		next := make([]geom.Vec3, half*half)
		for y := range half {
			for x := range half {
				upper, lower := normals[2*y*side+2*x:], normals[(2*y+1)*side+2*x:]
				next[y*half+x] = upper[0].Add(upper[1]).Add(lower[0].Add(lower[1]))
			}
		}
		normals, side = next, half
	}
}

// half returns the next mip. Colours count by their alpha.
func (m mip) half() mip {
	out := mip{max(1, m.w/2), max(1, m.h/2), nil}
	out.pix = make([]texel, out.w*out.h)
	for y := range out.h {
		for x := range out.w {
			upper, lower := m.pix[2*y*m.w:], m.pix[min(2*y+1, m.h-1)*m.w:]
			left, right := 2*x, min(2*x+1, m.w-1)
			four := [4]texel{upper[left], upper[right], lower[left], lower[right]}
			if four[0]&four[1]&four[2]&four[3]>>48 == one { // then the sums below come to this
				out.pix[y*out.w+x] = texel(mean(pixel(four[0]), pixel(four[1]), pixel(four[2]), pixel(four[3])))
				continue
			}
			var sum [3]uint64
			var plain [3]uint64
			alpha := uint64(0)
			for _, p := range four {
				a := uint64(p >> 48)
				for c := range sum {
					v := uint64(p >> (16 * c) & 0xffff)
					sum[c] += v * a
					plain[c] += v
				}
				alpha += a
			}
			for c := range sum {
				if alpha > 0 {
					sum[c] = (sum[c] + alpha/2) / alpha
				} else {
					sum[c] = plain[c] / 4
				}
			}
			out.pix[y*out.w+x] = makeTexel(sum[0], sum[1], sum[2], (alpha+2)/4)
		}
	}
	return out
}

// at returns the texel at u, v, each in 1/65536 of the texture.
func (m mip) at(u, v int64) texel {
	x := (u & 0xffff) * int64(m.w) >> 16
	y := (v & 0xffff) * int64(m.h) >> 16
	return m.pix[y*int64(m.w)+x]
}

// level returns the mip of which a texel is about as large as a pixel, where a
// pixel covers a part of the texture's area.
func (t *Texture) level(pixel float64) *mip {
	texels := float64(pixel * float64(len(t.levels[0].pix)))
	if !(texels > 1) {
		return &t.levels[0]
	}
	// Half the logarithm to the base of 2, rounded.
	n := uint64(min(float64(texels*2), math.MaxInt64/2))
	return &t.levels[min((bits.Len64(n)-1)/2, len(t.levels)-1)]
}

// Size returns the width and height of the texture as it is looked at.
func (t *Texture) Size() (w, h int) { return t.levels[0].w, t.levels[0].h }

// Encoded returns a texel as it is perceived: the square roots of its light, and
// its alpha, each 0 to 255.
func (t *Texture) Encoded(x, y int) (out [4]uint8) {
	p := t.levels[0].pix[y*t.levels[0].w+x]
	for k := range 3 {
		out[k] = encoded[p>>(16*k)&0xffff]
	}
	out[3] = uint8(uint64(p>>48) * 255 / one)
	return out
}
