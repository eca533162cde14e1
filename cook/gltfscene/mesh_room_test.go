package gltfscene

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestMaxMeshBytes: a mesh that takes more is refused before it is decoded, one that shares
// large lists of vertices and uses few is not, and waiting for room changes nothing.
func TestMaxMeshBytes(t *testing.T) {
	b := newBuilder()
	at := make([]float32, 3*3000)
	for i := range at {
		at[i] = float32(i % 7)
	}
	vertices := b.floats("VEC3", 3, at...)
	few := b.list("accessors", object{"bufferView": b.acc(vertices)["bufferView"], "componentType": f32, "count": 3, "type": "VEC3"})
	b.mesh(object{"attributes": object{"POSITION": few}})
	for range 4 {
		b.mesh(object{"attributes": object{"POSITION": vertices}})
	}
	path := filepath.Join(t.TempDir(), "a.glb")
	if err := os.WriteFile(path, b.glb(), 0o600); err != nil {
		t.Fatal(err)
	}
	open := func(most int64) (triangles []int, seen int, err error) {
		opts := DefaultOptions()
		opts.MaxMeshBytes, opts.Jobs = most, 4
		by := make([]int, 5)
		s, err := Open(t.Context(), path, opts, 1<<20, func(_ *Scene, mesh int, list []Primitive) error {
			by[mesh] = 1 + len(list[0].Indices)/3
			return nil
		})
		for _, n := range by {
			seen += min(n, 1)
		}
		if err == nil {
			s.Close()
		}
		return by, seen, err
	}
	const indices = 3000 * 4
	want, seen, err := open(0)
	if err != nil || seen != 5 {
		t.Fatal(seen, err)
	}
	if got, _, err := open(indices); err != nil || !slices.Equal(got, want) {
		t.Errorf("just enough: %v, %v, want %v", got, err, want)
	}
	_, seen, err = open(indices - 1)
	if !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "meshes[") || !strings.Contains(err.Error(), "raise Options.MaxMeshBytes") {
		t.Errorf("too little: %v", err)
	}
	if seen > 0 {
		t.Errorf("%d meshes were decoded before one was refused", seen)
	}
}
