package runtime

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/internal/fake"
	"github.com/untoldkit/untold/runtime/memory"
	"github.com/untoldkit/untold/runtime/payload"
)

func TestStaleAnswersAreDropped(t *testing.T) {
	// Every load hangs; the watchdog gives up, the tile is requested again, and
	// only then the first answer comes.
	r := newRig(t, sceneOf(tileAt("a", face(10))), withFault(func(payload.Request) string { return "hang" }))
	r.until(66)
	if len(r.loader.Started) != 2 {
		t.Fatalf("%d requests, want 2", len(r.loader.Started))
	}
	first, second := r.loader.Started[0], r.loader.Started[1]
	released := 0
	first.Done.Loaded(first.Token, payload.Result{Asset: payload.NewAsset(func() { released++ })})
	r.until(66.5)
	if st := r.s.Stats(); st.Stale != 1 || released != 1 || st.ResidentFull != 0 || st.LoadingCount != 1 || r.s.loads.parsing[classFull] != 1 {
		t.Errorf("a stale answer counted: %+v, released %d, slots %v", st, released, r.s.loads.parsing)
	}
	second.Done.Loaded(second.Token, payload.Result{})
	second.Done.Loaded(second.Token, payload.Result{}) // twice is once
	r.until(67)
	if st := r.s.Stats(); st.ResidentFull != 1 || r.s.loads.parsing[classFull] != 0 || st.Stale != 2 {
		t.Errorf("the answer got lost: %+v", st)
	}
}

func TestLevelsHaveWatchdogAndBackoff(t *testing.T) {
	far := [2]float64{0, -98}
	hang := newRig(t, sceneOf(tileAt("a", box(0, 0, 0, 10, 10, 10), hlodAt(95))), withFault(func(payload.Request) string { return "hang" }))
	hang.path(126, far)
	hang.expect("0 hlod.load a; 60.1 hlod.failed a n=1 retry=5; 65.1 hlod.load a; 125.2 hlod.failed a n=2 retry=10")
	if hang.s.loads.parsing[classHLOD] != 0 {
		t.Error("the slot is still taken")
	}
	fail := newRig(t, sceneOf(tileAt("a", box(0, 0, 0, 10, 10, 10), lodsAt(80))), withFault(func(payload.Request) string { return "fail" }))
	fail.path(17, [2]float64{0, -98})
	fail.expect(`0 lod.load a 0; 0.3 lod.failed a 0 n=1 retry=5; 5.3 lod.load a 0; 5.6 lod.failed a 0 n=2 retry=10;
		15.6 lod.load a 0; 15.9 lod.failed a 0 n=3 retry=20`)
}

func TestRemoteFailureBacksOff(t *testing.T) {
	f := &fakeFetcher{latency: 3100 * time.Millisecond, fail: func(payload.Request) error { return fake.ErrFake }}
	r := newRig(t, sceneOf(tileAt("a", face(10))), withFetcher(f))
	for r.now() < 12 {
		f.deliver()
		r.step()
	}
	r.expect(`0 tile.dispatch a; 3.1 tile.failed a n=1 retry=5; 8.1 tile.retry a; 8.1 tile.dispatch a; 11.2 tile.failed a n=2 retry=10`)
}

func TestDownloadsTakeNoParseSlot(t *testing.T) {
	f := &fakeFetcher{latency: 40 * time.Second}
	var tiles []manifest.Tile
	for _, id := range strings.Fields("a b c d e") {
		tiles = append(tiles, tileAt(id, face(10)))
	}
	r := newRig(t, sceneOf(tiles...), withFetcher(f), withLatency(1))
	for r.now() < 44 {
		f.deliver()
		r.step()
		if r.now() < 40 && r.s.loads.parsing[classFull] != 0 {
			t.Fatal("a download holds a parse slot")
		}
	}
	// All five downloads run at a time, then two parses at a time.
	if got := len(r.events("tile.dispatch")); got != 5 {
		t.Errorf("%d downloads", got)
	}
	r.expect("41 tile.parsed a; 41 tile.parsed b; 42 tile.parsed c; 42 tile.parsed d; 43 tile.parsed e", "tile.parsed")
}

