package runtime

import (
	"errors"
	"fmt"
	"testing"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/payloadpath"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/internal/fake"
	"github.com/untoldkit/untold/runtime/memory"
	"github.com/untoldkit/untold/runtime/payload"
)

// A city block of single files.
func TestEntities(t *testing.T) {
	r := newRig(t, sceneOf())
	id, err := r.s.AddEntities("block",
		Entity{ID: "building_A", Path: "building_A.untold", Bounds: face(20)},
		Entity{Path: "lamp.untold", Bounds: face(25), StreamingRadius: 30, Priority: 5},
		Entity{ID: "car", Path: "car.untold", Bounds: face(600)})
	if err != nil {
		t.Fatal(err)
	}
	r.until(1)
	// The default radii 100 and 150 prefetch at 125 m; the lamp has priority.
	r.expect("0 tile.dispatch lamp.untold; 0 tile.dispatch building_A; 0.3 tile.parsed lamp.untold; 0.3 tile.parsed building_A")
	if first := r.loader.Started[0]; first.TileID != "lamp.untold" || first.Dir != "block" || first.Path != "lamp.untold" {
		t.Errorf("first request %+v", first)
	}
	if err := r.s.RemoveScene(id); err != nil || r.s.Stats().ResidentFull != 0 {
		t.Errorf("%v, %+v", err, r.s.Stats())
	}
}

func TestEntitiesRefuse(t *testing.T) {
	r := newRig(t, sceneOf())
	for _, e := range []Entity{
		{Path: "../x.untold", Bounds: face(0)},
		{Path: "x.untold", Bounds: face(0), StreamingRadius: -1},
		{Path: "x.untold", Bounds: face(0), StreamingRadius: 50, UnloadRadius: 40},
		{Path: "x.untold", Bounds: manifest.Bounds{Min: [3]float64{1, 0, 0}}},
	} {
		if _, err := r.s.AddEntities("block", e); err == nil {
			t.Errorf("%+v was accepted", e)
		}
	}
	if _, err := r.s.AddEntities("block", Entity{Path: "../x", Bounds: face(0)}); !errors.Is(err, payloadpath.ErrEscapes) {
		t.Errorf("%v, want ErrEscapes", err)
	}
}

// In the second tier an entity owns its meshes.
func TestEntityOwnsItsMeshes(t *testing.T) {
	nodes := map[string][]fake.Node{"building": fake.NodesAt(30, 40, 42), "lamp": fake.NodesAt(5, 45)}
	r := newRig(t, sceneOf(), withNodes(nodes))
	for _, e := range []Entity{
		{ID: "building", Path: "b.untold", Bounds: tileOf("", nodes["building"]).Bounds},
		{ID: "lamp", Path: "l.untold", Bounds: tileOf("", nodes["lamp"]).Bounds, StreamingRadius: 30, UnloadRadius: 60, Priority: 5},
	} {
		if _, err := r.s.AddEntity("block", e); err != nil {
			t.Fatal(err)
		}
	}
	r.path(20, [2]float64{3, 20}, [2]float64{6, -30}, [2]float64{10, -200}, [2]float64{18, 20})
	r.expect(`0.3 mesh.load building/n0; 0.3 mesh.loaded building/n0; 0.3 mesh.load building/n1; 0.3 mesh.loaded building/n1;
		3 mesh.load lamp/n0; 3 mesh.loaded lamp/n0; 6 mesh.unload lamp/n0;
		10 mesh.unload building/n0; 10 mesh.unload building/n1; 18.3 mesh.load building/n0; 18.3 mesh.loaded building/n0;
		18.3 mesh.load building/n1; 18.3 mesh.loaded building/n1; 18.3 mesh.load lamp/n0; 18.3 mesh.loaded lamp/n0`, "mesh.")
	if st := r.s.Stats(); st.Undrawn != 0 || st.MeshesLoaded != 3 {
		t.Errorf("%+v", st)
	}
}

