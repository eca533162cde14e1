package texture

import (
	"math"
)

// everywhere is below all distances.
const everywhere = -1

// Shed makes room: the textures of the n farthest entities that are above the
// minimum go down at once, whatever the interval, the hysteresis and the limit
// on operations say; those within the upgrade radius to the medium size, others
// to the minimum. Entities that are changing are left alone, as is a texture
// that a nearer entity uses at what that one is left with. What was shed stays
// down for PressureHold, during which nothing goes beyond the medium
// size. It returns how many entities were shed.
//
// Distances are those to the camera of the last Update.
func (s *Streamer) Shed(n int) int {
	if s.closed || n <= 0 {
		return 0
	}
	s.hold = s.now + seconds(s.textures.policy.PressureHold)
	return s.shed(n, math.MaxInt64, everywhere, toTiers)
}

// shed takes from at most n entities beyond a distance, the farthest first,
// until so many bytes are given back or on their way.
func (s *Streamer) shed(n int, bytes int64, beyond float64, to depth) (count int) {
	s.entities.measure(&s.camera, &s.textures)
	for _, r := range s.entities.rank(func(e *entity) bool { return e.tracked && e.op == 0 && e.distance > beyond }, farther) {
		if count == n || bytes <= 0 {
			break
		}
		freed, changed := s.shedOne(r.entity, beyond, to)
		bytes -= freed
		if changed {
			count++
		}
	}
	return count
}

func (s *Streamer) shedOne(index int32, beyond float64, to depth) (freed int64, changed bool) {
	e := &s.entities.list[index]
	for _, k := range e.textures {
		n, start := s.textures.sheddable(k, beyond, to)
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

// makeRoom lets what has more than its share give way to what has less, and what is
// farther away to the nearest wish that this fulfils. Until that is done, nothing
// farther takes the room.
func (s *Streamer) makeRoom() {
	if lacks := s.share.lacks - (s.budget.room() - s.budget.owed) - s.budget.freeing; s.share.lacks > 0 && lacks > 0 && s.giveUp(lacks) > 0 {
		s.resting = false
	}
	for _, r := range s.claims.refusals() {
		beyond, to := giveWay*r.distance, toTiers
		if r.first {
			beyond, to = everywhere, toMinimum
		}
		have := s.budget.room() + s.budget.freeing
		if have < r.less {
			have += s.giveUp(r.less - have)
		}
		if have < r.less {
			most := have + s.textures.reclaimable(beyond, to)
			switch {
			case most >= r.bytes:
				s.shedFor(r.bytes-have, beyond, to)
			case most >= r.less:
				s.shedFor(r.less-have, beyond, to)
			default:
				continue
			}
		}
		s.claims.keep(r.distance)
		s.resting = false
		return
	}
}

// shedFor gives so many bytes back: first down to the tiers, then, if it may, to the minimum.
func (s *Streamer) shedFor(bytes int64, beyond float64, to depth) {
	if gives := s.textures.reclaimable(beyond, toTiers); gives > 0 {
		s.shed(math.MaxInt, bytes, beyond, toTiers)
		bytes -= gives
	}
	if to == toMinimum && bytes > 0 {
		s.shed(math.MaxInt, bytes, beyond, toMinimum)
	}
}

// shrink sheds what is over a budget that was lowered.
func (s *Streamer) shrink() {
	if over := s.budget.over(); over > 0 {
		if over -= s.giveUp(over); over > 0 {
			s.shedFor(over, everywhere, toMinimum)
		}
		s.resting = false
	}
}
