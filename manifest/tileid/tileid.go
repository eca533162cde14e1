// Package tileid reads the names of tiles: grid coordinates, nodes of a quadtree
// or kd-tree, semantic tiers.
package tileid

import (
	"strconv"
	"strings"
)

// The semantic tiers, as manifests name them.
const (
	TierExteriorShell      = "ExteriorShell"
	TierStructuralInterior = "StructuralInterior"
	TierRoomContents       = "RoomContents"
	TierFineProps          = "FineProps"
)

// tierCodes maps the codes at the end of tile ids to semantic tiers.
var tierCodes = map[string]string{
	"ES": TierExteriorShell, "SI": TierStructuralInterior, "RC": TierRoomContents, "FP": TierFineProps,
}

// maxIDNumber bounds the numbers in ids; those of the exporter stay far below.
const maxIDNumber = 1 << 30

// ParseGrid reads the id of a grid tile, tile_<tx>_<ty>_<tz>, as in
// tile_1_0_-2. ok is false for any other text, also for one with leading zeros
// or a plus sign: ids are compared as texts.
func ParseGrid(id string) (coord [3]int, ok bool) {
	rest, ok := strings.CutPrefix(id, "tile_")
	if !ok {
		return coord, false
	}
	for i := range coord {
		number := rest
		if i < len(coord)-1 {
			if number, rest, ok = strings.Cut(rest, "_"); !ok {
				return coord, false
			}
		}
		n, err := strconv.Atoi(number)
		if err != nil || n < -maxIDNumber || n > maxIDNumber || strconv.Itoa(n) != number {
			return coord, false
		}
		coord[i] = n
	}
	return coord, true
}

// Node is a parsed quadtree_node_id.
type Node struct {
	Floor int    // the number in the id: 1 is the lowest floor
	Tree  byte   // 'Q' quadtree, 'K' kd-tree
	Path  string // the children from the root down, one digit each; "" is the root
	// Compact ids have no underscores, as in F02Q100 for F02_Q_1_0_0.
	Compact bool
}

// ParseNode reads a quadtree_node_id: F01_Q_0_3 and F02_K_1, or in the
// compact form of annotated scenes F02Q100. The digits are 0 to 3 in a
// quadtree, 0 and 1 in a kd-tree. ok is false for any other text; the engine
// finds no parent for such a node.
func ParseNode(id string) (n Node, ok bool) {
	rest, ok := strings.CutPrefix(id, "F")
	if !ok {
		return n, false
	}
	end := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	if end < 2 || end > 7 { // %02d
		return n, false
	}
	n.Floor, _ = strconv.Atoi(rest[:end])
	rest = rest[end:]
	n.Compact = rest[0] != '_'
	rest = strings.TrimPrefix(rest, "_")
	if n.Floor < 1 || rest == "" || rest[0] != 'Q' && rest[0] != 'K' {
		return n, false
	}
	n.Tree, rest = rest[0], rest[1:]
	children := map[byte]string{'Q': "0123", 'K': "01"}[n.Tree]
	path := make([]byte, 0, len(rest))
	for rest != "" {
		if !n.Compact {
			if rest, ok = strings.CutPrefix(rest, "_"); !ok || rest == "" {
				return n, false
			}
		}
		if !strings.Contains(children, rest[:1]) {
			return n, false
		}
		path, rest = append(path, rest[0]), rest[1:]
	}
	n.Path = string(path)
	return n, true
}

// ParseFloorTile splits the id of a tile of a floor, such as F01_Q_0_SI,
// into the node's id and the semantic tier, one of the Tier constants. ok is
// false for any other text.
func ParseFloorTile(id string) (node, tier string, ok bool) {
	at := strings.LastIndexByte(id, '_')
	if at < 0 {
		return "", "", false
	}
	node = id[:at]
	tier, ok = tierCodes[id[at+1:]]
	if _, valid := ParseNode(node); !ok || !valid {
		return "", "", false
	}
	return node, tier, true
}

// TierCode returns the code of a semantic tier, "" for an unknown one.
func TierCode(tier string) string {
	for code, t := range tierCodes {
		if t == tier {
			return code
		}
	}
	return ""
}
