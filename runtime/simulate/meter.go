package simulate

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/band"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/event"
	"github.com/untoldkit/untold/runtime/octree"
	"github.com/untoldkit/untold/runtime/payload"
)

// Meter works out a Report from what is drawn in every frame. It judges by the
// manifest and the camera alone, not by what the runtime says about itself, but
// for how far the geometry budget reaches: what lies beyond counts apart; and for
// what of the view is covered, since the runtime knows when it is at rest. It
// serves whoever drives a Streamer: the figures of textures are the caller's.
type Meter struct {
	s     *Scenario
	scene payload.SceneID // whose tiles these are, 0: of the only one
	first payload.SceneID // that one
	zone  *manifest.Bounds
	tiles []measured
	index map[string]int32
	nodes []measuredNode
	base  int32 // what Drawn calls the first of them
	tree  *octree.Tree
	reach float64 // longest streaming radius

	frames    int
	limited   [runtime.LimitTriangles + 1]int // frames, by what makes detail coarser
	dt        time.Duration                   // of the latest frame
	now       time.Duration                   // since the first frame
	sight     sight                           // of the latest frame
	errors    []float32                       // pixels, by frame
	triangles []float64                       // in view, by frame
	drawn     []runtime.Drawn
	touched   []int32 // tiles in whose places something is drawn in the latest frame
	near      []int32
	alive     []int32 // tiles that were drawn since they last wanted none
	waiting   []int32 // tiles within their streaming radius
	updates   []float32
	toFull    []float64

	nearest   int32         // the nearest tile of the latest frame, -1 for none
	drawnTime time.Duration // of all tiles together
	changes   int
	stalled   time.Duration
	toOpen    time.Duration                // what the manifest took, before the first frame
	opened    [len(openings)]time.Duration // when the first picture was that good
	looks     int                          // at how good a picture is, and how many found it coarse
	coarse    int
	nextLook  time.Duration
	opens     int // how many of these have come
	out       Report

	streamer *runtime.Streamer // of the latest frame, which is the last one until another comes
	rested   bool              // it counts in seen
	seen     runtime.Coverage  // sums over the frames that count
	texels   func(runtime.Camera, []runtime.Drawn) float64
	visible  []runtime.Drawn // scratch of drawnInView
	looked   look            // when covered was found out
	covered  runtime.Coverage
}

// measured is a tile and what the meter remembers about it.
type measured struct {
	box              geom.Box
	center           float64 // height of the centre
	streaming        float64
	unload           float64
	lods             []float64 // switch distances
	hlod             float64   // 0: none
	errors           []float64 // metres: of the HLOD, then of the LODs, the finest first
	triangles        []float64 // by Rep-1, 0: unknown
	interior, floors bool

	place   shared
	drawn   payload.Rep   // in the latest frame in which it was drawn
	seen    int           // that frame, counted from 1
	parsed  bool          // its full geometry is resident
	alive   bool          // is in meter.alive
	given   bool          // was given up, and has not been drawn since
	gone    time.Duration // when it was given up
	bare    int           // tile-frames since then that count as given up
	entered time.Duration // when it came within the streaming radius
	inside  bool          // is in meter.waiting
	full    bool          // its full geometry was drawn since then
}

// NewMeter returns a Meter for the scene and the configuration of a scenario.
func NewMeter(s *Scenario) *Meter {
	m := &Meter{s: s}
	m.measure(s.Manifest)
	return m
}

// Opened says how long the manifest took, which is part of the time to a picture.
func (m *Meter) Opened(took time.Duration) { m.toOpen = took }

// CountTexels lets TimeTo8PX wait for textures too: texels returns how many pixels the
// largest texel covers of what is drawn, where it could be finer.
func (m *Meter) CountTexels(texels func(camera runtime.Camera, drawn []runtime.Drawn) float64) {
	m.texels = texels
}

// Follow takes over the tiles of a scene that has taken the place of the last
// one: nothing is known of them.
func (m *Meter) Follow(id payload.SceneID, scene *manifest.Manifest) {
	m.scene, m.tiles, m.alive, m.waiting = id, nil, m.alive[:0], m.waiting[:0]
	m.measure(scene)
}

// measure reads the tiles of a manifest.
func (m *Meter) measure(scene *manifest.Manifest) {
	m.index, m.reach, m.zone = make(map[string]int32, len(scene.Tiles)), 0, scene.InteriorZone
	boxes := make([]geom.Box, len(scene.Tiles))
	for i := range scene.Tiles {
		t := &scene.Tiles[i]
		x := m.s.measured(scene, t)
		boxes[i] = x.box
		m.reach = max(m.reach, x.streaming)
		m.index[t.ID] = int32(i)
		m.tiles = append(m.tiles, x)
	}
	m.measurePyramid(scene)
	m.reach = min(m.reach, m.s.Config.MaxQueryRadius)
	m.tree = octree.New(boxes)
}

