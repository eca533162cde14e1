package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/untoldkit/untold/finding"
	"github.com/untoldkit/untold/internal/testfile"
	"pgregory.net/rapid"
)

// small is a manifest with every key that the engine requires and few others.
const small = `{
  "version": 1,
  "streaming_defaults": {"streaming_radius": 50, "unload_radius": 75.5, "priority": 10},
  "tile_size": {"x": 25, "y": 10000, "z": 25},
  "shared_bucket": null,
  "tiles": [
    {"tile_id": "a", "path_relative_to_manifest": "tiles/a.untold", "file_size_bytes": 12,
     "hlod_levels": [{"path": "tiles/a_hlod.untold", "switch_distance": 70}],
     "bounds": {"min": [0, 1, 2], "max": [3, 4, 5]}, "center": [1.5, 2.5, 3.5]},
    {"tile_id": "b", "path_relative_to_manifest": "tiles/b.untold", "file_size_bytes": 12,
     "bounds": {"min": [0, 1, 2], "max": [3, 4, 5]}, "center": [1.5, 2.5, 3.5]}
  ]
}
`

// edit returns small with one piece of text exchanged.
func edit(t testing.TB, old, new string) []byte {
	t.Helper()
	if !strings.Contains(small, old) {
		t.Fatalf("no %q in the small manifest", old)
	}
	return []byte(strings.Replace(small, old, new, 1))
}

func TestDecodeSmall(t *testing.T) {
	m, err := Decode([]byte(small))
	if err != nil {
		t.Fatal(err)
	}
	tile := Tile{
		ID: "a", Path: "tiles/a.untold", FileSizeBytes: 12,
		HLODLevels: []Level{{Path: "tiles/a_hlod.untold", SwitchDistance: 70}},
		Bounds:     Bounds{Min: [3]float64{0, 1, 2}, Max: [3]float64{3, 4, 5}}, Center: [3]float64{1.5, 2.5, 3.5},
	}
	other := tile
	other.ID, other.Path, other.HLODLevels = "b", "tiles/b.untold", nil
	want := &Manifest{
		Version: 1, StreamingDefaults: StreamingDefaults{StreamingRadius: 50, UnloadRadius: 75.5, Priority: 10},
		TileSize: &Vec3Size{25, 10000, 25}, Tiles: []Tile{tile, other},
	}
	if d := cmp.Diff(want, m); d != "" {
		t.Error(d)
	}
	if b := m.BandsOf(&m.Tiles[0]); b.Streaming != 50 || b.Unload != 75.5 || b.HLOD != 70 {
		t.Error(b)
	}
	if m.PriorityOf(&m.Tiles[0]) != 10 || m.PriorityOf(&Tile{Priority: new(3)}) != 3 {
		t.Error("wrong priority")
	}
}

