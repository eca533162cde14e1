package format

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/untoldkit/untold/finding"
)

// stringTable is a decoded string chunk. Its checks cost constant time per
// reference, whatever the references are: a hostile file may name a million
// overlapping suffixes of one string.
type stringTable struct {
	data    string
	lastNUL int // position of the last terminator, -1 for none
	invalid []badByte
}

// badByte is a byte that is not part of valid UTF-8.
type badByte struct {
	pos   int // ascending
	start int // where the string around it begins
}

func newStringTable(b []byte) stringTable {
	t := stringTable{data: string(b), lastNUL: bytes.LastIndexByte(b, 0)}
	if utf8.ValidString(t.data) {
		return t
	}
	start := 0
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			t.invalid = append(t.invalid, badByte{i, start})
		}
		if i += n; r == 0 {
			start = i
		}
	}
	return t
}

// check returns the code of what is wrong with a reference, "" for nothing.
func (t *stringTable) check(off uint32) finding.Code {
	i := int(off)
	switch {
	case uint64(off) >= uint64(len(t.data)):
		return codeStringBounds
	case i > t.lastNUL:
		return codeStringUnterminated
	case !utf8.RuneStart(t.data[i]):
		return codeStringUTF8
	case len(t.invalid) > 0:
		k, _ := slices.BinarySearchFunc(t.invalid, i, func(b badByte, i int) int { return b.pos - i })
		if k < len(t.invalid) && t.invalid[k].start <= i {
			return codeStringUTF8
		}
	}
	return ""
}

// get returns the string at off, "" for NoIndex and invalid references.
func (t *stringTable) get(off uint32) string {
	if uint64(off) >= uint64(len(t.data)) {
		return ""
	}
	s, _, ok := strings.Cut(t.data[off:], "\x00")
	if !ok {
		return ""
	}
	return s
}

func isDecodedSize(err error) bool { return errors.Is(err, errDecodedSize) }
