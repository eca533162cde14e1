package runtime

import (
	"math"
	"time"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/payload"
)

// The errors of a scene with a pyramid may ask for more triangles in view than
// Config.TriangleBudget. Then they count by a stretch as where geometry memory is short,
// the larger of the two: who is granted the next finer level has the most seen of its
// error. What is out of view takes no triangles, but has the same stretch, so that a
// camera that turns finds what it had. Scenes without a pyramid keep their detail; those
// of which nothing can exceed the budget do, too. The coarsest that there is, the roots,
// is drawn whatever it takes.

// framePart is the part of the triangles that is split; the rest is for the moments in which
// one representation fades into another, and for what comes into view between two ticks.
const framePart = 0.9

// frameCalm is for how long fewer triangles must have been asked for before the stretch
// falls. It rises at once.
const frameCalm = time.Second

// frameBudget is how far the triangles of a frame go.
type frameBudget struct {
	stretch float64 // least one at which the next finer level is granted; 0: all are
	falls   bool    // it will fall when that has been calm
	since   time.Duration
	highest float64 // stretch that was asked for since then, where it falls
	split   bool    // it was worked out, at splitAt
	splitAt time.Duration

	coarsest  float64             // triangles of what is drawn whatever the stretch
	triangles [splitSteps]float64 // by stretch, what finer levels have more
}

// add counts triangles that are drawn more up to a stretch.
func (f *frameBudget) add(stretch, triangles float64) { f.triangles[stepOf(stretch)] += triangles }

// leastFor returns the least stretch at which no more than so many triangles are drawn, nor
// at any larger one.
func (f *frameBudget) leastFor(budget float64) float64 {
	k, sum := splitSteps, f.coarsest
	for k > 0 && sum+f.triangles[k-1] <= budget {
		k--
		sum += f.triangles[k]
	}
	switch k {
	case splitSteps:
		return math.Inf(1)
	case 0:
		return 0
	}
	return stepFrom(k)
}

// splitFrame works the stretch of the triangles out, at most once per updateInterval.
func (b *geometryBudget) splitFrame() {
	f := &b.split.frame
	if !b.exceedsFrame() {
		b.setFrame(0)
		f.split, f.falls = false, false
		return
	}
	if f.split && b.now-f.splitAt < b.updateInterval {
		return
	}
	f.coarsest = 0
	clear(f.triangles[:])
	for _, sc := range b.scenes {
		if sc.refinement != nil {
			b.countNodes(sc)
			b.countTiles(sc)
		}
	}
	stretch := f.leastFor(float64(framePart * float64(b.cfg.TriangleBudget)))
	switch {
	case stretch >= f.stretch || !f.split:
		f.falls = false
	case sameLimit(stretch, f.stretch):
		stretch, f.falls = f.stretch, false
	case !f.falls:
		f.falls, f.since, f.highest = true, b.now, stretch
		stretch = f.stretch
	default:
		f.highest = max(f.highest, stretch)
		if b.now-f.since < frameCalm {
			stretch = f.stretch
			break
		}
		stretch, f.falls = f.highest, false
	}
	f.split, f.splitAt = true, b.now
	b.setFrame(stretch)
}

// exceedsFrame reports whether the scenes with a pyramid could ever show more triangles
// than a frame may.
func (b *geometryBudget) exceedsFrame() bool {
	if b.cfg.TriangleBudget == 0 || b.cfg.Handoff == config.HandoffStrict {
		return false
	}
	most := 0.0
	for _, sc := range b.scenes {
		if sc.refinement != nil {
			most += sc.refinement.most
		}
	}
	return most > float64(b.cfg.TriangleBudget)
}

// triangles are those of the tiles of a scene with a pyramid. They are no part of its table,
// as others need none.
type triangles struct {
	full   []float64 // by row, 0: unknown
	levels []float64 // as the table's
}

// trianglesOf reads the counts of a manifest.
func trianglesOf(m *manifest.Manifest, t *table) triangles {
	c := triangles{make([]float64, t.tiles), make([]float64, len(t.levels))}
	for i := range m.Tiles {
		x := &m.Tiles[i]
		c.full[i] = countOf(x.TriangleCount)
		for k := t.levelAt[i]; k < t.levelAt[i+1]; k++ {
			for _, list := range [...][]manifest.Level{x.HLODLevels, x.LODLevels} {
				for j := range list {
					if list[j].Path == t.levels[k].path {
						c.levels[k] = countOf(list[j].TriangleCount)
					}
				}
			}
		}
	}
	if m.SharedBucket != nil {
		c.full[len(m.Tiles)] = countOf(m.SharedBucket.TriangleCount)
	}
	return c
}

