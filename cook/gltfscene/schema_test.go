package gltfscene

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestWholeNumber(t *testing.T) {
	for text, want := range map[string]int{
		"0": 0, "7": 7, "1234567890": 1234567890, "3.0": 3, "1e2": 100, "900719925": 900719925,
		"-1": -1, "-0": -1, "0.5": -1, "1e99": -1, "1e999": -1, "": -1, `"1"`: -1, "true": -1, "null": -1,
	} {
		got, ok := wholeNumber([]byte(text))
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("%q: got %d, want %d", text, got, want)
		}
	}
}

func TestWholeNumbers(t *testing.T) {
	const in = `{"a":1.0,"b":[2e1,-3.0,0.5],"c":"4.0","d\"":5.00 ,"e":null}`
	const want = `{"a":1,"b":[20,-3.0,0.5],"c":"4.0","d\"":5 ,"e":null}`
	if got := string(wholeNumbers([]byte(in))); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestSchemas checks one schema of every kind of property.
func TestSchemas(t *testing.T) {
	s := &schema{[]prop{
		{name: "int", kind: isInt},
		{name: "num", kind: isNum},
		{name: "bool", kind: isBool},
		{name: "text", kind: isString},
		{name: "object", kind: isObject},
		{name: "ints", kind: isInts},
		{name: "pair", kind: isNums, size: 2},
		{name: "list", kind: isObjects, sub: &schema{[]prop{{name: "need", kind: isInt, need: true}}}},
		{name: "map", kind: isIndexMap},
		{name: "maps", kind: isMaps},
		{name: "any", kind: isAny},
	}}
	for text, want := range map[string]string{
		`{"int":1,"num":-1.5e3,"bool":true,"text":"a","object":{},"ints":[1,2],"pair":[1,2],"list":[{"need":1}],"map":{"A":1},"maps":[{"A":1}],"any":[null]}`: "",
		`{"int":null,"pair":null,"unknown":{"int":"a"}}`: "",
		`[]`:                  ": is an array, must be an object",
		`{"int":"1"}`:         `.int: is "1", must be a whole number >= 0`,
		`{"int":{}}`:          ".int: is an object, must be a whole number >= 0",
		`{"num":"1"}`:         `.num: is "1", must be a number`,
		`{"num":1e400}`:       ".num: is 1e400, which is out of range",
		`{"bool":1}`:          ".bool: is a number, must be true or false",
		`{"text":1}`:          ".text: is a number, must be a string",
		`{"object":1}`:        ".object: is a number, must be an object",
		`{"ints":1}`:          ".ints: is a number, must be an array",
		`{"ints":[1,-1]}`:     ".ints[1]: is -1, must be a whole number >= 0",
		`{"pair":[1]}`:        ".pair: has 1 numbers, must have 2",
		`{"pair":[1,null]}`:   ".pair[1]: is null, must be a number",
		`{"list":[{}]}`:       ".list[0].need: is missing",
		`{"list":[null]}`:     ".list[0]: is null, must be an object",
		`{"map":{"A":"B"}}`:   `.map.A: is "B", must be a whole number >= 0`,
		`{"map":[]}`:          ".map: is an array, must be an object",
		`{"maps":[{"A":-1}]}`: ".maps[0].A: is -1, must be a whole number >= 0",
		`{"maps":[7]}`:        ".maps[0]: is a number, must be an object",
		`{"int":1,"int":2}`:   ".int: occurs twice",
		`{"Int":1}`:           `.Int: must be spelled "int"`,
		`{"li\u017ft":1}`:     `.liſt: must be spelled "list"`,
		`{"i\u006et":-1}`:     ".int: is -1, must be a whole number >= 0",
	} {
		var c checker
		err := c.object(s, []byte(text))
		got := ""
		if e, ok := err.(*Error); ok {
			got = e.Place + ": " + e.Reason
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// TestSchemasCoverTypes verifies that encoding/json cannot fill a field of a
// whole number or of fixed length that no schema has checked.
func TestSchemasCoverTypes(t *testing.T) {
	d, err := parseDocument([]byte(`{"asset":{"version":"2.0"}}`))
	if err != nil {
		t.Fatal(err)
	}
	check := func(s *schema, v any, name string) { covers(t, s, reflect.TypeOf(v), name) }
	check(d.accessors.schema, deref(d.accessors), "accessor")
	check(d.views.schema, deref(d.views), "bufferView")
	check(d.buffers.schema, deref(d.buffers), "buffer")
	check(d.meshes.schema, deref(d.meshes), "mesh")
	check(d.materials.schema, deref(d.materials), "material")
	check(d.textures.schema, deref(d.textures), "texture")
	check(d.samplers.schema, deref(d.samplers), "sampler")
	check(d.images.schema, deref(d.images), "image")
	check(d.cameras.schema, deref(d.cameras), "camera")
	check(d.skins.schema, deref(d.skins), "skin")
	check(d.animations.schema, deref(d.animations), "animation")
	check(d.scenes.schema, deref(d.scenes), "scene")
	check(d.nodes.schema, deref(d.nodes), "node")
}

// deref returns a zero element of a table.
func deref[T any](table[T]) (zero T) { return zero }

// covers walks the JSON fields of a type along with a schema.
func covers(t *testing.T, s *schema, typ reflect.Type, place string) {
	t.Helper()
	for i := range typ.NumField() {
		field := typ.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" || name == "-" || name == "extensions" || name == "extras" || name == "min" || name == "max" {
			continue
		}
		k := slices.IndexFunc(s.props, func(p prop) bool { return p.name == name })
		if k < 0 {
			t.Errorf("%s.%s is not in the schema", place, name)
			continue
		}
		p, ft := s.props[k], field.Type
		for ft.Kind() == reflect.Pointer || ft.Kind() == reflect.Slice {
			ft = ft.Elem()
		}
		if ft.Kind() == reflect.Array && (p.kind != isNums || p.size != ft.Len()) {
			t.Errorf("%s.%s must have %d numbers", place, name, ft.Len())
		}
		if ft.Kind() == reflect.Struct {
			if p.sub == nil {
				t.Errorf("%s.%s has no schema", place, name)
				continue
			}
			covers(t, p.sub, ft, fmt.Sprintf("%s.%s", place, name))
		}
	}
}
