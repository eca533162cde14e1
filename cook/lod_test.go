package cook

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/internal/boxscene"
	"github.com/untoldkit/untold/internal/testfile"
)

// TestRunLODGroup: nodes X_LOD0, X_LOD1 stay together, whole and named, in the
// tile of the finest level's centre.
func TestRunLODGroup(t *testing.T) {
	boxes := []boxscene.Box{
		{Name: "Tree_LOD0", At: [3]float64{24, 1, -5}, Scale: [3]float64{6, 6, 6}}, // reaches over x = 25
		{Name: "Tree_LOD1", At: [3]float64{24, 1, -5}, Scale: [3]float64{5, 5, 5}},
		{Name: "Tree_LOD2", At: [3]float64{90, 1, -5}}, // wherever a coarser level is
		{Name: "Bush", At: [3]float64{10, 1, -5}},
	}
	dir := t.TempDir()
	m := mustRun(t, runScene(t, "wood.gltf", boxes), dir, ClassicOptions()).Manifest
	if len(m.Tiles) != 1 {
		t.Fatalf("%d tiles", len(m.Tiles))
	}
	if d := cmp.Diff([]string{"Tree", "Bush"}, m.Tiles[0].Objects); d != "" {
		t.Error(d)
	}
	r, err := format.Open(filepath.Join(dir, filepath.FromSlash(m.Tiles[0].Path)))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var names []string
	for i, e := range r.Entities() {
		names = append(names, r.String(e.NameOffset))
		if r.Meshes()[i].IndexCount != 36 {
			t.Errorf("%s has %d indices", names[i], r.Meshes()[i].IndexCount)
		}
	}
	slices.Sort(names)
	if d := cmp.Diff([]string{"Bush", "Tree_LOD0", "Tree_LOD1", "Tree_LOD2"}, names); d != "" {
		t.Error(d)
	}
}

// TestConvertMSFTLod gives authored levels the names that the runtime knows.
func TestConvertMSFTLod(t *testing.T) {
	scene := runScene(t, "statue.gltf", []boxscene.Box{{Name: "Statue"}, {Name: "Coarse"}})
	data := testfile.Read(t, scene)
	var doc map[string]any
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	doc["extensionsUsed"] = append(doc["extensionsUsed"].([]any), "MSFT_lod")
	nodes := doc["nodes"].([]any)
	nodes[0].(map[string]any)["extensions"] = map[string]any{"MSFT_lod": map[string]any{"ids": []int{1}}}
	doc["scenes"].([]any)[0].(map[string]any)["nodes"] = []int{0, 2, 3}
	data, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	testfile.Write(t, scene, data)
	out := filepath.Join(t.TempDir(), "statue.untold")
	if _, err := Convert(t.Context(), scene, out, ClassicOptions()); err != nil {
		t.Fatal(err)
	}
	r, err := format.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var names []string
	for _, e := range r.Entities() {
		names = append(names, r.String(e.NameOffset))
	}
	if d := cmp.Diff([]string{"Statue_LOD0", "Statue_LOD1"}, names); d != "" {
		t.Error(d)
	}
}
