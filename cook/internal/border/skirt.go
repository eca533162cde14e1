package border

import (
	"math"
	"slices"

	"github.com/untoldkit/untold/cook/simplify"
	"github.com/untoldkit/untold/internal/geom"
)

// Between the border of a level and that of the full geometry lie gaps in the plane of
// the side, each as deep as an edge is off. A neighbour of any level ends somewhere in
// between, so when both close their own, nothing shows through. A gap is closed by a
// strip along its edge: a triangle or a trapezoid that holds all places that the edge
// stands for. Where the edge is lower than they were, as the surface faces, the strip
// faces its own cell, from where one would look under the neighbour; where it is higher,
// the neighbour.

// skirt is a strip along an edge.
type skirt struct {
	triangle int
	corner   int // of the triangle, where the edge begins
	tips     []tip
	flip     bool // it faces against the order of the edge
}

// tip is a corner of a strip beyond its edge.
type tip struct {
	at   geom.Vec3
	part float64 // of the edge, from its beginning, 0 to 1
}

// gaps is what closes those of a mesh.
type gaps struct {
	strips []skirt
	// Triangles that simplification laid into the side, between places of the border. They
	// are a part of it, and are seen from both sides.
	flat []int
}

func (g *gaps) triangles() int {
	n := len(g.flat)
	for i := range g.strips {
		n += len(g.strips[i].tips)
	}
	return n
}

// Skirts is how many triangles Close would add to a mesh.
func (l *Level) Skirts(m *simplify.Mesh, least float64) int {
	g := l.gaps(m, least)
	return g.triangles()
}

// Close returns a mesh, which has the border of the level, with the gaps beside it
// closed that are deeper than least, metres. The mesh itself stays as it is.
func (l *Level) Close(m *simplify.Mesh, least float64) *simplify.Mesh {
	g := l.gaps(m, least)
	if g.triangles() == 0 {
		return m
	}
	out := *m
	out.Positions, out.Indices, out.Groups = slices.Clip(m.Positions), slices.Clip(m.Indices), slices.Clip(m.Groups)
	out.Normals, out.Colors = slices.Clip(m.Normals), slices.Clip(m.Colors)
	for set := range out.UV {
		out.UV[set] = slices.Clip(m.UV[set])
	}
	for i := range g.strips {
		g.strips[i].add(&out)
	}
	for _, t := range g.flat {
		i := m.Indices[3*t : 3*t+3]
		out.Indices = append(out.Indices, i[0], i[2], i[1])
		if m.Groups != nil {
			out.Groups = append(out.Groups, m.Groups[t])
		}
	}
	return &out
}

// add appends a strip. It looks like its edge.
func (s *skirt) add(m *simplify.Mesh) {
	a, b := m.Indices[3*s.triangle+s.corner], m.Indices[3*s.triangle+(s.corner+1)%3]
	fan := []uint32{a, b}
	for _, t := range s.tips {
		fan = append(fan, uint32(len(m.Positions)))
		m.Positions = append(m.Positions, t.at)
		near := a
		if t.part > 0.5 {
			near = b
		}
		if m.Normals != nil {
			m.Normals = append(m.Normals, m.Normals[near])
		}
		for set := range m.UV {
			if uv := m.UV[set]; uv != nil {
				m.UV[set] = append(uv, [2]float32{geom.Mix32(uv[a][0], uv[b][0], t.part), geom.Mix32(uv[a][1], uv[b][1], t.part)})
			}
		}
		if c := m.Colors; c != nil {
			m.Colors = append(c, c[near])
		}
	}
	for k := 2; k < len(fan); k++ {
		x, y := fan[k-1], fan[k]
		if s.flip {
			x, y = y, x
		}
		m.Indices = append(m.Indices, a, x, y)
		if m.Groups != nil {
			m.Groups = append(m.Groups, m.Groups[s.triangle])
		}
	}
}

// ends names an edge of a side.
type ends struct {
	side int
	a, b geom.Vec3
}

func endsOf(side int, a, b geom.Vec3) ends {
	if comparePlaces(a, b) > 0 {
		a, b = b, a
	}
	return ends{side, a, b}
}

