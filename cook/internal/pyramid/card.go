package pyramid

import (
	"cmp"
	"math"
	"slices"

	"github.com/untoldkit/untold/cook/internal/bake"
	"github.com/untoldkit/untold/cook/simplify"
	"github.com/untoldkit/untold/internal/geom"
)

// Loose things that stand together are a clump, for which up to three cards stand: two
// upright ones across each other, each seen from both sides, and one that lies where the
// middle of the things is (Decoret and others, "Billboard Clouds for Extreme Model
// Simplification", 2003, with planes that are given).

const (
	clumpTriangles = 10
	// cardsMost is the part of a model's triangles that cards may have, cardsFor what they
	// have of it for the part of the ground that loose things cover.
	cardsMost  = 0.7
	cardsFor   = 1.6
	cardsLeast = 0.04
	// Clumps begin as squares of a part of the longer side of the source's box, larger by
	// steps until they are few enough to be joined.
	clumpLeast = 1.0 / 64
	clumpSteps = 1.15
	clumpMost  = 2000
	// thin is the part of a clump's longer side below which there is no card across it.
	thin = 0.12
	// sunny is how far cards are turned up: a crown has light from above on all sides.
	sunny = 0.7
	lift  = 0.4 // of bake.Thing
	// A trunk is so many times as high as wide, and wood has at most a part of the width of
	// a clump's leaves.
	trunkSlim = 1.5
	mastSlim  = 4.0 // among what is thin
	woodWide  = 0.5
)

// clump is what one set of cards stands for.
type clump struct {
	group  int32
	x, z   int
	things []int32
	box    geom.Box
	leaves geom.Box  // without wood
	centre geom.Vec3 // by area
	area   float64
	thin   bool // all of it is
}

// loose are the clumps of a source, and how many triangles cards have.
type loose struct {
	is     []bool // by triangle
	clumps []clump
	things []thing
	origin geom.Vec3 // where squares are counted from
	side   float64   // of a clump's square, metres
	// spread is the sum of the squared distances of all area from the middle of its clump,
	// beyond those within a square.
	spread float64
}

// findLoose finds what cards stand for among things, in clumps that are as small as their
// share of a number of triangles allows; nil where nothing is loose.
func (s *Source) findLoose(things []thing, triangles int, share float64) *loose {
	if !slices.ContainsFunc(things, func(t thing) bool { return t.loose }) {
		return nil
	}
	l := &loose{things: things}
	box := geom.EmptyBox()
	for i := range things {
		box = box.Extend(things[i].box.Min).Extend(things[i].box.Max)
	}
	size := box.Size()
	long := max(size[0], size[2])
	least := float64(clumpLeast * long)
	if !(least > 0) || math.IsInf(least, 0) {
		return nil
	}
	l.origin = box.Min
	covered := l.footprint(box, least) / max(float64(size[0]*size[2]), float64(least*least))
	if !(covered <= 1) { // beyond all measure
		covered = 1
	}
	solid := len(s.Surface.Indices) / 3
	for i := range things {
		if t := &things[i]; t.loose {
			solid -= len(t.triangles)
		}
	}
	budget := max(float64(triangles)*min(cardsMost, max(cardsLeast, float64(cardsFor*covered))), float64(triangles-solid))
	for l.side = least; ; l.side *= clumpSteps {
		if l.gather(); len(l.clumps) <= clumpMost || l.side > 2*long {
			break
		}
	}
	l.merge(int(float64(budget*share) / clumpTriangles))
	l.takeWood(s)
	l.is = make([]bool, len(s.Surface.Indices)/3)
	for _, c := range l.clumps {
		for _, i := range c.things {
			for _, t := range things[i].triangles {
				l.is[t] = true
			}
		}
	}
	return l
}

// footprint returns the area of the squares of the ground above which something is loose.
func (l *loose) footprint(box geom.Box, side float64) float64 {
	squares := map[[2]int]bool{}
	for i := range l.things {
		t := &l.things[i]
		if !t.loose {
			continue
		}
		var from, to [2]int
		for k, axis := range [2]int{0, 2} {
			from[k] = int((t.box.Min[axis] - box.Min[axis]) / side)
			to[k] = max(from[k], int(math.Ceil((t.box.Max[axis]-box.Min[axis])/side))-1)
		}
		for x := from[0]; x <= to[0]; x++ {
			for z := from[1]; z <= to[1]; z++ {
				squares[[2]int{x, z}] = true
			}
		}
	}
	return float64(len(squares)) * float64(side*side)
}

