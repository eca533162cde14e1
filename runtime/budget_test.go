package runtime

import "testing"

// DECISIONS R12: levels stop at the high-water mark too, unless nothing at all
// is drawn for the tile.
func TestLevelsStopAtTheHighMark(t *testing.T) {
	r := newRig(t, sceneOf(tileAt("drawn", box(0, 0, 0, 10, 10, 10), lodsAt(60, 80)), tileAt("bare", box(0, 0, 20, 10, 10, 30), lodsAt(60, 80))),
		withConfig(func(c *Config) { c.MaxConcurrentTileLoads = 0 }), withBytes(1))
	r.memory.GeometryBudget = 1000
	if err := r.s.Adopt(1, "drawn", LOD(1), Result{}); err != nil {
		t.Fatal(err)
	}
	r.memory.GeometryUsed = 900
	// At 65 m both want LOD 0, but only bare may load it. Being out of their
	// streaming radius both are evicted after the dwell, and stay away.
	r.path(5, [2]float64{0, -65})
	r.expect("0 lod.load bare 0; 0.3 lod.loaded bare 0; 1 lod.unload drawn 1; 1.3 lod.unload bare 0", "lod.")
	if st := r.s.Stats(); !st.IsUnderPressure || st.Evictions != 2 {
		t.Errorf("%+v", st)
	}
}

func TestDrawnTilesLoadNoMoreAtTheHighMark(t *testing.T) {
	// Within its streaming radius nothing is evicted, and nothing is refined.
	r := newRig(t, sceneOf(tileAt("a", box(0, 0, 0, 10, 10, 10), radiiAt(90, 100), lodsAt(60, 80))), withBytes(1),
		withConfig(func(c *Config) { c.MaxConcurrentTileLoads = 0 }))
	r.memory.GeometryBudget = 1000
	r.path(3, [2]float64{0, -85})
	r.memory.GeometryUsed = 900
	r.path(6, [2]float64{3, -65})
	r.expect("0 lod.load a 1; 0.3 lod.loaded a 1")
	r.memory.GeometryUsed = 0
	r.path(6.2)
	r.expect("0 lod.load a 1; 0.3 lod.loaded a 1; 6 lod.load a 0")
}

// What was evicted does not come back into the space that it has freed.
func TestEvictedStaysAway(t *testing.T) {
	r := newRig(t, sceneOf(tileAt("a", face(60))), withBytes(100))
	r.memory.GeometryBudget = 1000
	r.until(10)
	r.memory.GeometryUsed = 750
	r.until(30)
	r.expect("0 tile.dispatch a; 0.3 tile.parsed a; 10 tile.unload a")
	r.expect("10 evict.tile a full", "evict.")
	// With room for it, it does.
	r.memory.GeometryUsed = 600
	r.until(31)
	r.expect("0 tile.dispatch a; 0.3 tile.parsed a; 10 tile.unload a; 30 tile.dispatch a; 30.3 tile.parsed a")
}

func TestEvictedReturnsWithinItsStreamingRadius(t *testing.T) {
	r := newRig(t, sceneOf(tileAt("a", face(60))), withBytes(100))
	r.memory.GeometryBudget = 1000
	r.until(10)
	r.s.Pressure(PressureWarning)
	r.path(11, [2]float64{10.5, 20})
	r.expect("0 tile.dispatch a; 0.3 tile.parsed a; 10 tile.unload a; 10.5 tile.dispatch a; 10.8 tile.parsed a")
}

func TestNothingToEvictWarnsOnce(t *testing.T) {
	r := newRig(t, sceneOf(tileAt("a", face(10))), withBytes(1))
	r.memory = Memory{GeometryBudget: 1000, GeometryUsed: 990}
	r.until(5)
	r.expect("0 warn", "warn")
	r.memory.GeometryUsed = 0
	r.until(6)
	r.memory.GeometryUsed = 990
	r.until(7)
	r.expect("0 warn; 6 warn", "warn")
}

func TestBudgetSources(t *testing.T) {
	r := newRig(t, sceneOf(), withConfig(func(c *Config) { c.GeometryBudget, c.TextureBudget = 77, 88 }))
	r.until(0.1)
	if st := r.s.Stats(); st.GeometryBudget != 77 || st.TextureBudget != 88 {
		t.Errorf("configured budgets: %+v", st)
	}
	r.memory = Memory{GeometryBudget: 5, TextureBudget: 6, TextureUsed: 9}
	r.until(0.2)
	if st := r.s.Stats(); st.GeometryBudget != 5 || st.TextureBudget != 6 || st.TextureUsed != 9 {
		t.Errorf("the probe's budgets: %+v", st)
	}
}

func TestPressureKeepsTheWorst(t *testing.T) {
	var s Streamer
	s.Pressure(PressureCritical)
	s.Pressure(PressureWarning)
	if got := PressureLevel(s.pressure.Load()); got != PressureCritical {
		t.Errorf("%v", got)
	}
}
