package simulate

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/vertex/compact"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/internal/fake"
	"github.com/untoldkit/untold/runtime/payload"
)

func TestParseNodes(t *testing.T) {
	const text = `{"scene": {"tiles": [
		{"tile_id": "a", "bounds": {"min": [0, 0, 0], "max": [9, 9, 9]}, "nodes": [
			{"name": "root"},
			{"name": "m", "parent": "root", "bounds": {"min": [0, 1, 2], "max": [3, 4, 5]}, "gpu_bytes": 7},
			{"name": "n", "bounds": {"min": [0, 1, 2], "max": [3, 4, 5]}, "gpu_bytes": 5}
		]},
		{"tile_id": "b", "bounds": {"min": [0, 0, 0], "max": [9, 9, 9]}, "nodes": 12}
	]}, "latency": {"mesh": 0.5}, "faults": [{"tile": "a", "mesh": "m", "kind": "hang"}]}`
	s, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	b := manifest.Bounds{Min: [3]float64{0, 1, 2}, Max: [3]float64{3, 4, 5}}
	want := map[string]Extra{
		"a": {Nodes: 2, GPUBytes: 12, Meshes: []Mesh{{Name: "root"}, {Name: "m", Parent: "root", Bounds: b, GPUBytes: 7}, {Name: "n", Bounds: b, GPUBytes: 5}}},
		"b": {Nodes: 12},
	}
	if diff := cmp.Diff(want, s.Tiles); diff != "" {
		t.Error(diff)
	}
	if s.Latency.Reps["mesh"] != 500*time.Millisecond || s.Faults[0] != (Fault{Tile: "a", Rep: "full", Mesh: "m", Hang: true}) {
		t.Errorf("%+v, %+v", s.Latency, s.Faults)
	}
}

func TestParseNodesRefuses(t *testing.T) {
	for nodes, text := range map[string]string{
		`[{"name": "a", "parent": "b"}]`:  `no node before it is called "b"`,
		`[{"name": "a", "gpu_bytes": 1}]`: `"bounds" is missing`,
		`[{"gpu_bytes": 0}]`:              "is missing",
		`[{"name": "a", "gpu_byte": 1}]`:  `did you mean "gpu_bytes"?`,
		`10001`:                           "out of range",
		`-1`:                              "out of range",
		`"many"`:                          "wants a number",
		`[` + strings.Repeat(`{},`, 10_000) + `{}]`:                                                   "10001 nodes are too many",
		`10000}` + hugeTiles(100) + `,{"tile_id": "last", "bounds": {"min": [0,0,0], "max": [1,1,1]}`: "1010000 nodes are too many",
	} {
		_, err := Parse([]byte(`{"scene": {"tiles": [{"tile_id": "t", "bounds": {"min": [0,0,0], "max": [1,1,1]}, "nodes": ` + nodes + `}]}}`))
		if e := new(SyntaxError); !errors.As(err, &e) || !strings.Contains(err.Error(), text) {
			t.Errorf("%.60s: %v, want %q", nodes, err, text)
		}
	}
}

func hugeTiles(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,{"tile_id": "x%d", "bounds": {"min": [0,0,0], "max": [1,1,1]}, "nodes": 10000}`, i)
	}
	return b.String()
}

// The nodes of a cooked scene are read from its files.
func TestCookedSceneStreamsMeshByMesh(t *testing.T) {
	dir := t.TempDir()
	data := fake.Container(t, format.FileTile, format.ModeAuto, 60, 3, func(mesh, k int) [3]float32 {
		return [3]float32{float32(mesh + k&1), float32(k / 2), 0}
	})
	m := &manifest.Manifest{
		Version: manifest.VersionGrid, PartitioningMode: manifest.ModeUniformGrid, StreamingDefaults: manifest.StreamingDefaults{StreamingRadius: 30, UnloadRadius: 50},
		Tiles: []manifest.Tile{{ID: "a", Path: "tiles/a.untold", FileSizeBytes: int64(len(data)), Bounds: manifest.Bounds{Max: [3]float64{61, 1, 0}}}},
	}
	path := filepath.Join(dir, "scene.json")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	run := func() *Result {
		s := load(t, path)
		s.Duration = 10 * time.Second
		s.Config.EnableFrustumGate = false
		s.Path.Keys = []CameraKey{{Position: [3]float64{-10, 0, 0}, Forward: [3]float64{0, 0, -1}}}
		return mustRun(t, s, Options{})
	}
	if r := run(); r.Report.MeshLoads != 0 { // there is no file
		t.Errorf("%+v", r.Report)
	}
	fake.Write(t, filepath.Join(dir, "tiles", "a.untold"), data)
	r := run()
	if p := r.Report; p.MeshLoads != 22 || p.PeakGeometryBytes != 22*compact.Estimate(3*32+6) || p.PeakCPUBytes != 60*(3*32+6) || p.DoubleDrawn != 0 || p.Undrawn != 0 {
		t.Errorf("%+v", p)
	}
	fake.Write(t, filepath.Join(dir, "tiles", "a.untold"), data[:100])
	if r := run(); r.Report.MeshLoads != 0 { // cannot be read: a whole tile
		t.Errorf("%+v", r.Report)
	}
}

// Several meshes of one representation are drawn once, two representations
// twice.
func TestMeterCountsRepresentations(t *testing.T) {
	s := &Scenario{Manifest: &manifest.Manifest{Tiles: []manifest.Tile{{ID: "a"}, {ID: "b"}}}, DT: time.Second}
	part := func(tile int32, rep payload.Rep, part int32, fade float64) runtime.Drawn {
		return runtime.Drawn{Key: payload.Key{Tile: tile, Rep: rep, Part: part}, Fade: fade}
	}
	const full, hlod = payload.RepFull, payload.RepHLOD
	for name, c := range map[string]struct {
		drawn []runtime.Drawn
		want  int
	}{
		"parts":               {[]runtime.Drawn{part(0, full, 1, 1), part(0, full, 2, 1), part(0, full, 7, 1), part(1, full, 1, 1)}, 0},
		"fading":              {[]runtime.Drawn{part(0, hlod, 0, .4), part(0, full, 1, .6), part(0, full, 2, .6)}, 0},
		"two representations": {[]runtime.Drawn{part(0, hlod, 0, 1), part(0, full, 1, 1)}, 1},
		"whole and parts":     {[]runtime.Drawn{part(0, full, 0, 1), part(0, full, 0, 1)}, 1},
	} {
		m := NewMeter(s)
		m.look(c.drawn, geom.Vec3{})
		if m.out.DoubleDrawn != c.want {
			t.Errorf("%s: drawn twice %d times, want %d", name, m.out.DoubleDrawn, c.want)
		}
	}
}
