package pyramid

import (
	"math"
	"slices"

	"github.com/untoldkit/untold/cook/internal/border"
	"github.com/untoldkit/untold/cook/measure"
	"github.com/untoldkit/untold/cook/simplify"
)

// division divides a source into what cards stand for and what is simplified.
type division struct {
	s *Source
	o Options

	things []thing
	stood  *stood
	loose  []bool         // by triangle of the source; nil: none is
	spread float64        // of the cards, as loose.spread
	coarse *simplify.Mesh // of what is not loose

	ready  *prepared
	gaps   bool           // it is prepared without its border
	locked []bool         // by vertex
	costs  []float64      // by piece
	in     *simplify.Mesh // what was simplified: some triangles of the source
	parts  []int32        // by triangle of it: the piece that it is of
	apart  []bool         // by vertex: it is of what is loose; nil: none is
	left   []int32        // by triangle of coarse: which triangle of in it was
	whole  *measure.Index // of the source
}

// prepared is what may be simplified: some triangles of the source.
type prepared struct {
	mesh  simplify.Mesh
	parts []int32 // by triangle: the piece that it is of
	index *measure.Index
}

// indexed returns the index of all of it, which is made once for all that is tried.
func (p *prepared) indexed() *measure.Index {
	if p.index == nil {
		p.index = measure.NewIndex(&measure.Surface{Positions: p.mesh.Positions, Indices: p.mesh.Indices})
	}
	return p.index
}

const (
	// cardsShareLeast is the least share of their triangles that cards are tried with.
	cardsShareLeast = 1.0 / 8
	// spreadWeight is what the spread of cards counts beside how far the rest is off: cards
	// show things in their places, but for how near they are. Farther up that is less, and
	// houses vanish.
	spreadWeight   = 0.02
	spreadWeightUp = 0.002
	offSamples     = 5000 // of either surface
)

// divide does it. What turns out to vanish gets cards as well, and the rest is
// simplified once more.
func (d *division) divide() error {
	if d.s.cards != nil || d.s.fresh != nil {
		d.things = d.s.findThings(d.o.Triangles)
	}
	d.prepare(true)
	if err := d.share(); err != nil {
		return err
	}
	if d.findThin() {
		if err := d.share(); err != nil {
			return err
		}
	}
	d.stood.light(d.s)
	return nil
}

// share gives cards so many of the model's triangles that all of it is least far off, with
// its border if that can be, and simplifies the rest. Half as many are tried as long as that
// gains.
func (d *division) share() error {
	var best *division
	least := math.Inf(1)
	for share := 1.0; share >= cardsShareLeast; share /= 2 {
		try := *d
		try.stand(share)
		// Fewer cards are farther from what they show: that alone is often too much.
		if best != nil && !best.gaps && try.apartBy() >= least {
			break
		}
		if err := try.reduce(); err != nil {
			return err
		}
		if try.loose == nil {
			*d = try
			return nil
		}
		off := try.off()
		if best != nil && !(best.gaps && !try.gaps || best.gaps == try.gaps && off < least) {
			break
		}
		best, least = &try, off
	}
	*d = *best
	return nil
}

// off returns the square of how far the model is from what it stands for, over the area of
// that.
func (d *division) off() float64 {
	off, in := 0.0, d.ready.indexed().Part(d.taken)
	if area := in.Area(); area > 0 {
		coarse := measure.NewIndex(&measure.Surface{Positions: d.coarse.Positions, Indices: d.coarse.Indices})
		off = float64(area * measure.Spread(in, coarse, offSamples))
	}
	return off + d.apartBy()
}

// apartBy is the part of off that the cards have.
func (d *division) apartBy() float64 {
	weight := spreadWeight
	if d.s.fresh == nil {
		weight = spreadWeightUp
	}
	return float64(weight * d.spread)
}

