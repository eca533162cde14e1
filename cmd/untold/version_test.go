package main

import (
	"debug/buildinfo"
	"strings"
	"testing"
)

// TestLicenses asks the binary itself what was linked into it.
func TestLicenses(t *testing.T) {
	r := execute(t, nil, "version", "--licenses")
	if r.code != 0 || r.err != "" {
		t.Fatalf("%d %s", r.code, r.err)
	}
	info, err := buildinfo.ReadFile(underTest(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(info.Deps) < 10 {
		t.Errorf("only %d modules are linked", len(info.Deps))
	}
	for _, m := range info.Deps {
		if !strings.Contains(r.stdout, "\n"+m.Path+" "+m.Version+": ") {
			t.Errorf("%s %s has no licence text", m.Path, m.Version)
		}
	}
	if !strings.Contains(r.stdout, "The Go Authors") {
		t.Error("the licence of Go is missing")
	}
}
