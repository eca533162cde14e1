package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// target is a fuzz target of the repository.
type target struct {
	root  string // of the repository
	pkg   string // folder of its package, with slashes, relative to root
	name  string // such as FuzzReader
	added int    // calls of Add in its body
}

// String returns the target's package and name: format/FuzzReader.
func (t target) String() string { return t.pkg + "/" + t.name }

// folder is where the package lies.
func (t target) folder() string { return filepath.Join(t.root, filepath.FromSlash(t.pkg)) }

// committed is the folder of the inputs that are part of the repository.
func (t target) committed() string { return filepath.Join(t.folder(), "testdata", "fuzz", t.name) }

// keptBase is the folder that the engine is given; it makes one for each
// target in it.
func (t target) keptBase(dir string) string { return filepath.Join(dir, filepath.FromSlash(t.pkg)) }

// kept is the folder of the inputs that earlier runs found.
func (t target) kept(dir string) string { return filepath.Join(t.keptBase(dir), t.name) }

// find returns the fuzz targets below root, sorted by package and name.
func find(root string) ([]target, error) {
	var all []target
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "out"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		rel, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		found, err := inFile(path)
		for _, t := range found {
			t.root, t.pkg = root, filepath.ToSlash(rel)
			all = append(all, t)
		}
		return err
	})
	slices.SortFunc(all, func(a, b target) int { return strings.Compare(a.String(), b.String()) })
	return all, err
}

// inFile returns the targets of a test file, without their place.
func inFile(path string) ([]target, error) {
	src, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(src), "\nfunc Fuzz") {
		return nil, err
	}
	file, err := parser.ParseFile(token.NewFileSet(), path, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var found []target
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv != nil || !strings.HasPrefix(f.Name.Name, "Fuzz") || len(f.Type.Params.List) != 1 || len(f.Type.Params.List[0].Names) != 1 {
			continue
		}
		found = append(found, target{name: f.Name.Name, added: adds(f.Body, f.Type.Params.List[0].Names[0].Name)})
	}
	return found, nil
}

// adds counts the calls of f.Add in a body.
func adds(body *ast.BlockStmt, f string) int {
	n := 0
	ast.Inspect(body, func(node ast.Node) bool {
		if call, ok := node.(*ast.CallExpr); ok {
			if s, ok := call.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Add" {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == f {
					n++
				}
			}
		}
		return true
	})
	return n
}

// count returns the number of files in a folder, 0 where there is none.
func count(dir string) int {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0
	}
	n := 0
	for _, e := range entries {
		if e.Type().IsRegular() {
			n++
		}
	}
	return n
}
