package runtime

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/untoldkit/untold/internal/geom"
)

// The second tier: full tiles that are too large to be uploaded as a whole
// stream mesh by mesh. Their asset is pinned in the
// CPURegistry; every renderable node of it, or LOD group, is a stub with the
// radii of its tile, at whatever depth it hangs.

// meshState is the state of a stub.
type meshState uint8

const (
	meshUnloaded meshState = iota
	meshLoading            // with the Device, which cannot draw it yet
	meshLoaded
	meshFailed // waits for the next attempt
)

// stub is the mutable state of a mesh, or LOD group, of an out-of-core tile.
type stub struct {
	box      geom.Box
	distance float64 // as of the last tick
	half     float64 // of the longest edge of the box
	bytes    int64   // on the Device

	state    meshState
	seen     bool // within its streaming radius
	evicted  bool // under memory pressure, and not back yet
	spared   bool // larger than the high-water mark leaves room for
	visible  bool // in view as of the last tick
	fails    uint16
	level    int16  // of a LOD group: the level that is drawn
	resident uint64 // parts that are on the Device, by place in the plan
	fetch    uint64 // token of the request for its geometry, 0: none
	cold     uint32 // tick in which it was a candidate without its geometry

	seenAt, failedAt, evictedAt time.Duration
	lastVisible                 uint64 // frame
}

// meshTile is what a record has while its full tile streams mesh by mesh.
type meshTile struct {
	root     RootID
	plan     *nodes
	version  [32]byte // of the file, as its header has it
	stubs    []stub
	uploaded int // stubs that can be drawn
	loading  int
	texture  int64 // bytes of the tile's textures, in use from the first mesh on

	// The file is being read again after ReleaseWarm.
	reread         uint64 // token of the request, 0: none
	rereadFails    uint16
	rereadFailedAt time.Duration
}

// usable is how many stubs must be drawable before the tile takes over from its
// fallback.
func (m *meshTile) usable() int { return (len(m.stubs) + 1) / 2 }

func (m *meshTile) visual() TileVisualState {
	return VisualState(TileParsed, len(m.stubs), m.uploaded)
}

// part names a part of a tile for the Device.
func (r *record) part(part int32) Key {
	return Key{Scene: r.scene.id, Tile: r.tile, Rep: RepFull, Part: part}
}

// registerMeshes makes the stubs of a full tile. The registry takes over the
// asset.
func (ms *meshStreamer) register(r *record, res *Result) {
	ms.budget.taught = true
	ms.lastRoot++
	n := res.Asset.layout()
	m := &meshTile{root: ms.lastRoot, plan: n, version: res.Asset.version, stubs: make([]stub, len(n.stubs)), texture: max(0, res.TextureBytes)}
	for i := range n.stubs {
		p := &n.stubs[i]
		m.stubs[i].box = p.box
		if !sound(&p.box) { // the tile's box is never wrong by much
			m.stubs[i].box = r.scene.tiles.box[r.tile]
		}
		size := m.stubs[i].box.Size()
		m.stubs[i].half = max(size[0], size[1], size[2]) / 2
		id := StubID{m.root, int32(i)}
		if p.levels() == 1 && len(p.parts) == 1 {
			ms.registry.StoreMesh(id, CPUEntry{Name: p.name, Part: p.parts[0].part, Bytes: p.bytes})
			continue
		}
		for _, x := range p.parts {
			ms.registry.StoreLODMesh(id, CPUEntry{Name: p.name, Part: x.part, Bytes: x.bytes})
		}
	}
	ms.registry.StoreAsset(m.root, res.Asset)
	r.meshes = m
	ms.count.meshes += len(m.stubs)
	ms.count.tiles++
	sc := r.scene
	at, _ := slices.BinarySearch(sc.split, r.tile)
	sc.split = slices.Insert(sc.split, at, r.tile)
}

// sound reports whether a box is finite and not inside out.
func sound(b *geom.Box) bool {
	for i := range 3 {
		if !(b.Min[i] <= b.Max[i]) || math.IsInf(b.Min[i], 0) || math.IsInf(b.Max[i], 0) {
			return false
		}
	}
	return true
}