func TestHungDownloadEnds(t *testing.T) {
	f := &fakeFetcher{latency: 100 * time.Hour}
	r := newRig(t, sceneOf(tileAt("a", face(10))), withFetcher(f), withConfig(func(c *config.Config) { c.HTTP.ResourceTimeout, c.HTTP.Attempts = 10, 2 }))
	r.until(81)
	r.expect("0 tile.dispatch a; 80.1 tile.timeout a n=1 retry=5")
}

func TestUnloadLeavesTheOthersAlone(t *testing.T) {
	r := newRig(t, sceneOf(tileAt("a", box(0, 0, 0, 10, 10, 10), hlodAt(95))))
	r.path(24, [2]float64{0, -60}, [2]float64{20, -110})
	// The full tile has gone, its HLOD is resident and drawn.
	if rec := r.record("a"); rec == nil || !rec.rep(payload.RepHLOD).resident() || rec.drawn != payload.RepHLOD || rec.full().state != TileUnloaded {
		t.Errorf("%+v", rec)
	}
}

func TestOneFailingLevelDoesNotHideTheOthers(t *testing.T) {
	r := newRig(t, sceneOf(tileAt("a", box(0, 0, 0, 10, 10, 10), lodsAt(60, 80), hlodAt(95))),
		withFault(func(q payload.Request) string {
			if q.Key.Rep == payload.LOD(1) {
				return "fail"
			}
			return ""
		}))
	r.path(4, [2]float64{0, -85})
	// LOD 1 fails: the HLOD stands in at once. Leaving cleans it up.
	if rec := r.record("a"); rec == nil || rec.drawn != payload.RepHLOD {
		t.Errorf("drawn %v, want the HLOD: %v", rec.drawn, r.events())
	}
	r.path(6, [2]float64{4, -600})
	if st := r.s.Stats(); st.ResidentHLOD+st.ResidentLOD != 0 {
		t.Errorf("levels are left behind: %+v", st)
	}
}

func TestForceMeansForce(t *testing.T) {
	r := newRig(t, sceneOf(tileAt("a", box(0, 0, 0, 10, 10, 10), hlodAt(95))), withBytes(50))
	r.path(1, [2]float64{0, -98})
	r.s.UnloadAll()
	if st := r.s.Stats(); st.GeometryBytes != 0 || st.VisibleHLOD != 0 {
		t.Errorf("a drawn fallback refused to go: %+v", st)
	}
}

func TestEvictionsCountWhatIsFreed(t *testing.T) {
	r := newRig(t, sceneOf(tileAt("a", face(60)), tileAt("b", face(10))), withBytes(50))
	r.memory.GeometryBudget = 1000
	r.until(10)
	r.memory.GeometryUsed = 800 // 900 in all
	r.until(10.1)
	if st := r.s.Stats(); st.EvictionsPerformed != 1 || st.GeometryBytes != 50 {
		t.Errorf("%d evictions, %d bytes left; want a to go and b, within its streaming radius, to stay", st.EvictionsPerformed, st.GeometryBytes)
	}
}

// delayedVisibility never lets one representation become drawable.
type delayedVisibility struct{ never payload.Rep }

func (v delayedVisibility) Drawable(k payload.Key) bool { return k.Rep != v.never }

func TestWaitIsBounded(t *testing.T) {
	r := newRig(t, sceneOf(tileAt("a", box(0, 0, 0, 10, 10, 10), hlodAt(95))), func(_ *config.Config, d *Deps, _ *rig) {
		d.Visibility = delayedVisibility{payload.RepFull}
	})
	r.path(10, [2]float64{0, -98}, [2]float64{3, -70})
	// The full tile is resident at 3.3 and never drawable: the HLOD stays for
	// handoffMaxWait, not longer.
	r.expect("0 hlod.load a; 0.3 hlod.loaded a; 3 tile.dispatch a; 3.3 tile.parsed a; 5.3 hlod.unload a")
}

