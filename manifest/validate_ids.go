package manifest

import (
	"cmp"
	"slices"

	"github.com/untoldkit/untold/finding"
	"github.com/untoldkit/untold/internal/human"
	"github.com/untoldkit/untold/manifest/tileid"
)

// names checks what ids, nodes, floors and tiers say against each other.
func (v *validator) names() {
	if !v.m.HasFloors() {
		v.gridNames()
		return
	}
	for i := range v.m.Tiles {
		at := v.tilePointer(i)
		v.nodeID(&v.m.Tiles[i], at)
		v.tier(&v.m.Tiles[i], at)
	}
	v.floors()
	v.zone()
}

// gridNames checks the tiles of a grid.
func (v *validator) gridNames() {
	floors, first := 0, ""
	for i := range v.m.Tiles {
		t := &v.m.Tiles[i]
		if c, ok := tileid.ParseGrid(t.ID); ok && t.GridCoord != nil && *t.GridCoord != c {
			v.add(codeGridCoord, v.tilePointer(i)+"/grid_coord", "grid_coord %v is not that of the id %q", *t.GridCoord, human.Clip(t.ID, 80))
		}
		if t.FloorID != nil || t.QuadtreeNodeID != "" {
			if floors++; floors == 1 {
				first = v.tilePointer(i)
			}
		}
	}
	if floors > 0 {
		v.add(codeFloor, first, "%d tiles have a floor_id or quadtree_node_id, which the engine passes over unless the mode is %s or %s",
			floors, ModeQuadtreeFloor, ModeKDTreeFloor)
	}
}

// nodeID checks the node of a tile and its id.
func (v *validator) nodeID(t *Tile, at string) {
	node, ok := tileid.ParseNode(t.QuadtreeNodeID)
	switch {
	case t.QuadtreeNodeID == "":
		v.add(codeNodeID, at, "the tile %q has no quadtree_node_id", human.Clip(t.ID, 80))
		return
	case !ok:
		v.add(codeNodeID, at+"/quadtree_node_id", "%q is no node id: the engine finds no parent for it", human.Clip(t.QuadtreeNodeID, 80))
		return
	case node.Tree == 'K' != (v.m.PartitioningMode == ModeKDTreeFloor):
		// Annotated scenes have the ids of their own tool.
		v.grade(finding.Info, codeNodeID, at+"/quadtree_node_id", "the node %s is of another tree than the mode %s", t.QuadtreeNodeID, v.m.PartitioningMode)
	}
	if code := tileid.TierCode(t.SemanticTier); t.ID != "" && code != "" && t.ID != t.QuadtreeNodeID+"_"+code {
		v.add(codeTileID, at+"/tile_id", "the tile id %q is not %s_%s, as its node and tier have it", human.Clip(t.ID, 80), t.QuadtreeNodeID, code)
	}
}

// tier checks the semantic tier of a tile.
func (v *validator) tier(t *Tile, at string) {
	switch {
	case t.SemanticTier == "":
		v.add(codeTier, at, "the tile %q has no semantic_tier", human.Clip(t.ID, 80))
	case tileid.TierCode(t.SemanticTier) == "":
		v.add(codeTier, at+"/semantic_tier", "unknown semantic tier %q", human.Clip(t.SemanticTier, 80))
	}
}

// floors checks floor ids: all present, none negative, and all counted from
// the same base as the numbers in the node ids, 1 less (the ground floor is 0)
// or the same (the reference exporter's way).
func (v *validator) floors() {
	type odd struct {
		floor int
		node  string
	}
	var wrong sharedBy[odd]
	base := v.floorBase()
	for i := range v.m.Tiles {
		t := &v.m.Tiles[i]
		n, ok := tileid.ParseNode(t.QuadtreeNodeID)
		switch {
		case t.FloorID == nil:
			v.add(codeFloor, v.tilePointer(i), "the tile %q has no floor_id: the engine gives it no floor", human.Clip(t.ID, 80))
		case *t.FloorID < 0:
			v.add(codeFloor, v.tilePointer(i)+"/floor_id", "floor_id %d is negative", *t.FloorID)
		case ok && n.Floor-*t.FloorID != base:
			wrong.add(odd{*t.FloorID, t.QuadtreeNodeID}, i)
		}
	}
	for _, k := range wrong.order {
		v.add(codeFloor, v.tilePointer(wrong.first[k])+"/floor_id", "floor_id %d does not go with the node %s: here floor_id is its number%s%s",
			k.floor, k.node, map[int]string{0: "", 1: " less 1"}[base], wrong.others(k))
	}
}

// floorBase returns how much lower than the number in the node id most floor
// ids are: 1 or 0.
func (v *validator) floorBase() int {
	count := map[int]int{}
	for i := range v.m.Tiles {
		t := &v.m.Tiles[i]
		if n, ok := tileid.ParseNode(t.QuadtreeNodeID); ok && t.FloorID != nil {
			count[n.Floor-*t.FloorID]++
		}
	}
	return slices.MaxFunc([]int{1, 0}, func(a, b int) int { return cmp.Compare(count[a], count[b]) })
}

// zone reports interior tiles that the zone does not touch: a camera inside it
// is rarely near them.
func (v *validator) zone() {
	z := v.m.InteriorZone
	if z == nil || !(z.Min[0] <= z.Max[0] && z.Min[1] <= z.Max[1] && z.Min[2] <= z.Max[2]) {
		return // interior reports that
	}
	n, first := 0, ""
	for i := range v.m.Tiles {
		t := &v.m.Tiles[i]
		apart := false
		for a := range 3 {
			apart = apart || t.Bounds.Max[a] < z.Min[a] || t.Bounds.Min[a] > z.Max[a]
		}
		if t.Interior && apart {
			if n++; n == 1 {
				first = v.tilePointer(i)
			}
		}
	}
	if n > 0 {
		v.grade(finding.Info, codeInteriorZone, first+"/interior", "%d interior tiles lie outside interior_zone", n)
	}
}
