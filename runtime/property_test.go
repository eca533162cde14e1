package runtime

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
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

// story is a random run, drawn once and played several times.
type story struct {
	scene    *manifest.Manifest
	cfg      config.Config
	latency  []float64 // seconds, by token
	faults   []string  // by token
	fetch    float64   // 0: no fetcher
	drawable float64   // seconds until uploads are drawable, 0: at once
	frames   []frame
	window   int                    // of idle tiles
	calm     bool                   // no faults, no memory pressure, no forced unloads
	nodes    map[string][]fake.Node // of full tiles
}

type frame struct {
	camera Camera
	dt     time.Duration
	action string
	used   int64
}

func drawStory(t *rapid.T) *story {
	m := sceneOf()
	if rapid.Bool().Draw(t, "floors") {
		m.PartitioningMode = manifest.ModeKDTreeFloor
		m.InteriorZone = &manifest.Bounds{Min: [3]float64{-60, -10, -60}, Max: [3]float64{60, 30, 60}}
	}
	coord := rapid.Float64Range(-150, 150)
	for i := range rapid.IntRange(1, 12).Draw(t, "tiles") {
		m.Tiles = append(m.Tiles, drawTile(t, i, coord))
	}
	if rapid.IntRange(0, 3).Draw(t, "shared") == 0 {
		m.SharedBucket = &manifest.SharedBucket{Tile: tileAt("shared", around(0, 0, 0, 100))}
	}
	s := &story{scene: m, cfg: drawConfig(t), calm: rapid.Bool().Draw(t, "calm")}
	s.latency = rapid.SliceOfN(rapid.Float64Range(0, 3), 16, 16).Draw(t, "latency")
	s.faults = make([]string, 16)
	if !s.calm {
		s.faults = rapid.SliceOfN(rapid.SampledFrom([]string{"", "", "", "fail", "hang"}), 16, 16).Draw(t, "faults")
	}
	if rapid.IntRange(0, 2).Draw(t, "remote") == 0 {
		s.fetch = rapid.Float64Range(0.01, 2).Draw(t, "fetch")
	}
	if rapid.IntRange(0, 2).Draw(t, "slow device") == 0 {
		s.drawable = rapid.Float64Range(0.01, 3).Draw(t, "drawable")
	}
	s.window = rapid.SampledFrom([]int{1, 3, scanWindow}).Draw(t, "window")
	if rapid.Bool().Draw(t, "second tier") {
		s.drawNodes(t)
	}
	s.drawFrames(t)
	return s
}

func drawTile(t *rapid.T, i int, coord *rapid.Generator[float64]) manifest.Tile {
	b := around(coord.Draw(t, "x"), rapid.Float64Range(-10, 10).Draw(t, "y"), coord.Draw(t, "z"), rapid.Float64Range(1, 30).Draw(t, "half"))
	var opts []tileOption
	if rapid.Bool().Draw(t, "own radii") {
		r := rapid.Float64Range(5, 80).Draw(t, "radius")
		opts = append(opts, radiiAt(r, r+rapid.Float64Range(0, 60).Draw(t, "band")))
	}
	if rapid.Bool().Draw(t, "hlod") {
		opts = append(opts, hlodAt(rapid.Float64Range(20, 200).Draw(t, "switch")))
	}
	if n := rapid.IntRange(0, 3).Draw(t, "lods"); n > 0 {
		opts = append(opts, lodsAt(rapid.SliceOfN(rapid.Float64Range(10, 150), n, n).Draw(t, "switches")...))
	}
	if rapid.IntRange(0, 4).Draw(t, "interior") == 0 {
		opts = append(opts, interiorOn(rapid.IntRange(0, 2).Draw(t, "floor")))
	}
	opts = append(opts, nodeID(fmt.Sprintf("F01_K_%d_%d", i%3, i)))
	tile := tileAt(fmt.Sprintf("t%02d", i), b, opts...)
	priority := rapid.IntRange(0, 2).Draw(t, "priority")
	tile.Priority = &priority
	return tile
}

