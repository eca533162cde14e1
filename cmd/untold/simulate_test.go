package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/runtime/simulate"
)

const scenarioDir = "../../testdata/simulate"

func scenario(name string) string { return filepath.Join(scenarioDir, name+".json") }

// TestSimulateScenarios runs every scenario file through the command.
func TestSimulateScenarios(t *testing.T) {
	list, err := filepath.Glob(scenario("*"))
	if err != nil || len(list) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, path := range list {
		if r := execute(t, nil, "simulate", path, "--check", "--fail-if", "double_drawn>0"); r.code != 0 || !strings.Contains(r.stdout, "as expected: ") {
			t.Errorf("%s: exit %d\n%s%s", path, r.code, r.stdout, r.err)
		}
	}
}

func TestSimulateEvents(t *testing.T) {
	// With --events - stdout holds the events and nothing else.
	r := execute(t, nil, "simulate", scenario("d01"), "--events", "-", "--check")
	want := `{"t":0,"frame":0,"event":"scene.load"}
{"t":0,"frame":0,"event":"tile.dispatch","tile":"a"}
{"t":0.3,"frame":3,"event":"tile.parsed","tile":"a"}
{"t":0.3,"frame":3,"event":"drawn","tile":"a","rep":"full"}
{"t":1,"frame":10,"event":"tile.grace","tile":"a"}
{"t":8.3,"frame":83,"event":"tile.unload","tile":"a"}
{"t":8.3,"frame":83,"event":"drawn","tile":"a","rep":"none"}
`
	if r.code != 0 || r.stdout != want || r.err != "as expected: 4 expectations\n" {
		t.Errorf("exit %d\n%s%s", r.code, r.stdout, r.err)
	}
	dir := t.TempDir()
	events, report, plot := filepath.Join(dir, "e.jsonl"), filepath.Join(dir, "r.json"), filepath.Join(dir, "p.svg")
	r = execute(t, nil, "simulate", scenario("d01"), "--events", events, "--report", report, "--plot", plot, "-q")
	if r.code != 0 || r.stdout != "" || r.err != "" {
		t.Errorf("exit %d: %q %q", r.code, r.stdout, r.err)
	}
	if got := string(testfile.Read(t, events)); got != want {
		t.Errorf("--events FILE has\n%s", got)
	}
	var keys map[string]float64
	if err := json.Unmarshal([]byte(string(testfile.Read(t, report))), &keys); err != nil || len(keys) != len(simulate.ReportKeys()) || keys["frames"] != 101 {
		t.Errorf("%v: %v", err, keys)
	}
	if got := string(testfile.Read(t, plot)); !strings.HasPrefix(got, "<svg ") || !strings.HasSuffix(got, "</svg>\n") {
		t.Errorf("plot: %.80s", got)
	}
	if r := execute(t, nil, "simulate", scenario("d01"), "--json"); r.code != 0 || json.Unmarshal([]byte(r.stdout), &keys) != nil {
		t.Errorf("--json: exit %d: %s%s", r.code, r.stdout, r.err)
	}
}

