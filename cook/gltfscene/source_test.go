package gltfscene

import (
	"context"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/untoldkit/untold/internal/testfile"
	"pgregory.net/rapid"
)

func TestLocalNames(t *testing.T) {
	for _, tt := range []struct {
		uri     string
		parents bool
		want    []string
		err     error
	}{
		{uri: "a.bin", want: []string{"a.bin"}},
		{uri: "./b/../a.bin", want: []string{"a.bin"}},
		{uri: "a%20b.bin", want: []string{"a b.bin", "a%20b.bin"}},
		{uri: "100%.bin", want: []string{"100%.bin"}},
		{uri: "image #1?.png", want: []string{"image #1?.png"}},
		{uri: `sub\a.bin`, want: []string{"sub/a.bin"}},
		{uri: "1:2.bin", want: []string{"1:2.bin"}},
		{uri: "sub/a:b.bin", want: []string{"sub/a:b.bin"}},
		{uri: "../a.bin", parents: true, want: []string{"../a.bin"}},
		{uri: "..", err: ErrOutsideFolder},
		{uri: "../a.bin", err: ErrOutsideFolder},
		{uri: "b/../../a.bin", err: ErrOutsideFolder},
		{uri: `..\a.bin`, err: ErrOutsideFolder},
		{uri: "%2e%2e/a.bin", err: ErrOutsideFolder},
		{uri: "%2e%2e%5Ca.bin", err: ErrOutsideFolder},
		{uri: "/etc/passwd", err: ErrOutsideFolder},
		{uri: "/etc/passwd", parents: true, err: ErrOutsideFolder},
		{uri: "%2Fetc/passwd", err: ErrOutsideFolder},
		{uri: "//server/share/a.bin", err: ErrOutsideFolder},
		{uri: `\\server\share\a.bin`, err: ErrOutsideFolder},
		{uri: "C:/a.bin", err: ErrOutsideFolder},
		{uri: `c:\a.bin`, err: ErrOutsideFolder},
		{uri: "C%3A/a.bin", err: ErrOutsideFolder},
		{uri: "file:///etc/passwd", err: ErrOutsideFolder},
		{uri: "HTTP://example.com/a.bin", err: ErrUnsupported},
		{uri: "https://example.com/a.bin", parents: true, err: ErrUnsupported},
		{uri: "ftp://example.com/a.bin", err: ErrUnsupported},
		{uri: "a%00.bin", err: ErrMalformed},
		{uri: "", err: ErrMalformed},
	} {
		got, err := localNames(tt.uri, tt.parents)
		if !errors.Is(err, tt.err) || !slices.Equal(got, tt.want) {
			t.Errorf("%q: got %q, %v; want %q, %v", tt.uri, got, err, tt.want, tt.err)
		}
	}
}

// TestLocalNamesStayInside verifies the containment for any text.
func TestLocalNamesStayInside(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		uri := rapid.StringOf(rapid.SampledFrom([]rune("./\\%2eEfFcC5:a~\x00"))).Draw(t, "uri")
		names, err := localNames(uri, false)
		if err != nil {
			return
		}
		for _, name := range names {
			if !filepath.IsLocal(filepath.FromSlash(name)) {
				t.Fatalf("%q gives %q", uri, name)
			}
		}
	})
}

func TestDataURI(t *testing.T) {
	std := base64.StdEncoding.EncodeToString([]byte{0xFB, 0xFF, 1, 2})
	for _, tt := range []struct{ uri, want string }{
		{"data:application/octet-stream;base64," + std, "\xFB\xFF\x01\x02"},
		{"DATA:application/gltf-buffer;BASE64," + std, "\xFB\xFF\x01\x02"},
		{"data:;base64," + strings.TrimRight(std, "="), "\xFB\xFF\x01\x02"},
		{"data:a/b;base64," + strings.ReplaceAll(std, "+", "%2B"), "\xFB\xFF\x01\x02"},
		{"data:text/plain,a%20b", "a b"},
		{"data:,", ""},
	} {
		if got, err := decodeDataURI([]byte(tt.uri)); err != nil || string(got) != tt.want {
			t.Errorf("%q: got %q, %v", tt.uri, got, err)
		}
	}
	for _, uri := range []string{"data:", "data:;base64", "data:;base64,????", "data:,%zz"} {
		if _, err := decodeDataURI([]byte(uri)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%q: got %v", uri, err)
		}
	}
}