// dropMeshes releases all stubs of a tile, and what the main memory has of it.
func (ms *meshStreamer) drop(r *record) {
	m := r.meshes
	for i := range m.stubs {
		if x := &m.stubs[i]; x.state == meshLoaded || x.state == meshLoading {
			ms.releaseStub(r, i)
		}
		ms.cancelParts(r, i)
	}
	ms.loads.giveUp(m.reread)
	ms.registry.RemoveRoot(m.root)
	ms.count.meshes -= len(m.stubs)
	ms.count.tiles--
	r.meshes = nil
	sc := r.scene
	if at, ok := slices.BinarySearch(sc.split, r.tile); ok {
		sc.split = slices.Delete(sc.split, at, at+1)
	}
}

// meshCandidate is a stub that could be loaded now.
type meshCandidate struct {
	record     *record
	stub       int32
	low        bool // only for slots that nothing else needs
	near       bool // in the near band
	priority   int32
	distance   float64
	importance float64
}

// compare orders candidates: those that are wanted for themselves, priority,
// size over distance, distance, id. It is a strict total order.
func (c meshCandidate) compare(o meshCandidate) int {
	switch {
	case c.low != o.low:
		if o.low {
			return -1
		}
		return 1
	case c.priority != o.priority:
		return cmp.Compare(o.priority, c.priority)
	case c.importance != o.importance:
		return cmp.Compare(o.importance, c.importance)
	case c.distance != o.distance:
		return cmp.Compare(c.distance, o.distance)
	}
	return compareStubs(c.record, c.stub, o.record, o.stub)
}

// compareStubs orders stubs by scene, tile and place.
func compareStubs(a *record, i int32, b *record, j int32) int {
	switch {
	case a.scene != b.scene:
		return cmp.Compare(a.scene.id, b.scene.id)
	case a.tile != b.tile:
		return cmp.Compare(a.tile, b.tile)
	}
	return cmp.Compare(i, j)
}

// meshLeaver is a stub beyond its unload radius.
type meshLeaver struct {
	record   *record
	stub     int32
	distance float64
}

// compare puts the farthest first.
func (l meshLeaver) compare(o meshLeaver) int {
	if l.distance != o.distance {
		return cmp.Compare(o.distance, l.distance)
	}
	return compareStubs(l.record, l.stub, o.record, o.stub)
}

// lookMeshes measures all stubs and lists what could be loaded and what may go.
func (ms *meshStreamer) look() {
	ms.candidates, ms.leavers, ms.short = ms.candidates[:0], ms.leavers[:0], false
	for _, sc := range ms.scenes {
		for _, tile := range sc.split {
			ms.scanMeshes(sc.recordOf(tile))
		}
	}
}

// meshScan is what the stubs of one tile have in common in one tick.
type meshScan struct {
	radii
	pos        geom.Vec3
	shrink     float64 // from the padding of tiles to that of meshes
	gate       bool    // by the frustum
	closed     bool    // nothing is to be loaded
	more       bool    // the hand-off wants more of the tile, wherever it lies
	outside    bool    // beyond the query radius
	near       float64 // the near band, below 0 for none
	priority   int32
	importance bool // whether candidates have one
}

