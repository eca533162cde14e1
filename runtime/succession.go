package runtime

import (
	"slices"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/runtime/event"
	"github.com/untoldkit/untold/runtime/memory"
	"github.com/untoldkit/untold/runtime/payload"
)

// When the manifest of a scene has changed, a new scene takes its place, and the
// old one loads nothing any more. What is drawn of the old one stays until the
// new one draws in its place, so that nothing flickers; when memory is short, the
// farthest goes first.

// retired is a scene that was replaced, as long as something of it is drawn.
type retired struct {
	*scene
	next      *scene
	successor []int32 // by tile: the one with the same id in next, -1: none
}

// succession owns the scenes that were replaced, as long as something of them is
// drawn. They load nothing any more. What is drawn of them goes when the new
// scene draws in its place, or the farthest first when memory is short.
type succession struct {
	*env
	budget    *geometryBudget
	loads     *loadQueue
	residency *residency
	meshes    *meshStreamer
	selector  *selector
	handoff   *handoff
	pyramid   *pyramid
	log       *eventLog
	retired   []retired
	retiring  []evictee
}

// succeedScene lets next take over from old.
func (s *Streamer) succeedScene(old, next *scene, why string) {
	next.root, next.inverse, next.scale = old.root, old.inverse, old.scale
	next.reloading.fails, next.reloading.next = old.reloading.fails, old.reloading.next
	if next.refinement != nil && !old.drafts() {
		next.refinement.drafted = true // what is drawn stays as fine as it is
	}
	s.lastScene++
	next.id = s.lastScene
	s.succession.retire(old, next)
	at := slices.Index(s.scenes, old)
	s.scenes = append(slices.Delete(s.scenes, at, at+1), next)
	if s.successors == nil {
		s.successors = map[payload.SceneID]payload.SceneID{}
	}
	s.successors[old.id] = next.id
	s.stats.ManifestReloads++
	s.wake = true
	s.emit(event.Event{Kind: event.SceneReload, Scene: next.id, Message: why})
	s.log.Warn(why, "scene", old.id, "new", next.id)
}

// retire ends a scene but for what is drawn of it.
func (su *succession) retire(old, next *scene) {
	su.selector.clearShortlists()
	su.loads.abandon(old)
	x := retired{scene: old, next: next, successor: make([]int32, old.tiles.tiles)}
	at := make(map[string]int32, next.tiles.tiles)
	for i, id := range next.tiles.id[:next.tiles.tiles] {
		at[id] = int32(i)
	}
	for i, id := range old.tiles.id[:old.tiles.tiles] {
		heir, ok := at[id]
		if !ok {
			heir = -1
		}
		x.successor[i] = heir
	}
	for i := range su.retired { // what waits for old now waits for next
		y := &su.retired[i]
		if y.next != old {
			continue
		}
		y.next = next
		for tile := range y.successor {
			heir, ok := at[y.tiles.id[tile]]
			if !ok {
				heir = -1
			}
			y.successor[tile] = heir
		}
	}
	for _, tile := range old.active {
		su.retireTile(old.recordOf(tile))
	}
	old.refinement.endFades()
	x.prune()
	if len(old.active) > 0 || old.refinement != nil {
		su.retired = append(su.retired, x)
	}
}

// retireTile keeps of a tile what is drawn.
func (su *succession) retireTile(r *record) {
	r.endFade()
	su.handoff.markUndrawn(r, false)
	r.inGrace, r.retire, r.everDrawn, r.target, r.wanted = false, false, false, payload.RepNone, payload.RepNone
	for i := range r.reps {
		rep, st := payload.Rep(i+1), &r.reps[i]
		if rep == payload.RepFull && (st.state == TileParsing || st.state == TileUnloading) {
			su.residency.count.loading--
		}
		switch {
		case !st.resident():
			st.state = TileUnloaded
		case rep != r.drawn:
			su.residency.free(r, rep)
		case st.split:
			su.meshes.stop(r)
		}
	}
}

