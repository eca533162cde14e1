package cook

import (
	"path/filepath"
	"reflect"
	"testing"

	"github.com/untoldkit/untold/manifest"
)

// TestListedObjects: of many objects the manifest neither has the names nor says how each was
// judged, and nothing else differs.
func TestListedObjects(t *testing.T) {
	load := func(most int) *manifest.Manifest {
		o := yardOptions()
		o.HLODs, o.listed = nil, most
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
	for i := range few.Tiles {
		if len(few.Tiles[i].Objects) != 0 || len(all.Tiles[i].Objects) != *few.Tiles[i].ObjectCount {
			t.Errorf("tile %d lists %d objects of many, and %d of %d", i, len(few.Tiles[i].Objects), len(all.Tiles[i].Objects), *few.Tiles[i].ObjectCount)
		}
		few.Tiles[i].Objects = all.Tiles[i].Objects
	}
	few.ObjectClassification = all.ObjectClassification
	if !reflect.DeepEqual(few, all) {
		t.Error("something else differs")
	}
}
