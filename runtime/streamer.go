package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/event"
	"github.com/untoldkit/untold/runtime/payload"
)

// Streamer streams one or more scenes. See the package comment for who may
// call what.
type Streamer struct {
	*eventLog
	deps      Deps
	cancel    context.CancelFunc
	closed    bool
	ownLoader *payload.FileLoader // the default one, nil when a Loader was given
	cache     *payload.MeshCache  // in front of the Loader; nil: none

	// The parts. Each knows only parts above it.
	loads      *loadQueue
	device     *device
	reloads    *reloads
	budget     *geometryBudget
	meshes     *meshStreamer
	residency  *residency
	evictor    *evictor
	selector   *selector
	handoff    *handoff
	pyramid    *pyramid
	succession *succession

	lastScene  payload.SceneID
	successors map[payload.SceneID]payload.SceneID // of replaced scenes

	motion        motion
	sinceTick     time.Duration
	sinceLook     time.Duration // since the last tick that looked for what could be loaded
	lastHeartbeat time.Duration
	backlog       int           // candidates that found no slot
	pressure      atomic.Uint32 // the highest PressureLevel since the last Update

	stats      Stats // what no part counts
	snapshot   *Snapshot
	snapshotOf uint64 // changes that it shows
}

// Open starts a Streamer with one scene. ctx bounds all background work. The
// configuration is validated; the zero Source opens none, for AddScene to add
// some later.
func Open(ctx context.Context, src Source, cfg config.Config, deps Deps) (*Streamer, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if !src.empty() {
		if err := src.loadManifest(); err != nil {
			return nil, err
		}
		cfg = cfg.For(src.Manifest)
	}
	s := &Streamer{eventLog: newEventLog(newEnv(&cfg), deps.Logger), deps: deps}
	ctx, s.cancel = context.WithCancel(ctx)
	s.fillDeps()
	s.connect(ctx)
	s.now = s.deps.Clock.Now()
	s.lastHeartbeat = s.now
	if !src.empty() {
		if _, err := s.AddScene(src); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

func (s *Streamer) fillDeps() {
	d := &s.deps
	if d.Clock == nil {
		d.Clock = systemClock{time.Now()}
	}
	if d.Loader == nil {
		l := payload.NewFileLoader(0)
		d.Loader, s.ownLoader = l, l
	}
	if d.Device == nil {
		d.Device = NullDevice{}
	}
	if d.MemoryProbe == nil && (s.cfg.GeometryBudget == 0 || s.cfg.TextureBudget == 0) {
		d.MemoryProbe = systemMemory(&s.cfg)
	}
	s.fetches = d.Fetcher != nil
}

// connect makes the parts.
func (s *Streamer) connect(ctx context.Context) {
	d, l, e := &s.deps, s.eventLog, s.env
	if s.cfg.MeshCacheBudget > 0 {
		s.cache = payload.NewMeshCache(ctx, d.Loader)
	}
	s.loads = newLoadQueue(ctx, e, d.Loader, d.Fetcher, s.cache)
	s.device = &device{Device: d.Device, visibility: d.Visibility, packer: d.Packer, clock: d.Clock}
	s.reloads = &reloads{env: e, ctx: ctx, run: d.Background, register: s.register, notify: s.loads.completions.Notify}
	if s.reloads.run == nil {
		s.reloads.run = s.reloads.tasks.Go
	}
	s.budget = newGeometryBudget(e, d.MemoryProbe, s.device)
	s.meshes = newMeshStreamer(l, s.loads, s.budget, s.device, s.reloads, d.Prewarmer)
	s.residency = &residency{eventLog: l, loads: s.loads, budget: s.budget, device: s.device, meshes: s.meshes, reloads: s.reloads}
	s.evictor = &evictor{eventLog: l, budget: s.budget, residency: s.residency, meshes: s.meshes, textures: d.Textures, cache: s.cache}
	s.selector = &selector{env: e, loads: s.loads, budget: s.budget, residency: s.residency, window: scanWindow}
	s.handoff = &handoff{eventLog: l, budget: s.budget, residency: s.residency, selector: s.selector}
	s.pyramid = &pyramid{eventLog: l, loads: s.loads, budget: s.budget, residency: s.residency, handoff: s.handoff}
	s.succession = &succession{
		env: e, log: l, loads: s.loads, budget: s.budget, residency: s.residency, meshes: s.meshes, selector: s.selector, handoff: s.handoff, pyramid: s.pyramid,
	}
}

// Events returns what happened since the last call, in order. The slice is
// valid until the call of Events after this one. When Events is not called,
// the last few thousand events are kept.
func (s *Streamer) Events() []event.Event { return s.take() }

// Ready returns a channel that has a value while answers of loaders wait for
// the next Update, for programs that would otherwise poll.
func (s *Streamer) Ready() <-chan struct{} { return s.loads.completions.Ready() }

// AddResident hands over a representation that is resident already, as if its load
// had just completed, but always as a whole. No load event is reported. The
// Streamer takes over res.Asset; when there is an error it has been released.
func (s *Streamer) AddResident(id payload.SceneID, tileID string, rep payload.Rep, res payload.Result) error {
	err := s.addResident(id, tileID, rep, &res)
	if err != nil {
		res.Asset.Release()
	}
	return err
}

func (s *Streamer) addResident(id payload.SceneID, tileID string, rep payload.Rep, res *payload.Result) error {
	if s.closed {
		return payload.ErrClosed
	}
	sc, _ := s.sceneByID(id)
	if sc == nil {
		return fmt.Errorf("%w: %d", ErrNoScene, id)
	}
	tile := int32(slices.Index(sc.tiles.id[:sc.tiles.tiles], tileID))
	if tile < 0 {
		return fmt.Errorf("runtime: scene %d has no tile %q", id, tileID)
	}
	if !sc.tiles.hasRep(tile, rep) {
		return fmt.Errorf("runtime: tile %q has no representation %v", tileID, rep)
	}
	s.now = s.deps.Clock.Now()
	r := sc.activate(tile)
	if st := r.rep(rep); st.state != TileUnloaded {
		return fmt.Errorf("runtime: %v of tile %q is %v already", rep, tileID, st.state)
	}
	if err := s.residency.uploadWhole(r, rep, res); err != nil {
		return fmt.Errorf("runtime: adopt %v of tile %q: %w", rep, tileID, err)
	}
	s.residency.makeResident(r, rep, res)
	s.changes++
	return nil
}

// Close tears everything down without events and cancels what is in flight.
// The default Loader ends here, a given one is its owner's to close: what it
// still answers is dropped. Close may be called more than once.
func (s *Streamer) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	s.changes++
	s.succession.dropRetiredFor(nil)
	for _, sc := range s.scenes {
		s.dropScene(sc)
	}
	s.scenes = nil
	s.cancel()
	s.reloads.tasks.Wait()
	s.loads.close()
	s.meshes.registry.cancelAll()
	if s.cache != nil {
		s.cache.Close()
	}
	if s.ownLoader != nil {
		return s.ownLoader.Close()
	}
	return nil
}

// AppendDrawn appends what is to be drawn now, by scene and tile; the nodes of
// its pyramid come behind a scene's tiles. A full tile that streams mesh by mesh has an
// entry for each mesh.
func (s *Streamer) AppendDrawn(dst []Drawn) []Drawn {
	for i := range s.succession.retired {
		x := &s.succession.retired[i]
		for _, tile := range x.active {
			r := x.recordOf(tile)
			if own := x.spanOfTile(tile); !own.empty() {
				dst = r.appendDrawn(dst, r.drawn, own)
			}
		}
		dst = x.refinement.appendDrawn(x.scene, dst)
	}
	for _, sc := range s.scenes {
		for _, tile := range sc.active {
			r := sc.recordOf(tile)
			if r.drawn == payload.RepNone {
				continue
			}
			own := sc.spanOfTile(tile)
			switch {
			case own.empty():
			case r.fading == payload.RepNone:
				dst = r.appendDrawn(dst, r.drawn, own)
			default:
				out, in := r.fadeSpans(own)
				dst = r.appendDrawn(dst, r.fading, out)
				dst = r.appendDrawn(dst, r.drawn, in)
			}
		}
		dst = sc.refinement.appendDrawn(sc, dst)
	}
	return dst
}

// appendDrawn appends a representation with its part of the mask, mesh by mesh if it
// streams so.
func (r *record) appendDrawn(dst []Drawn, rep payload.Rep, own span) []Drawn {
	if rep == payload.RepFull && r.full().split {
		return r.appendParts(dst, own)
	}
	return append(dst, own.drawn(r.key(rep)))
}

// UnloadAll tears everything down at once: no grace, cap or dwell. Parses
// in flight are cancelled; their slots are free when their loaders have
// answered. What has been answered is delivered first. The next tick starts
// anew.
func (s *Streamer) UnloadAll() {
	if s.closed {
		return
	}
	s.now = s.deps.Clock.Now()
	s.deliver()
	s.succession.dropRetiredFor(nil)
	s.forEach((*record).endFade)
	s.forEach(func(r *record) {
		if r.full().loading() {
			r.inGrace = false
			s.residency.cancel(r, payload.RepFull)
		}
	})
	s.forEach(func(r *record) {
		if r.full().resident() {
			s.residency.unload(r, payload.RepFull)
		}
	})
	s.forEach(func(r *record) {
		s.residency.drop(r, payload.RepHLOD)
		for i := 2; i < len(r.reps); i++ {
			s.residency.drop(r, payload.Rep(i+1))
		}
		r.target = payload.RepNone
		r.everDrawn = false // asked for, so not undrawn
		s.handoff.draw(r, payload.RepNone)
	})
	s.pyramid.unloadAll()
	s.backlog, s.selector.fullBacklog, s.selector.levelBacklog, s.selector.scanning = 0, 0, 0, false
}
