package checks

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestSlowTestsRunInFull: what a test leaves out with the race detector, make
// test-race runs without it.
func TestSlowTestsRunInFull(t *testing.T) {
	var tests, packages []string
	for _, line := range madeBy(t, "test-race") {
		if !strings.Contains(line, "-race") && strings.Contains(line, " -run ") {
			_, rest, _ := strings.Cut(line, "'")
			pattern, list, _ := strings.Cut(rest, "'")
			for _, one := range strings.Split(pattern, "|") {
				name, _, _ := strings.Cut(one, "/")
				tests = append(tests, strings.TrimSuffix(name, "$"))
			}
			packages = append(packages, strings.Fields(list)...)
		}
	}
	found := 0
	err := filepath.WalkDir(repository, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir, _ := filepath.Rel(repository, filepath.Dir(path))
		for _, decl := range f.Decls {
			asked := false
			ast.Inspect(decl, func(n ast.Node) bool {
				s, ok := n.(*ast.SelectorExpr)
				if ok && (s.Sel.Name == "Enabled" || s.Sel.Name == "Checks") {
					x, ok := s.X.(*ast.Ident)
					asked = asked || ok && x.Name == "race"
				}
				return true
			})
			if !asked {
				continue
			}
			found++
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || !slices.Contains(tests, fn.Name.Name) || !slices.Contains(packages, "./"+filepath.ToSlash(dir)) {
				t.Errorf("%s: make test-race does not run without the race detector what is left out with it", path)
			}
		}
		return nil
	})
	if err != nil || found != len(tests) {
		t.Errorf("%d tests ask for the race detector, make test-race names %d: %v", found, len(tests), err)
	}
}
