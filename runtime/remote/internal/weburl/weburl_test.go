package weburl

import (
	"errors"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, bad := range []string{
		"", "a/b.json", "/etc/passwd", "ftp://h/a", "file:///etc/passwd", "https:///a", "https:a", "http://", "https://h/%zz",
		"https://h/" + strings.Repeat("a", MaxBytes), "https://h\x00/a", "javascript:alert(1)",
	} {
		if _, err := Parse(bad); !errors.Is(err, ErrInvalid) {
			t.Errorf("%.40q: %v", bad, err)
		}
	}
	for arg, want := range map[string]bool{
		"https://h/a": true, "HTTP://h": true, "http:/h": false, "scene.json": false, "/http://h": false, "C:\\scene": false, "": false,
	} {
		if IsURL(arg) != want {
			t.Errorf("IsURL(%q) is %v", arg, !want)
		}
	}
}

func TestFolder(t *testing.T) {
	for address, want := range map[string]string{
		"https://h/a/b.json":          "https://h/a/",
		"https://h/a/b.json?token=1":  "https://h/a/",
		"https://h/b.json":            "https://h/",
		"https://h":                   "https://h/",
		"https://h/a/":                "https://h/a/",
		"https://h/a%20b/c%2Fd.json":  "https://h/a%20b/",
		"https://user:pw@h:81/a/b.js": "https://user:pw@h:81/a/",
	} {
		u, err := Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		got := Folder(u).String()
		base, err := ParseFolder(got)
		if got != want || err != nil || base.String() != want {
			t.Errorf("%s: %s, %v, want %s", address, got, base, want)
		}
	}
}

func TestRedact(t *testing.T) {
	for in, want := range map[string]string{
		"https://user:secret@h/a/b.json":                  "https://h/a/b.json",
		"https://secret@h/a.json?X-Sig=secret#secret":     "https://h/a.json?...",
		"https://h/a.json":                                "https://h/a.json",
		"https://h/a%20b.json":                            "https://h/a%20b.json",
		"https://us er:secret@h:1/%zz?secret":             "https://h:1/%zz?...",
		"https://user:sec@ret@h":                          "https://h",
		"out/city.json":                                   "out/city.json",
		`C:\scenes\a.json`:                                `C:\scenes\a.json`,
		"what?":                                           "what?",
		"https://user:secret@h:port/a.json?sig=secret":    "https://h:port/a.json?...",
		"https://user:secret@[::1]:8080/a.json?a=1&b=2#x": "https://[::1]:8080/a.json?...",
	} {
		if got := Redact(in); got != want {
			t.Errorf("%q gives %q, want %q", in, got, want)
		}
	}
}
