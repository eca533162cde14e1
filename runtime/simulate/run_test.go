package simulate

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/untoldkit/untold/manifest"
)

const scenarios = "../../testdata/simulate"

// files lists the scenario files of the repository.
func files(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(scenarios, "*.json"))
	if err != nil || len(list) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	return list
}

func load(t *testing.T, path string) *Scenario {
	t.Helper()
	s, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustRun(t *testing.T, s *Scenario, o Options) *Result {
	t.Helper()
	r, err := Run(context.Background(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// stream renders the events as the command writes them.
func stream(records []Record) []byte {
	var b bytes.Buffer
	for i := range records {
		b.Write(append(records[i].AppendJSON(nil), '\n'))
	}
	return b.Bytes()
}

// TestScenarios runs the files of testdata: the scenarios by which the rules
// of the runtime are stated, and more. Unless faults or memory explain it,
// nothing may be undrawn that was drawn, and nothing be drawn twice.
func TestScenarios(t *testing.T) {
	for _, path := range files(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			s := load(t, path)
			r := mustRun(t, s, Options{})
			if len(r.Differences) > 0 {
				t.Errorf("\n%s", Diff(r.Differences))
			}
			if len(s.Faults)+len(s.Pressure)+len(s.Memory) == 0 && s.Config.Handoff == "covered" && r.Report.Undrawn > 0 {
				t.Errorf("%d tile-frames undrawn", r.Report.Undrawn)
			}
			if r.Report.DoubleDrawn > 0 {
				t.Errorf("%d tile-frames drawn twice", r.Report.DoubleDrawn)
			}
			if again := mustRun(t, load(t, path), Options{}); !bytes.Equal(stream(r.Records), stream(again.Records)) {
				t.Error("a second run gives other events")
			}
		})
	}
}

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares with a file of testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs: if that is meant, run go test ./runtime/simulate -update and look at the change\n%s", path, cmp.Diff(string(want), string(got)))
	}
}

// TestEventStreams keeps the events of all scenarios, also those that they do
// not list, such as what is drawn.
func TestEventStreams(t *testing.T) {
	var b bytes.Buffer
	for _, path := range files(t) {
		fmt.Fprintf(&b, "== %s\n%s", filepath.Base(path), stream(mustRun(t, load(t, path), Options{}).Records))
	}
	golden(t, "events.golden", b.Bytes())
}

func TestPlot(t *testing.T) {
	for _, name := range []string{"e13", "b03"} {
		r := mustRun(t, load(t, filepath.Join(scenarios, name+".json")), Options{Series: true})
		var b bytes.Buffer
		if err := WritePlot(&b, r.Series); err != nil {
			t.Fatal(err)
		}
		for dec := xml.NewDecoder(bytes.NewReader(b.Bytes())); ; {
			if _, err := dec.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		golden(t, name+".svg", b.Bytes())
	}
}

// TestPlotOfOneFrame: a run may be as short as that, and names may be markup.
func TestPlotOfOneFrame(t *testing.T) {
	s := load(t, filepath.Join(scenarios, "b01.json"))
	s.Duration, s.Name = 0, `<script>"&`
	var b bytes.Buffer
	if err := WritePlot(&b, mustRun(t, s, Options{Series: true}).Series); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "<script>") || strings.Contains(b.String(), "NaN") {
		t.Error(b.String())
	}
}

// TestBandwidth: the network's share decides when a tile is there, and a
// download that is cancelled leaves its share to the others.
func TestBandwidth(t *testing.T) {
	s := load(t, filepath.Join(scenarios, "b01.json"))
	s.Expect, s.Exact, s.Duration = nil, false, 5*time.Second
	// 1 MiB at 1 MB/s after 50 ms of latency, seen in the next frame, then the
	// parse of 0.25 s.
	r := mustRun(t, s, Options{Bandwidth: 1e6, NetworkLatency: 50 * time.Millisecond})
	var parsed time.Duration
	for i := range r.Records {
		if r.Records[i].Event == "tile.parsed" {
			parsed = r.Records[i].T
		}
	}
	if parsed != 1400*time.Millisecond {
		t.Errorf("parsed at %v", parsed)
	}
	if r.Report.BytesRequested != 1<<20 || r.Report.BytesLoaded != 1<<20 {
		t.Errorf("%d bytes requested, %d loaded", r.Report.BytesRequested, r.Report.BytesLoaded)
	}
	// Leaving at 1 s cancels the download beyond the query radius at once.
	s.Path.Keys = append(s.Path.Keys, CameraKey{T: time.Second, Position: [3]float64{-9000}, Forward: [3]float64{0, 0, -1}})
	r = mustRun(t, s, Options{Bandwidth: 1e5})
	if r.Report.Cancels != 1 || r.Report.BytesLoaded != 0 {
		t.Errorf("%+v\n%s", r.Report, stream(r.Records))
	}
}

