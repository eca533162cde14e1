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

// Two entities of one file load it once.
func TestEntitiesShareAFile(t *testing.T) {
	var cache *payload.MeshCache
	r := newRig(t, sceneOf(), func(_ *config.Config, d *Deps, r *rig) {
		cache = payload.NewMeshCache(r.loader, 1000)
		d.MeshCache = cache
	})
	r.loader.Asset = func(payload.Request) *payload.Asset { return fake.Asset(nil, fake.NodesAt(10, 5)...) }
	for i := range 3 {
		if _, err := r.s.AddEntity("block", Entity{ID: fmt.Sprint("car", i), Path: "car.untold", Bounds: face(5)}); err != nil {
			t.Fatal(err)
		}
	}
	r.until(2)
	if st := r.s.Stats(); len(r.loader.Started) != 1 || st.MeshesLoaded != 3 {
		t.Errorf("%d loads, %+v", len(r.loader.Started), st)
	}
	r.path(30, [2]float64{0, -900})
	if u := cache.Usage(); u.Unused != 10 {
		t.Errorf("%+v", u)
	}
	r.s.NotifyMemoryPressure(memory.PressureWarning)
	r.step()
	if u := cache.Usage(); u != (payload.CacheUsage{}) || r.s.Stats().CPUReleased != 10 {
		t.Errorf("%+v", u)
	}
}
