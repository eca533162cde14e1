package appearance

import (
	"math"

	"github.com/untoldkit/untold/internal/geom"
)

// Reference is a mesh that coarser ones are compared with. It is not safe for
// use by several goroutines.
type Reference struct {
	model   *model
	box     geom.Box
	spacing float64 // metres: about the length of a triangle's side
	canvas  canvas
	split   split
	least   float64 // pixels along the diagonal
	parts   float64 // the same where parts are looked at
	allowed float64 // strain
	sides   []side  // the last pictures of it
	pixel   float64 // of which size
}

// side is a mesh as it is seen from one direction.
type side struct {
	view
	steps [tileShift]picture // with pixels of 2, 4, ... times the view's
}

// Limits of the pictures. Pixels are a part of a triangle's side, so that the
// work grows with the number of triangles; the diagonal of the box has at least
// leastSide and at most mostSide of them.
const (
	perSide   = 3.0
	leastSide = 320
	mostSide  = 1440
	// What is seen from afar is large: windows are lost in the pixels above.
	farLeast = 640
	// farAllowed is the part of what may differ that may differ there. Much that a
	// texture cannot show, such as sills that are seen from above and not from below,
	// hardly shrinks with the distance: FLIP is 0.01 to 0.04 where such a mesh begins.
	farAllowed = 2
)

// New prepares the comparison with a mesh. Positions must be finite, indices
// and materials within their lists. materials serve both meshes of a
// comparison.
func New(m *Mesh, materials []Material) *Reference {
	r := &Reference{model: newModel(m, newPaints(materials)), box: m.box(), least: leastSide, parts: partPixels, allowed: 1}
	if n := len(m.Indices) / 3; n > 0 {
		r.spacing = math.Sqrt(m.area() / float64(n))
	}
	return r
}

// NewFar is New for meshes that stand in for a whole part of a scene, from afar.
// Pictures have more pixels, and more may differ.
func NewFar(m *Mesh, materials []Material) *Reference {
	r := New(m, materials)
	r.least, r.allowed = farLeast, farAllowed
	return r
}

// SetLeast sets how many pixels the diagonal of the box has: at least, in pictures that are
// compared, 320 after New and 640 after NewFar, and in those of parts, 600. With fewer, more
// is taken to shrink in proportion, and small meshes take less time.
func (r *Reference) SetLeast(pixels float64) { r.least, r.parts, r.sides = pixels, pixels, nil }

// pixelFor returns the size of the pixels that a mesh of n triangles is drawn
// with.
func (r *Reference) pixelFor(triangles int) float64 {
	size := r.box.Size()
	diagonal := size.Len()
	side := r.spacing * math.Sqrt(float64(len(r.model.Indices)/3)/float64(max(triangles, 1)))
	pixel := min(side/perSide, diagonal/r.least)
	return max(pixel, diagonal/mostSide, 1e-9)
}

// look draws the reference with pixels of a size, from all sides. Small meshes
// are compared at the same size whatever their levels keep, so it is often done
// already.
func (r *Reference) look(size float64) {
	if r.sides != nil && size == r.pixel {
		return
	}
	r.sides, r.pixel = make([]side, len(directions)), size
	for i, d := range directions {
		v := &r.sides[i]
		v.view = newView(d, r.box, size)
		p := r.canvas.draw(&v.view, r.model)
		for k := range v.steps {
			p = p.half(make([]pixel, p.w*p.h/4))
			v.steps[k] = p
		}
	}
}

// lightSum is light over pixels.
type lightSum struct {
	channels [3]int64
	coverage int64
}

func (l *lightSum) add(p picture) {
	for _, q := range p.pix {
		for k := range l.channels {
			l.channels[k] += int64(q.channel(k))
		}
		l.coverage += int64(q.coverage())
	}
}

// apart returns how far two mean colours are apart, 0 to 255.
func (l *lightSum) apart(o *lightSum) float64 {
	if l.coverage == 0 || o.coverage == 0 {
		return 0
	}
	worst := 0.0
	for k := range l.channels {
		a, b := math.Sqrt(float64(l.channels[k])/float64(l.coverage)), math.Sqrt(float64(o.channels[k])/float64(o.coverage))
		worst = max(worst, 255*math.Abs(a-b))
	}
	return worst
}

// Error returns the size in metres of what a viewer sees of the difference: at
// a distance where it covers two pixels of the screen the pictures of both
// meshes agree. It is 0 for meshes that look the same, and at most the diagonal
// of the reference's box. Small meshes are drawn with pixels of 1/leastSide of the
// diagonal, and looked at from twice that on: what is seen below is taken to shrink
// in proportion, where the pictures agree so far.
func (r *Reference) Error(m *Mesh) float64 {
	size, _ := r.Compare(m)
	return size
}

// Compare is Error with the drift: how far the mean colours of what a viewer sees of
// both are apart, the greatest difference of red, green and blue as they are
// perceived, 0 to 255. It does not shrink with the distance. A mesh that is not seen
// at all has none.
func (r *Reference) Compare(m *Mesh) (size, drift float64) {
	if r.box.IsEmpty() {
		return 0, 0
	}
	box := r.box.Size()
	diagonal := box.Len()
	if len(m.Indices) == 0 {
		return diagonal, 0
	}
	pixel := r.pixelFor(len(m.Indices) / 3)
	r.look(pixel)
	level := newModel(m, r.model.paints)
	// sum[k] and worst[k] are of pixels of 2^k times the size, over all views.
	var sum, worst [tileShift + 1]float64
	var full, left lightSum
	for i := range r.sides {
		v := &r.sides[i]
		p := r.canvas.draw(&v.view, level)
		for k, reference := range v.steps {
			p = p.half(p.pix)
			s := strain(reference, p)
			sum[k+1] += s
			worst[k+1] = max(worst[k+1], s)
		}
		// The largest pixels have the same light as the others, and there are few.
		full.add(v.steps[tileShift-1])
		left.add(p)
	}
	drift = full.apart(&left)
	// A single side may be half as bad again as is allowed on the average.
	last, lastPixel := 0.0, 0.0
	for k := 1; k < len(sum); k++ {
		s := max(sum[k]/float64(len(directions)), worst[k]/1.5) / r.allowed
		p := float64(pixel * float64(int(1)<<k))
		if s <= 1 {
			if k == 1 {
				return min(2*float64(p*s), diagonal), drift
			}
			// Between two sizes the strain falls evenly.
			return min(2*(lastPixel+float64((p-lastPixel)*((last-1)/(last-s)))), diagonal), drift
		}
		last, lastPixel = s, p
	}
	// Beyond the largest pixel the strain is taken to fall with its size.
	return min(2*float64(lastPixel*last), diagonal), drift
}