func TestDecodeErrors(t *testing.T) {
	for _, c := range []struct {
		name, old, new string
		kind           error
		pointer        string
		found          string // part of the message
	}{
		{"no version", `"version": 1,`, ``, ErrMissingKey, "/version", "no such key"},
		{"null version", `"version": 1,`, `"version": null,`, ErrMissingKey, "/version", "null"},
		{"text version", `"version": 1,`, `"version": "1",`, ErrWrongType, "/version", `the string "1"`},
		{"fraction version", `"version": 1,`, `"version": 1.5,`, ErrWrongType, "/version", "1.5"},
		{"huge version", `"version": 1,`, `"version": 99999999999999999999,`, ErrRange, "/version", "99999999"},
		{"huge exponent", `"version": 1,`, `"version": 1e400,`, ErrRange, "/version", "1e400"},
		{"no radius", `"streaming_radius": 50, `, ``, ErrMissingKey, "/streaming_defaults/streaming_radius", ""},
		{"no unload", `"unload_radius": 75.5, `, ``, ErrMissingKey, "/streaming_defaults/unload_radius", ""},
		{"no priority", `, "priority": 10`, ``, ErrMissingKey, "/streaming_defaults/priority", ""},
		{"beyond float32", `75.5`, `1e39`, ErrRange, "/streaming_defaults/unload_radius", "1e39"},
		{"bare tile size", `{"x": 25, "y": 10000, "z": 25}`, `25`, ErrWrongType, "/tile_size", "the number 25"},
		{"tile size without z", `, "z": 25`, ``, ErrMissingKey, "/tile_size/z", ""},
		{"mode of wrong type", `"version": 1`, `"partitioning_mode": 3, "version": 1`, ErrWrongType, "/partitioning_mode", ""},
		{"tiles null", `"tiles": [`, `"tiles": null, "x": [`, ErrMissingKey, "/tiles", "null"},
		{"tiles object", `"tiles": [`, `"tiles": {}, "x": [`, ErrWrongType, "/tiles", "an object"},
		{"no tile id", `"tile_id": "b", `, ``, ErrMissingKey, "/tiles/1/tile_id", ""},
		{"no path", `"path_relative_to_manifest": "tiles/b.untold", `, ``, ErrMissingKey, "/tiles/1/path_relative_to_manifest", ""},
		{"number as path", `"tiles/b.untold"`, `7`, ErrWrongType, "/tiles/1/path_relative_to_manifest", ""},
		{"tile null", `"tiles": [`, `"tiles": [null, `, ErrMissingKey, "/tiles/0", "null"},
		{"bounds null", `"bounds": {"min": [0, 1, 2], "max": [3, 4, 5]}`, `"bounds": null`, ErrMissingKey, "/tiles/0/bounds", "null"},
		{"bounds without max", `, "max": [3, 4, 5]`, ``, ErrMissingKey, "/tiles/0/bounds/max", ""},
		{"text in bounds", `[0, 1, 2]`, `[0, "1", 2]`, ErrWrongType, "/tiles/0/bounds/min/1", ""},
		{"null in center", `[1.5, 2.5, 3.5]`, `[1.5, null, 3.5]`, ErrMissingKey, "/tiles/0/center/1", ""},
		{"level without distance", `, "switch_distance": 70`, ``, ErrMissingKey, "/tiles/0/hlod_levels/0/switch_distance", ""},
		{"level null", `[{"path"`, `[null, {"path"`, ErrMissingKey, "/tiles/0/hlod_levels/0", "null"},
		{"interior number", `"tile_id": "a"`, `"interior": 1, "tile_id": "a"`, ErrWrongType, "/tiles/0/interior", ""},
		{"floor text", `"tile_id": "a"`, `"floor_id": "1", "tile_id": "a"`, ErrWrongType, "/tiles/0/floor_id", ""},
		{"bucket without bounds", `"shared_bucket": null`, `"shared_bucket": {"tile_id": "s", "path_relative_to_manifest": "s", "file_size_bytes": 1, "bounds": null, "center": [0,0,0]}`, ErrMissingKey, "/shared_bucket/bounds", "null"},
		{"light of wrong type", `"version": 1`, `"scene_lights": [{"intensity": "x"}], "version": 1`, ErrWrongType, "/scene_lights/0/intensity", ""},
		{"escaped key", `"version": 1,`, `"tile_size": {"x": 1, "y": 2, "\u007a": "a\/~b"}, "version": 1,`, ErrWrongType, "/tile_size/z", ""},

		{"cut off", "\n  ]\n}\n", ``, ErrSyntax, "/tiles/1", "end of the file"},
		{"two values", "\n}\n", "\n} {}", ErrSyntax, "", ""},
		{"nul at the end", "\n}\n", "\n}\x00", ErrSyntax, "", ""},
		{"trailing comma in object", "  ]\n}", "  ],\n}", ErrSyntax, "/tiles", ""},
		{"trailing comma in array", `[1.5, 2.5, 3.5]`, `[1.5, 2.5, 3.5,]`, ErrSyntax, "/tiles/0/center/2", ""},
		{"no colon", `"version": 1`, `"version" 1`, ErrSyntax, "/version", ""},
		{"bare key", `"version": 1`, `version: 1`, ErrSyntax, "", "'v'"},
		{"leading zero", `"version": 1`, `"version": 01`, ErrSyntax, "/version", ""},
		{"plus", `"version": 1`, `"version": +1`, ErrSyntax, "/version", ""},
		{"NaN", `75.5`, `NaN`, ErrSyntax, "/streaming_defaults/unload_radius", ""},
		{"bad escape", `"tile_id": "a"`, `"tile_id": "\x"`, ErrSyntax, "/tiles/0/tile_id", ""},
		{"bad unicode escape", `"tile_id": "a"`, `"tile_id": "\u12g4"`, ErrSyntax, "/tiles/0/tile_id", ""},
		{"newline in text", `"tile_id": "a"`, "\"tile_id\": \"\n\"", ErrSyntax, "/tiles/0/tile_id", ""},
		{"invalid UTF-8", `"tile_id": "a"`, "\"tile_id\": \"\xff\"", ErrSyntax, "", "0xff"},
		{"syntax in an unknown key", `"version": 1`, `"other": {"a": [1,,2]}, "version": 1`, ErrSyntax, "/other/a/1", ""},
		{"bad word", `null`, `nil`, ErrSyntax, "/shared_bucket", ""},
		{"deep", `"version": 1`, `"other": ` + strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth) + `, "version": 1`, ErrTooLarge, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := edit(t, c.old, c.new)
			m, err := Decode(data)
			var e *DecodeError
			if m != nil || !errors.As(err, &e) || !errors.Is(err, c.kind) {
				t.Fatalf("got %v, want %v", err, c.kind)
			}
			if e.Pointer != c.pointer && c.name != "deep" {
				t.Errorf("pointer %s, want %s", e.Pointer, c.pointer)
			}
			if !strings.Contains(e.Error(), c.found) || strings.Contains(e.Error(), "\n") {
				t.Errorf("message %q lacks %q", e, c.found)
			}
			before := data[:e.Offset]
			if line := bytes.Count(before, []byte("\n")) + 1; e.Line != line || e.Column != len(before)-bytes.LastIndexByte(before, '\n') {
				t.Errorf("line %d, column %d for byte %d", e.Line, e.Column, e.Offset)
			}
		})
	}
}