// gaps finds what a mesh needs.
func (l *Level) gaps(m *simplify.Mesh, least float64) (out gaps) {
	number := make(map[ends]int, len(l.edges))
	off := make([]bool, len(l.edges))
	for i := range l.edges {
		e := &l.edges[i]
		number[endsOf(e.side, e.Ends[0], e.Ends[1])] = i
		off[i] = e.off(least)
	}
	on := sidesOf(m.Positions, &l.cell)
	type way struct {
		edge    int
		up, out bool
	}
	done := map[way]bool{}
	for t := range m.Triangles() {
		i := m.Indices[3*t : 3*t+3]
		if on[i[0]]&on[i[1]]|on[i[1]]&on[i[2]]|on[i[2]]&on[i[0]] == 0 {
			continue
		}
		for side := range sides {
			if on[i[0]]&on[i[1]]&on[i[2]]&(1<<side) != 0 {
				if !l.laid(m, i, side) {
					continue
				}
				out.flat = append(out.flat, t)
			}
			for k := range i {
				u, v := i[k], i[(k+1)%3]
				if on[u]&on[v]&(1<<side) == 0 {
					continue
				}
				e, ok := number[endsOf(side, m.Positions[u], m.Positions[v])]
				if !ok || !off[e] {
					continue
				}
				for _, s := range l.edges[e].strips(m, t, k, least) {
					if w := (way{e, s.up, s.out}); !done[w] {
						done[w] = true
						out.strips = append(out.strips, s.skirt)
					}
				}
			}
		}
	}
	return out
}

// laid reports whether a triangle came to lie in a side: it is between places, and no
// wall of the full geometry.
func (l *Level) laid(m *simplify.Mesh, triangle []uint32, side int) bool {
	wall := true
	for _, v := range triangle {
		p := m.Positions[v]
		if !l.kept[p] {
			return false
		}
		wall = wall && l.walls[side][p]
	}
	return !wall
}

// off reports whether a place that an edge stands for is farther beside it than least.
func (e *Edge) off(least float64) bool {
	for _, s := range e.stood {
		if fromSegment(s, e.Ends[0], e.Ends[1]) > max(least, exactOf(s)) {
			return true
		}
	}
	return false
}

// exactOf is what rounding moves a place, metres.
func exactOf(p geom.Vec3) float64 {
	return float64(max(math.Abs(p[0]), math.Abs(p[1]), math.Abs(p[2])) * exactness)
}

// strip is a skirt with what tells it apart from others along its edge.
type strip struct {
	skirt
	up  bool // to the side of the greater coordinates across the edge
	out bool // it faces out of the cell
}

// strips returns those of an edge along a triangle that has it, from its corner k on.
func (e *Edge) strips(m *simplify.Mesh, t, k int, least float64) (out []strip) {
	i := m.Indices[3*t : 3*t+3]
	a, b, c := m.Positions[i[k]], m.Positions[i[(k+1)%3]], m.Positions[i[(k+2)%3]]
	axis := e.side / 2
	var outward geom.Vec3
	if outward[axis] = -1; e.side%2 == 1 {
		outward[axis] = 1
	}
	d := b.Sub(a)
	length := d.Len()
	if !(length > 0) {
		return nil
	}
	along := d.Scale(1 / length)
	// Across the edge, in the plane; to the same side from whichever end.
	across := outward.Cross(along)
	if comparePlaces(a, b) > 0 {
		across = across.Scale(-1)
	}
	facing := d.Cross(c.Sub(a)).Dot(across) // where the triangle's front is
	for _, sign := range []float64{1, -1} {
		dir := across.Scale(sign)
		tips := e.tips(a, along, dir, length, least)
		if tips == nil {
			continue
		}
		normal := along.Cross(dir) // of the strip in the order of the edge
		for _, outside := range []bool{false, true} {
			// Beyond the front of the surface one looks from within, below it from outside;
			// at what lies in the side, from both.
			if facing*sign > 0 && outside || facing*sign < 0 && !outside {
				continue
			}
			s := strip{skirt: skirt{triangle: t, corner: k, tips: tips}, up: sign > 0, out: outside}
			s.flip = (normal.Dot(outward) > 0) != outside
			out = append(out, s)
		}
	}
	return out
}

// tips returns the corners of the smallest trapezoid over an edge that holds the places
// on one side of it, from the end of the edge to its beginning.
func (e *Edge) tips(a, along, dir geom.Vec3, length, least float64) []tip {
	deep := 0.0
	from, to := math.Inf(1), math.Inf(-1)
	for _, p := range e.stood {
		off := p.Sub(a)
		if d := off.Dot(dir); d > exactOf(p) {
			deep = max(deep, d)
			x := off.Dot(along)
			from, to = min(from, x), max(to, x)
		}
	}
	if deep <= least {
		return nil
	}
	axis := e.side / 2
	at := func(x float64) tip {
		p := a.Add(along.Scale(x)).Add(dir.Scale(deep))
		p[axis] = e.Ends[0][axis]
		return tip{at: p, part: min(1, max(0, x/length))}
	}
	if to-from <= float64(length*1e-3) {
		return []tip{at((from + to) / 2)}
	}
	return []tip{at(to), at(from)}
}
