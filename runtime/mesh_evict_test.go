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
	"github.com/untoldkit/untold/runtime/memory"
	"github.com/untoldkit/untold/runtime/payload"
)

// meshScene has a tile of one node for each entry; radii of 300 and 400 m.
func meshScene(bytes map[string]int64, x map[string]float64) (*manifest.Manifest, rigOption) {
	m, nodes := sceneOf(), map[string][]fake.Node{}
	ids := make([]string, 0, len(x))
	for id := range x {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		nodes[id] = []fake.Node{{Name: "m", Bytes: bytes[id], Box: [6]float64{x[id] - .5, -.5, -.5, x[id] + .5, .5, .5}}}
		m.Tiles = append(m.Tiles, tileOf(id, nodes[id], radiiAt(300, 400)))
	}
	return m, withNodes(nodes)
}

func TestEvictionScore(t *testing.T) {
	e := &env{cfg: config.Default()}
	ms := &meshStreamer{eventLog: &eventLog{env: e}, budget: &geometryBudget{env: e, memory: memory.Memory{GeometryBudget: 100}}}
	for _, c := range []struct {
		distance float64
		bytes    int64
		want     float64
	}{{199.5, 50, 0.4394}, {199.5, 5, 0.2594}, {9.5, 50, 0.2114}, {9000, 9000, 1}, {0, 0, 0}} {
		if got := ms.evictionScore(c.distance, c.bytes); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v m, %d bytes: score %v, want %v", c.distance, c.bytes, got, c.want)
		}
	}
}

func TestEvictsTheLeastValue(t *testing.T) {
	m, nodes := meshScene(map[string]int64{"A": 50, "B": 5, "C": 50}, map[string]float64{"A": 200, "B": -200, "C": 10})
	r := newRig(t, m, nodes, withPolicy(config.OutOfCoreAlways))
	r.memory.GeometryBudget = 1000
	r.until(3)
	if r.s.Stats().MeshesLoaded != 3 {
		t.Fatal(r.parts())
	}
	r.memory.GeometryBudget = 100
	r.until(10)
	r.expect("3 evict.lru A/m", "evict.")
	if r.parts() != "B/1, C/1" {
		t.Errorf("drawn %s", r.parts())
	}
}

func TestVisibleMeshesNearbyStay(t *testing.T) {
	m, nodes := meshScene(map[string]int64{"near": 50, "far": 51}, map[string]float64{"near": 10, "far": 200})
	r := newRig(t, m, nodes, withPolicy(config.OutOfCoreAlways))
	r.memory.GeometryBudget = 1000
	r.until(3)
	r.memory.GeometryBudget = 100
	r.until(10)
	r.expect("3 evict.lru far/m", "evict.")
	// Nothing takes the visible one, not even a budget of nothing.
	r.memory.GeometryBudget = 10
	r.until(20)
	r.expect("3 evict.lru far/m", "evict.")
	if r.parts() != "near/1" {
		t.Errorf("drawn %s", r.parts())
	}
}

func TestMeshesOutOfViewAreNotProtected(t *testing.T) {
	m, nodes := meshScene(map[string]int64{"back": 50}, map[string]float64{"back": 25})
	r := newRig(t, m, nodes, withPolicy(config.OutOfCoreAlways))
	r.lens()
	r.camera.Forward = [3]float64{-1, 0, 0}
	r.memory.GeometryBudget = 1000
	r.until(3)
	r.memory.GeometryBudget = 45 // less than the only mesh takes: else it would stay
	r.until(3.5)
	r.expect("3 evict.lru back/m", "evict.")
}

// reliefSpy is a TextureRelief that has so many entities left to lower.
type reliefSpy struct {
	left  int
	asked []int
}

func (s *reliefSpy) Shed(n int) int {
	s.asked = append(s.asked, n)
	n = min(n, s.left)
	s.left -= n
	return n
}

