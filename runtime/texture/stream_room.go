package texture

import (
	"math"

	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// giveWay is how much farther away something must be to give its memory up.
const giveWay = 1.1

// everywhere is below all distances.
const everywhere = -1

// Shed makes room: the textures of the n farthest entities that are above the
// minimum go down at once, whatever the interval, the hysteresis and the limit
// on operations say; those within the upgrade radius to the medium size, others
// to the minimum. Entities that are changing are left alone, as is a texture
// that a nearer entity uses at what that one is left with. What was shed stays
// down for Params.PressureHold, during which nothing goes beyond the medium
// size. It returns how many entities were shed.
//
// Distances are those to the camera of the last Update.
func (s *Streamer) Shed(n int) int {
	if s.closed || n <= 0 {
		return 0
	}
	s.hold = s.now + seconds(s.policy.PressureHold)
	return s.shed(n, math.MaxInt64, everywhere)
}

// shed takes from at most n entities beyond a distance, the farthest first,
// until so many bytes are given back or on their way.
func (s *Streamer) shed(n int, bytes int64, beyond float64) (count int) {
	s.look()
	s.rank(func(e *entity) bool { return e.tracked && e.op == 0 && e.distance > beyond }, farther)
	for _, r := range s.ranked {
		if count == n || bytes <= 0 {
			break
		}
		freed, changed := s.shedOne(r.entity, beyond)
		bytes -= freed
		if changed {
			count++
		}
	}
	return count
}

func (s *Streamer) shedOne(index int32, beyond float64) (freed int64, changed bool) {
	e := &s.entities[index]
	for _, k := range e.textures {
		n, start := s.sheddable(k, beyond)
		if start < 0 {
			continue
		}
		s.change(index, change{k, start})
		freed, changed = freed+n, true
	}
	if e.op > 0 {
		s.ops++
	}
	if changed {
		s.stats.Sheds++
		e.shedHold = s.hold
	}
	return freed, changed
}

// sheddable returns where a texture would begin after a shed, and the bytes
// that this gives back; -1 when it stays as it is.
func (s *Streamer) sheddable(texture int32, beyond float64) (bytes int64, start int) {
	t := &s.textures[texture]
	if t.state != stateResident || t.busy || t.near <= beyond {
		return 0, -1
	}
	start = t.at[s.policy.shedTier(t.near)]
	if start <= t.start {
		return 0, -1
	}
	return t.bytes - t.file.Bytes(start), start
}

// refusal is a wish for which there was no room.
type refusal struct {
	distance float64
	bytes    int64
	less     int64 // what would do for now; as bytes where nothing less does
}

// refusals are the nearest ones of a tick, in order.
type refusals struct {
	list [8]refusal
	n    int
}

func (r *refusals) add(x refusal) {
	at := r.n
	for at > 0 && r.list[at-1].distance > x.distance {
		at--
	}
	if at == len(r.list) {
		return
	}
	r.n = min(r.n+1, len(r.list))
	copy(r.list[at+1:r.n], r.list[at:r.n-1])
	r.list[at] = x
}

// claimed reports whether the room that is left is kept for something nearer.
func (s *Streamer) claimed(distance float64) bool { return distance > giveWay*s.claim }

// starved notes textures that cannot even begin, and reports whether there are
// any that could.
func (s *Streamer) starved() (coming bool) {
	for _, i := range s.waiting {
		t := &s.textures[i]
		if t.refs == 0 || t.state != stateWaiting {
			continue
		}
		if s.room() >= max(t.need, texfile.MostBytes(1)) {
			return true
		}
		bytes := max(t.need, texfile.MostBytes(s.firstEdge()))
		s.refusals.add(refusal{t.near, bytes, bytes})
	}
	return false
}

// makeRoom lets what is farther away give way to the nearest wish that this
// fulfils. Until that is done, nothing farther takes the room.
func (s *Streamer) makeRoom() {
	for i := range s.refusals.list[:s.refusals.n] {
		r := s.refusals.list[i]
		beyond := giveWay * r.distance
		have := s.room() + s.freeing
		if have < r.less {
			most := have + s.reclaimable(beyond)
			switch {
			case most >= r.bytes:
				s.shed(math.MaxInt, r.bytes-have, beyond)
			case most >= r.less:
				s.shed(math.MaxInt, r.less-have, beyond)
			default:
				continue
			}
		}
		s.nextClaim, s.resting = min(s.nextClaim, r.distance), false
		return
	}
}

// reclaimable returns the bytes that a shed beyond a distance could give back.
func (s *Streamer) reclaimable(beyond float64) (n int64) {
	for i := range s.textures {
		if s.textures[i].refs > 0 {
			bytes, _ := s.sheddable(int32(i), beyond)
			n += bytes
		}
	}
	return n
}

// shrink sheds what is over a budget that was lowered.
func (s *Streamer) shrink() {
	if over := -s.room(); s.options.Budget > 0 && over > s.freeing {
		s.shed(math.MaxInt, over-s.freeing, everywhere)
		s.resting = false
	}
}
