package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/untoldkit/untold/manifest/band"
	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/fuzzbound"
)

// normalized normalizes a text and checks what always holds.
func normalized(t testing.TB, data []byte) *Normalized {
	t.Helper()
	n, err := Normalize(data)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Normalize(n.Text)
	if err != nil {
		t.Fatalf("%v:\n%s", err, n.Text)
	}
	if len(again.Changes) > 0 || !bytes.Equal(again.Text, n.Text) {
		t.Fatalf("it is not done at once: %v\n%s", again.Changes, n.Text)
	}
	if same := bytes.Equal(n.Text, data); same != (len(n.Changes) == 0) {
		t.Fatalf("changes %v, but the text is the same: %v", n.Changes, same)
	}
	return n
}

const messy = "\ufeff" + `{
	"version": 3, "x-tool": {"keep": [1,2 ,3], "big": 1e999},
	"streaming_defaults": {"streaming_radius": 50, "unload_radius": 52, "priority": 10, "note": "mine"},
	"payload_dir_relative_to_manifest": "tiles\\",
	"shared_bucket": {"tile_id": "shared", "path_relative_to_manifest": ".\\tiles\\s.untold", "file_size_bytes": 5,
		"bounds": {"min": [0, 0, 0], "max": [2, 4, 6]}},
	"tiles": [
		{
			"tile_id": "a",
			"path_relative_to_manifest": "tiles//a.untold",
			"file_size_bytes": 1,
			"bounds": {"min": [0, 0, 0], "max": [2, 4, 6]},
			"center": [1, 4999, 3],
			"unload_radius": 75.0,
			"hlod_levels": [{"path": "tiles/h.untold", "switch_distance": 300.0, "x": null}, {"path": "tiles/h2.untold", "switch_distance": 70}],
			"lod_levels": [
				{"path": "tiles/l2.untold", "switch_distance": 6e1, "ratio": 0.2},
				{"path": "tiles/l1.untold", "switch_distance": 30, "ratio": 0.5}
			],
			"mine": {"a":1}
		},
		{"tile_id": "b", "path_relative_to_manifest": "../b.untold", "file_size_bytes": 1, "bounds": {"min": [0, 0, 0], "max": [2, 4, 6]}, "center": null,
			"streaming_radius": 60, "lod_levels": [{"path": "c", "switch_distance": 0}]},
		{"tile_id": "c", "path_relative_to_manifest": "c.untold", "file_size_bytes": 1, "bounds": {"min": [0, 0], "max": [2, 4, 6]}, "center": [1]}
	]
}
`

const tidy = "\ufeff" + `{
	"version": 3, "x-tool": {"keep": [1,2 ,3], "big": 1e999},
	"streaming_defaults": {"streaming_radius": 50, "unload_radius": 54, "priority": 10, "note": "mine"},
	"payload_dir_relative_to_manifest": "tiles",
	"shared_bucket": {"tile_id": "shared", "path_relative_to_manifest": "tiles/s.untold", "file_size_bytes": 5,
		"bounds": {"min": [0, 0, 0], "max": [2, 4, 6]},
		"center": [1, 2, 3]},
	"tiles": [
		{
			"tile_id": "a",
			"path_relative_to_manifest": "tiles/a.untold",
			"file_size_bytes": 1,
			"bounds": {"min": [0, 0, 0], "max": [2, 4, 6]},
			"center": [1, 2, 3],
			"unload_radius": 75.0,
			"hlod_levels": [{"path": "tiles/h.untold", "switch_distance": 74, "x": null}],
			"lod_levels": [
				{"path": "tiles/l1.untold", "switch_distance": 50, "ratio": 0.5},
				{"path": "tiles/l2.untold", "switch_distance": 6e1, "ratio": 0.2}
			],
			"mine": {"a":1}
		},
		{"tile_id": "b", "path_relative_to_manifest": "../b.untold", "file_size_bytes": 1, "bounds": {"min": [0, 0, 0], "max": [2, 4, 6]}, "center": [1, 2, 3],
			"streaming_radius": 60,
			"unload_radius": 64, "lod_levels": [{"path": "c", "switch_distance": 60}]},
		{"tile_id": "c", "path_relative_to_manifest": "c.untold", "file_size_bytes": 1, "bounds": {"min": [0, 0], "max": [2, 4, 6]}, "center": [1]}
	]
}
`