// A signal between two calls is handled by the next one.
func TestPressureResponses(t *testing.T) {
	for level, want := range map[memory.PressureLevel]struct{ shed, meshes int }{memory.PressureWarning: {8, 16}, memory.PressureCritical: {20, 32}} {
		var d []float64
		for i := range 48 {
			d = append(d, 40+float64(i)/10)
		}
		textures := &reliefSpy{left: 100}
		r := outOfCoreRig(t, fake.NodesAt(10, d...), func(_ *config.Config, d *Deps, r *rig) { d.Textures = textures })
		r.memory.GeometryBudget = 1_000_000
		r.dt = 16 * time.Millisecond
		for r.s.Stats().MeshesLoaded < 48 || r.s.Stats().UpdateTriggered {
			r.step()
		}
		at := r.now()
		r.s.NotifyMemoryPressure(level)
		r.step()
		st := r.s.Stats()
		if !st.UpdateTriggered || st.EvictionsPerformed != want.meshes || st.MeshesLoaded != 48-want.meshes || !slices.Equal(textures.asked, []int{want.shed}) {
			t.Errorf("%v: %d evictions, %d left, shed %v", level, st.EvictionsPerformed, st.MeshesLoaded, textures.asked)
		}
		if cold := st.CPUBytes == 0; cold != (level == memory.PressureCritical) {
			t.Errorf("%v: %d bytes of main memory are in use", level, st.CPUBytes)
		}
		r.expect(fmt.Sprintf("%.6g evict.shed %d", at, want.shed), "evict.shed")
	}
}

func TestEvictsToTheLowMark(t *testing.T) {
	var d []float64
	for i := range 40 {
		d = append(d, 100+float64(i))
	}
	nodes := fake.NodesAt(22, d...)
	r := newRig(t, sceneOf(tileOf("a", nodes, radiiAt(300, 400))), withNodes(map[string][]fake.Node{"a": nodes}), withPolicy(config.OutOfCoreAlways))
	r.memory.GeometryBudget = 1000
	r.until(20)
	st := r.s.Stats()
	// 39 of them make 85.8 %. The farthest go until 70 % are left, and come back
	// up to half way between the marks.
	if st.MeshEvictions != 8 || st.GeometryBytes != 35*22 {
		t.Errorf("%d evictions, %d bytes\n%s", st.MeshEvictions, st.GeometryBytes, strings.Join(r.events("evict"), "\n"))
	}
	before := st
	r.until(60)
	if st := r.s.Stats(); st.MeshEvictions != before.MeshEvictions || st.MeshLoads != before.MeshLoads {
		t.Errorf("%d evictions and %d loads while nothing changes", st.MeshEvictions-before.MeshEvictions, st.MeshLoads-before.MeshLoads)
	}
}

// A candidate that does not fit makes room,
// whatever the marks say.
func TestMakesRoom(t *testing.T) {
	m, nodes := meshScene(map[string]int64{"x": 30, "y": 30, "new": 45}, map[string]float64{"x": -190, "y": -200, "new": 200})
	r := newRig(t, m, nodes, withPolicy(config.OutOfCoreAlways))
	r.memory.GeometryBudget = 100
	r.camera.Position[0] = -150
	r.path(10, [2]float64{0, -150}, [2]float64{5, 100})
	r.expect("5 evict.lru y/m", "evict.")
	if r.parts() != "new/1, x/1" {
		t.Errorf("drawn %s\n%s", r.parts(), strings.Join(r.log, "\n"))
	}
}

func TestOversizeCandidateDoesNotStarve(t *testing.T) {
	// 40 small ones fill 80 %; a large one, near, wants 60 %: more than one pass
	// may evict.
	m, tiles := sceneOf(), map[string][]fake.Node{}
	var d []float64
	for i := range 40 {
		d = append(d, -200-float64(i))
	}
	tiles["small"] = fake.NodesAt(20, d...)
	tiles["large"] = fake.NodesAt(600, 100)
	m.Tiles = append(m.Tiles, tileOf("small", tiles["small"], radiiAt(400, 500)), tileOf("large", tiles["large"], radiiAt(150, 200)))
	r := newRig(t, m, withNodes(tiles), withPolicy(config.OutOfCoreAlways))
	r.memory.GeometryBudget = 1000
	r.path(20, [2]float64{0, -150}, [2]float64{10, 50})
	if st := r.s.Stats(); !strings.Contains(r.parts(), "large/1") || st.GeometryBytes > 1000 {
		t.Errorf("%d bytes, drawn %s\n%s", st.GeometryBytes, r.parts(), strings.Join(r.log, "\n"))
	}
}

