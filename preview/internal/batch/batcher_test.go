package batch

import (
	"strings"
	"testing"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/memory"
	"github.com/untoldkit/untold/runtime/payload"
)

var (
	tile0 = key(0, payload.RepFull)
	tile1 = key(1, payload.RepFull)
)

func TestTileBecomesABatch(t *testing.T) {
	r := newRig(t)
	r.add(tile0, r.mesh(2, 1, 1), r.mesh(3, 1, 2), r.mesh(4, 1, 1), r.mesh(5, 2, 1))
	r.draw(tile0)
	r.ticks(1) // arrives
	r.expect("alone 4")
	state := func(want CellState) {
		t.Helper()
		if cells := r.b.AppendCells(nil); len(cells) != 1 || cells[0].State != want || cells[0].Meshes != 4 || !cells[0].Visible {
			t.Errorf("%+v, want %v", cells, want)
		}
	}
	state(CellPending)
	r.ticks(1) // quiet for a frame: the job starts
	r.expect("alone 4")
	state(CellPending)
	r.ticks(1) // three meshes of material 1; one of material 2 is no group
	r.expect("1[0+12] alone 1")
	state(CellBatched)
	if s := r.b.Stats(); s.Batches != 1 || s.Cells != 1 || s.DirtyAfter != 0 || s.InFlight != 0 {
		t.Errorf("%+v", s)
	}
	if u := r.device[1].Upload; u.Scene != 1 || u.Rep != payload.RepFull || u.Like != (Ref{tile0, 0}) || u.Bounds.Max[0] != 5 {
		t.Errorf("%+v", u)
	}
	r.finish()
}

// TestWhatJoins: cell, representation, level, material and channels, nothing
// else.
func TestWhatJoins(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(m *testMesh)
		key    payload.Key
		draws  string
	}{
		{"all the same", func(*testMesh) {}, tile0, "1[0+6] alone 0"},
		{"another tile", func(*testMesh) {}, tile1, "1[0+6] alone 0"},
		{"a part", func(*testMesh) {}, payload.Key{Scene: 1, Part: 7}, ""},
		{"another cell", func(m *testMesh) { m.Bounds.Min[0], m.Bounds.Max[0] = 12, 13 }, tile0, "alone 2"},
		{"a cell above", func(m *testMesh) { m.Bounds.Min[1], m.Bounds.Max[1] = 12, 13 }, tile0, "alone 2"},
		{"another scene", func(*testMesh) {}, payload.Key{Scene: 2, Rep: payload.RepFull}, "alone 2"},
		{"a scene without cells", func(*testMesh) {}, payload.Key{Scene: 3, Rep: payload.RepFull}, "alone 2"},
		{"another level", func(m *testMesh) { m.Level = 1 }, tile0, "alone 2"},
		{"another material", func(m *testMesh) { m.Material = 2 }, tile0, "alone 2"},
		{"other channels", func(m *testMesh) { m.Channels = 1 }, tile0, "alone 2"},
		{"not static", func(m *testMesh) { m.Static = false }, tile0, "alone 2"},
		{"far out", func(m *testMesh) { m.Bounds.Min[0], m.Bounds.Max[0] = 3e38, 3e38 }, tile0, "alone 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			m := r.mesh(3, 1, 1)
			c.change(&m)
			if c.key == tile0 {
				r.add(tile0, r.mesh(2, 1, 1), m)
				r.draw(tile0)
			} else {
				r.add(tile0, r.mesh(2, 1, 1))
				if c.draws == "" { // parts of one tile
					c.key.Rep, c.draws = payload.RepFull, "1[0+6] alone 0"
				}
				r.add(c.key, m)
				r.draw(tile0, c.key)
			}
			r.ticks(4)
			r.expect(c.draws)
			r.finish()
		})
	}
}

// TestRebuild: a second tile in the cell is merged with the first; the old batch
// is drawn until the new one can be, and kept for three frames more.
func TestRebuild(t *testing.T) {
	r := newRig(t)
	r.add(tile0, r.mesh(2, 1, 1), r.mesh(3, 1, 1))
	r.draw(tile0)
	r.ticks(3)
	r.expect("1[0+6] alone 0")
	r.add(tile1, r.mesh(4, 1, 1), r.mesh(5, 2, 1), r.mesh(6, 2, 1))
	r.draw(tile0, tile1)
	ready := false
	r.slow = func(ID) bool { return !ready }
	r.ticks(4)
	r.expect("1[0+6] alone 3")
	if s := r.b.Stats(); s.Uploading != 2 || s.Busy != 0 {
		t.Errorf("%+v", s)
	}
	ready = true
	r.ticks(1)
	r.expect("2[0+9] 3[0+6] alone 0")
	r.ticks(2)
	if r.released != 0 {
		t.Error("the old batch went at once")
	}
	r.ticks(1)
	if r.released != 1 {
		t.Error("the old batch is still there")
	}
	// A change of one group leaves the other batches of the cell alone.
	r.add(key(2, payload.RepFull), r.mesh(4, 2, 1))
	r.draw(tile0, tile1, key(2, payload.RepFull))
	r.ticks(3)
	r.expect("2[0+9] 4[0+9] alone 0")
	r.finish()
}

