package manifest

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"github.com/untoldkit/untold/internal/human"
	"github.com/untoldkit/untold/internal/jsonscan"
)

// literal consumes a string and returns it with its quotes. plain: it holds no
// escapes. The caller has checked the opening quote.
func (s *scanner) literal() (lit []byte, plain bool) {
	start := s.pos
	l := jsonscan.String(s.data, start)
	switch s.pos = l.End; {
	case l.Escape >= 0:
		s.pos = l.Escape
		s.syntax("a valid escape sequence")
	case l.Control:
		s.syntax("no control character in a string")
	case l.Open:
		s.syntax("a closing quote")
	default:
		return s.data[start:s.pos], l.Plain
	}
	return nil, false
}

// null consumes a null, when there is one.
func (s *scanner) null() bool {
	if s.failed() || s.space() != 'n' || jsonscan.Word(s.data, s.pos) != "null" {
		return false
	}
	s.pos += 4
	return true
}

// boolean consumes true or false.
func (s *scanner) boolean() bool {
	if s.failed() {
		return false
	}
	s.space()
	switch w := jsonscan.Word(s.data, s.pos); w {
	case "true", "false":
		s.pos += len(w)
		return w == "true"
	}
	s.mismatch("true or false", "")
	return false
}

// number consumes a number of JSON's grammar and returns its text, nil when
// there is none. plain: digits and a sign only.
func (s *scanner) number(expected string) (lit []byte, plain bool) {
	if s.failed() {
		return nil, false
	}
	if c := s.space(); c != '-' && (c < '0' || c > '9') {
		s.mismatch(expected, "")
		return nil, false
	}
	start := s.pos
	end, plain, ok := jsonscan.Number(s.data, start)
	if s.pos = end; !ok {
		s.syntax("a number")
		return nil, false
	}
	return s.data[start:end], plain
}

// float consumes a number that fits single precision, as the engine keeps it.
func (s *scanner) float() float64 {
	lit, _ := s.number("a number")
	if lit == nil {
		return 0
	}
	v, err := strconv.ParseFloat(string(lit), 64)
	if err != nil || math.Abs(v) > math.MaxFloat32 {
		s.rangeError(lit, "a number within ±3.4e38")
		return 0
	}
	return v
}

// integer consumes a whole number of 64 bits. 3.0 and 3e0 are accepted, as by
// the engine.
func (s *scanner) integer() int64 {
	lit, plain := s.number("an integer")
	if lit == nil {
		return 0
	}
	if plain {
		if v, err := strconv.ParseInt(string(lit), 10, 64); err == nil {
			return v
		}
		s.rangeError(lit, "an integer of at most 64 bits")
		return 0
	}
	v, err := strconv.ParseFloat(string(lit), 64)
	switch {
	case err != nil || math.Abs(v) >= 1<<63:
		s.rangeError(lit, "an integer of at most 64 bits")
	case v != math.Trunc(v):
		s.problem(s.errorAt(ErrWrongType, s.pos-len(lit), "an integer", "the number "+human.Clip(string(lit), 40), "write it without a fraction"))
	default:
		return int64(v)
	}
	return 0
}

// count is integer for Go's int.
func (s *scanner) count() int {
	start := s.pos
	v := s.integer()
	if int64(int(v)) != v {
		s.rangeError(bytes.TrimSpace(s.data[start:s.pos]), "an integer of at most 32 bits on this machine")
		return 0
	}
	return int(v)
}

// rangeError reports the number lit, which was just consumed.
func (s *scanner) rangeError(lit []byte, expected string) {
	s.problem(s.errorAt(ErrRange, s.pos-len(lit), expected, "the number "+human.Clip(string(lit), 40), ""))
}

// str consumes a string.
func (s *scanner) str() string {
	if s.failed() {
		return ""
	}
	if s.space() != '"' {
		s.mismatch("a string", "")
		return ""
	}
	lit, plain := s.literal()
	if s.failed() {
		return ""
	}
	if !plain {
		v, _ := jsonscan.Unquote(lit)
		return v
	}
	return s.keep(lit[1 : len(lit)-1])
}

// keep copies text. Many short strings share one block of memory: a manifest
// holds hundreds of thousands.
func (s *scanner) keep(b []byte) string {
	const block = 16 << 10
	if string(b) == s.last {
		return s.last
	}
	if len(b) > 1024 {
		return string(b)
	}
	if s.text.Cap()-s.text.Len() < len(b) {
		s.text = strings.Builder{}
		s.text.Grow(max(len(b), min(block, len(s.data))))
	}
	from := s.text.Len()
	s.text.Write(b)
	s.last = s.text.String()[from:]
	return s.last
}