func drawConfig(t *rapid.T) config.Config {
	c := config.Default()
	c.MaxConcurrentTileLoads = rapid.IntRange(1, 3).Draw(t, "cap")
	c.EnableFrustumGate = rapid.Bool().Draw(t, "frustum")
	c.EnableOcclusionSort = rapid.Bool().Draw(t, "occlusion")
	c.FillIdleSlots = rapid.Bool().Draw(t, "fill")
	c.LODGate = rapid.IntRange(0, 4).Draw(t, "gate") == 0
	c.NormalizeBands = rapid.Bool().Draw(t, "normalize")
	c.EnableFadeTransitions = rapid.Bool().Draw(t, "fade")
	if rapid.IntRange(0, 3).Draw(t, "strict") == 0 {
		c.Handoff = config.HandoffStrict
	}
	c.MaxQueryRadius = rapid.SampledFrom([]float64{120, 500}).Draw(t, "query")
	c.TileParseTimeoutSeconds = 5
	return c
}

// drawNodes gives most full tiles nodes to stream one by one.
func (s *story) drawNodes(t *rapid.T) {
	s.nodes = map[string][]fake.Node{}
	s.cfg.OutOfCoreNodeThreshold = rapid.IntRange(1, 6).Draw(t, "threshold")
	s.cfg.OutOfCorePolicy = rapid.SampledFrom([]config.OutOfCorePolicy{config.OutOfCoreAuto, config.OutOfCoreAuto, config.OutOfCoreAlways}).Draw(t, "policy")
	s.cfg.MaxConcurrentLoads = rapid.IntRange(1, 5).Draw(t, "mesh slots")
	s.cfg.MeshLoadTimeoutSeconds = rapid.SampledFrom([]float64{2, 60}).Draw(t, "mesh timeout")
	s.cfg.LOD.Distances = []float64{20, 60}
	tiles := slices.Clone(s.scene.Tiles)
	if s.scene.SharedBucket != nil {
		tiles = append(tiles, s.scene.SharedBucket.Tile)
	}
	for _, tile := range tiles {
		b := tile.Bounds.Box()
		size := b.Size()
		for i := range rapid.IntRange(0, 12).Draw(t, "nodes") {
			n := fake.Node{Name: fmt.Sprint("n", i), Bytes: rapid.Int64Range(1, 60).Draw(t, "bytes")}
			switch rapid.IntRange(0, 5).Draw(t, "kind") {
			case 0:
				n.Bytes = 0
			case 1, 2:
				n.Name = fmt.Sprintf("g%d_LOD%d", i/3, i%3)
			case 3:
				if last := len(s.nodes[tile.ID]) - 1; last >= 0 {
					n.Parent = s.nodes[tile.ID][last].Name
				}
			}
			for a := range 3 {
				from := rapid.Float64Range(0, 1).Draw(t, "at")
				to := from + float64((1-from)*rapid.Float64Range(0, 1).Draw(t, "size"))
				n.Box[a], n.Box[a+3] = b.Min[a]+float64(size[a]*from), b.Min[a]+float64(size[a]*to)
			}
			s.nodes[tile.ID] = append(s.nodes[tile.ID], n)
		}
	}
}

func (s *story) drawFrames(t *rapid.T) {
	dt := rapid.SampledFrom([]time.Duration{100 * time.Millisecond, 16 * time.Millisecond, 33 * time.Millisecond}).Draw(t, "dt")
	seed := rapid.Uint64().Draw(t, "walk")
	rng := rand.New(rand.NewPCG(seed, 1))
	pos, vel := geom.Vec3{0, 2, 0}, geom.Vec3{}
	for range rapid.IntRange(20, 300).Draw(t, "frames") {
		if rng.IntN(20) == 0 {
			vel = geom.Vec3{rng.Float64()*80 - 40, 0, rng.Float64()*80 - 40}
		}
		if rng.IntN(60) == 0 {
			pos = geom.Vec3{rng.Float64()*800 - 400, rng.Float64() * 8, rng.Float64()*800 - 400}
		}
		pos = pos.Add(vel.Scale(dt.Seconds()))
		f := frame{dt: dt, camera: Camera{
			Position: pos, Forward: [3]float64{rng.Float64() - .5, 0, rng.Float64() - .5},
			FovYDegrees: 60, Aspect: 1.5, Near: 0.1, Far: 1000,
		}}
		if rng.IntN(80) == 0 {
			f.action = "transform"
		}
		if !s.calm {
			switch rng.IntN(60) {
			case 0:
				f.action = "unload"
			case 1:
				f.action = "reload"
			case 2:
				f.action = "warning"
			case 3:
				f.action = "critical"
			case 4:
				f.action = "add"
			case 5:
				f.used = int64(rng.IntN(1200))
			}
		}
		s.frames = append(s.frames, f)
	}
}

