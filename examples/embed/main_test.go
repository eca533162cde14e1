package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/manifest"
)

func TestFly(t *testing.T) {
	stats, drawn, err := fly(writeScene(t))
	if err != nil {
		t.Fatal(err)
	}
	if stats.LoadsCompleted != 1 || len(drawn) != 1 || stats.Undrawn != 0 {
		t.Errorf("%d loads, %d tiles drawn, %d undrawn; want 1, 1, 0", stats.LoadsCompleted, len(drawn), stats.Undrawn)
	}
	if _, _, err := fly(filepath.Join(t.TempDir(), "none.json")); err == nil {
		t.Error("a missing manifest was opened")
	}
}

// TestLines keeps the promise that embedding takes at most 40 lines, imports
// included.
func TestLines(t *testing.T) {
	data, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	code := 0
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			code++
		}
	}
	if code > 40 {
		t.Errorf("%d lines of code", code)
	}
}

// writeScene writes a scene of one triangle and returns its manifest.
func writeScene(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	b := format.NewBuilder(format.FileTile)
	vertices := format.AppendVertices(nil, []format.Vertex{{}, {Position: [3]float32{1, 0, 0}}, {Position: [3]float32{0, 1, 0}}})
	err := b.AddObject(format.Object{Name: "a", MeshName: "a", Material: format.NoIndex, Vertices: vertices, Indices: []uint32{0, 1, 2}})
	if err != nil {
		t.Fatal(err)
	}
	data, err := b.File().Encode(format.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.untold"), data, 0o644); err != nil {
		t.Fatal(err)
	}
	bounds := manifest.Bounds{Max: [3]float64{1, 1, 0}}
	m := &manifest.Manifest{
		Version: manifest.VersionGrid, PartitioningMode: manifest.ModeUniformGrid,
		StreamingDefaults: manifest.StreamingDefaults{StreamingRadius: 200, UnloadRadius: 300},
		Tiles:             []manifest.Tile{{ID: "a", Path: "a.untold", Bounds: bounds, Center: bounds.Center(), FileSizeBytes: int64(len(data))}},
	}
	path := filepath.Join(dir, "scene.json")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	return path
}
