package simulate

import (
	"maps"
	"math"
	"time"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/payload"
)

// measuredNode is a node of the pyramid.
type measuredNode struct {
	children  []int32 // as Drawn names them
	triangles float64 // 0: unknown
	box       geom.Box
	error     float64 // metres
	popped    int     // the latest frame in which it came without a fade, counted from 1
}

// shared is what is drawn in the place of a tile in one frame: representations of its
// own, and nodes of the pyramid above it.
type shared struct {
	frame  int // counted from 1
	sum    float64
	rep    payload.Rep // the finest
	nodes  bool        // nodes are among it
	whole  int32       // what has the place alone, 0: nothing has
	before int32       // what had it alone in the frame before
}

// Names of what has a place alone: those of a tile's own are positive, of nodes
// negative.
func nameOfRep(rep payload.Rep) int32 { return int32(rep) }
func nameOfNode(node int32) int32     { return ^node }

// measurePyramid reads what lies below the nodes of a pyramid. As for the runtime, what
// the manifest's validation refuses is left out.
func (m *Meter) measurePyramid(scene *manifest.Manifest) {
	m.nodes, m.base = nil, int32(len(scene.Tiles))
	if scene.Pyramid == nil {
		return
	}
	if scene.SharedBucket != nil {
		m.base++
	}
	free := maps.Clone(m.index) // rows that have no parent yet, by their names
	for i := range scene.Pyramid.Nodes {
		n := &scene.Pyramid.Nodes[i]
		var children []int32
		for _, id := range n.Children {
			if row, ok := free[id]; ok && len(children) < 64 {
				children = append(children, row)
				delete(free, id)
			}
		}
		free[n.ID] = m.base + int32(i)
		m.nodes = append(m.nodes, measuredNode{children: children, triangles: float64(n.TriangleCount), box: n.Bounds.Box(), error: n.VisualError})
	}
}

// look reads the list of what is drawn, seen from eye. The meshes of one
// representation, with one opacity, are drawn once.
func (m *Meter) look(drawn []runtime.Drawn, eye geom.Vec3) {
	m.drawn, m.touched = drawn, m.touched[:0]
	nodes, most, triangles := 0, 0.0, 0.0
	for len(drawn) > 0 {
		n := 1
		for n < len(drawn) && drawn[n].Tile == drawn[0].Tile && drawn[n].Scene == drawn[0].Scene {
			n++
		}
		if drawn[0].Parts == 0 {
			most = max(most, m.lookAtTile(drawn[:n], eye))
			triangles += m.tileTriangles(drawn[:n])
		} else if at := int(drawn[0].Tile - m.base); m.measures(&drawn[0]) && at >= 0 && at < len(m.nodes) {
			nodes++
			for i := range n {
				m.lookBelow(drawn[i].Tile, drawn[i].Parts, &drawn[i])
				most = max(most, m.nodeError(&m.nodes[at], &drawn[i], eye))
				triangles += m.nodeTriangles(&m.nodes[at], &drawn[i])
			}
		}
		drawn = drawn[n:]
	}
	m.errors, m.triangles = append(m.errors, float32(most)), append(m.triangles, triangles)
	m.out.PyramidNodes = max(m.out.PyramidNodes, nodes)
	for _, i := range m.touched {
		t := &m.tiles[i]
		if t.place.nodes && t.place.sum > 1+1e-9 {
			m.out.DoubleDrawn++
		}
		m.countPop(t)
		m.show(i, t.place.rep)
	}
}

// countPop notes when a place has passed from one representation to another at once.
// What comes to several places counts once.
func (m *Meter) countPop(t *measured) {
	p := &t.place
	if p.whole == 0 || p.before == 0 || p.whole == p.before || !m.sight.sees(t.box) {
		return
	}
	if p.whole < 0 {
		n := &m.nodes[^p.whole]
		if n.popped == m.frames {
			return
		}
		n.popped = m.frames
	}
	m.out.Pops++
}

// measures reports whether an entry is of the scene that is measured.
func (m *Meter) measures(d *runtime.Drawn) bool { return m.scene == 0 || m.scene == d.Scene }

