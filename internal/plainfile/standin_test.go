package plainfile

import "testing"

func TestStandIn(t *testing.T) {
	for head, want := range map[string]string{
		"version https://git-lfs.github.com/spec/v1\noid": "a Git LFS pointer",
		"\n<!DOCTYPE html>": "HTML or XML",
		"\xEF\xBB\xBF<?xml": "HTML or XML",
		"<Error>":           "HTML or XML",
		"<":                 "",
		"< 3":               "",
		"":                  "",
		"version 2":         "",
		"\x89PNG\r\n\x1a\n": "",
	} {
		if got, remedy := StandIn([]byte(head)); got != want || (remedy == "") != (want == "") {
			t.Errorf("%q: %q, %q", head, got, remedy)
		}
	}
}