// external writes a one-triangle .gltf whose buffer is at uri.
func externalGLTF(t *testing.T, uri string, files map[string]string) (path string, bin string) {
	t.Helper()
	b, _ := oneTriangle()
	js := b.json(uri)
	for name, data := range files {
		if data == "BIN" {
			files[name] = string(b.bin)
		}
	}
	files["in/x.gltf"] = string(js)
	return filepath.Join(write(t, files), "in", "x.gltf"), string(b.bin)
}

func TestExternalBuffers(t *testing.T) {
	for _, tt := range []struct {
		name, uri, file, data string
		parents               bool
		err                   error
		text                  string
	}{
		{name: "beside", uri: "a.bin", file: "in/a.bin", data: "BIN"},
		{name: "decoded", uri: "a%20b.bin", file: "in/a b.bin", data: "BIN"},
		{name: "literal", uri: "a%20b.bin", file: "in/a%20b.bin", data: "BIN"},
		{name: "backslash", uri: `sub\a.bin`, file: "in/sub/a.bin", data: "BIN"},
		{name: "missing", uri: "b.bin", file: "in/a.bin", data: "BIN", err: ErrMissingFile, text: `buffers[0]: file "b.bin" is missing (looked for `},
		{name: "short", uri: "a.bin", file: "in/a.bin", data: "abc", err: ErrMalformed, text: "has 3 bytes, 36 are needed"},
		{name: "pointer", uri: "a.bin", file: "in/a.bin", data: "version https://git-lfs.github.com/spec/v1\n", err: ErrMalformed, text: "is a Git LFS pointer (run `git lfs pull`)"},
		{name: "folder", uri: "sub", file: "in/sub/a.bin", data: "BIN", err: ErrMissingFile, text: "not a regular file"},
		{name: "parent", uri: "../a.bin", file: "a.bin", data: "BIN", err: ErrOutsideFolder, text: "Options.AllowParentPaths"},
		{name: "parent allowed", uri: "../a.bin", file: "a.bin", data: "BIN", parents: true},
		{name: "remote", uri: "http://example.com/a.bin", file: "in/a.bin", data: "BIN", err: ErrUnsupported, text: "download it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if runtime.GOOS == "windows" && strings.Contains(tt.name, "literal") {
				t.Skip("such names are odd on Windows")
			}
			path, _ := externalGLTF(t, tt.uri, map[string]string{tt.file: tt.data})
			opts := DefaultOptions()
			opts.AllowParentPaths = tt.parents
			s, err := Load(context.Background(), path, opts)
			if tt.err == nil {
				if err != nil || s.Triangles() != 1 {
					t.Fatalf("got %v", err)
				}
				return
			}
			if !errors.Is(err, tt.err) || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("got %v, want %v with %q", err, tt.err, tt.text)
			}
		})
	}
}

func TestLongerBufferIsCut(t *testing.T) {
	path, bin := externalGLTF(t, "a.bin", map[string]string{})
	testfile.Write(t, filepath.Join(filepath.Dir(path), "a.bin"), bin+"more")
	if _, err := Load(context.Background(), path, DefaultOptions()); err != nil {
		t.Fatal(err)
	}
	opts := DefaultOptions()
	opts.MaxFileBytes = 20
	if _, err := Load(context.Background(), path, opts); !errors.Is(err, ErrTooLarge) {
		t.Errorf("with a limit: %v", err)
	}
}

