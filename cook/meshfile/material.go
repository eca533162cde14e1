package meshfile

import (
	"encoding/json"

	"github.com/untoldkit/untold/internal/glb"
)

// material is what a material of a mesh file comes to in glTF.
type material struct {
	name      string
	color     [3]float64
	alpha     float64
	metallic  float64
	roughness float64
	emissive  [3]float64
	bumpScale float64

	base, roughMetal, normal, glow *textureSlot // nil for none
	cutOut                         bool         // the base texture's alpha says where the surface is
	given                          map[string]bool
}

// textureSlot is an image as a material shows it.
type textureSlot struct {
	image         int // in imageList
	offset, scale [2]float64
	clamp         bool
}

// newMaterial returns a material of the format's defaults.
func newMaterial(name string) *material {
	return &material{name: name, color: [3]float64{1, 1, 1}, alpha: 1, roughness: 1, bumpScale: 1, given: map[string]bool{}}
}

// imageList are the images that materials name, each once.
type imageList struct {
	uris   []string // relative to the mesh file's folder, escaped
	places []string // who names it first
	index  map[string]int
}

// add returns the number of an image.
func (l *imageList) add(name, place string) int {
	if i, ok := l.index[name]; ok {
		return i
	}
	if l.index == nil {
		l.index = map[string]int{}
	}
	l.index[name] = len(l.uris)
	l.uris, l.places = append(l.uris, glb.EscapeURI(name)), append(l.places, place)
	return len(l.uris) - 1
}

// document collects what materials need of a glTF file.
type document struct {
	materials []any
	textures  []any
	samplers  []any
	images    []any
	places    []string
	extension map[string]bool
	imageOf   map[int]int
	textureOf map[[2]int]int
	samplerOf map[bool]int
}

func newDocument() *document {
	return &document{extension: map[string]bool{}, imageOf: map[int]int{}, textureOf: map[[2]int]int{}, samplerOf: map[bool]int{}}
}

type members = map[string]any

// textureInfo refers to a texture.
func (d *document) textureInfo(t *textureSlot, images *imageList) members {
	image, ok := d.imageOf[t.image]
	if !ok {
		image = len(d.images)
		d.imageOf[t.image] = image
		d.images = append(d.images, members{"uri": images.uris[t.image]})
		d.places = append(d.places, images.places[t.image])
	}
	sampler, ok := d.samplerOf[t.clamp]
	if !ok {
		sampler = len(d.samplers)
		d.samplerOf[t.clamp] = sampler
		wrap := glb.WrapRepeat
		if t.clamp {
			wrap = wrapClamp
		}
		d.samplers = append(d.samplers, members{"wrapS": wrap, "wrapT": wrap})
	}
	key := [2]int{image, sampler}
	index, ok := d.textureOf[key]
	if !ok {
		index = len(d.textures)
		d.textureOf[key] = index
		d.textures = append(d.textures, members{"source": image, "sampler": sampler})
	}
	info := members{"index": index}
	// The file's v points upwards, glTF's down: v' = 1 - (scale*(1-v) + offset).
	if t.offset != [2]float64{} || t.scale != [2]float64{1, 1} {
		d.extension["KHR_texture_transform"] = true
		info["extensions"] = members{"KHR_texture_transform": members{
			"offset": [2]float64{t.offset[0], 1 - t.scale[1] - t.offset[1]}, "scale": t.scale,
		}}
	}
	return info
}

// wrapClamp is CLAMP_TO_EDGE of glTF 2.0, section 5.26.
const wrapClamp = 33071

// add appends a material.
func (d *document) add(m *material, images *imageList) {
	pbr := members{
		"baseColorFactor": [4]float64{m.color[0], m.color[1], m.color[2], m.alpha},
		"metallicFactor":  m.metallic, "roughnessFactor": m.roughness,
	}
	if m.base != nil {
		pbr["baseColorTexture"] = d.textureInfo(m.base, images)
	}
	if m.roughMetal != nil {
		pbr["metallicRoughnessTexture"] = d.textureInfo(m.roughMetal, images)
	}
	out := members{"name": m.name, "pbrMetallicRoughness": pbr}
	if m.normal != nil {
		info := d.textureInfo(m.normal, images)
		info["scale"] = m.bumpScale
		out["normalTexture"] = info
	}
	if m.glow != nil {
		out["emissiveTexture"] = d.textureInfo(m.glow, images)
	}
	if top := max(m.emissive[0], m.emissive[1], m.emissive[2]); top > 0 {
		e := m.emissive
		if top > 1 {
			for i := range e {
				e[i] /= top
			}
			d.extension["KHR_materials_emissive_strength"] = true
			out["extensions"] = members{"KHR_materials_emissive_strength": members{"emissiveStrength": top}}
		}
		out["emissiveFactor"] = e
	}
	switch {
	case m.cutOut:
		// A leaf is seen from both sides.
		out["alphaMode"], out["doubleSided"] = "MASK", true
	case m.alpha < 1:
		out["alphaMode"] = "BLEND"
	}
	d.materials = append(d.materials, out)
}

// section appends a list under its name, if there is anything in it.
func section(b []byte, name string, list []any) []byte {
	if len(list) == 0 {
		return b
	}
	text, err := json.Marshal(list)
	if err != nil {
		panic("meshfile: " + err.Error()) // all numbers in it are finite
	}
	return append(append(append(b, `,"`+name+`":`...), text...), '\n')
}
