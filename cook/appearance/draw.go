package appearance

import "math"

// canvas draws meshes; its memory serves one picture after the other.
type canvas struct {
	depth  []int32 // greater is nearer; 0 is nothing
	points []point
	pix    []pixel
	split  *split // nil: parts do not count
}

// zeroDepth is the depth of the view's origin.
const zeroDepth = 1 << 30

// model is a mesh made ready to be drawn from several sides.
type model struct {
	*Mesh
	lights []int32     // by vertex; nil: faces are shaded
	colors [][4]uint16 // by vertex, in units of one; nil: white
	paints []paint     // what Materials mean
}

func newModel(m *Mesh, paints []paint) *model {
	out := &model{Mesh: m, lights: m.lights(), paints: paints}
	if m.Colors != nil {
		out.colors = make([][4]uint16, len(m.Colors))
		for i, c := range m.Colors {
			for k, v := range c {
				out.colors[i][k] = uint16(fixed(float64(v)))
			}
		}
	}
	return out
}

// draw returns the model as a view shows it. The picture is valid until the next
// call.
func (c *canvas) draw(v *view, m *model) picture {
	n := v.w * v.h
	if cap(c.depth) < n {
		c.depth, c.pix = make([]int32, n), make([]pixel, n)
	}
	c.depth, c.pix = c.depth[:n], c.pix[:n]
	clear(c.depth)
	clear(c.pix)
	if cap(c.points) < len(m.Positions) {
		c.points = make([]point, len(m.Positions))
	}
	c.points = c.points[:len(m.Positions)]
	v.project(c.points, m.Positions)
	for t := range len(m.Indices) / 3 {
		if c.split != nil {
			c.split.part = c.split.parts[t]
		}
		c.triangle(v, m, t)
	}
	return picture{v.w, v.h, c.pix}
}

// wide is the width of a box, in pixels, from which on it is cheaper to calculate where
// a row of a triangle begins than to look for it.
const wide = 8

