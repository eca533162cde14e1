package diskcache

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/runtime/remote/internal/remotetest"
)

// FuzzIndex opens a cache over a hostile index: nothing outside is touched, no
// entry is served that does not fit its file, and the cache works afterwards.
func FuzzIndex(f *testing.F) {
	entry := &Entry{Name: name(1), URL: address(1), Size: 4, SHA256: remotetest.HashOf([]byte("data"))}
	begin := appendChange(nil, &change{Op: "begin", Magic: indexMagic, Gen: "1"})
	for _, list := range [][]change{
		{{Op: "put", Entry: entry}},
		{{Op: "put", Entry: &Entry{Name: "../../etc/passwd", Size: 1}}},
		{{Op: "put", Entry: &Entry{Name: "textures/" + strings.Repeat("a", 32) + "/../../x", Size: 1}}},
		{{Op: "put", Entry: entry}, {Op: "use", Name: name(1), At: 1}, {Op: "old", Name: name(1)}, {Op: "drop", Name: name(1)}},
		{{Op: "put", Entry: &Entry{Name: name(2), Size: 1 << 62}}, {Op: "put", Entry: &Entry{Name: name(3), Size: 1 << 62}}},
	} {
		text := bytes.Clone(begin)
		for _, c := range list {
			text = appendChange(text, &c)
		}
		f.Add(text)
	}
	f.Add([]byte{})
	f.Add([]byte("00000000 {}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		// Sums are made right, so that the fuzzer gets past them.
		var fixed []byte
		for line := range bytes.SplitAfterSeq(text, []byte("\n")) {
			if body, ok := bytes.CutSuffix(line, []byte("\n")); ok && len(body) > 9 {
				var c change
				if json.Unmarshal(body[9:], &c) == nil {
					line = appendChange(nil, &c)
				}
			}
			fixed = append(fixed, line...)
		}
		outer := t.TempDir()
		dir := filepath.Join(outer, "cache")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, versionName), []byte(versionText), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, file := range []string{filepath.Join(outer, "x"), filepath.Join(dir, name(1))} {
			if err := os.WriteFile(file, []byte("data"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, indexName), fixed, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := Open(dir, Options{Now: newClock().Now, NoSync: true})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		for _, e := range c.Entries() {
			if !validName(e.Name) || !filepath.IsLocal(filepath.FromSlash(e.Name)) {
				t.Fatalf("name %q", e.Name)
			}
			if got, ok := c.Lookup(e.Name); ok && (e.Name != name(1) || got.SHA256 != remotetest.HashOf([]byte("data"))) {
				t.Fatalf("%+v is a hit", got)
			}
		}
		e := put(t, c, 1, []byte("new"))
		if got, ok := c.Lookup(e.Name); !ok || got.SHA256 != remotetest.HashOf([]byte("new")) {
			t.Fatal("the cache does not work any more")
		}
		if _, err := c.Clear(); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(outer, "x")); err != nil || string(got) != "data" {
			t.Fatal("a file outside was touched")
		}
	})
}

func FuzzSidecar(f *testing.F) {
	f.Add([]byte(`{"remoteURL":"https://h/a","etag":"\"1\"","cachedAt":"2026-03-01T12:00:00Z"}`))
	f.Add([]byte(`{"remoteURL":"https://h/a","etag":"\"1\"","cachedAt":794059200.5}`))
	f.Add([]byte(`{"etag":1}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, ok := decodeSidecar(text)
		if !ok {
			return
		}
		e := Entry{URL: s.RemoteURL, ETag: s.ETag}
		again, ok := decodeSidecar(encodeSidecar(&e))
		if !ok || again != s {
			t.Fatalf("%+v became %+v", s, again)
		}
	})
}