func TestSimulateJudges(t *testing.T) {
	text := string(testfile.Read(t, scenario("d01")))
	write := func(old, repl string) string {
		if !strings.Contains(text, old) {
			t.Fatalf("d01.json has no %q", old)
		}
		path := testfile.Write(t, filepath.Join(t.TempDir(), "s.json"), strings.Replace(text, old, repl, 1))
		return path
	}
	wrong := write(`{"t": 8.3,`, `{"t": 8.5,`)
	r := execute(t, nil, "simulate", wrong, "--check")
	for _, line := range []string{"not as expected: 2 differences", "+ 8.3  tile.unload tile=a  not expected", "- 8.5  tile.unload tile=a  line 22: it came at 8.3"} {
		if r.code != 1 || !strings.Contains(r.stdout, line) {
			t.Errorf("exit %d, lacks %q\n%s%s", r.code, line, r.stdout, r.err)
		}
	}
	if r := execute(t, nil, "simulate", wrong); r.code != 0 {
		t.Errorf("without --check: exit %d", r.code)
	}
	r = execute(t, nil, "simulate", scenario("e13_strict"), "--fail-if", "undrawn>0", "--fail-if", "loads>99", "--events", "-")
	if r.code != 1 || r.err != "failed: undrawn is 4 (--fail-if undrawn>0)\nfarthest over its budget: undrawn 4 of 0\n" {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	// The same camera under the covered hand-off leaves no hole.
	if r := execute(t, nil, "simulate", scenario("e13_strict"), "--mode", "covered", "--fail-if", "undrawn>0"); r.code != 0 {
		t.Errorf("covered: exit %d: %s", r.code, r.stdout)
	}
}

func TestSimulateUsage(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := testfile.Write(t, filepath.Join(dir, name), text)
		return path
	}
	typo := write("typo.json", "{\n  \"scene\": {\"tiles\": []},\n  \"duratoin\": 3\n}")
	path := write("path.json", `{"camera": [{"t": 0}, {"t": 1, "position": [5, 0, 0], "mode": "linear"}]}`)
	d01 := scenario("d01")
	for _, c := range []struct {
		args []string
		code int
		text string
	}{
		{[]string{typo}, 1, `line 3, column 3: unknown key "duratoin"; did you mean "duration"?`},
		{[]string{path}, 1, "it is a camera path"},
		{[]string{filepath.Join(dir, "no.json")}, 2, "no.json"},
		{[]string{dir}, 2, "holds no manifest"},
		{nil, 2, "no SCENARIO.json|MANIFEST.json"},
		{[]string{d01, "--fail-if", "undrwan>0"}, 2, `did you mean "undrawn"?`},
		{[]string{d01, "--fail-if", "undrawn"}, 2, "has no comparison"},
		{[]string{d01, "--bandwidth", "10"}, 2, "is no bandwidth: write 10MBps"},
		{[]string{d01, "--latency", "50"}, 2, "--latency"},
		{[]string{d01, "--orbit", "--fly-through"}, 2, "exclude each other"},
		{[]string{d01, "--set", "maxConcurrentTileLoad=3"}, 2, `did you mean "maxConcurrentTileLoads"?`},
		{[]string{d01, "--set", "maxConcurrentTileLoads"}, 2, "write KEY=VALUE"},
		{[]string{d01, "--mode", "loose"}, 2, "covered or strict"},
		{[]string{d01, "--preset", "tiny"}, 2, "--preset"},
		{[]string{d01, "--events", "-", "--report", "-"}, 2, "two outputs go to"},
		{[]string{d01, "--events", "x", "--plot", "./x"}, 2, "two outputs go to"},
		{[]string{d01, "--camera-path", d01}, 1, `unknown key "scene"`},
		{[]string{d01, "--duration", "1000h"}, 2, "frames are too many"},
		{[]string{d01, "--events", filepath.Join(dir, "none", "e")}, 2, "none"},
		{[]string{d01, "--camera-path", path}, 0, ""},
	} {
		r := execute(t, nil, append([]string{"simulate"}, c.args...)...)
		if r.code != c.code || !strings.Contains(r.err, c.text) {
			t.Errorf("%v: exit %d, want %d with %q: %s", c.args, r.code, c.code, c.text, r.err)
		}
		if c.code != 0 && strings.Count(strings.TrimSpace(r.err), "\n") > 0 {
			t.Errorf("%v: the error is not one line: %s", c.args, r.err)
		}
	}
}

// TestSimulateCooked moves through a cooked scene in all ways, twice each.
func TestSimulateCooked(t *testing.T) {
	manifest := filepath.Join(cooked(t, "--hlod", "--lod"), "yard.json")
	recorded := testfile.Write(t, filepath.Join(t.TempDir(), "path.json"), `{"camera": [{"t": 0, "position": [-50, 2, 0]}, {"t": 10, "position": [150, 2, 0], "mode": "linear"}]}`)
	for _, args := range [][]string{
		{"--orbit"},
		{"--fly-through", "--speed", "50"},
		{"--walk", "7", "--duration", "20s"},
		{"--camera-path", recorded},
		{"--camera-path", recorded, "--bandwidth", "20kBps", "--latency", "50ms"},
		{"--duration", "3s", "--parse-time", "0s", "--set", "maxConcurrentTileLoads=1"},
	} {
		events := filepath.Join(t.TempDir(), "events")
		args = append([]string{"simulate", manifest, "--fail-if", "undrawn>0", "--fail-if", "double_drawn>0", "--fail-if", "bytes_loaded<=0", "--events", events}, args...)
		r := execute(t, nil, args...)
		if r.code != 0 {
			t.Errorf("%v: exit %d\n%s%s", args, r.code, r.stdout, r.err)
			continue
		}
		first := string(testfile.Read(t, events))
		if execute(t, nil, args...); string(testfile.Read(t, events)) != first || !strings.Contains(first, `"drawn"`) {
			t.Errorf("%v: a second run gives other events", args)
		}
	}
}