// TestHoles: what is not drawn, fades or leaves is left out of the ranges at
// once, and the batch is made anew later.
func TestHoles(t *testing.T) {
	r := newRig(t)
	r.add(tile0, r.mesh(2, 1, 1))
	r.add(tile1, r.mesh(3, 1, 2))
	r.add(key(2, payload.RepFull), r.mesh(4, 1, 1))
	r.draw(tile0, tile1, key(2, payload.RepFull))
	r.ticks(3)
	r.expect("1[0+12] alone 0")
	r.draw(tile0, key(2, payload.RepFull)) // tile1 shows another representation
	r.tick()
	r.expect("1[0+3] 1[9+3] alone 0")
	r.draw(tile0, tile1, key(2, payload.RepFull))
	r.drawn[0].Fade = 0.25
	r.tick()
	r.expect("1[3+9] alone 1")
	r.drawn[0].Fade = 1
	r.tick()
	r.expect("1[0+12] alone 0")
	r.remove(tile1)
	r.expect("1[0+3] 1[9+3] alone 0")
	r.draw(tile0, key(2, payload.RepFull))
	r.ticks(3)
	r.expect("2[0+6] alone 0")
	r.remove(tile0) // one is no group
	r.draw(key(2, payload.RepFull))
	r.ticks(3)
	r.expect("alone 1")
	r.finish()
}

// TestOneRebuildPerTile: a tile of many meshes causes one job, not several; one
// that streams mesh by mesh waits until it is quiet.
func TestOneRebuildPerTile(t *testing.T) {
	r := newRig(t, func(o *Options) { o.StableFrames = 2 })
	jobs := 0
	var keys []payload.Key
	for i := range 20 {
		k := payload.Key{Scene: 1, Rep: payload.RepFull, Part: int32(i + 1)}
		r.add(k, r.mesh(2, 1, 1))
		keys = append(keys, k)
		r.draw(keys...)
		r.ticks(1)
		jobs += r.b.Stats().Jobs
	}
	if jobs != 0 {
		t.Errorf("%d jobs while it changes", jobs)
	}
	r.ticks(4)
	r.expect("1[0+60] alone 0")
	r.finish()
}

// TestArrivals: a few whole representations come per frame, and all parts.
func TestArrivals(t *testing.T) {
	r := newRig(t, func(o *Options) { o.Limits.Arrivals = 2 })
	for i := range 5 {
		r.add(key(int32(i), payload.RepFull))
		r.add(payload.Key{Scene: 1, Tile: 9, Rep: payload.RepFull, Part: int32(i + 1)})
	}
	for _, want := range []int{7, 2, 1, 0} {
		r.tick()
		if got := r.b.Stats().Arrivals; got != want {
			t.Errorf("%d arrivals, want %d", got, want)
		}
	}
	r.finish()
}

// TestSecondary: LODs and HLODs are batched when the option says so, and then
// nothing that arrives as a whole waits for quiescence.
func TestSecondary(t *testing.T) {
	for _, on := range []bool{false, true} {
		r := newRig(t, func(o *Options) { o.Secondary, o.StableFrames = on, 5 })
		hlod, lod := key(0, payload.RepHLOD), key(1, payload.RepLOD0)
		r.add(hlod, r.mesh(2, 1, 1), r.mesh(3, 1, 1))
		r.add(lod, r.mesh(2, 1, 1), r.mesh(3, 1, 1))
		r.add(key(2, payload.RepFull), r.mesh(2, 1, 1), r.mesh(3, 1, 1))
		r.draw(hlod, lod, key(2, payload.RepFull))
		r.ticks(2)
		if on {
			r.expect("1[0+6] 2[0+6] 3[0+6] alone 0")
		} else {
			r.expect("alone 6")
			r.ticks(5)
			r.expect("1[0+6] alone 4")
		}
		r.finish()
	}
	// Parts wait all the same.
	r := newRig(t, func(o *Options) { o.Secondary, o.StableFrames = true, 3 })
	part := payload.Key{Scene: 1, Rep: payload.RepFull, Part: 1}
	r.add(part, r.mesh(2, 1, 1), r.mesh(3, 1, 1))
	r.draw(part)
	r.ticks(3)
	r.expect("alone 2")
	r.ticks(2)
	r.expect("1[0+6] alone 0")
	r.finish()
}

