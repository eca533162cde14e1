package pyramid

import (
	"github.com/untoldkit/untold/cook/appearance"
	"github.com/untoldkit/untold/cook/internal/bake"
	"github.com/untoldkit/untold/cook/internal/texture"
	"github.com/untoldkit/untold/internal/geom"
)

// Join describes models side by side: the triangles of each are a group, numbered as
// the models are. A nil model is a group without triangles.
func Join(models []*Model) *Source {
	s := &Source{}
	f := &s.Surface
	for i, m := range models {
		if m == nil {
			continue
		}
		base, material := uint32(len(f.Positions)), int32(len(f.Looks))
		f.Positions = append(f.Positions, m.Mesh.Positions...)
		f.Normals = append(f.Normals, m.Mesh.Normals...)
		f.Tangents = append(f.Tangents, m.Mesh.Tangents...)
		f.UV[0] = append(f.UV[0], m.Mesh.UV[0]...)
		for _, v := range m.Mesh.Indices {
			f.Indices = append(f.Indices, base+v)
		}
		for range len(m.Mesh.Indices) / 3 {
			s.Groups = append(s.Groups, int32(i))
			f.Materials = append(f.Materials, material)
		}
		f.Looks = append(f.Looks, m.bakeLook())
		s.Looks = append(s.Looks, m.look())
		s.Geometric, s.Visual = max(s.Geometric, m.Geometric), max(s.Visual, m.Visual)
	}
	return s
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

// Leaf describes full geometry, part after part.
func Leaf(parts []Part) *Source {
	s := &Source{}
	f := &s.Surface
	for i := range parts {
		p := &parts[i]
		base := uint32(len(f.Positions))
		f.Positions = append(f.Positions, p.Positions...)
		f.Normals = append(f.Normals, p.Normals...)
		for k := range p.Positions {
			uv, color := [2]float32{}, [4]float32{1, 1, 1, 1}
			if p.UV != nil {
				uv = p.UV[k]
			}
			if p.Colors != nil {
				color = p.Colors[k]
			}
			f.UV[0], f.Colors = append(f.UV[0], uv), append(f.Colors, color)
		}
		for _, v := range p.Indices {
			f.Indices = append(f.Indices, base+v)
		}
		for range len(p.Indices) / 3 {
			f.Materials = append(f.Materials, int32(i))
		}
		f.Looks, s.Looks = append(f.Looks, p.Bake), append(s.Looks, p.Look)
	}
	return s
}
