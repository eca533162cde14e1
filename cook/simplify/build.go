package simplify

import (
	"math"

	"github.com/untoldkit/untold/internal/geom"
)

// Simplifier holds a mesh that is being reduced. It reads the source mesh
// until the end, which must not change meanwhile. Methods must not be called
// at the same time.
type Simplifier struct {
	in     *Mesh
	opt    Options
	centre geom.Vec3 // of the source's box; positions are stored relative to it
	diag   float64   // of the source's box, metres
	edge0  float64   // typical edge of the source, metres

	nodes []node
	geo   []quad // per place: squared distance from the source's planes, times area

	// Per wedge.
	k      int       // attributes
	stride int       // 1 + 3k
	wq     []float32 // stride numbers each, see attribute.go
	gain   float64   // what squares of attributes in wq are to be multiplied with
	wv     []uint32  // place; of a merged wedge the wedge that took over, marked by gone
	wedges wedges

	// Per corner; three per triangle.
	cw       []uint32 // wedge, none when the triangle is gone
	next     []uint32 // next corner at the same place, in a ring
	cost     []uint16 // of the edge to the next corner of the triangle, see key
	least    []uint16 // lower bounds of blocks of cost
	unpriced bool     // some edges have no price

	scale     []float32 // per attribute: internal unit per unit
	triangles int       // left
	stats     stats
	crease    creases
	scratch   scratch
	parts     []part
	given     []part   // parts, if they are those of the options
	partOf    []uint32 // per place; nil if no component may go
	fixed     []uint32 // per place: if it is locked, a vertex of the source there; nil if none is
	exhausted bool     // no rule allowed anything more
	held      bool     // an edge between locked places stood in the way
	barLimit  float64  // the error limit of barred edges
	scaled    int      // triangles at which attributes were weighted last
}

// node is a place, the position that some wedges share. It fills a cache line.
type node struct {
	pos   [3]float32 // relative to the centre
	sum   quad       // geo plus the quadric of attributes, see attribute.go
	wedge uint32     // its wedge, where flagMulti is not set
	first uint32     // some corner, none when the place is gone
	flags uint32
}

// gone marks entries of wv that name a wedge.
const gone = 1 << 31

// Flags of places.
const (
	flagLocked = 1 << iota // must not move or vanish
	flagBorder             // on an open edge
	flagMulti              // may have more than one wedge
	flagMoved              // not at its source position any more

	// In New only.
	flagSeen    // comes up a second time
	flagSuspect // something may have to be held there, see tally.go
	flagDoubt   // two edges may lead to the same place
)

// flagTriangle is the unit of the number of triangles at a place, which New keeps
// in its flags, above all of these.
const flagTriangle = 1 << spokeShift

// stats are what a Result reports beside counts.
type stats struct {
	maxCost float64 // greatest geometric estimate of a collapse, metres
	pruned  int
	least   float64 // lower bound of the error: the diagonal of pruned components and cells
	relaxed bool
	fitted  int     // triangles, at first and when the mesh was fitted last
	worst   float64 // measured then
	rms     float64
	sloppy  bool
}

// New prepares a mesh. The cost is linear in its size. It fails on lengths
// that do not fit, on indices out of range and on positions that are not
// finite, with an error that wraps ErrMesh. Triangles with two corners at one
// place are dropped. Attributes that are not finite count as 0.
func New(m *Mesh, o Options) (*Simplifier, error) {
	s, crowds, err := prepare(m, o)
	if err != nil {
		return nil, err
	}
	s.constrain(crowds)
	s.findParts()
	return s, nil
}

// prepare is New up to what holds lines in place. It reports whether there may be
// crowded places.
func prepare(m *Mesh, o Options) (s *Simplifier, crowds bool, err error) {
	box, err := check(m, &o)
	if err != nil {
		return nil, false, err
	}
	m = m.withoutEmpty()
	o.Locked = nilIfEmpty(o.Locked)
	s = &Simplifier{in: m, opt: o}
	s.cw = make([]uint32, len(m.Indices))
	s.next = make([]uint32, len(m.Indices))
	place, firsts := weldPositions(m.Positions, s.next)
	welds := s.welds
	if o.Seams != SeamsWeld {
		welds = nil
	}
	s.wedges = weldWedges(m, place, firsts, welds, s.cw, s.next)
	s.wv = s.wedges.place
	s.wedges.place = nil
	s.placeVertices(m, firsts, box)
	s.keepVertices(firsts)
	area := s.tallyAll()
	crowds = s.suspect()
	if crowds {
		area -= s.dropDuplicates()
		s.suspectCrowds()
	}
	s.stats.fitted = s.triangles
	s.measure(area)
	s.buildQuadrics()
	s.lock()
	return s, crowds, nil
}

// withoutEmpty returns a mesh whose empty attributes are nil.
func (m *Mesh) withoutEmpty() *Mesh {
	c := *m
	c.Normals, c.Colors, c.Groups = nilIfEmpty(m.Normals), nilIfEmpty(m.Colors), nilIfEmpty(m.Groups)
	for i, uv := range m.UV {
		c.UV[i] = nilIfEmpty(uv)
	}
	return &c
}

func nilIfEmpty[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}

// welds reports whether a vertex shares its normal with others at its place.
func (s *Simplifier) welds(v uint32) bool {
	return s.opt.Seams == SeamsWeld && (s.opt.Locked == nil || !s.opt.Locked[v])
}

