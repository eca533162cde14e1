package runtime

import (
	"context"
	"encoding/binary"
	"math"
	"path/filepath"
	"testing"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/runtime/internal/fake"
	"github.com/untoldkit/untold/runtime/memory"
	"github.com/untoldkit/untold/runtime/payload"
)

// partDevice notes where the first vertex of every part lies.
type partDevice struct {
	t  *testing.T
	at map[payload.Key]float32
}

func (d *partDevice) Upload(k payload.Key, a *payload.Asset) error {
	defer a.Release()
	m := &a.Meshes[0]
	if len(a.Meshes) != 1 || m.VertexCount != 3 || len(a.Geometry.Vertices) >= 4*vertex.Size || len(a.Geometry.Indices) > 6+31 {
		d.t.Errorf("%+v: %d meshes, %d vertex and %d index bytes", k, len(a.Meshes), len(a.Geometry.Vertices), len(a.Geometry.Indices))
	}
	for i := range 3 {
		if got := binary.LittleEndian.Uint16(a.Geometry.Indices[m.IndexOffset+uint64(2*i):]); int(got) != i {
			d.t.Errorf("%+v: index %d is %d", k, i, got)
		}
	}
	d.at[k] = math.Float32frombits(binary.LittleEndian.Uint32(a.Geometry.Vertices[m.VertexOffset:]))
	return nil
}

func (d *partDevice) Release(k payload.Key) { delete(d.at, k) }

// A real file of 60 nodes streams mesh by mesh, is released under pressure and
// read again.
func TestFileStreamsMeshByMesh(t *testing.T) {
	dir := t.TempDir()
	tile := tileAt("a", box(0, 0, 0, 61, 1, 0), radiiAt(30, 40))
	tile.FileSizeBytes = fake.WriteTriangles(t, filepath.Join(dir, tile.Path), format.FileTile, format.ModeLZ4, 60)
	m := sceneOf(tile)
	clock, device := &fake.Clock{Time: fake.Epoch}, &partDevice{t, map[payload.Key]float32{}}
	s, err := Open(context.Background(), Source{Path: filepath.Join(dir, "scene.json"), Manifest: m}, scenarioConfig(), Deps{Clock: clock, Device: device})
	if err != nil {
		t.Fatal(err)
	}
	camera := Camera{Position: [3]float64{-10, 0, 0}}
	settle(t, s, clock, camera)
	if st := s.Stats(); st.OutOfCoreTiles != 1 || st.Meshes != 60 || st.MeshesLoaded != 22 || len(device.at) != 22 || st.GeometryBytes != 22*(3*vertex.Size+6) {
		t.Errorf("%+v, %d parts", st, len(device.at))
	}
	for k, x := range device.at {
		if float32(k.Part-1) != x {
			t.Errorf("part %d begins at %v m", k.Part, x)
		}
	}
	s.NotifyMemoryPressure(memory.PressureCritical)
	s.Update(camera, 0)
	if st := s.Stats(); st.CPUBytes != 0 || st.MeshesLoaded != 20 { // two are not protected
		t.Errorf("%+v", st)
	}
	camera.Position[0] = 70
	for range 3 { // the file is read again
		settle(t, s, clock, camera)
	}
	if st := s.Stats(); st.CPURereads != 1 || st.CPUBytes == 0 || !(len(device.at) > 20) || st.Failures != 0 {
		t.Errorf("%+v, %d parts", st, len(device.at))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if len(device.at) != 0 {
		t.Errorf("%d parts are left", len(device.at))
	}
}
