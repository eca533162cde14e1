package runtime

import (
	"errors"
	"math"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/internal/fake"
	"github.com/untoldkit/untold/runtime/memory"
	"github.com/untoldkit/untold/runtime/payload"
	"pgregory.net/rapid"
)

// scaled returns a column-major matrix that scales and moves.
func scaled(k, x, y, z float64) [16]float64 {
	return [16]float64{k, 0, 0, 0, 0, k, 0, 0, 0, 0, k, 0, x, y, z, 1}
}

func TestSceneTransform(t *testing.T) {
	// With a scale of 0.1 a camera at x = 9 acts as x = 90.
	r := newRig(t, sceneOf(tileAt("a", face(100)), tileAt("b", face(170))))
	if err := r.s.SetSceneTransform(1, scaled(0.1, 0, 0, 0)); err != nil {
		t.Fatal(err)
	}
	r.camera.Position[0] = 9
	r.until(1)
	r.expect("0 tile.dispatch a; 0.3 tile.parsed a")
	if err := r.s.SetSceneTransform(1, scaled(1, -91, 0, 0)); err != nil { // the camera acts as x = 100
		t.Fatal(err)
	}
	r.until(2)
	r.expect("0 tile.dispatch a; 0.3 tile.parsed a; 1 tile.dispatch b; 1.3 tile.parsed b")
	for _, bad := range [][16]float64{scaled(0, 0, 0, 0), scaled(math.NaN(), 0, 0, 0), {}} {
		if err := r.s.SetSceneTransform(1, bad); err == nil {
			t.Errorf("%v was accepted", bad)
		}
	}
	if err := r.s.SetSceneTransform(9, scaled(1, 0, 0, 0)); !errors.Is(err, ErrNoScene) {
		t.Errorf("an unknown scene was moved: %v", err)
	}
}

// The gates follow the root: a scene that is turned, scaled and moved together
// with the camera streams the same tiles.
func TestFrustumFollowsTheRoot(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		num := func(name string, lo, hi float64) float64 { return rapid.Float64Range(lo, hi).Draw(rt, name) }
		k := num("scale", 0.1, 10)
		root := geom.TRS(geom.Vec3{num("x", -90, 90), num("y", -90, 90), num("z", -90, 90)},
			[4]float64{num("qx", -1, 1), num("qy", -1, 1), num("qz", -1, 1), num("qw", 0.1, 1)}, geom.Vec3{k, k, k})
		inverse, ok := root.InverseAffine()
		if !ok {
			rt.Skip("singular")
		}
		id := geom.Identity()
		forward := geom.Vec3{num("fx", -1, 1), num("fy", -0.5, 0.5), -1}.Normalize(0, geom.Vec3{})
		up := geom.Vec3{0, 1, 0}
		c := Camera{Position: [3]float64{1, 2, 3}, Forward: forward, Up: up, FovYDegrees: 60, Aspect: 1.5, Near: 0.1, Far: 500}
		moved := c
		moved.Position, moved.Forward, moved.Up = root.Point(c.Position), root.Dir(forward).Scale(1/k), root.Dir(up).Scale(1/k)
		moved.Near, moved.Far = c.Near*k, c.Far*k
		v := makeView(&c, c.Position, c.Forward, &id, &id, 20)
		w := makeView(&moved, moved.Position, moved.Forward, &root, &inverse, 20)
		for i := range v.planes {
			p, q := v.planes[i], w.planes[i]
			if p.n.Sub(q.n).Len() > 1e-6 || math.Abs(p.d-q.d) > 1e-4 {
				rt.Fatalf("plane %d: %v, moved %v", i, p, q)
			}
		}
	})
}

