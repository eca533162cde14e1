package payloadpath

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
	"pgregory.net/rapid"
)

func TestCheck(t *testing.T) {
	for _, ok := range []string{
		"a.untold", "tiles/a.untold", "./tiles/a.untold", "tiles//a.untold", "tiles/./a", "a..b/c", "..a/b", "été/日本.untold",
		"%2e%2e/a", "a b/c", ".hidden", "CON", "a/b/", "-", "~/x", "$HOME",
	} {
		if err := Check(ok); err != nil {
			t.Errorf("%q: %v", ok, err)
		}
	}
	for _, bad := range []string{
		"", ".", "./", "//", "/", "/etc/passwd", "..", "../a", "tiles/../a", "tiles/../../a", "a/..", `..\a`, `tiles\a.untold`, `C:\a`,
		"C:/a", "c:a", `\\server\share\a`, "//server/share/a", `\\?\C:\a`, "http://host/a", "https:a", "file:///etc/passwd", "data:x",
		"a\x00b", "a\nb", "a\x7f", "\xff", "a.untold:stream", ".. /a", "... /a", ".../a", ". /a", "a/.. ", " /a", "a/ ", strings.Repeat("a", 5000),
	} {
		err := Check(bad)
		var p *Error
		if !errors.Is(err, ErrEscapes) || !errors.As(err, &p) || p.Path != bad || p.Reason == "" {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// A short manifest cannot name a path that makes a tree of thousands of folders.
func TestCheckLimits(t *testing.T) {
	name := strings.Repeat("n", maxPathName)
	for _, ok := range []string{name, strings.Repeat("a/", maxPathDepth-1) + "a", strings.Repeat(name+"/", 3) + name + "/"} {
		if err := Check(ok); err != nil {
			t.Errorf("%d bytes: %v", len(ok), err)
		}
	}
	for bad, reason := range map[string]string{
		strings.Repeat("a/", 1999) + "a.untold":     "too long: 4006 bytes, at most 1024",
		strings.Repeat("a/", maxPathDepth) + "a":    "too deep: 33 names, at most 32",
		strings.Repeat("./", maxPathDepth) + "a":    "too deep",
		strings.Repeat("/", maxPathDepth):           "too deep",
		"a/" + name + "n":                           "name that is too long: 256 bytes, at most 255",
		strings.Repeat(name+"/", 4) + "a":           "too long: 1025 bytes",
		strings.Repeat("é", maxPathName/2) + "éa/b": "name that is too long",
	} {
		err := Check(bad)
		if !errors.Is(err, ErrEscapes) || !strings.Contains(err.Error(), reason) || strings.Contains(err.Error(), "leaves") {
			t.Errorf("%d bytes: %v, want %q", len(bad), err, reason)
		}
	}
}

// Whatever passes stays inside by the rules of this system too.
func TestCheckedPathsAreLocal(t *testing.T) {
	part := rapid.SampledFrom([]string{".", "..", "/", `\`, "a", "b.untold", " ", ":", "C", "\x00", "é", "..."})
	rapid.Check(t, func(t *rapid.T) {
		rel := strings.Join(rapid.SliceOfN(part, 0, 8).Draw(t, "parts"), "")
		if Check(rel) != nil {
			return
		}
		if !filepath.IsLocal(filepath.FromSlash(rel)) {
			t.Fatalf("%q passes, but leads out", rel)
		}
		base := &url.URL{Scheme: "https", Host: "host", Path: "/scene dir/m.json", RawQuery: "q"}
		u, err := URL(base, rel)
		if err != nil || u.Host != "host" || !strings.HasPrefix(u.Path, "/scene dir/") || u.RawQuery != "" {
			t.Fatalf("%q: %v %v", rel, u, err)
		}
	})
}

func TestResolve(t *testing.T) {
	dir := t.TempDir()
	testfile.Write(t, filepath.Join(dir, "tiles", "a.untold"), "a")
	for _, rel := range []string{"tiles/a.untold", "tiles/none.untold", "none/none.untold", "./tiles//a.untold"} {
		got, err := Resolve(dir, rel)
		if err != nil || got != filepath.Join(dir, filepath.FromSlash(rel)) {
			t.Errorf("%s: %s, %v", rel, got, err)
		}
	}
	if _, err := Resolve(dir, "../a"); !errors.Is(err, ErrEscapes) {
		t.Error(err)
	}
	if _, err := Resolve(filepath.Join(dir, "none"), "a"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	t.Chdir(dir)
	if got, err := Resolve("", "tiles/a.untold"); err != nil || got != filepath.Join("tiles", "a.untold") {
		t.Error(got, err)
	}
}

func TestResolveAndOpenRefuseLinksToTheOutside(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege on Windows")
	}
	root := t.TempDir()
	dir := filepath.Join(root, "scene")
	testfile.Write(t, filepath.Join(root, "secret"), "secret")
	testfile.Write(t, filepath.Join(dir, "tiles", "a.untold"), "a")
	for link, target := range map[string]string{
		"up": "..", "file": "../secret", "absolute": filepath.Join(root, "secret"), "nowhere": "../none",
		"inside": "tiles", "twice": "up/secret", "loop": "loop", "nowhere-inside": "tiles/none",
	} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Skip(err)
		}
	}
	for _, rel := range []string{"up/secret", "file", "absolute", "nowhere", "twice", "up/scene/tiles/a.untold", "up/none", "nowhere/x"} {
		if _, err := Resolve(dir, rel); !errors.Is(err, ErrEscapes) {
			// Going out and in again is harmless to Resolve.
			if rel != "up/scene/tiles/a.untold" || err != nil {
				t.Errorf("Resolve(%s): %v", rel, err)
			}
		}
		if f, err := Open(dir, rel); err == nil {
			f.Close()
			t.Errorf("Open(%s) succeeds", rel)
		} else if !errors.Is(err, ErrEscapes) && rel != "up/scene/tiles/a.untold" {
			t.Errorf("Open(%s): %v", rel, err)
		}
	}
	if _, err := Resolve(dir, "inside/a.untold"); err != nil {
		t.Error(err)
	}
	if _, err := Resolve(dir, "nowhere-inside"); err != nil {
		t.Error(err)
	}
	f, err := Open(dir, "inside/a.untold")
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if _, err := Resolve(dir, "loop"); err == nil {
		t.Error("a loop resolves")
	}
	if _, err := Open(dir, "loop"); err == nil {
		t.Error("a loop opens")
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	testfile.Write(t, filepath.Join(dir, "a"), "text")
	f, err := Open(dir, "a")
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if _, err := Open(dir, "none"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := Open(dir, "../a"); !errors.Is(err, ErrEscapes) {
		t.Error(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "d"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, "d"); !errors.Is(err, fs.ErrInvalid) {
		t.Error(err)
	}
	if _, err := Open(filepath.Join(dir, "none"), "a"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestURL(t *testing.T) {
	base, err := url.Parse("https://cdn.example.com/s/city%20one/city.json?token=1#x")
	if err != nil {
		t.Fatal(err)
	}
	for rel, want := range map[string]string{
		"tiles/a.untold":   "https://cdn.example.com/s/city%20one/tiles/a.untold",
		"tiles/ä b.untold": "https://cdn.example.com/s/city%20one/tiles/%C3%A4%20b.untold",
		"%2e%2e/a?x#y":     "https://cdn.example.com/s/city%20one/%252e%252e/a%3Fx%23y",
	} {
		u, err := URL(base, rel)
		if err != nil || u.String() != want {
			t.Errorf("%s: %v, %v", rel, u, err)
		}
	}
	if _, err := URL(base, "https://elsewhere/a"); !errors.Is(err, ErrEscapes) {
		t.Error(err)
	}
}