// lookAtTile reads the entries of one tile, and returns the greatest error that is
// seen of them in pixels.
func (m *Meter) lookAtTile(list []runtime.Drawn, eye geom.Vec3) (most float64) {
	sum, reps, last := 0.0, 0, payload.RepNone
	own := int(list[0].Tile) < len(m.tiles) && m.measures(&list[0]) // not the shared bucket
	for i := range list {
		d := &list[i]
		if d.Part == 0 || d.Rep != last {
			sum += d.Fade
			reps++
			if own {
				m.share(d.Tile, d.Rep, nameOfRep(d.Rep), d.Fade)
				most = max(most, m.levelError(&m.tiles[d.Tile], d, eye))
			}
		}
		last = d.Rep
	}
	if reps > 2 || reps == 2 && sum > 1+1e-9 {
		m.out.DoubleDrawn++
	}
	return most
}

// lookBelow notes that a node of the pyramid is drawn for some of the children of one,
// which it is itself or which lies below it.
func (m *Meter) lookBelow(node int32, parts uint64, d *runtime.Drawn) {
	for bit, child := range m.nodes[node-m.base].children {
		switch {
		case parts>>bit&1 == 0:
		case child >= m.base:
			m.lookBelow(child, math.MaxUint64, d)
		default:
			m.share(child, payload.RepHLOD, nameOfNode(d.Tile-m.base), d.Fade)
		}
	}
}

// share adds to what is drawn in the place of a tile: something of that name, with an
// opacity.
func (m *Meter) share(i int32, rep payload.Rep, name int32, fade float64) {
	p := &m.tiles[i].place
	if p.frame != m.frames {
		before := p.whole
		if p.frame != m.frames-1 {
			before = 0
		}
		*p = shared{frame: m.frames, before: before}
		m.touched = append(m.touched, i)
	}
	p.sum += fade
	p.rep = finer(p.rep, rep)
	p.nodes = p.nodes || name < 0
	if fade >= 1 {
		p.whole = name
	}
}

// drawnInView returns what is drawn, of nodes only for those children that are in view: what a
// coarse node shows beside the boxes of the others counts as theirs.
func (m *Meter) drawnInView() []runtime.Drawn {
	m.visible = m.visible[:0]
	for _, d := range m.drawn {
		if at := int(d.Tile - m.base); d.Parts != 0 && m.measures(&d) && at >= 0 && at < len(m.nodes) {
			for bit, child := range m.nodes[at].children {
				if !m.sight.sees(m.boxOf(child)) {
					d.Parts &^= 1 << bit
				}
			}
			if d.Parts == 0 {
				continue
			}
		}
		m.visible = append(m.visible, d)
	}
	return m.visible
}

// openings are the errors in pixels at which the first picture counts as good.
var openings = [...]float64{math.Inf(1), 8}

// opening notes when the first picture becomes complete, and good.
func (m *Meter) opening(stats *runtime.Stats, camera *runtime.Camera, now time.Duration) {
	for m.opens < len(openings) && m.ErrorPixels() <= openings[m.opens] && m.cover(stats, camera).Bare == 0 {
		if !math.IsInf(openings[m.opens], 1) && m.texelsExceed(camera, openings[m.opens]) {
			return
		}
		m.opened[m.opens] = now
		m.opens++
	}
}

// texelsExceed reports whether a texel that could be smaller covers more than so many pixels.
func (m *Meter) texelsExceed(camera *runtime.Camera, pixels float64) bool {
	return m.texels != nil && m.texels(*camera, m.drawnInView()) > pixels
}

// lookEvery is how often a picture is judged after the first one: looking at all texels takes longer
// than all else.
const lookEvery = 100 * time.Millisecond

// lookCloser counts the pictures, and those that are coarse.
func (m *Meter) lookCloser(camera *runtime.Camera, now time.Duration) {
	if m.opens == 0 || now < m.nextLook {
		return
	}
	good := openings[len(openings)-1]
	m.nextLook = max(m.nextLook, now-lookEvery) + lookEvery
	if m.looks++; m.ErrorPixels() > good || m.texelsExceed(camera, good) {
		m.coarse++
	}
}
