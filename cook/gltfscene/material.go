package gltfscene

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/qmuntal/gltf"
	"github.com/untoldkit/untold/internal/jsonscan"
)

// materialReader reads the materials that planned primitives use, and the images
// that these use. It owns which index of the file has become which of the scene.
type materialReader struct {
	*session
	data *dataReader

	materials map[int]int // glTF index -> Scene.Materials
	images    map[int]int // glTF index -> Scene.Images, -1 for a missing one
	sources   map[int]int // texture -> image, -1 for none

	// made are images that are not in the file, with the numbers behind those of its own.
	// baked are the first of two, by what they are made of.
	made  []Image
	baked map[string]int
}

// loadMaterials makes Scene.Materials and Scene.Images of what the planned
// primitives use, in file order.
func (mr *materialReader) loadMaterials(plans []plan) error {
	for i := range plans {
		if m := plans[i].material; m >= 0 {
			mr.materials[int(m)] = -1
		}
	}
	for _, index := range slices.Sorted(maps.Keys(mr.materials)) {
		m, err := mr.material(index)
		if err != nil {
			return err
		}
		mr.materials[index] = len(mr.scene.Materials)
		mr.scene.Materials = append(mr.scene.Materials, m)
	}
	if err := mr.loadImages(); err != nil {
		return err
	}
	mr.checkTexCoords(plans)
	return nil
}

// slots returns the texture slots of a material with their places.
func (m *Material) slots() [5]struct {
	place string
	ref   *TextureRef
} {
	return [5]struct {
		place string
		ref   *TextureRef
	}{
		{".pbrMetallicRoughness.baseColorTexture", &m.BaseColorTex},
		{".pbrMetallicRoughness.metallicRoughnessTexture", &m.MetalRoughTex},
		{".normalTexture", &m.NormalTex},
		{".occlusionTexture", &m.OcclusionTex},
		{".emissiveTexture", &m.EmissiveTex},
	}
}

// checkTexCoords notes textures whose coordinates a primitive lacks.
func (mr *materialReader) checkTexCoords(plans []plan) {
	for i := range plans {
		pl := &plans[i]
		if pl.material < 0 {
			continue
		}
		m := &mr.scene.Materials[mr.materials[int(pl.material)]]
		for _, s := range m.slots() {
			if s.ref.Image >= 0 && pl.uv[s.ref.UVSet] == 0 {
				mr.notes.warn("texcoord-missing", pl.where(mr.scene), fmt.Sprintf(
					"a primitive lacks the texture coordinates (TEXCOORD_%d) that its material's %s needs", s.ref.UVSet, s.place[1:]))
			}
		}
	}
}

// material reads material index. The Image fields of its slots are indices
// of the file until loadImages.
func (mr *materialReader) material(index int) (Material, error) {
	src, err := mr.doc.materials.get(index)
	if err != nil {
		return Material{}, err
	}
	place, raw := mr.doc.materials.place(index), mr.doc.materials.raw[index]
	m := Material{
		Index: index, Name: cleanName(src.Name), AlphaMode: AlphaMode(src.AlphaMode), DoubleSided: src.DoubleSided,
		BaseColor: [4]float32{1, 1, 1, 1}, Metallic: 1, Roughness: 1, NormalScale: 1, OcclusionStrength: 1,
	}
	if m.Name == "" {
		m.Name = "material_" + strconv.Itoa(index)
	}
	clamp := func(field string, v, lo, hi float64) float32 {
		if v < lo || v > hi {
			mr.notes.warn("material-clamped", place+field, fmt.Sprintf("a material's value was clamped to its range, %v to %v", lo, hi))
		}
		return float32(min(max(v, lo), hi))
	}
	ext := mr.observe(place, onMaterial, raw)
	if jsonscan.Member(ext, lodName) != nil {
		mr.notes.info("material-lods-skipped", place, "the simpler materials that "+lodName+" names are not cooked")
	}
	m.Unlit = isObjectValue(jsonscan.Member(ext, "KHR_materials_unlit"))
	m.AlphaCutoff = clamp(".alphaCutoff", src.AlphaCutoffOrDefault(), 0, math.MaxFloat32)

	pbrRaw := jsonscan.Member(raw, "pbrMetallicRoughness")
	mr.observe(place+".pbrMetallicRoughness", onPBR, pbrRaw)
	if pbr := src.PBRMetallicRoughness; pbr != nil {
		for i, v := range pbr.BaseColorFactorOrDefault() {
			m.BaseColor[i] = clamp(".pbrMetallicRoughness.baseColorFactor", v, 0, 1)
		}
		m.Metallic = clamp(".pbrMetallicRoughness.metallicFactor", pbr.MetallicFactorOrDefault(), 0, 1)
		m.Roughness = clamp(".pbrMetallicRoughness.roughnessFactor", pbr.RoughnessFactorOrDefault(), 0, 1)
	}
	if t := src.NormalTexture; t != nil {
		m.NormalScale = clamp(".normalTexture.scale", t.ScaleOrDefault(), -math.MaxFloat32, math.MaxFloat32)
	}
	if t := src.OcclusionTexture; t != nil {
		m.OcclusionStrength = clamp(".occlusionTexture.strength", t.StrengthOrDefault(), 0, 1)
	}
	strength, err := emissiveStrength(ext)
	if err != nil {
		return m, at(place+".extensions.KHR_materials_emissive_strength", err)
	}
	for i, v := range src.EmissiveFactor {
		m.Emissive[i] = clamp(".emissiveFactor", float64(clamp(".emissiveFactor", v, 0, 1))*strength, 0, math.MaxFloat32)
	}
	sg, baked := jsonscan.Member(ext, specGlossName), false
	if sg != nil {
		var used bool
		if used, baked, err = mr.specularGlossiness(&m, src, place, sg); err != nil {
			return m, err
		}
		if !used {
			sg = nil
		}
	}
	return m, mr.textureSlots(&m, place, raw, pbrRaw, sg, baked)
}

