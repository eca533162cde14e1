package bake

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Gutters are texels round every chart. A gutter of 2, 4, 8 texels begins at multiples of
// as many, so that the first 1, 2, 3 smaller mips mix no two charts: a surface that is
// seen at a low angle takes these though it lies near. A chart has gutterPart times the
// texels of its gutter at least along its shorter side, but for the narrower ones.
const (
	widestGutter = 8
	wideGutter   = 2
	narrowGutter = 1
	gutterPart   = 12
)

// worthNarrow is how much larger the scale must be with a narrower gutter to be worth it.
const worthNarrow = 1.33

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
		if best.Places != nil && shelve(charts, side, float64(best.Scale*worthNarrow), gutter) == nil {
			continue
		}
		var places []Place
		for range 12 {
			mid := (lo + hi) / 2
			if p := shelve(charts, side, mid, gutter); p != nil {
				lo, places = mid, p
			} else {
				hi = mid
			}
		}
		if places != nil && (best.Places == nil || lo > float64(best.Scale*worthNarrow)) {
			best.Scale, best.Places = lo, places
		}
	}
	if best.Places == nil {
		best.Places = shelve(charts, side, 0, 0)
	}
	return best, nil
}

// shelve places charts by falling height, each where its top is lowest. It returns nil
// if they do not fit.
func shelve(charts []Chart, side int, scale float64, gutter int) []Place {
	out := make([]Place, len(charts))
	order := make([]int, len(charts))
	taken := 0
	for i := range charts {
		s := charts[i].Size
		w, h := texels(s[0], scale), texels(s[1], scale)
		if w > side || h > side {
			return nil
		}
		out[i] = Place{W: w, H: h, Gutter: gutterOf(w, h, gutter)}
		order[i] = i
		if taken += out[i].room(w) * out[i].room(h); taken > side*side {
			return nil
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		p, q := &out[a], &out[b]
		return cmp.Or(cmp.Compare(q.room(q.H), p.room(p.H)), cmp.Compare(q.W, p.W))
	})
	line := newSkyline(side)
	for _, i := range order {
		p := &out[i]
		x, y, ok := line.put(p.room(p.W), p.room(p.H), p.align())
		if !ok {
			return nil
		}
		p.X, p.Y = x+p.Gutter, y+p.Gutter
	}
	return out
}

// gutterOf returns the gutter of a chart of w x h texels: wider ones for larger charts,
// since these are seen in smaller mips, and so little that they cost the more.
func gutterOf(w, h, gutter int) int {
	// A chart of a few texels is not worth a gutter of as many.
	g := min(gutter, max(w, h)/4)
	if g < wideGutter {
		return g
	}
	for g < widestGutter && min(w, h) >= 2*g*gutterPart {
		g *= 2
	}
	return g
}

// align is what the corner of a chart's place, with its gutter, is a multiple of.
func (p *Place) align() int {
	if p.Gutter < wideGutter {
		return 1
	}
	return p.Gutter
}

// room returns how many texels a chart takes along a side that has n itself.
func (p *Place) room(n int) int { return up(n+2*p.Gutter, p.align()) }

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
