package runtime

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/event"
	"github.com/untoldkit/untold/runtime/internal/fake"
	"github.com/untoldkit/untold/runtime/memory"
	"github.com/untoldkit/untold/runtime/payload"
)

// rig runs a Streamer on a fake clock, one tick per frame of 0.1 s unless dt
// says otherwise.
type rig struct {
	t      testing.TB
	clock  *fake.Clock
	loader *fake.Loader
	s      *Streamer
	dt     time.Duration
	last   []event.Event // of the latest frame
	frame  int
	log    []string // "0.3 tile.parsed a"
	camera Camera
	memory memory.Memory
}

// Memory lets a rig be the MemoryProbe.
func (r *rig) Memory() memory.Memory { return r.memory }

type rigOption func(*config.Config, *Deps, *rig)

// scenarioConfig holds the defaults that the scenarios share.
func scenarioConfig() config.Config {
	c := config.Default()
	c.EnableFrustumGate, c.EnableOcclusionSort, c.VelocityLookAheadTime = false, false, 0
	return c
}

func newRig(t testing.TB, m *manifest.Manifest, opts ...rigOption) *rig {
	t.Helper()
	clock := &fake.Clock{Time: fake.Epoch}
	r := &rig{t: t, clock: clock, dt: 100 * time.Millisecond, camera: Camera{Forward: [3]float64{0, 0, -1}}}
	r.loader = &fake.Loader{Clock: clock, Latency: func(payload.Request) time.Duration { return 250 * time.Millisecond }}
	cfg := scenarioConfig()
	deps := Deps{Clock: clock, Loader: r.loader, MemoryProbe: r}
	for _, o := range opts {
		o(&cfg, &deps, r)
	}
	s, err := Open(context.Background(), Source{Manifest: m, Path: "scene/scene.json"}, cfg, deps)
	if err != nil {
		t.Fatal(err)
	}
	r.s = s
	t.Cleanup(func() { s.Close() })
	return r
}

// now returns the scenario's time in seconds.
func (r *rig) now() float64 { return (r.clock.Time - fake.Epoch).Seconds() }

// step runs one frame.
func (r *rig) step() {
	r.loader.Deliver()
	r.s.Update(r.camera, r.dt)
	r.collect()
	r.clock.Time += r.dt
	r.frame++
}

func (r *rig) collect() {
	r.last = append(r.last[:0], r.s.Events()...)
	for _, e := range r.last {
		r.log = append(r.log, describe(e))
	}
}

// describe writes an event without its scene: "0.3 lod.loaded a 1".
func describe(e event.Event) string {
	s := fmt.Sprintf("%.6g %s", float64((e.Time-fake.Epoch)/time.Millisecond)/1000, e.Kind)
	if e.Tile != "" {
		s += " " + e.Tile
	}
	switch {
	case e.Kind == event.Drawn, e.Kind == event.EvictTile:
		s += " " + e.Rep.String()
	case strings.HasPrefix(string(e.Kind), "lod."):
		s += fmt.Sprintf(" %d", e.Level)
	}
	if e.Mesh != "" {
		s += "/" + e.Mesh
	}
	if e.Count > 0 {
		s += fmt.Sprintf(" %d", e.Count)
	}
	if e.Attempt > 0 {
		s += fmt.Sprintf(" n=%d retry=%v", e.Attempt, e.RetryIn.Seconds())
	}
	return s
}

// until runs frames up to, not including, the time.
func (r *rig) until(seconds float64) {
	for r.now() < seconds-1e-9 {
		r.step()
	}
}

// path runs to the end with a camera that jumps to (x, 0, 0) at given times.
func (r *rig) path(end float64, keys ...[2]float64) {
	for r.now() < end-1e-9 {
		for _, k := range keys {
			if k[0] <= r.now()+1e-9 {
				r.camera.Position[0] = k[1]
			}
		}
		r.step()
	}
}

// events returns the log lines whose kind starts with one of the prefixes;
// without prefixes all that are about loads, unloads and their kin.
func (r *rig) events(prefixes ...string) []string {
	if len(prefixes) == 0 {
		prefixes = []string{"tile.", "hlod.", "lod."}
	}
	var out []string
	for _, l := range r.log {
		_, kind, _ := strings.Cut(l, " ")
		if slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(kind, p) }) {
			out = append(out, l)
		}
	}
	return out
}

