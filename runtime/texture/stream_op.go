package texture

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// ErrBudget is matched by the error of a texture that turned out larger than
// what the budget has left.
var ErrBudget = errors.New("texture: no room in the budget")

// flight is a texture on its way: being loaded, then being uploaded.
type flight struct {
	token     uint64
	texture   int32
	entity    int32 // whose operation it belongs to; -1 for a first load
	maxSize   int   // longest edge that was asked for
	reserve   int64 // bytes that are kept free for it
	frees     int64 // bytes that a downgrade will give back
	started   time.Duration
	uploading bool
	cancel    context.CancelFunc
}

// reserve keeps n bytes of the budget free and reports whether there were so
// many.
func (s *Streamer) reserve(n int64) bool {
	if s.options.Budget > 0 && n > s.room() {
		return false
	}
	s.reserved += n
	s.stats.PeakReserved = max(s.stats.PeakReserved, s.reserved)
	return true
}

// room returns how many bytes of the budget are free, less than none when it
// was lowered.
func (s *Streamer) room() int64 {
	if s.options.Budget == 0 {
		return math.MaxInt64
	}
	return s.options.Budget - s.used - s.reserved
}

// startFirst loads waiting textures for the first time, the nearest first. One
// for which there is not even room at the minimum size begins smaller.
func (s *Streamer) startFirst() {
	if len(s.waiting) == 0 || s.first >= s.options.FirstLoads {
		return
	}
	if !s.sorted {
		slices.SortFunc(s.waiting, func(a, b int32) int {
			return cmp.Or(cmp.Compare(s.textures[a].near, s.textures[b].near), cmp.Compare(a, b))
		})
		s.sorted = true
	}
	keep := s.waiting[:0]
	for _, i := range s.waiting {
		t := &s.textures[i]
		if t.refs == 0 || t.state != stateWaiting {
			continue // released since, or in the queue twice
		}
		edge, bytes, ok := 0, int64(0), false
		if s.first < s.options.FirstLoads {
			edge, bytes, ok = s.reserveFirst(t)
		}
		if !ok {
			keep = append(keep, i)
			continue
		}
		t.state = stateLoading
		s.first++
		s.load(i, -1, edge, bytes, 0)
	}
	s.waiting = keep
}

// reserveFirst returns at which size a texture can begin.
func (s *Streamer) reserveFirst(t *resource) (edge int, bytes int64, ok bool) {
	for edge = s.firstEdge(); edge > 0; edge /= 2 {
		if bytes = max(t.need, texfile.MostBytes(edge)); s.reserve(bytes) {
			return edge, bytes, true
		}
	}
	return 0, 0, false
}

// firstEdge returns the longest edge of first loads.
func (s *Streamer) firstEdge() int {
	if s.options.MaxEdge > 0 {
		return min(s.policy.MinDimension, s.options.MaxEdge)
	}
	return s.policy.MinDimension
}

// change makes a resident texture begin with another level, for an entity. An
// upgrade has its bytes reserved.
func (s *Streamer) change(index int32, c change) {
	t := &s.textures[c.texture]
	bytes := t.file.Bytes(c.start)
	if c.start > t.start && s.trimmer != nil && s.trimmer.Trim(ID(c.texture)+1, c.start-t.start) {
		s.resize(c.texture, c.start, bytes)
		return
	}
	s.entities[index].op++
	s.load(c.texture, index, t.file.Edge(c.start), max(0, bytes-t.bytes), max(0, t.bytes-bytes))
}

// load asks for a texture; the bytes are reserved.
func (s *Streamer) load(texture, entity int32, maxSize int, reserve, frees int64) {
	ctx, cancel := context.WithCancel(context.Background())
	s.token++
	t := &s.textures[texture]
	t.busy = true
	s.freeing += frees
	s.flights = append(s.flights, flight{
		token: s.token, texture: texture, entity: entity, maxSize: maxSize, reserve: reserve, frees: frees, started: s.now, cancel: cancel,
	})
	s.trace(Event{Kind: EventStart, Texture: ID(texture) + 1, From: t.edge(), To: maxSize})
	slot := t.name.slot
	s.options.Loader.Start(Request{
		Token: s.token, Dir: slot.Dir, URI: slot.URI, Use: slot.Use, MaxSize: maxSize, Context: ctx, Done: s.done,
	})
}

// deliver takes over the answers that have come.
func (s *Streamer) deliver() {
	s.arrived = s.done.box.Drain(s.arrived)
	for i := range s.arrived {
		s.answer(&s.arrived[i])
	}
	clear(s.arrived)
}

