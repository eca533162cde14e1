package serve

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestOutside asks for files that must not be served, in all the ways that a
// path can be written.
func TestOutside(t *testing.T) {
	top := folder(t, map[string]string{
		"secret.txt": "secret", "scene/a.json": "{}", "scene/.git/config": "secret", "scene/.hidden": "secret",
		"scene/tiles/.state/x": "secret", "scene/tiles/a.untold": "tile", "scene2/x": "secret", "scene/..x/y": "secret",
	})
	dir := filepath.Join(top, "scene")
	for name, target := range map[string]string{
		"out":           "../secret.txt",
		"outdir":        "..",
		"absolute":      filepath.Join(top, "secret.txt"),
		"git":           ".git",
		"dot":           "tiles/../.hidden",
		"loop":          "loop",
		"nowhere":       "tiles/none",
		"good":          "tiles/a.untold",
		"goodabsolute":  filepath.Join(dir, "tiles", "a.untold"),
		"tiles/inside":  "../a.json",
		"tiles/outside": "../../secret.txt",
	} {
		if err := os.Symlink(target, filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			t.Skipf("no links here: %v", err)
		}
	}
	h := handler(t, dir, Options{})
	for _, path := range []string{
		"/../secret.txt", "/%2e%2e/secret.txt", "/%2E%2E%2Fsecret.txt", "/..%2fsecret.txt", "/tiles/../../secret.txt", "/tiles/%2e%2e/%2e%2e/secret.txt",
		"/..%5csecret.txt", `/..\secret.txt`, "/%5c..%5csecret.txt", "//secret.txt", "/./../secret.txt", "/..;/secret.txt", "/%252e%252e/secret.txt",
		"/../scene2/x", "/%2e%2e%2fscene2/x", "/" + strings.TrimPrefix(filepath.ToSlash(top), "/") + "/secret.txt", "/C:/secret.txt", "/file:///etc/passwd",
		"/.git/config", "/%2egit/config", "/.hidden", "/tiles/.state/x", "/..x/y", "/a.json%00", "/a.json%00.png", "/%00",
		"/out", "/outdir/secret.txt", "/outdir", "/absolute", "/git/config", "/dot", "/loop", "/loop/x", "/nowhere", "/tiles/outside",
		"/tiles", "/tiles/", "/a.json/", "/a.json/x", "/tiles//a.untold", "/./a.json", "/tiles/./a.untold", "/tiles/../a.json",
		"/" + strings.Repeat("x", 300), "/" + strings.Repeat("x/", 3000) + "x", "/%ff%fe",
	} {
		r := ask(t, h, "GET", path)
		if r.StatusCode != 404 || strings.Contains(r.body, "secret\n") || r.body == "secret" || r.Header.Get("Location") != "" {
			t.Errorf("%s: %d %q %v", path, r.StatusCode, r.body, r.Header)
		}
	}
	for path, want := range map[string]string{"/good": "tile", "/goodabsolute": "tile", "/tiles/inside": "{}"} {
		if r := ask(t, h, "GET", path); r.StatusCode != 200 || r.body != want {
			t.Errorf("%s: %d %q", path, r.StatusCode, r.body)
		}
	}
}

// TestLinkedFolder: the served folder itself may be a link.
func TestLinkedFolder(t *testing.T) {
	top := folder(t, map[string]string{"v1/a.json": "1", "v2/a.json": "2"})
	link := filepath.Join(top, "current")
	if err := os.Symlink("v1", link); err != nil {
		t.Skip(err)
	}
	h := handler(t, link, Options{})
	if r := ask(t, h, "GET", "/a.json"); r.body != "1" {
		t.Errorf("%d %q", r.StatusCode, r.body)
	}
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("v2", link); err != nil {
		t.Fatal(err)
	}
	if r := ask(t, h, "GET", "/a.json"); r.body != "2" {
		t.Errorf("%d %q", r.StatusCode, r.body)
	}
}

// TestNoFolder: what is missing or no folder is refused with what to do; one that
// is empty may be filled later.
func TestNoFolder(t *testing.T) {
	dir := folder(t, map[string]string{"a.json": "{}"})
	for name, want := range map[string]string{"none": "no such file", "a.json": "is no folder", "none/deeper": "no such file"} {
		_, err := New(filepath.Join(dir, filepath.FromSlash(name)), Options{})
		if err == nil || runtime.GOOS != "windows" && !strings.Contains(err.Error(), want) || !strings.HasSuffix(err.Error(), ": name the folder of the cooked scene") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := New(t.TempDir(), Options{}); err != nil {
		t.Error(err)
	}
}

func TestForbidden(t *testing.T) {
	dir := folder(t, map[string]string{"a.json": "{}"})
	if err := os.Chmod(filepath.Join(dir, "a.json"), 0); err != nil {
		t.Fatal(err)
	}
	if f, err := os.Open(filepath.Join(dir, "a.json")); err == nil {
		f.Close()
		t.Skip("this user may read everything")
	}
	if r := ask(t, handler(t, dir, Options{}), "GET", "/a.json"); r.StatusCode != 403 {
		t.Errorf("%d on %s", r.StatusCode, runtime.GOOS)
	}
}

// FuzzPath looks for a path that leads to a file other than the two that are
// served.
func FuzzPath(f *testing.F) {
	for _, s := range []string{"a.json", "tiles/a.untold", "../secret.txt", "..\\secret.txt", "tiles/../a.json", ".hidden", "tiles/.x", "%2e%2e/secret.txt", "/", "", "a.json\x00", "out", "tiles//a.untold", "C:\\x", "a.json:x"} {
		f.Add(s)
	}
	top := f.TempDir()
	dir := filepath.Join(top, "scene")
	for name, text := range map[string]string{"secret.txt": "secret", "scene/a.json": "served", "scene/tiles/a.untold": "served", "scene/.hidden": "secret", "scene/tiles/.x": "secret"} {
		path := filepath.Join(top, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			f.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			f.Fatal(err)
		}
	}
	_ = os.Symlink("../secret.txt", filepath.Join(dir, "out"))
	tr, err := newTree(dir)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, name string) {
		file, _, err := tr.open(name)
		if err != nil {
			return
		}
		defer file.Close()
		buf := make([]byte, 16)
		n, _ := file.Read(buf)
		if string(buf[:n]) != "served" {
			t.Errorf("%q leads to %q", name, buf[:n])
		}
	})
}
