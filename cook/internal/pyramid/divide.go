package pyramid

import (
	"math"

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
	coarse *simplify.Mesh // of what is not loose

	in     *simplify.Mesh // what was simplified: some triangles of the source
	locked []bool         // by vertex
	left   []int32        // by triangle of coarse: which triangle of in it was
	whole  *measure.Index // of the source
}

// divide does it. What turns out to vanish gets cards as well, and the rest is
// simplified once more.
func (d *division) divide() error {
	if d.s.cards != nil || d.s.fresh != nil {
		d.things = d.s.findThings(d.o.Triangles)
	}
	d.stand()
	if err := d.reduce(); err != nil {
		return err
	}
	if !d.findThin() {
		return nil
	}
	d.stand()
	loose := make([]bool, len(d.s.Surface.Positions))
	for t, is := range d.loose {
		for _, v := range d.s.Surface.Indices[3*t : 3*t+3] {
			loose[v] = loose[v] || is
		}
	}
	border.Keep(d.in, func(t int) bool { return !loose[d.in.Indices[3*t]] })
	return d.simplify()
}

// stand makes the cards of what is loose.
func (d *division) stand() {
	d.stood, d.loose = &stood{}, nil
	if l := d.s.findLoose(d.things, d.o.Triangles); l != nil {
		d.stood, d.loose = l.stand(d.s), l.is
	}
}

// reduce simplifies what is not loose.
func (d *division) reduce() error {
	d.prepare(true)
	if err := d.simplify(); err != nil || d.o.Cell == nil || d.coarse.Triangles() <= d.triangles() {
		return err
	}
	// What may not move at the border is too much: a gap is better than no end.
	d.prepare(false)
	return d.simplify()
}

// triangles is how many cards leave over.
func (d *division) triangles() int {
	if d.loose == nil {
		return d.o.Triangles
	}
	return max(1, d.o.Triangles-d.stood.mesh.Triangles())
}

// prepare takes what is not loose and not flush, with a border that neighbours find the
// same if that is wanted. Vertices keep their normals only: all else is baked.
func (d *division) prepare(bordered bool) {
	f := &d.s.Surface
	d.in, d.locked = &simplify.Mesh{Positions: f.Positions, Normals: f.Normals, Indices: f.Indices, Groups: d.s.Groups}, nil
	if d.loose != nil {
		if border.Keep(d.in, func(t int) bool { return !d.loose[t] }); len(d.in.Indices) == 0 {
			return
		}
	}
	if bordered && d.o.Cell != nil {
		d.in.Positions, d.locked = border.Settle(d.in.Positions, d.in.Indices, d.o.Cell, d.o.Tolerance)
		border.DropFlat(d.in)
	}
	if d.o.Flush > 0 {
		dropFlush(d.in, d.locked, d.o.Flush)
	}
}

// simplify makes the coarse mesh.
func (d *division) simplify() error {
	if d.loose != nil && len(d.in.Indices) == 0 {
		d.coarse, d.left = &simplify.Mesh{}, nil
		return nil
	}
	z, err := simplify.New(d.in, simplify.Options{Seams: simplify.SeamsWeld, Sloppy: true, PruneBelow: math.Inf(1), Locked: d.locked})
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
