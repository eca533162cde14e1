package gltfscene

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/qmuntal/gltf"
	"github.com/qmuntal/gltf/modeler"

	"github.com/untoldkit/untold/internal/race"
)

// TestAgainstModeler compares every triangle corner with the decoding of
// qmuntal/gltf's own reader, for all files that it opens.
func TestAgainstModeler(t *testing.T) {
	files, corners, seen := 0, 0, 0
	eachAsset(t, func(name, path string) {
		if seen++; race.Enabled && seen%4 > 0 {
			return // make test compares all of them without the detector
		}
		if strings.HasPrefix(name, "invalid/") {
			return
		}
		s, err := Load(context.Background(), path, DefaultOptions())
		if err != nil || remade(s) {
			return // pinned by TestAssets; its reader gives what is stored
		}
		doc, err := gltf.Open(path)
		if err != nil {
			return // it refuses some legal files
		}
		files++
		for _, m := range s.Meshes {
			for _, p := range m.Primitives {
				corners += compareCorners(t, name, doc, m.Index, p)
			}
		}
	})
	if !race.Enabled && (files < 100 || corners < 500_000) || files == 0 || corners == 0 {
		t.Errorf("only %d files and %d corners compared", files, corners)
	}
	t.Logf("%d files, %d corners", files, corners)
}

// compareCorners returns how many corners were compared.
func compareCorners(t *testing.T, name string, doc *gltf.Document, mesh int, p Primitive) int {
	t.Helper()
	src := doc.Meshes[mesh].Primitives[p.Slot]
	if _, packed := src.Extensions[dracoName]; src.Mode != gltf.PrimitiveTriangles || packed {
		return 0 // its reader decodes neither
	}
	read := func(attribute string) (*gltf.Accessor, bool) {
		i, ok := src.Attributes[attribute]
		if !ok {
			return nil, false
		}
		a := doc.Accessors[i]
		return a, a.ComponentType == gltf.ComponentFloat
	}
	a, ok := read("POSITION")
	if !ok {
		return 0 // quantized: its reader does not do it
	}
	if a.BufferView == nil && a.Sparse == nil {
		return 0 // zeros; its reader gives what its memory held before
	}
	positions, err := modeler.ReadPosition(doc, a, nil)
	if err != nil {
		t.Fatal(name, err)
	}
	indices := make([]uint32, len(positions))
	for i := range indices {
		indices[i] = uint32(i)
	}
	if src.Indices != nil {
		if indices, err = modeler.ReadIndices(doc, doc.Accessors[*src.Indices], nil); err != nil {
			t.Fatal(name, err)
		}
	}
	same(t, name+" POSITION", indices, positions, p.Indices, p.Positions)
	if a, ok := read("NORMAL"); ok {
		want, err := modeler.ReadNormal(doc, a, nil)
		if err != nil {
			t.Fatal(name, err)
		}
		same(t, name+" NORMAL", indices, want, p.Indices, p.Normals)
	}
	for set, attribute := range []string{"TEXCOORD_0", "TEXCOORD_1"} {
		if a, ok := read(attribute); ok {
			want, err := modeler.ReadTextureCoord(doc, a, nil)
			if err != nil {
				t.Fatal(name, err)
			}
			same(t, name+" "+attribute, indices, want, p.Indices, p.UV[set])
		}
	}
	if a, ok := read("TANGENT"); ok {
		want, err := modeler.ReadTangent(doc, a, nil)
		if err != nil {
			t.Fatal(name, err)
		}
		same(t, name+" TANGENT", indices, want, p.Indices, p.Tangents)
	}
	return len(indices)
}

func same[V comparable](t *testing.T, what string, wantIndex []uint32, want []V, gotIndex []uint32, got []V) {
	t.Helper()
	if len(wantIndex) != len(gotIndex) {
		t.Fatalf("%s: %d corners, want %d", what, len(gotIndex), len(wantIndex))
	}
	for i, k := range wantIndex {
		if want[k] != got[gotIndex[i]] {
			t.Fatalf("%s: corner %d is %v, want %v", what, i, got[gotIndex[i]], want[k])
		}
	}
}

// TestJobsDoNotMatter loads real files with different numbers of goroutines.
func TestJobsDoNotMatter(t *testing.T) {
	eachAsset(t, func(name, path string) {
		if !strings.HasPrefix(name, "models/") && !strings.HasPrefix(name, "invalid/") {
			return
		}
		one, err1 := Load(context.Background(), path, Options{Scene: DefaultScene, Jobs: 1})
		many, err2 := Load(context.Background(), path, Options{Scene: DefaultScene, Jobs: 7})
		if outcome(path, one, err1) != outcome(path, many, err2) {
			t.Fatalf("%s: the outcome depends on Jobs", name)
		}
		if err1 == nil && !sameScene(one, many) {
			t.Errorf("%s: the scene depends on Jobs", name)
		}
	})
}

func sameScene(a, b *Scene) bool {
	if len(a.Meshes) != len(b.Meshes) || !slices.Equal(a.Materials, b.Materials) || !slices.Equal(a.Notes, b.Notes) ||
		!slices.EqualFunc(a.Nodes, b.Nodes, func(x, y Node) bool {
			return x.Index == y.Index && x.Name == y.Name && x.World == y.World && x.Mesh == y.Mesh && string(x.Extras) == string(y.Extras)
		}) {
		return false
	}
	for i := range a.Meshes {
		if !slices.EqualFunc(a.Meshes[i].Primitives, b.Meshes[i].Primitives, func(x, y Primitive) bool {
			return x.Slot == y.Slot && x.Material == y.Material && slices.Equal(x.Indices, y.Indices) &&
				slices.Equal(x.Positions, y.Positions) && slices.Equal(x.Normals, y.Normals) &&
				slices.Equal(x.Tangents, y.Tangents) && slices.Equal(x.UV[0], y.UV[0]) && slices.Equal(x.Colors, y.Colors)
		}) {
			return false
		}
	}
	return true
}
