package runtime

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/event"
	"github.com/untoldkit/untold/runtime/internal/fake"
	"github.com/untoldkit/untold/runtime/payload"
)

// partEnv is what the parts of a Streamer share, for tests of one part alone:
// 1000 s on the clock and one scene of the given tiles.
func partEnv(t testing.TB, cfg *config.Config, tiles ...manifest.Tile) (*env, *scene) {
	t.Helper()
	e := newEnv(cfg)
	e.now = fake.Epoch
	sc, err := newScene(Source{Manifest: sceneOf(tiles...), Path: "scene/scene.json"}, cfg)
	if err != nil {
		t.Fatal(err)
	}
	sc.env, sc.id, sc.budget = e, 1, &budgetSplit{}
	e.scenes = append(e.scenes, sc)
	return e, sc
}

// parts are the parts of a Streamer over one scene, without the Streamer: no
// clock runs and nothing happens but what a test calls.
type parts struct {
	*env
	scene     *scene
	world     *queueWorld // loader and device
	log       *eventLog
	loads     *loadQueue
	budget    *geometryBudget
	meshes    *meshStreamer
	residency *residency
	evictor   *evictor
	selector  *selector
	handoff   *handoff
}

// newParts makes parts with a geometry budget of 1000 bytes, marks at 800 and
// 600 and all gates open.
func newParts(t testing.TB, change func(*config.Config), tiles ...manifest.Tile) *parts {
	t.Helper()
	cfg := scenarioConfig()
	cfg.GeometryBudget, cfg.TextureBudget, cfg.HighWaterMark, cfg.LowWaterMark = 1000, 1000, 0.8, 0.6
	cfg.MinimumParsedTileResidentSeconds, cfg.SecondaryRepresentationMinDwellSeconds = 0, 0
	if change != nil {
		change(&cfg)
	}
	e, sc := partEnv(t, &cfg, tiles...)
	p := &parts{env: e, scene: sc, world: &queueWorld{}, log: newEventLog(e, nil)}
	p.loads = newLoadQueue(context.Background(), e, p.world, nil, nil)
	p.budget = newGeometryBudget(e, nil, nil)
	sc.budget = &p.budget.split
	d := &device{Device: p.world, clock: &fake.Clock{Time: fake.Epoch}}
	r := &reloads{env: e}
	p.meshes = newMeshStreamer(p.log, p.loads, p.budget, d, r, nil)
	p.residency = &residency{eventLog: p.log, loads: p.loads, budget: p.budget, device: d, meshes: p.meshes, reloads: r}
	p.evictor = &evictor{eventLog: p.log, budget: p.budget, residency: p.residency, meshes: p.meshes}
	p.selector = &selector{env: e, loads: p.loads, budget: p.budget, residency: p.residency, window: scanWindow}
	p.handoff = &handoff{eventLog: p.log, budget: p.budget, residency: p.residency, selector: p.selector}
	p.budget.begin(nil)
	p.camera.Position[0] = -1e6
	p.lookFrom(0)
	return p
}

// lookFrom puts the camera at (x, 0, 0) and measures as a tick does.
func (p *parts) lookFrom(x float64) {
	p.camera.Position = [3]float64{x, 0, 0}
	sc := p.scene
	sc.view = makeView(&p.camera, p.camera.Position, p.camera.Forward, &sc.root, &sc.inverse, 0)
	sc.move()
	sc.find(p.cfg.MaxQueryRadius, 0)
	sc.awake, sc.woken = sc.awake[:0], sc.woken[:0]
	for _, tile := range sc.active {
		sc.include(tile)
	}
	sc.listNearby(true)
}

// load makes a representation of a tile resident, with so many bytes.
func (p *parts) load(tile int32, rep payload.Rep, bytes int64) *record {
	r := p.scene.activate(tile)
	p.residency.makeResident(r, rep, &payload.Result{GeometryBytes: bytes})
	return r
}

// answer gives the answers of a loader to the requests with the given tokens.
func (p *parts) answer(res payload.Result, tokens ...uint64) {
	for _, token := range tokens {
		p.loads.completions.Loaded(token, res)
	}
	p.loads.take(func(l load, res *payload.Result) {
		switch r := l.record(); {
		case l.orphan:
			p.residency.discarded(r, &l)
		case res.Err != nil:
			p.residency.failed(r, l.request.Key.Rep, res.Err)
		default:
			p.residency.loaded(r, &l, res)
		}
	})
}

// events returns and forgets what was reported: "tile.parsed a; hlod.load b".
func (p *parts) events() string {
	var out []string
	for _, e := range p.log.take() {
		s := string(e.Kind)
		if e.Tile != "" {
			s += " " + e.Tile
		}
		if e.Kind == event.Drawn || e.Kind == event.EvictTile {
			s += " " + e.Rep.String()
		}
		if e.Mesh != "" {
			s += "/" + e.Mesh
		}
		out = append(out, s)
	}
	return strings.Join(out, "; ")
}

// asked returns and forgets what loader and device were asked for.
func (p *parts) asked() string {
	out := strings.Join(p.world.asked, "; ")
	p.world.asked = nil
	return out
}

func (w *queueWorld) Upload(key payload.Key, _ *payload.Asset) error {
	w.asked = append(w.asked, fmt.Sprintf("upload %d %s %d", key.Tile, key.Rep, key.Part))
	return nil
}

func (w *queueWorld) Release(key payload.Key) {
	w.asked = append(w.asked, fmt.Sprintf("release %d %s %d", key.Tile, key.Rep, key.Part))
}
