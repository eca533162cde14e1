package batch

import (
	"cmp"
	"math"
	"slices"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/runtime/payload"
)

// cellKey names a cell.
type cellKey struct {
	scene payload.SceneID
	at    [3]int32
}

// cell is a cube of a scene with the meshes whose centres lie in it.
type cell struct {
	key     cellKey
	members []*item // in no particular but a repeatable order
	place   int32   // in Batcher.list
	box     records.Bounds
	drawn   int32 // members that are drawn, alone or not

	// Sums over the members, for the order of work.
	vertices, indices int64

	generation  uint64 // of the last change
	changedAt   uint64 // frame
	dirtyAt     uint64 // frame of the first change since it was clean
	dirty       bool
	listed      bool // in Batcher.dirty
	bypass      bool // no change since it was clean needs quiescence
	refused     bool // too much for a cell
	gone        bool
	seen        bool   // in view and drawn in this frame
	lastVisible uint64 // frame, 0: never

	token     uint64 // of the job under way, 0: none
	pending   int64  // its bytes
	uploading int    // batches that wait to be drawable
	round     uint64 // generation of the last result that was taken
}

// enter puts a mesh into its cell.
func (b *Batcher) enter(x *item, size float64, bypass bool) {
	key := cellKey{scene: x.owner.key.Scene}
	for i := range 3 {
		at := math.Floor((float64(x.Bounds.Min[i]) + float64(x.Bounds.Max[i])) / 2 / size)
		if !(math.Abs(at) < math.MaxInt32) {
			return // so far out that it is drawn alone
		}
		key.at[i] = int32(at)
	}
	c := b.cells[key]
	if c == nil {
		c = &cell{key: key, place: int32(len(b.list)), box: x.Bounds}
		b.cells[key] = c
		b.list = append(b.list, c)
	}
	x.cell, x.slot = c, int32(len(c.members))
	c.members = append(c.members, x)
	c.vertices += int64(x.Vertices)
	c.indices += int64(x.Indices)
	if x.owner.drawn {
		c.drawn++
	}
	c.box = union(c.box, x.Bounds)
	b.touch(c, bypass)
}

// leave takes a mesh out of its cell; the cell goes with the last one.
func (b *Batcher) leave(x *item) {
	c := x.cell
	last := len(c.members) - 1
	c.members[x.slot] = c.members[last]
	c.members[x.slot].slot = x.slot
	c.members[last] = nil
	c.members = c.members[:last]
	c.vertices -= int64(x.Vertices)
	c.indices -= int64(x.Indices)
	x.cell = nil
	b.touch(c, false)
	if last > 0 {
		return
	}
	c.gone = true
	delete(b.cells, c.key)
	end := len(b.list) - 1
	b.list[c.place] = b.list[end]
	b.list[c.place].place = c.place
	b.list[end] = nil
	b.list = b.list[:end]
}

// touch marks a cell as changed.
func (b *Batcher) touch(c *cell, bypass bool) {
	b.serial++
	c.generation, c.changedAt, c.refused = b.serial, b.frame, false
	if !c.dirty {
		c.dirty, c.dirtyAt, c.bypass = true, b.frame, bypass
	}
	if !c.listed {
		c.listed = true
		b.dirty = append(b.dirty, c)
	}
	c.bypass = c.bypass && bypass
}

// unlist reports whether a cell does not belong among the dirty ones any more.
func (c *cell) unlist() bool {
	c.listed = c.dirty && !c.gone
	return !c.listed
}

// look notes which cells are visible.
func (b *Batcher) look(sees func(payload.SceneID, records.Bounds) bool) {
	for _, c := range b.list {
		c.seen = c.drawn > 0 && (sees == nil || sees(c.key.scene, c.box))
		if c.seen {
			c.lastVisible = b.frame
		}
	}
}

// candidate is a cell that may be merged now.
type candidate struct{ *cell }

// order returns what comes first: visible now, visible last, with the fewest
// bytes, dirty the longest, then by place.
func order(x, y candidate) int {
	if x.seen != y.seen {
		if x.seen {
			return -1
		}
		return 1
	}
	return cmp.Or(
		cmp.Compare(y.lastVisible, x.lastVisible),
		cmp.Compare(bytesOf(x.vertices, x.indices), bytesOf(y.vertices, y.indices)),
		cmp.Compare(x.dirtyAt, y.dirtyAt),
		slices.Compare(x.key.at[:], y.key.at[:]),
		cmp.Compare(x.key.scene, y.key.scene),
	)
}

