package runtime

import (
	"time"

	"github.com/untoldkit/untold/internal/geom"
)

// maxFrame is the longest time between two frames that counts, so that sums of
// it cannot overflow.
const maxFrame = time.Hour

// heartbeat is the time between two lines of the log.
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
	s.deliver()
	s.takeReloads()
	s.loads.promote()
	s.residency.pollDrawable()
	s.meshes.poll()
	s.handoff.advanceFades(dt)

	s.sinceTick += dt
	s.sinceLook += dt
	interval := s.updateInterval
	if s.backlog > 0 || s.selector.scanning {
		interval = s.burstInterval
	}
	signal := PressureLevel(s.pressure.Swap(uint32(PressureNone)))
	if s.sinceTick >= interval || s.wake || signal != PressureNone {
		s.sinceTick, s.wake = 0, false
		s.tick(signal, s.sinceLook >= s.updateInterval || signal != PressureNone)
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
func (s *Streamer) tick(signal PressureLevel, regular bool) {
	s.tickCount++

	// All passes judge by the same distances, memory and shares of it.
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
	// What hangs frees its slots before anything asks for them, and counts as
	// failed when the tiles are judged.
	s.watchdog()
	s.meshes.expire()
	s.budget.splitBudget()

	// What may go goes before anything comes, so that its room, and the slot of a
	// load that was cancelled, can be used in the same tick. What is out of range
	// goes first, for that costs nothing that is seen; memory takes the rest.
	s.handoff.unloadPass()
	s.meshes.scan()
	s.evictor.evict(signal)

	// Full tiles are gathered before the levels are planned, and levels are planned
	// before any of them starts: a slot goes to the best of all. Full tiles that
	// have been started are no longer bare of a load, so levels of the same tiles
	// are more urgent. Over a network it is the other way round: outlines first.
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
	// Meshes take what room the tiles have left: they can make some.
	s.meshes.dispatch(s.evictor)
	s.stats.LoadCandidates += s.meshes.count.candidates
	s.backlog = s.selector.fullBacklog + s.selector.levelBacklog + s.meshes.backlog
	s.loads.promote()

	// What is drawn is settled last, when nothing comes or goes any more; and only
	// then it is known what of a replaced scene has a successor.
	for _, sc := range s.scenes {
		s.handoff.settleAll(sc)
	}
	s.succession.dropReplaced(signal)

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
func (s *Streamer) NotifyMemoryPressure(level PressureLevel) {
	level = min(level, PressureCritical)
	for {
		old := s.pressure.Load()
		if old >= uint32(level) || s.pressure.CompareAndSwap(old, uint32(level)) {
			return
		}
	}
}
