package bake

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Gutters are texels round every chart. Charts begin at multiples of two texels
// where there is room for the wide gutter, so that the first smaller mip mixes no
// two of them.
const (
	wideGutter   = 2
	narrowGutter = 1
)

// Layout places charts in a square.
type Layout struct {
	Charts []Chart
	Side   int     // texels
	Scale  float64 // texels per metre
	Places []Place // by chart
}

// Place is where a chart lies.
type Place struct {
	X, Y   int // of its first texel, gutters not counted
	W, H   int // texels, at least 1
	Gutter int // texels round it that are its own
}

// Pack places charts in a square of so many texels, all at the largest scale at
// which they fit. Very small charts get a texel each. It fails if the square has
// fewer texels than there are charts.
func Pack(charts []Chart, side int) (*Layout, error) {
	if len(charts) > side*side {
		return nil, fmt.Errorf("%d charts do not fit into a texture of %d x %d texels", len(charts), side, side)
	}
	area := 0.0
	for i := range charts {
		area += float64(charts[i].Size[0] * charts[i].Size[1])
	}
	if !(area > 0) {
		area = 1
	}
	best := &Layout{Charts: charts, Side: side}
	for _, gutter := range []int{wideGutter, narrowGutter, 0} {
		// The area alone bounds the scale from above.
		lo, hi := 0.0, float64(side)/math.Sqrt(area)
		var places []Place
		for range 12 {
			mid := (lo + hi) / 2
			if p := shelve(charts, side, mid, gutter); p != nil {
				lo, places = mid, p
			} else {
				hi = mid
			}
		}
		// A narrower gutter is worth it where it buys at least a third of the scale.
		if places != nil && (best.Places == nil || lo > float64(best.Scale*1.33)) {
			best.Scale, best.Places = lo, places
		}
	}
	if best.Places == nil {
		best.Places = shelve(charts, side, 0, 0)
	}
	return best, nil
}

// shelve places charts in rows of falling height, each in the lowest row that has
// room for it. It returns nil if they do not fit.
func shelve(charts []Chart, side int, scale float64, gutter int) []Place {
	out := make([]Place, len(charts))
	order := make([]int, len(charts))
	for i := range charts {
		s := charts[i].Size
		w, h := texels(s[0], scale), texels(s[1], scale)
		if w > side || h > side {
			return nil
		}
		// A chart of a few texels is not worth a gutter of as many.
		out[i] = Place{W: w, H: h, Gutter: min(gutter, max(w, h)/4)}
		order[i] = i
	}
	room := func(n int, p *Place) int {
		n += 2 * p.Gutter
		if p.Gutter < wideGutter {
			return n
		}
		return n + n&1
	}
	height := func(i int) int { return room(out[i].H, &out[i]) }
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(height(b), height(a)), cmp.Compare(out[b].W, out[a].W))
	})
	type row struct{ x, y, height int }
	var rows []row
	top, open := 0, 0 // rows before open are full
	for _, i := range order {
		p := &out[i]
		w, h := room(p.W, p), room(p.H, p)
		at := -1
		for r := open; r < len(rows); r++ {
			if rows[r].x+w <= side {
				at = r
				break
			}
		}
		if at < 0 {
			if w > side || top+h > side {
				return nil
			}
			rows = append(rows, row{y: top, height: h})
			at = len(rows) - 1
			top += h
		}
		p.X, p.Y = rows[at].x+p.Gutter, rows[at].y+p.Gutter
		rows[at].x += w
		for open < len(rows) && rows[open].x >= side {
			open++
		}
	}
	return out
}

func texels(metres, scale float64) int {
	n := math.Ceil(float64(metres*scale) - 1e-6)
	if !(n < 1<<20) {
		return 1 << 20
	}
	return max(1, int(n))
}

// Texel returns where a corner of a chart lies, in texels of the square. Without a gutter
// it lies half a texel within the chart's place at least, so that nothing beside is read
// with it.
func (l *Layout) Texel(chart, triangle, corner int) [2]float64 {
	p, uv := &l.Places[chart], l.Charts[chart].UV[triangle][corner]
	inset := 0.0
	if p.Gutter == 0 {
		inset = 0.5
	}
	at := func(metres float64, size int) float64 {
		return max(inset, min(float64(metres*l.Scale), float64(size)-inset))
	}
	return [2]float64{float64(p.X) + at(uv[0], p.W), float64(p.Y) + at(uv[1], p.H)}
}

// Mesh returns the coarse mesh with the texture coordinates of a layout: corners
// that are alike share a vertex. From tells for each vertex of the result which one
// of the input it was.
func (l *Layout) Mesh(indices []uint32) (out []uint32, uv [][2]float32, from []uint32) {
	type key struct {
		vertex uint32
		uv     [2]float32
	}
	seen := map[key]uint32{}
	out = make([]uint32, len(indices))
	for c := range l.Charts {
		for k, t := range l.Charts[c].Triangles {
			for corner := range 3 {
				p := l.Texel(c, k, corner)
				at := [2]float32{float32(p[0] / float64(l.Side)), float32(p[1] / float64(l.Side))}
				i := key{indices[3*int(t)+corner], at}
				v, ok := seen[i]
				if !ok {
					v = uint32(len(uv))
					seen[i] = v
					uv, from = append(uv, at), append(from, i.vertex)
				}
				out[3*int(t)+corner] = v
			}
		}
	}
	return slices.Clip(out), uv, from
}
