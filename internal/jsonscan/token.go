// Package jsonscan finds the tokens of JSON texts and where they stand. Readers
// that report errors take [Space], [String], [Number] and [Word] and say in words
// of their own what is wrong; readers of a text that is valid take [Members],
// [Elements] and [Skip]. Positions are indices into the text.
package jsonscan

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// Space returns the position of the first byte at or after i that is no white
// space.
func Space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// NotUTF8 returns the position of the first byte that is no UTF-8, -1 for none.
func NotUTF8(b []byte) int {
	if utf8.Valid(b) {
		return -1
	}
	for i := 0; ; {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n <= 1 {
			return i
		}
		i += n
	}
}

// Literal is what [String] finds.
type Literal struct {
	End     int // behind the closing quote; of a text that has none: of the control character, or of the text
	Control bool
	Open    bool // there is no closing quote
	Plain   bool // no escape
	Escape  int  // position of the first escape that is none of JSON's, -1 for none
}

// String looks at the string literal whose opening quote stands at i.
func String(b []byte, i int) Literal {
	l := Literal{Plain: true, Escape: -1}
	for i++; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			l.End = i + 1
			return l
		case c < ' ':
			l.End, l.Control = i, true
			return l
		case c == '\\':
			l.Plain = false
			n := escapeLen(b[i:])
			if n == 0 && l.Escape < 0 {
				l.Escape = i
			}
			i += max(n, 2) - 1
		}
	}
	l.End, l.Open = len(b), true
	return l
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

// Number looks at the number at i, by JSON's grammar. integer: digits and a sign
// only. When there is none ok is false, and end is where it breaks off.
func Number(b []byte, i int) (end int, integer, ok bool) {
	digits := func() bool {
		from := i
		for i < len(b) && b[i] >= '0' && b[i] <= '9' {
			i++
		}
		return i > from
	}
	at := func(c byte) bool { return i < len(b) && b[i] == c }
	if at('-') {
		i++
	}
	zero := at('0')
	first := i
	ok = digits() && (!zero || i == first+1)
	integer = true
	if ok && at('.') {
		i++
		integer, ok = false, digits()
	}
	if ok && (at('e') || at('E')) {
		i++
		if at('+') || at('-') {
			i++
		}
		integer, ok = false, digits()
	}
	return i, integer, ok
}

// Word returns which of true, false and null stands at i, "" for none.
func Word(b []byte, i int) string {
	for _, w := range [...]string{"true", "false", "null"} {
		if bytes.HasPrefix(b[i:], []byte(w)) {
			return w
		}
	}
	return ""
}

// Unquote decodes a string literal with its quotes; ok is false where an escape is
// wrong. As in encoding/json, halves of surrogate pairs and bytes that are no
// UTF-8 become U+FFFD.
func Unquote(lit []byte) (s string, ok bool) {
	if len(lit) < 2 {
		return "", false
	}
	lit = lit[1 : len(lit)-1]
	if bytes.IndexByte(lit, '\\') < 0 && utf8.Valid(lit) {
		return string(lit), true
	}
	out := make([]byte, 0, len(lit))
	for i := 0; i < len(lit); {
		if lit[i] != '\\' {
			r, n := utf8.DecodeRune(lit[i:])
			out = utf8.AppendRune(out, r)
			i += n
			continue
		}
		switch escapeLen(lit[i:]) {
		case 0:
			return "", false
		case 2:
			out = append(out, shortEscapes[lit[i+1]])
			i += 2
		default:
			r, n := unicodeEscape(lit[i:])
			out = utf8.AppendRune(out, r)
			i += n
		}
	}
	return string(out), true
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
