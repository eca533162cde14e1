package runtime

import (
	"testing"
	"time"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/internal/fake"
	"github.com/untoldkit/untold/runtime/memory"
	"github.com/untoldkit/untold/runtime/payload"
)

// Scenarios of dispatch: limits, order and gates.

func TestDispatchLimit(t *testing.T) {
	r := newRig(t, sceneOf(tileAt("a", face(76)), tileAt("b", box(-86.5, -5, -5, -76.5, 5, 5))))
	r.until(1)
	r.expect("0 tile.dispatch a; 0.3 tile.parsed a")
}

func TestOrder(t *testing.T) {
	var tiles []manifest.Tile
	for i, id := range []string{"t0", "t1", "t2", "t3", "t4"} {
		x := float64(10 + 2*i)
		tiles = append(tiles, tileAt(id, box(x, -.5, -.5, x+1, .5, .5)))
	}
	r := newRig(t, sceneOf(tiles...), withConfig(func(c *config.Config) { c.EnableImportanceSort = false }))
	r.until(1.5)
	r.expect(`0 tile.dispatch t0; 0 tile.dispatch t1; 0.3 tile.parsed t0; 0.3 tile.parsed t1;
		0.3 tile.dispatch t2; 0.3 tile.dispatch t3; 0.6 tile.parsed t2; 0.6 tile.parsed t3; 0.6 tile.dispatch t4; 0.9 tile.parsed t4`)
}

func TestParseBudget(t *testing.T) {
	huge, small := tileAt("huge", face(10)), tileAt("sml", face(14))
	huge.FileSizeBytes = 300 * mib
	r := newRig(t, sceneOf(huge, small), withLatency(0.5), withConfig(func(c *config.Config) { c.EnableImportanceSort = false }))
	r.until(1.5)
	r.expect("0 tile.dispatch huge; 0.5 tile.parsed huge; 0.5 tile.dispatch sml; 1 tile.parsed sml")
}

func TestFrustumGate(t *testing.T) {
	r := newRig(t, sceneOf(tileAt("x61", around(61, 0, -30, 1)), tileAt("x62", around(62, 0, -30, 1)),
		tileAt("back", around(0, 0, 30, 1)), tileAt("ahead", around(0, 0, -30, 1))),
		withConfig(func(c *config.Config) { c.EnableFrustumGate, c.MaxConcurrentTileLoads = true, 8 }))
	r.lens()
	r.until(1)
	r.expect("0 tile.dispatch x61; 0 tile.dispatch ahead; 0.3 tile.parsed x61; 0.3 tile.parsed ahead")
}

func TestHighWater(t *testing.T) {
	r := newRig(t, sceneOf(tileAt("a", face(10))))
	r.memory = memory.Memory{GeometryBudget: 1000, GeometryUsed: 850}
	r.until(1)
	r.memory.GeometryUsed = 849
	r.until(2)
	r.expect("1 tile.dispatch a; 1.3 tile.parsed a")
}

func TestInteriorGate(t *testing.T) {
	m := sceneOf(tileAt("a", box(-3, 1, -3, 3, 4, 3), radiiAt(30, 45), interiorOn(0)))
	m.PartitioningMode = manifest.ModeQuadtreeFloor
	m.InteriorZone = &manifest.Bounds{Min: [3]float64{-20, 0, -20}, Max: [3]float64{20, 10, 20}}
	r := newRig(t, m)
	r.camera.Position = [3]float64{0, 2, 15}
	r.until(12)
	r.camera.Position = [3]float64{0, 2, 25}
	r.until(30)
	r.expect("0 tile.dispatch a; 0.3 tile.parsed a")
}

func TestNoFloorMetadata(t *testing.T) {
	r := newRig(t, sceneOf(tileAt("a", box(-10, -2, -10, 10, 9998, 10), interiorOn(3))))
	r.until(0.5)
	r.expect("0 tile.dispatch a; 0.3 tile.parsed a")
}

func TestAlignment(t *testing.T) {
	r := newRig(t, sceneOf(tileAt("off", around(51, 0, 0, 1)), tileAt("on", around(0, 0, -51, 1))),
		withConfig(func(c *config.Config) { c.MaxConcurrentTileLoads = 1 }))
	r.until(0.5)
	r.expect("0 tile.dispatch on; 0.3 tile.parsed on; 0.3 tile.dispatch off")
}

func hierarchyRig(t *testing.T, cand manifest.Bounds, opts ...rigOption) *rig {
	m := sceneOf(tileAt("occluder", box(-200, -200, -6, 200, 200, -4)), tileAt("competitor", around(0, 0, -5, 2)),
		tileAt("cand", cand, nodeID("F01_Q_0_0")))
	m.PartitioningMode = manifest.ModeQuadtreeFloor
	r := newRig(t, m, append(opts, withConfig(func(c *config.Config) { c.EnableOcclusionSort, c.MaxConcurrentTileLoads = true, 1 }))...)
	r.lens()
	if err := r.s.AddResident(1, "occluder", payload.RepFull, payload.Result{}); err != nil {
		t.Fatal(err)
	}
	r.step()
	return r
}

