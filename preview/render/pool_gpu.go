package render

import (
	"fmt"
	"slices"

	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/format/vertex/compact"
	"github.com/untoldkit/untold/preview/internal/gpu"
)

// pageSize is how large a page of the geometry pool is: the vertices and indices of
// many representations of one layout, so that one call can draw from all of them.
type pageSize struct {
	vertices int // bytes
	indices  int // in units of indexUnit
}

// The first pages are made before there is a frame that could be late. New memory is
// dear, since drivers clear it, so later pages are a compromise: smaller ones would be
// made sooner, but take more calls to draw from, one a page for each set of textures.
// Most of what is drawn has the plain layout, and some scenes nothing of others.
var (
	firstPage  = pageSize{32 << 20, 1 << 20} // of the plain layout; 16 MiB of indices
	firstOther = pageSize{2 << 20, 1 << 16}
	laterPage  = pageSize{16 << 20, 1 << 19}
)

// spareRoom is the part of a page that should be free, as a divisor: when less
// is, the next page is made.
const spareRoom = 4

// pool hands out geometry memory.
type pool struct {
	device gpu.Device
	pages  []*page
	spare  *page // that is being made ahead; nil: none
	full   bool  // there was no memory for one
	used   int64
}

// allocate finds room for vertices of a layout. An error means that the GPU's memory is
// exhausted.
func (p *pool) allocate(l compact.Layout, vertexBytes, indexBytes int) (place, error) {
	nv := (vertexBytes + l.Size() - 1) / l.Size()
	ni := (indexBytes + indexUnit - 1) / indexUnit
	for _, g := range p.pages {
		if g.layout != l {
			continue
		}
		if at, ok := g.allocate(nv, ni); ok {
			p.used += at.bytes()
			return at, nil
		}
	}
	g, err := p.nextPage(l, nv, ni)
	if err != nil {
		return place{}, err
	}
	at, _ := g.allocate(nv, ni)
	p.used += at.bytes()
	return at, nil
}

// nextPage makes a page with the given room at once: the one that is being made
// ahead, if it has it.
func (p *pool) nextPage(l compact.Layout, nv, ni int) (*page, error) {
	if g := p.spare; g != nil && g.layout == l && nv <= g.vertices.size && ni <= g.indices.size {
		return g, p.complete(g)
	}
	size := laterPage
	switch {
	case p.has(l):
	case l == compact.Plain:
		size = firstPage
	default:
		size = firstOther
	}
	g := p.newPage(l, max(nv, size.vertices/l.Size()), max(ni, size.indices))
	if err := p.storeVertices(g); err != nil {
		return nil, err
	}
	return g, p.complete(g)
}

// has reports whether there is a page of a layout.
func (p *pool) has(l compact.Layout) bool {
	return slices.ContainsFunc(p.pages, func(g *page) bool { return g.layout == l })
}

// ahead makes a part of the next page when room of a layout becomes scarce, and is
// called once per frame: so that no frame has to wait for all of it. What has not filled
// half of a first page yet, as most scenes other layouts, waits for none.
func (p *pool) ahead() {
	switch {
	case p.full || len(p.pages) == 0:
		return
	case p.spare != nil:
		p.full = p.complete(p.spare) != nil
		return
	}
	for l := range compact.Layouts {
		if !p.scarce(l) {
			continue
		}
		g := p.newPage(l, laterPage.vertices/l.Size(), laterPage.indices)
		if p.full = p.storeVertices(g) != nil; !p.full { // else those who need it will hear of it
			p.spare = g
		}
		return
	}
}

