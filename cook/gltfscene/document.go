package gltfscene

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/qmuntal/gltf"
	"github.com/untoldkit/untold/internal/jsonscan"
)

var (
	componentTypes = []int{5120, 5121, 5122, 5123, 5125, 5126}
	accessorTypes  = []string{"SCALAR", "VEC2", "VEC3", "VEC4", "MAT2", "MAT3", "MAT4"}
)

// The properties of glTF 2.0 that the import reads.
var (
	assetSchema = &schema{[]prop{
		{name: "version", kind: isString, need: true},
		{name: "minVersion", kind: isString},
		{name: "generator", kind: isString},
		{name: "copyright", kind: isString},
	}}

	sceneSchema = &schema{[]prop{{name: "nodes", kind: isInts}, {name: "name", kind: isString}}}

	nodeSchema = &schema{[]prop{
		{name: "children", kind: isInts},
		{name: "mesh", kind: isInt},
		{name: "camera", kind: isInt},
		{name: "skin", kind: isInt},
		{name: "matrix", kind: isNums, size: 16},
		{name: "rotation", kind: isNums, size: 4},
		{name: "scale", kind: isNums, size: 3},
		{name: "translation", kind: isNums, size: 3},
		{name: "weights", kind: isNums},
		{name: "name", kind: isString},
		{name: "extensions", kind: isObject},
		{name: "extras", kind: isAny},
	}}

	meshSchema = &schema{[]prop{
		{name: "primitives", kind: isObjects, need: true, sub: primitiveSchema},
		{name: "weights", kind: isNums},
		{name: "name", kind: isString},
	}}
	primitiveSchema = &schema{[]prop{
		{name: "attributes", kind: isIndexMap, need: true},
		{name: "indices", kind: isInt},
		{name: "material", kind: isInt},
		{name: "mode", kind: isInt, ints: []int{0, 1, 2, 3, 4, 5, 6}},
		{name: "targets", kind: isMaps},
		{name: "extensions", kind: isObject},
	}}

	accessorSchema = &schema{[]prop{
		{name: "bufferView", kind: isInt},
		{name: "byteOffset", kind: isInt},
		{name: "componentType", kind: isInt, need: true, ints: componentTypes},
		{name: "type", kind: isString, need: true, strs: accessorTypes},
		{name: "count", kind: isInt, need: true},
		{name: "normalized", kind: isBool},
		{name: "sparse", kind: isObject, sub: sparseSchema},
		{name: "name", kind: isString},
		{name: "min", kind: isAny},
		{name: "max", kind: isAny},
	}}
	sparseSchema = &schema{[]prop{
		{name: "count", kind: isInt, need: true},
		{name: "indices", kind: isObject, need: true, sub: &schema{[]prop{
			{name: "bufferView", kind: isInt, need: true},
			{name: "byteOffset", kind: isInt},
			{name: "componentType", kind: isInt, need: true, ints: []int{5121, 5123, 5125}},
		}}},
		{name: "values", kind: isObject, need: true, sub: &schema{[]prop{
			{name: "bufferView", kind: isInt, need: true}, {name: "byteOffset", kind: isInt},
		}}},
	}}

	bufferSchema = &schema{[]prop{
		{name: "byteLength", kind: isInt, need: true},
		{name: "uri", kind: isString},
		{name: "name", kind: isString},
		{name: "extensions", kind: isObject},
	}}
	viewSchema = &schema{[]prop{
		{name: "buffer", kind: isInt, need: true},
		{name: "byteOffset", kind: isInt},
		{name: "byteLength", kind: isInt, need: true},
		{name: "byteStride", kind: isInt},
		{name: "target", kind: isInt},
		{name: "name", kind: isString},
		{name: "extensions", kind: isObject},
	}}

	imageSchema = &schema{[]prop{
		{name: "uri", kind: isString},
		{name: "mimeType", kind: isString},
		{name: "bufferView", kind: isInt},
		{name: "name", kind: isString},
	}}
	textureSchema = &schema{[]prop{
		{name: "sampler", kind: isInt},
		{name: "source", kind: isInt},
		{name: "name", kind: isString},
		{name: "extensions", kind: isObject},
	}}
	samplerSchema = &schema{[]prop{
		{name: "magFilter", kind: isInt, ints: []int{9728, 9729}},
		{name: "minFilter", kind: isInt, ints: []int{9728, 9729, 9984, 9985, 9986, 9987}},
		{name: "wrapS", kind: isInt, ints: []int{10497, 33071, 33648}},
		{name: "wrapT", kind: isInt, ints: []int{10497, 33071, 33648}},
		{name: "name", kind: isString},
	}}

	materialSchema = &schema{[]prop{
		{name: "pbrMetallicRoughness", kind: isObject, sub: pbrSchema},
		{name: "normalTexture", kind: isObject, sub: normalSchema},
		{name: "occlusionTexture", kind: isObject, sub: occlusionSchema},
		{name: "emissiveTexture", kind: isObject, sub: textureInfoSchema},
		{name: "emissiveFactor", kind: isNums, size: 3},
		{name: "alphaMode", kind: isString, strs: []string{"OPAQUE", "MASK", "BLEND"}},
		{name: "alphaCutoff", kind: isNum},
		{name: "doubleSided", kind: isBool},
		{name: "name", kind: isString},
		{name: "extensions", kind: isObject},
	}}
	pbrSchema = &schema{[]prop{
		{name: "baseColorFactor", kind: isNums, size: 4},
		{name: "metallicFactor", kind: isNum},
		{name: "roughnessFactor", kind: isNum},
		{name: "baseColorTexture", kind: isObject, sub: textureInfoSchema},
		{name: "metallicRoughnessTexture", kind: isObject, sub: textureInfoSchema},
		{name: "extensions", kind: isObject},
	}}
	textureInfoSchema = &schema{[]prop{
		{name: "index", kind: isInt, need: true},
		{name: "texCoord", kind: isInt},
		{name: "extensions", kind: isObject},
	}}
	normalSchema    = &schema{append([]prop{{name: "scale", kind: isNum}}, textureInfoSchema.props...)}
	occlusionSchema = &schema{append([]prop{{name: "strength", kind: isNum}}, textureInfoSchema.props...)}

	cameraSchema = &schema{[]prop{
		{name: "type", kind: isString, need: true, strs: []string{"perspective", "orthographic"}},
		{name: "perspective", kind: isObject, sub: &schema{[]prop{
			{name: "yfov", kind: isNum, need: true},
			{name: "znear", kind: isNum, need: true},
			{name: "zfar", kind: isNum},
			{name: "aspectRatio", kind: isNum},
		}}},
		{name: "orthographic", kind: isObject, sub: &schema{[]prop{
			{name: "xmag", kind: isNum, need: true},
			{name: "ymag", kind: isNum, need: true},
			{name: "znear", kind: isNum, need: true},
			{name: "zfar", kind: isNum, need: true},
		}}},
		{name: "name", kind: isString},
	}}

	skinSchema = &schema{[]prop{
		{name: "joints", kind: isInts, need: true},
		{name: "inverseBindMatrices", kind: isInt},
		{name: "skeleton", kind: isInt},
		{name: "name", kind: isString},
	}}
	animationSchema = &schema{[]prop{
		{name: "name", kind: isString},
		{name: "samplers", kind: isObjects, need: true, sub: &schema{[]prop{
			{name: "input", kind: isInt, need: true},
			{name: "output", kind: isInt, need: true},
			{name: "interpolation", kind: isString, strs: []string{"LINEAR", "STEP", "CUBICSPLINE"}},
		}}},
		{name: "channels", kind: isObjects, need: true, sub: &schema{[]prop{
			{name: "sampler", kind: isInt, need: true},
			{name: "target", kind: isObject, need: true, sub: &schema{[]prop{
				{name: "node", kind: isInt}, {name: "path", kind: isString, need: true},
			}}},
		}}},
	}}
)

