package texfile

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/untoldkit/untold/internal/journal"
	"github.com/untoldkit/untold/manifest/payloadpath"
)

// ErrURI is matched by errors about texture URIs that are not followed: they
// lead out of the payload's folder, or could do so on some system or after
// another decoding.
var ErrURI = errors.New("texture: the URI is not followed")

// maxListed bounds how many entries of one folder are compared when a name is
// looked for without regard to case.
const maxListed = 1 << 16

// CheckURI says whether the URI of a texture record is the relative path of a
// file below its payload's folder. It looks at the text only. URLs, absolute
// paths, drive letters, backslashes, control characters and ".." are refused,
// also where they appear only after percent-decoding; the text itself is taken
// as it is.
func CheckURI(uri string) error {
	if err := payloadpath.Check(uri); err != nil {
		return fmt.Errorf("%w: %w", ErrURI, err)
	}
	// Twice encoded dots would need a second decoding, which nobody does.
	if plain, err := url.PathUnescape(uri); err == nil && plain != uri {
		if err := payloadpath.Check(plain); err != nil {
			return fmt.Errorf("%w: %q: %w", ErrURI, uri, err)
		}
	}
	return nil
}

// Find returns the file that a texture URI of a payload in the folder dir
// names, as a path relative to dir with forward slashes, for Open. It tries
// the URI as it stands, then its last element beside the payload, then the
// path without regard to case.
//
// The error matches ErrURI when the URI is refused and fs.ErrNotExist when
// there is no such file.
func Find(dir, uri string) (string, error) {
	if err := CheckURI(uri); err != nil {
		return "", err
	}
	clean := path.Clean(uri)
	tried := [...]string{clean, path.Base(clean)}
	for _, rel := range tried {
		if moves, _ := journal.Says(folder(dir), filepath.Join(folder(dir), filepath.FromSlash(rel))); moves {
			return rel, nil
		}
	}
	root, err := os.OpenRoot(folder(dir))
	if err != nil {
		return "", fmt.Errorf("texture: %w", err)
	}
	defer root.Close()
	for _, rel := range tried {
		if isFile(root, rel) {
			return rel, nil
		}
	}
	if rel, ok := walk(root, clean); ok {
		return rel, nil
	}
	return "", fmt.Errorf("texture: %q in %s: %w", uri, folder(dir), fs.ErrNotExist)
}

// Open opens a file that Find has found. Links that lead out of dir are
// refused at the moment of opening.
func Open(dir, rel string) (*os.File, error) {
	f, err := payloadpath.Open(folder(dir), rel)
	if errors.Is(err, payloadpath.ErrEscapes) {
		return nil, fmt.Errorf("%w: %w", ErrURI, err)
	}
	if err != nil {
		return nil, fmt.Errorf("texture: %w", err)
	}
	return f, nil
}

func folder(dir string) string {
	if dir == "" {
		return "."
	}
	return dir
}

// isFile reports whether rel is a plain file inside root; a link to the
// outside is none.
func isFile(root *os.Root, rel string) bool {
	info, err := root.Stat(filepath.FromSlash(rel))
	return err == nil && info.Mode().IsRegular()
}

// walk follows rel without regard to case. Of several names that differ only
// in case the exact one wins, else the first in byte order, so that every
// system finds the same file.
func walk(root *os.Root, rel string) (string, bool) {
	at := "."
	for seg := range strings.SplitSeq(rel, "/") {
		name, ok := pick(root, at, seg)
		if !ok {
			return "", false
		}
		at = path.Join(at, name)
	}
	return at, isFile(root, at)
}

func pick(root *os.Root, dir, want string) (string, bool) {
	d, err := root.Open(filepath.FromSlash(dir))
	if err != nil {
		return "", false
	}
	defer d.Close()
	best, found := "", false
	names, _ := d.Readdirnames(maxListed) // what was read before an error counts
	for _, n := range names {
		switch {
		case n == want:
			return n, true
		case strings.EqualFold(n, want) && (!found || n < best):
			best, found = n, true
		}
	}
	return best, found
}
