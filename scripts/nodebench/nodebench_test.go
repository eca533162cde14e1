package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/manifest"
)

// tree has a node over two nodes over two tiles each, of 1,000 triangles.
func tree() *manifest.Manifest {
	m := &manifest.Manifest{Pyramid: &manifest.Pyramid{}}
	for _, id := range []string{"a", "b", "c", "d"} {
		m.Tiles = append(m.Tiles, manifest.Tile{ID: id, TriangleCount: 2000})
	}
	m.Pyramid.Nodes = []manifest.PyramidNode{
		{ID: "ab", Level: 1, Children: []string{"a", "b"}, TriangleCount: 600},
		{ID: "cd", Level: 1, Children: []string{"c", "d"}, TriangleCount: 100},
		{ID: "all", Level: 2, Children: []string{"ab", "cd"}, TriangleCount: 700},
	}
	return m
}

func TestChoose(t *testing.T) {
	m := tree()
	for _, c := range []struct {
		count, least, most int
		want               string
	}{{5, 0, 10000, "ab all"}, {1, 0, 10000, "ab"}, {5, 0, 4000, "ab"}, {5, 5000, 10000, "all"}, {5, 0, 100, ""}, {0, 0, 10000, ""}} {
		nodes, err := choose(m, c.count, c.least, c.most)
		var ids []string
		for _, n := range nodes {
			ids = append(ids, n.ID)
		}
		if got := strings.Join(ids, " "); got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%d of %d to %d: %q, %v", c.count, c.least, c.most, got, err)
		}
	}
	if _, err := choose(&manifest.Manifest{}, 1, 0, 1000); err == nil {
		t.Error("a scene without a pyramid")
	}
}

func TestBelow(t *testing.T) {
	m := tree()
	for i, want := range []int{2, 2, 4} {
		if got := len(below(m, &m.Pyramid.Nodes[i])); got != want {
			t.Errorf("%s: %d tiles", m.Pyramid.Nodes[i].ID, got)
		}
	}
}

// TestRewrite: the table takes the place of the one before; results with too many triangles
// neither win nor lose.
func TestRewrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(path, []byte("before\n<!-- nodebench -->\nold\n<!-- end -->\nafter\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	cells := []cell{
		{node: "x", level: 1, source: 9000, across: 200, ours: figures{1000, 0.1, 0.05}, peers: map[string]figures{"sloppy": {1000, 0.2, 0.04}, "blender": {1021, 9, 0.9}}},
		{node: "y", level: 2, source: 9000, across: 16, ours: figures{1000, 0.1, 0.05}, peers: map[string]figures{"sloppy": {900, 0.1, 0.06}}},
	}
	if err := rewrite(path, cells); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := "before\n<!-- nodebench -->\n" + heading +
		"| x | 1 | 9000 | 1000, 1000, 1021 | 200 | 0.100 | **0.200** | (9.000) | 0.0500 | 0.0400 | (0.9000) |\n" +
		"| y | 2 | 9000 | 1000, 900, - | 16 | 0.100 | **0.100** | - | 0.0500 | **0.0600** | - |\n\n" +
		"sloppy: RMS no worse in 2 of 2, FLIP in 1 of 2; blender: RMS no worse in 0 of 0, FLIP in 0 of 0.\n<!-- end -->\nafter\n"
	if string(data) != want {
		t.Errorf("%s\nwant\n%s", data, want)
	}
	if err := os.WriteFile(path, []byte("nothing"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := rewrite(path, cells); err == nil {
		t.Error("a page without a table")
	}
}

// TestForget: what was made of another mesh of the same name is not taken for what is made
// now.
func TestForget(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"n.sloppy.10.mesh", "n.sloppy.9.5.mesh", "n.blender.10.mesh", "n.mesh", "nn.sloppy.10.mesh"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := forget(dir, "n"); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(left) != 2 || filepath.Base(left[0]) != "n.mesh" || filepath.Base(left[1]) != "nn.sloppy.10.mesh" {
		t.Errorf("%v, %v", left, err)
	}
}