// TestReport checks the figures of a run that can be worked out by hand.
func TestReport(t *testing.T) {
	got := mustRun(t, load(t, filepath.Join(scenarios, "e13_strict.json")), Options{}).Report
	got.UpdateMSP50, got.UpdateMSP99, got.UpdateMSMax = 0, 0, 0
	want := Report{
		Frames: 261, Loads: 1, BytesRequested: 1 << 20, BytesLoaded: 1 << 20,
		Undrawn: 4, // 23.0 to 23.3
		// Full from 0 to 22.9, HLOD from 23.4 to 26.0: 257 frames of 0.1 s, and
		// 3 changes.
		GeometryReachMin:                   500,
		RepresentationChangesPerTileMinute: 3 / (257 * 0.1 / 60),
		StallSeconds:                       0.4,
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(1e-9, 0)); diff != "" {
		t.Error(diff)
	}
	// The tile is in reach from 0.0, and drawn in the frame at 0.3.
	got = mustRun(t, load(t, filepath.Join(scenarios, "d01.json")), Options{}).Report
	if got.TimeToFullP50 != 0.3 || got.TimeToFullP95 != 0.3 || got.StallSeconds != 0.3 || got.Loads != 1 {
		t.Errorf("%+v", got)
	}
	got = mustRun(t, load(t, filepath.Join(scenarios, "d09.json")), Options{}).Report
	if got.Timeouts != 2 || got.Retries != 1 || got.Loads != 2 || got.Failures != 0 || got.BytesLoaded != 0 {
		t.Errorf("%+v", got)
	}
	got = mustRun(t, load(t, filepath.Join(scenarios, "evict.json")), Options{}).Report
	if got.Evictions != 2 || got.PeakGeometryBytes != 80 {
		t.Errorf("%+v", got)
	}
}

func TestRunErrors(t *testing.T) {
	if _, err := Run(t.Context(), &Scenario{ManifestPath: "x.json"}, Options{}); err == nil || !strings.Contains(err.Error(), "x.json") {
		t.Error(err)
	}
	s := load(t, filepath.Join(scenarios, "b01.json"))
	stop := errors.New("full")
	if _, err := Run(t.Context(), s, Options{OnRecord: func(*Record) error { return stop }}); !errors.Is(err, stop) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, s, Options{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	m := `{"version": 3, "streaming_defaults": {"streaming_radius": 50, "unload_radius": 100, "priority": 10}, "tiles": [
		{"tile_id": "a", "path_relative_to_manifest": "a.untold", "file_size_bytes": 7, "estimated_memory_bytes": 9,
		 "bounds": {"min": [0,0,-9], "max": [1,1,1]}, "center": [0,0,0],
		 "lod_levels": [{"path": "b.untold", "switch_distance": 80, "file_size_bytes": 2}, {"path": "c.untold", "switch_distance": 60, "file_size_bytes": 3}]}]}`
	cooked := load(t, write("m.json", m))
	if x := cooked.Tiles["a"]; x.GPUBytes != 9 || !slices.Equal(x.LODs, []int64{3, 2}) || cooked.Name != "m.json" {
		t.Errorf("%+v", x)
	}
	s := load(t, write("s.json", `{"manifest": "m.json", "duration": 1}`))
	if s.Manifest == nil || s.Tiles["a"].GPUBytes != 9 {
		t.Error("the manifest that a scenario names is not loaded")
	}
	if r := mustRun(t, s, Options{}); r.Report.Frames != 11 || r.Report.PeakGeometryBytes != 9 {
		t.Errorf("%+v", r.Report)
	}
	for name, c := range map[string]struct {
		text, want string
		is         error
	}{
		"path.json":   {`{"camera": [{"t": 0}]}`, "it is a camera path", ErrNotScenario},
		"other.json":  {`{"name": "x"}`, `a scenario has the key "scene"`, ErrNotScenario},
		"cut.json":    {`{"scene": {`, "cut.json: line 1, column 12: the text ends", nil},
		"broken.json": {`hello`, "broken.json: line 1, column 1", nil},
		"nm.json":     {`{"manifest": "nowhere.json"}`, "nowhere.json", fs.ErrNotExist},
		"badm.json":   {`{"tiles": 3}`, "badm.json", manifest.ErrWrongType},
	} {
		_, err := Load(write(name, c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "is a folder") {
		t.Error(err)
	}
	if _, err := LoadCameraPath(filepath.Join(dir, "path.json")); err != nil {
		t.Error(err)
	}
	if _, err := LoadCameraPath(filepath.Join(dir, "cut.json")); err == nil {
		t.Error("a scenario is a camera path")
	}
}
