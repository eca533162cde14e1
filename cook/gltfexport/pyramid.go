package gltfexport

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/untoldkit/untold/manifest"
)

// ErrNoLevel says that a manifest's pyramid lacks the wanted level, or that there is none.
var ErrNoLevel = errors.New("gltfexport: there is no such level of the pyramid")

// pyramidParts lists the nodes of the wanted level and, where a branch has none, the
// highest below; it returns the tiles that none of them stands in for.
func (e *exporter) pyramidParts(m *manifest.Manifest, path string) ([]part, []*manifest.Tile, error) {
	if err := e.checkLevel(m, path); err != nil {
		return nil, nil, err
	}
	nodes := m.Pyramid.Nodes
	number := map[string]int{} // tiles, and the nodes behind them
	for i := range m.Tiles {
		number[m.Tiles[i].ID] = i
	}
	parent := make([]int, len(m.Tiles)+len(nodes)) // by number: a node, -1 for none
	for i := range parent {
		parent[i] = -1
	}
	for i := range nodes {
		for _, id := range nodes[i].Children {
			// Parents come after their children, so hostile ones make no circle.
			if k, ok := number[id]; ok && parent[k] < 0 {
				parent[k] = i
			}
		}
		number[nodes[i].ID] = len(m.Tiles) + i
	}
	stands := make([]bool, len(nodes)) // it, or one above it, is exported
	var out []part
	for i := range slices.Backward(nodes) {
		n, up := &nodes[i], parent[len(m.Tiles)+i]
		switch {
		case up >= 0 && stands[up]:
			stands[i] = true
		case n.Level <= e.opts.PyramidLevel:
			stands[i] = true
			out = append(out, part{n.ID, n.Path})
		}
	}
	slices.Reverse(out)
	var tiles []*manifest.Tile
	for i := range m.Tiles {
		t, up := &m.Tiles[i], parent[i]
		switch {
		case up >= 0 && stands[up]:
		case up < 0 && t.Interior:
			e.notes.add("interior-tiles", 1, t.ID)
		default:
			tiles = append(tiles, t)
		}
	}
	return out, tiles, nil
}

// checkLevel refuses a level that no node has.
func (e *exporter) checkLevel(m *manifest.Manifest, path string) error {
	var levels []int
	if m.Pyramid != nil {
		for i := range m.Pyramid.Nodes {
			levels = append(levels, m.Pyramid.Nodes[i].Level)
		}
	}
	slices.Sort(levels)
	levels = slices.Compact(levels)
	switch {
	case len(levels) == 0:
		return fmt.Errorf("%w: %s has no pyramid: cook it with --pyramid", ErrNoLevel, path)
	case !slices.Contains(levels, e.opts.PyramidLevel):
		var there []string
		for _, l := range levels[:min(len(levels), maxLevelsTold)] {
			there = append(there, strconv.Itoa(l))
		}
		return fmt.Errorf("%w: %s has %s, not %d", ErrNoLevel, path, strings.Join(there, ", "), e.opts.PyramidLevel)
	}
	return nil
}

// maxLevelsTold bounds the levels in a message; a tree of a million tiles has ten.
const maxLevelsTold = 32
