package render

import (
	"math"
	"slices"

	"github.com/untoldkit/untold/internal/geom"
)

// shadowPlan owns what is drawn into the shadow maps of a frame: it schedules
// which maps are drawn anew, and lists what casts shadows into them, a part per
// frame. It knows nothing of OpenGL.
type shadowPlan struct {
	schedule
	size     int
	distance float64
	lists    [maxCascades]list // of this frame
	clear    [maxCascades]bool // the layer first
	exact    bool              // the next frame draws all maps whole
}

// plan decides what is drawn into which maps in this frame, and collects it.
func (s *shadowPlan) plan(c *collected, bounds *geom.Box) {
	if len(c.reps) == 0 {
		return // nothing that could cast or show shadows
	}
	reach := shadowRange(s.distance, c.near, c.far)
	reach.scene = sceneSlice(bounds)
	light := lightSpaceOf(c.sun)
	whole := s.follow(&c.lens, &light, &reach) || s.exact
	s.exact = false
	for i := range s.active {
		s.consider(c, i, &light, whole)
	}
	left := shadowBudget
	for i := range s.active {
		if !s.builds[i].on {
			continue
		}
		limit := math.MaxInt
		if !whole {
			limit = s.share(i, left, c.remains(s, i))
		}
		left = max(0, left-s.advance(c, i, limit))
	}
	c.shadowFar = s.reach(&reach)
	c.stats.ShadowLate = slices.Max(s.late[:s.active])
}

// consider begins to draw the map of cascade i when that is due.
func (s *shadowPlan) consider(c *collected, i int, light *lightSpace, whole bool) {
	b := &s.builds[i]
	if s.late[i]++; !whole {
		content := c.content(&s.cascades[i].fit)
		if content == s.cascades[i].content {
			s.late[i] = 0
		}
		if b.on || !s.cascades[i].isStale(s.slices[i], &s.motions[i], s.size, content) {
			return
		}
	} else {
		s.motions[i].step = geom.Vec3{}
	}
	s.begin(i, light, s.size)
	s.clear[i] = true
}

// remains returns the cost of what is still to be drawn into the map of cascade
// i; a representation of which a part is drawn counts as a whole.
func (c *collected) remains(s *shadowPlan, i int) (cost int) {
	b := &s.builds[i]
	planes := b.next.fit.casters()
	for k := range c.reps {
		d := &c.reps[k]
		at := &d.casters[i]
		begun := at.build == b.id
		again := begun && !at.covers(d.casting)
		if begun && !again && int(at.mesh) == len(d.meshes) || !c.casts(d, &planes) {
			continue
		}
		cost += d.cost
		if again && int(at.mesh) < len(d.meshes) { // to its end, and once more
			cost += d.cost
		}
	}
	return cost
}

// content returns a number that changes with what casts shadows into a map.
func (c *collected) content(f *fit) (h uint64) {
	planes := f.casters()
	for i := range c.reps {
		if d := &c.reps[i]; c.casts(d, &planes) {
			h ^= c.contribution(d)
		}
	}
	return h
}

// contribution is the part of a representation in the content of a map.
func (c *collected) contribution(d *drawnRep) uint64 {
	h := d.serial
	for i := range d.casting { // in any order
		h ^= mix(d.casting[i].parts ^ mix(uint64(d.casting[i].mask)))
	}
	if s := &c.scenes[d.scene]; !s.plain {
		for k, v := range s.root {
			h = mix(h ^ math.Float64bits(v) + uint64(k))
		}
	}
	return mix(h)
}

// mix spreads the bits of a number (the finaliser of MurmurHash3).
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// casts reports whether a representation casts shadows into a map with the
// given planes.
func (c *collected) casts(d *drawnRep, planes *[5]plane) bool {
	if len(d.casting) == 0 {
		return false
	}
	center, half := [3]float64(d.box.Center()), [3]float64(d.box.Size().Scale(0.5))
	if c.scenes[d.scene].plain {
		return reaches(planes, &center, &half)
	}
	local := *planes
	c.toScene(&local, d)
	return reaches(&local, &center, &half)
}

// toScene takes planes to the space of a representation's scene.
func (c *collected) toScene(planes *[5]plane, d *drawnRep) {
	if s := &c.scenes[d.scene]; !s.plain {
		for p := range planes {
			planes[p] = planes[p].in(&s.root)
		}
	}
}

