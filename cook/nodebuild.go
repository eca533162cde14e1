package cook

import (
	"context"
	"sync"

	"github.com/untoldkit/untold/cook/internal/pyramid"
)

// nodeBuilder makes each node of the pyramid as soon as all that lies below it is there,
// so that few tiles are kept. It is safe for use by several goroutines.
type nodeBuilder struct {
	c      *scenePlan
	b      *tileBuilder
	cells  []nodeCell
	parent []int         // by cell: the one around it, or -1
	keys   []sum         // by cell; nil for a dry run
	known  []*cellRecord // by cell: what an earlier cook has made of it, or nil
	cellOf map[int]int   // by tile

	mu    sync.Mutex
	waits []int         // by cell: how much of what lies below is not there yet
	tiles map[int]above // by tile, until its node is made
	made  []above       // by cell, until its parent is made
	nodes []*node       // by cell; nil: none is made
	busy  int           // goroutines that make nodes
}

// newNodeBuilder plans the pyramid above those of the payloads that have nodes above
// them; nil if there are none.
func (c *scenePlan) newNodeBuilder(b *tileBuilder, payloads []payload) (*nodeBuilder, error) {
	var tiles []int
	for i := range payloads {
		if payloads[i].above {
			tiles = append(tiles, i)
		}
	}
	if len(tiles) == 0 {
		return nil, nil
	}
	cells, err := c.nodeCells(tiles)
	if err != nil {
		return nil, err
	}
	y := &nodeBuilder{
		c: c, b: b, cells: cells, parent: make([]int, len(cells)), cellOf: map[int]int{}, waits: make([]int, len(cells)),
		tiles: map[int]above{}, made: make([]above, len(cells)), nodes: make([]*node, len(cells)),
	}
	for i := range cells {
		y.parent[i] = -1
		y.waits[i] = len(cells[i].tiles) + len(cells[i].cells)
		for _, t := range cells[i].tiles {
			y.cellOf[t] = i
		}
		for _, k := range cells[i].cells {
			y.parent[k] = i
		}
	}
	return y, nil
}

// order lists n payloads such that those below one node follow one another. What has no
// node above it comes first.
func (y *nodeBuilder) order(n int) []int {
	var out []int
	if y == nil {
		for i := range n {
			out = append(out, i)
		}
		return out
	}
	for i := range n {
		if _, ok := y.cellOf[i]; !ok {
			out = append(out, i)
		}
	}
	var walk func(cell int)
	walk = func(cell int) {
		out = append(out, y.cells[cell].tiles...)
		for _, k := range y.cells[cell].cells {
			walk(k)
		}
	}
	for i := range y.cells {
		if y.parent[i] < 0 {
			walk(i)
		}
	}
	return out
}

// put takes a tile that has been built, nil for one without geometry, and makes the nodes
// for which nothing else is missing.
func (y *nodeBuilder) put(ctx context.Context, tile int, parts []pyramid.Part) error {
	if y == nil {
		return nil
	}
	cell, ok := y.cellOf[tile]
	if !ok {
		return nil
	}
	if len(parts) > 0 {
		t := &y.c.planned.Tiles[tile]
		y.mu.Lock()
		y.tiles[tile] = above{id: t.ID, cell: t.Cell, Child: pyramid.Child{Parts: parts}}
		y.mu.Unlock()
	}
	for ; cell >= 0 && y.arrived(cell); cell = y.parent[cell] {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := y.make(cell); err != nil {
			return err
		}
	}
	return nil
}

// arrived counts what has come below a cell, and reports whether that was the last.
func (y *nodeBuilder) arrived(cell int) bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.waits[cell]--
	return y.waits[cell] == 0
}

// make makes what stands for a cell: its node, or its only child.
func (y *nodeBuilder) make(i int) error {
	if y.known != nil && y.known[i] != nil {
		return y.restore(i)
	}
	cell := &y.cells[i]
	below, jobs := y.take(cell), y.begin()
	defer y.end()
	if len(below) == 0 {
		return y.remember(i, nil, nil)
	}
	only := below[0]
	var n *node
	if len(below) > 1 || cell.alone && only.level == 0 {
		var err error
		if n, err = y.c.buildNode(y.b, cell, below, jobs); err != nil {
			return err
		}
		if n == nil {
			return y.remember(i, nil, nil)
		}
		only = above{n.ID, n.Level, around(below), pyramid.Child{Model: n.model.Joinable(), Of: modelsOf(below)}}
		n.model = nil
		y.nodes[i] = n
	}
	if only.Model != nil {
		if err := y.remember(i, n, &only); err != nil {
			return err
		}
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	y.made[i] = only
	return nil
}

// modelsOf returns the models of what a node was made of; nil if some of it is none.
func modelsOf(below []above) []*pyramid.Model {
	var out []*pyramid.Model
	for i := range below {
		if below[i].Model == nil {
			return nil
		}
		out = append(out, below[i].Model)
	}
	return out
}

// take returns what lies below a cell, which is kept no longer.
func (y *nodeBuilder) take(cell *nodeCell) (below []above) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for _, t := range cell.tiles {
		if a, ok := y.tiles[t]; ok {
			below = append(below, a)
			delete(y.tiles, t)
		}
	}
	for _, k := range cell.cells {
		if a := y.made[k]; !a.Empty() {
			below = append(below, a)
			y.made[k] = above{}
		}
	}
	return below
}

// begin begins to make a node, and returns how many goroutines it may use: all that make no
// other one.
func (y *nodeBuilder) begin() (jobs int) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.busy++
	return max(1, y.c.opts.jobs()/y.busy)
}

func (y *nodeBuilder) end() {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.busy--
}

// all returns the nodes, children before their parents.
func (y *nodeBuilder) all() []node {
	if y == nil {
		return nil
	}
	var out []node
	for _, n := range y.nodes {
		if n != nil {
			out = append(out, *n)
		}
	}
	return out
}
