package diff

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
)

// TestFieldsAreDocumented: the page names every field of the JSON.
func TestFieldsAreDocumented(t *testing.T) {
	_, page, ok := strings.Cut(string(testfile.Read(t, filepath.Join("..", "..", "docs", "diff.md"))), "\n## JSON\n")
	if !ok {
		t.Fatal("the page has no section about JSON")
	}
	seen := map[reflect.Type]bool{}
	fields := 0
	var visit func(x reflect.Type)
	visit = func(x reflect.Type) {
		switch x.Kind() {
		case reflect.Pointer, reflect.Slice:
			visit(x.Elem())
		case reflect.Struct:
			if seen[x] {
				return
			}
			seen[x] = true
			for i := range x.NumField() {
				f := x.Field(i)
				name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				if !f.IsExported() {
					continue
				}
				if name == "" || strings.ToLower(name) != name || !strings.Contains(page, "`"+name+"`") {
					t.Errorf("%s.%s: the page lacks %q", x.Name(), f.Name, name)
				}
				fields++
				visit(f.Type)
			}
		}
	}
	visit(reflect.TypeFor[Result]())
	if fields < 80 {
		t.Errorf("only %d fields were found", fields)
	}
}
