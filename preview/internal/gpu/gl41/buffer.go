//go:build cgo && !nopreview

package gl41

import (
	"fmt"
	"unsafe"

	"github.com/go-gl/gl/v4.1-core/gl"

	"github.com/untoldkit/untold/preview/internal/gpu"
)

// NewVertexBuffer makes a buffer for vertices.
func (d *Device) NewVertexBuffer(size int) (gpu.Buffer, error) {
	var b uint32
	gl.GenBuffers(1, &b)
	if err := store(gl.ARRAY_BUFFER, b, size); err != nil {
		gl.DeleteBuffers(1, &b)
		return 0, err
	}
	return gpu.Buffer(b), nil
}

// NewVertexArray makes a buffer of indices and a vertex array over it.
func (d *Device) NewVertexArray(vertices gpu.Buffer, layout []gpu.Attribute, indexSize int) (gpu.VertexArray, gpu.Buffer, error) {
	var vao, index uint32
	gl.GenVertexArrays(1, &vao)
	gl.BindVertexArray(vao)
	gl.BindBuffer(gl.ARRAY_BUFFER, uint32(vertices))
	attributes(layout)
	if d.caps.MultiDraw { // else the attribute is set by hand before each draw
		if d.ids == 0 {
			d.ids = newIDs(d.caps.MaxDraws)
		}
		gl.BindBuffer(gl.ARRAY_BUFFER, d.ids)
		gl.EnableVertexAttribArray(gpu.RecordAttribute)
		gl.VertexAttribIPointerWithOffset(gpu.RecordAttribute, 1, gl.UNSIGNED_INT, 4, 0)
		gl.VertexAttribDivisor(gpu.RecordAttribute, 1)
	}
	gl.GenBuffers(1, &index)
	err := store(gl.ELEMENT_ARRAY_BUFFER, index, indexSize)
	gl.BindVertexArray(0)
	if err != nil {
		gl.DeleteVertexArrays(1, &vao)
		gl.DeleteBuffers(1, &index)
		return 0, 0, err
	}
	return gpu.VertexArray(vao), gpu.Buffer(index), nil
}

// store gives a buffer its memory. Drivers that choose between video and main
// memory go by the usage: storage that is immutable counts as dynamic on NVIDIA's,
// which moves it to main memory when it is drawn first.
func store(target, buffer uint32, size int) error {
	for range 8 { // errors of others, of which a driver may keep several
		gl.GetError()
	}
	gl.BindBuffer(target, buffer)
	gl.BufferData(target, size, nil, gl.STATIC_DRAW)
	if e := gl.GetError(); e != gl.NO_ERROR {
		return fmt.Errorf("no GPU memory for %d bytes of geometry (OpenGL error 0x%x)", size, e)
	}
	return nil
}

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

// attributes describes the bound vertex buffer to the bound vertex array. Packed
// normals are taken as integers: before OpenGL 4.2 normalised 10-bit values decode
// in another way, and only their direction counts.
func attributes(layout []gpu.Attribute) {
	for i := range layout {
		a := &layout[i]
		kind, normalized := uint32(gl.FLOAT), false
		switch a.Kind {
		case gpu.Float16:
			kind = gl.HALF_FLOAT
		case gpu.Unorm8:
			kind, normalized = gl.UNSIGNED_BYTE, true
		case gpu.Packed10:
			kind = gl.INT_2_10_10_10_REV
		case gpu.Uint16:
			kind = gl.UNSIGNED_SHORT
		}
		gl.EnableVertexAttribArray(uint32(a.Location))
		gl.VertexAttribPointerWithOffset(uint32(a.Location), int32(a.Components), kind, normalized, int32(a.Stride), uintptr(a.Offset))
	}
}

// WriteBuffer stores data by way of the staging memory.
func (d *Device) WriteBuffer(b gpu.Buffer, offset int, data []byte) {
	d.staging.copyTo(uint32(b), offset, data)
}

