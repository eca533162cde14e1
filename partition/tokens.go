package partition

import (
	"unicode"
	"unicode/utf8"
)

// maxToken is the longest word in bytes that can match a hint, plural s
// included; longer words are passed over.
const maxToken = 48

// tokenBuffer cuts texts into lower-case words without allocating.
type tokenBuffer struct {
	pair [2 * maxToken]byte // the word before, then the current one
}

// each calls found with every word of a text and with every two neighbouring
// words written together, so that GlassWall, glass_wall and glasswall are the
// same. Words end at what is no letter and at camelCase: OfficeChair01 is
// office, chair, officechair; TVStand is tv, stand, tvstand. The slice is
// valid during the call only.
func (t *tokenBuffer) each(text string, found func([]byte)) {
	before, n := 0, 0 // lengths of the word before and of the current one
	tooLong := false
	end := func() {
		if n == 0 && !tooLong {
			return
		}
		if tooLong {
			before, n, tooLong = 0, 0, false
			return
		}
		found(t.pair[before : before+n])
		if before > 0 {
			found(t.pair[:before+n])
		}
		copy(t.pair[:], t.pair[before:before+n])
		before, n = n, 0
	}
	upper := false // the letter before is upper-case
	for i, r := range text {
		if r == utf8.RuneError || !unicode.IsLetter(r) {
			end()
			upper = false
			continue
		}
		isUpper := unicode.IsUpper(r)
		if isUpper && (!upper || lowerFollows(text[i+utf8.RuneLen(r):])) {
			end()
		}
		upper = isUpper
		if n+utf8.UTFMax > maxToken {
			tooLong, n = true, 0
		}
		if !tooLong {
			n += utf8.EncodeRune(t.pair[before+n:], unicode.ToLower(r))
		}
	}
	end()
}

// lowerFollows reports whether a text starts with a lower-case letter.
func lowerFollows(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.IsLower(r)
}
