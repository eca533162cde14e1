package jsonscan

import (
	"bytes"
	"iter"
	"unicode/utf8"
)

// The functions of this file walk text that is valid JSON and copy nothing. On
// other text they stop early.

// skipString returns the position behind the string that starts at i.
func skipString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		k := bytes.IndexByte(b[i:], '"')
		if k < 0 {
			return len(b)
		}
		// An odd number of backslashes before the quote escapes it.
		n := 0
		for n < k && b[i+k-1-n] == '\\' {
			n++
		}
		i += k
		if n%2 == 0 {
			return i + 1
		}
	}
	return len(b)
}

// Skip returns the position behind the value that starts at i.
func Skip(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = skipString(b, i)
		case '{', '[':
			depth++
			i++
			continue
		case '}', ']':
			depth--
			i++
		case ',', ':', ' ', '\n', '\r', '\t':
			if depth == 0 {
				return i
			}
			i++
			continue
		default:
			for i < len(b) && !endsLiteral[b[i]] {
				i++
			}
		}
		if depth <= 0 {
			return i
		}
	}
	return len(b)
}

// endsLiteral tells which bytes cannot be part of a number, true, false, null.
var endsLiteral = [256]bool{',': true, ':': true, ']': true, '}': true, ' ': true, '\n': true, '\r': true, '\t': true, '"': true, '{': true, '[': true}

// Span is a value in a text: from Start up to End.
type Span struct{ Start, End int }

// Of returns the value's part of the text.
func (s Span) Of(b []byte) []byte { return b[s.Start:s.End] }

// Key is the key of a member, with the position of its opening quote.
type Key struct {
	Text []byte // decoded; may be a part of the text
	At   int
}

// Members yields the members of the object at i, in order; none where no object
// stands there.
func Members(b []byte, i int) iter.Seq2[Key, Span] {
	return func(yield func(Key, Span) bool) {
		i := Space(b, i)
		if i >= len(b) || b[i] != '{' {
			return
		}
		for i++; ; i++ {
			i = Space(b, i)
			if i >= len(b) || b[i] != '"' {
				return
			}
			end := skipString(b, i)
			key := Key{Text(b[i:end]), i}
			i = Space(b, end)
			if i >= len(b) || b[i] != ':' {
				return
			}
			i = Space(b, i+1)
			end = Skip(b, i)
			if !yield(key, Span{i, end}) {
				return
			}
			if i = Space(b, end); i >= len(b) || b[i] != ',' {
				return
			}
		}
	}
}

// Elements yields the elements of the array at i with their indices, in order;
// none where no array stands there.
func Elements(b []byte, i int) iter.Seq2[int, Span] {
	return func(yield func(int, Span) bool) {
		i := Space(b, i)
		if i >= len(b) || b[i] != '[' {
			return
		}
		for n := 0; ; n++ {
			i = Space(b, i+1)
			if i >= len(b) || b[i] == ']' {
				return
			}
			end := Skip(b, i)
			if end == i || !yield(n, Span{i, end}) {
				return
			}
			if i = Space(b, end); i >= len(b) || b[i] != ',' {
				return
			}
		}
	}
}

// Member returns the value of the first member of the object b with a key, nil
// when absent.
func Member(b []byte, name string) []byte {
	if !bytes.Contains(b, []byte(name)) && bytes.IndexByte(b, '\\') < 0 {
		return nil // found out faster than by the members; an escape may stand for any of its letters
	}
	for key, val := range Members(b, 0) {
		if string(key.Text) == name {
			return val.Of(b)
		}
	}
	return nil
}

// Text decodes a string literal, without copying it if it holds no escape; nil
// when it is none.
func Text(lit []byte) []byte {
	if len(lit) >= 2 && bytes.IndexByte(lit, '\\') < 0 && utf8.Valid(lit) {
		return lit[1 : len(lit)-1]
	}
	s, ok := Unquote(lit)
	if !ok {
		return nil
	}
	return []byte(s)
}
