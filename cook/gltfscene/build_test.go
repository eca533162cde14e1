package gltfscene

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
)

// builder makes small glTF documents for tests.
type builder struct {
	doc map[string]any
	bin []byte
}

type object = map[string]any

func newBuilder() *builder {
	return &builder{doc: object{"asset": object{"version": "2.0"}}}
}

// list appends v to a root array and returns its index.
func (b *builder) list(name string, v any) int {
	l, _ := b.doc[name].([]any)
	b.doc[name] = append(l, v)
	return len(l)
}

// view appends data, aligned to 4, as a bufferView.
func (b *builder) view(data []byte, stride int) int {
	for len(b.bin)%4 != 0 {
		b.bin = append(b.bin, 0)
	}
	v := object{"buffer": 0, "byteOffset": len(b.bin), "byteLength": len(data)}
	if stride != 0 {
		v["byteStride"] = stride
	}
	b.bin = append(b.bin, data...)
	return b.list("bufferViews", v)
}

// accessor appends an accessor over data.
func (b *builder) accessor(data []byte, ct, count int, typ string, extra object) int {
	a := object{"bufferView": b.view(data, 0), "componentType": ct, "count": count, "type": typ}
	for k, v := range extra {
		a[k] = v
	}
	return b.list("accessors", a)
}

// floats appends a FLOAT accessor of n components per element.
func (b *builder) floats(typ string, n int, v ...float32) int {
	return b.accessor(floatBytes(v...), f32, len(v)/n, typ, object{"min": []int{0, 0, 0}, "max": []int{1, 1, 1}})
}

func floatBytes(v ...float32) (data []byte) {
	for _, f := range v {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(f))
	}
	return data
}

func shortBytes(v ...uint16) (data []byte) {
	for _, s := range v {
		data = binary.LittleEndian.AppendUint16(data, s)
	}
	return data
}

// triangle returns the positions of one triangle.
func triangle() []float32 { return []float32{0, 0, 0, 1, 0, 0, 0, 1, 0} }

// mesh adds a mesh with one primitive, a node for it, and a scene that holds
// all nodes.
func (b *builder) mesh(prim object) {
	m := b.list("meshes", object{"primitives": []any{prim}})
	n := b.list("nodes", object{"mesh": m})
	s, _ := b.doc["scenes"].([]any)
	if s == nil {
		s = []any{object{"nodes": []int{}}}
	}
	root := s[0].(object)
	root["nodes"] = append(root["nodes"].([]int), n)
	b.doc["scenes"] = s
}

// oneTriangle is a builder with one triangle and the primitive's object.
func oneTriangle() (*builder, object) {
	b := newBuilder()
	prim := object{"attributes": object{"POSITION": b.floats("VEC3", 3, triangle()...)}}
	b.mesh(prim)
	return b, prim
}

func (b *builder) json(uri string) []byte {
	if len(b.bin) > 0 {
		buf := object{"byteLength": len(b.bin)}
		if uri != "" {
			buf["uri"] = uri
		}
		b.doc["buffers"] = []any{buf}
	}
	js, err := json.Marshal(b.doc)
	if err != nil {
		panic(err)
	}
	return js
}

// glb returns the document as binary glTF.
func (b *builder) glb() []byte { return makeGLB(b.json(""), b.bin) }

// gltf returns the document as JSON with a data: URI.
func (b *builder) gltf() []byte {
	return b.json("data:application/octet-stream;base64," + base64.StdEncoding.EncodeToString(b.bin))
}

func makeGLB(js, bin []byte) []byte {
	js, bin = append([]byte(nil), js...), append([]byte(nil), bin...)
	for len(js)%4 != 0 {
		js = append(js, ' ')
	}
	for len(bin)%4 != 0 {
		bin = append(bin, 0)
	}
	out := binary.LittleEndian.AppendUint32([]byte("glTF"), 2)
	size := 12 + 8 + len(js)
	if len(bin) > 0 {
		size += 8 + len(bin)
	}
	out = binary.LittleEndian.AppendUint32(out, uint32(size))
	out = binary.LittleEndian.AppendUint32(out, uint32(len(js)))
	out = append(append(out, "JSON"...), js...)
	if len(bin) > 0 {
		out = binary.LittleEndian.AppendUint32(out, uint32(len(bin)))
		out = append(append(out, "BIN\x00"...), bin...)
	}
	return out
}

