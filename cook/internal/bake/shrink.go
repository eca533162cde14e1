package bake

import (
	"image"
	"math"
)

// Shrink moves the pictures of an atlas from one layout of the same charts into a smaller
// one: each texel is the mean of those that it covers of its own chart, colours by linear
// light. decode and encode turn bytes of colours into it, 0 to 1, and back.
func (a *Atlas) Shrink(from, to *Layout, decode func(uint8) float32, encode func(float32) uint8) *Atlas {
	out := &Atlas{
		Roughness: a.Roughness, Metallic: a.Metallic, EmissiveColor: a.EmissiveColor, Coverage: a.Coverage, Missed: a.Missed, cards: a.cards,
	}
	s := &shrinker{from: from, to: to}
	for i := range s.linear {
		s.linear[i] = decode(uint8(i))
	}
	for i := range s.plain {
		s.plain[i] = float32(i) / 255
	}
	plain := func(v float32) uint8 { return unit(float64(v)) }
	out.Color = s.picture(a.Color, &s.linear, encode, a.cards)
	out.Emissive = s.picture(a.Emissive, &s.linear, encode, nil)
	out.ORM = s.picture(a.ORM, &s.plain, plain, nil)
	if out.Normal = s.picture(a.Normal, &s.plain, plain, nil); out.Normal != nil {
		renormalize(out.Normal)
	}
	return out
}

// shrinker is the state of Shrink.
type shrinker struct {
	from, to      *Layout
	linear, plain [256]float32 // what bytes stand for
}

// picture shrinks one picture; nil stays nil. Its size in parts of the layout's side is
// kept. Of the charts that are cards as much stays covered as was.
func (s *shrinker) picture(img *image.NRGBA, decode *[256]float32, encode func(float32) uint8, cards []int) *image.NRGBA {
	if img == nil {
		return nil
	}
	n := max(1, img.Rect.Dx()*s.to.Side/s.from.Side)
	out := image.NewNRGBA(image.Rect(0, 0, n, n))
	found := make([]bool, n*n)
	whole := float64(s.from.Side) / float64(img.Rect.Dx()) // texels of the layout in one of the picture
	for c := range s.to.Charts {
		old, now := &s.from.Places[c], &s.to.Places[c]
		x0, y0 := int(float64(now.X)/whole), int(float64(now.Y)/whole)
		x1 := min(n, int(math.Ceil(float64(now.X+now.W)/whole)))
		y1 := min(n, int(math.Ceil(float64(now.Y+now.H)/whole)))
		for y := y0; y < y1; y++ {
			fromY, toY := span(y, whole, now.Y, old.Y, old.H, s.to.Scale, s.from.Scale, img.Rect.Dy())
			for x := x0; x < x1; x++ {
				fromX, toX := span(x, whole, now.X, old.X, old.W, s.to.Scale, s.from.Scale, img.Rect.Dx())
				mean(out.Pix[4*(y*n+x):], img, fromX, toX, fromY, toY, decode, encode)
				found[y*n+x] = true
			}
		}
	}
	s.spreadCards(out.Pix, n, cards)
	for i, f := range fill(found, n, s.to.owners(n)) {
		if f >= 0 {
			copy(out.Pix[4*i:4*i+4], out.Pix[4*f:4*f+4])
		}
	}
	return out
}

// span returns which texels of the larger picture a row or column of the smaller one
// covers of a chart, at least one. whole is how many texels of a layout a texel of its
// picture has; now and was are where the chart begins, wide its size in the larger layout.
func span(at int, whole float64, now, was, wide int, scale, larger float64, size int) (from, to int) {
	ratio := 1.0
	if scale > 0 {
		ratio = larger / scale
	}
	a := float64(was) + float64((float64(float64(at)*whole)-float64(now))*ratio)
	b := float64(was) + float64((float64(float64(at+1)*whole)-float64(now))*ratio)
	a, b = max(a, float64(was)), min(b, float64(was+wide))
	from = min(max(int(math.Round(a/whole)), int(float64(was)/whole)), size-1)
	to = min(int(math.Round(b/whole)), size)
	return from, max(to, from+1)
}

// mean writes the mean of a box of texels. Colours count by their alpha.
func mean(to []uint8, img *image.NRGBA, x0, x1, y0, y1 int, decode *[256]float32, encode func(float32) uint8) {
	var sum, plain [3]float64
	alpha, count := 0.0, 0.0
	for y := y0; y < y1; y++ {
		for x := x0; x < x1; x++ {
			p := img.Pix[img.PixOffset(x, y):]
			w := float64(p[3])
			for c := range 3 {
				v := float64(decode[p[c]])
				sum[c] += float64(v * w)
				plain[c] += v
			}
			alpha, count = alpha+w, count+1
		}
	}
	for c := range 3 {
		if alpha > 0 {
			to[c] = encode(float32(sum[c] / alpha))
		} else {
			to[c] = encode(float32(plain[c] / count))
		}
	}
	to[3] = unit(alpha / count / 255)
}

// renormalize gives the vectors of a normal map unit length again.
func renormalize(img *image.NRGBA) {
	for i := 0; i < len(img.Pix); i += 4 {
		var v [3]float64
		length := 0.0
		for c := range 3 {
			v[c] = float64(2*float64(img.Pix[i+c])/255) - 1
			length += float64(v[c] * v[c])
		}
		if length = math.Sqrt(length); length < 1e-3 {
			continue
		}
		for c := range 3 {
			img.Pix[i+c] = unit((v[c]/length + 1) / 2)
		}
	}
}
