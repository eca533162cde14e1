package texfile

import "slices"

// coverage is how much of a cut-out is drawn at full size (Castano, "Computing alpha
// mipmaps", 2010). nil keeps levels as they are.
type coverage struct {
	least int     // the smallest alpha that is drawn
	share float64 // of texels that are
}

// coverageOf measures an image; nil where there are no cut-outs.
func coverageOf(l Level, cutoff float32) *coverage {
	if !(cutoff > 0 && cutoff <= 1) {
		return nil
	}
	c := &coverage{}
	for c.least < 255 && float32(c.least)/255 < cutoff {
		c.least++
	}
	n := 0
	for i := 3; i < len(l.Pix); i += 4 {
		if int(l.Pix[i]) >= c.least {
			n++
		}
	}
	c.share = float64(n) / float64(max(1, len(l.Pix)/4))
	return c
}

// keep returns a level of which as many texels are drawn as of the image, or as near to
// that as its alpha allows. The level itself, of which the next one is made, stays.
func (c *coverage) keep(l Level) Level {
	if c == nil {
		return l
	}
	from := c.threshold(l)
	if from == c.least {
		return l
	}
	var to [256]byte
	for a := range to {
		v := (a*c.least + from/2) / from
		if a >= from {
			v = max(v, c.least)
		} else {
			v = min(v, c.least-1)
		}
		to[a] = byte(min(max(v, 0), 255))
	}
	l.Pix = slices.Clone(l.Pix)
	for i := 3; i < len(l.Pix); i += 4 {
		l.Pix[i] = to[l.Pix[i]]
	}
	return l
}

// threshold returns the alpha of a level from which texels should be drawn.
func (c *coverage) threshold(l Level) int {
	var count [256]int
	for i := 3; i < len(l.Pix); i += 4 {
		count[l.Pix[i]]++
	}
	n := len(l.Pix) / 4
	want := int(float64(c.share*float64(n)) + 0.5)
	if want <= 0 || want >= n {
		return c.least
	}
	drawn, above := 0, 0 // above: the last alpha that some texel has
	for a := 255; a > 0; a-- {
		if count[a] == 0 {
			continue
		}
		next := drawn + count[a]
		if next >= want {
			if drawn > 0 && want-drawn < next-want {
				return above // without these it is nearer
			}
			return a
		}
		drawn, above = next, a
	}
	return c.least
}
