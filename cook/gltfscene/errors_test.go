package gltfscene

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestErrorText(t *testing.T) {
	for _, tt := range []struct {
		err  *Error
		want string
	}{
		{&Error{File: "a.glb", Place: "nodes[0]", Reason: "is odd", Hint: "mend it"}, "a.glb: nodes[0]: is odd (mend it)"},
		{&Error{File: "a.glb", Reason: "is odd"}, "a.glb: is odd"},
		{&Error{Place: "nodes[0]", Reason: "is odd"}, "nodes[0]: is odd"},
		{&Error{File: "a\nb\x1b[31m.glb", Reason: "is\todd"}, "a b?[31m.glb: is odd"},
	} {
		if got := tt.err.Error(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

func TestAt(t *testing.T) {
	base := malformed("", "is odd")
	for _, tt := range []struct{ prefix, place, want string }{
		{"nodes[0]", "", "nodes[0]"}, {"nodes[0]", ".mesh", "nodes[0].mesh"}, {"list", "[3]", "list[3]"}, {"a", "b", "a: b"},
	} {
		base.Place = tt.place
		err := at(tt.prefix, base)
		if got := err.(*Error).Place; got != tt.want || base.Place != tt.place {
			t.Errorf("%+v: got %q", tt, got)
		}
		if !errors.Is(err, ErrMalformed) {
			t.Errorf("%+v: lost its kind", tt)
		}
	}
	if at("a", nil) != nil {
		t.Error("made an error of nil")
	}
	if err := at("a", fs.ErrNotExist); !errors.Is(err, fs.ErrNotExist) || err.Error() != "a: file does not exist" {
		t.Errorf("got %v", err)
	}
}

func TestClip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s") + strings.Repeat("é", rapid.IntRange(0, 60).Draw(t, "n"))
		got := clip(s)
		if !utf8.ValidString(got) || len(got) > 83 || (len(s) <= 80) != (got == s) {
			t.Fatalf("clip(%q) = %q", s, got)
		}
	})
}

func TestNotebook(t *testing.T) {
	var b notebook
	b.warn("a", "x", "first\nline")
	b.info("b", "y", "other")
	b.add(3, true, "a", "z", "ignored")
	b.add(0, true, "c", "", "nothing")
	b.fault("d", "left out", malformed("nodes[0]", "is odd"))
	want := []Note{{"a", 4, "first line", "x", true}, {"b", 1, "other", "y", false}, {"d", 1, "left out: is odd", "nodes[0]", true}}
	if len(b.list) != len(want) {
		t.Fatalf("got %+v", b.list)
	}
	for i := range want {
		if b.list[i] != want[i] {
			t.Errorf("got %+v, want %+v", b.list[i], want[i])
		}
	}
}
