package manifest

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/untoldkit/untold/internal/human"
)

// literal consumes a string and returns it with its quotes. plain: it holds no
// escapes. The caller has checked the opening quote.
func (s *scanner) literal() (lit []byte, plain bool) {
	start := s.pos
	plain = true
	for i := start + 1; i < len(s.data); i++ {
		switch c := s.data[i]; {
		case c == '"':
			s.pos = i + 1
			return s.data[start:s.pos], plain
		case c < 0x20:
			s.pos = i
			s.syntax("no control character in a string")
			return nil, false
		case c == '\\':
			plain = false
			n := escapeLen(s.data[i:])
			if n == 0 {
				s.pos = i
				s.syntax("a valid escape sequence")
				return nil, false
			}
			i += n - 1
		}
	}
	s.pos = len(s.data)
	s.syntax("a closing quote")
	return nil, false
}

// escapeLen returns the length of the escape sequence that b starts with, 0
// when it is none.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b) < 6 {
			return 0
		}
		if _, err := strconv.ParseUint(string(b[2:6]), 16, 16); err == nil {
			return 6
		}
	}
	return 0
}

// null consumes a null, when there is one.
func (s *scanner) null() bool {
	if s.failed() || s.space() != 'n' || s.word() != "null" {
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
	switch w := s.word(); w {
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
	start, i := s.pos, s.pos
	digits := func() bool {
		from := i
		for i < len(s.data) && s.data[i] >= '0' && s.data[i] <= '9' {
			i++
		}
		return i > from
	}
	at := func(c byte) bool { return i < len(s.data) && s.data[i] == c }
	if at('-') {
		i++
	}
	zero := at('0')
	first := i
	ok := digits() && (!zero || i == first+1)
	plain = true
	if ok && at('.') {
		i++
		plain, ok = false, digits()
	}
	if ok && (at('e') || at('E')) {
		i++
		if at('+') || at('-') {
			i++
		}
		plain, ok = false, digits()
	}
	if !ok {
		s.pos = min(i, len(s.data))
		s.syntax("a number")
		return nil, false
	}
	s.pos = i
	return s.data[start:i], plain
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
		v, _ := unquote(lit)
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

// unquote decodes a string literal with its quotes, whose escapes are valid.
// Unpaired surrogates become U+FFFD.
func unquote(lit []byte) (string, bool) {
	if len(lit) < 2 {
		return "", false
	}
	lit = lit[1 : len(lit)-1]
	b := make([]byte, 0, len(lit))
	for i := 0; i < len(lit); {
		if lit[i] != '\\' {
			b = append(b, lit[i])
			i++
			continue
		}
		n := escapeLen(lit[i:])
		if n == 0 {
			return "", false
		}
		if n == 6 {
			r, used := unicodeEscape(lit[i:])
			b = utf8.AppendRune(b, r)
			i += used
			continue
		}
		b = append(b, shortEscapes[lit[i+1]])
		i += n
	}
	return string(b), true
}

var shortEscapes = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// unicodeEscape decodes one \uXXXX or a surrogate pair of them.
func unicodeEscape(b []byte) (r rune, used int) {
	hex := func(b []byte) rune {
		if escapeLen(b) != 6 {
			return -1
		}
		v, _ := strconv.ParseUint(string(b[2:6]), 16, 16)
		return rune(v)
	}
	r = hex(b)
	if r < 0xd800 || r > 0xdfff {
		return r, 6
	}
	if r < 0xdc00 {
		if low := hex(b[6:]); low >= 0xdc00 && low <= 0xdfff {
			return (r-0xd800)<<10 + (low - 0xdc00) + 0x10000, 12
		}
	}
	return utf8.RuneError, 6
}
