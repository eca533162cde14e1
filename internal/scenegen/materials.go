package scenegen

import (
	"github.com/untoldkit/untold/internal/glb"
	"github.com/untoldkit/untold/internal/glbwrite"
)

// material describes one glTF material. Texture slots name a surface of
// surfaces; the kind of map follows from the slot.
type material struct {
	tile             float64 // metres per texture repeat, 1 where it does not matter
	color            [4]float64
	base, normal, mr string
	emissive         string
	occlusion        string // sampled with the second set of texture coordinates
	jpeg             bool   // base colour is stored as JPEG
	metallic, rough  float64
	emission         [3]float64
	strength         float64 // KHR_materials_emissive_strength, 0 for none
	alpha            string  // "", MASK or BLEND
	doubleSided      bool
}

var white = [4]float64{1, 1, 1, 1}

func paintColor(r, g, b float64) material {
	return material{tile: 1, color: [4]float64{r, g, b, 1}, rough: 0.35}
}

// materials lists every material by name.
var materials = map[string]material{
	"Brick_Red":     {tile: 2.4, color: white, base: "brick", normal: "brick", mr: "brick", rough: 1, metallic: 1},
	"Brick_Ochre":   {tile: 2.4, color: [4]float64{1, 0.86, 0.6, 1}, base: "brick", normal: "brick", mr: "brick", rough: 1, metallic: 1},
	"Plaster_White": {tile: 4, color: [4]float64{0.93, 0.91, 0.86, 1}, base: "concrete", jpeg: true, rough: 0.9},
	"Plaster_Rose":  {tile: 4, color: [4]float64{0.9, 0.62, 0.52, 1}, base: "concrete", jpeg: true, rough: 0.9},
	"Plaster_Blue":  {tile: 4, color: [4]float64{0.55, 0.68, 0.82, 1}, base: "concrete", jpeg: true, rough: 0.9},
	"Concrete":      {tile: 4, color: [4]float64{0.75, 0.75, 0.74, 1}, base: "concrete", jpeg: true, rough: 0.85},
	"Stone":         {tile: 3, color: [4]float64{0.5, 0.48, 0.46, 1}, base: "concrete", jpeg: true, rough: 0.8},
	"Facade_Glass":  {tile: 14.4, color: white, base: "glass", mr: "glass", emissive: "glass", emission: [3]float64{1, 0.85, 0.6}, rough: 1, metallic: 1},
	"Facade_Bronze": {tile: 14.4, color: [4]float64{1, 0.72, 0.45, 1}, base: "glass", mr: "glass", emissive: "glass", emission: [3]float64{1, 0.85, 0.6}, rough: 1, metallic: 1},
	"Metal_Sheet":   {tile: 2, color: [4]float64{0.62, 0.68, 0.72, 1}, base: "corrugated", normal: "corrugated", metallic: 0.7, rough: 0.5},
	"Metal":         {tile: 1, color: [4]float64{0.6, 0.62, 0.64, 1}, metallic: 0.9, rough: 0.4},
	"Metal_Dark":    {tile: 1, color: [4]float64{0.06, 0.065, 0.07, 1}, metallic: 0.6, rough: 0.5},
	"Roofing":       {tile: 3, color: [4]float64{0.8, 0.8, 0.82, 1}, base: "gravel", rough: 0.95},
	"Asphalt":       {tile: 4, color: white, base: "asphalt", normal: "asphalt", rough: 0.95},
	"Road_Lane":     {tile: 8, color: white, base: "lane", rough: 0.95},
	"Road_Crossing": {tile: 8, color: white, base: "crossing", rough: 0.95},
	"Paving":        {tile: 2, color: white, base: "paving", normal: "paving", rough: 0.9},
	"Grass":         {tile: 4, color: white, base: "grass", jpeg: true, rough: 1},
	"Terrain":       {tile: 25, color: [4]float64{0.9, 0.95, 0.8, 1}, base: "grass", jpeg: true, occlusion: "cloud", rough: 1},
	"Bark":          {tile: 0.8, color: white, base: "bark", normal: "bark", rough: 1},
	"Bark_Birch":    {tile: 0.8, color: [4]float64{1, 0.98, 0.95, 1}, base: "birch", rough: 0.9},
	"Leaf_Oak":      {tile: 1, color: white, base: "leaf", rough: 0.9, alpha: "MASK", doubleSided: true},
	"Leaf_Birch":    {tile: 1, color: [4]float64{1, 1, 0.55, 1}, base: "leaf", rough: 0.9, alpha: "MASK", doubleSided: true},
	"Leaf_Needle":   {tile: 1, color: white, base: "needle", rough: 0.9, alpha: "MASK", doubleSided: true},
	"Leaf_Palm":     {tile: 1, color: [4]float64{0.1, 0.26, 0.05, 1}, rough: 0.8, doubleSided: true},
	"Sand":          {tile: 4, color: [4]float64{0.72, 0.6, 0.42, 1}, base: "gravel", rough: 1},
	"Foliage":       {tile: 1, color: white, rough: 1},
	"Frame_White":   {tile: 1, color: [4]float64{0.85, 0.85, 0.83, 1}, rough: 0.5},
	"Frame_Dark":    {tile: 1, color: [4]float64{0.03, 0.032, 0.035, 1}, rough: 0.45},
	"Pane":          {tile: 1, color: [4]float64{0.05, 0.08, 0.11, 1}, rough: 0.06, metallic: 0.2},
	"Pane_Lit":      {tile: 1, color: [4]float64{0.5, 0.4, 0.25, 1}, rough: 0.2, emission: [3]float64{0.9, 0.66, 0.34}},
	"Glass":         {tile: 1, color: [4]float64{0.72, 0.86, 0.9, 0.28}, rough: 0.05, alpha: "BLEND"},
	"Water":         {tile: 1, color: [4]float64{0.08, 0.25, 0.3, 0.75}, rough: 0.05, alpha: "BLEND"},
	"Wood":          {tile: 1.5, color: white, base: "wood", rough: 0.8},
	"Wood_Dark":     {tile: 1.5, color: [4]float64{0.5, 0.36, 0.28, 1}, base: "wood", rough: 0.7},
	"Rubber":        {tile: 1, color: [4]float64{0.02, 0.02, 0.02, 1}, rough: 0.95},
	"Paint_Red":     paintColor(0.5, 0.03, 0.03),
	"Paint_Blue":    paintColor(0.04, 0.1, 0.35),
	"Paint_Yellow":  paintColor(0.75, 0.48, 0.03),
	"Paint_Green":   paintColor(0.03, 0.2, 0.08),
	"Paint_White":   paintColor(0.85, 0.85, 0.85),
	"Paint_Black":   paintColor(0.015, 0.015, 0.018),
	"Paint_Silver":  {tile: 1, color: [4]float64{0.55, 0.57, 0.6, 1}, rough: 0.3, metallic: 0.8},
	"Glow":          {tile: 1, color: white, rough: 0.5, emission: [3]float64{1, 0.86, 0.6}, strength: 4},
	"Glow_Red":      {tile: 1, color: [4]float64{0.6, 0.02, 0.02, 1}, rough: 0.5, emission: [3]float64{1, 0.04, 0.03}},
	"Glow_Green":    {tile: 1, color: [4]float64{0.02, 0.5, 0.1, 1}, rough: 0.5, emission: [3]float64{0.05, 1, 0.2}},
	"Screen":        {tile: 1, color: [4]float64{0.02, 0.03, 0.05, 1}, rough: 0.2, emission: [3]float64{0.12, 0.24, 0.42}},
	"Awning":        {tile: 1.6, color: white, base: "stripes", rough: 0.9, doubleSided: true},
	"Sign_Stop":     {tile: 1, color: white, base: "sign", rough: 0.5},
	"Fence_Mesh":    {tile: 0.5, color: white, base: "mesh", rough: 0.6, metallic: 0.5, alpha: "MASK", doubleSided: true},
	"Fabric_Grey":   {tile: 1, color: [4]float64{0.2, 0.21, 0.23, 1}, rough: 1},
	"Fabric_Teal":   {tile: 1, color: [4]float64{0.03, 0.25, 0.27, 1}, rough: 1},
	"Fabric_Orange": {tile: 1, color: [4]float64{0.6, 0.2, 0.04, 1}, rough: 1},
	"Carpet":        {tile: 2, color: [4]float64{0.42, 0.46, 0.52, 1}, base: "gravel", rough: 1},
	"Tiles":         {tile: 1.2, color: [4]float64{0.95, 0.97, 1, 1}, base: "paving", rough: 0.4},
	"Ceramic":       {tile: 1, color: [4]float64{0.9, 0.9, 0.9, 1}, rough: 0.15},
	"Ceiling":       {tile: 1.2, color: [4]float64{0.9, 0.9, 0.88, 1}, base: "paving", rough: 0.95},
	"Wall_Paint":    {tile: 3, color: [4]float64{0.9, 0.89, 0.86, 1}, rough: 0.9},
	"Painted":       {tile: 1, color: white, rough: 0.6},
}

