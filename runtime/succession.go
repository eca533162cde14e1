package runtime

import (
	"slices"

	"github.com/untoldkit/untold/internal/geom"
)

// When the manifest of a scene has changed, a new scene takes its place, and the
// old one loads nothing any more. What is drawn of the old one stays until the
// new one draws in its place, so that nothing flickers; when memory is short, the
// farthest goes first.

// retired is a scene that was replaced, as long as something of it is drawn.
type retired struct {
	*scene
	next *scene
	heir []int32 // by tile: the one with the same id in next, -1: none
}

// succeedScene lets next take over from old.
func (s *Streamer) succeedScene(old, next *scene, why string) {
	next.root, next.inverse, next.scale = old.root, old.inverse, old.scale
	next.reloading.fails, next.reloading.next = old.reloading.fails, old.reloading.next
	s.lastScene++
	next.id = s.lastScene
	s.retire(old, next)
	at := slices.Index(s.scenes, old)
	s.scenes = append(slices.Delete(s.scenes, at, at+1), next)
	if s.successors == nil {
		s.successors = map[SceneID]SceneID{}
	}
	s.successors[old.id] = next.id
	s.stats.ManifestReloads++
	s.wake = true
	s.emit(Event{Kind: EventSceneReload, Scene: next.id, Message: why})
	s.log.Warn(why, "scene", old.id, "new", next.id)
}

// retire ends a scene but for what is drawn of it.
func (s *Streamer) retire(old, next *scene) {
	s.clearShortlists()
	s.loads.abandon(old)
	x := retired{scene: old, next: next, heir: make([]int32, old.tiles.len())}
	at := make(map[string]int32, next.tiles.len())
	for i, id := range next.tiles.id {
		at[id] = int32(i)
	}
	for i, id := range old.tiles.id {
		heir, ok := at[id]
		if !ok {
			heir = -1
		}
		x.heir[i] = heir
	}
	for i := range s.retired { // what waits for old now waits for next
		y := &s.retired[i]
		if y.next != old {
			continue
		}
		y.next = next
		for tile := range y.heir {
			heir, ok := at[y.tiles.id[tile]]
			if !ok {
				heir = -1
			}
			y.heir[tile] = heir
		}
	}
	for _, tile := range old.active {
		s.retireTile(old.recordOf(tile))
	}
	x.prune()
	if len(old.active) > 0 {
		s.retired = append(s.retired, x)
	}
}

// retireTile keeps of a tile what is drawn.
func (s *Streamer) retireTile(r *record) {
	r.endFade()
	s.markUndrawn(r, false)
	r.inGrace, r.retire, r.everDrawn, r.target, r.wanted = false, false, false, RepNone, RepNone
	for i := range r.reps {
		rep, st := Rep(i+1), &r.reps[i]
		if rep == RepFull && (st.state == TileParsing || st.state == TileUnloading) {
			s.stats.LoadingCount--
		}
		switch {
		case !st.resident():
			st.state = TileUnloaded
		case rep != r.drawn:
			s.freeRep(r, rep)
		case st.split:
			s.meshes.stop(r)
		}
	}
}

// stopMeshes ends what is on its way of a tile that streams mesh by mesh.
func (ms *meshStreamer) stop(r *record) {
	for i := range r.meshes.stubs {
		if r.meshes.stubs[i].state == meshLoading {
			ms.releaseStub(r, i)
		}
		ms.cancelParts(r, i)
	}
	ms.loads.giveUp(r.meshes.reread)
}

// prune forgets the tiles of which nothing is drawn any more.
func (x *retired) prune() {
	x.active = slices.DeleteFunc(x.active, func(tile int32) bool {
		gone := x.recordOf(tile).drawn == RepNone
		if gone {
			x.forget(tile)
		}
		return gone
	})
}

// easeOut drops what has been replaced and, when memory is short, up to limit of
// the rest.
func (s *Streamer) easeOut(signal PressureLevel) {
	if len(s.retired) == 0 {
		return
	}
	s.evictees = s.evictees[:0]
	for i := range s.retired {
		x := &s.retired[i]
		camera := x.inverse.Point(s.camera.Position)
		for _, tile := range x.active {
			r := x.recordOf(tile)
			r.actual = x.tiles.box[tile].Distance(camera)
			if s.inherited(x, tile) {
				s.dropRetired(r)
			} else {
				s.evictees = append(s.evictees, evictee{r, r.drawn})
			}
		}
	}
	limit := 0
	switch {
	case signal == PressureCritical:
		limit = evictCritical
	case signal == PressureWarning || s.budget.high():
		limit = evictPerTick
	case s.budget.refused:
		limit = 1
	}
	sortEvictees(s.evictees)
	for i := range s.evictees[:min(limit, len(s.evictees))] {
		s.budget.noteEviction()
		s.dropRetired(s.evictees[i].record)
	}
	clear(s.evictees)
	for i := range s.retired {
		s.retired[i].prune()
	}
	s.retired = slices.DeleteFunc(s.retired, func(x retired) bool { return len(x.active) == 0 })
}

// inherited reports whether the new scene draws what belongs in the place of a
// tile, or wants nothing there.
func (s *Streamer) inherited(x *retired, tile int32) bool {
	next := x.next
	if heir := x.heir[tile]; heir >= 0 {
		return s.takenOver(next, heir)
	}
	box := x.tiles.box[tile]
	for _, other := range next.tree.Sphere(box.Center(), box.Size().Len()/2, nil) {
		if overlap(&box, &next.tiles.box[other]) && !s.takenOver(next, other) {
			return false
		}
	}
	return true
}

// takenOver reports whether a tile draws something, or wants nothing where the
// camera is.
func (s *Streamer) takenOver(sc *scene, tile int32) bool {
	r := sc.recordOf(tile)
	if r != nil && r.drawn != RepNone && !r.partial() {
		return true
	}
	d := sc.tiles.box[tile].Distance(sc.view.pos)
	if d > s.cfg.MaxQueryRadius && !sc.tiles.has(tile, flagShared) {
		return true
	}
	return sc.shareOf(r, d) == shareNone || sc.desired(tile, r, d) == RepNone
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
func (s *Streamer) dropRetired(r *record) {
	s.countDrawn(r.drawn, -1)
	s.freeRep(r, r.drawn)
	r.drawn = RepNone
	s.changes++
}

// dropRetiredFor ends what is left of the scenes before one; nil: of all.
func (s *Streamer) dropRetiredFor(next *scene) {
	s.retired = slices.DeleteFunc(s.retired, func(x retired) bool {
		if next != nil && x.next != next {
			return false
		}
		for _, tile := range x.active {
			s.dropRetired(x.recordOf(tile))
		}
		return true
	})
}
