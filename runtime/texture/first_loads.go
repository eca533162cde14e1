package texture

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// firstLoads owns the queue of the textures of which nothing is there: the nearest
// comes first, and so many are under way at a time, more while they come quickly. One for
// which there is not even room at the minimum size begins smaller. A texture may stand in
// the queue twice, or after it was released; it is passed over then.
type firstLoads struct {
	limit   int
	most    int           // limit while they come quickly
	took    time.Duration // mean of the latest that were answered
	answers int           // how many of these there are, limit at most
	running int
	waiting []int32
	sorted  bool // waiting and small are in order
	// small are textures that have come below the minimum size, and whether none of them
	// can grow before the next tick. They may stand there twice too.
	small   []int32
	resting bool
}

// quickLoad is how long loads take at most that leave room for more beside them.
const quickLoad = 300 * time.Millisecond

// answered notes how long a load took that was answered, or was given up as it was not.
// One that was cancelled or failed says nothing of how quickly textures come.
func (f *firstLoads) answered(took time.Duration) {
	if f.answers == 0 {
		f.took = took
	}
	f.answers = min(f.answers+1, f.limit)
	f.took += (took - f.took) / 8
}

// quick reports whether loads come quickly. That is not known until as many as limit have been
// answered, as the first of a slow network come quickly, too, before the others share it.
func (f *firstLoads) quick() bool { return f.answers >= f.limit && f.took <= quickLoad }

// slots returns how many may be under way.
func (f *firstLoads) slots() int {
	if f.quick() {
		return max(f.limit, f.most)
	}
	return f.limit
}

// push queues a texture.
func (f *firstLoads) push(i int32, textures *textureTable) {
	textures.list[i].state = stateWaiting
	f.waiting = append(f.waiting, i)
	f.sorted = false
}

// start loads textures as long as there are slots and room, which is reserved, but for those that
// wait for something else.
func (f *firstLoads) start(textures *textureTable, b *budget, waits func(*resource) bool, load func(texture int32, edge int, bytes int64)) {
	slots := f.slots()
	if len(f.waiting) == 0 || f.running >= slots {
		return
	}
	f.sort(textures)
	keep := f.waiting[:0]
	for _, i := range f.waiting {
		t := &textures.list[i]
		if t.refs == 0 || t.state != stateWaiting {
			continue
		}
		edge, bytes, ok := 0, int64(0), false
		if f.running < slots && !waits(t) {
			for edge = textures.firstEdgeOf(t, f.quick()); edge > 0; edge /= 2 {
				bytes = max(t.need, texfile.MostBytes(edge))
				if ok = b.reserve(bytes); ok {
					break
				}
			}
		}
		if !ok {
			keep = append(keep, i)
			continue
		}
		t.state = stateLoading
		f.running++
		load(i, edge, bytes)
	}
	f.waiting = keep
}

// sort puts the nearest first.
func (f *firstLoads) sort(textures *textureTable) {
	if f.sorted {
		return
	}
	near := func(a, b int32) int {
		return cmp.Or(cmp.Compare(textures.list[a].near, textures.list[b].near), cmp.Compare(a, b))
	}
	slices.SortFunc(f.waiting, near)
	slices.SortFunc(f.small, near)
	f.sorted = true
}

// came notes a texture that has come for the first time.
func (f *firstLoads) came(i int32, textures *textureTable) {
	if t := &textures.list[i]; t.cooked && textures.small > 0 && t.start > t.at[TierMinimum] {
		f.small = append(f.small, i)
		f.sorted, f.resting = false, false
	}
}

// look lets grow look at all textures again.
func (f *firstLoads) look() { f.sorted, f.resting = false, false }

// grow loads textures at the minimum size that came smaller, as long as there are slots
// and room that nobody is owed. What shows enough where it is stays.
func (f *firstLoads) grow(textures *textureTable, b *budget, now time.Duration, yields func(*resource) bool, load func(texture int32, edge int, bytes int64)) {
	if len(f.small) == 0 || f.resting || f.running >= f.limit {
		return
	}
	f.sort(textures)
	keep := f.small[:0]
	f.resting = true
	for _, i := range f.small {
		t := &textures.list[i]
		if t.refs == 0 || t.state != stateResident || t.start <= t.at[TierMinimum] {
			continue // it is gone, or has grown
		}
		keep = append(keep, i)
		if t.busy || now < t.retryAt || textures.enough(t, t.near) || yields(t) {
			continue
		}
		if f.running >= f.limit {
			f.resting = false
			continue
		}
		more := t.file.Bytes(t.at[TierMinimum]) - t.bytes
		if !b.reserveMore(more) {
			continue
		}
		f.running++
		load(i, t.file.Edge(t.at[TierMinimum]), more)
	}
	f.small = keep
}

// attainable returns how many bytes a texture that waits can have at most: what
// others have for good is not among them. What is reserved is, since that may be
// taken back once it has come.
func (f *firstLoads) attainable(textures *textureTable, b *budget) int64 {
	if len(f.waiting) == 0 || b.limit == 0 {
		return math.MaxInt64
	}
	return b.limit - b.used + b.freeing + textures.reclaimable(everywhere, toMinimum)
}

// owed returns what the textures that wait will take. One that never fits takes
// nothing: what is kept free for it would be lost to others.
func (f *firstLoads) owed(textures *textureTable, b *budget) (n int64) {
	most := f.attainable(textures, b)
	for _, i := range f.waiting {
		if t := &textures.list[i]; t.refs > 0 && t.state == stateWaiting && t.need <= most {
			n += textures.firstBytes(t)
		}
	}
	return n
}

// starved refuses the textures that cannot even begin, except for those that never
// fit, and reports whether there are any that could begin.
func (f *firstLoads) starved(textures *textureTable, b *budget, c *claims) (coming bool) {
	most := f.attainable(textures, b)
	for _, i := range f.waiting {
		t := &textures.list[i]
		if t.refs == 0 || t.state != stateWaiting {
			continue
		}
		if b.room() >= max(t.need, texfile.MostBytes(1)) {
			return true
		}
		if t.need <= most {
			bytes := textures.firstBytes(t)
			c.refuse(refusal{t.near, bytes, bytes, true})
		}
	}
	return false
}

// revive queues those again that were too large for what was left, or did not come
// in time, after their delay.
func (f *firstLoads) revive(textures *textureTable, now time.Duration) {
	for i := range textures.list {
		if t := &textures.list[i]; t.state == stateMissing && (t.need > 0 || t.late) && now >= t.retryAt {
			f.push(int32(i), textures)
		}
	}
}
