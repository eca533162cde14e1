package runtime

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/untoldkit/untold/internal/race"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/memory"
	"github.com/untoldkit/untold/runtime/payload"
)

// Levels stop at the high-water mark too, unless nothing at all
// is drawn for the tile.
func TestLevelsStopAtTheHighMark(t *testing.T) {
	r := newRig(t, sceneOf(tileAt("drawn", box(0, 0, 0, 10, 10, 10), radiiAt(90, 100), lodsAt(60, 80)), tileAt("bare", box(0, 0, 20, 10, 10, 30), lodsAt(60, 80))),
		withConfig(func(c *config.Config) { c.MaxConcurrentTileLoads = 0 }), withBytes(1))
	r.memory.GeometryBudget = 1000
	if err := r.s.AddResident(1, "drawn", payload.LOD(1), payload.Result{}); err != nil {
		t.Fatal(err)
	}
	r.memory.GeometryUsed = 900
	// At 65 m both want LOD 0, but only bare may load, and only the cheapest that
	// it has. It is out of its streaming radius, but in range, and the budget
	// holds it: it stays.
	r.path(5, [2]float64{0, -65})
	r.expect("0 lod.load bare 1; 0.3 lod.loaded bare 1", "lod.")
	if st := r.s.Stats(); !st.IsUnderPressure || st.Evictions != 0 {
		t.Errorf("%+v", st)
	}
}

func TestDrawnTilesLoadNoMoreAtTheHighMark(t *testing.T) {
	// Within its streaming radius nothing is evicted, and nothing is refined.
	r := newRig(t, sceneOf(tileAt("a", box(0, 0, 0, 10, 10, 10), radiiAt(90, 100), lodsAt(60, 80))), withBytes(1),
		withConfig(func(c *config.Config) { c.MaxConcurrentTileLoads = 0 }))
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
	r.s.NotifyMemoryPressure(memory.PressureWarning)
	r.path(11, [2]float64{10.5, 20})
	r.expect("0 tile.dispatch a; 0.3 tile.parsed a; 10 tile.unload a; 10.5 tile.dispatch a; 10.8 tile.parsed a")
}

// A level that was evicted stays away for 3 s too, but not when the camera comes
// within the streaming radius: nothing of the tile would be evicted again, and
// it has to show something until its full representation has come.
func TestEvictedLevelReturns(t *testing.T) {
	for _, tt := range []struct {
		name string
		x    float64 // of the camera, from 10.5 s on
		want string
	}{
		{"beyond", 0, "13 lod.load a 0; 13.3 lod.loaded a 0"},
		{"within", 45, "10.5 tile.dispatch a; 10.5 lod.load a 0; 10.8 lod.loaded a 0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, sceneOf(tileAt("a", face(90), lodsAt(55))), withBytes(100))
			r.memory.GeometryBudget = 1000
			r.loader.Latency = func(q payload.Request) time.Duration {
				return map[bool]time.Duration{true: 8 * time.Second, false: 250 * time.Millisecond}[q.Key.Rep == payload.RepFull]
			}
			r.until(10)
			r.s.NotifyMemoryPressure(memory.PressureWarning)
			r.path(14, [2]float64{10.5, tt.x})
			r.expect("0 lod.load a 0; 0.3 lod.loaded a 0; 10 lod.unload a 0;" + tt.want)
		})
	}
}

// Beyond its streaming radius a full representation that was evicted stays away
// for 3 s, whether a level has taken its place or not.
func TestEvictedWaitsBehindItsLevel(t *testing.T) {
	r := newRig(t, sceneOf(tileAt("a", face(60), lodsAt(55))), withBytes(100))
	r.memory.GeometryBudget = 1000
	r.until(10)
	r.log = nil
	r.s.NotifyMemoryPressure(memory.PressureWarning)
	r.until(14)
	r.expect("10 tile.unload a; 10 lod.load a 0; 10.3 lod.loaded a 0; 13 tile.dispatch a; 13.3 tile.parsed a; 13.3 lod.unload a 0")
	// Not so when the camera comes nearer.
	r.until(30)
	r.log = nil
	r.s.NotifyMemoryPressure(memory.PressureWarning)
	r.path(32, [2]float64{31, 20})
	r.expect("30 tile.unload a; 30 lod.load a 0; 30.3 lod.loaded a 0; 31 tile.dispatch a; 31.3 tile.parsed a; 31.3 lod.unload a 0")
}

