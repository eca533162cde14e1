// Package goschema writes JSON Schemas (draft 2020-12) of Go types as encoding/json
// encodes them, for tests that keep schemas up to date. Objects have no other keys than
// those of the type; keys without omitempty are required; what stands beside a field in
// its source is the key's description.
package goschema

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Options say what a schema is of.
type Options struct {
	ID, Title string
	// Module is the path of the module, Root its folder: for the sources of comments.
	Module, Root string
	// Types are schemas of types that encode themselves, and of interfaces, by their
	// names such as finding.Severity; Fields are those of single fields, by the type's
	// name and the key, such as report.Object.place. Both are JSON.
	Types, Fields map[string]string
	// As has, by the names of types that encode themselves, a value of a type that is
	// encoded alike.
	As map[string]any
	// Meaning describes a key of a type, such as report.Object, that has no comment; it
	// may return "".
	Meaning func(of, key string) string
}

// member is a key of an object with its value.
type member struct {
	key   string
	value any
}

// object is a JSON object that keeps the order of its keys.
type object []member

// MarshalJSON writes the keys in their order.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		for k, v := range []any{m.key, m.value} {
			if k > 0 {
				b.WriteByte(':')
			}
			e := json.NewEncoder(&b)
			e.SetEscapeHTML(false)
			if err := e.Encode(v); err != nil {
				return nil, err
			}
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Of returns the schema of a value's type, or of one of several (AnyOf), indented.
func Of(v any, o Options) ([]byte, error) {
	g := &generator{o: o, names: map[string]reflect.Type{}}
	root, err := g.root(v)
	if err != nil {
		return nil, err
	}
	out := object{{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"$id", o.ID}, {"title", o.Title}}
	out = append(out, root...)
	if len(g.defs) > 0 {
		slices.SortFunc(g.defs, func(a, b member) int { return strings.Compare(a.key, b.key) })
		out = append(out, member{"$defs", g.defs})
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err = e.Encode(out)
	return b.Bytes(), err
}

// AnyOf has values of several types: what is described is of one of them.
type AnyOf []any

// root describes the whole of it.
func (g *generator) root(v any) (object, error) {
	several, ok := v.(AnyOf)
	if !ok {
		return g.schema(reflect.TypeOf(v), true)
	}
	var kinds []any
	for _, one := range several {
		s, err := g.schema(reflect.TypeOf(one), false)
		if err != nil {
			return nil, err
		}
		kinds = append(kinds, s)
	}
	return object{{"anyOf", kinds}}, nil
}

type generator struct {
	o     Options
	defs  object
	names map[string]reflect.Type
}

var (
	timeType  = reflect.TypeFor[time.Time]()
	jsonType  = reflect.TypeFor[json.Marshaler]()
	textType  = reflect.TypeFor[encoding.TextMarshaler]()
	bytesType = reflect.TypeFor[[]byte]()
)

func raw(text string) (object, error) {
	var o map[string]any
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return nil, fmt.Errorf("goschema: %q: %w", text, err)
	}
	var out object
	for _, key := range []string{"description", "type", "const", "enum", "pattern", "minimum", "maximum", "items", "anyOf"} {
		if v, ok := o[key]; ok {
			out = append(out, member{key, v})
		}
	}
	if len(out) != len(o) {
		return nil, fmt.Errorf("goschema: %q has keys that are not known here", text)
	}
	return out, nil
}

