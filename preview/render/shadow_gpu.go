package render

import (
	"fmt"

	"github.com/untoldkit/untold/preview/internal/gpu"
)

// shadows are the cascades of the sun. Each has two layers of the texture: the
// map in use, and the one that is being drawn.
type shadows struct {
	shadowPlan
	device  gpu.Device
	texture gpu.Texture
	fbos    []gpu.Framebuffer
	matrix  [16]float32
}

func (s *shadows) init(d gpu.Device, o *Options) (err error) {
	s.device = d
	s.size, s.count, s.distance = o.ShadowSize, o.Cascades, o.ShadowDistance
	if s.texture, s.fbos, err = d.NewShadowMaps(s.size, 2*s.count, unitShadow); err != nil {
		return fmt.Errorf("render: %w", err)
	}
	return nil
}

// exactShadows makes the next frame draw all maps whole, whatever they hold:
// its shadows then depend on nothing but that frame.
func (r *Renderer) exactShadows() { r.shadows.exact = true }

// drawShadows draws what the plan lists.
func (r *Renderer) drawShadows() {
	s, d := &r.shadows, r.device
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
		d.BindFramebuffer(s.fbos[next.layer])
		if s.clear[i] {
			d.UseProgram(0)
			d.Clear(nil, true)
			s.clear[i] = false
		}
		m := toClip(&next.matrix, r.info.ReverseZ)
		s.matrix = f32(relative(&m, r.frame.lens.eye))
		for k, name := range r.programs.shadow {
			d.UseProgram(name)
			d.UniformMatrix(r.programs.shadowLight[k], &s.matrix)
		}
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
	d := r.device
	if !on {
		d.DepthClamp(false)
		d.DepthOffset(0, 0)
		return
	}
	d.Viewport(r.shadows.size, r.shadows.size)
	d.DepthTest(true)
	d.DepthClamp(true)
	d.DepthOffset(1.25, 1)
	d.Cull(gpu.CullOff)
	d.Blend(gpu.BlendOff)
	d.DepthWrite(true)
	d.DepthFar(false)
}

func (s *shadows) close() {
	if s.device == nil {
		return
	}
	s.device.DeleteFramebuffers(s.fbos)
	s.device.DeleteTexture(s.texture)
}