// TestSimulateProfile: untold.yaml beside the manifest sets parameters, and
// flags win.
func TestSimulateProfile(t *testing.T) {
	dir := cooked(t)
	manifest := filepath.Join(dir, "yard.json")
	write := func(text string) {
		testfile.Write(t, filepath.Join(dir, profileName), text)
	}
	write("name: a flight\ntile-size: 40\nenabled: false\nlod:\n  bias: 2\n")
	if r := execute(t, nil, "simulate", manifest, "--fail-if", "loads>0"); r.code != 0 {
		t.Errorf("exit %d: %s%s", r.code, r.stdout, r.err)
	}
	if r := execute(t, nil, "simulate", manifest, "--fail-if", "loads>0", "--set", "enabled=true"); r.code != 1 {
		t.Errorf("exit %d: %s%s", r.code, r.stdout, r.err)
	}
	// The same file beside a scene: cook passes over the runtime's keys.
	scene := yard(t)
	text := "note: x\nenabled: false\nmaxConcurrentTileLoads: 4\nlod:\n  bias: 2\ntile-size: 40\n"
	testfile.Write(t, filepath.Join(filepath.Dir(scene), profileName), text)
	if r := execute(t, nil, "cook", scene, "-o", t.TempDir(), "--dry-run"); r.code != 0 || !strings.Contains(r.stdout, "tiles of 40 x 40") {
		t.Errorf("exit %d: %s%s", r.code, r.stdout, r.err)
	}
	write("lod:\n  biass: 2\n")
	if r := execute(t, nil, "simulate", manifest); r.code != 2 || !strings.Contains(r.err, "biass") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	write("enabled: true\nmaxUnloads: 3\n")
	if r := execute(t, nil, "simulate", manifest); r.code != 2 || !strings.Contains(r.err, `untold.yaml:2: `) {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

// A scenario without a camera stays where it is for one frame.
func TestSimulateStillScenario(t *testing.T) {
	path := filepath.Join(t.TempDir(), "still.json")
	text := `{"name": "still", "scene": {"partitioning_mode": "uniform_grid", "streaming_defaults": {"streaming_radius": 50, "unload_radius": 100, "priority": 10}, "tiles": []}}`
	testfile.Write(t, path, text)
	if r := execute(t, nil, "simulate", path, "--json"); r.code != 0 || !strings.Contains(r.stdout, `"frames": 1,`) {
		t.Errorf("exit %d: %s%s", r.code, r.stdout, r.err)
	}
	for _, flag := range []string{"--events", "--report", "--plot"} {
		if r := execute(t, nil, "simulate", path, flag, filepath.Join(filepath.Dir(path), ".", "still.json")); r.code != 2 || !strings.Contains(r.err, "input") {
			t.Errorf("%s: exit %d: %s", flag, r.code, r.err)
		}
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != text {
		t.Errorf("the scenario is now %.60q, %v", data, err)
	}
	if r := execute(t, nil, "simulate", path, "--mode", "foo"); r.code != 2 || !strings.Contains(r.err, "--mode") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

func TestBandwidthFlag(t *testing.T) {
	for text, want := range map[string]float64{
		"10MBps": 1e7, "10 MB/s": 1e7, "8Mbps": 1e6, "1.5GBps": 1.5e9, "300kBps": 3e5, "5Bps": 5, "16kb/s": 2000,
	} {
		var b bandwidth
		if err := b.Set(text); err != nil || float64(b) != want {
			t.Errorf("%s: %v, %v", text, float64(b), err)
		}
	}
	for _, text := range []string{"", "10", "MBps", "-1MBps", "0MBps", "infMBps", "nanMBps", "1e-9Bps", "10mbps", "10MiBps"} {
		if err := new(bandwidth).Set(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

// TestUncovered: a scene is covered to the horizon, and what a shorter radius or
// a budget that is too small leaves out is counted.
func TestUncovered(t *testing.T) {
	scene := filepath.Join(cooked(t), "yard.json")
	still := filepath.Join(t.TempDir(), "still.json")
	path := `{"fov_y_degrees": 60, "aspect": 1.5, "near": 0.1, "far": 5000,
	  "camera": [{"t": 0, "position": [0, 40, 300], "forward": [0, -0.1, -1]}, {"t": 3, "position": [0, 40, 300], "forward": [0, -0.1, -1]}]}`
	testfile.Write(t, still, path)
	for _, tc := range []struct {
		args []string
		key  string
		code int
	}{
		{nil, "uncovered", 0},
		{[]string{"--set", "maxQueryRadius=50"}, "uncovered", exitWanting},
		{[]string{"--set", "maxQueryRadius=50"}, "uncovered_budget", 0},
		{[]string{"--set", "geometryBudget=10"}, "uncovered_budget", exitWanting},
	} {
		args := append([]string{scene, "--camera-path", still, "--fail-if", tc.key + ">0"}, tc.args...)
		if r := execute(t, nil, append([]string{"simulate"}, args...)...); r.code != tc.code {
			t.Errorf("simulate %v %s: exit %d\n%s%s", tc.args, tc.key, r.code, r.stdout, r.err)
		}
	}
}
