package runtime

import (
	"time"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/runtime/memory"
)

// maxFrame is the longest time between two frames that counts, so that sums of
// it cannot overflow.
const maxFrame = time.Hour

// heartbeatInterval is the time between two lines of the log.
const heartbeatInterval = 5 * time.Second

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
	s.setCamera(camera)
	s.stats.ActiveLoadsAtUpdateStart = len(s.loads.list)
	// Every frame: what has been answered frees slots, into which fetched files are
	// promoted, and what has been uploaded may now be drawable. Each of these can
	// set wake, so they come before the question whether this frame is a tick.
	s.deliver()
	s.takeReloads()
	s.loads.promote()
	s.residency.pollDrawable()
	s.pyramid.poll()
	s.meshes.poll()
	s.handoff.advanceFades(dt)
	s.pyramid.advanceFades(dt)

	s.sinceTick += dt
	s.sinceLook += dt
	interval := s.updateInterval
	if s.backlog > 0 || s.selector.scanning {
		interval = s.burstInterval
	}
	signal := memory.PressureLevel(s.pressure.Swap(uint32(memory.PressureNone)))
	if s.sinceTick >= interval || s.wake || signal != memory.PressureNone {
		s.sinceTick, s.wake = 0, false
		s.tick(signal, s.sinceLook >= s.updateInterval || signal != memory.PressureNone)
		s.stats.UpdateTriggered = true
		s.stats.UpdateWorkMs = milliseconds(s.deps.Clock.Now() - s.now)
	}
	s.meshes.switchLevels()
	s.stats.ActiveLoadsAtUpdateEnd = len(s.loads.list)
	s.stats.Undrawn += uint64(s.handoff.count.undrawn)
	s.frame++
}

// setCamera takes the camera; positions and directions that are none keep the last.
func (s *Streamer) setCamera(c Camera) {
	if !geom.Vec3(c.Position).IsFinite() {
		c.Position = s.camera.Position
	}
	last := geom.Vec3(s.camera.Forward)
	c.Forward = geom.Vec3(c.Forward).Normalize(1e-9, last)
	s.camera = c
}

// tick is one run of all passes. A regular one comes at updateInterval and looks
// for what could be loaded; others come when something has come in, and look
// only if something waits for a slot. The order of the passes is the algorithm.
func (s *Streamer) tick(signal memory.PressureLevel, regular bool) {
	s.tickCount++

	// All passes judge by the same distances and the same use of memory.
	s.sampleMotion()
	s.budget.begin(s.loads.list)
	s.selector.begin()
	s.residency.begin()
	s.handoff.begin()
	s.heartbeat()
	s.stats.NearbyEntitiesQueried = 0
	for _, sc := range s.scenes {
		s.measure(sc)
	}
	// Loads that hang fail now, so that their slots are free and their tiles count
	// as failed in the passes below. Then the budgets are split: every pass below
	// asks for grants.
	s.watchdog()
	s.meshes.expire()
	s.budget.splitFrame()
	s.budget.splitBudget()

	// Unloads and evictions come before loads, so that the room that they free can
	// be used in the same tick. Tiles and meshes out of range go first, as nobody
	// misses them; only then memory takes what it still needs.
	s.handoff.unloadPass()
	s.meshes.scan()
	s.evictor.evict(signal)

	// Nodes of the pyramid come before the levels of tiles, which they stand in for.
	s.pyramid.stream()

	// Full tiles start before the levels are planned: a level is urgent when the
	// full tile that it stands in for has started and nothing of the tile is drawn.
	// All levels are planned before any of them starts, so that slots go to the best.
	// Over a network levels start first: see outlineFirst.
	look := regular || s.selector.slotForWaiting()
	levels := look && s.selector.levelSlot() // also those of idle tiles
	if look {
		s.sinceLook, s.stats.LoadCandidates = 0, 0
		s.selector.startLook(levels)
	}
	for _, sc := range s.scenes {
		sc.listNearby(look)
		if look {
			s.selector.gatherFull(sc)
		}
	}
	if look && !s.outlineFirst() {
		s.selector.dispatchFull()
	}
	for _, sc := range s.scenes {
		s.handoff.planLevels(sc)
		if levels {
			s.selector.scanIdle(sc)
		}
	}
	if look {
		s.stats.LoadCandidates = s.selector.candidateCount()
	}
	waiting := s.selector.dispatchLevels(classLOD) + s.selector.dispatchLevels(classHLOD)
	if levels {
		s.selector.levelBacklog = waiting
	}
	if look && s.outlineFirst() {
		s.selector.dispatchFull()
	}
	// Meshes come last, as they can make room for themselves.
	s.meshes.dispatch(s.evictor)
	s.stats.LoadCandidates += s.meshes.count.candidates
	s.backlog = s.selector.fullBacklog + s.selector.levelBacklog + s.meshes.backlog + s.pyramid.backlog
	s.loads.promote()
	if levels {
		s.selector.fruitless++
	}
	if s.backlog > 0 || len(s.loads.list) > 0 {
		s.selector.fruitless = 0
	}

	// What is drawn is settled when nothing comes or goes any more. Then it is known
	// which tiles of a replaced scene have a successor.
	for _, sc := range s.scenes {
		s.handoff.settleAll(sc)
		s.pyramid.settle(sc)
	}
	s.succession.dropReplaced(signal)
	s.endDrafts()

	st := &s.stats
	st.UpdateFrame = s.frame
	st.Ticks++
	st.PendingLoadBacklog = s.backlog
	st.AvailableLoadSlots = max(0, s.loads.freeSlots(classFull))
	st.IsUnderPressure = s.budget.high()
}

