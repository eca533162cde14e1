package gltfscene

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// slowComponent reads one component the slow way, straight from the text of glTF
// 2.0 section 3.6.2.2.
func slowComponent(b []byte, ct int, normalized bool) float32 {
	var v, top float64
	switch ct {
	case i8:
		v, top = float64(int8(b[0])), 127
	case u8:
		v, top = float64(b[0]), 255
	case i16:
		v, top = float64(int16(uint16(b[0])|uint16(b[1])<<8)), 32767
	case u16:
		v, top = float64(uint16(b[0])|uint16(b[1])<<8), 65535
	case f32:
		return math.Float32frombits(binary.LittleEndian.Uint32(b))
	}
	if normalized {
		v = max(v/top, -1)
	}
	return float32(v)
}

// TestAccessorFormats decodes random accessors of every format that POSITION
// may have, packed or interleaved, with or without a sparse list.
func TestAccessorFormats(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ct := rapid.SampledFrom([]int{i8, u8, i16, u16, f32}).Draw(t, "component type")
		normalized := rapid.Bool().Draw(t, "normalized") && ct != f32
		count := 3 * rapid.IntRange(1, 6).Draw(t, "triangles")
		size := componentSize(ct)
		stride := 3 * size
		if rapid.Bool().Draw(t, "interleaved") {
			stride = (stride+3)&^3 + 4*rapid.IntRange(0, 3).Draw(t, "gap")
		}
		offset := 4 * rapid.IntRange(0, 2).Draw(t, "offset")
		data := make([]byte, offset+(count-1)*stride+3*size)
		fill := func(at int) {
			for c := range 3 {
				if ct == f32 {
					f := rapid.Float32Range(-1e6, 1e6).Draw(t, "value")
					binary.LittleEndian.PutUint32(data[at+4*c:], math.Float32bits(f))
					continue
				}
				for k := range size {
					data[at+c*size+k] = rapid.Byte().Draw(t, "byte")
				}
			}
		}
		want := make([][3]float32, count)
		for i := range count {
			at := offset + i*stride
			fill(at)
			for c := range 3 {
				want[i][c] = slowComponent(data[at+c*size:], ct, normalized)
			}
		}
		b := newBuilder()
		acc := object{"componentType": ct, "type": "VEC3", "count": count, "normalized": normalized, "byteOffset": offset}
		view := 0
		if stride == 3*size {
			view = b.view(data, 0)
		} else {
			view = b.view(data, stride)
		}
		acc["bufferView"] = view
		if n := rapid.IntRange(0, count).Draw(t, "sparse"); n > 0 {
			acc["sparse"] = sparseList(t, b, n, count, ct, normalized, want)
		}
		b.mesh(object{"attributes": object{"POSITION": b.list("accessors", acc)}})
		s, err := LoadBytes(context.Background(), "x.glb", b.glb(), DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, s.Meshes[0].Primitives[0].Positions); diff != "" {
			t.Fatal(diff)
		}
	})
}

// sparseList adds n substitutions and applies them to want.
func sparseList(t *rapid.T, b *builder, n, count, ct int, normalized bool, want [][3]float32) object {
	all := make([]uint16, count)
	for i := range all {
		all[i] = uint16(i)
	}
	chosen := rapid.Permutation(all).Draw(t, "chosen")[:n]
	slices.Sort(chosen)
	size := componentSize(ct)
	values := make([]byte, n*3*size)
	for k, i := range chosen {
		for c := range 3 {
			at := (3*k + c) * size
			if ct == f32 {
				binary.LittleEndian.PutUint32(values[at:], math.Float32bits(float32(k)+0.5))
			} else {
				values[at] = byte(17*k + c)
			}
			want[i][c] = slowComponent(values[at:], ct, normalized)
		}
	}
	return object{
		"count":   n,
		"indices": object{"bufferView": b.view(shortBytes(chosen...), 0), "componentType": u16},
		"values":  object{"bufferView": b.view(values, 0)},
	}
}

