package texture

import "math"

// ballot is the nearest of the entities that have a vote on a texture, apart by the tiers
// that they may have and for those that were just shed: of others like it, which are farther
// away, no wish is finer.
type ballot struct {
	cast    uint8 // which of nearest there are
	nearest [2 * tiers]float64
}

func (b *ballot) add(finest Tier, shed bool, distance float64) {
	at := finest
	if shed {
		at += tiers
	}
	if b.cast>>at&1 == 0 || distance < b.nearest[at] {
		b.cast |= 1 << at
		b.nearest[at] = distance
	}
}

// votes lets every entity that counts say where its textures should begin. The
// finest wish wins, so nobody takes a texture from a neighbour. What is neither
// seen nor above the minimum has no wish.
func (s *Streamer) votes() {
	list := s.textures.list
	for len(s.ballots) < len(list) {
		s.ballots, s.sights = append(s.ballots, ballot{}), append(s.sights, sight{})
	}
	sharing := s.mayShare()
	if sharing {
		clear(s.sights)
	}
	for i := range s.entities.list {
		e := &s.entities.list[i]
		if !e.live || !e.tracked && e.visible != s.serial && e.bursting != s.serial {
			continue
		}
		shed := s.now < e.shedHold
		shown := sharing && (e.visible == s.serial || e.bursting == s.serial) && !math.IsInf(e.distance, 1)
		for _, k := range e.textures {
			s.ballots[k].add(e.finest, shed, e.distance)
			if shown {
				s.sights[k].add(e)
			}
		}
	}
	for k := range list {
		t, b := &list[k], &s.ballots[k]
		t.voted = b.cast != 0 && t.state == stateResident
		if t.voted {
			t.vote = s.count(b, t)
		}
		if sharing && t.shares() {
			t.expect(&s.sights[k], s.textures.pixel)
		}
		b.cast = 0
	}
}

// count returns the finest wish for a texture.
func (s *Streamer) count(b *ballot, t *resource) int {
	vote := math.MaxInt
	for at := range 2 * tiers {
		if b.cast>>at&1 != 0 {
			vote = min(vote, s.wish(t, b.nearest[at], at%tiers, at >= tiers))
		}
	}
	return vote
}

// want returns the first level that a texture should have for one entity.
func (s *Streamer) want(e *entity, t *resource) int {
	return s.wish(t, e.distance, e.finest, s.now < e.shedHold)
}

// wish is want for entities of one kind at a distance. Farther away it is never less.
func (s *Streamer) wish(t *resource, distance float64, finest Tier, shed bool) int {
	ceiling := TierFull
	if s.now < s.hold {
		ceiling = TierMedium
	}
	if t.scaled {
		finest = TierFull
	}
	want := t.reach.decide(distance, t.start, &t.at, finest, ceiling)
	if want == t.at[TierMinimum] && s.textures.enough(t, distance) || s.yields(t) {
		want = t.start
	}
	if shed {
		return max(want, t.start)
	}
	return want
}

// due reports whether a texture has a vote that it could follow now. While changes are
// started it only ever ceases to be.
func (s *Streamer) due(t *resource) bool {
	return t.voted && t.state == stateResident && !t.busy && t.vote != t.start && s.now >= t.retryAt
}
