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
	owner []int32 // by pixel: the part that is seen there, or nobody
	away  []int32 // by pixel: the part that is not drawn there; nil: all are
}

const nobody = -1

// reset makes room for so many pixels.
func (s *split) reset(n int) {
	if cap(s.owner) < n {
		s.owner = make([]int32, n)
	}
	s.owner = s.owner[:n]
	for i := range s.owner {
		s.owner[i] = nobody
	}
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
	pixel := max(size.Len()/partPixels, 1e-9)
	model := newModel(m, r.model.paints)
	seen, sum := make([]int64, n), make([]int64, n)
	front, back := split{parts: parts}, split{parts: parts}
	whole, without := canvas{split: &front}, canvas{split: &back}
	for _, d := range directions {
		v := newView(d, r.box, pixel)
		front.reset(v.w * v.h)
		a := whole.draw(&v, model)
		// Once more, each pixel without the part that is seen there.
		back.reset(v.w * v.h)
		back.away = front.owner
		b := without.draw(&v, model)
		for i, p := range front.owner {
			if p == nobody {
				continue
			}
			diff := difference(a.pix[i], b.pix[i])
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
