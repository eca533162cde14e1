package usd

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/untoldkit/untold/cook/internal/gltfdoc"
	"github.com/untoldkit/untold/internal/geom"
)

type members = map[string]any

// look is a material.
type look struct {
	name                       string
	base                       [4]float64
	metallic, roughness        float64
	emissive                   [3]float64
	normalScale                float64
	mode                       string // of alpha; "" is OPAQUE
	cutoff                     float64
	baseTex, ormTex, normalTex *textureRef
	occlusionTex, emissiveTex  *textureRef
	uvs                        []string // primvars, by the sets of texture coordinates that they become
	colors                     bool     // vertices have colours
}

// newLook returns a material of glTF's defaults, of which nothing shines.
func newLook(name string) *look {
	return &look{name: name, base: [4]float64{1, 1, 1, 1}, roughness: 1, normalScale: 1}
}

// textureRef is an image as a material shows it.
type textureRef struct {
	image        int // in document.images
	set          int // of texture coordinates
	wrapS, wrapT int
	transform    *uvTransform
}

// uvTransform moves texture coordinates as KHR_texture_transform does.
type uvTransform struct {
	Offset   [2]float64 `json:"offset"`
	Rotation float64    `json:"rotation,omitempty"` // radians
	Scale    [2]float64 `json:"scale"`
}

// imageView is where an image lies in the buffer.
type imageView struct{ offset, size int64 }

// document collects materials and images of the glTF file.
type document struct {
	looks     []*look
	written   map[[2]int]int // looks, one-sided and two-sided, to materials
	materials []any
	textures  []any
	samplers  []any
	images    []any
	places    []string
	textureOf map[[2]int]int
	samplerOf map[[2]int]int
	cameras   []any
	lights    []any // of KHR_lights_punctual
	strength  bool  // KHR_materials_emissive_strength is used
	moved     bool  // KHR_texture_transform is used
}

func newDocument() *document {
	return &document{written: map[[2]int]int{}, textureOf: map[[2]int]int{}, samplerOf: map[[2]int]int{}}
}

// look returns a material by its number.
func (d *document) look(i int) *look { return d.looks[i] }

// addLook adds a material and returns its number.
func (d *document) addLook(l *look) int {
	d.looks = append(d.looks, l)
	return len(d.looks) - 1
}

// index returns where a material stands in the file.
func (d *document) index(i int, double bool) int {
	key := [2]int{i, 0}
	if double {
		key[1] = 1
	}
	at, ok := d.written[key]
	if !ok {
		at = len(d.materials)
		d.written[key] = at
		d.materials = append(d.materials, d.material(d.looks[i], double))
	}
	return at
}

// material returns a material as glTF has it.
func (d *document) material(l *look, double bool) members {
	pbr := members{"baseColorFactor": l.base, "metallicFactor": l.metallic, "roughnessFactor": l.roughness}
	out := members{"name": l.name, "pbrMetallicRoughness": pbr}
	if l.baseTex != nil {
		pbr["baseColorTexture"] = d.textureInfo(l.baseTex)
	}
	if l.ormTex != nil {
		pbr["metallicRoughnessTexture"] = d.textureInfo(l.ormTex)
	}
	if l.normalTex != nil {
		info := d.textureInfo(l.normalTex)
		if l.normalScale != 1 {
			info["scale"] = l.normalScale
		}
		out["normalTexture"] = info
	}
	if l.occlusionTex != nil {
		out["occlusionTexture"] = d.textureInfo(l.occlusionTex)
	}
	if l.emissiveTex != nil {
		out["emissiveTexture"] = d.textureInfo(l.emissiveTex)
	}
	if top := max(l.emissive[0], l.emissive[1], l.emissive[2]); top > 0 {
		e := l.emissive
		if top > 1 {
			for i := range e {
				e[i] /= top
			}
			d.strength = true
			out["extensions"] = members{"KHR_materials_emissive_strength": members{"emissiveStrength": top}}
		}
		out["emissiveFactor"] = e
	}
	if l.mode != "" {
		out["alphaMode"] = l.mode
	}
	if l.mode == "MASK" {
		out["alphaCutoff"] = l.cutoff
	}
	if double {
		out["doubleSided"] = true
	}
	return out
}

