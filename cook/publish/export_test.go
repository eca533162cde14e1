package publish

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/untoldkit/untold/cook/internal/publication"
	"github.com/untoldkit/untold/internal/blob"
	"github.com/untoldkit/untold/internal/testfile"
)

// TestExport: a folder for web servers has what its scenes and its page need and nothing
// else; a second export writes nothing, another one removes what is left over, and
// folders with other files are left alone.
func TestExport(t *testing.T) {
	base := t.TempDir()
	dir, out := filepath.Join(base, "cooked"), filepath.Join(base, "site")
	m := city()
	m.cook(t, dir)
	o := Options{Viewer: testPage("1")}
	first := must2(t)(Export(t.Context(), dir, out, o))
	to, err := blob.OpenFolder(out)
	if err != nil {
		t.Fatal(err)
	}
	newReader(t, to, m, "city.json").load(t, to)
	before := tree(t, to)
	// The manifest, the list and what leads to the page are no payloads.
	if len(before) != first.Files+4 || first.Removed != 0 {
		t.Errorf("%d files of %d: %q", len(before), first.Files, before)
	}
	if r := must2(t)(Export(t.Context(), dir, out, o)); len(r.Sent) != 0 || r.Removed != 0 || !slices.Equal(tree(t, to), before) {
		t.Errorf("%+v", r)
	}
	// One tile less, another page, another name.
	delete(m.tiles, "d")
	m.cook(t, dir)
	if err := os.Rename(filepath.Join(dir, "city.json"), filepath.Join(dir, "town.json")); err != nil {
		t.Fatal(err)
	}
	r := must2(t)(Export(t.Context(), dir, out, Options{Viewer: testPage("2")}))
	if got := tree(t, to); len(got) != r.Files+4 || slices.Contains(got, "city.json") || r.Removed != 5 {
		t.Errorf("%+v, %q", r, got)
	}
	if got := listed(t, to); len(got) != 1 || got[0].Path != "town.json" {
		t.Errorf("%+v", got)
	}
	newReader(t, to, m, "town.json").load(t, to)
	for _, name := range []string{"notes.txt", "sub/index.html", "payloads/notes.txt", "other.json"} {
		p := filepath.Join(out, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte("a page of mine"), 0o666); err != nil {
			t.Fatal(err)
		}
		had := tree(t, to)
		if _, err := Export(t.Context(), dir, out, o); !errors.Is(err, ErrOccupied) || !strings.Contains(err.Error(), name) || !slices.Equal(had, tree(t, to)) {
			t.Errorf("%s: %v", name, err)
		}
		if err := os.Remove(p); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Export(t.Context(), dir, filepath.Join(dir, "site"), o); !errors.Is(err, ErrScene) {
		t.Errorf("into itself: %v", err)
	}
	if _, err := Export(t.Context(), filepath.Join(base, "none"), filepath.Join(base, "fresh"), o); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(base, "fresh")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a failed export leaves a folder")
	}
}

// TestExportLeavesLinks: what a link in the folder leads to is not written through.
func TestExportLeavesLinks(t *testing.T) {
	base := t.TempDir()
	dir, out, elsewhere := filepath.Join(base, "cooked"), filepath.Join(base, "site"), filepath.Join(base, "else")
	city().cook(t, dir)
	for _, d := range []string{out, elsewhere} {
		if err := os.Mkdir(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(elsewhere, filepath.Join(out, "payloads")); err != nil {
		t.Skip(err)
	}
	if _, err := Export(t.Context(), dir, out, Options{Viewer: testPage("1")}); !errors.Is(err, ErrOccupied) {
		t.Error(err)
	}
	if list, err := os.ReadDir(elsewhere); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
}

// everything lists what a place has, records among it.
func everything(t *testing.T, p Place) (out []string) {
	t.Helper()
	for o, err := range p.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, o.Key)
	}
	return out
}

// TestExportLeavesPublications: a place that was published to keeps its versions and its
// scenes; so does an export that was published to since.
func TestExportLeavesPublications(t *testing.T) {
	for _, start := range []string{"publish", "export", "damage"} {
		to, dir := place(t)
		o := Options{Viewer: testPage("1")}
		m := city()
		m.cook(t, dir)
		var err error
		if start == "publish" {
			_, err = Run(t.Context(), dir, to, o)
		} else {
			_, err = export(t.Context(), dir, to, to.String(), o)
		}
		if err != nil {
			t.Fatal(err)
		}
		if start == "damage" {
			testfile.Write(t, filepath.Join(to.String(), filepath.FromSlash(publication.Key(1))), "{}")
		} else {
			other := filepath.Join(t.TempDir(), "other")
			city().cook(t, filepath.Join(other, "town"))
			if r := must2(t)(Run(t.Context(), other, to, Options{})); r.Version != 2 {
				t.Errorf("%+v", r)
			}
		}
		before := everything(t, to)
		for _, dry := range []bool{true, false} {
			o.DryRun = dry
			if _, err := export(t.Context(), dir, to, to.String(), o); !errors.Is(err, ErrOccupied) || !slices.Equal(before, everything(t, to)) {
				t.Errorf("%s: %v", start, err)
			}
		}
	}
	// The same scene, published to an export, makes it a place.
	to, dir := place(t)
	city().cook(t, dir)
	o := Options{Viewer: testPage("1")}
	must2(t)(export(t.Context(), dir, to, to.String(), o))
	if r := must2(t)(Run(t.Context(), dir, to, o)); r.Version != 2 || len(r.Sent) != 0 {
		t.Errorf("%+v", r)
	}
	if _, err := export(t.Context(), dir, to, to.String(), o); !errors.Is(err, ErrOccupied) || !strings.Contains(err.Error(), "publish to this one") {
		t.Error(err)
	}
}

