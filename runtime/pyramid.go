package runtime

import (
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/band"
	"github.com/untoldkit/untold/runtime/payload"
)

// A scene may have a pyramid above its tiles: a tree of merged HLODs, each of which
// stands in for all that lies below it when that is far away. A node is a row of the
// table behind the tiles, with an HLOD alone and a record from the start on, which is
// none of the scene's active ones: no query and no pass over tiles finds it.

// pyramid owns which nodes of the scenes' pyramids are open, resident and drawn.
//
// It promises that a node is closed only once it can be drawn, that each tile's place
// is drawn by the tile or by one node above it and never by two, and that roots stay.
type pyramid struct {
	*eventLog
	loads     *loadQueue
	budget    *geometryBudget
	residency *residency
	handoff   *handoff
	backlog   int // nodes that found no slot or room in the last look
	list      []nodeOf
}

// hiddenDistance is how far away the tiles below a closed node count as, in metres:
// farther than anything is wanted.
const hiddenDistance = 1e30

// keepRefined is how much farther away than where it is opened a node is closed again,
// as a factor.
const keepRefined = 1.1

// refinement is the pyramid of one scene: which nodes are open, so that what lies
// below them is wanted, and for which of their children they are drawn.
type refinement struct {
	first int32   // row of the first node; those of its tiles come before
	nodes []node  // by row
	roots []int32 // indices of nodes
	draft
	parent    []place   // of each tile
	triangles triangles // of its tiles
	most      float64   // triangles that the scene can show at once
	fades     int       // places that pass from a node to what lies below it, or back
}

// place is a child of a node.
type place struct {
	node int32 // index, -1: none
	bit  uint8
}

type node struct {
	place             // in its own parent
	children  []int32 // rows
	triangles float64 // 0: unknown
	inView    float64 // of them, as of the last count
	error     float64 // metres: size of what is seen of the difference to full detail
	begins    float64 // distance within which its error asks for it to be open
	opens     float64 // stretch up to which it is open where memory is short; 0: its error does not ask for it
	wanted    bool    // it is a root, or its parent is open
	open      bool    // what lies below is wanted
	broken    bool    // it is open for nothing but that loading it has failed
	leaps     bool    // the draft leaves it out, see draft.go
	stands    bool    // it can be drawn, or is left out and one above it can
	mask      uint64  // children whose places it has
	next      uint64  // mask that is being worked out
	fades     placeFades
	wantedAt  time.Duration
	distance  float64 // of its box
}

// addNodes adds a row for each node.
func (b *tableBuilder) addNodes(p *manifest.Pyramid) {
	for i := range p.Nodes {
		n := &p.Nodes[i]
		b.levels = append(b.levels, level{fileRef: fileRef{path: n.Path, sha256: n.SHA256, size: n.FileSizeBytes, geometry: n.GPUBytes()}})
		b.add(&manifest.Tile{
			ID: n.ID, Bounds: n.Bounds, FileSizeBytes: n.FileSizeBytes,
		}, radii{stream: math.Inf(1), unload: math.Inf(1), prefetch: math.Inf(1)}, flagHLOD|flagNode)
	}
}

// newRefinement links the nodes of a manifest, nil without. What the manifest's
// validation refuses is left out, so that any tree is one.
func newRefinement(m *manifest.Manifest, t *table) *refinement {
	if m.Pyramid == nil || len(m.Pyramid.Nodes) == 0 {
		return nil
	}
	list := m.Pyramid.Nodes
	p := &refinement{first: int32(t.len() - len(list)), nodes: make([]node, len(list)), parent: make([]place, len(m.Tiles))}
	row := make(map[string]int32, t.len())
	for i := range m.Tiles {
		row[m.Tiles[i].ID] = int32(i)
		p.parent[i].node = -1
	}
	for i := range list {
		n := &p.nodes[i]
		n.place.node = -1
		n.triangles, n.error = countOf(list[i].TriangleCount), list[i].VisualError
		for _, id := range list[i].Children {
			child, ok := row[id]
			if !ok || len(n.children) == 64 {
				continue
			}
			at := p.placeOf(child)
			if at.node >= 0 {
				continue
			}
			*at = place{int32(i), uint8(len(n.children))}
			n.children = append(n.children, child)
		}
		n.fades.below = make([]time.Duration, len(n.children))
		row[list[i].ID] = p.first + int32(i)
	}
	for i := range p.nodes {
		if p.nodes[i].node < 0 {
			p.roots = append(p.roots, int32(i))
		}
	}
	p.triangles = trianglesOf(m, t)
	p.most = p.mostTriangles(t)
	return p
}