// TestLinks verifies that a link out of the folder is refused, one within it
// is not.
func TestLinks(t *testing.T) {
	path, _ := externalGLTF(t, "link.bin", map[string]string{"a.bin": "BIN", "in/b.bin": "BIN"})
	link := filepath.Join(filepath.Dir(path), "link.bin")
	if err := os.Symlink("b.bin", link); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	if _, err := Load(context.Background(), path, DefaultOptions()); err != nil {
		t.Errorf("a link within the folder: %v", err)
	}
	for _, target := range []string{filepath.Join("..", "a.bin"), filepath.Join(filepath.Dir(filepath.Dir(path)), "a.bin")} {
		if err := os.Remove(link); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
		_, err := Load(context.Background(), path, DefaultOptions())
		if !errors.Is(err, ErrOutsideFolder) || !strings.Contains(err.Error(), "AllowParentPaths") {
			t.Errorf("a link to %s: %v", target, err)
		}
		opts := DefaultOptions()
		opts.AllowParentPaths = true
		if _, err := Load(context.Background(), path, opts); err != nil {
			t.Errorf("a link to %s, permitted: %v", target, err)
		}
	}
}

func TestLoadFS(t *testing.T) {
	b, _ := oneTriangle()
	fsys := fstest.MapFS{
		"models/x.gltf": {Data: b.json("parts/a%20b.bin")}, "models/parts/a b.bin": {Data: b.bin},
		"models/y.gltf": {Data: b.json("../z.bin")}, "z.bin": {Data: b.bin},
		"w.gltf": {Data: b.json("../z.bin")},
	}
	if s, err := LoadFS(context.Background(), fsys, "models/x.gltf", DefaultOptions()); err != nil || s.Name != "x" {
		t.Fatal(err)
	}
	opts := DefaultOptions()
	opts.AllowParentPaths = true
	if _, err := LoadFS(context.Background(), fsys, "models/y.gltf", opts); err != nil {
		t.Error(err)
	}
	for name, want := range map[string]error{"models/y.gltf": ErrOutsideFolder, "none.gltf": ErrMissingFile, "models": ErrMissingFile} {
		if _, err := LoadFS(context.Background(), fsys, name, DefaultOptions()); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", name, err, want)
		}
	}
	if _, err := LoadFS(context.Background(), fsys, "w.gltf", opts); !errors.Is(err, ErrOutsideFolder) {
		t.Errorf("out of the file system: %v", err)
	}
}

func TestLoadMissing(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{filepath.Join(dir, "x.glb"), dir} {
		_, err := Load(context.Background(), name, DefaultOptions())
		if !errors.Is(err, ErrMissingFile) || !strings.HasPrefix(err.Error(), name+": ") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := Load(context.Background(), filepath.Join(dir, "x.glb"), DefaultOptions()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want os.ErrNotExist within", err)
	}
}

// TestLoadHere loads a file of the current folder by its bare name.
func TestLoadHere(t *testing.T) {
	b, _ := oneTriangle()
	t.Chdir(write(t, map[string]string{"x.gltf": string(b.json("a.bin")), "a.bin": string(b.bin)}))
	if _, err := Load(context.Background(), "x.gltf", DefaultOptions()); err != nil {
		t.Error(err)
	}
	opts := DefaultOptions()
	opts.MaxFileBytes = 100
	if _, err := Load(context.Background(), "x.gltf", opts); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "Options.MaxFileBytes") {
		t.Errorf("with a limit: %v", err)
	}
}

// TestLongDataURIs covers the path that does not copy them, with the escapes
// that some JSON writers put into them.
func TestLongDataURIs(t *testing.T) {
	for _, escape := range []string{"/", `\/`, `\u002F`} {
		b, _ := oneTriangle()
		for range 1000 {
			b.bin = append(b.bin, 0xFF)
		}
		js := strings.ReplaceAll(string(b.gltf()), "//", escape+escape)
		if !strings.Contains(js, escape) {
			t.Fatal("the data lack a slash")
		}
		s, err := LoadBytes(context.Background(), "x.gltf", []byte(js), DefaultOptions())
		if err != nil || s.Triangles() != 1 {
			t.Errorf("%s: %v", escape, err)
		}
	}
}
