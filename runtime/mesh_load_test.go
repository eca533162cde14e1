package runtime

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/internal/fake"
	"github.com/untoldkit/untold/runtime/memory"
	"github.com/untoldkit/untold/runtime/payload"
)

func outOfCoreRig(t *testing.T, nodes []fake.Node, opts ...rigOption) *rig {
	t.Helper()
	opts = append([]rigOption{withNodes(map[string][]fake.Node{"a": nodes}), withPolicy(config.OutOfCoreAlways)}, opts...)
	return newRig(t, sceneOf(tileOf("a", nodes)), opts...)
}

func TestMeshWatchdogAndBackoff(t *testing.T) {
	d := &meshDevice{stuck: func(k payload.Key) bool { return k.Part == 1 }}
	r := outOfCoreRig(t, fake.NodesAt(1, 5, 10), withDevice(d))
	r.until(140)
	r.expect(`0.3 mesh.load a/n0; 0.3 mesh.load a/n1; 0.6 mesh.loaded a/n1; 60.4 mesh.failed a/n0 n=1 retry=5;
		65.4 mesh.load a/n0; 125.5 mesh.failed a/n0 n=2 retry=10; 135.5 mesh.load a/n0`, "mesh.")
	if st := r.s.Stats(); st.MeshFailures != 2 || st.MeshTimeouts != 2 || st.GeometryBytes != 2 || len(d.since) != 2 {
		t.Errorf("%+v, %d on the device", st, len(d.since))
	}
}

func TestMeshUploadFails(t *testing.T) {
	failures := 0
	d := &meshDevice{refuse: func(k payload.Key) error {
		if k.Part == 1 && failures < 2 {
			failures++
			return fake.ErrFake
		}
		return nil
	}}
	r := outOfCoreRig(t, fake.NodesAt(1, 5, 10), withDevice(d))
	r.until(20)
	r.expect(`0.3 mesh.load a/n0; 0.3 mesh.load a/n1; 0.3 mesh.failed a/n0 n=1 retry=5; 0.6 mesh.loaded a/n1;
		5.3 mesh.load a/n0; 5.3 mesh.failed a/n0 n=2 retry=10; 15.3 mesh.load a/n0; 15.6 mesh.loaded a/n0`, "mesh.")
}

func TestMeshUnloadsAreCapped(t *testing.T) {
	var d []float64
	for i := range 40 {
		d = append(d, float64(i)/10)
	}
	nodes := fake.NodesAt(1, d...)
	far := fake.NodesAt(1, -60)[0]
	far.Name = "far"
	for range 41 { // so that the tile stays usable without the others
		nodes = append(nodes, far)
	}
	r := outOfCoreRig(t, nodes, withConfig(func(c *config.Config) { c.MaxConcurrentLoads = 1024 }))
	r.path(3, [2]float64{0, -30})
	if got := r.s.Stats().MeshesLoaded; got != 81 {
		t.Fatalf("%d meshes are loaded", got)
	}
	r.path(3.5, [2]float64{3, -105})
	for i, want := range []int{12, 24, 36, 40, 40} {
		n := 0
		for _, l := range r.events("mesh.unload") {
			if at := float64(30+i) / 10; eventTime(l) <= at+1e-9 {
				n++
			}
		}
		if n != want {
			t.Errorf("%d unloads after %d ticks, want %d", n, i+1, want)
		}
	}
	if first := r.events("mesh.unload")[0]; first != "3 mesh.unload a/n39" {
		t.Errorf("first %q, want the farthest", first)
	}
}

func eventTime(line string) float64 {
	at, _, _ := strings.Cut(line, " ")
	d, _ := time.ParseDuration(at + "s")
	return d.Seconds()
}

// gatedPrewarm blocks until it is let go.
type gatedPrewarm struct {
	gate    chan struct{}
	started chan RootID
}

