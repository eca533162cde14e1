package gltfexport

import (
	"encoding/json"
	"fmt"

	"github.com/untoldkit/untold/cook/internal/texture"
	"github.com/untoldkit/untold/format/records"

	"github.com/untoldkit/untold/internal/glb"
)

type textureRefJSON struct {
	Index int `json:"index"`
}

type normalRefJSON struct {
	Index int      `json:"index"`
	Scale *float32 `json:"scale,omitempty"`
}

type occlusionRefJSON struct {
	Index    int      `json:"index"`
	Strength *float32 `json:"strength,omitempty"`
}

type pbrJSON struct {
	BaseColor   []float32       `json:"baseColorFactor,omitempty"`
	BaseTexture *textureRefJSON `json:"baseColorTexture,omitempty"`
	Metallic    *float32        `json:"metallicFactor,omitempty"`
	Roughness   *float32        `json:"roughnessFactor,omitempty"`
	MRTexture   *textureRefJSON `json:"metallicRoughnessTexture,omitempty"`
}

type materialJSON struct {
	Name        string             `json:"name,omitempty"`
	PBR         pbrJSON            `json:"pbrMetallicRoughness"`
	Normal      *normalRefJSON     `json:"normalTexture,omitempty"`
	Occlusion   *occlusionRefJSON  `json:"occlusionTexture,omitempty"`
	EmissiveTex *textureRefJSON    `json:"emissiveTexture,omitempty"`
	Emissive    []float32          `json:"emissiveFactor,omitempty"`
	AlphaMode   string             `json:"alphaMode,omitempty"`
	AlphaCutoff *float32           `json:"alphaCutoff,omitempty"`
	DoubleSided bool               `json:"doubleSided,omitempty"`
	Extensions  *materialExtraJSON `json:"extensions,omitempty"`
}

type materialExtraJSON struct {
	Strength *strengthJSON `json:"KHR_materials_emissive_strength,omitempty"`
	Unlit    *struct{}     `json:"KHR_materials_unlit,omitempty"`
}

type strengthJSON struct {
	Strength float32 `json:"emissiveStrength"`
}

// materialUse says what a material demands of vertices.
type materialUse struct{ textured, normal bool }

// materialSet holds the materials of the document, by their JSON.
type materialSet struct {
	byText map[string]int
	uses   []materialUse
}

// material returns the glTF material of a record and what it needs. Records
// that agree share one, also across containers.
func (c *container) material(record uint32) (int, materialUse, error) {
	if k := c.materials[record]; k >= 0 {
		return k, c.mats.uses[k], nil
	}
	m, use, err := c.materialOf(&c.r.Materials()[record])
	if err != nil {
		return 0, use, err
	}
	text, err := json.Marshal(m)
	if err != nil {
		return 0, use, fmt.Errorf("gltfexport: material %d: %w", record, err)
	}
	k, ok := c.mats.byText[string(text)]
	if !ok {
		if k, err = c.doc.add(glb.Materials, m); err != nil {
			return 0, use, err
		}
		if c.mats.byText == nil {
			c.mats.byText = map[string]int{}
		}
		c.mats.byText[string(text)] = k
		c.mats.uses = append(c.mats.uses, use)
	}
	c.materials[record] = k
	return k, use, nil
}

// clamper forces factors into glTF's ranges and remembers that it had to.
type clamper struct{ changed bool }

func (k *clamper) between(v, lo, hi float32) float32 {
	switch {
	case v >= lo && v <= hi:
		return v
	case v > hi:
		k.changed = true
		return hi
	}
	k.changed = true
	return lo // also for NaN
}

func (k *clamper) unit(v float32) float32 { return k.between(v, 0, 1) }

// unless returns nil for a default, which need not be written.
func unless(v, def float32) *float32 {
	if v == def {
		return nil
	}
	return &v
}

// anyFactor bounds the factors that glTF leaves open: finite numbers whose
// products stay finite.
const anyFactor = 1e9

