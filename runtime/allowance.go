package runtime

import (
	"math"
	"time"
)

// The allowance shares out a geometry budget that does not hold all that the
// distances of the tiles ask for. Nearest first every tile is granted its
// cheapest representation, its floor, then what its distance asks for instead.
// The first limit is the reach: beyond it nothing is kept. The second is the
// detail: beyond it floors are all there is. What is drawn goes only when its
// floor can be drawn, so that no tile within reach is left bare.

// share is how much of its wishes a tile is granted.
type share uint8

const (
	shareAll   share = iota // what its distance asks for
	shareFloor              // its cheapest representation
	shareNone
)

// The parts of the room below the high-water mark that are shared out, the rest
// being for what is exchanged, and that floors leave to details.
const (
	allotted   = 0.95
	detailPart = 0.4
)

// allotmentLead is how much farther away than the limit a tile keeps its share,
// as a factor: else the tiles at a limit would come and go with every step.
const allotmentLead = 1.1

// Distances are told apart in steps that grow with them, 64 for each doubling of
// 1 + d: half a metre at 50 m, 4 m at 500 m. The last step has no end.
const (
	allowanceSteps = 1024
	stepShift      = 52 - 6 // of the bits of a float64
)

// stepOf returns the step of a distance.
func stepOf(d float64) int {
	return int(min((math.Float64bits(1+d)-math.Float64bits(1))>>stepShift, allowanceSteps-1))
}

// stepFrom returns the distance at which a step begins.
func stepFrom(step int) float64 {
	return math.Float64frombits(math.Float64bits(1)+uint64(step)<<stepShift) - 1
}

// allowance is how far the geometry budget goes, in metres of the scenes.
type allowance struct {
	scarce        bool // else everything is granted, and the limits mean nothing
	reach, detail float64
	given         float64 // the nearest tile that was given up a moment ago
	worked        bool    // worked out at the time for the budget that follow
	at            time.Duration
	budget        int64
	steps         [allowanceSteps]demand
}

// demand is what tiles at one distance cost, in bytes.
type demand struct {
	floor, extra float64
	held         bool // some is never given up: see firstHeld
	level        bool // some floor is a level of a tile in range, which may use the whole budget
}

// grant returns the share of a tile at a distance that had another one before.
func (a *allowance) grant(d float64, before share) share {
	if !a.scarce {
		return shareAll
	}
	lead := func(kept bool) float64 {
		if kept {
			return allotmentLead
		}
		return 1
	}
	switch {
	case d > a.reach*lead(before != shareNone):
		return shareNone
	case d > a.detail*lead(before == shareAll):
		return shareFloor
	}
	return shareAll
}

// allot works the limits out, once geometry comes near the low-water mark, and
// goes on until everything fits again.
func (b *geometryBudget) allot() {
	a := &b.split
	budget := float64(b.memory.GeometryBudget)
	if budget <= 0 || b.cfg.Handoff == HandoffStrict ||
		!a.scarce && float64(b.used()+b.pending) < b.cfg.LowWaterMark*budget {
		b.setLimits(false, math.Inf(1), math.Inf(1))
		return
	}
	if a.worked && b.memory.GeometryBudget == a.budget && b.now-a.at < b.updateInterval {
		return
	}
	a.worked, a.budget, a.at = true, b.memory.GeometryBudget, b.now
	clear(a.steps[:])
	floors, extras, meshes := 0.0, 0.0, 0.0
	for _, sc := range b.scenes {
		for _, tile := range sc.query.tiles {
			w := b.wish(sc, tile)
			if w.floor+w.extra+w.meshes == 0 {
				continue
			}
			floors, extras, meshes = floors+w.floor, extras+w.extra, meshes+w.meshes
			d := &a.steps[stepOf(w.near)]
			d.floor += w.floor
			d.held = d.held || w.held
			d.level = d.level || w.level
			a.steps[stepOf(w.far)].extra += w.extra
		}
	}
	room := float64(allotted*b.cfg.HighWaterMark*budget) - float64(b.memory.GeometryUsed)
	if floors+extras+meshes <= room {
		b.setLimits(false, math.Inf(1), math.Inf(1))
		return
	}
	reach, floors := a.extend(room-min(float64(detailPart*room), extras), budget-float64(b.memory.GeometryUsed))
	left, last := room-meshes-floors, 0
	for last < allowanceSteps && left >= a.steps[last].extra {
		left -= a.steps[last].extra
		last++
	}
	b.setLimits(true, reach, min(reach, stepFrom(last)))
}

// extend returns how far floors may take so many bytes, those of levels in range
// up to the whole budget, and what they take.
func (a *allowance) extend(room, budget float64) (reach, floors float64) {
	first := true
	for i := range a.steps {
		d := &a.steps[i]
		sum := floors + d.floor
		if d.floor > 0 && !(sum <= room || d.level && sum <= budget || first && d.held) {
			return stepFrom(i), floors
		}
		first = first && d.floor == 0
		floors = sum
	}
	return math.Inf(1), floors
}

