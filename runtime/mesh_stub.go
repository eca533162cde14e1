package runtime

import (
	"math"
	"slices"
	"time"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/runtime/event"
	"github.com/untoldkit/untold/runtime/payload"
)

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
	took     int64   // there, when all of it was last there; 0: not yet

	state    meshState
	seen     bool // within its streaming radius
	evicted  bool // under memory pressure, and not back yet
	tooLarge bool // larger than the high-water mark leaves room for
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
	plan     *payload.Layout
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
	return visualState(TileParsed, len(m.stubs), m.uploaded)
}

// part names a part of a tile for the Device.
func (r *record) part(part int32) payload.Key {
	return payload.Key{Scene: r.scene.id, Tile: r.tile, Rep: payload.RepFull, Part: part}
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

// register takes over the asset of a full tile and makes its stubs.
func (ms *meshStreamer) register(r *record, res *payload.Result) {
	ms.budget.taught = true
	ms.lastRoot++
	n := res.Asset.Layout()
	m := &meshTile{root: ms.lastRoot, plan: n, version: res.Asset.Version, stubs: make([]stub, len(n.Stubs)), texture: max(0, res.TextureBytes)}
	for i := range n.Stubs {
		p := &n.Stubs[i]
		m.stubs[i].box = p.Box
		if !sound(&p.Box) { // the tile's box is never wrong by much
			m.stubs[i].box = r.scene.tiles.box[r.tile]
		}
		size := m.stubs[i].box.Size()
		m.stubs[i].half = max(size[0], size[1], size[2]) / 2
		entries := make([]meshEntry, len(p.Parts))
		for k, x := range p.Parts {
			entries[k] = meshEntry{x.Index, x.Bytes}
		}
		ms.registry.storeMesh(stubID{m.root, int32(i)}, entries...)
	}
	ms.registry.storeAsset(m.root, res.Asset)
	r.meshes = m
	ms.count.meshes += len(m.stubs)
	ms.count.tiles++
	sc := r.scene
	at, _ := slices.BinarySearch(sc.split, r.tile)
	sc.split = slices.Insert(sc.split, at, r.tile)
}

// drop releases all meshes of a tile, and its geometry in the main memory.
func (ms *meshStreamer) drop(r *record) {
	m := r.meshes
	for i := range m.stubs {
		if x := &m.stubs[i]; x.state == meshLoaded || x.state == meshLoading {
			ms.releaseStub(r, i)
		}
		ms.cancelParts(r, i)
	}
	ms.loads.giveUp(m.reread)
	ms.registry.removeRoot(m.root)
	ms.count.meshes -= len(m.stubs)
	ms.count.tiles--
	r.meshes = nil
	sc := r.scene
	if at, ok := slices.BinarySearch(sc.split, r.tile); ok {
		sc.split = slices.Delete(sc.split, at, at+1)
	}
}

// stop cancels what is loading of a tile that streams mesh by mesh.
func (ms *meshStreamer) stop(r *record) {
	for i := range r.meshes.stubs {
		if r.meshes.stubs[i].state == meshLoading {
			ms.releaseStub(r, i)
		}
		ms.cancelParts(r, i)
	}
	ms.loads.giveUp(r.meshes.reread)
}

// releaseStub takes a stub off the Device.
func (ms *meshStreamer) releaseStub(r *record, i int) {
	m := r.meshes
	x := &m.stubs[i]
	start := ms.device.clock.Now()
	for k := range m.plan.Stubs[i].Parts {
		if x.resident>>k&1 != 0 {
			ms.device.Release(r.part(m.plan.Stubs[i].Parts[k].Index))
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
		if m.plan.Stubs[i].Levels() > 1 {
			ms.groups--
		}
	}
	ms.bookStub(r, x, -x.bytes)
	x.state, x.resident, x.tooLarge, x.seen = meshUnloaded, 0, false, false
	if m.uploaded == 0 && r.fading == payload.RepFull {
		r.endFade() // nothing is left to fade out
	}
	ms.updateVisual(r)
}

// unloadStub releases a stub and reports it.
func (ms *meshStreamer) unloadStub(r *record, i int) {
	ms.releaseStub(r, i)
	ms.count.unloads++
	ms.emitMesh(event.MeshUnload, r, i)
}

// bookStub books geometry of a stub. The textures of its tile count from the
// first stub on.
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
		r.wakeUp()
		ms.wake = true
	}
}

// emitMesh reports on a stub.
func (ms *meshStreamer) emitMesh(k event.Kind, r *record, i int) { ms.emit(ms.meshEvent(k, r, i)) }

func (ms *meshStreamer) meshEvent(k event.Kind, r *record, i int) event.Event {
	e := ms.event(k, r, payload.RepFull)
	e.Mesh = r.meshes.plan.Stubs[i].Name
	return e
}

// appendParts lists what is drawn of an out-of-core tile, part by part.
func (r *record) appendParts(dst []Drawn, own span) []Drawn {
	m := r.meshes
	for i := range m.stubs {
		x := &m.stubs[i]
		if x.state != meshLoaded {
			continue
		}
		p := &m.plan.Stubs[i]
		for k := range p.Parts {
			if x.resident>>k&1 != 0 && (len(p.Parts) == 1 || p.Parts[k].Level == x.level) {
				dst = append(dst, own.drawn(r.part(p.Parts[k].Index)))
			}
		}
	}
	return dst
}
