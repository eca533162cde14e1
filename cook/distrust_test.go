package cook

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/cook/store"
	"github.com/untoldkit/untold/internal/race"
	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/manifest"
)

// cookedYard is a yard that was cooked once, an hour after its file was written.
func cookedYard(t *testing.T, o Options) (scene, out string) {
	t.Helper()
	dir := t.TempDir()
	scene, out = filepath.Join(dir, "yard.gltf"), filepath.Join(dir, "out")
	newYard().write(t, scene)
	age(t, scene)
	if _, err := Run(t.Context(), scene, out, o); err != nil {
		t.Fatal(err)
	}
	return scene, out
}

// TestStateWithoutResult: a state that has the right hash and says nothing of the result
// is no reason to say that nothing has changed.
func TestStateWithoutResult(t *testing.T) {
	scene, out := cookedYard(t, yardOptions())
	at := filepath.Join(out, filepath.FromSlash(stateFile("yard.json")))
	for _, said := range []string{`{}`, `null`, `[]`, `{"plan":{"tiles":-1}}`, `{"plan":{},"needs":{},"tiles":-4}`} {
		s := loadStateAt(t, out, "yard.json")
		s.Result = json.RawMessage(said)
		text, err := s.encode()
		must0(t, err)
		testfile.Write(t, at, string(text))
		res, err := Run(t.Context(), scene, out, yardOptions())
		if err != nil || res.Unchanged || res.Plan == nil || res.Needs == nil || res.Reused != res.Tiles {
			t.Errorf("%s: %v, %+v", said, err, res)
		}
	}
}

// TestKeptIsCleared: of the results that are kept those go that no later cook can take,
// and nothing is removed through a link.
func TestKeptIsCleared(t *testing.T) {
	o := nodeOptions()
	scene, out := cookedYard(t, o)
	kept := filepath.Join(out, filepath.FromSlash(keptFolder("yard.json")))
	names := func() (list []string) {
		entries, err := os.ReadDir(kept)
		must0(t, err)
		for _, e := range entries {
			list = append(list, e.Name())
		}
		return list
	}
	want := names()
	if len(want) == 0 {
		t.Fatal("nothing is kept")
	}
	testfile.Write(t, filepath.Join(kept, strings.Repeat("a", 64)), "old")
	testfile.Write(t, filepath.Join(kept, "folder", "old"), "old")
	o.Full = true
	if _, err := Run(t.Context(), scene, out, o); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, names()); d != "" {
		t.Error(d)
	}
	files := testfile.ReadTree(t, filepath.Join(out, "tiles"))
	o.Pyramid, o.AutoPyramid = false, false
	must0(t, os.RemoveAll(kept))
	must0(t, os.Symlink(filepath.Join("..", "tiles"), kept))
	other := filepath.Join(out, "tiles", "folder", "mine.txt")
	testfile.Write(t, other, "mine")
	if _, err := Run(t.Context(), scene, out, o); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
	for name := range testfile.ReadTree(t, filepath.Join(out, "tiles")) {
		delete(files, name)
	}
	for name := range files {
		if !strings.Contains(name, "hlod_") { // of the pyramid
			t.Errorf("%s is gone", name)
		}
	}
}

// TestFullTrustsNoStamp: a cook from nothing replaces files that were damaged without a
// trace.
func TestFullTrustsNoStamp(t *testing.T) {
	o := yardOptions()
	scene, out := cookedYard(t, o)
	tile := filepath.Join(out, "tiles", "tile_0_0_0.untold")
	want := string(testfile.Read(t, tile))
	damage(t, tile)
	o.Full = true
	if _, err := Run(t.Context(), scene, out, o); err != nil || string(testfile.Read(t, tile)) != want {
		t.Errorf("%v, or the tile is still damaged", err)
	}
}

// damage changes a byte of a file, and nothing that is seen without reading it.
func damage(t *testing.T, name string) {
	t.Helper()
	st, err := os.Stat(name)
	must0(t, err)
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	must0(t, err)
	b := make([]byte, 1)
	_, err = f.ReadAt(b, st.Size()-1)
	must0(t, err)
	b[0] ^= 1
	_, err = f.WriteAt(b, st.Size()-1)
	must0(t, err)
	must0(t, f.Close())
	must0(t, os.Chtimes(name, st.ModTime(), st.ModTime()))
}

