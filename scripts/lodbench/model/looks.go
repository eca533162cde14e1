package model

import (
	"github.com/untoldkit/untold/cook/appearance"
	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/mesh"
	"github.com/untoldkit/untold/cook/palette"
)

// painter gives the materials of a scene the numbers that groups have: those
// that are used, in the order of their first use.
type painter struct {
	scene    *gltfscene.Scene
	groups   map[int]int32 // by material
	textures appearance.Textures
	looks    []appearance.Material
	palettes []palette.Look
}

func newPainter(s *gltfscene.Scene) *painter {
	return &painter{scene: s, groups: map[int]int32{}, textures: appearance.Textures{Images: s.Images}}
}

// group returns the group of a material of the scene; -1 is glTF's default one.
func (p *painter) group(material int) (int32, error) {
	if g, ok := p.groups[material]; ok {
		return g, nil
	}
	look, colors := appearance.Material{Color: [4]float32{1, 1, 1, 1}}, palette.Look{}
	if material >= 0 {
		look = appearance.Look(&p.scene.Materials[material])
		t, err := p.texture(p.scene.Materials[material].BaseColorTex.Image)
		if err != nil {
			return 0, err
		}
		look.Texture = t
		if colors, err = palette.LookOf(&p.scene.Materials[material], p.texture); err != nil {
			return 0, err
		}
	}
	g := int32(len(p.looks))
	p.groups[material], p.looks = g, append(p.looks, look)
	p.palettes = append(p.palettes, colors)
	return g, nil
}

// texture reads an image of the scene; -1 is none, and what cannot be read, such as
// KTX2, is drawn without.
func (p *painter) texture(i int) (*appearance.Texture, error) {
	if i < 0 {
		return nil, nil
	}
	return p.textures.Get(i)
}

// uv returns the texture coordinates with which a primitive is drawn, nil for
// none.
func (p *painter) uv(prim *gltfscene.Primitive) [][2]float32 {
	if prim.Material < 0 {
		return prim.UV[0]
	}
	t := &p.scene.Materials[prim.Material].BaseColorTex
	if t.Image < 0 {
		return prim.UV[0]
	}
	return mesh.UVTransform{Offset: t.Offset, Rot: t.Rot, Scale: t.Scale}.Apply(prim.UV[t.UVSet])
}