func TestHierarchy(t *testing.T) {
	r := hierarchyRig(t, around(0, 0, -50, 5))
	r.expect("0 tile.dispatch competitor")
	if n := r.counter("tilesSkippedByHierarchyGate"); n != 1 {
		t.Errorf("%v tiles penalised, want 1", n)
	}
	sc := r.s.scenes[0]
	if w, hidden := sc.occlusion.weight(&sc.tiles.box[2], sc.tiles.node[2], 45); !hidden || !near(w, 0.05*0.005) {
		t.Errorf("weight %v, hidden %v", w, hidden)
	}
}

// A penalty puts what a covered region holds behind everything else, a penalty
// of 0 keeps it out, until the region is no longer covered.
func TestHierarchyGate(t *testing.T) {
	for penalty, want := range map[float64]string{
		0.005: "0 tile.dispatch competitor; 0.3 tile.parsed competitor; 0.3 tile.dispatch cand; 0.6 tile.parsed cand",
		0:     "0 tile.dispatch competitor; 0.3 tile.parsed competitor; 5 tile.dispatch cand; 5.3 tile.parsed cand",
	} {
		r := hierarchyRig(t, around(0, 0, -50, 5), withConfig(func(c *config.Config) { c.HierarchyOcclusionPenalty = penalty }))
		r.until(5)
		if st := r.s.Stats(); penalty == 0 && (st.TilesSkippedByHierarchy != 1 || st.PendingLoadBacklog != 0) {
			t.Errorf("%+v", st)
		}
		r.camera.Position = [3]float64{0, 0, -20} // past the occluder
		r.until(6)
		r.expect(want)
	}
}

func TestInsideRegion(t *testing.T) {
	r := hierarchyRig(t, around(0, 0, -10, 90))
	if n := r.counter("tilesSkippedByHierarchyGate"); n != 0 {
		t.Errorf("%v tiles penalised, want 0", n)
	}
}

// Scenarios of motion.

func TestVelocityRows(t *testing.T) {
	for _, c := range []struct {
		name      string
		face      float64
		speed     float64
		lookAhead float64
		want      string
	}{
		{"C1", 100, 10, 0.5, "2 tile.dispatch a"},
		{"C1 without look-ahead", 100, 10, 0, "2.4 tile.dispatch a"},
		{"C3", 80, 2, 0.5, "1.6 tile.dispatch a"},
		{"C3 without look-ahead", 80, 2, 0, "2 tile.dispatch a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, sceneOf(tileAt("a", face(c.face))), withConfig(func(k *config.Config) { k.VelocityLookAheadTime = c.lookAhead }))
			for r.now() < 3 {
				r.camera.Position[0] = c.speed * float64(r.frame) / 10
				r.step()
			}
			r.expect(c.want, "tile.dispatch")
		})
	}
}

func TestJump(t *testing.T) {
	r := newRig(t, sceneOf(tileAt("a", box(-530, -5, -5, -520, 5, 5))), withConfig(func(k *config.Config) { k.VelocityLookAheadTime = 0.5 }))
	r.path(5, [2]float64{1, -300})
	r.expect("")
}

// Scenarios of a tile's life: failures, timeouts, downloads.

func TestLifecycleRows(t *testing.T) {
	a := tileAt("a", box(0, 0, 0, 10, 10, 10))
	for _, c := range []struct {
		name    string
		latency float64
		end     float64
		keys    [][2]float64
		want    string
	}{
		{"D1", 0.25, 10, [][2]float64{{1, -120}}, "0 tile.dispatch a; 0.3 tile.parsed a; 1 tile.grace a; 8.3 tile.unload a"},
		{"D3", 0.25, 34, [][2]float64{{20, -120}, {22.1, 0}, {30, -120}}, `0 tile.dispatch a; 0.3 tile.parsed a; 20 tile.grace a;
			22.1 tile.grace_cleared a; 30 tile.grace a; 33 tile.unload a`},
		{"D5", 10, 12, [][2]float64{{1, -120}}, "0 tile.dispatch a; 1 tile.grace a; 4 tile.cancel a; 10 tile.discard a"},
		{"D7", 0.25, 10, [][2]float64{{1, -600}}, "0 tile.dispatch a; 0.3 tile.parsed a; 1 tile.grace a; 8.3 tile.unload a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, sceneOf(a), withLatency(c.latency))
			r.path(c.end, c.keys...)
			r.expect(c.want)
		})
	}
}