// textureInfo refers to a texture.
func (d *document) textureInfo(t *textureRef) members {
	wrap := [2]int{t.wrapS, t.wrapT}
	sampler, ok := d.samplerOf[wrap]
	if !ok {
		sampler = len(d.samplers)
		d.samplerOf[wrap] = sampler
		d.samplers = append(d.samplers, members{"wrapS": wrap[0], "wrapT": wrap[1]})
	}
	key := [2]int{t.image, sampler}
	index, ok := d.textureOf[key]
	if !ok {
		index = len(d.textures)
		d.textureOf[key] = index
		d.textures = append(d.textures, members{"source": t.image, "sampler": sampler})
	}
	info := members{"index": index}
	if t.set > 0 {
		info["texCoord"] = t.set
	}
	if t.transform != nil {
		d.moved = true
		info["extensions"] = members{"KHR_texture_transform": t.transform}
	}
	return info
}

// finite reports whether numbers are.
func finite(list ...float64) bool {
	for _, x := range list {
		if x-x != 0 {
			return false
		}
	}
	return true
}

// marshal writes what should be finite.
func marshal(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, malformed("", "it cannot be written as glTF: %v", err)
	}
	return text, nil
}

// quoted writes a text, of any bytes.
func quoted(s string) []byte {
	text, _ := json.Marshal(s)
	return text
}

// indices writes a list of indices.
func indices(list []int) []byte {
	out := []byte{'['}
	for i, v := range list {
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendInt(out, int64(v), 10)
	}
	return append(out, ']')
}

// node writes an item with those below it, and returns its number.
func (r *reader) node(it *item) int {
	children := make([]int, len(it.below))
	for i, b := range it.below {
		children[i] = r.node(b)
	}
	out := append([]byte(`{"name":`), quoted(it.name)...)
	if it.mesh >= 0 {
		out = strconv.AppendInt(append(out, `,"mesh":`...), int64(it.mesh), 10)
	}
	if it.local != geom.Identity() {
		out = append(append(out, `,"matrix":`...), matrixText(it.local)...)
	}
	if len(children) > 0 {
		out = append(append(out, `,"children":`...), indices(children)...)
	}
	if it.camera > 0 {
		out = strconv.AppendInt(append(out, `,"camera":`...), int64(it.camera-1), 10)
	}
	if it.light > 0 {
		out = strconv.AppendInt(append(out, `,"extensions":{"KHR_lights_punctual":{"light":`...), int64(it.light-1), 10)
		out = append(out, "}}"...)
	}
	if len(it.extras) > 0 {
		out = append(append(out, `,"extras":`...), it.extras...)
	}
	r.nodes = gltfdoc.AppendElement(r.nodes, append(out, '}'))
	r.nodeCount++
	return r.nodeCount - 1
}

func matrixText(m geom.Mat4) []byte {
	out := []byte{'['}
	for i, v := range m {
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendFloat(out, v+0, 'g', -1, 64)
	}
	return append(out, ']')
}

