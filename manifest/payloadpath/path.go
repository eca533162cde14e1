// Package payloadpath judges and opens the payload paths of manifests, which come
// from outside and must not lead out of the manifest's folder.
package payloadpath

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/untoldkit/untold/internal/human"
	"github.com/untoldkit/untold/internal/journal"
	"github.com/untoldkit/untold/internal/plainfile"
)

// ErrEscapes is matched by errors about payload paths that lead out of the
// manifest's folder or could do so on some system: absolute paths, "..",
// backslashes, drive letters, URLs, control characters, links to elsewhere; and
// about those that are longer or deeper than maxPath, maxPathName and
// maxPathDepth allow.
var ErrEscapes = errors.New("manifest: path leaves the manifest's folder")

// The limits of payload paths. They leave room for the folder before the path on
// every system, and keep who mirrors paths from making a tree of thousands of
// folders for one short text.
const (
	// maxPath is the longest payload path, in bytes.
	maxPath = 1024
	// maxPathName is the longest name in a payload path, in bytes: that of a file or
	// folder on the usual file systems.
	maxPathName = 255
	// maxPathDepth is how many names a payload path may have.
	maxPathDepth = 32
)

// Error is a payload path that was refused. errors.Is matches ErrEscapes.
type Error struct {
	Path   string // as the manifest has it
	Reason string // such as "is absolute"
	large  bool   // it is refused for its size
}

// Error returns one line.
func (e *Error) Error() string {
	what := ErrEscapes.Error()
	if e.large {
		what = "manifest: path is not followed"
	}
	return fmt.Sprintf("%s: %q %s", what, human.Clip(e.Path, 200), e.Reason)
}

// Unwrap returns ErrEscapes.
func (e *Error) Unwrap() error { return ErrEscapes }

