package cook

import (
	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/internal/texture"
	"github.com/untoldkit/untold/cook/mesh"
	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
)

// blackLimit is where the reference engine takes a base colour factor for
// "not set" and draws white; blackLift is written instead of darker ones.
const (
	blackLimit = 0.001
	blackLift  = 0.00101
)

// defaultMaterial is what glTF prescribes for primitives without a material.
func defaultMaterial() gltfscene.Material {
	none := gltfscene.TextureRef{Image: -1, Scale: [2]float64{1, 1}}
	return gltfscene.Material{
		Index: -1, Name: "default_material", BaseColor: [4]float32{1, 1, 1, 1}, Metallic: 1, Roughness: 1,
		NormalScale: 1, OcclusionStrength: 1, AlphaCutoff: 0.5,
		BaseColorTex: none, MetalRoughTex: none, NormalTex: none, OcclusionTex: none, EmissiveTex: none,
	}
}

// slots returns the texture slots, the base colour's first.
func slots(m *gltfscene.Material) [5]*gltfscene.TextureRef {
	return [5]*gltfscene.TextureRef{&m.BaseColorTex, &m.NormalTex, &m.MetalRoughTex, &m.EmissiveTex, &m.OcclusionTex}
}

// uvPlan says how a material's texture coordinates are stored: which set
// becomes the first, how it is transformed, by what steps it may be moved.
type uvPlan struct {
	set       int
	transform mesh.UVTransform
	pack      mesh.PackOptions
}

// uvPlanOf derives the plan from the textures in use; the first slot in use
// decides, and disagreement is noted. The runtime samples the first UV set
// alone, by repeating.
func uvPlanOf(m *gltfscene.Material, staged []texture.Staged, ns *notes) uvPlan {
	p := uvPlan{transform: mesh.UVTransform{Scale: [2]float64{1, 1}}, pack: mesh.PackOptions{RepeatU: 1, RepeatV: 1}}
	first := true
	setDiffers, transformDiffers := false, false
	for _, t := range slots(m) {
		if t.Image < 0 || staged[t.Image].File == "" {
			continue
		}
		tr := mesh.UVTransform{Offset: t.Offset, Rot: t.Rot, Scale: t.Scale}
		if first {
			first = false
			p.set, p.transform = t.UVSet, tr
		}
		setDiffers = setDiffers || t.UVSet != p.set
		transformDiffers = transformDiffers || tr != p.transform
		p.pack.RepeatU = combine(p.pack.RepeatU, t.WrapS)
		p.pack.RepeatV = combine(p.pack.RepeatV, t.WrapT)
	}
	if setDiffers {
		ns.add("uv-set-mismatch", 1, m.Index, m.Name)
	}
	if transformDiffers {
		ns.add("texture-transform-mismatch", 1, m.Index, m.Name)
	}
	return p
}

// combine narrows the allowed steps by one more texture.
func combine(r mesh.Repeat, w gltfscene.Wrap) mesh.Repeat {
	switch {
	case r == 0 || w == gltfscene.WrapClamp:
		return 0
	case w == gltfscene.WrapMirror:
		return 2
	}
	return r
}

// materialRecord adds a material and its textures to a container.
func materialRecord(b *format.Builder, m *gltfscene.Material, staged []texture.Staged) uint32 {
	add := func(t *gltfscene.TextureRef, use texture.Use, flags uint32) uint32 {
		if t.Image < 0 || staged[t.Image].File == "" {
			return records.NoIndex
		}
		s := staged[t.Image].As(use)
		return b.AddTexture(s.File, texture.Folder+"/"+s.File, records.Texture{
			Format: s.Format, Flags: flags,
			Width: uint32(s.Width), Height: uint32(s.Height), MipCount: uint32(s.Levels),
		})
	}
	r := records.Material{
		BaseColor: m.BaseColor, Emissive: m.Emissive, NormalScale: m.NormalScale,
		Metallic: m.Metallic, Roughness: m.Roughness,
		OcclusionStrength: m.OcclusionStrength, AlphaCutoff: m.AlphaCutoff,
		BaseColorTexture: add(&m.BaseColorTex, texture.Color, records.TextureSRGB),
		NormalTexture:    add(&m.NormalTex, texture.Normal, records.TextureNormalMap),
		MetallicTexture:  add(&m.MetalRoughTex, texture.Data, 0),
		EmissiveTexture:  add(&m.EmissiveTex, texture.Color, records.TextureSRGB|records.TextureEmissive),
		OcclusionTexture: add(&m.OcclusionTex, texture.Data, records.TextureOcclusion),
		HeightTexture:    records.NoIndex, HeightMidlevel: 0.5, HeightRemap: [2]float32{0, 1},
	}
	if r.RoughnessTexture = r.MetallicTexture; r.MetallicTexture != records.NoIndex {
		r.Reserved[0] = records.ChannelsMetalRough
	}
	if isBlack(m) {
		r.BaseColor[0], r.BaseColor[1], r.BaseColor[2] = blackLift, blackLift, blackLift
	}
	r.Flags = uint32(m.AlphaMode)
	if m.DoubleSided {
		r.Flags |= records.MaterialDoubleSided
	}
	if m.Unlit {
		r.Flags |= records.MaterialUnlit
	}
	return b.AddMaterial(m.Name, r)
}

func isBlack(m *gltfscene.Material) bool {
	return m.BaseColor[0] < blackLimit && m.BaseColor[1] < blackLimit && m.BaseColor[2] < blackLimit
}
