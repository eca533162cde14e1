package simulate

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/internal/fake"
)

// rowScene writes a scene of one tile with meshes in a row, 10 m apart, of a
// little more than 10 kB each.
func rowScene(t *testing.T, mode format.CompressMode) string {
	t.Helper()
	dir := t.TempDir()
	data := fake.Container(t, format.FileTile, mode, 60, 300, func(mesh, k int) [3]float32 {
		return [3]float32{float32(10 * mesh), float32(k%3) / 2, float32(k) / 300}
	})
	fake.Write(t, filepath.Join(dir, "tiles", "a.untold"), data)
	box := manifest.Bounds{Max: [3]float64{590, 1, 1}}
	m := &manifest.Manifest{
		Version: 3, PartitioningMode: manifest.ModeUniformGrid, TileSize: &manifest.Vec3Size{X: 600, Y: 10_000, Z: 600},
		StreamingDefaults: manifest.StreamingDefaults{StreamingRadius: 50, UnloadRadius: 80, Priority: 10},
		Tiles:             []manifest.Tile{{ID: "a", Path: "tiles/a.untold", Bounds: box, Center: box.Center(), FileSizeBytes: int64(len(data))}},
	}
	path := filepath.Join(dir, "row.json")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// A modelled network carries only what is wanted of a file that comes in parts,
// and two runs are the same.
func TestModelledRanges(t *testing.T) {
	for _, tt := range []struct {
		mode   format.CompressMode
		ranges bool
		least  int64 // percent of the file that is loaded
		most   int64
	}{
		{format.ModeNone, false, 100, 100},
		{format.ModeNone, true, 12, 25},
		{format.ModeLZ4, true, 100, 100},
	} {
		path := rowScene(t, tt.mode)
		var first *Result
		for range 2 {
			s, err := Load(path)
			if err != nil {
				t.Fatal(err)
			}
			s.Config.EnableFrustumGate = false
			s.Duration = 20 * time.Second
			s.Path.Keys = []CameraKey{{Position: [3]float64{0, 0, 5}, Forward: [3]float64{0, 0, -1}}}
			res, err := Run(context.Background(), s, Options{Bandwidth: 1e6, NetworkLatency: 40 * time.Millisecond, Ranges: tt.ranges})
			if err != nil {
				t.Fatal(err)
			}
			size := s.Manifest.Tiles[0].FileSizeBytes
			r := res.Report
			if r.BytesLoaded != r.BytesRequested || 100*r.BytesLoaded < tt.least*size || 100*r.BytesLoaded > tt.most*size || r.Undrawn != 0 || r.Failures != 0 {
				t.Errorf("%+v of %d bytes: %+v", tt, size, r)
			}
			n := 0
			for _, e := range res.Records {
				if e.Event == "mesh.loaded" {
					n++
				}
			}
			if n != 6 {
				t.Errorf("%+v: %d meshes", tt, n)
			}
			if first == nil {
				first = res
			} else if d := cmp.Diff(first.Records, res.Records); d != "" {
				t.Error(d)
			}
		}
	}
}
