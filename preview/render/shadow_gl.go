//go:build cgo && !nopreview

package render

import (
	"fmt"
	"math"
	"slices"

	"github.com/go-gl/gl/v4.1-core/gl"

	"github.com/untoldkit/untold/internal/geom"
)

// shadows are the cascades of the sun. Each has two layers of the texture: the
// map in use, and the one that is being drawn.
type shadows struct {
	schedule
	size     int
	distance float64
	texture  uint32
	fbos     [2 * maxCascades]uint32
	lists    [maxCascades]list // of this frame
	clear    [maxCascades]bool // the layer first
	matrix   [16]float32
	exact    bool // the next frame draws all maps whole
}

func (s *shadows) init(o *Options) error {
	s.size, s.count, s.distance = o.ShadowSize, o.Cascades, o.ShadowDistance
	gl.GenTextures(1, &s.texture)
	gl.ActiveTexture(gl.TEXTURE0 + unitShadow)
	gl.BindTexture(gl.TEXTURE_2D_ARRAY, s.texture)
	for name, v := range map[uint32]int32{
		gl.TEXTURE_MIN_FILTER: gl.LINEAR, gl.TEXTURE_MAG_FILTER: gl.LINEAR, gl.TEXTURE_MAX_LEVEL: 0,
		gl.TEXTURE_WRAP_S: gl.CLAMP_TO_EDGE, gl.TEXTURE_WRAP_T: gl.CLAMP_TO_EDGE,
		gl.TEXTURE_COMPARE_MODE: gl.COMPARE_REF_TO_TEXTURE, gl.TEXTURE_COMPARE_FUNC: gl.LEQUAL,
	} {
		gl.TexParameteri(gl.TEXTURE_2D_ARRAY, name, v)
	}
	gl.TexImage3D(gl.TEXTURE_2D_ARRAY, 0, gl.DEPTH_COMPONENT24, int32(s.size), int32(s.size), int32(2*s.count), 0, gl.DEPTH_COMPONENT, gl.UNSIGNED_INT, nil)
	gl.GenFramebuffers(int32(2*s.count), &s.fbos[0])
	for i := range 2 * s.count {
		gl.BindFramebuffer(gl.FRAMEBUFFER, s.fbos[i])
		gl.FramebufferTextureLayer(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, s.texture, 0, int32(i))
		gl.DrawBuffer(gl.NONE)
		gl.ReadBuffer(gl.NONE)
		if status := gl.CheckFramebufferStatus(gl.FRAMEBUFFER); status != gl.FRAMEBUFFER_COMPLETE {
			return fmt.Errorf("render: no shadow map of %d texels (status 0x%x)", s.size, status)
		}
	}
	return nil
}

// exactShadows makes the next frame draw all maps whole, whatever they hold:
// its shadows then depend on nothing but that frame.
func (r *Renderer) exactShadows() { r.shadows.exact = true }

// plan decides what is drawn into which maps in this frame, and collects it.
func (s *shadows) plan(r *Renderer, c *collected, bounds *geom.Box) {
	if len(c.reps) == 0 {
		return // nothing that could cast or show shadows
	}
	reach := shadowRange(s.distance, c.near, c.far)
	reach.scene = sceneSlice(bounds)
	light := lightSpaceOf(c.sun)
	whole := s.follow(&c.lens, &light, &reach) || s.exact
	s.exact = false
	for i := range s.active {
		s.consider(r, c, i, &light, whole)
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
		left = max(0, left-s.advance(r, c, i, limit))
	}
	c.shadowFar = s.reach(&reach)
	r.stats.ShadowLate = slices.Max(s.late[:s.active])
}

