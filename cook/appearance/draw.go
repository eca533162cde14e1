package appearance

import "math"

// pixel is linear light times coverage, and coverage, in units of one.
type pixel [4]uint16

// picture is what a view shows of a mesh.
type picture struct {
	w, h int
	pix  []pixel
}

// canvas draws meshes; its memory serves one picture after the other.
type canvas struct {
	depth  []int32
	points []point
	pix    []pixel
}

const farthest = math.MinInt32

// draw returns the mesh as a view shows it. The picture is valid until the next
// call.
func (c *canvas) draw(v *view, m *Mesh, lights []int32, materials []Material) picture {
	n := v.w * v.h
	if cap(c.depth) < n {
		c.depth, c.pix = make([]int32, n), make([]pixel, n)
	}
	c.depth, c.pix = c.depth[:n], c.pix[:n]
	for i := range c.depth {
		c.depth[i] = farthest
	}
	clear(c.pix)
	if cap(c.points) < len(m.Positions) {
		c.points = make([]point, len(m.Positions))
	}
	c.points = c.points[:len(m.Positions)]
	for i, p := range m.Positions {
		c.points[i] = v.project(p)
	}
	for t := range len(m.Indices) / 3 {
		c.triangle(v, m, t, lights, &materials[m.Materials[t]])
	}
	return picture{v.w, v.h, c.pix}
}

// triangle draws one triangle.
func (c *canvas) triangle(v *view, m *Mesh, t int, lights []int32, mat *Material) {
	i := [3]uint32(m.Indices[3*t : 3*t+3])
	a, b, d := c.points[i[0]], c.points[i[1]], c.points[i[2]]
	area := edge(a, b, d.x, d.y)
	if area < 0 && mat.DoubleSided {
		i[1], i[2], b, d, area = i[2], i[1], d, b, -area
	}
	if area <= 0 {
		return
	}
	// Pixels are taken at their centres.
	first := func(v int32) int { return int(v-subpixel/2+subpixel-1) >> 4 }
	last := func(v int32) int { return int(v-subpixel/2) >> 4 }
	x0, x1 := max(first(min(a.x, b.x, d.x)), 0), min(last(max(a.x, b.x, d.x)), v.w-1)
	y0, y1 := max(first(min(a.y, b.y, d.y)), 0), min(last(max(a.y, b.y, d.y)), v.h-1)
	if x0 > x1 || y0 > y1 {
		return
	}
	s := newShade(m, i, lights, mat, area)
	for y := y0; y <= y1; y++ {
		cy := int32(y*subpixel + subpixel/2)
		cx := int32(x0*subpixel + subpixel/2)
		w0, w1, w2 := edge(b, d, cx, cy), edge(d, a, cx, cy), edge(a, b, cx, cy)
		s0, s1, s2 := int64(b.y-d.y)*subpixel, int64(d.y-a.y)*subpixel, int64(a.y-b.y)*subpixel
		for x := x0; x <= x1; x++ {
			if w0 >= 0 && w1 >= 0 && w2 >= 0 {
				z := int32((w0*int64(a.z) + w1*int64(b.z) + w2*int64(d.z)) / area)
				if at := y*v.w + x; z > c.depth[at] {
					if p, ok := s.color(w0, w1, w2, x, y); ok {
						c.depth[at], c.pix[at] = z, p
					}
				}
			}
			w0, w1, w2 = w0+s0, w1+s1, w2+s2
		}
	}
}

// edge is positive where x, y lies left of the line from a to b.
func edge(a, b point, x, y int32) int64 {
	return int64(b.x-a.x)*int64(y-a.y) - int64(b.y-a.y)*int64(x-a.x)
}

// shade knows how a triangle is coloured.
type shade struct {
	mat    *Material
	area   int64
	light  [3]int64 // by corner
	colors [3][4]int64
	plain  bool // one colour at all corners
	uv     [3][2]int64
	mip    *mip
	base   [4]int64
	glow   [3]int64
}

func newShade(m *Mesh, i [3]uint32, lights []int32, mat *Material, area int64) shade {
	s := shade{mat: mat, area: area, plain: m.Colors == nil}
	for k, v := range mat.Color {
		s.base[k] = int64(fixed(float64(v)))
	}
	for k, v := range mat.Emissive {
		s.glow[k] = int64(fixed(float64(v)))
	}
	for k, v := range i {
		switch {
		case mat.Unlit:
			s.light[k] = one
		case lights != nil:
			s.light[k] = int64(lights[v])
		case k == 0:
			s.light[0] = int64(m.faceLight(i[0], i[1], i[2]))
		default:
			s.light[k] = s.light[0]
		}
		if !s.plain {
			for c, x := range m.Colors[v] {
				s.colors[k][c] = int64(fixed(float64(x)))
			}
		}
	}
	if mat.Texture != nil && m.UV != nil {
		s.texture(m, i)
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
	s.mip = s.mat.Texture.level(math.Abs(e) * (subpixel * subpixel) / float64(s.area))
}

// bayer orders the pixels of a transparent surface.
var bayer = [4][4]int64{{0, 8, 2, 10}, {12, 4, 14, 6}, {3, 11, 1, 9}, {15, 7, 13, 5}}

// color returns the colour at the weights of the corners, and whether the
// pixel is drawn at all.
func (s *shade) color(w0, w1, w2 int64, x, y int) (pixel, bool) {
	c := s.base
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
			c[k] = c[k] * int64(t[k]) / one
		}
	}
	switch {
	case s.mat.Masked && c[3] < int64(fixed(float64(s.mat.Cutoff))):
		return pixel{}, false
	case s.mat.Transparent && c[3]*16 <= bayer[y&3][x&3]*one:
		return pixel{}, false
	}
	l := (w0*s.light[0] + w1*s.light[1] + w2*s.light[2]) / s.area
	out := pixel{3: one}
	for k := range 3 {
		out[k] = uint16(min(c[k]*l/one+s.glow[k], one))
	}
	return out, true
}
