package gltfscene

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const extMeshopt, khrMeshopt = "EXT_meshopt_compression", "KHR_meshopt_compression"

// literalStream encodes data for mode ATTRIBUTES with uncompressed deltas; it
// must fit one block.
func literalStream(data []byte, stride int) []byte {
	out := append([]byte{0xA1}, bytes.Repeat([]byte{0xFF}, stride/4)...)
	for k := range stride {
		last := byte(0)
		for i := k; i < len(data); i += stride {
			d := int8(data[i] - last)
			out, last = append(out, byte(d<<1^d>>7)), data[i]
		}
	}
	return append(out, make([]byte, max(24, stride+stride/4))...)
}

// compress moves view i of the builder into a compressed stream and lets the
// view refer to buffer 1, a placeholder without data; see placeholder.
func (b *builder) compress(i int, name, mode, filter string, stride, count int, src []byte) object {
	v := b.viewObj(i)
	for len(b.bin)%4 != 0 {
		b.bin = append(b.bin, 0)
	}
	ext := object{"buffer": 0, "byteOffset": len(b.bin), "byteLength": len(src), "byteStride": stride, "mode": mode, "count": count}
	if filter != "" {
		ext["filter"] = filter
	}
	b.bin = append(b.bin, src...)
	v["extensions"], v["buffer"], v["byteOffset"] = object{name: ext}, 1, 0
	return ext
}

// withPlaceholder returns the document as binary glTF with a second buffer.
func (b *builder) withPlaceholder(buffer string) []byte {
	js := strings.Replace(string(b.json("")), `"buffers":[{"byteLength":`+fmt.Sprint(len(b.bin))+`}]`,
		`"buffers":[{"byteLength":`+fmt.Sprint(len(b.bin))+`},`+buffer+`]`, 1)
	return makeGLB([]byte(js), b.bin)
}

// compressedTriangle is a triangle of which everything is compressed.
func compressedTriangle(name string) (*builder, object) {
	b, prim := oneTriangle()
	prim["indices"] = b.accessor(shortBytes(0, 1, 2), u16, 3, "SCALAR", nil)
	b.doc["extensionsUsed"] = []string{name}
	b.compress(1, name, "TRIANGLES", "", 2, 3, append([]byte{0xE1, 0xF0}, make([]byte, 16)...))
	return b, b.compress(0, name, "ATTRIBUTES", "NONE", 12, 3, literalStream(floatBytes(triangle()...), 12))
}

const placeholder = `{"byteLength":64,"extensions":{"EXT_meshopt_compression":{"fallback":true}}}`

func loadGLB(data []byte) (*Scene, error) {
	return LoadBytes(context.Background(), "x.glb", data, DefaultOptions())
}

func TestMeshopt(t *testing.T) {
	for _, name := range []string{extMeshopt, khrMeshopt} {
		for _, buffer := range []string{placeholder, `{"byteLength":64}`, `{"byteLength":64,"uri":"never-looked-for.bin"}`} {
			b, _ := compressedTriangle(name)
			b.doc["extensionsUsed"] = []string{name, extMeshopt}
			b.doc["extensionsRequired"] = []string{name}
			s, err := loadGLB(b.withPlaceholder(buffer))
			if err != nil {
				t.Errorf("%s, %s: %v", name, buffer, err)
				continue
			}
			p := first(t, s)
			if diff := cmp.Diff([][3]float32{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, p.Positions); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff([]uint32{0, 1, 2}, p.Indices); diff != "" || len(s.Notes) != 0 {
				t.Error(diff, s.Notes)
			}
		}
	}
}

// TestMeshoptFilter decodes normals with the octahedral filter.
func TestMeshoptFilter(t *testing.T) {
	b, prim := oneTriangle()
	normals := b.accessor(make([]byte, 12), i8, 3, "VEC3", object{"normalized": true})
	prim["attributes"].(object)["NORMAL"] = normals
	b.viewObj(1)["byteStride"] = 4
	b.doc["extensionsUsed"] = []string{khrMeshopt, extMeshopt, "KHR_mesh_quantization"}
	b.doc["extensionsRequired"] = []string{"KHR_mesh_quantization"}
	b.compress(1, khrMeshopt, "ATTRIBUTES", "OCTAHEDRAL", 4, 3, literalStream([]byte{0, 0, 127, 0, 127, 0, 127, 0, 127, 127, 127, 0}, 4))
	s, err := loadGLB(b.withPlaceholder(placeholder))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][3]float32{{0, 0, 1}, {1, 0, 0}, {0, 0, -1}}, first(t, s).Normals); diff != "" {
		t.Error(diff)
	}
}