func TestSparseWithoutView(t *testing.T) {
	b := newBuilder()
	acc := b.list("accessors", object{"componentType": f32, "type": "VEC3", "count": 3, "sparse": object{
		"count":   1,
		"indices": object{"bufferView": b.view([]byte{2}, 0), "componentType": u8},
		"values":  object{"bufferView": b.view(floatBytes(1, 2, 3), 0)},
	}})
	b.mesh(object{"attributes": object{"POSITION": acc}})
	got := first(t, b.load(t)).Positions
	if want := [][3]float32{{}, {}, {1, 2, 3}}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestAttributes(t *testing.T) {
	b := newBuilder()
	quarter := func(v ...byte) []byte { return v }
	b.mesh(object{"attributes": object{
		"POSITION":   b.floats("VEC3", 3, triangle()...),
		"NORMAL":     b.accessor(quarter(127, 0, 0, 0, 0, 127, 0, 0, 0, 0, 129, 0), i8, 3, "VEC3", object{"normalized": true}),
		"TANGENT":    b.floats("VEC4", 4, 1, 0, 0, 1, 1, 0, 0, -1, 1, 0, 0, 0.25),
		"TEXCOORD_0": b.accessor(shortBytes(0, 65535, 32768, 0, 1, 2), u16, 3, "VEC2", object{"normalized": true}),
		"TEXCOORD_1": b.floats("VEC2", 2, 0, 1, -2, 3, 4, 5),
		// Without a byteStride, three bytes are an element of three bytes.
		"COLOR_0": b.accessor([]byte{255, 0, 51, 0, 0, 0, 0, 0, 102, 255, 255}, u8, 3, "VEC3", object{"normalized": true}),
	}})
	b.doc["bufferViews"].([]any)[1].(object)["byteStride"] = 4
	p := first(t, b.load(t))
	want := Primitive{
		Material:  -1,
		Positions: [][3]float32{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}},
		Normals:   [][3]float32{{1, 0, 0}, {0, 1, 0}, {0, 0, -1}},
		Tangents:  [][4]float32{{1, 0, 0, 1}, {1, 0, 0, -1}, {1, 0, 0, 1}},
		UV: [2][][2]float32{
			{{0, 1}, {32768.0 / 65535, 0}, {1.0 / 65535, 2.0 / 65535}},
			{{0, 1}, {-2, 3}, {4, 5}},
		},
		Colors:  [][4]float32{{1, 0, 0.2, 1}, {0, 0, 0, 1}, {0, 0, 0.4, 1}},
		Indices: []uint32{0, 1, 2},
	}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Error(diff)
	}
	if n := note(b.load(t), "tangent-handedness"); n.Count != 1 || !n.Warning {
		t.Errorf("note %+v", n)
	}
}

func TestColorsAreClamped(t *testing.T) {
	b := newBuilder()
	b.mesh(object{"attributes": object{
		"POSITION": b.floats("VEC3", 3, triangle()...),
		"COLOR_0":  b.floats("VEC4", 4, 2, 0.5, 0, 1, 0, 0, 0, -1, 1, 1, 1, 1),
	}})
	s := b.load(t)
	want := [][4]float32{{1, 0.5, 0, 1}, {0, 0, 0, 0}, {1, 1, 1, 1}}
	if got := first(t, s).Colors; !slices.Equal(got, want) || note(s, "colors-clamped").Count != 2 {
		t.Errorf("got %v, notes %v", got, s.Notes)
	}
}