// placeOf returns where a row hangs.
func (p *refinement) placeOf(row int32) *place {
	if row >= p.first {
		return &p.nodes[row-p.first].place
	}
	return &p.parent[row]
}

// record returns the record of a node, which it has for as long as its scene.
func (p *refinement) record(sc *scene, i int32) *record { return sc.recordOf(p.first + i) }

// describeNode tells the asset of a node the ids of its children, and its error.
func (sc *scene) describeNode(tile int32, asset *payload.Asset) {
	n := &sc.refinement.nodes[tile-sc.refinement.first]
	asset.Error, asset.Children = n.error, make([]string, len(n.children))
	for i, row := range n.children {
		asset.Children[i] = sc.tiles.id[row]
	}
}

// closes reports whether a tile lies below a closed node.
func (sc *scene) closes(tile int32) bool {
	p := sc.refinement
	return p != nil && tile < int32(len(p.parent)) && p.parent[tile].node >= 0 && !p.nodes[p.parent[tile].node].open
}

// hides reports whether a node above a tile is drawn in its place.
func (p *refinement) hides(tile int32) bool {
	return p != nil && tile < int32(len(p.parent)) && p.standsFor(tile)
}

// standsFor reports whether a node above a tile, or above a node, is drawn in its place.
func (p *refinement) standsFor(tile int32) bool {
	if p == nil {
		return false
	}
	var at place
	switch n := tile - p.first; {
	case tile < int32(len(p.parent)):
		at = p.parent[tile]
	case n >= 0 && n < int32(len(p.nodes)):
		at = p.nodes[n].place
	default:
		return false
	}
	for ; at.node >= 0; at = p.nodes[at.node].place {
		if p.nodes[at.node].mask>>at.bit&1 != 0 {
			return true
		}
	}
	return false
}

// adoptNodes gives each node of a scene its record.
func (sc *scene) adoptNodes() {
	if sc.refinement == nil {
		return
	}
	for i := range sc.refinement.nodes {
		tile := sc.refinement.first + int32(i)
		sc.tiles.record[tile] = int32(len(sc.records))
		sc.records = append(sc.records, &record{scene: sc, tile: tile, reps: make([]repState, 2), near: true})
	}
}

// refine opens and closes nodes, from the top down.
func (p *pyramid) refine(sc *scene) {
	ref := sc.refinement
	if ref == nil {
		return
	}
	fovY := p.camera.FovYDegrees
	if !hasLens(&p.camera) {
		fovY = 60
	}
	ref.measure(sc, band.ScreenError(1, 1, fovY, p.cfg.PictureHeight)/p.cfg.TargetErrorPixels)
	for i := len(ref.nodes) - 1; i >= 0; i-- { // parents come after their children
		n := &ref.nodes[i]
		above := true // nothing above it can be drawn
		n.wanted = n.node < 0
		if !n.wanted {
			up := &ref.nodes[n.node]
			n.wanted = up.wanted && up.open
			above = !up.stands
		}
		open, broken, granted := false, false, false
		if n.wanted {
			n.wantedAt = p.now
			r := ref.record(sc, int32(i))
			st := r.rep(payload.RepHLOD)
			r.actual, r.effective = n.distance, n.distance
			granted = n.granted(sc)
			open = granted || !p.ready(st) && (n.open || above && st.fails > 0)
			broken = open && !granted && st.fails > 0
		}
		n.leaps = granted && sc.leaps(n)
		n.stands = p.ready(ref.record(sc, int32(i)).rep(payload.RepHLOD)) || n.leaps && ref.nodes[n.node].stands
		if open != n.open || broken != n.broken {
			n.open, n.broken = open, broken
			ref.wakeTiles(sc, n)
		}
	}
}

// measure works out which nodes should be open, for their errors and distances, and up
// to which stretch. An error covers the target at far times its size.
func (p *refinement) measure(sc *scene, far float64) {
	for i := len(p.nodes) - 1; i >= 0; i-- {
		n := &p.nodes[i]
		n.distance = distanceTo(&sc.tiles.box[p.first+int32(i)], &sc.view.pos)
		n.begins = float64(n.error * far)
		switch asks := n.distance < n.begins || n.open && n.distance < float64(n.begins*keepRefined); {
		case !asks:
			n.opens = 0
		case n.node < 0:
			n.opens = sc.stretchOf(p.first+int32(i), n.begins, n.distance, n.open)
		default:
			n.opens = min(p.nodes[n.node].opens, sc.stretchOf(p.first+int32(i), n.begins, n.distance, n.open))
		}
	}
}

