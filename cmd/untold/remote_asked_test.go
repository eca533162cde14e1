package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/remote"
)

// TestCompleteBringsLevels: of the tiles that a run has asked for, the levels
// that it has not come into the cache as well.
func TestCompleteBringsLevels(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("level")) }))
	defer server.Close()
	rf, err := remote.New(remote.Options{CacheDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer rf.Close()
	f, base := newAskedFor(rf), server.URL+"/"
	level := func(path string) []manifest.Level { return []manifest.Level{{Path: path, FileSizeBytes: 5}} }
	f.scene(base, &manifest.Manifest{Tiles: []manifest.Tile{
		{ID: "seen", Path: "seen.untold", LODLevels: level("seen_lod1.untold"), HLODLevels: level("seen_hlod.untold")},
		{ID: "other", Path: "other.untold", LODLevels: level("other_lod1.untold")},
	}})
	f.tiles[tileAt{base, "seen"}] = true
	f.complete(t.Context(), &app{stderr: &bytes.Buffer{}})
	var got []string
	for _, e := range rf.Cache().Entries() {
		got = append(got, e.URL[len(base):])
	}
	slices.Sort(got)
	if want := []string{"seen_hlod.untold", "seen_lod1.untold"}; !slices.Equal(got, want) {
		t.Errorf("%v are in the cache, want %v", got, want)
	}
}
