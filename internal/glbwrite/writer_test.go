package glbwrite

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/qmuntal/gltf"
	"github.com/qmuntal/gltf/modeler"
	"github.com/untoldkit/untold/internal/glb"
	"github.com/untoldkit/untold/internal/testfile"
)

func triangle() Primitive {
	return Primitive{
		Material: 0,
		Pos:      [][3]float32{{0, 0, 0}, {1, 0, 0.25}, {0, 2, -1}},
		Normal:   [][3]float32{{0, 0, 1}, {0, 0, 1}, {0, 0, 1}},
		Tangent:  [][4]float32{{1, 0, 0, 1}, {1, 0, 0, 1}, {1, 0, 0, 1}},
		UV0:      [][2]float32{{0, 1}, {1, 1}, {0, 0}},
		UV1:      [][2]float32{{0, 0.5}, {1, 0.5}, {0, 0}},
		Color:    [][4]uint8{{255, 0, 0, 255}, {0, 255, 0, 255}, {0, 0, 255, 128}},
		Index:    []uint32{0, 1, 2},
	}
}

// fill writes a scene that uses every feature of the writer.
func fill(t *testing.T, path string) int64 {
	t.Helper()
	w, err := Create(path, `test "writer"`)
	if err != nil {
		t.Fatal(err)
	}
	img := w.Image("dot / é", "image/png", []byte("no picture"))
	tex := w.Object(glb.Textures, map[string]any{"source": img})
	w.Object(glb.Materials, map[string]any{"name": "m", "pbrMetallicRoughness": map[string]any{"baseColorTexture": map[string]any{"index": tex}}})
	m := w.Mesh("mesh", []Primitive{triangle()})
	w.RootExtension("KHR_lights_punctual", map[string]any{"lights": []any{map[string]any{"type": "point"}}})
	w.Use("KHR_texture_transform", true)
	cam := w.Object(glb.Cameras, map[string]any{"type": "perspective", "perspective": map[string]any{"yfov": 1, "znear": 0.1}})
	a := w.Node(&Node{Name: "a<b>\"é", Mesh: m, Camera: -1, Light: 0, Translation: [3]float32{1, 0, -2.5}, Rotation: [4]float32{0, 1, 0, 0}, Scale: [3]float32{1, 2, 1}})
	b := w.Node(&Node{Name: "matrix", Mesh: m, Camera: cam, Light: -1, Matrix: &[16]float32{2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1}, Extras: []byte(`{"k":1}`)})
	root := w.Node(&Node{Name: "root", Mesh: -1, Camera: -1, Light: -1, Children: []int{a, b}})
	n, err := w.Close("scene", []int{root})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestRoundTrip(t *testing.T) {
	for _, name := range []string{"a.glb", "b c.gltf"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, name)
			n := fill(t, path)
			doc, err := gltf.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			p := doc.Meshes[0].Primitives[0]
			pos, err := modeler.ReadPosition(doc, doc.Accessors[p.Attributes[gltf.POSITION]], nil)
			if err != nil {
				t.Fatal(err)
			}
			want := triangle()
			if d := cmp.Diff(want.Pos, pos); d != "" {
				t.Error(d)
			}
			col, err := modeler.ReadColor(doc, doc.Accessors[p.Attributes[gltf.COLOR_0]], nil)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want.Color, col); d != "" {
				t.Error(d)
			}
			acc := doc.Accessors[p.Attributes[gltf.POSITION]]
			if d := cmp.Diff([]float64{0, 0, -1, 1, 2, 0.25}, append(append([]float64{}, acc.Min...), acc.Max...)); d != "" {
				t.Error(d)
			}
			if doc.Nodes[0].Name != "a<b>\"é" || len(doc.Nodes[2].Children) != 2 || doc.Nodes[1].Camera == nil {
				t.Errorf("nodes: %+v", doc.Nodes)
			}
			if size := sizeOf(t, dir, name); size != n {
				t.Errorf("Close says %d bytes, the files have %d", n, size)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
				t.Errorf("temporary files are left: %v", left)
			}
		})
	}
}

func sizeOf(t *testing.T, dir, name string) int64 {
	t.Helper()
	var n int64
	for _, f := range []string{name, strings.TrimSuffix(name, filepath.Ext(name)) + ".bin"} {
		if st, err := os.Stat(filepath.Join(dir, f)); err == nil {
			n += st.Size()
		}
	}
	return n
}

func TestSameBytes(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a.glb"), filepath.Join(dir, "b.glb")
	fill(t, a)
	fill(t, b)
	x := testfile.Read(t, a)
	y := testfile.Read(t, b)
	if !bytes.Equal(x, y) {
		t.Error("the same scene gave different bytes")
	}
}

func TestEmptyScene(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sub", "empty.glb")
	w, err := Create(path, "test")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Close("none", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := gltf.Open(path); err != nil {
		t.Error(err)
	}
}

func TestErrors(t *testing.T) {
	if _, err := Create(filepath.Join(t.TempDir(), "a.obj"), "test"); err == nil {
		t.Error("Create accepts .obj")
	}
	bad := map[string]func(w *Writer){
		"index":      func(w *Writer) { p := triangle(); p.Index[1] = 3; w.Mesh("m", []Primitive{p}) },
		"list":       func(w *Writer) { p := triangle(); p.Index = p.Index[:2]; w.Mesh("m", []Primitive{p}) },
		"attributes": func(w *Writer) { p := triangle(); p.UV0 = p.UV0[:1]; w.Mesh("m", []Primitive{p}) },
		"child":      func(w *Writer) { w.Node(&Node{Mesh: -1, Camera: -1, Light: -1, Children: []int{5}}) },
		"json":       func(w *Writer) { w.Object(glb.Materials, func() {}) },
		"extension":  func(w *Writer) { w.RootExtension("X", func() {}) },
	}
	for name, f := range bad {
		path := filepath.Join(t.TempDir(), "a.glb")
		w, err := Create(path, "test")
		if err != nil {
			t.Fatal(err)
		}
		f(w)
		if _, err := w.Close("s", nil); err == nil {
			t.Errorf("%s: no error", name)
		}
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: a file was written", name)
		}
	}
}

func TestAbortRemovesImages(t *testing.T) {
	dir := t.TempDir()
	w, err := Create(filepath.Join(dir, "a.gltf"), "test")
	if err != nil {
		t.Fatal(err)
	}
	w.Image("x", "image/jpeg", []byte("no picture"))
	w.Abort()
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestLargeMeshUses32Bits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.glb")
	w, err := Create(path, "test")
	if err != nil {
		t.Fatal(err)
	}
	p := Primitive{Material: -1}
	for i := range 65536 {
		p.Pos = append(p.Pos, [3]float32{float32(i % 256), 0, float32(i / 256)})
	}
	p.Index = []uint32{0, 65535, 255}
	m := w.Mesh("big", []Primitive{p})
	n := w.Node(&Node{Name: "n", Mesh: m, Camera: -1, Light: -1})
	if _, err := w.Close("s", []int{n}); err != nil {
		t.Fatal(err)
	}
	doc, err := gltf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	idx, err := modeler.ReadIndices(doc, doc.Accessors[*doc.Meshes[0].Primitives[0].Indices], nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(p.Index, idx); d != "" {
		t.Error(d)
	}
}
