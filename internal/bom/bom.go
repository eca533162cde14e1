// Package bom knows the byte order mark, which some editors and exporters write before
// text in UTF-8, and which no format that is read here wants.
package bom

import "bytes"

// UTF8 is the mark.
const UTF8 = "\xEF\xBB\xBF"

// Cut returns what follows a mark, and whether there was one.
func Cut(text []byte) (rest []byte, found bool) { return bytes.CutPrefix(text, []byte(UTF8)) }

// Trim returns text without a mark before it.
func Trim(text []byte) []byte {
	text, _ = Cut(text)
	return text
}