func TestOwnerIsAlone(t *testing.T) {
	// Answers and pressure come from many goroutines while Update runs; the race
	// detector judges.
	r := newRig(t, cityOf(10, 20))
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				r.s.NotifyMemoryPressure(memory.PressureWarning)
				r.s.loads.completions.Loaded(1<<60, payload.Result{})
				r.s.loads.completions.Fetched(1<<60, payload.Fetched{}, fake.ErrFake)
			}
		}
	}()
	r.until(3)
	close(stop)
	<-done
}

func TestPressureIsHonouredBelowTheMark(t *testing.T) {
	r := newRig(t, sceneOf(tileAt("a", face(60)), tileAt("b", face(70))), withBytes(1))
	r.dt = 16 * time.Millisecond
	r.memory.GeometryBudget = 1_000_000
	r.until(10)
	// Whatever the throttle says, the next call handles it.
	for r.s.Stats().UpdateTriggered {
		r.step()
	}
	r.s.NotifyMemoryPressure(memory.PressureWarning)
	r.s.NotifyMemoryPressure(memory.PressureCritical)
	r.step()
	if st := r.s.Stats(); !st.UpdateTriggered || st.EvictionsPerformed != 2 || st.GeometryBytes != 0 {
		t.Errorf("pressure was not handled at once: %+v", st)
	}
}

func TestEvictionsAddUp(t *testing.T) {
	r := newRig(t, sceneOf(tileAt("a", face(60)), tileAt("b", face(70))), withBytes(450))
	r.memory.GeometryBudget = 1000
	r.until(8)
	r.s.NotifyMemoryPressure(memory.PressureWarning)
	r.until(20)
	if st := r.s.Stats(); st.Evictions == 0 || int(st.Evictions) != len(r.events("evict.tile")) {
		t.Errorf("%d evictions counted, %v happened", st.Evictions, r.events("evict.tile"))
	}
}

func TestTilesAreEvictedToTheLowMark(t *testing.T) {
	// 86 % in use, evicted down to 70 % or less, then
	// nothing more.
	m := sceneOf()
	for i := range 40 {
		m.Tiles = append(m.Tiles, tileAt("t"+string(rune('A'+i)), face(60)))
	}
	r := newRig(t, m, withBytes(20))
	r.memory.GeometryBudget = 1000
	r.until(20)
	r.camera.Position[0] = -30 // 90 m away: beyond the streaming radius, out of reach of a dispatch
	r.memory.GeometryUsed = 60
	r.until(30)
	st := r.s.Stats()
	if used := st.GeometryUsed; used > 700 || used < 660 {
		t.Errorf("%d bytes in use after relief, want just below 700", used)
	}
	before := st.Evictions
	r.memory.GeometryUsed = 200 // 840 at most: below the high mark
	r.until(40)
	if st := r.s.Stats(); st.Evictions != before {
		t.Errorf("%d more evictions below the high-water mark", st.Evictions-before)
	}
}

func TestNoEventsAfterTheSceneDied(t *testing.T) {
	m := sceneOf(tileAt("a", face(10)), tileAt("b", face(80), hlodAt(60)))
	r := newRig(t, m, withLatency(2), withBytes(9))
	r.until(1)
	id := r.s.Scenes()[0]
	next, err := r.s.ReloadScene(id, Source{Manifest: m, Path: "x"})
	if err != nil || next == id {
		t.Fatal(next, err)
	}
	r.log = nil
	r.until(6)
	// The old answers only free their slots; the new scene starts over.
	r.expect(`1 scene.unload; 1 scene.load; 1 tile.dispatch a; 1 hlod.load b; 3 tile.parsed a; 3 hlod.loaded b`, "tile.", "hlod.", "scene.")
	if st := r.s.Stats(); st.GeometryBytes != 18 || st.ActiveLoads != 0 || r.s.loads.parsing != [classes]int{} {
		t.Errorf("%+v, slots %v", st, r.s.loads.parsing)
	}
	if _, err := r.s.ReloadScene(id, Source{Manifest: m, Path: "x"}); !errors.Is(err, ErrNoScene) {
		t.Errorf("a dead scene was reloaded: %v", err)
	}
	if err := r.s.RemoveScene(next); err != nil || r.s.Stats().GeometryBytes != 0 {
		t.Errorf("%v, %d bytes left", err, r.s.Stats().GeometryBytes)
	}
}