func TestNothingToEvictWarnsOnce(t *testing.T) {
	r := newRig(t, sceneOf(tileAt("a", face(10))), withBytes(1))
	r.memory = memory.Memory{GeometryBudget: 1000, GeometryUsed: 990}
	r.until(5)
	r.expect("0 warn", "warn")
	r.memory.GeometryUsed = 0
	r.until(6)
	r.memory.GeometryUsed = 990
	r.until(7)
	r.expect("0 warn; 6 warn", "warn")
}

func TestBudgetSources(t *testing.T) {
	r := newRig(t, sceneOf(), withConfig(func(c *config.Config) { c.GeometryBudget, c.TextureBudget = 77, 88 }))
	r.until(0.1)
	if st := r.s.Stats(); st.GeometryBudget != 77 || st.TextureBudget != 88 {
		t.Errorf("configured budgets: %+v", st)
	}
	r.memory = memory.Memory{GeometryBudget: 5, TextureBudget: 6, TextureUsed: 9}
	r.until(0.2)
	if st := r.s.Stats(); st.GeometryBudget != 5 || st.TextureBudget != 6 || st.TextureUsed != 9 {
		t.Errorf("the probe's budgets: %+v", st)
	}
}

func TestPressureKeepsTheWorst(t *testing.T) {
	var s Streamer
	s.NotifyMemoryPressure(memory.PressureCritical)
	s.NotifyMemoryPressure(memory.PressureWarning)
	if got := memory.PressureLevel(s.pressure.Load()); got != memory.PressureCritical {
		t.Errorf("%v", got)
	}
}

func TestPressureAboveCriticalIsCritical(t *testing.T) {
	var s Streamer
	s.NotifyMemoryPressure(9)
	if got := memory.PressureLevel(s.pressure.Load()); got != memory.PressureCritical {
		t.Errorf("%d", got)
	}
}

// row returns HLODs at 100, 115, 130, ... m.
func row(n int) *manifest.Manifest {
	m := sceneOf()
	for i := range n {
		m.Tiles = append(m.Tiles, tileAt(fmt.Sprintf("h%02d", i), face(100+15*float64(i)), hlodAt(95)))
	}
	return m
}

// drawnTiles lists the tiles that draw something.
func (r *rig) drawnTiles() string {
	var ids []string
	for _, d := range r.s.AppendDrawn(nil) {
		ids = append(ids, r.s.scenes[0].tiles.id[d.Tile])
	}
	return strings.Join(ids, " ")
}

// Levels beyond the streaming radius go at any age, farthest
// first. The nearest ones are what remains.
func TestEvictsTheFarthestLevelsFirst(t *testing.T) {
	r := newRig(t, row(12), withBytes(10))
	r.memory.GeometryBudget = 50
	r.until(20)
	if got := r.drawnTiles(); got != "h00 h01 h02 h03" {
		t.Errorf("%s are drawn, want the nearest four\n%s", got, strings.Join(r.log, "\n"))
	}
	before := r.s.Stats().Loads
	r.until(60)
	if st := r.s.Stats(); st.Loads != before {
		t.Errorf("%d loads while nothing changes:\n%s", st.Loads-before, strings.Join(r.log, "\n"))
	}
}

// A hole takes the place of what has become the farther one.
func TestNearHolesTakeThePlaceOfFartherLevels(t *testing.T) {
	r := newRig(t, row(12), withBytes(10))
	r.memory.GeometryBudget = 50
	r.path(60, [2]float64{20, 375})
	if got := r.drawnTiles(); got != "h08 h09 h10 h11" {
		t.Errorf("%s are drawn, want the nearest four\n%s", got, strings.Join(r.log, "\n"))
	}
	before := r.s.Stats().Loads
	r.until(90)
	if st := r.s.Stats(); st.Loads != before {
		t.Errorf("%d loads while nothing changes:\n%s", st.Loads-before, strings.Join(r.log, "\n"))
	}
}

