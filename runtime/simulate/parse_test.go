package simulate

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/config"
)

// sample has every key of the format.
const sample = `{
  "name": "two tiles", "note": "text", "id": "X1",
  "scene": {                                  // a comment
    "partitioning_mode": "uniform_grid",
    "streaming_defaults": {"streaming_radius": 50, "unload_radius": 100, "priority": 10},
    "interior_zone": null,
    "tiles": [
      {"tile_id": "a", "bounds": {"min": [76, -5, -5], "max": [86, 5, 5]}, "file_size_bytes": 1048576,
       "hlod_levels": [{"switch_distance": 95, "gpu_bytes": 7}],
       "lod_levels": [{"switch_distance": 80, "gpu_bytes": 2}, {"switch_distance": 60, "gpu_bytes": 1}],
       "nodes": 1, "gpu_bytes": 1048576},
      {"tile_id": "b/full", "bounds": {"min": [0, 0, 0], "max": [1, 1, 1]}, "center": [9, 9, 9], "initial": "parsed",
       "priority": 3, "floor_id": 2, "interior": true, "unload_radius": 70, "prefetch_radius": null}
    ]
  },
  "config": {"enableFrustumGate": false, "velocityLookAheadTime": 0, "lod": {"bias": 2}, "floorProximityGateY": "inf"},
  "dt": 0.1, "duration": 3.0,
  "camera": [{"t": 0, "position": [0, 0, 0], "forward": [0, 0, -1]},
             {"t": 2.0, "position": [10, 0, 0], "mode": "linear"}],
  "fov_y_degrees": 60, "aspect": 1.7778, "near": 0.1, "far": 1000,
  "latency": {"default": 0.25, "full": 0.2, "lod": 0.3, "hlod": 0.4, "tiles": {"a": 1.0, "a/lod1": 2}, "attempts": {"b/full": [70, 10]}},
  "download": {"default": 0},
  "faults": [{"tile": "a", "rep": "full", "kind": "fail", "times": 5}, {"tile": "a", "rep": "lod0", "kind": "hang"}],
  "memory": [{"t": 1, "geometry_used": 5}, {"t": 0, "geometry_budget": 100, "texture_budget": 100, "geometry_used": 0, "texture_used": 0}],
  "pressure": [{"t": 5.0, "level": "warning"}],
  "actions": [{"t": 5.0, "do": "forceUnloadAll"}, {"t": 6.0, "do": "reloadScene"}],
  "visible": {"from": 0},
  "mode": "strict",
  "exact": true,
  "expect": [{"t": 0.0, "event": "tile.dispatch", "tile": "a"}, {"t": 0.3, "event": "lod.loaded", "tile": "a", "level": 1}],
  "expect_none": [{"event": "tile.dispatch", "tile": "b/full"}],
  "expect_stats": [{"t": 0.0, "counter": "tilesSkippedByHierarchyGate", "value": 1}]
}`

