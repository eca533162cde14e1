package cook

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/cook/internal/texture"
	"github.com/untoldkit/untold/cook/store"
	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/internal/blob"
	"github.com/untoldkit/untold/internal/journal"
	"github.com/untoldkit/untold/internal/race"
	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/manifest"
)

// misbehaving is a place that fails, hangs or lies.
type misbehaving struct {
	blob.Place
	err   error // of every call
	hangs bool  // until the context ends
	after int64 // calls that go well
	calls atomic.Int64
}

func (p *misbehaving) fail(ctx context.Context) error {
	if p.calls.Add(1) <= p.after {
		return nil
	}
	if p.hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	return p.err
}

func (p *misbehaving) Get(ctx context.Context, key string) (io.ReadCloser, blob.Info, error) {
	if err := p.fail(ctx); err != nil {
		return nil, blob.Info{}, err
	}
	return p.Place.Get(ctx, key)
}

func (p *misbehaving) Put(ctx context.Context, key string, r io.ReaderAt, n int64, o blob.PutOptions) error {
	if err := p.fail(ctx); err != nil {
		return err
	}
	return p.Place.Put(ctx, key, r, n, o)
}

func (p *misbehaving) Stat(ctx context.Context, key string) (blob.Info, error) {
	if err := p.fail(ctx); err != nil {
		return blob.Info{}, err
	}
	return p.Place.Stat(ctx, key)
}

func place(t *testing.T) (blob.Place, string) {
	t.Helper()
	dir := t.TempDir()
	p, err := blob.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	return p, dir
}

// TestStoreIsShared: a cook in another folder takes what the first has put into the
// store, unless it is damaged, and the bytes are the same in any case.
func TestStoreIsShared(t *testing.T) {
	scene := filepath.Join(t.TempDir(), "yard.gltf")
	newYard().write(t, scene)
	for name, o := range map[string]Options{"tiles": yardOptions(), "nodes": nodeOptions()} {
		if race.Enabled && name == "nodes" {
			continue // make test shares them without the detector
		}
		t.Run(name, func(t *testing.T) { checkStoreIsShared(t, scene, o) })
	}
}

func nodeOptions() Options {
	o := yardOptions()
	o.TileSize[0], o.TileSize[2], o.Pyramid, o.nodeTexels = 16, 16, true, 64
	return o
}

func checkStoreIsShared(t *testing.T, scene string, o Options) {
	t.Helper()
	p, dir := place(t)
	cook := func() (*Result, map[string]string) {
		t.Helper()
		out := t.TempDir()
		res, err := Run(t.Context(), scene, out, o)
		if err != nil {
			t.Fatal(err)
		}
		return res, testfile.ReadTree(t, out)
	}
	first, want := cook()
	same := func(what string, res *Result, got map[string]string, reused int) {
		t.Helper()
		if d := cmp.Diff(want, got); d != "" || res.Reused != reused || noteCount(res.Notes, "store-failed") > 0 {
			t.Errorf("%s: %d taken again, not %d; %.500s", what, res.Reused, reused, d)
		}
	}
	o.Store = store.New(p, nil)
	res, got := cook()
	same("an empty store", res, got, 0)
	res, got = cook()
	same("a full store", res, got, first.Tiles)
	if n := len(testfile.ReadTree(t, dir)); n == 0 {
		t.Error("the store is empty")
	}
	// Every file is damaged: each result is made again, and nothing else happens.
	damage := func(folder string, spoil func(text string) string) {
		t.Helper()
		for name, text := range testfile.ReadTree(t, dir) {
			if strings.Contains(name, folder) {
				testfile.Write(t, filepath.Join(dir, name), spoil(text))
			}
		}
	}
	damage("/files/", func(s string) string { return s[:len(s)-1] + "!" })
	res, got = cook()
	same("damaged files", res, got, 0)
	damage("/results/", func(s string) string { return strings.ReplaceAll(s, "1", "2") })
	res, got = cook()
	same("damaged results", res, got, 0)
}

// TestStoreIsLinked: what a store on the same file system has is linked and not copied, and
// a cook over such files, whose state is lost, leaves nothing behind.
func TestStoreIsLinked(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("copies there: see sameOwner")
	}
	scene := filepath.Join(t.TempDir(), "yard.gltf")
	newYard().write(t, scene)
	p, dir := place(t)
	o := yardOptions()
	o.Store = store.New(p, nil)
	fresh, out := t.TempDir(), t.TempDir()
	mustRun(t, scene, fresh, o)
	want := testfile.ReadTree(t, fresh)
	inode := func(path string) fs.FileInfo {
		t.Helper()
		st, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return st
	}
	for _, again := range []bool{false, true} {
		if again {
			must0(t, os.RemoveAll(filepath.Join(out, journal.Folder)))
		}
		res := mustRun(t, scene, out, o)
		tile := &res.Manifest.Tiles[0]
		at, err := p.(blob.Filer).File("v1/files/" + tile.SHA256[:2] + "/" + tile.SHA256)
		if err != nil || !os.SameFile(inode(at), inode(filepath.Join(out, tile.Path))) {
			t.Errorf("%s of %s is a copy, %v", tile.Path, dir, err)
		}
		if d := cmp.Diff(want, testfile.ReadTree(t, out)); d != "" || res.Reused != res.Tiles {
			t.Errorf("%d of %d tiles are taken; %.500s", res.Reused, res.Tiles, d)
		}
		if left, err := filepath.Glob(filepath.Join(out, journal.Folder, "*", "tiles")); err != nil || len(left) > 0 {
			t.Errorf("%v is left, %v", left, err)
		}
	}
}

