package web

import (
	"errors"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/untoldkit/untold/manifest/scenelist"
)

// page returns the files of the page, with or without the program.
func page(t *testing.T) fs.FS {
	t.Helper()
	page, err := fs.Sub(files, "page")
	if err != nil {
		t.Fatal(err)
	}
	return page
}

func read(t *testing.T, from fs.FS, name string) string {
	t.Helper()
	text, err := fs.ReadFile(from, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestPageIsWhole: what the page refers to is there, by relative paths, and nothing
// in it is against its own policy.
func TestPageIsWhole(t *testing.T) {
	page := page(t)
	index := read(t, page, "index.html")
	for _, m := range regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(index, -1) {
		name, ok := strings.CutPrefix(m[1], served)
		if m[1] == "data:," || m[1] == scenelist.Name { // which the server makes
			continue
		}
		_, err := fs.Stat(page, name)
		if slices.Contains(program[:], name) {
			err = nil // make build makes them
		}
		if !ok || err != nil {
			t.Errorf("%s: %v", m[1], err)
		}
	}
	for what, pattern := range map[string]string{
		"a script in the page":     `<script[^>]*>[^<]`,
		"a style in the page":      `<style|style="`,
		"an attribute with a call": ` on\w+="`,
	} {
		if m := regexp.MustCompile(pattern).FindString(index); m != "" {
			t.Errorf("%s: %s", what, m)
		}
	}
	// The policy stands before all that it is for.
	policy := regexp.MustCompile(`http-equiv="Content-Security-Policy" content="([^"]*)"`).FindStringSubmatchIndex(index)
	if policy == nil || strings.Index(index, "<link") < policy[0] || strings.Index(index, "<script") < policy[0] {
		t.Fatal("the page has no policy before its files")
	}
	if text := index[policy[2]:policy[3]]; !strings.HasPrefix(text, "default-src 'none'; ") || strings.Contains(text, "unsafe-inline") || strings.Contains(text, "'unsafe-eval'") {
		t.Errorf("the policy: %s", text)
	}
	list, err := fs.Glob(page, "*.js")
	if err != nil || len(list) < 8 {
		t.Fatalf("%v, %v", list, err)
	}
	for _, name := range list {
		text := read(t, page, name)
		if name == "wasm_exec.js" {
			continue // of the toolchain
		}
		if m := regexp.MustCompile(`\beval\(|new Function|innerHTML|https?://|setAttribute\("style"`).FindString(text); m != "" {
			t.Errorf("%s has %s", name, m)
		}
		for _, m := range regexp.MustCompile(`(?:from|import|import\() ?"\./([^"]*)"`).FindAllStringSubmatch(text, -1) {
			if _, err := fs.Stat(page, m[1]); err != nil && m[1] != "wasm_exec.js" {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	elements := read(t, page, "parts.js") + index
	for name, pattern := range map[string]string{"page.js": `getElementById\("([^"]*)"\)`, "untold-viewer.js": `\bby(?:\.([a-z]+)|\["([a-z-]+)"\])`} {
		found := regexp.MustCompile(pattern).FindAllStringSubmatch(read(t, page, name), -1)
		if len(found) == 0 {
			t.Errorf("%s looks for nothing", name)
		}
		for _, m := range found {
			id := strings.Join(m[1:], "")
			if !strings.Contains(elements, `id="`+id+`"`) && !strings.Contains(elements, `id: "`+id+`"`) {
				t.Errorf("%s looks for %s, which is not there", name, id)
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

// TestStatic: for servers that hand out files as they lie, two files lead to a folder
// with all others; no path leads elsewhere.
func TestStatic(t *testing.T) {
	static, err := Static()
	if errors.Is(err, ErrNotBuilt) {
		t.Skip("the viewer is not built (make build)")
	}
	if err != nil {
		t.Fatal(err)
	}
	if static["viewer.wasm.gz"] == nil || static["wasm_exec.js"] == nil || static[indexName] != nil {
		t.Errorf("%d files", len(static))
	}
	front, err := Front("some/folder/", "list.json")
	if err != nil || len(front) != 2 {
		t.Fatalf("%v, %d files", err, len(front))
	}
	for name, text := range front {
		for _, m := range regexp.MustCompile(`(?:src|href|from|data-scenes)[ =]"([^"]*)"`).FindAllSubmatch(text, -1) {
			if to := path.Clean(string(m[1])); to == "list.json" || to == "data:," {
				continue
			} else if below, ok := strings.CutPrefix(to, "some/folder/"); !ok {
				t.Errorf("%s leads to %s", name, to)
			} else if static[below] == nil {
				t.Errorf("%s leads to %s, which is not there", name, to)
			}
		}
	}
	if text := string(front[indexName]); strings.Contains(text, served) || !strings.Contains(text, `data-scenes="list.json"`) {
		t.Error(text)
	}
}
