package usd

import (
	"path"
	"strings"

	"github.com/untoldkit/untold/cook/usd/internal/layer"
)

// attach adds an arc, and follows what it leads to. Of one type, those of a prim itself are
// stronger than those that its ancestors' arcs bring along.
func (r *reader) attach(n, to *node) error {
	if r.stage.arcs++; r.stage.arcs > maxArcs {
		return tooLarge("", "is composed of more than %d places", maxArcs)
	}
	i := len(n.arcs)
	for i > 0 && (n.arcs[i-1].arc > to.arc || n.arcs[i-1].arc == to.arc && n.arcs[i-1].implied) {
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
