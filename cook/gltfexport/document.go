package gltfexport

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/untoldkit/untold/internal/glb"
)

// document is the output: elements and the buffer go to the writer as they are
// made.
type document struct {
	*glb.Writer
	lights                  []json.RawMessage
	roots                   []int // of the scene
	emissiveStrength, unlit bool  // extensions in use
	quantized, basis        bool  // likewise
	fallback                int64 // bytes that the compressed views decode to, each aligned
}

func newDocument(out string, opts *Options) (document, error) {
	limit := int64(math.MaxUint32)
	if opts.maxBytes > 0 {
		limit = opts.maxBytes
	}
	tooLarge := fmt.Errorf("%w: export single containers, or --levels lod1 or hlod", ErrTooLarge)
	w, err := glb.Create(out, glb.Options{Separator: ",", Limit: limit, TooLarge: tooLarge, Files: opts.files})
	if err != nil {
		return document{}, fmt.Errorf("gltfexport: %w", err)
	}
	return document{Writer: w}, nil
}

// add appends an element to a section and returns its index. The types of this
// package always encode, provided that all numbers are finite.
func (d *document) add(s glb.Section, v any) (int, error) {
	k, err := d.Add(s, v)
	return k, located(err)
}

// located names the package in errors of the writer, other than [ErrTooLarge].
func located(err error) error {
	if err == nil || errors.Is(err, ErrTooLarge) {
		return err
	}
	return fmt.Errorf("gltfexport: %w", err)
}

type assetJSON struct {
	Version   string `json:"version"`
	Generator string `json:"generator"`
}

type sceneJSON struct {
	Nodes []int `json:"nodes,omitempty"`
}

type bufferJSON struct {
	URI        string           `json:"uri,omitempty"`
	ByteLength int64            `json:"byteLength"`
	Extensions *bufferExtraJSON `json:"extensions,omitempty"`
}

type bufferExtraJSON struct {
	Fallback fallbackJSON `json:"EXT_meshopt_compression"`
}

type fallbackJSON struct {
	Fallback bool `json:"fallback"`
}

// fallbackBuffer is the buffer that compressed views are decoded to. It has no file.
const fallbackBuffer = 1

type viewJSON struct {
	Buffer     int            `json:"buffer"`
	ByteOffset int64          `json:"byteOffset,omitempty"`
	ByteLength int64          `json:"byteLength"`
	ByteStride int            `json:"byteStride,omitempty"`
	Target     int            `json:"target,omitempty"`
	Extensions *viewExtraJSON `json:"extensions,omitempty"`
}

type viewExtraJSON struct {
	Compressed *compressedJSON `json:"EXT_meshopt_compression"`
}

type compressedJSON struct {
	Buffer     int    `json:"buffer"`
	ByteOffset int64  `json:"byteOffset,omitempty"`
	ByteLength int64  `json:"byteLength"`
	ByteStride int    `json:"byteStride"`
	Count      int    `json:"count"`
	Mode       string `json:"mode"`
	Filter     string `json:"filter,omitempty"`
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
	Sampler    int               `json:"sampler"`
	Source     *int              `json:"source,omitempty"`
	Extensions *textureExtraJSON `json:"extensions,omitempty"`
}

type textureExtraJSON struct {
	Basis sourceJSON `json:"KHR_texture_basisu"`
}

type sourceJSON struct {
	Source int `json:"source"`
}

type samplerJSON struct {
	MagFilter int `json:"magFilter"`
	MinFilter int `json:"minFilter"`
	WrapS     int `json:"wrapS"`
	WrapT     int `json:"wrapT"`
}

// finish writes the files; it returns the bytes of all but the textures.
func (d *document) finish(generator string) (int64, error) {
	if d.Count(glb.Textures) > 0 {
		if _, err := d.add(glb.Samplers, samplerJSON{glb.FilterLinear, glb.FilterMipmaps, glb.WrapRepeat, glb.WrapRepeat}); err != nil {
			return 0, err
		}
	}
	n, err := d.Close(func(buffers []glb.Buffer) (head, tail []byte) {
		add := func(b []byte, key string, v any) []byte {
			text, err := json.Marshal(v)
			if err != nil {
				panic(err) // texts, whole numbers and what has been encoded always encode
			}
			return append(append(b, key...), text...)
		}
		head = add(nil, `{"asset":`, assetJSON{"2.0", generator})
		if used := d.extensions(); len(used) > 0 {
			head = add(head, `,"extensionsUsed":`, used)
		}
		if required := d.required(); len(required) > 0 {
			head = add(head, `,"extensionsRequired":`, required)
		}
		head = add(head, `,"scene":0,"scenes":`, []sceneJSON{{d.roots}})
		var list []bufferJSON
		for _, b := range buffers { // one at most
			list = append(list, bufferJSON{URI: b.URI, ByteLength: b.Size})
		}
		if d.fallback > 0 {
			list = append(list, bufferJSON{ByteLength: d.fallback, Extensions: &bufferExtraJSON{fallbackJSON{true}}})
		}
		if len(list) > 0 {
			tail = add(tail, `,"buffers":`, list)
		}
		if len(d.lights) > 0 {
			tail = append(add(tail, `,"extensions":{"KHR_lights_punctual":{"lights":`, d.lights), "}}"...)
		}
		return head, append(tail, '}')
	})
	return n, located(err)
}

// extensions lists the extensions in use, by name.
func (d *document) extensions() []string {
	used := d.required()
	if len(d.lights) > 0 {
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

// required lists those without which nothing can be drawn.
func (d *document) required() []string {
	var list []string
	if d.fallback > 0 {
		list = append(list, extMeshopt)
	}
	if d.quantized {
		list = append(list, extQuantization)
	}
	if d.basis {
		list = append(list, extBasis)
	}
	return list
}
