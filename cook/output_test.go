package cook

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/manifest"
)

// touch writes files that hold their own names.
func touch(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, n := range names {
		testfile.Write(t, filepath.Join(dir, filepath.FromSlash(n)), n)
	}
}

func fileNames(m map[string]string) (out []string) {
	for n := range m {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

func say(s string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
}

func TestOutputCommit(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	o, err := newOutput(dir, outputOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := o.write("tiles/x.untold", say("hello"))
	if err != nil || w.size != 5 || w.sha256 != "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824" {
		t.Errorf("%+v, %v", w, err)
	}
	if _, err := o.write("scene.json", say("{}")); err != nil {
		t.Fatal(err)
	}
	if len(must(os.ReadDir(dir))) != 1 {
		t.Error("files appear before the commit")
	}
	if err := o.publish("scene.json", nil); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"scene.json": "{}", "tiles/x.untold": "hello"}
	if diff := cmp.Diff(want, testfile.ReadTree(t, dir)); diff != "" {
		t.Error(diff)
	}
	if len(must(os.ReadDir(dir))) != 2 {
		t.Error("the stage was left behind")
	}
}

// TestOutputCommitBlocked: something in the way is found before the first file
// moves, and the folders of the attempt vanish.
func TestOutputCommitBlocked(t *testing.T) {
	for name, block := range map[string]string{"a folder as file": "tiles/b.untold/x", "a file as folder": "textures"} {
		dir := t.TempDir()
		touch(t, dir, block, "tiles/a.untold")
		before := testfile.ReadTree(t, dir)
		o, err := newOutput(dir, outputOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range []string{"tiles/a.untold", "tiles/b.untold", "new/deep/c", "textures/t.png", "scene.json"} {
			if _, err := o.write(f, say("new")); err != nil {
				t.Fatal(err)
			}
		}
		if err := o.publish("scene.json", nil); err == nil {
			t.Errorf("%s: no error", name)
		}
		o.discard()
		if diff := cmp.Diff(before, testfile.ReadTree(t, dir)); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
		if _, err := os.Stat(filepath.Join(dir, "new")); err == nil {
			t.Errorf("%s: folders were left behind", name)
		}
	}
}

// TestOutputDiscardKeepsOthers: a folder that somebody else has started to use
// stays.
func TestOutputDiscardKeepsOthers(t *testing.T) {
	base := t.TempDir()
	o, err := newOutput(filepath.Join(base, "a", "b", "c"), outputOptions{})
	if err != nil {
		t.Fatal(err)
	}
	touch(t, base, "a/theirs")
	o.discard()
	if diff := cmp.Diff(map[string]string{"a/theirs": "a/theirs"}, testfile.ReadTree(t, base)); diff != "" {
		t.Error(diff)
	}
	if _, err := os.Stat(filepath.Join(base, "a", "b")); err == nil {
		t.Error("empty folders were left behind")
	}
}

// TestOutputRemoveStale: of an older scene go the containers that its manifest
// names, in its payload folder, and nothing else.
func TestOutputRemoveStale(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "out")
	touch(t, dir,
		"tiles/a.untold", "tiles/b.untold", "tiles/deep/c.untold", "tiles/notes.txt", "tiles/Kept.untold",
		"other/d.untold", "e.untold", "tilesX/f.untold")
	touch(t, base, "g.untold")
	m := &manifest.Manifest{Version: 3, PartitioningMode: manifest.ModeUniformGrid, PayloadDir: "tiles"}
	for _, p := range []string{
		"tiles/a.untold", "tiles/b.untold", "tiles/deep/c.untold", "tiles/notes.txt", "tiles/kept.untold",
		"tiles/../e.untold", "tiles/../../g.untold", "../g.untold", "tiles/../other/d.untold", "other/d.untold", "e.untold",
		"tilesX/f.untold", "/e.untold", "tiles//Kept.untold", "tiles/missing.untold", "tiles/",
	} {
		m.Tiles = append(m.Tiles, manifest.Tile{ID: p, Path: p})
	}
	o := must(newOutput(dir, outputOptions{}))
	defer o.discard()
	old := &oldScene{o: o, m: m, neighbours: &neighbours{}}
	for _, p := range m.Payloads() {
		if old.owns(p) {
			old.payloads = append(old.payloads, p)
		}
	}
	old.payloads = slices.DeleteFunc(old.payloads, func(p string) bool { return !strings.HasSuffix(p, ".untold") })
	for _, f := range []string{"tiles/b.untold", "tiles/Kept.untold", "scene.json"} {
		must(o.write(f, say("new")))
	}
	removes := must(old.stale(context.Background(), []string{"tiles/b.untold", "tiles/Kept.untold", "scene.json"}, 1))
	if err := o.publish("scene.json", removes); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"e.untold", "other/d.untold", "scene.json", "tiles/Kept.untold", "tiles/b.untold", "tiles/notes.txt", "tilesX/f.untold",
	}
	if diff := cmp.Diff(want, fileNames(testfile.ReadTree(t, dir))); diff != "" {
		t.Error(diff)
	}
	if _, err := os.Stat(filepath.Join(base, "g.untold")); err != nil {
		t.Error("a file outside the folder was deleted")
	}
}

func TestNameTable(t *testing.T) {
	names := nameTable{}
	var got []string
	for _, n := range []string{"Lamp", "Lamp", "Lamp.001", "Lamp", "Lamp.001", "lamp", "Lamp.002"} {
		got = append(got, names.unique(n))
	}
	want := []string{"Lamp", "Lamp.001", "Lamp.001.001", "Lamp.002", "Lamp.001.002", "lamp", "Lamp.002.001"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	seen := map[string]bool{}
	for _, n := range got {
		if seen[n] {
			t.Errorf("%s twice", n)
		}
		seen[n] = true
	}
}

func TestTilePolicy(t *testing.T) {
	for extras, want := range map[string]string{
		"": "", "{}": "", `{"untold_tile_policy":"force_local"}`: "force_local", `{"untold_tile_policy":5}`: "",
		"[]": "", "broken": "", `"text"`: "", "null": "",
		`{"userProperties:untold_tile_policy":"force_shared","other":[1]}`: "force_shared",
	} {
		if got := tilePolicy([]byte(extras)); got != want {
			t.Errorf("%s: %q", extras, got)
		}
	}
}

// TestKeepsIdentity: Blender writes true as 1.
func TestKeepsIdentity(t *testing.T) {
	for extras, want := range map[string]bool{
		"": false, "{}": false, `{"untold_no_merge":true}`: true, `{"untold_no_merge":false}`: false, `{"untold_no_merge":1}`: true,
		`{"untold_no_merge":0}`: false, `{"untold_no_merge":"yes"}`: false, `{"untold_no_merge":null}`: false, "[]": false, "broken": false,
		`{"untold_no_merge":1.0,"other":{}}`: true,
	} {
		if got := keepsIdentity("Lever", []byte(extras)); got != want {
			t.Errorf("%s: %v", extras, got)
		}
	}
	if !keepsIdentity("NM_Lever", nil) || keepsIdentity("Lever_NM_", nil) {
		t.Error("names decide by how they begin")
	}
}

// TestNotesAreOrdered: neither the order of the calls nor of the kinds shows.
func TestNotesAreOrdered(t *testing.T) {
	var want []Note
	for _, reverse := range []bool{false, true} {
		ns := &notes{}
		var calls []func()
		for i := range 20 {
			calls = append(calls,
				func() { ns.add("uv-clamped", i, i, fmt.Sprint("place ", i)) },
				func() { ns.add("empty-object", 1, 20-i, fmt.Sprint("object ", i)) })
		}
		if reverse {
			slices.Reverse(calls)
		}
		for _, c := range calls {
			c()
		}
		got := ns.list()
		if want == nil {
			want = got
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	if len(want) != 2 || want[0].Code != "uv-clamped" || want[0].Count != 190 || want[0].Where != "place 1" || want[1].Where != "object 19" {
		t.Errorf("%+v", want)
	}
}

// TestNotesAreKnown: a code that cookNotes lacks would vanish silently.
func TestNotesAreKnown(t *testing.T) {
	known := map[string]bool{}
	for _, n := range cookNotes {
		if known[n.Code] || n.Message == "" {
			t.Errorf("%+v", n)
		}
		known[n.Code] = true
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		parts := strings.Split(string(must(os.ReadFile(f))), `.add("`)
		for _, p := range parts[1:] {
			if code, _, _ := strings.Cut(p, `"`); !known[code] {
				t.Errorf("%s: the kind %q is not in cookNotes", f, code)
			}
		}
	}
}

// TestWorldBox: vertices that no triangle uses do not count.
func TestWorldBox(t *testing.T) {
	d := &model{}
	all := d.square(0)
	part := d.square(5)
	part["indices"] = d.indices(0, 1, 2)
	attributes(part)["POSITION"] = d.floats(3, 5, 0, 0, 6, 0, 0, 6, 1, 0, 99, 99, 99)
	d.node("A", all, part)["translation"] = []float64{0, 0, 1}
	c := d.convert(t)
	if b := c.Bounds; b.Min != [3]float32{0, 0, 1} || b.Max != [3]float32{6, 1, 1} {
		t.Errorf("%v", b)
	}
	ns := &notes{}
	opts := ClassicOptions()
	s, _, objects, err := load(context.Background(), d.save(t), &opts, ns)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if b := objects[0].box; b.Min != (geom.Vec3{0, 0, 1}) || b.Max != (geom.Vec3{6, 1, 1}) || objects[0].triangles != 3 {
		t.Errorf("%+v", objects[0])
	}
}

// A file where the folder or one above it should be is named.
func TestOutputIsAFile(t *testing.T) {
	file := testfile.Write(t, filepath.Join(t.TempDir(), "taken"), "")
	for _, dir := range []string{file, filepath.Join(file, "city")} {
		o := &output{}
		if err := o.makeFolder(dir); err == nil || !strings.Contains(err.Error(), file+" is no folder") {
			t.Errorf("%s: %v", dir, err)
		}
	}
}
