package cook

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/race"
	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/partition"
)

// TestPyramid: every tile has a parent up to one root, containers have an entity for
// each child, errors never fall going up, budgets are kept, and nothing depends on
// the number of processors.
func TestPyramid(t *testing.T) {
	scene := hills(t, 24)
	var first map[string]string
	for _, jobs := range []int{3, 1} {
		if race.Enabled && jobs == 1 {
			continue // make test compares both without the detector
		}
		o := DefaultOptions()
		o.TileSize, o.WholeLimit, o.Pyramid, o.Jobs = [3]float64{10, o.TileSize[1], 10}, 0, true, jobs
		o.nodeTexels, o.lookSide = 64, smallPictures
		dir := t.TempDir()
		res, err := Run(t.Context(), scene, dir, o)
		if err != nil {
			t.Fatal(err)
		}
		checkPyramid(t, dir, res)
		files := testfile.ReadTree(t, dir)
		if first == nil {
			first = maps.Clone(files)
		} else if d := cmp.Diff(first, files); d != "" {
			t.Error("the files depend on the number of processors")
		}
	}
}

func checkPyramid(t *testing.T, dir string, res *Result) {
	t.Helper()
	m, err := manifest.Load(res.ManifestPath)
	if err != nil {
		t.Fatal(err)
	}
	if m.Pyramid == nil || res.PyramidNodes != len(m.Pyramid.Nodes) || res.PyramidTriangles == 0 || res.PyramidBytes == 0 {
		t.Fatalf("%+v", m.Pyramid)
	}
	parents := map[string]string{}
	for i := range m.Pyramid.Nodes {
		n := &m.Pyramid.Nodes[i]
		if n.TriangleCount > nodeTriangles || n.EstimatedMemoryBytes <= 0 || n.VisualError <= 0 {
			t.Errorf("%+v", n)
		}
		for _, id := range n.Children {
			parents[id] = n.ID
		}
		f, err := format.Open(filepath.Join(dir, n.Path))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for k := range f.Entities() {
			names = append(names, f.String(f.Entities()[k].NameOffset))
		}
		if d := cmp.Diff(n.Children, names); d != "" || len(f.Materials()) != 1 || f.Header().FileType != format.FileHLOD {
			t.Errorf("%s: entities %v, %d materials", n.ID, d, len(f.Materials()))
		}
		f.Close()
		rep, err := format.ValidateFile(filepath.Join(dir, n.Path), format.ValidateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if rep.Errors+rep.Warnings > 0 {
			t.Errorf("%s: %v", n.ID, rep.Findings)
		}
	}
	outside := 0
	for i := range m.Tiles {
		if !m.Tiles[i].Interior {
			outside++
		}
		if (parents[m.Tiles[i].ID] == "") != m.Tiles[i].Interior {
			t.Errorf("the parent of %s is %q, interior %v", m.Tiles[i].ID, parents[m.Tiles[i].ID], m.Tiles[i].Interior)
		}
	}
	if top := m.Pyramid.Nodes[len(m.Pyramid.Nodes)-1]; len(parents) != outside+len(m.Pyramid.Nodes)-1 || parents[top.ID] != "" {
		t.Errorf("%d of %d have a parent, the last is %s", len(parents), outside+len(m.Pyramid.Nodes), top.ID)
	}
	for _, f := range manifest.Validate(m, dir, manifest.ValidateOptions{CheckFiles: true}) {
		if strings.HasPrefix(string(f.Code), "pyramid") || strings.HasPrefix(f.Pointer, "/pyramid") {
			t.Error(f)
		}
	}
}

// TestPyramidOfAWideGround: what spans more tiles than are cut by default is in the pyramid
// all the same, unless the limit is one's own.
func TestPyramidOfAWideGround(t *testing.T) {
	scene := hills(t, 24)
	for limit, shared := range map[int]bool{partition.DefaultSplitMaxTiles: false, 399: true} {
		o := DefaultOptions()
		o.TileSize, o.WholeLimit, o.Pyramid, o.SplitMaxTiles = [3]float64{1.1, o.TileSize[1], 1.1}, 0, true, limit
		o.DryRun, o.LODs, o.HLODs = true, nil, nil // levels change nothing about this and take long
		res, err := Run(t.Context(), scene, t.TempDir(), o)
		if err != nil {
			t.Fatal(err)
		}
		if got := res.Manifest.SharedBucket != nil; got != shared || !shared && res.Tiles <= limit {
			t.Errorf("limit %d: a shared bucket %t, %d tiles", limit, got, res.Tiles)
		}
	}
}

// TestNodesAreRemembered: where one thing has changed, what an earlier cook has made of the rest
// serves the nodes above it, two levels up as well, whose bytes are those of a cook from nothing.
// A model that has gone is made again.
func TestNodesAreRemembered(t *testing.T) {
	dir := t.TempDir()
	scene, out := filepath.Join(dir, "yard.gltf"), filepath.Join(dir, "out")
	y, o := newYard(), yardOptions()
	o.TileSize, o.WholeLimit, o.Pyramid = [3]float64{5, o.TileSize[1], 5}, 0, true
	o.LODs, o.HLODs, o.nodeTexels, o.lookSide = nil, nil, 64, smallPictures
	cook := func(to string) map[string]string {
		t.Helper()
		y.write(t, scene)
		if _, err := Run(t.Context(), scene, to, o); err != nil {
			t.Fatal(err)
		}
		return testfile.ReadTree(t, to)
	}
	cook(out)
	m, err := manifest.Load(filepath.Join(out, "yard.json"))
	if err != nil {
		t.Fatal(err)
	}
	if top := m.Pyramid.Nodes[len(m.Pyramid.Nodes)-1]; top.Level < 4 {
		t.Fatalf("the topmost node is of level %d", top.Level)
	}
	kept := filepath.Join(out, filepath.FromSlash(keptFolder("yard.json")))
	for _, c := range []struct {
		name string
		edit func()
	}{
		{"a thing has moved", func() { y.things[0].x++ }},
		{"another has, and models have gone", func() {
			y.things[3].z++
			models, err := os.ReadDir(kept)
			if err != nil {
				t.Fatal(err)
			}
			for i := 0; i < len(models); i += 3 {
				if err := os.Remove(filepath.Join(kept, models[i].Name())); err != nil {
					t.Fatal(err)
				}
			}
		}},
	} {
		c.edit()
		before := stamps(t, out)
		again := cook(out)
		if d := cmp.Diff(cook(t.TempDir()), again); d != "" {
			t.Errorf("%s: the bytes differ: %.2000s", c.name, d)
		}
		if n := len(touched(before, stamps(t, out))); n == 0 || n > len(again)/2 {
			t.Errorf("%s: %d of %d files are touched", c.name, n, len(again))
		}
	}
}

// TestNoPyramid: the reference exporter has none.
func TestNoPyramid(t *testing.T) {
	o := EngineOptions()
	o.Pyramid = true
	if _, err := Run(t.Context(), hills(t, 8), t.TempDir(), o); err == nil || !strings.Contains(err.Error(), "--pyramid") {
		t.Error(err)
	}
}

// TestAutoPyramid: scenes of many tiles get a pyramid by themselves, and a sky that is
// far larger than the rest is not cut for it.
func TestAutoPyramid(t *testing.T) {
	type is struct {
		side         float64 // of a tile
		auto         bool
		pyramid, cut bool // the ground is cut
	}
	box := func(x, z, side float64) partition.Object {
		return partition.Object{Box: geom.Box{Min: geom.Vec3{x, 0, z}, Max: geom.Vec3{x + side, 1, z + side}}, Triangles: 12}
	}
	objects := []partition.Object{box(0, 0, 240), box(-900, -900, 2000)} // a ground and a sky
	for x := range 24 {
		for z := range 24 {
			objects = append(objects, box(float64(10*x)+1, float64(10*z)+1, 8))
		}
	}
	for i := range objects {
		objects[i].ID = i
	}
	for _, c := range []is{
		{10, true, true, true}, {10, false, false, false}, {20, true, false, true},
	} {
		o := DefaultOptions()
		o.TileSize[0], o.TileSize[2], o.AutoPyramid = c.side, c.side, c.auto
		p, pyramid, err := o.partition(objects)
		if err != nil {
			t.Fatal(err)
		}
		shared := []int{0, 1}
		if c.cut {
			shared = shared[1:]
		}
		if pyramid != c.pyramid || !slices.Equal(p.Shared, shared) {
			t.Errorf("%+v: a pyramid %t, %d tiles, shared %v", c, pyramid, len(p.Tiles), p.Shared)
		}
	}
}