// measured returns a tile with its distances as the runtime uses them.
func (s *Scenario) measured(scene *manifest.Manifest, t *manifest.Tile) measured {
	b := band.Bands{Streaming: scene.StreamingDefaults.StreamingRadius, Unload: scene.StreamingDefaults.UnloadRadius}
	if t.StreamingRadius != nil {
		b.Streaming = *t.StreamingRadius
	}
	if t.UnloadRadius != nil {
		b.Unload = *t.UnloadRadius
	}
	for _, l := range t.LODLevels {
		b.LODs = append(b.LODs, l.SwitchDistance)
	}
	slices.Sort(b.LODs)
	if len(t.HLODLevels) > 0 {
		b.HLOD = t.HLODLevels[0].SwitchDistance
	}
	if s.Config.NormalizeBands {
		b = band.Normalize(b)
	}
	return measured{
		errors: errorsOf(t), triangles: trianglesOf(t),
		box: t.Bounds.Box(), center: t.Center[1], streaming: b.Streaming, unload: b.Unload, lods: b.LODs, hlod: b.HLOD,
		interior: t.Interior, floors: scene.HasFloors() && t.FloorID != nil,
	}
}

// reset forgets the tiles' history: the program had everything unloaded, which
// explains what is missing.
func (m *Meter) reset() {
	for i := range m.tiles {
		t := &m.tiles[i]
		t.drawn, t.seen, t.parsed, t.alive, t.given, t.inside, t.full = 0, 0, false, false, false, false, false
		t.place = shared{}
	}
	m.alive, m.waiting = m.alive[:0], m.waiting[:0]
}

// Event counts an event. Those of a frame come before its Frame.
func (m *Meter) Event(e *event.Event) {
	switch e.Kind {
	case event.MeshLoad:
		m.out.MeshLoads++
		return
	case event.MeshUnload:
		m.out.MeshUnloads++
		return
	case event.MeshFailed:
		m.out.MeshFailures++
		return
	case event.EvictMesh:
		m.out.MeshEvictions++
	}
	group, what, _ := strings.Cut(string(e.Kind), ".")
	switch what {
	case "dispatch":
		m.out.Loads++
	case "load":
		if group != "scene" {
			m.out.Loads++
		}
	case "failed":
		m.out.Failures++
	case "cancel":
		m.out.Cancels++
	case "retry":
		m.out.Retries++
	case "timeout":
		m.out.Timeouts++
	}
	if group == "evict" && what != "shed" {
		m.out.Evictions++
	}
	if i, ok := m.index[e.Tile]; ok {
		switch e.Kind {
		case event.TileParsed:
			m.tiles[i].parsed = true
		case event.TileUnload:
			m.tiles[i].parsed = false
		}
	}
}

// Frame judges what is drawn after an update, at a time since the first frame;
// it lasts for dt.
func (m *Meter) Frame(s *runtime.Streamer, stats *runtime.Stats, camera *runtime.Camera, now, dt time.Duration) {
	eye := m.eye(s, camera)
	m.judge(s.AppendDrawn(m.drawn[:0]), stats, eye, now, dt)
	m.streamer = s
	m.opening(stats, camera, now)
	m.lookCloser(camera, now)
	if m.rested = stats.UpdateTriggered && s.AtRest(); m.rested {
		add(&m.seen, m.cover(stats, camera))
	}
}

// eye returns where the camera is in the scene, whose boxes and radii are not those
// of the world when the scene has been moved, and notes what it sees.
func (m *Meter) eye(s *runtime.Streamer, camera *runtime.Camera) geom.Vec3 {
	id := m.scene
	if id == 0 {
		if m.frames == 0 {
			m.first = s.Scenes()[0]
		}
		id = m.first
	}
	root, _ := s.SceneTransform(id)
	m.sight = sightOf(camera, root, m.s.Config.PictureHeight)
	inverse, ok := (*geom.Mat4)(&root).InverseAffine()
	if !ok {
		return camera.Position
	}
	return inverse.Point(camera.Position)
}

// look is what Coverage depends on, which looks at every tile: it is asked again
// only when something of this has changed.
type look struct {
	streamer *runtime.Streamer
	scene    payload.SceneID
	root     [16]float64
	camera   runtime.Camera
	reach    float64
	changes  uint64
	counts   [8]int // of what is resident and shown
	bytes    int64
}

