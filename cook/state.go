package cook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/untoldkit/untold/internal/filestamp"
	"github.com/untoldkit/untold/internal/journal"
)

// The state of a cooked folder lies in its folder .untold: NAME.state says what the last
// cook of a scene made of what, and NAME.kept has results that are no part of the scene.
// It is a hint: what it says about a file counts only while the file is the one that it
// was, and a state that is damaged, older or foreign is as good as none.

// stateVersion is that of the file's layout.
const stateVersion = 1

// maxState bounds the file that is read.
const maxState = 1 << 30

// state is what the file holds, behind a line with its hash.
type state struct {
	Version int    `json:"version"`
	Options string `json:"options"` // hash of all options
	// Sources are the files of the scene, Outputs those of the cooked one, the
	// manifest last.
	Sources  []source                  `json:"sources"`
	Outputs  []delivered               `json:"outputs"`
	Result   json.RawMessage           `json:"result"`
	Payloads map[string]remembered     `json:"payloads"`         // by the names of their files
	Images   map[string]imageRecord    `json:"images,omitempty"` // by their keys
	Cells    map[string]rememberedCell `json:"cells,omitempty"`  // of the pyramid, by their names
}

// rememberedCell is what became of a cell, with the key that it was made for.
type rememberedCell struct {
	Key    string     `json:"key"`
	Record cellRecord `json:"record"`
}

// source is a file that a scene came from.
type source struct {
	Path   string `json:"path"` // absolute
	SHA256 string `json:"sha256"`
	Racy   bool   `json:"racy,omitempty"` // the stamp alone is not to be trusted
	filestamp.Stamp
}

// delivered is a file of the output folder.
type delivered struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
	filestamp.Stamp
}

// remembered is a result with the key that it was made for.
type remembered struct {
	Key    string            `json:"key"`
	Parts  map[string]string `json:"parts"` // of the key, shortened
	Record record            `json:"record"`
}

// shortSum is enough of a hash to see whether a part of a key has changed.
const shortSum = 16

func (k *key) remember(r *record) remembered {
	out := remembered{Key: k.sum.String(), Parts: map[string]string{}, Record: *r}
	for name, s := range k.parts {
		out.Parts[name] = s.String()[:shortSum]
	}
	return out
}

func stateFile(manifest string) string  { return path.Join(journal.Folder, manifest+".state") }
func keptFolder(manifest string) string { return path.Join(journal.Folder, manifest+".kept") }

// errForeign says that a file is no state that this version wrote.
var errForeign = errors.New("not a state of this version, or a damaged one")

func (s *state) encode() ([]byte, error) {
	body, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	return append([]byte(hashOf(body)+"\n"), body...), nil
}

func decodeState(text []byte) (*state, error) {
	line, body, ok := bytes.Cut(text, []byte("\n"))
	if !ok || string(line) != hashOf(body) {
		return nil, errForeign
	}
	s := &state{}
	if err := json.Unmarshal(body, s); err != nil || s.Version != stateVersion {
		return nil, errForeign
	}
	return s, nil
}

// loadState reads the state of a scene's last cook; nil if there is none that counts.
func loadState(f journal.FS, manifest string) *state {
	name := stateFile(manifest)
	if journal.CheckFolder(f, journal.Folder) != nil {
		return nil
	}
	st, err := f.Lstat(name)
	if err != nil || !st.Mode().IsRegular() || st.Size() > maxState {
		return nil
	}
	text, err := journal.Read(f, name)
	if err != nil {
		return nil
	}
	s, err := decodeState(text)
	if err != nil {
		return nil
	}
	return s
}

// IsSource reports whether a file is one of those that the scene of a manifest was cooked
// from, as far as its folder remembers.
func IsSource(manifest, file string) bool {
	at, err := os.Stat(file)
	if err != nil {
		return false
	}
	root, err := journal.OpenDir(filepath.Dir(manifest), true)
	if err != nil {
		return false
	}
	defer root.Close()
	s := loadState(root, filepath.Base(manifest))
	return s != nil && slices.ContainsFunc(s.Sources, func(f source) bool {
		st, err := os.Stat(f.Path)
		return err == nil && os.SameFile(st, at)
	})
}

// save replaces the state file.
func (s *state) save(f journal.FS, manifest string) error {
	text, err := s.encode()
	if err != nil {
		return err
	}
	if err := journal.MakeFolder(f); err != nil {
		return err
	}
	name := stateFile(manifest)
	temp := name + ".new"
	if err := f.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err = writeNew(f, temp, text)
	if err == nil {
		err = f.Rename(temp, name)
	}
	if err != nil {
		_ = f.Remove(temp)
	}
	return err
}

// writeNew writes a file that is not there.
func writeNew(f journal.FS, name string, data []byte) error {
	w, err := f.Create(name)
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	if err = errors.Join(err, w.Close()); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
