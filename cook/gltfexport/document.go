package gltfexport

import (
	"encoding/json"
	"fmt"
	"io"
)

// The numbers of glTF 2.0 that are used here (sections 5.1, 5.11 and 5.26).
const (
	componentU8   = 5121
	componentU16  = 5123
	componentU32  = 5125
	componentF32  = 5126
	targetVertex  = 34962
	targetIndex   = 34963
	wrapRepeat    = 10497
	filterLinear  = 9729
	filterMipmaps = 9987
)

// section is an array of the document, encoded as it grows: a large scene has
// millions of elements, which are smaller as text than as Go values.
type section struct {
	data []byte
	n    int
}

// add appends an element and returns its index. The types of this package
// always encode, provided that all numbers are finite.
func (s *section) add(v any) (int, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return 0, fmt.Errorf("gltfexport: encode the document: %w", err)
	}
	if s.n > 0 {
		s.data = append(s.data, ',')
	}
	s.data = append(s.data, b...)
	s.n++
	return s.n - 1, nil
}

// document is the JSON part of the output.
type document struct {
	nodes, meshes, accessors, views   section
	materials, textures, images       section
	cameras, lights                   section
	roots                             []int // of the scene
	emissiveStrength, unlit, punctual bool  // extensions in use
	bufferURI                         string
	bufferBytes                       int64
}

type assetJSON struct {
	Version   string `json:"version"`
	Generator string `json:"generator"`
}

type sceneJSON struct {
	Nodes []int `json:"nodes,omitempty"`
}

type bufferJSON struct {
	URI        string `json:"uri,omitempty"`
	ByteLength int64  `json:"byteLength"`
}

type viewJSON struct {
	Buffer     int   `json:"buffer"`
	ByteOffset int64 `json:"byteOffset,omitempty"`
	ByteLength int64 `json:"byteLength"`
	ByteStride int   `json:"byteStride,omitempty"`
	Target     int   `json:"target,omitempty"`
}

type accessorJSON struct {
	BufferView    int       `json:"bufferView"`
	ByteOffset    int       `json:"byteOffset,omitempty"`
	ComponentType int       `json:"componentType"`
	Normalized    bool      `json:"normalized,omitempty"`
	Count         int       `json:"count"`
	Type          string    `json:"type"`
	Min           []float64 `json:"min,omitempty"`
	Max           []float64 `json:"max,omitempty"`
}

type attributesJSON struct {
	Position int  `json:"POSITION"`
	Normal   int  `json:"NORMAL"`
	Tangent  *int `json:"TANGENT,omitempty"`
	UV0      *int `json:"TEXCOORD_0,omitempty"`
	UV1      *int `json:"TEXCOORD_1,omitempty"`
	Color    *int `json:"COLOR_0,omitempty"`
}

type primitiveJSON struct {
	Attributes attributesJSON `json:"attributes"`
	Indices    int            `json:"indices"`
	Material   *int           `json:"material,omitempty"`
}

type meshJSON struct {
	Name       string          `json:"name,omitempty"`
	Primitives []primitiveJSON `json:"primitives"`
}

type nodeJSON struct {
	Name        string      `json:"name,omitempty"`
	Children    []int       `json:"children,omitempty"`
	Mesh        *int        `json:"mesh,omitempty"`
	Camera      *int        `json:"camera,omitempty"`
	Translation []float64   `json:"translation,omitempty"`
	Rotation    []float64   `json:"rotation,omitempty"`
	Scale       []float64   `json:"scale,omitempty"`
	Extensions  *nodeExtras `json:"extensions,omitempty"`
}

type nodeExtras struct {
	Light lightRefJSON `json:"KHR_lights_punctual"`
}

type lightRefJSON struct {
	Light int `json:"light"`
}

type imageJSON struct {
	Name       string `json:"name,omitempty"`
	URI        string `json:"uri,omitempty"`
	MimeType   string `json:"mimeType,omitempty"`
	BufferView *int   `json:"bufferView,omitempty"`
}

type textureJSON struct {
	Sampler int `json:"sampler"`
	Source  int `json:"source"`
}

type samplerJSON struct {
	MagFilter int `json:"magFilter"`
	MinFilter int `json:"minFilter"`
	WrapS     int `json:"wrapS"`
	WrapT     int `json:"wrapT"`
}

// encode writes the document and returns its length. It can be called twice,
// first with io.Discard to learn the length.
func (d *document) encode(w io.Writer, generator string) (int64, error) {
	e := encoder{w: w}
	e.value(`{"asset":`, assetJSON{"2.0", generator})
	if used := d.extensions(); len(used) > 0 {
		e.value(`,"extensionsUsed":`, used)
	}
	e.text(`,"scene":0,"scenes":[`)
	e.value("", sceneJSON{d.roots})
	e.text("]")
	e.section("nodes", &d.nodes)
	e.section("meshes", &d.meshes)
	e.section("materials", &d.materials)
	e.section("textures", &d.textures)
	e.section("images", &d.images)
	if d.textures.n > 0 {
		e.value(`,"samplers":`, []samplerJSON{{filterLinear, filterMipmaps, wrapRepeat, wrapRepeat}})
	}
	e.section("cameras", &d.cameras)
	e.section("accessors", &d.accessors)
	e.section("bufferViews", &d.views)
	if d.bufferBytes > 0 {
		e.value(`,"buffers":`, []bufferJSON{{d.bufferURI, d.bufferBytes}})
	}
	if d.punctual {
		e.text(`,"extensions":{"KHR_lights_punctual":{"lights":[`)
		e.bytes(d.lights.data)
		e.text("]}}")
	}
	e.text("}")
	return e.n, e.err
}

// extensions lists the extensions in use, by name.
func (d *document) extensions() []string {
	var used []string
	if d.punctual {
		used = append(used, "KHR_lights_punctual")
	}
	if d.emissiveStrength {
		used = append(used, "KHR_materials_emissive_strength")
	}
	if d.unlit {
		used = append(used, "KHR_materials_unlit")
	}
	return used
}

// encoder writes pieces and keeps the first error.
type encoder struct {
	w   io.Writer
	n   int64
	err error
}

func (e *encoder) bytes(b []byte) {
	if e.err != nil {
		return
	}
	n, err := e.w.Write(b)
	e.n += int64(n)
	e.err = err
}

func (e *encoder) text(s string) { e.bytes([]byte(s)) }

func (e *encoder) value(key string, v any) {
	b, err := json.Marshal(v)
	if err != nil && e.err == nil {
		e.err = err
	}
	e.text(key)
	e.bytes(b)
}

// section writes an array; glTF forbids empty ones.
func (e *encoder) section(key string, s *section) {
	if s.n == 0 {
		return
	}
	e.text(`,"` + key + `":[`)
	e.bytes(s.data)
	e.text("]")
}