// table is one of the document's arrays. Its elements are decoded on demand,
// so that a fault in a part that the scene does not use does no harm.
type table[T any] struct {
	name   string
	schema *schema
	decode func(raw []byte, v *T) error // checks an element against schema, too
	raw    [][]byte
	err    error  // why the array as a whole is unusable
	used   []bool // which elements the scene uses
	empty  bool   // present without an element, which glTF forbids
	keep   bool   // remember decoded elements: many others may refer to one
	strip  bool   // leave out data: URIs
	memo   []memo[T]
	places []string // of elements that another file names, see Made
}

// memo is the outcome of decoding an element.
type memo[T any] struct {
	v   *T
	err error
}

func newTable[T any](name string, s *schema) table[T] {
	return table[T]{name: name, schema: s, keep: true, decode: func(raw []byte, v *T) error { return s.decode(raw, v) }}
}

// fill splits the array; val may be nil for an absent one.
func (t *table[T]) fill(val []byte) {
	if val == nil || isNull(val) {
		return
	}
	if val[0] != '[' {
		t.err = malformed(t.name, "is %s, must be an array", typeName(val))
		return
	}
	for _, e := range jsonscan.Elements(val, 0) {
		if len(t.raw) == cap(t.raw) { // larger steps than append's
			t.raw = slices.Grow(t.raw, max(16, len(t.raw)))
		}
		t.raw = append(t.raw, e.Of(val))
	}
	t.empty = len(t.raw) == 0
	t.used = make([]bool, len(t.raw))
}

