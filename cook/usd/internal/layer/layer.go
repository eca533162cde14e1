// Package layer reads single layers of Universal Scene Description, as text (.usda) or as
// binary crates (.usdc), into one tree of prims. What layers come to together is package
// usd's business.
//
// A layer is read once for its structure. Long lists of numbers stay where they are until
// somebody asks for them, so that a layer takes little memory beside its file.
package layer

import (
	"errors"
	"fmt"
)

// Bounds of what a layer may nest.
const (
	maxDepth = 128  // prims within prims, values within values
	maxName  = 4096 // bytes of a name of a prim, a property or a file
)

// The kinds of failure, for errors.Is.
var (
	// ErrMalformed: the bytes break a rule of the format.
	ErrMalformed = errors.New("malformed USD")
	// ErrUnsupported: legal, but not read here.
	ErrUnsupported = errors.New("unsupported USD")
	// ErrTooLarge: more than the memory that Options give.
	ErrTooLarge = errors.New("USD that is too large")
)

// Error says what is wrong with a layer, and where.
type Error struct {
	Place  string // such as "line 12" or "byte 4096: TOKENS"
	Reason string
	Err    error // one of the above
}

// Error returns the place and the reason.
func (e *Error) Error() string {
	if e.Place == "" {
		return e.Reason
	}
	return e.Place + ": " + e.Reason
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

func malformed(place, format string, args ...any) error {
	return &Error{Place: place, Reason: fmt.Sprintf(format, args...), Err: ErrMalformed}
}

// Specifier says what a prim of a layer is.
type Specifier uint8

// The specifiers, with the numbers that crates have for them.
const (
	Def   Specifier = iota // is there
	Over                   // changes one that may be there
	Class                  // is there for others to inherit
)

// Layer is a file.
type Layer struct {
	// Meta are its metadata, such as upAxis, metersPerUnit and defaultPrim.
	Meta map[string]Value
	// SubLayers are the names of layers below this one, strongest first.
	SubLayers []string
	// Root is the pseudo-root: its children are the prims of the layer.
	Root *Prim
	// Bytes is about what the tree takes in memory, beside the file.
	Bytes int64
}

// Prim is what one layer says about a prim, or what a variant of it says.
type Prim struct {
	Name      string
	Specifier Specifier
	Type      string // such as Mesh; "" where the layer does not say
	Place     string // for messages

	Meta        map[string]Value // active, kind, customData ... as the format names them
	References  ListOp[Reference]
	Payloads    ListOp[Reference]
	Inherits    ListOp[string] // paths
	Specializes ListOp[string]
	Selections  map[string]string // names of variant sets to those of variants
	SetNames    ListOp[string]
	Sets        []*VariantSet

	Properties []*Property
	Children   []*Prim

	properties map[string]*Property
	children   map[string]*Prim
	sets       map[string]*VariantSet
}

// VariantSet is a set of variants.
type VariantSet struct {
	Name     string
	Variants []*Prim // by name

	variants map[string]*Prim
}

// Reference names a prim of this or another layer.
type Reference struct {
	Asset string // "" is this layer
	Prim  string // path; "" is the layer's default prim
}

// Property is an attribute or a relationship.
type Property struct {
	Name string
	Type string // such as "point3f[]"; "" of a relationship, and where a layer does not say
	// Place is where it stands, for messages.
	Place string
	// Interpolation and ElementSize are those of primvars; "" and 0 where nothing is said.
	Interpolation string
	ElementSize   int
	ColorSpace    string
	BindStrength  string // bindMaterialAs
	// Targets are those of a relationship, Connections those of an attribute.
	Targets, Connections ListOp[string]
	// Sampled says that the value changes with time, and that what Get returns is the
	// earliest sample.
	Sampled bool
	// Has says that there is a value.
	Has bool

	value Value
	lazy  func() (Value, error)
}

// Get returns the value. It is read anew by every call where it is long. The error is an
// *Error.
func (p *Property) Get() (Value, error) {
	if p.lazy != nil {
		return p.lazy()
	}
	return p.value, nil
}

// Child returns the child of a name, nil for none.
func (p *Prim) Child(name string) *Prim {
	if p.children == nil && len(p.Children) > 0 {
		p.children = make(map[string]*Prim, len(p.Children))
		for _, c := range p.Children {
			if p.children[c.Name] == nil {
				p.children[c.Name] = c
			}
		}
	}
	return p.children[name]
}

// Property returns the property of a name, nil for none.
func (p *Prim) Property(name string) *Property {
	if p.properties == nil && len(p.Properties) > 0 {
		p.properties = make(map[string]*Property, len(p.Properties))
		for _, c := range p.Properties {
			if p.properties[c.Name] == nil {
				p.properties[c.Name] = c
			}
		}
	}
	return p.properties[name]
}

// Variant returns a variant of a set, nil for none.
func (p *Prim) Variant(set, name string) *Prim {
	s := p.setOf(set)
	if s == nil {
		return nil
	}
	if s.variants == nil {
		s.variants = make(map[string]*Prim, len(s.Variants))
		for _, v := range s.Variants {
			if s.variants[v.Name] == nil {
				s.variants[v.Name] = v
			}
		}
	}
	return s.variants[name]
}

// setOf returns the variant set of a name, nil for none.
func (p *Prim) setOf(name string) *VariantSet {
	if p.sets == nil && len(p.Sets) > 0 {
		p.sets = make(map[string]*VariantSet, len(p.Sets))
		for _, s := range p.Sets {
			p.sets[s.Name] = s
		}
	}
	return p.sets[name]
}

// set returns the variant set of a name, which is new the first time.
func (p *Prim) set(name string) *VariantSet {
	s := p.setOf(name)
	if s == nil {
		s = &VariantSet{Name: name}
		p.Sets = append(p.Sets, s)
		if p.sets == nil {
			p.sets = map[string]*VariantSet{}
		}
		p.sets[name] = s
	}
	return s
}

// ListOp is a list, or what a layer changes of one that weaker layers have.
type ListOp[T comparable] struct {
	Explicit                            bool
	Items                               []T // of an explicit one
	Prepended, Appended, Added, Deleted []T
}

// Empty reports whether nothing is said.
func (l *ListOp[T]) Empty() bool {
	return !l.Explicit && len(l.Prepended) == 0 && len(l.Appended) == 0 && len(l.Added) == 0 && len(l.Deleted) == 0
}

// Apply returns what the list of weaker layers becomes.
func (l *ListOp[T]) Apply(weaker []T) []T {
	if l.Explicit {
		return unique(l.Items)
	}
	if l.Empty() {
		return weaker
	}
	drop := map[T]bool{}
	for _, list := range [][]T{l.Deleted, l.Prepended, l.Appended} {
		for _, v := range list {
			drop[v] = true
		}
	}
	out := append([]T{}, l.Prepended...)
	for _, v := range weaker {
		if !drop[v] {
			out = append(out, v)
		}
	}
	return unique(append(append(out, l.Added...), l.Appended...))
}

func unique[T comparable](list []T) []T {
	seen := make(map[T]bool, len(list))
	var out []T
	for _, v := range list {
		if !seen[v] {
			seen[v] = true
			out = append(out, v)
		}
	}
	return out
}
