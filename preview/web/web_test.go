package web

import (
	"errors"
	"io/fs"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

// TestPageIsWhole: what the page refers to is there, by relative paths, and nothing
// in it is against its own policy.
func TestPageIsWhole(t *testing.T) {
	page, err := fs.Sub(files, "page")
	if err != nil {
		t.Fatal(err)
	}
	index, err := fs.ReadFile(page, "index.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(string(index), -1) {
		name, ok := strings.CutPrefix(m[1], ".viewer/")
		if m[1] == "data:," {
			continue
		}
		if _, err := fs.Stat(page, name); !ok || err != nil {
			t.Errorf("%s: %v", m[1], err)
		}
	}
	for what, pattern := range map[string]string{
		"a script in the page":     `<script[^>]*>[^<]`,
		"a style in the page":      `<style|style="`,
		"an attribute with a call": ` on\w+="`,
	} {
		if m := regexp.MustCompile(pattern).Find(index); m != nil {
			t.Errorf("%s: %s", what, m)
		}
	}
	list, err := fs.Glob(page, "*.js")
	if err != nil || len(list) < 4 {
		t.Fatalf("%v, %v", list, err)
	}
	for _, name := range list {
		text, err := fs.ReadFile(page, name)
		if err != nil {
			t.Fatal(err)
		}
		if name == "wasm_exec.js" {
			continue // of the toolchain
		}
		if m := regexp.MustCompile(`\beval\(|new Function|innerHTML|https?://`).Find(text); m != nil {
			t.Errorf("%s has %s", name, m)
		}
		for _, m := range regexp.MustCompile(`from "\./([^"]*)"`).FindAllStringSubmatch(string(text), -1) {
			if _, err := fs.Stat(page, m[1]); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, m := range regexp.MustCompile(`\$\("([^"]*)"\)`).FindAllStringSubmatch(string(text), -1) {
			if !strings.Contains(string(index), `id="`+m[1]+`"`) {
				t.Errorf("%s looks for %s, which the page lacks", name, m[1])
			}
		}
	}
}

// TestFS: the page is there with the program, or not at all.
func TestFS(t *testing.T) {
	page, err := FS()
	if errors.Is(err, ErrNotBuilt) {
		t.Skip("the viewer is not built (make build)")
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := fstest.TestFS(page, "index.html", "viewer.js", "viewer.wasm.gz", "wasm_exec.js"); err != nil {
		t.Error(err)
	}
}