// Entities of one file load it once and share it. What nobody uses is kept, and
// goes first when the system asks for memory or geometry is short.
func TestEntitiesShareAFile(t *testing.T) {
	read := 0
	cars := func(t *testing.T, opts ...rigOption) *rig {
		read = 0
		r := newRig(t, sceneOf(), opts...)
		r.loader.Asset = func(q payload.Request) *payload.Asset {
			if q.Kept != nil {
				return q.Kept.Retain()
			}
			read++
			return fake.Asset(nil, fake.NodesAt(10, 5)...)
		}
		for i := range 3 {
			if _, err := r.s.AddEntity("block", Entity{ID: fmt.Sprint("car", i), Path: "car.untold", Bounds: face(5)}); err != nil {
				t.Fatal(err)
			}
		}
		return r
	}
	for _, c := range []struct {
		name  string
		short func(*rig)
	}{
		{"warning", func(r *rig) { r.s.NotifyMemoryPressure(memory.PressureWarning) }},
		{"critical", func(r *rig) { r.s.NotifyMemoryPressure(memory.PressureCritical) }},
		{"geometry budget", func(r *rig) { r.memory = memory.Memory{GeometryBudget: 100, GeometryUsed: 90} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := cars(t)
			r.until(2)
			st := r.s.Stats()
			// Two load at a time, the third is offered what they have left.
			if read != 1 || len(r.loader.Started) != 2 || st.MeshesLoaded != 3 || st.MeshCacheFiles != 1 || st.MeshCacheUsers != 3 || st.MeshCacheBytes != 10 {
				t.Fatalf("read %d times in %d loads, %+v", read, len(r.loader.Started), st)
			}
			r.path(30, [2]float64{0, -900})
			if st := r.s.Stats(); st.MeshCacheUnused != 10 || st.MeshCacheUsers != 0 {
				t.Fatalf("%+v", st)
			}
			c.short(r)
			r.step()
			if st := r.s.Stats(); st.MeshCacheFiles != 0 || st.CPUReleased != 10 {
				t.Errorf("%+v", st)
			}
		})
	}
	t.Run("keeps at most its budget", func(t *testing.T) {
		r := cars(t, func(c *config.Config, _ *Deps, _ *rig) { c.MeshCacheBudget = 9 })
		r.until(2)
		r.path(30, [2]float64{0, -900})
		if st := r.s.Stats(); st.MeshCacheFiles != 0 || st.CPUReleased != 0 {
			t.Errorf("%+v", st)
		}
	})
	t.Run("off", func(t *testing.T) {
		r := cars(t, func(c *config.Config, _ *Deps, _ *rig) { c.MeshCacheBudget = 0 })
		r.until(2)
		if st := r.s.Stats(); read != 3 || st.MeshCacheFiles != 0 {
			t.Errorf("read %d times, %+v", read, st)
		}
	})
}

// The file of two entities is loaded for the one that has stayed when the other
// has gone, and again for one that comes when all have gone.
func TestEntitiesGiveASharedLoadUp(t *testing.T) {
	r := newRig(t, sceneOf())
	add := func() payload.SceneID {
		id, err := r.s.AddEntity("block", Entity{Path: "car.untold", Bounds: face(5)})
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	first, second := add(), add()
	r.step()
	for n, id := range []payload.SceneID{first, second} {
		if err := r.s.RemoveScene(id); err != nil {
			t.Fatal(err)
		}
		if err := r.loader.Started[0].Context.Err(); (err != nil) != (n == 1) {
			t.Errorf("after %d of two entities have gone: %v", n+1, err)
		}
	}
	add()
	r.until(1)
	if st := r.s.Stats(); len(r.loader.Started) != 2 || st.ResidentFull != 1 || st.Failures != 0 {
		t.Errorf("%d loads, %+v", len(r.loader.Started), st)
	}
}

// A load that hangs fails by the watchdog, and the next attempt is another load.
func TestEntitySharedLoadHangs(t *testing.T) {
	r := newRig(t, sceneOf(), func(c *config.Config, _ *Deps, _ *rig) { c.TileParseTimeoutSeconds = 2 })
	r.loader.Fault = func(q payload.Request) string {
		if q.Attempt == 1 {
			return "hang"
		}
		return ""
	}
	for i := range 2 {
		if _, err := r.s.AddEntity("block", Entity{ID: fmt.Sprint(i), Path: "car.untold", Bounds: face(5)}); err != nil {
			t.Fatal(err)
		}
	}
	r.until(20)
	if st := r.s.Stats(); len(r.loader.Started) != 2 || st.ResidentFull != 2 || st.Timeouts != 2 {
		t.Errorf("%d loads, %+v", len(r.loader.Started), st)
	}
}
