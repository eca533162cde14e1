package runtime

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// No object of the package grows beyond what a reader can hold: at most 30 fields
// and 60 methods. Stats and Config are lists of counters and parameters.
func TestStructsStaySmall(t *testing.T) {
	const maxFields, maxMethods = 30, 60
	data := []string{"Stats", "Config"}
	fields, methods := map[string]int{}, map[string]int{}
	eachDecl(t, func(_ string, d ast.Decl) {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv != nil {
				methods[typeName(d.Recv.List[0].Type)]++
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if name, st := structOf(s); st != nil {
					fields[name] = len(fieldTypes(st))
				}
			}
		}
	})
	for name, n := range fields {
		if !slices.Contains(data, name) && (n > maxFields || methods[name] > maxMethods) {
			t.Errorf("%s has %d fields and %d methods, at most %d and %d are allowed: which part of it has a state of its own?",
				name, n, methods[name], maxFields, maxMethods)
		}
	}
}

// The parts of a Streamer know only the parts before them in this list, and none
// knows the Streamer.
func TestPartsKnowOnlyPartsBelow(t *testing.T) {
	order := []string{
		"env", "eventLog", "loadQueue", "device", "reloads", "geometryBudget", "meshStreamer", "residency", "evictor", "selector", "handoff",
		"succession", "Streamer",
	}
	seen := 0
	eachDecl(t, func(file string, d ast.Decl) {
		g, ok := d.(*ast.GenDecl)
		if !ok {
			return
		}
		for _, s := range g.Specs {
			name, st := structOf(s)
			at := slices.Index(order, name)
			if st == nil || at < 0 {
				continue
			}
			seen++
			for _, of := range fieldTypes(st) {
				if slices.Index(order, of) >= at {
					t.Errorf("%s: %s has a field of type %s, which stands above it", file, name, of)
				}
			}
		}
	})
	if seen != len(order) {
		t.Errorf("%d of %d parts found: keep the list of this test up to date", seen, len(order))
	}
	prefixes := []string{"load_", "budget", "mesh_", "mesh.", "residency", "evict", "select", "handoff"}
	eachDecl(t, func(file string, d ast.Decl) {
		if !slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(file, p) }) {
			return
		}
		ast.Inspect(d, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && id.Name == "Streamer" {
				t.Errorf("%s: a part must not know the Streamer", file)
			}
			return true
		})
	})
}

// eachDecl visits the declarations of the package's files but tests.
func eachDecl(t *testing.T, visit func(file string, d ast.Decl)) {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			visit(name, d)
		}
	}
}

// structOf returns the name and the struct of a type's declaration, nil for others.
func structOf(s ast.Spec) (string, *ast.StructType) {
	t, ok := s.(*ast.TypeSpec)
	if !ok {
		return "", nil
	}
	st, _ := t.Type.(*ast.StructType)
	return t.Name.Name, st
}

// fieldTypes lists the types of all fields, a name at a time.
func fieldTypes(st *ast.StructType) []string {
	var out []string
	for _, f := range st.Fields.List {
		for range max(1, len(f.Names)) {
			out = append(out, typeName(f.Type))
		}
	}
	return out
}

// typeName returns the name of a type or of what a pointer points to, "" for
// others.
func typeName(e ast.Expr) string {
	if p, ok := e.(*ast.StarExpr); ok {
		e = p.X
	}
	if id, ok := e.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}
