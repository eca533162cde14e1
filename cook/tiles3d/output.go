package tiles3d

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/untoldkit/untold/internal/atomicfile"
	"github.com/untoldkit/untold/internal/journal"
	"github.com/untoldkit/untold/internal/plainfile"
	"github.com/untoldkit/untold/manifest"
)

// Check says whether Export could write the scene of a manifest to out, without having
// read more than the manifest's path: see Export.
func Check(manifestPath, out string) error {
	_, err := resolve(manifestPath, out, nil)
	return err
}

// resolve returns the output as an absolute path without links, and refuses those that
// would lose something.
func resolve(manifestPath, out string, m *manifest.Manifest) (path string, err error) {
	if out == "" {
		return "", errors.New("tiles3d: the output has no name")
	}
	if path, err = filepath.Abs(out); err != nil {
		return "", fmt.Errorf("tiles3d: %w", err)
	}
	st, err := os.Lstat(path)
	switch {
	case err == nil && st.Mode()&fs.ModeSymlink != 0:
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return "", fmt.Errorf("tiles3d: the output %s is a link that leads nowhere: %w", out, err)
		}
		if st, err = os.Stat(path); err != nil {
			return "", fmt.Errorf("tiles3d: %w", err)
		}
	case err == nil, errors.Is(err, fs.ErrNotExist):
		path = filepath.Join(plainfile.RealPath(filepath.Dir(path)), filepath.Base(path))
	default:
		return "", fmt.Errorf("tiles3d: %w", err)
	}
	if err := keepsInput(path, plainfile.RealPath(manifestPath), m, out); err != nil {
		return "", err
	}
	if st == nil {
		return path, nil
	}
	if IsArchive(out) {
		if err := atomicfile.Replaceable(path); err != nil {
			return "", fmt.Errorf("tiles3d: output: %w", err)
		}
		return path, nil
	}
	if !st.IsDir() {
		return "", fmt.Errorf("tiles3d: %s is a file; name a folder, or a file that ends in .3tz", out)
	}
	if strange := notOurs(path); strange != "" {
		return "", fmt.Errorf("%w: %s holds %s; name another folder or empty it", ErrOccupied, out, strange)
	}
	return path, nil
}

// IsArchive reports whether Export writes one file to an output, by its extension.
func IsArchive(out string) bool { return strings.EqualFold(filepath.Ext(out), ".3tz") }

// keepsInput refuses an output in whose place the scene, or the working folder, would go.
func keepsInput(path, manifestPath string, m *manifest.Manifest, out string) error {
	scene := filepath.Dir(manifestPath)
	inputs := []string{manifestPath}
	if m != nil {
		for _, p := range m.Payloads() {
			inputs = append(inputs, filepath.Join(scene, filepath.FromSlash(p)))
		}
	}
	for _, in := range inputs {
		if plainfile.Within(in, path) {
			return fmt.Errorf("%w: %s is, or holds, %s of the scene itself; name another place", ErrOccupied, out, filepath.Base(in))
		}
	}
	if wd, err := os.Getwd(); err == nil && plainfile.Within(plainfile.RealPath(wd), path) {
		return fmt.Errorf("%w: %s is, or holds, the working folder; name another place", ErrOccupied, out)
	}
	return nil
}

// sharedName is how textures that contents share are called.
var sharedName = regexp.MustCompile(`_[0-9a-f]{32}\.[a-z0-9]+$`)

// notOurs returns a file of a folder that no Export wrote there, "" when there is none.
func notOurs(dir string) (strange string) {
	known, seen := map[string]bool{}, map[string]bool{}
	tileset := false
	if s := loadState(dir); s != nil {
		// The state knows them, whatever has become of tileset.json.
		tileset = true
		for i := range s.Outputs {
			known[s.Outputs[i].Name] = true
		}
	}
	var read func(name string) bool
	read = func(name string) bool {
		if seen[name] || len(known) > 1<<24 {
			return true
		}
		var t tilesetJSON
		f, err := os.Open(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return false
		}
		defer f.Close()
		if json.NewDecoder(f).Decode(&t) != nil || t.Asset.Extras == nil || t.Asset.Extras.Untold.Generator == "" || t.Root == nil {
			return false
		}
		known[name], seen[name] = true, true
		ok := true
		t.Root.each(func(x *tileJSON) {
			if x.Content == nil {
				return
			}
			uri, err := url.PathUnescape(x.Content.URI)
			switch {
			case err != nil || !filepath.IsLocal(filepath.FromSlash(uri)):
				ok = false
			case strings.HasSuffix(uri, ".json"):
				ok = ok && read(uri)
			default:
				known[uri] = true
			}
		})
		return ok
	}
	tileset = read(tilesetName) || tileset
	err := filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, at)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		state := path.Dir(rel) == journal.Folder && (rel == stateName || atomicfile.IsTemp(rel))
		texture := path.Dir(rel) == textureFolder && sharedName.MatchString(rel)
		if !tileset || !d.Type().IsRegular() || !known[rel] && !texture && !state {
			strange = rel
			return fs.SkipAll
		}
		return nil
	})
	if err != nil && strange == "" {
		strange = "what cannot be read"
	}
	return strange
}

// each calls f for a tile and all below.
func (t *tileJSON) each(f func(*tileJSON)) {
	f(t)
	for _, c := range t.Children {
		if c != nil {
			c.each(f)
		}
	}
}

// replace puts a finished folder at out, which is absolute and no link. What was there is
// moved away first, put back when that fails, and removed then.
func replace(stage, out string) error {
	if _, err := os.Stat(out); err != nil {
		if err := os.Rename(stage, out); err != nil {
			return fmt.Errorf("tiles3d: %w", err)
		}
		return nil
	}
	temp, remove, err := makeTemp(out)
	if err != nil {
		return err
	}
	old := filepath.Join(temp, stageName)
	if err := os.Rename(out, old); err != nil {
		return errors.Join(fmt.Errorf("tiles3d: %w", err), remove())
	}
	if err := os.Rename(stage, out); err != nil {
		err = fmt.Errorf("tiles3d: %w", err)
		if back := os.Rename(old, out); back != nil {
			return errors.Join(err, fmt.Errorf("tiles3d: the old tileset lies in %s: %w", temp, back))
		}
		return errors.Join(err, remove())
	}
	return remove()
}
