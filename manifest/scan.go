package manifest

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/untoldkit/untold/finding"
	"github.com/untoldkit/untold/internal/human"
	"github.com/untoldkit/untold/internal/jsonscan"
)

const (
	// MaxBytes is the longest text that Decode and Load accept.
	MaxBytes = 1 << 29
	// maxDepth is the deepest nesting of objects and arrays that they accept.
	maxDepth = 128
	// maxProblems bounds what a collecting scanner and the tolerated values
	// may report, so that a hostile file cannot fill the memory with findings.
	maxProblems = 1000
)

// step is one element of the path to the current value: a key, as the place of
// its literal in the text, or an array index.
type step struct {
	start, end int // of the key with its quotes; end 0: index holds
	index      int
}

// scanner walks JSON text once, front to back. Its methods return zero values
// after a failure: err is sticky, and the loops over members end with it.
//
// A value of a wrong type ends the scan, but not inside keys that the engine
// ignores (lenient > 0: it becomes a note) and not in a collecting scanner.
type scanner struct {
	data    []byte
	pos     int
	path    []step
	name    []byte // the latest key, unescaped; valid until the next one
	lenient int
	collect bool

	streamed bool // leaves out what streaming does not look at

	err     *DecodeError
	found   []*DecodeError    // a collecting scanner's errors
	notes   []finding.Finding // what was tolerated
	remarks []finding.Finding // about what is kept, until its key has been read
	dropped int               // notes and errors beyond maxProblems
	text    strings.Builder
	last    string // the latest short string, often repeated
}

// space skips white space and returns the byte that follows, 0 at the end.
func (s *scanner) space() byte {
	if s.pos = jsonscan.Space(s.data, s.pos); s.pos < len(s.data) {
		return s.data[s.pos]
	}
	return 0
}

// failed reports whether the scan is over.
func (s *scanner) failed() bool { return s.err != nil }

// errorAt builds an error about the current path.
func (s *scanner) errorAt(kind error, offset int, expected, found, hint string) *DecodeError {
	// Line and column are added at the end: counting lines takes a while.
	return &DecodeError{
		Kind: kind, Pointer: s.pointer(), Offset: int64(offset),
		Expected: expected, Found: found, Hint: hint,
	}
}

// syntax ends the scan.
func (s *scanner) syntax(expected string) {
	if s.err == nil {
		hint := ""
		if s.pos >= len(s.data) {
			hint = "the file is cut off: fetch or write it again"
		}
		s.err = s.errorAt(ErrSyntax, s.pos, expected, s.describe(s.pos), hint)
	}
}

// problem reports an error that leaves the text readable. It returns false
// when the scan is over.
func (s *scanner) problem(e *DecodeError) bool {
	switch {
	case s.err != nil:
		return false
	case s.lenient > 0:
		s.note(codeIgnoredValue, e.Offset, e.what())
	case !s.collect:
		s.err = e
		return false
	case len(s.found) < maxProblems:
		s.found = append(s.found, e)
	default:
		s.dropped++
	}
	return true
}

// remark reports, at the place of the scan, something about a value that loose keeps.
func (s *scanner) remark(message string) {
	if len(s.remarks) < maxProblems {
		s.remarks = append(s.remarks, newFinding(codeIgnoredValue, s.pointer(), int64(s.pos), message))
	}
}

// note reports something that the engine tolerates.
func (s *scanner) note(code finding.Code, offset int64, message string) {
	if len(s.notes) >= maxProblems {
		s.dropped++
		return
	}
	s.notes = append(s.notes, newFinding(code, s.pointer(), offset, message))
}

// mismatch reports that the value at the position has a wrong type, and skips
// it.
func (s *scanner) mismatch(expected, hint string) {
	c := s.space()
	if !s.atValue(c) {
		s.syntax(expected)
		return
	}
	kind := ErrWrongType
	if c == 'n' && s.lenient == 0 {
		kind = ErrMissingKey
	}
	if s.problem(s.errorAt(kind, s.pos, expected, s.describe(s.pos), hint)) {
		s.skip()
	}
}

// atValue reports whether a value begins at the position, whose byte is c.
func (s *scanner) atValue(c byte) bool {
	switch {
	case c == '{' || c == '[' || c == '"' || c == '-' || c >= '0' && c <= '9':
		return true
	case c == 't' || c == 'f' || c == 'n':
		return jsonscan.Word(s.data, s.pos) != ""
	}
	return false
}

