package publish

import (
	"bytes"
	"compress/gzip"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/blob"
)

// TestPackedManifest: for a page there is a compressed copy of each manifest, which the list
// of scenes names and which follows publications and ways back; without a page there is none.
func TestPackedManifest(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "cooked")
	m := city()
	m.cook(t, dir)
	plain, err := blob.OpenFolder(filepath.Join(base, "plain"))
	if err != nil {
		t.Fatal(err)
	}
	must2(t)(Run(t.Context(), dir, plain, Options{}))
	if list := tree(t, plain); slices.ContainsFunc(list, func(k string) bool { return strings.HasSuffix(k, packedEnding) }) {
		t.Errorf("%q", list)
	}
	to, err := blob.OpenFolder(filepath.Join(base, "place"))
	if err != nil {
		t.Fatal(err)
	}
	// check returns the copy's key.
	check := func() string {
		t.Helper()
		s := listed(t, to)[0]
		if !isPacked("city.json", s.Packed) {
			t.Fatalf("%+v", s)
		}
		z, err := gzip.NewReader(bytes.NewReader(get(t, to, s.Packed)))
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(z); err != nil || !bytes.Equal(text, get(t, to, s.Path)) {
			t.Errorf("%v, %d bytes", err, len(text))
		}
		return s.Packed
	}
	must2(t)(Run(t.Context(), dir, to, Options{Viewer: testPage("1")}))
	first := check()
	if r := must2(t)(Run(t.Context(), dir, to, Options{})); len(r.Sent) != 0 || r.Version != 1 || check() != first {
		t.Errorf("%+v", r)
	}
	delete(m.tiles, "d")
	m.cook(t, dir)
	must2(t)(Run(t.Context(), dir, to, Options{}))
	if check() == first {
		t.Error("the copy is that of the first version")
	}
	must2(t)(Rollback(t.Context(), to, 1, Options{}))
	if check() != first {
		t.Error("the copy is not that of the version that was gone back to")
	}
}

func TestIsPacked(t *testing.T) {
	for key, want := range map[string]bool{
		"a/payloads/00.json.gz": true, "payloads/00.json.gz": false, "a/payloads/00/x.json.gz": false, "a/payloads/00.untold": false, "a/city.json.gz": false,
	} {
		if isPacked("a/city.json", key) != want {
			t.Error(key)
		}
	}
}
