package runtime

import (
	"strings"

	"github.com/untoldkit/untold/internal/geom"
)

// hierarchy is the index of parent regions: every prefix of the tiles'
// quadtree or kd-tree node ids, with the box of all tiles below it, at whatever
// depth.
type hierarchy struct {
	byName map[string]int32 // only while building
	parent []int32          // -1: none
	box    []geom.Box
	judged []uint32 // last tick in which hidden was computed
	hidden []bool   // covered by nearer loaded tiles
}

// maxHierarchyDepth bounds the ancestors of one tile; real trees have about 10.
const maxHierarchyDepth = 64

// parentOf returns the region that holds a tile with the given node id, and
// creates it and its ancestors; -1 when the id has no parent, or depth, how many
// levels below were asked for, is too large.
func (h *hierarchy) parentOf(nodeID string, depth int) int32 {
	name, ok := parentName(nodeID)
	if !ok || depth == maxHierarchyDepth {
		return -1
	}
	if i, known := h.byName[name]; known {
		return i
	}
	up := h.parentOf(name, depth+1)
	i := int32(len(h.parent))
	h.byName[name] = i
	h.parent = append(h.parent, up)
	h.box = append(h.box, geom.EmptyBox())
	return i
}

// finish computes the boxes and drops what only building needs.
func (h *hierarchy) finish(t *table) {
	for i, node := range t.node {
		for ; node >= 0; node = h.parent[node] {
			h.box[node] = h.box[node].Union(t.box[i])
		}
	}
	h.byName = nil
	h.judged = make([]uint32, len(h.parent))
	h.hidden = make([]bool, len(h.parent))
}

// parentName returns the prefix of a node id: up to the last underscore
// ("F02_Q_0_1" to "F02_Q_0"), or in the compact form without the last digit
// ("F02Q10" to "F02Q1").
func parentName(id string) (string, bool) {
	if len(id) <= 1 {
		return "", false
	}
	if i := strings.LastIndexByte(id, '_'); i >= 0 {
		return id[:i], i > 0
	}
	last := len(id) - 1
	if id[last] < '0' || id[last] > '9' || id[0] != 'F' || strings.IndexByte(id, 'Q') < 0 {
		return "", false
	}
	return id[:last], true
}