// load loads the builder's document or fails the test.
func (b *builder) load(t *testing.T) *Scene {
	t.Helper()
	s, err := LoadBytes(context.Background(), "test.glb", b.glb(), DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// first returns the only primitive.
func first(t *testing.T, s *Scene) Primitive {
	t.Helper()
	if len(s.Meshes) != 1 || len(s.Meshes[0].Primitives) != 1 {
		t.Fatalf("got %d meshes, want one with one primitive", len(s.Meshes))
	}
	return s.Meshes[0].Primitives[0]
}

// note returns the note of a code, with count 0 if there is none.
func note(s *Scene, code string) Note {
	for _, n := range s.Notes {
		if n.Code == code {
			return n
		}
	}
	return Note{}
}

// write puts files into a fresh folder and returns it.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	testfile.WriteTree(t, dir, files)
	return dir
}

// checkScene verifies what the package promises of every scene.
func checkScene(t testing.TB, s *Scene) {
	t.Helper()
	for i, n := range s.Nodes {
		if n.Parent >= i || n.Parent < -1 || n.Mesh >= len(s.Meshes) || n.Name == "" || !n.World.IsFinite() {
			t.Fatalf("node %d breaks a promise: %+v", i, n)
		}
	}
	checkLODs(t, s)
	for _, m := range s.Meshes {
		for _, p := range m.Primitives {
			checkPrimitive(t, s, p)
		}
	}
	for i := range s.Materials {
		for _, slot := range s.Materials[i].slots() {
			if r := slot.ref; r.Image < -1 || r.Image >= len(s.Images) || r.UVSet < 0 || r.UVSet > 1 {
				t.Fatalf("material %d%s breaks a promise: %+v", i, slot.place, *r)
			}
		}
	}
	for _, n := range s.Notes {
		if n.Count <= 0 || n.Code == "" || n.Message == "" {
			t.Fatalf("note breaks a promise: %+v", n)
		}
	}
}

func checkLODs(t testing.TB, s *Scene) {
	t.Helper()
	for i, n := range s.Nodes {
		r := n.LOD
		if r.Group == 0 && r != (LODRef{}) || r.Group < 0 || r.Group > len(s.LODs) || r.Group > 0 && r.Mesh >= len(s.Meshes) ||
			r.Group > 0 && (r.Level < 0 || r.Level >= len(s.LODs[r.Group-1].Levels)) ||
			r.Level > 0 && n.Mesh >= 0 || r.Group > 0 && r.Level == 0 && r.Mesh != n.Mesh {
			t.Fatalf("node %d breaks a promise: %+v", i, n)
		}
	}
	for g, group := range s.LODs {
		if len(group.Levels) < 2 || group.Coverage != nil && len(group.Coverage) != len(group.Levels) {
			t.Fatalf("group %d breaks a promise: %+v", g, group)
		}
		for level, l := range group.Levels {
			if len(l.Nodes) == 0 || !slices.IsSorted(l.Nodes) {
				t.Fatalf("group %d breaks a promise: %+v", g, group)
			}
			for _, i := range l.Nodes {
				if r := s.Nodes[i].LOD; r.Group != g+1 || r.Level != level {
					t.Fatalf("group %d, level %d: node %d is marked %+v", g, level, i, r)
				}
			}
		}
	}
}

func checkPrimitive(t testing.TB, s *Scene, p Primitive) {
	t.Helper()
	n := len(p.Positions)
	for _, l := range []int{len(p.Normals), len(p.Tangents), len(p.UV[0]), len(p.UV[1]), len(p.Colors)} {
		if l != 0 && l != n {
			t.Fatalf("an attribute has %d elements, POSITION %d", l, n)
		}
	}
	if len(p.Indices) == 0 || len(p.Indices)%3 != 0 || p.Material < -1 || p.Material >= len(s.Materials) {
		t.Fatalf("primitive with %d indices, material %d", len(p.Indices), p.Material)
	}
	for _, i := range p.Indices {
		if int(i) >= n {
			t.Fatalf("index %d of %d", i, n)
		}
	}
	for _, bad := range []int{
		firstNotFinite(p.Positions), firstNotFinite(p.Normals), firstNotFinite(p.Tangents),
		firstNotFinite(p.UV[0]), firstNotFinite(p.UV[1]), firstNotFinite(p.Colors),
	} {
		if bad >= 0 {
			t.Fatalf("element %d is not finite", bad)
		}
	}
}