// placeVertices fills the positions.
func (s *Simplifier) placeVertices(m *Mesh, firsts []uint32, box geom.Box) {
	s.centre = box.Center()
	s.diag = box.Size().Len()
	if firsts == nil {
		s.nodes = make([]node, len(m.Positions))
		for i := range m.Positions {
			s.nodes[i].init(&m.Positions[i], s.centre)
		}
		return
	}
	s.nodes = make([]node, len(firsts))
	for i, v := range firsts {
		s.nodes[i].init(&m.Positions[v], s.centre)
	}
}

// keepVertices keeps a vertex of each place, if places may be locked.
func (s *Simplifier) keepVertices(firsts []uint32) {
	if s.opt.Locked == nil && !s.opt.LockBorder {
		return
	}
	if s.fixed = firsts; firsts == nil {
		s.fixed = make([]uint32, len(s.nodes))
		for i := range s.fixed {
			s.fixed[i] = uint32(i)
		}
	}
}

func (n *node) init(p *geom.Vec3, centre geom.Vec3) {
	n.pos = [3]float32{float32(p[0] - centre[0]), float32(p[1] - centre[1]), float32(p[2] - centre[2])}
}

// append makes a corner the last of a place's ring.
func (n *node) append(c, w uint32, next []uint32) {
	last := n.first
	n.first = c
	if last == none {
		n.wedge = w
		next[c] = c
		return
	}
	next[c] = next[last]
	next[last] = c
}

// link strings the corners of each place into a ring, in their order.
func (s *Simplifier) link() {
	for c := len(s.cw) - 1; c >= 0; c-- {
		w := s.cw[c]
		if w == none {
			continue
		}
		// Insert before the head's successor: the head stays the last one.
		v := &s.nodes[s.wv[w]]
		v.wedge = w
		if h := v.first; h == none {
			v.first = uint32(c)
			s.next[c] = uint32(c)
		} else {
			s.next[c] = s.next[h]
			s.next[h] = uint32(c)
		}
	}
}

// crowd is how many triangles at one place make copies of parts there likely.
const crowd = 60

// dropDuplicates kills triangles that have the same wedges in the same sense as
// an earlier one: they cover each other exactly, and collapses that must keep
// them apart would be stuck. It returns twice their area.
func (s *Simplifier) dropDuplicates() (area float64) {
	turned := func(c uint32) [3]uint32 { return turn(s.cw[c], s.cw[c+1], s.cw[c+2]) }
	t := newTable(s.triangles)
	dropped := false
	for c := uint32(0); int(c) < len(s.cw); c += 3 {
		if s.cw[c] != none && t.has(c, turned) {
			area += doubleArea(&s.nodes[s.at(c)].pos, &s.nodes[s.at(c+1)].pos, &s.nodes[s.at(c+2)].pos)
			s.drop(c)
			s.triangles--
			dropped = true
		}
	}
	if dropped {
		s.suspectAll() // what was counted is no longer so
	}
	return area
}

// corners returns the other two corners of a corner's triangle, in order.
func corners(c uint32) (n1, n2 uint32) {
	k := c % 3
	return c + toNext[k], c + toLast[k]
}

// Tables, as branches on a corner's number would be mispredicted.
var (
	toNext = [3]uint32{1, 1, 1<<32 - 2}
	toLast = [3]uint32{2, 1<<32 - 1, 1<<32 - 1}
)

// point returns a place's position relative to the centre.
func (s *Simplifier) point(v uint32) vec { return fromF32(&s.nodes[v].pos) }

// measure finds the typical edge and the attributes' scales from twice the area.
func (s *Simplifier) measure(area float64) {
	if s.triangles > 0 {
		s.edge0 = math.Sqrt(area / float64(s.triangles))
	}
	var areaUV [2]float64
	for i, uv := range s.in.UV {
		if uv != nil {
			areaUV[i] = s.totalUV(uv)
		}
	}
	s.setScales(area, areaUV)
}

// doubleArea returns twice the area of a triangle. Single precision does for the
// normal, as that only goes into sums and means; its square may be very small.
func doubleArea(a, b, c *[3]float32) float64 {
	return math.Sqrt(edge(a, b).cross(edge(a, c)).double().length2())
}

// edge returns b - a.
func edge(a, b *[3]float32) vec32 { return vec32{b[0] - a[0], b[1] - a[1], b[2] - a[2]} }

// totalUV returns twice the area of all triangles in texture space, without
// those that are not finite.
func (s *Simplifier) totalUV(uv [][2]float32) float64 {
	sum := 0.0
	cw, indices := s.cw, s.in.Indices[:len(s.cw)]
	for c := 0; c < len(cw)-2; c += 3 {
		if cw[c] == none {
			continue
		}
		p, q, r := &uv[indices[c]], &uv[indices[c+1]], &uv[indices[c+2]]
		x1, y1, x2, y2 := q[0]-p[0], q[1]-p[1], r[0]-p[0], r[1]-p[1]
		if area := float64(float32(x1*y2) - float32(x2*y1)); area-area == 0 {
			sum += math.Abs(area)
		}
	}
	return sum
}

// lock marks the places that must stay.
func (s *Simplifier) lock() {
	for i, l := range s.opt.Locked {
		if !l {
			continue
		}
		w := uint32(i)
		if s.wedges.of != nil {
			w = s.wedges.of[i]
		}
		if w != none { // some triangle uses it
			s.nodes[s.wv[w]].flags |= flagLocked
		}
	}
}
