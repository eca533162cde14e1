package runtime

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/internal/fake"
	"github.com/untoldkit/untold/runtime/memory"
	"github.com/untoldkit/untold/runtime/payload"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// writeScene writes a scene of one tile with an HLOD.
func writeScene(t *testing.T) (path string, m *manifest.Manifest) {
	t.Helper()
	dir := t.TempDir()
	tile := tileAt("a", around(0, 0, 0, 1), hlodAt(95))
	tile.FileSizeBytes = fake.WriteTriangles(t, filepath.Join(dir, tile.Path), format.FileTile, format.ModeZstd, 1)
	tile.HLODLevels[0].FileSizeBytes = fake.WriteTriangles(t, filepath.Join(dir, tile.HLODLevels[0].Path), format.FileHLOD, format.ModeNone, 1)
	m = sceneOf(tile)
	path = filepath.Join(dir, "scene.json")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	return path, m
}

// recorder is a Device that notes what it gets.
type recorder struct {
	uploads  map[payload.Key]int // vertex bytes
	releases int
}

func (d *recorder) Upload(k payload.Key, a *payload.Asset) error {
	defer a.Release()
	d.uploads[k] = len(a.Geometry.Vertices)
	if a.Meshes[0].VertexCount != 3 || a.Strings(a.Meshes[0].NameOffset) != "m0" || a.Entities[0].MeshCount != 1 {
		return errors.New("not the triangle")
	}
	return nil
}

func (d *recorder) Release(payload.Key) { d.releases++ }

// settle updates until nothing is in flight, without a look at the wall clock.
func settle(t *testing.T, s *Streamer, clock *fake.Clock, c Camera) {
	t.Helper()
	for range 50 {
		s.Update(c, 100*time.Millisecond)
		clock.Time += 100 * time.Millisecond
		if s.Stats().ActiveLoads == 0 {
			continue
		}
		select { // wait for a worker; the fake clock stands still meanwhile
		case <-s.Ready():
		case <-t.Context().Done():
			t.Fatal("no answer")
		}
	}
}

func TestFileLoaderStreamsAScene(t *testing.T) {
	path, _ := writeScene(t)
	device := &recorder{uploads: map[payload.Key]int{}}
	clock := &fake.Clock{Time: fake.Epoch}
	s, err := Open(context.Background(), Source{Path: path}, scenarioConfig(), Deps{Clock: clock, Device: device})
	if err != nil {
		t.Fatal(err)
	}
	settle(t, s, clock, Camera{Position: [3]float64{200, 0, 0}})
	settle(t, s, clock, Camera{Position: [3]float64{20, 0, 0}})
	want := map[payload.Key]int{{Scene: 1, Rep: payload.RepFull}: 3 * vertex.Size, {Scene: 1, Rep: payload.RepHLOD}: 3 * vertex.Size}
	if !maps.Equal(device.uploads, want) {
		t.Errorf("uploads %v, want %v", device.uploads, want)
	}
	if st := s.Stats(); st.VisibleFull != 1 || st.GeometryBytes != 3*vertex.Size+6 || st.Failures != 0 || st.Undrawn != 0 {
		t.Errorf("%+v", st)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if device.releases != 2 {
		t.Errorf("%d releases, want 2", device.releases)
	}
	s.Update(Camera{}, time.Second) // nothing happens
	if _, err := s.AddScene(Source{Path: path}); !errors.Is(err, payload.ErrClosed) {
		t.Errorf("a closed streamer took a scene: %v", err)
	}
}

func TestSystemMemory(t *testing.T) {
	m := systemMemory(&config.Config{}).Memory()
	if total := m.GeometryBudget + m.TextureBudget; total < memory.MinBudget || total > memory.MaxBudget {
		t.Errorf("budget %d", total)
	}
	if m := systemMemory(&config.Config{MemoryLimits: config.MemoryLimits{GeometryBudget: 5}}).Memory(); m.GeometryBudget != 0 {
		t.Error("the probe overrides the configuration")
	}
}
