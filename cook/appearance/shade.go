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
	area        int64
	base        [4]int64 // of the paint
	glow        [3]int64
	masked      bool
	cutoff      int64
	transparent bool
	light       [3]int64 // by corner
	even        bool     // equally bright at all corners
	colors      [3][4]int64
	plain       bool // one colour at all corners
	uv          [3][2]int64
	textured    bool
	mip         mip
	constant    bool // all pixels are the same
	same        pixel
}

func newShade(m *model, i [3]uint32, p *paint, area int64) shade {
	s := shade{
		area: area, base: p.base, glow: p.glow, masked: p.Masked, cutoff: p.cutoff, transparent: p.Transparent, plain: m.colors == nil,
	}
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
		s.texture(m.Mesh, p.Texture, i)
	}
	if s.even && s.plain && !s.textured && !s.masked && !s.transparent {
		s.same, s.constant = lit(s.base, s.light[0], s.glow), true
	}
	return s
}

// texture finds the mip and the coordinates of a triangle, moved by whole
// repeats so that they are small.
func (s *shade) texture(m *Mesh, t *Texture, i [3]uint32) {
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
	s.mip, s.textured = *t.level(math.Abs(e) * (subpixel * subpixel) / float64(s.area)), true
}

// bayer orders the pixels of a transparent surface.
var bayer = [4][4]int64{{0, 8, 2, 10}, {12, 4, 14, 6}, {3, 11, 1, 9}, {15, 7, 13, 5}}

// lit returns a colour in light of a brightness, and what shines by itself.
func lit(c [4]int64, light int64, glow [3]int64) pixel {
	return makePixel(
		uint64(min(c[0]*light/one+glow[0], one)),
		uint64(min(c[1]*light/one+glow[1], one)),
		uint64(min(c[2]*light/one+glow[2], one)),
		one)
}