func TestSlotIsBusy(t *testing.T) {
	r := newRig(t, sceneOf(tileAt("a", box(0, 0, 0, 10, 10, 10)), tileAt("b", box(-130, 0, 0, -120, 10, 10), radiiAt(20, 40))), withLatency(10),
		withConfig(func(c *config.Config) { c.MaxConcurrentTileLoads = 1 }))
	r.path(21, [2]float64{1, -120})
	r.expect("0 tile.dispatch a; 1 tile.grace a; 4 tile.cancel a; 10 tile.discard a; 10 tile.dispatch b; 20 tile.parsed b")
}

func TestWatchdog(t *testing.T) {
	r := newRig(t, sceneOf(tileAt("a", face(10))), withFault(func(payload.Request) string { return "hang" }))
	r.until(126)
	r.expect(`0 tile.dispatch a; 60.1 tile.timeout a n=1 retry=5; 65.1 tile.retry a; 65.1 tile.dispatch a; 125.2 tile.timeout a n=2 retry=10`)
}

// pending is a request that is answered later.
type pending struct {
	req payload.Request
	due time.Duration
}

// fakeFetcher answers after a latency on the fake clock.
type fakeFetcher struct {
	clock   *fake.Clock
	latency time.Duration
	fail    func(payload.Request) error
	queue   []pending
}

func (f *fakeFetcher) Fetch(req payload.Request) {
	f.queue = append(f.queue, pending{req, f.clock.Time + f.latency})
}

func (f *fakeFetcher) deliver() {
	kept := f.queue[:0]
	for _, p := range f.queue {
		if p.due > f.clock.Time {
			kept = append(kept, p)
			continue
		}
		var err error
		if f.fail != nil {
			err = f.fail(p.req)
		}
		p.req.Done.Fetched(p.req.Token, payload.Fetched{File: "/cache/x"}, err)
	}
	f.queue = kept
}

func withFetcher(f *fakeFetcher) rigOption {
	return func(_ *config.Config, d *Deps, r *rig) {
		f.clock = r.clock
		d.Fetcher = f
	}
}

func TestDownload(t *testing.T) {
	f := &fakeFetcher{latency: 90 * time.Second}
	r := newRig(t, sceneOf(tileAt("a", face(10))), withFetcher(f), withLatency(1))
	for r.now() < 95 {
		f.deliver()
		r.step()
	}
	r.expect("0 tile.dispatch a; 91 tile.parsed a")
}

func TestUnloadAll(t *testing.T) {
	r := newRig(t, sceneOf(tileAt("p0", face(10)), tileAt("p1", face(11)), tileAt("p2", face(12)), tileAt("slow", face(40)),
		tileAt("h", face(96), hlodAt(95))), withBytes(7), func(_ *config.Config, _ *Deps, r *rig) {
		r.loader.Latency = func(q payload.Request) time.Duration {
			if q.TileID == "slow" {
				return 20 * time.Second
			}
			return 250 * time.Millisecond
		}
	})
	r.until(5)
	if st := r.s.Stats(); st.ResidentFull != 3 || st.ResidentHLOD != 1 || st.LoadingCount != 1 || st.GeometryBytes != 28 {
		t.Fatalf("before: %+v", st)
	}
	r.camera.Position[0] = 10_000
	r.s.UnloadAll()
	r.log = nil
	r.collect()
	r.expect("5 tile.cancel slow; 5 tile.unload p0; 5 tile.unload p1; 5 tile.unload p2; 5 hlod.unload h")
	if st := r.s.Stats(); st.GeometryBytes != 0 || st.LoadedCount != 0 || st.LoadingCount != 1 || st.VisibleFull != 0 {
		t.Errorf("after: %+v", st)
	}
	r.until(22)
	if st := r.s.Stats(); st.LoadingCount != 0 || st.ActiveLoads != 0 || len(r.s.scenes[0].active) != 0 {
		t.Errorf("end: %+v", st)
	}
}

func TestVisualState(t *testing.T) {
	for uploaded, want := range map[int]TileVisualState{
		0: VisualEmpty, 4: VisualPartial, 5: VisualUsable, 9: VisualUsable, 10: VisualComplete, 11: VisualComplete,
	} {
		if got := visualState(TileParsed, 10, uploaded); got != want {
			t.Errorf("%d of 10: %v, want %v", uploaded, got, want)
		}
	}
	if got := visualState(TileParsed, 0, 0); got != VisualComplete {
		t.Errorf("nothing to upload: %v", got)
	}
	for _, s := range []TileState{TileUnloaded, TileParsing, TileFailed, TileUnloading} {
		if got := visualState(s, 10, 10); got != VisualEmpty {
			t.Errorf("%v: %v, want empty", s, got)
		}
	}
}