// expect compares the log, as a set within each time, with what is wanted:
// events separated by ";".
func (r *rig) expect(want string, prefixes ...string) {
	r.t.Helper()
	var lines []string
	for l := range strings.SplitSeq(want, ";") {
		if l = strings.Join(strings.Fields(l), " "); l != "" {
			lines = append(lines, l)
		}
	}
	got := r.events(prefixes...)
	a, b := slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(lines))
	if !slices.Equal(a, b) {
		r.t.Errorf("events:\n  %s\nwant:\n  %s", strings.Join(got, "\n  "), strings.Join(lines, "\n  "))
	}
}

// record returns the record of a tile of the first scene, nil when idle.
func (r *rig) record(id string) *record {
	sc := r.s.scenes[0]
	return sc.recordOf(int32(slices.Index(sc.tiles.id, id)))
}

// box returns corners as bounds.
func box(x0, y0, z0, x1, y1, z1 float64) manifest.Bounds {
	return manifest.Bounds{Min: [3]float64{x0, y0, z0}, Max: [3]float64{x1, y1, z1}}
}

// face is a box of 10 m whose near face lies at x.
func face(x float64) manifest.Bounds { return box(x, -5, -5, x+10, 5, 5) }

// around is a box of half the given size around a point.
func around(x, y, z, half float64) manifest.Bounds {
	return box(x-half, y-half, z-half, x+half, y+half, z+half)
}

type tileOption func(*manifest.Tile)

func tileAt(id string, b manifest.Bounds, opts ...tileOption) manifest.Tile {
	t := manifest.Tile{ID: id, Path: "tiles/" + id + ".untold", Bounds: b, Center: b.Center(), FileSizeBytes: mib}
	for _, o := range opts {
		o(&t)
	}
	return t
}

func hlodAt(d float64) tileOption {
	return func(t *manifest.Tile) {
		t.HLODLevels = []manifest.Level{{Path: "tiles/" + t.ID + "_hlod.untold", SwitchDistance: d, FileSizeBytes: 1000}}
	}
}

func lodsAt(d ...float64) tileOption {
	return func(t *manifest.Tile) {
		for i, v := range d {
			t.LODLevels = append(t.LODLevels, manifest.Level{Path: fmt.Sprintf("tiles/%s_lod%d.untold", t.ID, i), SwitchDistance: v})
		}
	}
}

func prefetchAt(d float64) tileOption { return func(t *manifest.Tile) { t.PrefetchRadius = &d } }

func radiiAt(stream, unload float64) tileOption {
	return func(t *manifest.Tile) { t.StreamingRadius, t.UnloadRadius = &stream, &unload }
}

func interiorOn(floor int) tileOption {
	return func(t *manifest.Tile) { t.Interior, t.FloorID = true, &floor }
}

func nodeID(id string) tileOption { return func(t *manifest.Tile) { t.QuadtreeNodeID = id } }

// sceneOf returns a grid with the defaults that the scenarios share.
func sceneOf(tiles ...manifest.Tile) *manifest.Manifest {
	return &manifest.Manifest{
		Version: 3, PartitioningMode: manifest.ModeUniformGrid, Tiles: tiles,
		StreamingDefaults: manifest.StreamingDefaults{StreamingRadius: 50, UnloadRadius: 100, Priority: 10},
	}
}

func withConfig(f func(*config.Config)) rigOption {
	return func(c *config.Config, _ *Deps, _ *rig) { f(c) }
}

func withLatency(seconds float64) rigOption {
	return func(_ *config.Config, _ *Deps, r *rig) {
		r.loader.Latency = func(payload.Request) time.Duration { return time.Duration(seconds * float64(time.Second)) }
	}
}

func withFault(f func(payload.Request) string) rigOption {
	return func(_ *config.Config, _ *Deps, r *rig) { r.loader.Fault = f }
}

func withBytes(n int64) rigOption {
	return func(_ *config.Config, _ *Deps, r *rig) { r.loader.Bytes = func(payload.Request) int64 { return n } }
}

// lens gives the rig's camera a view of its own.
func (r *rig) lens() {
	r.camera.FovYDegrees, r.camera.Aspect, r.camera.Near, r.camera.Far = 60, 16.0/9, 0.1, 1000
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// counter returns a counter of the rig's Streamer.
func (r *rig) counter(name string) float64 {
	st := r.s.Stats()
	n, ok := st.Counter(name)
	if !ok {
		r.t.Fatalf("no counter %s", name)
	}
	return n
}
