package appearance

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
	s0, s1, s2 := int64(b.y-d.y)*subpixel, int64(d.y-a.y)*subpixel, int64(a.y-b.y)*subpixel
	za, zb, zd := int64(a.z), int64(b.z), int64(d.z)
	for y := y0; y <= y1; y++ {
		cy := int32(y*subpixel + subpixel/2)
		cx := int32(x0*subpixel + subpixel/2)
		w0, w1, w2 := edge(b, d, cx, cy)-s0, edge(d, a, cx, cy)-s1, edge(a, b, cx, cy)-s2
		depth, pix := c.depth[y*v.w:(y+1)*v.w], c.pix[y*v.w:(y+1)*v.w]
		within := false
		for x := x0; x <= x1; x++ {
			w0, w1, w2 = w0+s0, w1+s1, w2+s2
			if w0|w1|w2 < 0 { // one is negative
				if within {
					break
				}
				continue
			}
			within = true
			z := zeroDepth + int32((w0*za+w1*zb+w2*zd)/area)
			front := z > depth[x]
			if !front {
				if owner == nil {
					continue
				}
				if i := y*v.w + x; owner[i] == part || z <= behind[i].depth {
					continue
				}
			}
			if !known {
				s, known = newShade(m, i, paint, area), true
			}
			p := s.same
			if !s.constant {
				// The sum of the corners' weights is the area.
				color, light := s.base, s.light[0]
				if !s.plain {
					for k := range color {
						color[k] = color[k] * ((w0*s.colors[0][k] + w1*s.colors[1][k] + w2*s.colors[2][k]) / area) / one
					}
				}
				if s.textured {
					t := s.mip.at((w0*s.uv[0][0]+w1*s.uv[1][0]+w2*s.uv[2][0])/area, (w0*s.uv[0][1]+w1*s.uv[1][1]+w2*s.uv[2][1])/area)
					for k := range color {
						color[k] = color[k] * int64(t>>(16*k)&0xffff) / one
					}
				}
				if s.masked && color[3] < s.cutoff || s.transparent && color[3]*16 <= bayer[y&3][x&3]*one {
					continue
				}
				if !s.even {
					light = (w0*s.light[0] + w1*s.light[1] + w2*s.light[2]) / area
				}
				p = lit(color, light, s.glow)
			}
			if owner != nil {
				i := y*v.w + x
				if !front {
					behind[i] = layer{p, z}
					continue
				}
				if owner[i] != part || depth[x] == 0 {
					behind[i] = layer{pix[x], depth[x]}
					owner[i] = part
				}
			}
			depth[x], pix[x] = z, p
		}
	}
}

// edge is positive where x, y lies left of the line from a to b.
func edge(a, b point, x, y int32) int64 {
	return int64(b.x-a.x)*int64(y-a.y) - int64(b.y-a.y)*int64(x-a.x)
}
