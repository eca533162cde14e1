package gltfscene

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
)

// TestSupportDocument verifies that docs/gltf-support.md names every
// extension with a rule of its own and every note of this package.
func TestSupportDocument(t *testing.T) {
	data := testfile.Read(t, filepath.Join("..", "..", "docs", "gltf-support.md"))
	text := string(data)
	for _, name := range slices.Sorted(maps.Keys(policies)) {
		if !strings.Contains(text, name) {
			t.Errorf("extension %s is missing", name)
		}
	}
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	code := regexp.MustCompile(`notes\.(?:(?:warn|info|fault)\(|add\([^"\n]*)"([a-z-]+)`)
	found := 0
	for _, name := range sources {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source := testfile.Read(t, name)
		for _, m := range code.FindAllStringSubmatch(string(source), -1) {
			found++
			if !strings.Contains(text, "`"+m[1]) && m[1] != "extensions-ignored" {
				t.Errorf("%s: note %s is missing", name, m[1])
			}
		}
	}
	if found < 50 {
		t.Errorf("only %d notes found", found)
	}
}