func TestSeveralScenes(t *testing.T) {
	r := newRig(t, sceneOf(tileAt("a", face(10))), withBytes(5))
	other, err := r.s.AddScene(Source{Manifest: sceneOf(tileAt("b", face(12)), tileAt("c", face(14))), Path: "other/o.json"})
	if err != nil {
		t.Fatal(err)
	}
	if ids := r.s.Scenes(); !slices.Equal(ids, []payload.SceneID{1, other}) {
		t.Errorf("scenes %v", ids)
	}
	r.until(1)
	// The scenes share the two slots.
	r.expect("0 tile.dispatch a; 0 tile.dispatch b; 0.3 tile.parsed a; 0.3 tile.parsed b; 0.3 tile.dispatch c; 0.6 tile.parsed c")
	if drawn := r.s.AppendDrawn(nil); len(drawn) != 3 || drawn[1].Scene != other {
		t.Errorf("drawn %v", drawn)
	}
	if err := r.s.RemoveScene(1); err != nil {
		t.Fatal(err)
	}
	if st := r.s.Stats(); st.GeometryBytes != 10 || st.TotalStreamingEntities != 2 || st.VisibleFull != 2 {
		t.Errorf("%+v", st)
	}
	if err := r.s.RemoveScene(1); !errors.Is(err, ErrNoScene) {
		t.Errorf("removed twice: %v", err)
	}
}

func TestEmptyScenes(t *testing.T) {
	r := newRig(t, sceneOf())
	r.until(1)
	r.expect("")
	s, err := Open(t.Context(), Source{}, scenarioConfig(), Deps{Clock: &fake.Clock{Time: fake.Epoch}})
	if err != nil {
		t.Fatal(err)
	}
	s.Update(Camera{}, time.Second)
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Error(err)
	}
}

func TestAdoptRefuses(t *testing.T) {
	r := newRig(t, sceneOf(tileAt("a", face(10))))
	for _, err := range []error{
		r.s.AddResident(7, "a", payload.RepFull, payload.Result{}), r.s.AddResident(1, "z", payload.RepFull, payload.Result{}), r.s.AddResident(1, "a", payload.RepHLOD, payload.Result{}),
		r.s.AddResident(1, "a", payload.LOD(0), payload.Result{}), r.s.AddResident(1, "a", payload.RepNone, payload.Result{}),
	} {
		if err == nil {
			t.Error("a wrong AddResident was accepted")
		}
	}
	if err := r.s.AddResident(1, "a", payload.RepFull, payload.Result{GeometryBytes: 3}); err != nil {
		t.Fatal(err)
	}
	if err := r.s.AddResident(1, "a", payload.RepFull, payload.Result{}); err == nil {
		t.Error("adopted twice")
	}
	r.until(1)
	r.expect("0 drawn a full", "tile.", "drawn")
}

func TestDisabled(t *testing.T) {
	r := newRig(t, sceneOf(tileAt("a", face(10))), withConfig(func(c *config.Config) { c.Enabled = false }))
	r.until(1)
	if st := r.s.Stats(); st.Frames != 0 || st.UpdateTriggered || len(r.loader.Started) != 0 {
		t.Errorf("%+v", st)
	}
}

func TestSnapshotIsImmutable(t *testing.T) {
	r := newRig(t, sceneOf(tileAt("a", face(10), hlodAt(60))))
	r.until(1)
	snap := r.s.Snapshot()
	want := TileStatus{
		Scene: 1, ID: "a", State: TileParsed, Wanted: payload.RepFull, Resident: payload.RepSet(0).With(payload.RepFull), Drawn: payload.RepFull, Distance: 10,
	}
	if len(snap.Tiles) != 1 || snap.Tiles[0] != want || snap.Frame != 10 {
		t.Errorf("%+v, want %+v", snap, want)
	}
	if again := r.s.Snapshot(); again != snap {
		t.Error("a second Snapshot of the same frame is another one")
	}
	r.s.UnloadAll()
	if after := r.s.Snapshot(); after == snap || after.Tiles[0].Drawn != payload.RepNone {
		t.Error("the snapshot after a forced unload is the one before")
	}
	r.path(30, [2]float64{1, 700})
	if snap.Tiles[0] != want || len(r.s.Snapshot().Tiles) != 0 {
		t.Error("the snapshot changed")
	}
}

func TestEventsAreBounded(t *testing.T) {
	r := newRig(t, sceneOf(tileAt("a", face(10))), withLatency(0), withFault(func(payload.Request) string { return "fail" }),
		withConfig(func(c *config.Config) { c.RetryBackoffBase, c.RetryBackoffMax = 0, 0 }))
	for range 12_000 {
		r.loader.Deliver()
		r.loader.Started = r.loader.Started[:0]
		r.s.Update(r.camera, r.dt)
		r.clock.Time += r.dt
	}
	if n := len(r.s.Events()); n > maxEventBacklog+eventsAtOnce+8 || r.s.Stats().DroppedEvents == 0 {
		t.Errorf("%d events kept, %d dropped", n, r.s.Stats().DroppedEvents)
	}
}

