// Package human writes figures and foreign text into messages: sizes, counts,
// names out of files that may be hostile.
package human

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bytes writes a size of n bytes with a decimal unit (1 MB is 10^6 bytes) and
// one decimal, two from 1 GB on.
func Bytes(n int64) string {
	switch {
	case n < 1000:
		return strconv.FormatInt(n, 10) + " B"
	case n < 1_000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	case n < 1_000_000_000:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.2f GB", float64(n)/1e9)
}

// Distance writes metres, from 10 km on in kilometres.
func Distance(m float64) string {
	switch {
	case m >= 10_000:
		return fmt.Sprintf("%.0f km", m/1000)
	case m >= 100:
		return fmt.Sprintf("%.0f m", m)
	}
	return fmt.Sprintf("%.4g m", m)
}

// Count groups the digits of n by thousands: 1,234,567.
func Count[N int | int64](n N) string {
	s := strconv.FormatInt(int64(n), 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Plural counts things: "1 tile", "2,304 tiles", "3 boxes", "2 entities".
func Plural[N int | int64](n N, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return Count(n) + " " + plural(thing)
}

// plural is the plural of an English noun of those that messages use.
func plural(noun string) string {
	body, y := strings.CutSuffix(noun, "y")
	switch {
	case noun == "vertex":
		return "vertices"
	case y && !strings.HasSuffix(body, "a") && !strings.HasSuffix(body, "e") && !strings.HasSuffix(body, "o"):
		return body + "ies"
	case strings.HasSuffix(noun, "x"), strings.HasSuffix(noun, "s"), strings.HasSuffix(noun, "ch"), strings.HasSuffix(noun, "sh"):
		return noun + "es"
	}
	return noun + "s"
}

// OneLine replaces what would break a line or hide text on a terminal: line
// breaks and tabs by a space, other control and format characters and bytes
// that are not UTF-8 by a question mark.
func OneLine(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			return ' '
		case r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			return '?'
		}
		return r
	}, s)
}

// Clip shortens s to at most n bytes and an ellipsis, between two characters.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "..."
}

// EnumName returns the name of a value of an enumeration, its number where it has
// none.
func EnumName(names []string, v uint32) string {
	if v < uint32(len(names)) && names[v] != "" {
		return names[v]
	}
	return strconv.FormatUint(uint64(v), 10)
}