// setLimits takes over new limits. All tiles near have to look at them, so small
// changes wait until they add up.
func (b *geometryBudget) setLimits(scarce bool, reach, detail float64) {
	a := &b.split
	const worth = 0.02
	same := func(x, y float64) bool { return x == y || math.Abs(x-y) <= worth*min(x, y) }
	if scarce == a.scarce && same(reach, a.reach) && same(detail, a.detail) {
		return
	}
	a.scarce, a.reach, a.detail = scarce, reach, detail
	for _, sc := range b.scenes {
		sc.awake = sc.awake[:0]
		for _, tile := range sc.active {
			sc.lookAt(tile)
		}
		for _, tile := range sc.query.tiles {
			sc.tiles.wake[tile] = math.Inf(-1)
		}
	}
}

// leftAlone reports whether all of a tile was given up so short a time ago that
// it is out of reach, wherever the reach ends now: else it would come and go.
func (r *record) leftAlone() bool {
	held := false
	for i := range r.reps {
		st := &r.reps[i]
		if st.resident() && (!st.split || r.meshes.uploaded > 0) {
			return false
		}
		held = held || st.held(r.scene.now)
	}
	return held
}

// wish is what one tile asks for, in bytes.
type wish struct {
	floor, extra float64
	meshes       float64 // of a tile that streams mesh by mesh: admitted one by one
	near, far    float64 // distances by which floor and extra are ranked
	held, level  bool    // see demand
}

func (b *geometryBudget) wish(sc *scene, tile int32) (w wish) {
	t := sc.tiles
	d := t.box[tile].Distance(sc.view.pos)
	if d > b.cfg.MaxQueryRadius && !t.has(tile, flagShared) {
		return w
	}
	r := sc.recordOf(tile)
	w.near, w.far = d, d
	if r != nil && r.share != shareNone {
		w.near = d / allotmentLead
		if r.share == shareAll {
			w.far = w.near
		}
	}
	rep := sc.desired(tile, r, d)
	if rep == RepNone {
		return w
	}
	floor := sc.floorRep(tile)
	if rep == RepFull && sc.ownsMeshes(tile, r) {
		if r != nil {
			w.meshes = float64(r.full().geometry)
		}
		if floor != RepFull {
			w.floor = b.cost(sc, tile, floor)
		}
	} else {
		w.floor = b.cost(sc, tile, floor)
		w.extra = max(0, b.cost(sc, tile, rep)-w.floor)
	}
	w.held = d <= t.radius[tile].stream
	w.level = floor != RepFull && d <= t.radius[tile].unload
	return w
}

// desired returns what a tile would show at distance d if memory were plenty.
func (sc *scene) desired(tile int32, r *record, d float64) Rep {
	rd := &sc.tiles.radius[tile]
	open := !sc.closedOff(tile)
	switch {
	case open && d <= max(rd.stream, min(rd.prefetch, rd.unload)), r != nil && r.full().resident() && d <= rd.unload:
		return RepFull
	}
	rep := sc.levelFor(tile, r, d)
	switch {
	case rep != RepNone || d > rd.unload:
		return rep
	case r.stays():
		return r.drawn // wanted or not, until something follows it
	case len(sc.tiles.lods(tile)) == 0:
		return rep
	}
	return LOD(0)
}

// stays reports whether something of a tile is drawn: no gate takes it away.
func (r *record) stays() bool { return r != nil && r.drawn != RepNone }

// floorRep returns the representation of a tile with the smallest file, of
// equal ones the coarsest; sizes that are not declared count as those of levels
// that get smaller as they get coarser.
func (sc *scene) floorRep(tile int32) Rep {
	t := sc.tiles
	best, least := RepFull, int64(math.MaxInt64)
	try := func(rep Rep) {
		size := t.payloadOf(tile, rep).size
		if size < least || best == RepFull {
			best, least = rep, size
		}
	}
	if t.has(tile, flagHLOD) {
		try(RepHLOD)
	}
	for i := len(t.lods(tile)) - 1; i >= 0; i-- {
		try(LOD(i))
	}
	if size := t.full[tile].size; best != RepFull && size > 0 && size <= least {
		return RepFull
	}
	return best
}

// ownsMeshes reports whether a tile streams mesh by mesh, as far as is known.
func (sc *scene) ownsMeshes(tile int32, r *record) bool {
	return sc.cfg.OutOfCorePolicy == OutOfCoreAlways && sc.tiles.full[tile].gpu == 0 || sc.tiles.has(tile, flagEntity|flagMeshes) || r != nil && r.full().split
}

// cost returns what a representation takes on the Device, in bytes: what it took
// the last time, else what the manifest declares by what such declarations have
// been worth, else the mean of what has been loaded. Before the first load
// nothing is known.
func (b *geometryBudget) cost(sc *scene, tile int32, rep Rep) float64 {
	p := sc.tiles.payloadOf(tile, rep)
	if p.gpu > 0 {
		return float64(p.gpu)
	}
	l := &b.learned[classOf(rep)]
	if l.n == 0 {
		l = &b.learned[classes]
	}
	switch {
	case l.sizes > 0 && sc.tiles.declared(tile, rep) > 0:
		return min(maxCost, float64(sc.tiles.declared(tile, rep))*(l.sized/l.sizes))
	case l.n > 0:
		return min(maxCost, l.bytes/l.n)
	}
	return 0
}