// TestAccessorFaults breaks one thing at a time.
func TestAccessorFaults(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, tt := range []struct {
		name   string
		break_ func(b *builder, prim object)
		err    error
		text   string
	}{
		{"component type", func(b *builder, _ object) { b.acc(0)["componentType"] = 5124 }, ErrMalformed, "accessors[0].componentType: is 5124, must be one of"},
		{"no component type", func(b *builder, _ object) { delete(b.acc(0), "componentType") }, ErrMalformed, "componentType: is missing"},
		{"no type", func(b *builder, _ object) { delete(b.acc(0), "type") }, ErrMalformed, "type: is missing"},
		{"unknown type", func(b *builder, _ object) { b.acc(0)["type"] = "VEC5" }, ErrMalformed, `is "VEC5"`},
		{"no count", func(b *builder, _ object) { delete(b.acc(0), "count") }, ErrMalformed, "count: is missing"},
		{"negative count", func(b *builder, _ object) { b.acc(0)["count"] = -3 }, ErrMalformed, "is -3, must be a whole number"},
		{"huge count", func(b *builder, _ object) { b.acc(0)["count"] = int64(1 << 52) }, ErrMalformed, "do not fit its bufferView of 36 bytes"},
		{"huge zeros", func(b *builder, _ object) { b.acc(0)["count"] = int64(3 << 50); delete(b.acc(0), "bufferView") }, ErrTooLarge, "limit"},
		{"big zeros", func(b *builder, _ object) { b.acc(0)["count"] = 3 << 24; delete(b.acc(0), "bufferView") }, ErrTooLarge, "Options.MaxDecodedBytes"},
		{"offset", func(b *builder, _ object) { b.acc(0)["byteOffset"] = 4 }, ErrMalformed, "from byte 4 on do not fit"},
		{"view index", func(b *builder, _ object) { b.acc(0)["bufferView"] = 7 }, ErrMalformed, "names bufferView 7, but the file has"},
		{"view end", func(b *builder, _ object) { b.viewObj(0)["byteLength"] = int64(1 << 52) }, ErrMalformed, "bufferViews[0]: ends at byte"},
		{"stride", func(b *builder, _ object) { b.viewObj(0)["byteStride"] = 8 }, ErrMalformed, "byteStride 8, an element has 12 bytes"},
		{"accessor index", func(b *builder, p object) { p["attributes"].(object)["POSITION"] = 9 }, ErrMalformed, "POSITION (accessor 9): names accessor 9"},
		{"position type", func(b *builder, _ object) { b.acc(0)["type"] = "VEC2" }, ErrMalformed, "is VEC2 of FLOAT, must be VEC3 of FLOAT"},
		{"NaN", func(b *builder, p object) {
			p["attributes"].(object)["POSITION"] = b.floats("VEC3", 3, 0, 0, 0, 0, nan, 0, 0, 0, 0)
		}, ErrMalformed, "meshes[0].primitives[0].attributes.POSITION (accessor 1): element 1 is not finite"},
		{"infinite UV", func(b *builder, p object) {
			p["attributes"].(object)["TEXCOORD_0"] = b.floats("VEC2", 2, 0, 0, 0, 0, 0, -inf)
		}, ErrMalformed, "TEXCOORD_0 (accessor 1): element 2 is not finite"},
		{"NaN colour", func(b *builder, p object) {
			p["attributes"].(object)["COLOR_0"] = b.floats("VEC3", 3, 0, 0, 0, 0, nan, 0, 0, 0, 0)
		}, ErrMalformed, "COLOR_0 (accessor 1): element 1 is not finite"},
		{"attribute count", func(b *builder, p object) {
			p["attributes"].(object)["TEXCOORD_0"] = b.floats("VEC2", 2, 0, 0)
		}, ErrMalformed, "TEXCOORD_0 (accessor 1): has 1 elements, POSITION has 3"},
		{"plain bytes as colour", func(b *builder, p object) {
			p["attributes"].(object)["COLOR_0"] = b.accessor(make([]byte, 12), u8, 3, "VEC4", nil)
		}, ErrMalformed, "is VEC4 of UNSIGNED_BYTE, must be"},
		{"float indices", func(b *builder, p object) { p["indices"] = b.floats("SCALAR", 1, 0, 1, 2) }, ErrMalformed, "indices (accessor 1): is SCALAR of FLOAT"},
		{"index range", func(b *builder, p object) { p["indices"] = b.accessor([]byte{0, 1, 3}, u8, 3, "SCALAR", nil) }, ErrMalformed, "indices (accessor 1): element 2 is 3, but there are 3 vertices"},
		{"sparse range", func(b *builder, _ object) { b.sparse([]byte{3}, 1) }, ErrMalformed, "sparse.indices[0] is 3"},
		{"sparse order", func(b *builder, _ object) { b.sparse([]byte{1, 1}, 2) }, ErrMalformed, "sparse.indices[1] is 1"},
		{"sparse count", func(b *builder, _ object) { b.sparse([]byte{1, 1}, 4) }, ErrMalformed, "sparse.count: is 4"},
		{"sparse NaN", func(b *builder, _ object) {
			b.sparse([]byte{1}, 1)
			copy(b.bin[len(b.bin)-36:], floatBytes(nan))
		}, ErrMalformed, "element 1 is not finite"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, prim := oneTriangle()
			tt.break_(b, prim)
			_, err := LoadBytes(context.Background(), "x.glb", b.glb(), DefaultOptions())
			if !errors.Is(err, tt.err) || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("got %v, want %v with %q", err, tt.err, tt.text)
			}
		})
	}
}

