package cook

import (
	"github.com/untoldkit/untold/cook/appearance"
	"github.com/untoldkit/untold/cook/internal/border"
	"github.com/untoldkit/untold/cook/measure"
	"github.com/untoldkit/untold/cook/palette"
	"github.com/untoldkit/untold/cook/simplify"
	"github.com/untoldkit/untold/internal/geom"
)

// levelChain makes the levels of one tile, each out of a finer one where that
// does.
type levelChain struct {
	opts   *Options
	src    *levelSource
	cell   *geom.Box            // nil where geometry is not cut
	places map[geom.Vec3]bool   // on the border, all of which stay; with Compat
	border *border.Border       // nil where nothing was cut, and with Compat
	edge   *border.Level        // of the level that is made; nil without border
	full   *measure.Index       // of the full geometry, made when it is needed
	lods   *simplify.Simplifier // stands at the coarsest LOD
	edges  *border.Level        // of the coarsest LOD
	base   *simplify.Mesh       // the coarsest LOD, or the full geometry
	err    float64              // of the coarsest level so far, metres
	seen   float64              // the same of what is seen

	// look makes the reference, when a level is made; nil: what is seen does not
	// count.
	look      func() (*appearance.Reference, error)
	reference *appearance.Reference
	// palettes finds those of the full geometry; nil: they do not count.
	palettes func() (*palette.Palettes, error)
	palette  *palette.Palettes // nil if there are none
	foliage  *foliage          // nil if there is none
	faces    bool              // much of the full geometry is flat faces
	divided  bool              // faces is known
	priced   []pricedMesh      // the last ones that were divided
}

// newLevelChain begins at the full geometry. Labels tell the materials of its groups
// apart, the same ones in all tiles. Cell is nil where nothing was cut.
func newLevelChain(o *Options, src *levelSource, cell *border.Cell, labels []int32) *levelChain {
	x := &levelChain{opts: o, src: src, base: src.mesh()}
	if cell == nil {
		return x
	}
	if x.cell = &cell.Box; o.Compat {
		x.places = src.borderPlaces(x.cell)
	} else {
		x.border = border.Find(x.base, labels, cell)
	}
	return x
}

// reduced is a level before it is written.
type reduced struct {
	simplify.Result
	mesh *simplify.Mesh // nil if there are too many or too few triangles
	gaps int            // triangles that close those at the border
	err  float64        // greatest distance between it and the full geometry, metres; 0 until it is measured
	from *simplify.Simplifier

	judged bool    // what follows is known
	seen   float64 // what is seen of the difference, metres
	drift  float64 // of the mean colour, of 255
}

// all is how many triangles a level has with what closes gaps.
func (r *reduced) all() int { return r.Triangles + r.gaps }

// A level keeps the mean colour: a drift does not shrink with the distance. One
// that goes too far, as where the last triangles of a road leave grass behind, gets
// more triangles.
const (
	mostDrift     = 4.0 // of 255
	driftAttempts = 4
	driftMore     = 1.5 // times the triangles of the attempt before
)

// reduce makes a level of so many triangles, or more where it would lose the mean
// colour. Pays says whether a result is worth a look at it. One that is off after
// all attempts is returned as it is.
func (x *levelChain) reduce(l *level, target int, pays func(triangles int) bool) (*reduced, error) {
	if x.border != nil {
		x.edge = x.border.At(l.ratio, l.hlod)
	}
	for attempt := 0; ; attempt++ {
		// The simplifier of the finer LOD has gone too far already.
		anew := attempt > 0 && !l.hlod && x.lods != nil
		r, err := x.reduceTo(l, target, anew, pays)
		if err != nil || r.mesh == nil || !pays(r.all()) || !x.keepsColor() {
			return r, err
		}
		if err := x.judge(r); err != nil {
			return nil, err
		}
		more := int(driftMore * float64(max(target, r.all())))
		if r.drift <= mostDrift || attempt == driftAttempts-1 || !pays(more) {
			return r, nil
		}
		target = more
	}
}

// keepsColor reports whether levels must keep the mean colour: where the cook
// decides itself where they begin.
func (x *levelChain) keepsColor() bool { return x.look != nil && x.opts.FitDistances }

// judge looks at a level.
func (x *levelChain) judge(r *reduced) error {
	if r.judged {
		return nil
	}
	if err := x.refer(); err != nil {
		return err
	}
	r.seen, r.drift = x.reference.Compare(seenMesh(r.mesh))
	r.judged = true
	return nil
}

// The attempts at a level that must keep to an error. The first goes on from a
// finer level; its errors may add up to too much, and the simplifier's limit is
// one of an estimate. The others begin at the full geometry with a tighter
// limit.
const (
	levelAttempts = 4
	tighter       = 0.8 // times what would have done
	tightest      = 0.6 // of the last attempt's limit, at most

	fewGaps = 64 // times as many triangles as close gaps are more than enough
)

