package tiles3d

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/untoldkit/untold/cook/gltfexport"
	"github.com/untoldkit/untold/internal/atomicfile"
	"github.com/untoldkit/untold/internal/filestamp"
	"github.com/untoldkit/untold/internal/journal"
	"github.com/untoldkit/untold/internal/plainfile"
	"github.com/untoldkit/untold/manifest"
)

// The state of a tileset lies in its folder .untold, which servers and walkers skip: it
// says which file was made of what. It is a hint: what it says about a file counts only
// while the file is the one that it was, and a state that is damaged, older or foreign is
// as good as none.

// stateName is the file, relative to the tileset's folder.
const stateName = journal.Folder + "/tileset.state"

// stateVersion is that of the file's layout, maxState bounds the file.
const (
	stateVersion = 1
	maxState     = 1 << 30
)

// state is what the file holds, behind a line with its hash.
type state struct {
	Version  int                 `json:"version"`
	Stages   string              `json:"stages"` // numbers of the code that made it
	Source   string              `json:"source"` // hash of all that decides the bytes
	Sources  []sourceFile        `json:"sources"`
	Outputs  []outputFile        `json:"outputs"`
	Contents map[string]madeFrom `json:"contents"` // by payload
}

// outputFile is a file of the tileset.
type outputFile struct {
	Name   string `json:"name"` // with slashes
	SHA256 string `json:"sha256"`
	filestamp.Stamp
}

// madeFrom is what became of a container, with the key that it was made for.
type madeFrom struct {
	Key       string            `json:"key"`
	SHA256    string            `json:"sha256"` // of the GLB
	Bytes     int64             `json:"bytes"`
	Triangles int               `json:"triangles"`
	Bounds    *manifest.Bounds  `json:"bounds,omitempty"`
	Notes     []gltfexport.Note `json:"notes,omitempty"`
	Shared    []string          `json:"textures,omitempty"` // files of the texture folder
}

func (s *state) encode() ([]byte, error) {
	body, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	return append([]byte(hashOf(body)+"\n"), body...), nil
}

// decodeState returns nil for what no state is.
func decodeState(text []byte) *state {
	line, body, ok := bytes.Cut(text, []byte("\n"))
	if !ok || string(line) != hashOf(body) {
		return nil
	}
	s := &state{}
	if json.Unmarshal(body, s) != nil || s.Version != stateVersion {
		return nil
	}
	for i := range s.Outputs {
		if name := s.Outputs[i].Name; path.Clean(name) != name || !filepath.IsLocal(filepath.FromSlash(name)) {
			return nil
		}
	}
	return s
}

// loadState reads the state of a tileset; nil if there is none that counts.
func loadState(dir string) *state {
	if st, err := os.Lstat(filepath.Join(dir, journal.Folder)); err != nil || !st.IsDir() {
		return nil
	}
	text, err := plainfile.Read(filepath.Join(dir, filepath.FromSlash(stateName)), maxState)
	if err != nil {
		return nil
	}
	return decodeState(text)
}

