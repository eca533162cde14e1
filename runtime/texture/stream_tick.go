package texture

import (
	"cmp"
	"math"
	"slices"
)

// tick judges all entities and starts the changes that are due.
func (s *Streamer) tick(visible []Entity) {
	s.look()
	s.sorted = false
	s.mark(visible)
	s.votes()
	s.claim, s.nextClaim = s.nextClaim, math.Inf(1)
	s.refusals.n = 0
	s.resting = s.dispatch(visible)
	s.revive()
	if s.starved() {
		s.resting = false
	}
	s.makeRoom()
	s.shrink()
}

// look measures distances and what is above the minimum.
func (s *Streamer) look() {
	for i := range s.textures {
		s.textures[i].near = math.Inf(1)
	}
	for i := range s.entities {
		e := &s.entities[i]
		if !e.live {
			continue
		}
		e.distance = s.distance(e)
		e.tracked = false
		for _, k := range e.textures {
			t := &s.textures[k]
			t.near = min(t.near, e.distance)
			if t.state == stateResident && t.start < t.at[TierMinimum] {
				e.tracked = true
			}
		}
	}
}

// mark notes who is visible, and who is served first: entities whose textures
// have all come by now.
func (s *Streamer) mark(visible []Entity) {
	for _, h := range visible {
		if e, _ := s.find(h); e != nil {
			e.visible = s.serial
		}
	}
	s.burst = s.burst[:0]
	keep := s.fresh[:0]
	for _, h := range s.fresh {
		e, i := s.find(h)
		switch {
		case e == nil:
		case s.complete(e):
			e.bursting = s.serial
			s.burst = append(s.burst, i)
		default:
			keep = append(keep, h)
		}
	}
	s.fresh = keep
}

// complete reports whether no texture of an entity waits for its first load or
// for the end of it.
func (s *Streamer) complete(e *entity) bool {
	for _, k := range e.textures {
		if st := s.textures[k].state; st == stateWaiting || st == stateLoading || s.textures[k].busy {
			return false
		}
	}
	return true
}

// votes lets every entity that counts say where its textures should begin. The
// finest wish wins, so nobody takes a texture from a neighbour. What is neither
// seen nor above the minimum has no wish.
func (s *Streamer) votes() {
	for i := range s.entities {
		e := &s.entities[i]
		if !e.live || !e.tracked && e.visible != s.serial && e.bursting != s.serial {
			continue
		}
		for _, k := range e.textures {
			t := &s.textures[k]
			if t.state != stateResident {
				continue
			}
			want := s.want(e, t)
			if t.voted != s.serial {
				t.voted, t.vote = s.serial, want
			}
			t.vote = min(t.vote, want)
		}
	}
}

// want returns the first level that a texture should have for one entity.
func (s *Streamer) want(e *entity, t *resource) int {
	ceiling := TierFull
	if s.now < s.hold {
		ceiling = TierMedium
	}
	finest := e.finest
	if t.scaled {
		finest = TierFull
	}
	want := t.reach.decide(e.distance, t.start, &t.at, finest, ceiling)
	if s.now < e.shedHold {
		return max(want, t.start)
	}
	return want
}

// dispatch starts changes in the order of their urgency and reports whether
// there was nothing to do.
func (s *Streamer) dispatch(visible []Entity) (resting bool) {
	resting = true
	for _, i := range s.burst {
		resting = !s.try(i) && resting
	}
	if s.options.NearestFirst {
		s.rank(func(e *entity) bool { return e.visible == s.serial }, nearer)
		for _, r := range s.ranked {
			resting = !s.try(r.entity) && resting
		}
	} else {
		for _, h := range visible {
			if e, i := s.find(h); e != nil {
				resting = !s.try(i) && resting
			}
		}
	}
	for i := range s.entities {
		if e := &s.entities[i]; e.live && e.tracked && e.visible != s.serial {
			resting = !s.try(int32(i)) && resting
		}
	}
	return resting
}

// ranked is an entity in an order of distance.
type ranked struct {
	distance float64
	entity   int32
}