// TestMeshoptFallback breaks the stream in several ways; a fallback with data
// takes its place unless the extension is required.
func TestMeshoptFallback(t *testing.T) {
	for name, tt := range map[string]struct {
		edit func(b *builder, ext object)
		kind error
		text string
	}{
		"stream":  {func(b *builder, ext object) { b.bin[ext["byteOffset"].(int)] = 0 }, ErrMalformed, "it starts with 0x00"},
		"mode":    {func(_ *builder, ext object) { ext["mode"] = "WAVELETS" }, ErrUnsupported, `is "WAVELETS"`},
		"filter":  {func(_ *builder, ext object) { ext["filter"] = "BLUR" }, ErrUnsupported, `is "BLUR"`},
		"stride":  {func(_ *builder, ext object) { ext["byteStride"] = 10 }, ErrMalformed, "stride of 10 bytes"},
		"count":   {func(_ *builder, ext object) { ext["count"] = 1 << 30 }, ErrMalformed, "take at least"},
		"missing": {func(_ *builder, ext object) { delete(ext, "count") }, ErrMalformed, "is missing"},
		"buffer":  {func(_ *builder, ext object) { ext["buffer"] = 7 }, ErrMalformed, "names buffer 7"},
		"span":    {func(_ *builder, ext object) { ext["byteOffset"] = 1 << 30 }, ErrMalformed, "of buffer 0"},
		"short":   {func(_ *builder, ext object) { ext["byteLength"] = 40 }, ErrMalformed, "malformed stream"},
	} {
		t.Run(name, func(t *testing.T) {
			b, ext := compressedTriangle(extMeshopt)
			tt.edit(b, ext)
			_, err := loadGLB(b.withPlaceholder(placeholder))
			if !errors.Is(err, tt.kind) || !strings.Contains(err.Error(), tt.text) || !strings.Contains(err.Error(), "bufferViews[0].extensions."+extMeshopt) {
				t.Errorf("without fallback: %v", err)
			}
			// The first bytes of the buffer still hold the plain positions.
			b.viewObj(0)["buffer"] = 0
			s, err := loadGLB(b.withPlaceholder(placeholder))
			if err != nil || s.Triangles() != 1 || first(t, s).Positions[1][0] != 1 {
				t.Fatal("fallback not used: ", err)
			}
			if n := note(s, "meshopt-fallback"); n.Count != 1 || !n.Warning || !strings.Contains(n.Message, tt.text) {
				t.Errorf("notes %+v", s.Notes)
			}
			b.doc["extensionsRequired"] = []string{extMeshopt}
			if _, err := loadGLB(b.withPlaceholder(placeholder)); !errors.Is(err, tt.kind) {
				t.Errorf("required: %v", err)
			}
		})
	}
}

func TestMeshoptOddities(t *testing.T) {
	b, _ := compressedTriangle(extMeshopt)
	b.viewObj(0)["byteLength"] = 99
	s, err := loadGLB(b.withPlaceholder(placeholder))
	if err != nil || note(s, "meshopt-length").Count != 1 || note(s, "meshopt-placeholder").Count != 1 {
		t.Errorf("%v, notes %+v", err, s)
	}
	b, _ = oneTriangle()
	b.viewObj(0)["buffer"] = 1
	b.doc["extensionsUsed"] = []string{extMeshopt}
	if _, err := loadGLB(b.withPlaceholder(placeholder)); !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), "buffers[1]: is a placeholder") {
		t.Errorf("a plain view of a placeholder: %v", err)
	}
	b, _ = compressedTriangle(extMeshopt)
	o := DefaultOptions()
	o.MaxDecodedBytes = 30
	if _, err := LoadBytes(context.Background(), "x.glb", b.withPlaceholder(placeholder), o); !errors.Is(err, ErrTooLarge) {
		t.Errorf("limit: %v", err)
	}
	b, _ = oneTriangle()
	b.doc["extensionsUsed"] = []string{extMeshopt}
	b.list("bufferViews", object{"buffer": 0, "byteLength": 36, "extensions": object{extMeshopt: object{
		"buffer": 0, "byteLength": 36, "byteStride": 5, "count": 1, "mode": "ATTRIBUTES",
	}}})
	if n := note(b.load(t), "unused-part-faulty"); n.Count != 1 || n.Where != "bufferViews[1].extensions."+extMeshopt {
		t.Errorf("unused view: %+v", n)
	}
}

// TestMeshoptDuck compares a model with its compressed and quantized forms.
func TestMeshoptDuck(t *testing.T) {
	dir := filepath.Join(shared(t), "features", "Duck-meshopt")
	box := func(name string) (lo, hi [3]float64, triangles int) {
		s, err := Load(context.Background(), filepath.Join(dir, name), DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			lo[i], hi[i] = 1e9, -1e9
		}
		for _, n := range s.Nodes {
			if n.Mesh < 0 {
				continue
			}
			for _, v := range s.Meshes[n.Mesh].Primitives[0].Positions {
				w := n.World.Point([3]float64{float64(v[0]), float64(v[1]), float64(v[2])})
				for i := range 3 {
					lo[i], hi[i] = min(lo[i], w[i]), max(hi[i], w[i])
				}
			}
		}
		return lo, hi, s.Triangles()
	}
	lo, hi, n := box("Duck.glb")
	for name, step := range map[string]float64{"Duck-vp-12-vt-12-vn-12.glb": 1. / 4095, "Duck-vp-6-vt-6-vn-6.glb": 1. / 63} {
		lo2, hi2, n2 := box(name)
		for i := range 3 {
			size := hi[0] - lo[0]
			if max(lo2[i]-lo[i], lo[i]-lo2[i], hi2[i]-hi[i], hi[i]-hi2[i]) > step*size {
				t.Errorf("%s: axis %d is %v to %v, uncompressed %v to %v", name, i, lo2[i], hi2[i], lo[i], hi[i])
			}
		}
		if n2 != n {
			t.Errorf("%s: %d triangles, uncompressed %d", name, n2, n)
		}
	}
}
