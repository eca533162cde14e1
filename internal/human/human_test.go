package human

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestFigures(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Bytes(0), "0 B"},
		{Bytes(999), "999 B"},
		{Bytes(1000), "1.0 kB"},
		{Bytes(1_500_000), "1.5 MB"},
		{Bytes(1_230_000_000), "1.23 GB"},
		{Count(0), "0"},
		{Count(999), "999"},
		{Count(1000), "1,000"},
		{Count(-1000), "-1,000"},
		{Count(-100), "-100"},
		{Count(int64(1234567)), "1,234,567"},
		{Plural(0, "file"), "0 files"},
		{Plural(1, "file"), "1 file"},
		{Plural(2304, "tile"), "2,304 tiles"},
		{Plural(2, "entity"), "2 entities"},
		{Plural(2, "key"), "2 keys"},
		{Plural(2, "mesh"), "2 meshes"},
		{Plural(2, "box"), "2 boxes"},
		{Plural(3, "vertex"), "3 vertices"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

func TestOneLine(t *testing.T) {
	if got, want := OneLine("a\nb\tc\x1b[31m\u202ed\xff"), "a b c?[31m?d?"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestClip(t *testing.T) {
	if got, want := Clip("häuser", 2), "h..."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	rapid.Check(t, func(t *rapid.T) {
		s, n := rapid.String().Draw(t, "s"), rapid.IntRange(0, 20).Draw(t, "n")
		got := Clip(s, n)
		body, cut := strings.CutSuffix(got, "...")
		if len(s) <= n && got != s || len(s) > n && (!cut || len(body) > n || !strings.HasPrefix(s, body) || !utf8.ValidString(body)) {
			t.Fatalf("Clip(%q, %d) is %q", s, n, got)
		}
	})
}

func TestDistance(t *testing.T) {
	for m, want := range map[float64]string{
		0: "0 m", 0.09: "0.09 m", 12.3456: "12.35 m", 99.996: "100 m", 123.4: "123 m", 9999: "9999 m", 12_345: "12 km", 711_000: "711 km",
	} {
		if got := Distance(m); got != want {
			t.Errorf("%v: %q, want %q", m, got, want)
		}
	}
}
