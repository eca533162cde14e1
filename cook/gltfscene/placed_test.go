package gltfscene

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/qmuntal/gltf"
)

// TestPlacedTriangles: the limit counts what nodes, instances, strips and
// levels of detail place, and is judged before anything is decoded.
func TestPlacedTriangles(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(b *builder, p object)
		placed int64
	}{
		"nodes":    {func(b *builder, _ object) { b.list("nodes", object{"mesh": 0}) }, 2},
		"two uses": {func(b *builder, p object) { b.doc["meshes"] = []any{object{"primitives": []any{p, p, p}}} }, 3},
		"strip": {func(b *builder, p object) {
			p["mode"] = gltf.PrimitiveTriangleStrip
			p["indices"] = b.accessor(make([]byte, 9), u8, 9, "SCALAR", nil)
		}, 7},
		"instances": {func(b *builder, _ object) {
			b.doc["extensionsUsed"] = []string{instancingName}
			at := b.list("accessors", object{"componentType": f32, "count": 1000, "type": "VEC3"}) // without data: all at one place
			b.doc["nodes"] = []any{object{"mesh": 0, "extensions": object{instancingName: object{"attributes": object{"TRANSLATION": at}}}}}
		}, 1000},
		"levels": {func(b *builder, _ object) {
			b.doc["nodes"] = []any{object{"mesh": 0, "name": "X_LOD0"}, object{"mesh": 0, "name": "X_LOD1"}}
		}, 2},
	} {
		b, p := oneTriangle()
		tt.change(b, p)
		var roots []int
		for i := range b.doc["nodes"].([]any) {
			roots = append(roots, i)
		}
		b.doc["scenes"] = []any{object{"nodes": roots}}
		for _, limit := range []int64{0, tt.placed, tt.placed - 1} {
			_, err := LoadBytes(context.Background(), "a.glb", b.glb(), Options{Scene: DefaultScene, MaxTriangles: limit})
			if limit != tt.placed-1 || limit == 0 {
				if err != nil {
					t.Errorf("%s, limit %d: %v", name, limit, err)
				}
				continue
			}
			if !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), fmt.Sprintf("a.glb: scenes[0]: %d nodes place %d triangles", map[string]int{"nodes": 2, "levels": 2, "instances": 1000}[name]+map[string]int{"two uses": 1, "strip": 1}[name], tt.placed)) {
				t.Errorf("%s, limit %d: %v", name, limit, err)
			}
		}
	}
}

// TestPlacedTrianglesCompressed: of compressed meshes what they decode to
// counts.
func TestPlacedTrianglesCompressed(t *testing.T) {
	eachAsset(t, func(name, path string) {
		if !strings.HasPrefix(name, "features/BoxDraco/") && !strings.HasPrefix(name, "features/BoxMeshopt/") && !strings.HasPrefix(name, "features/GpuInstancesMetadata/") {
			return
		}
		s, err := Load(context.Background(), path, DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		o := DefaultOptions()
		if o.MaxTriangles = int64(s.Triangles()); o.MaxTriangles < 2 {
			t.Fatalf("%s has %d triangles", name, o.MaxTriangles)
		}
		if _, err := Load(context.Background(), path, o); err != nil {
			t.Errorf("%s at its limit: %v", name, err)
		}
		o.MaxTriangles--
		if _, err := Load(context.Background(), path, o); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s above its limit: %v", name, err)
		}
	})
}

// TestPlacedTrianglesAllocate: refusing a scene takes memory in proportion to
// its file, not to what it places.
func TestPlacedTrianglesAllocate(t *testing.T) {
	b, p := oneTriangle()
	p["indices"] = b.accessor(make([]byte, 30_000), u8, 30_000, "SCALAR", nil)
	b.doc["extensionsUsed"] = []string{instancingName}
	at := b.list("accessors", object{"componentType": f32, "count": 5000, "type": "VEC3"})
	b.doc["nodes"] = []any{object{"mesh": 0, "extensions": object{instancingName: object{"attributes": object{"TRANSLATION": at}}}}}
	data := b.glb()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := LoadBytes(context.Background(), "a.glb", data, Options{Scene: DefaultScene, MaxTriangles: 49_999_999})
	runtime.ReadMemStats(&after)
	if !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "5000 nodes place 50000000 triangles (10000 in 1 mesh)") {
		t.Errorf("%v", err)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 16<<20 {
		t.Errorf("%d bytes allocated", n)
	}
}

// TestCompressedIsCountedFirst: what is compressed is counted by its accessors
// before it is decoded: a damaged stream is not even looked at.
func TestCompressedIsCountedFirst(t *testing.T) {
	draco, _, ext := packed(t)
	ext["bufferView"] = draco.view([]byte("no such stream at all"), 0)
	meshopt, view := compressedTriangle(khrMeshopt)
	view["mode"] = "none such"
	meshopt.doc["nodes"] = []any{object{"mesh": 0}, object{"mesh": 0}}
	meshopt.doc["scenes"] = []any{object{"nodes": []int{0, 1}}}
	for name, c := range map[string]struct {
		data      []byte
		triangles int64
	}{
		"Draco":   {draco.glb(), 12},
		"meshopt": {meshopt.withPlaceholder(placeholder), 2},
	} {
		o := DefaultOptions()
		o.MaxTriangles = c.triangles
		if _, err := LoadBytes(context.Background(), "a.glb", c.data, o); err == nil || errors.Is(err, ErrTooLarge) {
			t.Errorf("%s within the limit: %v", name, err)
		}
		o.MaxTriangles--
		if _, err := LoadBytes(context.Background(), "a.glb", c.data, o); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "by what accessors announce") {
			t.Errorf("%s beyond the limit: %v", name, err)
		}
	}
}
