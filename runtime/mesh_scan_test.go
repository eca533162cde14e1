package runtime

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/internal/fake"
	"github.com/untoldkit/untold/runtime/payload"
)

// tileOf is a tile around nodes.
func tileOf(id string, nodes []fake.Node, opts ...tileOption) manifest.Tile {
	inf := math.Inf(1)
	b := box(inf, inf, inf, -inf, -inf, -inf)
	for _, n := range nodes {
		for k := range 3 {
			b.Min[k], b.Max[k] = min(b.Min[k], n.Box[k]), max(b.Max[k], n.Box[k+3])
		}
	}
	return tileAt(id, b, opts...)
}

// withNodes gives full tiles assets by their ids.
func withNodes(nodes map[string][]fake.Node) rigOption {
	return func(_ *config.Config, _ *Deps, r *rig) {
		r.loader.Asset = func(q payload.Request) *payload.Asset {
			if n, ok := nodes[q.TileID]; ok {
				return fake.Asset(nil, n...)
			}
			return nil
		}
	}
}

func withPolicy(p config.OutOfCorePolicy) rigOption {
	return withConfig(func(c *config.Config) { c.OutOfCorePolicy = p })
}

// meshDevice takes a while until what was uploaded can be drawn.
type meshDevice struct {
	clock   *fake.Clock
	latency time.Duration
	refuse  func(payload.Key) error
	stuck   func(payload.Key) bool
	since   map[payload.Key]time.Duration
	onAsset func(payload.Key, *payload.Asset)
}

func (d *meshDevice) Upload(k payload.Key, a *payload.Asset) error {
	if d.onAsset != nil {
		d.onAsset(k, a)
	}
	if d.refuse != nil {
		if err := d.refuse(k); err != nil {
			return err
		}
	}
	if _, ok := d.since[k]; ok {
		return fmt.Errorf("%+v is uploaded already", k)
	}
	d.since[k] = d.clock.Time
	a.Release()
	return nil
}

func (d *meshDevice) Release(k payload.Key) {
	if _, ok := d.since[k]; !ok {
		panic(fmt.Sprintf("%+v is not uploaded", k))
	}
	delete(d.since, k)
}

func (d *meshDevice) Drawable(k payload.Key) bool {
	at, ok := d.since[k]
	return ok && d.clock.Time-at >= d.latency && (d.stuck == nil || !d.stuck(k))
}

// withDevice makes meshes take 0.25 s.
func withDevice(d *meshDevice) rigOption {
	return func(_ *config.Config, deps *Deps, r *rig) {
		d.clock, d.since = r.clock, map[payload.Key]time.Duration{}
		if d.latency == 0 {
			d.latency = 250 * time.Millisecond
		}
		deps.Device, deps.Visibility = d, d
	}
}

