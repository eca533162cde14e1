package manifestbuild

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/cook"
	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/manifest"
)

// TestBuildKeepsThePyramid: nodes come from the older manifest, and stay while they
// have a file and something below them.
func TestBuildKeepsThePyramid(t *testing.T) {
	dir, m := cooked(t, town(), cook.PartitionGrid)
	file := func(name string) string { return filepath.Join(dir, "tiles", name+".untold") }
	m.Pyramid = &manifest.Pyramid{}
	var children []string
	for i := range m.Tiles {
		children = append(children, m.Tiles[i].ID)
	}
	for level, id := range []string{"hlod_1_0_0_0", "hlod_2_0_0_0"} {
		retyped(t, file(m.Tiles[0].ID), file(id), format.FileHLOD)
		m.Pyramid.Nodes = append(m.Pyramid.Nodes, manifest.PyramidNode{
			ID: id, Level: level + 1, Children: children, Path: "tiles/" + id + ".untold", VisualError: 1, GeometricError: 2,
		})
		children = []string{id}
	}
	r := built(t, dir, Options{From: m})
	validates(t, dir, r.Manifest)
	if len(r.Notes) > 0 || len(r.Manifest.Pyramid.Nodes) != 2 {
		t.Fatal(r.Notes, r.Manifest.Pyramid)
	}
	// Nothing has changed since, and another name of the folder does not matter.
	if err := os.Rename(filepath.Join(dir, "tiles"), filepath.Join(dir, "moved")); err != nil {
		t.Fatal(err)
	}
	again := built(t, dir, Options{From: r.Manifest})
	want := *r.Manifest.Pyramid
	want.Nodes = append([]manifest.PyramidNode{}, want.Nodes...)
	for i := range want.Nodes {
		want.Nodes[i].Path = "moved" + want.Nodes[i].Path[len("tiles"):]
	}
	if d := cmp.Diff(&want, again.Manifest.Pyramid); d != "" {
		t.Error(d)
	}
	// A node without a file goes, and what stands on it alone.
	if err := os.Remove(filepath.Join(dir, "moved", "hlod_1_0_0_0.untold")); err != nil {
		t.Fatal(err)
	}
	less := built(t, dir, Options{From: again.Manifest})
	if less.Manifest.Pyramid != nil || len(less.Notes) != 2 || less.Notes[0].Code != "lost-node" {
		t.Error(less.Manifest.Pyramid, less.Notes)
	}
}
