package runtime

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/runtime/internal/fake"
	"github.com/untoldkit/untold/runtime/payload"
)

// half is a Packer of a Device that stores geometry in half as many bytes, and one.
type half struct{ estimates int }

func (h *half) Estimate(bytes int64) int64 {
	h.estimates++
	return bytes / 2
}

func (h *half) Packed(_ payload.Key, bytes int64) int64 { return bytes/2 + 1 }

// TestPackedGeometryCounts: what the Device says that geometry takes is what counts, of
// whole representations and of meshes, and goes when they do.
func TestPackedGeometryCounts(t *testing.T) {
	const triangle = 3*32 + 6
	path, _ := writeScene(t)
	clock, packer := &fake.Clock{Time: fake.Epoch}, &half{}
	s, err := Open(context.Background(), Source{Path: path}, scenarioConfig(), Deps{Clock: clock, Device: &recorder{uploads: map[payload.Key]int{}}, Packer: packer})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	settle(t, s, clock, Camera{Position: [3]float64{20, 0, 0}})
	if st := s.Stats(); st.GeometryBytes != triangle/2+1 || st.Failures != 0 {
		t.Errorf("whole: %d bytes", st.GeometryBytes)
	}
	settle(t, s, clock, Camera{Position: [3]float64{1e6, 0, 0}})
	if st := s.Stats(); st.GeometryBytes != 0 {
		t.Errorf("%d bytes are left", st.GeometryBytes)
	}

	dir := t.TempDir()
	tile := tileAt("a", box(0, 0, 0, 61, 1, 0), radiiAt(30, 40))
	tile.FileSizeBytes = fake.WriteTriangles(t, filepath.Join(dir, tile.Path), format.FileTile, format.ModeLZ4, 60)
	device := &partDevice{t, map[payload.Key]float32{}}
	parts, err := Open(context.Background(), Source{Path: filepath.Join(dir, "scene.json"), Manifest: sceneOf(tile)}, scenarioConfig(), Deps{Clock: clock, Device: device, Packer: packer})
	if err != nil {
		t.Fatal(err)
	}
	defer parts.Close()
	settle(t, parts, clock, Camera{Position: [3]float64{-10, 0, 0}})
	if st := parts.Stats(); len(device.at) == 0 || st.GeometryBytes != int64(len(device.at))*(triangle/2+1) {
		t.Errorf("%d meshes take %d bytes", len(device.at), st.GeometryBytes)
	}
}