// bytesOf returns the size of so much in a batch.
func bytesOf(vertices, indices int64) int64 {
	size := int64(2)
	if vertices >= wideFrom {
		size = 4
	}
	return vertices*vertex.Size + indices*size
}

// start picks dirty cells and starts jobs for them.
func (b *Batcher) start() {
	b.dirty = slices.DeleteFunc(b.dirty, (*cell).unlist)
	s := &b.stats
	s.DirtyBefore = len(b.dirty)
	b.candidates = b.candidates[:0]
	for _, c := range b.dirty {
		switch {
		case c.token != 0 || c.uploading > 0:
			s.Busy++
		case !c.bypass && b.frame-c.changedAt < uint64(b.options.StableFrames):
			s.DeferredByQuiescence++
		case !c.seen && (c.lastVisible == 0 || b.frame-c.lastVisible > uint64(b.options.VisibleFrames)):
			s.DeferredByVisibility++
		case b.frame < b.holding:
			s.DeferredByMemory++
		default:
			b.candidates = append(b.candidates, candidate{c})
		}
	}
	slices.SortFunc(b.candidates, order)
	var w work
	for i, c := range b.candidates {
		if w.cells == b.limits.Cells || !b.startCell(c.cell, &w) {
			s.DeferredByWork += len(b.candidates) - i
			break
		}
		w.cells++
	}
	s.Promoted = w.cells
	clear(b.candidates)
	b.dirty = slices.DeleteFunc(b.dirty, (*cell).unlist)
	s.DirtyAfter = len(b.dirty)
}

// work is what one Update has started.
type work struct {
	cells, jobs              int
	vertices, indices, bytes int64
}

// startCell deals with one cell; false means that there is no more room in this
// Update. A cell whose turn comes late keeps its place, so that large ones are
// not passed over for ever.
func (b *Batcher) startCell(c *cell, w *work) bool {
	p := &b.planned
	b.plan(c, p)
	switch {
	case p.vertices > b.options.MaxCellVertices || p.indices > b.options.MaxCellIndices || p.bytes > b.options.MaxCellBytes:
		b.stats.SkippedByComplexity++
		c.refused = true
		b.settle(c, c.generation) // no batch is kept
		return true
	case len(p.groups) == 0:
		b.keep(c, p)
		b.settle(c, c.generation)
		return true
	case b.stats.Bytes+b.pending+p.newBytes > b.options.MaxBytes:
		b.stats.DeferredByMemory++
		return true
	}
	vertices, indices, bytes := w.vertices+p.newVertices, w.indices+p.newIndices, w.bytes+p.newBytes
	over := vertices > b.limits.Vertices || indices > b.limits.Indices || bytes > b.limits.Bytes
	if w.jobs == b.limits.Jobs || b.inFlight == b.limits.InFlight || w.jobs > 0 && over {
		return false
	}
	w.jobs, w.vertices, w.indices, w.bytes = w.jobs+1, vertices, indices, bytes
	b.token++
	c.token, c.pending = b.token, p.newBytes
	b.inFlight++
	b.pending += p.newBytes
	b.stats.Jobs++
	b.options.Builder.Start(&Job{
		Token: b.token, Epoch: b.epoch, Generation: c.generation, Scene: c.key.scene, Cell: c.key.at,
		Groups: p.jobGroups(), answers: b.answers,
	})
	return true
}

// settle ends the work on a cell: what is in a batch of an earlier round is
// drawn alone from here on.
func (b *Batcher) settle(c *cell, round uint64) {
	c.round = round
	if c.generation == round {
		c.dirty = false
	}
	for _, x := range c.members {
		if x.batch != nil && x.batch.round != round {
			b.detach(x)
		}
	}
}

func union(a, o records.Bounds) records.Bounds {
	for i := range 3 {
		a.Min[i], a.Max[i] = min(a.Min[i], o.Min[i]), max(a.Max[i], o.Max[i])
	}
	return a
}
