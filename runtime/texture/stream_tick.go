package texture

import (
	"slices"
	"time"

	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// tick judges all entities and starts the changes that are due. The passes build
// on each other: distances come first, since they order everything; who is visible
// or new has a vote, and no entity takes a texture from another before all votes
// are known. Claims of the last tick hold while changes are started, and what these
// refuse makes the claims of the next one. Room is made last, when it is known what
// the nearest wishes lack.
func (s *Streamer) tick(visible []Entity) {
	s.hurries = false
	s.textures.fitMinimum(s.budget.limit)
	s.entities.measure(&s.camera, &s.textures)
	s.budget.owed = s.first.owed(&s.textures, &s.budget)
	s.first.look()
	s.entities.mark(visible, s.serial, &s.textures)
	s.votes()
	s.shareOut()
	s.claims.turn()
	s.resting = s.dispatch(visible)
	s.first.revive(&s.textures, s.now)
	if s.first.starved(&s.textures, &s.budget, &s.claims) || s.share.eases {
		s.resting = false
	}
	s.makeRoom()
	s.shrink()
}

// yieldTime is how long a texture that came small leaves the network to geometry at most,
// and quietTime for how long none must be on its way before.
const (
	yieldTime = 2 * time.Second
	quietTime = 500 * time.Millisecond
)

// yields reports whether a texture does so: one of known scale only as long as it is as fine as
// a draft, and while there is one at any size.
func (s *Streamer) yields(t *resource) bool {
	switch {
	case !t.cooked || s.textures.small == 0 || s.coarse(t):
		return false
	case s.drafting() && t.measured():
		return true
	}
	return s.now < s.quiet && t.start > t.at[TierMinimum] && s.now-t.came < yieldTime
}

// coarse reports whether a texture on the device has texels that are too large even for a draft.
func (s *Streamer) coarse(t *resource) bool {
	return t.state == stateResident && t.measured() && !s.textures.fine(t, t.file.Edge(t.start))
}

// deferTime is for how long textures wait for the end of a draft: that of a fast flight over a
// slow network has none soon.
const deferTime = 8 * time.Second

// drafting reports whether textures leave the network to the draft of a scene.
func (s *Streamer) drafting() bool { return s.draft && s.now-s.drafted < deferTime }

// defers reports whether the first load of a texture waits for the end of a draft: occlusion,
// roughness and metalness show less than geometry, colours and normals do for their bytes.
func (s *Streamer) defers(t *resource) bool {
	return s.drafting() && s.textures.small > 0 && t.name.slot.Use == texfile.Data
}

// dispatch starts changes in the order of their urgency and reports whether
// there was nothing to do. Entities with nothing that is due are passed over before
// they are put in an order.
func (s *Streamer) dispatch(visible []Entity) (resting bool) {
	resting = true
	for _, i := range s.entities.burst {
		resting = !s.try(i) && resting
	}
	if s.nearestFirst {
		for _, r := range s.entities.rank(func(e *entity) bool {
			e.sharpens = s.sharpens(e)
			return e.visible == s.serial && s.concerns(e)
		}, urgent) {
			resting = !s.try(r.entity) && resting
		}
	} else {
		for _, h := range visible {
			if e, i := s.entities.find(h); e != nil && s.concerns(e) {
				resting = !s.try(i) && resting
			}
		}
	}
	for i := range s.entities.list {
		if e := &s.entities.list[i]; e.live && e.tracked && e.visible != s.serial && s.concerns(e) {
			resting = !s.try(int32(i)) && resting
		}
	}
	return resting
}

// sharpens reports whether what is due of an entity is a texture that is coarse.
func (s *Streamer) sharpens(e *entity) bool {
	for _, k := range e.textures {
		if t := &s.textures.list[k]; s.due(t) && t.vote < t.start && s.coarse(t) {
			return true
		}
	}
	return false
}

// concerns reports whether an entity is changing, or a texture of it is due.
func (s *Streamer) concerns(e *entity) bool {
	if e.op > 0 {
		return true
	}
	for _, k := range e.textures {
		if s.due(&s.textures.list[k]) {
			return true
		}
	}
	return false
}

// try starts what an entity needs if there is a slot, once per tick, and
// reports whether there was anything that could be started now or later.
func (s *Streamer) try(index int32) bool {
	e := &s.entities.list[index]
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
	if s.ops >= s.textures.policy.ConcurrentOps {
		s.hurries = s.hurries || s.ops > 0 && upgrades && s.sharpens(e)
		if upgrades && e.distance <= s.claims.nearest { // it still waits, if only for a slot
			s.claims.keep(s.claims.nearest)
		}
		return s.textures.policy.ConcurrentOps > 0
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

func (s *Streamer) isUpgrade(c change) bool { return c.start < s.textures.list[c.texture].start }

// collect fills s.changes with what an entity's textures need, and reports
// whether upgrades are among it. An upgrade is up to an entity that wants it as
// much as any other.
func (s *Streamer) collect(e *entity) (upgrades bool) {
	s.changes = s.changes[:0]
	for _, k := range e.textures {
		t := &s.textures.list[k]
		if !s.due(t) {
			continue
		}
		if t.vote < t.start {
			if s.want(e, t) > t.vote {
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
	if s.sharesAll() {
		return s.reserveShares(e)
	}
	need := s.growth()
	if !s.claims.claimed(e.distance) && s.budget.reserveMore(need) {
		return true
	}
	if s.claims.claimed(e.distance) {
		s.claims.refuse(refusal{e.distance, need, need, false})
		return false
	}
	// Only to the medium size, then.
	n := len(s.changes)
	s.changes = slices.DeleteFunc(s.changes, func(c change) bool {
		t := &s.textures.list[c.texture]
		return s.isUpgrade(c) && t.start <= t.at[TierMedium]
	})
	less := len(s.changes) < n
	for i := range s.changes {
		c := &s.changes[i]
		if t := &s.textures.list[c.texture]; s.isUpgrade(*c) && c.start < t.at[TierMedium] {
			c.start, less = t.at[TierMedium], true
		}
	}
	medium := need
	if less && slices.ContainsFunc(s.changes, s.isUpgrade) {
		if medium = s.growth(); s.budget.reserveMore(medium) {
			return true
		}
	}
	s.claims.refuse(refusal{e.distance, need, medium, false})
	return false
}

// growth returns the bytes that the upgrades in s.changes add.
func (s *Streamer) growth() (n int64) {
	for _, c := range s.changes {
		if s.isUpgrade(c) {
			t := &s.textures.list[c.texture]
			n += t.file.Bytes(c.start) - t.bytes
		}
	}
	return n
}
