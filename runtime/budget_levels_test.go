package runtime

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/race"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/memory"
	"github.com/untoldkit/untold/runtime/payload"
)

// leveled returns tiles in a row away from the origin, and what their representations
// take: 100 bytes in full, 50 and 20 as LODs from 60 and 120 m, 5 as HLODs from 240 m.
func leveled(n int) (*manifest.Manifest, func(payload.Request) int64) {
	m := sceneOf()
	for i := range n {
		tile := tileAt(fmt.Sprintf("t%02d", i), face(float64(10*i)), radiiAt(60, 100), lodsAt(60, 120), hlodAt(240))
		memory := int64(100)
		tile.EstimatedMemoryBytes = &memory
		tile.FileSizeBytes, tile.LODLevels[0].FileSizeBytes, tile.LODLevels[1].FileSizeBytes, tile.HLODLevels[0].FileSizeBytes = 100, 50, 20, 5
		m.Tiles = append(m.Tiles, tile)
	}
	return m, func(q payload.Request) int64 {
		return map[payload.Rep]int64{payload.RepFull: 100, payload.LOD(0): 50, payload.LOD(1): 20, payload.RepHLOD: 5}[q.Key.Rep]
	}
}

// atRest runs a scene with a budget until nothing changes, and returns what is drawn.
func atRest(t testing.TB, m *manifest.Manifest, bytes func(payload.Request) int64, budget int64) (*rig, []payload.Rep) {
	r := newRig(t, m, withLatency(0.05), withConfig(func(c *config.Config) {
		c.MinimumParsedTileResidentSeconds, c.UnloadGracePeriod = 0.5, 0.5
		c.MaxQueryRadius, c.OutOfCorePolicy = 1000, config.OutOfCoreImmediate
	}))
	r.loader.Bytes, r.memory = bytes, memory.Memory{GeometryBudget: budget}
	r.camera.Position = [3]float64{-1, 0, 0}
	r.until(60)
	out := make([]payload.Rep, len(m.Tiles))
	for _, d := range r.s.AppendDrawn(nil) {
		out[d.Tile] = d.Rep
	}
	return r, out
}

// TestLevelsBetween: where the full representation does not fit but a level between it
// and the cheapest does, that is drawn.
func TestLevelsBetween(t *testing.T) {
	full, lod0, lod1, hlod := payload.RepFull, payload.LOD(0), payload.LOD(1), payload.RepHLOD
	for _, c := range []struct {
		tiles  int
		budget int64
		want   []payload.Rep
	}{
		{1, 150, []payload.Rep{full}},
		{1, 99, []payload.Rep{lod0}}, // the first one comes, but does not stay
		{1, 60, []payload.Rep{lod1}}, // LOD 0 is more than what is split
		{1, 24, []payload.Rep{hlod}},
		{2, 260, []payload.Rep{full, full}},
		{2, 200, []payload.Rep{full, lod0}},
		{2, 140, []payload.Rep{full, hlod}}, // the nearer one is a twelfth as far away,
		{2, 100, []payload.Rep{lod0, hlod}},
		{2, 60, []payload.Rep{lod1, hlod}},
		{2, 40, []payload.Rep{lod1, hlod}},
		{3, 16, []payload.Rep{hlod, hlod, hlod}},
	} {
		m, bytes := leveled(c.tiles)
		r, got := atRest(t, m, bytes, c.budget)
		if st := r.s.Stats(); !slices.Equal(got, c.want) || st.Undrawn > 0 || st.GeometryUsed > c.budget {
			t.Errorf("%d tiles in %d bytes: %v are drawn and take %d, want %v; %d undrawn", c.tiles, c.budget, got, st.GeometryUsed, c.want, st.Undrawn)
		}
	}
}