// advance lists the next casters of cascade i, of up to limit in cost, and puts
// the map into service when these were the last. Representations that have come
// since the beginning belong to it; of those that have gone the map may hold a
// part, and the next one will not. What has come to cast more than it is drawn with
// is drawn once more, at the end, when most fades are over.
func (s *shadowPlan) advance(c *collected, i, limit int) (spent int) {
	b := &s.builds[i]
	b.frames++
	planes := b.next.fit.casters()
	spent, complete := s.pass(c, i, &planes, limit, false)
	if complete {
		var more int
		more, complete = s.pass(c, i, &planes, limit-spent, true)
		spent += more
	}
	slices.Sort(s.lists[i].order)
	c.record(&s.lists[i])
	if complete {
		s.end(i, c.content(&b.next.fit))
		c.stats.ShadowCascades++
	}
	return spent
}

// pass lists casters of cascade i that are not done, or again those that do not have
// all that they cast now, and reports whether these were all.
func (s *shadowPlan) pass(c *collected, i int, planes *[5]plane, limit int, again bool) (spent int, complete bool) {
	b := &s.builds[i]
	complete = true
	for k := range c.reps {
		d := &c.reps[k]
		at := &d.casters[i]
		if at.done(b.id, len(d.meshes)) && (!again || at.covers(d.casting)) || !c.casts(d, planes) {
			continue
		}
		if spent >= limit {
			return spent, false
		}
		switch content := c.contribution(d); {
		case again:
			b.next.content ^= at.content ^ content
			at.restart(b.id, d.casting, content)
		case at.build != b.id:
			b.next.content ^= content
			at.restart(b.id, d.casting, content)
		}
		spent += s.collect(c, d, i, planes, limit-spent)
		complete = complete && int(at.mesh) == len(d.meshes)
	}
	return spent, complete
}

// collect lists the next meshes of a representation for cascade i.
func (s *shadowPlan) collect(c *collected, d *drawnRep, i int, planes *[5]plane, limit int) (spent int) {
	scene, local, at := &c.scenes[d.scene], *planes, &d.casters[i]
	c.toScene(&local, d)
	for int(at.mesh) < len(d.meshes) && spent < limit {
		m := &d.meshes[at.mesh]
		cast, casts := castOf(at.casting, m)
		if !casts || m.kind.alpha == alphaBlend || at.part == 0 && !reaches(&local, &m.center, &m.half) {
			at.mesh++
			continue
		}
		all := int(m.indexCount / 3)
		n := all - int(at.part)
		if room := max(minPart, limit-spent); n-minPart > room {
			n = room
		}
		p := passOpaque
		switch masked, fading := m.kind.alpha == alphaMask, cast != allPixels; {
		case masked && fading:
			p = passMaskDither
		case masked:
			p = passMask
		case fading:
			p = passDither
		}
		it := item{mesh: m, page: d.bundles[m.bundle].at.page, mask: cast, slot: c.slotOf(d, scene, m), firstIndex: m.firstIndex + uint32(3*at.part), indexCount: uint32(3 * n)}
		if m.kind.alpha == alphaMask {
			c.bindings.settle(m.set, it.page.id)
		}
		it.state = m.drawKey(p, it.page.id) &^ (1<<keySidesShift | 1<<keyMirrorShift)
		if m.kind.alpha != alphaMask { // textures do not matter
			it.state &^= keyBindingMask << keyBindingShift
		}
		s.lists[i].add(it.state, it)
		c.stats.ShadowDraws++
		c.stats.ShadowTriangles += n
		spent += n + drawCost
		if at.part += int32(n); int(at.part) == all {
			at.mesh, at.part = at.mesh+1, 0
		}
	}
	// What is left may not reach the map.
	for int(at.mesh) < len(d.meshes) && at.part == 0 {
		m := &d.meshes[at.mesh]
		if _, casts := castOf(at.casting, m); casts && m.kind.alpha != alphaBlend && reaches(&local, &m.center, &m.half) {
			break
		}
		at.mesh++
	}
	return spent
}

func reaches(planes *[5]plane, center, half *[3]float64) bool {
	for i := range planes {
		if !planes[i].touches(center, half) {
			return false
		}
	}
	return true
}