// at returns the square of a point.
func (l *loose) at(p geom.Vec3) (x, z int) {
	return int((p[0] - l.origin[0]) / l.side), int((p[2] - l.origin[2]) / l.side)
}

func (c *clump) order(o *clump) int {
	return cmp.Or(cmp.Compare(c.group, o.group), cmp.Compare(c.z, o.z), cmp.Compare(c.x, o.x), cmp.Compare(one(c.thin), one(o.thin)))
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

// gather makes the clumps of the loose things.
func (l *loose) gather() {
	index := map[[4]int]int{}
	l.clumps = l.clumps[:0]
	for i := range l.things {
		t := &l.things[i]
		if !t.loose {
			continue
		}
		x, z := l.at(t.centre)
		key := [4]int{int(t.group), x, z, one(t.thin)}
		k, ok := index[key]
		if !ok {
			k = len(l.clumps)
			index[key] = k
			l.clumps = append(l.clumps, clump{group: t.group, x: x, z: z, box: geom.EmptyBox(), thin: t.thin})
		}
		c := &l.clumps[k]
		c.things = append(c.things, int32(i))
		c.box = c.box.Extend(t.box.Min).Extend(t.box.Max)
		c.centre = c.centre.Add(t.centre.Scale(t.area))
		c.area += t.area
	}
	for i := range l.clumps {
		c := &l.clumps[i]
		c.centre = c.centre.Scale(1 / c.area)
		c.leaves = c.box
	}
	slices.SortFunc(l.clumps, func(a, b clump) int { return a.order(&b) })
}

// apart returns the squared distance of two points along the ground.
func apart(a, b geom.Vec3) float64 {
	x, z := a[0]-b[0], a[2]-b[2]
	return float64(x*x) + float64(z*z)
}

// cost is by how much the squared distances of all area from the middle of its clump grow
// when two clumps become one (Ward, "Hierarchical Grouping to Optimize an Objective
// Function", 1963). Those of different groups stay apart, and leaves from what is thin.
func (c *clump) cost(o *clump) float64 {
	if c.group != o.group || c.thin != o.thin {
		return math.Inf(1)
	}
	return float64(c.area*o.area) / (c.area + o.area) * apart(c.centre, o.centre)
}

// merge joins clumps until there are at most so many, or none that may be joined: the leaves of
// one tree first, then trees that stand together.
func (l *loose) merge(most int) {
	n := len(l.clumps)
	next, costs := make([]int, n), make([]float64, n) // of each, among those that come later
	gone := make([]bool, n)
	find := func(i int) {
		next[i], costs[i] = -1, math.Inf(1)
		for k := i + 1; k < n; k++ {
			if !gone[k] {
				if c := l.clumps[i].cost(&l.clumps[k]); c < costs[i] {
					next[i], costs[i] = k, c
				}
			}
		}
	}
	for i := range n {
		find(i)
	}
	for left := n; left > most; left-- {
		at := -1
		for i := range n {
			if !gone[i] && next[i] >= 0 && (at < 0 || costs[i] < costs[at]) {
				at = i
			}
		}
		if at < 0 {
			break
		}
		from := next[at]
		l.spread += costs[at]
		l.clumps[at].join(&l.clumps[from])
		gone[from] = true
		for i := range n {
			switch {
			case gone[i]:
			case i == at || next[i] == at || next[i] == from:
				find(i)
			case i < at:
				if c := l.clumps[i].cost(&l.clumps[at]); c < costs[i] {
					next[i], costs[i] = at, c
				}
			}
		}
	}
	kept := l.clumps[:0]
	for i := range l.clumps {
		if !gone[i] {
			kept = append(kept, l.clumps[i])
		}
	}
	l.clumps = kept
}

// join takes what is in another clump.
func (c *clump) join(o *clump) {
	sum := c.area + o.area
	c.centre = c.centre.Scale(c.area / sum).Add(o.centre.Scale(o.area / sum))
	c.area = sum
	c.things = append(c.things, o.things...)
	c.box = c.box.Extend(o.box.Min).Extend(o.box.Max)
	c.leaves = c.box
}

// takeWood adds to the clumps what carries leaves: what lies among them, and slim upright
// things below them that reach up to them.
func (l *loose) takeWood(s *Source) {
	for i := range l.things {
		t := &l.things[i]
		if t.loose || s.fresh == nil || !s.fresh[t.triangles[0]] {
			continue
		}
		c := l.nearest(t)
		if c == nil {
			continue
		}
		in, size, slim := &c.leaves, t.box.Size(), trunkSlim
		if c.thin { // may stand beside houses
			slim = mastSlim
		}
		among := !c.thin && t.box.Min[1] >= in.Min[1]
		upright := size[1] > float64(slim*max(size[0], size[2])) && t.box.Max[1] >= in.Min[1]
		wide := in.Size()
		if max(size[0], size[2]) > float64(woodWide*max(wide[0], wide[2])) || !among && !upright || t.box.Max[1] > in.Max[1] {
			continue
		}
		c.things = append(c.things, int32(i))
		c.box = c.box.Extend(t.box.Min).Extend(t.box.Max)
	}
}

// nearest returns the clump of a thing's group in whose footprint it is, the one whose middle
// is nearest; nil if there is none.
func (l *loose) nearest(t *thing) *clump {
	var best *clump
	off := math.Inf(1)
	for i := range l.clumps {
		c := &l.clumps[i]
		in := &c.leaves
		if c.group != t.group || t.box.Min[0] < in.Min[0] || t.box.Max[0] > in.Max[0] || t.box.Min[2] < in.Min[2] || t.box.Max[2] > in.Max[2] {
			continue
		}
		if d := apart(c.centre, t.centre); d < off {
			best, off = c, d
		}
	}
	return best
}

// stood are the cards of a source: triangles, with what is baked onto them.
type stood struct {
	mesh   simplify.Mesh
	charts []bake.Chart // their triangles are counted from the first card on
	cards  []bake.Card  // their charts likewise
	both   []bool       // by card: it has a back
	fine   float64      // bake.Card.Scale of all
}

// stand makes the cards of all clumps, without their light.
func (l *loose) stand(s *Source) *stood {
	out := &stood{}
	for i := range l.clumps {
		c := &l.clumps[i]
		things := make([]bake.Thing, 0, len(c.things))
		for _, k := range c.things {
			t := &l.things[k]
			thing := bake.Thing{Triangles: t.triangles, Centre: t.centre}
			if s.fresh != nil && s.fresh[t.triangles[0]] {
				thing.Lift = lift
			}
			things = append(things, thing)
		}
		f := s.frameOf(l, c)
		size := f.size()
		wide := max(size[0], size[2])
		if size[1] > float64(thin*wide) || size[1] > 0 && min(size[0], size[2]) <= float64(thin*wide) {
			if size[0] > float64(thin*wide) {
				out.add(c, things, f.point(f.low[0], f.low[1], f.middle[2]), f.along.Scale(size[0]), geom.Vec3{0, size[1], 0}, true)
			}
			if size[2] > float64(thin*wide) {
				out.add(c, things, f.point(f.middle[0], f.low[1], f.high[2]), f.across.Scale(-size[2]), geom.Vec3{0, size[1], 0}, true)
			}
		}
		if min(size[0], size[2]) > float64(thin*max(wide, size[1])) {
			out.add(c, things, f.point(f.low[0], f.middle[1], f.high[2]), f.along.Scale(size[0]), f.across.Scale(-size[2]), false)
		}
	}
	return out
}

// add adds a card that spans two sides from a corner, seen from where they are
// counter-clockwise, and if wanted from behind with the same picture.
func (o *stood) add(c *clump, things []bake.Thing, corner, u, v geom.Vec3, both bool) {
	wide, high := u.Len(), v.Len()
	uAxis, vAxis := u.Scale(1/wide), v.Scale(1/high)
	toward := uAxis.Cross(vAxis)
	card := bake.Card{
		Chart: len(o.charts), Origin: corner, U: uAxis, V: vAxis, Toward: toward, Things: things,
		Scale: 1,
	}
	chart := bake.Chart{Size: [2]float64{wide, high}}
	quad := [4]geom.Vec3{corner, corner.Add(u), corner.Add(u).Add(v), corner.Add(v)}
	uv := [4][2]float64{{0, 0}, {wide, 0}, {wide, high}, {0, high}}
	face := func(order [6]int) {
		base := uint32(len(o.mesh.Positions))
		o.mesh.Positions = append(o.mesh.Positions, quad[:]...)
		for k := 0; k < 6; k += 3 {
			chart.Triangles = append(chart.Triangles, int32(o.mesh.Triangles()))
			chart.UV = append(chart.UV, [3][2]float64{uv[order[k]], uv[order[k+1]], uv[order[k+2]]})
			for _, q := range order[k : k+3] {
				o.mesh.Indices = append(o.mesh.Indices, base+uint32(q))
			}
			o.mesh.Groups = append(o.mesh.Groups, c.group)
		}
	}
	face([6]int{0, 1, 2, 0, 2, 3})
	if both {
		face([6]int{0, 2, 1, 0, 3, 2})
	}
	o.charts, o.cards, o.both = append(o.charts, chart), append(o.cards, card), append(o.both, both)
}

// light gives the cards their normals: those of what they show, as light meets it.
func (o *stood) light(s *Source) {
	o.mesh.Normals = make([][3]float32, 0, len(o.mesh.Positions))
	face := func(normal geom.Vec3) {
		n := normal.F32()
		o.mesh.Normals = append(o.mesh.Normals, n, n, n, n)
	}
	for i := range o.cards {
		c := &o.cards[i]
		c.Normal = s.lit(c.Things, c.Toward)
		if face(c.Normal); o.both[i] {
			face(s.lit(c.Things, c.Toward.Scale(-1)))
		}
	}
}

// lit returns the mean normal of things as they are seen from one side and a little
// above, and so as light meets them.
func (s *Source) lit(things []bake.Thing, toward geom.Vec3) geom.Vec3 {
	along := toward.Add(geom.Vec3{0, sunny, 0}).Normalize(1e-12, geom.Vec3{0, 1, 0})
	f := &s.Surface
	var sum geom.Vec3
	for i := range things {
		for _, t := range things[i].Triangles {
			i := f.Indices[3*t : 3*t+3]
			a := f.Positions[i[0]]
			face := f.Positions[i[1]].Sub(a).Cross(f.Positions[i[2]].Sub(a))
			n := geom.FromF32(f.Normals[i[0]]).Add(geom.FromF32(f.Normals[i[1]])).Add(geom.FromF32(f.Normals[i[2]])).Normalize(1e-12, geom.Vec3{})
			if f.Looks[f.Materials[t]].DoubleSided && n.Dot(toward) < 0 && face.Dot(toward) < 0 {
				n = n.Scale(-1) // as its back is lit
			}
			sum = sum.Add(n.Scale(float64(face.Len() * max(0, n.Dot(along)))))
		}
	}
	return sum.Normalize(1e-12, along)
}

// join adds the cards to a mesh and its charts, and returns them as these count them.
func (o *stood) join(m *simplify.Mesh, charts *[]bake.Chart) []bake.Card {
	o.magnify(areaOf(m))
	vertices, triangles, first := uint32(len(m.Positions)), int32(m.Triangles()), len(*charts)
	m.Positions, m.Normals = append(m.Positions, o.mesh.Positions...), append(m.Normals, o.mesh.Normals...)
	for _, v := range o.mesh.Indices {
		m.Indices = append(m.Indices, vertices+v)
	}
	m.Groups = append(m.Groups, o.mesh.Groups...)
	for _, c := range o.charts {
		for k := range c.Triangles {
			c.Triangles[k] += triangles
		}
		*charts = append(*charts, c)
	}
	for i := range o.cards {
		o.cards[i].Chart += first
	}
	return o.cards
}

// cardsFine is how many times as many texels a metre of a card has along a side as one of
// what is solid, at most.
const cardsFine = 2

// magnify gives cards more texels, until they have as many as what is solid, of so many
// square metres.
func (o *stood) magnify(solid float64) {
	area := areaOf(&o.mesh)
	if !(area > 0) {
		return
	}
	o.fine = min(max(1, math.Sqrt(solid/area)), cardsFine)
	for i := range o.cards {
		c := &o.charts[o.cards[i].Chart]
		o.cards[i].Scale = o.fine
		for k := range c.Size {
			c.Size[k] *= o.fine
		}
		for t := range c.UV {
			for corner := range c.UV[t] {
				for k := range c.UV[t][corner] {
					c.UV[t][corner][k] *= o.fine
				}
			}
		}
	}
}

// areaOf returns the area of a mesh's triangles.
func areaOf(m *simplify.Mesh) float64 {
	sum := 0.0
	for i := 0; i < len(m.Indices); i += 3 {
		p := m.Positions[m.Indices[i]]
		sum += float64(m.Positions[m.Indices[i+1]].Sub(p).Cross(m.Positions[m.Indices[i+2]].Sub(p)).Len() / 2)
	}
	return sum
}
