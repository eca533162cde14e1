package cook

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/boxscene"
)

// Priority hints count in all modes, and in the shared bucket.
func TestRunPriorityHints(t *testing.T) {
	critical := map[string]any{"untold_streaming_priority_hint": "Critical"}
	scene := runScene(t, "hints.gltf", []boxscene.Box{
		{Name: "Thing", At: [3]float64{5, 0, 5}, Extras: critical},
		{Name: "Thing2", At: [3]float64{60, 0, 60}},
		{Name: "Shared", Extras: map[string]any{"untold_streaming_priority_hint": "High", "untold_tile_policy": "force_shared"}},
	})
	for _, mode := range []string{PartitionGrid, PartitionQuadtree, PartitionKDTree} {
		o := ClassicOptions()
		o.Partition, o.Floors.MinObjects = mode, 1
		res := mustRun(t, scene, t.TempDir(), o)
		var got []int
		for i := range res.Manifest.Tiles {
			got = append(got, *res.Manifest.Tiles[i].Priority)
		}
		most := 0
		for _, p := range got {
			most = max(most, p)
		}
		if most != 15 || *res.Manifest.SharedBucket.Priority != 12 {
			t.Errorf("%s: priorities %v, bucket %d", mode, got, *res.Manifest.SharedBucket.Priority)
		}
	}
}

// A wrong word in an extra is named with its place; a value that is no text is
// noted.
func TestRunExtras(t *testing.T) {
	for key, mode := range map[string]string{extraPriority: PartitionGrid, extraTier: PartitionKDTree} {
		o := ClassicOptions()
		o.Partition = mode
		scene := runScene(t, "bad.gltf", []boxscene.Box{{Name: "Odd", Extras: map[string]any{key: "bogus"}}})
		_, err := Run(context.Background(), scene, t.TempDir(), o)
		if !errors.Is(err, ErrBadInput) || !strings.Contains(err.Error(), key) || !strings.Contains(err.Error(), `"Odd"`) {
			t.Errorf("%s: %v", key, err)
		}
		scene = runScene(t, "number.gltf", []boxscene.Box{{Name: "Odd", Extras: map[string]any{key: 5}}})
		if res := mustRun(t, scene, t.TempDir(), o); noteCount(res.Notes, "extra-ignored") != 1 {
			t.Errorf("%s: %v", key, res.Notes)
		}
	}
}

// Annotated scenes say so, and what is not annotated.
func TestRunNotesAnnotations(t *testing.T) {
	o := ClassicOptions()
	o.Partition = PartitionQuadtree
	scene := runScene(t, "marked.gltf", []boxscene.Box{
		{Name: "A__UT_F01K0_L_SI"},
		{Name: "B__UT_F01K1_L_SI", At: [3]float64{9, 0, 0}},
		{Name: "C", At: [3]float64{19, 0, 0}},
		{Name: "D", At: [3]float64{19, 0, 9}, Extras: map[string]any{"untold_quadtree_node_id": "F01_K_1"}},
		{Name: "E", At: [3]float64{29, 0, 9}, Extras: map[string]any{"untold_quadtree_node_id": "../../etc"}},
	})
	res := mustRun(t, scene, t.TempDir(), o)
	for code, want := range map[string]int{"annotations-followed": 3, "annotation-missing": 2, "annotation-unreadable": 1} {
		if n := noteCount(res.Notes, code); n != want {
			t.Errorf("%s: %d, want %d: %v", code, n, want, res.Notes)
		}
	}
	if res.Manifest.PartitioningMode != "kdtree_floor" {
		t.Errorf("mode %s", res.Manifest.PartitioningMode)
	}
}
