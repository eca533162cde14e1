package render

import (
	"unsafe"

	"github.com/untoldkit/untold/preview/internal/gpu"
)

// uploadFrame writes what the shaders read in this frame.
func (r *Renderer) uploadFrame(at int, f *Frame) {
	c := &r.frame
	r.shaderBlock.fill(c, &r.shadows.shadowPlan, f.Daylight, brightnessOf(f.Exposure, r.options.Tone), r.targets.width, r.targets.height, r.info.ReverseZ)
	r.shaderBlock.grade = [3][4]float32{}
	if f.Grade {
		r.shaderBlock.grade = [3][4]float32{r.grade.shape, r.grade.from, r.grade.scale}
	}
	if c.shade == shadeLit {
		r.lights.choose(f.Lights, &c.lens, &c.view)
		r.shaderBlock.fillLights(&r.lights, f.Lights, c.lens.eye)
	}
	r.block.Write(at, unsafe.Slice((*byte)(unsafe.Pointer(r.shaderBlock)), unsafe.Sizeof(*r.shaderBlock)))
	r.objectStream.Write(at, bytesOf(c.objects))
	r.drawStream.Write(at, bytesOf(c.draws))
	r.materials.table.Bind()
	r.grade.table.Bind()
	r.device.SetCommands(at, c.commands)
	if r.options.ShadowSize > 0 {
		r.device.BindShadowMaps(unitShadow, r.shadows.texture)
	}
}

// bytesOf returns the memory of numbers.
func bytesOf[T uint32 | float32 | OverlayVertex | lineVertex](s []T) []byte {
	var one T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(one)))
}

// drawScene draws the view into the scene's framebuffer and resolves it.
func (r *Renderer) drawScene(at int, f *Frame) {
	c, d := &r.frame, r.device
	r.targets.BindScene()
	d.Viewport(r.targets.width, r.targets.height)
	d.SRGB(true)
	d.DepthTest(true)
	d.DepthWrite(true)
	d.DepthFar(r.info.ReverseZ)
	d.Blend(gpu.BlendOff)
	d.UseProgram(0)
	d.Clear(&background, true)

	if f.View == ViewWireframe {
		// Faint edges add up where there are many.
		d.Blend(gpu.BlendAdd)
		d.DepthTest(false)
		r.drawWires([4]float32{0.45, 0.60, 0.75, 0.25})
		d.DepthTest(true)
	} else {
		r.stats.Calls += r.submit(&c.main, submission{until: passBlend})
		if c.shade == shadeLit {
			r.drawSky()
		}
		d.Blend(gpu.BlendAlpha)
		d.DepthWrite(false)
		if c.shade != shadeLit || r.programs.has(r.programs.mesh[passBlend]) {
			r.stats.Calls += r.submit(&c.main, submission{from: passBlend, until: passes})
		}
		if f.Wireframe {
			r.drawWires([4]float32{0, 0, 0, 0.75})
		}
	}
	r.drawLines(at, f)
	d.Blend(gpu.BlendOff)
	d.DepthWrite(true)
	d.Cull(gpu.CullOff)
	r.unbind()
	r.targets.Resolve()
}

// background is what is seen where nothing is drawn.
var background = [4]float32{0.018, 0.020, 0.024, 1}

// unbind leaves no program and no vertices bound. Drivers look at both together
// when they clear or copy, and compile a program anew for vertices that are not
// its own.
func (r *Renderer) unbind() {
	r.device.UseProgram(0)
	r.device.BindVertexArray(0)
}

func (r *Renderer) drawSky() {
	r.device.UseProgram(r.programs.sky)
	depth := float32(1)
	if r.info.ReverseZ {
		depth = 0
	}
	r.device.Uniform1f(r.programs.skyDepth, depth)
	r.device.Cull(gpu.CullOff)
	r.device.DepthWrite(false)
	r.device.DrawTriangle()
}

// drawWires draws the edges of all that is in view.
func (r *Renderer) drawWires(color [4]float32) {
	if !r.wireframe || !r.programs.makeWire(r.options.Logger) {
		return
	}
	r.device.UseProgram(r.programs.wire.Program)
	r.device.Uniform4f(r.programs.wireColor, color)
	slope, constant := float32(-1), float32(-2)
	if r.info.ReverseZ {
		slope, constant = 1, 2
	}
	r.device.Wireframe(true, slope, constant)
	r.stats.Calls += r.submit(&r.frame.main, submission{wires: true, until: passes})
	r.device.Wireframe(false, 0, 0)
}
