package tiles3d

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/untoldkit/untold/internal/atomicfile"
)

// vacant refuses outputs that would lose something.
func vacant(out string, archive bool) error {
	st, err := os.Stat(out)
	if errors.Is(err, fs.ErrNotExist) {
		if st, err = os.Stat(filepath.Dir(filepath.Clean(out))); err == nil && !st.IsDir() {
			return fmt.Errorf("tiles3d: %s is no folder", filepath.Dir(out))
		}
		if errors.Is(err, fs.ErrNotExist) {
			return os.MkdirAll(filepath.Dir(filepath.Clean(out)), 0o777)
		}
		return err
	}
	if err != nil {
		return fmt.Errorf("tiles3d: %w", err)
	}
	if archive {
		if err := atomicfile.Replaceable(out); err != nil {
			return fmt.Errorf("tiles3d: output: %w", err)
		}
		return nil
	}
	if !st.IsDir() {
		return fmt.Errorf("tiles3d: %s is a file; name a folder, or a file that ends in .3tz", out)
	}
	list, err := os.ReadDir(out)
	if err != nil {
		return fmt.Errorf("tiles3d: %w", err)
	}
	if len(list) > 0 && !ours(filepath.Join(out, tilesetName)) {
		return fmt.Errorf("%w: %s; name another folder or empty it", ErrOccupied, out)
	}
	return nil
}

// ours reports whether a file is a tileset that Export wrote.
func ours(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var t struct {
		Asset assetJSON `json:"asset"`
	}
	return json.NewDecoder(f).Decode(&t) == nil && t.Asset.Extras != nil && t.Asset.Extras.Generator != ""
}

// replace puts a finished folder at out. What was there is moved away first and removed
// then, so that there is always a whole tileset or none.
func replace(stage, out string) error {
	old := ""
	if _, err := os.Stat(out); err == nil {
		var err error
		if old, err = os.MkdirTemp(filepath.Dir(filepath.Clean(out)), "."+filepath.Base(out)+"-old-"); err != nil {
			return fmt.Errorf("tiles3d: %w", err)
		}
		defer os.RemoveAll(old)
		if err := os.Rename(out, filepath.Join(old, "tileset")); err != nil {
			return fmt.Errorf("tiles3d: %w", err)
		}
	}
	if err := os.Rename(stage, out); err != nil {
		if old != "" {
			err = errors.Join(err, os.Rename(filepath.Join(old, "tileset"), out))
		}
		return fmt.Errorf("tiles3d: %w", err)
	}
	return nil
}

// pack writes a folder as a 3D Tiles archive and returns its bytes.
func pack(ctx context.Context, dir, out string) (n int64, err error) {
	err = atomicfile.WriteWith(out, atomicfile.Options{}, func(w io.Writer) error {
		n, err = writeArchive(ctx, w, dir)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("tiles3d: %w", err)
	}
	return n, nil
}
