package engineoracle

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// small is a manifest with little but what is required.
const small = `{"version": 3, "partitioning_mode": "quadtree_floor",
 "streaming_defaults": {"streaming_radius": 50, "unload_radius": 75, "priority": 10},
 "tiles": [{"tile_id": "F01_Q_SI", "path_relative_to_manifest": "tiles/a.untold", "file_size_bytes": 4096, "floor_id": 0,
  "bounds": {"min": [0, 0, -25], "max": [25, 8, 0]}, "center": [12.5, 4, -12.5],
  "hlod_levels": [{"path": "h", "switch_distance": 71}], "lod_levels": [{"path": "l", "switch_distance": 57}]}]}`

func TestDecodeSmall(t *testing.T) {
	s, err := Decode([]byte(small))
	if err != nil {
		t.Fatal(err)
	}
	e := s.Tiles[0]
	if !s.Floors || s.BatchCell != 50 || e.ID != "F01_Q_SI" || e.Size != 4096 || *e.Floor != 0 || e.Priority != 10 ||
		e.Streaming != 50 || e.Unload != 75 || e.Prefetch != 0 || e.HLOD.Switch != 71 || e.LODs[0].Switch != 57 || e.Changed || len(s.Warnings) > 0 {
		t.Errorf("%+v", s)
	}
}

// The rules of the engine's decoder, one edit each.
func TestDecodeRules(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"version is required", `"version": 3, `, ``, "manifest.version"},
		{"version 3.0 is an Int", `"version": 3,`, `"version": 3.0,`, ""},
		{"version 3.5 is none", `"version": 3,`, `"version": 3.5,`, "manifest.version"},
		{"version beyond 64 bits", `"version": 3,`, `"version": 99999999999999999999,`, "manifest.version"},
		{"version as text", `"version": 3,`, `"version": "3",`, "manifest.version"},
		{"defaults need a priority", `, "priority": 10}`, `}`, "manifest.streaming_defaults.priority"},
		{"null is missing", `"unload_radius": 75`, `"unload_radius": null`, "manifest.streaming_defaults.unload_radius"},
		{"a radius beyond Float", `"unload_radius": 75`, `"unload_radius": 1e39`, "manifest.streaming_defaults.unload_radius"},
		{"a bare tile_size", `"version": 3,`, `"version": 3, "tile_size": 25,`, "manifest.tile_size"},
		{"tile_size without y", `"version": 3,`, `"version": 3, "tile_size": {"x": 1, "z": 2},`, "manifest.tile_size.y"},
		{"tile_size null", `"version": 3,`, `"version": 3, "tile_size": null,`, ""},
		{"unknown keys", `"version": 3,`, `"version": 3, "x": {"y": [1e999]},`, ""},
		{"a tile without center", `, "center": [12.5, 4, -12.5]`, ``, "manifest.tiles[0].center"},
		{"text in a vector", `[25, 8, 0]`, `[25, "8", 0]`, "manifest.tiles[0].bounds.max[1]"},
		{"null in a vector", `[25, 8, 0]`, `[25, null, 0]`, "manifest.tiles[0].bounds.max[1]"},
		{"a level without distance", `{"path": "l", "switch_distance": 57}`, `{"path": "l"}`, "manifest.tiles[0].lod_levels[0].switch_distance"},
		{"levels null", `[{"path": "h", "switch_distance": 71}]`, `null`, ""},
		{"interior as a number", `"floor_id": 0,`, `"floor_id": 0, "interior": 1,`, "manifest.tiles[0].interior"},
		{"a bucket is a tile", `"tiles": [`, `"shared_bucket": {"tile_id": "shared"}, "tiles": [`, "manifest.shared_bucket.path_relative_to_manifest"},
		{"a bucket's null bounds", `"tiles": [`, `"shared_bucket": {"tile_id": "s", "path_relative_to_manifest": "", "file_size_bytes": 1, "bounds": null, "center": []}, "tiles": [`, "manifest.shared_bucket.bounds"},
		{"light type as text", `"version": 3,`, `"version": 3, "scene_lights": [{"light_type": "spot", "range": null}],`, ""},
		{"light type as a bool", `"version": 3,`, `"version": 3, "scene_lights": [{"light_type": true}],`, "manifest.scene_lights[0].light_type"},
		{"camera", `"version": 3,`, `"version": 3, "scene_cameras": [{"up": [0, "1"]}],`, "manifest.scene_cameras[0].up[1]"},
		{"colour table without size", `"version": 3,`, `"version": 3, "colorLUT": {"lutUri": "x"},`, "manifest.colorLUT.lutSize"},
		{"not an object", small, `[]`, "manifest"},
		{"cut off", small, small[:len(small)-2], "text"},
		{"two values", small, small + `{}`, "text"},
		{"nothing", small, ``, "text"},
		{"nested deeply", `"version": 3,`, `"version": 3, "x": ` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `,`, "text"},
	} {
		text := strings.Replace(small, c.old, c.new, 1)
		if text == small {
			t.Fatalf("%s: nothing was replaced", c.name)
		}
		_, err := Decode([]byte(text))
		var e *Error
		got := ""
		if errors.As(err, &e) {
			got = e.Path
		}
		if got != c.want || (err == nil) != (c.want == "") {
			t.Errorf("%s: %v, want a failure at %q", c.name, err, c.want)
		}
	}
}