// schema describes a type; structs that are not the root are definitions.
func (g *generator) schema(t reflect.Type, root bool) (object, error) {
	if text, ok := g.o.Types[t.String()]; ok {
		return raw(text)
	}
	if v, ok := g.o.As[t.String()]; ok {
		return g.schema(reflect.TypeOf(v), root)
	}
	switch {
	case t == timeType:
		return object{{"type", "string"}, {"format", "date-time"}}, nil
	case t == bytesType:
		return object{{"type", "string"}}, nil
	case t.Kind() != reflect.Pointer && (t.Implements(jsonType) || t.Implements(textType)):
		return nil, fmt.Errorf("goschema: %v encodes itself: name its schema", t)
	}
	switch t.Kind() {
	case reflect.Bool:
		return object{{"type", "boolean"}}, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return object{{"type", "integer"}}, nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return object{{"type", "integer"}, {"minimum", 0}}, nil
	case reflect.Float32, reflect.Float64:
		return object{{"type", "number"}}, nil
	case reflect.String:
		return object{{"type", "string"}}, nil
	case reflect.Pointer:
		return g.schema(t.Elem(), root)
	case reflect.Slice, reflect.Array:
		items, err := g.schema(t.Elem(), false)
		if err != nil {
			return nil, err
		}
		out := object{{"type", "array"}, {"items", items}}
		if t.Kind() == reflect.Array {
			out = append(out, member{"minItems", t.Len()}, member{"maxItems", t.Len()})
		}
		return out, nil
	case reflect.Map:
		items, err := g.schema(t.Elem(), false)
		return object{{"type", "object"}, {"additionalProperties", items}}, err
	case reflect.Struct:
		if root || t.Name() == "" {
			return g.structure(t)
		}
		return g.definition(t)
	}
	return nil, fmt.Errorf("goschema: %v has no schema: name one", t)
}

// definition puts a struct among the definitions, and refers to it.
func (g *generator) definition(t reflect.Type) (object, error) {
	name := t.String()
	if i := strings.LastIndex(name, "."); strings.HasPrefix(name, "main.") {
		name = name[i+1:]
	}
	ref := object{{"$ref", "#/$defs/" + name}}
	if known, ok := g.names[name]; ok {
		if known != t {
			return nil, fmt.Errorf("goschema: two types are called %s", name)
		}
		return ref, nil
	}
	g.names[name] = t
	s, err := g.structure(t)
	if err != nil {
		return nil, err
	}
	g.defs = append(g.defs, member{name, s})
	return ref, nil
}

// structure describes a struct.
func (g *generator) structure(t reflect.Type) (object, error) {
	var properties object
	required := []string{}
	if err := g.fields(t, true, &properties, &required); err != nil {
		return nil, err
	}
	out := object{{"type", "object"}, {"properties", properties}}
	if len(required) > 0 {
		out = append(out, member{"required", required})
	}
	return append(out, member{"additionalProperties", false}), nil
}

// fields adds the keys of a struct; always says that it is always there.
func (g *generator) fields(t reflect.Type, always bool, properties *object, required *[]string) error {
	for i := range t.NumField() {
		f := t.Field(i)
		tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if tag == "-" {
			continue
		}
		if f.Anonymous && tag == "" {
			inner, there := f.Type, always
			if inner.Kind() == reflect.Pointer {
				// An embedded report is always there, but for those that say otherwise.
				inner, there = inner.Elem(), always && g.o.Fields[t.String()+"."+f.Name] != optional
			}
			if err := g.fields(inner, there, properties, required); err != nil {
				return err
			}
			continue
		}
		if !f.IsExported() {
			continue
		}
		if tag == "" {
			tag = f.Name
		}
		s, err := g.field(t, f, tag, strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero"))
		if err != nil {
			return err
		}
		*properties = append(*properties, member{tag, s})
		if always && !strings.Contains(options, "omit") {
			*required = append(*required, tag)
		}
	}
	return nil
}

// optional marks an embedded pointer that may be nil, in Options.Fields.
const optional = "optional"

// field describes a field.
func (g *generator) field(t reflect.Type, f reflect.StructField, key string, omitted bool) (object, error) {
	var s object
	var err error
	if text, ok := g.o.Fields[t.String()+"."+key]; ok {
		s, err = raw(text)
	} else if s, err = g.schema(f.Type, false); err == nil && f.Type.Kind() == reflect.Pointer && !omitted {
		s = object{{"anyOf", []any{s, object{{"type", "null"}}}}}
	}
	if err != nil {
		return nil, fmt.Errorf("%v.%s: %w", t, f.Name, err)
	}
	text := g.comment(t, f.Name, key)
	if text == "" && g.o.Meaning != nil {
		text = g.o.Meaning(t.String(), key)
	}
	if text != "" && (len(s) == 0 || s[0].key != "description") {
		s = append(object{{"description", text}}, s...)
	}
	return s, nil
}