// cover returns what Coverage would.
func (m *Meter) cover(st *runtime.Stats, camera *runtime.Camera) runtime.Coverage {
	now := look{
		streamer: m.streamer, scene: m.scene, camera: *camera, reach: st.GeometryReach, changes: st.RepresentationChanges,
		counts: [8]int{st.LoadedCount, st.ResidentFull, st.ResidentLOD, st.ResidentHLOD, st.VisibleFull, st.VisibleLOD, st.VisibleHLOD, st.UndrawnTiles},
		bytes:  st.GeometryBytes,
	}
	now.root, _ = m.streamer.SceneTransform(m.scene)
	if now != m.looked {
		m.looked, m.covered = now, m.streamer.Coverage()
	}
	return m.covered
}

// add counts the tiles of a frame.
func add(sum *runtime.Coverage, c runtime.Coverage) {
	sum.InView, sum.Bare, sum.GivenUp = sum.InView+c.InView, sum.Bare+c.Bare, sum.GivenUp+c.GivenUp
}

func (m *Meter) judge(drawn []runtime.Drawn, stats *runtime.Stats, camera geom.Vec3, now, dt time.Duration) {
	m.frames++
	m.dt, m.now = dt, now
	m.out.PeakGeometryBytes = max(m.out.PeakGeometryBytes, stats.GeometryUsed)
	m.out.PeakTextureBytes = max(m.out.PeakTextureBytes, stats.TextureUsed)
	m.out.PyramidBytesPeak = max(m.out.PyramidBytesPeak, stats.PyramidBytes)
	m.out.PeakCPUBytes, m.out.LODSwitches = max(m.out.PeakCPUBytes, stats.CPUBytes), int(stats.LODSwitches)
	reach, ceiling := stats.GeometryReach, m.s.Config.MaxQueryRadius
	if m.frames == 1 {
		m.out.GeometryReachMin = reach
	}
	m.out.GeometryReachMin = min(m.out.GeometryReachMin, reach)
	m.limited[stats.DetailLimit]++
	m.look(drawn, camera)
	m.alive = slices.DeleteFunc(m.alive, func(i int32) bool {
		t := &m.tiles[i]
		drawn := t.seen == m.frames
		if !drawn && t.drawn != payload.RepNone {
			t.drawn = payload.RepNone
			m.changes++
		}
		d := t.box.Distance(camera)
		switch {
		case drawn:
			return false
		case t.wants(d, reach, ceiling):
			if !t.given { // else it begins anew, now that it is within reach again
				m.out.Undrawn++
				return false
			}
		case t.wants(d, ceiling, ceiling):
			if !t.given {
				t.given, t.gone, t.bare = true, now, 0
			}
			m.out.GivenUp++
			t.bare++
			return false
		}
		t.alive = false
		return true
	})
	m.near = m.tree.Sphere(camera, m.reach, m.near[:0])
	m.arrivals(now, camera)
	m.stall(camera)
}

// givenUpFor is how long a tile that was given up has to stay away. One that is
// back sooner blinked, however far the budget reached: it was undrawn.
const givenUpFor = 3 * time.Second

// show notes that a tile is drawn in this frame.
func (m *Meter) show(i int32, rep payload.Rep) {
	t := &m.tiles[i]
	if t.drawn != rep {
		m.changes++
	}
	t.drawn, t.seen = rep, m.frames
	m.drawnTime += m.dt
	if t.given && m.now-t.gone < givenUpFor {
		m.out.Undrawn += t.bare
		m.out.GivenUp -= t.bare
	}
	t.given = false
	if !t.alive {
		t.alive = true
		m.alive = append(m.alive, i)
	}
}

// rank orders representations by detail: 0 for none.
func rank(r payload.Rep) int {
	level, lod := r.Level()
	switch {
	case r == payload.RepFull:
		return math.MaxInt
	case lod:
		return math.MaxInt - 1 - level
	case r == payload.RepHLOD:
		return 1
	}
	return 0
}

func finer(a, b payload.Rep) payload.Rep {
	if rank(b) > rank(a) {
		return b
	}
	return a
}

// wants reports whether the tile wants any representation at a distance.
func (t *measured) wants(d, reach, ceiling float64) bool {
	switch {
	case d > reach && reach < ceiling:
		return false // given up, whatever is resident
	case t.parsed:
		return true // grace and residence
	case d > reach:
		return false
	case d <= t.unload:
		return true
	}
	return len(t.lods) > 0 && d >= t.lods[0] || t.hlod > 0 && d >= t.hlod
}

// detail is the representation that belongs to a distance.
func (t *measured) detail(d float64) payload.Rep {
	if d <= t.streaming {
		return payload.RepFull
	}
	if t.hlod > 0 && d >= t.hlod {
		return payload.RepHLOD
	}
	for i := len(t.lods) - 1; i >= 0; i-- {
		if d >= t.lods[i] {
			return payload.LOD(i)
		}
	}
	return payload.RepNone
}