// scarce reports whether there is little room left of a layout.
func (p *pool) scarce(l compact.Layout) bool {
	var vertices, indices, used, size int
	for _, g := range p.pages {
		if g.layout == l {
			vertices += g.vertices.size - g.vertices.used
			indices += g.indices.size - g.indices.used
			used += g.vertices.used
			size += g.vertices.size
		}
	}
	return 2*used >= size && used > 0 &&
		(vertices < laterPage.vertices/l.Size()/spareRoom || indices < laterPage.indices/spareRoom)
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
		if g.layout == a.page.layout && g.empty() {
			empty++
		}
	}
	if empty < 2 || !a.page.empty() {
		return
	}
	for i, g := range p.pages {
		if g == a.page {
			g.close(p.device)
			p.pages = append(p.pages[:i], p.pages[i+1:]...)
			return
		}
	}
}

// empty reports whether nothing is in a page.
func (g *page) empty() bool { return g.vertices.used+g.indices.used == 0 }

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
func (p *pool) newPage(l compact.Layout, vertices, indices int) *page {
	return &page{layout: l, vertices: newFreeList(vertices), indices: newFreeList(indices)}
}

// storeVertices makes the vertex buffer of a new page, which is the larger part
// of it.
func (p *pool) storeVertices(g *page) error {
	size := g.vertices.size * g.layout.Size()
	b, err := p.device.NewVertexBuffer(size)
	if err != nil {
		return fmt.Errorf("render: %w", err)
	}
	g.vertex = b
	g.bytes += size
	return nil
}

// complete makes the rest of a page and takes it into use. The page is gone when
// there is no memory.
func (p *pool) complete(g *page) error {
	if p.spare == g {
		p.spare = nil
	}
	size := g.indices.size * indexUnit
	vao, index, err := p.device.NewVertexArray(g.vertex, vertexLayouts[g.layout], size)
	if err != nil {
		g.close(p.device)
		return fmt.Errorf("render: %w", err)
	}
	g.vao, g.index = vao, index
	g.bytes += size
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

// vertexLayouts describes vertex.Vertex and the compact layouts, in which shaders put
// positions together (mesh.vert.glsl) and know what is missing. Of normals and tangents
// only the direction counts, so that they are taken as integers.
var vertexLayouts = [compact.Layouts][]gpu.Attribute{
	compact.Full: {
		{Location: 0, Components: 3, Kind: gpu.Float32, Offset: 0, Stride: vertex.Size},
		{Location: 1, Components: 4, Kind: gpu.Packed10, Offset: 12, Stride: vertex.Size},
		{Location: 2, Components: 4, Kind: gpu.Packed10, Offset: 16, Stride: vertex.Size},
		{Location: 3, Components: 2, Kind: gpu.Float16, Offset: 20, Stride: vertex.Size},
		{Location: 4, Components: 4, Kind: gpu.Unorm8, Offset: 28, Stride: vertex.Size},
	},
	compact.Plain:   compactLayout(compact.Plain),
	compact.Mapped:  compactLayout(compact.Mapped),
	compact.Colored: compactLayout(compact.Colored),
}

func compactLayout(l compact.Layout) []gpu.Attribute {
	out := []gpu.Attribute{
		{Location: 0, Components: 4, Kind: gpu.Uint16, Offset: compact.PositionAt},
		{Location: 1, Components: 4, Kind: gpu.Packed10, Offset: compact.NormalAt},
		{Location: 3, Components: 2, Kind: gpu.Float16, Offset: compact.UVAt},
	}
	if l >= compact.Mapped {
		out = append(out, gpu.Attribute{Location: 2, Components: 4, Kind: gpu.Packed10, Offset: compact.TangentAt})
	}
	if l >= compact.Colored {
		out = append(out, gpu.Attribute{Location: 4, Components: 4, Kind: gpu.Unorm8, Offset: compact.ColorAt})
	}
	for i := range out {
		out[i].Stride = l.Size()
	}
	return out
}

func (g *page) close(d gpu.Device) {
	d.DeleteVertexArray(g.vao)
	d.DeleteBuffer(g.vertex)
	d.DeleteBuffer(g.index)
}

func (p *pool) close() {
	for _, g := range p.pages {
		g.close(p.device)
	}
	if p.spare != nil {
		p.spare.close(p.device)
	}
	p.pages, p.spare = nil, nil
}
