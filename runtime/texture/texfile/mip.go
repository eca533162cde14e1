package texfile

import "math"

// chain returns the mip chain that begins with the first level whose edges are
// at most maxSize (0: the level itself). cutoff is that of Options.
func chain(l Level, use Use, opaque bool, cutoff float32, maxSize int) []Level {
	var cover *coverage
	if use == Color && !opaque {
		cover = coverageOf(l, cutoff)
	}
	kept := l
	for maxSize > 0 && (l.Width > maxSize || l.Height > maxSize) && (l.Width > 1 || l.Height > 1) {
		l = halve(l, use, opaque)
		kept = cover.keep(l)
	}
	levels := []Level{kept}
	for l.Width > 1 || l.Height > 1 {
		l = halve(l, use, opaque)
		levels = append(levels, cover.keep(l))
	}
	if use == Color && !opaque {
		fillHidden(levels)
	}
	return levels
}

// fillHidden gives what is transparent the colour of what is visible around it,
// since a sampler mixes neighbours whatever their alpha: that of the next coarser
// level, which is the mean of what is visible there.
func fillHidden(levels []Level) {
	for k := len(levels) - 2; k >= 0; k-- {
		l, from := levels[k], levels[k+1]
		for y := range l.Height {
			row := from.Pix[4*from.Width*min(y/2, from.Height-1):]
			for x := range l.Width {
				if p := l.Pix[4*(y*l.Width+x):]; p[3] == 0 {
					copy(p[:3], row[4*min(x/2, from.Width-1):][:3])
				}
			}
		}
	}
}

// halve returns the next level. Edges of even length average pairs; edges of
// odd length 2n+1 average three texels with weights that slide, so that every
// source texel counts the same and nothing drifts (Guthe and Heckbert,
// "Non-power-of-two mipmap creation", 2005).
func halve(l Level, use Use, opaque bool) Level {
	n := Level{Width: max(1, l.Width/2), Height: max(1, l.Height/2)}
	n.Pix = make([]byte, 4*n.Width*n.Height)
	even := func(v int) bool { return v == 1 || v%2 == 0 }
	switch {
	case !even(l.Width) || !even(l.Height):
		halveOdd(n, l, use, opaque)
	case use.SRGB() && opaque:
		halveOpaque(n, l)
	case use == Data:
		halveData(n, l)
	case use == Normal:
		halveNormal(n, l)
	default:
		halveOdd(n, l, use, opaque)
	}
	return n
}

// quads calls f with the four texels of each texel of n.
func quads(n, l Level, f func(dst, a, b, c, d []byte)) {
	dx, dy := 4, 4*l.Width
	if l.Width == 1 {
		dx = 0
	}
	if l.Height == 1 {
		dy = 0
	}
	for y := range n.Height {
		src := l.Pix[2*y*dy:]
		dst := n.Pix[4*n.Width*y:][:4*n.Width]
		for x := range n.Width {
			a := src[2*x*dx:]
			f(dst[4*x:][:4:4], a[:4:4], a[dx:][:4:4], a[dy:][:4:4], a[dx+dy:][:4:4])
		}
	}
}

func halveData(n, l Level) {
	quads(n, l, func(dst, a, b, c, d []byte) {
		for i := range 4 {
			dst[i] = byte((uint32(a[i]) + uint32(b[i]) + uint32(c[i]) + uint32(d[i]) + 2) / 4)
		}
	})
}

func halveOpaque(n, l Level) {
	lin, enc := linear(), encode()
	quads(n, l, func(dst, a, b, c, d []byte) {
		for i := range 3 {
			dst[i] = enc[(uint32(lin[a[i]])+uint32(lin[b[i]])+uint32(lin[c[i]])+uint32(lin[d[i]])+2)/4]
		}
		dst[3] = 255
	})
}

func halveNormal(n, l Level) {
	quads(n, l, func(dst, a, b, c, d []byte) {
		var s sum
		for i := range 3 {
			s.c[i] = float32(2*(int(a[i])+int(b[i])+int(c[i])+int(d[i]))-4*255) / 4
		}
		s.alpha = float32(int(a[3])+int(b[3])+int(c[3])+int(d[3])) / 4
		s.put(dst, Normal)
	})
}

// tap is one source texel along an axis and its weight.
type tap struct {
	at     int
	weight float32
}

// taps returns which of n source texels make texel i of max(1, n/2).
func taps(i, n int) ([3]tap, int) {
	switch {
	case n == 1:
		return [3]tap{{0, 1}}, 1
	case n%2 == 0:
		return [3]tap{{2 * i, 0.5}, {2*i + 1, 0.5}}, 2
	}
	half, w := n/2, 1/float32(n)
	return [3]tap{
		{2 * i, float32(half-i) * w}, {2*i + 1, float32(half) * w}, {2*i + 2, float32(i+1) * w},
	}, 3
}

// halveOdd is the general filter: any size, any use.
func halveOdd(n, l Level, use Use, opaque bool) {
	for y := range n.Height {
		ty, ny := taps(y, l.Height)
		for x := range n.Width {
			tx, nx := taps(x, l.Width)
			var s sum
			for _, v := range ty[:ny] {
				for _, u := range tx[:nx] {
					s.add(l.Pix[4*(v.at*l.Width+u.at):][:4], float32(u.weight*v.weight), use, opaque)
				}
			}
			s.put(n.Pix[4*(y*n.Width+x):][:4], use)
		}
	}
}

// sum collects weighted texels.
type sum struct {
	c, plain      [3]float32
	alpha, weight float32
}

func (s *sum) add(p []byte, w float32, use Use, opaque bool) {
	s.alpha += float32(w * float32(p[3]))
	switch use {
	case Color, OpaqueColor:
		lin := linear()
		k := w
		if !opaque {
			// Transparent texels must not bleed their colour into the others.
			k = float32(w * float32(p[3]))
		}
		s.weight += k
		for i := range 3 {
			v := float32(lin[p[i]])
			s.c[i] += float32(k * v)
			s.plain[i] += float32(w * v)
		}
	case Normal:
		for i := range 3 {
			s.c[i] += float32(w * (float32(p[i])*2 - 255))
		}
	default:
		for i := range 3 {
			s.c[i] += float32(w * float32(p[i]))
		}
	}
}

func (s *sum) put(p []byte, use Use) {
	p[3] = round(s.alpha)
	switch use {
	case Color, OpaqueColor:
		c, k := s.c, s.weight
		if k == 0 { // all transparent: the colour still counts for neighbours
			c, k = s.plain, 1
		}
		enc := encode()
		for i := range 3 {
			p[i] = enc[uint16(min(float32(c[i]/k)+0.5, 65535))]
		}
	case Normal:
		l := float32(math.Sqrt(float64(s.c[0]*s.c[0]) + float64(s.c[1]*s.c[1]) + float64(s.c[2]*s.c[2])))
		if l < 1 { // opposite directions cancel out
			p[0], p[1], p[2] = 128, 128, 255
			return
		}
		for i := range 3 {
			p[i] = round(float32((float32(s.c[i]/l) + 1) * 127.5))
		}
	default:
		for i := range 3 {
			p[i] = round(s.c[i])
		}
	}
}

func round(v float32) byte { return byte(max(0, min(255, v+0.5))) }
