package runtime

import (
	"fmt"
	"math"
	"testing"

	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/internal/fake"
	"github.com/untoldkit/untold/runtime/payload"
)

// However far the camera was, steps of a metre count when it is back.
func TestFarExcursionWakesTiles(t *testing.T) {
	for _, far := range []float64{1e9, 1e12, 1e15, 1e16, 1e17, 1e18, 1e30, 1e200, math.MaxFloat64} {
		r := newRig(t, sceneOf(tileAt("a", face(200), hlodAt(95))))
		r.until(1)
		r.camera.Position[0] = far
		r.step()
		for x := -300.0; x <= 205; x += 5 {
			r.camera.Position[0] = x
			r.step()
		}
		if st := r.s.Stats(); st.ResidentFull != 1 {
			t.Errorf("after %g m the tile around the camera is not loaded: %v", far, r.events())
		}
	}
}

// Also when it is the root of the scene that was moved.
func TestFarRootWakesTiles(t *testing.T) {
	r := newRig(t, sceneOf(tileAt("a", face(200))))
	r.until(1)
	for _, x := range []float64{1e17, 0} {
		if err := r.s.SetSceneTransform(1, scaled(1, x, 0, 0)); err != nil {
			t.Fatal(err)
		}
		r.step()
	}
	for x := 0.0; x < 200; x += 5 {
		r.camera.Position[0] = x
		r.step()
	}
	if st := r.s.Stats(); st.ResidentFull != 1 {
		t.Errorf("the tile is not loaded: %v", r.events())
	}
}

// The cost of a tick follows what is near: tiles that have failed keep their
// count, but nobody looks at them once they are far behind.
func TestFailedTilesFarBehindSleep(t *testing.T) {
	m := sceneOf()
	for i := range 60 {
		m.Tiles = append(m.Tiles, tileAt(fmt.Sprint("t", i), around(float64(i), 0, 0, 1)))
	}
	r := newRig(t, m, failing(payload.RepFull), withConfig(func(c *config.Config) { c.MaxConcurrentTileLoads = 64 }))
	r.until(2)
	r.camera.Position[0] = 1e6
	r.until(4)
	if sc := r.s.scenes[0]; len(sc.active) != 60 || len(sc.awake) != 0 {
		t.Errorf("%d records, %d of them awake; want 60 asleep", len(sc.active), len(sc.awake))
	}
	r.camera.Position[0] = 0
	r.until(7)
	if got := r.record("t0").full().fails; got != 2 {
		t.Errorf("%d failures after the return, want 2", got)
	}
}

// What was unloaded under short memory stays away for a while. Then it comes back,
// also where the camera stands still.
func TestTilesSleepNotBeforeTheirHoldEnds(t *testing.T) {
	m, bytes := leveled(1)
	r := newRig(t, m)
	r.loader.Bytes = bytes
	r.memory.GeometryBudget, r.memory.GeometryUsed = 200, 150 // room for the HLOD alone
	r.camera.Position[0] = -110
	r.until(2)
	r.s.UnloadAll()
	r.until(4)
	if reach := r.s.Stats().GeometryReach; !(reach < 110) {
		t.Errorf("the geometry reaches %v m, and a tile at 110 m is held back", reach)
	}
	r.until(8)
	r.expect(`
		0 hlod.load t00; 0.3 hlod.loaded t00;
		2 hlod.unload t00;
		5 hlod.load t00; 5.3 hlod.loaded t00`)
}

// The record of a tile of which nothing is left goes when its loads and unloads no
// longer count.
func TestTilesSleepNotBeforeTheyAreForgotten(t *testing.T) {
	r := newRig(t, sceneOf(tileAt("a", face(0))), withConfig(func(c *config.Config) {
		c.UnloadGracePeriod, c.MinimumParsedTileResidentSeconds = 0, 0
	}))
	r.until(1)
	r.camera.Position[0] = -200
	r.until(5)
	if r.record("a") == nil {
		t.Error("the loads and unloads of the tile are forgotten at once")
	}
	r.until(6)
	if r.record("a") != nil {
		t.Error("the record stays")
	}
}

// A full tile whose meshes become drawable after the levels were planned is planned
// once more: nothing works towards a level that it does not want.
func TestTilesSleepNotBeforeTheyArePlanned(t *testing.T) {
	nodes := []fake.Node{{Name: "m", Bytes: 1, Box: [6]float64{45, -1, -1, 55, 1, 1}}}
	first := 20
	slot := tileAt("b", face(60), radiiAt(5, 10), lodsAt(40)) // has the only slot for LODs
	slot.Priority = &first
	r := newRig(t, sceneOf(tileOf("a", nodes, lodsAt(40)), slot), withNodes(map[string][]fake.Node{"a": nodes}), withPolicy(config.OutOfCoreAlways),
		withConfig(func(c *config.Config) { c.MaxConcurrentLODLoads = 1 }), withFault(func(q payload.Request) string {
			return map[payload.Rep]string{payload.LOD(0): "hang"}[q.Key.Rep]
		}))
	r.until(3)
	r.expect("0 scene.load; 0 tile.dispatch a; 0 lod.load b 0; 0.3 tile.parsed a; 0.3 mesh.load a/m; 0.3 mesh.loaded a/m; 0.3 drawn a full", "")
	if x := r.record("a"); x.target != payload.RepNone || x.wanted != payload.RepFull {
		t.Errorf("the tile works towards %v and wants %v", x.target, x.wanted)
	}
}

// A tile all of whose meshes were evicted is granted nothing for a while, but only
// until another mesh has come.
func TestTilesSleepNotBeforeTheirGrantReturns(t *testing.T) {
	nodes := []fake.Node{
		{Name: "m0", Bytes: 100, Box: [6]float64{0, -1, -1, 1, 1, 1}},
		{Name: "m1", Bytes: 100, Box: [6]float64{60, -1, -1, 61, 1, 1}},
	}
	r := newRig(t, sceneOf(tileOf("a", nodes)), withNodes(map[string][]fake.Node{"a": nodes}), withPolicy(config.OutOfCoreAlways))
	r.memory.GeometryBudget = 1000
	r.camera.Position[0] = -45
	r.until(3)
	r.memory.GeometryUsed = 2000
	r.until(3.1)
	r.memory.GeometryUsed, r.camera.Position[0] = 0, 65
	r.until(5)
	r.expect(`
		0.3 mesh.load a/m0; 0.3 mesh.loaded a/m0;
		3 evict.lru a/m0; 3 mesh.unload a/m0;
		3.1 mesh.load a/m1; 3.1 mesh.loaded a/m1`, "mesh.", "evict.")
	if x := r.record("a"); x.grant != grantAll || !x.everDrawn {
		t.Errorf("granted %v, and that it goes undrawn would be noticed: %v", x.grant, x.everDrawn)
	}
}