func TestDecodeErrorNamesThePlace(t *testing.T) {
	_, err := Decode(edit(t, `[0, 1, 2]`, `[0, "1", 2]`))
	want := `manifest: wrong type: line 9, column 28 (byte 388): /tiles/0/bounds/min/1: expected a number, found the string "1"`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	_, err = Decode(edit(t, `{"x": 25, "y": 10000, "z": 25}`, `25`))
	if err == nil || !strings.Contains(err.Error(), `(write {"x": N, "y": N, "z": N})`) {
		t.Errorf("no hint in %v", err)
	}
}

func TestDecodeAcceptsWhatTheEngineAccepts(t *testing.T) {
	for _, c := range []struct{ name, old, new string }{
		{"unknown keys", `"version": 1`, `"other": {"version": "x", "n": [1, null, true, "\ud83d\ude00"]}, "version": 1`},
		{"whole number with a fraction", `"version": 1`, `"version": 1.0`},
		{"whole number with an exponent", `"file_size_bytes": 12`, `"file_size_bytes": 1.2e1`},
		{"null for optional keys", `"tile_id": "a"`, `"tile_id": "a", "streaming_radius": null, "lod_levels": null, "interior": null, "floor_id": null, "semantic_tier": null, "cell_bounds": null`},
		{"null at the top", `"version": 1`, `"version": 1, "partitioning_mode": null, "interior_zone": null, "scene_lights": null, "colorLUT": null`},
		{"extra numbers", `[1.5, 2.5, 3.5]`, `[1.5, 2.5, 3.5, 4.5]`},
		{"min above max", `[3, 4, 5]`, `[-3, 4, 5]`},
		{"byte order mark", `{`, "\ufeff{"},
		{"negative zero", `[0, 1, 2]`, `[-0.0, 1, 2]`},
		{"ignored keys of a wrong type", `"tile_id": "a"`, `"tile_id": "a", "grid_coord": "x", "objects": 5, "sha256": 1, "object_count": [], "triangle_count": -1.5, "estimated_memory_bytes": {}`},
		{"ignored keys of a wrong type at the top", `"version": 1`, `"version": 1, "dry_run": "no", "scene_bounds": [], "failed_tiles": [1], "generator": 1, "streaming_profile": {"tier_radii": 5}, "object_classification": {"a": 1}, "axis_convention": null`},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := Decode(edit(t, c.old, c.new))
			if err != nil {
				t.Fatal(err)
			}
			if len(m.Tiles) != 2 || m.Tiles[0].ID != "a" || m.Version != 1 || m.Tiles[0].FileSizeBytes != 12 {
				t.Errorf("%+v", m)
			}
		})
	}
}