// lateVisibility makes uploads drawable after a while.
type lateVisibility struct {
	clock *fake.Clock
	after time.Duration
	since map[payload.Key]time.Duration
}

func (v *lateVisibility) Drawable(k payload.Key) bool {
	at, ok := v.since[k]
	return ok && v.clock.Time-at >= v.after
}

func (v *lateVisibility) Upload(k payload.Key, a *payload.Asset) error {
	if _, ok := v.since[k]; ok {
		panic(fmt.Sprintf("%+v is uploaded twice", k))
	}
	v.since[k] = v.clock.Time
	a.Release()
	return nil
}

func (v *lateVisibility) Release(k payload.Key) {
	if _, ok := v.since[k]; !ok {
		panic(fmt.Sprintf("%+v is released and was not uploaded", k))
	}
	delete(v.since, k)
}

// play runs a story and checks the invariants after every frame.
func (s *story) play(t *rapid.T, tb testing.TB, sleepless bool) []string {
	var fetcher *fakeFetcher
	var device *lateVisibility
	loaded, released := 0, 0 // assets, and those whose buffers have gone back
	r := newRig(tb, s.scene, func(c *config.Config, d *Deps, r *rig) {
		*c = s.cfg
		r.loader.Latency = func(q payload.Request) time.Duration {
			return time.Duration(s.latency[q.Token%16] * float64(time.Second))
		}
		r.loader.Fault = func(q payload.Request) string { return s.faults[q.Token%16] }
		r.loader.Bytes = func(q payload.Request) int64 { return int64(q.Token % 100) }
		if s.fetch > 0 {
			fetcher = &fakeFetcher{clock: r.clock, latency: time.Duration(s.fetch * float64(time.Second))}
			d.Fetcher = fetcher
		}
		r.loader.Asset = func(q payload.Request) *payload.Asset {
			if n := s.nodes[q.TileID]; len(n) > 0 {
				loaded++
				return fake.Asset(&released, n...)
			}
			return nil
		}
		device = &lateVisibility{r.clock, time.Duration(s.drawable * float64(time.Second)), map[payload.Key]time.Duration{}}
		d.Device = device
		if s.drawable > 0 {
			d.Visibility = device
		}
	})
	r.s.sleepless, r.s.selector.window = sleepless, s.window
	if !s.calm {
		r.memory.GeometryBudget = 1000
	}
	for _, f := range s.frames {
		if fetcher != nil {
			fetcher.deliver()
		}
		s.act(t, r, f)
		r.camera, r.dt, r.memory.GeometryUsed = f.camera, f.dt, f.used
		r.step()
		checkInvariants(t, r, s.calm && s.cfg.Handoff == config.HandoffCovered)
		for _, d := range r.s.AppendDrawn(nil) {
			if !d.mayBeDrawn(device, s.drawable) {
				t.Fatalf("%+v is drawn and is not on the device", d)
			}
		}
	}
	r.s.UnloadAll()
	r.collect()
	if st := r.s.Stats(); st.GeometryBytes != 0 || st.TextureBytes != 0 || st.ResidentFull+st.ResidentLOD+st.ResidentHLOD != 0 {
		t.Fatalf("after the forced unload: %+v", st)
	}
	if err := r.s.Close(); err != nil {
		t.Fatal(err)
	}
	r.loader.Fault, r.clock.Time = nil, r.clock.Time+time.Hour
	r.loader.Deliver() // late answers give their buffers back
	if usage := r.s.meshes.registry.usage(); len(device.since) != 0 || usage != (registryUsage{}) || loaded != released {
		t.Fatalf("%d uploads are left, %+v in the main memory, %d buffers are held", len(device.since), usage, loaded-released)
	}
	return r.log
}

