package texfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// payload returns a folder like that of a payload, beside a file that must not
// be reached.
func payload(t *testing.T) string {
	t.Helper()
	top := t.TempDir()
	dir := filepath.Join(top, "tiles")
	for _, name := range []string{"Textures/Brick Wall.PNG", "flat.png", "x", "a%20b.png", "deep/er/one.jpg", "Case.png", "case.png"} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(top, "secret"), []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestFind(t *testing.T) {
	dir := payload(t)
	for _, c := range []struct{ uri, want string }{
		{"flat.png", "flat.png"},
		{"./flat.png", "flat.png"},
		{"Textures/./Brick Wall.PNG", "Textures/Brick Wall.PNG"},
		{"Textures/brick wall.png", "Textures/Brick Wall.PNG"},
		{"TEXTURES/BRICK WALL.PNG", "Textures/Brick Wall.PNG"},
		{"elsewhere/flat.png", "flat.png"}, // flattened
		{"deep//er/one.jpg", "deep/er/one.jpg"},
		{"a%20b.png", "a%20b.png"}, // plain text, not percent-encoded
		{"CASE.png", "Case.png"},   // the first in byte order
		{"case.png", "case.png"},
	} {
		got, err := Find(dir, c.uri)
		if err != nil || got != c.want {
			t.Errorf("Find(%q) = %q, %v, want %q", c.uri, got, err, c.want)
			continue
		}
		f, err := Open(dir, got)
		if err != nil {
			t.Errorf("Open(%q): %v", got, err)
			continue
		}
		b, _ := io.ReadAll(f)
		f.Close()
		if string(b) != c.want {
			t.Errorf("Open(%q) reads %q", got, b)
		}
	}
}

// TestFindRefuses: no name leads out of the folder.
func TestFindRefuses(t *testing.T) {
	dir := payload(t)
	for _, uri := range []string{
		"../secret", "a/../../secret", "/etc/passwd", `C:\x`, `..\x`, "file:///etc/passwd", "http://host/x",
		"a/%2e%2e/%2e%2e/x", "%2e%2e/secret", "%2fetc/passwd", "a%5c..%5cx", "x\x00.png", "x%00", "", ".", "a/..",
		strings.Repeat("a", 5000),
	} {
		if got, err := Find(dir, uri); !errors.Is(err, ErrURI) {
			t.Errorf("Find(%q) = %q, %v, want ErrURI", uri, got, err)
		}
	}
	for _, uri := range []string{"missing.png", "Textures", "deep", "deep/er/two.jpg", "flat.png/y"} {
		if got, err := Find(dir, uri); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Find(%q) = %q, %v, want fs.ErrNotExist", uri, got, err)
		}
	}
	if _, err := Find(filepath.Join(dir, "nowhere"), "x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
}

func TestFindFollowsNoLinkOut(t *testing.T) {
	if goruntime.GOOS == "windows" {
		t.Skip("links need rights there")
	}
	dir := payload(t)
	for link, to := range map[string]string{"out.png": "../secret", "up": "..", "abs.png": filepath.Join(filepath.Dir(dir), "secret"), "in.png": "flat.png"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, uri := range []string{"out.png", "up/secret", "abs.png", "OUT.png"} {
		if got, err := Find(dir, uri); err == nil {
			t.Errorf("Find(%q) = %q", uri, got)
		}
	}
	if _, err := Open(dir, "out.png"); !errors.Is(err, ErrURI) {
		t.Errorf("Open of a link to the outside: %v", err)
	}
	if got, err := Find(dir, "in.png"); err != nil || got != "in.png" {
		t.Errorf("a link inside: %q, %v", got, err)
	}
}

// TestFindStaysInside: whatever is found lies below the folder.
func TestFindStaysInside(t *testing.T) {
	dir := payload(t)
	seg := rapid.SampledFrom([]string{"..", ".", "", "Textures", "flat.png", "secret", "tiles", "%2e%2e", "x", `\`, "c:", "deep", "er"})
	rapid.Check(t, func(t *rapid.T) {
		uri := strings.Join(rapid.SliceOfN(seg, 1, 6).Draw(t, "uri"), "/")
		rel, err := Find(dir, uri)
		if err != nil {
			return
		}
		if !filepath.IsLocal(filepath.FromSlash(rel)) {
			t.Fatalf("%q leads to %q", uri, rel)
		}
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(rel))); err != nil {
			t.Fatal(err)
		}
	})
}
