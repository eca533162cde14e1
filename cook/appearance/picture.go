package appearance

import "slices"

// Picture is a mesh as it is seen from one side.
type Picture struct{ p picture }

// Draw draws a mesh, or the reference itself for nil, as it is seen from a side,
// 0 to Views-1, with pixels of a size in metres. Materials are those given to
// New. Pictures of one reference have the same bounds from the same side, around
// the reference's box; their memory grows with the square of its diagonal in
// pixels.
func (r *Reference) Draw(m *Mesh, side int, pixel float64) *Picture {
	v := newView(directions[side], r.box, pixel)
	model := r.model
	if m != nil {
		model = newModel(m, r.model.paints)
	}
	p := r.canvas.draw(&v, model)
	p.pix = slices.Clone(p.pix)
	return &Picture{p}
}

// Half makes the pixels twice as large: the light of each is the mean of four.
// It works MaxHalves times.
func (p *Picture) Half() { p.p = p.p.half(p.p.pix) }

// MaxHalves is how often the pixels of a picture can be made larger.
const MaxHalves = tileShift
