//go:build cgo && !nopreview

package render

import (
	"unsafe"

	"github.com/go-gl/gl/v4.1-core/gl"
)

// newIDs returns a buffer with the numbers 0, 1, 2 ...: an instance attribute
// of which the base instance of a draw picks one.
func newIDs(n int) (buffer uint32) {
	ids := make([]uint32, n)
	for i := range ids {
		ids[i] = uint32(i)
	}
	gl.GenBuffers(1, &buffer)
	gl.BindBuffer(gl.ARRAY_BUFFER, buffer)
	gl.BufferData(gl.ARRAY_BUFFER, 4*n, unsafe.Pointer(&ids[0]), gl.STATIC_DRAW)
	return buffer
}

// uploadFrame writes what the shaders read in this frame.
func (r *Renderer) uploadFrame(at int, f *Frame) {
	c := &r.frame
	r.shaderBlock.fill(c, &r.shadows.shadowPlan, brightnessOf(f.Exposure, r.options.Tone), r.targets.width, r.targets.height, r.info.ReverseZ)
	b := r.block.write(at, unsafe.Pointer(r.shaderBlock), int(unsafe.Sizeof(*r.shaderBlock)))
	gl.BindBufferBase(gl.UNIFORM_BUFFER, 0, b.buffer)
	bufferTexture := func(unit uint32, s *stream, data unsafe.Pointer, n int) {
		b := s.write(at, data, n)
		gl.ActiveTexture(gl.TEXTURE0 + unit)
		gl.BindTexture(gl.TEXTURE_BUFFER, b.texture)
	}
	bufferTexture(unitObjects, &r.objectStream, unsafe.Pointer(unsafe.SliceData(c.objects)), 4*len(c.objects))
	bufferTexture(unitDraws, &r.drawStream, unsafe.Pointer(unsafe.SliceData(c.draws)), 4*len(c.draws))
	gl.ActiveTexture(gl.TEXTURE0 + unitMaterials)
	gl.BindTexture(gl.TEXTURE_BUFFER, r.materials.texture)
	if r.info.MultiDraw {
		r.commandStream.write(at, unsafe.Pointer(unsafe.SliceData(c.commands)), 4*len(c.commands))
	}
	if r.options.ShadowSize > 0 {
		gl.ActiveTexture(gl.TEXTURE0 + unitShadow)
		gl.BindTexture(gl.TEXTURE_2D_ARRAY, r.shadows.texture)
	}
}

// drawScene draws the view into the scene's framebuffer and resolves it.
func (r *Renderer) drawScene(at int, f *Frame) {
	c := &r.frame
	gl.BindFramebuffer(gl.FRAMEBUFFER, r.targets.scene)
	gl.Viewport(0, 0, int32(r.targets.width), int32(r.targets.height))
	gl.Enable(gl.FRAMEBUFFER_SRGB)
	gl.Enable(gl.DEPTH_TEST)
	gl.DepthMask(true)
	r.depthFunc()
	gl.Disable(gl.BLEND)
	gl.ClearColor(0.018, 0.020, 0.024, 1)
	gl.UseProgram(0)
	gl.Clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT)

	if f.View == ViewWireframe {
		// Faint edges add up where there are many.
		gl.Enable(gl.BLEND)
		gl.BlendFunc(gl.SRC_ALPHA, gl.ONE)
		gl.Disable(gl.DEPTH_TEST)
		r.drawWires([4]float32{0.45, 0.60, 0.75, 0.25})
		gl.Enable(gl.DEPTH_TEST)
	} else {
		r.stats.Calls += r.submit(&c.main, submission{until: passBlend})
		if c.shade == shadeLit {
			r.drawSky()
		}
		gl.Enable(gl.BLEND)
		gl.BlendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA)
		gl.DepthMask(false)
		r.stats.Calls += r.submit(&c.main, submission{from: passBlend, until: passes})
		if f.Wireframe {
			r.drawWires([4]float32{0, 0, 0, 0.75})
		}
	}
	r.drawLines(at, f)
	gl.Disable(gl.BLEND)
	gl.DepthMask(true)
	gl.Disable(gl.CULL_FACE)
	unbind()
	r.targets.resolve()
}

// unbind leaves no program and no vertices bound. Drivers look at both together
// when they clear or copy, and compile a program anew for vertices that are not
// its own.
func unbind() {
	gl.UseProgram(0)
	gl.BindVertexArray(0)
}

// depthFunc sets the depth test and the value of the far plane.
func (r *Renderer) depthFunc() {
	if r.info.ReverseZ {
		gl.DepthFunc(gl.GEQUAL)
		gl.ClearDepth(0)
		return
	}
	gl.DepthFunc(gl.LEQUAL)
	gl.ClearDepth(1)
}

func (r *Renderer) drawSky() {
	gl.UseProgram(r.programs.sky)
	depth := float32(1)
	if r.info.ReverseZ {
		depth = 0
	}
	gl.Uniform1f(r.programs.skyDepth, depth)
	gl.Disable(gl.CULL_FACE)
	gl.DepthMask(false)
	gl.BindVertexArray(r.overlay.empty)
	gl.DrawArrays(gl.TRIANGLES, 0, 3)
}

// drawWires draws the edges of all that is in view.
func (r *Renderer) drawWires(color [4]float32) {
	gl.UseProgram(r.programs.wire)
	gl.Uniform4f(r.programs.wireColor, color[0], color[1], color[2], color[3])
	gl.PolygonMode(gl.FRONT_AND_BACK, gl.LINE)
	gl.Enable(gl.POLYGON_OFFSET_LINE)
	if r.info.ReverseZ {
		gl.PolygonOffset(1, 2)
	} else {
		gl.PolygonOffset(-1, -2)
	}
	r.stats.Calls += r.submit(&r.frame.main, submission{wires: true, until: passes})
	gl.Disable(gl.POLYGON_OFFSET_LINE)
	gl.PolygonMode(gl.FRONT_AND_BACK, gl.FILL)
}
