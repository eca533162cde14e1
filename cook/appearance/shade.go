package appearance

import "math"

// paint is a material in units of one.
type paint struct {
	*Material
	base   [4]int64
	glow   [3]int64
	cutoff int64
}

func newPaints(materials []Material) []paint {
	out := make([]paint, len(materials))
	for i := range materials {
		m, p := &materials[i], &out[i]
		p.Material, p.cutoff = m, int64(fixed(float64(m.Cutoff)))
		for k, v := range m.Color {
			p.base[k] = int64(fixed(float64(v)))
		}
		for k, v := range m.Emissive {
			p.glow[k] = int64(fixed(float64(v)))
		}
	}
	return out
}

// shade knows how a triangle is coloured.
type shade struct {
	paint    *paint
	area     int64
	light    [3]int64 // by corner
	even     bool     // equally bright at all corners
	colors   [3][4]int64
	plain    bool // one colour at all corners
	uv       [3][2]int64
	mip      *mip
	constant bool // all pixels are the same
	same     pixel
}

func newShade(m *model, i [3]uint32, p *paint, area int64) shade {
	s := shade{paint: p, area: area, plain: m.colors == nil}
	switch {
	case p.Unlit:
		s.light = [3]int64{one, one, one}
	case m.lights != nil:
		s.light = [3]int64{int64(m.lights[i[0]]), int64(m.lights[i[1]]), int64(m.lights[i[2]])}
	default:
		l := int64(m.faceLight(i[0], i[1], i[2]))
		s.light = [3]int64{l, l, l}
	}
	s.even = s.light[0] == s.light[1] && s.light[0] == s.light[2]
	if !s.plain {
		for k, v := range i {
			for c, x := range m.colors[v] {
				s.colors[k][c] = int64(x)
			}
		}
	}
	if p.Texture != nil && m.UV != nil {
		s.texture(m.Mesh, i)
	}
	if s.even && s.plain && s.mip == nil && !p.Masked && !p.Transparent {
		s.same, _ = s.color(area, 0, 0, 0, 0)
		s.constant = true
	}
	return s
}

// texture finds the mip and the coordinates of a triangle, moved by whole
// repeats so that they are small.
func (s *shade) texture(m *Mesh, i [3]uint32) {
	var uv [3][2]float64
	for axis := range 2 {
		least := math.Inf(1)
		for k, v := range i {
			uv[k][axis] = float64(m.UV[v][axis])
			least = min(least, uv[k][axis])
		}
		least = math.Floor(least)
		for k := range uv {
			// NaN and what repeats beyond all measure become 0 and the limit.
			x := uv[k][axis] - least
			if !(x >= 0) {
				x = 0
			}
			uv[k][axis] = min(x, 1<<12)
			s.uv[k][axis] = int64(float64(uv[k][axis] * 65536))
		}
	}
	e := float64((uv[1][0]-uv[0][0])*(uv[2][1]-uv[0][1])) - float64((uv[1][1]-uv[0][1])*(uv[2][0]-uv[0][0]))
	// The triangle's part of the texture over its pixels: both are doubled.
	s.mip = s.paint.Texture.level(math.Abs(e) * (subpixel * subpixel) / float64(s.area))
}

// bayer orders the pixels of a transparent surface.
var bayer = [4][4]int64{{0, 8, 2, 10}, {12, 4, 14, 6}, {3, 11, 1, 9}, {15, 7, 13, 5}}

// color returns the colour at the weights of the corners, whose sum is the area,
// and whether the pixel is drawn at all.
func (s *shade) color(w0, w1, w2 int64, x, y int) (pixel, bool) {
	c := s.paint.base
	if !s.plain {
		for k := range c {
			c[k] = c[k] * ((w0*s.colors[0][k] + w1*s.colors[1][k] + w2*s.colors[2][k]) / s.area) / one
		}
	}
	if s.mip != nil {
		u := (w0*s.uv[0][0] + w1*s.uv[1][0] + w2*s.uv[2][0]) / s.area
		v := (w0*s.uv[0][1] + w1*s.uv[1][1] + w2*s.uv[2][1]) / s.area
		t := s.mip.at(u, v)
		for k := range c {
			c[k] = c[k] * int64(t>>(16*k)&0xffff) / one
		}
	}
	switch {
	case s.paint.Masked && c[3] < s.paint.cutoff:
		return 0, false
	case s.paint.Transparent && c[3]*16 <= bayer[y&3][x&3]*one:
		return 0, false
	}
	l := s.light[0]
	if !s.even {
		l = (w0*s.light[0] + w1*s.light[1] + w2*s.light[2]) / s.area
	}
	var out [3]uint64
	for k := range out {
		out[k] = uint64(min(c[k]*l/one+s.paint.glow[k], one))
	}
	return makePixel(out[0], out[1], out[2], one), true
}
