package cook

import (
	"github.com/untoldkit/untold/cook/internal/forest"
	"github.com/untoldkit/untold/cook/simplify"
	"github.com/untoldkit/untold/internal/geom"
)

// parts are what vanishes from levels as a whole.
type parts struct {
	of    []int32 // by triangle
	whole []bool  // by part: it is a flat face with one look, no half of which may stay
}

const (
	// flatCosine is the least cosine between the normals of a flat face's triangles.
	flatCosine = 0.9998
	// flatShare is the part of the triangles that are in flat faces from which on
	// these count on their own, as in towns; models are of one piece.
	flatShare = 0.25
)

// corner is a vertex by what it is, wherever it is stored.
type corner struct {
	at     geom.Vec3
	normal [3]float32
	uv     [2]float32
	color  [4]float32
	group  int32
}

// cornerOf returns a vertex of a triangle.
func cornerOf(m *simplify.Mesh, t int, v uint32) corner {
	k := corner{at: m.Positions[v]}
	if m.Normals != nil {
		k.normal = m.Normals[v]
	}
	if m.UV[0] != nil {
		k.uv = m.UV[0][v]
	}
	if m.Colors != nil {
		k.color = m.Colors[v]
	}
	if m.Groups != nil {
		k.group = m.Groups[t]
	}
	return k
}

// surfaces are the pieces of a mesh: what hangs together, and within that charts,
// which share vertices and not places only. Both go by their first triangle.
type surfaces struct {
	pieces, charts forest.Forest
	round          []bool // by piece: some chart is not flat
	many           []bool // by piece: it has several charts
}

// findSurfaces divides a mesh.
func findSurfaces(m *simplify.Mesh) *surfaces {
	n := m.Triangles()
	s := &surfaces{forest.New(n), forest.New(n), make([]bool, n), make([]bool, n)}
	places, corners := make(map[geom.Vec3]int32, n), make(map[corner]int32, n)
	// What a vertex is, is looked up when it first occurs in a group.
	type use struct{ group, first int32 } // the first triangle + 1
	used := make([]use, len(m.Positions))
	for t := range n {
		group := int32(0)
		if m.Groups != nil {
			group = m.Groups[t]
		}
		for _, v := range m.Indices[3*t : 3*t+3] {
			if u := used[v]; u.first > 0 && u.group == group {
				s.charts.Unite(u.first-1, int32(t))
				continue
			}
			used[v] = use{group, int32(t) + 1}
			k := cornerOf(m, t, v)
			if first, ok := corners[k]; ok {
				s.charts.Unite(first, int32(t))
				continue // its place is known as well
			}
			corners[k] = int32(t)
			if first, ok := places[k.at]; ok {
				s.pieces.Unite(first, int32(t))
			} else {
				places[k.at] = int32(t)
			}
		}
	}
	for t := range s.charts {
		s.pieces.Unite(int32(t), s.charts.Root(int32(t)))
	}
	normals := make([]geom.Vec3, n)
	for t := range n {
		chart, piece := s.charts.Root(int32(t)), s.pieces.Root(int32(t))
		normals[t] = normalOf(m, t).Normalize(1e-300, geom.Vec3{})
		if !(normals[chart].Dot(normals[t]) >= flatCosine) {
			s.round[piece] = true
		}
		if chart != s.charts.Root(piece) {
			s.many[piece] = true
		}
	}
	s.facets()
	return s
}

// facets takes pieces most of whose faces are single triangles for round ones: a
// rock or a landscape that is shaded flat, of which no triangle can go alone.
func (s *surfaces) facets() {
	faces, triangles := make([]int, len(s.pieces)), make([]int, len(s.pieces))
	for t := range s.pieces {
		piece := s.pieces.Root(int32(t))
		triangles[piece]++
		if s.charts.Root(int32(t)) == int32(t) {
			faces[piece]++
		}
	}
	for piece, n := range faces {
		if n > 1 && 2*triangles[piece] < 3*n {
			s.round[piece] = true
		}
	}
}

// flat returns how many triangles are in pieces that have flat faces only.
func (s *surfaces) flat() int {
	n := 0
	for t := range s.pieces {
		if !s.round[s.pieces.Root(int32(t))] {
			n++
		}
	}
	return n
}