func TestNormalizeKeepsTheRest(t *testing.T) {
	n := normalized(t, []byte(messy))
	if d := cmp.Diff(tidy, string(n.Text)); d != "" {
		t.Error(d)
	}
	var got []string
	for _, c := range n.Changes {
		got = append(got, c.Pointer+" "+c.Message)
	}
	want := []string{
		`/payload_dir_relative_to_manifest "tiles\\" -> "tiles"`,
		`/shared_bucket/path_relative_to_manifest ".\\tiles\\s.untold" -> "tiles/s.untold"`,
		`/shared_bucket/center absent -> [1, 2, 3]`,
		`/tiles/0/path_relative_to_manifest "tiles//a.untold" -> "tiles/a.untold"`,
		`/tiles/0/center [1, 4999, 3] -> [1, 2, 3]`,
		`/tiles/1/center null -> [1, 2, 3]`,
		`/streaming_defaults/unload_radius 52 -> 54`,
		`/tiles/0/lod_levels/1/switch_distance 30 -> 50`,
		`/tiles/0/lod_levels sorted by switch_distance`,
		`/tiles/0/hlod_levels/0/switch_distance 300 -> 74`,
		`/tiles/0/hlod_levels/1 dropped with "tiles/h2.untold": the engine uses the first level only`,
		`/tiles/1/unload_radius 54 -> 64`,
		`/tiles/1/lod_levels/0/switch_distance 0 -> 60`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if len(n.Refused) != 1 || n.Refused[0].Pointer != "/tiles/1/path_relative_to_manifest" || n.Refused[0].Code != codePathEscapes {
		t.Error(n.Refused)
	}
}

func TestNormalizeDrops(t *testing.T) {
	m := clean()
	m.StreamingDefaults = StreamingDefaults{StreamingRadius: 6, UnloadRadius: 10, Priority: 1, PrefetchRadius: new(3.0)}
	m.Tiles = m.Tiles[:1]
	m.Tiles[0].HLODLevels[0].SwitchDistance = 10
	m.SharedBucket = &SharedBucket{Tile: Tile{ID: "s", Path: "s", StreamingRadius: new(30.0), UnloadRadius: new(40.0)}}
	n := normalized(t, encodeBytes(t, m))
	got, err := Decode(n.Text)
	if err != nil {
		t.Fatal(err)
	}
	e := got.Tiles[0]
	if len(e.HLODLevels) > 0 || len(e.LODLevels) > 0 || *got.StreamingDefaults.PrefetchRadius != 6 || *got.SharedBucket.PrefetchRadius != 30 {
		t.Errorf("%s", n.Text)
	}
	text := fmt.Sprint(n.Changes)
	for _, want := range []string{"/tiles/0/lod_levels/0 dropped", "/tiles/0/hlod_levels/0 dropped", "it needs 5 m", "3 -> 6", "absent -> 30"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not told: %s", want, text)
		}
	}
	if found := Validate(got, "", ValidateOptions{}); len(found) != 1 || found[0].Code != codeFileSize { // of the bucket, which this test left out
		t.Error(found)
	}
}

func TestNormalizeCleanAndErrors(t *testing.T) {
	for name, data := range documents(t) {
		n := normalized(t, data)
		for _, f := range ValidateBytes(n.Text, "", ValidateOptions{}) {
			switch f.Code {
			case codeBands, codeLODInside, codeLevels, codeSharedPrefetch, codeCenter:
				t.Errorf("%s: %v", name, f)
			}
		}
	}
	for _, m := range []*Manifest{clean(), cleanFloors()} {
		if n := normalized(t, encodeBytes(t, m)); len(n.Changes)+len(n.Refused) > 0 {
			t.Error(n.Changes)
		}
	}
	for _, text := range []string{
		"", "[]", "{", `{"version": 1}`, strings.Replace(messy, `"tile_id": "b"`, `"tile_id": 7`, 1),
		strings.Replace(messy, `"bounds": {"min": [0, 0, 0], "max": [2, 4, 6]}, "center": null`, `"center": null`, 1),
		strings.Replace(messy, `"center": [1]}`, `"center": {}}`, 1), // its bounds are short: no centre to write
	} {
		if n, err := Normalize([]byte(text)); err == nil {
			t.Errorf("%.40s: %v", text, n.Changes)
		}
	}
	if n := normalized(t, []byte(strings.Replace(messy, `"center": [1, 4999, 3]`, `"center": ["x"]`, 1))); !strings.Contains(string(n.Text), `"center": [1, 2, 3],`) {
		t.Errorf("%s", n.Text)
	}
}

