package usd

import (
	"maps"
	"slices"
	"strings"

	"github.com/untoldkit/untold/cook/usd/internal/layer"
)

// specAt is what a layer says about a prim.
type specAt struct {
	*layer.Prim
	layer *loaded
}

// The arcs from a prim to others, from the strongest to the weakest.
const (
	arcRoot = iota
	arcInherit
	arcVariant
	arcReference
	arcPayload
	arcSpecialize
)

// node is a place of a stack of layers that a prim is composed of.
type node struct {
	arc      int
	stack    *stack
	path     string // of the prim, in these layers
	specs    []specAt
	parent   *node
	from, to string // what the arc leads to, in these layers, is to in those of the parent
	foreign  bool   // paths beyond from mean nothing to the parent
	arcs     []*node
	expanded bool
	implied  bool     // by the arc of an ancestor
	listed   bool     // sets is known
	sets     []string // variant sets
	resolved int      // of sets, those that were looked at
}

// opinion is what a layer says about a prim, and where it comes from.
type opinion struct {
	specAt
	node *node
}

// prim is a composed one.
type prim struct {
	name, path string
	parent     *prim
	root       *node
	opinions   []opinion // strongest first
}

// stage is the composed scene.
type stage struct {
	root  *prim
	cache map[string]*prim
	arcs  int // of the prim that is being composed
}

// openStage opens the stage of a layer.
func (r *reader) openStage(s source) error {
	k, err := r.stackOf(s)
	if err != nil {
		return err
	}
	n := &node{stack: k, path: "/", expanded: true}
	for _, l := range k.layers {
		n.specs = append(n.specs, specAt{l.Root, l})
	}
	r.stage = &stage{cache: map[string]*prim{}, root: &prim{path: "/", root: n}}
	r.stage.root.flatten()
	return nil
}

// meta returns what the scene's first layer says about the scene. What its sublayers say of
// themselves counts for scenes of their own.
func (r *reader) meta(key string) layer.Value {
	return r.stage.root.root.stack.layers[0].Meta[key]
}

func join(parent, name string) string {
	if parent == "/" {
		return "/" + name
	}
	return parent + "/" + name
}

// under reports whether a path is another one, or below it.
func under(p, top string) bool {
	return p == top || top == "/" || len(p) > len(top) && p[len(top)] == '/' && strings.HasPrefix(p, top)
}

// child returns the node of a child, with those that its parent's arcs lead to; nil where
// none of them says anything.
func (n *node) child(name string, parent *node) *node {
	c := &node{arc: n.arc, stack: n.stack, path: join(n.path, name), parent: parent, from: n.from, to: n.to, foreign: n.foreign}
	for _, s := range n.specs {
		if p := s.Child(name); p != nil {
			c.specs = append(c.specs, specAt{p, s.layer})
		}
	}
	for _, a := range n.arcs {
		if b := a.child(name, c); b != nil {
			b.implied = true
			c.arcs = append(c.arcs, b)
		}
	}
	if len(c.specs) == 0 && len(c.arcs) == 0 {
		return nil
	}
	return c
}

// child composes a child of a prim; nil for none.
func (r *reader) child(p *prim, name string) (*prim, error) {
	n := p.root.child(name, nil)
	if n == nil {
		return nil, nil
	}
	out := &prim{name: name, path: join(p.path, name), parent: p, root: n}
	r.stage.arcs = 0
	if err := r.complete(n); err != nil {
		return nil, place(out.path, err)
	}
	out.flatten()
	return out, nil
}

// children returns the names of a prim's children: those of weaker layers first, as these
// order them.
func (p *prim) children() []string {
	var out []string
	seen := map[string]bool{}
	for i := len(p.opinions) - 1; i >= 0; i-- {
		for _, c := range p.opinions[i].Children {
			if !seen[c.Name] {
				seen[c.Name] = true
				out = append(out, c.Name)
			}
		}
	}
	return out
}

