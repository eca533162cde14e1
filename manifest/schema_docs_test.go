package manifest

import (
	"bufio"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sections maps the headings of docs/manifest-keys.md that have a table of
// keys to the definitions of the schema; "" is the top level.
var sections = map[string][]string{
	"Top level": {""}, "`streaming_defaults`": {"streaming_defaults"}, "Tiles": {"tile"}, "`hlod_levels` and `lod_levels`": {"level"},
	"`shared_bucket`": {"shared_bucket"}, "`objects` of the bucket": {"bucket_object"}, "`tile_size`": {"tile_size"}, "Boxes": {"bounds"},
	"`scene_lights`": {"light"}, "`scene_cameras`": {"camera"}, "`colorLUT`": {"color_lut"}, "`colorGradeLUT`": {"grade_lut"}, "`axis_convention`": {"axis_convention"},
	"`streaming_profile`": {"streaming_profile"}, "Radii of a tier": {"tier_radius"}, "`classification_config`": {"classification_config"},
	"`partition_quality_config`": {"partition_quality_config"}, "`hlod_generation` and `lod_generation`": {"hlod_generation", "lod_generation"},
	"Levels of `hlod_generation`": {"hlod_level"}, "Levels of `lod_generation`": {"lod_level"}, "`object_classification`": {"classification"},
	"`failed_tiles`": {"failed_tile"}, "`textures`": {"texture"},
	"`pyramid`": {"pyramid"}, "`nodes` of the pyramid": {"pyramid_node"},
}

// documentedKeys reads the tables of keys: heading -> key -> class, which is
// R, r or - (ours counts as -).
func documentedKeys(t *testing.T) map[string]map[string]string {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "docs", "manifest-keys.md"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := map[string]map[string]string{}
	heading, table := "", false
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		if strings.HasPrefix(line, "#") {
			heading = strings.TrimSpace(strings.TrimLeft(line, "#"))
		}
		table = strings.HasPrefix(line, "| key |") || table && strings.HasPrefix(line, "|")
		cells := strings.Split(line, "|")
		if !table || len(cells) < 5 || !strings.HasPrefix(strings.TrimSpace(cells[1]), "`") {
			continue
		}
		if out[heading] == nil {
			out[heading] = map[string]string{}
		}
		class := strings.TrimSpace(cells[3])
		if class == "**ours**" {
			class = "-"
		}
		out[heading][strings.Trim(strings.TrimSpace(cells[1]), "`")] = class
	}
	return out
}

// schemaKeys reads the keys of a definition with their classes.
func schemaKeys(definition map[string]any, ignored bool) map[string]string {
	out := map[string]string{}
	required, _ := definition["required"].([]any)
	properties, _ := definition["properties"].(map[string]any)
	for key, v := range properties {
		s := v.(map[string]any)
		types, _ := s["type"].([]any)
		choices, _ := s["anyOf"].([]any)
		nullable := slices.Contains(types, any("null")) || slices.ContainsFunc(choices, func(x any) bool {
			return reflect.DeepEqual(x, map[string]any{"type": "null"})
		})
		switch {
		case slices.Contains(required, any(key)):
			out[key] = "R"
		case slices.Contains(choices, any(true)) || ignored:
			out[key] = "-"
		case nullable:
			out[key] = "r"
		default:
			out[key] = "neither required nor nullable"
		}
	}
	return out
}

// Every documented key is in the schema with the same class, and the reverse.
func TestSchemaAndDocsAgree(t *testing.T) {
	schema := parsedSchema(t)
	definitions := schema["$defs"].(map[string]any)
	docs := documentedKeys(t)
	if d := cmp.Diff(slices.Sorted(maps.Keys(sections)), slices.Sorted(maps.Keys(docs))); d != "" {
		t.Fatalf("sections with keys:\n%s", d)
	}
	known := map[string]bool{}
	// What stands below a key that the engine passes over.
	records := []string{
		"bucket_object", "axis_convention", "streaming_profile", "tier_radius", "classification_config", "partition_quality_config",
		"hlod_generation", "lod_generation", "hlod_level", "lod_level", "classification", "failed_tile", "texture", "pyramid", "pyramid_node",
	}
	for heading, names := range sections {
		for _, name := range names {
			known[name] = true
			definition, _ := definitions[name].(map[string]any)
			if name == "" {
				definition = schema
			}
			want := docs[heading]
			if name == "shared_bucket" { // the page lists what it has beside a tile's keys
				want = maps.Clone(docs["Tiles"])
				maps.Copy(want, docs[heading])
			}
			if d := cmp.Diff(want, schemaKeys(definition, slices.Contains(records, name))); d != "" {
				t.Errorf("%s (-page +schema):\n%s", heading, d)
			}
		}
	}
	for name, v := range definitions {
		if _, ok := v.(map[string]any)["properties"]; ok && !known[name] {
			t.Errorf("no section of the page is about %s", name)
		}
	}
}