// parts lists what is drawn, as "a", "a/1", "a lod0".
func (r *rig) parts() string {
	var out []string
	for _, d := range r.s.AppendDrawn(nil) {
		s := r.s.scenes[0].tiles.id[d.Tile]
		if d.Part > 0 {
			s += fmt.Sprint("/", d.Part)
		}
		if d.Rep != payload.RepFull {
			s += " " + d.Rep.String()
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

func TestAdmission(t *testing.T) {
	few := func(total int64) (out []fake.Node) {
		out = fake.NodesAt(total/3, 0, 2, 4)
		out[0].Bytes += total - 3*(total/3)
		return out
	}
	many := func(n int, total int64) (out []fake.Node) {
		for i := range n {
			out = append(out, fake.NodesAt(total/int64(n), float64(i))...)
		}
		return out
	}
	for _, c := range []struct {
		name  string
		nodes []fake.Node
		want  bool
	}{
		{"49 nodes, 1 %", many(49, 1000), false},
		{"50 nodes, 1 %", many(50, 1000), true},
		{"3 nodes, 30.0 %", few(30_000), false},
		{"3 nodes, 30.1 %", few(30_100), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, sceneOf(tileOf("a", c.nodes, hlodAt(95), lodsAt(60))), withNodes(map[string][]fake.Node{"a": c.nodes}))
			r.memory.GeometryBudget = 100_000
			r.until(1)
			if got := r.s.Stats().OutOfCoreTiles == 1; got != c.want {
				t.Errorf("out of core: %v, want %v", got, c.want)
			}
		})
	}
	t.Run("levels are always whole", func(t *testing.T) {
		r := newRig(t, sceneOf(tileAt("a", face(0), hlodAt(95), lodsAt(60))), withPolicy(config.OutOfCoreAlways))
		r.s.loads.loader = fake.LoaderFunc(func(q payload.Request) {
			q.Done.Loaded(q.Token, payload.Result{Asset: fake.Asset(nil, fake.NodesAt(1, 0, 2)...)})
		})
		r.path(3, [2]float64{0, -70}, [2]float64{1, -120}, [2]float64{2, -20})
		if n := r.s.Stats().OutOfCoreTiles; n != 1 {
			t.Errorf("%d tiles are out of core", n)
		}
		for _, l := range r.events("drawn") {
			if strings.Contains(l, "/") {
				t.Error(l)
			}
		}
	})
	t.Run("policies", func(t *testing.T) {
		nodes := fake.NodesAt(1, 0, 2)
		for policy, want := range map[config.OutOfCorePolicy]int{config.OutOfCoreAuto: 0, config.OutOfCoreImmediate: 0, config.OutOfCoreAlways: 1} {
			r := newRig(t, sceneOf(tileOf("a", nodes)), withNodes(map[string][]fake.Node{"a": nodes}), withPolicy(policy))
			r.until(1)
			if got := r.s.Stats().OutOfCoreTiles; got != want {
				t.Errorf("%s: %d tiles are out of core", policy, got)
			}
		}
	})
	t.Run("no budget is no limit", func(t *testing.T) {
		r := newRig(t, sceneOf(tileAt("a", face(0))), withNodes(map[string][]fake.Node{"a": fake.NodesAt(1<<40, 0)}))
		r.until(1)
		if got := r.s.Stats().OutOfCoreTiles; got != 0 {
			t.Errorf("%d tiles are out of core", got)
		}
	})
}

// The meshes of one asset load in a burst, the nearest first.
func TestSingleRootBurst(t *testing.T) {
	nodes := fake.NodesAt(1, 5, 10, 15, 20, 25)
	r := newRig(t, sceneOf(tileOf("a", nodes, radiiAt(100, 150))), withNodes(map[string][]fake.Node{"a": nodes}), withPolicy(config.OutOfCoreAlways), withDevice(&meshDevice{}))
	r.until(2)
	r.expect(`0.3 mesh.load a/n0; 0.3 mesh.load a/n1; 0.3 mesh.load a/n2; 0.6 mesh.loaded a/n0; 0.6 mesh.loaded a/n1; 0.6 mesh.loaded a/n2;
		0.6 mesh.load a/n3; 0.6 mesh.load a/n4; 0.9 mesh.loaded a/n3; 0.9 mesh.loaded a/n4`, "mesh.")
}

func TestNearBandIsSerialAcrossRoots(t *testing.T) {
	a, b := fake.NodesAt(1, 5, 10), fake.NodesAt(1, 7, 60, 70)
	r := newRig(t, sceneOf(tileOf("a", a, radiiAt(100, 150)), tileOf("b", b, radiiAt(100, 150))), withNodes(map[string][]fake.Node{"a": a, "b": b}),
		withPolicy(config.OutOfCoreAlways), withDevice(&meshDevice{}))
	r.until(0.4)
	// One of the near band, the rest of the slots for those beyond.
	r.expect("0.3 mesh.load a/n0; 0.3 mesh.load b/n1; 0.3 mesh.load b/n2", "mesh.")
}

// A backlog of meshes makes every frame tick, until it is gone.
func TestAdaptiveTick(t *testing.T) {
	nodes := fake.NodesAt(1, 1, 2, 3, 4, 5)
	d := &meshDevice{latency: 40 * time.Millisecond}
	r := newRig(t, sceneOf(tileOf("a", nodes)), withNodes(map[string][]fake.Node{"a": nodes}), withLatency(0), withPolicy(config.OutOfCoreAlways), withDevice(d))
	r.dt = 16 * time.Millisecond
	var at []int
	for call := 1; call <= 32; call++ {
		r.step()
		if r.s.Stats().UpdateTriggered {
			at = append(at, call)
		}
	}
	// Call 7 dispatches the tile, 8 starts three meshes of five, which are there
	// at 11; the other two at 14. Then only every seventh call ticks.
	if !slices.Equal(at, []int{7, 8, 9, 10, 11, 14, 21, 28}) {
		t.Errorf("ticks at calls %v\n%s", at, strings.Join(r.log, "\n"))
	}
}

// Depth does not matter, the tile owns all.
func TestNestedStubsCount(t *testing.T) {
	nodes := []fake.Node{{Name: "root"}, {Name: "group", Parent: "root"}}
	for _, n := range fake.NodesAt(1, 5, 10) {
		n.Parent = "group"
		nodes = append(nodes, n)
	}
	r := newRig(t, sceneOf(tileAt("a", face(5))), withNodes(map[string][]fake.Node{"a": nodes}), withPolicy(config.OutOfCoreAlways))
	r.until(1)
	st := r.s.Snapshot().Tiles[0]
	if st.Meshes != 2 || st.MeshesLoaded != 2 || st.Visual != VisualComplete || r.parts() != "a/1, a/2" {
		t.Errorf("%+v, drawn %s", st, r.parts())
	}
}

func TestNestedStubsEndTheFallback(t *testing.T) {
	nodes := []fake.Node{{Name: "root"}}
	for _, n := range fake.NodesAt(1, 5, 10) {
		n.Parent = "root"
		nodes = append(nodes, n)
	}
	r := newRig(t, sceneOf(tileAt("a", face(5), lodsAt(30))), withNodes(map[string][]fake.Node{"a": nodes}), withPolicy(config.OutOfCoreAlways))
	r.path(5, [2]float64{0, -40}, [2]float64{2, 0})
	if r.parts() != "a/1, a/2" || r.s.Stats().ResidentLOD != 0 {
		t.Errorf("drawn %s\n%s", r.parts(), strings.Join(r.log, "\n"))
	}
}

// Stubs have the radii of their tile.
func TestStubsHaveFiniteRadii(t *testing.T) {
	nodes := fake.NodesAt(1, 0, 10, 60, 70)
	r := newRig(t, sceneOf(tileOf("a", nodes)), withNodes(map[string][]fake.Node{"a": nodes}), withPolicy(config.OutOfCoreAlways))
	// Two are within 51 m; from -35 on the two others are beyond 100 m.
	r.until(2)
	if r.parts() != "a/1, a/2" {
		t.Errorf("at 0: %s", r.parts())
	}
	r.path(4, [2]float64{2, 40})
	if r.parts() != "a/1, a/2, a/3, a/4" {
		t.Errorf("at 40: %s", r.parts())
	}
	r.path(6, [2]float64{4, -35})
	if r.parts() != "a/1, a/2, a/3" { // 95 m away
		t.Errorf("at -35: %s", r.parts())
	}
	r.expect("4 mesh.unload a/n3", "mesh.unload")
}

// What a hand-off needs is loaded wherever it lies, and stays.
func TestFallbackStaysUntilUsable(t *testing.T) {
	nodes := fake.NodesAt(1, 0, 10, 20, 30, 40, 50, 60, 70, 80, 90)
	d := &meshDevice{latency: time.Second}
	r := newRig(t, sceneOf(tileOf("a", nodes, lodsAt(30))), withNodes(map[string][]fake.Node{"a": nodes}), withPolicy(config.OutOfCoreAlways), withDevice(d),
		withConfig(func(c *config.Config) { c.EnableFrustumGate = true }))
	r.lens()
	// It looks past the tile: one or two of its meshes are in view.
	r.path(60, [2]float64{0, -40}, [2]float64{5, 0}, [2]float64{30, -55}, [2]float64{40, -95}, [2]float64{50, -130})
	if st := r.s.Stats(); st.Undrawn != 0 {
		t.Errorf("undrawn %d\n%s", st.Undrawn, strings.Join(r.log, "\n"))
	}
	// The level gives way when five of ten are there, and comes back when the
	// tile goes.
	r.expect("1.3 drawn a lod0; 7.3 drawn a full; 51.3 drawn a lod0", "drawn")
}

// The interior gate holds for the meshes of an interior
// tile as well, and unloads none.
func TestInteriorGateHoldsForMeshes(t *testing.T) {
	nodes := fake.NodesAt(1, 0, 10, 40)
	m := sceneOf(tileOf("a", nodes, radiiAt(30, 60), interiorOn(0)))
	m.PartitioningMode = manifest.ModeQuadtreeFloor
	m.InteriorZone = &manifest.Bounds{Min: [3]float64{-20, -10, -20}, Max: [3]float64{20, 10, 20}}
	r := newRig(t, m, withNodes(map[string][]fake.Node{"a": nodes}), withPolicy(config.OutOfCoreAlways))
	r.path(4, [2]float64{0, 5}, [2]float64{1, 5}, [2]float64{2, 21})
	r.expect("0.3 mesh.load a/n0; 0.3 mesh.load a/n1; 0.3 mesh.loaded a/n0; 0.3 mesh.loaded a/n1", "mesh.")
	r.path(5, [2]float64{4, 19})
	if got := len(r.events("mesh.loaded")); got != 3 {
		t.Errorf("%d meshes are loaded inside the zone\n%s", got, strings.Join(r.log, "\n"))
	}
}

// Meshes out of view wait, those in view do not.
func TestMeshFrustumGate(t *testing.T) {
	nodes := append(fake.NodesAt(1, 12, -12), fake.Node{Name: "ahead", Box: [6]float64{-.5, -.5, -20, .5, .5, -19}, Bytes: 1})
	r := newRig(t, sceneOf(tileOf("a", nodes)), withNodes(map[string][]fake.Node{"a": nodes}), withPolicy(config.OutOfCoreAlways),
		withConfig(func(c *config.Config) { c.EnableFrustumGate = true }))
	r.lens()
	r.until(2)
	r.expect("0.3 mesh.load a/ahead; 0.3 mesh.loaded a/ahead", "mesh.")
	r.camera.Forward = [3]float64{1, 0, 0}
	r.until(3)
	r.expect("0.3 mesh.load a/ahead; 0.3 mesh.loaded a/ahead; 2 mesh.load a/n0; 2 mesh.loaded a/n0", "mesh.")
}
