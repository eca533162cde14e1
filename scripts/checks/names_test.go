package checks

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
)

var update = flag.Bool("update", false, "rewrite the lists of exported names")

// TestExportedNames: what a public package exports is listed, so that growth is a
// decision: go test ./scripts/checks -run TestExportedNames -update accepts it.
func TestExportedNames(t *testing.T) {
	golden := filepath.Join("testdata", "exported")
	listed := map[string]bool{}
	for _, dir := range publicPackages(t) {
		names := exportedNames(t, filepath.Join(repository, filepath.FromSlash(dir)))
		file := strings.ReplaceAll(dir, "/", "_") + ".txt"
		listed[file] = true
		text := strings.Join(names, "\n") + "\n"
		if *update {
			if err := os.MkdirAll(golden, 0o755); err != nil {
				t.Fatal(err)
			}
			testfile.Write(t, filepath.Join(golden, file), text)
			continue
		}
		b, err := os.ReadFile(filepath.Join(golden, file))
		if err != nil {
			t.Errorf("package %s has no list of exported names; make it with -update: %v", dir, err)
			continue
		}
		want := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
		for _, n := range names {
			if !slices.Contains(want, n) {
				t.Errorf("package %s exports %s, which its list lacks; -update accepts it", dir, n)
			}
		}
		for _, n := range want {
			if !slices.Contains(names, n) {
				t.Errorf("package %s no longer exports %s; -update accepts it", dir, n)
			}
		}
	}
	old, err := os.ReadDir(golden)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range old {
		if listed[e.Name()] {
			continue
		}
		if !*update {
			t.Errorf("%s lists a package that is not there; -update removes it", e.Name())
		} else if err := os.Remove(filepath.Join(golden, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
}

// publicPackages returns the folders of packages that other modules may import,
// sorted, with slashes.
func publicPackages(t *testing.T) []string {
	t.Helper()
	var dirs []string
	for _, top := range []string{"cook", "finding", "format", "manifest", "partition", "preview", "runtime"} {
		err := filepath.WalkDir(filepath.Join(repository, top), func(p string, d os.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			if d.Name() == "internal" || d.Name() == "testdata" {
				return filepath.SkipDir
			}
			if len(goFiles(t, p)) > 0 {
				rel, err := filepath.Rel(repository, p)
				if err != nil {
					return err
				}
				dirs = append(dirs, filepath.ToSlash(rel))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(dirs)
	return dirs
}

// goFiles returns the product files of a package's folder, of all platforms.
func goFiles(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, "_test.go") })
}

// exportedNames returns what a package exports, sorted: constants, variables,
// types, functions, and as Type.Method the methods of exported types.
func exportedNames(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	for _, path := range goFiles(t, dir) {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range f.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if name := functionName(d); name != "" {
					names = append(names, name)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						names = appendExported(names, s.Name)
					case *ast.ValueSpec:
						names = appendExported(names, s.Names...)
					}
				}
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func appendExported(names []string, more ...*ast.Ident) []string {
	for _, n := range more {
		if n.IsExported() {
			names = append(names, n.Name)
		}
	}
	return names
}

// functionName is the name under which a function or a method is exported, ""
// for one that is not.
func functionName(d *ast.FuncDecl) string {
	if !d.Name.IsExported() {
		return ""
	}
	if d.Recv == nil {
		return d.Name.Name
	}
	of := d.Recv.List[0].Type
	for {
		switch x := of.(type) {
		case *ast.StarExpr:
			of = x.X
			continue
		case *ast.IndexExpr:
			of = x.X
			continue
		case *ast.IndexListExpr:
			of = x.X
			continue
		case *ast.Ident:
			if x.IsExported() {
				return x.Name + "." + d.Name.Name
			}
		}
		return ""
	}
}