// countOf bounds what manifests can claim, so that sums stay exact.
func countOf(triangles int) float64 { return float64(max(0, min(triangles, math.MaxInt32))) }

// trianglesAt returns the triangles of a tile's representation.
func (sc *scene) trianglesAt(tile int32, rep payload.Rep) float64 {
	c, t := &sc.refinement.triangles, sc.tiles
	switch {
	case rep == payload.RepFull:
		return c.full[tile]
	case rep == payload.RepHLOD:
		return c.levels[t.levelAt[tile]]
	}
	return c.levels[int(t.levelAt[tile+1])-len(t.lods(tile))+int(rep-payload.RepLOD0)]
}

// mostTriangles returns the most triangles that the rows of a table can show at once, in view
// or not.
func (p *refinement) mostTriangles(t *table) (sum float64) {
	below := make([]float64, len(p.nodes))
	for tile := range p.first {
		most := p.triangles.full[tile]
		for k := t.levelAt[tile]; k < t.levelAt[tile+1]; k++ {
			most = max(most, p.triangles.levels[k])
		}
		if int(tile) < len(p.parent) && p.parent[tile].node >= 0 {
			below[p.parent[tile].node] += most
		} else {
			sum += most
		}
	}
	for i := range p.nodes { // children come before their parents
		most := max(p.nodes[i].triangles, below[i])
		if up := p.nodes[i].node; up >= 0 {
			below[up] += most
		} else {
			sum += most
		}
	}
	return sum
}

// setFrame takes over a stretch and wakes all tiles near, for each has to compare its
// distance. One that is a little less is left; one that is a little more may take much back.
func (b *geometryBudget) setFrame(stretch float64) {
	f := &b.split.frame
	if stretch <= f.stretch && sameLimit(stretch, f.stretch) {
		return
	}
	f.stretch = stretch
	for _, sc := range b.scenes {
		if sc.refinement != nil {
			sc.judgeAnew()
		}
	}
}

// countNodes adds up what roots show, and what the opening of nodes changes: their
// children are shown in their place.
func (b *geometryBudget) countNodes(sc *scene) {
	f, ref := &b.split.frame, sc.refinement
	for i := range ref.nodes { // children come before their parents
		n := &ref.nodes[i]
		n.inView = ref.trianglesInView(sc, n)
		if n.node < 0 {
			f.coarsest += n.inView
		}
		opens := n.opens
		if n.broken {
			opens = math.Inf(1) // whatever the stretch
		}
		if opens == 0 {
			continue
		}
		below := 0.0
		for _, row := range n.children {
			if row >= ref.first {
				below += ref.nodes[row-ref.first].inView
			}
		}
		f.add(opens, below-n.inView)
	}
}

// trianglesInView returns how many triangles of a node are in view: of each child's part
// that is.
func (p *refinement) trianglesInView(sc *scene, n *node) float64 {
	seen := 0
	for _, row := range n.children {
		if sc.view.sees(&sc.tiles.box[row]) {
			seen++
		}
	}
	if seen == 0 {
		return 0
	}
	return float64(n.triangles*float64(seen)) / float64(len(n.children))
}

// countTiles adds up what tiles in view show once the node above them is open, and what
// their finer levels have more.
func (b *geometryBudget) countTiles(sc *scene) {
	f, t := &b.split.frame, sc.tiles
	for _, tile := range sc.query.tiles {
		opens, hangs := sc.refinement.opensAbove(tile)
		if hangs && opens == 0 || !sc.view.sees(&t.box[tile]) {
			continue
		}
		d := distanceTo(&t.box[tile], &sc.view.pos)
		if d > b.cfg.MaxQueryRadius && !t.has(tile, flagShared) {
			continue
		}
		r := sc.recordOf(tile)
		to := sc.repAt(tile, r, d)
		if to == payload.RepNone {
			continue
		}
		rep, has := sc.cheapestRep(tile), payload.RepNone
		if to == payload.RepFull && sc.ownsMeshes(tile, r) || isFiner(rep, to) {
			rep = to // no stretch changes it
		}
		if r != nil && r.grant != grantNothing {
			has = r.finest
		}
		shown := sc.trianglesAt(tile, rep)
		if hangs {
			f.add(opens, shown)
		} else {
			f.coarsest, opens = f.coarsest+shown, math.Inf(1)
		}
		for begins := math.Inf(1); rep != to; {
			begins = min(begins, t.begin(tile, rep))
			rep = t.finer(tile, rep)
			next := sc.trianglesAt(tile, rep)
			f.add(min(opens, sc.stretchOf(tile, begins, d, has == rep || isFiner(has, rep))), next-shown)
			shown = next
		}
	}
}