// DeleteBuffer deletes a buffer.
func (d *Device) DeleteBuffer(b gpu.Buffer) {
	name := uint32(b)
	gl.DeleteBuffers(1, &name)
}

// DeleteVertexArray deletes a vertex array.
func (d *Device) DeleteVertexArray(v gpu.VertexArray) {
	name := uint32(v)
	gl.DeleteVertexArrays(1, &name)
}

// BindVertexArray binds a vertex array.
func (d *Device) BindVertexArray(v gpu.VertexArray) { gl.BindVertexArray(uint32(v)) }

// geometry is vertices and indices that are written anew every frame.
type geometry struct {
	vao               uint32
	layout            []gpu.Attribute
	vertices, indices stream
}

// NewGeometry makes geometry that is written anew every frame.
func (d *Device) NewGeometry(layout []gpu.Attribute) gpu.Geometry {
	g := &geometry{layout: layout}
	gl.GenVertexArrays(1, &g.vao)
	g.vertices = stream{target: gl.ARRAY_BUFFER, persistent: d.caps.PersistentMap}
	g.indices = stream{target: gl.ELEMENT_ARRAY_BUFFER, persistent: d.caps.PersistentMap}
	return g
}

// Write is the gpu.Geometry.
func (g *geometry) Write(at int, vertices []byte, indices []uint32) {
	gl.BindVertexArray(g.vao)
	g.vertices.write(at, vertices)
	attributes(g.layout)
	if len(indices) > 0 {
		g.indices.write(at, unsafe.Slice((*byte)(unsafe.Pointer(&indices[0])), 4*len(indices)))
	}
}

// Close is the gpu.Geometry.
func (g *geometry) Close() {
	g.vertices.close()
	g.indices.close()
	gl.DeleteVertexArrays(1, &g.vao)
}

// table is a buffer that shaders fetch from.
type table struct {
	d               *Device
	unit            uint32
	buffer, texture uint32
	size            int
}

// NewTable makes a table of texels.
func (d *Device) NewTable(unit int) gpu.Table { return &table{d: d, unit: uint32(unit)} }

// Grow is the gpu.Table.
func (t *table) Grow(size int) {
	var buffer uint32
	gl.GenBuffers(1, &buffer)
	gl.BindBuffer(gl.COPY_WRITE_BUFFER, buffer)
	gl.BufferData(gl.COPY_WRITE_BUFFER, size, nil, gl.STATIC_DRAW)
	if t.size > 0 {
		gl.BindBuffer(gl.COPY_READ_BUFFER, t.buffer)
		gl.CopyBufferSubData(gl.COPY_READ_BUFFER, gl.COPY_WRITE_BUFFER, 0, 0, t.size)
		gl.DeleteBuffers(1, &t.buffer)
	} else {
		gl.GenTextures(1, &t.texture)
	}
	t.buffer, t.size = buffer, size
	gl.ActiveTexture(gl.TEXTURE0 + scratchUnit)
	gl.BindTexture(gl.TEXTURE_BUFFER, t.texture)
	gl.TexBuffer(gl.TEXTURE_BUFFER, gl.RGBA32F, t.buffer)
}

// Write is the gpu.Table.
func (t *table) Write(offset int, data []byte) { t.d.staging.copyTo(t.buffer, offset, data) }

// Copy is the gpu.Table.
func (t *table) Copy(to, from, n int) {
	gl.BindBuffer(gl.COPY_READ_BUFFER, t.buffer)
	gl.BindBuffer(gl.COPY_WRITE_BUFFER, t.buffer)
	gl.CopyBufferSubData(gl.COPY_READ_BUFFER, gl.COPY_WRITE_BUFFER, from, to, n)
}

// Bind is the gpu.Table.
func (t *table) Bind() {
	gl.ActiveTexture(gl.TEXTURE0 + t.unit)
	gl.BindTexture(gl.TEXTURE_BUFFER, t.texture)
}

// Close is the gpu.Table.
func (t *table) Close() {
	gl.DeleteBuffers(1, &t.buffer)
	gl.DeleteTextures(1, &t.texture)
}
