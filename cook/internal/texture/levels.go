package texture

import "image"

// bandLines is how many lines one goroutine filters at a time: a multiple of
// the four of a block, and enough that the lines which neighbours share do not
// count.
const bandLines = 128

// scaled returns img in the size w x h, at most its own. Without a change of
// size it converts what the role wants: no alpha, normals of length 1.
func scaled(c *workers, img *image.NRGBA, w, h int, r Role) *image.NRGBA {
	s := space{r}
	if w == img.Rect.Dx() && h == img.Rect.Dy() && img.Stride == 4*w && s.takes(img) {
		return img
	}
	out := image.NewNRGBA(image.Rect(0, 0, w, h))
	cover := coverageOf(img, r)
	if cover == nil || w == img.Rect.Dx() && h == img.Rect.Dy() {
		from := newResampler(&image8{img, s}, w, h, s.lanczos(), r.Edges)
		c.divide(h, bandLines, func(lo, hi int) {
			from.run(lo, hi, func(y int, line []float32) { s.store(line, 1, out.Pix[4*w*y:]) })
		})
		return out
	}
	p := reduce(c, &image8{img, s}, w, h, s)
	p.storeInto(c, out, s, cover)
	return out
}

// takes reports whether an image of the right size needs no conversion.
func (s space) takes(img *image.NRGBA) bool {
	return s.role.Use == Color && s.role.Alpha != AlphaIgnored || s.role.Use != Normal && img.Opaque()
}

// reduce scales a source down to a plane.
func reduce(c *workers, src rows, w, h int, s space) *plane {
	p := newPlane(w, h)
	from := newResampler(src, w, h, s.lanczos(), s.role.Edges)
	c.divide(h, bandLines, func(lo, hi int) {
		from.run(lo, hi, func(y int, line []float32) { copy(p.pix[4*w*y:], line) })
	})
	return p
}

// storeInto converts a plane to bytes.
func (p *plane) storeInto(c *workers, out *image.NRGBA, s space, cover *coverage) {
	scale := float32(1)
	if cover != nil {
		var count alphaCount
		count.add(p.pix)
		scale = cover.scale(&count)
	}
	c.divide(p.h, bandLines, func(lo, hi int) {
		s.store(p.pix[4*p.w*lo:4*p.w*hi], scale, out.Pix[4*p.w*lo:])
	})
}

// levels calls emit with every level of the mip chain, from base down to
// 1 x 1. Each is half the one before, rounded down, and made from it before it
// was rounded to bytes. emit must not keep the image.
func levels(c *workers, base *image.NRGBA, r Role, emit func(*image.NRGBA) error) error {
	if err := emit(base); err != nil {
		return err
	}
	s := space{r}
	cover := coverageOf(base, r)
	var from rows = &image8{base, s}
	var buf []byte
	for {
		w, h := from.size()
		if w == 1 && h == 1 {
			return nil
		}
		w, h = max(1, w/2), max(1, h/2)
		p := reduce(c, from, w, h, s)
		if buf == nil {
			buf = make([]byte, 4*w*h) // the later levels are smaller
		}
		img := &image.NRGBA{Pix: buf[:4*w*h], Stride: 4 * w, Rect: image.Rect(0, 0, w, h)}
		p.storeInto(c, img, s, cover)
		if err := emit(img); err != nil {
			return err
		}
		from = p
	}
}
