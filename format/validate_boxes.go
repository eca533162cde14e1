package format

import "github.com/untoldkit/untold/format/records"

// entityBoxes gathers what the boxes of one entity have to hold.
type entityBoxes struct {
	local, world records.Bounds
	meshes       uint32 // of those that could be looked at
	moved        bool   // the world box was computed through a transform
}

// gather adds a mesh to the boxes of its entity: box is that of its stored
// positions.
func (g *geometryChecker) gather(m *records.Mesh, box records.Bounds, vertices []byte) {
	p := g.p
	i, ok := p.byID[m.EntityID]
	if !ok || !finite(box.Min[:]...) || !finite(box.Max[:]...) {
		return
	}
	e, w := &g.boxes[i], &g.worlds[i]
	world := box
	if w.ok && !w.identity {
		world, e.moved = transformedBounds(vertices, &w.m), true
	}
	if e.meshes++; e.meshes == 1 {
		e.local, e.world = box, world
	} else {
		e.local, e.world = e.local.Union(box), e.world.Union(world)
	}
}

// checkEntityBoxes compares the boxes of the entities with their meshes'
// vertices, and those of entities without meshes with what lies below them.
func (g *geometryChecker) checkEntityBoxes() {
	p := g.p
	for i := range p.entities {
		e, have := &p.entities[i], &g.boxes[i]
		if have.meshes == 0 {
			continue
		}
		at := func(f int) place { return p.recordAt(ChunkEntities, i, f) }
		// Not all of its meshes may be readable.
		all := have.meshes == e.MeshCount
		if usableBox(e.LocalBounds) {
			p.compareBox(e.LocalBounds, have.local, "local bounds", at(24), all, 1)
		}
		slack := float32(1)
		if have.moved {
			slack = 8 // writers compute this in single precision
		}
		switch {
		case g.worlds[i].overflow, g.worlds[i].ok && !finite(have.world.Min[:]...), g.worlds[i].ok && !finite(have.world.Max[:]...):
			p.report(codeNotFinite, at(72), "the transforms of the entity and its parents move its vertices beyond single precision")
		case g.worlds[i].ok && usableBox(e.WorldBounds):
			p.compareBox(e.WorldBounds, have.world, "world bounds", at(48), all, slack)
		}
	}
	p.checkGroupBoxes()
}

// usableBox reports whether a box can be compared; what is wrong with it
// otherwise has a finding of its own.
func usableBox(b records.Bounds) bool {
	if !finite(b.Min[:]...) || !finite(b.Max[:]...) {
		return false
	}
	for i := range 3 {
		if b.Min[i] > b.Max[i] {
			return false
		}
	}
	return true
}

// checkGroupBoxes compares the world boxes of entities without meshes with
// those of the entities below: leaves first, so that it takes linear time.
func (p *parser) checkGroupBoxes() {
	type group struct {
		box      records.Bounds
		some     bool // there is geometry below, or its own
		broken   bool // a box below cannot be used
		children int
	}
	groups := make([]group, len(p.entities))
	parent := func(i int) (int, bool) {
		if p.entities[i].ParentID == records.NoIndex {
			return 0, false
		}
		j, ok := p.byID[p.entities[i].ParentID]
		return j, ok
	}
	for i := range p.entities {
		if j, ok := parent(i); ok {
			groups[j].children++
		}
	}
	var ready []int
	for i := range groups {
		if groups[i].children == 0 {
			ready = append(ready, i)
		}
	}
	for len(ready) > 0 {
		i := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		e, g := &p.entities[i], &groups[i]
		switch usable := usableBox(e.WorldBounds); {
		case e.MeshCount > 0 && usable && g.some:
			g.box = g.box.Union(e.WorldBounds)
		case e.MeshCount > 0 && usable:
			g.box, g.some = e.WorldBounds, true
		case e.MeshCount > 0:
			g.broken = true
		case g.some && !g.broken && usable:
			p.compareGroup(i, g.box)
		}
		j, ok := parent(i)
		if !ok {
			continue
		}
		to := &groups[j]
		to.broken = to.broken || g.broken
		switch {
		case g.some && to.some:
			to.box = to.box.Union(g.box)
		case g.some:
			to.box, to.some = g.box, true
		}
		if to.children--; to.children == 0 {
			ready = append(ready, j)
		}
	}
}

// groupSlack is for writers that move the corners of boxes to and fro.
const groupSlack = 64

// compareGroup reports a box that is not that of what lies below.
func (p *parser) compareGroup(i int, below records.Bounds) {
	b := p.entities[i].WorldBounds
	tol := groupSlack * max(boundsTolerance(b), boundsTolerance(below))
	for k := range 3 {
		if abs32(b.Min[k]-below.Min[k]) > tol || abs32(b.Max[k]-below.Max[k]) > tol {
			p.report(codeGroupBounds, p.recordAt(ChunkEntities, i, 48), "world bounds %v..%v, the entities below need %v..%v", b.Min, b.Max, below.Min, below.Max)
			return
		}
	}
}
