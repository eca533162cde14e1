package runtime

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/payload"
)

func TestNoHoleOnExit(t *testing.T) {
	for _, latency := range []float64{0.25, 5} { // the HLOD may come long after the grace period
		r := newRig(t, sceneOf(tileAt("a", box(0, 0, 0, 10, 10, 10), hlodAt(95))), withLatency(latency))
		r.path(32, [2]float64{0, -60}, [2]float64{20, -110})
		if st := r.s.Stats(); st.Undrawn != 0 || st.VisibleHLOD != 1 {
			t.Errorf("latency %v: undrawn %d, %+v", latency, st.Undrawn, r.events())
		}
	}
}

func TestCompletionWakesTheScheduler(t *testing.T) {
	r := newRig(t, sceneOf(tileAt("a", face(10)), tileAt("b", face(20))), withLatency(0.02),
		withConfig(func(c *config.Config) { c.MaxConcurrentTileLoads, c.EnableImportanceSort = 1, false }))
	r.dt = 10 * time.Millisecond
	r.until(0.5)
	// The first tick comes after 0.1 s; b does not wait for another 0.1 s.
	r.expect("0.09 tile.dispatch a; 0.11 tile.parsed a; 0.11 tile.dispatch b; 0.13 tile.parsed b")
}

func TestBacklogBursts(t *testing.T) {
	ticks := func(tiles int) (at []int) {
		m := sceneOf()
		for i := range tiles {
			m.Tiles = append(m.Tiles, tileAt(fmt.Sprint("t", i), face(10)))
		}
		r := newRig(t, m, withLatency(1000))
		r.dt = 16 * time.Millisecond
		for call := 1; call <= 16; call++ {
			r.step()
			if r.s.Stats().UpdateTriggered {
				at = append(at, call)
			}
		}
		return at
	}
	if got := ticks(2); !slices.Equal(got, []int{7, 14}) {
		t.Errorf("without backlog: ticks at calls %v, want 7 and 14", got)
	}
	if got := ticks(4); !slices.Equal(got, []int{7, 8, 9, 10, 11, 12, 13, 14, 15, 16}) {
		t.Errorf("with backlog: ticks at calls %v, want every call from 7", got)
	}
}

func TestOrderIsTotal(t *testing.T) {
	sc := &scene{id: 1, tiles: &table{}}
	var list []candidate
	for i := range 64 {
		sc.tiles.id = append(sc.tiles.id, fmt.Sprintf("t%02d", i))
		c := candidate{scene: sc, tile: int32(i), priority: int32(i % 2), distance: float64(i % 3), score: 0.5 + 0.0004*float64(i%7), urgent: i%5 == 0}
		c.quantise(1, 1, true)
		list = append(list, c)
	}
	for i := range list {
		for j := range list {
			a, b := &list[i], &list[j]
			if i != j && a.before(b) == b.before(a) {
				t.Fatalf("%d and %d are not ordered", i, j)
			}
			for k := range list {
				if a.before(b) && b.before(&list[k]) && !a.before(&list[k]) {
					t.Fatalf("%d, %d, %d are not transitive", i, j, k)
				}
			}
		}
	}
}

func TestFillIdleSlots(t *testing.T) {
	for _, fill := range []bool{false, true} {
		r := newRig(t, sceneOf(tileAt("back", around(0, 0, 30, 1)), tileAt("ahead", around(0, 0, -40, 1))), withConfig(func(c *config.Config) {
			c.EnableFrustumGate, c.FillIdleSlots, c.MaxConcurrentTileLoads = true, fill, 1
		}))
		r.lens()
		r.until(1)
		if fill {
			r.expect("0 tile.dispatch ahead; 0.3 tile.parsed ahead; 0.3 tile.dispatch back; 0.6 tile.parsed back")
		} else {
			r.expect("0 tile.dispatch ahead; 0.3 tile.parsed ahead")
		}
	}
}

func TestFarthestUnloadsFirst(t *testing.T) {
	var tiles []manifest.Tile
	for i, x := range []float64{20, 0, 40, 30, 10} {
		tiles = append(tiles, tileAt(fmt.Sprint("t", i), box(x, 0, 0, x+5, 5, 5)))
	}
	r := newRig(t, sceneOf(tiles...))
	r.path(25, [2]float64{20, -200})
	r.expect("23 tile.unload t2; 23 tile.unload t3; 23.1 tile.unload t0; 23.1 tile.unload t4; 23.2 tile.unload t1", "tile.unload")
}

// The reach of HLODs is a parameter: the skyline need not end at 500 m.
func TestSkylineReachesAsFarAsAsked(t *testing.T) {
	for _, reach := range []float64{500, 5000} {
		r := newRig(t, sceneOf(tileAt("a", face(3000), hlodAt(95))), withConfig(func(c *config.Config) { c.MaxQueryRadius = reach }))
		r.until(1)
		if got := r.s.Stats().VisibleHLOD; got == 1 != (reach == 5000) {
			t.Errorf("query radius %v m: %d HLODs drawn", reach, got)
		}
	}
}

func TestNoWorldBorder(t *testing.T) {
	const far = 50_000
	r := newRig(t, sceneOf(tileAt("a", box(far, 0, far, far+10, 10, far+10)), tileAt("b", box(-far, 0, 0, -far+10, 10, 10))))
	r.camera.Position = [3]float64{far - 20, 0, far}
	r.until(1)
	r.expect("0 tile.dispatch a; 0.3 tile.parsed a")
}

