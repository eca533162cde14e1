package bake

import "math"

// cell is a texel's point of the coarse mesh.
type cell struct {
	triangle int32 // -1: the texel shows nothing of a chart
	w        [3]float32
}

// slope is how the weights of a triangle's corners change along x and y of the texture.
type slope [2][3]float64

// slopesOf returns the slopes of all triangles; those without area have none.
func slopesOf(l *Layout, triangles int) []slope {
	out := make([]slope, triangles)
	for c := range l.Charts {
		for k, t := range l.Charts[c].Triangles {
			p := [3][2]float64{l.Texel(c, k, 0), l.Texel(c, k, 1), l.Texel(c, k, 2)}
			area := turn(p[0], p[1], p[2])
			if area == 0 {
				continue
			}
			for i := range 3 {
				a, b := p[(i+1)%3], p[(i+2)%3]
				out[t][0][i], out[t][1][i] = (a[1]-b[1])/area, (b[0]-a[0])/area
			}
		}
	}
	return out
}

// move goes on by parts of a texel, at most to where a corner's weight is a little
// below 0: triangles that are thinner than a texel are not left far behind.
func (c *cell) move(s *slope, x, y float64) {
	w := c.w
	for i := range w {
		w[i] += float32(float64(s[0][i]*x) + float64(s[1][i]*y))
		if w[i] < -0.25 {
			return
		}
	}
	c.w = w
}

// rasterize finds the triangle that every texel's middle lies in. Of a chart that has no
// such texel each shows the triangle that is nearest.
func rasterize(l *Layout) []cell {
	out := make([]cell, l.Side*l.Side)
	off := make([]float32, len(out)) // squared distance of the middle to the triangle
	for i := range out {
		out[i].triangle, off[i] = -1, math.MaxFloat32
	}
	for c := range l.Charts {
		if l.draw(c, out, off, 0) == 0 {
			l.draw(c, out, off, math.MaxFloat32)
		}
	}
	return out
}

// owners returns for every texel of a square picture the chart whose place it lies in,
// the gutter included, or -1. The picture's side may be another one than the layout's.
func (l *Layout) owners(side int) []int32 {
	out := make([]int32, side*side)
	for i := range out {
		out[i] = -1
	}
	scaled := func(v int) int { return min(max(v*side/l.Side, 0), side) }
	for c := range l.Places {
		p := &l.Places[c]
		x0, y0 := p.X-p.Gutter, p.Y-p.Gutter
		for y := scaled(y0); y < scaled(y0+p.room(p.H)); y++ {
			for x := scaled(x0); x < scaled(x0+p.room(p.W)); x++ {
				out[y*side+x] = int32(c)
			}
		}
	}
	return out
}

// draw finds the triangles of a chart for its texels, of those whose squared distance is
// at most so much, and returns how many it found.
func (l *Layout) draw(c int, out []cell, off []float32, most float32) (found int) {
	p := &l.Places[c]
	x0, y0, x1, y1 := p.X, p.Y, min(l.Side, p.X+p.W), min(l.Side, p.Y+p.H)
	reach := 0.0
	if most > 0 {
		reach = float64(max(p.W, p.H))
	}
	for k, t := range l.Charts[c].Triangles {
		a, b, d := l.Texel(c, k, 0), l.Texel(c, k, 1), l.Texel(c, k, 2)
		fromX := max(x0, int(min(a[0], b[0], d[0])-reach))
		toX := min(x1, int(max(a[0], b[0], d[0])+reach)+1)
		fromY := max(y0, int(min(a[1], b[1], d[1])-reach))
		toY := min(y1, int(max(a[1], b[1], d[1])+reach)+1)
		for y := fromY; y < toY; y++ {
			for x := fromX; x < toX; x++ {
				i := y*l.Side + x
				if off[i] == 0 {
					continue
				}
				at := [2]float64{float64(x) + 0.5, float64(y) + 0.5}
				if most == 0 && misses(at, a, b, d) {
					continue
				}
				w, d2 := nearest(at, a, b, d)
				if d2 := float32(d2); d2 <= most && d2 < off[i] {
					off[i], out[i] = d2, cell{t, w}
					found++
				}
			}
		}
	}
	return found
}

// beside is how much below 0 the weight of a corner is at least, at points that are surely
// off a triangle.
const beside = 1e-9

// misses reports whether a point surely lies off a triangle: what nearest says of others, too,
// costs many times as much.
func misses(p, a, b, c [2]float64) bool {
	area := turn(a, b, c)
	if area == 0 {
		return false
	}
	u, v := turn(p, b, c)/area, turn(a, p, c)/area
	return u < -beside || v < -beside || u+v > 1+beside
}

// nearest returns the point of a triangle that is nearest to another point, as
// weights of the corners, and its squared distance.
func nearest(p, a, b, c [2]float64) ([3]float32, float64) {
	area := turn(a, b, c)
	if area != 0 {
		u, v := turn(p, b, c)/area, turn(a, p, c)/area
		if w := 1 - u - v; u >= 0 && v >= 0 && w >= 0 {
			return [3]float32{float32(u), float32(v), float32(w)}, 0
		}
	}
	best, weights := math.Inf(1), [3]float32{1, 0, 0}
	corners := [3][2]float64{a, b, c}
	for k := range 3 {
		q, r := corners[k], corners[(k+1)%3]
		d := [2]float64{r[0] - q[0], r[1] - q[1]}
		e := [2]float64{p[0] - q[0], p[1] - q[1]}
		t := 0.0
		if l := float64(d[0]*d[0]) + float64(d[1]*d[1]); l > 0 {
			t = min(1, max(0, (float64(e[0]*d[0])+float64(e[1]*d[1]))/l))
		}
		x, y := e[0]-float64(t*d[0]), e[1]-float64(t*d[1])
		if d2 := float64(x*x) + float64(y*y); d2 < best {
			best, weights = d2, [3]float32{}
			weights[k], weights[(k+1)%3] = float32(1-t), float32(t)
		}
	}
	return weights, best
}
