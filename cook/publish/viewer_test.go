package publish

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/cook/internal/publication"
)

// testPage is a page of some version.
func testPage(version string) *Viewer {
	return &Viewer{
		Files: map[string][]byte{"app.js": []byte("let version = " + version), "app.wasm.gz": []byte("program")},
		Front: func(folder, scenes string) (map[string][]byte, error) {
			return map[string][]byte{"index.html": fmt.Appendf(nil, "<p>a page %s %s", folder, scenes), "element.js": fmt.Appendf(nil, "a page %s", folder)}, nil
		},
	}
}

// pageFiles lists the files of pages that a place has.
func pageFiles(t *testing.T, to Place) (out []string) {
	t.Helper()
	for _, key := range tree(t, to) {
		if strings.HasPrefix(key, publication.ViewerFolder) {
			out = append(out, key)
		}
	}
	return out
}

func listed(t *testing.T, to Place) (out []ListedScene) {
	t.Helper()
	if err := json.Unmarshal(get(t, to, ScenesName), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestViewer: the page's files have names by their content and never change; what leads
// to them goes last and is short-lived; a second publish sends nothing, one without the
// page keeps it and its list of scenes, and another version of it sends what differs.
func TestViewer(t *testing.T) {
	to, dir := place(t)
	m := city()
	m.cook(t, dir)
	w := &watched{Place: to, see: func() {}}
	first := must2(t)(Run(t.Context(), dir, w, Options{Viewer: testPage("1")}))
	if n := len(w.list); !first.Viewer || !slices.Equal(w.list[n-4:], []string{"city.json", ScenesName, "element.js", "index.html"}) {
		t.Errorf("%q", w.list)
	}
	files := pageFiles(t, to)
	if len(files) != 2 || w.puts[files[0]].CacheControl != PayloadCache || w.puts["index.html"] != (PutOptions{ContentType: "text/html; charset=utf-8", CacheControl: ManifestCache}) {
		t.Errorf("%q, %+v", files, w.puts["index.html"])
	}
	folder := filepath.ToSlash(filepath.Dir(files[0])) + "/"
	if text := string(get(t, to, "index.html")); text != "<p>a page "+folder+" "+ScenesName {
		t.Error(text)
	}
	want := []ListedScene{{Path: "city.json", Tiles: len(m.tiles)}}
	if got := listed(t, to); len(got) != 1 || got[0].Bytes < 1000 || cmp.Diff(want, []ListedScene{{Path: got[0].Path, Tiles: got[0].Tiles}}) != "" {
		t.Errorf("%+v", got)
	}
	w.list = nil
	for _, o := range []Options{{Viewer: testPage("1")}, {}, {Viewer: testPage("1"), DryRun: true}} {
		if r := must2(t)(Run(t.Context(), dir, w, o)); len(w.list) != 0 || len(r.Sent) != 0 || !r.Viewer || r.Version != 1 {
			t.Errorf("%q, %+v", w.list, r)
		}
	}
	// Another scene beside it, from another folder, without the page.
	other := filepath.Join(t.TempDir(), "other")
	city().cook(t, filepath.Join(other, "town"))
	must2(t)(Run(t.Context(), other, to, Options{}))
	if got := listed(t, to); len(got) != 2 || got[1].Path != "town/city.json" || got[1].Tiles != len(m.tiles) || !slices.Equal(pageFiles(t, to), files) {
		t.Errorf("%+v", got)
	}
	// A new page: the bytes that it shares with the old one are copied.
	r := must2(t)(Run(t.Context(), dir, to, Options{Viewer: testPage("2"), Keep: 1, Now: later()}))
	if len(r.Sent) != 1 || len(r.Copied) != 1 || len(pageFiles(t, to)) != 2 || r.Removed != 2 || pageFiles(t, to)[0] == files[0] || len(listed(t, to)) != 2 {
		t.Errorf("%+v, %q", r, pageFiles(t, to))
	}
	// Going back changes the scenes and not the page.
	now := get(t, to, "index.html")
	m.tiles["b"] = tileModel{20, nil}
	m.cook(t, dir)
	must2(t)(Run(t.Context(), dir, to, Options{}))
	back := must2(t)(Rollback(t.Context(), to, r.Version, Options{}))
	if !back.Viewer || !bytes.Equal(now, get(t, to, "index.html")) {
		t.Errorf("%+v", back)
	}
}

// TestViewerRefuses: what others have put where the page would go stays, and nothing is
// sent.
func TestViewerRefuses(t *testing.T) {
	for name, text := range map[string]string{"index.html": "<p>my own", "element.js": "", ScenesName: "{}"} {
		to, dir := place(t)
		city().cook(t, dir)
		if err := to.Put(t.Context(), name, strings.NewReader(text), int64(len(text)), PutOptions{}); err != nil {
			t.Fatal(err)
		}
		for _, dry := range []bool{true, false} {
			if _, err := Run(t.Context(), dir, to, Options{Viewer: testPage("1"), DryRun: dry}); !errors.Is(err, ErrOccupied) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if got := tree(t, to); len(got) != 1 || string(get(t, to, name)) != text {
			t.Errorf("%s: %q", name, got)
		}
		must2(t)(Run(t.Context(), dir, to, Options{})) // without the page all is well
	}
	to, dir := place(t)
	city().cook(t, dir)
	if err := os.Rename(filepath.Join(dir, "city.json"), filepath.Join(dir, ScenesName)); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), dir, to, Options{Viewer: testPage("1")}); !errors.Is(err, ErrScene) {
		t.Error(err)
	}
}

// TestViewerLeavesChanges: what leads to the page is replaced as long as it is what some
// version has put there, also one whose record does not say so; once somebody has changed
// it nothing is sent, and a publish without the page leaves it.
func TestViewerLeavesChanges(t *testing.T) {
	to, dir := place(t)
	city().cook(t, dir)
	run := func(o Options) *Report { return must2(t)(Run(t.Context(), dir, to, o)) }
	run(Options{Viewer: testPage("1")})
	run(Options{})
	run(Options{Viewer: testPage("2")})
	must2(t)(Rollback(t.Context(), to, 1, Options{}))
	run(Options{Viewer: testPage("1")})
	for _, name := range []string{"index.html", "element.js"} {
		was := get(t, to, name)
		mine := append([]byte("<!-- mine -->"), was...)
		write := func(text []byte) {
			t.Helper()
			if err := to.Put(t.Context(), name, bytes.NewReader(text), int64(len(text)), PutOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		write(mine)
		for _, page := range []*Viewer{testPage("1"), testPage("3")} {
			before := tree(t, to)
			if _, err := Run(t.Context(), dir, to, Options{Viewer: page}); !errors.Is(err, ErrOccupied) || !strings.Contains(err.Error(), name) || !slices.Equal(before, tree(t, to)) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if run(Options{}); !bytes.Equal(get(t, to, name), mine) {
			t.Errorf("%s was replaced by a publish without the page", name)
		}
		write(was)
	}
	// Records that do not say what was put.
	p, err := Versions(t.Context(), to)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range p {
		v, err := publication.Parse(get(t, to, publication.Key(n)), n)
		if err != nil {
			t.Fatal(err)
		}
		v.Front = nil
		text, err := v.Encode()
		if err == nil {
			err = to.Put(t.Context(), publication.Key(n), bytes.NewReader(text), int64(len(text)), PutOptions{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if r := run(Options{Viewer: testPage("3")}); r.Version != p[len(p)-1]+1 || !bytes.Contains(get(t, to, "index.html"), []byte(viewerFolderOf(t, to, r.Version))) {
		t.Errorf("%+v", r)
	}
}

// viewerFolderOf returns the folder of a version's page.
func viewerFolderOf(t *testing.T, to Place, number int) string {
	t.Helper()
	v, err := publication.Parse(get(t, to, publication.Key(number)), number)
	if err != nil {
		t.Fatal(err)
	}
	return viewerFolder(v)
}

// TestViewerResumes: wherever a publish with a page is stopped, what leads to it names
// files that are there, and the next one ends it.
func TestViewerResumes(t *testing.T) {
	for after := range 60 {
		to, dir := place(t)
		city().cook(t, dir)
		must2(t)(Run(t.Context(), dir, to, Options{Viewer: testPage("1")}))
		o := Options{Jobs: 1, Viewer: testPage("2"), Keep: 1, Now: later(), Grace: time.Hour}
		_, err := Run(t.Context(), dir, &faulty{Place: to, after: after}, o)
		if err != nil && !errors.Is(err, errFault) {
			t.Fatal(err)
		}
		folder := strings.Fields(string(get(t, to, "index.html")))[2]
		if !slices.Contains(pageFiles(t, to), folder+"app.js") {
			t.Errorf("after %d operations the page is in %s, there is %q", after, folder, pageFiles(t, to))
		}
		must2(t)(Run(t.Context(), dir, to, o))
		if text := string(get(t, to, "index.html")); len(pageFiles(t, to)) != 2 || !strings.Contains(text, filepath.ToSlash(filepath.Dir(pageFiles(t, to)[0]))) {
			t.Errorf("after %d operations: %q, %s", after, pageFiles(t, to), text)
		}
		if err == nil {
			return
		}
	}
	t.Fatal("60 operations are not enough")
}