func (t *table[T]) place(i int) string {
	if i >= 0 && i < len(t.places) && t.places[i] != "" {
		return t.places[i]
	}
	return t.name + "[" + strconv.Itoa(i) + "]"
}

// singular names an element: "mesh" for meshes.
func (t *table[T]) singular() string {
	if t.name == "meshes" {
		return "mesh"
	}
	return strings.TrimSuffix(t.name, "s")
}

// check returns an error without place when there is no element i.
func (t *table[T]) check(i int) error {
	if t.err != nil {
		return t.err
	}
	if i < 0 || i >= len(t.raw) {
		return malformed("", "names %s %d, but the file has %d", t.singular(), i, len(t.raw))
	}
	return nil
}

// peek decodes element i. The result must not be modified.
func (t *table[T]) peek(i int) (*T, error) {
	if err := t.check(i); err != nil {
		return nil, err
	}
	if t.memo == nil && t.keep {
		t.memo = make([]memo[T], len(t.raw))
	}
	if t.keep && (t.memo[i].v != nil || t.memo[i].err != nil) {
		return t.memo[i].v, t.memo[i].err
	}
	v := new(T)
	err := t.element(i, v)
	if err != nil {
		v = nil
	}
	if t.keep {
		t.memo[i] = memo[T]{v, err}
	}
	return v, err
}

// read decodes element i into v, which is overwritten, and marks the element as used.
// Nothing is remembered.
func (t *table[T]) read(i int, v *T) error {
	if err := t.check(i); err != nil {
		return err
	}
	t.used[i] = true
	*v = *new(T)
	return t.element(i, v)
}

// element decodes element i, which there is.
func (t *table[T]) element(i int, v *T) error {
	raw := t.raw[i]
	if t.strip {
		raw = withoutData(raw)
	}
	if err := t.decode(raw, v); err != nil {
		return at(t.place(i), err)
	}
	return nil
}

// get decodes element i and marks it as used.
func (t *table[T]) get(i int) (*T, error) {
	if i >= 0 && i < len(t.used) {
		t.used[i] = true
	}
	return t.peek(i)
}

