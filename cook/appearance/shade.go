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
	base        [4]int64 // of the paint, and of what is the same at all corners
	glow        [3]int64
	shines      bool // glow is not 0
	masked      bool
	cutoff      int64
	transparent bool
	light       [3]int64 // by corner
	even        bool     // equally bright at all corners
	colors      [3][4]int64
	plain       bool // one colour at all corners
	white       bool // it is white, and opaque
	uv          [3][2]int64
	textured    bool // there is a texture, of which the corners have different places
	mip         mip
	bumped      bool // the light is that of texels, too
	bumps       mip
	constant    bool // all pixels are the same
	same        pixel
}

// mostArea is the least doubled area with which places on a texture may overflow.
const mostArea = 1 << 34

// set finds out about a triangle; the shade is zero before.
func (s *shade) set(m *model, i [3]uint32, p *paint, area int64) {
	s.base, s.glow, s.masked, s.cutoff, s.transparent = p.base, p.glow, p.Masked, p.cutoff, p.Transparent
	s.shines = s.glow != [3]int64{}
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
	if s.plain = true; m.colors != nil {
		a, b, c := &m.colors[i[0]], &m.colors[i[1]], &m.colors[i[2]]
		if s.plain = *a == *b && *a == *c; s.plain {
			for k := range s.base {
				s.base[k] = scaled(s.base[k], int64(a[k]))
			}
		} else {
			for k := range s.base {
				s.colors[0][k], s.colors[1][k], s.colors[2][k] = int64(a[k]), int64(b[k]), int64(c[k])
			}
		}
	}
	s.white = s.plain && s.base == [4]int64{one, one, one, one}
	if s.bumped = p.Light != nil && !p.Unlit && m.UV != nil; s.bumped {
		s.bumps, s.even = s.texture(m.Mesh, p.Light, i, area), false
	}
	if s.textured = p.Texture != nil && m.UV != nil; s.textured {
		s.mip = s.texture(m.Mesh, p.Texture, i, area)
		// One texel for all is like a colour.
		if s.plain && s.uv[0] == s.uv[1] && s.uv[0] == s.uv[2] && area < mostArea {
			t := s.mip.at(s.uv[0][0], s.uv[0][1])
			for k := range s.base {
				s.base[k] = scaled(s.base[k], int64(t>>(16*k)&0xffff))
			}
			s.textured = false
		}
	}
	if s.even && s.plain && !s.textured && !s.masked && !s.transparent {
		s.same, s.constant = lit(s.base[0], s.base[1], s.base[2], s.light[0]).shining(&s.glow), true
	}
}

// texture returns the mip for a triangle, and finds its coordinates, moved by whole
// repeats so that they are small.
func (s *shade) texture(m *Mesh, t *Texture, i [3]uint32, area int64) mip {
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
	return *t.level(math.Abs(e) * (subpixel * subpixel) / float64(area))
}

// bayer orders the pixels of a transparent surface.
var bayer = [4][4]int64{{0, 8, 2, 10}, {12, 4, 14, 6}, {3, 11, 1, 9}, {15, 7, 13, 5}}

// scaled returns a*b/one, both of which are 0 to one.
func scaled(a, b int64) int64 {
	// The part of x/4096 that x/4095 has more is x/4096 of it again; exact below 2^24.
	x := uint64(a * b)
	return int64((x + x>>12 + 1) >> 12)
}

// lit returns a colour in light of a brightness: scaled, of red and blue at once.
func lit(red, green, blue, light int64) pixel {
	const lanes, ones = 0xfff<<32 | 0xfff, 1<<32 | 1
	x := uint64(red|blue<<32) * uint64(light)
	x = (x + x>>12&lanes + ones) >> 12 & lanes
	return pixel(x | uint64(scaled(green, light))<<16 | one<<48)
}

// shining returns a pixel with what shines by itself.
func (p pixel) shining(glow *[3]int64) pixel {
	return makePixel(
		uint64(min(int64(p.channel(0))+glow[0], one)),
		uint64(min(int64(p.channel(1))+glow[1], one)),
		uint64(min(int64(p.channel(2))+glow[2], one)),
		one)
}
