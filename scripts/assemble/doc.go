package main

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/untoldkit/untold/internal/glb"
)

// ErrPart is wrapped by every error about an unreadable part; the text names
// the file.
var ErrPart = errors.New("assemble: unreadable part")

// document is the part of glTF that assembling needs. What is only passed on,
// such as materials, stays raw JSON.
type document struct {
	Asset struct {
		Version string `json:"version"`
	} `json:"asset"`
	Used        []string          `json:"extensionsUsed"`
	Required    []string          `json:"extensionsRequired"`
	Scene       int               `json:"scene"`
	Scenes      []docScene        `json:"scenes"`
	Nodes       []docNode         `json:"nodes"`
	Meshes      []docMesh         `json:"meshes"`
	Accessors   []docAccessor     `json:"accessors"`
	BufferViews []docView         `json:"bufferViews"`
	Buffers     []docBuffer       `json:"buffers"`
	Materials   []json.RawMessage `json:"materials"`
	Textures    []json.RawMessage `json:"textures"`
	Images      []docImage        `json:"images"`
	Samplers    []json.RawMessage `json:"samplers"`
	Animations  []json.RawMessage `json:"animations"`
	Skins       []json.RawMessage `json:"skins"`

	dir  string   // of the file, for URIs
	data [][]byte // content of the buffers
}

type docScene struct {
	Nodes []int `json:"nodes"`
}

type docNode struct {
	Name        string    `json:"name"`
	Mesh        *int      `json:"mesh"`
	Children    []int     `json:"children"`
	Translation []float64 `json:"translation"`
	Rotation    []float64 `json:"rotation"`
	Scale       []float64 `json:"scale"`
	Matrix      []float64 `json:"matrix"`
}

type docMesh struct {
	Name       string         `json:"name"`
	Primitives []docPrimitive `json:"primitives"`
	Weights    []float64      `json:"weights"`
}

type docPrimitive struct {
	Attributes map[string]int             `json:"attributes"`
	Indices    *int                       `json:"indices"`
	Material   *int                       `json:"material"`
	Mode       *int                       `json:"mode"`
	Targets    []map[string]int           `json:"targets"`
	Extensions map[string]json.RawMessage `json:"extensions"`
}

type docAccessor struct {
	BufferView    *int            `json:"bufferView,omitempty"`
	ByteOffset    int             `json:"byteOffset,omitempty"`
	ComponentType int             `json:"componentType"`
	Normalized    bool            `json:"normalized,omitempty"`
	Count         int             `json:"count"`
	Type          string          `json:"type"`
	Min           json.RawMessage `json:"min,omitempty"`
	Max           json.RawMessage `json:"max,omitempty"`
	Sparse        json.RawMessage `json:"sparse,omitempty"`
}

type docView struct {
	Buffer     int                        `json:"buffer"`
	ByteOffset int                        `json:"byteOffset"`
	ByteLength int                        `json:"byteLength"`
	ByteStride int                        `json:"byteStride"`
	Target     int                        `json:"target"`
	Extensions map[string]json.RawMessage `json:"extensions"`
}

type docBuffer struct {
	URI        string `json:"uri"`
	ByteLength int    `json:"byteLength"`
}

type docImage struct {
	Name       string `json:"name"`
	URI        string `json:"uri"`
	MimeType   string `json:"mimeType"`
	BufferView *int   `json:"bufferView"`
}

// passable are the extensions whose objects sit in materials and textures and
// survive merging; KHR_mesh_quantization only widens accessor types.
func passable(ext string) bool {
	return strings.HasPrefix(ext, "KHR_materials_") && ext != "KHR_materials_variants" ||
		slices.Contains([]string{"KHR_texture_transform", "KHR_mesh_quantization", "EXT_texture_webp", "KHR_texture_basisu", "MSFT_texture_dds"}, ext)
}

// readDocument reads a .gltf or .glb file with its buffers.
func readDocument(path string) (*document, error) {
	fail := func(format string, args ...any) (*document, error) {
		return nil, fmt.Errorf("%w %s: %w", ErrPart, path, fmt.Errorf(format, args...))
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return fail("%w", err)
	}
	d, err := parseDocument(raw, filepath.Dir(path))
	if err != nil {
		return fail("%w", err)
	}
	return d, nil
}

// parseDocument reads the bytes of a .gltf or .glb file; dir holds the files
// that its URIs name.
func parseDocument(raw []byte, dir string) (*document, error) {
	text, bin := raw, []byte(nil)
	if len(raw) >= 4 && string(raw[:4]) == "glTF" {
		var err error
		if text, bin, _, err = glb.Split(raw); err != nil {
			return nil, err
		}
	}
	d := &document{dir: dir}
	if err := json.Unmarshal(text, d); err != nil {
		return nil, fmt.Errorf("bad JSON: %w", err)
	}
	if !strings.HasPrefix(d.Asset.Version, "2.") {
		return nil, fmt.Errorf("asset version %q; only glTF 2.0 is supported", d.Asset.Version)
	}
	for _, e := range d.Required {
		if !passable(e) {
			return nil, fmt.Errorf("it requires the extension %s, which assemble cannot carry over", e)
		}
	}
	for i, b := range d.Buffers {
		data := bin
		if b.URI != "" || i > 0 {
			var err error
			if data, err = d.fetch(b.URI); err != nil {
				return nil, fmt.Errorf("buffer %d: %w", i, err)
			}
		}
		if b.ByteLength < 0 || b.ByteLength > len(data) {
			return nil, fmt.Errorf("buffer %d: %d bytes are declared, %d exist", i, b.ByteLength, len(data))
		}
		d.data = append(d.data, data[:b.ByteLength])
	}
	return d, d.check()
}

