package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
)

// TestViewDistanceSuitsTheEngine: a cook with --view-distance 500, run by the
// reference engine's rules, leaves nothing undrawn anywhere, and nothing in view
// uncovered where all of it lies within 500 m.
func TestViewDistanceSuitsTheEngine(t *testing.T) {
	dir, scene := t.TempDir(), generated(t, "city", "-blocks", "1", "-textures=false")
	out := filepath.Join(dir, "city")
	if r := execute(t, nil, "cook", scene, "-o", out, "--view-distance", "500", "--whole-limit", "0", "--tile-size", "80", "-q"); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	if r := execute(t, nil, "validate", out, "--strict"); r.code != 0 || strings.Contains(r.stdout, "beyond-engine-reach") {
		t.Errorf("exit %d: %s%s", r.code, r.stdout, r.err)
	}
	if r := execute(t, nil, "inspect", out, "--json"); r.code != 0 || strings.Contains(r.stdout, `"lod_and_hlod_files": 0`) {
		t.Fatalf("without levels nothing is shown: exit %d: %s", r.code, r.err)
	}
	// From its middle the scene reaches no farther than 460 m.
	middle := filepath.Join(dir, "middle.json")
	testfile.Write(t, middle, `{"camera": [
		{"t": 0, "position": [0, 5, 0], "forward": [1, 0, 0]}, {"t": 20, "position": [80, 30, 80], "forward": [-1, 0, -1]},
		{"t": 40, "position": [0, 60, 80], "forward": [0, -0.3, -1]}]}`)
	for _, camera := range [][]string{
		{"--camera-path", middle, "--fail-if", "uncovered>0"},
		{"--fly-through", "--speed", "30"},
		{"--orbit"},
	} {
		for _, gated := range []string{"true", "false"} {
			args := append([]string{
				"simulate", out, "--set", "maxQueryRadius=500", "--set", "lodGate=" + gated, "--set", "normalizeBands=" + gated,
				"--fail-if", "undrawn>0", "--fail-if", "double_drawn>0", "--fail-if", "loads<30",
			}, camera...)
			if r := execute(t, nil, args...); r.code != 0 {
				t.Errorf("%v: exit %d: %s", args, r.code, r.stdout)
			}
		}
	}
}
