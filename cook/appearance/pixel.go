package appearance

// pixel is linear light times coverage, and coverage, in units of one: red,
// green, blue and coverage from the lowest 16 bits on. Four of them can be added
// without a carry from one into the next.
type pixel uint64

func makePixel(r, g, b, coverage uint64) pixel {
	return pixel(r | g<<16 | b<<32 | coverage<<48)
}

func (p pixel) coverage() int { return int(p >> 48) }

// channel returns red, green or blue.
func (p pixel) channel(k int) int { return int(p >> (16 * k) & 0xffff) }

// mean returns the rounded mean of four pixels.
func mean(a, b, c, d pixel) pixel {
	const two, quarter = 0x0002_0002_0002_0002, 0x3fff_3fff_3fff_3fff
	return (a + b + c + d + two) >> 2 & quarter
}

// picture is what a view shows of a mesh.
type picture struct {
	w, h int
	pix  []pixel
}

// half makes the picture with pixels of twice the size in the memory of to,
// which may be the picture's own.
func (p picture) half(to []pixel) picture {
	out := picture{p.w / 2, p.h / 2, to[:p.w*p.h/4]}
	for y := range out.h {
		upper, lower := p.pix[2*y*p.w:(2*y+1)*p.w], p.pix[(2*y+1)*p.w:(2*y+2)*p.w]
		row := out.pix[y*out.w : (y+1)*out.w]
		for x := range row {
			row[x] = mean(upper[2*x], upper[2*x+1], lower[2*x], lower[2*x+1])
		}
	}
	return out
}
