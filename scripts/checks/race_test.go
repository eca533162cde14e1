package checks

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/untoldkit/untold/"

// madeBy returns the lines of commands by which make makes a target.
func madeBy(t *testing.T, target string) []string {
	t.Helper()
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip(err)
	}
	cmd := exec.Command("make", "--no-print-directory", "-n", target)
	cmd.Dir = repository
	cmd.Env = append(cmd.Environ(), "MAKEFLAGS=")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(out), "\n")
}

// TestConcurrentPackagesRunWithRace: make test runs with the race detector the packages in
// which, or in whose tests, goroutines share memory, and no others.
func TestConcurrentPackagesRunWithRace(t *testing.T) {
	var listed, without []string
	for _, line := range madeBy(t, "test") {
		if strings.Contains(line, " -race ") {
			_, rest, _ := strings.Cut(line, " -skip '")
			names, _, _ := strings.Cut(rest, "'")
			without = append(without, strings.Split(names, "|")...)
			for _, word := range strings.Fields(line) {
				if strings.HasPrefix(word, "./") {
					listed = append(listed, word)
				}
			}
		}
	}
	if !slices.IsSorted(listed) || len(slices.Compact(slices.Clone(listed))) < len(listed) {
		t.Errorf("CONCURRENT in the Makefile is not in order, or names a package twice: %v", listed)
	}
	found, tests := concurrentPackages(t, repository)
	for _, name := range without {
		if name, whole := strings.CutSuffix(name, "$"); !whole || !tests[name] {
			t.Errorf("make test leaves out %q with the race detector, which is the name of no test", name)
		}
	}
	for dir, why := range found {
		if !slices.Contains(listed, dir) {
			t.Errorf("%s %s: add it to CONCURRENT in the Makefile", dir, why)
		}
	}
	for _, dir := range listed {
		if found[dir] == "" {
			t.Errorf("%s has no tests, or nothing in it that starts or needs a goroutine: take it out of CONCURRENT in the Makefile", dir)
		}
	}
}

// concurrentPackages returns the folders of packages that have tests and start goroutines,
// by themselves or by what is known to, or use atomics, and for each where. What a package
// without tests does counts for those that import it. It also returns the names of all tests.
func concurrentPackages(t *testing.T, root string) (found map[string]string, tests map[string]bool) {
	t.Helper()
	found, tests = map[string]string{}, map[string]bool{}
	tested, imports := map[string]bool{}, map[string][]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			_, err := os.Stat(filepath.Join(path, "go.mod"))
			if path != root && (err == nil || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")) {
				return filepath.SkipDir // another module, or no package
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		dir := "./" + filepath.ToSlash(rel)
		if strings.HasSuffix(path, "_test.go") {
			tested[dir] = true
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
					tests[fn.Name.Name] = true
				}
			}
		}
		for _, s := range f.Imports {
			if inside, is := strings.CutPrefix(strings.Trim(s.Path.Value, `"`), module); is {
				imports[dir] = append(imports[dir], "./"+inside)
			}
		}
		if why := concurrency(files, f); why != "" && found[dir] == "" {
			found[dir] = why
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	direct := maps.Clone(found)
	for dir, list := range imports {
		for _, other := range list {
			if why := direct[other]; why != "" && !tested[other] && found[dir] == "" {
				found[dir] = "imports " + other + ", which " + why
			}
		}
	}
	maps.DeleteFunc(found, func(dir, _ string) bool { return !tested[dir] })
	return found, tests
}

// concurrency says what in a file starts a goroutine, or would not be needed without one.
func concurrency(files *token.FileSet, f *ast.File) (why string) {
	at := func(n ast.Node, what string) {
		if pos := files.Position(n.Pos()); why == "" {
			why = what + " (" + filepath.Base(pos.Filename) + ")"
		}
	}
	for _, s := range f.Imports {
		switch path := strings.Trim(s.Path.Value, `"`); {
		case path == "sync/atomic", path == "net/http/httptest", strings.HasSuffix(path, "/internal/workpool"):
			at(s, "imports "+path)
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			at(n, "has a go statement")
		case *ast.CallExpr: // of sync.WaitGroup and errgroup.Group
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Go" {
				at(n, "calls Go")
			}
		}
		return true
	})
	return why
}

// TestConcurrency: what makes a package one in which goroutines share memory.
func TestConcurrency(t *testing.T) {
	for _, c := range []struct{ text, why string }{
		{"package p\nimport \"sync\"\nvar mu sync.Mutex", ""},
		{"package p\nfunc f() { go f() }", "has a go statement"},
		{"package p\nfunc f() { func() { go f() }() }", "has a go statement"},
		{"package p\nimport \"sync\"\nfunc f() { var g sync.WaitGroup; g.Go(f) }", "calls Go"},
		{"package p\nimport _ \"sync/atomic\"", "imports sync/atomic"},
		{"package p\nimport _ \"example.org/m/internal/workpool\"", "imports example.org/m/internal/workpool"},
	} {
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, "p.go", c.text, 0)
		if err != nil {
			t.Fatal(err)
		}
		if why := concurrency(files, f); strings.TrimSuffix(why, " (p.go)") != c.why {
			t.Errorf("%q: %q, want %q", c.text, why, c.why)
		}
	}
}
