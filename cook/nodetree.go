package cook

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/untoldkit/untold/partition"
)

// mostChildren is how many children a node of the pyramid has at most, as manifests have
// it.
const mostChildren = 64

// nodeCell is a place of the scene of which a node of the pyramid may be made. What is
// left of it decides: with one child the cell is skipped, and the child goes up.
type nodeCell struct {
	id    string
	level int   // of the node; 0: one above the highest of its children
	tiles []int // what lies in it, by the number of the tile
	cells []int // smaller cells in it, by their number, which is less than its own
	// alone: a single tile makes a node, too.
	alone bool
}

// nodeCells returns the tree of cells above tiles of the plan, which are named by their
// number: the last cell is around all others.
func (c *scenePlan) nodeCells(tiles []int) ([]nodeCell, error) {
	if c.opts.hasFloors() {
		return treeCells(c.planned.Tiles, tiles), nil
	}
	cells, err := gridCells(c.planned.Tiles, tiles)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.path, err)
	}
	return cells, nil
}

// gridPlace is a tile or cell of a grid, counted from the least along both sides.
type gridPlace struct{ x, z, number int }

// gridCells gathers four cells to one, until one is left. Every tile has a node of the
// first level.
func gridCells(all []partition.Tile, tiles []int) ([]nodeCell, error) {
	x, z := all[tiles[0]].Coord[0], all[tiles[0]].Coord[2]
	for _, t := range tiles {
		x, z = min(x, all[t].Coord[0]), min(z, all[t].Coord[2])
	}
	var below []gridPlace
	for _, t := range tiles {
		below = append(below, gridPlace{all[t].Coord[0] - x, all[t].Coord[2] - z, t})
	}
	var out []nodeCell
	for level := 1; level == 1 || len(below) > 1; level++ {
		slices.SortStableFunc(below, func(a, b gridPlace) int {
			return cmp.Or(cmp.Compare(a.z/2, b.z/2), cmp.Compare(a.x/2, b.x/2))
		})
		var next []gridPlace
		for _, p := range below {
			p.x, p.z = p.x/2, p.z/2
			if n := len(next); n == 0 || next[n-1].x != p.x || next[n-1].z != p.z {
				next = append(next, gridPlace{p.x, p.z, len(out)})
				out = append(out, nodeCell{id: fmt.Sprintf("hlod_%d_%d_%d", level, p.x, p.z), level: level, alone: true})
			}
			if cell := &out[len(out)-1]; level == 1 {
				cell.tiles = append(cell.tiles, p.number)
			} else {
				cell.cells = append(cell.cells, p.number)
			}
		}
		below = next
	}
	for i := range out {
		if n := len(out[i].tiles); n > mostChildren {
			return nil, fmt.Errorf("%d tiles stand above each other in one place, and a node of the pyramid has %d children at most: give tiles more height (--tile-size-y)", n/4, mostChildren)
		}
	}
	return out, nil
}

// treeCells follows the trees of floors. All storeys of a quadtree share its
// rectangles, so a cell has those of all; each storey of a kd-tree is cut in its own
// places, so each has cells of its own, and what is around all storeys joins them.
func treeCells(all []partition.Tile, tiles []int) []nodeCell {
	in := map[partition.TreePlace][]int{}
	var places []partition.TreePlace
	for _, t := range tiles {
		p := all[t].Place()
		if p.Tree == 'Q' {
			p.Floor = 0
		}
		if _, known := in[p]; !known {
			places = append(places, p)
		}
		in[p] = append(in[p], t)
	}
	for i := 0; i < len(places); i++ { // those above are found on the way
		if p := places[i]; p.Path != "" {
			p.Path = p.Path[:len(p.Path)-1]
			if _, known := in[p]; !known {
				in[p] = nil
				places = append(places, p)
			}
		}
	}
	slices.SortFunc(places, func(a, b partition.TreePlace) int {
		return cmp.Or(cmp.Compare(len(b.Path), len(a.Path)), cmp.Compare(a.Tree, b.Tree), cmp.Compare(a.Floor, b.Floor), cmp.Compare(a.Path, b.Path))
	})
	var out []nodeCell
	below := map[partition.TreePlace][]int{}
	var roots []int
	for _, p := range places {
		out = bundled(out, nodeCell{id: placeID(p), tiles: in[p], cells: below[p]})
		if p.Path == "" {
			roots = append(roots, len(out)-1)
			continue
		}
		p.Path = p.Path[:len(p.Path)-1]
		below[p] = append(below[p], len(out)-1)
	}
	if len(roots) > 1 {
		out = bundled(out, nodeCell{id: "hlod_floors", cells: roots})
	}
	out[len(out)-1].alone = true
	return out
}

// placeID names the node of a place of a tree after the node's id there.
func placeID(p partition.TreePlace) string {
	id := "hlod_"
	if p.Floor > 0 {
		id += fmt.Sprintf("F%02d_", p.Floor)
	}
	id += string(p.Tree)
	for i := range len(p.Path) {
		id += "_" + p.Path[i:i+1]
	}
	return id
}

// bundled appends a cell, and before it cells of its parts where it has more children
// than a node may have: of storeys that follow one another.
func bundled(out []nodeCell, c nodeCell) []nodeCell {
	for part := 1; len(c.tiles)+len(c.cells) > mostChildren; {
		n := len(c.tiles) + len(c.cells)
		parts := (n + mostChildren - 1) / mostChildren
		var cells []int
		for k := range parts {
			from, to := n*k/parts, n*(k+1)/parts
			t, u := min(from, len(c.tiles)), min(to, len(c.tiles))
			cells = append(cells, len(out))
			out = append(out, nodeCell{
				id: fmt.Sprintf("%s_part%d", c.id, part), tiles: c.tiles[t:u], cells: c.cells[from-t : to-u],
			})
			part++
		}
		c.tiles, c.cells = nil, cells
	}
	return append(out, c)
}
