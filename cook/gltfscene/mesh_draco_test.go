package gltfscene

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/qmuntal/gltf"
	"github.com/untoldkit/untold/cook/gltfscene/internal/draco"
	"github.com/untoldkit/untold/internal/testfile"
)

// packedCube is a cube of 24 vertices and 12 triangles with positions (0),
// normals (1) and texture coordinates (2).
func packedCube(t testing.TB) []byte {
	t.Helper()
	data := testfile.Read(t, filepath.Join("internal", "draco", "testdata", "cube_m1_s5_pnt.drc"))
	return data
}

// packed makes a document of a compressed cube whose accessors have no data.
func packed(t testing.TB) (b *builder, prim, ext object) {
	b = newBuilder()
	empty := func(typ string, ct, n int) int {
		return b.list("accessors", object{"componentType": ct, "count": n, "type": typ})
	}
	ext = object{"bufferView": b.view(packedCube(t), 0), "attributes": object{"POSITION": 0, "NORMAL": 1, "TEXCOORD_0": 2}}
	prim = object{
		"attributes": object{"POSITION": empty("VEC3", f32, 24), "NORMAL": empty("VEC3", f32, 24), "TEXCOORD_0": empty("VEC2", f32, 24)},
		"indices":    empty("SCALAR", u16, 36),
		"extensions": object{dracoName: ext},
	}
	b.mesh(prim)
	b.doc["extensionsUsed"] = []string{dracoName}
	b.doc["extensionsRequired"] = []string{dracoName}
	return b, prim, ext
}

// TestDecodeBytes: what decoding takes beside the geometry is known once a scene is planned,
// and from a plan; what is stored as it is takes nothing.
func TestDecodeBytes(t *testing.T) {
	b, _, _ := packed(t)
	path := filepath.Join(t.TempDir(), "cube.glb")
	testfile.Write(t, path, string(b.glb()))
	s, raw := recorded(t, path, 1<<20)
	if s == nil {
		t.Fatal("it does not load")
	}
	defer s.Close()
	n := s.DecodeBytes(0)
	if result := int64(24*(12+12+8) + 36*4); n < result || n > 100*result {
		t.Errorf("%d bytes for %d of the result", n, result)
	}
	p, err := followPlan(t, path, raw, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if got := p.DecodeBytes(0); got != n {
		t.Errorf("%d bytes of a plan, want %d", got, n)
	}
	testfile.Write(t, path, string(seeds()[0].glb()))
	if s, _ := recorded(t, path, 1<<20); s == nil || s.DecodeBytes(0) != 0 {
		t.Error("plain geometry takes something")
	}
}

func TestDraco(t *testing.T) {
	b, _, _ := packed(t)
	s := b.load(t)
	checkScene(t, s)
	p := first(t, s)
	if s.Triangles() != 12 || len(p.Positions) != 24 || len(p.UV[0]) != 24 || len(s.Notes) != 1 {
		t.Fatalf("%d triangles, %d vertices, notes %v", s.Triangles(), len(p.Positions), s.Notes)
	}
	for i, v := range p.Positions {
		n := p.Normals[i]
		dot := 0.0
		for k := range v {
			if off := math.Abs(math.Abs(float64(v[k])) - 0.5); off > 1e-3 {
				t.Errorf("vertex %d is %v", i, v)
			}
			dot += float64(v[k]) * float64(n[k])
		}
		if math.Abs(dot-0.5) > 1e-2 {
			t.Errorf("vertex %d at %v has the normal %v", i, v, n)
		}
	}
	for i := 0; i < len(p.Indices); i += 3 {
		a, c, d := p.Positions[p.Indices[i]], p.Positions[p.Indices[i+1]], p.Positions[p.Indices[i+2]]
		n := p.Normals[p.Indices[i]]
		out := 0.0
		for k := range 3 {
			l, m := (k+1)%3, (k+2)%3
			out += float64(n[k]) * float64((c[l]-a[l])*(d[m]-a[m])-(c[m]-a[m])*(d[l]-a[l]))
		}
		if out <= 0 {
			t.Errorf("triangle %d faces inwards", i/3)
		}
	}
}

// TestDracoCounts has accessors that do not match the compressed data.
func TestDracoCounts(t *testing.T) {
	b, _, _ := packed(t)
	b.acc(0)["count"] = 30
	s := b.load(t)
	if len(first(t, s).Positions) != 24 || note(s, "draco-count").Count != 1 || note(s, "draco-count").Warning {
		t.Errorf("notes %v", s.Notes)
	}
}

// TestDracoShared has two primitives of one stream.
func TestDracoShared(t *testing.T) {
	b, prim, _ := packed(t)
	b.mesh(prim)
	s := b.load(t)
	if s.Triangles() != 24 || &s.Meshes[0].Primitives[0].Positions[0] != &s.Meshes[1].Primitives[0].Positions[0] {
		t.Errorf("%d triangles; the positions should be shared", s.Triangles())
	}
}

// TestDracoStrip has the mode TRIANGLE_STRIP: the data hold a list anyway.
func TestDracoStrip(t *testing.T) {
	b, prim, _ := packed(t)
	prim["mode"] = 5
	if s := b.load(t); s.Triangles() != 12 {
		t.Errorf("%d triangles", s.Triangles())
	}
}

// TestDracoMixed has one attribute that is not compressed.
func TestDracoMixed(t *testing.T) {
	b, prim, ext := packed(t)
	delete(ext["attributes"].(object), "TEXCOORD_0")
	prim["attributes"].(object)["TEXCOORD_0"] = b.floats("VEC2", 2, make([]float32, 48)...)
	if p := first(t, b.load(t)); len(p.UV[0]) != 24 || p.UV[0][5] != [2]float32{} {
		t.Errorf("texture coordinates %v", p.UV[0])
	}
}

func TestDracoFallback(t *testing.T) {
	b, prim := oneTriangle()
	ext := object{"bufferView": b.view([]byte("DRACO?"), 0), "attributes": object{"POSITION": 0}}
	prim["indices"] = b.accessor([]byte{0, 1, 2, 0}, u8, 3, "SCALAR", nil)
	prim["extensions"] = object{dracoName: ext}
	b.doc["extensionsUsed"] = []string{dracoName}
	s := b.load(t)
	if n := note(s, "draco-fallback"); s.Triangles() != 1 || n.Count != 1 {
		t.Errorf("notes %v", s.Notes)
	}
	// Sound data win over the fallback.
	ext["bufferView"] = b.view(packedCube(t), 0)
	if s := b.load(t); s.Triangles() != 12 || note(s, "draco-fallback").Count != 0 {
		t.Errorf("notes %v", s.Notes)
	}
}

func TestDracoFaults(t *testing.T) {
	for _, tt := range []struct {
		name   string
		break_ func(b *builder, prim, ext object)
		err    error
		text   string
	}{
		{"no view", func(_ *builder, _, ext object) { delete(ext, "bufferView") }, ErrMalformed, "bufferView: is missing"},
		{"view", func(_ *builder, _, ext object) { ext["bufferView"] = 9 }, ErrMalformed, ".bufferView"},
		{"no attributes", func(_ *builder, _, ext object) { delete(ext, "attributes") }, ErrMalformed, "attributes: is missing"},
		{"no indices", func(_ *builder, prim, _ object) { delete(prim, "indices") }, ErrMalformed, "needs a primitive with indices"},
		{"fan", func(_ *builder, prim, _ object) { prim["mode"] = 6 }, ErrMalformed, "triangles or a strip"},
		{"id", func(_ *builder, _, ext object) { ext["attributes"].(object)["NORMAL"] = 7 }, ErrMalformed, "has no attribute 7"},
		{"width", func(_ *builder, _, ext object) { ext["attributes"].(object)["NORMAL"] = 2 }, ErrMalformed, "has 3 components, the compressed data has 2"},
		{"type", func(b *builder, _, _ object) { b.acc(0)["componentType"] = i16 }, ErrMalformed, "is of SHORT, the compressed data of FLOAT"},
		{"index type", func(b *builder, _, _ object) { b.acc(3)["componentType"] = f32 }, ErrMalformed, "must be SCALAR"},
		{"magic", func(b *builder, _, _ object) { b.bin[0] = 'X' }, ErrMalformed, "does not begin with DRACO"},
		{"version", func(b *builder, _, _ object) { b.bin[6] = 1 }, ErrUnsupported, "bitstream version 2.1"},
		{"cut off", func(b *builder, _, ext object) { ext["bufferView"] = b.view(b.bin[:100], 0) }, ErrMalformed, "compress the file again"},
		{"huge count", func(b *builder, _, _ object) { b.acc(0)["count"] = int64(1 << 40) }, ErrTooLarge, "decoded geometry"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, prim, ext := packed(t)
			tt.break_(b, prim, ext)
			_, err := LoadBytes(context.Background(), "x.glb", b.glb(), DefaultOptions())
			if !errors.Is(err, tt.err) || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("got %v, want %v with %q", err, tt.err, tt.text)
			}
		})
	}
}

