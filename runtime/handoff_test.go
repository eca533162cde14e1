package runtime

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/event"
	"github.com/untoldkit/untold/runtime/payload"
)

func failing(reps ...payload.Rep) rigOption {
	return withFault(func(q payload.Request) string {
		for _, r := range reps {
			if q.Key.Rep == r {
				return "fail"
			}
		}
		return ""
	})
}

// While the successor loads, fails and backs off, the old
// representation stays.
func TestOldStaysWhileTheSuccessorFails(t *testing.T) {
	a := tileAt("a", box(0, 0, 0, 10, 10, 10), hlodAt(95), lodsAt(60, 80))
	for _, c := range []struct {
		name string
		fail []payload.Rep
		to   float64
	}{
		{"LOD", []payload.Rep{payload.LOD(0), payload.LOD(1)}, -82},
		{"full and LODs", []payload.Rep{payload.RepFull, payload.LOD(0), payload.LOD(1)}, -20},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, sceneOf(a), failing(c.fail...))
			r.path(30, [2]float64{0, -98}, [2]float64{5, c.to})
			if st := r.s.Stats(); st.VisibleHLOD != 1 || st.Undrawn != 0 || st.Failures < 3 {
				t.Errorf("%+v\n%s", st, strings.Join(r.log, "\n"))
			}
		})
	}
}

func TestFullStaysUntilTheHLODCanBeDrawn(t *testing.T) {
	r := newRig(t, sceneOf(tileAt("a", box(0, 0, 0, 10, 10, 10), hlodAt(95))), failing(payload.RepHLOD))
	r.path(60, [2]float64{0, -60}, [2]float64{20, -110})
	if st := r.s.Stats(); st.VisibleFull != 1 || st.Undrawn != 0 {
		t.Errorf("%+v", st)
	}
	// Beyond the query radius nothing is to follow.
	r.path(65, [2]float64{60, -700})
	if st := r.s.Stats(); st.ResidentFull != 0 {
		t.Errorf("the tile never goes: %v", r.events("tile."))
	}
}

// Spawned inside the range of a slow tile: its finest level stands in.
func TestFallbackLevel(t *testing.T) {
	slow := func(_ *config.Config, _ *Deps, r *rig) {
		r.loader.Latency = func(q payload.Request) time.Duration {
			if q.Key.Rep == payload.RepFull {
				return 5 * time.Second
			}
			return 250 * time.Millisecond
		}
	}
	r := newRig(t, sceneOf(tileAt("a", box(0, 0, 0, 10, 10, 10), lodsAt(60, 80))), slow)
	r.path(6, [2]float64{0, -20})
	r.expect("0 tile.dispatch a; 0 lod.load a 0; 0.3 lod.loaded a 0; 5 tile.parsed a; 5 lod.unload a 0")

	// Not for rooms that the interior zone keeps closed.
	m := sceneOf(tileAt("room", box(0, 0, 0, 10, 10, 10), lodsAt(60), interiorOn(0)))
	m.PartitioningMode = manifest.ModeKDTreeFloor
	m.InteriorZone = &manifest.Bounds{Max: [3]float64{10, 10, 10}}
	closed := newRig(t, m, slow)
	closed.path(6, [2]float64{0, -20})
	closed.expect("")
}

// A level that cannot be loaded is replaced by the nearest coarser one.
func TestAlternativeLevel(t *testing.T) {
	a := tileAt("a", box(0, 0, 0, 10, 10, 10), hlodAt(95), lodsAt(60, 70, 80))
	for _, c := range []struct {
		fail []payload.Rep
		want payload.Rep
	}{
		{[]payload.Rep{payload.LOD(0)}, payload.LOD(1)},
		{[]payload.Rep{payload.LOD(0), payload.LOD(1)}, payload.LOD(2)},
		{[]payload.Rep{payload.LOD(0), payload.LOD(1), payload.LOD(2)}, payload.RepHLOD},
	} {
		r := newRig(t, sceneOf(a), failing(append(c.fail, payload.RepFull)...), withConfig(func(k *config.Config) { k.MaxConcurrentTileLoads = 0 }))
		r.path(4, [2]float64{0, -65})
		if rec := r.record("a"); rec.drawn != c.want {
			t.Errorf("with %v failing %v is drawn, want %v", c.fail, rec.drawn, c.want)
		}
	}
}