// Whatever the distances are, the result is clean, and all else in the text
// has the same value.
func TestNormalizeProperties(t *testing.T) {
	metres := rapid.OneOf(rapid.Float64Range(0, 200), rapid.Float64Range(-5, 1e5))
	rapid.Check(t, func(t *rapid.T) {
		m := clean()
		maybe := func(name string) *float64 {
			return rapid.Ptr(metres, true).Draw(t, name)
		}
		m.StreamingDefaults.StreamingRadius, m.StreamingDefaults.UnloadRadius = metres.Draw(t, "s"), metres.Draw(t, "u")
		m.StreamingDefaults.PrefetchRadius = maybe("p")
		for i := range m.Tiles {
			e := &m.Tiles[i]
			e.StreamingRadius, e.UnloadRadius, e.PrefetchRadius = maybe("ts"), maybe("tu"), maybe("tp")
			e.HLODLevels, e.LODLevels = nil, nil
			for k, d := range rapid.SliceOfN(metres, 0, 2).Draw(t, "hlods") {
				e.HLODLevels = append(e.HLODLevels, Level{Path: fmt.Sprint("h", i, k), SwitchDistance: d})
			}
			for k, d := range rapid.SliceOfN(metres, 0, 4).Draw(t, "lods") {
				e.LODLevels = append(e.LODLevels, Level{Path: fmt.Sprint("l", i, k), SwitchDistance: d})
			}
			e.Center[1] = rapid.SampledFrom([]float64{5, 9}).Draw(t, "center")
		}
		if rapid.Bool().Draw(t, "bucket") {
			m.SharedBucket = &SharedBucket{Tile: Tile{ID: "s", Path: "s", StreamingRadius: maybe("bs")}}
		}
		var b bytes.Buffer
		if err := m.Encode(&b); err != nil {
			t.Fatal(err)
		}
		text := b.Bytes()
		if rapid.Bool().Draw(t, "compact") {
			var c bytes.Buffer
			if err := json.Compact(&c, text); err != nil {
				t.Fatal(err)
			}
			text = c.Bytes()
		}
		n, err := Normalize(text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Decode(n.Text)
		if err != nil {
			t.Fatalf("%v\n%s", err, n.Text)
		}
		for i := range got.Tiles {
			written := got.BandsOf(&got.Tiles[i])
			if engine := band.Normalize(written); !engine.Equal(written) || len(written.LODs) > 0 && written.LODs[0] < written.Streaming {
				t.Fatalf("%s: %v, the engine makes %v\n%s", got.Tiles[i].ID, written, engine, n.Text)
			}
		}
		if again, err := Normalize(n.Text); err != nil || len(again.Changes) > 0 {
			t.Fatalf("%v\n%s", err, n.Text)
		}
		for i := range got.Tiles {
			a, b := &m.Tiles[i], &got.Tiles[i]
			if a.ID != b.ID || a.Path != b.Path || a.Bounds != b.Bounds || len(b.HLODLevels) > 1 || math.Abs(b.Center[1]-5) > 1e-9 {
				t.Fatalf("%+v became %+v", a, b)
			}
		}
	})
}

// Texts that are made to need much memory get only a multiple of their length.
func TestNormalizeMemoryIsBounded(t *testing.T) {
	const n = 20_000
	for _, c := range []struct{ name, key, element string }{
		{"unknown keys", `"x": 1, LIST`, `"y": 1`},
		{"levels", `"tiles": [{"tile_id": "", "path_relative_to_manifest": "", "file_size_bytes": 0, "bounds": {"min": [0,0,0], "max": [0,0,0]}, "lod_levels": [LIST]}]`, `{"path":"","switch_distance":0}`},
		{"wrong tiles", `"tiles": [LIST]`, `{}`},
		{"numbers", `"interior_zone": {"min": [LIST], "max": [0, 0, 0]}`, `0`},
	} {
		data := wrap(c.key, c.element, n)
		got := fuzzbound.Allocated(func() { Normalize(data) })
		if limit := uint64(len(data))*400 + 4<<20; got > limit {
			t.Errorf("%s: %d bytes allocated for %d", c.name, got, len(data))
		}
	}
}

func FuzzNormalize(f *testing.F) {
	f.Add([]byte(messy))
	f.Add([]byte(tidy))
	f.Fuzz(func(t *testing.T, data []byte) {
		n, err := Normalize(data)
		if err != nil {
			return
		}
		if _, err := Decode(n.Text); err != nil {
			t.Fatalf("%v\n%s", err, n.Text)
		}
		if again, err := Normalize(n.Text); err != nil || len(again.Changes) > 0 {
			t.Fatalf("%v\n%s", err, n.Text)
		}
	})
}
