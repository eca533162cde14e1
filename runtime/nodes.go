package runtime

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/internal/geom"
)

// nodes is how an asset streams mesh by mesh: its renderable nodes are the
// parts 1, 2, ..., and each of them is a stub of its own, but for those that are
// the levels of one thing, which are one stub together.
type nodes struct {
	parents []int32 // index of each entity's parent or -1; nil when none has one
	list    []int32 // renderable entities: part p is list[p-1]
	stubs   []stubPlan
	groups  int   // stubs with several levels
	bytes   int64 // of GPU memory, all parts together
}

// stubPlan is what is known of a stub from its file.
type stubPlan struct {
	name  string // unique in the asset, the same in every load
	box   geom.Box
	bytes int64
	parts []partPlan // by level, the finest first
}

// partPlan is one part of a stub.
type partPlan struct {
	part  int32 // from 1
	level int16 // as in X_LOD2
	bytes int64
}

// maxGroupParts is how many parts a LOD group may have: the states of its parts
// are bits of a word. A group with more is streamed node by node.
const maxGroupParts = 64

func (n *nodes) parent(at int) int {
	if n.parents == nil {
		return -1
	}
	return int(n.parents[at])
}

// layout returns the nodes of an asset. The first call does the work; the
// FileLoader makes it in its workers.
func (a *Asset) layout() *nodes {
	if a.nodes == nil {
		a.nodes = a.planNodes()
	}
	return a.nodes
}

func (a *Asset) planNodes() *nodes {
	n := &nodes{}
	for i := range a.Entities {
		if a.Entities[i].MeshCount > 0 {
			n.list = append(n.list, int32(i))
		}
		if a.Entities[i].ParentID != format.NoIndex && n.parents == nil {
			n.parents = a.findParents()
		}
	}
	n.stubs = make([]stubPlan, 0, len(n.list))
	parts := make([]partPlan, len(n.list))
	var groups groupFinder
	for i, at := range n.list {
		e := &a.Entities[at]
		parts[i] = partPlan{part: int32(i + 1), bytes: a.bytesOf(e)}
		n.bytes += parts[i].bytes
		name := a.nameOf(e)
		if common, level, ok := splitLOD(name); ok {
			parts[i].level = int16(level)
			groups.add(common, n.parent(int(at)), i)
			continue
		}
		n.stubs = append(n.stubs, stubPlan{name: name, box: boxOf(e.WorldBounds), bytes: parts[i].bytes, parts: parts[i : i+1 : i+1]})
	}
	for _, members := range groups.lists {
		for _, g := range divide(members, parts) {
			n.addGroup(a, g, parts)
		}
	}
	slices.SortFunc(n.stubs, func(x, y stubPlan) int { return cmp.Compare(x.first(), y.first()) })
	n.nameStubs()
	return n
}

// first returns the lowest part of a stub.
func (p *stubPlan) first() int32 {
	least := p.parts[0].part
	for _, x := range p.parts {
		least = min(least, x.part)
	}
	return least
}

func (a *Asset) findParents() []int32 {
	byID := make(map[uint32]int32, len(a.Entities))
	for i := range a.Entities {
		byID[a.Entities[i].ID] = int32(i)
	}
	out := make([]int32, len(a.Entities))
	for i := range a.Entities {
		out[i] = -1
		if up, ok := byID[a.Entities[i].ParentID]; ok && a.Entities[i].ParentID != format.NoIndex && int(up) != i {
			out[i] = up
		}
	}
	return out
}

func (a *Asset) nameOf(e *format.Entity) string {
	if a.Strings == nil {
		return ""
	}
	return a.Strings(e.NameOffset)
}

// addGroup makes one stub of the given places in parts.
func (n *nodes) addGroup(a *Asset, members []int, parts []partPlan) {
	p := stubPlan{box: geom.EmptyBox(), parts: make([]partPlan, 0, len(members))}
	for _, i := range members {
		e := &a.Entities[n.list[i]]
		if p.name == "" {
			p.name, _, _ = splitLOD(a.nameOf(e))
		}
		p.box, p.bytes = p.box.Union(boxOf(e.WorldBounds)), p.bytes+parts[i].bytes
		p.parts = append(p.parts, parts[i])
	}
	slices.SortStableFunc(p.parts, func(x, y partPlan) int { return cmp.Compare(x.level, y.level) })
	if p.levels() > 1 {
		n.groups++
	}
	n.stubs = append(n.stubs, p)
}

