package runtime

import (
	"testing"
	"time"

	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/internal/fake"
	"github.com/untoldkit/untold/runtime/memory"
	"github.com/untoldkit/untold/runtime/payload"
)

// Defects of the reference engine that must not exist here, of tiles that stream
// mesh by mesh.

// The answer to a file that was read again for a tile that has gone in the
// meantime, and come back, changes nothing.
func TestStaleRereadIsDropped(t *testing.T) {
	nodes, released := fake.NodesAt(100, 0, 10, 60), 0
	r := outOfCoreRig(t, nodes, func(_ *config.Config, _ *Deps, r *rig) {
		r.loader.Asset = func(payload.Request) *payload.Asset { return fake.Asset(&released, nodes...) }
		r.loader.Latency = func(q payload.Request) time.Duration {
			if q.Token == 2 { // reading again
				return 20 * time.Second
			}
			return 250 * time.Millisecond
		}
	})
	r.path(3, [2]float64{0, -40})
	r.s.NotifyMemoryPressure(memory.PressureCritical)
	r.path(30, [2]float64{7, -800}, [2]float64{15, -40})
	st := r.s.Stats()
	if st.CPUBytes != 300 || st.CPURoots != 1 || st.ActiveLoads != 0 || st.MeshesLoaded != 2 {
		t.Errorf("%d bytes of %d roots, %d loads, %d meshes", st.CPUBytes, st.CPURoots, st.ActiveLoads, st.MeshesLoaded)
	}
	if released != 2 { // that of the first residence, and the late one
		t.Errorf("%d assets were released", released)
	}
}

// A mesh that the device never finishes gives its only slot back, and waits
// before it takes it again.
func TestHungMeshFreesItsSlot(t *testing.T) {
	d := &meshDevice{stuck: func(k payload.Key) bool { return k.Part == 1 }}
	r := outOfCoreRig(t, fake.NodesAt(1, 5, 6), withDevice(d), withConfig(func(c *config.Config) { c.MaxConcurrentLoads, c.MeshLoadTimeoutSeconds = 1, 10 }))
	r.until(20)
	r.expect("0.3 mesh.load a/n0; 10.4 mesh.failed a/n0 n=1 retry=5; 10.4 mesh.load a/n1; 10.7 mesh.loaded a/n1; 15.4 mesh.load a/n0", "mesh.")
}

// When the meshes go with their tile, its HLOD stays, resident and drawn.
func TestMeshesLeaveTheLevelsAlone(t *testing.T) {
	nodes := fake.NodesAt(1, 0, 3, 6)
	r := newRig(t, sceneOf(tileOf("a", nodes, hlodAt(95))), withNodes(map[string][]fake.Node{"a": nodes}), withPolicy(config.OutOfCoreAlways))
	r.path(24, [2]float64{0, -40}, [2]float64{20, -110})
	rec := r.record("a")
	if rec == nil || rec.meshes != nil || !rec.rep(payload.RepHLOD).resident() || rec.drawn != payload.RepHLOD || rec.full().state != TileUnloaded {
		t.Errorf("%+v", rec)
	}
	if st := r.s.Stats(); st.Undrawn != 0 || st.MeshesLoaded != 0 {
		t.Errorf("%+v", st)
	}
}

// A forced unload takes meshes that are drawn and have nothing in their
// place, those with the device, and the main memory.
func TestForceTakesMeshes(t *testing.T) {
	d := &meshDevice{stuck: func(k payload.Key) bool { return k.Part == 3 }}
	r := outOfCoreRig(t, fake.NodesAt(10, 5, 6, 7), withDevice(d))
	r.until(2)
	if st := r.s.Stats(); st.MeshesLoaded != 2 || st.MeshesLoading != 1 {
		t.Fatalf("%+v", st)
	}
	r.s.UnloadAll()
	st := r.s.Stats()
	if st.GeometryBytes != 0 || st.Meshes != 0 || st.MeshesLoaded != 0 || st.MeshesLoading != 0 || st.CPUBytes != 0 || len(d.since) != 0 || len(r.s.AppendDrawn(nil)) != 0 {
		t.Errorf("%+v, %d on the device", st, len(d.since))
	}
}
