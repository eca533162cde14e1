package report

import (
	"fmt"

	"github.com/untoldkit/untold/internal/human"
)

// pyramidLevel is one level of the pyramid on a map.
type pyramidLevel struct {
	level     int
	boxes     []worldRect // of the nodes: around all tiles below
	triangles int64
	bytes     int64
	most      float64 // visual error, metres
}

// maxPyramidLevels bounds the levels that are drawn; a tree of a million tiles has ten.
const maxPyramidLevels = 16

// addPyramid gathers the nodes by level, the lowest first.
func (p *Map) addPyramid() {
	if p.m.Pyramid == nil {
		return
	}
	below := map[string]worldRect{}
	for i := range p.panels {
		for _, t := range p.panels[i].tiles {
			below[p.m.Tiles[t.index].ID] = t.cell
		}
	}
	at := map[int]int{}
	for i := range p.m.Pyramid.Nodes {
		n := &p.m.Pyramid.Nodes[i]
		box, found := worldRect{}, false
		for _, id := range n.Children {
			if b, ok := below[id]; ok && found {
				box = box.union(b)
			} else if ok {
				box, found = b, true
			}
		}
		if !found {
			continue
		}
		below[n.ID] = box
		k, ok := at[n.Level]
		if !ok {
			if len(p.pyramid) == maxPyramidLevels {
				continue
			}
			k = len(p.pyramid)
			at[n.Level] = k
			p.pyramid = append(p.pyramid, pyramidLevel{level: n.Level})
		}
		l := &p.pyramid[k]
		l.boxes = append(l.boxes, box)
		l.triangles, l.bytes, l.most = l.triangles+int64(n.TriangleCount), l.bytes+n.FileSizeBytes, max(l.most, n.VisualError)
	}
}

// pyramidStyle is the outline of the nodes of a level: the higher, the wider.
func pyramidStyle(index int, u float64) style {
	return style{line: pyramidColor, width: (1 + 1.25*float64(index)) * u}
}

// drawPyramid outlines the nodes, the lowest first.
func (p *Map) drawPyramid(d *drawing, l *layout, r rect) {
	for k := range p.pyramid {
		for _, b := range p.pyramid[k].boxes {
			d.rect(l.project(r, p.view, b), pyramidStyle(k, l.u))
		}
	}
}

// pyramidRows explains the outlines of the nodes.
func (p *Map) pyramidRows(g *legend) {
	if len(p.pyramid) == 0 {
		return
	}
	g.head("Pyramid of HLODs")
	for k := range p.pyramid {
		l := &p.pyramid[k]
		g.rows = append(g.rows, legendRow{sample: pyramidStyle(k, 1), text: fmt.Sprintf("level %d", l.level), value: human.Plural(len(l.boxes), "node")})
		g.note(shortCount(l.triangles) + " triangles, " + bytesText(l.bytes) + ", error " + metresText(l.most))
	}
}
