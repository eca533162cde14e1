package gltfscene

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/untoldkit/untold/internal/human"
)

// The kinds of failure, for errors.Is. Every error of this package but a
// context's is an *Error that wraps one of them.
var (
	// ErrMalformed: the bytes break a rule of glTF 2.0. Typically a truncated
	// download or an exporter's defect.
	ErrMalformed = errors.New("gltfscene: malformed glTF")
	// ErrUnsupported: legal, but not handled here, such as glTF 1.0 or
	// an unknown required extension. Typically a conversion step is missing.
	ErrUnsupported = errors.New("gltfscene: unsupported glTF feature")
	// ErrMissingFile: the file, or a buffer or image that it names, is absent.
	ErrMissingFile = errors.New("gltfscene: missing file")
	// ErrOutsideFolder: a URI or a link leads out of the file's folder.
	ErrOutsideFolder = errors.New("gltfscene: path leaves the folder")
	// ErrChanged: a file has changed since the scene was opened.
	ErrChanged = errors.New("gltfscene: file has changed")
	// ErrTooLarge: a limit of Options was reached.
	ErrTooLarge = errors.New("gltfscene: too large")
	// ErrNoSuchScene: Options.Scene names a scene that the file lacks.
	ErrNoSuchScene = errors.New("gltfscene: no such scene")
)

// Error says what is wrong, where, and what to do about it.
type Error struct {
	File   string // the path as it was given
	Place  string // such as "meshes[0].primitives[1].attributes.POSITION (accessor 3)"
	Reason string
	Hint   string // what to do, may be empty
	Err    error  // wraps one of the sentinels above
}

// Error returns one line, "FILE: PLACE: REASON (HINT)", without the parts that
// are empty.
func (e *Error) Error() string {
	var b strings.Builder
	for _, part := range []string{e.File, e.Place, e.Reason} {
		if part == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(": ")
		}
		b.WriteString(part)
	}
	if e.Hint != "" {
		b.WriteString(" (" + e.Hint + ")")
	}
	return human.OneLine(b.String())
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// malformed returns an ErrMalformed. Place is relative; see at.
func malformed(place, format string, args ...any) *Error {
	return &Error{Place: place, Reason: fmt.Sprintf(format, args...), Err: ErrMalformed}
}

// changed returns an ErrChanged about a file.
func changed(name string) *Error {
	return &Error{
		Reason: "file " + quote(name) + " has changed while the scene was read",
		Hint:   "try again when it is complete", Err: ErrChanged,
	}
}

// unsupported returns an ErrUnsupported with what to do about it.
func unsupported(place, hint, format string, args ...any) *Error {
	return &Error{Place: place, Hint: hint, Reason: fmt.Sprintf(format, args...), Err: ErrUnsupported}
}

// at puts prefix before the place of err. A place that starts with a dot or a
// bracket continues the prefix.
func at(prefix string, err error) error {
	if err == nil {
		return nil
	}
	var e *Error
	if !errors.As(err, &e) {
		return &Error{Place: prefix, Reason: err.Error(), Err: err}
	}
	c := *e
	switch {
	case c.Place == "":
		c.Place = prefix
	case c.Place[0] == '.' || c.Place[0] == '[':
		c.Place = prefix + c.Place
	default:
		c.Place = prefix + ": " + c.Place
	}
	return &c
}

// cleanName returns a name from the file without control characters.
func cleanName(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}

// clip shortens text from the file for use in a message.
func clip(s string) string { return human.Clip(s, 80) }
