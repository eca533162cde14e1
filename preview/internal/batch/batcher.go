package batch

import (
	"math"
	"slices"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/memory"
	"github.com/untoldkit/untold/runtime/payload"
)

// ID names a batch for a Device. Ids are not used twice.
type ID uint64

// Device holds the merged buffers. Its methods are called on the owner
// goroutine and must not block.
type Device interface {
	// Upload takes over the buffers of a batch; the device releases them when it
	// has copied them. An error leaves them with the Batcher, and the meshes are
	// drawn alone.
	Upload(id ID, u Upload) error
	// Drawable reports whether an uploaded batch can be drawn. It is asked once
	// per Update until it says yes; until then its meshes are drawn as before.
	Drawable(id ID) bool
	// Release frees a batch; it is not drawn any more and has not been for
	// Options.RetireFrames.
	Release(id ID)
}

// Upload is a batch for a Device.
type Upload struct {
	Scene   payload.SceneID
	Rep     payload.Rep
	Bounds  records.Bounds // in the space of the scene
	Buffers *Buffers
	// Like is a member, resident now: the batch is drawn with its material and
	// state, which the device keeps for as long as it has the batch, even when
	// that member goes.
	Like Ref
}

// Frame is what a Batcher needs to know of a frame. Its fields are used during
// Update only.
type Frame struct {
	Drawn []runtime.Drawn // the streamer's list
	// Sees reports whether a box in the space of a scene is in view. Nil: all
	// is.
	Sees func(scene payload.SceneID, box records.Bounds) bool
}

// Draw is one draw call: a range of the indices of a batch.
type Draw struct {
	Batch        ID
	First, Count uint32
}

// Batcher decides what is drawn in batches. One goroutine owns it. Update never
// waits; in the steady state it does not allocate.
type Batcher struct {
	options Options
	limits  Limits
	frame   uint64
	epoch   uint64
	serial  uint64 // generations of cells
	token   uint64
	lastID  ID
	holding uint64 // no job is started before this frame

	sizes    map[payload.SceneID]float64
	owners   map[payload.Key]*owner
	arrivals []*owner
	drawn    []*owner // of this frame, in the order of the list
	wasDrawn []*owner

	cells map[cellKey]*cell
	list  []*cell // all cells, in no particular but a repeatable order
	dirty []*cell

	live      []*batch // by ID
	uploading []*batch
	retired   []*batch // the first to go first

	answers  *answers
	ready    []answer
	inFlight int
	pending  int64 // bytes of batches that are being made
	retiring int64 // of those that are not drawn any more

	stats      Stats
	candidates []candidate
	planned    plan
}

// owner is a representation with its meshes.
type owner struct {
	key     payload.Key
	items   []item
	merged  []bool // by mesh: in a live batch and part of what it draws
	stamp   uint64 // frame in which it was last drawn
	drawn   bool
	solid   bool // drawn, and not fading
	gone    bool
	waiting bool // in arrivals
}

// item is a mesh. It is in at most one live batch, and in at most one that is
// being uploaded.
type item struct {
	Item
	owner *owner
	mesh  int32
	slot  int32 // in cell.members
	cell  *cell
	batch *batch
	at    int32 // in batch.members
	next  *batch
	place int32 // in next.members
}

func (x *item) ref() Ref { return Ref{x.owner.key, x.mesh} }

// New returns a Batcher without anything.
func New(o Options) *Batcher {
	o = o.withDefaults()
	return &Batcher{
		options: o, limits: o.Limits, sizes: map[payload.SceneID]float64{}, owners: map[payload.Key]*owner{},
		cells: map[cellKey]*cell{}, answers: &answers{},
	}
}

// SetScene tells the edge of a scene's cells in metres: CellSize, or a multiple
// of it for tiles that the cooker has merged by material already, where only
// meshes of several tiles are left to be joined. Without it, or with one that is
// not a positive number, the scene is drawn unbatched. It counts for what comes
// into cells afterwards.
func (b *Batcher) SetScene(id payload.SceneID, cellSize float64) { b.sizes[id] = cellSize }

// Add tells of a representation that has become resident, with its meshes in
// the order of their records. A representation of the same key is replaced.
func (b *Batcher) Add(key payload.Key, items []Item) {
	b.Remove(key)
	o := &owner{key: key, items: make([]item, len(items)), merged: make([]bool, len(items))}
	for i := range items {
		o.items[i] = item{Item: items[i], owner: o, mesh: int32(i)}
	}
	b.owners[key] = o
	if key.Rep == payload.RepFull || b.options.Secondary {
		o.waiting = true
		b.arrivals = append(b.arrivals, o)
	}
}

// Remove tells of a representation that is not resident any more. Nothing of it
// is drawn from here on.
func (b *Batcher) Remove(key payload.Key) {
	o := b.owners[key]
	if o == nil {
		return
	}
	delete(b.owners, key)
	o.gone = true
	b.show(o, false, false)
	for i := range o.items {
		x := &o.items[i]
		if x.cell == nil {
			continue
		}
		b.detach(x)
		b.detachNext(x)
		b.leave(x)
	}
	if o.waiting {
		b.arrivals = slices.DeleteFunc(b.arrivals, func(a *owner) bool { return a == o })
	}
}