// slowDevice takes its time, on the fake clock.
type slowDevice struct{ clock *fake.Clock }

func (d slowDevice) Upload(payload.Key, *payload.Asset) error {
	d.clock.Time += 3 * time.Millisecond
	return nil
}
func (d slowDevice) Release(payload.Key) { d.clock.Time += 2 * time.Millisecond }

// The counters about the device and its memory.
func TestDeviceAndMemoryCounters(t *testing.T) {
	r := newRig(t, sceneOf(tileAt("a", face(0), hlodAt(95))), withBytes(25), func(_ *config.Config, d *Deps, r *rig) {
		d.Device = slowDevice{r.clock}
	})
	r.memory = memory.Memory{GeometryBudget: 100, TextureBudget: 10, TextureUsed: 15}
	r.path(1, [2]float64{0, -98})
	st := r.s.Stats()
	if st.LastApplyLoadedMeshMs != 3 || st.LastAsyncReloadLODMs != 300 || st.GeometryUtilization != 0.25 || st.GeometryAvailable != 75 ||
		st.TextureUtilization != 1.5 || st.TextureAvailable != 0 || st.TrackedEntities != 1 {
		t.Errorf("%+v", st)
	}
	r.s.UnloadAll()
	if st := r.s.Stats(); st.LastUnloadMeshMs != 2 || st.TrackedEntities != 0 {
		t.Errorf("%+v", st)
	}
	free := newRig(t, sceneOf())
	free.until(0.1)
	if st := free.s.Stats(); st.GeometryUtilization != 0 || st.GeometryAvailable != 0 {
		t.Errorf("without a budget: %+v", st)
	}
}

// A tick in the steady state does not allocate, near tiles or not.
func TestUpdateDoesNotAllocate(t *testing.T) {
	r := newRig(t, cityOf(8, 20), withLatency(0), func(c *config.Config, _ *Deps, _ *rig) {
		c.EnableFrustumGate, c.EnableOcclusionSort, c.VelocityLookAheadTime = true, true, 0.5
	})
	r.lens()
	r.until(30)
	n := testing.AllocsPerRun(200, func() {
		r.camera.Position[0] += 0.001
		r.clock.Time += r.dt
		r.s.Update(r.camera, r.dt)
		r.s.Events()
	})
	if n != 0 {
		t.Errorf("%v allocations per Update", n)
	}
}

// An idle tile costs its row in the table and the index, and no more.
func TestIdleTileMemory(t *testing.T) {
	m := cityOf(200, 50)
	cfg := config.Default()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	sc, err := newScene(Source{Manifest: m, Path: "x"}, &cfg)
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	per := float64(after.HeapAlloc-before.HeapAlloc) / float64(sc.tiles.len())
	t.Logf("%.0f bytes per idle tile with an HLOD and two LODs", per)
	if per > 400 {
		t.Errorf("%.0f bytes per idle tile, want less than 400", per)
	}
	runtime.KeepAlive(sc)
	runtime.KeepAlive(m)
}

func TestNormalizeBands(t *testing.T) {
	// (50,52,-,-,[]) widens the unload radius; the prefetch follows.
	m := sceneOf(tileAt("a", face(10), radiiAt(50, 52)), tileAt("b", face(10), radiiAt(80, 120), hlodAt(300), lodsAt(80, 150)))
	cfg := scenarioConfig()
	cfg.NormalizeBands = true
	sc, err := newScene(Source{Manifest: m, Path: "x"}, &cfg)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := sc.tiles.radius[0], (radii{50, 54, 52}); got != want {
		t.Errorf("a: %v, want %v", got, want)
	}
	from, _ := sc.tiles.hlod(1)
	if lods := sc.tiles.lods(1); from != 119 || len(lods) != 2 || lods[0].from != 80 || lods[1].from != 115 {
		t.Errorf("b: HLOD %v, LODs %v", from, lods)
	}
	if got := autoPrefetch(radii{stream: 50, unload: 120}); got != 85 {
		t.Errorf("automatic prefetch %v, want 85", got)
	}
}

