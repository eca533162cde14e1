package checks

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
)

// TestNotesAreDocumented: docs/notes.md has a row with a remedy for every code of
// a warning or note, and no other codes.
func TestNotesAreDocumented(t *testing.T) {
	text := testfile.Read(t, filepath.Join(repository, "docs", "notes.md"))
	row := regexp.MustCompile("(?m)^\\| (`[^|]*`) \\| [^|]+ \\| ([^|]+) \\|$")
	quoted := regexp.MustCompile("`([a-z-]+)(:NAME)?`")
	documented := map[string]bool{}
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		for _, code := range quoted.FindAllStringSubmatch(m[1], -1) {
			documented[code[1]] = false
		}
	}
	for code, place := range noteCodes(t) {
		if _, ok := documented[code]; !ok {
			t.Errorf("%s: docs/notes.md has no row for %s", place, code)
		}
		documented[code] = true
	}
	if len(documented) < 80 {
		t.Errorf("only %d codes are found", len(documented))
	}
	for code, used := range documented {
		// Codes of primitives that are no triangles are put together.
		if !used && !strings.HasSuffix(code, "-skipped") {
			t.Errorf("docs/notes.md has a row for %s, which nothing reports", code)
		}
	}
}

// noteCodes finds the codes of notes in the sources of cook: first arguments of
// warn and info, those of add and note, and Code in literals of Note.
func noteCodes(t *testing.T) map[string]string {
	t.Helper()
	codes := map[string]string{}
	form := regexp.MustCompile(`^[a-z]+(-[a-z]+)*:?$`)
	take := func(set *token.FileSet, e ast.Expr) {
		if b, ok := e.(*ast.BinaryExpr); ok { // "extension-ignored:" + name
			e = b.X
		}
		l, ok := e.(*ast.BasicLit)
		if !ok || l.Kind != token.STRING {
			return
		}
		if s, err := strconv.Unquote(l.Value); err == nil && form.MatchString(s) {
			codes[strings.TrimSuffix(s, ":")] = set.Position(l.Pos()).String()
		}
	}
	err := filepath.WalkDir(filepath.Join(repository, "cook"), func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
			return err
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, p, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				s, ok := n.Fun.(*ast.SelectorExpr)
				if !ok {
					break
				}
				of, _ := s.X.(*ast.SelectorExpr)
				notes := of != nil && of.Sel.Name == "notes"
				switch name := s.Sel.Name; {
				case notes && (name == "warn" || name == "info" || name == "fault"), s.Sel.Name == "note" && len(n.Args) > 3:
					take(set, n.Args[0])
				case notes && name == "add":
					for _, a := range n.Args[:min(3, len(n.Args))] {
						take(set, a)
					}
				}
			case *ast.KeyValueExpr:
				if k, ok := n.Key.(*ast.Ident); ok && k.Name == "Code" && filepath.Base(p) == "notes.go" {
					take(set, n.Value)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return codes
}
