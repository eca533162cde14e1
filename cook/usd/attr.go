package usd

import (
	"errors"
	"slices"
	"strings"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/usd/internal/layer"
)

// place puts the path of a prim before the place of an error.
func place(at string, err error) error {
	var e *gltfscene.Error
	if !errors.As(err, &e) {
		return err
	}
	c := *e
	if c.Place = at; e.Place != "" {
		c.Place += ": " + e.Place
	}
	return &c
}

// typeName is the type that the strongest opinion gives.
func (p *prim) typeName() string {
	for _, o := range p.opinions {
		if o.Type != "" {
			return o.Type
		}
	}
	return ""
}

// specifier is the strongest that is not over.
func (p *prim) specifier() layer.Specifier {
	for _, o := range p.opinions {
		if o.Specifier != layer.Over {
			return o.Specifier
		}
	}
	return layer.Over
}

// meta returns the strongest value of a metadatum.
func (p *prim) meta(key string) layer.Value {
	for _, o := range p.opinions {
		if v, ok := o.Meta[key]; ok {
			return v
		}
	}
	return nil
}

// property returns the strongest opinion about a property's value; nil where there is none,
// or it is blocked.
func (p *prim) property(name string) *layer.Property {
	for _, o := range p.opinions {
		if a := o.Property(name); a != nil && a.Has {
			return a
		}
	}
	return nil
}

// described returns the strongest description of a property by a test.
func (p *prim) described(name string, test func(a *layer.Property) bool) *layer.Property {
	for _, o := range p.opinions {
		if a := o.Property(name); a != nil && test(a) {
			return a
		}
	}
	return nil
}

// names lists the properties of a prim, each once.
func (p *prim) names() []string {
	var out []string
	seen := map[string]bool{}
	for _, o := range p.opinions {
		for _, a := range o.Properties {
			if !seen[a.Name] {
				seen[a.Name] = true
				out = append(out, a.Name)
			}
		}
	}
	return out
}

// value returns the value of an attribute, nil for none.
func (r *reader) value(p *prim, name string) (layer.Value, error) {
	a := p.property(name)
	if a == nil {
		return nil, nil
	}
	if a.Sampled {
		r.note("usd-samples-skipped", false, p.path+"."+name, "values that change with time stand still at their earliest sample")
	}
	v, err := a.Get()
	if err != nil {
		return nil, place(p.path, layerError("", true, err))
	}
	return v, nil
}

// numbers returns the numbers of an attribute, of elements of a width; nil for none.
func (r *reader) numbers(p *prim, name string, width int) (*layer.Numbers, error) {
	v, err := r.value(p, name)
	if err != nil {
		return nil, err
	}
	n := numbersOf(v)
	if n == nil || n.Flat() == 0 {
		return nil, nil
	}
	if width > 0 && n.Width != width {
		return nil, malformed(p.path+"."+name, "has elements of %d numbers, %d are expected", n.Width, width)
	}
	return n, nil
}

// numbersOf makes single numbers a list, too.
func numbersOf(v layer.Value) *layer.Numbers {
	switch v := v.(type) {
	case *layer.Numbers:
		return v
	case float64:
		return &layer.Numbers{Width: 1, F64: []float64{v}}
	case int64:
		return &layer.Numbers{Width: 1, Int: []int64{v}}
	case bool:
		n := &layer.Numbers{Width: 1, Int: []int64{0}}
		if v {
			n.Int[0] = 1
		}
		return n
	}
	return nil
}

// number returns a number of an attribute, or what counts where there is none.
func (r *reader) number(p *prim, name string, otherwise float64) (float64, error) {
	v, err := r.value(p, name)
	if n := numbersOf(v); err == nil && n != nil && n.Flat() == 1 {
		if x := n.At(0); x-x == 0 {
			return x, nil
		}
	}
	return otherwise, err
}

// word returns the text or token of an attribute, or what counts where there is none.
func (r *reader) word(p *prim, name, otherwise string) (string, error) {
	v, err := r.value(p, name)
	if err != nil {
		return "", err
	}
	if s, ok := text(v); ok {
		return s, nil
	}
	return otherwise, nil
}

// text returns a text or a token.
func text(v layer.Value) (string, bool) {
	switch s := v.(type) {
	case string:
		return s, true
	case layer.Token:
		return string(s), true
	}
	return "", false
}

// targets returns the paths, in the scene, that a relationship leads to.
func (p *prim) targets(name string) []string {
	return p.paths(name, func(a *layer.Property) *layer.ListOp[string] { return &a.Targets })
}

// connections returns the paths of the attributes that an attribute has its value of.
func (p *prim) connections(name string) []string {
	return p.paths(name, func(a *layer.Property) *layer.ListOp[string] { return &a.Connections })
}

func (p *prim) paths(name string, of func(a *layer.Property) *layer.ListOp[string]) []string {
	var out []string
	for i := len(p.opinions) - 1; i >= 0; i-- {
		o := p.opinions[i]
		a := o.Property(name)
		if a == nil || of(a).Empty() {
			continue
		}
		op := of(a)
		up := func(list []string) (here []string) {
			for _, t := range list {
				if t, ok := o.node.up(t); ok {
					here = append(here, t)
				}
			}
			return here
		}
		with := layer.ListOp[string]{
			Explicit: op.Explicit, Items: up(op.Items), Prepended: up(op.Prepended), Appended: up(op.Appended),
			Added: up(op.Added), Deleted: up(op.Deleted),
		}
		out = with.Apply(out)
	}
	return out
}

// asset returns the file that an attribute names, and the layer that names it.
func (r *reader) asset(p *prim, name string) (string, *loaded, error) {
	for _, o := range p.opinions {
		a := o.Property(name)
		if a == nil || !a.Has {
			continue
		}
		v, err := a.Get()
		if err != nil {
			return "", nil, place(p.path, layerError("", true, err))
		}
		switch s := v.(type) {
		case layer.Asset:
			return string(s), o.layer, nil
		case string:
			return s, o.layer, nil
		}
		return "", nil, nil
	}
	return "", nil, nil
}

// places begin the names of properties that say where and whether a mesh is seen, not what
// it is; materials are told apart by what they are.
var places = []string{"xformOp", "visibility", "purpose", userPrefix, "material:binding", "extent"}

// says reports whether a layer says what a prim looks like.
func says(p *layer.Prim) bool {
	return len(p.Children) > 0 || slices.ContainsFunc(p.Properties, func(a *layer.Property) bool {
		return !slices.ContainsFunc(places, func(s string) bool { return strings.HasPrefix(a.Name, s) })
	})
}

// identity tells prims apart that consist of different opinions.
func (p *prim) identity(ids map[*layer.Prim]int32) string {
	b := make([]byte, 0, 4*len(p.opinions))
	for _, o := range p.opinions {
		if !says(o.Prim) {
			continue
		}
		id, ok := ids[o.Prim]
		if !ok {
			id = int32(len(ids))
			ids[o.Prim] = id
		}
		b = append(b, byte(id), byte(id>>8), byte(id>>16), byte(id>>24))
	}
	return string(b)
}

// isAttr reports whether a path is that of a property, and cuts it.
func isAttr(p string) (prim, attr string, ok bool) {
	i := strings.LastIndexByte(p, '/')
	j := strings.IndexByte(p[i+1:], '.')
	if j < 0 {
		return p, "", false
	}
	return p[:i+1+j], p[i+1+j+1:], true
}
