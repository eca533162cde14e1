package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/untoldkit/untold/manifest"
)

// TestInspectPyramid: the summary says what a pyramid takes, and what of it always.
func TestInspectPyramid(t *testing.T) {
	m := &manifest.Manifest{
		Version: 3, PartitioningMode: manifest.ModeUniformGrid, StreamingDefaults: manifest.StreamingDefaults{StreamingRadius: 1, UnloadRadius: 2},
		Tiles: []manifest.Tile{{ID: "a", Path: "a.untold", FileSizeBytes: 7}, {ID: "b", Path: "b.untold", FileSizeBytes: 7}, {ID: "c", Path: "c.untold", FileSizeBytes: 7}},
	}
	node := func(id string, bytes int64, children ...string) {
		m.Pyramid.Nodes = append(m.Pyramid.Nodes, manifest.PyramidNode{
			ID: id, Path: id + ".untold", Level: 1, Children: children, FileSizeBytes: bytes, EstimatedMemoryBytes: 10 * bytes, TriangleCount: 5,
		})
	}
	m.Pyramid = &manifest.Pyramid{}
	node("ab", 100, "a", "b")
	node("all", 200, "ab")
	node("other", 400, "c")
	s := summarize("x.json", m)
	if s.PyramidNodes != 3 || s.PyramidBytes != 700 || s.PyramidMemory != 7000 || s.PyramidTriangles != 15 || s.Roots != 2 || s.RootBytes != 600 || s.RootMemory != 6000 || s.PayloadBytes != 721 {
		t.Errorf("%+v", s)
	}
	path := filepath.Join(t.TempDir(), "x.json")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	const want = "a pyramid of 3 nodes, 15 triangles, 700 B; on the GPU 7.0 kB when all is loaded, 6.0 kB always, for 2 roots"
	if r := execute(t, nil, "inspect", path); r.code != 0 || !strings.Contains(r.stdout, want) {
		t.Errorf("%d: %s", r.code, r.stdout)
	}
}

// TestRootsOf: a node that is nobody's child is a root.
func TestRootsOf(t *testing.T) {
	p := &manifest.Pyramid{Nodes: []manifest.PyramidNode{{ID: "a", Children: []string{"t"}}, {ID: "b", Children: []string{"u"}}, {ID: "c", Children: []string{"a"}}}}
	if got := rootsOf(p); !slices.Equal(got, []int{1, 2}) {
		t.Errorf("roots %v", got)
	}
	if got := rootsOf(&manifest.Pyramid{}); len(got) != 0 {
		t.Errorf("roots %v of nothing", got)
	}
}
