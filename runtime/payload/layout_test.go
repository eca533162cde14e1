package payload

import "testing"

func TestSplitLOD(t *testing.T) {
	for name, want := range map[string]struct {
		common string
		level  int
	}{
		"Tree_LOD0": {"Tree", 0}, "Tree_mat1_lod12": {"Tree_mat1", 12}, "Tree_LOD2.001": {"Tree.001", 2},
		"_LOD1": {}, "Tree_LOD": {}, "Tree_LOD123": {}, "TreeLOD1": {}, "": {}, "Tree_LOD1.x": {}, "Tree_LOD1.": {},
	} {
		common, level, ok := splitLOD(name)
		if common != want.common || level != want.level || ok != (want.common != "") {
			t.Errorf("%q: %q, %d, %v", name, common, level, ok)
		}
	}
}