// sampleMotion takes the camera's position; movements that are long against the
// scenes are jumps.
func (s *Streamer) sampleMotion() {
	largest := 0.0
	for _, sc := range s.scenes {
		largest = max(largest, sc.largest*sc.scale)
	}
	s.motion.sample(s.camera.Position, s.now, s.cfg.VelocitySmoothing, largest)
}

// measure maps the camera into a scene, measures the tiles with a record and
// finds all tiles near it.
func (s *Streamer) measure(sc *scene) {
	predicted := s.motion.predict(s.camera.Position, s.cfg.VelocityLookAheadTime, s.cfg.VelocityLookAheadMinSpeed, sc.largest*sc.scale)
	sc.view = makeView(&s.camera, predicted, s.camera.Forward, &sc.root, &sc.inverse, s.cfg.TileFrustumGatePadding)
	sc.move()
	margin := queryMargin
	if s.sleepless {
		margin = 0
	}
	sc.find(s.cfg.MaxQueryRadius, margin)
	s.stats.NearbyEntitiesQueried += len(sc.query.tiles)
	s.pyramid.refine(sc)
	sc.awake, sc.woken = sc.awake[:0], sc.woken[:0]
	for _, tile := range sc.active {
		if sc.asleep(tile) {
			continue
		}
		sc.include(tile)
	}
}

// heartbeat writes a line every few seconds.
func (s *Streamer) heartbeat() {
	if s.now-s.lastHeartbeat < heartbeatInterval {
		return
	}
	s.lastHeartbeat = s.now
	if !s.logs {
		return
	}
	s.log.Info("streaming", "tiles", s.stats.TotalStreamingEntities, "full", s.residency.count.resident[classFull], "lod", s.residency.count.resident[classLOD],
		"hlod", s.residency.count.resident[classHLOD], "active", len(s.loads.list), "backlog", s.backlog, "geometry", s.budget.used())
}

// NotifyMemoryPressure reports memory pressure from outside; the next Update relieves it,
// whatever the tick interval. Levels above PressureCritical count as critical.
// It may be called from any goroutine.
func (s *Streamer) NotifyMemoryPressure(level memory.PressureLevel) {
	level = min(level, memory.PressureCritical)
	for {
		old := s.pressure.Load()
		if old >= uint32(level) || s.pressure.CompareAndSwap(old, uint32(level)) {
			return
		}
	}
}