func TestParseSample(t *testing.T) {
	s, err := Parse([]byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	ptr := func(v int64) *int64 { return &v }
	want := *s // what follows overwrites all but the manifest, which is looked at below
	want.Name, want.Note = "two tiles", "text"
	want.Tiles = map[string]Extra{
		"a":      {Nodes: 1, GPUBytes: 1048576, HLOD: 7, LODs: []int64{1, 2}},
		"b/full": {Parsed: true},
	}
	want.Config = config.Default()
	want.Config.FitQueryRadius = false
	want.Config.EnableFrustumGate, want.Config.VelocityLookAheadTime, want.Config.LOD.Bias = false, 0, 2
	want.Config.Handoff, want.Config.FloorProximityGateY = config.HandoffStrict, s.Config.FloorProximityGateY
	want.DT, want.Duration = ms(100), ms(3000)
	want.Path = CameraPath{
		Keys: []CameraKey{
			{T: 0, Forward: geom.Vec3{0, 0, -1}},
			{T: ms(2000), Position: geom.Vec3{10, 0, 0}, Forward: geom.Vec3{0, 0, -1}, Linear: true},
		},
		FovYDegrees: 60, Aspect: 1.7778, Near: 0.1, Far: 1000,
	}
	want.Latency = Latency{
		Default:  ms(250),
		Reps:     map[string]time.Duration{"full": ms(200), "lod": ms(300), "hlod": ms(400)},
		Tiles:    map[string]time.Duration{"a": ms(1000), "a/lod1": ms(2000)},
		Attempts: map[string][]time.Duration{"b/full": {ms(70_000), ms(10_000)}},
	}
	want.Download = Latency{Reps: map[string]time.Duration{}}
	want.Faults = []Fault{{Tile: "a", Rep: "full", Times: 5}, {Tile: "a", Rep: "lod0", Hang: true}}
	want.Memory = []MemoryKey{
		{GeometryBudget: ptr(100), TextureBudget: ptr(100), GeometryUsed: ptr(0), TextureUsed: ptr(0)},
		{T: ms(1000), GeometryUsed: ptr(5)},
	}
	want.Pressure = []PressureKey{{T: ms(5000)}}
	want.Actions = []Action{{T: ms(5000), Do: ForceUnloadAll}, {T: ms(6000), Do: ReloadScene}}
	want.Visible = new(time.Duration)
	want.Exact = true
	want.Expect = []Expectation{
		{Event: "tile.dispatch", Keys: []Key{{"tile", "a"}}},
		{T: ms(300), Event: "lod.loaded", Keys: []Key{{"tile", "a"}, {"level", 1.0}}},
	}
	want.ExpectNone = []Expectation{{AnyT: true, Event: "tile.dispatch", Keys: []Key{{"tile", "b/full"}}}}
	want.ExpectStats = []StatExpectation{{Counter: "tilesSkippedByHierarchyGate", Value: 1}}
	noLines := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".line" }, cmp.Ignore())
	if diff := cmp.Diff(&want, s, noLines, cmp.AllowUnexported(Expectation{}, StatExpectation{}, World{})); diff != "" {
		t.Error(diff)
	}
	checkSampleManifest(t, s.Manifest)
}

func checkSampleManifest(t *testing.T, m *manifest.Manifest) {
	t.Helper()
	a, b := &m.Tiles[0], &m.Tiles[1]
	if m.Version != 3 || m.StreamingDefaults.UnloadRadius != 100 || m.InteriorZone != nil || len(m.Tiles) != 2 {
		t.Errorf("manifest %+v", m)
	}
	if a.Center != [3]float64{81, 0, 0} || a.Path != "tiles/a.untold" || a.LODLevels[0].SwitchDistance != 60 || a.HLODLevels[0].Path != "tiles/a_hlod0.untold" {
		t.Errorf("tile a: %+v", a)
	}
	if b.Center != [3]float64{9, 9, 9} || *b.Priority != 3 || *b.FloorID != 2 || !b.Interior || *b.UnloadRadius != 70 || b.PrefetchRadius != nil || b.FileSizeBytes != 1<<20 {
		t.Errorf("tile b: %+v", b)
	}
}

