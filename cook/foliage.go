package cook

import (
	"math"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/simplify"
	"github.com/untoldkit/untold/internal/geom"
)

// Leaf cards go one by one, and what is left of a crown would thin out. As in
// stochastic simplification (Cook and others, "Stochastic Simplification of
// Aggregate Detail", 2007), those that stay grow, so that the area is kept.

const (
	// groveCards is the side of the cubes in which the area is kept, in sides of an
	// average card: about a crown.
	groveCards = 5.0
	// mostGrowth bounds the factor of a card's side: one card is no tree.
	mostGrowth = 2.0
)

// isFoliage reports whether a material is cut out of its texture and seen from both
// sides, as leaves are.
func isFoliage(m *gltfscene.Material) bool {
	return m.AlphaMode != gltfscene.AlphaOpaque && m.DoubleSided && m.BaseColorTex.Image >= 0
}

// card is a flat piece of foliage.
type card struct {
	group    int32
	area     float64
	centre   geom.Vec3
	vertices []uint32
}

// grove is a cube of cards of one group.
type grove struct {
	group int32
	at    [3]int
}

// foliage is how much area there is of the full geometry's cards.
type foliage struct {
	is   []bool // by group
	box  geom.Box
	side float64 // of a cube
	area map[grove]float64
}

// newFoliage measures the full geometry. It returns nil if there are no cards.
func newFoliage(m *simplify.Mesh, is []bool) *foliage {
	f := &foliage{is: is, box: geom.EmptyBox(), area: map[grove]float64{}}
	list := f.cards(m)
	if len(list) == 0 {
		return nil
	}
	for _, p := range m.Positions {
		f.box = f.box.Extend(p)
	}
	sum := 0.0
	for i := range list {
		sum += list[i].area
	}
	f.side = groveCards * math.Sqrt(sum/float64(len(list)))
	for i := range list {
		f.area[f.groveOf(&list[i])] += list[i].area
	}
	return f
}

// cards finds the foliage that hangs together with nothing else.
func (f *foliage) cards(m *simplify.Mesh) []card {
	any := false
	for _, g := range m.Groups {
		any = any || f.is[g]
	}
	if !any {
		return nil
	}
	s := findSurfaces(m)
	number := make([]int32, len(s.pieces)) // of the card, from 1, by its first triangle
	known := make([]bool, len(m.Positions))
	var out []card
	for t, g := range m.Groups {
		piece := s.pieces.Root(int32(t))
		if !f.is[g] || s.round[piece] || s.many[piece] {
			continue
		}
		if number[piece] == 0 {
			out = append(out, card{group: g})
			number[piece] = int32(len(out))
		}
		c := &out[number[piece]-1]
		c.area += float64(normalOf(m, t).Len() / 2)
		for _, v := range m.Indices[3*t : 3*t+3] {
			if !known[v] {
				known[v] = true
				c.vertices = append(c.vertices, v)
				c.centre = c.centre.Add(m.Positions[v])
			}
		}
	}
	for i := range out {
		out[i].centre = out[i].centre.Scale(1 / float64(len(out[i].vertices)))
	}
	return out
}

func (f *foliage) groveOf(c *card) grove {
	g := grove{group: c.group}
	for k, x := range c.centre {
		g.at[k] = int(math.Floor(x / f.side))
	}
	return g
}

// grow enlarges the cards of a level, in place.
func (f *foliage) grow(m *simplify.Mesh, cell *geom.Box) {
	list := f.cards(m)
	left := map[grove]float64{}
	for i := range list {
		left[f.groveOf(&list[i])] += list[i].area
	}
	for i := range list {
		c := &list[i]
		g := f.groveOf(c)
		k := math.Sqrt(f.area[g] / left[g])
		if !(k > 1) {
			continue
		}
		k = f.room(m, c, min(k, mostGrowth), cell)
		for _, v := range c.vertices {
			m.Positions[v] = c.centre.Add(m.Positions[v].Sub(c.centre).Scale(k))
		}
	}
}

// room returns how much a card may grow within the box of the full geometry. What
// was cut at the border of the cell stays, since the next tile goes on there.
func (f *foliage) room(m *simplify.Mesh, c *card, k float64, cell *geom.Box) float64 {
	for _, v := range c.vertices {
		p := m.Positions[v]
		if cell != nil && onSide(p, cell) {
			return 1
		}
		for axis, x := range p {
			off := x - c.centre[axis]
			switch {
			case off > 0:
				k = min(k, (f.box.Max[axis]-c.centre[axis])/off)
			case off < 0:
				k = min(k, (f.box.Min[axis]-c.centre[axis])/off)
			}
		}
	}
	return max(k, 1)
}
