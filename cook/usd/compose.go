package usd

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/untoldkit/untold/cook/usd/internal/layer"
)

// loaded is a layer that was read.
type loaded struct {
	*layer.Layer
	source source
	number int
}

// stack is a layer with those below it, strongest first.
type stack struct{ layers []*loaded }

// stackOf reads a layer and its sublayers.
func (r *reader) stackOf(s source) (*stack, error) {
	key := s.String()
	if k := r.stacks[key]; k != nil {
		return k, nil
	}
	k := &stack{}
	if err := r.gather(k, s, nil); err != nil {
		return nil, err
	}
	r.stacks[key] = k
	return k, nil
}

func (r *reader) gather(k *stack, s source, above []string) error {
	key := s.String()
	for _, a := range above {
		if a == key {
			return malformed(key, "is a sublayer of itself: %s", strings.Join(append(above, key), " > "))
		}
	}
	if len(above) > maxSubDepth || len(k.layers) > maxArcs {
		return tooLarge(key, "has more than %d sublayers, or more than %d within each other", maxArcs, maxSubDepth)
	}
	l, err := r.layer(s)
	if err != nil {
		return err
	}
	k.layers = append(k.layers, l)
	for _, name := range l.SubLayers {
		if name == "" || r.foreign(name, key) {
			continue
		}
		below, err := r.resolve(s, name, key+": subLayers")
		if err == nil {
			err = r.gather(k, below, append(above[:len(above):len(above)], key))
		}
		if err != nil {
			if !r.optional(err) {
				return err
			}
			r.note("usd-layers-missing", true, key+": subLayers", missingLayers)
		}
	}
	return nil
}

// foreign reports whether a layer has a format that others read, such as MaterialX.
func (r *reader) foreign(name, where string) bool {
	name, _, _ = strings.Cut(name, ":SDF_FORMAT_ARGS:")
	if inner, ok := strings.CutSuffix(name, "]"); ok {
		name = inner[strings.LastIndexByte(inner, '[')+1:]
	}
	if isLayer(name) || isPackage(name) {
		return false
	}
	r.note("usd-formats-skipped", true, where, "layers of other formats, such as MaterialX and Alembic, were left out: "+clip(name))
	return true
}

const missingLayers = "layers that are missing were left out"

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
	resolved map[string]bool // variant sets
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

// open1 opens the stage of a layer.
func (r *reader) open1(s source) error {
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

// meta returns what the strongest layer of the scene's stack says about itself.
func (r *reader) meta(key string) layer.Value {
	for _, l := range r.stage.root.root.stack.layers {
		if v, ok := l.Meta[key]; ok {
			return v
		}
	}
	return nil
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
	for {
		at, set := unresolved(n)
		if at == nil {
			break
		}
		if at.resolved == nil {
			at.resolved = map[string]bool{}
		}
		at.resolved[set] = true
		name := selection(n, set)
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
			r.note("usd-variants-missing", true, n.path, "variants that are selected are not there: "+clip(selection(n, set))+" of "+clip(set))
		}
	}
	return nil
}

