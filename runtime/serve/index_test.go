package serve

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/untoldkit/untold/manifest"
)

func scene(t *testing.T, path string, tiles int) {
	t.Helper()
	m := &manifest.Manifest{Version: manifest.VersionGrid, PartitioningMode: manifest.ModeUniformGrid, StreamingDefaults: manifest.StreamingDefaults{StreamingRadius: 20, UnloadRadius: 40, Priority: 10}}
	for i := range tiles {
		m.Tiles = append(m.Tiles, manifest.Tile{ID: fmt.Sprintf("tile_%d_0_0", i), Path: "tiles/x.untold", FileSizeBytes: 1_000_000, HLODLevels: []manifest.Level{{Path: "h", FileSizeBytes: 500_000, SwitchDistance: 30}}})
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
}

func TestIndex(t *testing.T) {
	dir := folder(t, map[string]string{"notes.json": `{"tiles": 3}`, "a/b/deep.json": "{}", "x.untold": "x"})
	scene(t, filepath.Join(dir, "b & <c>.json"), 2)
	scene(t, filepath.Join(dir, "sub", "city.json"), 1)
	scene(t, filepath.Join(dir, ".hidden", "city.json"), 1)
	scene(t, filepath.Join(dir, "sub", "deeper", "city.json"), 1)
	h := handler(t, dir, Options{})
	list := h.Scenes(t.Context())
	if len(list) != 2 || list[0] != (Scene{"b & <c>.json", 2, 3_000_000}) || list[1] != (Scene{"sub/city.json", 1, 1_500_000}) {
		t.Errorf("%+v", list)
	}
	if u := list[0].URL("http://127.0.0.1:1/"); u != "http://127.0.0.1:1/b%20&%20%3Cc%3E.json" {
		t.Error(u)
	}
	r := ask(t, h, "GET", "/")
	if r.StatusCode != 200 || !strings.HasPrefix(r.Header.Get("Content-Type"), "text/html") || strings.Count(r.body, "<a href=") != 2 || strings.Contains(r.body, "<c>") || strings.Contains(r.body, "x.untold") {
		t.Errorf("%d %v\n%s", r.StatusCode, r.Header, r.body)
	}
	for _, want := range []string{`<a href="./sub/city.json">sub/city.json</a></td><td>1</td><td>1.5</td>`, "b &amp; &lt;c&gt;.json"} {
		if !strings.Contains(r.body, want) {
			t.Errorf("no %s in\n%s", want, r.body)
		}
	}
	if r := ask(t, handler(t, t.TempDir(), Options{}), "GET", "/"); !strings.Contains(r.body, "no manifest") {
		t.Error(r.body)
	}
}

// TestIndexReadsOnce: however often the page is asked for, also by many at
// once, a manifest is read once, until it changes. What is none is not parsed.
func TestIndexReadsOnce(t *testing.T) {
	dir := folder(t, map[string]string{"other.json": `{"frames": [` + strings.Repeat("0,", 1<<20) + `0]}`})
	path := filepath.Join(dir, "city.json")
	scene(t, path, 3)
	old := time.Now().Add(-time.Hour)
	for _, name := range []string{path, filepath.Join(dir, "other.json")} {
		if err := os.Chtimes(name, old, old); err != nil {
			t.Fatal(err)
		}
	}
	h := handler(t, dir, Options{})
	var wg sync.WaitGroup
	for range 40 {
		wg.Go(func() {
			if list := h.Scenes(t.Context()); len(list) != 1 || list[0].Tiles != 3 {
				t.Errorf("%+v", list)
			}
		})
	}
	wg.Wait()
	if h.parsed != 2 {
		t.Errorf("files were read %d times", h.parsed)
	}
	scene(t, path, 4)
	if list := h.Scenes(t.Context()); len(list) != 1 || list[0].Tiles != 4 {
		t.Errorf("%+v", list)
	}
	// Who went away does not wait for the search of another.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	h.search <- struct{}{}
	if list := h.Scenes(ctx); list != nil {
		t.Errorf("%+v", list)
	}
}