// opensAbove returns the stretch up to which the node is open below which a tile hangs,
// 0 if it should not be; hangs says that there is one. One that is broken does not count:
// nothing else can be drawn in the places of the tiles.
func (p *refinement) opensAbove(tile int32) (stretch float64, hangs bool) {
	if p == nil || tile >= int32(len(p.parent)) || p.parent[tile].node < 0 {
		return 0, false
	}
	n := &p.nodes[p.parent[tile].node]
	return n.opens, !n.broken
}

// hangs reports whether a tile lies below a node: what it is granted follows from what
// the node is.
func (sc *scene) hangs(tile int32) bool {
	_, hangs := sc.refinement.opensAbove(tile)
	return hangs
}

// wakeTiles wakes the tiles directly below a node.
func (p *refinement) wakeTiles(sc *scene, n *node) {
	for _, row := range n.children {
		if row < p.first {
			sc.tiles.wake[row] = math.Inf(-1)
		}
	}
}

// closesLate reports whether a node is open for nothing but that it cannot be drawn yet.
func (n *node) closesLate(sc *scene) bool { return n.open && !n.granted(sc) }

// granted reports whether memory and the errors that are seen let a node be open.
func (n *node) granted(sc *scene) bool {
	return n.opens > 0 && n.opens >= sc.leastStretch()
}

// stream loads the nodes that are wanted, roots and then those first in whose places most of
// an error is seen, where memory is short the coarsest, those last below which all is drawn, and
// lets the others go after a while, at once when something waits for their room. Roots load
// whatever the memory, and stay.
func (p *pyramid) stream() {
	p.list, p.backlog = p.list[:0], 0
	for _, sc := range p.scenes {
		ref := sc.refinement
		if ref == nil {
			continue
		}
		for i := len(ref.nodes) - 1; i >= 0; i-- {
			n, r := &ref.nodes[i], ref.record(sc, int32(i))
			st := r.rep(payload.RepHLOD)
			switch {
			case n.wanted && p.retryable(st):
				if n.leaps {
					continue
				}
				if n.node >= 0 && ref.headStart(sc) {
					p.backlog++
					continue
				}
				c := nodeOf{scene: sc, node: int32(i), root: n.node < 0, low: n.node >= 0 && !sc.view.sees(&sc.tiles.box[r.tile]), frees: n.closesLate(sc)}
				if !p.budget.split.scarce { // else what lies below would take the room of what stands for more
					c.seen = ref.seenAt(sc, n.place, n.distance)
				}
				c.spare = !c.frees && n.open && ref.coversBelow(sc, int32(i))
				p.list = append(p.list, c)
			case !n.wanted && st.loading():
				p.residency.cancel(r, payload.RepHLOD)
			case !n.wanted && st.resident() && n.mask == 0 && !ref.fadesWith(sc, n) && (p.now-n.wantedAt >= p.gracePeriod || p.budget.refused || p.budget.evicting):
				p.residency.unload(r, payload.RepHLOD)
			}
		}
	}
	slices.SortStableFunc(p.list, nodeOf.compare)
	for _, c := range p.list {
		if c.low && c.scene.drafts() && !(c.frees && p.budget.split.scarce) {
			continue
		}
		r := c.scene.refinement.record(c.scene, c.node)
		up, within := c.scene.refinement.nodes[c.node].node, limitReserve
		switch {
		case c.frees:
			within = limitBudget
		case !c.root && p.ready(c.scene.refinement.record(c.scene, up).rep(payload.RepHLOD)):
			within = limitMark // its parent is drawn until there is room
		}
		switch {
		case p.loads.freeSlots(classHLOD) <= 0, !c.root && c.scene.refinement.crowds(c.scene, p.loads.fetching[classHLOD]):
			p.backlog++
		case c.root || p.budget.fits(c.scene, r.tile, r, payload.RepHLOD, within):
			p.residency.start(r, payload.RepHLOD)
		default:
			p.budget.refused = true
		}
	}
}

// poll asks the Visibility for the nodes that are not drawable yet.
func (p *pyramid) poll() {
	if p.residency.awaited == 0 {
		return
	}
	for _, sc := range p.scenes {
		if sc.refinement == nil {
			continue
		}
		for i := range sc.refinement.nodes {
			p.residency.pollRep(sc.refinement.record(sc, int32(i)), payload.RepHLOD)
		}
	}
}

