package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/runtime/remote"
)

// filledCache returns the folder of a cache with two files.
func filledCache(t *testing.T) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"1"`)
		w.Write([]byte("{ " + r.URL.Path + " }"))
	}))
	defer srv.Close()
	dir := filepath.Join(t.TempDir(), "cache")
	f, err := remote.New(remote.Options{CacheDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.OpenManifest(context.Background(), srv.URL+"/city.json"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Local(context.Background(), srv.URL+"/tiles/a.untold", remote.Expected{}); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestCacheCommand(t *testing.T) {
	dir := filledCache(t)
	run := func(code int, args ...string) string {
		t.Helper()
		r := execute(t, nil, append([]string{"cache", "--cache-dir", dir}, args...)...)
		if r.code != code {
			t.Fatalf("%v: exit %d, %s%s", args, r.code, r.stdout, r.err)
		}
		return r.stdout
	}
	if out := run(0, "ls"); !strings.Contains(out, "/city.json") || !strings.Contains(out, "/tiles/a.untold") || strings.Count(out, "\n") != 3 {
		t.Error(out)
	}
	if out := run(0, "ls", "--limit", "1"); !strings.Contains(out, "1 more rows") {
		t.Error(out)
	}
	var list []remote.Entry
	if err := json.Unmarshal([]byte(run(0, "ls", "--json")), &list); err != nil || len(list) != 2 || list[0].ETag != `"1"` || list[0].SHA256 == "" {
		t.Error(list, err)
	}
	if out := run(0, "stat"); !strings.Contains(out, "2, 33 B") || !strings.Contains(out, dir) {
		t.Error(out)
	}
	var s remote.CacheStat
	if err := json.Unmarshal([]byte(run(0, "stat", "--json")), &s); err != nil || s.Files != 2 || s.Bytes != 33 {
		t.Error(s, err)
	}
	if out := run(0, "verify"); !strings.Contains(out, "2 files, 0 damaged") {
		t.Error(out)
	}
	victim := testfile.Write(t, filepath.Join(dir, list[0].Name), "something else")
	if out := run(1, "verify", "--keep"); !strings.Contains(out, "damaged: "+list[0].Name) || !strings.Contains(out, "2 files, 1 damaged") {
		t.Error(out)
	}
	var v struct {
		Files   int
		Damaged []remote.Damage
		Removed bool
	}
	if err := json.Unmarshal([]byte(run(1, "verify", "--json")), &v); err != nil || v.Files != 2 || len(v.Damaged) != 1 || !v.Removed {
		t.Error(v, err)
	}
	if _, err := os.Stat(victim); !os.IsNotExist(err) {
		t.Error("the damaged file stays")
	}
	run(0, "verify")
	if out := run(0, "clear", "--json"); !strings.Contains(out, `"files": 1`) {
		t.Error(out)
	}
	if out := run(0, "ls", "--json"); strings.TrimSpace(out) != "[]" {
		t.Error(out)
	}
}

// To look at a cache that is not there makes none, and a folder that cannot be
// one is an error.
func TestCacheCommandWithoutCache(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	for _, sub := range []string{"ls", "stat", "verify", "clear"} {
		for _, args := range [][]string{{}, {"--json"}} {
			if r := execute(t, nil, append([]string{"cache", sub, "--cache-dir", dir}, args...)...); r.code != 0 {
				t.Errorf("%s %v: exit %d, %s", sub, args, r.code, r.err)
			}
		}
		if r := execute(t, nil, "cache", sub, "--cache-dir", untold); r.code != 2 || !strings.Contains(r.err, "error:") {
			t.Errorf("%s on a file: exit %d, %s", sub, r.code, r.err)
		}
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Error("a look made a folder")
	}
	home := t.TempDir()
	r := execute(t, []string{"XDG_CACHE_HOME=" + home, "HOME=" + home, "LocalAppData=" + home}, "cache", "stat")
	if r.code != 0 || !strings.Contains(r.stdout, home) || !strings.Contains(r.stdout, "untold") {
		t.Error(r)
	}
}

// A folder that is no cache is refused by every command, and stays as it is; so do
// foreign files in a cache.
func TestCacheCommandLeavesForeignFiles(t *testing.T) {
	home := t.TempDir()
	key := strings.Repeat("a", 64)
	theirs := []string{"thesis.tmp", key + ".dat", "textures/" + key[:32] + "/a/photo.png"}
	fill := func(dir string) {
		for _, name := range theirs {
			testfile.Write(t, filepath.Join(dir, filepath.FromSlash(name)), "mine")
		}
	}
	kept := func(dir string, args ...string) {
		t.Helper()
		for _, name := range theirs {
			if b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))); string(b) != "mine" {
				t.Errorf("%v: %s: %v", args, name, err)
			}
		}
	}
	foreign, cache := filepath.Join(home, "foreign"), filledCache(t)
	fill(foreign)
	fill(cache)
	for _, args := range [][]string{{"cache", "stat"}, {"cache", "ls"}, {"cache", "verify"}, {"cache", "clear"}, {"simulate", "http://127.0.0.1:1/a.json"}} {
		r := execute(t, nil, append(args, "--cache-dir", foreign)...)
		if r.code != 2 || !strings.Contains(r.err, foreign) || !strings.Contains(r.err, "--cache-dir") {
			t.Errorf("%v: exit %d, %s", args, r.code, r.err)
		}
		kept(foreign, args...)
		if list, _ := os.ReadDir(foreign); len(list) != 3 {
			t.Errorf("%v: %v", args, list)
		}
	}
	for _, args := range [][]string{{"cache", "stat"}, {"cache", "ls"}, {"cache", "verify"}, {"cache", "clear"}} {
		if r := execute(t, nil, append(args, "--cache-dir", cache)...); r.code != 0 {
			t.Errorf("%v: exit %d, %s", args, r.code, r.err)
		}
		kept(cache, args...)
	}
	empty := t.TempDir()
	if r := execute(t, nil, "cache", "stat", "--cache-dir", empty); r.code != 0 {
		t.Errorf("exit %d, %s", r.code, r.err)
	}
	if list, _ := os.ReadDir(empty); len(list) != 0 {
		t.Errorf("a look made %v", list)
	}
}

// To look at a cache evicts nothing, whatever its budget is for those who stream,
// and the budget that stat tells is that one.
func TestCacheCommandAndItsBudget(t *testing.T) {
	dir := filledCache(t)
	budget := func(r result) int64 {
		t.Helper()
		var s remote.CacheStat
		if err := json.Unmarshal([]byte(r.stdout), &s); err != nil || r.code != 0 {
			t.Fatalf("exit %d, %v: %s%s", r.code, err, r.stdout, r.err)
		}
		if s.Dir == dir && s.Files != 2 {
			t.Errorf("%+v", s)
		}
		return s.Budget
	}
	for _, sub := range []string{"ls", "stat", "verify"} {
		if r := execute(t, nil, "cache", sub, "--cache-dir", dir, "--cache-budget", "10"); r.code != 0 {
			t.Errorf("%s: exit %d, %s", sub, r.code, r.err)
		}
	}
	if n := budget(execute(t, nil, "cache", "stat", "--json", "--cache-dir", dir)); n != 500_000_000 {
		t.Errorf("%d", n)
	}
	if n := budget(execute(t, nil, "cache", "stat", "--json", "--cache-dir", dir, "--cache-budget", "2G")); n != 2_000_000_000 {
		t.Errorf("%d", n)
	}
	if n := budget(execute(t, []string{"UNTOLD_CACHE_BUDGET=30", "UNTOLD_CACHE_DIR=" + dir}, "cache", "stat", "--json")); n != 30 {
		t.Errorf("%d", n)
	}
	if n := budget(execute(t, nil, "cache", "stat", "--json", "--cache-dir", filepath.Join(dir, "none"))); n != 500_000_000 {
		t.Errorf("%d", n)
	}
	if r := execute(t, nil, "cache", "stat", "--cache-dir", dir, "--cache-budget", "2G"); !strings.Contains(r.stdout, "budget    2.00 GB") {
		t.Error(r.stdout)
	}
}
