package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/untoldkit/untold/finding"
	"github.com/untoldkit/untold/internal/engineoracle"
	"github.com/untoldkit/untold/internal/race"
)

// compile compiles a schema, which must itself be valid.
func compile(t testing.TB, text []byte) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource("manifest.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("manifest.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// parsedSchema returns the schema as plain values.
func parsedSchema(t testing.TB) map[string]any {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal(Schema(), &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// judges are the three that must agree: the schema, Decode, and the test's own
// idea of the engine.
type judges struct{ schema *jsonschema.Schema }

// check reports where one of them sees a text in another way.
func (j judges) check(data []byte) error {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return err
	}
	schemaErr := j.schema.Validate(doc)
	_, decodeErr := Decode(data)
	_, engineErr := engineoracle.Decode(data)
	if (schemaErr == nil) != (decodeErr == nil) || (decodeErr == nil) != (engineErr == nil) {
		return fmt.Errorf("they disagree:\nschema: %v\nDecode: %v\nengine: %v", schemaErr, decodeErr, engineErr)
	}
	return nil
}

// spot is a place in a document: a member of an object or an element.
type spot struct {
	pointer string
	set     func(v any)
	remove  func() // nil for elements
	value   any
}

// spots lists all places below v.
func spots(pointer string, v any, out []spot) []spot {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			out = append(out, spot{
				pointer + "/" + escapePointer(key), func(x any) { v[key] = x }, func() { delete(v, key) }, v[key],
			})
			out = spots(pointer+"/"+escapePointer(key), v[key], out)
		}
	case []any:
		for i := range v {
			at := fmt.Sprintf("%s/%d", pointer, i)
			out = append(out, spot{at, func(x any) { v[i] = x }, nil, v[i]})
			out = spots(at, v[i], out)
		}
	}
	return out
}

// mutants are what a value is replaced with. json.Number keeps numbers that
// float64 does not.
func mutants(old any) []any {
	out := []any{ // the first ones tell most
		nil, "text", 2.5,
		[]any{1, 2},
		true, "", 0, 3, -7, json.Number("4.0"), json.Number("1e2"), json.Number("1e39"), json.Number("-1e39"),
		json.Number("9223372036854775807"), json.Number("9223372036854775808"), json.Number("1e-60"),
		[]any{},
		[]any{1, 2, 3, 4},
		[]any{"a"},
		[]any{nil},
		[]any{[]any{1}},
		map[string]any{},
		map[string]any{"x": 1},
		map[string]any{"min": []any{0, 0, 0}},
		[]any{map[string]any{}},
	}
	if list, ok := old.([]any); ok && len(list) > 0 {
		out = append(out, list[:len(list)-1], append(slices.Clone(list), list[0]), append(slices.Clone(list), nil), append(slices.Clone(list), "x"))
	}
	if object, ok := old.(map[string]any); ok {
		more := maps.Clone(object)
		more["a key of a later version"] = []any{nil, "x"}
		out = append(out, more)
	}
	return out
}

// indices finds the array indices in a pointer.
var indices = regexp.MustCompile(`/[0-9]+`)

// documents are the texts that the tests change.
func documents(t testing.TB) map[string][]byte {
	t.Helper()
	docs := map[string][]byte{}
	m := full()
	docs["full grid"] = encodeBytes(t, m)
	m.PartitioningMode = ModeKDTreeFloor
	docs["full floors"] = encodeBytes(t, m)
	docs["older light keys"] = []byte(`{"version": 1, "streaming_defaults": {"streaming_radius": 1, "unload_radius": 9, "priority": 1}, "tiles": [],
		"scene_lights": [{"name": "a", "type": "sun", "light_type": "spot", "local_transform": [[1, 0, 0, 0]]}], "scene_cameras": [{"name": "b"}]}`)
	for _, name := range goldenManifests {
		docs[name] = vector(t, name)
	}
	return docs
}

// Every manifest that Decode accepts the schema accepts, and the reverse, for
// every key of every document and everything that can be wrong with its type.
// The test's own decoder sees it the same way.
func TestSchemaAndDecoderAgree(t *testing.T) {
	j := judges{compile(t, Schema())}
	for name, text := range documents(t) {
		t.Run(name, func(t *testing.T) {
			if race.Enabled && (strings.HasPrefix(name, "full ") || !strings.Contains(name, "quadtree") && strings.HasPrefix(name, "manifest_")) {
				t.Skip("takes a minute; make test runs it without the race detector")
			}
			t.Parallel()
			agreeOnEveryChange(t, j, text, !testing.Short() && !race.Enabled && (name == "full grid" || name == "older light keys"))
		})
	}
}

