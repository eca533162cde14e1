package manifest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPayloads(t *testing.T) {
	m := &Manifest{
		Tiles: []Tile{
			{Path: "t/a.untold", HLODLevels: []Level{{Path: "t/a_hlod.untold"}}, LODLevels: []Level{{Path: "t/a_lod1.untold"}, {Path: "t/a_lod2.untold"}}},
			{Path: "t/b.untold"},
		},
		SharedBucket: &SharedBucket{Tile: Tile{Path: "t/shared.untold"}},
	}
	want := []string{"t/a.untold", "t/a_hlod.untold", "t/a_lod1.untold", "t/a_lod2.untold", "t/b.untold", "t/shared.untold"}
	if d := cmp.Diff(want, m.Payloads()); d != "" {
		t.Error(d)
	}
}
