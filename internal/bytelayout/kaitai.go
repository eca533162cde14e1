package bytelayout

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/untoldkit/untold/internal/testfile"
)

// allBits is a NaN, which encoders write as its bits.
var allBits = math.Float32frombits(1<<32 - 1)

// Struct is a type of a Kaitai Struct file, as far as fields of fixed sizes need it.
type Struct struct {
	Seq []struct {
		ID       string
		Type     any
		Size     any
		If       string
		Contents []any
		Repeat   string
		Expr     any `yaml:"repeat-expr"`
	}
}

// Schema is a Kaitai Struct file.
type Schema struct {
	Struct `yaml:",inline"`
	Types  map[string]Struct
	Enums  map[string]map[int]any
}

// ReadSchema reads a Kaitai Struct file.
func ReadSchema(t testing.TB, path string) *Schema {
	t.Helper()
	s := new(Schema)
	if err := yaml.Unmarshal(testfile.Read(t, path), s); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return s
}

// Compare holds a type of the schema to the fields of a record of a version.
func (s *Schema) Compare(t testing.TB, typ string, version int, fields []Field) {
	t.Helper()
	st, ok := s.Types[typ]
	if !ok {
		t.Errorf("there is no type %s", typ)
		return
	}
	at, k := 0, 0
	for _, a := range st.Seq {
		if a.If != "" {
			since, err := strconv.Atoi(strings.TrimPrefix(a.If, "_root.header.format_version >= "))
			if err != nil {
				t.Errorf("%s.%s: the condition %q", typ, a.ID, a.If)
			}
			if version < since {
				continue
			}
		}
		n := s.size(t, typ+"."+a.ID, a.Type, a.Size, len(a.Contents))
		if a.Repeat == "expr" {
			count, _ := a.Expr.(int)
			n *= count
		}
		switch {
		case k >= len(fields):
			t.Errorf("%s.%s is not in the code", typ, a.ID)
			return
		case a.ID != fields[k].ID() || at != fields[k].Offset || n != fields[k].Size:
			t.Errorf("%s.%s has bytes [%d, +%d); the code has %s at [%d, +%d)", typ, a.ID, at, n, fields[k].ID(), fields[k].Offset, fields[k].Size)
			return
		}
		at, k = at+n, k+1
	}
	if k < len(fields) {
		t.Errorf("%s lacks %s", typ, fields[k].ID())
	}
}

// size returns the bytes of one element of an attribute.
func (s *Schema) size(t testing.TB, place string, typ, size any, contents int) int {
	t.Helper()
	if n, ok := size.(int); ok {
		return n
	}
	if contents > 0 {
		return contents
	}
	name, _ := typ.(string)
	if st, ok := s.Types[name]; ok {
		n := 0
		for _, a := range st.Seq {
			one := s.size(t, place+"."+a.ID, a.Type, a.Size, len(a.Contents))
			if a.Repeat == "expr" {
				count, _ := a.Expr.(int)
				one *= count
			}
			n += one
		}
		return n
	}
	if len(name) == 2 && strings.ContainsAny(name[:1], "ufs") {
		if n, err := strconv.Atoi(name[1:]); err == nil {
			return n
		}
	}
	t.Errorf("%s: what is the size of type %v?", place, typ)
	return 0
}