// Fewer than three numbers skip a tile, they do not fail the text.
func TestDecodeSkipsShortVectors(t *testing.T) {
	for _, edit := range [][2]string{{`[0, 0, -25]`, `[0, 0]`}, {`[25, 8, 0]`, `[]`}, {`[12.5, 4, -12.5]`, `[1, 2]`}} {
		s, err := Decode([]byte(strings.Replace(small, edit[0], edit[1], 1)))
		if err != nil || len(s.Tiles) != 0 || len(s.Warnings) != 1 {
			t.Errorf("%v: %+v %v", edit, s, err)
		}
	}
	s, err := Decode([]byte(strings.Replace(small, `[25, 8, 0]`, `[25, 8, 0, 1]`, 1)))
	if err != nil || len(s.Tiles) != 1 {
		t.Errorf("a fourth number: %v", err)
	}
	s, err = Decode([]byte(strings.Replace(small, `"version": 3,`, `"version": 3, "interior_zone": {"min": [0], "max": [1, 1, 1]},`, 1)))
	if err != nil || s.Zone != nil {
		t.Errorf("short zone: %v", err)
	}
}

// The numbers that the reference exporter and the engine's normalisation give.
func TestClamp(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, c := range []struct {
		s, u, p, h float32
		lods       []float32
		want       string
		changed    bool
	}{
		{80, 120, 0, 300, []float32{80, 150}, "80 120 0 119 [80 115]", true},
		{50, 75, 0, 71, []float32{56.89, 63.53}, "50 75 0 71 [56.89 63.53]", false},
		{6, 10, 0, 10, []float32{4, 8}, "6 10 0 10 [2.1]", true},
		{1, 2, 0, 0, nil, "1 5 0 0 []", true},
		{50, 75, 20, 0, nil, "50 75 50 0 []", true},
		{50, 75, 99, 0, nil, "50 75 75 0 []", true},
		{50, 75, -1, 0, []float32{65, 55}, "50 75 0 0 [55 65]", false},
		{10, inf, 0, 0, nil, "10 +Inf 0 0 []", false},
	} {
		var e Tile
		var hlods, lods []Level
		if c.h != 0 {
			hlods = []Level{{"h", c.h}, {"second", 1}}
		}
		for _, l := range c.lods {
			lods = append(lods, Level{"l", l})
		}
		e.clamp(c.s, c.u, c.p, hlods, lods)
		h, ls := float32(0), []float32{}
		if e.HLOD != nil {
			h = e.HLOD.Switch
		}
		for _, l := range e.LODs {
			ls = append(ls, l.Switch)
		}
		if got := fmt.Sprint(e.Streaming, e.Unload, e.Prefetch, h, ls); got != c.want || e.Changed != c.changed {
			t.Errorf("%v: got %s, changed %v", c, got, e.Changed)
		}
	}
}

func TestLUTRules(t *testing.T) {
	for lut, usable := range map[string]bool{
		`{"lutUri": "x", "lutSize": 33, "shaperMaxStops": 1}`:                          true,
		`{"lutUri": "x", "lutSize": 33, "shaperMaxStops": 1, "displayDevice": "sRGB"}`: true,
		`{"lutUri": "x", "lutSize": 65, "shaperMaxStops": 1}`:                          false,
		`{"lutUri": "x", "lutSize": 33, "shaperMaxStops": 1, "displayDevice": "P3"}`:   false,
		`{"lutUri": "x", "lutSize": 33, "shaperMaxStops": 1, "gamma": 0}`:              false,
		`{"lutUri": "x", "lutSize": 33}`:                                               false,
	} {
		s, err := Decode([]byte(strings.Replace(small, `"version": 3,`, `"version": 3, "colorLUT": `+lut+`,`, 1)))
		if err != nil || (s.Unusable == nil) != usable {
			t.Errorf("%s: %v %v", lut, s, err)
		}
	}
}

func TestAuthored(t *testing.T) {
	s, err := Decode([]byte(strings.Replace(small, `"version": 3,`, `"version": 3, "scene_lights": [
		{"kind": "sun", "entity_name": "a"}, {"type": "area", "name": "b", "entity_name": "c"}, {"light_type": 3}, {"light_type": "dir"}, {"light_type": 9}, {}],
		"scene_cameras": [{"entity_name": "Eye"}],`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(s.Lights, s.Cameras); got != "[{a directional} {b area} { spot} { directional} { point} { point}] [{Eye}]" {
		t.Error(got)
	}
}

func TestBucketIsNotClamped(t *testing.T) {
	s, err := Decode([]byte(strings.NewReplacer(`"priority": 10}`, `"priority": 10, "prefetch_radius": 60}`, `"tiles": [`,
		`"shared_bucket": {"tile_id": "shared", "path_relative_to_manifest": "b", "file_size_bytes": 1, "streaming_radius": 300,
		"bounds": {"min": [0, 0, 0], "max": [1, 1, 1]}, "center": [0, 0, 0]}, "tiles": [`).Replace(small)))
	if err != nil {
		t.Fatal(err)
	}
	if b := s.Bucket; b == nil || b.Prefetch != 60 || b.Streaming != 300 || !math.IsInf(float64(b.Unload), 1) || b.Changed {
		t.Errorf("%+v", b)
	}
}

func TestDecodeGolden(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "shared", "spec", "vectors")
	for _, name := range []string{"manifest_v3_uniform_grid.json", "manifest_v4_quadtree_floor.json", "manifest_v4_kdtree_floor.json"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Skipf("golden data is not here: %v", err)
		}
		s, err := Decode(data)
		if err != nil || len(s.Tiles) == 0 || s.Unusable != nil {
			t.Errorf("%s: %+v %v", name, s, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte(`{"version": 1e400, "tiles": [{}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if s, err := Decode(data); (s == nil) == (err == nil) {
			t.Fatal(s, err)
		}
	})
}
