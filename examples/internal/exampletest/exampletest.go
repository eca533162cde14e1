// Package exampletest writes the scene on which the tests of the examples run.
package exampletest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/manifest"
)

// Payload is the file of the scene's only tile; its radii are in metres.
const (
	Payload      = "a.untold"
	Radius       = 200.0
	UnloadRadius = 300.0
)

// Scene writes a scene of one triangle and returns its manifest.
func Scene(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	b := format.NewBuilder(format.FileTile)
	vertices := vertex.Append(nil, []vertex.Vertex{{}, {Position: [3]float32{1, 0, 0}}, {Position: [3]float32{0, 1, 0}}})
	err := b.AddObject(format.Object{Name: "a", MeshName: "a", Material: records.NoIndex, Vertices: vertices, Indices: []uint32{0, 1, 2}})
	if err != nil {
		t.Fatal(err)
	}
	data, err := b.File().Encode(format.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, Payload), data, 0o644); err != nil {
		t.Fatal(err)
	}
	bounds := manifest.Bounds{Max: [3]float64{1, 1, 0}}
	m := &manifest.Manifest{
		Version: manifest.VersionGrid, PartitioningMode: manifest.ModeUniformGrid,
		StreamingDefaults: manifest.StreamingDefaults{StreamingRadius: Radius, UnloadRadius: UnloadRadius},
		Tiles:             []manifest.Tile{{ID: "a", Path: Payload, Bounds: bounds, Center: bounds.Center(), FileSizeBytes: int64(len(data))}},
	}
	path := filepath.Join(dir, "scene.json")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	return path
}
