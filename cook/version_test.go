package cook

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/internal/boxscene"
)

// TestContainerVersion: another version makes every container anew, with the bytes of a
// cook from nothing, and is read as what it is.
func TestContainerVersion(t *testing.T) {
	s := boxscene.New(boxscene.Box{Name: "A", At: [3]float64{1, 1, -1}}, boxscene.Box{Name: "B", At: [3]float64{40, 1, -1}})
	s.Primitive["material"] = 0
	s.Root["materials"] = []boxscene.Object{{"emissiveFactor": []float64{1, 0.5, 0}}}
	path := s.Save(t, "glow.gltf")
	dir := t.TempDir()
	for _, version := range []uint32{1, 2, 4, 0} {
		o := ClassicOptions()
		o.ContainerVersion = version
		if _, err := Run(context.Background(), path, dir, o); err != nil {
			t.Fatal(err)
		}
		fresh := t.TempDir()
		if _, err := Run(context.Background(), path, fresh, o); err != nil {
			t.Fatal(err)
		}
		tiles := 0
		err := fs.WalkDir(os.DirFS(dir), "tiles", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			r, err := format.Open(filepath.Join(dir, name))
			if err != nil {
				return err
			}
			defer r.Close()
			tiles++
			if got := r.Header().FormatVersion; got != max(version, 1) {
				t.Errorf("%s has version %d, want %d", name, got, version)
			}
			if e := r.Materials()[0].Emissive; e != [3]float32{1, 0.5, 0} {
				t.Errorf("%s: emissive %v", name, e)
			}
			a, err1 := os.ReadFile(filepath.Join(dir, name))
			b, err2 := os.ReadFile(filepath.Join(fresh, name))
			if d := cmp.Diff(a, b); d != "" || errors.Join(err1, err2) != nil {
				t.Errorf("%s differs from a cook from nothing (%v)", name, errors.Join(err1, err2))
			}
			return nil
		})
		if err != nil || tiles != 2 {
			t.Errorf("version %d: %d tiles, %v", version, tiles, err)
		}
	}
	o := ClassicOptions()
	o.ContainerVersion = format.MaxVersion + 1
	if _, err := Run(context.Background(), path, dir, o); err == nil {
		t.Error("a version that there is not was cooked")
	}
}
