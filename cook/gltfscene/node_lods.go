package gltfscene

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/untoldkit/untold/internal/jsonscan"
)

const lodName = "MSFT_lod"

var lodSchema = &schema{[]prop{{name: "ids", kind: isInts, need: true}}}

// lodOwner is a placed node with MSFT_lod.
type lodOwner struct {
	node   int // in Scene.Nodes
	hidden bool
	ext    []byte
}

// lodGroups collects groups before it is known which of them nest.
type lodGroups struct {
	list []LODGroup
	// of tells which group and level a node is a root of, by its position;
	// group is 1 + index into list.
	of map[int]LODRef
}

// add appends a group.
func (g *lodGroups) add(group LODGroup) {
	g.list = append(g.list, group)
	for level, l := range group.Levels {
		for _, node := range l.Nodes {
			g.of[node] = LODRef{Group: len(g.list), Level: level}
		}
	}
}

// groupLODs finds the groups and marks their nodes.
func (np *nodePlacer) groupLODs() error {
	g := &lodGroups{of: make(map[int]LODRef)}
	// Nodes that MSFT_lod places may have it too: lodOwners grows meanwhile.
	for i := 0; i < len(np.lodOwners); i++ {
		if err := np.groupOwner(g, np.lodOwners[i]); err != nil {
			return err
		}
	}
	np.groupNames(g)
	np.markLODs(g)
	return nil
}

// groupOwner makes a group of a node with MSFT_lod. A faulty level is noted.
func (np *nodePlacer) groupOwner(g *lodGroups, owner lodOwner) error {
	self := np.scene.Nodes[owner.node]
	place := np.doc.nodes.place(self.Index) + ".extensions." + lodName
	var ext struct{ IDs []int }
	if err := lodSchema.decode(owner.ext, &ext); err != nil {
		np.lodFault(at(place, err))
		return nil
	}
	group := LODGroup{Name: self.Name, Levels: []LODLevel{{[]int{owner.node}}}}
	if _, taken := g.of[owner.node]; taken {
		np.notes.warn("lod-nested", place, nestedLOD)
		return nil
	}
	for i, id := range ext.IDs {
		where := fmt.Sprintf("%s.ids[%d]", place, i)
		if err := np.doc.nodes.check(id); err != nil {
			np.lodFault(at(where, err))
			continue
		}
		if np.placed[id] == 0 {
			first := pending{index: id, parent: self.Parent, hidden: owner.hidden, level: where, lesser: true}
			if err := np.descend([]pending{first}, ""); err != nil {
				return err
			}
		}
		node := int(np.placed[id] - 1)
		_, taken := g.of[node]
		if taken || np.related(node, owner.node) || slices.ContainsFunc(group.Levels, func(l LODLevel) bool { return l.Nodes[0] == node }) {
			np.lodFault(malformed(where, "node %d is a level already, or contains the node that names it", id))
			continue
		}
		group.Levels = append(group.Levels, LODLevel{[]int{node}})
	}
	if len(group.Levels) > 1 {
		group.Coverage = coverage(self.Extras, len(ext.IDs)+1, len(group.Levels))
		g.add(group)
	}
	return nil
}

const nestedLOD = "levels of detail within a level of another group were left out but for the finest"

func (np *nodePlacer) lodFault(err error) {
	np.notes.fault("lod-faulty", "a faulty level of detail was ignored", err)
}

// related reports whether a is b or one lies below the other.
func (np *nodePlacer) related(a, b int) bool {
	// Parents come first: only the larger can lie below.
	for low, high := max(a, b), min(a, b); low >= high; low = np.scene.Nodes[low].Parent {
		if low == high {
			return true
		}
	}
	return false
}

// coverage reads MSFT_screencoverage, nil unless it has a number within 0 to
// 1 for each level and no level was ignored.
func coverage(extras []byte, named, levels int) []float64 {
	raw := jsonscan.Member(extras, "MSFT_screencoverage")
	if len(raw) == 0 || raw[0] != '[' || named != levels {
		return nil
	}
	var list []float64
	for _, e := range jsonscan.Elements(raw, 0) {
		v, err := strconv.ParseFloat(string(e.Of(raw)), 64)
		if err != nil || !(v >= 0 && v <= 1) {
			v = math.NaN()
		}
		list = append(list, v)
	}
	if len(list) != levels || slices.ContainsFunc(list, func(v float64) bool { return v != v }) {
		return nil
	}
	return list
}