// settle decides for which of their children the nodes of a scene are drawn.
func (p *pyramid) settle(sc *scene) {
	ref := sc.refinement
	if ref == nil {
		return
	}
	for i := range ref.nodes {
		n := &ref.nodes[i]
		n.next, n.fades.next = 0, 0
	}
	for _, i := range ref.roots {
		p.settleNode(sc, i, true)
	}
	ref.fades = 0
	for i := range ref.nodes {
		n, r := &ref.nodes[i], ref.record(sc, int32(i))
		passed := n.mask != n.next
		n.mask, n.fades.of = n.next, n.fades.next
		ref.fades += bits.OnesCount64(n.fades.of)
		rep := payload.RepHLOD
		if n.mask|n.fades.of == 0 {
			rep = payload.RepNone
		}
		if passed {
			p.changes++
		}
		if passed && rep == r.drawn {
			p.handoff.count.changes++ // for other children than before
		}
		p.handoff.draw(r, rep)
	}
}

// settleNode is settle for a node above which nothing is drawn in its place. shown
// says that this was so before, too: else nothing of it fades.
func (p *pyramid) settleNode(sc *scene, i int32, shown bool) {
	ref := sc.refinement
	n := &ref.nodes[i]
	st := ref.record(sc, i).rep(payload.RepHLOD)
	ready := n.wanted && p.ready(st)
	shown = shown && p.cfg.EnableFadeTransitions
	for bit, row := range n.children {
		own := true // what lies below speaks for itself
		switch {
		case !ready:
		case !n.open:
			own = false
		case row < ref.first:
			own = sc.speaksForItself(row)
		default:
			below := &ref.nodes[row-ref.first]
			st := ref.record(sc, row-ref.first).rep(payload.RepHLOD)
			own = p.ready(st) || (st.fails > 0 || below.wanted && below.open) && ref.coversBelow(sc, row-ref.first)
		}
		if own {
			showed := n.drawsBelow(bit)
			if shown && st.resident() {
				n.fades.pass(bit, n.mask, 0)
			}
			if row >= ref.first {
				p.settleNode(sc, row-ref.first, shown && showed)
			}
			continue
		}
		n.next |= 1 << bit
		if shown && n.drawsBelow(bit) && ref.remains(sc, row) {
			n.fades.pass(bit, ^n.mask, p.fadeDuration)
			ref.hold(row)
		}
	}
}

// showsTile reports whether something of a tile is drawn.
func (sc *scene) showsTile(tile int32) bool {
	r := sc.recordOf(tile)
	return r != nil && (r.drawn != payload.RepNone && r.shows(r.drawn) || r.fading != payload.RepNone && r.shows(r.fading))
}

// coversBelow reports whether all that lies below a node can be drawn without it.
func (p *refinement) coversBelow(sc *scene, i int32) bool {
	return !slices.ContainsFunc(p.nodes[i].children, func(row int32) bool {
		if row < p.first {
			return !sc.speaksForItself(row)
		}
		c := row - p.first
		return !(p.nodes[c].wanted && sc.ready(sc.recordOf(row).rep(payload.RepHLOD))) && !p.coversBelow(sc, c)
	})
}

// drop releases the nodes of a scene. Loads under way are someone else's to give up.
func (p *pyramid) drop(sc *scene) {
	ref := sc.refinement
	if ref == nil {
		return
	}
	ref.fades = 0
	for i := range ref.nodes {
		r := ref.record(sc, int32(i))
		p.handoff.countDrawn(r.drawn, -1)
		r.drawn, ref.nodes[i].mask, ref.nodes[i].fades.of = payload.RepNone, 0, 0
		if st := r.rep(payload.RepHLOD); st.resident() {
			p.residency.free(r, payload.RepHLOD)
		} else {
			st.state = TileUnloaded
		}
	}
}

// unloadAll is UnloadAll for the nodes of all scenes.
func (p *pyramid) unloadAll() {
	for _, sc := range p.scenes {
		if sc.refinement == nil {
			continue
		}
		for i := range sc.refinement.nodes {
			r := sc.refinement.record(sc, int32(i))
			p.residency.drop(r, payload.RepHLOD)
			sc.refinement.nodes[i].mask, sc.refinement.nodes[i].fades.of = 0, 0
			p.handoff.draw(r, payload.RepNone)
		}
		sc.refinement.fades = 0
	}
	p.backlog = 0
}

// stands reports whether all roots of a scene can be drawn.
func (p *refinement) stands(sc *scene) bool {
	return p == nil || !slices.ContainsFunc(p.roots, func(i int32) bool {
		return !sc.ready(p.record(sc, i).rep(payload.RepHLOD))
	})
}

// rootBytes returns what the roots of a scene take on the device. They stay whatever the
// memory.
func (sc *scene) rootBytes() (bytes int64) {
	if p := sc.refinement; p != nil {
		for _, i := range p.roots {
			bytes += p.record(sc, i).rep(payload.RepHLOD).geometry
		}
	}
	return bytes
}