// materialOf maps a record; the textures are added as they are met.
func (c *container) materialOf(m *records.Material) (materialJSON, materialUse, error) {
	var k clamper
	name := c.text(m.NameOffset)
	out := materialJSON{Name: name, DoubleSided: m.Flags&records.MaterialDoubleSided != 0}
	slots := [4]int{}
	base := texture.Role{Use: texture.Color}
	switch m.Flags & records.MaterialAlphaMask {
	case records.MaterialCutout:
		base.Alpha, base.Cutoff = texture.AlphaMasked, finiteOr0(m.AlphaCutoff, new(bool))
	case records.MaterialBlend:
		base.Alpha = texture.AlphaBlended
	}
	roles := [4]texture.Role{base, {Use: texture.Normal}, {Use: texture.Data}, {Use: texture.Color}}
	for i, t := range [4]uint32{m.BaseColorTexture, m.NormalTexture, m.OcclusionTexture, m.EmissiveTexture} {
		var err error
		if slots[i], err = c.texture(t, roles[i]); err != nil {
			return out, materialUse{}, err
		}
	}
	mr, err := c.metalRough(m, name)
	if err != nil {
		return out, materialUse{}, err
	}
	factor := [4]float32{}
	for i, v := range m.BaseColor {
		factor[i] = k.unit(v)
	}
	if factor != [4]float32{1, 1, 1, 1} {
		out.PBR.BaseColor = factor[:]
	}
	out.PBR.Metallic, out.PBR.Roughness = unless(k.unit(m.Metallic), 1), unless(k.unit(m.Roughness), 1)
	out.PBR.BaseTexture, out.PBR.MRTexture = textureRef(slots[0]), textureRef(mr)
	if slots[1] >= 0 {
		scale := m.NormalScale
		if scale != scale {
			scale, k.changed = 1, true
		}
		out.Normal = &normalRefJSON{slots[1], unless(k.between(scale, -anyFactor, anyFactor), 1)}
	}
	if slots[2] >= 0 {
		out.Occlusion = &occlusionRefJSON{slots[2], unless(k.unit(m.OcclusionStrength), 1)}
	}
	out.EmissiveTex = textureRef(slots[3])
	c.emissive(m, &out, &k)
	switch m.Flags & records.MaterialAlphaMask {
	case records.MaterialCutout:
		cutoff := k.between(m.AlphaCutoff, 0, anyFactor)
		if c.opts.FitCutoffs && !c.opts.KTX2 && slots[0] >= 0 {
			if cutoff, err = c.fitCutoff(m.BaseColorTexture, slots[0], cutoff, factor[3]); err != nil {
				return out, materialUse{}, err
			}
		}
		out.AlphaMode, out.AlphaCutoff = "MASK", unless(cutoff, 0.5)
	case records.MaterialBlend:
		out.AlphaMode = "BLEND"
	}
	if m.Flags&records.MaterialUnlit != 0 {
		c.doc.unlit = true
		out.extend().Unlit = &struct{}{}
	}
	if k.changed {
		c.notes.add("material-clamped", 1, name)
	}
	if m.HeightTexture != records.NoIndex {
		c.notes.add("height-map", 1, name)
	}
	textured := slots[0] >= 0 || slots[1] >= 0 || slots[2] >= 0 || slots[3] >= 0 || mr >= 0
	return out, materialUse{textured, slots[1] >= 0}, nil
}

// extend returns the material's extensions, made when needed.
func (m *materialJSON) extend() *materialExtraJSON {
	if m.Extensions == nil {
		m.Extensions = &materialExtraJSON{}
	}
	return m.Extensions
}

// emissive splits what exceeds 1 into factor and strength.
func (c *container) emissive(m *records.Material, out *materialJSON, k *clamper) {
	e, top := [3]float32{}, float32(1)
	for i, v := range m.Emissive {
		e[i] = k.between(v, 0, anyFactor)
		top = max(top, e[i])
	}
	if top > 1 {
		for i := range e {
			e[i] /= top
		}
		c.doc.emissiveStrength = true
		out.extend().Strength = &strengthJSON{top}
	}
	if e != [3]float32{} {
		out.Emissive = e[:]
	}
}

func textureRef(k int) *textureRefJSON {
	if k < 0 {
		return nil
	}
	return &textureRefJSON{k}
}

// metalRough returns the texture of the metallic-roughness slot. glTF keeps
// roughness in green and metallic in blue of one texture; what is stored
// otherwise is put together anew.
func (c *container) metalRough(m *records.Material, name string) (int, error) {
	channels := m.Reserved[0]
	rough, metal := channels&3, channels>>2&3
	r, err := c.texture(m.RoughnessTexture, texture.Role{Use: texture.Data})
	if err != nil {
		return -1, err
	}
	b, err := c.texture(m.MetallicTexture, texture.Role{Use: texture.Data})
	if err != nil {
		return -1, err
	}
	switch {
	case r < 0 && b < 0:
		return -1, nil
	case r == b && rough == 1 && metal == 2,
		// The other channel is multiplied by 0.
		b < 0 && rough == 1 && m.Metallic == 0,
		r < 0 && metal == 2 && m.Roughness == 0:
		return max(r, b), nil
	}
	k, err := c.tex.combine(c, source{m.RoughnessTexture, r, rough}, source{m.MetallicTexture, b, metal})
	if err != nil {
		return -1, err
	}
	if k < 0 {
		c.notes.add("channels-lost", 1, name)
		return max(r, b), nil
	}
	c.notes.add("channels", 1, name)
	return k, nil
}