// document is a glTF document whose arrays are split but not decoded.
type document struct {
	asset      gltf.Asset
	scene      int // -1 when absent
	sceneErr   error
	scenes     table[gltf.Scene]
	nodes      table[gltf.Node]
	meshes     table[gltf.Mesh]
	accessors  table[gltf.Accessor]
	views      table[gltf.BufferView]
	buffers    table[gltf.Buffer]
	materials  table[gltf.Material]
	textures   table[gltf.Texture]
	samplers   table[gltf.Sampler]
	images     table[gltf.Image]
	cameras    table[gltf.Camera]
	skins      table[gltf.Skin]
	animations table[gltf.Animation]
	extensions []byte       // the root's extensions object, nil when absent
	lightsUsed map[int]bool // by the index of a light: a node that is placed names it
	extUsed    []string
	extNeeded  []string
	hasScenes  bool
}

// parseDocument checks the JSON and splits its arrays.
func parseDocument(data []byte) (*document, error) {
	if !json.Valid(data) {
		return nil, syntaxError(data)
	}
	root := make(map[string][]byte)
	for key, val := range jsonscan.Members(data, 0) {
		if _, twice := root[string(key.Text)]; twice {
			return nil, malformed(clip(string(key.Text)), "occurs twice")
		}
		root[string(key.Text)] = val.Of(data)
	}
	d := &document{
		scene:      -1,
		scenes:     newTable[gltf.Scene]("scenes", sceneSchema),
		nodes:      newTable[gltf.Node]("nodes", nodeSchema),
		meshes:     newTable[gltf.Mesh]("meshes", meshSchema),
		accessors:  newTable[gltf.Accessor]("accessors", accessorSchema),
		views:      newTable[gltf.BufferView]("bufferViews", viewSchema),
		buffers:    newTable[gltf.Buffer]("buffers", bufferSchema),
		materials:  newTable[gltf.Material]("materials", materialSchema),
		textures:   newTable[gltf.Texture]("textures", textureSchema),
		samplers:   newTable[gltf.Sampler]("samplers", samplerSchema),
		images:     newTable[gltf.Image]("images", imageSchema),
		cameras:    newTable[gltf.Camera]("cameras", cameraSchema),
		skins:      newTable[gltf.Skin]("skins", skinSchema),
		animations: newTable[gltf.Animation]("animations", animationSchema),
	}
	// Nodes and meshes are looked at once each, and are the most.
	d.nodes.keep, d.meshes.keep = false, false
	d.nodes.decode = decodeNode
	d.buffers.strip, d.images.strip = true, true
	if err := d.readAsset(root); err != nil {
		return nil, err
	}
	d.split(root)
	var err error
	if d.extUsed, err = stringList(root, "extensionsUsed"); err != nil {
		return nil, err
	}
	if d.extNeeded, err = stringList(root, "extensionsRequired"); err != nil {
		return nil, err
	}
	if val := root["extensions"]; val != nil && !isNull(val) {
		if val[0] != '{' {
			return nil, malformed("extensions", "is %s, must be an object", typeName(val))
		}
		d.extensions = val
	}
	return d, nil
}

// split fills the tables.
func (d *document) split(root map[string][]byte) {
	for _, t := range d.tables() {
		t.fill(root[t.title()])
	}
	_, d.hasScenes = root["scenes"]
	if val := root["scene"]; val != nil && !isNull(val) {
		v, ok := wholeNumber(val)
		if !ok {
			d.sceneErr = malformed("scene", "is %s, must be a whole number >= 0", describe(val))
		}
		d.scene = v
	}
}

// anyTable is what all tables share, whatever they hold.
type anyTable interface {
	fill([]byte)
	title() string
	isEmpty() bool
	forget()
	audit(note func(error))
}

func (t *table[T]) title() string { return t.name }

func (t *table[T]) isEmpty() bool { return t.empty }

// forget drops the decoded elements.
func (t *table[T]) forget() { t.memo = nil }

// audit decodes the elements that the scene does not use and reports faults.
func (t *table[T]) audit(note func(error)) {
	if t.err != nil {
		note(t.err)
	}
	for i, used := range t.used {
		if used {
			continue
		}
		if _, err := t.peek(i); err != nil {
			note(err)
		}
	}
}