// reduceTo goes to a number of triangles, or to as many as the error limit
// allows. Pays says whether a result is worth a look at its error. One that is
// over the limit after all attempts is returned as it is. Anew begins at the full
// geometry at once.
func (x *levelChain) reduceTo(l *level, target int, anew bool, pays func(triangles int) bool) (*reduced, error) {
	limit := x.opts.maxError(l)
	allowed := limit
	for attempt := 0; ; attempt++ {
		s, err := x.start(l, anew || attempt > 0)
		if err != nil {
			return nil, err
		}
		out := x.shape(s, target, allowed, pays)
		if out.mesh != nil && x.edge != nil {
			gaps, err := x.gapsOf(l, out)
			if err != nil {
				return nil, err
			}
			// What closes them is of the level's triangles, unless it is next to nothing: the
			// level need not be made, and looked at, once more.
			if gaps > target/fewGaps {
				out = x.shape(s, max(target-gaps, target/2, 1), allowed, func(triangles int) bool { return pays(triangles + gaps) })
			}
			out.gaps = gaps
		}
		if out.mesh == nil || !pays(out.all()) {
			return out, nil
		}
		if x.opts.limitsErrors() {
			out.err = x.distance(out.mesh)
		}
		if !x.opts.tooCoarse(out.err, l.distance) || attempt == levelAttempts-1 {
			return out, nil
		}
		allowed *= min(tightest, tighter*limit/out.err)
	}
}

// shape takes a simplifier to a number of triangles. The result has a mesh if it pays.
func (x *levelChain) shape(s *simplify.Simplifier, target int, allowed float64, pays func(int) bool) *reduced {
	out := &reduced{Result: s.Reduce(target, allowed), from: s}
	if !pays(out.Triangles) {
		return out
	}
	out.mesh = x.restore(s.Mesh())
	if x.foliage != nil {
		x.foliage.grow(out.mesh, x.cell)
	}
	return out
}

// start returns a simplifier for an attempt.
func (x *levelChain) start(l *level, anew bool) (*simplify.Simplifier, error) {
	from := x.base
	switch {
	case anew:
		from = x.src.mesh()
	case !l.hlod && x.lods != nil && (x.edge == nil || x.edge.Same(x.edges)):
		return x.lods, nil
	}
	if x.edge != nil {
		from = x.edge.Settle(from)
	}
	prepared, err := x.prepare(from)
	if err != nil {
		return nil, err
	}
	o := x.opts.simplification(l, x.locked(prepared))
	if x.palette != nil {
		x.palette.Apply(&o)
	}
	// Elsewhere distances decide where a level begins.
	if x.look != nil && x.opts.FitDistances {
		if err := x.divide(from, &o); err != nil {
			return nil, err
		}
	}
	return simplify.New(prepared, o)
}

// prepare makes ready for the simplifier what has palettes.
func (x *levelChain) prepare(m *simplify.Mesh) (_ *simplify.Mesh, err error) {
	if x.palettes != nil {
		find := x.palettes
		x.palettes = nil
		if x.palette, err = find(); err != nil {
			return nil, err
		}
	}
	if x.palette == nil {
		return m, nil
	}
	return x.palette.Prepare(m), nil
}

// restore takes that back.
func (x *levelChain) restore(m *simplify.Mesh) *simplify.Mesh {
	if x.palette == nil {
		return m
	}
	return x.palette.Restore(m)
}

// refer makes the reference if there is none yet.
func (x *levelChain) refer() (err error) {
	if x.reference == nil {
		x.reference, err = x.look()
	}
	return err
}

// distance returns how far a level and the full geometry lie apart at most.
func (x *levelChain) distance(m *simplify.Mesh) float64 {
	index := func(m *simplify.Mesh) *measure.Index {
		return measure.NewIndex(&measure.Surface{Positions: m.Positions, Indices: m.Indices})
	}
	if x.full == nil {
		x.full = index(x.src.mesh())
	}
	return measure.Farthest(x.full, index(m))
}

// keep notes a level that is made; the next one goes on from there unless it is
// an HLOD, whose seams are closed. Of two levels the coarser never gets the
// smaller error: readers rely on it.
func (x *levelChain) keep(l *level, r *reduced) error {
	if !l.hlod {
		x.lods, x.base = r.from, r.mesh
		x.edges = x.edge
	}
	if x.faces { // what they show has changed
		x.lods, x.base = nil, r.mesh
	}
	// Where errors are limited it is known. A plan does not list it.
	if !x.opts.limitsErrors() && !x.opts.DryRun {
		r.err = x.distance(r.mesh)
	}
	if l.err = r.err; !x.opts.tooCoarse(x.err, l.distance) {
		l.err = max(r.err, x.err)
	}
	x.err = max(x.err, l.err)
	if x.look == nil {
		return nil
	}
	if err := x.judge(r); err != nil {
		return err
	}
	x.seen = max(x.seen, r.seen)
	l.seen = x.seen
	return nil
}