// describe names the value or byte at a position for a message.
func (s *scanner) describe(pos int) string {
	if pos >= len(s.data) {
		return "the end of the file"
	}
	lit := string(s.data[pos:min(len(s.data), pos+60)])
	end := strings.IndexAny(lit, ",]}\n\r")
	if end > 0 {
		lit = lit[:end]
	}
	switch c := s.data[pos]; {
	case c == '{':
		return "an object"
	case c == '[':
		return "an array"
	case c == '"':
		return "the string " + human.Clip(lit, 40)
	case c == '-' || c >= '0' && c <= '9':
		return "the number " + human.Clip(lit, 40)
	case pos == s.pos && jsonscan.Word(s.data, s.pos) != "":
		return jsonscan.Word(s.data, s.pos)
	case c < 0x20 || c >= utf8.RuneSelf:
		return fmt.Sprintf("the byte 0x%02x", c)
	}
	return fmt.Sprintf("%q", s.data[pos])
}

// pointer renders the path as a JSON pointer.
func (s *scanner) pointer() string {
	var b strings.Builder
	for _, p := range s.path {
		switch {
		case p.end > 0:
			key, ok := jsonscan.Unquote(s.data[p.start:p.end])
			if !ok {
				key = string(s.data[p.start:p.end])
			}
			b.WriteString("/" + escapePointer(human.Clip(key, 200)))
		case p.index >= 0:
			b.WriteString("/" + strconv.Itoa(p.index))
		}
	}
	return b.String()
}

// escapePointer escapes one reference token of a JSON pointer.
func escapePointer(key string) string {
	return strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1")
}

// enter consumes an opening bracket and opens a level of the path.
func (s *scanner) enter(bracket byte, expected, hint string) bool {
	if s.failed() {
		return false
	}
	if s.space() != bracket {
		s.mismatch(expected, hint)
		return false
	}
	if len(s.path) >= maxDepth {
		s.err = s.errorAt(ErrTooLarge, s.pos, fmt.Sprintf("at most %d nested levels", maxDepth), "another one", "")
		return false
	}
	s.pos++
	s.path = append(s.path, step{index: -1})
	return true
}

// leave consumes the closing bracket.
func (s *scanner) leave() {
	s.pos++
	s.path = s.path[:len(s.path)-1]
}

// object consumes the start of an object. Loop over its members with key.
func (s *scanner) object(expected, hint string) bool { return s.enter('{', expected, hint) }

// key moves to the next member: it consumes the key, which is in s.name then,
// and the colon. At the end of the object it returns false. The caller sets
// *first to true before the loop.
func (s *scanner) key(first *bool) bool {
	if s.failed() {
		return false
	}
	c := s.space()
	if c == '}' {
		s.path[len(s.path)-1] = step{index: -1}
		s.leave()
		return false
	}
	if !*first {
		if c != ',' {
			s.syntax("a comma or a closing brace")
			return false
		}
		s.pos++
		c = s.space()
	}
	*first = false
	if c != '"' {
		s.syntax("a key in double quotes")
		return false
	}
	start := s.pos
	lit, plain := s.literal()
	if s.failed() {
		return false
	}
	if plain {
		s.name = lit[1 : len(lit)-1]
	} else {
		u, _ := jsonscan.Unquote(lit)
		s.name = []byte(u)
	}
	s.path[len(s.path)-1] = step{start: start, end: s.pos}
	if s.space() != ':' {
		s.syntax("a colon")
		return false
	}
	s.pos++
	return true
}

// array consumes the start of an array. Loop over it with elem.
func (s *scanner) array(expected, hint string) bool { return s.enter('[', expected, hint) }

// elem moves to element *i+1; the caller starts with -1. It returns false at
// the end of the array.
func (s *scanner) elem(i *int) bool {
	if s.failed() {
		return false
	}
	c := s.space()
	if c == ']' {
		s.leave()
		return false
	}
	if *i >= 0 {
		if c != ',' {
			s.syntax("a comma or a closing bracket")
			return false
		}
		s.pos++
		if s.space() == ']' {
			s.syntax("a value")
			return false
		}
	}
	*i++
	s.path[len(s.path)-1] = step{index: *i}
	return true
}

// skip consumes any value and checks its syntax.
func (s *scanner) skip() {
	if s.failed() {
		return
	}
	switch c := s.space(); {
	case c == '{':
		if s.object("", "") {
			for first := true; s.key(&first); {
				s.skip()
			}
		}
	case c == '[':
		if s.array("", "") {
			for i := -1; s.elem(&i); {
				s.skip()
			}
		}
	case c == '"':
		s.literal()
	case s.lenient > 0 && (c == '-' || c >= '0' && c <= '9'):
		s.float() // it may be kept
	case c == '-' || c >= '0' && c <= '9':
		s.number("")
	default:
		if w := jsonscan.Word(s.data, s.pos); w != "" {
			s.pos += len(w)
		} else {
			s.syntax("a value")
		}
	}
}