// agreeOnEveryChange changes every key of a document; thorough tries more
// values.
func agreeOnEveryChange(t *testing.T, j judges, text []byte, thorough bool) {
	var doc any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	if err := j.check(text); err != nil {
		t.Fatal(err)
	}
	before := shapes(doc)
	doc = withoutRepeats("", doc, map[string]bool{})
	if after := shapes(doc); !slices.Equal(before, after) {
		t.Fatalf("places are lost: %s", cmp.Diff(before, after))
	}
	text, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Decode(text); err != nil {
		t.Fatal(err)
	}
	changed := 0
	done := map[string]bool{} // the elements of a list have equal keys
	for _, at := range spots("", doc, nil) {
		shape := shapeOf(at.pointer)
		if done[shape] {
			continue
		}
		done[shape] = true
		try := func(what string) {
			data, err := json.Marshal(doc)
			if err != nil {
				t.Fatal(err)
			}
			changed++
			if err := j.check(data); err != nil {
				t.Errorf("%s %s: %v", at.pointer, what, err)
			}
		}
		values := mutants(at.value)
		if !thorough {
			values = values[:4]
		}
		for _, v := range values {
			at.set(v)
			try(fmt.Sprintf("as %v", v))
		}
		if at.remove != nil {
			at.remove()
			try("removed")
		}
		at.set(at.value)
	}
	t.Logf("%d changes", changed)
}

// shapeOf is the same for the same key of all elements of a list.
func shapeOf(pointer string) string { return indices.ReplaceAllString(pointer, "/0") }