// scanMeshes judges the stubs of a tile. Their distances are those from the
// camera itself, not from where it will be.
func (ms *meshStreamer) scanMeshes(r *record) {
	sc, m := r.scene, r.meshes
	v := &sc.view
	scan := meshScan{
		radii: sc.tiles.radius[r.tile], pos: v.pos, shrink: ms.cfg.TileFrustumGatePadding - ms.cfg.FrustumGatePadding,
		gate: ms.cfg.EnableFrustumGate, priority: sc.tiles.priority[r.tile], importance: ms.cfg.EnableImportanceSort, near: -1,
	}
	if !math.IsInf(scan.stream, 1) {
		scan.near = ms.cfg.NearBandFraction * scan.stream
	}
	d := sc.tiles.box[r.tile].Distance(v.pos)
	scan.outside = d > ms.cfg.MaxQueryRadius && !sc.tiles.has(r.tile, flagShared)
	scan.closed = r.inGrace || scan.outside || sc.closedOff(r.tile)
	levels := r.hasLevels()
	scan.more = levels && d <= scan.stream && m.uploaded+m.loading < m.usable()
	candidates, leavers := len(ms.candidates), len(ms.leavers)
	for i := range m.stubs {
		x := &m.stubs[i]
		x.distance = x.box.Distance(scan.pos)
		switch x.state {
		case meshLoaded, meshLoading:
			if x.visible = v.seesWithin(&x.box, scan.shrink); x.visible {
				x.lastVisible = ms.frame
			}
			if x.distance > scan.unload || scan.outside {
				ms.leavers = append(ms.leavers, meshLeaver{r, int32(i), x.distance})
			}
		default:
			ms.considerMesh(r, int32(i), &scan)
		}
	}
	ms.trimLeavers(r, leavers, levels && d <= scan.stream)
	if len(ms.candidates) == candidates {
		return
	}
	// What the textures or the file are still wanted for takes no slot.
	if !ms.registry.Warm(m.root) {
		ms.readAgain(r)
	} else if !ms.registry.PrewarmActive(m.root) {
		return
	}
	ms.candidates = ms.candidates[:candidates]
}

// considerMesh adds a stub to the candidates if the gates let it pass.
func (ms *meshStreamer) considerMesh(r *record, i int32, scan *meshScan) {
	x := &r.meshes.stubs[i]
	low := false
	if x.fetch != 0 && !scan.more && (x.distance > scan.unload || scan.outside || r.inGrace) {
		ms.cancelParts(r, int(i))
	}
	switch {
	case scan.closed:
		return
	case x.distance <= scan.stream+1:
		if !x.seen {
			x.seen, x.seenAt = true, ms.now
		}
	case scan.more:
		low = true
	default:
		x.seen = false
		return
	}
	switch {
	case x.state == meshFailed && ms.now-x.failedAt < ms.backoff(x.fails):
		return
	case x.evicted && ms.now-x.evictedAt < evictionHold:
		ms.short = true
		return
	case scan.gate && !r.scene.view.seesWithin(&x.box, scan.shrink):
		// The hand-off may need what is out of view: the tile is drawn as a whole.
		if !scan.more && !ms.cfg.FillIdleSlots {
			return
		}
		low = true
	}
	ms.short = ms.short || x.evicted
	importance := 0.0
	if scan.importance {
		importance = x.half / max(x.distance, 1)
	}
	ms.candidates = append(ms.candidates, meshCandidate{
		record: r, stub: i, low: low, near: x.distance <= scan.near, priority: scan.priority, distance: x.distance, importance: importance,
	})
}

// trimLeavers takes off the list, from a place on, what the tile cannot do
// without: nothing that is drawn goes before its successor can be drawn, and
// what a hand-off is waiting for stays. The nearest stay.
func (ms *meshStreamer) trimLeavers(r *record, from int, wanted bool) {
	list := ms.leavers[from:]
	if len(list) == 0 {
		return
	}
	m := r.meshes
	covered := r.covered()
	if r.scene.tiles.has(r.tile, flagEntity) && r.scene.tiles.box[r.tile].Distance(r.scene.view.pos) > r.scene.tiles.radius[r.tile].unload {
		return // nothing takes its place
	}
	if ms.cfg.EnableFadeTransitions {
		covered = covered && r.drawn != RepFull // it has to fade out first
	}
	keep := 0
	switch {
	case r.fading == RepFull:
		keep = m.uploaded
	case wanted, !covered && m.uploaded >= m.usable():
		keep = m.usable()
	case !covered && r.drawn == RepFull:
		keep = 1
	}
	loaded := moveFirst(list, func(l meshLeaver) bool { return m.stubs[l.stub].state == meshLoaded })
	n := max(0, min(loaded, m.uploaded-keep))
	if n < loaded {
		selectFirst(list[:loaded], n, meshLeaver.compare)
	}
	if !wanted { // what is on its way is needed no more
		n += copy(list[n:], list[loaded:])
	}
	ms.leavers = ms.leavers[:from+n]
}

