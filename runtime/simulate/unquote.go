package simulate

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// unquote returns the text of a JSON string literal with its quotes. Halves of
// surrogate pairs become U+FFFD, as in encoding/json.
func unquote(lit []byte) (string, bool) {
	lit = lit[1 : len(lit)-1]
	if bytes.IndexByte(lit, '\\') < 0 {
		return string(lit), true
	}
	out := make([]byte, 0, len(lit))
	for i := 0; i < len(lit); i++ {
		if lit[i] != '\\' {
			out = append(out, lit[i])
			continue
		}
		i++
		switch c := lit[i]; c {
		case '"', '\\', '/':
			out = append(out, c)
		case 'b', 'f', 'n', 'r', 't':
			out = append(out, "\b\f\n\r\t"[bytes.IndexByte([]byte("bfnrt"), c)])
		case 'u':
			r, ok := hex4(lit[i+1:])
			if !ok {
				return "", false
			}
			i += 4
			if utf16.IsSurrogate(r) {
				low, ok := rune(0), false
				if len(lit) > i+2 && lit[i+1] == '\\' && lit[i+2] == 'u' {
					low, ok = hex4(lit[i+3:])
				}
				if r = utf16.DecodeRune(r, low); ok && r != utf8.RuneError {
					i += 6
				}
			}
			out = utf8.AppendRune(out, r)
		default:
			return "", false
		}
	}
	return string(out), true
}

func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	v, err := strconv.ParseUint(string(b[:4]), 16, 32)
	return rune(v), err == nil
}
