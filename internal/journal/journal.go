package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Names inside the folder of a scene.
const (
	// Folder holds stages and the journal. Walkers skip it by its dot.
	Folder = ".untold"
	// Name is the journal's.
	Name = Folder + "/commit.json"
	// StagePrefix starts the names of stages; digits follow.
	StagePrefix = "cook-"
	// tempName is the journal's inside the stage before the commit.
	tempName = ".commit"
)

// Bounds of what a journal may say.
const (
	version  = 1
	maxBytes = 64 << 20
	maxFiles = 1 << 19
	maxPath  = 1024 // bytes
	maxDepth = 32   // elements
)

// Errors about journals.
var (
	// ErrDamaged says that a journal cannot be trusted.
	ErrDamaged = errors.New("the journal of a cook is damaged: cook the scene into the folder again")
	// ErrVersion says that a journal is of a later version of this program.
	ErrVersion = errors.New("the journal of a cook is of a newer version of this program: use that one")
	// ErrPath says that a name is not one that a journal may hold.
	ErrPath = errors.New("not a plain relative path")
)

// Journal says which files a commit moves and removes.
type Journal struct {
	Stage   string   `json:"stage"`
	Files   []Entry  `json:"files"`   // in the order of the renames
	Removes []string `json:"removes"` // files of the old scene

	sum   string
	files map[string]int
	gone  map[string]bool
}

// Entry is a file that moves from the stage to its place.
type Entry struct {
	Path   string `json:"path"` // of the place, relative to the folder, with slashes
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// envelope is the text of a journal: the checksum is that of the bytes of body.
type envelope struct {
	Version int             `json:"untold_commit"`
	SHA256  string          `json:"sha256"`
	Body    json.RawMessage `json:"body"`
}

// stageOf returns where an entry lies until it moves.
func (j *Journal) stageOf(name string) string { return Folder + "/" + j.Stage + "/" + name }

// where says what becomes of a name: staged is where it lies until it moves, ""
// when the journal does not move it.
func (j *Journal) where(name string) (staged string, removed bool) {
	if _, ok := j.files[name]; ok {
		return j.stageOf(name), false
	}
	return "", j.gone[name]
}

// encode returns the text of a journal.
func (j *Journal) encode() ([]byte, error) {
	body, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	j.sum = sumOf(body)
	text, err := json.Marshal(envelope{version, j.sum, body})
	if err == nil && len(text) >= maxBytes {
		err = fmt.Errorf("the journal of %d files is too large", len(j.Files))
	}
	return append(text, '\n'), err
}

func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// decode reads and checks the text of a journal.
func decode(text []byte) (*Journal, error) {
	var e envelope
	if err := json.Unmarshal(text, &e); err != nil {
		return nil, fmt.Errorf("%w (%v)", ErrDamaged, err)
	}
	if e.Version > version {
		return nil, ErrVersion
	}
	if e.Version != version || e.SHA256 != sumOf(e.Body) {
		return nil, fmt.Errorf("%w (the checksum is wrong)", ErrDamaged)
	}
	j := &Journal{sum: e.SHA256}
	if err := json.Unmarshal(e.Body, j); err != nil {
		return nil, fmt.Errorf("%w (%v)", ErrDamaged, err)
	}
	if err := j.check(CheckPath); err != nil {
		return nil, fmt.Errorf("%w (%v)", ErrDamaged, err)
	}
	return j, nil
}

// check judges what a journal says and builds its index.
func (j *Journal) check(checkPath func(string) error) error {
	if !IsStage(j.Stage) {
		return fmt.Errorf("stage %.40q", j.Stage)
	}
	if len(j.Files)+len(j.Removes) > maxFiles {
		return fmt.Errorf("%d files", len(j.Files)+len(j.Removes))
	}
	j.files, j.gone = make(map[string]int, len(j.Files)), make(map[string]bool, len(j.Removes))
	folded := make(map[string]string, len(j.Files))
	for i, e := range j.Files {
		if err := checkPath(e.Path); err != nil {
			return err
		}
		if other, ok := folded[Fold(e.Path)]; ok {
			return &CaseError{other, e.Path}
		}
		j.files[e.Path], folded[Fold(e.Path)] = i, e.Path
	}
	for _, name := range j.Removes {
		if err := checkPath(name); err != nil {
			return err
		}
		if _, both := j.files[name]; both {
			return fmt.Errorf("%.200q moves and goes", name)
		}
		j.gone[name] = true
	}
	return nil
}

// CaseError says that two files of one scene have names that differ by case
// alone, or not at all: on Windows and macOS one would replace the other.
type CaseError struct{ A, B string }

// Error names both.
func (e *CaseError) Error() string {
	return fmt.Sprintf("the names %q and %q differ by case alone, and not all file systems tell them apart: rename one of the objects or textures", e.A, e.B)
}

// Fold returns what names that differ by case alone have in common.
func Fold(name string) string { return strings.ToLower(strings.ToUpper(name)) }

// IsStage reports whether a name in Folder is that of a stage.
func IsStage(name string) bool {
	number, ours := strings.CutPrefix(name, StagePrefix)
	return ours && number != "" && len(number) <= 20 && strings.Trim(number, "0123456789") == ""
}

// CheckPath says whether a journal may hold a name. The error matches ErrPath.
func CheckPath(name string) error {
	bad := len(name) > maxPath || !utf8.ValidString(name) || !fs.ValidPath(name) || name == "." ||
		strings.ContainsAny(name, `\:`) || strings.ContainsFunc(name, unicode.IsControl) ||
		strings.Count(name, "/") >= maxDepth || !filepath.IsLocal(filepath.FromSlash(name)) ||
		strings.HasPrefix(Fold(name), Folder)
	if !bad {
		for seg := range strings.SplitSeq(name, "/") {
			// Windows ignores dots and spaces at the end of a name.
			bad = bad || strings.TrimRight(seg, ". ") != seg
		}
	}
	if bad {
		return fmt.Errorf("%.200q: %w", name, ErrPath)
	}
	return nil
}

// Load reads the journal of a folder; nil when there is none.
func Load(f FS) (*Journal, error) {
	if st, err := f.Lstat(Folder); errors.Is(err, fs.ErrNotExist) || err == nil && !st.IsDir() {
		return nil, nil // or somebody else's file of that name
	} else if err != nil {
		return nil, err
	}
	st, err := f.Lstat(Name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !st.Mode().IsRegular() || st.Size() > maxBytes:
		return nil, fmt.Errorf("%w (no plain file, or too large)", ErrDamaged)
	}
	file, err := f.Open(Name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // finished in the meantime
	}
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(file, maxBytes+1))
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	return decode(text)
}

// parents lists the folders above a name, the nearest first, without ".".
func parents(name string) (out []string) {
	for d := path.Dir(name); d != "."; d = path.Dir(d) {
		out = append(out, d)
	}
	return out
}