func (b *builder) acc(i int) object     { return b.doc["accessors"].([]any)[i].(object) }
func (b *builder) viewObj(i int) object { return b.doc["bufferViews"].([]any)[i].(object) }

// sparse gives accessor 0 a sparse list with zeros as values.
func (b *builder) sparse(indices []byte, count int) {
	b.acc(0)["sparse"] = object{
		"count":   count,
		"indices": object{"bufferView": b.view(indices, 0), "componentType": u8},
		"values":  object{"bufferView": b.view(make([]byte, 36), 0)},
	}
}

func BenchmarkDecodeFloats(b *testing.B) {
	a := &accessor{comps: 3, ct: f32, count: 1 << 20, at: memoryExtent(make([]byte, 12<<20)), stride: 12}
	b.SetBytes(12 << 20)
	for b.Loop() {
		decodeVec[[3]float32](a, 0, a.count, 0)
	}
}

func BenchmarkDecodeShorts(b *testing.B) {
	a := &accessor{comps: 3, ct: i16, normalized: true, count: 1 << 20, at: memoryExtent(make([]byte, 8<<20)), stride: 8}
	b.SetBytes(8 << 20)
	for b.Loop() {
		decodeVec[[3]float32](a, 0, a.count, 0)
	}
}

func BenchmarkDecodeIndices(b *testing.B) {
	a := &accessor{comps: 1, ct: u16, count: 3 << 20, at: memoryExtent(make([]byte, 6<<20)), stride: 2}
	b.SetBytes(6 << 20)
	for b.Loop() {
		decodeIndices(a)
	}
}

// TestDirectionsNotFinite: a normal or a tangent that is no number is no
// reason to refuse a file; it counts as one that is missing.
func TestDirectionsNotFinite(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	b, p := oneTriangle()
	p["attributes"].(object)["NORMAL"] = b.floats("VEC3", 3, 0, 0, 1, nan, 0, 0, 0, 0, -inf)
	p["attributes"].(object)["TANGENT"] = b.floats("VEC4", 4, 1, 0, 0, 1, nan, 0, 0, nan, 1, 0, 0, -1)
	s := b.load(t)
	got := s.Meshes[0].Primitives[0]
	if want := [][3]float32{{0, 0, 1}, {}, {}}; !slices.Equal(got.Normals, want) {
		t.Errorf("normals %v, want %v", got.Normals, want)
	}
	if want := [][4]float32{{1, 0, 0, 1}, {0, 0, 0, 1}, {1, 0, 0, -1}}; !slices.Equal(got.Tangents, want) {
		t.Errorf("tangents %v, want %v", got.Tangents, want)
	}
	if n := note(s, "normals-not-finite"); n.Count != 2 || !n.Warning {
		t.Errorf("notes %v", s.Notes)
	}
	if n := note(s, "tangents-not-finite"); n.Count != 1 || !n.Warning {
		t.Errorf("notes %v", s.Notes)
	}
	if n := note(s, "tangent-handedness"); n.Count != 0 {
		t.Errorf("notes %v", s.Notes)
	}
}