var emissiveStrengthSchema = &schema{[]prop{{name: "emissiveStrength", kind: isNum}}}

// emissiveStrength reads KHR_materials_emissive_strength, 1 when absent.
func emissiveStrength(ext []byte) (float64, error) {
	raw := jsonscan.Member(ext, "KHR_materials_emissive_strength")
	if raw == nil {
		return 1, nil
	}
	v := struct{ EmissiveStrength *float64 }{}
	if err := emissiveStrengthSchema.decode(raw, &v); err != nil {
		return 0, err
	}
	switch {
	case v.EmissiveStrength == nil:
		return 1, nil
	case *v.EmissiveStrength < 0:
		return 0, malformed(".emissiveStrength", "is %v, must be >= 0", *v.EmissiveStrength)
	}
	return *v.EmissiveStrength, nil
}

// textureSlots reads the five texture slots of a material. The diffuse
// texture of sg, a specular-glossiness material if not nil, becomes that of
// the base colour, unless the first two slots have textures that were baked.
func (mr *materialReader) textureSlots(m *Material, place string, raw, pbrRaw, sg []byte, baked bool) error {
	for i, s := range m.slots() {
		if i < 2 && baked {
			continue
		}
		s.ref.Image, s.ref.Scale = -1, [2]float64{1, 1}
		holder := raw
		name, where := s.place[1:], s.place
		switch {
		case i < 2 && sg == nil:
			holder, name = pbrRaw, name[len("pbrMetallicRoughness."):]
		case i == 0:
			holder, name, where = sg, "diffuseTexture", ".extensions."+specGlossName+".diffuseTexture"
		case i == 1:
			continue // set to none above
		}
		info := jsonscan.Member(holder, name)
		if !isObjectValue(info) {
			continue
		}
		if err := mr.textureSlot(s.ref, place+where, info); err != nil {
			return err
		}
		if s.ref.Image >= 0 {
			mr.images[s.ref.Image] = -1
		}
	}
	return nil
}

// textureSlot reads one textureInfo.
func (mr *materialReader) textureSlot(ref *TextureRef, place string, raw []byte) error {
	var info gltf.TextureInfo
	if err := textureInfoSchema.decode(raw, &info); err != nil {
		return at(place, err)
	}
	ref.UVSet = info.TexCoord
	ext := mr.observe(place, onTextureInfo, raw)
	if t := jsonscan.Member(ext, transformName); t != nil && !isNull(t) {
		if err := textureTransform(ref, t); err != nil {
			return at(place+".extensions."+transformName, err)
		}
	}
	if err := mr.doc.textures.check(info.Index); err != nil {
		return at(place+".index", err)
	}
	tex, err := mr.doc.textures.get(info.Index)
	if err != nil {
		return at(place, err)
	}
	source := mr.textureSource(tex, info.Index)
	if source < 0 {
		mr.notes.warn("texture-without-image", mr.doc.textures.place(info.Index), "a texture without an image that is understood was left out")
		return nil
	}
	if err := mr.doc.images.check(source); err != nil {
		return at(mr.doc.textures.place(info.Index)+".source", err)
	}
	if ref.UVSet > 1 {
		mr.notes.warn("uv-set-unsupported", place, "textures with texture coordinates beyond TEXCOORD_1 were left out")
		ref.UVSet = 0
		return nil
	}
	ref.Image = source
	if tex.Sampler != nil {
		mr.sampler(ref, *tex.Sampler, mr.doc.textures.place(info.Index))
	}
	return nil
}

