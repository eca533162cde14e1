package partition

import (
	"strconv"
	"strings"
)

// TreePlace is where a tile of floors lies in the trees of a plan.
type TreePlace struct {
	Tree  byte   // Q quadtree, K kd-tree
	Floor int    // the number in the node's id: 1 is the lowest
	Path  string // the children from the root down, one digit each; "" is the root
}

// Place returns where the node of a tile of floors lies; its id has one of the forms of
// Annotation.Node.
func (t *Tile) Place() TreePlace {
	floor := digits(strings.TrimPrefix(t.NodeID, "F"))
	rest := strings.ReplaceAll(t.NodeID[min(len(t.NodeID), 1+len(floor)):], "_", "")
	var p TreePlace
	p.Floor, _ = strconv.Atoi(floor)
	if rest != "" {
		p.Tree, p.Path = rest[0], rest[1:]
	}
	return p
}
