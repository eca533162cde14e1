package verify

import (
	"context"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/manifest"
)

// triangleFile writes a container of one triangle that is moved by x.
func triangleFile(t *testing.T, path string, typ format.FileType, x float32) {
	t.Helper()
	b := format.NewBuilder(typ)
	var vertices []byte
	for k := range 3 {
		v := vertex.Vertex{Position: [3]float32{x + float32(k%2), float32(k / 2), 0}, Normal: vertex.PackNormal([3]float32{0, 0, 1}), Tangent: vertex.PackTangent([4]float32{1, 0, 0, 1})}
		vertices = vertex.Append(vertices, []vertex.Vertex{v})
	}
	m := b.AddMaterial("m", records.Material{
		BaseColor: [4]float32{1, 1, 1, 1}, BaseColorTexture: records.NoIndex, NormalTexture: records.NoIndex, MetallicTexture: records.NoIndex,
		RoughnessTexture: records.NoIndex, EmissiveTexture: records.NoIndex, OcclusionTexture: records.NoIndex,
	})
	if err := b.AddObject(format.Object{Name: "o", MeshName: "o", Material: m, Vertices: vertices, Indices: []uint32{0, 1, 2}}); err != nil {
		t.Fatal(err)
	}
	data, err := b.File().Encode(format.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	testfile.Write(t, path, data)
}

func TestManifestAndPayloadsAgree(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(m *manifest.Manifest)
		code  string // empty: nothing is found
	}{
		{"faultless", func(*manifest.Manifest) {}, ""},
		{"unknown count", func(m *manifest.Manifest) { m.Tiles[0].TriangleCount = 0 }, ""},
		{"triangles", func(m *manifest.Manifest) { m.Tiles[0].TriangleCount = 7 }, CodePayloadTriangles},
		{"negative triangles", func(m *manifest.Manifest) { m.Tiles[0].TriangleCount = -1 }, CodePayloadTriangles},
		{"triangles of a level", func(m *manifest.Manifest) { m.Tiles[0].HLODLevels[0].TriangleCount = 9 }, CodePayloadTriangles},
		{"moved", func(m *manifest.Manifest) { move(&m.Tiles[0], 1000) }, CodePayloadBounds},
		{"shrunk", func(m *manifest.Manifest) { m.Tiles[0].Bounds.Max[0] -= .5 }, CodePayloadOutside},
		{"larger is fine", func(m *manifest.Manifest) { m.Tiles[0].Bounds.Max[1] += 9998 }, ""},
		{"swapped with another tile", func(m *manifest.Manifest) {
			a, b := &m.Tiles[0], &m.Tiles[1]
			a.Path, b.Path = b.Path, a.Path
		}, CodePayloadBounds},
		{"swapped with its own hlod", func(m *manifest.Manifest) {
			a := &m.Tiles[0]
			a.Path, a.HLODLevels[0].Path = a.HLODLevels[0].Path, a.Path
		}, CodePayloadType},
		{"a tile for a bucket", func(m *manifest.Manifest) {
			m.SharedBucket = &manifest.SharedBucket{Tile: m.Tiles[0]}
			m.SharedBucket.ID, m.Tiles = manifest.SharedTileID, m.Tiles[1:]
		}, CodePayloadType},
		{"a plan has no files", func(m *manifest.Manifest) { m.DryRun = true; m.Tiles[0].TriangleCount = 7 }, ""},
	} {
		dir := t.TempDir()
		triangleFile(t, filepath.Join(dir, "a.untold"), format.FileTile, 0)
		triangleFile(t, filepath.Join(dir, "a_hlod.untold"), format.FileHLOD, 0)
		triangleFile(t, filepath.Join(dir, "b.untold"), format.FileTile, 40)
		m := &manifest.Manifest{Version: manifest.VersionGrid, PartitioningMode: manifest.ModeUniformGrid, StreamingDefaults: manifest.StreamingDefaults{StreamingRadius: 20, UnloadRadius: 40, Priority: 10}}
		for i, name := range []string{"a", "b"} {
			e := manifest.Tile{ID: "tile_" + string(rune('0'+i)) + "_0_0", Path: name + ".untold", TriangleCount: 1, HLODLevels: []manifest.Level{}}
			e.Bounds = manifest.Bounds{Min: [3]float64{float64(40 * i), 0, 0}, Max: [3]float64{float64(40*i) + 1, 1, 0}}
			e.Center = e.Bounds.Center()
			m.Tiles = append(m.Tiles, e)
		}
		m.Tiles[0].HLODLevels = []manifest.Level{{Path: "a_hlod.untold", SwitchDistance: 30, TriangleCount: 1}}
		c.spoil(m)
		path := filepath.Join(dir, "m.json")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Encode(f); err != nil {
			t.Fatal(c.name, err)
		}
		f.Close()
		report, err := Paths(context.Background(), []string{path}, Options{Jobs: 1})
		if err != nil {
			t.Fatal(err)
		}
		found := ""
		for _, file := range report.Files {
			for _, x := range file.Findings {
				if strings.HasPrefix(string(x.Code), "payload-") && found == "" {
					found = string(x.Code)
				}
			}
		}
		if found != c.code {
			t.Errorf("%s: found %q, want %q", c.name, found, c.code)
		}
	}
}

func move(t *manifest.Tile, by float64) {
	t.Bounds.Min[0] += by
	t.Bounds.Max[0] += by
	t.Center = t.Bounds.Center()
}

// A root transform moves the geometry, whether or not the writer of the file
// has it in the boxes.
func TestPayloadsWithRootTransform(t *testing.T) {
	for _, boxed := range []bool{false, true} {
		dir, path := scene(t)
		m, err := manifest.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		move(&m.Tiles[0], 500)
		if err := m.Save(path); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, "tiles", "tile_0_0_0.untold")
		b := testfile.Read(t, file)
		put := func(at int, v float32) { binary.LittleEndian.PutUint32(b[at:], math.Float32bits(v)) }
		put(76+4*12, 500)
		if boxed {
			put(52, 500)
			put(64, 501)
		}
		testfile.Write(t, file, b)
		report, err := Paths(t.Context(), []string{path}, Options{Jobs: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, code := range report.codes() {
			if code == CodePayloadBounds || code == CodePayloadOutside {
				t.Errorf("boxes with it: %v: %v", boxed, report.codes())
			}
		}
	}
}