// flatten lists opinions by their strength: what a prim specializes comes behind all else.
func (p *prim) flatten() {
	var last []*node
	var visit func(n *node, deferred bool)
	visit = func(n *node, deferred bool) {
		if n.arc == arcSpecialize && !deferred {
			last = append(last, n)
			return
		}
		for _, s := range n.specs {
			p.opinions = append(p.opinions, opinion{s, n})
		}
		for _, a := range n.arcs {
			visit(a, false)
		}
	}
	visit(p.root, false)
	for i := 0; i < len(last); i++ {
		visit(last[i], true)
	}
}

// complete follows all arcs of a node, and then the variants that are selected.
func (r *reader) complete(n *node) error {
	if err := r.expand(n); err != nil {
		return err
	}
	found := map[string]bool{} // of the sets that were looked at, whether a variant was there
	for looked := 0; ; {
		at, set := unresolved(n)
		if at == nil {
			break
		}
		if looked++; looked > maxSets {
			return tooLarge("", "has more than %d variant sets", maxSets)
		}
		if err := r.ctx.Err(); err != nil {
			return err
		}
		at.resolved++
		name, _ := selection(n, set)
		if name == "" {
			continue
		}
		v := &node{arc: arcVariant, stack: at.stack, path: at.path, parent: at, from: at.path, to: at.path}
		for _, s := range at.specs {
			if p := s.Variant(set, name); p != nil {
				v.specs = append(v.specs, specAt{p, s.layer})
			}
		}
		if found[set] = found[set] || len(v.specs) > 0; len(v.specs) == 0 {
			continue
		}
		if err := r.attach(at, v); err != nil {
			return err
		}
	}
	for _, set := range slices.Sorted(maps.Keys(found)) {
		if !found[set] {
			name, _ := selection(n, set)
			r.note("usd-variants-missing", true, n.path, "variants that are selected are not there: "+clip(name)+" of "+clip(set))
		}
	}
	return nil
}

// unresolved finds the strongest node with a variant set that was not looked at.
func unresolved(n *node) (*node, string) {
	if !n.listed {
		n.listed, n.sets = true, setNames(n)
	}
	if n.resolved < len(n.sets) {
		return n, n.sets[n.resolved]
	}
	for _, a := range n.arcs {
		if at, set := unresolved(a); at != nil {
			return at, set
		}
	}
	return nil, ""
}

// setNames are the variant sets of a node.
func setNames(n *node) []string {
	var names []string
	for i := len(n.specs) - 1; i >= 0; i-- {
		names = n.specs[i].SetNames.Apply(names)
	}
	return names
}

// selection finds the strongest selection of a variant. An empty one selects none, whatever
// weaker ones say.
func selection(n *node, set string) (name string, stated bool) {
	for _, s := range n.specs {
		if v, ok := s.Selections[set]; ok {
			return v, true
		}
	}
	for _, a := range n.arcs {
		if v, ok := selection(a, set); ok {
			return v, true
		}
	}
	return "", false
}

// up translates a path of a node's layers into one of the scene.
func (n *node) up(p string) (string, bool) {
	p = anchored(n.path, p)
	prim, rest := p, ""
	if i := strings.IndexByte(p, '.'); i >= 0 {
		prim, rest = p[:i], p[i:]
	}
	for ; n.parent != nil; n = n.parent {
		if under(prim, n.from) {
			prim = strings.TrimSuffix(n.to, "/") + strings.TrimPrefix(prim, n.from)
		} else if n.foreign {
			return "", false
		}
	}
	return prim + rest, true
}

// prim composes a prim by its path, beginning from one that is there; nil for none.
func (r *reader) prim(target string, from *prim) (*prim, error) {
	for from != nil && !under(target, from.path) {
		from = from.parent
	}
	if from == nil {
		from = r.stage.root
	}
	if p := r.stage.cache[target]; p != nil {
		return p, nil
	}
	rest := strings.TrimPrefix(strings.TrimPrefix(target, from.path), "/")
	if rest == "" {
		return from, nil
	}
	for _, name := range strings.Split(rest, "/") {
		at := join(from.path, name)
		next := r.stage.cache[at]
		if next == nil {
			var err error
			if next, err = r.child(from, name); err != nil || next == nil {
				return nil, err
			}
			if len(r.stage.cache) > maxArcs {
				clear(r.stage.cache)
			}
			r.stage.cache[at] = next
		}
		from = next
	}
	return from, nil
}
