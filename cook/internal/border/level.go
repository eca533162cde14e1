package border

import (
	"math"
	"slices"

	"github.com/untoldkit/untold/cook/simplify"
	"github.com/untoldkit/untold/internal/geom"
)

// Cell is what geometry was cut to. Cells that share a side agree in Width, and in what
// is Beside it, to the last bit.
type Cell struct {
	Box    geom.Box
	Width  float64    // of all cells, seen from above: the smaller way across, metres
	Beside [6]float64 // triangles at each side, lower side of X first
	Alone  [6]bool    // sides beyond which no cell is: geometry ends there
}

// Border is how what was cut on the sides of a cell gets coarser.
type Border struct {
	mesh   *simplify.Mesh
	labels []int32
	cell   *Cell
	on     []uint8
	walls  [sides]map[geom.Vec3]bool // corners of triangles that lie in a side
	steps  [sides][]step
}

const (
	// offMost is the greatest part of a cell's width that anything may move, and offUnit
	// that of a level of half the triangles. It grows with the square of what is left out
	// for each triangle that stays. Cells wider than widest count as that: they have more
	// triangles for each edge of their border, so that it is not what stops them. Found on
	// a city with tiles of 25 to 128 m, whose finer levels would else begin farther away
	// for their borders alone.
	offMost = 1.0 / 40
	offUnit = 1.0 / 6000
	widest  = 30.0 // metres
	// sideShare is the part of a level's triangles that may lie at one side; the edges of
	// all four then take half of them. Few may stay anyway.
	sideShare = 1.0 / 8
	few       = 4
)

// reach is the width that the distances count by.
func (c *Cell) reach() float64 { return min(c.Width, widest) }

// Find looks for what was cut at the sides of a cell. Labels tell the materials of
// groups apart: the same ones on both sides. It returns nil where nothing was cut.
func Find(m *simplify.Mesh, labels []int32, cell *Cell) *Border {
	b := &Border{mesh: m, cell: cell, on: sidesOf(m.Positions, &cell.Box), labels: make([]int32, m.Triangles())}
	for t, g := range m.Groups {
		b.labels[t] = labels[g]
	}
	any := false
	for side := range sides {
		b.walls[side] = b.wallsOf(side)
		if g := newGraph(m, b.labels, b.on, side); g != nil {
			b.steps[side] = g.plan(b.cell.reach() * offMost)
			any = true
		}
	}
	if !any {
		return nil
	}
	return b
}

// wallsOf returns the corners of triangles that lie in a side.
func (b *Border) wallsOf(side int) map[geom.Vec3]bool {
	out := map[geom.Vec3]bool{}
	for i := 0; i+2 < len(b.mesh.Indices); i += 3 {
		t := b.mesh.Indices[i : i+3]
		if b.on[t[0]]&b.on[t[1]]&b.on[t[2]]&(1<<side) != 0 {
			for _, v := range t {
				out[b.mesh.Positions[v]] = true
			}
		}
	}
	return out
}

// Edge is what a level has of a border, between two places.
type Edge struct {
	Ends  [2]geom.Vec3
	side  int
	stood []geom.Vec3 // places that it stands for
}

// Level is a border with some part of its edges. The places of a coarser one are among
// those of the finer ones.
type Level struct {
	cell   geom.Box
	edges  []Edge
	chains []chain
	walls  *[sides]map[geom.Vec3]bool
	moved  map[geom.Vec3]geom.Vec3 // places that go, and where they go to
	kept   map[geom.Vec3]bool
	steps  [sides]int
}

// At returns the border of a level with a part of the triangles. Each side loses places,
// first those in whose absence nothing changes, until it has no more edges than its share
// of the triangles, or would be too far off. What ends at sides that no other cell has is
// no border of levels that are free there: the outline of a scene can then bend as all else
// does, which is worth it only where hardly anything may stay.
func (b *Border) At(ratio float64, free bool) *Level {
	l := &Level{cell: b.cell.Box, walls: &b.walls, moved: map[geom.Vec3]geom.Vec3{}, kept: map[geom.Vec3]bool{}}
	for side := range sides {
		if free && b.cell.Alone[side] {
			continue
		}
		g := newGraph(b.mesh, b.labels, b.on, side)
		if g == nil {
			continue
		}
		most, limit := b.mostOf(side, ratio), b.limitOf(ratio)
		steps, ways := b.steps[side], g.ways()
		n := 0
		for n < len(steps) && steps[n].cost <= limit && steps[n].left > most {
			g.collapse(steps[n].from, steps[n].to)
			n++
		}
		l.steps[side] = n
		for _, s := range slices.Backward(steps[:n]) {
			to := g.places[s.to].at
			if at, ok := l.moved[to]; ok {
				to = at
			}
			l.moved[g.places[s.from].at] = to
		}
		for i := range g.edges {
			if e := &g.edges[i]; !e.gone {
				a, b := g.places[e.ends[0]].at, g.places[e.ends[1]].at
				l.edges = append(l.edges, Edge{Ends: [2]geom.Vec3{a, b}, side: side, stood: e.stood})
				l.kept[a], l.kept[b] = true, true
				if c, ok := ways.chainOf(g, e); ok {
					l.chains = append(l.chains, c)
				}
			}
		}
	}
	return l
}

// mostOf is how many of a side's edges a level may keep: its share of the triangles,
// where all sides have a part of them.
func (b *Border) mostOf(side int, ratio float64) int {
	return max(few, int(math.Ceil(float64(ratio*b.cell.Beside[side])*sideShare)))
}

// limitOf is how far a level may move what is on a side, metres.
func (b *Border) limitOf(ratio float64) float64 {
	return b.cell.reach() * min(offMost, float64(offUnit*(1/ratio-1)*(1/ratio-1)))
}

// Same reports whether two levels of one border are alike.
func (l *Level) Same(o *Level) bool { return l.steps == o.steps }

// Locked marks the vertices of a mesh that are places of the border: nil if there are
// none.
func (l *Level) Locked(m *simplify.Mesh) []bool {
	if len(l.kept) == 0 {
		return nil
	}
	out := make([]bool, len(m.Positions))
	for i, p := range m.Positions {
		out[i] = l.on(p) && l.kept[p]
	}
	return out
}

// on reports whether a point lies on a side.
func (l *Level) on(p geom.Vec3) bool {
	for side := range sides {
		if float32(p[side/2]) == planeOf(&l.cell, side) {
			return true
		}
	}
	return false
}
