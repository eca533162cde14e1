package cook

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/untoldkit/untold/internal/cube"
	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/manifest"
)

// TestGradeIsStaged: the table lies beside the tiles as it was, the manifest names it,
// tiles are not made again for another one, and it goes with its option.
func TestGradeIsStaged(t *testing.T) {
	scene, dir := runScene(t, "town.gltf", townBoxes()), filepath.Join(t.TempDir(), "town")
	opts := ClassicOptions()
	file := filepath.Join(dir, "tiles", "town_grade.cube")
	first := "# as it was\r\nLUT_1D_SIZE 2\n0 0 0\n1 1 1\n"
	for i, tc := range []struct {
		table string
		size  int
	}{{first, 2}, {"LUT_1D_SIZE 3\n0 0 0\n1 1 1\n1 1 1", 3}, {"", 0}, {first, 2}} {
		opts.Grade = nil
		if tc.table != "" {
			opts.Grade = []byte(tc.table)
		}
		res := mustRun(t, scene, dir, opts)
		if f, err := manifest.ValidateFile(res.ManifestPath, manifest.ValidateOptions{CheckFiles: true}); err != nil || hasErrors(f) {
			t.Errorf("%d: %v %v", i, err, f)
		}
		m, err := manifest.Load(res.ManifestPath)
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 && res.Reused == 0 {
			t.Errorf("%d: no tile was taken again", i)
		}
		if tc.size == 0 {
			if _, err := os.Stat(file); m.ColorGradeLUT != nil || !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%d: %+v, %v", i, m.ColorGradeLUT, err)
			}
			continue
		}
		if g := m.ColorGradeLUT; g == nil || g.URI != "tiles/town_grade.cube" || g.Size != tc.size {
			t.Fatalf("%d: the manifest has %+v", i, g)
		}
		if got := string(testfile.Read(t, file)); got != tc.table {
			t.Errorf("%d: the table is %q", i, got)
		}
	}
	// A manifest that was made anew names no table; what the last cook has put is known.
	m, err := manifest.Load(filepath.Join(dir, "town.json"))
	if err != nil {
		t.Fatal(err)
	}
	m.ColorGradeLUT = nil
	if err := m.Save(filepath.Join(dir, "town.json")); err != nil {
		t.Fatal(err)
	}
	opts.Grade = nil
	mustRun(t, scene, dir, opts)
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the table stays beside a manifest without it: %v", err)
	}
	opts.Grade = []byte("no table")
	if _, err := Run(t.Context(), scene, dir, opts); !errors.Is(err, ErrBadInput) || !errors.Is(err, cube.ErrFormat) {
		t.Errorf("a table that is none: %v", err)
	}
}
