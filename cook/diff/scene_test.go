package diff

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/untoldkit/untold/cook"
	"github.com/untoldkit/untold/finding"
	"github.com/untoldkit/untold/internal/boxscene"
	"github.com/untoldkit/untold/internal/race"
	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/manifest"
)

// thing is a box of a scene, somewhere in a cell of 10 m.
type thing struct {
	cell  [2]int
	off   float64 // from the middle of the cell, metres
	paint int
}

func (x thing) at() [3]float64 {
	return [3]float64{float64(x.cell[0])*10 + 5 + x.off, 0.5, -float64(x.cell[1])*10 - 5}
}

// town is a scene of named boxes with three paints, of which the first has a
// texture. Boxes in its corners keep its bounds.
type town struct {
	things  map[string]thing
	picture color.NRGBA
}

const townSide = 4 // cells

func pngOf(c color.NRGBA) []byte {
	img := image.NewNRGBA(image.Rect(0, 0, 2, 2))
	for i := range 4 {
		img.SetNRGBA(i%2, i/2, c)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// cooked cooks a town into a folder and returns its manifest.
func (w town) cooked(t testing.TB, dir string, options func(*cook.Options)) string {
	t.Helper()
	type m = boxscene.Object
	s := boxscene.New()
	s.AddTexCoords()
	mesh := s.Root["meshes"].([]m)[0]
	var meshes, materials []m
	for i := range 3 {
		prim := maps.Clone(s.Primitive)
		prim["material"] = i
		meshes = append(meshes, m{"name": mesh["name"], "primitives": []m{prim}})
		pbr := m{"baseColorFactor": []float64{float64(i) / 2, 1, 1, 1}}
		if i == 0 {
			pbr["baseColorTexture"] = m{"index": 0}
		}
		materials = append(materials, m{"name": fmt.Sprint("Paint", i), "pbrMetallicRoughness": pbr})
	}
	s.Root["meshes"], s.Root["materials"] = meshes, materials
	s.Root["textures"], s.Root["images"] = []m{{"source": 0}}, []m{{"uri": "wood.png"}}
	for i := range 4 {
		at := [3]float64{float64(i&1)*(townSide*10-1) + 0.5, 0.5, -float64(i>>1)*(townSide*10-1) - 0.5}
		s.AddNode(m{"name": fmt.Sprint("Corner", i), "mesh": 0, "translation": at})
	}
	for _, name := range slices.Sorted(maps.Keys(w.things)) {
		x := w.things[name]
		s.AddNode(m{"name": name, "mesh": x.paint, "translation": x.at()})
	}
	src := filepath.Join(dir, "src")
	testfile.WriteTree(t, src, map[string]string{"town.gltf": string(s.Bytes()), "wood.png": string(pngOf(w.picture))})
	o := cook.ClassicOptions()
	o.TileSize, o.NoSync = [3]float64{10, 1000, 10}, true
	if options != nil {
		options(&o)
	}
	res, err := cook.Run(context.Background(), filepath.Join(src, "town.gltf"), filepath.Join(dir, "out"), o)
	if err != nil {
		t.Fatal(err)
	}
	return res.ManifestPath
}

// tileAt returns the id of the tile around a thing.
func tileAt(t testing.TB, m *manifest.Manifest, x thing) string {
	t.Helper()
	p := x.at()
	for i := range m.Tiles {
		c := m.Tiles[i].CellBounds
		if p[0] > c.Min[0] && p[0] < c.Max[0] && p[2] > c.Min[2] && p[2] < c.Max[2] {
			return m.Tiles[i].ID
		}
	}
	t.Fatalf("there is no tile around %v", p)
	return ""
}

func load(t testing.TB, path string) *manifest.Manifest {
	t.Helper()
	m, err := manifest.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

var cells = rapid.Custom(func(t *rapid.T) [2]int {
	return [2]int{rapid.IntRange(0, townSide-1).Draw(t, "x"), rapid.IntRange(0, townSide-1).Draw(t, "z")}
})

var things = rapid.Custom(func(t *rapid.T) thing {
	return thing{cells.Draw(t, "cell"), float64(rapid.IntRange(-12, 12).Draw(t, "off")) / 4, rapid.IntRange(0, 2).Draw(t, "paint")}
})

// TestSceneProperties: after any edits of a scene exactly the touched tiles differ.
func TestSceneProperties(t *testing.T) {
	base := t.TempDir()
	n := 0
	race.Checks(t, 25) // make test does all of them without the detector
	rapid.Check(t, func(rt *rapid.T) {
		n++
		dir := filepath.Join(base, fmt.Sprint(n))
		defer os.RemoveAll(dir)
		before := town{things: map[string]thing{}, picture: color.NRGBA{200, 100, 50, 255}}
		for i, x := range rapid.SliceOfN(things, 1, 10).Draw(rt, "things") {
			before.things[fmt.Sprint("Thing", i)] = x
		}
		after := town{maps.Clone(before.things), before.picture}
		names := slices.Sorted(maps.Keys(before.things))
		for range rapid.IntRange(0, 3).Draw(rt, "edits") {
			name := rapid.SampledFrom(names).Draw(rt, "name")
			x, there := after.things[name]
			switch rapid.SampledFrom([]string{"move", "push", "delete", "add", "paint", "picture"}).Draw(rt, "edit") {
			case "move":
				x.cell = cells.Draw(rt, "cell")
			case "push":
				x.off = 3.25
			case "delete":
				delete(after.things, name)
				continue
			case "add":
				name, x, there = fmt.Sprint("New", len(after.things)), things.Draw(rt, "thing"), true
			case "paint":
				x.paint = (x.paint + 1) % 3
			case "picture":
				after.picture = color.NRGBA{1, 2, 3, 255}
				continue
			}
			if there {
				after.things[name] = x
			}
		}
		a, b := before.cooked(t, filepath.Join(dir, "a"), nil), after.cooked(t, filepath.Join(dir, "b"), nil)
		ma, mb := load(t, a), load(t, b)
		touched := map[string]bool{}
		for _, name := range union(before.things, after.things) {
			x, inA := before.things[name]
			y, inB := after.things[name]
			if inA && inB && x == y {
				continue
			}
			if inA {
				touched[tileAt(t, ma, x)] = true
			}
			if inB {
				touched[tileAt(t, mb, y)] = true
			}
		}
		r, back := compare(t, a, b, Options{Jobs: 2}), compare(t, b, a, Options{Jobs: 1})
		var found []string
		for i := range r.Items {
			found = append(found, r.Items[i].ID)
		}
		if d := cmp.Diff(slices.Sorted(maps.Keys(touched)), found); d != "" {
			rt.Errorf("tiles: %s", d)
		}
		checkSums(rt, r)
		if pictures := len(r.Textures) > 0; pictures != (before.picture != after.picture) {
			rt.Errorf("textures: %+v", r.Textures)
		}
		if d := cmp.Diff(plain(mirror(r)), plain(back)); d != "" {
			rt.Errorf("not the mirror image: %s", d)
		}
		if total := r.Triangles.Same + r.Triangles.Changed + r.Triangles.Moved; total+r.Triangles.Removed != r.A.Triangles || total+r.Triangles.Added != r.B.Triangles {
			rt.Errorf("%+v of %d and %d", r.Triangles, r.A.Triangles, r.B.Triangles)
		}
		if r := compare(t, a, a, Options{}); r.Differ {
			rt.Errorf("a scene differs from itself: %+v", r)
		}
	})
}

// aTown is a scene for tests of one thing.
func aTown() town {
	return town{things: map[string]thing{
		"Bench": {cell: [2]int{1, 1}, paint: 1}, "Lamp": {cell: [2]int{2, 1}, off: 1, paint: 2}, "Kiosk": {cell: [2]int{2, 2}, paint: 0},
	}, picture: color.NRGBA{200, 100, 50, 255}}
}

// TestOtherGrid: scenes that are cut into other tiles are compared in total.
func TestOtherGrid(t *testing.T) {
	w := aTown()
	a := w.cooked(t, filepath.Join(t.TempDir(), "a"), nil)
	for name, c := range map[string]struct {
		options func(*cook.Options)
		want    string
	}{
		"other tiles": {func(o *cook.Options) { o.TileSize[0] = 20 }, "tiles of A are 10 x 10 m, those of B 20 x 10 m"},
		"other mode":  {func(o *cook.Options) { o.Partition = cook.PartitionQuadtree }, "A is cut by uniform_grid, B by quadtree_floor"},
	} {
		v := w
		v.picture = color.NRGBA{1, 2, 3, 255}
		r := compare(t, a, v.cooked(t, filepath.Join(t.TempDir(), "b"), c.options), Options{})
		if r.Grids != c.want || !r.Differ || len(r.Items) > 0 || r.Tiles != (Counts{}) {
			t.Errorf("%s: %q, %+v", name, r.Grids, r.Items)
		}
		if r.A.Triangles != 84 || r.B.Triangles != 84 || len(r.Materials) > 0 || len(r.Textures) != 1 || r.A.Materials != 3 {
			t.Errorf("%s: %+v, %+v, %+v", name, r.A, r.B, r.Materials)
		}
	}
	// The same size, begun elsewhere: a corner that is not there any more.
	m := load(t, a)
	for i := range m.Tiles {
		m.Tiles[i].CellBounds.Min[0] += 2
		m.Tiles[i].CellBounds.Max[0] += 2
	}
	moved := filepath.Join(filepath.Dir(a), "moved.json")
	if err := m.Save(moved); err != nil {
		t.Fatal(err)
	}
	if r := compare(t, a, moved, Options{}); !strings.HasPrefix(r.Grids, "the cell of tile_0_0_0 is x 0 to 10") {
		t.Errorf("%q", r.Grids)
	}
}

// TestLevels: levels and nodes that differ are named with what differs.
func TestLevels(t *testing.T) {
	w := aTown()
	a := w.cooked(t, filepath.Join(t.TempDir(), "a"), nil)
	m := load(t, a)
	copyOf := func(edit func(m *manifest.Manifest)) string {
		x := load(t, a)
		edit(x)
		path := filepath.Join(filepath.Dir(a), "edited.json")
		if err := x.Save(path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	level := func(distance float64, tile int) manifest.Level {
		return manifest.Level{Path: m.Tiles[tile].Path, SwitchDistance: distance}
	}
	base := copyOf(func(x *manifest.Manifest) {
		x.Tiles[0].LODLevels = []manifest.Level{level(10, 0), level(20, 0)}
		x.Tiles[1].HLODLevels = []manifest.Level{level(30, 1)}
		x.Pyramid = &manifest.Pyramid{Nodes: []manifest.PyramidNode{
			{ID: "hlod_1", Level: 1, Children: []string{m.Tiles[0].ID, m.Tiles[1].ID}, Path: m.Tiles[0].Path},
			{ID: "hlod_2", Level: 2, Children: []string{"hlod_1"}, Path: m.Tiles[0].Path},
		}}
	})
	if err := os.Rename(base, base+".base.json"); err != nil {
		t.Fatal(err)
	}
	base += ".base.json"
	edited := copyOf(func(x *manifest.Manifest) {
		x.Tiles[0].LODLevels = []manifest.Level{level(12, 0)}
		x.Tiles[1].HLODLevels = []manifest.Level{level(30, 2)}
		x.Pyramid = &manifest.Pyramid{Nodes: []manifest.PyramidNode{
			{ID: "hlod_1", Level: 1, Children: []string{m.Tiles[0].ID, m.Tiles[2].ID}, Path: m.Tiles[0].Path, VisualError: 2},
		}}
	})
	r := compare(t, base, edited, Options{})
	type row struct {
		ID, Name string
		Change   Change
		Fields   string
	}
	var got []row
	for _, x := range r.Items {
		for _, l := range x.Levels {
			var f []string
			for i := range l.Settings {
				f = append(f, fieldText(&l.Settings[i]))
			}
			got = append(got, row{x.ID, l.Name, l.Change, strings.Join(f, "; ")})
		}
	}
	want := []row{
		{m.Tiles[0].ID, "lod1", Changed, "switch_distance: 10 -> 12 m"},
		{m.Tiles[0].ID, "lod2", Removed, ""},
		{m.Tiles[1].ID, "hlod", Changed, fmt.Sprintf("path: %q -> %q", m.Tiles[1].Path, m.Tiles[2].Path)},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if r.Levels != (Counts{Removed: 1, Changed: 2, Entries: 1}) || r.Nodes != (Counts{Removed: 1, Changed: 1, Entries: 1}) || r.Tiles.Changed != 2 {
		t.Errorf("%+v, %+v, %+v", r.Levels, r.Nodes, r.Tiles)
	}
	if len(r.NodeItems) != 2 || fieldText(&r.NodeItems[0].Settings[0]) != "children: + "+m.Tiles[2].ID+", - "+m.Tiles[1].ID {
		t.Errorf("%+v", r.NodeItems)
	}
	if r := compare(t, base, edited, Options{Only: []string{PartTiles, PartSettings}}); r.Differ {
		t.Errorf("levels and nodes were not asked for: %+v", r)
	}
}

// TestManifestOnly goes by the hashes, without the files.
func TestManifestOnly(t *testing.T) {
	w, v := aTown(), aTown()
	lamp := v.things["Lamp"]
	lamp.off = 2
	v.things["Lamp"] = lamp
	a, b := w.cooked(t, filepath.Join(t.TempDir(), "a"), nil), v.cooked(t, filepath.Join(t.TempDir(), "b"), nil)
	for _, x := range []string{a, b} {
		if err := os.RemoveAll(filepath.Join(filepath.Dir(x), "tiles")); err != nil {
			t.Fatal(err)
		}
	}
	r := compare(t, a, b, Options{ManifestOnly: true})
	if r.Tiles.Changed != 1 || r.Items[0].ID != tileAt(t, load(t, a), lamp) || r.Items[0].Payload.Triangles != nil || r.Err() != nil {
		t.Errorf("%+v", r)
	}
	// Without the flag the files are missed, all of them, and still there is a result.
	r = compare(t, a, b, Options{})
	if len(r.Failures) == 0 || !errors.Is(r.Err(), fs.ErrNotExist) || !r.Items[0].Failed || !r.Differ {
		t.Errorf("%+v", r.Failures)
	}
}

// TestDamaged: a payload that does not open keeps no other from being compared.
func TestDamaged(t *testing.T) {
	w := aTown()
	a, b := w.cooked(t, filepath.Join(t.TempDir(), "a"), nil), w.cooked(t, filepath.Join(t.TempDir(), "b"), nil)
	m := load(t, a)
	path := filepath.Join(filepath.Dir(b), m.Tiles[1].Path)
	data := testfile.Read(t, path)
	testfile.Write(t, path, append([]byte("X"), data[1:]...))
	r := compare(t, a, b, Options{})
	if len(r.Failures) != 1 || r.Failures[0].Side != "b" || !strings.Contains(r.Failures[0].Error, path+": untold: file at byte 0x0") {
		t.Errorf("%+v", r.Failures)
	}
	if r.Tiles.Changed != 1 || !r.Items[0].Failed || r.Tiles.Same != len(m.Tiles)-1 || !errors.Is(r.Err(), finding.Code("invalid-magic")) {
		t.Errorf("%+v: %v", r.Tiles, r.Err())
	}
	// The same damage on both sides is no difference.
	testfile.Write(t, filepath.Join(filepath.Dir(a), m.Tiles[1].Path), append([]byte("X"), data[1:]...))
	if r := compare(t, a, b, Options{}); r.Differ || r.Err() != nil {
		t.Errorf("%+v", r)
	}
	// Paths that lead out of the folder are not followed.
	m.Tiles[0].Path = "../b/tiles/x.untold"
	out := filepath.Join(filepath.Dir(a), "out.json")
	text, err := os.ReadFile(a)
	if err != nil {
		t.Fatal(err)
	}
	first := load(t, a).Tiles[0].Path
	testfile.Write(t, out, strings.Replace(string(text), `"`+first+`"`, `"../../b/out/`+first+`"`, 1))
	r = compare(t, a, out, Options{})
	if len(r.Failures) != 1 || !strings.Contains(r.Failures[0].Error, "leaves the manifest's folder") {
		t.Errorf("%+v", r.Failures)
	}
}

// TestWrongInputs: errors about the inputs as a whole.
func TestWrongInputs(t *testing.T) {
	dir := t.TempDir()
	a := save(t, dir, "a.untold", build(t, nil, 0, patch{name: "A", k: 1}))
	bad := save(t, dir, "bad.untold", []byte("UNTOLD"))
	scene := aTown().cooked(t, filepath.Join(dir, "town"), nil)
	for _, c := range []struct {
		a, b string
		o    Options
		want string
	}{
		{a, scene, Options{}, ErrKinds.Error()},
		{a, bad, Options{}, "bad.untold: untold: file at byte 0x6"},
		{a, filepath.Join(dir, "none.untold"), Options{}, "no such file"},
		{scene, filepath.Join(dir, "none.json"), Options{}, "no such file"},
		{scene, save(t, dir, "bad.json", []byte("{")), Options{}, "not valid JSON"},
		{a, a, Options{Tolerance: -1}, "from 0 on"},
		{a, a, Options{Tolerance: math.Inf(1)}, "from 0 on"},
		{a, a, Options{Only: []string{"trees"}}, `no part "trees"`},
	} {
		if _, err := Compare(context.Background(), c.a, c.b, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %s: %v lacks %q", c.a, c.b, err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Compare(ctx, scene, scene, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
