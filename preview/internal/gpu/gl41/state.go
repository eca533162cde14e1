//go:build cgo && !nopreview

package gl41

import (
	"github.com/go-gl/gl/v4.1-core/gl"

	"github.com/untoldkit/untold/preview/internal/gpu"
)

// set enables or disables a capability of OpenGL.
func set(name uint32, on bool) {
	if on {
		gl.Enable(name)
	} else {
		gl.Disable(name)
	}
}

// Viewport draws into so many pixels.
func (d *Device) Viewport(width, height int) { gl.Viewport(0, 0, int32(width), int32(height)) }

// Clear clears what is bound.
func (d *Device) Clear(color *[4]float32, depth bool) {
	bits := uint32(0)
	if color != nil {
		gl.ClearColor(color[0], color[1], color[2], color[3])
		bits |= gl.COLOR_BUFFER_BIT
	}
	if depth {
		bits |= gl.DEPTH_BUFFER_BIT
	}
	gl.Clear(bits)
}

// DepthTest says whether what is nearer hides.
func (d *Device) DepthTest(on bool) { set(gl.DEPTH_TEST, on) }

// DepthWrite says whether depths are noted.
func (d *Device) DepthWrite(on bool) { gl.DepthMask(on) }

// DepthFar says where the far plane is.
func (d *Device) DepthFar(reversed bool) {
	if reversed {
		gl.DepthFunc(gl.GEQUAL)
		gl.ClearDepth(0)
		return
	}
	gl.DepthFunc(gl.LEQUAL)
	gl.ClearDepth(1)
}

// DepthClamp keeps what lies before the near plane.
func (d *Device) DepthClamp(on bool) { set(gl.DEPTH_CLAMP, on) }

// DepthOffset moves depths.
func (d *Device) DepthOffset(slope, constant float32) {
	if slope == 0 && constant == 0 {
		gl.Disable(gl.POLYGON_OFFSET_FILL)
		return
	}
	gl.Enable(gl.POLYGON_OFFSET_FILL)
	gl.PolygonOffset(slope, constant)
}

// Blend says how colours are added.
func (d *Device) Blend(m gpu.BlendMode) {
	switch m {
	case gpu.BlendOff:
		gl.Disable(gl.BLEND)
		return
	case gpu.BlendAdd:
		gl.BlendFunc(gl.SRC_ALPHA, gl.ONE)
	case gpu.BlendAlpha:
		gl.BlendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA)
	}
	gl.Enable(gl.BLEND)
}

// Cull says which faces are left out.
func (d *Device) Cull(m gpu.CullMode) {
	switch m {
	case gpu.CullOff:
		gl.Disable(gl.CULL_FACE)
		return
	case gpu.CullFront:
		gl.CullFace(gl.FRONT)
	case gpu.CullBack:
		gl.CullFace(gl.BACK)
	}
	gl.Enable(gl.CULL_FACE)
}

// Mirrored says that front faces run clockwise.
func (d *Device) Mirrored(on bool) {
	if on {
		gl.FrontFace(gl.CW)
	} else {
		gl.FrontFace(gl.CCW)
	}
}

// AlphaToCoverage makes alpha the share of samples.
func (d *Device) AlphaToCoverage(on bool) { set(gl.SAMPLE_ALPHA_TO_COVERAGE, on) }

// SRGB says how colours are stored.
func (d *Device) SRGB(on bool) { set(gl.FRAMEBUFFER_SRGB, on) }

// Wireframe draws edges.
func (d *Device) Wireframe(on bool, slope, constant float32) {
	set(gl.POLYGON_OFFSET_LINE, on)
	if !on {
		gl.PolygonMode(gl.FRONT_AND_BACK, gl.FILL)
		return
	}
	gl.PolygonMode(gl.FRONT_AND_BACK, gl.LINE)
	gl.PolygonOffset(slope, constant)
}