func (p *gatedPrewarm) Prewarm(ctx context.Context, root RootID, asset *payload.Asset) error {
	p.started <- root
	if len(asset.Entities) == 0 {
		return errors.New("no asset")
	}
	select {
	case <-p.gate:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Meshes wait while the textures of their root are being decoded, and
// take no slots.
func TestPrewarmDefersMeshes(t *testing.T) {
	p := &gatedPrewarm{make(chan struct{}), make(chan RootID, 1)}
	r := outOfCoreRig(t, fake.NodesAt(1, 5, 10), func(_ *config.Config, d *Deps, _ *rig) { d.Prewarmer = p })
	r.until(2)
	r.expect("", "mesh.")
	if st := r.s.Stats(); st.PrewarmsActive != 1 || st.PendingLoadBacklog != 0 || st.ActiveLoads != 0 {
		t.Errorf("%+v", st)
	}
	<-p.started
	close(p.gate)
	<-r.s.Ready() // also of the tile's answer
	for r.s.Stats().PrewarmsActive > 0 {
		r.step()
	}
	r.until(r.now() + 0.5)
	if got := len(r.events("mesh.loaded")); got != 2 {
		t.Errorf("%d meshes are loaded\n%s", got, strings.Join(r.log, "\n"))
	}
}

func TestCloseEndsPrewarms(t *testing.T) {
	p := &gatedPrewarm{make(chan struct{}), make(chan RootID, 1)}
	r := outOfCoreRig(t, fake.NodesAt(1, 5, 10), func(_ *config.Config, d *Deps, _ *rig) { d.Prewarmer = p })
	r.until(1)
	<-p.started
	if err := r.s.Close(); err != nil {
		t.Fatal(err)
	}
	if u := r.s.meshes.registry.usage(); u != (registryUsage{}) {
		t.Errorf("%+v", u)
	}
}

// Critical pressure gives the main memory back; the file is read again when
// something that is not on the device is wanted.
func TestReleaseWarmAndReadAgain(t *testing.T) {
	released := 0
	nodes := fake.NodesAt(100, 0, 10, 60)
	r := outOfCoreRig(t, nodes, func(_ *config.Config, _ *Deps, r *rig) {
		r.loader.Asset = func(payload.Request) *payload.Asset { return fake.Asset(&released, nodes...) }
	})
	r.path(3, [2]float64{0, -40}) // only n0 and n1 come near
	if st := r.s.Stats(); st.CPUBytes != 300 || st.MeshesLoaded != 2 {
		t.Fatalf("%+v", st)
	}
	r.s.NotifyMemoryPressure(memory.PressureCritical)
	r.until(3.2)
	// Under pressure from the system both meshes go whatever the mark says, but
	// visible ones near the camera.
	if st := r.s.Stats(); st.CPUBytes != 0 || st.CPUReleased != 300 || st.MeshEvictions != 2 || st.GeometryBytes != 0 || released != 1 {
		t.Errorf("%+v, released %d", st, released)
	}
	r.until(12)
	if st := r.s.Stats(); st.MeshesLoaded != 2 || st.CPUBytes != 300 || st.CPURereads != 1 || st.Undrawn == 0 {
		t.Errorf("%+v", st)
	}
	r.expect("0 tile.dispatch a; 0.3 tile.parsed a") // no event of a load
	if got := len(r.loader.Started); got != 2 {
		t.Errorf("%d requests", got)
	}
}

func TestReadAgainFails(t *testing.T) {
	fails := 2
	r := outOfCoreRig(t, fake.NodesAt(100, 0, 10, 60), withFault(func(q payload.Request) string {
		if q.Token > 1 && fails > 0 {
			fails--
			return "fail"
		}
		return ""
	}))
	r.path(3, [2]float64{0, -40})
	r.s.NotifyMemoryPressure(memory.PressureCritical)
	r.until(40)
	r.expect("0 tile.dispatch a; 0.3 tile.parsed a; 6.3 tile.failed a n=1 retry=5; 11.6 tile.failed a n=2 retry=10")
	if st := r.s.Stats(); st.MeshesLoaded != 2 {
		t.Errorf("%+v", st)
	}
}

func TestReadAgainFindsAnotherFile(t *testing.T) {
	loads := 0
	nodes := fake.NodesAt(100, 0, 10, 60)
	r := outOfCoreRig(t, nodes, func(_ *config.Config, _ *Deps, r *rig) {
		r.loader.Asset = func(payload.Request) *payload.Asset {
			if loads++; loads > 1 {
				return fake.Asset(nil, fake.NodesAt(7, 0, 10)...)
			}
			return fake.Asset(nil, nodes...)
		}
	})
	r.path(3, [2]float64{0, -40})
	r.s.NotifyMemoryPressure(memory.PressureCritical)
	r.until(9)
	r.expect("0 tile.dispatch a; 0.3 tile.parsed a; 6.3 tile.unload a; 6.3 tile.dispatch a; 6.6 tile.parsed a")
	if st := r.s.Stats(); st.Meshes != 2 || st.MeshesLoaded != 2 || st.GeometryBytes != 14 {
		t.Errorf("%+v", st)
	}
}

// The tile goes while its file is being read again.
func TestUnloadWhileReadingAgain(t *testing.T) {
	r := outOfCoreRig(t, fake.NodesAt(100, 0, 10, 60), func(_ *config.Config, _ *Deps, r *rig) {
		r.loader.Latency = func(q payload.Request) time.Duration {
			if q.Token > 1 {
				return 20 * time.Second
			}
			return 250 * time.Millisecond
		}
	})
	r.path(3, [2]float64{0, -40})
	r.s.NotifyMemoryPressure(memory.PressureCritical)
	r.path(30, [2]float64{7, -800})
	if st := r.s.Stats(); st.ActiveLoads != 0 || r.s.loads.parsing != [classes]int{} || st.CPUBytes != 0 || r.s.meshes.registry.usage().Roots != 0 {
		t.Errorf("%+v, %v", st, r.s.loads.parsing)
	}
}
