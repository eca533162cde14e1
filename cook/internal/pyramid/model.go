package pyramid

import (
	"fmt"

	"github.com/untoldkit/untold/cook/appearance"
	"github.com/untoldkit/untold/cook/internal/bake"
	"github.com/untoldkit/untold/cook/internal/texture"
	"github.com/untoldkit/untold/cook/measure"
	"github.com/untoldkit/untold/cook/mesh"
	"github.com/untoldkit/untold/cook/simplify"
	"github.com/untoldkit/untold/internal/geom"
)

// Source is a surface that a model is made of.
type Source struct {
	Surface bake.Surface
	// Groups tells triangles of different children apart; nil: there is one.
	Groups []int32
	// Looks say how the materials of the surface are seen, as Surface.Looks.
	Looks []appearance.Material
	// Geometric and Visual are how far the surface is from the scene already, metres.
	Geometric, Visual float64

	least struct{ geometric, visual float64 } // of its models, metres: what stands for it is off by as much
	cards []bool                              // by triangle: it is of a model's card; nil: none is
	fresh []bool                              // by triangle: it is of no model; nil: none is
}

// Model stands in for a source.
type Model struct {
	Mesh        mesh.Mesh // with normals, tangents and texture coordinates
	Groups      []int32   // by triangle, as in the source
	Atlas       *bake.Atlas
	DoubleSided bool
	Geometric   float64 // greatest distance from the scene, metres
	Visual      float64 // size of what is seen of the difference, metres
	Texels      int     // that show something

	coarse *simplify.Mesh
	layout *bake.Layout
	lit    *appearance.Texture
	cards  []bake.Card // of the last triangles
	solid  int         // triangles before those of cards
}

// Options bound a model.
type Options struct {
	Triangles     int // at most, but for two of each part that nothing can be left of
	Side          int // of the square of base colours, texels
	OcclusionRays int // 0: the source's own occlusion counts alone
	Samples       int // along each side of a texel; 0 stands for 1
	// Cell is what the source was cut to: its neighbours find the same border. Edges
	// there are simplified within Tolerance metres, but for those of things that were cut
	// along less than CutLeast metres, which may go.
	Cell      *geom.Box
	Tolerance float64
	CutLeast  float64
	// Flush is how far in metres something may stand off a larger surface and be shown
	// by that one's texture alone.
	Flush float64
	// LookSide, above 0, is how many pixels pictures have at least, see
	// appearance.SetLeast.
	LookSide float64
	Jobs     int
}

// Distances in parts of the diagonal of a source.
const (
	reachLeast     = 0.004 // baked texels look at least so far for their surface
	reachMost      = 0.03
	ahead          = 0.012 // what has vanished stood off at most so far
	occlusionReach = 0.04
)

// Build makes a model. It returns nil where no triangle is left, as of a source
// without area.
func Build(s *Source, o Options) (*Model, error) {
	d := &division{s: s, o: o}
	if err := d.divide(); err != nil {
		return nil, err
	}
	surface, coarse := s.Surface, d.coarse
	surface.Loose = d.loose
	charts := bake.Unwrap(coarse.Positions, coarse.Indices)
	solid := len(coarse.Indices) / 3
	cards := d.stood.join(coarse, &charts)
	if len(coarse.Indices) == 0 {
		return nil, nil
	}
	layout, err := bake.Pack(charts, o.Side)
	if err != nil {
		return nil, err
	}
	m := &Model{Groups: coarse.Groups, coarse: coarse, layout: layout, cards: cards, solid: solid}
	m.fill()
	surface.Index = d.index()
	own := measure.Farthest(surface.Index, measure.NewIndex(&measure.Surface{Positions: m.Mesh.Positions, Indices: m.Mesh.Indices}))
	box := m.Mesh.Bounds()
	diagonal := box.Size().Len()
	m.Atlas, err = bake.Bake(&surface, &bake.Coarse{
		Positions: m.Mesh.Positions, Indices: m.Mesh.Indices, Normals: m.Mesh.Normals, Tangents: m.Mesh.Tangents, Cards: cards,
	}, layout, bake.Options{
		Reach: max(float64(reachLeast*diagonal), min(own, float64(reachMost*diagonal))),
		Ahead: max(o.Flush, float64(ahead*diagonal)), OcclusionRays: o.OcclusionRays, Samples: o.Samples, OcclusionReach: float64(occlusionReach * diagonal),
		Encode: texture.FromLinear, Jobs: o.Jobs,
	})
	if err != nil {
		return nil, fmt.Errorf("bake: %w", err)
	}
	for i := range layout.Places {
		m.Texels += layout.Places[i].W * layout.Places[i].H
	}
	m.DoubleSided = s.doubleSided(surface.Loose)
	m.Geometric = max(s.Geometric+own, s.least.geometric)
	m.Visual = max(s.Visual+m.match(s, layout.Scale, o.LookSide), s.least.visual)
	return m, nil
}

// leastSide is that of the smallest square of base colours, texels.
const leastSide = 64

