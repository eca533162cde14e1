package gltfscene

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// The functions of this file walk JSON text that json.Valid has accepted and
// return parts of it without copying. On other text they stop early.

// skipSpace returns the index of the first byte at or after i that is no
// white space.
func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// skipString returns the index after the string that starts at i.
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

// skipValue returns the index after the value that starts at i.
func skipValue(b []byte, i int) int {
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
			for i < len(b) && !endsLiteral(b[i]) {
				i++
			}
		}
		if depth <= 0 {
			return i
		}
	}
	return len(b)
}

// endsLiteral reports whether c cannot be part of a number, true, false, null.
func endsLiteral(c byte) bool {
	switch c {
	case ',', ':', ']', '}', ' ', '\n', '\r', '\t', '"', '{', '[':
		return true
	}
	return false
}

// eachMember calls f for the members of the object b, in order, until f
// returns false. The key is decoded; it and the value may be parts of b.
func eachMember(b []byte, f func(key, val []byte) bool) {
	i := skipSpace(b, 0)
	if i >= len(b) || b[i] != '{' {
		return
	}
	for i++; ; i++ {
		i = skipSpace(b, i)
		if i >= len(b) || b[i] != '"' {
			return
		}
		end := skipString(b, i)
		key := plain(b[i:end])
		i = skipSpace(b, end)
		if i >= len(b) || b[i] != ':' {
			return
		}
		i = skipSpace(b, i+1)
		end = skipValue(b, i)
		if !f(key, b[i:end]) {
			return
		}
		if i = skipSpace(b, end); i >= len(b) || b[i] != ',' {
			return
		}
	}
}

// eachElement calls f for the elements of the array b, in order, until f
// returns false.
func eachElement(b []byte, f func(i int, val []byte) bool) {
	i := skipSpace(b, 0)
	if i >= len(b) || b[i] != '[' {
		return
	}
	for n := 0; ; n++ {
		i = skipSpace(b, i+1)
		if i >= len(b) || b[i] == ']' {
			return
		}
		end := skipValue(b, i)
		if end == i || !f(n, b[i:end]) {
			return
		}
		if i = skipSpace(b, end); i >= len(b) || b[i] != ',' {
			return
		}
	}
}

// member returns the value of one member of the object b, nil when absent.
func member(b []byte, name string) []byte {
	var found []byte
	eachMember(b, func(key, val []byte) bool {
		if string(key) == name {
			found = val
		}
		return found == nil
	})
	return found
}

// plain decodes a string literal, without copying it if it holds no escape.
func plain(lit []byte) []byte {
	if len(lit) >= 2 && bytes.IndexByte(lit, '\\') < 0 && utf8.Valid(lit) {
		return lit[1 : len(lit)-1]
	}
	var s string
	if json.Unmarshal(lit, &s) != nil {
		return nil
	}
	return []byte(s)
}

// text decodes a string literal.
func text(lit []byte) string { return string(plain(lit)) }

// typeName names the JSON type of a value, for messages.
func typeName(val []byte) string {
	if len(val) == 0 {
		return "nothing"
	}
	switch val[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

// isNull reports whether val is the literal null.
func isNull(val []byte) bool { return len(val) == 4 && val[0] == 'n' }
