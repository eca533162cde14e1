package runtime

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/untoldkit/untold/internal/geom"
)

// maxFrame is the longest time between two frames that counts, so that sums of
// it cannot overflow.
const maxFrame = time.Hour

// ErrClosed is returned by calls on a closed Streamer.
var ErrClosed = errors.New("runtime: the streamer is closed")

// Streamer streams one or more scenes. See the package comment for who may
// call what.
type Streamer struct {
	*eventLog
	deps      Deps
	cancel    context.CancelFunc
	closed    bool
	ownLoader *FileLoader // the default one, nil when a Loader was given

	lastScene  SceneID
	retired    []retired           // replaced scenes of which something is drawn
	successors map[SceneID]SceneID // of replaced scenes

	// The frame and the tick.
	sinceTick    time.Duration
	sinceLook    time.Duration // since the last tick that looked for what could be loaded
	backlog      int
	fullBacklog  int
	levelBacklog int           // of LODs and HLODs, as of the last tick with a free slot for one
	waits        [classes]bool // whether the last look has left candidates over
	scanning     bool          // a window of scanIdle is followed by another
	windowed     bool          // not all idle tiles were looked at in this tick
	motion       motion
	pressure     atomic.Uint32
	lookedFrom   Camera // of the last tick that looked for what could be loaded, levels included
	lastBeat     time.Duration

	loads *loadQueue
	// Scratch lists, kept to avoid allocation.
	candidates [classes][]candidate
	best       []candidate
	shortlist  [classes][]waiting
	window     int // scanWindow
	leavers    []leaver
	evictees   []evictee

	device       *device
	reloads      *reloads
	budget       *geometryBudget
	meshes       *meshStreamer
	reliefWarned bool
	unusedFreed  int64
	awaited      int // resident representations that are not drawable yet

	stats      Stats
	snapshot   *Snapshot
	snapshotOf uint64 // changes that it shows
}