// prune forgets the tiles of which nothing is drawn any more.
func (x *retired) prune() {
	x.active = slices.DeleteFunc(x.active, func(tile int32) bool {
		gone := x.recordOf(tile).drawn == payload.RepNone
		if gone {
			x.forget(tile)
		}
		return gone
	})
}

// dropReplaced releases what the new scenes draw in place of, and, when memory
// is short, a few of the rest.
func (su *succession) dropReplaced(signal memory.PressureLevel) {
	if len(su.retired) == 0 {
		return
	}
	su.retiring = su.retiring[:0]
	for i := range su.retired {
		x := &su.retired[i]
		camera := x.inverse.Point(su.camera.Position)
		for _, tile := range x.active {
			r := x.recordOf(tile)
			r.actual = x.tiles.box[tile].Distance(camera)
			if su.replaced(x, tile) {
				su.dropRetired(r)
			} else {
				su.retiring = append(su.retiring, evictee{r, r.drawn})
			}
		}
	}
	limit := 0
	switch {
	case signal == memory.PressureCritical:
		limit = evictCritical
	case signal == memory.PressureWarning || su.budget.high():
		limit = evictPerTick
	case su.budget.refused:
		limit = 1
	}
	sortEvictees(su.retiring)
	for i := range su.retiring[:min(limit, len(su.retiring))] {
		su.budget.noteEviction()
		su.dropRetired(su.retiring[i].record)
	}
	clear(su.retiring)
	for i := range su.retired {
		x := &su.retired[i]
		x.prune()
		// What is drawn of the old pyramid stays until the new one stands.
		if x.next.refinement.stands(x.next) || limit > 0 {
			su.pyramid.drop(x.scene)
			x.refinement = nil
		}
	}
	su.retired = slices.DeleteFunc(su.retired, func(x retired) bool { return len(x.active) == 0 && x.refinement == nil })
}

// replaced reports whether the new scene draws something in the place of a
// tile, or wants nothing there.
func (su *succession) replaced(x *retired, tile int32) bool {
	next := x.next
	if heir := x.successor[tile]; heir >= 0 {
		return next.takenOver(heir)
	}
	box := x.tiles.box[tile]
	for _, other := range next.tree.Sphere(box.Center(), box.Size().Len()/2, nil) {
		if overlap(&box, &next.tiles.box[other]) && !next.takenOver(other) {
			return false
		}
	}
	return true
}

// takenOver reports whether a tile of the new scene, or a node above it, draws something,
// or nothing is wanted at its distance.
func (sc *scene) takenOver(tile int32) bool {
	r := sc.recordOf(tile)
	if r != nil && r.drawn != payload.RepNone && !r.partial() {
		return true
	}
	if sc.closes(tile) {
		return sc.refinement.standsFor(tile)
	}
	d := sc.tiles.box[tile].Distance(sc.view.pos)
	if d > sc.cfg.MaxQueryRadius && !sc.tiles.has(tile, flagShared) {
		return true
	}
	grant, _ := sc.grantAt(tile, r, d)
	return grant == grantNothing || sc.repAt(tile, r, d) == payload.RepNone
}

// overlap reports whether boxes touch.
func overlap(a, b *geom.Box) bool {
	for i := range 3 {
		if a.Min[i] > b.Max[i] || b.Min[i] > a.Max[i] {
			return false
		}
	}
	return true
}

// dropRetired ends what is drawn of a tile of a retired scene.
func (su *succession) dropRetired(r *record) {
	su.handoff.countDrawn(r.drawn, -1)
	su.residency.free(r, r.drawn)
	r.drawn = payload.RepNone
	su.log.changes++
}

// dropRetiredFor releases what is left of the scenes that one has replaced;
// nil: of all.
func (su *succession) dropRetiredFor(next *scene) {
	su.retired = slices.DeleteFunc(su.retired, func(x retired) bool {
		if next != nil && x.next != next {
			return false
		}
		for _, tile := range x.active {
			su.dropRetired(x.recordOf(tile))
		}
		su.pyramid.drop(x.scene)
		return true
	})
}
