//go:build cgo && !nopreview

package render

import (
	"fmt"

	"github.com/go-gl/gl/v4.1-core/gl"
)

// shadows are the cascades of the sun. Each has two layers of the texture: the
// map in use, and the one that is being drawn.
type shadows struct {
	shadowPlan
	texture uint32
	fbos    [2 * maxCascades]uint32
	matrix  [16]float32
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

// drawShadows draws what the plan lists.
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

func (s *shadows) close() {
	gl.DeleteFramebuffers(int32(2*s.count), &s.fbos[0])
	gl.DeleteTextures(1, &s.texture)
}
