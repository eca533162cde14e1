package appearance

// Part is what a part of a mesh shows, as an average over all views.
type Part struct {
	// Seen is the area that it covers, square metres.
	Seen float64
	// Change is how much would change if it were not there: Seen times the mean
	// square of the difference, 0 to 1, from what is behind it.
	Change float64
}

// partPixels is how many pixels the diagonal of the box has where parts are
// looked at.
const partPixels = 600

// split tells a mesh's parts apart while it is drawn.
type split struct {
	parts []int32 // by triangle
	part  int32   // of the triangle that is drawn
	// By pixel, where the picture shows anything: the part that is seen there, and what
	// is seen there without that part.
	owner  []int32
	behind []layer
}

// layer is a pixel and how near it is; 0 is nothing.
type layer struct {
	pix   pixel
	depth int32
}

// resize makes room for so many pixels.
func (s *split) resize(n int) {
	if cap(s.owner) < n {
		s.owner, s.behind = make([]int32, n), make([]layer, n)
	}
	s.owner, s.behind = s.owner[:n], s.behind[:n]
}

// Parts says what the parts of a mesh show, of which there are n. parts holds
// the part of each triangle, from 0. The mesh must lie within the reference's
// box.
func (r *Reference) Parts(m *Mesh, parts []int32, n int) []Part {
	out := make([]Part, n)
	if r.box.IsEmpty() {
		return out
	}
	size := r.box.Size()
	pixel := max(size.Len()/r.parts, 1e-9)
	model := newModel(m, r.model.paints)
	seen, sum := make([]int64, n), make([]int64, n)
	r.canvas.split = &r.split
	defer func() { r.canvas.split = nil }()
	for _, d := range directions {
		v := newView(d, r.box, pixel)
		r.split.resize(v.w * v.h)
		r.split.parts = parts
		whole := r.canvas.draw(&v, model)
		for i, depth := range r.canvas.depth {
			if depth == 0 {
				continue
			}
			p := r.split.owner[i]
			diff := difference(whole.pix[i], r.split.behind[i].pix)
			seen[p]++
			sum[p] += int64(diff * diff)
		}
	}
	area := float64(pixel*pixel) / float64(len(directions))
	for i := range out {
		out[i].Seen = float64(float64(seen[i]) * area)
		out[i].Change = float64(float64(sum[i])*area) / (255 * 255)
	}
	return out
}