// gated reports whether the interior or the floor gate keeps the tile out.
func (m *Meter) gated(t *measured, camera geom.Vec3) bool {
	if !t.interior {
		return false
	}
	if z := m.zone; z != nil && !z.Box().Contains(geom.Box{Min: camera, Max: camera}, 0) {
		return true
	}
	return t.floors && math.Abs(t.center-camera[1]) > m.s.Config.FloorProximityGateY
}

// arrivals measures how long tiles within their streaming radius wait for
// their full geometry.
func (m *Meter) arrivals(now time.Duration, camera geom.Vec3) {
	for _, i := range m.near {
		t := &m.tiles[i]
		if !t.inside && t.box.Distance(camera) <= t.streaming && !m.gated(t, camera) {
			t.inside, t.full, t.entered = true, false, now
			m.waiting = append(m.waiting, i)
		}
	}
	m.waiting = slices.DeleteFunc(m.waiting, func(i int32) bool {
		t := &m.tiles[i]
		if !t.full && t.seen == m.frames && t.drawn == payload.RepFull {
			t.full = true
			m.toFull = append(m.toFull, (now - t.entered).Seconds())
		}
		t.inside = t.box.Distance(camera) <= t.streaming && !m.gated(t, camera)
		return !t.inside
	})
}

// stall looks at the nearest tile; of several, the first.
func (m *Meter) stall(camera geom.Vec3) {
	best := m.find(camera)
	if m.nearest < 0 && m.reach < m.s.Config.MaxQueryRadius {
		m.near = m.tree.Sphere(camera, m.s.Config.MaxQueryRadius, m.near[:0])
		best = m.find(camera)
	}
	if m.nearest < 0 {
		return
	}
	t := &m.tiles[m.nearest]
	drawn := payload.RepNone
	if t.seen == m.frames {
		drawn = t.drawn
	}
	if rank(drawn) < rank(t.detail(best)) {
		m.stalled += m.dt
	}
}

// find sets the nearest tile of those in near, and returns its distance.
func (m *Meter) find(camera geom.Vec3) float64 {
	best := math.Inf(1)
	m.nearest = -1
	for _, i := range m.near {
		if d := m.tiles[i].box.Distance(camera); d < best && !m.gated(&m.tiles[i], camera) {
			m.nearest, best = i, d
		}
	}
	return best
}

// Updated adds what an Update took on the wall clock.
func (m *Meter) Updated(d time.Duration) {
	m.updates = append(m.updates, float32(d.Seconds()*1000))
}

// Drawn returns what is drawn after the latest Frame, until the next one.
func (m *Meter) Drawn() []runtime.Drawn { return m.drawn }

// Report sums up. What was requested and loaded, and textures, are left out.
func (m *Meter) Report() Report {
	out := m.out
	out.Frames = m.frames
	if m.frames > 0 {
		out.LimitedMemory = float64(m.limited[runtime.LimitMemory]) / float64(m.frames)
		out.LimitedTriangles = float64(m.limited[runtime.LimitTriangles]) / float64(m.frames)
	}
	ms := make([]float64, len(m.updates))
	for i, v := range m.updates {
		ms[i] = float64(v)
	}
	slices.Sort(ms)
	out.UpdateMSP50, out.UpdateMSP99, out.UpdateMSMax = quantile(ms, 0.5), quantile(ms, 0.99), quantile(ms, 1)
	if m.drawnTime > 0 {
		out.RepresentationChangesPerTileMinute = float64(m.changes) / m.drawnTime.Minutes()
	}
	toFull := slices.Sorted(slices.Values(m.toFull))
	out.TimeToFullP50, out.TimeToFullP95 = quantile(toFull, 0.5), quantile(toFull, 0.95)
	out.TimeToOpen = m.toOpen.Seconds()
	for k, to := range [...]*float64{&out.TimeToPicture, &out.TimeTo8PX} {
		if *to = m.opened[k].Seconds(); k >= m.opens && m.frames > 0 {
			*to = (m.now + m.dt).Seconds()
		}
		*to += m.toOpen.Seconds()
	}
	switch {
	case m.looks > 0:
		out.Over8PX = float64(m.coarse) / float64(m.looks)
	case m.frames > 0:
		out.Over8PX = 1
	}
	out.StallSeconds = m.stalled.Seconds()
	out.ErrorPXP50, out.ErrorPXP99, out.ErrorPXMax = m.errorQuantiles()
	triangles := slices.Sorted(slices.Values(m.triangles))
	out.ViewTrianglesP50, out.ViewTrianglesMax = int(quantile(triangles, 0.5)), int(quantile(triangles, 1))
	seen := m.seen
	if m.streamer != nil && !m.rested {
		add(&seen, m.streamer.Coverage())
	}
	out.Uncovered = seen.Share()
	seen.Bare = seen.GivenUp
	out.UncoveredBudget = seen.Share()
	return out
}
