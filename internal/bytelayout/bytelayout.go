// Package bytelayout tells tests where the fields of records lie in bytes, by looking
// at what the code writes, and holds pages and Kaitai Struct files to that.
package bytelayout

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"github.com/untoldkit/untold/internal/testfile"
)

// Field is a field of a record: what the code tells of it and what a page says.
type Field struct {
	Name    string // as the page has it: worldBoundsMin
	Path    string // of the Go field: WorldBounds.Min; empty for bytes that no field holds
	Type    string // empty: by the Go field
	Meaning string
	Since   int // the first version that has the field; 0 for all

	Offset, Size int // bytes
}

// ID returns the name as Kaitai Struct files have it: world_bounds_min.
func (f *Field) ID() string {
	var b strings.Builder
	name := []rune(f.Name)
	for i, r := range name {
		if i > 0 && unicode.IsUpper(r) && (!unicode.IsUpper(name[i-1]) || i+1 < len(name) && unicode.IsLower(name[i+1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// Probe finds where the fields of T lie: it writes records in which one field alone
// has all its bits set, and compares them with an empty one. Fields without a path
// follow the field before them and have the size that they come with. Every byte of
// the record belongs to one field, in the order of the list, or the test fails.
func Probe[T any](t testing.TB, encode func(*T) []byte, fields []Field) []Field {
	t.Helper()
	empty := encode(new(T))
	out := append([]Field(nil), fields...)
	at := 0
	for i := range out {
		f := &out[i]
		f.Offset = at
		if f.Path != "" {
			f.Offset, f.Size = probe[T](t, encode, empty, f)
		}
		if f.Offset != at {
			t.Fatalf("%s begins at byte %d, the field before it ends at %d", f.Name, f.Offset, at)
		}
		at += f.Size
	}
	if at != len(empty) {
		t.Fatalf("the fields have %d bytes, the record %d", at, len(empty))
	}
	return out
}

func probe[T any](t testing.TB, encode func(*T) []byte, empty []byte, f *Field) (offset, size int) {
	t.Helper()
	var record T
	v := reflect.ValueOf(&record).Elem()
	for name := range strings.SplitSeq(f.Path, ".") {
		if name, index, ok := strings.Cut(name, "["); ok {
			k := int(index[0] - '0')
			v = v.FieldByName(name).Index(k)
			continue
		}
		if v = v.FieldByName(name); !v.IsValid() {
			t.Fatalf("%s: there is no field %s", f.Name, f.Path)
		}
	}
	fill(v)
	if f.Type == "" {
		f.Type = typeName(v.Type())
	}
	b := encode(&record)
	first, last := -1, -1
	for k := range b {
		if b[k] != empty[k] {
			if first < 0 {
				first = k
			}
			last = k
		}
	}
	if first < 0 || bytes.Count(b[first:last+1], []byte{0xff}) != last+1-first {
		t.Fatalf("%s is not written as one piece: %x", f.Name, b)
	}
	return first, last + 1 - first
}

// fill sets all bits of what lies below v.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.Float32:
		v.Set(reflect.ValueOf(allBits))
	default:
		v.SetUint(1<<v.Type().Bits() - 1)
	}
}

// typeName returns u32, f32, 3 x f32 and the like.
func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Array:
		return fmt.Sprintf("%d x %s", t.Len(), typeName(t.Elem()))
	case reflect.Float32:
		return "f32"
	default:
		return fmt.Sprintf("u%d", t.Bits())
	}
}

// Table returns the fields as a table of a page.
func Table(fields []Field) string {
	var b strings.Builder
	b.WriteString("| offset | field | type | meaning |\n|---|---|---|---|\n")
	for _, f := range fields {
		fmt.Fprintf(&b, "| %d | `%s` | %s | %s |\n", f.Offset, f.Name, f.Type, f.Meaning)
	}
	return b.String()
}

// Hold compares the part of a page between the comments "generated: NAME" and "end"
// with a text, and rewrites it with update.
func Hold(t testing.TB, page, name, text string, update bool) {
	t.Helper()
	data := string(testfile.Read(t, page))
	begin := "<!-- generated: " + name + " -->\n"
	before, rest, ok := strings.Cut(data, begin)
	_, after, end := strings.Cut(rest, "<!-- end -->")
	if !ok || !end {
		t.Fatalf("%s has no part %q", page, name)
	}
	want := before + begin + "\n" + text + "\n<!-- end -->" + after
	switch {
	case want == data:
	case update:
		testfile.Write(t, page, want)
	default:
		t.Errorf("%s: the part %q is not what the code says: go test ./format/... -run Layout -update", page, name)
	}
}