// triangle draws one triangle.
func (c *canvas) triangle(v *view, m *model, t int) {
	i := [3]uint32(m.Indices[3*t : 3*t+3])
	a, b, d := c.points[i[0]], c.points[i[1]], c.points[i[2]]
	area := edge(a, b, d.x, d.y)
	if area == 0 {
		return
	}
	paint := &m.paints[m.Materials[t]]
	if area < 0 {
		if !paint.DoubleSided {
			return
		}
		i[1], i[2], b, d, area = i[2], i[1], d, b, -area
	}
	// Pixels are taken at their centres.
	first := func(v int32) int { return int(v-subpixel/2+subpixel-1) >> 4 }
	last := func(v int32) int { return int(v-subpixel/2) >> 4 }
	x0, x1 := max(first(min(a.x, b.x, d.x)), 0), min(last(max(a.x, b.x, d.x)), v.w-1)
	y0, y1 := max(first(min(a.y, b.y, d.y)), 0), min(last(max(a.y, b.y, d.y)), v.h-1)
	if x0 > x1 || y0 > y1 {
		return
	}
	// What a pixel reads of the triangle lies in this function's frame: reads through
	// pointers cost more, and many times more with the race detector.
	var s shade
	known := false // s is, once a pixel of it is seen
	var owner []int32
	var behind []layer
	part := int32(0)
	if c.split != nil {
		owner, behind, part = c.split.owner, c.split.behind, c.split.part
	}
	inverse := 1 / float64(area)
	s0, s1, s2 := int64(b.y-d.y)*subpixel, int64(d.y-a.y)*subpixel, int64(a.y-b.y)*subpixel
	za, zb, zd := int64(a.z), int64(b.z), int64(d.z)
	for y := y0; y <= y1; y++ {
		cy := int32(y*subpixel + subpixel/2)
		cx := int32(x0*subpixel + subpixel/2)
		w0, w1, w2 := edge(b, d, cx, cy), edge(d, a, cx, cy), edge(a, b, cx, cy)
		from, within := x0, false
		if x1-x0 >= wide && w0|w1|w2 < 0 {
			skip := int64(max(enter(w0, s0), enter(w1, s1), enter(w2, s2)))
			if skip > int64(x1-x0) {
				continue
			}
			w0, w1, w2 = w0+skip*s0, w1+skip*s1, w2+skip*s2
			from, within = x0+int(skip), true
		}
		w0, w1, w2 = w0-s0, w1-s1, w2-s2
		depth, pix := c.depth[y*v.w:(y+1)*v.w], c.pix[y*v.w:(y+1)*v.w]
		for x := from; x <= x1; x++ {
			w0, w1, w2 = w0+s0, w1+s1, w2+s2
			if w0|w1|w2 < 0 { // one is negative
				if within {
					break
				}
				continue
			}
			within = true
			// Towards 0, as divisions round.
			z := w0*za + w1*zb + w2*zd
			sign := z >> 63
			z = zeroDepth + (quotient((z^sign)-sign, area, inverse) ^ sign - sign)
			front := int32(z) > depth[x]
			if !front {
				if owner == nil {
					continue
				}
				if i := y*v.w + x; owner[i] == part || int32(z) <= behind[i].depth {
					continue
				}
			}
			if !known {
				s.set(m, i, paint, area)
				known = true
			}
			p := s.same
			if !s.constant {
				// The sum of the corners' weights is the area.
				red, green, blue, alpha, light := s.base[0], s.base[1], s.base[2], s.base[3], s.light[0]
				if !s.plain {
					red = scaled(red, quotient(w0*s.colors[0][0]+w1*s.colors[1][0]+w2*s.colors[2][0], area, inverse))
					green = scaled(green, quotient(w0*s.colors[0][1]+w1*s.colors[1][1]+w2*s.colors[2][1], area, inverse))
					blue = scaled(blue, quotient(w0*s.colors[0][2]+w1*s.colors[1][2]+w2*s.colors[2][2], area, inverse))
					alpha = scaled(alpha, quotient(w0*s.colors[0][3]+w1*s.colors[1][3]+w2*s.colors[2][3], area, inverse))
				}
				if s.textured || s.bumped {
					at0 := w0*s.uv[0][0] + w1*s.uv[1][0] + w2*s.uv[2][0]
					at1 := w0*s.uv[0][1] + w1*s.uv[1][1] + w2*s.uv[2][1]
					if area < mostArea {
						at0, at1 = quotient(at0, area, inverse), quotient(at1, area, inverse)
					} else {
						at0, at1 = at0/area, at1/area
					}
					if s.textured {
						t := s.mip.at(at0, at1)
						r, g, b, a := int64(t&0xffff), int64(t>>16&0xffff), int64(t>>32&0xffff), int64(t>>48)
						if s.white { // times one
							red, green, blue, alpha = r, g, b, a
						} else {
							red, green, blue, alpha = scaled(red, r), scaled(green, g), scaled(blue, b), scaled(alpha, a)
						}
					}
					if s.bumped {
						light = int64(s.bumps.at(at0, at1) & 0xffff)
					}
				}
				if s.masked && alpha < s.cutoff || s.transparent && alpha*16 <= bayer[y&3][x&3]*one {
					continue
				}
				if !s.even && !s.bumped {
					light = quotient(w0*s.light[0]+w1*s.light[1]+w2*s.light[2], area, inverse)
				}
				if p = lit(red, green, blue, light); s.shines {
					p = p.shining(&s.glow)
				}
			}
			if owner != nil {
				i := y*v.w + x
				if !front {
					behind[i] = layer{p, int32(z)}
					continue
				}
				if owner[i] != part || depth[x] == 0 {
					behind[i] = layer{pix[x], depth[x]}
					owner[i] = part
				}
			}
			depth[x], pix[x] = int32(z), p
		}
	}
}

// edge is positive where x, y lies left of the line from a to b.
func edge(a, b point, x, y int32) int64 {
	return int64(b.x-a.x)*int64(y-a.y) - int64(b.y-a.y)*int64(x-a.x)
}

// enter returns how many steps an edge function of the value w takes until it is not
// negative; more than any row has if it never is.
func enter(w, step int64) int64 {
	if w >= 0 {
		return 0
	}
	if step <= 0 {
		return math.MaxInt32
	}
	return (step - 1 - w) / step
}

// quotient returns n/d, for n of at least 0 and a quotient below 2^48. The inverse is that
// of d in floating point: what it is off by, it is off by one at most, which is put right.
func quotient(n, d int64, inverse float64) int64 {
	q := int64(float64(n) * inverse)
	if r := n - q*d; r < 0 {
		return q - 1
	} else if r >= d {
		return q + 1
	}
	return q
}
