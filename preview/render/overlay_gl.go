//go:build cgo && !nopreview

package render

import (
	"image"
	"unsafe"

	"github.com/go-gl/gl/v4.1-core/gl"

	"github.com/untoldkit/untold/internal/geom"
)

// overlay draws text and panels over the picture.
type overlay struct {
	empty, vao        uint32 // vertex arrays: without attributes, of the overlay
	lineVAO           uint32
	vertices, indices stream
	atlas             uint32
	shown             *image.Alpha // in atlas
	lines             []lineVertex
}

func (o *overlay) init(persistent bool) {
	gl.GenVertexArrays(1, &o.empty)
	gl.GenVertexArrays(1, &o.vao)
	gl.GenVertexArrays(1, &o.lineVAO)
	o.vertices = stream{target: gl.ARRAY_BUFFER, persistent: persistent}
	o.indices = stream{target: gl.ELEMENT_ARRAY_BUFFER, persistent: persistent}
	gl.GenTextures(1, &o.atlas)
	o.upload(&image.Alpha{Pix: []byte{255}, Stride: 1, Rect: image.Rect(0, 0, 1, 1)})
}

// upload replaces the atlas.
func (o *overlay) upload(a *image.Alpha) {
	o.shown = a
	w, h := a.Rect.Dx(), a.Rect.Dy()
	if w < 1 || h < 1 {
		return
	}
	gl.ActiveTexture(gl.TEXTURE0 + unitScratch)
	gl.BindTexture(gl.TEXTURE_2D, o.atlas)
	gl.TexParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAX_LEVEL, 0)
	gl.TexParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR)
	gl.TexParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.LINEAR)
	gl.TexParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE)
	gl.TexParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE)
	gl.PixelStorei(gl.UNPACK_ALIGNMENT, 1)
	gl.PixelStorei(gl.UNPACK_ROW_LENGTH, int32(a.Stride))
	gl.TexImage2D(gl.TEXTURE_2D, 0, gl.R8, int32(w), int32(h), 0, gl.RED, gl.UNSIGNED_BYTE, unsafe.Pointer(&a.Pix[0]))
	gl.PixelStorei(gl.UNPACK_ROW_LENGTH, 0)
}

// draw draws the overlay of a frame into the resolved picture.
func (o *overlay) draw(r *Renderer, at int, v *Overlay) {
	if v == nil || len(v.Indices) == 0 || len(v.Vertices) == 0 {
		return
	}
	for _, i := range v.Indices {
		if int(i) >= len(v.Vertices) {
			r.options.Logger.Error("an overlay names a vertex that it lacks", "index", i, "vertices", len(v.Vertices))
			return
		}
	}
	switch {
	case v.Atlas != nil && v.Atlas != o.shown:
		o.upload(v.Atlas)
	case v.Atlas == nil && (o.shown.Rect.Dx() != 1 || o.shown.Rect.Dy() != 1):
		o.upload(&image.Alpha{Pix: []byte{255}, Stride: 1, Rect: image.Rect(0, 0, 1, 1)})
	}
	gl.BindFramebuffer(gl.FRAMEBUFFER, r.targets.resolved)
	gl.Disable(gl.FRAMEBUFFER_SRGB) // blend display values
	gl.Disable(gl.DEPTH_TEST)
	gl.Disable(gl.CULL_FACE)
	gl.Enable(gl.BLEND)
	gl.BlendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA)
	gl.BindVertexArray(o.vao)
	o.vertices.write(at, unsafe.Pointer(&v.Vertices[0]), len(v.Vertices)*overlayStride)
	for i, a := range [...]struct {
		n      int32
		kind   uint32
		unit   bool
		offset uintptr
	}{{2, gl.FLOAT, false, 0}, {2, gl.FLOAT, false, 8}, {4, gl.UNSIGNED_BYTE, true, 16}} {
		gl.EnableVertexAttribArray(uint32(i))
		gl.VertexAttribPointerWithOffset(uint32(i), a.n, a.kind, a.unit, int32(overlayStride), a.offset)
	}
	o.indices.write(at, unsafe.Pointer(&v.Indices[0]), 4*len(v.Indices))
	gl.ActiveTexture(gl.TEXTURE0 + unitScratch)
	gl.BindTexture(gl.TEXTURE_2D, o.atlas)
	gl.UseProgram(r.programs.overlay)
	gl.DrawElementsWithOffset(gl.TRIANGLES, int32(len(v.Indices)), gl.UNSIGNED_INT, 0)
	unbind()
	gl.Disable(gl.BLEND)
	gl.Enable(gl.FRAMEBUFFER_SRGB)
}

const overlayStride = int(unsafe.Sizeof(OverlayVertex{}))

// lineVertex is an end of a line, relative to the eye.
type lineVertex struct {
	position [3]float32
	color    [4]uint8
}

const lineStride = int(unsafe.Sizeof(lineVertex{}))

// drawLines draws the lines of a frame: those in the scene, then those on top.
func (r *Renderer) drawLines(at int, f *Frame) {
	n := len(f.Lines) + len(f.LinesOnTop)
	if n == 0 {
		return
	}
	o := &r.overlay
	o.lines = o.lines[:0]
	eye := r.frame.lens.eye
	for _, lines := range [...][]Line{f.Lines, f.LinesOnTop} {
		for i := range lines {
			l := &lines[i]
			o.lines = append(o.lines,
				lineVertex{geom.FromF32(l.A).Sub(eye).F32(), l.Color}, lineVertex{geom.FromF32(l.B).Sub(eye).F32(), l.Color})
		}
	}
	gl.BindVertexArray(o.lineVAO)
	r.lineStream.write(at, unsafe.Pointer(&o.lines[0]), len(o.lines)*lineStride)
	gl.EnableVertexAttribArray(0)
	gl.VertexAttribPointerWithOffset(0, 3, gl.FLOAT, false, int32(lineStride), 0)
	gl.EnableVertexAttribArray(1)
	gl.VertexAttribPointerWithOffset(1, 4, gl.UNSIGNED_BYTE, true, int32(lineStride), 12)
	gl.UseProgram(r.programs.line)
	gl.Enable(gl.BLEND)
	gl.BlendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA)
	gl.DepthMask(false)
	gl.DrawArrays(gl.LINES, 0, int32(2*len(f.Lines)))
	if len(f.LinesOnTop) > 0 {
		gl.Disable(gl.DEPTH_TEST)
		gl.DrawArrays(gl.LINES, int32(2*len(f.Lines)), int32(2*len(f.LinesOnTop)))
		gl.Enable(gl.DEPTH_TEST)
	}
}

func (o *overlay) close() {
	o.vertices.close()
	o.indices.close()
	for _, v := range [...]*uint32{&o.empty, &o.vao, &o.lineVAO} {
		gl.DeleteVertexArrays(1, v)
	}
	gl.DeleteTextures(1, &o.atlas)
}
