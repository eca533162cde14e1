package usd

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/untoldkit/untold/cook/gltfscene"
)

// openAt reads and imports a file.
func openAt(t testing.TB, name string, opts Options) (*gltfscene.Scene, error) {
	t.Helper()
	f, info, err := gltfscene.OpenFile(name)
	if err != nil {
		t.Fatal(err)
	}
	made, err := Read(context.Background(), name, f, opts)
	if err != nil {
		f.Close()
		return nil, err
	}
	o := gltfscene.DefaultOptions()
	o.AllowMissingImages, o.AllowParentPaths = true, opts.AllowParentPaths
	return gltfscene.OpenMade(context.Background(), name, f, info, made, o, 1<<24, nil)
}

// TestFiles reads every scene below a folder of real files. It is opt-in: UNTOLD_USD names
// the folder.
func TestFiles(t *testing.T) {
	dir := os.Getenv("UNTOLD_USD")
	if dir == "" {
		t.Skip("UNTOLD_USD is not set")
	}
	n := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !IsName(path) {
			return err
		}
		n++
		s, err := openAt(t, path, Options{AllowParentPaths: true, AllowMissing: true})
		if err != nil {
			t.Error(err)
			return nil
		}
		defer s.Close()
		meshes := 0
		for _, nd := range s.Nodes {
			if nd.Mesh >= 0 {
				meshes++
			}
		}
		t.Logf("%s: %d nodes with meshes, %d meshes, %d materials, %d images", path, meshes, len(s.Meshes), len(s.Materials), len(s.Images))
		for _, note := range s.Notes {
			t.Logf("  %s x%d %s: %s", note.Code, note.Count, note.Where, note.Message)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d scenes", n)
}
