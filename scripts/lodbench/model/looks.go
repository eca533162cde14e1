package model

import (
	"github.com/untoldkit/untold/cook/appearance"
	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/mesh"
)

// painter gives the materials of a scene the numbers that groups have: those
// that are used, in the order of their first use.
type painter struct {
	scene    *gltfscene.Scene
	groups   map[int]int32               // by material
	textures map[int]*appearance.Texture // by image
	looks    []appearance.Material
}

func newPainter(s *gltfscene.Scene) *painter {
	return &painter{scene: s, groups: map[int]int32{}, textures: map[int]*appearance.Texture{}}
}

// group returns the group of a material of the scene; -1 is glTF's default one.
func (p *painter) group(material int) (int32, error) {
	if g, ok := p.groups[material]; ok {
		return g, nil
	}
	look := appearance.Material{Color: [4]float32{1, 1, 1, 1}}
	if material >= 0 {
		look = appearance.Look(&p.scene.Materials[material])
		t, err := p.texture(p.scene.Materials[material].BaseColorTex.Image)
		if err != nil {
			return 0, err
		}
		look.Texture = t
	}
	g := int32(len(p.looks))
	p.groups[material], p.looks = g, append(p.looks, look)
	return g, nil
}

// texture reads an image of the scene; -1 is none.
func (p *painter) texture(i int) (*appearance.Texture, error) {
	if t, ok := p.textures[i]; ok || i < 0 {
		return t, nil
	}
	data, err := p.scene.Images[i].Bytes()
	if err != nil {
		return nil, err
	}
	t, err := appearance.ReadTexture(data)
	if err != nil {
		t = nil // such as KTX2: it is drawn without
	}
	p.textures[i] = t
	return t, nil
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
