//go:build cgo && !nopreview

package render

import (
	"fmt"

	"github.com/go-gl/gl/v4.1-core/gl"

	"github.com/untoldkit/untold/format"
)

// Sizes of a page of the geometry pool: the vertices and indices of many
// representations, so that one call can draw from all of them.
const (
	pageVertices = 1 << 20 // 32 MiB
	pageIndices  = 1 << 20 // in units of indexUnit: 16 MiB
	indexUnit    = 16      // bytes
)

// page is one vertex buffer, one index buffer and the vertex array over them.
type page struct {
	id            int
	vertices      freeList // in vertices
	indices       freeList // in units of indexUnit
	vao           uint32
	vertex, index uint32
	bytes         int
}

// place is where a representation's geometry lies.
type place struct {
	page     *page
	vertices span
	indices  span
}

// pool hands out geometry memory.
type pool struct {
	storage bool // immutable buffers
	ids     uint32
	pages   []*page
	used    int64
}

// allocate finds room. An error means that the GPU's memory is exhausted.
func (p *pool) allocate(vertexBytes, indexBytes int) (place, error) {
	nv := (vertexBytes + format.VertexSize - 1) / format.VertexSize
	ni := (indexBytes + indexUnit - 1) / indexUnit
	for _, g := range p.pages {
		if at, ok := g.allocate(nv, ni); ok {
			p.used += at.bytes()
			return at, nil
		}
	}
	g, err := p.addPage(max(nv, pageVertices), max(ni, pageIndices))
	if err != nil {
		return place{}, err
	}
	at, _ := g.allocate(nv, ni)
	p.used += at.bytes()
	return at, nil
}

func (g *page) allocate(nv, ni int) (place, bool) {
	v, ok := g.vertices.alloc(nv)
	if !ok {
		return place{}, false
	}
	i, ok := g.indices.alloc(ni)
	if !ok {
		g.vertices.release(v)
		return place{}, false
	}
	return place{g, v, i}, true
}

func (a *place) bytes() int64 {
	return int64(a.vertices.n)*format.VertexSize + int64(a.indices.n)*indexUnit
}

// release takes geometry memory back. One empty page is kept, so that a scene
// at the edge of a page does not make it come and go.
func (p *pool) release(a place) {
	if a.page == nil {
		return
	}
	p.used -= a.bytes()
	a.page.vertices.release(a.vertices)
	a.page.indices.release(a.indices)
	empty := 0
	for _, g := range p.pages {
		if g.vertices.used+g.indices.used == 0 {
			empty++
		}
	}
	if empty < 2 {
		return
	}
	for i, g := range p.pages {
		if g == a.page {
			g.close()
			p.pages = append(p.pages[:i], p.pages[i+1:]...)
			return
		}
	}
}

// allocated returns the bytes of all pages.
func (p *pool) allocated() (n int64) {
	for _, g := range p.pages {
		n += int64(g.bytes)
	}
	return n
}

func (p *pool) addPage(vertices, indices int) (*page, error) {
	g := &page{vertices: newFreeList(vertices), indices: newFreeList(indices)}
	g.id = p.freeID()
	for range 8 { // errors of others, of which a driver may keep several
		gl.GetError()
	}
	gl.GenVertexArrays(1, &g.vao)
	gl.BindVertexArray(g.vao)
	gl.GenBuffers(1, &g.vertex)
	gl.GenBuffers(1, &g.index)
	p.store(gl.ARRAY_BUFFER, g.vertex, vertices*format.VertexSize)
	vertexAttributes(p.ids)
	p.store(gl.ELEMENT_ARRAY_BUFFER, g.index, indices*indexUnit)
	gl.BindVertexArray(0)
	g.bytes = vertices*format.VertexSize + indices*indexUnit
	if e := gl.GetError(); e != gl.NO_ERROR {
		g.close()
		return nil, fmt.Errorf("render: no GPU memory for %d bytes of geometry (OpenGL error 0x%x)", g.bytes, e)
	}
	p.pages = append(p.pages, g)
	return g, nil
}

func (p *pool) freeID() int {
	for id := 0; ; id++ {
		taken := false
		for _, g := range p.pages {
			taken = taken || g.id == id
		}
		if !taken {
			return id
		}
	}
}

func (p *pool) store(target, buffer uint32, size int) {
	gl.BindBuffer(target, buffer)
	if p.storage {
		gl.BufferStorage(target, size, nil, gl.DYNAMIC_STORAGE_BIT)
		return
	}
	gl.BufferData(target, size, nil, gl.STATIC_DRAW)
}

// vertexAttributes describes format.Vertex in the bound buffers, and the record
// number of a draw in ids (0: set by hand before each draw). Normals are taken
// as integers: before OpenGL 4.2 normalised 10-bit values decode in another way,
// and only their direction counts.
func vertexAttributes(ids uint32) {
	for i, a := range [...]struct {
		n          int32
		kind       uint32
		normalized bool
		offset     uintptr
	}{
		{3, gl.FLOAT, false, 0},
		{4, gl.INT_2_10_10_10_REV, false, 12},
		{4, gl.INT_2_10_10_10_REV, false, 16},
		{2, gl.HALF_FLOAT, false, 20},
		{4, gl.UNSIGNED_BYTE, true, 28},
	} {
		gl.EnableVertexAttribArray(uint32(i))
		gl.VertexAttribPointerWithOffset(uint32(i), a.n, a.kind, a.normalized, format.VertexSize, a.offset)
	}
	if ids != 0 {
		gl.BindBuffer(gl.ARRAY_BUFFER, ids)
		gl.EnableVertexAttribArray(attribDraw)
		gl.VertexAttribIPointerWithOffset(attribDraw, 1, gl.UNSIGNED_INT, 4, 0)
		gl.VertexAttribDivisor(attribDraw, 1)
	}
}

// attribDraw is the attribute that holds the number of a draw's record.
const attribDraw = 5

func (g *page) close() {
	gl.DeleteVertexArrays(1, &g.vao)
	gl.DeleteBuffers(1, &g.vertex)
	gl.DeleteBuffers(1, &g.index)
}

func (p *pool) close() {
	for _, g := range p.pages {
		g.close()
	}
	p.pages = nil
}
