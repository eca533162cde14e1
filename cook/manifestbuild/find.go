package manifestbuild

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/untoldkit/untold/internal/atomicfile"
	"github.com/untoldkit/untold/internal/journal"
	"github.com/untoldkit/untold/partition"
)

// Find lists the containers among the paths: files as they are, folders with
// all .untold files below them but those in folders whose name begins with a
// dot. The result is sorted.
func Find(paths []string) ([]string, error) {
	var out []string
	for _, p := range paths {
		st, err := journal.Stat(p)
		if err != nil {
			return nil, fmt.Errorf("manifestbuild: %w", err)
		}
		if !st.IsDir() {
			out = append(out, p)
			continue
		}
		files, err := journal.Files(p)
		if err != nil {
			return nil, fmt.Errorf("manifestbuild: %w", err)
		}
		for _, file := range files {
			if !atomicfile.IsTemp(file) && strings.EqualFold(filepath.Ext(file), partition.PayloadExt) {
				out = append(out, file)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// DefaultPath is where the manifest of some containers belongs: in the parent
// of the folder that they lie in, named after the shared bucket
// (<scene>_shared.untold), else after that parent.
func DefaultPath(files []string) (string, error) {
	if len(files) == 0 {
		return "", fmt.Errorf("%w: there is no %s file; name the folder that holds them", ErrNoTiles, partition.PayloadExt)
	}
	common, scene := "", ""
	for i, f := range files {
		abs, err := filepath.Abs(f)
		if err != nil {
			return "", fmt.Errorf("manifestbuild: %w", err)
		}
		dir := filepath.Dir(abs)
		if i == 0 {
			common = dir
		}
		for !strings.HasPrefix(dir+string(filepath.Separator), strings.TrimSuffix(common, string(filepath.Separator))+string(filepath.Separator)) {
			up := filepath.Dir(common)
			if up == common {
				break // other volumes: Build says that they are outside
			}
			common = up
		}
		if name, ok := strings.CutSuffix(filepath.Base(f), "_shared"+partition.PayloadExt); ok && name != "" {
			scene = name
		}
	}
	dir := filepath.Dir(common)
	if scene == "" {
		scene = partition.Sanitize(filepath.Base(dir))
	}
	out := filepath.Join(dir, partition.ManifestFile(scene))
	if !filepath.IsAbs(files[0]) {
		// Relative like the files, for messages.
		if here, err := filepath.Abs("."); err == nil {
			if rel, err := filepath.Rel(here, out); err == nil {
				out = rel
			}
		}
	}
	return out, nil
}