func TestDefaults(t *testing.T) {
	s, err := Parse([]byte(`{"scene": {"tiles": [{"tile_id": "a", "bounds": {"min": [0,0,0], "max": [1,1,1]}}]}, "camera": [{"t": 4}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if s.DT != 100*time.Millisecond || s.Duration != 4*time.Second || s.Latency.Of("a", "full", 1) != 250*time.Millisecond ||
		s.Visible != nil || s.Manifest.StreamingDefaults.StreamingRadius != 80 || !s.Config.EnableFrustumGate {
		t.Errorf("%+v", s)
	}
}

func TestLatencyOf(t *testing.T) {
	s, err := Parse([]byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tile, rep string
		attempt   int
		want      float64
	}{
		{"a", "full", 1, 1},
		{"a", "lod1", 1, 2},
		{"a", "lod0", 3, 1},
		{"b/full", "full", 1, 70},
		{"b/full", "full", 2, 10},
		{"b/full", "full", 9, 10},
		{"c", "full", 1, 0.2},
		{"c", "lod12", 1, 0.3},
		{"c", "hlod", 1, 0.4},
	} {
		if got := s.Latency.Of(c.tile, c.rep, c.attempt).Seconds(); got != c.want {
			t.Errorf("%s %s, attempt %d: %v s, want %v", c.tile, c.rep, c.attempt, got, c.want)
		}
	}
}

// edit replaces a part of the sample.
func edit(old, repl string) string {
	if !strings.Contains(sample, old) {
		panic(old)
	}
	return strings.Replace(sample, old, repl, 1)
}

func TestScenarioErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{edit(`"pressure"`, `"presure"`), `line 25, column 3: unknown key "presure"; did you mean "pressure"?`},
		{edit(`"duration"`, `"Duration"`), `unknown key "Duration"; did you mean "duration"?`},
		{edit(`"velocityLookAheadTime": 0`, `"velocityLookaheadTime": 0`), `config.velocityLookaheadTime: `},
		{edit(`"velocityLookAheadTime": 0`, `"velocityLookaheadTime": 0`), `did you mean "velocityLookAheadTime"?`},
		{edit(`"enableFrustumGate": false`, `"enableFrustumGate": 3`), `config.enableFrustumGate`},
		{edit(`"bias": 2`, `"bia": 2`), `did you mean "lod.bias"?`},
		{edit(`"min": [0, 0, 0]`, `"min": [0, 0]`), `scene.tiles[1].bounds.min: wants three numbers, not 2`},
		{edit(`"min": [0, 0, 0]`, `"min": [0, 5, 0]`), `scene.tiles[1].bounds: min is above max`},
		{edit(`"tile_id": "b/full"`, `"tile_id": "a"`), `scene.tiles[1]: the tile_id "a" is empty or stands twice`},
		{edit(`"tile_id": "b/full", `, ``), `scene.tiles[1]: the key "tile_id" is missing`},
		{edit(`"kind": "fail"`, `"kind": "boom"`), `faults[0].kind: "boom" is unknown; use fail, hang`},
		{edit(`"rep": "lod0"`, `"rep": "lod00"`), `faults[1].rep: "lod00" is no representation`},
		{edit(`"times": 5`, `"times": 0.5`), `faults[0].times: 0.5 is out of range; from 1 to`},
		{edit(`"event": "lod.loaded"`, `"event": "lod.loadet"`), `expect[1].event: "lod.loadet" is no event; did you mean "lod.loaded"?`},
		{edit(`[{"t": 0.0, "event"`, `[{"event"`), `expect[0]: the key "t" is missing`},
		{edit(`"level": 1}`, `"levl": 1}`), `expect[1]: unknown key "levl"; did you mean "level"?`},
		{edit(`"tilesSkippedByHierarchyGate"`, `"tilesSkippedByHierachyGate"`), `did you mean "tilesSkippedByHierarchyGate"?`},
		{edit(`"faults": [{"tile": "a"`, `"faults": [{"tile": "c"`), `the scene has no tile "c"; did you mean "a"?`},
		{edit(`"a/lod1": 2`, `"c/lod1": 2`), `the scene has no tile "c"`},
		{edit(`"dt": 0.1`, `"dt": 0`), `dt is too short`},
		{edit(`"dt": 0.1`, `"dt": 0.1, "dt": 0.2`), `key "dt" stands twice`},
		{edit(`"duration": 3.0`, `"duration": 3e6`), `more than 10000000 frames`},
		{edit(`"duration": 3.0`, `"duration": "3"`), `duration: wants a number, not the text "3"`},
		{edit(`"t": 2.0`, `"t": 0`), `camera[1]: this key is not after the one before; sort the keys by t`},
		{edit(`"forward": [0, 0, -1]`, `"forward": [0, 0, 0]`), `camera[0]: forward has no direction`},
		{edit(`"mode": "linear"`, `"mode": "smooth"`), `camera[1].mode: "smooth" is unknown; use jump, linear`},
		{edit(`"far": 1000`, `"far": 0.1`), `far (0.1) is not beyond near (0.1)`},
		{edit(`"mode": "strict"`, `"mode": "strict", "manifest": "x.json"`), `"scene" and "manifest" exclude each other`},
		{`{"camera": []}`, `the key "scene" is missing; or name a cooked scene with "manifest"`},
		{`[]`, `line 1, column 1: wants an object, not an array`},
		{edit(`"position": [10, 0, 0]`, `"position": [1e99, 0, 0]`), `camera[1].position: 1e99 is out of range`},
	} {
		if _, err := Parse([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v\nwant %s", err, c.want)
		}
	}
}

func TestCameraPath(t *testing.T) {
	p, err := ParseCameraPath([]byte(`{"camera": [{"t": 1, "position": [1, 0, 0], "forward": [0, 0, -2]}, // turns
		{"t": 3, "position": [3, 0, 0], "forward": [1, 0, 0], "mode": "linear"}, {"t": 5, "position": [9, 9, 9]}], "far": 50}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		t        float64
		x        float64
		forwardX float64
	}{{0, 1, 0}, {1, 1, 0}, {2, 2, 0.7071}, {3, 3, 1}, {4.9, 3, 1}, {5, 9, 1}, {99, 9, 1}} {
		cam := p.At(duration(c.t))
		if cam.Position[0] != c.x || !near(cam.Forward[0], c.forwardX) || cam.Far != 50 || cam.FovYDegrees != 60 {
			t.Errorf("at %v: %+v", c.t, cam)
		}
	}
	for text, want := range map[string]string{
		`{"camera": []}`:                      "the path has no keys",
		`{}`:                                  `the key "camera" is missing`,
		`{"camera": [{"t": 1}], "scene": {}}`: `unknown key "scene"`,
	} {
		if _, err := ParseCameraPath([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if c := (&CameraPath{}).At(7); c.Forward != [3]float64{0, 0, -1} {
		t.Errorf("an empty path looks along %v", c.Forward)
	}
}

func near(a, b float64) bool { return a-b < 1e-4 && b-a < 1e-4 }

// TestManyExpectations: an entry of a long list costs what it takes to read it,
// whatever its counter is, and nothing is read after the first failure.
func TestManyExpectations(t *testing.T) {
	const head = `{"scene": {"tiles": []}, "camera": [{"t": 0, "position": [0, 0, 0]}], "expect_stats": [`
	scenario := func(n int, counter string) []byte {
		entry := `{"t": 0, "counter": "` + counter + `", "value": 0}`
		return []byte(head + strings.Repeat(entry+",\n", n-1) + entry + "]}")
	}
	names := runtime.CounterNames()
	for _, counter := range []string{names[0], names[len(names)-1], "texturesMissing"} {
		allocs := func(n int) float64 {
			data := scenario(n, counter)
			return testing.AllocsPerRun(2, func() {
				if s, err := Parse(data); err != nil || len(s.ExpectStats) != n {
					t.Fatal(err)
				}
			})
		}
		if few, many := allocs(500), allocs(2000); many > 4*few+100 || many/2000 > 40 {
			t.Errorf("%s: %.0f allocations for 500, %.0f for 2000", counter, few, many)
		}
		if n := testing.AllocsPerRun(10, func() { new(runtime.Stats).Counter(counter) }); n > 0 {
			t.Errorf("%s: %.0f allocations to read it", counter, n)
		}
	}
	read := 0
	d := &decoder{}
	list := &node{kind: '[', children: &children{items: make([]node, 1000)}}
	d.array(list, func(n *node) {
		read++
		d.fail(n, "wrong", "")
	})
	if read != 1 {
		t.Errorf("%d entries read, the first is wrong", read)
	}
}