// consider begins to draw the map of cascade i when that is due.
func (s *shadows) consider(r *Renderer, c *collected, i int, light *lightSpace, whole bool) {
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
func (c *collected) remains(s *shadows, i int) (cost int) {
	b := &s.builds[i]
	planes := b.next.fit.casters()
	for k := range c.reps {
		if d := &c.reps[k]; !d.casters[i].done(b.id, len(d.meshes)) && c.casts(d, &planes) {
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
// given planes: of two that fade into each other the stronger one does.
func (c *collected) casts(d *drawnRep, planes *[5]plane) bool {
	if d.fading && math.Abs(float64(d.fade)) < 0.5 {
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
// part, and the next one will not.
func (s *shadows) advance(r *Renderer, c *collected, i, limit int) (spent int) {
	b := &s.builds[i]
	b.frames++
	planes := b.next.fit.casters()
	complete := true
	for k := range c.reps {
		d := &c.reps[k]
		at := &d.casters[i]
		if at.done(b.id, len(d.meshes)) || !c.casts(d, &planes) {
			continue
		}
		if spent >= limit {
			complete = false
			break
		}
		if at.build != b.id {
			*at = caster{build: b.id}
			b.next.content ^= c.contribution(d)
		}
		spent += s.collect(r, c, d, i, &planes, limit-spent)
		complete = complete && int(at.mesh) == len(d.meshes)
	}
	slices.Sort(s.lists[i].order)
	c.record(&s.lists[i])
	if complete {
		s.end(i, c.content(&b.next.fit))
		r.stats.ShadowCascades++
	}
	return spent
}

// collect lists the next meshes of a representation for cascade i.
func (s *shadows) collect(r *Renderer, c *collected, d *drawnRep, i int, planes *[5]plane, limit int) (spent int) {
	scene, local, at := &c.scenes[d.scene], *planes, &d.casters[i]
	c.toScene(&local, d)
	for int(at.mesh) < len(d.meshes) && spent < limit {
		m := &d.meshes[at.mesh]
		if m.kind.alpha == alphaBlend || at.part == 0 && !reaches(&local, &m.center, &m.half) {
			at.mesh++
			continue
		}
		all := int(m.indexCount / 3)
		n := all - int(at.part)
		if room := max(minPart, limit-spent); n-minPart > room {
			n = room
		}
		p := passOpaque
		if m.kind.alpha == alphaMask {
			p = passMask
		}
		it := item{mesh: m, page: d.at.page, fade: 1, slot: c.slotOf(r, d, scene, m), firstIndex: m.firstIndex + uint32(3*at.part), indexCount: uint32(3 * n)}
		it.state = m.drawKey(p, d.at.page.id) &^ (1<<keySidesShift | 1<<keyMirrorShift)
		if p == passOpaque { // textures do not matter
			it.state &^= keySetMask << keySetShift
		}
		s.lists[i].add(it.state, it)
		r.stats.ShadowDraws++
		r.stats.ShadowTriangles += n
		spent += n + drawCost
		if at.part += int32(n); int(at.part) == all {
			at.mesh, at.part = at.mesh+1, 0
		}
	}
	// What is left may not reach the map.
	for int(at.mesh) < len(d.meshes) && at.part == 0 {
		if m := &d.meshes[at.mesh]; m.kind.alpha != alphaBlend && reaches(&local, &m.center, &m.half) {
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

// drawShadows draws what plan has collected.
func (r *Renderer) drawShadows() {
	s := &r.shadows
	first := true
	for i := range s.count {
		l := &s.lists[i]
		if len(l.order) == 0 && !s.clear[i] {
			continue
		}
		if first {
			r.shadowState(true)
			first = false
		}
		next := &s.builds[i].next
		gl.BindFramebuffer(gl.FRAMEBUFFER, s.fbos[next.layer])
		if s.clear[i] {
			gl.UseProgram(0)
			gl.Clear(gl.DEPTH_BUFFER_BIT)
			s.clear[i] = false
		}
		m := toClip(&next.matrix, r.info.ReverseZ)
		s.matrix = f32(relative(&m, r.frame.lens.eye))
		gl.UseProgram(r.programs.shadow)
		gl.UniformMatrix4fv(r.programs.shadowLight, 1, false, &s.matrix[0])
		gl.UseProgram(r.programs.shadowMask)
		gl.UniformMatrix4fv(r.programs.shadowMaskLight, 1, false, &s.matrix[0])
		r.stats.ShadowCalls += r.submit(l, submission{shadow: true})
		l.reset()
	}
	if !first {
		r.shadowState(false)
	}
}

// shadowState sets what the cascades need, or takes it back. What lies before
// a map on its way to the sun is clamped to its near plane and still casts;
// both sides of surfaces cast, since walls may have one only.
func (r *Renderer) shadowState(on bool) {
	if !on {
		gl.Disable(gl.DEPTH_CLAMP)
		gl.Disable(gl.POLYGON_OFFSET_FILL)
		return
	}
	gl.Viewport(0, 0, int32(r.shadows.size), int32(r.shadows.size))
	gl.Enable(gl.DEPTH_TEST)
	gl.Enable(gl.DEPTH_CLAMP)
	gl.Enable(gl.POLYGON_OFFSET_FILL)
	gl.PolygonOffset(1.25, 1)
	gl.Disable(gl.CULL_FACE)
	gl.Disable(gl.BLEND)
	gl.DepthMask(true)
	gl.DepthFunc(gl.LEQUAL)
	gl.ClearDepth(1)
}

// fill writes where the maps lie into the frame's block. All have the same
// light: under another one all are drawn anew at once.
func (s *shadows) fill(b *frameBlock, eye geom.Vec3) {
	light := &s.cascades[0].fit.light
	for i, axis := range [...]geom.Vec3{light.x, light.y, light.z.Scale(-1)} {
		a := axis.F32()
		b.shadowAxes[i] = [4]float32{a[0], a[1], a[2]}
	}
	for i := range s.shown() {
		c := &s.cascades[i]
		at := c.matrix.Point(eye).F32()
		b.shadowMap[i] = [4]float32{at[0], at[1], at[2], float32(0.5 / c.fit.radius)}
		b.shadowLayers[i] = float32(c.layer)
	}
}

func (s *shadows) close() {
	gl.DeleteFramebuffers(int32(2*s.count), &s.fbos[0])
	gl.DeleteTextures(1, &s.texture)
}
