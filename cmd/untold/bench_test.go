package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/untoldkit/untold/internal/bench"
	"github.com/untoldkit/untold/internal/scenegen"
	"github.com/untoldkit/untold/internal/testfile"
)

// benched measures with a clock that goes on by a second each time it is asked.
func benched(t *testing.T, b *benchFlags, scene string) *benchReport {
	t.Helper()
	var now time.Duration
	tick := func() time.Duration { now += time.Second; return now }
	temp := t.TempDir()
	m := &bencher{benchFlags: b, a: &app{quiet: true}, scene: scene, probe: bench.Probe{Now: tick, CPU: tick, Peak: func(bool) int64 { return 1 << 20 }}}
	if b.runs == 0 {
		b.runs = 1
	}
	if err := m.within(t.Context(), temp); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("%v is left: %v", left, err)
	}
	return &m.report
}

// ofCity is what a bench of the smallest city says, with two runs.
var ofCity struct {
	sync.Once
	report *benchReport
}

// benchedCity measures the smallest city once for all tests: the report is for reading.
func benchedCity(t *testing.T) *benchReport {
	t.Helper()
	ofCity.Do(func() { ofCity.report = benched(t, &benchFlags{city: 1, runs: 2}, "") })
	if ofCity.report == nil {
		t.Fatal("the bench of the city has failed in another test")
	}
	return ofCity.report
}

