package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/untoldkit/untold/finding"
)

// keyClass is what the engine does with a key.
type keyClass byte

const (
	required  keyClass = 'R' // missing, null or of a wrong type: the manifest is refused
	readIfSet keyClass = 'r' // null is absence; a wrong type: refused
	ignored   keyClass = '-' // anything goes
)

// keyClasses lists all keys of the full manifest that docs/manifest-keys.md
// has a class for. A 0 in a pointer is the first element.
var keyClasses = map[string]keyClass{
	"/version": required, "/partitioning_mode": readIfSet, "/dry_run": ignored, "/debug_aabb_only": ignored,
	"/source_scene_name": ignored, "/payload_dir_relative_to_manifest": ignored, "/axis_convention": ignored,
	"/axis_convention/up": ignored, "/generator": ignored, "/units": ignored, "/tile_size_mode": ignored,
	"/tile_size": readIfSet, "/tile_size/x": required, "/tile_size/y": required, "/tile_size/z": required,
	"/scene_bounds": ignored, "/scene_bounds/min": ignored, "/origin_offset": ignored, "/content_bounds": ignored, "/content_bounds/min": ignored,
	"/textures": ignored, "/textures/0": ignored, "/textures/0/uri": ignored, "/textures/0/uv_per_metre": ignored, "/scene_lights": readIfSet, "/scene_cameras": readIfSet,
	"/scene_lights/0/entity_name": readIfSet, "/scene_lights/0/kind": readIfSet, "/scene_lights/0/color": readIfSet,
	"/scene_lights/0/intensity": readIfSet, "/scene_lights/0/position": readIfSet, "/scene_lights/0/radius": readIfSet,
	"/scene_lights/0/range": readIfSet, "/scene_lights/0/direction": readIfSet, "/scene_lights/0/falloff": readIfSet,
	"/scene_lights/0/right": readIfSet, "/scene_lights/0/inner_cone": readIfSet, "/scene_lights/0/up": readIfSet,
	"/scene_lights/0/outer_cone": readIfSet, "/scene_lights/0/area_size": readIfSet, "/scene_lights/0/source_power": readIfSet,
	"/scene_lights/0/source_exposure": readIfSet, "/scene_lights/0/casts_shadow": readIfSet,
	"/scene_lights/0/uses_radiometric_units": readIfSet, "/scene_lights/0/local_transform_rows": readIfSet,
	"/scene_cameras/0/entity_name": readIfSet, "/scene_cameras/0/position": readIfSet, "/scene_cameras/0/forward": readIfSet,
	"/scene_cameras/0/up": readIfSet, "/scene_cameras/0/right": readIfSet, "/scene_cameras/0/fov_y_degrees": readIfSet,
	"/scene_cameras/0/near_clip": readIfSet, "/scene_cameras/0/far_clip": readIfSet, "/scene_cameras/0/aspect_ratio": readIfSet,
	"/scene_cameras/0/local_transform_rows": readIfSet,
	"/colorLUT":                             readIfSet, "/colorLUT/lutUri": required, "/colorLUT/lutSize": required, "/colorLUT/look": readIfSet,
	"/colorLUT/viewTransform": readIfSet, "/colorLUT/displayDevice": readIfSet, "/colorLUT/exposure": readIfSet,
	"/colorLUT/gamma": readIfSet, "/colorLUT/shaperMinStops": readIfSet, "/colorLUT/shaperMaxStops": readIfSet,
	"/colorGradeLUT": ignored, "/colorGradeLUT/lutUri": ignored, "/colorGradeLUT/lutSize": ignored,
	"/streaming_profile": ignored, "/streaming_profile/tier_radii": ignored, "/streaming_profile/scene_half_diag": ignored,
	"/streaming_defaults": required, "/streaming_defaults/streaming_radius": required,
	"/streaming_defaults/unload_radius": required, "/streaming_defaults/priority": required,
	"/streaming_defaults/prefetch_radius": readIfSet, "/classification_config": ignored,
	"/classification_config/overlap_threshold": ignored, "/partition_quality_config": ignored,
	"/hlod_generation": ignored, "/hlod_generation/levels": ignored, "/lod_generation": ignored,
	"/lod_generation/levels/0/decimate_ratio": ignored, "/object_classification": ignored,
	"/object_classification/b": ignored, "/object_classification/b/dimensions": ignored,
	"/object_classification/b/reasons": ignored, "/object_classification/b/dim_ratio": ignored,
	"/shared_bucket": readIfSet, "/shared_bucket/tile_id": required, "/shared_bucket/path_relative_to_manifest": required,
	"/shared_bucket/export_policy": ignored, "/shared_bucket/streaming_radius": readIfSet,
	"/shared_bucket/unload_radius": readIfSet, "/shared_bucket/priority": readIfSet, "/shared_bucket/file_size_bytes": required,
	"/shared_bucket/bounds": required, "/shared_bucket/center": required, "/shared_bucket/objects": ignored,
	"/shared_bucket/objects/0/name": ignored, "/failed_tiles": ignored, "/failed_tiles/0": ignored,
	"/failed_tiles/0/grid_coord": ignored, "/tiles": required, "/tiles/0": required,
	"/tiles/0/tile_id": required, "/tiles/0/grid_coord": ignored, "/tiles/0/path_relative_to_manifest": required,
	"/tiles/0/priority": readIfSet, "/tiles/0/hlod_levels": readIfSet, "/tiles/0/hlod_levels/0": required,
	"/tiles/0/hlod_levels/0/path": required, "/tiles/0/hlod_levels/0/switch_distance": required,
	"/tiles/0/file_size_bytes": required, "/tiles/0/sha256": ignored, "/tiles/0/triangle_count": ignored,
	"/tiles/0/estimated_memory_bytes": ignored, "/tiles/0/bounds": required, "/tiles/0/bounds/min": required,
	"/tiles/0/bounds/max": required, "/tiles/0/cell_bounds": readIfSet, "/tiles/0/cell_bounds/min": required,
	"/tiles/0/center": required, "/tiles/0/object_count": ignored, "/tiles/0/objects": ignored,
	"/tiles/0/objects/0": ignored, "/tiles/0/lod_levels": readIfSet, "/tiles/0/lod_levels/0/path": required,
	"/tiles/0/lod_levels/0/switch_distance": required, "/tiles/0/lod_levels/0/file_size_bytes": ignored,
	"/tiles/0/lod_levels/0/sha256": ignored, "/tiles/0/lod_levels/0/triangle_count": ignored,
	"/tiles/0/lod_levels/0/geometric_error": ignored, "/tiles/0/lod_levels/0/visual_error": ignored,
	"/tiles/1/floor_id": readIfSet, "/tiles/1/quadtree_node_id": readIfSet, "/tiles/1/semantic_tier": readIfSet,
	"/tiles/1/streaming_radius": readIfSet, "/tiles/1/unload_radius": readIfSet, "/tiles/1/prefetch_radius": readIfSet,
	"/tiles/1/interior": readIfSet, "/tiles/1/secondary_representation_policy": ignored,
	"/interior_zone": readIfSet, "/interior_zone/min": required, "/interior_zone/max": required,
}