// TestStoreLinksLikeCopies: what is linked looks as if it had been written: a file of the store
// that others may read or write otherwise is copied, and what takes another file's place is no
// older than that, or who asks for what is newer would not get it.
func TestStoreLinksLikeCopies(t *testing.T) {
	folder := t.TempDir()
	scene := filepath.Join(folder, "yard.gltf")
	y := newYard()
	y.write(t, scene)
	p, dir := place(t)
	o := yardOptions()
	o.Store = store.New(p, nil)
	out := t.TempDir()
	stat := func(path string) fs.FileInfo {
		t.Helper()
		st, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return st
	}
	first := mustRun(t, scene, out, o)
	kept := testfile.ReadTree(t, out)
	y.things[0].mesh = 1 - y.things[0].mesh
	y.write(t, scene)
	second := mustRun(t, scene, out, o)
	i := slices.IndexFunc(first.Manifest.Tiles, func(tile manifest.Tile) bool {
		return slices.ContainsFunc(second.Manifest.Tiles, func(now manifest.Tile) bool { return now.Path == tile.Path && now.SHA256 != tile.SHA256 })
	})
	if i < 0 {
		t.Fatal("no tile has changed")
	}
	tile := &first.Manifest.Tiles[i]
	at := func(dir string) string { return filepath.Join(dir, filepath.FromSlash(tile.Path)) }
	stored := filepath.Join(dir, "v1", "files", tile.SHA256[:2], tile.SHA256)
	changed := stat(at(out)).ModTime()
	old := changed.Add(-time.Hour)
	must0(t, os.Chtimes(stored, old, old))
	y.things[0].mesh = 1 - y.things[0].mesh
	y.write(t, scene)
	res := mustRun(t, scene, out, o)
	if d := cmp.Diff(kept, testfile.ReadTree(t, out)); d != "" || res.Reused != res.Tiles {
		t.Errorf("%d of %d tiles are taken; %.500s", res.Reused, res.Tiles, d)
	}
	if got := stat(at(out)).ModTime(); got.Before(changed) {
		t.Errorf("a file of %v takes the place of one of %v", got, changed)
	}

	want := stat(first.ManifestPath).Mode()
	for _, mode := range []fs.FileMode{0o400, 0o444} {
		must0(t, os.Chmod(stored, mode))
		out := t.TempDir()
		if res := mustRun(t, scene, out, o); res.Reused != res.Tiles {
			t.Errorf("%v: %d of %d tiles are taken", mode, res.Reused, res.Tiles)
		}
		if got := stat(at(out)).Mode(); got != want {
			t.Errorf("%v in the store is %v, and %v is what a cook writes", mode, got, want)
		}
	}
}

// TestStoreFails: a store that fails or hangs, at once or later, costs a note.
func TestStoreFails(t *testing.T) {
	scene := filepath.Join(t.TempDir(), "yard.gltf")
	newYard().write(t, scene)
	o := yardOptions()
	fresh := t.TempDir()
	if _, err := Run(t.Context(), scene, fresh, o); err != nil {
		t.Fatal(err)
	}
	want := testfile.ReadTree(t, fresh)
	down := &blob.Error{Op: "get", Place: "x", Kind: blob.ErrUnreachable}
	for name, p := range map[string]*misbehaving{
		"down": {err: down}, "down later": {err: down, after: 5}, "hangs": {hangs: true}, "hangs later": {hangs: true, after: 12},
		"denied": {err: errors.New("no")},
	} {
		p.Place, _ = place(t)
		o.Store, o.storeTimeout = store.New(p, nil), time.Millisecond
		if p.hangs && p.after > 0 {
			o.storeTimeout = time.Second // for those that go well
		}
		out := t.TempDir()
		res, err := Run(t.Context(), scene, out, o)
		if err != nil {
			t.Fatal(name, err)
		}
		if d := cmp.Diff(want, testfile.ReadTree(t, out)); d != "" || noteCount(res.Notes, "store-failed") != 1 {
			t.Errorf("%s: %d notes, %.300s", name, noteCount(res.Notes, "store-failed"), d)
		}
		if again, err := Run(t.Context(), scene, out, o); err != nil || noteCount(again.Notes, "store-failed") > 0 && again.Unchanged {
			t.Errorf("%s: %v: an old failure is told again", name, err)
		}
	}
}