// TestSourceIsReplaced: a file of the scene that another one with an old time replaces
// while the cook is at work is not taken for the one that was read.
func TestSourceIsReplaced(t *testing.T) {
	dir := t.TempDir()
	scene, out := filepath.Join(dir, "yard.gltf"), filepath.Join(dir, "out")
	y, o := newYard(), yardOptions()
	next := filepath.Join(dir, "next.gltf")
	y.write(t, scene)
	y.things[0].x += 3
	y.write(t, next)
	age(t, scene, next)
	swapped := o
	swapped.Progress = func(stage string, done, _ int) {
		if stage == "cook" && done == 1 {
			must0(t, os.Rename(next, scene))
		}
	}
	if _, err := Run(t.Context(), scene, out, swapped); err != nil {
		t.Fatal(err)
	}
	res, err := Run(t.Context(), scene, out, o)
	if err != nil || res.Unchanged {
		t.Errorf("%v; the new scene counts as cooked", err)
	}
}

// TestStoreHeals: what is damaged in a store, or has gone, is put again by who makes it.
func TestStoreHeals(t *testing.T) {
	p, dir := place(t)
	o := nodeOptions()
	o.Store, o.Textures = store.New(p, nil), TexturesBC
	scene, _ := cookedYard(t, o)
	each := func(folder string, do func(name string)) {
		for name := range testfile.ReadTree(t, dir) {
			if strings.Contains(name, folder) {
				do(filepath.Join(dir, name))
			}
		}
	}
	for what, spoil := range map[string]func(){
		"files are gone":      func() { each("/files/", func(name string) { must0(t, os.Remove(name)) }) },
		"files are cut":       func() { each("/files/", func(name string) { testfile.Write(t, name, "x") }) },
		"files are damaged":   func() { each("/files/", func(name string) { damage(t, name) }) },
		"records are damaged": func() { each("/results/", func(name string) { damage(t, name) }) },
	} {
		if race.Enabled && what != "files are damaged" {
			continue // make test runs all without the detector
		}
		spoil()
		if res, err := Run(t.Context(), scene, t.TempDir(), o); err != nil || res.Reused > 0 || noteCount(res.Notes, "store-failed") > 0 {
			t.Errorf("%s: %v, %+v", what, err, res)
		}
		strict := o
		strict.RequireStore = true
		if res, err := Run(t.Context(), scene, t.TempDir(), strict); err != nil || res.Reused != res.Tiles {
			t.Errorf("%s: it is not put again: %v", what, err)
		}
		if faults, err := o.Store.Verify(t.Context(), false); err != nil || len(faults) > 0 {
			t.Errorf("%s: %v, %v", what, err, faults)
		}
	}
}

// TestEndlessErrors: levels may have errors without end.
func TestEndlessErrors(t *testing.T) {
	o := yardOptions()
	for _, most := range []float64{math.Inf(1), math.Inf(-1)} {
		o.LODMaxErrorPixels = most
		scene, out := cookedYard(t, o)
		if res, err := Run(t.Context(), scene, out, o); err != nil || !res.Unchanged {
			t.Errorf("%v: %v, %+v", most, err, res)
		}
	}
}

// TestForeignRecords: a record names no file but those of its tile or node.
func TestForeignRecords(t *testing.T) {
	p := &payload{name: "tiles/a.untold", levels: []level{{hlod: true, file: "tiles/a_hlod.untold"}}}
	cell := &nodeCell{id: "hlod_1_0_0"}
	for name, want := range map[string]bool{
		"tiles/Textures/a.png": true, "tiles/Textures/a.utex": true, "other/Textures/a.png": false, "index.html": false, "tiles/a.png": false,
		"tiles/Textures/a.html": false, "tiles/Textures/../../a.png": false, "/tiles/Textures/a.png": false, "": false,
	} {
		r := &record{Full: fileRecord{Name: p.name}, Levels: []levelRecord{{Made: true, File: fileRecord{Name: p.levels[0].file}, Atlas: &fileRecord{Name: name}}}}
		if got := r.fits(p); got != want {
			t.Errorf("atlas %q: %t", name, got)
		}
		n := &nodeRecord{Node: manifest.PyramidNode{ID: cell.id, Path: "tiles/hlod_1_0_0.untold"}, Files: []fileRecord{{Name: name}, {Name: "tiles/hlod_1_0_0.untold"}}}
		c := &cellRecord{Node: n, Stands: &standing{ID: cell.id}}
		if got := c.fits(cell, "tiles", false); got != want {
			t.Errorf("node texture %q: %t", name, got)
		}
		if c.fits(cell, "other", false) {
			t.Error("a container of another folder")
		}
	}
}

