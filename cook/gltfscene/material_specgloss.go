package gltfscene

import (
	"errors"
	"math"

	"github.com/qmuntal/gltf"
	"github.com/untoldkit/untold/internal/jsonscan"
)

const specGlossName = "KHR_materials_pbrSpecularGlossiness"

var specGlossSchema = &schema{[]prop{
	{name: "diffuseFactor", kind: isNums, size: 4},
	{name: "specularFactor", kind: isNums, size: 3},
	{name: "glossinessFactor", kind: isNum},
	{name: "diffuseTexture", kind: isObject, sub: textureInfoSchema},
	{name: "specularGlossinessTexture", kind: isObject, sub: textureInfoSchema},
}}

// specGloss is the JSON of a specular-glossiness material with its defaults.
type specGloss struct {
	DiffuseFactor    *[4]float64
	SpecularFactor   *[3]float64
	GlossinessFactor *float64
}

// specularGlossiness converts the extension sg into m. It is not used where
// its textures cannot be and the material has others; with baked the first two slots
// have their textures.
func (mr *materialReader) specularGlossiness(m *Material, src *gltf.Material, place string, sg []byte) (used, baked bool, err error) {
	var v specGloss
	place += ".extensions." + specGlossName
	if err := specGlossSchema.decode(sg, &v); err != nil {
		return false, false, at(place, err)
	}
	textured := isObjectValue(jsonscan.Member(sg, "specularGlossinessTexture"))
	diffuse, specular, gloss := [4]float64{1, 1, 1, 1}, [3]float64{1, 1, 1}, 1.0
	if v.DiffuseFactor != nil {
		diffuse = *v.DiffuseFactor
	}
	if v.SpecularFactor != nil {
		specular = *v.SpecularFactor
	}
	if v.GlossinessFactor != nil {
		gloss = *v.GlossinessFactor
	}
	clamped := clampUnit(diffuse[:]) + clampUnit(specular[:])
	one := []float64{gloss}
	clamped += clampUnit(one)
	gloss = one[0]
	mr.notes.add(clamped, true, "material-clamped", place, "a material's value was clamped to its range, 0 to 1")
	if textured {
		err := mr.bakeGloss(m, place, sg, glossFactors{diffuse[0], diffuse[1], diffuse[2], specular[0], specular[1], specular[2], gloss})
		if err == nil {
			mr.notes.info("specular-glossiness-baked", place, "textures of "+specGlossName+" were converted to metallic-roughness ones")
			m.BaseColor, m.Metallic, m.Roughness = [4]float32{1, 1, 1, float32(diffuse[3])}, 1, 1
			return true, true, nil
		}
		err = at(place, err)
		if mr.ctx.Err() != nil || errors.Is(err, ErrMissingFile) && !mr.opts.AllowMissingImages {
			return false, false, err
		}
		if pbr := src.PBRMetallicRoughness; pbr != nil && (pbr.BaseColorTexture != nil || pbr.MetallicRoughnessTexture != nil) {
			mr.notes.fault("specular-glossiness-skipped", "the material's own metallic-roughness textures were used instead of "+specGlossName, err)
			return false, false, nil
		}
		// The factors scale a texture that is not looked at: alone they would
		// make nearly every such material a mirror of metal.
		for i := range specular {
			specular[i] = min(specular[i], dielectric)
		}
		gloss *= 0.5
		mr.notes.fault("specular-glossiness-texture",
			"a specularGlossinessTexture was left out: the material counts as non-metal of medium roughness", err)
	} else {
		mr.notes.info("specular-glossiness-converted", place, "materials of "+specGlossName+" were converted to metallic-roughness")
	}
	base, metallic := metalFrom([3]float64(diffuse[:3]), specular)
	for i := range base {
		m.BaseColor[i] = float32(base[i])
	}
	m.BaseColor[3] = float32(diffuse[3])
	m.Metallic, m.Roughness = float32(metallic), float32(1-gloss)
	return true, false, nil
}

// clampUnit limits values to 0..1 and counts those changed.
func clampUnit(list []float64) (changed int) {
	for i, v := range list {
		if list[i] = min(max(v, 0), 1); list[i] != v {
			changed++
		}
	}
	return changed
}

// dielectric is the specular reflectance of a non-metal.
const dielectric = 0.04

// metalFrom solves for the base colour and the metallic factor that reflect
// like a diffuse and a specular colour. It is the conversion that the
// extension's authors published: metallic is the root of the quadratic
// equation that both models give for the perceived brightness, and the base
// colour goes over from what the diffuse colour gives to what the specular
// colour gives with the square of metallic.
func metalFrom(diffuse, specular [3]float64) (base [3]float64, metallic float64) {
	strength := 1 - max(specular[0], specular[1], specular[2])
	metallic = solveMetallic(brightness(diffuse), brightness(specular), strength)
	const tiny = 1e-6
	fromDiffuse := strength / (1 - dielectric) / max(1-metallic, tiny)
	fromSpecular := 1 / max(metallic, tiny)
	mix := float64(metallic * metallic)
	for i := range base {
		d := diffuse[i] * fromDiffuse
		s := (specular[i] - float64(dielectric*(1-metallic))) * fromSpecular
		base[i] = min(max(float64(d*(1-mix))+float64(s*mix), 0), 1)
	}
	return base, metallic
}

// brightness returns the perceived brightness of a linear colour.
func brightness(c [3]float64) float64 {
	return math.Sqrt(float64(0.299*float64(c[0]*c[0])) + float64(0.587*float64(c[1]*c[1])) + float64(0.114*float64(c[2]*c[2])))
}

func solveMetallic(diffuse, specular, strength float64) float64 {
	if specular < dielectric {
		return 0
	}
	const a = dielectric
	b := float64(diffuse*strength/(1-dielectric)) + specular - 2*dielectric
	c := dielectric - specular
	root := math.Sqrt(max(float64(b*b)-float64(4*a*c), 0))
	return min(max((root-b)/(2*a), 0), 1)
}