func TestScoreCountsGeometryOnly(t *testing.T) {
	// Textures of any size do not change who goes.
	m, nodes := meshScene(map[string]int64{"A": 40, "B": 50}, map[string]float64{"A": 200, "B": -200})
	r := newRig(t, m, nodes, withPolicy(config.OutOfCoreAlways))
	answer := r.loader
	r.s.loads.loader = fake.LoaderFunc(func(q payload.Request) {
		res := payload.Result{Asset: answer.Asset(q)}
		if q.TileID == "A" {
			res.TextureBytes = 1 << 40
		}
		q.Done.Loaded(q.Token, res)
	})
	r.memory.GeometryBudget = 1000
	r.until(3)
	r.memory.GeometryBudget = 85 // less than both take, or both would stay
	r.until(4)
	r.expect("3 evict.lru B/m", "evict.")
}

// Far below the mark a signal evicts all the
// same, and a critical one frees the main memory.
func TestPressureReachesMeshesAndMainMemory(t *testing.T) {
	r := outOfCoreRig(t, fake.NodesAt(1, 40, 42))
	r.memory.GeometryBudget = 1_000_000
	r.until(2)
	r.s.NotifyMemoryPressure(memory.PressureCritical)
	r.step()
	if st := r.s.Stats(); st.MeshEvictions != 2 || st.CPUBytes != 0 {
		t.Errorf("%+v", st)
	}
}

// The counter holds the evictions of all passes.
func TestEvictionsOfAllTiersAddUp(t *testing.T) {
	nodes := fake.NodesAt(10, 40, 42, 44)
	r := newRig(t, sceneOf(tileOf("a", nodes), tileAt("b", face(60))), withNodes(map[string][]fake.Node{"a": nodes}),
		withConfig(func(c *config.Config) { c.OutOfCoreNodeThreshold = 3 }), withBytes(10))
	r.memory.GeometryBudget = 1000
	r.until(10)
	r.s.NotifyMemoryPressure(memory.PressureWarning)
	r.step()
	if st := r.s.Stats(); st.EvictionsPerformed != 4 || st.Evictions != 4 || st.MeshEvictions != 3 {
		t.Errorf("%+v\n%s", st, strings.Join(r.events("evict."), "\n"))
	}
}

// The camera goes through the root of the scene once.
func TestDistancesUseTheRootOnce(t *testing.T) {
	nodes := fake.NodesAt(1, 40, 45, 300)
	r := outOfCoreRig(t, nodes)
	if err := r.s.SetSceneTransform(1, scaled(0.1, 100, 0, 0)); err != nil {
		t.Fatal(err)
	}
	r.camera.Position[0] = 100
	r.until(2)
	if r.parts() != "a/1, a/2" {
		t.Errorf("drawn %s", r.parts())
	}
	if d := r.record("a").meshes.stubs[2].distance; math.Abs(d-300) > 1e-9 {
		t.Errorf("the third lies at %v m, want 300", d)
	}
}

// Textures count from the first mesh on.
func TestTexturesCountFromTheFirstMesh(t *testing.T) {
	nodes := fake.NodesAt(10, 40, 60)
	r := outOfCoreRig(t, nodes)
	r.s.loads.loader = fake.LoaderFunc(func(q payload.Request) {
		q.Done.Loaded(q.Token, payload.Result{Asset: fake.Asset(nil, nodes...), TextureBytes: 1000})
	})
	r.until(2)
	if st := r.s.Stats(); st.MeshesLoaded != 1 || st.TextureBytes != 1000 {
		t.Errorf("with one mesh: %+v", st)
	}
	r.path(4, [2]float64{2, 20})
	if st := r.s.Stats(); st.MeshesLoaded != 2 || st.TextureBytes != 1000 {
		t.Errorf("with two: %+v", st)
	}
	r.s.NotifyMemoryPressure(memory.PressureCritical)
	r.until(4.1)
	if st := r.s.Stats(); st.MeshesLoaded != 1 && st.TextureBytes != 0 {
		t.Errorf("after relief: %+v", st)
	}
	r.path(20, [2]float64{0, -2000})
	if st := r.s.Stats(); st.TextureBytes != 0 || st.GeometryBytes != 0 {
		t.Errorf("at the end: %+v", st)
	}
}

