package decoder

import (
	"github.com/untoldkit/untold/format/vertex/compact"
	"github.com/untoldkit/untold/preview/render"
)

// writePacked writes the vertices of a tile as they go to the GPU. They are a message of
// their own: batches keep what is in the other one for as long as the tile is there.
func writePacked(token uint64, p *render.Packed) *writer {
	w := newWriter(kindPacked, token)
	w.u8(uint8(p.Packing.Layout))
	for _, v := range p.Packing.Origin {
		w.f32(v)
	}
	w.f32(p.Packing.Step)
	w.u32(uint32(len(p.Layouts)))
	for _, l := range p.Layouts {
		w.u8(uint8(l))
	}
	for _, data := range p.Vertices {
		w.block(data)
	}
	return w
}

// readPacked is the inverse; vertices stay in the message. Whether they are those of the tile
// is for Upload to find.
func readPacked(r *reader, release func()) (*render.Packed, error) {
	p := &render.Packed{Release: release}
	layout := func() compact.Layout {
		l := compact.Layout(r.u8())
		if l >= compact.Layouts {
			r.fail("layout %d", l)
		}
		return l
	}
	p.Packing.Layout = layout()
	for i := range p.Packing.Origin {
		p.Packing.Origin[i] = r.finite()
	}
	p.Packing.Step = r.finite()
	if p.Packing.Layout != compact.Full && p.Packing.Step <= 0 {
		r.fail("a step of %g", p.Packing.Step)
	}
	p.Layouts = make([]compact.Layout, r.count(1))
	for i := range p.Layouts {
		p.Layouts[i] = layout()
	}
	for l := range p.Vertices {
		p.Vertices[l] = r.block()
	}
	if err := r.end(); err != nil {
		return nil, err
	}
	return p, nil
}
