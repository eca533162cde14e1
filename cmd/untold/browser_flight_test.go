package main

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
)

// recordedPath is a flight in the form that preview records, around a place and back, in
// laps of so many seconds.
func recordedPath(at, forward [3]float64, laps int, seconds float64) string {
	type key struct {
		T        float64    `json:"t"`
		Position [3]float64 `json:"position"`
		Forward  [3]float64 `json:"forward"`
		Mode     string     `json:"mode,omitempty"`
	}
	var keys []key
	for i := range 8*laps + 1 {
		s, c := math.Sincos(float64(i) * math.Pi / 4)
		k := key{T: float64(i) * seconds / 8, Position: [3]float64{at[0] + 60*s, at[1], at[2] + 60*(c-1)}, Forward: forward, Mode: "linear"}
		if i == 0 {
			k.Mode = ""
		}
		for j := range k.Position {
			k.Position[j] = math.Round(k.Position[j]*1e4) / 1e4
		}
		keys = append(keys, k)
	}
	data, err := json.Marshal(map[string]any{"fov_y_degrees": 60, "camera": keys})
	if err != nil {
		panic(err)
	}
	return string(data)
}

// webBudgets are those of the page.
var webBudgets = []string{"--set", "geometryBudget=536870912", "--set", "textureBudget=268435456"}

// TestBrowserFlight: on a virtual clock the browser has the events of untold simulate for
// a recorded flight, byte for byte.
func TestBrowserFlight(t *testing.T) {
	b, dir, s := browserCity(t, 96, 64)
	start := b.open(t, s.url+"?shadows=-1&samples=1", 1)
	path := recordedPath(start.Position, start.Forward, 1, 12)
	file := testfile.Write(t, filepath.Join(t.TempDir(), "path.json"), path)
	r := execute(t, nil, append([]string{"simulate", filepath.Join(dir, "city.json"), "--camera-path", file, "--dt", "0.1", "--events", "-"}, webBudgets...)...)
	if r.code != 0 {
		t.Fatal(r.err)
	}
	text, err := json.Marshal(path)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Events  string
		Undrawn int
	}
	b.eval(t, fmt.Sprintf(`document.querySelector("untold-viewer").rehearse({path: %s, dt: 0.1})`, text), &got)
	if got.Events != r.stdout {
		t.Errorf("the events differ:\n%s", firstDifference(got.Events, r.stdout))
	}
	if n := strings.Count(r.stdout, "\n"); n < 50 || !strings.Contains(r.stdout, `"tex.load"`) {
		t.Errorf("%d events", n)
	}
	b.quiet(t)
}

// TestBrowserMemory: in ten minutes of a virtual flight over the same places memory grows
// no more after the first of them.
func TestBrowserMemory(t *testing.T) {
	b, _, s := browserCity(t, 96, 64)
	start := b.open(t, s.url+"?shadows=-1&samples=1", 1)
	text, err := json.Marshal(recordedPath(start.Position, start.Forward, 20, 30))
	if err != nil {
		t.Fatal(err)
	}
	var list [][2]float64 // frame, bytes
	b.eval(t, fmt.Sprintf(`(async () => {
		const v = document.querySelector("untold-viewer"), list = [];
		v.addEventListener("stats", (e) => list.push([e.detail.frame, e.detail.memory]));
		await v.rehearse({path: %s, dt: 0.5, events: false});
		return list;
	})()`, text), &list)
	var early, late float64
	for _, x := range list {
		if x[0] < 400 {
			early = max(early, x[1])
		} else {
			late = max(late, x[1])
		}
	}
	t.Logf("%d figures; %.1f MB in the first third, %.1f MB later", len(list), early/1e6, late/1e6)
	const arena = 4 << 20 // in WebAssembly Go takes so much at a time, when its collector happens to be late
	if early == 0 || late == 0 || late > 1.15*early+arena {
		t.Errorf("memory grows from %.1f to %.1f MB", early/1e6, late/1e6)
	}
}
