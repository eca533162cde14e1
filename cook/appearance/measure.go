package appearance

import (
	"math"

	"github.com/untoldkit/untold/internal/geom"
)

// Reference is a mesh that coarser ones are compared with. It is not safe for
// use by several goroutines.
type Reference struct {
	mesh      *Mesh
	materials []Material
	lights    []int32
	box       geom.Box
	spacing   float64 // metres: about the length of a triangle's side
	a, b      canvas
}

// Limits of the pictures. Pixels are a part of a triangle's side, so that the
// work grows with the number of triangles; the diagonal of the box has at least
// leastSide and at most mostSide of them.
const (
	perSide   = 3.0
	leastSide = 320
	mostSide  = 1440
)

// New prepares the comparison with a mesh. Positions must be finite, indices
// and materials within their lists. materials serve both meshes of a
// comparison.
func New(m *Mesh, materials []Material) *Reference {
	r := &Reference{mesh: m, materials: materials, lights: m.lights(), box: m.box()}
	if n := len(m.Indices) / 3; n > 0 {
		r.spacing = math.Sqrt(m.area() / float64(n))
	}
	return r
}

// pixelFor returns the size of the pixels that a mesh of n triangles is drawn
// with.
func (r *Reference) pixelFor(triangles int) float64 {
	size := r.box.Size()
	diagonal := size.Len()
	side := r.spacing * math.Sqrt(float64(len(r.mesh.Indices)/3)/float64(max(triangles, 1)))
	pixel := min(side/perSide, diagonal/leastSide)
	return max(pixel, diagonal/mostSide, 1e-9)
}

// Error returns the size in metres of what a viewer sees of the difference: at
// a distance where it covers two pixels of the screen the pictures of both
// meshes agree. It is 0 for meshes that look the same, and at most the diagonal
// of the reference's box.
func (r *Reference) Error(m *Mesh) float64 {
	if r.box.IsEmpty() {
		return 0
	}
	size := r.box.Size()
	diagonal := size.Len()
	if len(m.Indices) == 0 {
		return diagonal
	}
	pixel := r.pixelFor(len(m.Indices) / 3)
	lights := m.lights()
	// strains[k] is of pixels of 2^k times the size, over all views.
	var sum, worst [tileShift + 1]float64
	for _, d := range directions {
		v := newView(d, r.box, pixel)
		a, b := r.a.draw(&v, r.mesh, r.lights, r.materials), r.b.draw(&v, m, lights, r.materials)
		for k := range sum {
			if k > 0 {
				a, b = a.half(), b.half()
			}
			s := strain(a, b)
			sum[k] += s
			worst[k] = max(worst[k], s)
		}
	}
	// A single side may be half as bad again as is allowed on the average.
	last, lastPixel := 0.0, 0.0
	for k := 1; k < len(sum); k++ {
		s := max(sum[k]/float64(len(directions)), worst[k]/1.5)
		p := float64(pixel * float64(int(1)<<k))
		if s <= 1 {
			if k == 1 {
				return min(2*float64(p*s), diagonal)
			}
			// Between two sizes the strain falls evenly.
			return min(2*(lastPixel+float64((p-lastPixel)*((last-1)/(last-s)))), diagonal)
		}
		last, lastPixel = s, p
	}
	// Beyond the largest pixel the strain is taken to fall with its size.
	return min(2*float64(lastPixel*last), diagonal)
}