// A tile in range of which nothing is drawn gets its cheapest
// level as long as the budget holds it.
func TestHoleInRangeGetsItsCheapestLevel(t *testing.T) {
	r := newRig(t, sceneOf(tileAt("a", face(0), hlodAt(95), lodsAt(60))), withConfig(func(c *config.Config) { c.MaxConcurrentTileLoads = 0 }))
	r.loader.Bytes = func(q payload.Request) int64 {
		return map[payload.Rep]int64{payload.RepHLOD: 10, payload.LOD(0): 45}[q.Key.Rep]
	}
	r.memory.GeometryBudget = 50
	r.path(4, [2]float64{0, -98})
	r.memory.GeometryUsed = 34
	r.path(5, [2]float64{0, -98})
	r.path(40, [2]float64{5, -82})
	// 34 + 10 of 50 are over the mark, but in range the HLOD may use the whole
	// budget. Nothing finer is tried.
	r.expect("0 hlod.load a; 0.3 hlod.loaded a")
	if got := r.drawnTiles(); got != "a" {
		t.Errorf("%q is drawn, want a", got)
	}
	r.memory.GeometryUsed = 41 // more than the budget holds
	r.until(41)
	if got := r.drawnTiles(); got != "" {
		t.Errorf("%q is drawn over the budget", got)
	}
}

// A city of which the budget holds a quarter settles: what is near stays, and
// nothing is loaded and evicted in turn.
func TestShortMemorySettles(t *testing.T) {
	side, budget := 40, 400_000
	if race.Enabled {
		side, budget = 20, 100_000 // make test has the whole city without the detector
	}
	r := newRig(t, cityOf(side, 12.5), withLatency(0.05), withBytes(1000), withConfig(func(c *config.Config) { c.EnableFrustumGate = true }))
	r.lens()
	r.memory.GeometryBudget = int64(budget)
	r.until(120)
	before := r.s.Stats()
	r.until(180)
	st := r.s.Stats()
	if loads, evictions := st.Loads-before.Loads, st.Evictions-before.Evictions; loads > 0 || evictions > 0 {
		t.Errorf("%d loads and %d evictions in the last 60 s", loads, evictions)
	}
	if int(before.Loads) > 3000*side*side/1600 {
		t.Errorf("%d loads of %d tiles until it settled", before.Loads, side*side)
	}
	if float64(st.GeometryUsed) < 0.7*float64(budget) {
		t.Errorf("%d bytes in use, want at least the low mark", st.GeometryUsed)
	}
	farthest, nearestHole := 0.0, math.Inf(1)
	sc := r.s.scenes[0]
	for i := range sc.tiles.box {
		d := sc.tiles.box[i].Distance(sc.view.pos)
		if rec := sc.recordOf(int32(i)); rec != nil && rec.drawn != payload.RepNone {
			farthest = max(farthest, d)
		} else {
			nearestHole = min(nearestHole, d)
		}
	}
	if farthest > 1.2*nearestHole {
		t.Errorf("a tile at %.0f m is drawn, one at %.0f m is not", farthest, nearestHole)
	}
}

// TestEvictsNothingThatIsGranted: what a quick camera leaves behind brings the memory to its mark.
// It gives way there, and not the levels that tiles ahead have just been granted, which would come
// back after a while.
func TestEvictsNothingThatIsGranted(t *testing.T) {
	for budget := int64(300); budget <= 1500; budget += 50 {
		const n, speed = 12, 60.
		r, _ := rowsRig(t, n, budget, withLatency(0.3), withConfig(func(c *config.Config) {
			c.MinimumParsedTileResidentSeconds, c.UnloadGracePeriod = 2, 3
		}))
		r.lens()
		sc, tiles := r.s.scenes[0], r.s.scenes[0].tiles
		way := float64(20 + 40*n)
		r.camera.Position[2] = way
		r.until(30)
		for start := r.now(); r.camera.Position[2] > -way; {
			r.camera.Position[2] = way - speed*(r.now()-start)
			before := len(r.log)
			r.step()
			for _, line := range r.log[before:] {
				word := strings.Fields(line)
				if word[1] != "evict.tile" {
					continue
				}
				row := int32(slices.Index(tiles.id, word[2]))
				if has := sc.recordOf(row); r.s.budget.split.scarce && sc.grantedLevelAt(row, has, has.actual).String() == word[3] {
					t.Fatalf("budget %d: %s, which is granted", budget, line)
				}
			}
		}
		if st := r.s.Stats(); st.Undrawn > 0 || st.GeometryUsed > budget {
			t.Errorf("budget %d: %d undrawn, %d in use", budget, st.Undrawn, st.GeometryUsed)
		}
	}
}
