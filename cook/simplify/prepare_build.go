package simplify

import (
	"math"

	"github.com/untoldkit/untold/internal/geom"
)

// Simplifier holds a mesh that is being reduced. It reads the source mesh
// until the end, which must not change meanwhile. Methods must not be called
// at the same time.
//
// It conducts five parts, each with state of its own: what is left of the mesh,
// the metric of attributes, the queue of edges, the components that may vanish,
// and the neighbourhood of the edge at hand.
type Simplifier struct {
	surface
	metric
	edgeQueue
	components
	scratch scratch

	opt       Options
	diag      float64 // of the source's box, metres
	edge0     float64 // typical edge of the source, metres
	stats     stats
	crease    creases
	fixed     []uint32 // per vertex: if it is locked, a vertex of the source there; nil if none is
	exhausted bool     // no rule allowed anything more
	held      bool     // an edge between locked vertices stood in the way
	scaled    int      // triangles at which attributes were weighted last
}

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
// vertex are dropped. Attributes that are not finite count as 0.
func New(m *Mesh, o Options) (*Simplifier, error) {
	s, anyHighValence, err := prepare(m, o)
	if err != nil {
		return nil, err
	}
	s.constrain(anyHighValence)
	s.findParts()
	return s, nil
}

// prepare is New up to what holds lines in place. It reports whether there may be
// vertices of high valence.
func prepare(m *Mesh, o Options) (s *Simplifier, anyHighValence bool, err error) {
	box, err := check(m, &o)
	if err != nil {
		return nil, false, err
	}
	m = m.withoutEmpty()
	o.Locked = nilIfEmpty(o.Locked)
	s = &Simplifier{surface: surface{in: m}, opt: o}
	s.cornerWedge = make([]uint32, len(m.Indices))
	s.next = make([]uint32, len(m.Indices))
	vertex, firsts := weldPositions(m.Positions, s.next)
	welds := s.welds
	if o.Seams != SeamsWeld {
		welds = nil
	}
	s.wedges = weldWedges(m, vertex, firsts, welds, s.cornerWedge, s.next)
	s.wedgeVertex = s.wedges.vertex
	s.wedges.vertex = nil
	s.placeVertices(m, firsts, box)
	s.keepVertices(firsts)
	area := s.tallyAll()
	anyHighValence = s.suspect()
	if anyHighValence {
		area -= s.dropDuplicates()
		s.suspectHighValence()
	}
	s.stats.fitted = s.triangles
	s.measure(area)
	s.buildQuadrics()
	s.lock()
	return s, anyHighValence, nil
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

// welds reports whether a source vertex shares its normal with others at its position.
func (s *Simplifier) welds(v uint32) bool {
	return s.opt.Seams == SeamsWeld && (s.opt.Locked == nil || !s.opt.Locked[v])
}

// placeVertices fills the positions.
func (s *Simplifier) placeVertices(m *Mesh, firsts []uint32, box geom.Box) {
	s.centre = box.Center()
	s.diag = box.Size().Len()
	if firsts == nil {
		s.vertices = make([]vertex, len(m.Positions))
		for i := range m.Positions {
			s.vertices[i].init(&m.Positions[i], s.centre)
		}
		return
	}
	s.vertices = make([]vertex, len(firsts))
	for i, v := range firsts {
		s.vertices[i].init(&m.Positions[v], s.centre)
	}
}

// keepVertices keeps a source vertex of each vertex, if vertices may be locked.
func (s *Simplifier) keepVertices(firsts []uint32) {
	if s.opt.Locked == nil && !s.opt.LockBorder {
		return
	}
	if s.fixed = firsts; firsts == nil {
		s.fixed = make([]uint32, len(s.vertices))
		for i := range s.fixed {
			s.fixed[i] = uint32(i)
		}
	}
}

func (n *vertex) init(p *geom.Vec3, centre geom.Vec3) {
	n.pos = [3]float32{float32(p[0] - centre[0]), float32(p[1] - centre[1]), float32(p[2] - centre[2])}
}

// copiesValence is how many triangles at one vertex make copies of parts there likely.
const copiesValence = 60

// dropDuplicates kills triangles that have the same wedges in the same sense as
// an earlier one: they cover each other exactly, and collapses that must keep
// them apart would be stuck. It returns twice their area.
func (s *Simplifier) dropDuplicates() (area float64) {
	turned := func(c uint32) [3]uint32 { return turn(s.cornerWedge[c], s.cornerWedge[c+1], s.cornerWedge[c+2]) }
	t := newTable(s.triangles)
	dropped := false
	for c := uint32(0); int(c) < len(s.cornerWedge); c += 3 {
		if s.cornerWedge[c] != none && t.insert(c, turned) {
			area += doubleArea(&s.vertices[s.at(c)].pos, &s.vertices[s.at(c+1)].pos, &s.vertices[s.at(c+2)].pos)
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
func (s *surface) totalUV(uv [][2]float32) float64 {
	sum := 0.0
	cornerWedge, indices := s.cornerWedge, s.in.Indices[:len(s.cornerWedge)]
	for c := 0; c < len(cornerWedge)-2; c += 3 {
		if cornerWedge[c] == none {
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

// lock marks the vertices that must stay.
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
			s.vertices[s.wedgeVertex[w]].flags |= flagLocked
		}
	}
}
