package texture

import (
	"errors"
	"fmt"
	"time"

	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// ErrBudget is matched by the error of a texture that turned out larger than
// what the budget has left.
var ErrBudget = errors.New("texture: no room in the budget")

// change is a texture and the level with which it is to begin.
type change struct {
	texture int32
	start   int
}

// change makes a resident texture begin with another level, for an entity. An
// upgrade has its bytes reserved.
func (s *Streamer) change(index int32, c change) {
	t := &s.textures.list[c.texture]
	bytes := t.file.Bytes(c.start)
	if c.start > t.start && s.trimmer != nil && s.trimmer.Trim(ID(c.texture)+1, c.start-t.start) {
		s.put(c.texture, t.edge(), c.start, bytes)
		return
	}
	s.entities.list[index].op++
	s.load(c.texture, index, t.file.Edge(c.start), max(0, bytes-t.bytes), max(0, t.bytes-bytes))
}

// load asks for a texture; the bytes are reserved.
func (s *Streamer) load(texture, entity int32, maxSize int, reserve, frees int64) {
	t := &s.textures.list[texture]
	t.busy = true
	s.budget.freeing += frees
	s.trace(Event{Kind: EventStart, Texture: ID(texture) + 1, From: t.edge(), To: maxSize})
	s.loads.start(load{texture: texture, entity: entity, maxSize: maxSize, reserve: reserve, frees: frees, started: s.now}, t.name.slot)
}

// answer takes over what a load has brought, or why it failed.
func (s *Streamer) answer(c *completion) {
	k := s.loads.awaiting(c.token)
	if k < 0 {
		s.stats.Stale++
		return
	}
	f := &s.loads.list[k]
	err := c.err
	if err == nil {
		s.noteTime(f)
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

// noteTime notes how long a first load took until it came or was given up.
func (s *Streamer) noteTime(f *load) {
	if f.entity < 0 {
		s.first.answered(s.now - f.started)
	}
}

// poll ends the uploads that are finished.
func (s *Streamer) poll() {
	for k := 0; k < len(s.loads.list); {
		if f := &s.loads.list[k]; f.uploading && s.pacer.Uploaded(ID(f.texture)+1) {
			s.drop(k)
			continue
		}
		k++
	}
}

// accept passes an image to the device.
func (s *Streamer) accept(f *load, img *texfile.Image) error {
	file, start, err := texfile.SizeOf(img)
	if err != nil {
		return err
	}
	if want := file.StartFor(f.maxSize); start != want {
		return fmt.Errorf("%w: it begins with level %d, not %d", texfile.ErrChain, start, want)
	}
	t := &s.textures.list[f.texture]
	bytes := img.Bytes()
	if more := bytes - t.bytes - f.reserve; more > 0 && more > s.budget.room() {
		t.need = bytes
		return fmt.Errorf("%w: %d bytes more than expected", ErrBudget, more)
	}
	if err := s.device.Upload(ID(f.texture)+1, img); err != nil {
		return fmt.Errorf("texture: upload: %w", err)
	}
	s.budget.settle(f)
	from := t.edge()
	t.state, t.failures, t.retryAt, t.need = stateResident, 0, 0, 0
	t.late = false
	s.resting = false
	s.textures.setFile(t, file)
	s.put(f.texture, from, start, bytes)
	return nil
}

// put notes what the device has of a texture.
func (s *Streamer) put(texture int32, from, start int, bytes int64) {
	t := &s.textures.list[texture]
	s.budget.use(bytes - t.bytes)
	t.start, t.bytes = start, bytes
	kind := EventLoad
	switch to := t.edge(); {
	case from == 0:
		s.stats.Loads++
		t.came = s.now
		s.first.came(texture, &s.textures)
	case to > from:
		kind = EventUpgrade
		s.stats.Upgrades++
	case to < from:
		kind = EventDowngrade
		s.stats.Downgrades++
	}
	s.trace(Event{Kind: kind, Texture: ID(texture) + 1, From: from, To: t.edge()})
}

// watchdog gives up on loads and uploads that take too long: none may keep a slot
// for good. What comes after that is not waited for.
func (s *Streamer) watchdog() {
	for k := 0; k < len(s.loads.list); {
		f := &s.loads.list[k]
		if s.now-f.started <= s.loads.timeout {
			k++
			continue
		}
		s.stats.Timeouts++
		if !f.uploading {
			s.noteTime(f)
		}
		s.fail(f, fmt.Errorf("%w: it took more than %v", ErrTimeout, s.loads.timeout))
		s.drop(k)
	}
}

// Delays after failed changes, doubled with each, and after a first load that
// turned out too large.
const (
	backoffBase = 5 * time.Second
	backoffMax  = time.Minute
)

// fail notes that a texture stays as it is; one that the device has is there.
func (s *Streamer) fail(f *load, err error) {
	t := &s.textures.list[f.texture]
	s.stats.Failures++
	t.retryAt = s.now + min(backoffMax, backoffBase<<min(t.failures, 10))
	t.failures++
	s.resting = false
	kind := EventFail
	if f.entity < 0 && !f.uploading && t.state == stateLoading {
		t.state, t.late = stateMissing, errors.Is(err, ErrTimeout)
		kind = EventMissing
	}
	s.trace(Event{Kind: kind, Texture: ID(f.texture) + 1, From: t.edge(), To: f.maxSize, Err: err})
}

// drop ends a load, whatever has become of it.
func (s *Streamer) drop(k int) {
	f := s.loads.end(k)
	s.budget.settle(&f)
	t := &s.textures.list[f.texture]
	t.busy = false
	if f.entity < 0 {
		s.first.running--
		if t.state == stateLoading {
			t.state = stateMissing
		}
		return
	}
	if e := &s.entities.list[f.entity]; e.op > 0 {
		if e.op--; e.op == 0 {
			s.ops--
		}
	}
}

// cancelOp drops everything that is loaded on behalf of an entity.
func (s *Streamer) cancelOp(e *entity, index int32) {
	for k := len(s.loads.list) - 1; k >= 0 && e.op > 0; k-- {
		if s.loads.list[k].entity == index {
			s.drop(k)
		}
	}
}
