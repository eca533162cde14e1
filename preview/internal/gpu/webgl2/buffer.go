package webgl2

import (
	"github.com/untoldkit/untold/preview/internal/gpu"
)

// smallBytes is up to where data is copied among the commands; more is replayed at
// once from where it is.
const smallBytes = 1024

// NewVertexBuffer makes a buffer for vertices. Whether there is memory for it,
// browsers do not say.
func (d *Device) NewVertexBuffer(size int) (gpu.Buffer, error) {
	id := d.newID()
	d.buffer.put(opNewBuffer, id, uint32(size))
	return gpu.Buffer(id), nil
}

// NewVertexArray makes a buffer of indices and a vertex array over it.
func (d *Device) NewVertexArray(vertices gpu.Buffer, layout []gpu.Attribute, indexSize int) (gpu.VertexArray, gpu.Buffer, error) {
	id, index := d.newID(), d.newID()
	d.buffer.put(opNewArray, id, uint32(vertices), index, uint32(indexSize))
	d.attributes(layout)
	return gpu.VertexArray(id), gpu.Buffer(index), nil
}

// attributes appends a layout.
func (d *Device) attributes(layout []gpu.Attribute) {
	d.buffer.words = append(d.buffer.words, uint32(len(layout)))
	for i := range layout {
		a := &layout[i]
		d.buffer.words = append(d.buffer.words, uint32(a.Location), uint32(a.Components), uint32(a.Kind), uint32(a.Stride), uint32(a.Offset))
	}
}

// WriteBuffer stores data in a buffer.
func (d *Device) WriteBuffer(b gpu.Buffer, offset int, data []byte) {
	switch n := len(data); {
	case n == 0:
	case n <= smallBytes:
		d.buffer.put(opSmallBuffer, uint32(b), uint32(offset), uint32(n))
		d.buffer.bytes(data)
	default:
		d.buffer.put(opWriteBuffer, uint32(b), uint32(offset), d.buffer.address(data), uint32(n))
		d.flush()
	}
}

// DeleteBuffer deletes a buffer.
func (d *Device) DeleteBuffer(b gpu.Buffer) { d.remove(uint32(b)) }

// DeleteVertexArray deletes a vertex array.
func (d *Device) DeleteVertexArray(v gpu.VertexArray) { d.remove(uint32(v)) }

// BindVertexArray binds a vertex array.
func (d *Device) BindVertexArray(v gpu.VertexArray) { d.buffer.put(opBindArray, uint32(v)) }

// geometry is the gpu.Geometry.
type geometry struct {
	d  *Device
	id uint32
}

// NewGeometry makes geometry that is written anew every frame.
func (d *Device) NewGeometry(layout []gpu.Attribute) gpu.Geometry {
	g := geometry{d, d.newID()}
	d.buffer.put(opNewGeometry, g.id)
	d.attributes(layout)
	return g
}

func (g geometry) Write(at int, vertices []byte, indices []uint32) {
	b := &g.d.buffer
	b.put(opWriteGeometry, g.id, uint32(at), b.address(vertices), uint32(len(vertices)), b.address(bytesOf(indices)), uint32(4*len(indices)))
}

func (g geometry) Close() { g.d.remove(g.id) }

// stream is the gpu.Stream.
type stream struct {
	d     *Device
	id    uint32
	write op
}

// NewUniforms makes the values of the uniform block.
func (d *Device) NewUniforms() gpu.Stream {
	s := stream{d, d.newID(), opWriteUniforms}
	d.buffer.put(opNewUniforms, s.id)
	return s
}

// NewRecords makes textures that shaders fetch from.
func (d *Device) NewRecords(f gpu.TexelFormat, unit, _ int) gpu.Stream {
	s := stream{d, d.newID(), opWriteRecords}
	d.buffer.put(opNewRecords, s.id, bit(f == gpu.RGBA32UI), uint32(unit))
	return s
}

func (s stream) Write(at int, data []byte) {
	s.d.buffer.put(s.write, s.id, uint32(at), s.d.buffer.address(data), uint32(len(data)))
}

func (s stream) Close() { s.d.remove(s.id) }

// table is the gpu.Table: a texture, and a copy of it in main memory, of which what
// has changed is stored when it is bound.
type table struct {
	d        *Device
	id       uint32
	data     []byte
	from, to int // rows that have changed
}

// NewTable makes a table of texels.
func (d *Device) NewTable(unit int) gpu.Table {
	t := &table{d: d, id: d.newID()}
	d.buffer.put(opNewTable, t.id, uint32(unit))
	return t
}

func (t *table) Grow(size int) {
	rows := (size + rowBytes - 1) / rowBytes
	data := make([]byte, rows*rowBytes)
	copy(data, t.data)
	used := (len(t.data) + rowBytes - 1) / rowBytes
	t.data, t.from, t.to = data, 0, used
	t.d.buffer.put(opGrowTable, t.id, uint32(rows))
}

// change notes that bytes have changed.
func (t *table) change(offset, n int) {
	from, to := offset/rowBytes, (offset+n+rowBytes-1)/rowBytes
	if t.from >= t.to {
		t.from, t.to = from, to
		return
	}
	t.from, t.to = min(t.from, from), max(t.to, to)
}

func (t *table) Write(offset int, data []byte) {
	copy(t.data[offset:], data)
	t.change(offset, len(data))
}

func (t *table) Copy(to, from, n int) {
	copy(t.data[to:to+n], t.data[from:])
	t.change(to, n)
}

func (t *table) Bind() {
	if t.from < t.to {
		b := &t.d.buffer
		b.put(opWriteTable, t.id, uint32(t.from), uint32(t.to-t.from), b.address(t.data[t.from*rowBytes:t.to*rowBytes]))
		t.from, t.to = 0, 0
	}
	t.d.buffer.put(opBindTable, t.id)
}

func (t *table) Close() { t.d.remove(t.id) }