// Open starts a Streamer with one scene. ctx bounds all background work. The
// configuration is validated; the zero Source opens none, for AddScene to add
// some later.
func Open(ctx context.Context, src Source, cfg Config, deps Deps) (*Streamer, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if !src.empty() {
		if err := src.loadManifest(); err != nil {
			return nil, err
		}
		cfg = cfg.For(src.Manifest)
	}
	s := &Streamer{eventLog: newEventLog(newEnv(&cfg), deps.Logger), deps: deps, window: scanWindow}
	s.fillDeps()
	ctx, s.cancel = context.WithCancel(ctx)
	s.loads = newLoadQueue(ctx, s.env, s.deps.Loader, s.deps.Fetcher)
	s.device = &device{Device: s.deps.Device, visibility: s.deps.Visibility, clock: s.deps.Clock}
	s.budget = newGeometryBudget(s.env, s.deps.MemoryProbe)
	s.reloads = &reloads{env: s.env, ctx: ctx, run: s.deps.Background, register: s.register, notify: s.loads.completions.box.Ring}
	if s.reloads.run == nil {
		s.reloads.run = s.reloads.tasks.Go
	}
	s.meshes = newMeshStreamer(s.eventLog, s.loads, s.budget, s.device, s.reloads, s.deps.Prewarmer)
	s.now = s.deps.Clock.Now()
	s.lastBeat = s.now
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
		d.Clock = newSystemClock()
	}
	if d.Loader == nil {
		l := NewFileLoader(0)
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

// Update advances to the camera's new position; dt is the time since the last
// call, of which at most an hour counts. It delivers what has been loaded since,
// and, at most once per updateInterval unless something came in, decides what to
// load and unload.
func (s *Streamer) Update(camera Camera, dt time.Duration) {
	s.stats.UpdateTriggered = false
	if s.closed || !s.cfg.Enabled {
		return
	}
	s.now = s.deps.Clock.Now()
	dt = max(0, min(dt, maxFrame))
	s.trim()
	s.aim(camera)
	s.stats.ActiveLoadsAtUpdateStart = len(s.loads.list)
	s.deliver()
	s.takeReloads()
	s.loads.promote()
	s.pollDrawable()
	s.meshes.poll()
	s.advanceFades(dt)

	s.sinceTick += dt
	s.sinceLook += dt
	interval := s.updateInterval
	if s.backlog > 0 || s.scanning {
		interval = s.burstInterval
	}
	signal := PressureLevel(s.pressure.Swap(uint32(PressureNone)))
	if s.sinceTick >= interval || s.wake || signal != PressureNone {
		s.sinceTick, s.wake = 0, false
		s.tick(signal, s.sinceLook >= s.updateInterval || signal != PressureNone)
		s.stats.UpdateTriggered = true
		s.stats.UpdateWorkMs = milliseconds(s.deps.Clock.Now() - s.now)
	}
	s.meshes.judgeGroups()
	s.stats.ActiveLoadsAtUpdateEnd = len(s.loads.list)
	s.stats.Undrawn += uint64(s.stats.UndrawnTiles)
	s.frame++
}

// Events returns what happened since the last call, in order. The slice is
// valid until the call of Events after this one. When Events is not called,
// the last few thousand events are kept.
func (s *Streamer) Events() []Event { return s.take() }

// Ready returns a channel that has a value while answers of loaders wait for
// the next Update, for programs that would otherwise poll.
func (s *Streamer) Ready() <-chan struct{} { return s.loads.completions.box.Bell() }

// aim takes the camera; positions and directions that are none keep the last.
func (s *Streamer) aim(c Camera) {
	if !geom.Vec3(c.Position).IsFinite() {
		c.Position = s.camera.Position
	}
	last := geom.Vec3(s.camera.Forward)
	c.Forward = geom.Vec3(c.Forward).Normalize(1e-9, last)
	s.camera = c
}

// tick is one run of all passes; regular ticks are those at updateInterval.
func (s *Streamer) tick(signal PressureLevel, regular bool) {
	s.tickCount++
	s.startTick()
	s.beat()
	for _, sc := range s.scenes {
		s.look(sc)
	}
	s.watchdog()
	s.meshes.expire()
	s.budget.allot()
	s.unloadPass()
	s.meshes.look()
	s.meshes.unload()
	s.relieve(signal)
	look := regular || s.slotForWaiting()
	open := look && s.levelSlot()
	if look {
		s.startLook(open)
	}
	for _, sc := range s.scenes {
		sc.warm(look)
		if look {
			s.gatherFull(sc)
		}
	}
	if look && !s.outlineFirst() {
		s.dispatchFull()
	}
	s.windowed = false
	for _, sc := range s.scenes {
		s.planLevels(sc, open)
	}
	if look {
		for c := range s.candidates {
			s.stats.LoadCandidates += len(s.candidates[c])
		}
	}
	waiting := s.dispatchLevels(classLOD) + s.dispatchLevels(classHLOD)
	if open {
		s.levelBacklog = waiting
	}
	if look && s.outlineFirst() {
		s.dispatchFull()
	}
	s.meshes.dispatch(s)
	s.stats.LoadCandidates += s.meshes.count.candidates
	s.backlog = s.fullBacklog + s.levelBacklog + s.meshes.backlog
	s.loads.promote()
	for _, sc := range s.scenes {
		s.settleAll(sc)
	}
	s.easeOut(signal)
	s.endTick()
}

func (s *Streamer) startTick() {
	largest := 0.0
	for _, sc := range s.scenes {
		largest = max(largest, sc.largest*sc.scale)
	}
	s.motion.sample(s.camera.Position, s.now, s.cfg.VelocitySmoothing, largest)
	s.budget.read()
	s.budget.split.given, s.budget.evicted = math.Inf(1), 0
	s.budget.sumPending(s.loads.list)
	for c := range s.candidates {
		s.candidates[c] = s.candidates[c][:0]
	}
	st := &s.stats
	st.StartedLoads, st.NearbyEntitiesQueried = 0, 0
	st.RepresentationGaps, st.WaitingFades = 0, 0
}

// slotForWaiting reports whether a tick between two intervals has to look for
// what could be loaded: something waits, and there is a slot for it.
func (s *Streamer) slotForWaiting() bool {
	for c := range s.waits {
		if s.waits[c] && s.loads.freeSlots(class(c)) > 0 {
			return true
		}
	}
	return s.scanning && s.levelSlot()
}

// levelSlot reports whether a level could start.
func (s *Streamer) levelSlot() bool {
	return s.loads.freeSlots(classLOD) > 0 || s.loads.freeSlots(classHLOD) > 0
}

// startLook begins the part of a tick that looks for what could be loaded;
// levels is whether it looks at those of idle tiles.
func (s *Streamer) startLook(levels bool) {
	s.sinceLook, s.fullBacklog = 0, 0
	if levels {
		s.scanning, s.waits = false, [classes]bool{}
		s.lookedFrom = s.camera
	}
	st := &s.stats
	st.TilesSkippedByHierarchy, st.TilesSkippedByFrustum, st.TilesSkippedByFloor, st.TilesSkippedByInterior = 0, 0, 0, 0
	st.LoadCandidates = 0
}

// look maps the camera into a scene, measures the tiles with a record and
// finds all tiles near it.
func (s *Streamer) look(sc *scene) {
	predicted := s.motion.predict(s.camera.Position, s.cfg.VelocityLookAheadTime, s.cfg.VelocityLookAheadMinSpeed, sc.largest*sc.scale)
	sc.view = makeView(&s.camera, predicted, s.camera.Forward, &sc.root, &sc.inverse, s.cfg.TileFrustumGatePadding)
	sc.move()
	margin := queryMargin
	if s.sleepless {
		margin = 0
	}
	sc.find(s.cfg.MaxQueryRadius, margin)
	s.stats.NearbyEntitiesQueried += len(sc.query.tiles)
	sc.awake, sc.fresh = sc.awake[:0], sc.fresh[:0]
	for _, tile := range sc.active {
		if sc.asleep(tile) {
			continue
		}
		sc.lookAt(tile)
	}
}

// lookAt makes a tile with a record one that this tick looks at.
func (sc *scene) lookAt(tile int32) {
	sc.awake = append(sc.awake, tile)
	r := sc.recordOf(tile)
	r.measure()
	r.parsedAtStart = r.full().resident() && (!r.full().split || r.full().drawable)
}

// measure takes the distances of a tile.
func (r *record) measure() {
	r.actual, r.effective = r.scene.view.distance(&r.scene.tiles.box[r.tile])
	r.near = r.actual <= r.scene.cfg.MaxQueryRadius || r.scene.tiles.has(r.tile, flagShared)
	r.share = r.scene.allowance.grant(r.actual, r.share)
	if r.leftAlone() {
		r.share = shareNone
	}
}

// planLevels plans the LODs and HLODs of all tiles near the camera; those
// without a record only if idle is set.
func (s *Streamer) planLevels(sc *scene, idle bool) {
	for _, tile := range sc.hot {
		s.planTile(sc.recordOf(tile))
	}
	for _, tile := range sc.fresh[sc.warmed:] {
		s.planTile(sc.recordOf(tile))
	}
	if idle {
		s.scanIdle(sc)
	}
}

func (s *Streamer) planTile(r *record) {
	switch {
	case !r.near:
	case s.cfg.Handoff == HandoffStrict:
		s.planStrict(r)
	default:
		s.plan(r)
	}
}

func (s *Streamer) endTick() {
	st := &s.stats
	st.UpdateFrame = s.frame
	st.Ticks++
	st.PendingLoadBacklog = s.backlog
	st.AvailableLoadSlots = max(0, s.loads.freeSlots(classFull))
	st.IsUnderPressure = s.budget.high()
}

// Adopt hands over a representation that is resident already, as if its load
// had just completed, but always as a whole. No load event is reported. The
// Streamer takes over res.Asset; when there is an error it has been released.
func (s *Streamer) Adopt(id SceneID, tileID string, rep Rep, res Result) error {
	err := s.adopt(id, tileID, rep, &res)
	if err != nil {
		res.Asset.Release()
	}
	return err
}

func (s *Streamer) adopt(id SceneID, tileID string, rep Rep, res *Result) error {
	if s.closed {
		return ErrClosed
	}
	sc, _ := s.sceneByID(id)
	if sc == nil {
		return fmt.Errorf("%w: %d", ErrNoScene, id)
	}
	tile := int32(slices.Index(sc.tiles.id, tileID))
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
	if err := s.uploadWhole(r, rep, res); err != nil {
		return fmt.Errorf("runtime: adopt %v of tile %q: %w", rep, tileID, err)
	}
	s.makeResident(r, rep, res)
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
	s.dropRetiredFor(nil)
	for _, sc := range s.scenes {
		s.dropScene(sc)
	}
	s.scenes = nil
	s.cancel()
	s.reloads.tasks.Wait()
	s.loads.close()
	s.meshes.registry.CancelAll()
	if s.ownLoader != nil {
		return s.ownLoader.Close()
	}
	return nil
}