// decodeReport is Decode that also tells what it tolerated.
func decodeReport(data []byte) (*Manifest, []finding.Finding, error) {
	d := decode(data, false)
	if d.err != nil {
		return nil, d.notes, d.err
	}
	return d.manifest, d.notes, nil
}

func TestDecodeTolerated(t *testing.T) {
	for _, c := range []struct {
		name, old, new string
		code           finding.Code
		pointer        string
	}{
		{"short center", `[1.5, 2.5, 3.5]`, `[1.5, 2.5]`, codeShortVector, "/tiles/0"},
		{"short bounds", `[0, 1, 2]`, `[]`, codeShortVector, "/tiles/0"},
		{"ignored value", `"tile_id": "a"`, `"tile_id": "a", "grid_coord": {}`, codeIgnoredValue, "/tiles/0/grid_coord"},
		{"short coordinate", `"tile_id": "a"`, `"tile_id": "a", "grid_coord": [1, 2]`, codeIgnoredValue, "/tiles/0/grid_coord"},
		{"our key", `"switch_distance": 70`, `"switch_distance": 70, "geometric_error": "1"`, codeIgnoredValue, "/tiles/0/hlod_levels/0/geometric_error"},
		{"duplicate key", `"version": 1`, `"version": 7, "version": 1`, codeDuplicateKey, "/version"},
		{"short zone", `"version": 1`, `"interior_zone": {"min": [1], "max": [1, 2, 3]}, "version": 1`, codeIgnoredValue, "/interior_zone"},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := edit(t, c.old, c.new)
			m, notes, err := decodeReport(data)
			if err != nil {
				t.Fatal(err)
			}
			if len(notes) != 1 || notes[0].Code != c.code || notes[0].Pointer != c.pointer || notes[0].Offset <= 0 {
				t.Fatalf("got %v", notes)
			}
			if c.code == codeShortVector && (len(m.Tiles) != 1 || m.Tiles[0].ID != "b") {
				t.Error("the tile with short vectors must go, alone")
			}
			if m.Version != 1 || m.InteriorZone != nil {
				t.Errorf("%+v", m)
			}
		})
	}
}

func TestDecodeShortBucketIsLeftOut(t *testing.T) {
	m, notes, err := decodeReport(edit(t, `"shared_bucket": null`, `"shared_bucket": {"tile_id": "s", "path_relative_to_manifest": "s",
		"file_size_bytes": 1, "bounds": {"min": [], "max": []}, "center": [0, 0, 0], "export_policy": "shared_bucket"}`))
	if err != nil || m.SharedBucket != nil || len(notes) != 1 || notes[0].Pointer != "/shared_bucket" {
		t.Error(m.SharedBucket, notes, err)
	}
}