func TestVisibility(t *testing.T) {
	r := newRig(t, func(o *Options) { o.VisibleFrames = 10 })
	r.add(tile0, r.mesh(2, 1, 1), r.mesh(3, 1, 1))
	r.ticks(5) // resident, not drawn
	if s := r.b.Stats(); s.DeferredByVisibility != 1 {
		t.Errorf("%+v", s)
	}
	r.draw(tile0)
	r.hidden = func(records.Bounds) bool { return true }
	r.ticks(5) // drawn, out of view
	r.expect("alone 2")
	r.hidden = nil
	r.ticks(1)
	r.hidden = func(records.Bounds) bool { return true }
	r.ticks(2)
	r.expect("1[0+6] alone 0")
	// Seen within the last frames: still promoted.
	r.add(tile1, r.mesh(4, 1, 1))
	r.draw(tile0, tile1)
	r.ticks(3)
	r.expect("2[0+9] alone 0")
	r.ticks(10)
	r.add(key(2, payload.RepFull), r.mesh(4, 1, 1))
	r.draw(tile0, tile1, key(2, payload.RepFull))
	r.ticks(3)
	r.expect("2[0+9] alone 1")
	r.finish()
}

func TestComplexityGuard(t *testing.T) {
	r := newRig(t, func(o *Options) { o.MaxCellVertices = 12 })
	r.add(tile0, r.mesh(2, 1, 1), r.mesh(3, 1, 1), r.mesh(4, 2, 90)) // alone, so it does not count
	r.draw(tile0)
	r.ticks(3)
	r.expect("1[0+6] alone 1")
	r.add(tile1, r.mesh(4, 1, 6))
	r.draw(tile0, tile1)
	skipped := 0
	for range 4 {
		r.ticks(1)
		skipped += r.b.Stats().SkippedByComplexity
	}
	r.expect("alone 4")
	if cells := r.b.AppendCells(nil); skipped != 1 || len(cells) != 1 || cells[0].State != CellRefused {
		t.Errorf("skipped %d times, %+v", skipped, cells)
	}
	r.remove(tile1)
	r.draw(tile0)
	r.ticks(3)
	r.expect("2[0+6] alone 1")
	r.finish()
}

// TestLimits: what is started in a tick, in what order, and that a cell over the
// limits still has its turn.
func TestLimits(t *testing.T) {
	r := newRig(t, func(o *Options) {
		o.Limits = Limits{Jobs: 2, Vertices: 40, Results: 1}
		o.MaxCellVertices = 1000
	})
	r.hidden = func(b records.Bounds) bool { return b.Min[0] > 40 && b.Min[0] < 60 && r.frame > 1 }
	at := func(tile int32, x float32, n int) payload.Key {
		r.add(key(tile, payload.RepFull), r.mesh(x, 1, n), r.mesh(x+1, 1, n))
		return key(tile, payload.RepFull)
	}
	// Of the same size: by place. The one out of view last, the large one after
	// the small ones.
	r.draw(at(0, 52, 1), at(1, 32, 1), at(2, 22, 60), at(3, 12, 1), at(4, -8, 1))
	var got []string
	for range 8 {
		r.tick()
		for _, j := range r.jobs {
			got = append(got, string(rune('0'+j.Groups[0].Members[0].Tile)))
		}
		got = append(got, "|")
		r.merge()
	}
	if s := strings.Join(got, ""); s != "|43|1|2|0||||" {
		t.Errorf("started %s", s)
	}
	r.ticks(4)
	r.expect("1[0+6] 2[0+6] 3[0+6] 4[0+360] 5[0+6] alone 0")
	r.finish()
}

// TestStaleResults: a change of the cell, a reset and a removed scene make a
// result late.
func TestStaleResults(t *testing.T) {
	for name, change := range map[string]func(r *rig){
		"added":   func(r *rig) { r.add(tile1, r.mesh(4, 1, 1)); r.tick() },
		"removed": func(r *rig) { r.remove(tile1) },
		"again":   func(r *rig) { r.add(tile0, r.mesh(4, 1, 1), r.mesh(4, 1, 1)); r.draw(tile0) },
		"reset": func(r *rig) {
			r.b.Reset()
			r.keys, r.resident = nil, map[payload.Key][]testMesh{}
			r.draw()
		},
		"scene": func(r *rig) {
			r.b.RemoveScene(1)
			r.keys, r.resident = nil, map[payload.Key][]testMesh{}
			r.draw()
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.add(tile0, r.mesh(2, 1, 1), r.mesh(3, 1, 1))
			r.add(tile1, r.mesh(2, 1, 1))
			r.draw(tile0, tile1)
			r.tick()
			r.tick()
			if len(r.jobs) != 1 {
				t.Fatalf("%d jobs", len(r.jobs))
			}
			change(r)
			r.merge()
			r.tick()
			if s := r.b.Stats(); s.Discarded != 1 || len(r.device) != 0 {
				t.Errorf("%+v", s)
			}
			r.finish()
		})
	}
}