func (d *document) tables() []anyTable {
	return []anyTable{
		&d.scenes, &d.nodes, &d.meshes, &d.accessors, &d.views, &d.buffers, &d.materials,
		&d.textures, &d.samplers, &d.images, &d.cameras, &d.skins, &d.animations,
	}
}

// readAsset checks asset and its versions.
func (d *document) readAsset(root map[string][]byte) error {
	val := root["asset"]
	if val == nil {
		if m := root["meshes"]; m != nil && m[0] == '{' {
			return gltf1() // 1.0 keeps its parts in objects and may lack asset
		}
		e := malformed("asset", "is missing")
		e.Hint = "is this a glTF file?"
		return e
	}
	if v := jsonscan.Member(val, "version"); v != nil && v[0] != '"' && strings.HasPrefix(string(v), "1") {
		return gltf1()
	}
	if err := assetSchema.decode(val, &d.asset); err != nil {
		return at("asset", err)
	}
	major, minor, ok := version(d.asset.Version)
	switch {
	case !ok && strings.HasPrefix(d.asset.Version, "1."):
		return gltf1()
	case !ok:
		return malformed("asset.version", "is %q, must look like \"2.0\"", clip(d.asset.Version))
	case major == 1 || major == 0:
		return gltf1()
	case major != 2:
		return unsupported("asset.version", "export it as glTF 2.0", "glTF %d.%d is not supported, only 2.0", major, minor)
	}
	if d.asset.MinVersion == "" {
		return nil
	}
	major, minor, ok = version(d.asset.MinVersion)
	if !ok {
		return malformed("asset.minVersion", "is %q, must look like \"2.0\"", clip(d.asset.MinVersion))
	}
	if major != 2 || minor != 0 {
		return unsupported("asset.minVersion", "export it as glTF 2.0", "needs glTF %d.%d, only 2.0 is supported", major, minor)
	}
	return nil
}

// version parses "major.minor", which glTF demands, and "major.minor.patch", which says no
// more of the format.
func version(s string) (major, minor int, ok bool) {
	parts := strings.Split(s, ".")
	if len(parts) < 2 || len(parts) > 3 {
		return 0, 0, false
	}
	var n [3]int
	for i, part := range parts {
		var err error
		if n[i], err = strconv.Atoi(part); err != nil || n[i] < 0 {
			return 0, 0, false
		}
	}
	return n[0], n[1], true
}

// stringList reads a root array of strings.
func stringList(root map[string][]byte, name string) ([]string, error) {
	val := root[name]
	if val == nil || isNull(val) {
		return nil, nil
	}
	if val[0] != '[' {
		return nil, malformed(name, "is %s, must be an array", typeName(val))
	}
	var list []string
	for i, e := range jsonscan.Elements(val, 0) {
		if val[e.Start] != '"' {
			return list, malformed(fmt.Sprintf("%s[%d]", name, i), "is %s, must be a string", typeName(e.Of(val)))
		}
		list = append(list, text(e.Of(val)))
	}
	return list, nil
}

// syntaxError finds the place of the JSON fault in data.
func syntaxError(data []byte) error {
	var raw json.RawMessage
	err := json.Unmarshal(data, &raw)
	if err == nil {
		return malformed("", "the JSON is invalid")
	}
	reason := err.Error()
	var syntax *json.SyntaxError
	if e, ok := err.(*json.SyntaxError); ok {
		syntax = e
	}
	if syntax == nil || syntax.Offset <= 0 || int(syntax.Offset) > len(data) {
		return malformed("", "the JSON is invalid: %s", reason)
	}
	before := data[:syntax.Offset-1]
	line := 1 + bytes.Count(before, []byte("\n"))
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return malformed("", "the JSON is invalid at line %d, column %d (byte %d): %s", line, column, syntax.Offset-1, reason)
}