func TestDecodeStrings(t *testing.T) {
	for _, c := range []struct{ lit, want string }{
		{`plain`, "plain"},
		{`é\u00e9\n\t\"\\\/\b\f\r`, "éé\n\t\"\\/\b\f\r"},
		{`\ud83d\ude00`, "😀"},
		{`\ud83d`, "\uFFFD"},
		{`\ude00x`, "\uFFFDx"},
		{`\ud83d\u0041`, "\uFFFDA"},
		{``, ""},
	} {
		m, err := Decode(edit(t, `"tile_id": "a"`, `"tile_id": "`+c.lit+`"`))
		if err != nil {
			t.Fatal(err)
		}
		var theirs string
		if err := json.Unmarshal([]byte(`"`+c.lit+`"`), &theirs); err != nil {
			t.Fatal(err)
		}
		if m.Tiles[0].ID != c.want || theirs != c.want {
			t.Errorf("%s is %q, want %q (encoding/json: %q)", c.lit, m.Tiles[0].ID, c.want, theirs)
		}
	}
}

func TestDecodeLights(t *testing.T) {
	decodeLight := func(text string) Light {
		t.Helper()
		m, err := Decode(edit(t, `"version": 1`, `"version": 1, "scene_lights": [`+text+`]`))
		if err != nil {
			t.Fatal(err)
		}
		return m.SceneLights[0]
	}
	if d := cmp.Diff(DefaultLight(LightPoint), decodeLight(`{}`)); d != "" {
		t.Error(d)
	}
	for text, kind := range map[string]string{
		`{"kind": "spot", "type": "area"}`:        LightSpot,
		`{"kind": null, "type": "sun"}`:           LightDirectional,
		`{"kind": "dir"}`:                         LightDirectional,
		`{"light_type": "area"}`:                  LightArea,
		`{"light_type": 1}`:                       LightDirectional,
		`{"kind": "nonsense", "light_type": 3}`:   LightSpot,
		`{"light_type": 9}`:                       LightPoint,
		`{"light_type": -1}`:                      LightPoint,
		`{"light_type": null, "kind": "unknown"}`: LightPoint,
	} {
		l := decodeLight(text)
		if l.Kind != kind || LightType(kind) != l.Type || l.CastsShadow != (kind == LightDirectional) {
			t.Errorf("%s is %s (%d)", text, l.Kind, l.Type)
		}
	}
	l := decodeLight(`{"name": "n", "entity_name": "e", "intensity": 5, "range": -3, "color": [1, 2], "casts_shadow": false,
		"direction": [0, 0, 1], "position": [7, 8, 9], "local_transform": [[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]]}`)
	if l.Name != "n" || l.SourcePower != 5 || l.Range != 0 || l.Color != [3]float64{1, 1, 1} || l.LocalTransformRows[0][3] != 0 {
		t.Errorf("%+v", l)
	}
	if l = decodeLight(`{"entity_name": "e", "direction": [0, 0, 1], "position": [7, 8, 9]}`); l.Name != "e" ||
		l.LocalTransformRows != [4][4]float64{{1, 0, 0, 7}, {0, 1, 0, 8}, {0, 0, -1, 9}, {0, 0, 0, 1}} {
		t.Errorf("%+v", l)
	}
}

func TestDecodeCameras(t *testing.T) {
	m, err := Decode(edit(t, `"version": 1`, `"version": 1, "scene_cameras": [{}, {"name": "c", "fov_y_degrees": 60, "position": [1, 2, 3]},
		{"entity_name": "d", "local_transform_rows": [[1,2,3,4],[5,6,7,8],[9,10,11,12],[0,0,0,1]]}]`))
	if err != nil {
		t.Fatal(err)
	}
	want := []Camera{DefaultCamera(), DefaultCamera(), DefaultCamera()}
	want[1].Name, want[1].FovYDegrees, want[1].Position = "c", 60, [3]float64{1, 2, 3}
	want[1].LocalTransformRows = want[1].TransformRows()
	want[2].Name = "d"
	want[2].LocalTransformRows = [4][4]float64{{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}, {0, 0, 0, 1}}
	if d := cmp.Diff(want, m.SceneCameras); d != "" {
		t.Error(d)
	}
}

