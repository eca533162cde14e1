package runtime

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/untoldkit/untold/format"
)

// writeTriangles writes a container with a triangle at x = 0, 1, 2, ...; names
// come from name.
func writeTriangles(t *testing.T, path string, n int, name func(i int) string) int64 {
	t.Helper()
	b := format.NewBuilder(format.FileTile)
	for i := range n {
		corner := func(x, y float32) format.Vertex {
			return format.Vertex{Position: [3]float32{float32(i) + x, y, 0}, Normal: format.PackNormal([3]float32{0, 0, 1}), Tangent: format.PackTangent([4]float32{1, 0, 0, 1})}
		}
		err := b.AddObject(format.Object{
			Name: name(i), MeshName: "Mesh", Material: format.NoIndex, Indices: []uint32{0, 1, 2},
			Vertices: format.AppendVertices(nil, []format.Vertex{corner(0, 0), corner(1, 0), corner(0, 1)}),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	data, err := b.File().Encode(format.WriteOptions{Compress: format.ModeLZ4})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return int64(len(data))
}

// partDevice notes where the first vertex of every part lies.
type partDevice struct {
	t  *testing.T
	at map[Key]float32
}

func (d *partDevice) Upload(k Key, a *Asset) error {
	defer a.Release()
	m := &a.Meshes[0]
	if len(a.Meshes) != 1 || m.VertexCount != 3 || len(a.Geometry.Vertices) >= 4*format.VertexSize || len(a.Geometry.Indices) > 6+31 {
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

func (d *partDevice) Release(k Key) { delete(d.at, k) }

// A real file of 60 nodes streams mesh by mesh, is released under pressure and
// read again.
func TestFileStreamsMeshByMesh(t *testing.T) {
	dir := t.TempDir()
	tile := tileAt("a", box(0, 0, 0, 61, 1, 0), radiiAt(30, 40))
	tile.FileSizeBytes = writeTriangles(t, filepath.Join(dir, tile.Path), 60, func(i int) string { return fmt.Sprint("n", i) })
	m := sceneOf(tile)
	clock, device := &fakeClock{epoch}, &partDevice{t, map[Key]float32{}}
	s, err := Open(context.Background(), Source{Path: filepath.Join(dir, "scene.json"), Manifest: m}, scenarioConfig(), Deps{Clock: clock, Device: device})
	if err != nil {
		t.Fatal(err)
	}
	camera := Camera{Position: [3]float64{-10, 0, 0}}
	settle(t, s, clock, camera)
	if st := s.Stats(); st.OutOfCoreTiles != 1 || st.Meshes != 60 || st.MeshesLoaded != 22 || len(device.at) != 22 || st.GeometryBytes != 22*(3*format.VertexSize+6) {
		t.Errorf("%+v, %d parts", st, len(device.at))
	}
	for k, x := range device.at {
		if float32(k.Part-1) != x {
			t.Errorf("part %d begins at %v m", k.Part, x)
		}
	}
	s.NotifyMemoryPressure(PressureCritical)
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
