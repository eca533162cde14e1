package simulate

import (
	"math"

	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/payload"
)

// shared is what is drawn in the place of a tile in one frame: representations of its
// own, and nodes of the pyramid above it.
type shared struct {
	frame int // counted from 1
	sum   float64
	rep   payload.Rep // the finest
	nodes bool        // nodes are among it
}

// look reads the list of what is drawn. The meshes of one representation, with
// one opacity, are drawn once.
func (m *Meter) look(drawn []runtime.Drawn) {
	m.drawn, m.touched = drawn, m.touched[:0]
	for len(drawn) > 0 {
		n := 1
		for n < len(drawn) && drawn[n].Tile == drawn[0].Tile && drawn[n].Scene == drawn[0].Scene {
			n++
		}
		if drawn[0].Parts == 0 {
			m.lookAtTile(drawn[:n])
		} else if m.measures(&drawn[0]) {
			for i := range n {
				m.lookBelow(drawn[i].Tile, drawn[i].Parts, &drawn[i])
			}
		}
		drawn = drawn[n:]
	}
	for _, i := range m.touched {
		t := &m.tiles[i]
		if t.place.nodes && t.place.sum > 1+1e-9 {
			m.out.DoubleDrawn++
		}
		m.show(i, t.place.rep)
	}
}

// measures reports whether an entry is of the scene that is measured.
func (m *Meter) measures(d *runtime.Drawn) bool { return m.scene == 0 || m.scene == d.Scene }

// lookAtTile reads the entries of one tile.
func (m *Meter) lookAtTile(list []runtime.Drawn) {
	sum, reps, last := 0.0, 0, payload.RepNone
	own := int(list[0].Tile) < len(m.tiles) && m.measures(&list[0]) // not the shared bucket
	for i := range list {
		d := &list[i]
		if d.Part == 0 || d.Rep != last {
			sum += d.Fade
			reps++
			if own {
				m.share(d.Tile, d.Rep, d, false)
			}
		}
		last = d.Rep
	}
	if reps > 2 || reps == 2 && sum > 1+1e-9 {
		m.out.DoubleDrawn++
	}
}

// lookBelow reads an entry of a node of the pyramid, which is drawn for some of its
// children.
func (m *Meter) lookBelow(node int32, parts uint64, d *runtime.Drawn) {
	at := int(node - m.nodes)
	if at < 0 || at >= len(m.below) {
		return
	}
	for bit, child := range m.below[at] {
		switch {
		case parts>>bit&1 == 0:
		case child >= m.nodes:
			m.lookBelow(child, math.MaxUint64, d)
		default:
			m.share(child, payload.RepHLOD, d, true)
		}
	}
}

// share adds an entry to what is drawn in the place of a tile.
func (m *Meter) share(i int32, rep payload.Rep, d *runtime.Drawn, node bool) {
	p := &m.tiles[i].place
	if p.frame != m.frames {
		*p = shared{frame: m.frames}
		m.touched = append(m.touched, i)
	}
	p.sum += d.Fade
	p.rep = finer(p.rep, rep)
	p.nodes = p.nodes || node
}