// RemoveScene removes all representations of a scene.
func (b *Batcher) RemoveScene(id payload.SceneID) {
	var keys []payload.Key
	for key := range b.owners {
		if key.Scene == id {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, compareKeys)
	for _, key := range keys {
		b.Remove(key)
	}
	delete(b.sizes, id)
}

// Reset removes everything. Jobs that are under way come to nothing.
func (b *Batcher) Reset() {
	b.epoch++
	for _, o := range b.owners {
		o.gone = true
	}
	clear(b.owners)
	clear(b.cells)
	b.arrivals, b.drawn, b.wasDrawn = nil, nil, nil
	b.list, b.dirty = nil, nil
	for _, x := range slices.Concat(b.live, b.uploading) {
		b.retire(x)
	}
	b.live, b.uploading = nil, nil
}

// Close releases everything at once; answers that come later are dropped.
func (b *Batcher) Close() {
	b.Reset()
	for _, x := range b.retired {
		b.options.Device.Release(x.id)
	}
	b.retired, b.retiring = nil, 0
	for i := range b.ready {
		b.ready[i].result.release()
	}
	b.ready = nil
	b.answers.close()
	b.stats = Stats{}
}

// relieveFrames is for how many frames no batch is made after Relieve.
const relieveFrames = 300

// Relieve answers memory pressure: nothing is merged for some seconds, and on a
// critical signal all batches go at once. Everything is drawn alone then.
func (b *Batcher) Relieve(level memory.PressureLevel) {
	if level == memory.PressureNone {
		return
	}
	b.holding = b.frame + relieveFrames
	if level < memory.PressureCritical {
		return
	}
	for _, c := range b.list {
		for _, x := range c.members {
			b.detach(x)
			b.detachNext(x)
		}
		b.touch(c, false)
	}
}

// Update takes a frame: what arrived comes into cells, results become batches,
// and new work is started.
func (b *Batcher) Update(f Frame) {
	b.frame++
	b.stats.begin()
	b.follow(f.Drawn)
	b.takeAnswers()
	b.promoteUploads()
	b.admit()
	b.look(f.Sees)
	b.shrink()
	b.start()
	b.releaseRetired()
	b.stats.end(b)
}

// follow notes what is drawn in this frame.
func (b *Batcher) follow(drawn []runtime.Drawn) {
	b.drawn, b.wasDrawn = b.wasDrawn[:0], b.drawn
	next := 0 // in wasDrawn: most frames draw what the last one did
	for i := range drawn {
		var o *owner
		if next < len(b.wasDrawn) && b.wasDrawn[next].key == drawn[i].Key && !b.wasDrawn[next].gone {
			o = b.wasDrawn[next]
			next++
		} else if o = b.owners[drawn[i].Key]; next+1 < len(b.wasDrawn) && b.wasDrawn[next+1] == o {
			next += 2
		}
		if o == nil || o.stamp == b.frame {
			continue
		}
		o.stamp = b.frame
		b.drawn = append(b.drawn, o)
		b.show(o, true, !(drawn[i].Fade < 1))
	}
	for _, o := range b.wasDrawn {
		if o.stamp != b.frame && !o.gone {
			b.show(o, false, false)
		}
	}
	clear(b.wasDrawn)
}

// show makes a representation drawn or not, and fading or not.
func (b *Batcher) show(o *owner, drawn, solid bool) {
	if o.drawn == drawn && o.solid == solid {
		return
	}
	by := int32(0)
	if drawn != o.drawn {
		by = -1
		if drawn {
			by = 1
		}
	}
	o.drawn, o.solid = drawn, solid
	for i := range o.items {
		x := &o.items[i]
		if x.cell != nil {
			x.cell.drawn += by
		}
		if x.batch != nil {
			x.batch.stale = true
			o.merged[i] = solid
		}
	}
}

// admit brings arrivals into cells: all parts of tiles that stream mesh by mesh,
// and a few whole representations.
func (b *Batcher) admit() {
	whole := 0
	b.arrivals = slices.DeleteFunc(b.arrivals, func(o *owner) bool {
		if o.key.Part == 0 {
			if whole == b.limits.Arrivals {
				return false
			}
			whole++
		}
		b.settleIn(o)
		b.stats.Arrivals++
		return true
	})
}

// settleIn brings the static meshes of a representation into cells.
func (b *Batcher) settleIn(o *owner) {
	o.waiting = false
	size := b.sizes[o.key.Scene]
	if !(size > 0) || math.IsInf(size, 0) {
		return
	}
	// What arrives as a whole is complete; a tile that streams mesh by mesh goes
	// on changing.
	bypass := b.options.Secondary && o.key.Part == 0
	for i := range o.items {
		if o.items[i].Static {
			b.enter(&o.items[i], size, bypass)
		}
	}
}