func nearer(a, b ranked) int {
	return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.entity, b.entity))
}

func farther(a, b ranked) int {
	return cmp.Or(cmp.Compare(b.distance, a.distance), cmp.Compare(a.entity, b.entity))
}

// rank lists the entities that pass a test in an order.
func (s *Streamer) rank(pass func(*entity) bool, order func(a, b ranked) int) {
	s.ranked = s.ranked[:0]
	for i := range s.entities {
		if e := &s.entities[i]; e.live && pass(e) {
			s.ranked = append(s.ranked, ranked{e.distance, int32(i)})
		}
	}
	slices.SortFunc(s.ranked, order)
}

// change is a texture and the level with which it is to begin.
type change struct {
	texture int32
	start   int
}

// try starts what an entity needs if there is a slot, once per tick, and
// reports whether there was anything that could be started now or later.
func (s *Streamer) try(index int32) bool {
	e := &s.entities[index]
	if e.op > 0 {
		return true
	}
	if e.tried == s.serial {
		return false
	}
	e.tried = s.serial
	upgrades := s.collect(e)
	if len(s.changes) == 0 {
		return false
	}
	if s.ops >= s.policy.ConcurrentOps {
		if upgrades && e.distance <= s.claim { // it still waits, if only for a slot
			s.nextClaim = min(s.nextClaim, s.claim)
		}
		return s.policy.ConcurrentOps > 0
	}
	reserved := false
	if upgrades {
		if reserved = s.reserveUpgrades(e); !reserved {
			s.stats.Refused++
			s.changes = slices.DeleteFunc(s.changes, s.isUpgrade)
		}
	}
	for _, c := range s.changes {
		s.change(index, c)
	}
	if e.op > 0 {
		s.ops++
	}
	return len(s.changes) > 0
}

func (s *Streamer) isUpgrade(c change) bool { return c.start < s.textures[c.texture].start }

// collect fills s.changes with what an entity's textures need, and reports
// whether upgrades are among it. An upgrade is up to an entity that wants it as
// much as any other.
func (s *Streamer) collect(e *entity) (upgrades bool) {
	s.changes = s.changes[:0]
	for _, k := range e.textures {
		t := &s.textures[k]
		if t.state != stateResident || t.busy || t.voted != s.serial || t.vote == t.start || s.now < t.retryAt {
			continue
		}
		if t.vote < t.start {
			if s.want(e, t) != t.vote {
				continue
			}
			upgrades = true
		}
		s.changes = append(s.changes, change{k, t.vote})
	}
	return upgrades
}

// reserveUpgrades reserves the growth of all upgrades in s.changes. Where that
// of the full size does not fit, it makes do with the medium one.
func (s *Streamer) reserveUpgrades(e *entity) bool {
	need := s.growth()
	if !s.claimed(e.distance) && s.reserve(need) {
		return true
	}
	if s.claimed(e.distance) {
		s.refusals.add(refusal{e.distance, need, need})
		return false
	}
	// Only to the medium size, then.
	n := len(s.changes)
	s.changes = slices.DeleteFunc(s.changes, func(c change) bool {
		t := &s.textures[c.texture]
		return s.isUpgrade(c) && t.start <= t.at[TierMedium]
	})
	less := len(s.changes) < n
	for i := range s.changes {
		c := &s.changes[i]
		if t := &s.textures[c.texture]; s.isUpgrade(*c) && c.start < t.at[TierMedium] {
			c.start, less = t.at[TierMedium], true
		}
	}
	medium := need
	if less && slices.ContainsFunc(s.changes, s.isUpgrade) {
		if medium = s.growth(); s.reserve(medium) {
			return true
		}
	}
	s.refusals.add(refusal{e.distance, need, medium})
	return false
}

// growth returns the bytes that the upgrades in s.changes add.
func (s *Streamer) growth() (n int64) {
	for _, c := range s.changes {
		if s.isUpgrade(c) {
			t := &s.textures[c.texture]
			n += t.file.Bytes(c.start) - t.bytes
		}
	}
	return n
}