// TestBudgetSweep: with more memory each of many tiles shows as much detail or more,
// none is left out, and the budget holds.
func TestBudgetSweep(t *testing.T) {
	m, bytes := leveled(20)
	last := make([]payload.Rep, len(m.Tiles))
	kinds := map[payload.Rep]bool{}
	step := int64(25)
	if race.Enabled {
		step = 150 // make test tries all without the detector
	}
	for budget := int64(250); budget <= 2600; budget += step {
		r, got := atRest(t, m, bytes, budget)
		if st := r.s.Stats(); st.GeometryUsed > budget || st.Undrawn > 0 {
			t.Errorf("%d bytes: %d in use, %d undrawn", budget, st.GeometryUsed, st.Undrawn)
		}
		for i := range got {
			kinds[got[i]] = true
			// A tile near a limit keeps what it has, and so may have more with less memory.
			kept := func() bool {
				sc := r.s.scenes[0]
				return stretchOf(sc.tiles.begin(int32(i), got[i]), float64(1+10*i), true) >= sc.budget.stretch
			}
			if got[i] == payload.RepNone || isFiner(last[i], got[i]) && !kept() {
				t.Errorf("%d bytes: tile %d shows %v, with less %v", budget, i, got[i], last[i])
			}
		}
		last = got
	}
	if len(kinds) != 4 {
		t.Errorf("levels %v are drawn, want four", kinds)
	}
}

// TestBudgetSplitIsMonotone: of any tiles, what each is granted gets no coarser as the
// budget grows, nothing is given up while the cheapest of all fit, and all together
// keep to the budget.
func TestBudgetSplitIsMonotone(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := sceneOf()
		for i := range rapid.IntRange(1, 30).Draw(rt, "tiles") {
			id := fmt.Sprintf("t%02d", i)
			opts := []tileOption{radiiAt(60, 600)}
			begins := 60.0
			var lods []float64
			for range rapid.IntRange(0, 3).Draw(rt, "lods") {
				lods = append(lods, begins)
				begins *= rapid.Float64Range(1.1, 3).Draw(rt, "step")
			}
			opts = append(opts, lodsAt(lods...), hlodAt(begins))
			tile := tileAt(id, face(rapid.Float64Range(0, 900).Draw(rt, "at")), opts...)
			bytes := rapid.Int64Range(100, 1000).Draw(rt, "full")
			tile.FileSizeBytes = bytes
			for k := range tile.LODLevels {
				bytes = max(1, bytes*rapid.Int64Range(30, 100).Draw(rt, "percent")/100)
				tile.LODLevels[k].FileSizeBytes = bytes
			}
			tile.HLODLevels[0].FileSizeBytes = max(1, bytes/2)
			m.Tiles = append(m.Tiles, tile)
		}
		r := newRig(t, m, withConfig(func(c *config.Config) { c.MaxQueryRadius = 2000 }))
		sc, b := r.s.scenes[0], r.s.budget
		r.camera.Position = [3]float64{-1, 0, 0}
		r.s.setCamera(r.camera)
		r.s.measure(sc)
		b.taught, b.refused = true, true
		for i := range m.Tiles {
			for rep := payload.RepFull; sc.tiles.hasRep(int32(i), rep); rep++ {
				f := sc.tiles.fileOf(int32(i), rep)
				f.gpu = f.size
			}
		}
		total, least := int64(0), int64(0)
		for i := range m.Tiles {
			total += m.Tiles[i].FileSizeBytes
			least += sc.tiles.fileOf(int32(i), sc.cheapestRep(int32(i))).size
		}
		last := make([]payload.Rep, len(m.Tiles))
		for percent := range 200 {
			budget := 3*least + total*int64(percent)/100
			b.memory.GeometryBudget, b.split.scarce, b.split.split = budget, false, false
			b.splitBudget()
			sum := int64(0)
			for i := range m.Tiles {
				tile := int32(i)
				d := sc.tiles.box[i].Distance(sc.view.pos)
				grant, finest := sc.grantAfter(tile, d, grantNothing, payload.RepNone)
				if grant == grantNothing {
					rt.Fatalf("%d bytes: tile %d is given up", budget, i)
				}
				if isFiner(last[i], finest) {
					rt.Fatalf("%d bytes: tile %d gets %v, with less %v", budget, i, finest, last[i])
				}
				last[i] = finest
				if wanted := sc.repAt(tile, nil, d); isFiner(finest, wanted) {
					finest = wanted
				}
				sum += sc.tiles.fileOf(tile, finest).size
			}
			if sum > budget {
				rt.Fatalf("%d bytes: %d are granted", budget, sum)
			}
		}
		for i, rep := range last {
			if rep != payload.RepFull {
				rt.Fatalf("with plenty tile %d gets %v", i, rep)
			}
		}
	})
}