// TestStages: when the bytes of a small scene change, the number of the stage has to,
// or cooks would take what an older version made. The file has the numbers and hashes.
func TestStages(t *testing.T) {
	if race.Enabled {
		t.Skip("make test compares the bytes without the detector")
	}
	scene := filepath.Join(t.TempDir(), "yard.gltf")
	newYard().write(t, scene)
	tiles, nodes, scenes, images := newDigest(), newDigest(), newDigest(), newDigest()
	plain := yardOptions()
	plain.FitDistances, plain.lookSide = true, 0
	pyramid := plain
	pyramid.Pyramid, pyramid.nodeTexels = true, 64
	for _, o := range []Options{plain, ClassicOptions(), EngineOptions(), pyramid} {
		out := t.TempDir()
		o.TileSize[0], o.TileSize[2] = 16, 16
		if _, err := Run(t.Context(), scene, out, o); err != nil {
			t.Fatal(err)
		}
		scenes.text(string(testfile.Read(t, filepath.Join(out, "yard.json"))))
		s := loadStateAt(t, out, "yard.json")
		for _, name := range slices.Sorted(maps.Keys(s.Payloads)) {
			p := s.Payloads[name].Record
			tiles.text(name)
			for _, f := range p.files() {
				tiles.text(f.SHA256)
			}
		}
		for _, id := range slices.Sorted(maps.Keys(s.Cells)) {
			c := s.Cells[id].Record
			nodes.text(id)
			for _, f := range c.files() {
				nodes.text(f.SHA256)
			}
		}
	}
	for _, mode := range []TextureMode{TexturesResize, TexturesBC, TexturesASTC} {
		o, out := levelOptions(), t.TempDir()
		o.Textures, o.MaxTexture, o.HLODAtlas, o.lookSide = mode, 40, mode == TexturesBC, 0
		scene := texturedHills(t, hillImages()...)
		if _, err := Run(t.Context(), scene, out, o); err != nil {
			t.Fatal(err)
		}
		s := loadStateAt(t, out, strings.TrimSuffix(filepath.Base(scene), ".gltf")+".json")
		for _, key := range slices.Sorted(maps.Keys(s.Images)) {
			for _, f := range s.Images[key].Files {
				images.text(f.Name + " " + f.SHA256)
			}
		}
		if !o.HLODAtlas {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(s.Payloads)) {
			p := s.Payloads[name].Record
			for _, f := range p.files() {
				if path.Base(path.Dir(f.Name)) == texture.Folder { // an atlas
					images.text(f.Name + " " + f.SHA256)
				}
			}
		}
	}
	packed := map[format.CompressMode]*digest{format.ModeZstd: newDigest(), format.ModeDelta: newDigest()}
	for mode, d := range packed {
		o, out := plain, t.TempDir()
		o.Compress = mode
		if _, err := Run(t.Context(), scene, out, o); err != nil {
			t.Fatal(err)
		}
		s := loadStateAt(t, out, "yard.json")
		for _, name := range slices.Sorted(maps.Keys(s.Payloads)) {
			p := s.Payloads[name].Record
			for _, f := range p.files() {
				d.text(f.SHA256)
			}
		}
	}
	const golden = "testdata/stages.txt"
	was := map[string][2]string{} // number and hash by stage
	if data, err := os.ReadFile(golden); err == nil {
		for line := range strings.Lines(string(data)) {
			if f := strings.Fields(line); len(f) == 3 {
				was[f[0]] = [2]string{f[1], f[2]}
			}
		}
	}
	text := ""
	for _, is := range []struct {
		name   string
		number int
		sum    sum
	}{{"tileStage", tileStage, tiles.sum()}, {"nodeStage", nodeStage, nodes.sum()}, {"sceneStage", sceneStage, scenes.sum()}, {"KeyStage", texture.KeyStage, images.sum()}, {"zstdStage", zstdStage, packed[format.ModeZstd].sum()}, {"deltaStage", deltaStage, packed[format.ModeDelta].sum()}} {
		number := strconv.Itoa(is.number)
		text += fmt.Sprintf("%s %s %s\n", is.name, number, is.sum)
		switch old := was[is.name]; {
		case old == [2]string{number, is.sum.String()}:
		case old[0] == number:
			t.Fatalf("the bytes are not those of number %s: raise %s, then -update", number, is.name)
		case !*updateStages:
			t.Errorf("%s: %s is %s there, and %s here: -update", golden, is.name, old[0], number)
		}
	}
	if *updateStages {
		testfile.Write(t, golden, text)
	}
}

var updateStages = flag.Bool("update", false, "rewrite the golden file of stages, after their numbers were raised")

func loadStateAt(t *testing.T, dir, manifest string) *state {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(stateFile(manifest))))
	if err != nil {
		t.Fatal(err)
	}
	s, err := decodeState(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