// TestExportLeavesOthers: files whose names look like those of an export, and files of
// one that somebody has changed, stay, and nothing is written.
func TestExportLeavesOthers(t *testing.T) {
	sum, set := strings.Repeat("0f", 32), strings.Repeat("0f", 16)
	for _, name := range []string{
		"site/x/payloads/" + sum + ".jpg", "payloads/" + sum + ".untold", "payloads/" + set + "/Textures/a.png", publication.ViewerFolder + set + "/page.js",
		publication.Folder + "notes.json", "index.html", "element.js",
	} {
		for _, first := range []bool{true, false} {
			to, dir := place(t)
			m := city()
			m.cook(t, dir)
			o := Options{Viewer: testPage("1")}
			if !first {
				must2(t)(export(t.Context(), dir, to, to.String(), o))
			}
			p := filepath.Join(to.String(), filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(p), 0o777); err != nil {
				t.Fatal(err)
			}
			testfile.Write(t, p, "<p>a page of mine")
			before := everything(t, to)
			delete(m.tiles, "d")
			m.cook(t, dir)
			if _, err := export(t.Context(), dir, to, to.String(), o); !errors.Is(err, ErrOccupied) || !strings.Contains(err.Error(), name) || !slices.Equal(before, everything(t, to)) {
				t.Errorf("%s: %v", name, err)
			}
			if text := string(testfile.Read(t, p)); text != "<p>a page of mine" {
				t.Errorf("%s: %s", name, text)
			}
		}
	}
}

// TestExportResumes: wherever an export over another one is stopped, the next one takes
// its folder for its own, and leaves what an export to an empty folder does.
func TestExportResumes(t *testing.T) {
	m := city()
	less := m.clone()
	delete(less.tiles, "d")
	less.textures["glass"] = 9
	for after := range 80 {
		to, dir := place(t)
		m.cook(t, dir)
		must2(t)(export(t.Context(), dir, to, to.String(), Options{Viewer: testPage("1")}))
		less.cook(t, dir)
		o := Options{Jobs: 1, Viewer: testPage("2")}
		_, err := export(t.Context(), dir, &faulty{Place: to, after: after}, to.String(), o)
		if err != nil && !errors.Is(err, errFault) {
			t.Fatal(err)
		}
		r, e := export(t.Context(), dir, to, to.String(), o)
		if e != nil {
			t.Fatalf("after %d operations: %v", after, e)
		}
		if got := everything(t, to); len(got) != r.Files+4+2 {
			t.Errorf("after %d operations: %d files of %d: %q", after, len(got), r.Files, got)
		}
		newReader(t, to, less, "city.json").load(t, to)
		if err == nil {
			return
		}
	}
	t.Fatal("80 operations are not enough")
}

// TestExportToLink: a link to a folder is that folder; one to nothing is refused.
func TestExportToLink(t *testing.T) {
	base := t.TempDir()
	dir, out, link, nowhere := filepath.Join(base, "cooked"), filepath.Join(base, "site"), filepath.Join(base, "link"), filepath.Join(base, "nowhere")
	city().cook(t, dir)
	if err := os.Mkdir(out, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Symlink(out, link), os.Symlink(filepath.Join(base, "none"), nowhere)); err != nil {
		t.Skip(err)
	}
	o := Options{Viewer: testPage("1")}
	for _, sent := range []bool{true, false} {
		if r := must2(t)(Export(t.Context(), dir, link, o)); len(r.Sent) > 0 != sent {
			t.Errorf("%+v", r)
		}
	}
	if _, err := os.Stat(filepath.Join(out, "index.html")); err != nil {
		t.Error(err)
	}
	testfile.Write(t, filepath.Join(out, "notes.txt"), "mine")
	if _, err := Export(t.Context(), dir, link, o); !errors.Is(err, ErrOccupied) || !strings.Contains(err.Error(), "notes.txt") {
		t.Error(err)
	}
	if _, err := Export(t.Context(), dir, nowhere, o); !errors.Is(err, ErrOccupied) || !strings.Contains(err.Error(), "a link to what is not there") {
		t.Error(err)
	}
}