// learned is what payloads of a class have taken on the Device.
type learned struct {
	n, bytes     float64
	sizes, sized float64 // of those with a declared size: sizes, and bytes taken
}

// maxCost bounds what manifests can claim, so that sums stay exact.
const maxCost = 1 << 50

// declared returns the size that the manifest gives for a representation: an
// estimate of its memory if there is one, else that of its file; 0 without.
func (t *table) declared(tile int32, rep Rep) int64 {
	if rep == RepFull {
		return t.memory[tile]
	}
	return t.payloadOf(tile, rep).size
}

// learn remembers what a representation takes on the Device.
func (b *geometryBudget) learn(r *record, rep Rep, bytes int64) {
	b.taught = true
	p := r.scene.tiles.payloadOf(r.tile, rep)
	if p.gpu == bytes {
		return
	}
	if p.gpu == 0 {
		for _, c := range [...]class{classOf(rep), classes} {
			l := &b.learned[c]
			l.n, l.bytes = l.n+1, l.bytes+float64(bytes)
			if size := r.scene.tiles.declared(r.tile, rep); size > 0 {
				l.sizes, l.sized = l.sizes+float64(size), l.sized+float64(bytes)
			}
		}
	}
	p.gpu = bytes
}

// surplus reports whether a tile is granted less than its full representation,
// and has something cheaper.
func (r *record) surplus() bool {
	return r.share == shareFloor && !r.scene.ownsMeshes(r.tile, r) && r.scene.floorRep(r.tile) != RepFull
}

// shareOf returns the share of a tile at distance d; r is nil for an idle one.
func (sc *scene) shareOf(r *record, d float64) share {
	if r != nil {
		return r.share
	}
	return sc.allowance.grant(d, shareNone)
}

// goal is levelFor within the tile's share.
func (sc *scene) goal(tile int32, r *record, d float64) Rep {
	next, given := sc.levelFor(tile, r, d), sc.shareOf(r, d)
	switch {
	case given == shareAll:
		return next
	case given == shareNone, next == RepNone && (d > sc.tiles.radius[tile].unload || sc.closedOff(tile) && !r.stays()):
		return RepNone
	}
	if floor := sc.floorRep(tile); floor != RepFull {
		return floor
	}
	return next
}

// mayLoadFull reports whether a tile's share has room for its full
// representation. What streams mesh by mesh is judged mesh by mesh.
func (sc *scene) mayLoadFull(tile int32, r *record, d float64) bool {
	given := sc.shareOf(r, d)
	return given == shareAll || given == shareFloor && (sc.floorRep(tile) == RepFull || sc.ownsMeshes(tile, r))
}

// giveUp evicts what is beyond reach, the farthest first, up to a limit, once
// geometry is at the high-water mark or something waits for the room.
func (v *evictor) giveUp(limit int) {
	if !v.budget.split.scarce || !v.budget.relieving && !v.budget.refused {
		return
	}
	v.evictees = v.evictees[:0]
	v.forEach(func(r *record) {
		if r.share != shareNone {
			return
		}
		r.measure() // it may have slept
		for i := range r.reps {
			switch st := &r.reps[i]; {
			case st.loading():
				v.residency.cancel(r, Rep(i+1))
			case st.resident():
				v.evictees = append(v.evictees, evictee{r, Rep(i + 1)})
			}
		}
	})
	sortEvictees(v.evictees)
	for i := range v.evictees[:min(limit, len(v.evictees))] {
		if !v.budget.refused && !v.budget.aboveLow() {
			break
		}
		v.giveUpRep(v.evictees[i])
	}
	clear(v.evictees)
}

// giveUpRep evicts a representation for want of room.
func (v *evictor) giveUpRep(e evictee) {
	v.evict(e)
	e.record.noteGivenUp(e.rep)
}

// noteGivenUp keeps a representation away for a while, and with the last one its
// tile.
func (r *record) noteGivenUp(rep Rep) {
	if r.scene.cfg.Handoff != HandoffCovered {
		return
	}
	st := r.rep(rep)
	if st.given, st.givenAt = true, r.scene.now; r.leftAlone() {
		r.share = shareNone
	}
}

// limits returns reach and detail, those of no shortage at the query radius.
// What was given up a moment ago is never within reach.
func (a *allowance) limits(query float64) (reach, detail float64) {
	reach = query
	if a.given <= query {
		reach = math.Nextafter(a.given, math.Inf(-1))
	}
	if !a.scarce {
		return reach, query
	}
	return min(a.reach, reach), min(a.detail, query)
}

// limitSlack is slack for the limits of the allowance.
func (a *allowance) limitSlack(d float64) float64 {
	if !a.scarce {
		return math.Inf(1)
	}
	return min(math.Abs(d-a.reach), math.Abs(d-float64(a.reach*allotmentLead)), math.Abs(d-a.detail), math.Abs(d-float64(a.detail*allotmentLead)))
}
