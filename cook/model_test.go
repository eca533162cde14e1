package cook

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"math"
	"path/filepath"
	"testing"

	"github.com/untoldkit/untold/finding"
	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/internal/testfile"
)

// obj is a JSON object.
type obj = map[string]any

// model builds a glTF file in memory.
type model struct {
	meshes, nodes, materials, textures, images, samplers, accessors, views []obj
	bin                                                                    []byte
}

func add(list *[]obj, o obj) int {
	*list = append(*list, o)
	return len(*list) - 1
}

// floats adds an accessor of n components.
func (d *model) floats(n int, values ...float32) int {
	at := len(d.bin)
	lo, hi := make([]float32, n), make([]float32, n)
	for i, v := range values {
		d.bin = binary.LittleEndian.AppendUint32(d.bin, math.Float32bits(v))
		if i < n || v < lo[i%n] {
			lo[i%n] = v
		}
		if i < n || v > hi[i%n] {
			hi[i%n] = v
		}
	}
	view := add(&d.views, obj{"buffer": 0, "byteOffset": at, "byteLength": len(d.bin) - at})
	return add(&d.accessors, obj{
		"bufferView": view, "componentType": 5126, "count": len(values) / n,
		"type": []string{"SCALAR", "VEC2", "VEC3", "VEC4"}[n-1], "min": lo, "max": hi,
	})
}

func (d *model) indices(values ...uint16) int {
	at := len(d.bin)
	for _, v := range values {
		d.bin = binary.LittleEndian.AppendUint16(d.bin, v)
	}
	view := add(&d.views, obj{"buffer": 0, "byteOffset": at, "byteLength": len(d.bin) - at})
	for len(d.bin)%4 != 0 {
		d.bin = append(d.bin, 0)
	}
	return add(&d.accessors, obj{"bufferView": view, "componentType": 5123, "count": len(values), "type": "SCALAR"})
}

// square is a primitive: a unit square at z = 0 that faces +Z, with normals
// and upright UVs, moved by x.
func (d *model) square(x float32) obj {
	return obj{
		"attributes": obj{
			"POSITION":   d.floats(3, x, 0, 0, x+1, 0, 0, x+1, 1, 0, x, 1, 0),
			"NORMAL":     d.floats(3, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1),
			"TEXCOORD_0": d.floats(2, 0, 1, 1, 1, 1, 0, 0, 0),
		},
		"indices": d.indices(0, 1, 2, 0, 2, 3),
	}
}

func attributes(prim obj) obj { return prim["attributes"].(obj) }

// node places a mesh of the given primitives.
func (d *model) node(name string, prims ...obj) obj {
	mesh := add(&d.meshes, obj{"name": name + "Mesh", "primitives": prims})
	n := obj{"name": name, "mesh": mesh}
	add(&d.nodes, n)
	return n
}

// texture adds an image with its own texture and returns the texture's index.
func (d *model) texture(img obj) int {
	return add(&d.textures, obj{"source": add(&d.images, img)})
}

// dataImage is an embedded PNG of one colour.
func dataImage(name string, c color.NRGBA) obj {
	return obj{"name": name, "uri": "data:image/png;base64," + base64.StdEncoding.EncodeToString(onePNG(c))}
}

func onePNG(c color.NRGBA) []byte {
	img := image.NewNRGBA(image.Rect(0, 0, 2, 1))
	img.SetNRGBA(0, 0, c)
	img.SetNRGBA(1, 0, c)
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// save writes the file into a folder of its own.
func (d *model) save(t testing.TB) string {
	t.Helper()
	return d.saveAs(t, filepath.Join(t.TempDir(), "model.gltf"))
}

func (d *model) saveAs(t testing.TB, path string) string {
	t.Helper()
	var roots []int
	for i := range d.nodes {
		roots = append(roots, i)
	}
	doc := obj{
		"asset": obj{"version": "2.0"}, "scene": 0, "scenes": []obj{{"nodes": roots}},
		"buffers": []obj{{"byteLength": len(d.bin), "uri": "data:application/octet-stream;base64," + base64.StdEncoding.EncodeToString(d.bin)}},
	}
	for name, list := range map[string][]obj{
		"meshes": d.meshes, "nodes": d.nodes, "materials": d.materials, "textures": d.textures,
		"images": d.images, "samplers": d.samplers, "accessors": d.accessors, "bufferViews": d.views,
	} {
		if len(list) > 0 {
			doc[name] = list
		}
	}
	data, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return testfile.Write(t, path, data)
}

// cooked is a container read back.
type cooked struct {
	*ConvertResult
	r *format.Reader
	f *format.File
}

// convert converts the model, object by object, and validates what was
// written.
func (d *model) convert(t testing.TB) *cooked {
	t.Helper()
	return convertFile(t, d.save(t), filepath.Join(t.TempDir(), "out.untold"), unmerged())
}

// unmerged are the options of a cook whose objects can be told apart.
func unmerged() Options {
	o := ClassicOptions()
	o.Merge = false
	return o
}

func convertFile(t testing.TB, in, out string, opts Options) *cooked {
	t.Helper()
	res, err := Convert(context.Background(), in, out, opts)
	if err != nil {
		t.Fatal(err)
	}
	checkContainer(t, out)
	r, f := openFile(t, out)
	return &cooked{res, r, f}
}

// checkContainer fails on findings that nothing of ours may have.
func checkContainer(t testing.TB, path string) {
	t.Helper()
	rep, err := format.ValidateFile(path, format.ValidateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range rep.Findings {
		f := &rep.Findings[i]
		if f.Severity != finding.Info && f.Code != "zstd-not-portable" {
			t.Errorf("%s: %s: %s: %s: %s", filepath.Base(path), f.Severity, f.Place, f.Code, f.Message)
		}
	}
}

// vertices decodes the vertices of a mesh.
func (c *cooked) vertices(mesh int) (out []vertex.Vertex) {
	m := &c.f.Meshes[mesh]
	b := c.f.Vertices[m.VertexOffset:][:m.VertexSize]
	for ; len(b) > 0; b = b[vertex.Size:] {
		out = append(out, vertex.Get(b))
	}
	return out
}

func (c *cooked) indices(mesh int) []uint32 {
	m := &c.f.Meshes[mesh]
	return vertex.Indices(c.f.Indices[m.IndexOffset:][:m.IndexSize], m.IndexType)
}

// names lists the entities' names in order.
func (c *cooked) names() (out []string) {
	for _, e := range c.f.Entities {
		out = append(out, c.r.String(e.NameOffset))
	}
	return out
}

// uri returns the uri of a texture index, "" for none.
func (c *cooked) uri(i uint32) string {
	if i == records.NoIndex {
		return ""
	}
	return c.r.String(c.f.Textures[i].URIOffset)
}

// note returns how often a kind was noted.
func (c *cooked) note(code string) int {
	for _, n := range c.Notes {
		if n.Code == code {
			return n.Count
		}
	}
	return 0
}
