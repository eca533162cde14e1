package pyramid

import (
	"github.com/untoldkit/untold/cook/appearance"
	"github.com/untoldkit/untold/cook/internal/bake"
	"github.com/untoldkit/untold/cook/internal/texture"
	"github.com/untoldkit/untold/internal/geom"
)

// Child is what a source is joined of: a model, or full geometry, or nothing.
type Child struct {
	Model *Model
	// Of is what the model was made of, if that is models, too. They are closer to the scene,
	// and what is made of them is no farther off for what the model lacks.
	Of    []*Model
	Parts []Part
}

// ofMost is how many models a source is joined of at most: where those that children were made
// of are more, the children themselves are.
const ofMost = 32

// models returns what children are joined of, by child.
func models(children []Child) [][]*Model {
	n := 0
	for i := range children {
		if c := &children[i]; c.Model != nil {
			n += max(1, len(c.Of))
		}
	}
	out := make([][]*Model, len(children))
	for i := range children {
		switch c := &children[i]; {
		case c.Model == nil:
		case len(c.Of) > 0 && n <= ofMost:
			out[i] = c.Of
		default:
			out[i] = []*Model{c.Model}
		}
	}
	return out
}

// Empty reports whether nothing is there.
func (c *Child) Empty() bool { return c.Model == nil && len(c.Parts) == 0 }

// Part is full geometry with one material.
type Part struct {
	Positions []geom.Vec3
	Normals   [][3]float32
	UV        [][2]float32 // nil: none
	Colors    [][4]float32 // nil: white
	Indices   []uint32
	Bake      bake.Look
	Look      appearance.Material
}

// Join describes children side by side: the triangles of each are a group, numbered as
// the children are.
func Join(children []Child) *Source {
	s := &Source{}
	of := models(children)
	s.reserve(children, of)
	for i := range children {
		if m := children[i].Model; m != nil {
			s.least.geometric, s.least.visual = max(s.least.geometric, m.Geometric), max(s.least.visual, m.Visual)
		}
		for _, m := range of[i] {
			first := len(s.Groups)
			surface, cards := m.looks()
			p := &Part{Positions: m.Mesh.Positions, Normals: m.Mesh.Normals, UV: m.Mesh.UV[0], Indices: m.Mesh.Indices, Bake: m.bakeLook(), Look: surface}
			s.add(int32(i), p, m.Mesh.Tangents)
			if of := s.Surface.Materials[first+m.solid:]; len(of) > 0 {
				for i := range of {
					of[i] = int32(len(s.Looks))
				}
				s.Surface.Looks, s.Looks = append(s.Surface.Looks, p.Bake), append(s.Looks, cards)
			}
			s.cards = marked(s.cards, first+m.solid, len(s.Groups))
			s.Geometric, s.Visual = max(s.Geometric, m.Geometric), max(s.Visual, m.Visual)
		}
		for k := range children[i].Parts {
			first := len(s.Groups)
			s.add(int32(i), &children[i].Parts[k], nil)
			s.fresh = marked(s.fresh, first, len(s.Groups))
		}
	}
	for _, list := range []*[]bool{&s.cards, &s.fresh} {
		if *list != nil {
			*list = append(*list, make([]bool, len(s.Groups)-len(*list))...)
		}
	}
	return s
}

// marked appends what is true from a triangle up to another, false before it.
func marked(list []bool, from, to int) []bool {
	if from >= to {
		return list
	}
	list = append(list, make([]bool, to-len(list))...)
	for t := from; t < to; t++ {
		list[t] = true
	}
	return list
}

// reserve makes room for children, and the models that they are joined of.
func (s *Source) reserve(children []Child, of [][]*Model) {
	vertices, indices := 0, 0
	for i := range children {
		for _, m := range of[i] {
			vertices, indices = vertices+len(m.Mesh.Positions), indices+len(m.Mesh.Indices)
		}
		for k := range children[i].Parts {
			p := &children[i].Parts[k]
			vertices, indices = vertices+len(p.Positions), indices+len(p.Indices)
		}
	}
	f := &s.Surface
	f.Positions, f.Normals, f.Tangents = make([]geom.Vec3, 0, vertices), make([][3]float32, 0, vertices), make([][4]float32, 0, vertices)
	f.UV[0], f.Colors = make([][2]float32, 0, vertices), make([][4]float32, 0, vertices)
	f.Indices, f.Materials, s.Groups = make([]uint32, 0, indices), make([]int32, 0, indices/3), make([]int32, 0, indices/3)
}

// add adds a part to a group. Without tangents its normals are baked as they are.
func (s *Source) add(group int32, p *Part, tangents [][4]float32) {
	f := &s.Surface
	base, material := uint32(len(f.Positions)), int32(len(f.Looks))
	f.Positions = append(f.Positions, p.Positions...)
	f.Normals = append(f.Normals, p.Normals...)
	for k := range p.Positions {
		uv, color, tangent := [2]float32{}, [4]float32{1, 1, 1, 1}, [4]float32{}
		if p.UV != nil {
			uv = p.UV[k]
		}
		if p.Colors != nil {
			color = p.Colors[k]
		}
		if tangents != nil {
			tangent = tangents[k]
		}
		f.UV[0], f.Colors, f.Tangents = append(f.UV[0], uv), append(f.Colors, color), append(f.Tangents, tangent)
	}
	for _, v := range p.Indices {
		f.Indices = append(f.Indices, base+v)
	}
	for range len(p.Indices) / 3 {
		s.Groups, f.Materials = append(s.Groups, group), append(f.Materials, material)
	}
	f.Looks, s.Looks = append(f.Looks, p.Bake), append(s.Looks, p.Look)
}

// bakeLook is the model's material as a surface to bake from.
func (m *Model) bakeLook() bake.Look {
	a := m.Atlas
	l := bake.Look{
		BaseColor: [4]float32{1, 1, 1, 1}, Metallic: a.Metallic, Roughness: a.Roughness, NormalScale: 1, OcclusionStrength: 1,
		Emissive: a.EmissiveColor, Masked: a.Coverage, Cutoff: 0.5, DoubleSided: m.DoubleSided,
		Color: bake.Texture{Image: bake.NewImage(a.Color, texture.Linear)},
	}
	plain := func(v uint8) float32 { return float32(v) / 255 }
	if a.ORM != nil {
		orm := bake.NewImage(a.ORM, plain)
		l.MetalRough, l.Occlusion = bake.Texture{Image: orm}, bake.Texture{Image: orm}
	}
	if a.Normal != nil {
		l.Normal = bake.Texture{Image: bake.NewImage(a.Normal, plain)}
	}
	if a.Emissive != nil {
		l.Emission = bake.Texture{Image: bake.NewImage(a.Emissive, texture.Linear)}
	}
	return l
}
