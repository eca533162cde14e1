package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"
)

// Ten minutes of a random walk through the generated city, cooked with tiles of
// three sizes, with a quarter of the geometry that the walk takes without a
// limit: the budget holds, and no tile within reach that was drawn goes undrawn.
func TestSoakCity(t *testing.T) {
	if testing.Short() {
		t.Skip("generates and cooks a city, and walks through it for ten virtual minutes")
	}
	dir, scene := t.TempDir(), generated(t, "city", "-textures=false")
	type report struct {
		Peak    int64   `json:"peak_geometry_bytes"`
		Undrawn int     `json:"undrawn"`
		Double  int     `json:"double_drawn"`
		GivenUp int     `json:"given_up"`
		Reach   float64 `json:"geometry_reach_min"`
	}
	for _, size := range []string{"25", "100"} {
		t.Run(size+" m", func(t *testing.T) {
			out := filepath.Join(dir, size)
			if r := execute(t, nil, "cook", scene, "-o", out, "--lod-level", "0.3:0.5", "--lod-level", "0.78:0.2", "--hlod-level", "_hlod:1:0.1", "--tile-size", size, "-q", "--sync=false"); r.code != 0 {
				t.Fatalf("%+v", r)
			}
			walk := func(budget int64) (rep report) {
				r := execute(t, nil, "simulate", filepath.Join(out, "city.json"), "--walk", "7", "--speed", "5", "--duration", "600s", "--dt", "50ms",
					"--set", "maxQueryRadius=500", "--set", fmt.Sprint("geometryBudget=", budget), "--json")
				if r.code != 0 {
					t.Fatalf("%+v", r)
				}
				if err := json.Unmarshal([]byte(r.stdout), &rep); err != nil {
					t.Fatalf("%v: %s", err, r.stdout)
				}
				return rep
			}
			all := walk(1 << 40)
			budget := all.Peak / 4
			quarter := walk(budget)
			for _, r := range []report{all, quarter} {
				if r.Undrawn > 0 || r.Double > 0 {
					t.Errorf("%+v", r)
				}
			}
			if all.GivenUp > 0 || all.Reach != 500 {
				t.Errorf("without a limit: %+v", all)
			}
			if quarter.Peak > budget {
				t.Errorf("%d bytes in use, the budget is %d", quarter.Peak, budget)
			}
			// Tiles of 100 m have levels cheap enough for all of them.
			if quarter.Reach < 50 || size == "100" && quarter.GivenUp > 0 {
				t.Errorf("%+v", quarter)
			}
			t.Logf("%+v, a quarter: %+v", all, quarter)
		})
	}
}

// Ten minutes of a walk through the generated office, with a quarter and half of
// the geometry that the walk takes: nothing that was drawn goes undrawn within
// reach, not behind the gates of floors and the interior zone either.
func TestSoakOffice(t *testing.T) {
	if testing.Short() {
		t.Skip("generates and cooks an office, and walks through it for ten virtual minutes")
	}
	dir, scene := t.TempDir(), generated(t, "office", "-textures=false")
	for _, args := range [][]string{{"quadtree", "--lod", "--hlod"}, {"kdtree", "--lod", "--hlod", "--pyramid=off"}, {"grid"}} {
		t.Run(args[0], func(t *testing.T) {
			out := filepath.Join(dir, args[0])
			if r := execute(t, nil, append([]string{"cook", scene, "-o", out, "-q", "--sync=false", "--partition"}, args...)...); r.code != 0 {
				t.Fatalf("%+v", r)
			}
			walk := func(budget int64) (peak int64, undrawn int) {
				r := execute(t, nil, "simulate", filepath.Join(out, "office.json"), "--walk", "7", "--duration", "600s", "--dt", "50ms",
					"--set", fmt.Sprint("geometryBudget=", budget), "--json")
				var rep struct {
					Peak    int64 `json:"peak_geometry_bytes"`
					Undrawn int   `json:"undrawn"`
				}
				if err := json.Unmarshal([]byte(r.stdout), &rep); err != nil || r.code != 0 {
					t.Fatalf("%v: %+v", err, r)
				}
				return rep.Peak, rep.Undrawn
			}
			need, undrawn := walk(1 << 40)
			for _, part := range []int64{4, 2, 1} {
				peak, n := walk(need / part)
				if undrawn += n; undrawn > 0 || peak > need/part {
					t.Errorf("%d bytes of %d, %d tile-frames undrawn", peak, need/part, undrawn)
				}
			}
		})
	}
}
