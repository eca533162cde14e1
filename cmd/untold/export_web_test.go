package main

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/cook/publish"
	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/preview/web"
)

// hasPage reports whether this program has the page, and asserts what it says when it
// does not.
func hasPage(t *testing.T, dir string) bool {
	t.Helper()
	if _, err := web.FS(); !errors.Is(err, web.ErrNotBuilt) {
		return true
	}
	for _, args := range [][]string{{"export", dir, "--format", "web", "-o"}, {"publish", dir, "--viewer"}} {
		out := filepath.Join(t.TempDir(), "out")
		r := execute(t, nil, append(args, out)...)
		if _, err := os.Stat(out); r.code != 2 || !strings.Contains(r.err, "make build") || err == nil {
			t.Errorf("%s: exit %d: %s", args[0], r.code, r.err)
		}
	}
	return false
}

// TestExportWeb: a folder for web servers, twice, and with what has been left over; what
// is in the way is left alone.
func TestExportWeb(t *testing.T) {
	_, dir := smallCity(t)
	if !hasPage(t, dir) {
		return
	}
	out := filepath.Join(t.TempDir(), "site")
	export := func(args ...string) (r publish.Report) {
		t.Helper()
		x := execute(t, nil, append([]string{"export", dir, "--format", "web", "-o", out, "--json"}, args...)...)
		if err := json.Unmarshal([]byte(x.stdout), &r); x.code != 0 || err != nil {
			t.Fatalf("exit %d, %v: %s%s", x.code, err, x.stdout, x.err)
		}
		return r
	}
	if r := export(); r.Files < 20 || len(r.Sent) != r.Files || r.Removed != 0 {
		t.Errorf("%+v", r)
	}
	validated(t, filepath.Join(out, "city.json"))
	if r := export(); len(r.Sent) != 0 || r.Removed != 0 {
		t.Errorf("%+v", r)
	}
	small := export()
	// The geometry is delta, or as it was cooked.
	if r := export("--compress=false"); r.Bytes <= small.Bytes || r.Removed == 0 {
		t.Errorf("%d bytes with --compress=false, %d without", r.Bytes, small.Bytes)
	}
	if r := export(); r.Bytes != small.Bytes {
		t.Errorf("%d bytes, then %d", small.Bytes, r.Bytes)
	}
	place := filepath.Join(t.TempDir(), "packed")
	if kept, delta := publishing(t, nil, dir, place), publishing(t, nil, dir, place, "--compress", "delta"); delta.Bytes >= kept.Bytes || delta.Version != 2 {
		t.Errorf("%d bytes published, %d as delta, version %d", kept.Bytes, delta.Bytes, delta.Version)
	}
	validated(t, filepath.Join(place, "city.json"))
	if r := execute(t, nil, "publish", dir, place, "--compress", "zip"); r.code != 2 || !strings.Contains(r.err, "kept leaves it") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	index := string(testfile.Read(t, filepath.Join(out, "index.html")))
	if !strings.Contains(index, `data-scenes="untold-scenes.json"`) || strings.Contains(index, ".viewer/") {
		t.Error(index)
	}
	// A place that was published to is none for an export.
	place = filepath.Join(t.TempDir(), "place")
	publishing(t, nil, dir, place, "--viewer")
	notes := testfile.Write(t, filepath.Join(out, "notes.txt"), "mine")
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"export", dir, "--format", "web", "-o", out}, 2, "notes.txt"},
		{[]string{"export", dir, "--format", "web", "-o", place}, 2, "publish to this one"},
		{[]string{"export", dir, "--format", "web", "-o", filepath.Join(dir, "site")}, 1, "lie in one another"},
		{[]string{"export", dir, "--format", "web", "-o", "site.glb"}, 2, "writes a folder"},
		{[]string{"export", dir, "--format", "web", "-o", out, "--levels", "hlod"}, 2, "leave it out"},
		{[]string{"export", filepath.Join(dir, "none"), "--format", "web", "-o", out + "2"}, 2, "none"},
	} {
		if r := execute(t, nil, c.args...); r.code != c.code || !strings.Contains(r.err, c.want) {
			t.Errorf("%v: exit %d: %s", c.args, r.code, r.err)
		}
	}
	if string(testfile.Read(t, notes)) != "mine" {
		t.Error("a file of somebody else is gone")
	}
}

// TestPublishViewer: a place with the page, whose list of scenes follows publications.
func TestPublishViewer(t *testing.T) {
	_, dir := smallCity(t)
	if !hasPage(t, dir) {
		return
	}
	place := filepath.Join(t.TempDir(), "place")
	if r := publishing(t, nil, dir, place, "--viewer"); !r.Viewer || len(r.Sent) != r.Files {
		t.Errorf("%+v", r)
	}
	if r := publishing(t, nil, dir, place); !r.Viewer || len(r.Sent) != 0 || r.Version != 1 {
		t.Errorf("%+v", r)
	}
	var list []publish.ListedScene
	if err := json.Unmarshal(testfile.Read(t, filepath.Join(place, publish.ScenesName)), &list); err != nil || len(list) != 1 || list[0].Path != "city.json" || list[0].Tiles == 0 {
		t.Errorf("%v, %+v", err, list)
	}
	// A page that was changed is left alone.
	index := filepath.Join(place, "index.html")
	text := strings.Replace(string(testfile.Read(t, index)), "<body>", "<body><p>mine", 1)
	testfile.Write(t, index, text)
	if r := execute(t, nil, "publish", dir, place, "--viewer"); r.code != 2 || !strings.Contains(r.err, "index.html") || string(testfile.Read(t, index)) != text {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	mine := filepath.Join(t.TempDir(), "mine")
	testfile.Write(t, filepath.Join(mine, "index.html"), "<p>mine")
	if r := execute(t, nil, "publish", dir, mine, "--viewer"); r.code != 2 || !strings.Contains(r.err, "index.html") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

// TestPagePolicy: what serve sends is the policy that the page carries.
func TestPagePolicy(t *testing.T) {
	_, dir := smallCity(t)
	if !hasPage(t, dir) {
		return
	}
	s := startServe(t, dir)
	res, err := http.Get(s.url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(body), `http-equiv="Content-Security-Policy" content="`)
	policy, _, _ := strings.Cut(rest, `"`)
	if got := res.Header.Get("Content-Security-Policy"); !ok || got != policy {
		t.Errorf("the page has %q, the server %q", policy, got)
	}
}
