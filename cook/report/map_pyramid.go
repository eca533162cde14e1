package report

import (
	"fmt"

	"github.com/untoldkit/untold/internal/human"
)

// pyramidLevel is one level of the pyramid on a map.
type pyramidLevel struct {
	level     int
	nodes     []pyramidNode
	triangles int64
	bytes     int64
	most      float64 // visual error, metres
}

// pyramidNode is a node on a map.
type pyramidNode struct {
	box    worldRect // around all tiles below
	panels uint64    // a bit for each one that has tiles below
}

// maxPyramidLevels bounds the levels that are drawn; a tree of a million tiles has ten.
const maxPyramidLevels = 16

// addPyramid gathers the nodes by level, the lowest first.
func (p *Map) addPyramid() {
	if p.m.Pyramid == nil {
		return
	}
	below := map[string]pyramidNode{}
	for i := range p.panels {
		p.panels[i].bit = 1 << i
		for _, t := range p.panels[i].tiles {
			below[p.m.Tiles[t.index].ID] = pyramidNode{t.cell, 1 << i}
		}
	}
	at := map[int]int{}
	for i := range p.m.Pyramid.Nodes {
		n := &p.m.Pyramid.Nodes[i]
		var all pyramidNode
		for _, id := range n.Children {
			if b, ok := below[id]; ok && all.panels != 0 {
				all.box, all.panels = all.box.union(b.box), all.panels|b.panels
			} else if ok {
				all = b
			}
		}
		if all.panels == 0 {
			continue
		}
		below[n.ID] = all
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
		l.nodes = append(l.nodes, all)
		l.triangles, l.bytes, l.most = l.triangles+int64(n.TriangleCount), l.bytes+n.FileSizeBytes, max(l.most, n.VisualError)
	}
}

// pyramidStyle is the outline of the nodes of a level: the higher, the wider.
func (p *Map) pyramidStyle(index int, u float64) style {
	step := min(1.25, widestNode/float64(len(p.pyramid)))
	return style{line: pyramidColor, width: (1 + float64(step*float64(index))) * u}
}

// widestNode is about how wide outlines of nodes become, pixels of a small map.
const widestNode = 5

// drawPyramid outlines the nodes that have tiles on a panel, the lowest first.
func (p *Map) drawPyramid(d *drawing, l *layout, a *panel, r rect) {
	for k := range p.pyramid {
		for _, n := range p.pyramid[k].nodes {
			if n.panels&a.bit != 0 {
				d.rect(l.project(r, p.view, n.box), p.pyramidStyle(k, l.u))
			}
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
		g.rows = append(g.rows, legendRow{sample: p.pyramidStyle(k, 1), text: fmt.Sprintf("level %d", l.level), value: human.Plural(len(l.nodes), "node")})
		g.note(shortCount(l.triangles) + " triangles, " + bytesText(l.bytes) + ", error " + metresText(l.most))
	}
}
