package diskcache

import (
	"errors"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/manifest/payloadpath"
	"github.com/untoldkit/untold/runtime/remote/internal/remotetest"
	"github.com/untoldkit/untold/runtime/remote/internal/weburl"
)

// The names of files in the cache are part of its form on the disk.
func TestFileNames(t *testing.T) {
	const tile = "fcd1b2529ae39b82a1cca0a81b7fda89d01b99ec9dc6801116c4490320d0d213"
	for address, want := range map[string]string{
		"https://cdn.example.com/scene/scene.json":                "36df320f1b6dd66938752ac99082b6a3a76e9b5e359691695fb8c15ec853e0d9.json",
		"https://cdn.example.com/scene/tiles/tile_0_0.untold":     tile + ".untold",
		"https://cdn.example.com/scene/tiles/tile_0_0.untold#top": tile + ".untold",
		"https://cdn.example.com/scene/tiles/tile_0_0.untold?v=2": "6e9487660bff34197a8d3a650a103137052792434a3b259e84fc31f69e443834.untold",
	} {
		u, err := weburl.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if got := Name(u); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}

func TestFileNameExtensions(t *testing.T) {
	for path, want := range map[string]string{
		"/a": "", "/": "", "": "", "/a.b/c": "", "/a.UNTOLD": ".UNTOLD", "/a.tar.gz": ".gz", "/a.meta": "", "/a.TMP": "", "/a.": "",
		"/a.b%2f..%2fc": "", "/a.x:y": "", "/a.x%00": "", "/a.abcdefghijklmnopq": "", "/.json": ".json", "/a.é": "",
	} {
		u, err := weburl.Parse("https://h" + path + "?q=.json")
		if err != nil {
			t.Fatal(err)
		}
		name := Name(u)
		if got := strings.TrimPrefix(name, key(u)); got != want {
			t.Errorf("%s: extension %q, want %q", path, got, want)
		}
		if !validName(name) {
			t.Errorf("%s: %q is not valid", path, name)
		}
	}
}

func TestTextureNames(t *testing.T) {
	folder := TextureFolder(mustParse(t, "https://h/tiles/"))
	for _, uri := range append([]string{""}, remotetest.HostileURIs...) {
		if name, err := TextureName(folder, uri); !errors.Is(err, payloadpath.ErrEscapes) || name != "" {
			t.Errorf("%q: %q, %v", uri, name, err)
		}
	}
	for _, uri := range []string{"a.png", "a/./b.png", "Textures/wall_albedo.png", "a b.png", "100%.png", "a%20b.png", "é.png", "a//b.png", "..a.png"} {
		name, err := TextureName(folder, uri)
		if err != nil || !validName(name) || !strings.HasPrefix(name, folder+"/") {
			t.Errorf("%q: %q, %v", uri, name, err)
		}
	}
}

// FuzzNames takes any address and texture URI to names in the cache: these are plain
// names below its folder.
func FuzzNames(f *testing.F) {
	for _, uri := range append([]string{"Textures/a.png", "a/./b.png"}, remotetest.HostileURIs...) {
		f.Add("https://cdn.example.com/scene/tiles/t.untold?v=1", uri)
	}
	f.Add("http://[::1]:8080/a.b/c.meta", "x")
	f.Add("HTTPS://H/%2e%2e/.tmp#f", "x")
	f.Fuzz(func(t *testing.T, raw, uri string) {
		u, err := weburl.Parse(raw)
		if err != nil {
			return
		}
		n := Name(u)
		if !validName(n) || path.Base(n) != n || sidecarName(n) == n || strings.HasSuffix(n, tempSuffix) {
			t.Fatalf("%q gives %q", raw, n)
		}
		folder := TextureFolder(weburl.Folder(u))
		name, err := TextureName(folder, uri)
		if err != nil {
			return
		}
		if !validName(name) || !strings.HasPrefix(name, folder+"/") || !filepath.IsLocal(filepath.FromSlash(name)) {
			t.Fatalf("%q at %q lies at %q", uri, raw, name)
		}
	})
}