// Scenarios of levels: a tile with the radii 50 and 100 m, an HLOD at 95 and LODs at 60
// and 80, the camera at (-d, 0, 0).
func TestLevelRows(t *testing.T) {
	levels := []tileOption{hlodAt(95), lodsAt(60, 80)}
	for _, c := range []struct {
		name            string
		opts            []tileOption
		latency         float64
		end             float64
		d               [][2]float64
		covered, strict string
	}{
		{"E1", levels, 0.25, 3, [][2]float64{{0, 85}}, "0 lod.load a 1; 0.3 lod.loaded a 1", "0 lod.load a 1; 0.3 lod.loaded a 1"},
		{
			"E3", levels, 0.25, 8,
			[][2]float64{{0, 98}, {5, 82}},
			"0 hlod.load a; 0.3 hlod.loaded a; 5 lod.load a 1; 5.3 lod.loaded a 1; 5.3 hlod.unload a",
			"0 hlod.load a; 0.3 hlod.loaded a; 5 hlod.unload a; 5 lod.load a 1; 5.3 lod.loaded a 1",
		},
		{
			"E5", levels, 0.25, 8,
			[][2]float64{{0, 82}, {5, 98}},
			"0 lod.load a 1; 0.3 lod.loaded a 1; 5 hlod.load a; 5.3 hlod.loaded a; 5.3 lod.unload a 1",
			"0 lod.load a 1; 0.3 lod.loaded a 1; 5 hlod.load a; 5 lod.unload a 1; 5.3 hlod.loaded a",
		},
		{
			"E7",
			[]tileOption{hlodAt(95), lodsAt(60, 80), prefetchAt(55)},
			0.25, 12,
			[][2]float64{{0, 90}, {5, 74}, {8, 71}},
			"0 lod.load a 1; 0.3 lod.loaded a 1; 8 lod.load a 0; 8.3 lod.loaded a 0; 9.3 lod.unload a 1",
			"0 lod.load a 1; 0.3 lod.loaded a 1; 8 lod.load a 0; 8 lod.unload a 1; 8.3 lod.loaded a 0",
		},
		{
			"E9",
			[]tileOption{hlodAt(95)},
			0.25, 12,
			[][2]float64{{0, 98}, {3, 90}, {6, 84}, {9, 70}},
			"0 hlod.load a; 0.3 hlod.loaded a; 9 tile.dispatch a; 9.3 tile.parsed a; 9.3 hlod.unload a",
			"0 hlod.load a; 0.3 hlod.loaded a; 6 hlod.unload a; 9 tile.dispatch a; 9.3 tile.parsed a",
		},
		{
			"E11",
			[]tileOption{hlodAt(95)},
			0.25, 5,
			[][2]float64{{0, 98}, {3, 600}},
			"0 hlod.load a; 0.3 hlod.loaded a; 3 hlod.unload a", "0 hlod.load a; 0.3 hlod.loaded a; 3 hlod.unload a",
		},
		{
			"E13",
			[]tileOption{hlodAt(95)},
			0.25, 26,
			[][2]float64{{0, 60}, {20, 110}},
			"0 tile.dispatch a; 0.3 tile.parsed a; 20 tile.grace a; 20 hlod.load a; 20.3 hlod.loaded a; 23 tile.unload a",
			"0 tile.dispatch a; 0.3 tile.parsed a; 20 tile.grace a; 23 tile.unload a; 23.1 hlod.load a; 23.4 hlod.loaded a",
		},
		{
			"E15",
			[]tileOption{hlodAt(95)},
			0.05, 3.5,
			[][2]float64{{0, 98}, {0.5, 84}, {1, 98}, {1.5, 84}, {2, 98}, {2.5, 84}, {3, 98}},
			"0 hlod.load a; 0.1 hlod.loaded a",
			"0 hlod.load a; 0.1 hlod.loaded a; 1.5 hlod.unload a; 3 hlod.load a; 3.1 hlod.loaded a",
		},
	} {
		for _, mode := range []config.Handoff{config.HandoffCovered, config.HandoffStrict} {
			t.Run(c.name+" "+string(mode), func(t *testing.T) {
				r := newRig(t, sceneOf(tileAt("a", box(0, 0, 0, 10, 10, 10), c.opts...)), withLatency(c.latency),
					withConfig(func(k *config.Config) { k.Handoff = mode }))
				var keys [][2]float64
				for _, k := range c.d {
					keys = append(keys, [2]float64{k[0], -k[1]})
				}
				r.path(c.end, keys...)
				want := c.covered
				if mode == config.HandoffStrict {
					want = c.strict
				} else if st := r.s.Stats(); st.Undrawn != 0 {
					t.Errorf("%d tile-frames undrawn", st.Undrawn)
				}
				r.expect(want)
			})
		}
	}
}