// save writes the state of a tileset. That there is none costs time alone.
func (s *state) save(dir string) {
	text, err := s.encode()
	if err != nil || len(text) > maxState {
		return
	}
	name := filepath.Join(dir, filepath.FromSlash(stateName))
	if err := os.Mkdir(filepath.Dir(name), 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return
	}
	_ = atomicfile.WriteWith(name, atomicfile.Options{NoSync: true}, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// earlier is a tileset that was there before, as far as its state knows it.
type earlier struct {
	dir    string
	state  *state
	verify bool // stamps count for nothing
	byName map[string]*outputFile
	byHash map[string]*outputFile

	mu     sync.Mutex
	intact map[string]bool
	read   int // files whose content had to be looked at
}

// openEarlier returns the tileset in a folder; without a state, or with "" for none, it has
// no files.
func openEarlier(dir string, verify bool) *earlier {
	p := &earlier{
		dir: dir, state: &state{}, verify: verify, byName: map[string]*outputFile{}, byHash: map[string]*outputFile{},
		intact: map[string]bool{},
	}
	if dir != "" {
		if s := loadState(dir); s != nil {
			p.state = s
		}
	}
	for i := range p.state.Outputs {
		f := &p.state.Outputs[i]
		p.byName[f.Name], p.byHash[f.SHA256] = f, f
	}
	return p
}

// sources returns the files of the scene that it was made of.
func (p *earlier) sources() map[string]sourceFile {
	out := map[string]sourceFile{}
	for _, f := range p.state.Sources {
		out[f.Name] = f
	}
	return out
}

func (p *earlier) path(f *outputFile) string { return filepath.Join(p.dir, filepath.FromSlash(f.Name)) }

// has reports whether a file is as it was written.
func (p *earlier) has(f *outputFile) bool {
	p.mu.Lock()
	ok, known := p.intact[f.Name]
	p.mu.Unlock()
	if known {
		return ok
	}
	read := false
	if st, err := os.Lstat(p.path(f)); err == nil && st.Mode().IsRegular() && st.Size() == f.Size {
		stamp := filestamp.Of(st)
		if ok = stamp == f.Stamp && !p.verify; !ok {
			read = true
			sum, err := hashFile(p.path(f))
			ok = err == nil && sum == f.SHA256
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.intact[f.Name] = ok; read {
		p.read++
	}
	return ok
}

// take gives a file a second name, or, where there are no hard links, copies it; the first
// goes with the old folder.
func (p *earlier) take(f *outputFile, to string) bool {
	if f == nil || !p.has(f) {
		return false
	}
	if os.Link(p.path(f), to) != nil {
		if copyFile(p.path(f), to) != nil {
			os.Remove(to)
			return false
		}
		if sum, err := hashFile(to); err != nil || sum != f.SHA256 {
			os.Remove(to)
			return false
		}
	}
	return true
}

// complete reports whether a folder holds the files of its state, as they were written, and
// nothing else.
func (p *earlier) complete() bool {
	left := len(p.byName)
	err := filepath.WalkDir(p.dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(p.dir, at)
		switch {
		case err != nil:
			return err
		case d.IsDir() && rel == journal.Folder:
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		f := p.byName[filepath.ToSlash(rel)]
		if f == nil || !p.has(f) {
			return fs.ErrInvalid
		}
		left--
		return nil
	})
	return err == nil && left == 0 && len(p.byName) > 0
}

// outputs describes the files of a finished tileset. Those that p knows, or whose hashes are
// known by name, are not read.
func outputs(dir string, p *earlier, known map[string]string) ([]outputFile, error) {
	type file struct {
		name string
		filestamp.Stamp
	}
	before := map[file]string{}
	for name, f := range p.byName {
		if p.intact[name] && !p.verify {
			before[file{name, f.Stamp}] = f.SHA256
		}
	}
	var out []outputFile
	err := filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, at)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		if strings.HasPrefix(name, journal.Folder+"/") {
			return nil
		}
		st, err := d.Info()
		if err != nil {
			return err
		}
		sum := known[name]
		if sum == "" {
			sum = before[file{name, filestamp.Of(st)}]
		}
		if sum == "" {
			if sum, err = hashFile(at); err != nil {
				return err
			}
		}
		out = append(out, outputFile{name, sum, filestamp.Of(st)})
		return nil
	})
	slices.SortFunc(out, func(a, b outputFile) int { return strings.Compare(a.Name, b.Name) })
	return out, err
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func hashFile(name string) (string, error) { return hashOpened(os.Open(name)) }

func hashOpened(f *os.File, err error) (string, error) {
	if err != nil {
		return "", err
	}
	defer f.Close()
	return hashRead(f)
}

func hashRead(r io.Reader) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func copyFile(from, to string) error {
	r, err := os.Open(from)
	if err != nil {
		return err
	}
	defer r.Close()
	w, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, r)
	return errors.Join(err, w.Close())
}
