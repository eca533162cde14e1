package render

import (
	"image"
	"unsafe"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/preview/internal/gpu"
)

// overlay draws text and panels over the picture.
type overlay struct {
	device   gpu.Device
	geometry gpu.Geometry
	atlas    gpu.Texture
	shown    *image.Alpha // in atlas
	lines    []lineVertex
	ready    bool // the program
}

// overlayLayout and lineLayout describe OverlayVertex and lineVertex.
var (
	overlayLayout = []gpu.Attribute{
		{Location: 0, Components: 2, Kind: gpu.Float32, Offset: 0, Stride: overlayStride},
		{Location: 1, Components: 2, Kind: gpu.Float32, Offset: 8, Stride: overlayStride},
		{Location: 2, Components: 4, Kind: gpu.Unorm8, Offset: 16, Stride: overlayStride},
	}
	lineLayout = []gpu.Attribute{
		{Location: 0, Components: 3, Kind: gpu.Float32, Offset: 0, Stride: lineStride},
		{Location: 1, Components: 4, Kind: gpu.Unorm8, Offset: 12, Stride: lineStride},
	}
)

func (o *overlay) init(d gpu.Device) {
	o.device = d
	o.geometry = d.NewGeometry(overlayLayout)
	o.upload(&image.Alpha{Pix: []byte{255}, Stride: 1, Rect: image.Rect(0, 0, 1, 1)})
}

// upload replaces the atlas.
func (o *overlay) upload(a *image.Alpha) {
	o.shown = a
	w, h := a.Rect.Dx(), a.Rect.Dy()
	if w < 1 || h < 1 {
		return
	}
	pix := a.Pix
	if a.Stride != w {
		pix = make([]byte, 0, w*h)
		for y := range h {
			pix = append(pix, a.Pix[y*a.Stride:][:w]...)
		}
	}
	o.device.DeleteTexture(o.atlas)
	o.atlas = o.device.NewAtlas(w, h, pix)
}

// overlayPatience is after how many frames an overlay is shown although there is no first
// picture: it may say why.
const overlayPatience = 300

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
	if r.programs.late && r.programs.overlay == 0 && r.frames < overlayPatience {
		return // its program follows the first picture
	}
	program, err := r.programs.overlayProgram()
	if err != nil {
		r.options.Logger.Error("text cannot be shown", "error", err)
		return
	}
	if o.ready = o.ready || !r.programs.late || o.device.Ready(program); !o.ready {
		return
	}
	d := o.device
	r.targets.BindPicture()
	d.SRGB(false) // blend display values
	d.DepthTest(false)
	d.Cull(gpu.CullOff)
	d.Blend(gpu.BlendAlpha)
	o.geometry.Write(at, bytesOf(v.Vertices), v.Indices)
	d.BindAtlas(unitAtlas, o.atlas)
	d.UseProgram(program)
	d.DrawTriangles(len(v.Indices))
	r.unbind()
	d.Blend(gpu.BlendOff)
	d.SRGB(true)
}

const (
	overlayStride = int(unsafe.Sizeof(OverlayVertex{}))
	lineStride    = int(unsafe.Sizeof(lineVertex{}))
)

// lineVertex is an end of a line, relative to the eye.
type lineVertex struct {
	position [3]float32
	color    [4]uint8
}

// drawLines draws the lines of a frame: those in the scene, then those on top.
func (r *Renderer) drawLines(at int, f *Frame) {
	n := len(f.Lines) + len(f.LinesOnTop)
	line := &r.programs.line
	if n == 0 || !line.make(r.programs, lineVertexFiles, lineFragmentFiles, r.options.Logger) {
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
	r.lineGeometry.Write(at, bytesOf(o.lines), nil)
	d := r.device
	d.UseProgram(line.Program)
	d.Blend(gpu.BlendAlpha)
	d.DepthWrite(false)
	d.DrawLines(0, 2*len(f.Lines))
	if len(f.LinesOnTop) > 0 {
		d.DepthTest(false)
		d.DrawLines(2*len(f.Lines), 2*len(f.LinesOnTop))
		d.DepthTest(true)
	}
}

func (o *overlay) close() {
	if o.device == nil {
		return
	}
	o.geometry.Close()
	o.device.DeleteTexture(o.atlas)
}