// stand makes the cards of what is loose, of a share of the triangles that they may have.
func (d *division) stand(share float64) {
	d.stood, d.loose, d.spread = &stood{}, nil, 0
	if l := d.s.findLoose(d.things, d.o.Triangles, share); l != nil {
		d.stood, d.loose, d.spread = l.stand(d.s), l.is, l.spread
	}
}

// reduce simplifies what is not loose.
func (d *division) reduce() error {
	d.take()
	if err := d.simplify(); err != nil || d.o.Cell == nil || d.gaps || d.coarse.Triangles() <= d.triangles() {
		return err
	}
	// What may not move at the border is too much: a gap is better than no end.
	d.prepare(false)
	d.gaps = true
	d.take()
	return d.simplify()
}

// take takes of what was prepared what is not loose.
func (d *division) take() {
	in := d.ready.mesh
	d.in, d.parts, d.apart = &in, d.ready.parts, nil
	if d.loose == nil {
		return
	}
	d.apart = make([]bool, len(in.Positions)) // no vertex is shared with what is not
	for t, is := range d.loose {
		for _, v := range d.s.Surface.Indices[3*t : 3*t+3] {
			d.apart[v] = d.apart[v] || is
		}
	}
	d.parts = nil
	border.Keep(d.in, func(t int) bool {
		stays := d.taken(t)
		if stays && d.ready.parts != nil {
			d.parts = append(d.parts, d.ready.parts[t])
		}
		return stays
	})
}

// taken reports whether a triangle of what was prepared is simplified.
func (d *division) taken(t int) bool {
	return d.apart == nil || !d.apart[d.ready.mesh.Indices[3*t]]
}

// triangles is how many cards leave over.
func (d *division) triangles() int {
	if d.loose == nil {
		return d.o.Triangles
	}
	return max(1, d.o.Triangles-d.stood.mesh.Triangles())
}

// prepare takes what is neither loose by itself nor flush, with a border that neighbours find
// the same if that is wanted. Vertices keep their normals only: all else is baked.
func (d *division) prepare(bordered bool) {
	f := &d.s.Surface
	m := &simplify.Mesh{Positions: f.Positions, Normals: f.Normals, Indices: f.Indices, Groups: d.s.Groups}
	d.ready, d.locked = &prepared{}, nil
	if slices.ContainsFunc(d.things, func(t thing) bool { return t.loose }) {
		loose := make([]bool, m.Triangles())
		for i := range d.things {
			for _, t := range d.things[i].triangles {
				loose[t] = d.things[i].loose
			}
		}
		border.Keep(m, func(t int) bool { return !loose[t] })
	}
	if bordered && d.o.Cell != nil && len(m.Indices) > 0 {
		m.Positions, d.locked = border.Settle(m.Positions, m.Indices, d.o.Cell, d.o.Tolerance, d.o.CutLeast)
		border.DropFlat(m)
	}
	if d.o.Flush > 0 && len(m.Indices) > 0 {
		d.ready.parts, d.costs = dropFlush(m, d.locked, d.o.Flush)
	}
	d.ready.mesh = *m
}

// simplify makes the coarse mesh.
func (d *division) simplify() error {
	if d.loose != nil && len(d.in.Indices) == 0 {
		d.coarse, d.left = &simplify.Mesh{}, nil
		return nil
	}
	z, err := simplify.New(d.in, simplify.Options{Seams: simplify.SeamsWeld, Sloppy: true, PruneBelow: math.Inf(1), Locked: d.locked, Parts: d.parts, PartCosts: d.costs, PartWhole: make([]bool, len(d.costs))})
	if err != nil {
		return err
	}
	z.Reduce(d.triangles(), 0)
	d.coarse, d.left = z.Mesh(), z.Left()
	return nil
}

// index returns the index of the whole source.
func (d *division) index() *measure.Index {
	if d.whole == nil {
		d.whole = measure.NewIndex(&measure.Surface{Positions: d.s.Surface.Positions, Indices: d.s.Surface.Indices})
	}
	return d.whole
}