// TestDracoIntegers has positions of integers, once as they are and once in
// an accessor of floats.
func TestDracoIntegers(t *testing.T) {
	data := testfile.Read(t, filepath.Join("internal", "draco", "testdata", "grid_m1_s6_ipos.drc"))
	var got [2][][3]float32
	for i, ct := range []int{i16, f32} {
		b := newBuilder()
		acc := func(typ string, ct, n int) int {
			return b.list("accessors", object{"componentType": ct, "count": n, "type": typ})
		}
		b.mesh(object{
			"attributes": object{"POSITION": acc("VEC3", ct, 80)}, "indices": acc("SCALAR", u32, 378),
			"extensions": object{dracoName: object{"bufferView": b.view(data, 0), "attributes": object{"POSITION": 0}}},
		})
		b.doc["extensionsUsed"] = []string{dracoName}
		got[i] = first(t, b.load(t)).Positions
	}
	if len(got[0]) != 80 || len(got[1]) != 80 {
		t.Fatalf("%d and %d positions", len(got[0]), len(got[1]))
	}
	for i, v := range got[0] {
		if v != got[1][i] || v[0] < 0 || v[0] > 3000 {
			t.Errorf("vertex %d: %v and %v", i, v, got[1][i])
		}
	}
}

// TestDracoJoints: joints that a stream holds as floats, as some encoders write them, are
// read; other integers that it does not hold as such are an error.
func TestDracoJoints(t *testing.T) {
	mesh := &draco.Mesh{Points: 2, Attributes: []draco.Attribute{{ID: 7, Type: draco.Float32, Components: 4, Data: make([]byte, 32)}}}
	c := compressedMesh{&dracoStream{data: make(map[dracoPart]*dracoData)}, mesh, map[string]int{"JOINTS_0": 7, "COLOR_0": 7}}
	src := &gltf.Accessor{Type: gltf.AccessorVec4, ComponentType: gltf.ComponentUshort, Count: 2}
	a, err := c.accessor(src, "JOINTS_0")
	if err != nil || a.ct != f32 || a.stride != 16 || a.at.n != 32 || a.count != 2 {
		t.Errorf("accessor %+v, %v", a, err)
	}
	if _, err := c.accessor(src, "COLOR_0"); err == nil {
		t.Error("no error")
	}
}