// TestDecodeGrade: a record of another program is no reason to refuse a manifest.
func TestDecodeGrade(t *testing.T) {
	for text, want := range map[string]*GradeLUT{
		`{"lutUri": "a.cube", "lutSize": 17, "more": 1}`: {"a.cube", 17},
		`{"path": "a.cube"}`:                             nil, `"a.cube"`: nil, `null`: nil, `{"lutUri": 4}`: nil,
	} {
		m, err := Decode(edit(t, `"version": 1`, `"version": 1, "colorGradeLUT": `+text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if d := cmp.Diff(want, m.ColorGradeLUT); d != "" {
			t.Errorf("%s: %s", text, d)
		}
	}
}

func TestDecodeColorLUT(t *testing.T) {
	m, err := Decode(edit(t, `"version": 1`, `"version": 1, "colorLUT": {"lutUri": "Textures/g.cube", "lutSize": 33, "viewTransform": "AgX",
		"look": "None", "displayDevice": "sRGB", "exposure": 1, "gamma": 2, "shaperMinStops": -10, "shaperMaxStops": 6.5}`))
	if err != nil {
		t.Fatal(err)
	}
	want := &ColorLUT{"Textures/g.cube", 33, "AgX", "None", new("sRGB"), 1, 2, -10, 6.5}
	if d := cmp.Diff(want, m.ColorLUT); d != "" {
		t.Error(d)
	}
	if _, err := Decode(edit(t, `"version": 1`, `"version": 1, "colorLUT": {"lutUri": "x"}`)); !errors.Is(err, ErrMissingKey) {
		t.Error(err)
	}
}

func TestDecodeEveryPrefixFails(t *testing.T) {
	for n := range len(small) - 2 {
		_, err := Decode([]byte(small[:n]))
		var e *DecodeError
		if !errors.As(err, &e) || e.Offset < 0 || e.Offset > int64(n) {
			t.Fatalf("%d bytes: %v", n, err)
		}
	}
}

func TestDecodeSharesNoMemory(t *testing.T) {
	data := []byte(small)
	m, err := Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	clear(data)
	if m.Tiles[0].ID != "a" || m.Tiles[1].Path != "tiles/b.untold" {
		t.Error("the manifest changed with the text")
	}
}

func TestReadAndLoad(t *testing.T) {
	if m, err := Read(strings.NewReader(small)); err != nil || len(m.Tiles) != 2 {
		t.Error(err)
	}
	dir := t.TempDir()
	path := testfile.Write(t, filepath.Join(dir, "m.json"), small)
	if m, err := Load(path); err != nil || len(m.Tiles) != 2 {
		t.Error(err)
	}
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "folder") {
		t.Error(err)
	}
	if _, err := Load(filepath.Join(dir, "none.json")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	testfile.Write(t, path, "<html>")
	if _, err := Load(path); !errors.Is(err, ErrSyntax) && !errors.Is(err, ErrWrongType) || !strings.Contains(err.Error(), path) {
		t.Error(err)
	}
}

// A hostile file must not fill the memory with notes.
func TestDecodeBoundsItsNotes(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"version": 1, "streaming_defaults": {"streaming_radius": 1, "unload_radius": 2, "priority": 1}, "tiles": [], "object_classification": {`)
	for i := range 5000 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"%d": %d`, i, i)
	}
	b.WriteString("}}")
	_, notes, err := decodeReport([]byte(b.String()))
	if err != nil || len(notes) != maxProblems {
		t.Error(len(notes), err)
	}
	found := ValidateBytes([]byte(b.String()), "", ValidateOptions{})
	last := found[len(found)-1]
	if last.Code != codeNoTiles || found[len(found)-2].Code != codeTruncated {
		t.Error(last)
	}
}

// scan reads a value with one of the scanner's methods, to the end of the text.
func scan[T any](text string, parse func(*scanner) T) (T, error) {
	s := &scanner{data: []byte(text)}
	v := parse(s)
	if !s.failed() && s.pos != len(text) {
		s.syntax("the end")
	}
	return v, s.asError()
}

func TestScanNumbers(t *testing.T) {
	for _, c := range []struct {
		text string
		f    float64
		i    int64
		fErr error
		iErr error
	}{
		{"0", 0, 0, nil, nil},
		{"-0", 0, 0, nil, nil},
		{"-17", -17, -17, nil, nil},
		{"1e2", 100, 100, nil, nil},
		{"1.50E+1", 15, 15, nil, nil},
		{"0.5", 0.5, 0, nil, ErrWrongType},
		{"1e-1", 0.1, 0, nil, ErrWrongType},
		{"9223372036854775807", 9223372036854775807, 9223372036854775807, nil, nil},
		{"9223372036854775808", 9223372036854775808, 0, nil, ErrRange},
		{"9.223372036854775808e18", 9223372036854775808, 0, nil, ErrRange},
		{"-9223372036854775808", -9223372036854775808, -9223372036854775808, nil, nil},
		{"3.4e38", 3.4e38, 0, nil, ErrRange},
		{"3.5e38", 0, 0, ErrRange, ErrRange},
		{"1e-400", 0, 0, nil, nil},
		{"1e400", 0, 0, ErrRange, ErrRange},
		{"-1e400", 0, 0, ErrRange, ErrRange},
		{"", 0, 0, ErrSyntax, ErrSyntax},
		{"-", 0, 0, ErrSyntax, ErrSyntax},
		{"01", 0, 0, ErrSyntax, ErrSyntax},
		{"-01", 0, 0, ErrSyntax, ErrSyntax},
		{".5", 0, 0, ErrSyntax, ErrSyntax},
		{"1.", 0, 0, ErrSyntax, ErrSyntax},
		{"1e", 0, 0, ErrSyntax, ErrSyntax},
		{"1e+", 0, 0, ErrSyntax, ErrSyntax},
		{"1x", 0, 0, ErrSyntax, ErrSyntax},
		{"0x10", 0, 0, ErrSyntax, ErrSyntax},
		{"1_000", 0, 0, ErrSyntax, ErrSyntax},
		{"Infinity", 0, 0, ErrSyntax, ErrSyntax},
		{`"1"`, 0, 0, ErrWrongType, ErrWrongType},
		{"true", 0, 0, ErrWrongType, ErrWrongType},
		{"null", 0, 0, ErrMissingKey, ErrMissingKey},
		{"[1]", 0, 0, ErrWrongType, ErrWrongType},
	} {
		f, err := scan(c.text, (*scanner).float)
		if !errors.Is(err, c.fErr) || c.fErr == nil && (err != nil || f != c.f) {
			t.Errorf("%q as a float: %v, %v", c.text, f, err)
		}
		i, err := scan(c.text, (*scanner).integer)
		if !errors.Is(err, c.iErr) || c.iErr == nil && (err != nil || i != c.i) {
			t.Errorf("%q as an integer: %v, %v", c.text, i, err)
		}
	}
}

// Our grammar is that of encoding/json, whatever the text is.
func TestScanSyntaxLikeEncodingJSON(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"{", "}", "[", "]", ",", ":", `"a"`, `"`, "1", "0", "-", ".", "e", "+", "true", "false", "null", "nul", " ", "\n", "\t", "\x00", `\u00e9`, `"\ud800"`,
		`{"a": 1}`, `[1, 2]`, `"\x"`, `"\n"`, "\v", "/", "1.5e3", "[[]]", "{}", `"a": `, "é",
	})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "pieces"), "")
		s := &scanner{data: []byte(text)}
		s.skip()
		s.space()
		ok := !s.failed() && s.pos == len(text)
		if want := json.Valid([]byte(text)); ok != want {
			t.Fatalf("%q: ours says %v, encoding/json %v (%v)", text, ok, want, s.asError())
		}
	})
}

