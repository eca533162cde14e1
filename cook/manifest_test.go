package cook

import (
	"path/filepath"
	"testing"

	"github.com/untoldkit/untold/manifest"
)

// TestClassifiedObjects: of many objects the manifest does not say how each was judged, and
// nothing else differs.
func TestClassifiedObjects(t *testing.T) {
	load := func(most int) *manifest.Manifest {
		o := yardOptions()
		o.HLODs, o.classified = nil, most
		out := t.TempDir()
		scene := filepath.Join(t.TempDir(), "yard.gltf")
		newYard().write(t, scene)
		if _, err := Run(t.Context(), scene, out, o); err != nil {
			t.Fatal(err)
		}
		m, err := manifest.Load(filepath.Join(out, "yard.json"))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	all, few := load(0), load(3)
	if len(all.ObjectClassification) <= 3 || len(few.ObjectClassification) != 0 {
		t.Errorf("%d of few objects and %d of many are classified", len(all.ObjectClassification), len(few.ObjectClassification))
	}
	if few.ObjectClassification = all.ObjectClassification; len(few.Tiles) != len(all.Tiles) || len(few.Tiles[0].Objects) != len(all.Tiles[0].Objects) {
		t.Error("the tiles differ")
	}
}
