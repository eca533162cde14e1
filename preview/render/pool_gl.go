//go:build cgo && !nopreview

package render

import (
	"fmt"

	"github.com/go-gl/gl/v4.1-core/gl"

	"github.com/untoldkit/untold/format/vertex"
)

// Sizes of the pages of the geometry pool: the vertices and indices of many
// representations, so that one call can draw from all of them. The first page is
// made before there is a frame that could be late. New memory is dear, since
// drivers clear it, so later pages are a compromise: smaller ones would be made
// sooner, but take more calls to draw from.
const (
	firstVertices = 1 << 20 // 32 MiB
	firstIndices  = 1 << 20 // in units of indexUnit: 16 MiB
	pageVertices  = 1 << 18 // 8 MiB
	pageIndices   = 1 << 18 // 4 MiB
)

// spareRoom is the part of a page that should be free, as a divisor: when less
// is, the next page is made.
const spareRoom = 2

// pool hands out geometry memory.
type pool struct {
	ids   uint32
	pages []*page
	spare *page // that is being made ahead; nil: none
	full  bool  // there was no memory for one
	used  int64
}

// allocate finds room. An error means that the GPU's memory is exhausted.
func (p *pool) allocate(vertexBytes, indexBytes int) (place, error) {
	nv := (vertexBytes + vertex.Size - 1) / vertex.Size
	ni := (indexBytes + indexUnit - 1) / indexUnit
	for _, g := range p.pages {
		if at, ok := g.allocate(nv, ni); ok {
			p.used += at.bytes()
			return at, nil
		}
	}
	g, err := p.nextPage(nv, ni)
	if err != nil {
		return place{}, err
	}
	at, _ := g.allocate(nv, ni)
	p.used += at.bytes()
	return at, nil
}

// nextPage makes a page with the given room at once: the one that is being made
// ahead, if it has it.
func (p *pool) nextPage(nv, ni int) (*page, error) {
	if g := p.spare; g != nil && nv <= g.vertices.size && ni <= g.indices.size {
		return g, p.complete(g)
	}
	g := p.newPage(max(nv, pageVertices), max(ni, pageIndices))
	if len(p.pages) == 0 {
		g = p.newPage(max(nv, firstVertices), max(ni, firstIndices))
	}
	if err := p.storeVertices(g); err != nil {
		return nil, err
	}
	return g, p.complete(g)
}

// ahead makes a part of the next page when room becomes scarce, and is called
// once per frame: so that no frame has to wait for all of it.
func (p *pool) ahead() {
	switch {
	case p.full || len(p.pages) == 0:
		return
	case p.spare != nil:
		p.full = p.complete(p.spare) != nil
		return
	}
	vertices, indices := 0, 0
	for _, g := range p.pages {
		vertices += g.vertices.size - g.vertices.used
		indices += g.indices.size - g.indices.used
	}
	if vertices >= pageVertices/spareRoom && indices >= pageIndices/spareRoom {
		return
	}
	g := p.newPage(pageVertices, pageIndices)
	if p.full = p.storeVertices(g) != nil; !p.full { // else those who need it will hear of it
		p.spare = g
	}
}

// release takes geometry memory back. One empty page is kept, so that a scene
// at the edge of a page does not make it come and go.
func (p *pool) release(a place) {
	if a.page == nil {
		return
	}
	p.full = false
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
	if p.spare != nil {
		n += int64(p.spare.bytes)
	}
	return n
}

// newPage returns a page that has no memory yet.
func (p *pool) newPage(vertices, indices int) *page {
	return &page{vertices: newFreeList(vertices), indices: newFreeList(indices)}
}

// storeVertices makes the vertex buffer of a new page, which is the larger part
// of it.
func (p *pool) storeVertices(g *page) error {
	gl.GenBuffers(1, &g.vertex)
	return p.store(g, gl.ARRAY_BUFFER, g.vertex, g.vertices.size*vertex.Size)
}

// complete makes the rest of a page and takes it into use.
func (p *pool) complete(g *page) error {
	if p.spare == g {
		p.spare = nil
	}
	gl.GenVertexArrays(1, &g.vao)
	gl.BindVertexArray(g.vao)
	gl.BindBuffer(gl.ARRAY_BUFFER, g.vertex)
	vertexAttributes(p.ids)
	gl.GenBuffers(1, &g.index)
	err := p.store(g, gl.ELEMENT_ARRAY_BUFFER, g.index, g.indices.size*indexUnit)
	gl.BindVertexArray(0)
	if err != nil {
		return err
	}
	g.id = p.freeID()
	p.pages = append(p.pages, g)
	return nil
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

// store makes a buffer of a page. Drivers that choose between video and main
// memory go by the usage: storage that is immutable counts as dynamic on NVIDIA's,
// which moves it to main memory when it is drawn first. The page is gone when there
// is no memory.
func (p *pool) store(g *page, target, buffer uint32, size int) error {
	for range 8 { // errors of others, of which a driver may keep several
		gl.GetError()
	}
	gl.BindBuffer(target, buffer)
	gl.BufferData(target, size, nil, gl.STATIC_DRAW)
	if e := gl.GetError(); e != gl.NO_ERROR {
		g.close()
		return fmt.Errorf("render: no GPU memory for %d bytes of geometry (OpenGL error 0x%x)", size, e)
	}
	g.bytes += size
	return nil
}

// vertexAttributes describes vertex.Vertex in the bound buffers, and the record
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
		gl.VertexAttribPointerWithOffset(uint32(i), a.n, a.kind, a.normalized, vertex.Size, a.offset)
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
	if p.spare != nil {
		p.spare.close()
	}
	p.pages, p.spare = nil, nil
}
