package texture

import (
	"math"
	"slices"
	"sort"
	"time"
)

// share owns how much blur there is while memory is short: all that is seen of textures of
// known scale is allowed the same, the least with which everything fits. Where a texture's
// texels are no more than that many times as large as the picture's pixels, it asks for no
// larger size, however near it is. Blur counts as often as a texture is repeated across a
// mesh, since it shows there for the same bytes. It moves no bytes.
type share struct {
	step  int           // 0: there is enough memory; 1: texels as large as pixels; see blur
	eases bool          // a lesser step would do
	since time.Duration // it would do
	lacks int64         // bytes that were refused in this tick to what is short of its share
}

const (
	blurSteps   = 8                // to an octave of blur
	blurLast    = 32*blurSteps + 1 // the step at which no texture asks for anything
	blurKeep    = 1.5              // by so much a texture must be too large before it gives a level up
	blurSpare   = 1. / 16          // of the memory that must be free for a lesser step
	blurCalm    = time.Second      // for which it must be, unless a tick is forced
	hiddenBlur  = 2                // times as much for what is not seen
	paletteBlur = 256              // at which a palette gives up as well
	dataWeight  = 0.5              // of the blur of what is no colour
	leastShared = leastMinimum
	leastAway   = 1 // metres, at least, to a mesh: within its box it may be anywhere
	spanOfBox   = 4 // sides of its box across which a mesh shows a texture once, at most
)

// blur returns how many times as large as pixels texels may be.
func (s *share) blur() float64 { return blurAt(s.step) }

func blurAt(step int) float64 {
	step = max(step, 1) - 1
	return math.Ldexp(octave[step%blurSteps], step/blurSteps)
}

// octave is the powers of two by blurSteps, the same on every machine.
var octave = [blurSteps]float64{
	1, 1.0905077326652577, 1.189207115002721, 1.2968395546510096,
	1.4142135623730951, 1.5422108254079407, 1.681792830507429, 1.8340080864093424,
}

// follow takes the least step that fits over: a larger one at once, a lesser one when there
// has been memory to spare for a time, calm. fits reports whether everything fits into the
// memory that there is but for a part of it.
func (s *share) follow(now, calm time.Duration, fits func(step int, spare float64) bool) {
	if !fits(s.step, 0) {
		s.step = min(s.step+1, blurLast)
		s.step += sort.Search(blurLast-s.step, func(more int) bool { return fits(s.step+more, 0) })
		s.eases = false
		return
	}
	switch eases := s.step > 0 && fits(s.step-1, blurSpare); {
	case !eases || !s.eases:
		s.eases, s.since = eases, now
	case now-s.since >= calm:
		if s.step = 1 + sort.Search(s.step-1, func(less int) bool { return fits(1+less, blurSpare) }); s.step == 1 && fits(0, blurSpare) {
			s.step = 0
		}
		s.eases = false
	}
}

// shares reports whether a texture takes part in sharing.
func (t *resource) shares() bool { return t.refs > 0 && t.scaled && t.state == stateResident }

// expect notes how many texels on its longest edge a picture needs of a texture, by what
// is seen of it.
func (t *resource) expect(x *sight, pixel float64) {
	t.seen, t.weight = x.shown, 1
	switch {
	case t.scale == 0:
		// Single texels are taken, and the mean of two is wrong.
		t.texels = float64(t.file.Edge(0)) * paletteBlur
	case x.shown:
		// What lies on a small thing is not seen better than the thing is.
		across := 1 / (t.scale * x.nearest)
		t.texels = min(across, spanOfBox*x.side) / pixel
		if x.side > across { // not 0 by 0
			t.weight = x.side / across
		}
	default:
		t.texels = min(1/(t.scale*max(t.near, leastAway)*pixel), float64(t.file.Edge(0))) / hiddenBlur
	}
	if t.data {
		t.weight *= dataWeight
	}
}

// levelFor returns the coarsest level with so many texels on the longest edge.
func (t *resource) levelFor(texels float64) int {
	edge, level := float64(t.file.Edge(0)), t.file.Mips-1
	if texels = max(texels, leastShared); edge >= texels {
		level = min(level, math.Ilogb(edge/texels))
	} else {
		level = 0
	}
	return max(level, t.at[TierFull])
}

// fair returns the level with which a texture should begin at a blur: the one that it
// begins with if that is large enough, and not much too large. What is seen keeps the
// minimum size.
func (t *resource) fair(blur float64) int {
	texels := t.texels / max(1, blur/t.weight)
	least := t.levelFor(blurKeep * texels)
	if t.seen {
		least = min(least, t.at[TierMinimum])
	}
	return max(least, min(t.start, t.levelFor(texels)))
}

// portion is what is known of a texture for sharing.
type portion struct {
	data   bool    // no colour
	seen   bool    // by somebody, in the last tick
	texels float64 // on the longest edge that it needs, less where it is not seen
	weight float64 // of its blur
	sizes  []int64 // bytes of the file's levels from each on
}

