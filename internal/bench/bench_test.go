package bench

import (
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/budget"
	"github.com/untoldkit/untold/internal/testfile"
)

// ticking is a probe whose clocks a run moves.
type ticking struct {
	wall, cpu time.Duration
	peak      int64
}

func (k *ticking) probe() Probe {
	return Probe{
		Now: func() time.Duration { return k.wall }, CPU: func() time.Duration { return k.cpu },
		Peak: func(forget bool) int64 {
			if forget {
				k.peak = 0
			}
			return k.peak
		},
	}
}

func TestMeasure(t *testing.T) {
	k, prepared, n := &ticking{}, 0, 0
	m, err := Measure(k.probe(), Cook, 3, func() error { prepared++; return nil }, func() (Work, error) {
		n++
		k.wall, k.cpu, k.peak = k.wall+time.Duration(n)*time.Second, k.cpu+time.Second, int64(n)<<20
		return Work{Bytes: 4e6, Triangles: 6e6}, nil
	})
	if err != nil || prepared != 3 || m.Wall != (Spread{2, 1, 3}) || *m.CPU != (Spread{1, 1, 1}) || m.BytesPerSecond != 2e6 || m.TrianglesPerSecond != 3e6 ||
		m.PeakMemory.Median != 2<<20 {
		t.Errorf("%v, %d: %+v", err, prepared, m)
	}

	// What is short is repeated; what is not known is null.
	n = 0
	m, err = Measure(k.probe(), Stream, 1, nil, func() (Work, error) {
		n++
		k.wall += 50 * time.Millisecond
		k.peak = 0
		return Work{}, nil
	})
	if err != nil || n != 4 || m.Wall.Median != 0.05 || m.CPU != nil || m.PeakMemory != nil {
		t.Errorf("%v, %d: %+v", err, n, m)
	}
	// A clock that stands still ends it all the same.
	if m, err = Measure(k.probe(), Stream, 1, nil, func() (Work, error) { n++; return Work{}, nil }); err != nil || n != 4+mostRepeats || m.BytesPerSecond != 0 {
		t.Errorf("%v, %d: %+v", err, n, m)
	}
	bad := errors.New("no")
	if _, err := Measure(k.probe(), Stream, 2, nil, func() (Work, error) { return Work{}, bad }); !errors.Is(err, bad) {
		t.Error(err)
	}
	if _, err := Measure(k.probe(), Stream, 2, func() error { return bad }, nil); !errors.Is(err, bad) {
		t.Error(err)
	}
}

func TestSpread(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(rapid.Float64Range(0, 1e9), 1, 20).Draw(t, "values")
		s := SpreadOf(v)
		if s.Min != slices.Min(v) || s.Max != slices.Max(v) || s.Median < s.Min || s.Median > s.Max {
			t.Fatalf("%v of %v", s, v)
		}
		slices.Reverse(v)
		if SpreadOf(v) != s {
			t.Fatal("the order counts")
		}
	})
}

func report(scale float64) *Report {
	at := func(v float64) Spread { return Spread{Median: v * scale, Min: v * scale * 0.98, Max: v * scale * 1.02} }
	cpu, peak := at(3), at(1e6)
	return &Report{
		Program: Program{Version: "1", OS: "linux", Arch: "amd64", Processors: 2}, Scene: &Scene{Name: "a", SHA256: strings.Repeat("a", 64)},
		Cooked:   Cooked{SHA256: strings.Repeat("b", 64), Bytes: 100},
		Measured: []Measured{{Row: Cook, Runs: 3, Wall: at(2), CPU: &cpu, PeakMemory: &peak}, {Row: Stream, Runs: 3, Wall: at(1)}},
		Flight:   &Flight{BytesLoaded: 50, Undrawn: 2},
	}
}

