package manifest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/untoldkit/untold/internal/human"
)

// The kinds of failure of Decode and Load, for errors.Is. All of them come as
// a *DecodeError.
var (
	// ErrSyntax: the text is no JSON. Typically a truncated download, or an
	// HTML error page that was stored under the manifest's name.
	ErrSyntax = errors.New("manifest: not valid JSON")
	// ErrMissingKey: a required key is absent or null.
	ErrMissingKey = errors.New("manifest: missing key")
	// ErrWrongType: a value has another type than its key asks for, such as a
	// bare number for tile_size.
	ErrWrongType = errors.New("manifest: wrong type")
	// ErrRange: a number does not fit its type; the engine keeps distances and
	// positions in single precision.
	ErrRange = errors.New("manifest: number out of range")
	// ErrTooLarge: the text is longer than MaxBytes or nested deeper than
	// maxDepth. No real manifest is.
	ErrTooLarge = errors.New("manifest: too large")
)

// DecodeError says what a manifest's text breaks, where, and what to do.
type DecodeError struct {
	Kind     error  // one of the sentinels above
	Pointer  string // JSON pointer (RFC 6901) of the value; "" is the top level
	Offset   int64  // of the value or of the offending byte, from 0
	Line     int    // from 1; 0: the text is too long to look for it
	Column   int    // in bytes, from 1
	Expected string
	Found    string
	Hint     string // what to do, may be empty
}

// Error returns one line.
func (e *DecodeError) Error() string {
	s := fmt.Sprintf("%v: ", e.Kind)
	if e.Line > 0 { // else nobody has looked for lines
		s += fmt.Sprintf("line %d, column %d (byte %d): ", e.Line, e.Column, e.Offset)
	}
	if e.Pointer != "" {
		s += human.OneLine(human.Clip(e.Pointer, 200)) + ": "
	}
	if s += e.what(); e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

// what says what is wrong, without the place.
func (e *DecodeError) what() string {
	return fmt.Sprintf("expected %s, found %s", e.Expected, human.OneLine(e.Found))
}

// Unwrap returns the sentinel.
func (e *DecodeError) Unwrap() error { return e.Kind }

// fillLines sets the lines and columns of errors, in one pass over the text.
func fillLines(data []byte, errs []*DecodeError) {
	byOffset := slices.Clone(errs)
	slices.SortStableFunc(byOffset, func(a, b *DecodeError) int { return cmp.Compare(a.Offset, b.Offset) })
	line, start, pos := 1, 0, 0 // start is where the line begins
	for _, e := range byOffset {
		for pos < int(e.Offset) {
			n := bytes.IndexByte(data[pos:e.Offset], '\n')
			if n < 0 {
				break
			}
			pos += n + 1
			line, start = line+1, pos
		}
		e.Line, e.Column = line, int(e.Offset)-start+1
	}
}