func (s *Streamer) answer(c *completion) {
	k := slices.IndexFunc(s.flights, func(f flight) bool { return f.token == c.token && !f.uploading })
	if k < 0 {
		s.stats.Stale++
		return
	}
	f := &s.flights[k]
	err := c.err
	if err == nil {
		err = s.accept(f, c.image)
	}
	switch {
	case err != nil:
		s.fail(f, err)
		s.drop(k)
	case s.pacer != nil && !s.pacer.Uploaded(ID(f.texture)+1):
		f.uploading = true
	default:
		s.drop(k)
	}
}

// poll ends the uploads that are finished.
func (s *Streamer) poll() {
	for k := 0; k < len(s.flights); {
		if f := &s.flights[k]; f.uploading && s.pacer.Uploaded(ID(f.texture)+1) {
			s.drop(k)
			continue
		}
		k++
	}
}

// accept passes an image to the device.
func (s *Streamer) accept(f *flight, img *texfile.Image) error {
	file, start, err := texfile.SizeOf(img)
	if err != nil {
		return err
	}
	if want := file.StartFor(f.maxSize); start != want {
		return fmt.Errorf("%w: it begins with level %d, not %d", texfile.ErrChain, start, want)
	}
	t := &s.textures[f.texture]
	bytes := img.Bytes()
	if more := bytes - t.bytes - f.reserve; more > 0 && more > s.room() {
		t.need = bytes
		return fmt.Errorf("%w: %d bytes more than expected", ErrBudget, more)
	}
	if err := s.device.Upload(ID(f.texture)+1, img); err != nil {
		return fmt.Errorf("texture: upload: %w", err)
	}
	s.reserved -= f.reserve
	s.freeing -= f.frees
	f.reserve, f.frees = 0, 0
	from := t.edge()
	t.file = file
	t.state, t.failures, t.retryAt, t.need = stateResident, 0, 0, 0
	t.late = false
	s.resting = false
	s.setStarts(t)
	s.put(f.texture, from, start, bytes)
	return nil
}

// resize notes that the device has trimmed a texture.
func (s *Streamer) resize(texture int32, start int, bytes int64) {
	s.put(texture, s.textures[texture].edge(), start, bytes)
}

// put notes what the device has of a texture.
func (s *Streamer) put(texture int32, from, start int, bytes int64) {
	t := &s.textures[texture]
	s.used += bytes - t.bytes
	t.start, t.bytes = start, bytes
	s.stats.PeakBytes = max(s.stats.PeakBytes, s.used)
	kind := EventLoad
	switch to := t.edge(); {
	case from == 0:
		s.stats.Loads++
	case to > from:
		kind = EventUpgrade
		s.stats.Upgrades++
	case to < from:
		kind = EventDowngrade
		s.stats.Downgrades++
	}
	s.trace(Event{Kind: kind, Texture: ID(texture) + 1, From: from, To: t.edge()})
}

// Delays after failed changes, doubled with each, and after a first load that
// turned out too large.
const (
	backoffBase = 5 * time.Second
	backoffMax  = time.Minute
)

// revive queues the first loads that were too large for what was left, or did not
// come in time, after their delay.
func (s *Streamer) revive() {
	for i := range s.textures {
		if t := &s.textures[i]; t.state == stateMissing && (t.need > 0 || t.late) && s.now >= t.retryAt {
			s.await(int32(i))
		}
	}
}

// fail notes that a texture stays as it is; one that the device has is there.
func (s *Streamer) fail(f *flight, err error) {
	t := &s.textures[f.texture]
	s.stats.Failures++
	t.retryAt = s.now + min(backoffMax, backoffBase<<min(t.failures, 10))
	t.failures++
	s.resting = false
	kind := EventFail
	if f.entity < 0 && !f.uploading {
		t.state, t.late = stateMissing, errors.Is(err, ErrTimeout)
		kind = EventMissing
	}
	s.trace(Event{Kind: kind, Texture: ID(f.texture) + 1, From: t.edge(), To: f.maxSize, Err: err})
}

// drop ends a flight, whatever has become of it.
func (s *Streamer) drop(k int) {
	f := s.flights[k]
	f.cancel()
	s.flights = slices.Delete(s.flights, k, k+1)
	s.reserved -= f.reserve
	s.freeing -= f.frees
	t := &s.textures[f.texture]
	t.busy = false
	if f.entity < 0 {
		s.first--
		if t.state == stateLoading {
			t.state = stateMissing
		}
		return
	}
	if e := &s.entities[f.entity]; e.op > 0 {
		if e.op--; e.op == 0 {
			s.ops--
		}
	}
}

// cancelOp drops everything that is loaded on behalf of an entity.
func (s *Streamer) cancelOp(e *entity, index int32) {
	for k := len(s.flights) - 1; k >= 0 && e.op > 0; k-- {
		if s.flights[k].entity == index {
			s.drop(k)
		}
	}
}