func TestCompare(t *testing.T) {
	for _, c := range []struct {
		scale float64
		want  Verdict
	}{{1, Same}, {1.07, Same}, {0.95, Same}, {1.5, Slower}, {0.5, Faster}} {
		r := report(c.scale)
		got, err := r.Compare(report(1))
		if err != nil || got.Verdict != c.want || len(got.Rows) != 2 || got.Rows[0].Verdict != c.want || !got.SameMachine || !got.SameCooked || *got.CookedBytes != 1 || *got.Flight != 1 {
			t.Errorf("%g: %v, %+v", c.scale, err, got)
		}
		r.Compared = got
		if v, err := r.Value("cook_cpu_ratio"); err != nil || math.Abs(v-c.scale) > 1e-9 {
			t.Errorf("%g: %v", v, err)
		}
		if _, err := r.Value("stream_cpu_ratio"); err == nil || !strings.Contains(err.Error(), "both reports") {
			t.Error(err)
		}
	}
	// Of ranges that overlap nothing follows.
	r := report(1.3)
	r.Measured[0].CPU.Min = 2.9
	if got, err := r.Compare(report(1)); err != nil || got.Rows[0].Verdict != Noise || got.Rows[1].Verdict != Slower || math.Abs(*got.Rows[0].Spread-(3.978-2.9)/3.9) > 1e-9 {
		t.Errorf("%v: %+v", err, got)
	}
	// Nor of medians that lie no farther apart than the runs of one report.
	wide := report(1)
	r = report(0.7)
	wide.Measured[0].CPU.Max = 4
	if got, err := r.Compare(wide); err != nil || got.Rows[0].Verdict != Noise || got.Rows[1].Verdict != Faster {
		t.Errorf("%v: %+v", err, got)
	}
	// Nor of one run.
	r = report(1.3)
	r.Measured[0].Runs = 1
	if got, err := r.Compare(report(1)); err != nil || got.Rows[0].Verdict != Noise || got.Rows[0].Spread != nil || got.Verdict != Slower {
		t.Errorf("%v: %+v", err, got)
	}
	r.Measured = r.Measured[:1]
	if got, err := r.Compare(report(1)); err != nil || got.Verdict != Same {
		t.Errorf("%v: %+v", err, got)
	}
	other := report(1)
	other.Scene.SHA256 = strings.Repeat("c", 64)
	if _, err := report(1).Compare(other); !errors.Is(err, ErrOther) {
		t.Error(err)
	}
	other.Scene, other.Cooked.SHA256 = nil, "d"
	if _, err := report(1).Compare(other); !errors.Is(err, ErrOther) {
		t.Error(err)
	}
}

func TestFigures(t *testing.T) {
	r := report(1)
	for _, name := range FigureNames() {
		f, ok := budget.Find(name)
		_, err := r.Value(name)
		if isRatio := strings.HasSuffix(name, "_ratio"); !ok || (f.Unit == budget.Ratio) != isRatio || isRatio == (err == nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for text, want := range map[string]string{"undrawn>0": "--only leaves it out", "cook_cpu_ratio>1": "--compare OLD.json"} {
		c, err := budget.Parse(text, FigureNames())
		if err != nil {
			t.Fatal(err)
		}
		if err := Lacks([]budget.Condition{c}, false, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Error(err)
		}
		if err := Lacks([]budget.Condition{c}, true, true); err != nil {
			t.Error(err)
		}
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	text, err := json.Marshal(report(1))
	if err != nil {
		t.Fatal(err)
	}
	if r, err := Load(testfile.Write(t, filepath.Join(dir, "a.json"), text)); err != nil || r.Find(Cook).Wall.Median != 2 {
		t.Errorf("%v: %+v", err, r)
	}
	for _, bad := range []string{"", "{}", "[1]", `{"measured": 3}`} {
		if _, err := Load(testfile.Write(t, filepath.Join(dir, "b.json"), bad)); err == nil || !strings.Contains(err.Error(), "untold bench --json") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestHashes(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"b.json": "b", "tiles/a.untold": "a", ".untold/state": "s", "tiles/.hidden": "h"} {
		testfile.Write(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	// sha256sum b.json tiles/a.untold | sha256sum
	const want = "8de889f4c011e14bff3af28786cca0a0f928c84f24747d8c4e24c323c701d9b5"
	if sum, n, bytes, err := HashFolder(dir); err != nil || sum != want || n != 2 || bytes != 2 {
		t.Errorf("%v: %s, %d files, %d bytes", err, sum, n, bytes)
	}
	one, err := SceneOf("b", []string{filepath.Join(dir, "b.json")})
	if err != nil || one.SHA256 != "3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d" {
		t.Errorf("%v: %+v", err, one)
	}
	a, err := SceneOf("x", []string{filepath.Join(dir, "b.json"), filepath.Join(dir, "tiles", "a.untold")})
	b, err2 := SceneOf("x", []string{filepath.Join(dir, "tiles", "a.untold"), filepath.Join(dir, "b.json")})
	if err != nil || err2 != nil || *a != *b || a.Bytes != 2 {
		t.Errorf("%v, %v: %+v, %+v", err, err2, a, b)
	}
}

func TestPeak(t *testing.T) {
	root := t.TempDir()
	status := filepath.Join(root, "proc", "self", "status")
	testfile.Write(t, status, "Name:\tx\nVmHWM:\t  2048 kB\nVmRSS:\t 1 kB\n")
	peak := PeakAt(root)
	if peak(true); peak(false) != 0 {
		t.Error("a peak that could not be forgotten counts")
	}
	testfile.Write(t, filepath.Join(root, "proc", "self", "clear_refs"), "")
	if peak(true); peak(false) != 2<<20 {
		t.Errorf("%d", peak(false))
	}
	for _, text := range []string{"", "Name:\tx\nVmHWM:", "\nVmHWM:\t99999999999999999999 kB", "\nVmHWM:\t12 MB"} {
		testfile.Write(t, status, text)
		if got := peak(false); got != 0 {
			t.Errorf("%q: %d", text, got)
		}
	}
}
