//go:build cgo && !nopreview

package render

import (
	"fmt"
	"math"
	"slices"

	"github.com/go-gl/gl/v4.1-core/gl"

	"github.com/untoldkit/untold/internal/geom"
)

// shadows are the cascades of the sun.
type shadows struct {
	size, count int
	distance    float64
	texture     uint32
	fbos        [maxCascades]uint32
	cascades    [maxCascades]cascade
	due         [maxCascades]bool
	lists       [maxCascades]list
	next        int // whose turn it is to be drawn again
	matrix      [16]float32
}

func (s *shadows) init(o *Options) error {
	s.size, s.count, s.distance = o.ShadowSize, o.Cascades, o.ShadowDistance
	gl.GenTextures(1, &s.texture)
	gl.ActiveTexture(gl.TEXTURE0 + unitShadow)
	gl.BindTexture(gl.TEXTURE_2D_ARRAY, s.texture)
	gl.TexImage3D(gl.TEXTURE_2D_ARRAY, 0, gl.DEPTH_COMPONENT24, int32(s.size), int32(s.size), int32(s.count), 0, gl.DEPTH_COMPONENT, gl.UNSIGNED_INT, nil)
	for name, v := range map[uint32]int32{
		gl.TEXTURE_MIN_FILTER: gl.LINEAR, gl.TEXTURE_MAG_FILTER: gl.LINEAR, gl.TEXTURE_MAX_LEVEL: 0,
		gl.TEXTURE_WRAP_S: gl.CLAMP_TO_EDGE, gl.TEXTURE_WRAP_T: gl.CLAMP_TO_EDGE,
		gl.TEXTURE_COMPARE_MODE: gl.COMPARE_REF_TO_TEXTURE, gl.TEXTURE_COMPARE_FUNC: gl.LEQUAL,
	} {
		gl.TexParameteri(gl.TEXTURE_2D_ARRAY, name, v)
	}
	gl.GenFramebuffers(int32(s.count), &s.fbos[0])
	for i := range s.count {
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

// plan decides which cascades are drawn in this frame and collects their
// casters.
func (s *shadows) plan(r *Renderer, c *collected) {
	c.shadowNear, c.shadowFar = shadowRange(s.distance, c.near, c.far)
	content := c.content()
	light := lightSpaceOf(c.sun)
	var far [maxCascades]float64
	near := max(c.lens.near, c.shadowNear)
	cascadeSplits(&far, s.count, near, c.shadowFar)
	var states [maxCascades]state
	var slices [maxCascades]slice
	drawn := false
	for i := range s.count {
		slices[i] = sliceOf(&c.lens, near, far[i])
		near = far[i]
		states[i] = s.cascades[i].judge(slices[i], &light, content)
		s.due[i] = states[i] == wrong
		drawn = drawn || s.due[i]
	}
	for i := range s.count {
		if k := (s.next + i) % s.count; !drawn && states[k] == stale {
			s.due[k], drawn, s.next = true, true, k+1
		}
	}
	for i := range s.count {
		if s.due[i] {
			s.cascades[i].place(slices[i], &light, s.size, content)
			s.collect(r, c, i)
		}
	}
}

// content returns a number that changes with what casts shadows.
func (c *collected) content() (h uint64) {
	for i := range c.reps {
		if d := &c.reps[i]; casts(d) {
			h ^= mix(d.serial)
		}
	}
	for i := range c.scenes {
		for k, v := range c.scenes[i].root {
			h ^= mix(math.Float64bits(v) + uint64(k))
		}
	}
	return h
}

// casts reports whether a representation casts shadows: of two that fade into
// each other the stronger one.
func casts(d *drawnRep) bool { return !d.fading || math.Abs(float64(d.fade)) >= 0.5 }

// mix spreads the bits of a number (the finaliser of MurmurHash3).
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// collect lists the casters of cascade i.
func (s *shadows) collect(r *Renderer, c *collected, i int) {
	l := &s.lists[i]
	l.reset()
	planes := s.cascades[i].fit.casters()
	for k := range c.reps {
		d := &c.reps[k]
		if !casts(d) {
			continue
		}
		scene := &c.scenes[d.scene]
		local := planes
		if !scene.plain {
			for p := range local {
				local[p] = local[p].in(&scene.root)
			}
		}
		center, half := [3]float64(d.box.Center()), [3]float64(d.box.Size().Scale(0.5))
		if !reaches(&local, &center, &half) {
			continue
		}
		for k := range d.meshes {
			m := &d.meshes[k]
			if m.kind.alpha == alphaBlend || !reaches(&local, &m.center, &m.half) {
				continue
			}
			it := item{mesh: m, page: d.at.page, fade: 1, slot: c.slotOf(r, d, scene, m)}
			p := passOpaque
			if m.kind.alpha == alphaMask {
				p = passMask
			}
			it.state = m.drawKey(p, d.at.page.id) &^ (1<<keySidesShift | 1<<keyMirrorShift)
			if p == passOpaque { // textures do not matter
				it.state &^= keySetMask << keySetShift
			}
			l.add(it.state, it)
			r.stats.ShadowDraws++
			r.stats.ShadowTriangles += int(m.indexCount / 3)
		}
	}
	slices.Sort(l.order)
	c.record(l)
	r.stats.ShadowCascades++
}

func reaches(planes *[5]plane, center, half *[3]float64) bool {
	for i := range planes {
		if !planes[i].touches(center, half) {
			return false
		}
	}
	return true
}

// drawShadows draws the cascades that are due.
func (r *Renderer) drawShadows() {
	s := &r.shadows
	first := true
	for i := range s.count {
		if !s.due[i] {
			continue
		}
		if s.due[i] = false; first {
			r.shadowState(true)
			first = false
		}
		gl.BindFramebuffer(gl.FRAMEBUFFER, s.fbos[i])
		gl.Clear(gl.DEPTH_BUFFER_BIT)
		m := toClip(&s.cascades[i].matrix, r.info.ReverseZ)
		s.matrix = f32(relative(&m, r.frame.lens.eye))
		gl.UseProgram(r.programs.shadow)
		gl.UniformMatrix4fv(r.programs.shadowLight, 1, false, &s.matrix[0])
		gl.UseProgram(r.programs.shadowMask)
		gl.UniformMatrix4fv(r.programs.shadowMaskLight, 1, false, &s.matrix[0])
		r.stats.ShadowCalls += r.submit(&s.lists[i], submission{shadow: true})
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

// fill writes the matrices of the cascades into the frame's block.
func (s *shadows) fill(b *frameBlock, eye geom.Vec3) {
	for i := range s.count {
		m := relative(&s.cascades[i].matrix, eye)
		b.shadow[i] = f32(m)
		texel := 2 * s.cascades[i].fit.radius / float64(max(1, s.size))
		b.shadowTexel[i] = [4]float32{float32(texel), float32(1 / float64(max(1, s.size)))}
	}
}

func (s *shadows) close() {
	gl.DeleteFramebuffers(int32(s.count), &s.fbos[0])
	gl.DeleteTextures(1, &s.texture)
}