// json returns the document.
func (r *reader) json(roots []*item) ([]byte, error) {
	var top []int
	for _, it := range roots {
		top = append(top, r.node(it))
	}
	m, err := r.space()
	if err != nil {
		return nil, err
	}
	if m != geom.Identity() && len(top) > 0 {
		name := append([]byte(`{"name":`), quoted(stem(r.main.name))...)
		name = append(append(name, `,"matrix":`...), matrixText(m)...)
		name = append(append(append(name, `,"children":`...), indices(top)...), '}')
		r.nodes = gltfdoc.AppendElement(r.nodes, name)
		top = []int{r.nodeCount}
		r.nodeCount++
	}
	out := []byte(`{"asset":{"version":"2.0"}`)
	var used []string
	if r.doc.strength {
		used = append(used, "KHR_materials_emissive_strength")
	}
	if len(r.doc.lights) > 0 {
		used = append(used, "KHR_lights_punctual")
	}
	if r.doc.moved {
		used = append(used, "KHR_texture_transform")
	}
	if len(used) > 0 {
		out = append(out, `,"extensionsUsed":["`+strings.Join(used, `","`)+`"]`...)
	}
	if len(top) == 0 {
		return append(out, `,"scene":0,"scenes":[{}]}`...), nil
	}
	if len(r.doc.lights) > 0 {
		text, err := marshal(r.doc.lights)
		if err != nil {
			return nil, err
		}
		out = append(append(append(out, `,"extensions":{"KHR_lights_punctual":{"lights":`...), text...), "}}\n"...)
	}
	out = append(append(append(out, `,"scene":0,"scenes":[{"nodes":`...), indices(top)...), `}]`...)
	for _, s := range []struct {
		name string
		text []byte
	}{{"nodes", r.nodes}, {"meshes", r.meshes}, {"accessors", r.accessors}} {
		if len(s.text) > 0 {
			out = append(append(append(append(append(out, `,"`...), s.name...), `":[`...), s.text...), "]\n"...)
		}
	}
	out = gltfdoc.AppendViews(out, r.n, viewStrides[:])
	for _, v := range r.images {
		out = append(out, `,{"buffer":0,"byteOffset":`+strconv.FormatInt(v.offset, 10)+`,"byteLength":`+strconv.FormatInt(v.size, 10)+`}`...)
	}
	out = append(out, ']')
	for _, s := range []struct {
		name string
		list []any
	}{{"cameras", r.doc.cameras}, {"materials", r.doc.materials}, {"textures", r.doc.textures}, {"samplers", r.doc.samplers}, {"images", r.doc.images}} {
		if len(s.list) == 0 {
			continue
		}
		text, err := marshal(s.list)
		if err != nil {
			return nil, err
		}
		out = append(append(append(out, `,"`+s.name+`":`...), text...), '\n')
	}
	return append(out, '}'), nil
}

// space returns what leads from the axes and units of the scene to those of glTF.
func (r *reader) space() (geom.Mat4, error) {
	m := geom.Identity()
	metres, err := r.metres()
	if err != nil {
		return m, err
	}
	if r.meta("metersPerUnit") == nil {
		r.note("usd-units-missing", false, r.main.name, "metersPerUnit is missing: a unit is a centimetre, as USD has it")
	}
	r.compareSpaces()
	up, _ := text(r.meta("upAxis"))
	x, y, z := geom.Vec3{metres}, geom.Vec3{0, metres}, geom.Vec3{0, 0, metres}
	if up == "Z" { // a quarter turn about x
		y, z = geom.Vec3{0, 0, -metres}, geom.Vec3{0, metres}
	}
	copy(m[0:3], x[:])
	copy(m[4:7], y[:])
	copy(m[8:11], z[:])
	return m, nil
}

// metres returns how long a unit of the scene is.
func (r *reader) metres() (float64, error) {
	n := numbersOf(r.meta("metersPerUnit"))
	if n == nil || n.Flat() != 1 {
		return 0.01, nil
	}
	metres := n.At(0)
	if !(metres > 0) || metres-metres != 0 || metres > 1e9 || metres < 1e-9 {
		return 0, malformed("metersPerUnit", "is %v", metres)
	}
	// Some write it as a float: 0.01 is meant.
	if k := float64(float32(0.01)); metres == k {
		metres = 0.01
	}
	return metres, nil
}

// compareSpaces notes layers that state other axes or units than the scene: as USD has it,
// nothing is turned or scaled.
func (r *reader) compareSpaces() {
	list := make([]*loaded, len(r.layers))
	for _, l := range r.layers {
		list[l.number] = l
	}
	for _, l := range list[1:] {
		for _, key := range []string{"metersPerUnit", "upAxis"} {
			v, ok := l.Meta[key]
			if !ok {
				continue
			}
			own, _ := plain(v, 0)
			of, said := plain(r.meta(key), 0)
			if !said { // what USD has for it
				of = map[string]any{"metersPerUnit": 0.01, "upAxis": "Y"}[key]
			}
			if fmt.Sprint(own) != fmt.Sprint(of) {
				r.note("usd-spaces-differ", true, l.source.String()+": "+key, "layers that state other axes or units than the first one were neither turned nor scaled, as USD has it")
			}
		}
	}
}
