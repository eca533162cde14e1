package gltfscene

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/qmuntal/gltf"
	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/testfile"
)

func TestTriangulate(t *testing.T) {
	for _, tt := range []struct {
		name    string
		mode    gltf.PrimitiveMode
		in      []uint32
		want    []uint32
		dropped int
	}{
		{"strip", gltf.PrimitiveTriangleStrip, []uint32{0, 1, 2, 3, 4}, []uint32{0, 1, 2, 1, 3, 2, 2, 3, 4}, 0},
		{"joined strips", gltf.PrimitiveTriangleStrip, []uint32{0, 1, 2, 2, 5, 5, 6, 7}, []uint32{0, 1, 2, 5, 7, 6}, 4 + 0},
		{"fan", gltf.PrimitiveTriangleFan, []uint32{9, 1, 2, 3}, []uint32{1, 2, 9, 2, 3, 9}, 0},
		{"degenerate fan", gltf.PrimitiveTriangleFan, []uint32{0, 1, 1, 2}, []uint32{1, 2, 0}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, dropped := triangulate(tt.mode, len(tt.in), func(i int) uint32 { return tt.in[i] })
			if !slices.Equal(got, tt.want) || dropped != tt.dropped {
				t.Errorf("got %v and %d dropped, want %v and %d", got, dropped, tt.want, tt.dropped)
			}
		})
	}
}

// TestStripWinding verifies that a strip over a grid row faces one way.
func TestStripWinding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(3, 40).Draw(t, "n")
		x := func(i uint32) (int, int) { return int(i) / 2, int(i) % 2 } // zigzag in the plane
		list, dropped := triangulate(gltf.PrimitiveTriangleStrip, n, func(i int) uint32 { return uint32(i) })
		if len(list) != 3*(n-2) || dropped != 0 {
			t.Fatalf("%d indices of %d vertices", len(list), n)
		}
		for i := 0; i < len(list); i += 3 {
			ax, ay := x(list[i])
			bx, by := x(list[i+1])
			cx, cy := x(list[i+2])
			if area := (bx-ax)*(cy-ay) - (by-ay)*(cx-ax); area >= 0 {
				t.Fatalf("triangle %d has area %d", i/3, area)
			}
		}
	})
}

func TestModes(t *testing.T) {
	square := []float32{0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0}
	for _, tt := range []struct {
		mode  int
		tris  int
		note  string
		count int
	}{
		{0, 0, "points-skipped", 1},
		{1, 0, "lines-skipped", 1},
		{2, 0, "lines-skipped", 1},
		{3, 0, "lines-skipped", 1},
		{5, 2, "", 0},
		{6, 2, "", 0},
	} {
		t.Run(fmt.Sprint(tt.mode), func(t *testing.T) {
			b := newBuilder()
			b.mesh(object{"mode": tt.mode, "attributes": object{"POSITION": b.floats("VEC3", 3, square...)}})
			s := b.load(t)
			if got := s.Triangles(); got != tt.tris || note(s, tt.note).Count != tt.count {
				t.Errorf("%d triangles, notes %v", got, s.Notes)
			}
			checkScene(t, s)
		})
	}
}

func TestLeftOut(t *testing.T) {
	b := newBuilder()
	pos := b.floats("VEC3", 3, triangle()...)
	short := b.floats("VEC3", 3, 0, 0, 0, 1, 1, 1)
	b.mesh(object{"attributes": object{"NORMAL": pos}})
	b.mesh(object{"mode": 5, "attributes": object{"POSITION": short}})
	b.mesh(object{"mode": 5, "attributes": object{"POSITION": pos}, "indices": b.accessor([]byte{1, 1, 1, 1}, u8, 4, "SCALAR", nil)})
	b.mesh(object{"attributes": object{"POSITION": pos}, "targets": []any{object{"POSITION": pos}}})
	s := b.load(t)
	for code, want := range map[string]int{"no-position": 1, "empty-primitives": 2, "degenerate-triangles": 2, "morph-targets-skipped": 1} {
		if got := note(s, code).Count; got != want {
			t.Errorf("%s: %d, want %d", code, got, want)
		}
	}
	if s.Triangles() != 1 || len(s.Meshes) != 4 {
		t.Errorf("%d triangles in %d meshes", s.Triangles(), len(s.Meshes))
	}
}

// TestMeshesUnused: a scene that shows none of the file's meshes says so.
func TestMeshesUnused(t *testing.T) {
	b, _ := oneTriangle()
	b.doc["nodes"] = []any{object{}}
	if n := note(b.load(t), "meshes-unused"); n.Count != 1 || !n.Warning {
		t.Errorf("note %+v", n)
	}
	b, _ = oneTriangle()
	b.doc["meshes"] = append(b.doc["meshes"].([]any), b.doc["meshes"].([]any)[0])
	if n := note(b.load(t), "meshes-unused"); n.Count != 0 {
		t.Errorf("note %+v", n)
	}
}