func TestLODGate(t *testing.T) {
	a := tileAt("a", face(70), lodsAt(60))
	for _, gate := range []bool{false, true} {
		r := newRig(t, sceneOf(a), withConfig(func(c *config.Config) { c.LODGate = gate }))
		r.until(0.2)
		want := "0 tile.dispatch a"
		if gate {
			want = ""
		}
		r.expect(want, "tile.")
	}
}

// Nothing is dispatched where it would be in grace at once.
func TestDispatchEndsAtTheUnloadRadius(t *testing.T) {
	for _, c := range []struct {
		name string
		opts []tileOption
		far  float64
		near float64
	}{
		{"unload = streaming radius", []tileOption{radiiAt(50, 50)}, 50.5, 50},
		{"prefetch beyond unload", []tileOption{radiiAt(50, 55), prefetchAt(80)}, 70, 55},
		{"unload within streaming radius", []tileOption{radiiAt(50, 30)}, 40, 30},
	} {
		r := newRig(t, sceneOf(tileAt("a", face(0), c.opts...)))
		r.path(20, [2]float64{0, -c.far})
		if got := r.events(); len(got) != 0 {
			t.Errorf("%s, at %v m: %v", c.name, c.far, got)
		}
		r.path(40, [2]float64{20, -c.near})
		if got := r.events(); len(got) != 2 {
			t.Errorf("%s, at %v m: %v, want one dispatch and its end", c.name, c.near, got)
		}
	}
}

// A scene of nothing but the shared bucket loads it from anywhere.
func TestSharedBucketAlone(t *testing.T) {
	for _, ceiling := range []float64{500, 0} {
		m := sceneOf()
		m.SharedBucket = &manifest.SharedBucket{Tile: tileAt("shared", face(0))}
		r := newRig(t, m, withConfig(func(c *config.Config) { c.MaxQueryRadius = ceiling }))
		r.camera.Position[0] = 9999
		r.until(1)
		r.expect("0 tile.dispatch shared; 0.3 tile.parsed shared")
	}
}

func TestFloorGate(t *testing.T) {
	m := sceneOf(tileAt("near", box(-5, 3, -5, 5, 6, 5), interiorOn(1)), tileAt("above", box(-5, 9, -5, 5, 12, 5), interiorOn(3)),
		tileAt("shell", box(-5, 9, -5, 5, 12, 5)))
	m.PartitioningMode = manifest.ModeKDTreeFloor
	r := newRig(t, m, withConfig(func(c *config.Config) { c.MaxConcurrentTileLoads = 8 }))
	r.until(0.2)
	r.expect("0 tile.dispatch near; 0 tile.dispatch shell")
	if st := r.s.Stats(); st.TilesSkippedByFloor != 1 {
		t.Errorf("%d tiles skipped by the floor gate, want 1", st.TilesSkippedByFloor)
	}
	free := newRig(t, m, withConfig(func(c *config.Config) { c.MaxConcurrentTileLoads, c.FloorProximityGateY = 8, math.Inf(1) }))
	free.until(0.2)
	if got := len(free.events()); got != 3 {
		t.Errorf("%d dispatches without the gate, want 3", got)
	}
}

func TestRepNames(t *testing.T) {
	for _, r := range []payload.Rep{payload.RepNone, payload.RepFull, payload.RepHLOD, payload.LOD(0), payload.LOD(31)} {
		if got, err := payload.ParseRep(r.String()); err != nil || got != r {
			t.Errorf("%v came back as %v, %v", r, got, err)
		}
	}
	if _, err := payload.ParseRep("lod99"); err == nil {
		t.Error("lod99 was accepted")
	}
	if s := payload.RepSet(0).With(payload.RepHLOD); !s.Has(payload.RepHLOD) || s.Has(payload.RepFull) {
		t.Error("sets of representations are wrong")
	}
	for _, name := range CounterNames() {
		if _, ok := (&Stats{}).Counter(name); !ok || name == "" {
			t.Errorf("counter %q is not found", name)
		}
	}
	if _, ok := (&Stats{}).Counter("nope"); ok {
		t.Error("an unknown counter was found")
	}
}