// splitLOD splits a name such as "Tree_LOD2" into what the levels have in
// common and the level. A number that a tool appended to make the name unique
// ("Tree_LOD2.001") belongs to the common part.
func splitLOD(name string) (common string, level int, ok bool) {
	stem, suffix := name, ""
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 && allDigits(name[dot+1:]) {
		stem, suffix = name[:dot], name[dot:]
	}
	end := len(stem)
	for end > 0 && stem[end-1] >= '0' && stem[end-1] <= '9' {
		end--
	}
	digits := stem[end:]
	const mark = "_LOD"
	if len(digits) == 0 || len(digits) > 2 || end <= len(mark) || !strings.EqualFold(stem[end-len(mark):end], mark) {
		return "", 0, false
	}
	level, _ = strconv.Atoi(digits)
	return stem[:end-len(mark)] + suffix, level, true
}

func allDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// groupNames makes groups of siblings that are named as levels of one thing.
func (np *nodePlacer) groupNames(g *lodGroups) {
	type key struct {
		parent int
		common string
	}
	levels := make(map[key]map[int][]int) // level -> nodes
	var order []key
	for i := range np.scene.Nodes {
		n := &np.scene.Nodes[i]
		common, level, ok := splitLOD(n.Name)
		if !ok {
			continue
		}
		if _, taken := g.of[i]; taken {
			continue
		}
		k := key{n.Parent, common}
		if levels[k] == nil {
			levels[k] = make(map[int][]int)
			order = append(order, k)
		}
		levels[k][level] = append(levels[k][level], i)
	}
	for _, k := range order {
		np.addNamed(g, k.common, levels[k])
	}
}

// addNamed adds the group of one common name, or several if each level has
// as many nodes: then the first of each level belong together, and so on.
func (np *nodePlacer) addNamed(g *lodGroups, name string, levels map[int][]int) {
	if len(levels) < 2 {
		return
	}
	var ranks []int
	for level := range levels {
		ranks = append(ranks, level)
	}
	slices.Sort(ranks)
	count, even := len(levels[ranks[0]]), true
	for _, level := range ranks {
		even = even && len(levels[level]) == count
	}
	place := np.doc.nodes.place(np.scene.Nodes[levels[ranks[0]][0]].Index)
	if ranks[0] != 0 {
		np.notes.warn("lod-level-missing", place, "nodes are named as levels of detail without a level 0: the finest there is counts as level 0")
	}
	if !even {
		np.notes.warn("lod-ambiguous", place, "several nodes have the name of one level of detail, and not as many in each level: they count as one group")
		count = 1
	}
	for k := range count {
		group := LODGroup{Name: name}
		for _, level := range ranks {
			nodes := levels[level]
			if even {
				nodes = nodes[k : k+1 : k+1]
			}
			group.Levels = append(group.Levels, LODLevel{nodes})
		}
		g.add(group)
	}
}

// markLODs sets Node.LOD of the groups' nodes and all below them, and
// Scene.LODs. Groups within a group dissolve: their finest level belongs to
// the outer one, the others are left out.
func (np *nodePlacer) markLODs(g *lodGroups) {
	if len(g.list) == 0 {
		return
	}
	const nested = -1
	number := make([]int, len(g.list)) // in Scene.LODs + 1, 0 for not yet known
	out := make([]bool, len(np.scene.Nodes))
	for i := range np.scene.Nodes {
		n := &np.scene.Nodes[i]
		if n.Parent >= 0 {
			n.LOD, out[i] = np.scene.Nodes[n.Parent].LOD, out[n.Parent]
		}
		root, ok := g.of[i]
		if ok && number[root.Group-1] == 0 {
			if n.LOD.Group == 0 {
				np.scene.LODs = append(np.scene.LODs, g.list[root.Group-1])
				number[root.Group-1] = len(np.scene.LODs)
			} else {
				number[root.Group-1] = nested
				np.notes.warn("lod-nested", np.doc.nodes.place(n.Index), nestedLOD)
			}
		}
		switch {
		case !ok:
		case number[root.Group-1] != nested:
			n.LOD = LODRef{Group: number[root.Group-1], Level: root.Level}
		case root.Level > 0:
			out[i] = true
		}
		if out[i] {
			n.Mesh = -1
		}
	}
	np.notes.add(len(np.scene.LODs), false, "lod-groups", np.doc.nodes.place(np.scene.Nodes[np.scene.LODs[0].Levels[0].Nodes[0]].Index),
		"groups of nodes that are levels of detail of one thing: the finest level is drawn")
}

// demoteLODs moves the meshes of all levels but the finest out of Node.Mesh.
func (s *Scene) demoteLODs() {
	for i := range s.Nodes {
		n := &s.Nodes[i]
		n.LOD.Mesh = n.Mesh
		if n.LOD.Group == 0 {
			n.LOD.Mesh = 0
		}
		if n.LOD.Level > 0 {
			n.Mesh = -1
		}
	}
}