// One byte changed never panics, and gives an error or a manifest
// that encoding/json takes for JSON too.
func TestDecodeFlippedBytes(t *testing.T) {
	text := encodeBytes(t, full())
	for i := 0; i < len(text); i += 7 {
		for _, b := range []byte{0, '"', '}', ',', 'n'} {
			old := text[i]
			text[i] = b
			if _, err := Decode(text); err == nil && !json.Valid(text) {
				t.Fatalf("byte %d as %q is accepted", i, b)
			}
			text[i] = old
		}
	}
}

func TestLocate(t *testing.T) {
	text := []byte(`{"a": [10, {"b/c": {"~": 5}}], "d": "x"}`)
	at := func(part string) int64 { return int64(bytes.Index(text, []byte(part))) }
	findings := []finding.Finding{
		{Pointer: "", Offset: -1},
		{Pointer: "/a/0", Offset: -1},
		{Pointer: "/a/1/b~1c/~0", Offset: -1},
		{Pointer: "/d", Offset: -1},
		{Pointer: "/a/1/none/deeper", Offset: -1},
		{Pointer: "/none", Offset: -1},
		{Pointer: "/a/7", Offset: -1},
		{Pointer: "/d", Offset: 3},
	}
	want := []int64{0, at("10"), at("5}"), at(`"x"`), at(`{"b/c"`), 0, at("[10"), 3}
	locateAll(text, findings)
	for i, f := range findings {
		if f.Offset != want[i] {
			t.Errorf("%s is at %d, want %d", f.Pointer, f.Offset, want[i])
		}
	}
	locateAll(nil, nil)
	locateAll([]byte(`{"a": `), findings[:1]) // cut off: no panic
}