// TestStageWithLinks: files that a stage of a stopped cook has behind links are not taken.
func TestStageWithLinks(t *testing.T) {
	o := yardOptions()
	scene, out := cookedYard(t, o)
	s := loadStateAt(t, out, "yard.json")
	must0(t, os.Rename(filepath.Join(out, "tiles"), filepath.Join(out, "mine")))
	stage := filepath.Join(out, ".untold", "cook-123")
	must0(t, os.Mkdir(stage, 0o755))
	must0(t, os.Symlink(filepath.Join("..", "..", "mine"), filepath.Join(stage, "tiles")))
	var log []string
	for _, p := range s.Payloads {
		line, err := json.Marshal(loggedResult{Key: p.Key, Record: &p.Record})
		must0(t, err)
		log = append(log, string(line))
	}
	testfile.Write(t, filepath.Join(stage, logName), strings.Join(log, "\n")+"\n")
	want := testfile.ReadTree(t, filepath.Join(out, "mine"))
	if _, err := Run(t.Context(), scene, out, o); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, testfile.ReadTree(t, filepath.Join(out, "mine"))); d != "" {
		t.Errorf("files were moved: %.300s", d)
	}
}

// TestAtlasOfTwins: the same picture under two numbers is one texture, and how the one is
// used counts for the atlases that are drawn from the other.
func TestAtlasOfTwins(t *testing.T) {
	dir := t.TempDir()
	scene, out := filepath.Join(dir, "twins.gltf"), filepath.Join(dir, "out")
	picture := pixels(64, 64, 7)
	write := func(colored bool) {
		d := &model{}
		for _, name := range []string{"metal", "color"} {
			img := d.texture(embedded(name, picture))
			pbr := obj{"metallicRoughnessTexture": obj{"index": img}}
			if name == "color" && colored {
				pbr = obj{"baseColorTexture": obj{"index": img}}
			}
			plate := d.plate(8, 12)
			plate["material"] = add(&d.materials, obj{"name": name, "pbrMetallicRoughness": pbr})
			d.node(name, plate)
			d.nodes[len(d.nodes)-1]["translation"] = []float64{map[string]float64{"metal": 1, "color": 41}[name], 0, 1}
		}
		testfile.Write(t, scene, string(testfile.Read(t, d.save(t))))
	}
	o := yardOptions()
	o.TileSize[0], o.TileSize[2], o.HLODAtlas, o.HLODMaxTexture = 10, 10, true, 1
	o.FitDistances, o.AutoPyramid = false, false
	write(false)
	if _, err := Run(t.Context(), scene, out, o); err != nil {
		t.Fatal(err)
	}
	write(true)
	res, err := Run(t.Context(), scene, out, o)
	must0(t, err)
	fresh := t.TempDir()
	o.Full = true
	if _, err := Run(t.Context(), scene, fresh, o); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(testfile.ReadTree(t, fresh), testfile.ReadTree(t, out)); d != "" {
		t.Errorf("%d taken again: %.500s", res.Reused, d)
	}
}

// TestKeptIsGone: what is missing in the own folder is no failure of the store.
func TestKeptIsGone(t *testing.T) {
	o := nodeOptions()
	scene, out := cookedYard(t, o)
	must0(t, os.RemoveAll(filepath.Join(out, filepath.FromSlash(keptFolder("yard.json")))))
	p, _ := place(t)
	o.Store, o.Explain = store.New(p, nil), []string{"ground"} // so that it looks at all tiles
	res, err := Run(t.Context(), scene, out, o)
	if err != nil || noteCount(res.Notes, "store-failed") > 0 {
		t.Errorf("%v, %+v", err, res)
	}
	if faults, err := o.Store.Verify(t.Context(), false); err != nil || len(faults) > 0 {
		t.Error(err, faults)
	}
}

// TestStateCannotBeSaved: a cook that cannot keep its state leaves no part of it.
func TestStateCannotBeSaved(t *testing.T) {
	dir := t.TempDir()
	scene, out := filepath.Join(dir, "yard.gltf"), filepath.Join(dir, "out")
	newYard().write(t, scene)
	testfile.Write(t, filepath.Join(out, filepath.FromSlash(stateFile("yard.json")), "mine"), "mine")
	if _, err := Run(t.Context(), scene, out, yardOptions()); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(filepath.Join(out, ".untold"))
	if err != nil || len(left) != 1 || !left[0].IsDir() {
		t.Errorf("%v, %v", left, err)
	}
}