// shapes lists what keys a document has anywhere.
func shapes(doc any) []string {
	var out []string
	for _, at := range spots("", doc, nil) {
		out = append(out, shapeOf(at.pointer))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// withoutRepeats leaves out elements of lists of objects that have no key which
// those before them lack: a document is read anew for each change.
func withoutRepeats(pointer string, v any, seen map[string]bool) any {
	switch v := v.(type) {
	case map[string]any:
		for key, x := range v {
			v[key] = withoutRepeats(pointer+"/"+escapePointer(key), x, seen)
		}
	case []any:
		var out []any
		for i, x := range v {
			at, fresh := pointer+"/0", i == 0
			if _, ok := x.(map[string]any); !ok {
				return v
			}
			for _, s := range spots(at, x, nil) {
				if shape := shapeOf(s.pointer); !seen[shape] {
					fresh, seen[shape] = true, true
				}
			}
			if fresh {
				out = append(out, withoutRepeats(at, x, seen))
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return v
}

// Several changes at once, extra keys among them.
func TestSchemaAndDecoderAgreeOnManyChanges(t *testing.T) {
	j := judges{compile(t, Schema())}
	texts := documents(t)
	names := slices.Sorted(maps.Keys(texts))
	rapid.Check(t, func(t *rapid.T) {
		var doc any
		d := json.NewDecoder(bytes.NewReader(texts[rapid.SampledFrom(names).Draw(t, "document")]))
		d.UseNumber()
		if err := d.Decode(&doc); err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 4).Draw(t, "changes") {
			all := spots("", doc, nil)
			if len(all) == 0 {
				break
			}
			at := all[rapid.IntRange(0, len(all)-1).Draw(t, "spot")]
			if at.remove != nil && rapid.Bool().Draw(t, "remove") {
				at.remove()
				continue
			}
			at.set(rapid.SampledFrom(mutants(at.value)).Draw(t, "value"))
		}
		data, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		if err := j.check(data); err != nil {
			t.Fatalf("%v\n%s", err, data)
		}
	})
}

// The types of the keys that the engine passes over stand beside true in an
// anyOf. Without those, all that we write must still fit.
func TestSchemaTypesOfIgnoredKeys(t *testing.T) {
	var strict func(v any) any
	strict = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			if list, ok := v["anyOf"].([]any); ok {
				v["anyOf"] = slices.DeleteFunc(list, func(x any) bool { return x == true })
			}
			for k := range v {
				v[k] = strict(v[k])
			}
		case []any:
			for i := range v {
				v[i] = strict(v[i])
			}
		}
		return v
	}
	text, err := json.Marshal(strict(parsedSchema(t)))
	if err != nil {
		t.Fatal(err)
	}
	s := compile(t, text)
	for name, data := range documents(t) {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(doc); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(strings.Replace(string(documents(t)["full grid"]), `"dry_run": false`, `"dry_run": 0`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	if s.Validate(doc) == nil {
		t.Error("a dry_run of 0 passes: the types are not looked at")
	}
}

// beyondSchema are the rules that JSON Schema cannot express, or that the
// decoder leaves to Validate, in the words of the schema's description, each
// with a manifest that the schema accepts and Validate does not.
var beyondSchema = []struct {
	rule   string
	base   func() *Manifest
	change func(m *Manifest)
	code   finding.Code
}{
	{"tile ids are unique", clean, func(m *Manifest) { m.Tiles[1].ID = "a" }, codeDuplicateTile},
	{"file paths stay in the manifest's folder, on every system and through links", clean, func(m *Manifest) { m.PayloadDir = "../x" }, codePathEscapes},
	{"every file exists with its size and SHA-256", clean, func(*Manifest) {}, codeFileMissing},
	{"sizes are not negative", clean, func(m *Manifest) { m.Tiles[0].FileSizeBytes = -1 }, codeFileSize},
	{"min is at or below max on every axis", clean, func(m *Manifest) { m.Tiles[0].Bounds.Min[0] = 99 }, codeBounds},
	{"bounds and center have three numbers", clean, nil, codeShortVector},
	{"center is the middle of bounds", clean, func(m *Manifest) { m.Tiles[0].Center[1]++ }, codeCenter},
	{"tile sizes are positive", clean, func(m *Manifest) { m.TileSize.X = 0 }, codeTileSize},
	{"0 <= streaming_radius < unload_radius", clean, func(m *Manifest) { m.StreamingDefaults.UnloadRadius = 1 }, codeRadii},
	{"switch distances are positive, ascending, and survive the engine's clamping", clean, func(m *Manifest) { m.Tiles[0].HLODLevels[0].SwitchDistance = 300 }, codeBands},
	{"the first LOD does not begin inside the streaming radius", clean, func(m *Manifest) { m.Tiles[0].LODLevels[0].SwitchDistance = 30 }, codeLODInside},
	{"radii stay within the engine's query ceiling", clean, func(m *Manifest) { m.StreamingDefaults.UnloadRadius = 501 }, codeQueryCeiling},
	{"the mode is a known one", clean, func(m *Manifest) { m.PartitioningMode = "octree" }, codeMode},
	{"grid_coord is that of the tile id", clean, func(m *Manifest) { m.Tiles[0].ID, m.Tiles[0].GridCoord = "tile_0_0_0", &[3]int{1, 0, 0} }, codeGridCoord},
	{"node ids, tiers and floors are well-formed and agree with the tile id", cleanFloors, func(m *Manifest) { m.Tiles[0].QuadtreeNodeID = "x" }, codeNodeID},
	{"interior tiles have an interior_zone", cleanFloors, func(m *Manifest) { m.InteriorZone = nil }, codeInteriorZone},
	{"the nodes of a pyramid are a forest above the tiles whose errors never fall going up", clean, func(m *Manifest) {
		m.Pyramid = &Pyramid{Nodes: []PyramidNode{{ID: "n", Level: 1, Children: []string{"nobody"}, Path: "tiles/n.untold", FileSizeBytes: 1}}}
	}, codePyramid},
	{"the colour table is within its limits", clean, func(m *Manifest) { m.ColorLUT = &ColorLUT{URI: "x", Size: 1} }, codeColorLUT},
	{"a default prefetch_radius does not reach the shared bucket", clean, func(m *Manifest) {
		m.StreamingDefaults.PrefetchRadius, m.SharedBucket = new(60.0), &SharedBucket{Tile: Tile{ID: "s", Path: "s"}}
	}, codeSharedPrefetch},
	{"a dry run declares no sizes", clean, func(m *Manifest) { m.DryRun = true }, codeDryRun},
}

func TestSchemaSaysWhatItLeavesOut(t *testing.T) {
	s := compile(t, Schema())
	description := parsedSchema(t)["description"].(string)
	_, list, ok := strings.Cut(description, "checks: ")
	if !ok {
		t.Fatal("the description has no list")
	}
	var rules []string
	for _, c := range beyondSchema {
		rules = append(rules, c.rule)
		m := c.base()
		data := bytes.Replace(encodeBytes(t, m), []byte(`"center": [12.5, 5, -12.5]`), []byte(`"center": []`), 1)
		if c.change != nil {
			c.change(m)
			var b bytes.Buffer
			e := &encoder{w: &b}
			e.manifest(m) // Encode would refuse a path to the outside
			e.flush()
			data = b.Bytes()
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(doc); err != nil {
			t.Errorf("%s: the schema knows: %v", c.rule, err)
		}
		found := ValidateBytes(data, t.TempDir(), ValidateOptions{CheckFiles: c.code == codeFileMissing})
		if !slices.ContainsFunc(found, func(f finding.Finding) bool { return f.Code == c.code }) {
			t.Errorf("%s: Validate does not say %s: %v", c.rule, c.code, found)
		}
	}
	if d := cmp.Diff(strings.Split(strings.TrimSuffix(list, "."), "; "), rules); d != "" {
		t.Errorf("the description lists other rules:\n%s", d)
	}
}