func TestIgnoredObjects(t *testing.T) {
	for _, c := range []struct{ value, message string }{
		{`"streaming_profile": {"tier_radii": {"X": 1}}`, ""},
		{`"streaming_profile": {"resolved": 5}`, `number is not what belongs at "resolved"`},
		{`"hlod_generation": {"levels": [{"suffix": "_h"}, {"switch_distance": "far"}]}`, `string is not what belongs at "levels.switch_distance"`},
		{`"lod_generation": []`, "array is not"},
		{`"classification_config": {"spanning_threshold_tiles": 1e300}`, "3.4e38"},
		{`"partition_quality_config": {"min_objects_per_tile_tier": 1.5}`, "number 1.5"},
		{`"axis_convention": {"up": null}`, ""},
		{`"failed_tiles": [{"tile_id": 1}]`, `"tile_id"`},
	} {
		m, notes, err := decodeReport(edit(t, `"version": 1`, `"version": 1, `+c.value))
		if err != nil {
			t.Fatal(err)
		}
		if c.message == "" {
			if len(notes) > 0 && !strings.Contains(c.value, "tier_radii") {
				t.Errorf("%s: %v", c.value, notes)
			}
			continue
		}
		if len(notes) != 1 || !strings.Contains(notes[0].Message, c.message) {
			t.Errorf("%s: %v", c.value, notes)
		}
		if m.StreamingProfile != nil || m.HLODGeneration != nil || m.LODGeneration != nil || m.ClassificationConfig != nil || m.PartitionQualityConfig != nil || m.FailedTiles != nil {
			t.Errorf("%s is kept", c.value)
		}
	}
}

// TestDecodeStreamed: all but the classification of objects is there, whatever stands in
// its place.
func TestDecodeStreamed(t *testing.T) {
	const text = `{"version": 1, "object_classification": %s, "streaming_defaults": {"streaming_radius": 1, "unload_radius": 2, "priority": 3}, "tiles": [], "units": "metres"}`
	full := fmt.Sprintf(text, `{"a": {"export_policy": "whole", "dimensions": [1, 2, 3], "reasons": ["small"]}}`)
	want, err := Decode([]byte(full))
	if err != nil || len(want.ObjectClassification) != 1 {
		t.Fatalf("%+v, %v", want, err)
	}
	got, err := decodeStreamed([]byte(full))
	if err != nil {
		t.Fatal(err)
	}
	want.ObjectClassification = nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := decodeStreamed([]byte(fmt.Sprintf(text, `[1, "a"]`))); err != nil {
		t.Error(err)
	}
	if _, err := decodeStreamed([]byte(fmt.Sprintf(text, `{"a": }`))); !errors.Is(err, ErrSyntax) {
		t.Errorf("no JSON: %v", err)
	}
}
