package tiles3d

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/untoldkit/untold/internal/holding"
)

// stageName is the only file of a temporary folder: a tileset that is being made, or the one
// before.
const stageName = "tileset"

// makeTemp makes a temporary folder beside an output, on the same file system, and marks it
// as in use; remove removes it.
func makeTemp(out string) (dir string, remove func() error, err error) {
	for {
		if dir, err = os.MkdirTemp(filepath.Dir(out), tempPrefix(out)+"*"); err != nil {
			var p *fs.PathError
			if errors.As(err, &p) {
				err = &fs.PathError{Op: p.Op, Path: out, Err: p.Err}
			}
			return "", nil, fmt.Errorf("tiles3d: %w", err)
		}
		release, state, err := holding.Folder(dir)
		if err == nil && state != holding.Busy {
			return dir, func() error { defer release(); return os.RemoveAll(dir) }, nil
		}
		// Another export took it for one that was left behind, before it was marked.
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", nil, errors.Join(fmt.Errorf("tiles3d: %w", err), os.Remove(dir))
		}
	}
}

// ofOutput says of an output, as it was named, what err says of its temporary folder, of
// which nobody knows, or of what is in that.
func ofOutput(err error, temp, out string) error {
	var p *fs.PathError
	if !errors.As(err, &p) || p.Path != temp && !strings.HasPrefix(p.Path, temp+string(filepath.Separator)) {
		return err
	}
	return fmt.Errorf("tiles3d: %w", &fs.PathError{Op: p.Op, Path: out, Err: p.Err})
}

// tempPrefix is what the names of temporary folders beside an output begin with.
func tempPrefix(out string) string {
	base := filepath.Base(out)
	return "." + strings.ToValidUTF8(base[:min(len(base), 100)], "") + "-"
}

// sweep removes what killed exports to an output have left beside it: folders of the name of
// a temporary one that nobody uses, with nothing but a tileset in them. Where the system has
// no locks it removes nothing. What cannot be removed is left to the next export.
func sweep(out string) {
	list, _ := os.ReadDir(filepath.Dir(out))
	for _, d := range list {
		number, ok := strings.CutPrefix(d.Name(), tempPrefix(out))
		if !ok || !d.IsDir() || number == "" || strings.Trim(number, "0123456789") != "" {
			continue
		}
		at := filepath.Join(filepath.Dir(out), d.Name())
		release, state, err := holding.Folder(at)
		if err != nil || state == holding.Busy {
			continue
		}
		inside, err := os.ReadDir(at)
		ours := len(inside) == 0 || len(inside) == 1 && inside[0].Name() == stageName && inside[0].IsDir()
		if err == nil && ours && state == holding.Held {
			_ = os.RemoveAll(at)
		}
		release()
	}
}