// unresolved finds the strongest node with a variant set that was not looked at.
func unresolved(n *node) (*node, string) {
	for _, set := range setNames(n) {
		if !n.resolved[set] {
			return n, set
		}
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

// selection finds the strongest selection of a variant.
func selection(n *node, set string) string {
	for _, s := range n.specs {
		if v, ok := s.Selections[set]; ok {
			return v
		}
	}
	for _, a := range n.arcs {
		if v := selection(a, set); v != "" {
			return v
		}
	}
	return ""
}

// attach adds an arc, and follows what it leads to.
func (r *reader) attach(n, to *node) error {
	if r.stage.arcs++; r.stage.arcs > maxArcs {
		return tooLarge("", "is composed of more than %d places", maxArcs)
	}
	i := len(n.arcs)
	for i > 0 && n.arcs[i-1].arc > to.arc {
		i--
	}
	n.arcs = append(n.arcs, nil)
	copy(n.arcs[i+1:], n.arcs[i:])
	n.arcs[i] = to
	return r.expand(to)
}

// expand follows the arcs of a node and of those below it, but for variants.
func (r *reader) expand(n *node) error {
	for _, a := range n.arcs {
		if err := r.expand(a); err != nil {
			return err
		}
	}
	if n.expanded || len(n.specs) == 0 {
		return nil
	}
	n.expanded = true
	for _, list := range []struct {
		arc int
		of  func(p *layer.Prim) *layer.ListOp[string]
	}{
		{arcInherit, func(p *layer.Prim) *layer.ListOp[string] { return &p.Inherits }},
		{arcSpecialize, func(p *layer.Prim) *layer.ListOp[string] { return &p.Specializes }},
	} {
		var paths []string
		for i := len(n.specs) - 1; i >= 0; i-- {
			paths = list.of(n.specs[i].Prim).Apply(paths)
		}
		for _, p := range paths {
			if err := r.arc(n, list.arc, n.stack, anchored(n.path, p)); err != nil {
				return err
			}
		}
	}
	for _, list := range []struct {
		arc int
		of  func(p *layer.Prim) *layer.ListOp[layer.Reference]
	}{
		{arcReference, func(p *layer.Prim) *layer.ListOp[layer.Reference] { return &p.References }},
		{arcPayload, func(p *layer.Prim) *layer.ListOp[layer.Reference] { return &p.Payloads }},
	} {
		if err := r.references(n, list.arc, list.of); err != nil {
			return err
		}
	}
	return nil
}

// placed is a reference by the place of its file, which layers of other folders name in
// other ways.
type placed struct{ file, prim string }

// specFile is the name of a file, and the layer that has it.
type specFile struct {
	name  string
	layer *loaded
}

// references follows references or payloads.
func (r *reader) references(n *node, arc int, of func(p *layer.Prim) *layer.ListOp[layer.Reference]) error {
	var list []placed
	from := map[string]specFile{}
	for i := len(n.specs) - 1; i >= 0; i-- {
		op := of(n.specs[i].Prim)
		if op.Empty() {
			continue
		}
		l := n.specs[i].layer
		at := func(list []layer.Reference) (out []placed) {
			for _, v := range list {
				file := ""
				if v.Asset != "" {
					file = source{l.source.pkg, path.Join(path.Dir(l.source.name), v.Asset)}.String()
					from[file] = specFile{v.Asset, l}
				}
				out = append(out, placed{file, v.Prim})
			}
			return out
		}
		with := layer.ListOp[placed]{
			Explicit: op.Explicit, Items: at(op.Items), Prepended: at(op.Prepended), Appended: at(op.Appended),
			Added: at(op.Added), Deleted: at(op.Deleted),
		}
		list = with.Apply(list)
	}
	for _, ref := range list {
		k, target := n.stack, ref.prim
		if ref.file != "" {
			f := from[ref.file]
			where := f.layer.source.String() + ": " + n.path
			if r.foreign(f.name, where) {
				continue
			}
			s, err := r.resolve(f.layer.source, f.name, where)
			if err == nil {
				k, err = r.stackOf(s)
			}
			if err != nil {
				if !r.optional(err) {
					return err
				}
				r.note("usd-layers-missing", true, where, missingLayers)
				continue
			}
		}
		if target == "" {
			target = k.defaultPrim()
		}
		if target == "" {
			r.note("usd-default-prim-missing", true, n.path, "references name no prim, and their layers no defaultPrim: they were left out")
			continue
		}
		if err := r.arc(n, arc, k, anchored(n.path, target)); err != nil {
			return err
		}
	}
	return nil
}

// defaultPrim is the path of the prim that a reference means which names none.
func (k *stack) defaultPrim() string {
	for _, l := range k.layers {
		switch v := l.Meta["defaultPrim"].(type) {
		case string:
			return anchored("/", v)
		case layer.Token:
			return anchored("/", string(v))
		}
	}
	return ""
}

// anchored makes a path absolute, without variants in it.
func anchored(at, p string) string {
	for {
		i := strings.IndexByte(p, '{')
		j := strings.IndexByte(p, '}')
		if i < 0 || j < i {
			break
		}
		rest := p[j+1:]
		if rest != "" && rest[0] != '/' && rest[0] != '.' && rest[0] != '{' {
			rest = "/" + rest
		}
		p = p[:i] + rest
	}
	if strings.HasPrefix(p, "/") {
		return path.Clean(p)
	}
	if strings.HasPrefix(p, ".") && !strings.HasPrefix(p, "..") && !strings.HasPrefix(p, "./") {
		return at + p // a property
	}
	return path.Join(at, p)
}

// arc follows an arc to a prim of a stack.
func (r *reader) arc(n *node, kind int, k *stack, target string) error {
	depth := 0
	for up := n; up != nil; up = up.parent {
		if up.stack == k && (under(up.path, target) || under(target, up.path)) {
			return malformed("", "leads back to itself through %s", target)
		}
		if depth++; depth > maxChain {
			return tooLarge("", "leads through more than %d others", maxChain)
		}
	}
	to, err := r.site(k, target, n)
	if err != nil {
		return err
	}
	if to == nil && (kind == arcInherit || kind == arcSpecialize) {
		return nil // a class that nobody has changed
	}
	if to == nil {
		r.note("usd-prims-missing", true, n.path, "references lead to prims that are not there: "+clip(target))
		return nil
	}
	to.arc, to.parent, to.from, to.to, to.foreign = kind, n, target, n.path, k != n.stack
	return r.attach(n, to)
}

// site returns the node of a prim of a stack, with what its parents' arcs bring along; nil
// for none.
func (r *reader) site(k *stack, target string, parent *node) (*node, error) {
	at := &node{stack: k, path: "/", expanded: true, parent: parent}
	for _, l := range k.layers {
		at.specs = append(at.specs, specAt{l.Root, l})
	}
	names := strings.Split(strings.TrimPrefix(target, "/"), "/")
	if len(names) > maxChain*2 {
		return nil, malformed("", "%s nests too deep", clip(target))
	}
	for i, name := range names {
		if i > 0 { // what it brings along
			if err := r.complete(at); err != nil {
				return nil, err
			}
		}
		if at = at.child(name, parent); at == nil {
			return nil, nil
		}
	}
	return at, nil
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
