package bom

import "testing"

// TestCut: one mark is taken off, at the beginning alone, and no part of one.
func TestCut(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "{}": "{}", "\ufeff": "", "\ufeff{}": "{}", "\ufeff\ufeff": "\ufeff", " \ufeff": " \ufeff", "\xEF\xBB": "\xEF\xBB",
	} {
		rest, found := Cut([]byte(text))
		if string(rest) != want || found != (want != text) || string(Trim([]byte(text))) != want {
			t.Errorf("%q: %q, %v", text, rest, found)
		}
	}
}