// sight is what is seen of a texture in a tick: the nearest of the entities that have it,
// and the one that looks largest, in metres and in metres at a distance of one.
type sight struct {
	shown         bool
	nearest, side float64
}

func (x *sight) add(e *entity) {
	if !x.shown {
		*x = sight{true, math.Inf(1), 0}
	}
	x.nearest = min(x.nearest, max(e.distance, leastAway))
	size := e.box.Size()
	x.side = max(x.side, max(size[0], size[1], size[2])/max(e.distance, leastAway))
}

// mayShare reports whether there may be too little memory for textures of known scale.
func (s *Streamer) mayShare() bool { return s.budget.limit > 0 && len(s.textures.scales) > 0 }

// shareOut chooses the blur by what everybody wishes, and takes the wishes back that go beyond
// it: those of what has its share, and all of what is not seen.
func (s *Streamer) shareOut() {
	s.share.lacks = 0
	if !s.mayShare() {
		s.share.step, s.share.eases = 0, false
		return
	}
	room := s.shareable()
	calm := blurCalm
	if s.forced {
		calm = 0
	}
	s.share.follow(s.now, calm, func(step int, spare float64) bool {
		return s.textures.fits(step, room-int64(spare*float64(room)))
	})
	if s.share.step == 0 {
		return
	}
	blur := s.share.blur()
	for i := range s.textures.list {
		t := &s.textures.list[i]
		if t.voted && t.vote < t.start && t.shares() {
			if t.vote = t.start; t.seen {
				t.vote = min(t.start, t.fair(blur))
			}
		}
	}
}

// shareable returns the memory for textures that share it: what others neither have nor are
// about to have.
func (s *Streamer) shareable() int64 {
	n := s.budget.limit - s.budget.owed
	for i := range s.textures.list {
		if t := &s.textures.list[i]; t.state == stateResident && !t.shares() {
			n -= t.bytes
		}
	}
	for i := range s.loads.list {
		if l := &s.loads.list[i]; !s.textures.list[l.texture].shares() {
			n -= l.reserve
		}
	}
	return max(0, n)
}

// fits reports whether what all textures that share need at a step fits into some bytes. At
// 0 that is what is wished, and what is not seen stays as it is.
func (t *textureTable) fits(step int, room int64) bool {
	blur := blurAt(step)
	for i := range t.list {
		r := &t.list[i]
		if !r.shares() {
			continue
		}
		level := r.start
		switch {
		case step > 0 && r.seen:
			level = r.fair(blur)
		case step > 0: // what is not seen does not grow
			level = max(level, r.fair(blur))
		case r.voted:
			level = r.vote
		}
		if room -= r.sizes[level]; room < 0 {
			return false
		}
	}
	return true
}

// hasShare reports whether a texture is to stay as it is while memory is short.
func (s *Streamer) hasShare(t *resource) bool {
	return s.share.step > 0 && t.shares() && (!t.seen || t.fair(s.share.blur()) >= t.start)
}

// reserveShares reserves the growth of upgrades in s.changes, of textures that share, one by
// one; those for which there is no room are taken out. It reports whether any is left.
func (s *Streamer) reserveShares(e *entity) (reserved bool) {
	keep := s.changes[:0]
	for _, c := range s.changes {
		if s.isUpgrade(c) {
			t := &s.textures.list[c.texture]
			more := t.file.Bytes(c.start) - t.bytes
			if s.claims.claimed(e.distance) {
				continue
			}
			if !s.budget.reserveMore(more) {
				s.share.lacks += more
				continue
			}
			reserved = true
		}
		keep = append(keep, c)
	}
	s.changes = keep
	return reserved
}

// sharesAll reports whether sharing decides all upgrades in s.changes.
func (s *Streamer) sharesAll() bool {
	for _, c := range s.changes {
		if s.isUpgrade(c) && !s.textures.list[c.texture].shares() {
			return false
		}
	}
	return s.share.step > 0
}

// giveUp makes textures that have more than their share smaller, until so many bytes are
// given back or on their way: those that are not seen before others, each the farthest
// first. It returns how many bytes that are.
func (s *Streamer) giveUp(bytes int64) (freed int64) {
	if s.share.step == 0 {
		return 0
	}
	blur := s.share.blur()
	for _, seen := range []bool{false, true} {
		// A texture goes by its nearest user.
		over := func(e *entity, k int32) bool {
			t := &s.textures.list[k]
			return t.shares() && t.seen == seen && !t.busy && t.near >= e.distance && t.start < t.fair(blur)
		}
		for _, r := range s.entities.rank(func(e *entity) bool {
			return e.op == 0 && slices.ContainsFunc(e.textures, func(k int32) bool { return over(e, k) })
		}, farther) {
			if freed >= bytes {
				return freed
			}
			e := &s.entities.list[r.entity]
			for _, k := range e.textures {
				if over(e, k) {
					t := &s.textures.list[k]
					to := t.fair(blur)
					freed += t.bytes - t.file.Bytes(to)
					s.change(r.entity, change{k, to})
				}
			}
			if e.op > 0 {
				s.ops++
			}
		}
	}
	return freed
}