func materialTile(name string) float64 {
	m, ok := materials[name]
	if !ok {
		panic("gen: no material " + name)
	}
	return m.tile
}

// palette writes materials and textures on first use, so that the file holds
// only what the scene needs.
type palette struct {
	w        *glbwrite.Writer
	textured bool
	size     int
	index    map[string]int
	textures map[string]int
	sampler  int
}

func newPalette(w *glbwrite.Writer, textured bool, size int) *palette {
	return &palette{w: w, textured: textured, size: size, index: map[string]int{}, textures: map[string]int{}, sampler: -1}
}

// get returns the glTF index of a material.
func (p *palette) get(name string) int {
	if i, ok := p.index[name]; ok {
		return i
	}
	i := p.w.Object(glb.Materials, p.describe(name, materials[name]))
	p.index[name] = i
	return i
}

type object = map[string]any

func (p *palette) describe(name string, m material) object {
	pbr := object{"baseColorFactor": m.color, "metallicFactor": m.metallic, "roughnessFactor": m.rough}
	out := object{"name": name, "pbrMetallicRoughness": pbr}
	if p.textured {
		if m.base != "" {
			pbr["baseColorTexture"] = object{"index": p.texture(m.base, mapBase, m.jpeg)}
		}
		if m.mr != "" {
			pbr["metallicRoughnessTexture"] = object{"index": p.texture(m.mr, mapMetalRough, false)}
		}
		if m.normal != "" {
			out["normalTexture"] = object{"index": p.texture(m.normal, mapNormal, false)}
		}
		if m.emissive != "" {
			out["emissiveTexture"] = object{"index": p.texture(m.emissive, mapEmissive, false)}
		}
		if m.occlusion != "" {
			out["occlusionTexture"] = object{"index": p.texture(m.occlusion, mapBase, false), "texCoord": 1, "strength": 0.8}
		}
	} else if m.mr != "" {
		pbr["metallicFactor"] = 0.1
	}
	if m.emission != ([3]float64{}) && (p.textured || m.emissive == "") {
		out["emissiveFactor"] = m.emission
	}
	if m.strength > 0 {
		p.w.Use("KHR_materials_emissive_strength", false)
		out["extensions"] = object{"KHR_materials_emissive_strength": object{"emissiveStrength": m.strength}}
	}
	switch {
	case m.alpha == "MASK" && p.textured:
		out["alphaMode"], out["alphaCutoff"] = "MASK", 0.5
	case m.alpha == "BLEND":
		out["alphaMode"] = "BLEND"
	}
	if m.doubleSided {
		out["doubleSided"] = true
	}
	return out
}

// wantsTangents reports whether the material has a normal map in this file.
func (p *palette) wantsTangents(name string) bool {
	return p.textured && materials[name].normal != ""
}

// wantsUV reports whether the material has any texture in this file.
func (p *palette) wantsUV(name string) bool {
	m := materials[name]
	return p.textured && (m.base != "" || m.mr != "" || m.normal != "" || m.emissive != "")
}

// texture writes one map of a surface and returns the glTF texture index.
func (p *palette) texture(surface string, kind mapKind, jpeg bool) int {
	key := surface + kind.suffix()
	if i, ok := p.textures[key]; ok {
		return i
	}
	if p.sampler < 0 {
		p.sampler = p.w.Object(glb.Samplers, object{"magFilter": 9729, "minFilter": 9987, "wrapS": 10497, "wrapT": 10497})
	}
	data, mime := encodeMap(paintMap(surface, kind, p.size), jpeg)
	img := p.w.Image(key, mime, data)
	i := p.w.Object(glb.Textures, object{"name": key, "sampler": p.sampler, "source": img})
	p.textures[key] = i
	return i
}