// The frustum gate keeps the full tile away; what is drawn stays.
func TestBehindTheCamera(t *testing.T) {
	r := newRig(t, sceneOf(tileAt("a", box(-5, 0, 0, 5, 5, 5), lodsAt(60))), withConfig(func(c *config.Config) { c.EnableFrustumGate = true }))
	r.lens()
	for r.now() < 10 {
		r.camera.Position[2] = max(-90, -100+10*r.now()) // backwards, from 100 m to the tile
		if r.now() > 5 {
			r.camera.Position[2] = -40
		}
		r.step()
	}
	if st := r.s.Stats(); st.VisibleLOD != 1 || st.Undrawn != 0 || st.TilesSkippedByFrustum != 1 {
		t.Errorf("%+v", st)
	}
	r.camera.Forward = [3]float64{0, 0, 1}
	r.until(11)
	if st := r.s.Stats(); st.VisibleFull != 1 {
		t.Errorf("after turning round: %v", r.events())
	}
}

func fading(c *config.Config) { c.EnableFadeTransitions, c.FadeDuration = true, 0.4 }

func TestFade(t *testing.T) {
	r := newRig(t, sceneOf(tileAt("a", box(0, 0, 0, 10, 10, 10), hlodAt(95))), withConfig(fading))
	r.path(3.35, [2]float64{0, -98}, [2]float64{3, -70})
	r.path(3.45)
	// The full tile came at 3.3; one frame of 0.1 s later a quarter is faded in.
	drawn := r.s.AppendDrawn(nil)
	if len(drawn) != 2 || drawn[0].Rep != payload.RepHLOD || !near(drawn[0].Fade, 0.75) || drawn[1].Rep != payload.RepFull || !near(drawn[1].Fade, 0.25) {
		t.Errorf("drawn %+v", drawn)
	}
	if st := r.s.Stats(); st.ActiveFades != 1 || st.OverlapFullHLOD != 1 || st.OverlapFullFallback != 1 {
		t.Errorf("%+v", st)
	}
	r.path(25, [2]float64{20, -110})
	// On the way out the full tile fades into the HLOD before it goes.
	r.expect(`0 hlod.load a; 0.3 hlod.loaded a; 3 tile.dispatch a; 3.3 tile.parsed a; 3.7 hlod.unload a;
		20 tile.grace a; 20 hlod.load a; 20.3 hlod.loaded a; 23.4 tile.unload a`)
	r.expect("0.3 drawn a hlod; 3.3 drawn a full; 23 drawn a hlod", "drawn")
}

// While two LODs are resident the tile does not take turns between them faster
// than the dwell allows.
func TestDrawnLODDwells(t *testing.T) {
	r := newRig(t, sceneOf(tileAt("a", face(0), radiiAt(50, 60), lodsAt(60, 80))))
	for r.now() < 20 {
		r.camera.Position[0] = -71 - 10*float64(r.frame/5%2) // every 0.5 s
		r.step()
	}
	last := -1.0
	for _, l := range r.events("drawn") {
		var at float64
		if _, err := fmt.Sscan(l, &at); err != nil {
			t.Fatal(err)
		}
		if last >= 0 && at-last < 1-1e-9 && last > 1 {
			t.Errorf("two changes within a second: %v", r.events("drawn"))
			break
		}
		last = at
	}
	if st := r.s.Stats(); st.Undrawn != 0 || st.RepresentationChanges < 3 {
		t.Errorf("undrawn %d, %d changes", st.Undrawn, st.RepresentationChanges)
	}
}

// A fade that is turned round goes on from where it is.
func TestFadeTurnsRound(t *testing.T) {
	r := newRig(t, sceneOf(tileAt("a", box(0, 0, 0, 10, 10, 10), hlodAt(95), lodsAt(60, 80))), withConfig(func(c *config.Config) {
		c.EnableFadeTransitions, c.FadeDuration = true, 1
	}))
	// The HLOD comes at 5.3; two frames later the camera is back.
	r.path(5.55, [2]float64{0, -82}, [2]float64{5, -98}, [2]float64{5.5, -82})
	drawn := r.s.AppendDrawn(nil)
	if len(drawn) != 2 || drawn[0].Rep != payload.RepHLOD || math.Abs(drawn[0].Fade-0.2) > 1.0/4096 || drawn[1].Rep != payload.LOD(1) || drawn[0].Fade+drawn[1].Fade != 1 {
		t.Errorf("drawn %+v, want 0.2 of the HLOD and 0.8 of LOD 1", drawn)
	}
	r.path(5.85)
	if drawn := r.s.AppendDrawn(nil); len(drawn) != 1 || drawn[0].Rep != payload.LOD(1) {
		t.Errorf("drawn %+v after the fade", drawn)
	}
}

