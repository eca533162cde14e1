package tiles3d

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
)

// node is a tile of the tileset, in the axes of the manifest.
type node struct {
	payload  string    // of the manifest; "" for a node that only groups
	err      float64   // what is missing when the node is drawn and its children are not, metres
	add      bool      // the children are drawn beside the content, not in its place
	request  *geom.Box // viewerRequestVolume: it is wanted from in there alone; nil: from everywhere
	children []*node

	box      geom.Box // of the content and all below
	own      geom.Box // of the content
	uri      string   // of the content, relative to the tileset
	external *file    // the content is this tileset, in place of children
}

// unknownError is the error, per metre of the distance from which a level is shown, of
// manifests that do not say how far their levels are from the full geometry: 16 pixels, the
// usual threshold of viewers, of a picture 1080 pixels high that shows 60 degrees.
const unknownError = 16 * 1.1547 / 1080

// buildTree makes the tree of a manifest. slack is how far contents lie beside the
// payloads' geometry, in metres.
func buildTree(m *manifest.Manifest, slack float64) *node {
	tops := map[string]*node{} // by id: the coarsest that stands for it
	var roots []*node
	for i := range m.Tiles {
		t := &m.Tiles[i]
		top := chain(t, slack)
		if t.Interior && m.InteriorZone != nil {
			zone := m.InteriorZone.Box()
			top.request = &zone
		}
		tops[t.ID] = top
	}
	taken := map[string]bool{}
	var last []string
	if m.Pyramid != nil {
		for i := range m.Pyramid.Nodes {
			p := &m.Pyramid.Nodes[i]
			n := &node{payload: p.Path, err: max(p.GeometricError, p.VisualError) + slack, own: p.Bounds.Box()}
			for _, id := range p.Children {
				if c := tops[id]; c != nil && !taken[id] {
					taken[id] = true
					n.children = append(n.children, c)
				}
			}
			tops[p.ID] = n
			last = append(last, p.ID)
		}
	}
	for _, id := range last {
		if !taken[id] {
			roots = append(roots, tops[id])
		}
	}
	var loose []*node
	for i := range m.Tiles {
		if !taken[m.Tiles[i].ID] {
			loose = append(loose, tops[m.Tiles[i].ID])
		}
	}
	for _, n := range append(slices.Clone(roots), loose...) {
		n.bound()
	}
	if len(roots) > groupSize {
		roots = []*node{group(roots)}
	}
	if len(loose) > 0 {
		roots = append(roots, group(loose))
	}
	if m.SharedBucket != nil {
		b := &node{payload: m.SharedBucket.Path, own: m.SharedBucket.Bounds.Box()}
		b.bound()
		roots = append(roots, b)
	}
	root := &node{add: true, children: roots}
	if len(roots) == 1 && roots[0].payload == "" {
		root = roots[0]
	}
	root.bound()
	return root
}

// checkIDs refuses manifests whose tree is not one.
func checkIDs(m *manifest.Manifest) error {
	place := map[string]int{} // tiles -1, nodes by their place
	for i := range m.Tiles {
		id := m.Tiles[i].ID
		if _, known := place[id]; known {
			return fmt.Errorf("%w: two tiles have the id %q; untold validate tells more", ErrIDs, id)
		}
		place[id] = -1
	}
	if m.Pyramid == nil {
		return nil
	}
	for i := range m.Pyramid.Nodes {
		id := m.Pyramid.Nodes[i].ID
		if _, known := place[id]; known {
			return fmt.Errorf("%w: the node %q has the id of another node or of a tile; untold validate tells more", ErrIDs, id)
		}
		place[id] = i
	}
	for i := range m.Pyramid.Nodes {
		for _, id := range m.Pyramid.Nodes[i].Children {
			if at, known := place[id]; known && at >= i {
				return fmt.Errorf("%w: the node %q stands before its child %q; untold validate tells more", ErrIDs, m.Pyramid.Nodes[i].ID, id)
			}
		}
	}
	return nil
}

// chain is a tile with its levels, the coarsest above.
func chain(t *manifest.Tile, slack float64) *node {
	n := &node{payload: t.Path, own: t.Bounds.Box()}
	levels := slices.Clone(t.LODLevels)
	slices.SortStableFunc(levels, func(a, b manifest.Level) int { return cmp.Compare(a.SwitchDistance, b.SwitchDistance) })
	// What is shown at run time is the first HLOD alone.
	levels = append(levels, t.HLODLevels[:min(1, len(t.HLODLevels))]...)
	for i := range levels {
		l := &levels[i]
		e := l.SwitchDistance * unknownError
		if l.GeometricError != nil {
			e = *l.GeometricError
			if l.VisualError != nil {
				e = max(e, *l.VisualError)
			}
			e += slack
		}
		// A level that is as good as the one below would be loaded for nothing.
		if !(e > n.err) || l.Path == n.payload {
			continue
		}
		n = &node{payload: l.Path, err: e, own: n.own, children: []*node{n}}
	}
	return n
}

// bound finds the boxes from below.
func (n *node) bound() {
	n.box = n.own
	if n.payload == "" || n.own == (geom.Box{}) {
		n.box = geom.EmptyBox()
	}
	for _, c := range n.children {
		c.bound()
		n.box = n.box.Union(c.box)
	}
}

// prune takes out what shows nothing, and is false when nothing is left of n.
func (n *node) prune() bool {
	n.children = slices.DeleteFunc(n.children, func(c *node) bool { return !c.prune() })
	if n.uri == "" {
		n.add = true // it stands for nothing
	}
	return n.uri != "" || len(n.children) > 0
}

// raise makes errors never fall going up. A group leaves out all that it holds: its error
// is the longest diagonal of one of its children.
func (n *node) raise() {
	for _, c := range n.children {
		c.raise()
		n.err = max(n.err, c.err)
		if n.payload == "" {
			n.err = max(n.err, c.box.Size().Len())
		}
	}
}

// groupSize is how many tiles, or groups of tiles, a group holds at most.
const groupSize = 8

// group arranges tiles that nothing stands for from afar: groups without content, so
// that viewers need not look at each tile. Each cut halves the longer side.
func group(list []*node) *node {
	n := &node{add: true}
	if len(list) <= groupSize {
		n.children = list
	} else {
		parts := [][]*node{list}
		for range 3 { // into 8
			var halves [][]*node
			for _, p := range parts {
				a, b := halve(p)
				halves = append(halves, a, b)
			}
			parts = halves
		}
		for _, p := range parts {
			if len(p) == 1 {
				n.children = append(n.children, p[0])
			} else {
				n.children = append(n.children, group(p))
			}
		}
	}
	n.bound()
	return n
}

// halve cuts a list at its median along the longer horizontal side.
func halve(list []*node) (a, b []*node) {
	all := geom.EmptyBox()
	for _, n := range list {
		all = all.Extend(n.box.Center())
	}
	axis := 0
	if s := all.Size(); s[2] > s[0] {
		axis = 2
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(x, y *node) int { return cmp.Compare(x.box.Center()[axis], y.box.Center()[axis]) })
	return list[:len(list)/2], list[len(list)/2:]
}

// each calls f for n and all below, parents first.
func (n *node) each(f func(*node)) {
	f(n)
	for _, c := range n.children {
		c.each(f)
	}
}