func TestTallBoxesAreClippedForScoring(t *testing.T) {
	m := sceneOf(tileAt("tall", box(-60, -5000, -70, 60, 5000, -60)), tileAt("low", box(-60, 0, 60, 60, 30, 70)))
	m.SceneBounds = &manifest.Bounds{Min: [3]float64{-100, 0, -100}, Max: [3]float64{100, 30, 100}}
	r := newRig(t, m)
	sc := r.s.scenes[0]
	a, b := clip(sc.tiles.box[0], sc.bounds), clip(sc.tiles.box[1], sc.bounds)
	if got := a.Size()[1]; got != 30 {
		t.Errorf("the tall box scores with a height of %v m, want 30", got)
	}
	v := view{forward: geom.Vec3{0, 0, -1}}
	if x, y := solidAngle(&a, &v, 60), solidAngle(&b, &v, 60); !near(x, y) {
		t.Errorf("solid angles %v and %v should be the same", x, y)
	}
}

func TestParseBudgetCountsDecodedBytes(t *testing.T) {
	a, b := tileAt("a", face(10)), tileAt("b", face(20))
	for _, x := range []*manifest.Tile{&a, &b} {
		memory := int64(150 * mib)
		x.EstimatedMemoryBytes = &memory
	}
	r := newRig(t, sceneOf(a, b), withConfig(func(c *config.Config) { c.EnableImportanceSort = false }))
	r.until(1)
	r.expect("0 tile.dispatch a; 0.3 tile.parsed a; 0.3 tile.dispatch b; 0.6 tile.parsed b")
}

func TestRegionsHoldAllDescendants(t *testing.T) {
	m := sceneOf(tileAt("deep", around(0, 0, 0, 1), nodeID("F01_Q_0_1_2")), tileAt("flat", around(100, 0, 0, 1), nodeID("F01_Q_3")),
		tileAt("compact", around(0, 0, 200, 1), nodeID("F02Q10")), tileAt("none", around(0, 900, 0, 1), nodeID("ROOTONLY")))
	r := newRig(t, m)
	sc := r.s.scenes[0]
	region := func(tile int32, up int) geom.Box {
		n := sc.tiles.node[tile]
		for range up {
			n = sc.regions.parent[n]
		}
		return sc.regions.box[n]
	}
	if got := region(0, 0); got != geom.Box(around(0, 0, 0, 1).Box()) {
		t.Errorf("F01_Q_0_1: %v", got)
	}
	whole := around(0, 0, 0, 1).Box().Union(around(100, 0, 0, 1).Box())
	if got := region(0, 2); got != whole { // F01_Q, also the immediate parent of flat
		t.Errorf("F01_Q: %v, want %v", got, whole)
	}
	if sc.tiles.node[3] != -1 {
		t.Error("an id without a parent got one")
	}
	for id, want := range map[string]string{
		"F02_Q_0_1": "F02_Q_0", "F02_Q": "F02", "F02Q10": "F02Q1", "F02Q1": "F02Q", "F02Q": "", "F02": "", "ROOTONLY": "", "F": "", "": "",
	} {
		if got, _ := parentName(id); got != want {
			t.Errorf("parent of %q: %q, want %q", id, got, want)
		}
	}
}

func TestUnloadBeforeLoad(t *testing.T) {
	r := newRig(t, sceneOf(tileAt("old", box(0, 0, 0, 10, 10, 10)), tileAt("new", box(-310, 0, 0, -300, 10, 10))), withBytes(100))
	r.path(20)
	// Under way, old leaves in the very tick in which new comes into reach.
	r.path(23, [2]float64{20, -150})
	r.path(24, [2]float64{23, -230})
	log := r.events("tile.unload", "tile.dispatch")
	unload, dispatch := slices.Index(log, "23 tile.unload old"), slices.Index(log, "23 tile.dispatch new")
	if unload < 0 || dispatch < unload {
		t.Errorf("want the unload first: %v", log)
	}
	if st := r.s.Stats(); st.PeakGeometryBytes != 100 {
		t.Errorf("memory peaked at %d bytes, want 100", st.PeakGeometryBytes)
	}
}

func TestClearErrors(t *testing.T) {
	m := sceneOf(tileAt("a", face(10), lodsAt(make([]float64, payload.MaxLODLevels+1)...)))
	cfg := config.Default()
	if _, err := newScene(Source{Manifest: m, Path: "x"}, &cfg); err == nil {
		t.Error("too many LOD levels were accepted")
	}
	if _, err := newScene(Source{Path: "/nowhere/scene.json"}, &cfg); err == nil {
		t.Error("a missing manifest was accepted")
	}
	plan := sceneOf(tileAt("a", face(10)))
	plan.DryRun = true
	if _, err := Open(t.Context(), Source{Manifest: plan, Path: "x"}, cfg, Deps{}); err == nil {
		t.Error("a dry run, which has no files, was accepted")
	}
}

func TestSharedBucketIsResidentFromAnywhere(t *testing.T) {
	m := sceneOf(tileAt("a", face(10)))
	prefetch := 60.0
	m.StreamingDefaults.PrefetchRadius = &prefetch
	m.SharedBucket = &manifest.SharedBucket{Tile: tileAt("shared", around(0, 0, 0, 100))}
	r := newRig(t, m, func(_ *config.Config, d *Deps, r *rig) {
		d.Fetcher = &fakeFetcher{clock: r.clock} // remote scenes too
	})
	r.camera.Position[0] = 5000
	for r.now() < 1 {
		r.s.deps.Fetcher.(*fakeFetcher).deliver()
		r.step()
	}
	r.expect("0 tile.dispatch shared; 0.4 tile.parsed shared")
	r.path(30, [2]float64{1, 50_000})
	if st := r.s.Stats(); st.VisibleFull != 1 {
		t.Errorf("the bucket went: %v", r.events())
	}
}