// hasLevels reports whether the tile has an HLOD or LODs.
func (r *record) hasLevels() bool {
	t := r.scene.tiles
	return t.levelAt[r.tile] != t.levelAt[r.tile+1]
}

// covered reports whether a level can stand in for the full representation.
func (r *record) covered() bool {
	for i := 1; i < len(r.reps); i++ {
		if r.scene.ready(&r.reps[i]) {
			return true
		}
	}
	return false
}

// unloadMeshes releases what is out of range, the farthest first.
func (ms *meshStreamer) unload() {
	ms.count.unloadCandidates = len(ms.leavers)
	n := min(len(ms.leavers), ms.cfg.MaxUnloadsPerUpdate)
	selectFirst(ms.leavers, n, meshLeaver.compare)
	for _, l := range ms.leavers[:n] {
		ms.unloadStub(l.record, int(l.stub))
	}
	ms.count.processedUnloads = n
	clear(ms.leavers)
}

// selectFirst moves the first n elements to the front, in order.
func selectFirst[T any](list []T, n int, compare func(a, b T) int) {
	if n <= 0 {
		return
	}
	if n > 32 { // then sorting all is the cheaper way
		slices.SortFunc(list, compare)
		return
	}
	for i := range list {
		x := list[i]
		at := i
		if i >= n {
			if compare(x, list[n-1]) >= 0 {
				continue
			}
			list[i], at = list[n-1], n-1
		}
		for at > 0 && compare(x, list[at-1]) < 0 {
			list[at] = list[at-1]
			at--
		}
		list[at] = x
	}
}

// releaseStub takes a stub off the Device.
func (ms *meshStreamer) releaseStub(r *record, i int) {
	m := r.meshes
	x := &m.stubs[i]
	start := ms.device.clock.Now()
	for k := range m.plan.stubs[i].parts {
		if x.resident>>k&1 != 0 {
			ms.device.Release(r.part(m.plan.stubs[i].parts[k].part))
		}
	}
	ms.device.noteRelease(start)
	if x.state == meshLoading {
		m.loading--
		ms.count.loading--
		ms.loading = slices.DeleteFunc(ms.loading, func(l meshLoad) bool { return l.record == r && int(l.stub) == i })
	} else {
		m.uploaded--
		ms.count.loaded--
		if m.plan.stubs[i].levels() > 1 {
			ms.groups--
		}
	}
	ms.bookStub(r, x, -x.bytes)
	x.state, x.resident, x.spared, x.seen = meshUnloaded, 0, false, false
	if m.uploaded == 0 && r.fading == RepFull {
		r.endFade() // nothing is left to fade out
	}
	ms.updateVisual(r)
}

// unloadStub releases a stub and reports it.
func (ms *meshStreamer) unloadStub(r *record, i int) {
	ms.releaseStub(r, i)
	ms.count.unloads++
	ms.emitMesh(EventMeshUnload, r, i)
}

// addMeshBytes books geometry of a stub, and the textures of its tile with the
// first one.
func (ms *meshStreamer) bookStub(r *record, x *stub, bytes int64) {
	st, m := r.full(), r.meshes
	x.bytes += bytes
	st.geometry += bytes
	texture := m.texture
	if m.uploaded+m.loading == 0 {
		texture = 0
	}
	ms.budget.book(bytes, texture-st.texture)
	st.texture = texture
}

// updateVisual lets the hand-off know whether enough of a tile is drawable.
func (ms *meshStreamer) updateVisual(r *record) {
	usable := r.meshes.visual() >= VisualUsable
	if st := r.full(); st.drawable != usable {
		st.drawable = usable
		r.touch()
		ms.wake = true
	}
}

// emitMesh reports on a stub.
func (ms *meshStreamer) emitMesh(k Kind, r *record, i int) { ms.emit(ms.meshEvent(k, r, i)) }

func (ms *meshStreamer) meshEvent(k Kind, r *record, i int) Event {
	e := ms.event(k, r, RepFull)
	e.Mesh = r.meshes.plan.stubs[i].name
	return e
}