// TestFailures: what cannot be had, or uploaded, is drawn as before.
func TestFailures(t *testing.T) {
	r := newRig(t)
	r.add(tile0, r.mesh(2, 1, 1), r.mesh(3, 1, 1))
	r.draw(tile0)
	r.ticks(3)
	r.expect("1[0+6] alone 0")
	r.refuse = func() bool { return true }
	r.add(tile1, r.mesh(4, 1, 1))
	r.draw(tile0, tile1)
	r.ticks(4)
	r.expect("1[0+6] alone 1")
	r.refuse = nil
	r.lost = func(ref Ref) bool { return ref.Key == tile0 } // not kept any more
	r.add(key(2, payload.RepFull), r.mesh(4, 1, 1))
	r.draw(tile0, tile1, key(2, payload.RepFull))
	r.ticks(4)
	r.expect("1[0+6] 3[0+6] alone 0") // 2 was refused
	if s := r.b.Stats(); s.Failed != 1 || s.Unavailable != 2 {
		t.Errorf("%+v", s)
	}
	r.finish()
}

// TestMemory: the bound holds, and pressure gives everything back.
func TestMemory(t *testing.T) {
	const one = 6*vertex.Size + 6*2
	r := newRig(t, func(o *Options) { o.MaxBytes = 2*one + 1 })
	keys := r.threeCells()
	r.draw(keys...)
	r.ticks(4)
	r.expect("1[0+6] 2[0+6] alone 2")
	if s := r.b.Stats(); s.Bytes != 2*one || s.DeferredByMemory != 1 {
		t.Errorf("%+v", s)
	}
	r.b.Relieve(memory.PressureWarning)
	r.expect("1[0+6] 2[0+6] alone 2")
	r.b.Relieve(memory.PressureCritical)
	r.expect("alone 6")
	r.ticks(4)
	if s := r.b.Stats(); s.Bytes != 0 || s.Batches != 0 {
		t.Errorf("%+v", s)
	}
	r.ticks(relieveFrames)
	r.expect("3[0+6] 4[0+6] alone 2")
	r.finish()
}

func TestCellSize(t *testing.T) {
	m := &manifest.Manifest{StreamingDefaults: manifest.StreamingDefaults{StreamingRadius: 70}}
	if got := CellSize(m); got != 70 {
		t.Error(got)
	}
	m.TileSize = &manifest.Vec3Size{X: 20, Y: 500, Z: 30}
	if got := CellSize(m); got != 30 {
		t.Error(got)
	}
}

func TestOptionsOf(t *testing.T) {
	c := config.Default()
	o := OptionsOf(&c).withDefaults()
	if o.MaxCellVertices != 160_000 || o.MaxCellIndices != 300_000 || o.MaxCellBytes != 8<<20 || o.Secondary || o.Limits != DefaultLimits() {
		t.Errorf("%+v", o)
	}
	c.Batching.MaxCellBytes = 0
	if o := OptionsOf(&c).withDefaults(); o.MaxCellBytes != 1 {
		t.Errorf("a bound of 0 became %d", o.MaxCellBytes)
	}
}

// TestSteadyState: nothing is allocated while nothing changes.
func TestSteadyState(t *testing.T) {
	r := newRig(t)
	var keys []payload.Key
	for i := range 50 {
		k := key(int32(i), payload.RepFull)
		r.add(k, r.mesh(float32(i), 1, 1), r.mesh(float32(i), 1, 1))
		keys = append(keys, k)
	}
	r.draw(keys...)
	r.ticks(20)
	f := Frame{Drawn: r.drawn, Sees: func(payload.SceneID, records.Bounds) bool { return true }}
	draws, alone := r.b.AppendDraws(nil), r.b.AppendAlone(nil)
	if len(draws) == 0 || len(alone) != 0 {
		t.Fatalf("%d draws, %d alone", len(draws), len(alone))
	}
	if n := testing.AllocsPerRun(50, func() {
		r.b.Update(f)
		draws, alone = r.b.AppendDraws(draws[:0]), r.b.AppendAlone(alone[:0])
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	r.finish()
}