// parts makes a part of each piece; with faces, where it consists of flat ones
// only, of each of these: the panes of a window, the sides of a box.
func (s *surfaces) parts(faces bool) parts {
	out := parts{of: make([]int32, len(s.pieces))}
	number := make([]int32, len(s.pieces))
	for t := range s.pieces {
		root := s.pieces.Root(int32(t))
		whole := !s.round[root] && (faces || !s.many[root])
		if whole && faces {
			root = s.charts.Root(int32(t))
		}
		if number[root] == 0 {
			out.whole = append(out.whole, whole)
			number[root] = int32(len(out.whole))
		}
		out.of[t] = number[root] - 1
	}
	return out
}

// normalOf returns a triangle's normal; it is twice as long as the area is large.
func normalOf(m *simplify.Mesh, t int) geom.Vec3 {
	v := m.Indices[3*t : 3*t+3]
	a := m.Positions[v[0]]
	return m.Positions[v[1]].Sub(a).Cross(m.Positions[v[2]].Sub(a))
}

// divide tells the simplifier what goes as a whole, and what that costs. The first
// mesh that it sees is the full geometry, which decides whether faces count.
func (x *levelChain) divide(m *simplify.Mesh, o *simplify.Options) error {
	for i := range x.priced {
		if k := &x.priced[i]; k.mesh.Equal(m) {
			x.useParts(o, k)
			return nil
		}
	}
	s := findSurfaces(m)
	if !x.divided {
		x.divided, x.faces = true, float64(s.flat()) >= flatShare*float64(m.Triangles())
	}
	k := pricedMesh{mesh: m, parts: s.parts(x.faces)}
	if x.faces {
		if err := x.refer(); err != nil {
			return err
		}
		k.costs = x.seenCosts(m, &k.parts)
	} else {
		k.costs = sizeCosts(m, &k.parts)
	}
	if len(x.priced) == mostPriced {
		x.priced = x.priced[1:]
	}
	x.priced = append(x.priced, k)
	x.useParts(o, &k)
	return nil
}

// useParts hands parts to the simplifier. How it treats seams is otherwise the level's.
func (x *levelChain) useParts(o *simplify.Options, k *pricedMesh) {
	o.Parts, o.PartWhole, o.PartCosts = k.of, k.whole, k.costs
	if x.faces {
		o.Seams = simplify.SeamsRelax // corners stay sharp
	}
}

// mostPriced is how many meshes are remembered: two for each of two levels.
const mostPriced = 4

// pricedMesh is what divide found. Attempts at levels often begin with the same mesh.
type pricedMesh struct {
	mesh *simplify.Mesh
	parts
	costs []float64
}

// What the removal of a part costs is in the unit of collapses: an area times
// the square of a distance.
const (
	// seenWeight makes it of the area that would look different. It is one over the
	// square of the contrast of an edge, which is what a collapse moves.
	seenWeight = 10.0
	// hiddenShare is the part of its area that a part counts with at least, though
	// no side shows it.
	hiddenShare = 0.02
	// sizeWeight is the square of the part of a diagonal by which points are off.
	sizeWeight = 0.5
)

// seenCosts prices parts by what would change for a viewer.
func (x *levelChain) seenCosts(m *simplify.Mesh, p *parts) []float64 {
	area := make([]float64, len(p.whole))
	for t, k := range p.of {
		area[k] += float64(normalOf(m, t).Len() / 2)
	}
	out := make([]float64, len(p.whole))
	for i, s := range x.reference.Parts(seenMesh(m), p.of, len(out)) {
		change := max(float64(seenWeight*s.Change), float64(hiddenShare*area[i]))
		out[i] = float64(change * change)
	}
	return out
}

// sizeCosts prices parts by their area and extent, whatever they look like.
func sizeCosts(m *simplify.Mesh, p *parts) []float64 {
	area := make([]float64, len(p.whole))
	box := make([]geom.Box, len(p.whole))
	count := make([]int, len(p.whole))
	for i := range box {
		box[i] = geom.EmptyBox()
	}
	for t, k := range p.of {
		area[k] += float64(normalOf(m, t).Len() / 2)
		count[k]++
		for _, v := range m.Indices[3*t : 3*t+3] {
			box[k] = box[k].Extend(m.Positions[v])
		}
	}
	out := make([]float64, len(p.whole))
	for i := range out {
		size := box[i].Size()
		d2 := size.Dot(size)
		// A collapse removes two triangles; this one costs as much for all of them.
		out[i] = float64(float64(area[i]*d2)*sizeWeight) * (float64(count[i]) / 2)
	}
	return out
}