func TestFadeEndsWithItsTile(t *testing.T) {
	r := newRig(t, sceneOf(tileAt("a", box(0, 0, 0, 10, 10, 10), hlodAt(95))), withConfig(fading), withBytes(10))
	r.path(3.4, [2]float64{0, -98}, [2]float64{3, -70})
	r.s.UnloadAll()
	if st := r.s.Stats(); st.ActiveFades != 0 || st.GeometryBytes != 0 || len(r.s.AppendDrawn(nil)) != 0 {
		t.Errorf("%+v", st)
	}
}

// What is resident is drawn only when the device can.
func TestVisibility(t *testing.T) {
	v := &lateVisibility{after: time.Second, since: map[payload.Key]time.Duration{}}
	r := newRig(t, sceneOf(tileAt("a", face(10), hlodAt(95))), func(_ *config.Config, d *Deps, r *rig) {
		v.clock = r.clock
		d.Visibility, d.Device = v, v
	})
	r.until(3)
	r.expect("1.3 drawn a full", "drawn")
	if st := r.s.Stats(); st.LOD0Warnings != 0 || st.Undrawn != 0 {
		t.Errorf("%+v", st)
	}
}

func TestDrawnLatency(t *testing.T) {
	r := newRig(t, sceneOf(tileAt("a", box(0, 0, 0, 10, 10, 10), prefetchAt(50))), withLatency(0.5))
	for r.now() < 3 {
		r.camera.Position[0] = -60 + 10*r.now() // dispatched at 0.9 with 51 m to go, in its streaming radius at 1.0
		r.loader.Deliver()
		r.s.Update(r.camera, r.dt)
		for _, e := range r.s.Events() {
			if e.Kind == event.Drawn && e.Latency != 400*time.Millisecond {
				t.Errorf("latency %v, want 0.4 s", e.Latency)
			}
		}
		r.clock.Time += r.dt
	}
}

func TestAudits(t *testing.T) {
	// Parsing for long in view with nothing to draw: a warning every 2 s.
	slow := newRig(t, sceneOf(tileAt("a", face(10))), withLatency(5))
	slow.until(6)
	slow.expect("0.5 warn a; 2.5 warn a; 4.5 warn a", "warn")
	// Resident for more than 12 ticks and not drawable.
	stuck := newRig(t, sceneOf(tileAt("a", face(10))), func(_ *config.Config, d *Deps, _ *rig) { d.Visibility = delayedVisibility{payload.RepFull} })
	stuck.until(2.2)
	if st := stuck.s.Stats(); st.LOD0Warnings != 1 || st.LOD0NoFallback != 1 {
		t.Errorf("%+v", st)
	}
	// A radius without a band: the tile comes and goes.
	thrash := newRig(t, sceneOf(tileAt("a", face(0))), withConfig(func(c *config.Config) {
		c.UnloadGracePeriod, c.MinimumParsedTileResidentSeconds = 0, 0
	}))
	for r := thrash; r.now() < 5; r.step() {
		r.camera.Position[0] = -150 * float64(r.frame/5%2)
	}
	if st := thrash.s.Stats(); st.SwapWarnings == 0 {
		t.Errorf("no warning about %v", thrash.events())
	}
}

func TestPriorityWins(t *testing.T) {
	near, far := tileAt("near", face(10)), tileAt("far", face(60))
	high := 20
	far.Priority = &high
	r := newRig(t, sceneOf(near, far), withConfig(func(c *config.Config) { c.MaxConcurrentTileLoads = 1 }))
	r.until(0.5)
	r.expect("0 tile.dispatch far; 0.3 tile.dispatch near", "tile.dispatch")
}
