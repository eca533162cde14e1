package runtime

import (
	"testing"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/payload"
)

// TestDeclared: what a manifest says of geometry goes before the size of the file, and
// nothing negative makes room.
func TestDeclared(t *testing.T) {
	for _, c := range []struct{ geometry, file, want int64 }{
		{0, 0, 0}, {70, 9, 70}, {0, 9, 9}, {-1 << 62, 9, 9}, {-5, 0, 0}, {0, -9, 0}, {-5, -9, 0},
	} {
		r := newRig(t, sceneOf(tileAt("a", face(0), hlodAt(95), func(t *manifest.Tile) {
			t.FileSizeBytes = c.file
			t.HLODLevels[0].GeometryBytes, t.HLODLevels[0].FileSizeBytes = c.geometry, c.file
		})))
		sc := r.s.scenes[0]
		if got := sc.tiles.declared(0, payload.RepHLOD); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
		if got := sc.tiles.declared(0, payload.RepFull); got != max(0, c.file) {
			t.Errorf("%+v: %d for the full tile", c, got)
		}
		if got := r.s.budget.expect(sc, 0, payload.RepHLOD); got < 0 {
			t.Errorf("%+v: a load of %v bytes is expected", c, got)
		}
	}
}
