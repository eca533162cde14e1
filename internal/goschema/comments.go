package goschema

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
)

// comment returns what the source says about a field, in one line, with the key where
// it begins with the field's name.
func (g *generator) comment(t reflect.Type, field, key string) string {
	path := t.PkgPath()
	if path == "main" {
		path = g.o.Module + "/cmd/untold"
	}
	rel, ok := strings.CutPrefix(path, g.o.Module+"/")
	if !ok || g.o.Root == "" {
		return ""
	}
	dir := filepath.Join(g.o.Root, filepath.FromSlash(rel))
	text := sources.of(dir)[t.Name()+"."+field]
	if rest, ok := strings.CutPrefix(text, field+" "); ok {
		text = key + " " + rest
	}
	return text
}

// library keeps what was read of folders: many schemas share their types.
type library struct {
	mu   sync.Mutex
	read map[string]map[string]string // by folder, then Type.Field
}

var sources = library{read: map[string]map[string]string{}}

func (l *library) of(dir string) map[string]string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.read[dir] == nil {
		l.read[dir] = commentsOf(dir)
	}
	return l.read[dir]
}

// commentsOf reads the comments of all fields in a folder, by Type.Field. A folder that
// cannot be read has none, and its schemas no descriptions.
func commentsOf(dir string) map[string]string {
	out := map[string]string{}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".go" || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, e.Name()), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			s, ok := spec.Type.(*ast.StructType)
			if !ok {
				return true
			}
			for _, f := range s.Fields.List {
				text := f.Doc.Text()
				if text == "" {
					text = f.Comment.Text()
				}
				for _, name := range f.Names {
					out[spec.Name.Name+"."+name.Name] = strings.Join(strings.Fields(text), " ")
				}
			}
			return true
		})
	}
	return out
}
