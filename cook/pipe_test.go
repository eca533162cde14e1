//go:build unix

package cook

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/untoldkit/untold/internal/atomicfile"
	"github.com/untoldkit/untold/internal/testfile"
)

// Outputs are renamed into place, which would replace a device or a pipe by a
// plain file; and a pipe among the files of the output folder is not read.
func TestPipesStay(t *testing.T) {
	dir := t.TempDir()
	model := testfile.Write(t, filepath.Join(dir, "model.gltf"), triangleScene)
	pipe := filepath.Join(dir, "pipe.untold")
	out := filepath.Join(dir, "out")
	tile := filepath.Join(out, "tiles", "tile_0_0_0.untold")
	if err := os.MkdirAll(filepath.Dir(tile), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{pipe, tile, filepath.Join(out, "other.json")} {
		if err := unix.Mkfifo(p, 0o600); err != nil {
			t.Skip(err)
		}
	}
	link := filepath.Join(dir, "link.untold")
	if err := os.Symlink(pipe, link); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{pipe, link} {
		if _, err := Convert(context.Background(), model, to, ClassicOptions()); !errors.Is(err, atomicfile.ErrInTheWay) {
			t.Errorf("%s: %v", to, err)
		}
	}
	if _, err := Run(context.Background(), model, out, ClassicOptions()); !errors.Is(err, atomicfile.ErrInTheWay) {
		t.Errorf("Run: %v", err)
	}
	for _, p := range []string{pipe, tile} {
		if st, err := os.Lstat(p); err != nil || st.Mode()&fs.ModeNamedPipe == 0 {
			t.Errorf("%s was replaced: %v", p, err)
		}
	}
}