// mayBeDrawn reports whether something is on the device, and has been for long
// enough.
func (d *Drawn) mayBeDrawn(device *lateVisibility, drawable float64) bool {
	at, ok := device.since[d.Key]
	if d.Part == 0 {
		drawable = min(drawable, config.Default().HandoffMaxWait)
	}
	return ok && (device.clock.Time-at).Seconds() >= drawable-1e-9
}

func (s *story) act(t *rapid.T, r *rig, f frame) {
	switch f.action {
	case "unload":
		r.s.UnloadAll()
	case "reload":
		if _, err := r.s.ReloadScene(r.s.Scenes()[0], Source{Manifest: s.scene, Path: "scene/scene.json"}); err != nil {
			t.Fatal(err)
		}
	case "add":
		if ids := r.s.Scenes(); len(ids) > 2 {
			if err := r.s.RemoveScene(ids[1]); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := r.s.AddScene(Source{Manifest: s.scene, Path: "scene/scene.json"}); err != nil {
			t.Fatal(err)
		}
	case "transform":
		k := 0.5 + math.Abs(f.camera.Forward[0]*2)
		if err := r.s.SetSceneTransform(r.s.Scenes()[0], scaled(k, f.camera.Forward[2]*50, 0, 0)); err != nil {
			t.Fatal(err)
		}
	case "warning":
		r.s.NotifyMemoryPressure(memory.PressureWarning)
	case "critical":
		r.s.NotifyMemoryPressure(memory.PressureCritical)
	}
}

func checkInvariants(t rapid.TB, rig *rig, calm bool) {
	s := rig.s
	var parsing, fetching [classes]int
	var memory int64
	for _, f := range s.loads.list {
		if f.phase == phaseParsing {
			parsing[f.class]++
			memory += f.memory
		} else {
			fetching[f.class]++
		}
	}
	if parsing != s.loads.parsing || fetching != s.loads.fetching || memory != s.loads.parseMemory {
		t.Fatalf("slots %v %v %v, counted %v %v %v", s.loads.parsing, s.loads.fetching, s.loads.parseMemory, parsing, fetching, memory)
	}
	for c := range classes {
		if s.loads.parseSlots(c) < 0 || fetching[c] > maxFetches {
			t.Fatalf("class %d: %d at the loader, %d at the fetcher", c, parsing[c], fetching[c])
		}
	}
	var want Stats
	awaited := 0
	for _, sc := range s.scenes {
		if !slices.IsSorted(sc.active) {
			t.Fatalf("active tiles are out of order: %v", sc.active)
		}
		for _, tile := range sc.active {
			r := sc.recordOf(tile)
			checkRecord(t, s, r)
			for i := range r.reps {
				st := &r.reps[i]
				if !st.resident() {
					continue
				}
				want.GeometryBytes += st.geometry
				want.TextureBytes += st.texture
				*[...]*int{&want.ResidentFull, &want.ResidentHLOD, &want.ResidentLOD}[classOf(payload.Rep(i+1))]++
				if !st.drawable && !st.split {
					awaited++
				}
			}
			if r.undrawn {
				want.UndrawnTiles++
			}
			if r.fading != payload.RepNone {
				want.ActiveFades++
			}
		}
	}
	got := s.Stats()
	if got.GeometryBytes != want.GeometryBytes || got.ResidentFull != want.ResidentFull || got.ResidentHLOD != want.ResidentHLOD ||
		got.TextureBytes != want.TextureBytes || got.ResidentLOD != want.ResidentLOD || got.UndrawnTiles != want.UndrawnTiles || got.ActiveFades != want.ActiveFades || s.residency.awaited != awaited {
		t.Fatalf("counters %+v, counted %+v, awaited %d and %d", got, want, s.residency.awaited, awaited)
	}
	if calm && got.Undrawn != 0 {
		for _, tile := range s.Snapshot().Tiles {
			t.Logf("%+v", tile)
		}
		t.Fatalf("a tile is undrawn; the log:\n%s", strings.Join(rig.log, "\n"))
	}
	checkDrawn(t, s)
	checkMeshes(t, s)
}

// checkMeshes counts the second tier.
func checkMeshes(t rapid.TB, s *Streamer) {
	var want Stats
	groups := 0
	s.forEachSplit(func(r *record) {
		m := r.meshes
		if m == nil || !r.full().split || !r.full().resident() {
			t.Fatalf("%s is listed as out of core", r.scene.tiles.id[r.tile])
		}
		bytes, loaded, loading := int64(0), 0, 0
		for i := range m.stubs {
			x := &m.stubs[i]
			bytes += x.bytes
			switch x.state {
			case meshLoaded:
				loaded++
				if m.plan.Stubs[i].Levels() > 1 {
					groups++
				}
			case meshLoading:
				loading++
			}
			if onDevice := x.state == meshLoaded || x.state == meshLoading; onDevice != (x.resident != 0) || onDevice != (x.bytes > 0) {
				t.Fatalf("stub %d of %s: state %d, parts %b, %d bytes", i, r.scene.tiles.id[r.tile], x.state, x.resident, x.bytes)
			}
		}
		if loaded != m.uploaded || loading != m.loading || bytes != r.full().geometry || r.full().drawable != (m.visual() >= VisualUsable) {
			t.Fatalf("%s: %+v, counted %d loaded, %d loading, %d bytes", r.scene.tiles.id[r.tile], m, loaded, loading, bytes)
		}
		want.OutOfCoreTiles++
		want.Meshes += len(m.stubs)
		want.MeshesLoaded += loaded
		want.MeshesLoading += loading
	})
	got := s.Stats()
	if got.OutOfCoreTiles != want.OutOfCoreTiles || got.Meshes != want.Meshes || got.MeshesLoaded != want.MeshesLoaded ||
		got.MeshesLoading != want.MeshesLoading || len(s.meshes.loading) != want.MeshesLoading || len(s.meshes.loading) > s.cfg.MaxConcurrentLoads || groups != s.meshes.groups {
		t.Fatalf("counters %+v, counted %+v, %d loads, %d groups", got, want, len(s.meshes.loading), groups)
	}
	if s.meshes.registry.usage().Roots != want.OutOfCoreTiles {
		t.Fatalf("%d roots of %d tiles", s.meshes.registry.usage().Roots, want.OutOfCoreTiles)
	}
}

func checkRecord(t rapid.TB, s *Streamer, r *record) {
	if r.drawn != payload.RepNone && !r.rep(r.drawn).resident() || r.fading != payload.RepNone && !r.rep(r.fading).resident() {
		t.Fatalf("%s draws %v and fades %v out, but one of them is not resident", r.scene.tiles.id[r.tile], r.drawn, r.fading)
	}
	for i := range r.reps {
		st := &r.reps[i]
		at := s.loads.find(st.token)
		if st.loading() && (at < 0 || s.loads.list[at].orphan) {
			t.Fatalf("%s waits for %v, which nobody loads", r.scene.tiles.id[r.tile], payload.Rep(i+1))
		}
	}
}

// checkDrawn checks that every tile is drawn once, its parts with one opacity.
func checkDrawn(t rapid.TB, s *Streamer) {
	perTile, perPart := map[payload.Key]float64{}, map[payload.Key]float64{}
	for _, d := range s.AppendDrawn(nil) {
		k := d.Key
		k.Part = 0
		if fade, ok := perPart[k]; ok && fade != d.Fade {
			t.Fatalf("parts of tile %d fade by %v and %v", k.Tile, fade, d.Fade)
		}
		perPart[k] = d.Fade
		if d.Fade < 0 || d.Fade > 1 {
			t.Fatalf("fade %v", d.Fade)
		}
	}
	for k, fade := range perPart {
		k.Rep = payload.RepNone
		perTile[k] += fade
	}
	for k, sum := range perTile {
		if sum < 0.999 || sum > 1.001 {
			t.Fatalf("tile %d is drawn %v times", k.Tile, sum)
		}
	}
}

func TestStories(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawStory(rt)
		first := s.play(rt, t, false)
		if second := s.play(rt, t, false); !slices.Equal(first, second) {
			rt.Fatalf("two runs differ:\n%v\n%v", first, second)
		}
		// Tiles that sleep change nothing, but for what a small window holds.
		if s.window < scanWindow {
			return
		}
		if awake := s.play(rt, t, true); !slices.Equal(first, awake) {
			rt.Fatalf("asleep and awake differ:\n%v\n%v", first, awake)
		}
	})
}
