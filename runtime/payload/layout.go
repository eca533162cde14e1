package payload

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/internal/geom"
)

// Layout says how an asset streams mesh by mesh: its renderable nodes are the
// parts 1, 2, ..., and each of them is a stub of its own, but for those that are
// the levels of one thing, which are one stub together.
type Layout struct {
	Nodes   []int32 // renderable entities: part p is Nodes[p-1]
	Stubs   []Stub
	Groups  int     // stubs with several levels
	Bytes   int64   // of GPU memory, all parts together
	parents []int32 // index of each entity's parent or -1; nil when none has one
}

// Stub is what is known from its file of a mesh, or a LOD group, that is streamed
// on its own.
type Stub struct {
	Name  string // unique in the asset, the same in every load
	Box   geom.Box
	Bytes int64  // of GPU memory
	Parts []Part // by level, the finest first
}

// Part is one part of a stub.
type Part struct {
	Index int32 // from 1, see Key
	Level int16 // as in X_LOD2
	Bytes int64
}

// maxGroupParts is how many parts a LOD group may have: the states of its parts
// are bits of a word. A group with more is streamed node by node.
const maxGroupParts = 64

func (n *Layout) parent(at int) int {
	if n.parents == nil {
		return -1
	}
	return int(n.parents[at])
}

// Layout returns how an asset streams mesh by mesh. The first call does the work; the
// FileLoader makes it in its workers.
func (a *Asset) Layout() *Layout {
	if a.layout == nil {
		a.layout = a.plan()
	}
	return a.layout
}

func (a *Asset) plan() *Layout {
	n := &Layout{}
	for i := range a.Entities {
		if a.Entities[i].MeshCount > 0 {
			n.Nodes = append(n.Nodes, int32(i))
		}
		if a.Entities[i].ParentID != records.NoIndex && n.parents == nil {
			n.parents = a.findParents()
		}
	}
	n.Stubs = make([]Stub, 0, len(n.Nodes))
	parts := make([]Part, len(n.Nodes))
	var groups groupFinder
	for i, at := range n.Nodes {
		e := &a.Entities[at]
		parts[i] = Part{Index: int32(i + 1), Bytes: a.bytesOf(e)}
		n.Bytes += parts[i].Bytes
		name := a.nameOf(e)
		if common, level, ok := splitLOD(name); ok {
			parts[i].Level = int16(level)
			groups.add(common, n.parent(int(at)), i)
			continue
		}
		n.Stubs = append(n.Stubs, Stub{Name: name, Box: BoxOf(e.WorldBounds), Bytes: parts[i].Bytes, Parts: parts[i : i+1 : i+1]})
	}
	for _, members := range groups.lists {
		for _, g := range divide(members, parts) {
			n.addGroup(a, g, parts)
		}
	}
	slices.SortFunc(n.Stubs, func(x, y Stub) int { return cmp.Compare(x.first(), y.first()) })
	n.nameStubs()
	return n
}

// first returns the lowest part of a stub.
func (p *Stub) first() int32 {
	least := p.Parts[0].Index
	for _, x := range p.Parts {
		least = min(least, x.Index)
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
		if up, ok := byID[a.Entities[i].ParentID]; ok && a.Entities[i].ParentID != records.NoIndex && int(up) != i {
			out[i] = up
		}
	}
	return out
}

func (a *Asset) nameOf(e *records.Entity) string {
	if a.Strings == nil {
		return ""
	}
	return a.Strings(e.NameOffset)
}

// addGroup makes one stub of the given places in parts.
func (n *Layout) addGroup(a *Asset, members []int, parts []Part) {
	p := Stub{Box: geom.EmptyBox(), Parts: make([]Part, 0, len(members))}
	for _, i := range members {
		e := &a.Entities[n.Nodes[i]]
		if p.Name == "" {
			p.Name, _, _ = splitLOD(a.nameOf(e))
		}
		p.Box, p.Bytes = p.Box.Union(BoxOf(e.WorldBounds)), p.Bytes+parts[i].Bytes
		p.Parts = append(p.Parts, parts[i])
	}
	slices.SortStableFunc(p.Parts, func(x, y Part) int { return cmp.Compare(x.Level, y.Level) })
	if p.Levels() > 1 {
		n.Groups++
	}
	n.Stubs = append(n.Stubs, p)
}

// Levels returns how many levels a stub has; 1 for a single node.
func (p *Stub) Levels() int {
	n := 1
	for i := 1; i < len(p.Parts); i++ {
		if p.Parts[i].Level != p.Parts[i-1].Level {
			n++
		}
	}
	return n
}

// Place returns which of the levels of a stub a part is, and how many there are;
// 0 and 0 for a single node.
func (p *Stub) Place(part int) (level, levels int) {
	if levels = p.Levels(); levels < 2 {
		return 0, 0
	}
	for i := 1; i <= part; i++ {
		if p.Parts[i].Level != p.Parts[i-1].Level {
			level++
		}
	}
	return level, levels
}

// nameStubs makes the names unique: name, or name#part when several have it.
func (n *Layout) nameStubs() {
	count := make(map[string]int, len(n.Stubs))
	for i := range n.Stubs {
		count[n.Stubs[i].Name]++
	}
	for i := range n.Stubs {
		p := &n.Stubs[i]
		if count[p.Name] == 1 && p.Name != "" {
			continue
		}
		mark := "#" + strconv.Itoa(int(p.first()))
		unique := p.Name + mark
		for count[unique] > 0 {
			unique += mark
		}
		p.Name = unique
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

// divide tells the things apart that share a Name: when all levels have as many
// nodes, the first of each level belong together, and so on. Else all are one
// thing whose levels have several nodes.
func divide(members []int, parts []Part) [][]int {
	count, level := map[int16]int{}, parts[members[0]].Level
	for _, i := range members {
		count[parts[i].Level]++
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
		k := count[parts[i].Level]
		count[parts[i].Level]++
		out[k] = append(out[k], i)
	}
	return out
}

// Finest lists the entities to draw when no level can be switched.
func (n *Layout) Finest() []int {
	var out []int
	for i := range n.Stubs {
		p := &n.Stubs[i]
		for k := range p.Parts {
			if p.Parts[k].Level == p.Parts[0].Level {
				out = append(out, int(n.Nodes[p.Parts[k].Index-1]))
			}
		}
	}
	slices.Sort(out)
	return out
}

// Same reports whether two loads of a file have the same stubs.
func (n *Layout) Same(o *Layout) bool {
	return slices.EqualFunc(n.Stubs, o.Stubs, func(a, b Stub) bool {
		return a.Name == b.Name && a.Bytes == b.Bytes && slices.Equal(a.Parts, b.Parts)
	})
}