// TestIncompleteTriangles: what follows the last whole triangle is left out, as by GPUs.
func TestIncompleteTriangles(t *testing.T) {
	vertices := append(triangle(), 5, 5, 5, 6, 6, 6)
	b := newBuilder()
	b.mesh(object{"attributes": object{"POSITION": b.floats("VEC3", 3, vertices...)}})
	indexed := newBuilder()
	indexed.mesh(object{
		"attributes": object{"POSITION": indexed.floats("VEC3", 3, vertices...)},
		"indices":    indexed.accessor([]byte{0, 1, 2, 2}, u8, 4, "SCALAR", nil),
	})
	for _, b := range []*builder{b, indexed} {
		s := b.load(t)
		checkScene(t, s)
		if n := note(s, "incomplete-triangles"); n.Count != 1 || !n.Warning || s.Triangles() != 1 {
			t.Errorf("%d triangles, notes %+v", s.Triangles(), s.Notes)
		}
		if p := first(t, s); !slices.Equal(p.Indices, []uint32{0, 1, 2}) {
			t.Errorf("indices %v", p.Indices)
		}
		path := filepath.Join(t.TempDir(), "a.glb")
		testfile.Write(t, path, string(b.glb()))
		s, raw := recorded(t, path, 1<<20)
		defer s.Close()
		planned, err := followPlan(t, path, raw, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		defer planned.Close()
		if list, err := planned.Geometry(0); err != nil || len(list) != 1 || len(list[0].Indices) != 3 {
			t.Errorf("of a plan: %v, %v", list, err)
		}
	}
}

// TestSharedVertices verifies that primitives that use a small part of a
// large vertex set get that part only.
func TestSharedVertices(t *testing.T) {
	b := newBuilder()
	var v []float32
	for i := range 30 {
		v = append(v, float32(i), 0, 0)
	}
	pos := b.floats("VEC3", 3, v...)
	uv := b.floats("VEC2", 2, v[:60]...)
	attributes := object{"POSITION": pos, "TEXCOORD_0": uv, "NORMAL": pos}
	low := b.accessor([]byte{0, 2, 1}, u8, 3, "SCALAR", nil)
	high := b.accessor([]byte{20, 24, 22}, u8, 3, "SCALAR", nil)
	wide := b.accessor([]byte{0, 10, 29}, u8, 3, "SCALAR", nil)
	var prims []any
	for _, index := range []int{low, high, high, wide} {
		prims = append(prims, object{"attributes": attributes, "indices": index})
	}
	b.mesh(prims[0].(object))
	b.doc["meshes"].([]any)[0].(object)["primitives"] = prims
	s := b.load(t)
	checkScene(t, s)
	got := s.Meshes[0].Primitives
	for i, want := range []struct {
		n     int
		index []uint32
		first float32
	}{{3, []uint32{0, 2, 1}, 0}, {5, []uint32{0, 4, 2}, 20}, {5, []uint32{0, 4, 2}, 20}, {30, []uint32{0, 10, 29}, 0}} {
		p := got[i]
		if len(p.Positions) != want.n || len(p.UV[0]) != want.n || !slices.Equal(p.Indices, want.index) || p.Positions[0][0] != want.first {
			t.Errorf("primitive %d: %d vertices from %v, indices %v", i, len(p.Positions), p.Positions[0], p.Indices)
		}
	}
}

// TestOverlap verifies that overlapping accessors cannot blow up memory.
func TestOverlap(t *testing.T) {
	b := newBuilder()
	view := b.view(make([]byte, 120_000), 0)
	var prims []any
	for i := range 1000 {
		a := b.list("accessors", object{"bufferView": view, "byteOffset": 12 * i, "componentType": f32, "count": 6000, "type": "VEC3"})
		prims = append(prims, object{"attributes": object{"POSITION": a}})
	}
	b.mesh(prims[0].(object))
	b.doc["meshes"].([]any)[0].(object)["primitives"] = prims
	opts := DefaultOptions()
	opts.MaxDecodedBytes = 10 << 20
	_, err := LoadBytes(context.Background(), "x.glb", b.glb(), opts)
	if !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "Options.MaxDecodedBytes") {
		t.Errorf("got %v", err)
	}
	// The same accessor a thousand times is no more than one.
	for i := range prims {
		prims[i].(object)["attributes"] = object{"POSITION": i % 2}
		prims[i].(object)["mode"] = 4
	}
	s, err := LoadBytes(context.Background(), "x.glb", b.glb(), opts)
	if err != nil && !errors.Is(err, ErrTooLarge) {
		t.Fatal(err)
	}
	if err == nil && len(s.Meshes[0].Primitives) != 1000 {
		t.Error("primitives are missing")
	}
}
