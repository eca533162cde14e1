package render

import (
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/format/vertex/compact"
	"github.com/untoldkit/untold/runtime/payload"
)

// Packed is the vertices of an asset as they go to the GPU. Where an asset was read in
// another program than the one that draws it, they come with it as payload.Asset.Ready: to
// pack them takes far longer than all else that Prepare does.
type Packed struct {
	// Packing is the lattice. With the layout Full there is nothing else: vertices go as
	// they are in the asset.
	Packing compact.Packing
	// Layouts are those of the distinct vertex ranges of the meshes, in their order in the
	// asset; none is Full.
	Layouts []compact.Layout
	// Vertices are those of all ranges of a layout, one behind the other, by layout.
	Vertices [compact.Layouts][]byte
	// Release, when it is set, is called once the Vertices are not needed any more. It is not
	// for those that are never uploaded.
	Release func()
}

// Pack returns what the vertices of an asset become, nil where the asset breaks something,
// which Upload tells.
func Pack(a *payload.Asset) *Packed {
	p, err := prepare(a, nil)
	if err != nil {
		return nil
	}
	return p.made
}

func (p *Packed) release() {
	if p != nil && p.Release != nil {
		p.Release()
		p.Release = nil
	}
}

// fits reports whether these can be the vertices of the ranges.
func (p *Packed) fits(ranges []vertexRange) bool {
	if p.Packing.Layout == compact.Full {
		return true
	}
	if len(p.Layouts) != len(ranges) {
		return false
	}
	var sizes [compact.Layouts]int
	for i, l := range p.Layouts {
		if l < ranges[i].layout || l >= compact.Layouts {
			return false
		}
		sizes[l] += ranges[i].size / vertex.Size * l.Size()
	}
	for l := range sizes {
		if len(p.Vertices[l]) != sizes[l] {
			return false
		}
	}
	return true
}

// packed packs vertices, of which colours are kept where not all are white.
func (p *prepared) packed(ranges []vertexRange) *Packed {
	stretch := 1.0
	for i := range p.objects {
		o := &p.objects[i]
		stretch = max(stretch, o.Column(0).Len(), o.Column(1).Len(), o.Column(2).Len())
	}
	packing := compact.Choose(p.vertices, stretch, false)
	out := &Packed{Packing: packing}
	if packing.Layout == compact.Full {
		return out
	}
	out.Layouts = make([]compact.Layout, len(ranges))
	var sizes [compact.Layouts]int
	for i := range ranges {
		r := &ranges[i]
		l := r.layout
		if packing.Layout == compact.Colored && !compact.White(p.vertices[r.from:r.from+r.size]) {
			l = compact.Colored
		}
		out.Layouts[i] = l
		sizes[l] += r.size / vertex.Size * l.Size()
	}
	for l, size := range sizes {
		if size > 0 {
			out.Vertices[l] = make([]byte, 0, size)
		}
	}
	for i, l := range out.Layouts {
		r := &ranges[i]
		packing.Layout = l
		out.Vertices[l] = packing.Append(out.Vertices[l], p.vertices[r.from:r.from+r.size])
	}
	return out
}
