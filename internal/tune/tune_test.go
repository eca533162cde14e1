package tune

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/testfile"
)

// town is a made-up scene: compression takes a third off, smaller tiles help down to 50 m
// and bring the picture later below 30 m, and without levels it is coarse.
func town(settings []Setting) (Outcome, error) {
	o := Outcome{Bytes: 30e6, ErrorP50: 1.5, ErrorP99: 4, Picture: 1, Peak: 20e6}
	for _, s := range settings {
		switch s.Name {
		case "compress":
			o.Bytes = o.Bytes * 2 / 3
		case "tile-size":
			v, err := strconv.ParseFloat(s.Value, 64)
			if err != nil {
				return o, err
			}
			o.Bytes += int64((v - 50) * (v - 50) * 1000)
			o.Peak = int64(v * 2e5)
			if v < 30 {
				o.Picture = 2
			}
		case "lod":
			o.ErrorP50, o.Bytes = 9, o.Bytes/2
		case "broken":
			return o, errors.New("cannot be cooked")
		}
	}
	return o, nil
}

var townKnobs = []Knob{
	{Name: "compress", Values: []string{"zstd"}},
	{Name: "tile-size", Along: true, Values: []string{"75", "50", "25"}},
	{Name: "tile-size", Along: true, Values: []string{"150", "200"}},
	{Name: "lod", Values: []string{"false"}},
	{Name: "broken", Values: []string{"1"}},
}

func find(t *testing.T, l Limits, most int) *Result {
	t.Helper()
	r, err := Search(t.Context(), townKnobs, l, most, town, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSearch(t *testing.T) {
	for _, c := range []struct {
		name   string
		limits Limits
		most   int
		want   string
	}{
		{"the same picture", Limits{}, 100, "compress zstd"},
		{"less memory", Limits{Memory: 12e6}, 100, "compress zstd, tile-size 50"},
		{"a coarser picture", Limits{ErrorPixels: 9}, 100, "compress zstd, lod false"},
		{"no time", Limits{}, 1, "defaults"},
	} {
		r := find(t, c.limits, c.most)
		if got := Text(r.Trials[r.Best].Settings); got != c.want || len(r.Trials) > c.most {
			t.Errorf("%s: %s after %d trials, want %s", c.name, got, len(r.Trials), c.want)
		}
	}
	r := find(t, Limits{}, 100)
	if n := slices.IndexFunc(r.Trials, func(x Trial) bool { return x.Failed == "cannot be cooked" }); n < 0 || len(r.Trials) != 6 {
		t.Errorf("%d trials, what fails is the %d. one", len(r.Trials), n)
	}
}

// TestPaths: a setting must not be worse along any path.
func TestPaths(t *testing.T) {
	for second, want := range map[int64]string{30e6: "lod false", 31e6: "defaults"} {
		r, err := Search(t.Context(), []Knob{{Name: "lod", Values: []string{"false"}}}, Limits{}, 9, func(s []Setting) (Outcome, error) {
			if len(s) == 0 {
				return Outcome{Bytes: 60e6, ByPath: []int64{30e6, 30e6}}, nil
			}
			return Outcome{Bytes: 10e6 + second, ByPath: []int64{10e6, second}}, nil
		}, nil)
		if err != nil || Text(r.Trials[r.Best].Settings) != want {
			t.Errorf("%d: %+v, %v", second, r, err)
		}
	}
}

// TestSearchEnds: an error of the defaults, and the end of the context, are the search's.
func TestSearchEnds(t *testing.T) {
	want := errors.New("no such scene")
	if _, err := Search(t.Context(), townKnobs, Limits{}, 9, func([]Setting) (Outcome, error) { return Outcome{}, want }, nil); !errors.Is(err, want) {
		t.Error(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	n := 0
	_, err := Search(ctx, townKnobs, Limits{}, 9, func([]Setting) (Outcome, error) {
		if n++; n == 3 {
			stop()
			return Outcome{}, ctx.Err()
		}
		return Outcome{Bytes: 1}, nil
	}, nil)
	if !errors.Is(err, context.Canceled) || n != 3 {
		t.Error(n, err)
	}
}

// TestSearchProperties: nothing is tried twice, the best one keeps what the defaults keep
// and none that does so has fewer bytes.
func TestSearchProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Int64Range(0, 1<<40).Draw(t, "seed")
		most := rapid.IntRange(1, 30).Draw(t, "most")
		seen := map[string]bool{}
		r, err := Search(context.Background(), townKnobs, Limits{}, most, func(s []Setting) (Outcome, error) {
			key := fmt.Sprint(s)
			if seen[key] {
				t.Fatalf("%s is tried twice", key)
			}
			seen[key] = true
			h := seed
			for _, c := range key {
				h = h*31 + int64(c)
			}
			h &= 1<<40 - 1
			return Outcome{Bytes: h % 1000, ErrorP50: float64(h/1000%8) / 2, Picture: float64(h / 8000 % 3)}, nil
		}, nil)
		if err != nil || len(r.Trials) > most {
			t.Fatalf("%d trials, %v", len(r.Trials), err)
		}
		best := &r.Trials[r.Best]
		if best.Wanting != "" {
			t.Errorf("the best one is worse: %+v", best)
		}
		for i := range r.Trials {
			if o := &r.Trials[i]; o.Wanting == "" && float64(o.Bytes) < float64(best.Bytes)*(1-worthIt) {
				t.Errorf("%+v is better than %+v", o, best)
			}
		}
	})
}

var update = flag.Bool("update", false, "write the golden files")

func TestWritePlot(t *testing.T) {
	var b bytes.Buffer
	if err := find(t, Limits{}, 100).WritePlot(&b, "a <town>"); err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "town.svg")
	if *update {
		if err := os.WriteFile(golden, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(string(testfile.Read(t, golden)), b.String()); d != "" {
		t.Errorf("%s (-update accepts it): %s", golden, d)
	}
}