// TestBench: what does not measure time is the same every time, and a clock gives the
// rest.
func TestBench(t *testing.T) {
	r := benchedCity(t)
	again := benched(t, &benchFlags{city: 1, runs: 1, jobs: 1}, "")
	for i := range again.Measured {
		again.Measured[i].Runs = r.Measured[i].Runs // which have all been the same
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if other, err := json.Marshal(again); err != nil || string(text) != string(other) {
		t.Errorf("%v\n%s\n%s", err, text, other)
	}
	if len(r.Measured) != len(bench.Rows) || r.Scene.Blocks != 1 || r.Cooked.Files < 2 || r.Cooked.Triangles == 0 || r.Flight.BytesLoaded == 0 || r.Flight.Undrawn != 0 {
		t.Errorf("%s", text)
	}
	for i, x := range r.Measured {
		if x.Row != bench.Rows[i] || x.Wall.Median <= 0 || x.Runs != 2 || (x.Bytes == 0) != (x.Row == bench.CookAgain) {
			t.Errorf("%+v", x)
		}
	}
	dir := t.TempDir()
	asSchema(t, "bench", string(text))

	// Of files, and of what is cooked.
	scene := testfile.Write(t, filepath.Join(dir, "dunes.gltf"), dunes(20))
	if r := benched(t, &benchFlags{only: []string{"cook"}}, scene); len(r.Measured) != 2 || r.Flight != nil || r.Scene.Name != "dunes.gltf" {
		t.Errorf("%+v", r)
	}
	opened, err := json.Marshal(benched(t, &benchFlags{only: []string{"open"}}, scene))
	if err != nil {
		t.Fatal(err)
	}
	out, beforeOpen := filepath.Join(dir, "out"), testfile.Write(t, filepath.Join(dir, "open.json"), opened)
	if r := here(t, "cook", scene, "-o", out, "-q"); r.code != 0 {
		t.Fatal(r.err)
	}
	before := filepath.Join(dir, "before.json")
	testfile.Write(t, before, text)
	for _, c := range []struct {
		args     string
		code     int
		out, err string
	}{
		{out + " --only open", 0, "open_tile", ""},
		{out + " --only simulate --fail-if undrawn>=0", 1, "failed: undrawn is 0", ""},
		{out + " --only cook", 2, "", "is cooked already"},
		{out + " --only stream --compare " + before, 2, "", "another scene was measured"},
		{"--city 2 --compare " + before, 2, "", "another scene was measured"},
		{scene + " --only open --compare " + beforeOpen + " --fail-if open_tile_memory_ratio<0", 0, "compared with untold", ""},
		{"--city 1 --fail-if cook_cpu_ratio>1", 2, "", "--compare OLD.json"},
		{"--city 1 --only cook --fail-if undrawn>1", 2, "", "--only leaves it out"},
		{"--city 1 --fail-if cook_ratio>1", 2, "", "did you mean"},
		{"--city 1 --compare " + scene, 1, "", "no report of untold bench"},
		{"", 2, "", "nothing to measure"},
		{scene + " --city 1", 2, "", "two scenes"},
		{"--city 0", 2, "", "no side of a city"},
		{"--city 1.5", 2, "", "no side of a city"},
		{"--city 99km", 2, "", "no side of a city"},
		{"--city 1 --runs 0", 2, "", "--runs is 0"},
		{"--city 1 --only fly", 2, "", "cook, open, stream, simulate"},
	} {
		r := here(t, append([]string{"bench"}, strings.Fields(c.args)...)...)
		if r.code != c.code || !strings.Contains(r.stdout, c.out) || !strings.Contains(r.err, c.err) {
			t.Errorf("%s: exit %d\n%s%s", c.args, r.code, r.stdout, r.err)
		}
	}
	var side citySide
	for text, want := range map[string]citySide{"4": 4, "80m": 1, "81m": 2, "1km": 13} {
		if err := side.Set(text); err != nil || side != want {
			t.Errorf("%s: %d, %v", text, side, err)
		}
	}
}

// TestBenchEnded: a bench that is called off leaves nothing.
func TestBenchEnded(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	temp, n := t.TempDir(), 0
	now := func() time.Duration {
		if n++; n == 2 {
			stop() // while the second row is measured
		}
		return 0
	}
	m := &bencher{benchFlags: &benchFlags{city: 1, runs: 1}, a: &app{quiet: true}, probe: bench.Probe{Now: now, CPU: now, Peak: func(bool) int64 { return 0 }}}
	if err := m.within(ctx, temp); err == nil {
		t.Error("no error")
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("%v is left: %v", left, err)
	}
}

// benchedSide cooks a city of n blocks a side.
func benchedSide(t *testing.T, n int) *benchReport {
	t.Helper()
	if n == 1 {
		return benchedCity(t)
	}
	return benched(t, &benchFlags{city: citySide(n), only: []string{"cook"}}, "")
}

// TestBenchHashes: docs/bench.md has the hashes of the generated cities and of what is
// cooked of the smallest. UNTOLD_BENCH_HASHES=1 cooks all.
func TestBenchHashes(t *testing.T) {
	page := filepath.Join("..", "..", "docs", "bench.md")
	text := string(testfile.Read(t, page))
	rows := regexp.MustCompile("(?m)^\\| (\\d+) \\| .* \\| `([0-9a-f]{64})`<br>`([0-9a-f]{64})` \\|$").FindAllStringSubmatch(text, -1)
	if len(rows) < 4 {
		t.Fatalf("%d rows in %s", len(rows), page)
	}
	most := 1
	if os.Getenv("UNTOLD_BENCH_HASHES") != "" {
		most = 1000
	}
	for _, row := range rows {
		n, err := strconv.Atoi(row[1])
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "city.glb")
		o := scenegen.Default()
		o.Textures = false
		if _, err := o.Write(t.Context(), path, n); err != nil {
			t.Fatal(err)
		}
		s, err := bench.SceneOf("", []string{path})
		if err != nil {
			t.Fatal(err)
		}
		cooked := row[3]
		if n <= most {
			cooked = benchedSide(t, n).Cooked.SHA256
		}
		if s.SHA256 == row[2] && cooked == row[3] {
			continue
		}
		if !*update {
			t.Errorf("%d blocks: %s and %s; %s has others (-update rewrites it)", n, s.SHA256, cooked, page)
			continue
		}
		text = strings.Replace(strings.Replace(text, row[2], s.SHA256, 1), row[3], cooked, 1)
		testfile.Write(t, page, text)
	}
}