// basisuName is the extension whose images viewers show instead of the source.
const basisuName = "KHR_texture_basisu"

// textureExtensions hold an alternative image of a texture; the first wins.
var textureExtensions = []string{"EXT_texture_webp", basisuName, "EXT_texture_avif", "MSFT_texture_dds"}

// textureSource returns the image of a texture, -1 for none: what a viewer shows that
// knows KHR_texture_basisu, which is that extension's image, if it can be decoded; else
// the source, which is a PNG or JPEG that everybody can read; else one that another
// extension names.
func (mr *materialReader) textureSource(tex *gltf.Texture, index int) int {
	if source, ok := mr.sources[index]; ok {
		return source
	}
	source := mr.findSource(tex, index)
	mr.sources[index] = source
	return source
}

func (mr *materialReader) findSource(tex *gltf.Texture, index int) int {
	place := mr.doc.textures.place(index)
	ext := mr.observe(place, onTexture, mr.doc.textures.raw[index])
	for _, name := range textureExtensions {
		v, ok := wholeNumber(jsonscan.Member(jsonscan.Member(ext, name), "source"))
		if !ok {
			continue
		}
		if tex.Source == nil {
			return v
		}
		if *tex.Source == v {
			continue
		}
		reason := ""
		if name == basisuName {
			err := mr.checkKTX2(v)
			if err == nil {
				return v
			}
			reason = ": " + err.Error()
			if e, ok := errors.AsType[*Error](err); ok {
				reason = ": " + e.Reason // without paths of this machine
			}
		}
		mr.notes.info("texture-fallback:"+name, place, fmt.Sprintf("the fallback of a texture, %s, was used instead of its %s image %d%s",
			mr.imageName(*tex.Source), name, v, reason))
	}
	if tex.Source != nil {
		return *tex.Source
	}
	return -1
}

// imageName names an image of the file for a note.
func (mr *materialReader) imageName(index int) string {
	img, err := mr.doc.images.peek(index)
	if err != nil {
		return fmt.Sprintf("image %d", index)
	}
	what := img.MimeType
	if uri := uriOf(mr.doc.images.raw[index]); uri != nil && !isDataURI(uri) {
		what = string(uri)
	}
	if what == "" {
		return fmt.Sprintf("image %d", index)
	}
	return fmt.Sprintf("image %d (%s)", index, clip(what))
}

// sampler reads the wrap modes; a faulty sampler counts as the default one.
func (mr *materialReader) sampler(ref *TextureRef, index int, place string) {
	if err := mr.doc.samplers.check(index); err != nil {
		mr.notes.fault("sampler-faulty", "a faulty sampler counts as the default one", at(place+".sampler", err))
		return
	}
	s, err := mr.doc.samplers.get(index)
	if err != nil {
		mr.notes.fault("sampler-faulty", "a faulty sampler counts as the default one", err)
		return
	}
	wrap := [...]Wrap{gltf.WrapRepeat: WrapRepeat, gltf.WrapClampToEdge: WrapClamp, gltf.WrapMirroredRepeat: WrapMirror}
	ref.WrapS, ref.WrapT = wrap[s.WrapS], wrap[s.WrapT]
}

const transformName = "KHR_texture_transform"

var transformSchema = &schema{[]prop{
	{name: "offset", kind: isNums, size: 2},
	{name: "rotation", kind: isNum},
	{name: "scale", kind: isNums, size: 2},
	{name: "texCoord", kind: isInt},
}}

// textureTransform reads KHR_texture_transform.
func textureTransform(ref *TextureRef, raw []byte) error {
	v := struct {
		Offset, Scale *[2]float64
		Rotation      float64
		TexCoord      *int
	}{}
	if err := transformSchema.decode(raw, &v); err != nil {
		return err
	}
	if v.Offset != nil {
		ref.Offset = *v.Offset
	}
	if v.Scale != nil {
		ref.Scale = *v.Scale
	}
	ref.Rot = v.Rotation
	if v.TexCoord != nil {
		ref.UVSet = *v.TexCoord
	}
	return nil
}