// Shown returns the model with a square no larger than is seen: where its error covers
// two pixels, a texel covers one, or as much of it as the model has texels for. Cards need
// twice as many along a side: a texel of theirs is there or not.
func (m *Model) Shown() *Model {
	wide := 2.0
	if len(m.cards) > 0 {
		wide = max(wide, 4/m.cards[0].Scale)
	}
	for side := leastSide; side < m.layout.Side; side *= 2 {
		l, err := bake.Pack(m.layout.Charts, side)
		if err != nil || l.Scale*m.Visual/wide < 1 {
			continue // more charts than texels, or too coarse
		}
		out := *m
		out.layout, out.lit = l, nil
		out.fill()
		out.Atlas = m.Atlas.Shrink(m.layout, l, texture.Linear, texture.FromLinear)
		return &out
	}
	return m
}

// TextureScale returns which part of the side of its textures lies on a metre of the model, 0
// where charts have a texel each. What a chart narrower than a texel shows is no coarser for
// that, though its coordinates lie closer together.
func (m *Model) TextureScale() float64 {
	scale := m.layout.Scale / float64(m.layout.Side)
	if len(m.cards) > 0 {
		scale = float64(scale * min(1, m.cards[0].Scale))
	}
	return scale
}

// doubleSided reports whether most of a source is seen from both sides. One material
// serves all of a model, and a wall that shows where there was none is worse than a
// leaf that does not. What is loose has cards with two sides.
func (s *Source) doubleSided(loose []bool) bool {
	f := &s.Surface
	sum := 0.0
	for t, m := range f.Materials {
		if loose != nil && loose[t] {
			continue
		}
		i := f.Indices[3*t : 3*t+3]
		a := f.Positions[i[0]]
		area := f.Positions[i[1]].Sub(a).Cross(f.Positions[i[2]].Sub(a)).Len()
		if !f.Looks[m].DoubleSided {
			area = -area
		}
		sum += area
	}
	return sum > 0
}

// fill takes the coarse mesh with the texture coordinates of its charts.
func (m *Model) fill() {
	indices, uv, from := m.layout.Mesh(m.coarse.Indices)
	m.Mesh = mesh.Mesh{Indices: indices, UV: [2][][2]float32{uv}}
	for _, v := range from {
		m.Mesh.Positions = append(m.Mesh.Positions, m.coarse.Positions[v])
		m.Mesh.Normals = append(m.Mesh.Normals, m.coarse.Normals[v])
	}
	setTangents(&m.Mesh)
}

// match gives the model the colours with which it looks most like a source, and
// returns the size of what is seen of the difference that is left.
func (m *Model) match(s *Source, scale, lookSide float64) float64 {
	full := &appearance.Mesh{
		Positions: s.Surface.Positions, Normals: s.Surface.Normals, UV: s.Surface.UV[0], Colors: s.Surface.Colors,
		Indices: s.Surface.Indices, Materials: s.Surface.Materials,
	}
	own := len(s.Looks)
	coarse := m.seen(own)
	surface, cards := m.looks()
	r := appearance.NewFar(full, append(s.Looks[:own:own], surface, cards))
	if lookSide > 0 {
		r.SetLeast(lookSide)
	}
	if scale > 0 {
		a := m.Atlas
		t := &appearance.Texels{Image: a.Color, At: a.Texels, Points: a.Points, Faces: a.Faces, Size: 1 / scale}
		if len(m.cards) > 0 {
			t.At, t.Points, t.Faces = nil, nil, nil
			card := a.CardOf()
			for i, at := range a.Texels {
				if card[i] < 0 || a.Color.Pix[4*at+3] > 0 {
					t.At, t.Points, t.Faces = append(t.At, at), append(t.Points, a.Points[i]), append(t.Faces, a.Faces[i])
					t.Pools = append(t.Pools, card[i])
				}
			}
		}
		r.Match(coarse, own, 2, t, texture.Linear, texture.FromLinear, a.Fill)
	}
	return r.Error(coarse)
}

// seen returns the model as it is seen, with looks from an index on.
func (m *Model) seen(own int) *appearance.Mesh {
	out := &appearance.Mesh{
		Positions: m.Mesh.Positions, Normals: m.Mesh.Normals, UV: m.Mesh.UV[0], Indices: m.Mesh.Indices,
		Materials: make([]int32, len(m.Mesh.Indices)/3),
	}
	for t := range out.Materials {
		if out.Materials[t] = int32(own); t >= m.solid {
			out.Materials[t]++
		}
	}
	return out
}

// light says how bright the model's baked normals are; nil where it has none.
func (m *Model) light() *appearance.Texture {
	img := m.Atlas.Normal
	if img == nil || m.lit != nil {
		return m.lit
	}
	c := &bake.Coarse{Positions: m.Mesh.Positions, Indices: m.Mesh.Indices, Normals: m.Mesh.Normals, Tangents: m.Mesh.Tangents}
	m.lit = appearance.NewLight(c.ReadNormals(m.Mesh.UV[0], img), img.Rect.Dx())
	return m.lit
}

// looks say how the model's material is seen, without what it emits: on its surface, and on
// cards, whose two sides share their texels, so that their vertices are lit.
func (m *Model) looks() (surface, cards appearance.Material) {
	surface = appearance.Material{
		Color: [4]float32{1, 1, 1, 1}, Texture: appearance.NewTexture(m.Atlas.Color, texture.Linear), Light: m.light(),
		Masked: m.Atlas.Coverage, Cutoff: 0.5, DoubleSided: m.DoubleSided,
	}
	cards = surface
	cards.Light = nil
	return surface, cards
}