// levels returns how many levels a stub has; 1 for a single node.
func (p *stubPlan) levels() int {
	n := 1
	for i := 1; i < len(p.parts); i++ {
		if p.parts[i].level != p.parts[i-1].level {
			n++
		}
	}
	return n
}

// place returns which of the levels of a stub a part is, and how many there are;
// 0 and 0 for a single node.
func (p *stubPlan) place(part int) (level, levels int) {
	if levels = p.levels(); levels < 2 {
		return 0, 0
	}
	for i := 1; i <= part; i++ {
		if p.parts[i].level != p.parts[i-1].level {
			level++
		}
	}
	return level, levels
}

// nameStubs makes the names unique: name, or name#part when several have it.
func (n *nodes) nameStubs() {
	count := make(map[string]int, len(n.stubs))
	for i := range n.stubs {
		count[n.stubs[i].name]++
	}
	for i := range n.stubs {
		p := &n.stubs[i]
		if count[p.name] == 1 && p.name != "" {
			continue
		}
		mark := "#" + strconv.Itoa(int(p.first()))
		unique := p.name + mark
		for count[unique] > 0 {
			unique += mark
		}
		p.name = unique
		count[unique]++
	}
}

// splitLOD splits a name such as "Tree_LOD2" into what the levels have in
// common and the level, as the cook does when it groups them: "Tree_LOD2.001"
// belongs to "Tree.001".
func splitLOD(name string) (common string, level int, ok bool) {
	stem, suffix := name, ""
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 && dot+1 < len(name) && strings.Trim(name[dot+1:], "0123456789") == "" {
		stem, suffix = name[:dot], name[dot:]
	}
	const mark = "_LOD"
	digits := strings.TrimRight(stem, "0123456789")
	number := stem[len(digits):]
	if len(number) == 0 || len(number) > 2 || len(digits) <= len(mark) || !strings.EqualFold(digits[len(digits)-len(mark):], mark) {
		return "", 0, false
	}
	level, _ = strconv.Atoi(number)
	return digits[:len(digits)-len(mark)] + suffix, level, true
}

// groupFinder collects the nodes with the same common name under one parent, in
// the order in which they are met.
type groupFinder struct {
	at    map[groupKey]int
	lists [][]int // places in the list of parts
}

type groupKey struct {
	common string
	parent int
}

func (f *groupFinder) add(common string, parent, place int) {
	if f.at == nil {
		f.at = map[groupKey]int{}
	}
	key := groupKey{common, parent}
	i, ok := f.at[key]
	if !ok {
		i = len(f.lists)
		f.at[key] = i
		f.lists = append(f.lists, nil)
	}
	f.lists[i] = append(f.lists[i], place)
}

// divide tells the things apart that share a name: when all levels have as many
// nodes, the first of each level belong together, and so on. Else all are one
// thing whose levels have several nodes.
func divide(members []int, parts []partPlan) [][]int {
	count, level := map[int16]int{}, parts[members[0]].level
	for _, i := range members {
		count[parts[i].level]++
	}
	each := count[level]
	for _, c := range count {
		if c != each {
			each = 1
			break
		}
	}
	if each == 1 && len(members) <= maxGroupParts {
		return [][]int{members}
	}
	if each == 1 { // too many for one group
		out := make([][]int, len(members))
		for k := range members {
			out[k] = members[k : k+1]
		}
		return out
	}
	out := make([][]int, each)
	clear(count)
	for _, i := range members {
		k := count[parts[i].level]
		count[parts[i].level]++
		out[k] = append(out[k], i)
	}
	return out
}

// finest lists the entities to draw when no level can be switched.
func (n *nodes) finest() []int {
	var out []int
	for i := range n.stubs {
		p := &n.stubs[i]
		for k := range p.parts {
			if p.parts[k].level == p.parts[0].level {
				out = append(out, int(n.list[p.parts[k].part-1]))
			}
		}
	}
	slices.Sort(out)
	return out
}

// same reports whether two loads of a file have the same stubs.
func (n *nodes) same(o *nodes) bool {
	return slices.EqualFunc(n.stubs, o.stubs, func(a, b stubPlan) bool {
		return a.name == b.name && a.bytes == b.bytes && slices.Equal(a.parts, b.parts)
	})
}
