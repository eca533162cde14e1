//go:build cgo && !nopreview

package gl41

import (
	"unsafe"

	"github.com/go-gl/gl/v4.1-core/gl"

	"github.com/untoldkit/untold/preview/internal/gpu"
)

// DrawTriangle draws a triangle without vertices.
func (d *Device) DrawTriangle() {
	gl.BindVertexArray(d.empty)
	gl.DrawArrays(gl.TRIANGLES, 0, 3)
}

// DrawLines draws vertices as lines.
func (d *Device) DrawLines(first, count int) { gl.DrawArrays(gl.LINES, int32(first), int32(count)) }

// DrawTriangles draws indices of 32 bits.
func (d *Device) DrawTriangles(count int) {
	gl.DrawElementsWithOffset(gl.TRIANGLES, int32(count), gl.UNSIGNED_INT, 0)
}

// DrawCommands draws commands by one call, or one by one.
func (d *Device) DrawCommands(first, count int, wide bool) (calls int) {
	kind, size := uint32(gl.UNSIGNED_SHORT), uintptr(2)
	if wide {
		kind, size = gl.UNSIGNED_INT, 4
	}
	if d.caps.MultiDraw {
		multiDraw(kind, 4*gpu.CommandWords*first, int32(count))
		return 1
	}
	// Further instances of a command are commands of their own, without instances.
	for c := d.words[gpu.CommandWords*first:][:gpu.CommandWords*count]; len(c) > 0; c = c[gpu.CommandWords:] {
		gl.VertexAttribI1ui(gpu.RecordAttribute, c[4])
		gl.DrawElementsBaseVertexWithOffset(gl.TRIANGLES, int32(c[0]), kind, uintptr(c[2])*size, int32(c[3]))
	}
	return count
}

// multiDraw draws n commands from an offset in the bound indirect buffer. The
// bindings want the offset as a pointer, which pointer checking takes for a bad
// one.
//
//go:nocheckptr
func multiDraw(kind uint32, offset int, n int32) {
	gl.MultiDrawElementsIndirect(gl.TRIANGLES, kind, unsafe.Add(unsafe.Pointer(nil), offset), n, 0)
}