// fetch returns what a data URI or a relative path names. A path must stay
// inside the part's folder.
func (d *document) fetch(uri string) ([]byte, error) {
	if rest, ok := strings.CutPrefix(uri, "data:"); ok {
		_, enc, ok := strings.Cut(rest, ";base64,")
		if !ok {
			return nil, errors.New("data URI without base64")
		}
		return base64.StdEncoding.DecodeString(enc)
	}
	p, err := url.PathUnescape(uri)
	if err != nil {
		return nil, fmt.Errorf("URI %q: %w", uri, err)
	}
	if p = filepath.FromSlash(p); !filepath.IsLocal(p) {
		return nil, fmt.Errorf("URI %q leaves the folder of the part", uri)
	}
	return os.ReadFile(filepath.Join(d.dir, p))
}

// check makes sure that every index and range that merging follows exists.
func (d *document) check() error {
	for i, v := range d.BufferViews {
		if v.Buffer < 0 || v.Buffer >= len(d.data) || v.ByteOffset < 0 || v.ByteLength < 0 || v.ByteStride < 0 ||
			v.ByteOffset > len(d.data[v.Buffer]) || v.ByteLength > len(d.data[v.Buffer])-v.ByteOffset {
			return fmt.Errorf("bufferView %d lies outside its buffer", i)
		}
		if len(v.Extensions) > 0 {
			return fmt.Errorf("bufferView %d is compressed by an extension, which assemble cannot carry over", i)
		}
	}
	for i, a := range d.Accessors {
		if a.BufferView != nil {
			if err := inRange(*a.BufferView, len(d.BufferViews)); err != nil {
				return fmt.Errorf("accessor %d: bufferView %w", i, err)
			}
		}
	}
	for i, m := range d.Meshes {
		for k, p := range m.Primitives {
			if err := d.checkPrimitive(p); err != nil {
				return fmt.Errorf("mesh %d, primitive %d: %w", i, k, err)
			}
		}
	}
	for i, n := range d.Nodes {
		if n.Mesh != nil {
			if err := inRange(*n.Mesh, len(d.Meshes)); err != nil {
				return fmt.Errorf("node %d: mesh %w", i, err)
			}
		}
		for _, c := range n.Children {
			if err := inRange(c, len(d.Nodes)); err != nil {
				return fmt.Errorf("node %d: child %w", i, err)
			}
		}
	}
	for i, m := range d.Images {
		if m.BufferView != nil {
			if err := inRange(*m.BufferView, len(d.BufferViews)); err != nil {
				return fmt.Errorf("image %d: bufferView %w", i, err)
			}
		}
	}
	return nil
}

// checkPrimitive checks the accessors and the material of a primitive.
func (d *document) checkPrimitive(p docPrimitive) error {
	for _, list := range append([]map[string]int{p.Attributes}, p.Targets...) {
		for _, k := range slices.Sorted(maps.Keys(list)) {
			if err := inRange(list[k], len(d.Accessors)); err != nil {
				return fmt.Errorf("%s accessor %w", k, err)
			}
		}
	}
	if p.Indices != nil {
		if err := inRange(*p.Indices, len(d.Accessors)); err != nil {
			return fmt.Errorf("index accessor %w", err)
		}
	}
	if p.Material != nil {
		if err := inRange(*p.Material, len(d.Materials)); err != nil {
			return fmt.Errorf("material %w", err)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(p.Extensions)) {
		return fmt.Errorf("the extension %s cannot be carried over", k)
	}
	return nil
}

func inRange(i, n int) error {
	if i < 0 || i >= n {
		return fmt.Errorf("%d does not exist, there are %d", i, n)
	}
	return nil
}

// roots returns the roots of the part's scene.
func (d *document) roots() []int {
	if d.Scene >= 0 && d.Scene < len(d.Scenes) {
		return d.Scenes[d.Scene].Nodes
	}
	child := make([]bool, len(d.Nodes))
	for _, n := range d.Nodes {
		for _, c := range n.Children {
			child[c] = true
		}
	}
	var list []int
	for i, c := range child {
		if !c {
			list = append(list, i)
		}
	}
	return list
}

// view returns the bytes of a buffer view.
func (d *document) view(i int) []byte {
	v := d.BufferViews[i]
	return d.data[v.Buffer][v.ByteOffset : v.ByteOffset+v.ByteLength]
}