// Check says whether a payload path is relative, written with forward
// slashes, stays in its folder on every operating system, and is within maxPath,
// maxPathName and maxPathDepth. It looks at the text only; Resolve and Open look
// at links too. The error is a *Error.
func Check(rel string) error {
	reason := checkSize(rel)
	if reason != "" {
		return &Error{Path: rel, Reason: reason, large: true}
	}
	switch {
	case rel == "":
		reason = "is empty"
	case !utf8.ValidString(rel):
		reason = "is not UTF-8"
	case strings.ContainsFunc(rel, func(r rune) bool { return r < 0x20 || r == 0x7f }):
		reason = "holds a control character"
	case strings.Contains(rel, `\`):
		reason = "holds a backslash"
	case rel[0] == '/':
		reason = "is absolute"
	case strings.Contains(rel, ":"):
		// A drive, a URL, or a second stream of a file on Windows.
		reason = "holds a colon"
	}
	if reason == "" {
		reason = checkSegments(rel)
	}
	if reason == "" {
		return nil
	}
	return &Error{Path: rel, Reason: reason}
}

// checkSize compares a path with the limits. Names that stand for no folder of
// their own count too: they cost whoever follows them.
func checkSize(rel string) string {
	if len(rel) > maxPath {
		return fmt.Sprintf("is too long: %d bytes, at most %d are allowed", len(rel), maxPath)
	}
	depth := 0
	for name := range strings.SplitSeq(rel, "/") {
		if len(name) > maxPathName {
			return fmt.Sprintf("holds a name that is too long: %d bytes, at most %d are allowed", len(name), maxPathName)
		}
		depth++
	}
	if depth > maxPathDepth {
		return fmt.Sprintf("is too deep: %d names, at most %d are allowed", depth, maxPathDepth)
	}
	return ""
}

// checkSegments looks for "..", also in the spellings that Windows takes for
// it: it ignores spaces and dots at the end of a name.
func checkSegments(rel string) string {
	named := false
	for seg := range strings.SplitSeq(rel, "/") {
		if seg == "" || seg == "." {
			continue
		}
		if strings.Trim(seg, ". ") == "" {
			if strings.Trim(seg, ".") == "" && len(seg) == 2 {
				return `holds ".."`
			}
			return "holds a name of dots and spaces only"
		}
		named = true
	}
	if !named {
		return "names the folder itself"
	}
	return ""
}

// Resolve returns the file that a payload path of a manifest in the folder dir
// names. Besides what Check refuses it refuses links that lead out of dir.
// The file need not exist. Between Resolve and the use of the file another
// program could exchange a folder for a link; Open has no such gap.
func Resolve(dir, rel string) (string, error) {
	if err := Check(rel); err != nil {
		return "", err
	}
	local := filepath.FromSlash(rel)
	if !filepath.IsLocal(local) { // such as NUL on Windows
		return "", &Error{Path: rel, Reason: "is no plain file name on this system"}
	}
	if dir == "" {
		dir = "."
	}
	path := filepath.Join(dir, local)
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", fmt.Errorf("manifest: %w", err)
	}
	if err := checkLinks(root, local, rel); err != nil {
		return "", err
	}
	return path, nil
}

// checkLinks resolves the links of the part of local that exists and refuses
// what then is outside root.
func checkLinks(root, local, rel string) error {
	real, err := filepath.EvalSymlinks(filepath.Join(root, local))
	if errors.Is(err, fs.ErrNotExist) {
		// A link to nowhere may become one to somewhere, so the link itself
		// must stay inside: os.Root follows it and says so.
		return checkMissing(root, local, rel)
	}
	if err != nil {
		return fmt.Errorf("manifest: resolve %q: %w", rel, err)
	}
	inside, err := filepath.Rel(root, real)
	if err != nil || !filepath.IsLocal(inside) {
		return &Error{Path: rel, Reason: "is or passes a link to the outside"}
	}
	return nil
}

// checkMissing judges a path whose file does not exist.
func checkMissing(root, local, rel string) error {
	r, err := os.OpenRoot(root)
	if err != nil {
		return fmt.Errorf("manifest: %w", err)
	}
	defer r.Close()
	if _, err = r.Stat(local); err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return &Error{Path: rel, Reason: "is or passes a link to the outside"}
}

// Open opens the file that a payload path of a manifest in the folder dir
// names, for reading. It refuses what Resolve refuses, at the moment of
// opening. While a cook moves its files into place, or was stopped there, it
// opens the file of the new scene wherever that lies; so do Load and
// format.Open.
func Open(dir, rel string) (*os.File, error) {
	if err := Check(rel); err != nil {
		return nil, err
	}
	if dir == "" {
		dir = "."
	}
	return journal.Follow(dir, filepath.Join(dir, filepath.FromSlash(rel)), func() (*os.File, error) {
		root, err := os.OpenRoot(dir)
		if err != nil {
			return nil, fmt.Errorf("manifest: %w", err)
		}
		defer root.Close()
		return openPlain(root, dir, rel)
	})
}

// OpenIn is Open for a checked path below a folder that is open.
func OpenIn(root *os.Root, dir, rel string) (*os.File, error) {
	return journal.Follow(dir, filepath.Join(dir, filepath.FromSlash(rel)), func() (*os.File, error) { return openPlain(root, dir, rel) })
}

// openPlain opens a checked path below an open folder. It opens plain files
// only: a pipe would block.
func openPlain(root *os.Root, dir, rel string) (*os.File, error) {
	f, _, err := plainfile.OpenIn(root, filepath.FromSlash(rel))
	if err == nil {
		return f, nil
	}
	if errors.Is(err, plainfile.ErrNotPlain) {
		return nil, fmt.Errorf("manifest: %q is no plain file: %w", human.Clip(rel, 200), fs.ErrInvalid)
	}
	// os.Root has no sentinel for an escape, so ask Resolve.
	if _, why := Resolve(dir, rel); errors.Is(why, ErrEscapes) {
		return nil, why
	}
	return nil, fmt.Errorf("manifest: %w", err)
}

// URL returns the address of a payload path of the manifest at base. It
// refuses what Check refuses. Query and fragment of base are dropped.
func URL(base *url.URL, rel string) (*url.URL, error) {
	if err := Check(rel); err != nil {
		return nil, err
	}
	// A first element with a colon would be taken for a scheme; Check has
	// refused those.
	u := base.ResolveReference(&url.URL{Path: rel})
	u.RawQuery, u.Fragment = "", ""
	return u, nil
}