// change sets the value at a pointer of a decoded document, or removes it.
func change(t *testing.T, doc any, pointer string, value any, remove bool) {
	t.Helper()
	parts := strings.Split(pointer, "/")[1:]
	for i, part := range parts {
		last := i == len(parts)-1
		switch v := doc.(type) {
		case map[string]any:
			if _, ok := v[part]; !ok {
				t.Fatalf("no %s in the document", pointer)
			}
			switch {
			case last && remove:
				delete(v, part)
			case last:
				v[part] = value
			}
			doc = v[part]
		case []any:
			n, err := strconv.Atoi(part)
			if err != nil || n >= len(v) {
				t.Fatalf("no %s in the document", pointer)
			}
			if last {
				v[n] = value
			}
			doc = v[n]
		default:
			t.Fatalf("no %s in the document", pointer)
		}
	}
}

// lookup returns the value at a pointer.
func lookup(t *testing.T, doc any, pointer string) any {
	t.Helper()
	for _, part := range strings.Split(pointer, "/")[1:] {
		if list, ok := doc.([]any); ok {
			n, _ := strconv.Atoi(part)
			doc = list[n]
		} else {
			doc = doc.(map[string]any)[part]
		}
	}
	return doc
}

// Every key with every wrong type, null and absence: refused exactly when the
// engine refuses it, with the right kind of error at the right place.
func TestStrictnessOfEveryKey(t *testing.T) {
	m := full()
	text := encodeBytes(t, m)
	fresh := func() (doc any) {
		if err := json.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
		return doc
	}
	wrong := []any{"text", 1.5, true, []any{"x"}, map[string]any{"x": 1}}
	for pointer, class := range keyClasses {
		old := lookup(t, fresh(), pointer)
		decodeWith := func(value any, remove bool) error {
			doc := fresh()
			change(t, doc, pointer, value, remove)
			edited, err := json.Marshal(doc)
			if err != nil {
				t.Fatal(err)
			}
			_, err = Decode(edited)
			return err
		}
		expect := func(what string, err error, refused bool, kind error) {
			t.Helper()
			var e *DecodeError
			switch {
			case !refused && err != nil:
				t.Errorf("%s %s: refused: %v", pointer, what, err)
			case refused && (!errors.As(err, &e) || e.Kind != kind || !strings.HasPrefix(e.Pointer+"/", pointer+"/")):
				t.Errorf("%s %s: got %v, want %v", pointer, what, err, kind)
			}
		}
		for _, w := range wrong {
			sameType := old != nil && reflect.TypeOf(w) == reflect.TypeOf(old)
			if sameType {
				continue // covered below where it matters
			}
			expect(fmt.Sprintf("as %v", w), decodeWith(w, false), class != ignored, ErrWrongType)
		}
		expect("as null", decodeWith(nil, false), class == required, ErrMissingKey)
		if last := pointer[strings.LastIndexByte(pointer, '/')+1:]; last != "0" {
			expect("removed", decodeWith(nil, true), class == required, ErrMissingKey)
		}
		if list, ok := old.([]any); ok && len(list) > 0 {
			if _, ok := list[0].(float64); ok {
				expect("with text in it", decodeWith([]any{1, "2", 3}, false), class != ignored, ErrWrongType)
				expect("with null in it", decodeWith([]any{1, nil, 3}, false), class != ignored, ErrMissingKey)
			}
		}
	}
}

// A value that is wrong leaves only its own key absent.
func TestIgnoredKeysFailAlone(t *testing.T) {
	text := encodeBytes(t, full())
	for _, pointer := range []string{"/tiles/0/objects/0", "/tiles/0/sha256", "/tiles/0/lod_levels/0/geometric_error", "/scene_bounds/min"} {
		var doc any
		if err := json.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
		change(t, doc, pointer, map[string]any{}, false)
		edited, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		m, notes, err := decodeReport(edited)
		if err != nil || len(notes) != 1 || notes[0].Severity != finding.Warning || !strings.HasPrefix(notes[0].Pointer, pointer) {
			t.Fatalf("%s: %v %v", pointer, notes, err)
		}
		tile := m.Tiles[0]
		if tile.TriangleCount != 12 || tile.ObjectCount == nil || len(tile.LODLevels) != 1 || tile.LODLevels[0].TriangleCount != 6 {
			t.Errorf("%s: %+v", pointer, tile)
		}
		if gone := tile.Objects == nil; gone != (pointer == "/tiles/0/objects/0") {
			t.Errorf("%s: objects %v", pointer, tile.Objects)
		}
	}
}