// Textures are asked before geometry goes.
func TestTexturesGoBeforeGeometry(t *testing.T) {
	textures := &reliefSpy{left: 5}
	r := outOfCoreRig(t, fake.NodesAt(10, 40), func(_ *config.Config, d *Deps, r *rig) { d.Textures = textures })
	r.memory.GeometryBudget, r.memory.TextureBudget = 1000, 1000
	r.until(1)
	r.memory.TextureUsed = 900
	r.until(1.3)
	if !slices.Equal(textures.asked, []int{4, 4, 4}) || r.s.Stats().TexturesShed != 5 || r.s.Stats().Evictions != 0 {
		t.Errorf("asked %v, %+v", textures.asked, r.s.Stats())
	}
	r.expect("1 evict.shed 4; 1.1 evict.shed 1", "evict.")
}

// A scene of which the budget holds a quarter settles: the nearest stay, and
// nothing is loaded and evicted in turn.
func TestShortMemorySettlesOutOfCore(t *testing.T) {
	m, tiles := sceneOf(), map[string][]fake.Node{}
	for z := range 8 {
		for x := range 8 {
			id := fmt.Sprintf("t%d_%d", x, z)
			for k := range 16 {
				x0, z0 := float64(x-4)*20+float64(k%4)*5, float64(z-4)*20+float64(k/4)*5
				tiles[id] = append(tiles[id], fake.Node{Name: fmt.Sprint("n", k), Bytes: 100, Box: [6]float64{x0, 0, z0, x0 + 4, 4, z0 + 4}})
			}
			m.Tiles = append(m.Tiles, tileOf(id, tiles[id], lodsAt(70)))
		}
	}
	r := newRig(t, m, withNodes(tiles), withPolicy(config.OutOfCoreAlways), withLatency(0.05), withConfig(func(c *config.Config) { c.MaxConcurrentLoads, c.VisibleEvictionProtectionRadius = 16, 5 }))
	r.memory.GeometryBudget = 12_800 // of 102,400, of which half are in range
	r.until(120)
	before := r.s.Stats()
	r.until(180)
	st := r.s.Stats()
	if st.MeshLoads != before.MeshLoads || st.MeshEvictions != before.MeshEvictions {
		t.Errorf("%d loads and %d evictions in the last minute", st.MeshLoads-before.MeshLoads, st.MeshEvictions-before.MeshEvictions)
	}
	if st.GeometryUsed > 12_800 || float64(st.GeometryUsed) < 0.7*12_800 {
		t.Errorf("%d bytes in use", st.GeometryUsed)
	}
	farthest, nearest := 0.0, math.Inf(1)
	r.s.forEachSplit(func(rec *record) {
		for i := range rec.meshes.stubs {
			if x := &rec.meshes.stubs[i]; x.state == meshLoaded {
				farthest = max(farthest, x.distance)
			} else {
				nearest = min(nearest, x.distance)
			}
		}
	})
	if farthest > 1.25*nearest {
		t.Errorf("a mesh at %.0f m is loaded, one at %.0f m is not", farthest, nearest)
	}
	t.Logf("%d loads, %d evictions until it settled", before.MeshLoads, before.MeshEvictions)
}

// A tile that is evicted takes its meshes off the list of what could be loaded.
func TestTileIsEvictedWhileItsMeshesWait(t *testing.T) {
	nodes := fake.NodesAt(10, 0, 1, 2)
	r := outOfCoreRig(t, nodes, withDevice(&meshDevice{latency: time.Hour}), withConfig(func(c *config.Config) { c.MaxConcurrentLoads = 0 }))
	r.memory.GeometryBudget = 1000
	r.path(10, [2]float64{0, -50.5}) // beyond the streaming radius, but within a metre
	if r.s.Stats().MeshCandidates != 1 {
		t.Fatalf("%+v", r.s.Stats())
	}
	r.s.cfg.MaxConcurrentLoads = 3
	r.s.NotifyMemoryPressure(memory.PressureWarning)
	r.until(10.2)
	r.expect("10 evict.tile a full", "evict.")
}
