package layer

import (
	"strings"
)

// pathText writes a path.
func (c *crate) pathText(i uint32) (string, error) {
	if int64(i) >= int64(len(c.paths)) {
		return "", malformed("", "path %d of %d is named", i, len(c.paths))
	}
	var parts []pathNode
	for at := int64(i); ; {
		p := c.paths[at]
		if p.parent == noPath {
			return "", nil // the empty path, such as that of a default prim
		}
		if p.parent == rootPath {
			break
		}
		if parts = append(parts, p); len(parts) > 2*maxDepth {
			return "", malformed("", "path %d has more than %d parts", i, 2*maxDepth)
		}
		at = int64(p.parent)
	}
	if len(parts) == 0 {
		return "/", nil
	}
	if err := c.charge(int64(len(parts)) * elementCost); err != nil {
		return "", err
	}
	var b strings.Builder
	for k := len(parts) - 1; k >= 0; k-- {
		element := c.tokens[parts[k].token]
		switch {
		case parts[k].property:
			b.WriteByte('.')
		case strings.HasPrefix(element, "{") || strings.HasPrefix(element, "[") || strings.HasPrefix(element, "."):
		case strings.HasSuffix(b.String(), "}"): // a child of a variant
		default:
			b.WriteByte('/')
		}
		b.WriteString(element)
		if b.Len() > 16*maxName {
			return "", malformed("", "path %d is longer than %d bytes", i, 16*maxName)
		}
	}
	return b.String(), c.charge(int64(b.Len()))
}

// tree makes the prims of the specs.
func (c *crate) tree() (*Layer, error) {
	l := &Layer{Meta: map[string]Value{}, Root: &Prim{}}
	// Prims and variants by their paths.
	for i := range c.specs {
		switch c.specs[i].kind {
		case specPrim, specVariant:
			l.Bytes += primCost
		case specAttribute, specRelationship:
			l.Bytes += propertyCost
		}
	}
	if l.Bytes > 2*c.memory {
		return nil, tooLarge("SPECS", l.Bytes)
	}
	prims := map[uint32]*Prim{}
	kind := map[uint32]uint32{}
	for i := range c.specs {
		s := &c.specs[i]
		if _, ok := kind[s.path]; ok {
			return nil, malformed("SPECS", "path %d is there twice", s.path)
		}
		kind[s.path] = s.kind
		switch s.kind {
		case specPseudoRoot:
			if c.paths[s.path].parent != rootPath {
				return nil, malformed("SPECS", "the root is no root")
			}
			prims[s.path] = l.Root
		case specPrim, specVariant:
			if c.paths[s.path].parent < 0 {
				return nil, malformed("SPECS", "a prim has no parent")
			}
			prims[s.path] = &Prim{Place: "prim " + clip(c.tokens[c.paths[s.path].token])}
		}
	}
	orders := map[*Prim][]string{} // of children
	for i := range c.specs {
		s := &c.specs[i]
		p := prims[s.path]
		if p == nil {
			continue
		}
		if err := c.primFields(l, p, s, orders); err != nil {
			return nil, within(p.Place, err)
		}
	}
	for i := range c.specs {
		s := &c.specs[i]
		node := c.paths[s.path]
		if node.parent < 0 {
			continue
		}
		parent := prims[uint32(node.parent)]
		if parent == nil {
			continue // of what is not read
		}
		element := c.tokens[node.token]
		switch s.kind {
		case specPrim:
			p := prims[s.path]
			if p.Name = element; element == "" || len(element) > maxName || strings.ContainsAny(element, "/.<>{}[]\n\r\x00") {
				return nil, malformed("SPECS", "%q cannot be the name of a prim", clip(element))
			}
			parent.Children = append(parent.Children, p)
		case specVariant:
			set, name, ok := strings.Cut(strings.Trim(element, "{}"), "=")
			if !ok || name == "" {
				continue
			}
			p := prims[s.path]
			p.Name, p.Specifier = name, Over
			vs := parent.set(set)
			vs.Variants = append(vs.Variants, p)
		case specAttribute, specRelationship:
			name := strings.TrimPrefix(element, ".")
			if len(name) > maxName {
				return nil, malformed("SPECS", "the name of a property is longer than %d bytes", maxName)
			}
			at := &Property{Name: name, Place: parent.Place + "." + clip(name)}
			if err := c.propertyFields(at, s); err != nil {
				return nil, within(at.Place, err)
			}
			parent.Properties = append(parent.Properties, at)
		}
	}
	for p, names := range orders { // each on its own
		p.arrange(names)
	}
	l.Bytes += c.limit - c.left
	return l, c.shallow(prims)
}

// shallow refuses prims that nest too deep.
func (c *crate) shallow(prims map[uint32]*Prim) error {
	depth := make([]int16, len(c.paths))
	for i := range c.paths {
		// Up to what is known, and back down.
		var way []int32
		at := int32(i)
		for at >= 0 && depth[at] == 0 {
			if way = append(way, at); len(way) > 4*maxDepth {
				return malformed("PATHS", "nests more than %d levels", maxDepth)
			}
			at = c.paths[at].parent
		}
		d := int16(0)
		if at >= 0 {
			d = depth[at]
		}
		for k := len(way) - 1; k >= 0; k-- {
			if d++; int(d) > 2*maxDepth {
				return malformed("PATHS", "nests more than %d levels", maxDepth)
			}
			depth[way[k]] = d
		}
	}
	return nil
}

// arrange puts children into an order; others come last.
func (p *Prim) arrange(names []string) {
	if len(p.Children) < 2 {
		return
	}
	by := map[string]*Prim{}
	for _, c := range p.Children {
		by[c.Name] = c
	}
	if len(by) < len(p.Children) {
		return
	}
	out := make([]*Prim, 0, len(p.Children))
	for _, n := range names {
		if c := by[n]; c != nil {
			out = append(out, c)
			delete(by, n)
		}
	}
	for _, c := range p.Children {
		if by[c.Name] != nil {
			out = append(out, c)
		}
	}
	p.Children = out
}

// within puts a place before that of an error.
func within(place string, err error) error {
	e, ok := err.(*Error)
	if !ok || place == "" {
		return err
	}
	out := *e
	if out.Place = place; e.Place != "" {
		out.Place += ": " + e.Place
	}
	return &out
}

// each calls f with the fields of a spec. Any number of specs may have the same ones.
func (c *crate) each(s *spec, f func(name string, r valueRep) error) error {
	if c.named == nil {
		c.named = make([]uint32, len(c.tokens))
	}
	c.visit++
	for i := int64(s.fields); i < int64(len(c.fieldSets)) && c.fieldSets[i] != noIndex; i++ {
		if int64(c.fieldSets[i]) >= int64(len(c.fields)) {
			return malformed("FIELDSETS", "field %d of %d is named", c.fieldSets[i], len(c.fields))
		}
		fl := c.fields[c.fieldSets[i]]
		name, err := c.token(fl.token)
		if err == nil {
			err = c.charge(fieldCost)
		}
		if err != nil {
			return err
		}
		if c.named[fl.token] == c.visit {
			return malformed("FIELDSETS", "field %q is there twice", clip(name))
		}
		c.named[fl.token] = c.visit
		if err := f(name, fl.rep); err != nil {
			return within(clip(name), err)
		}
	}
	return nil
}

// primFields reads what a crate says about a prim, a variant or the whole layer.
func (c *crate) primFields(l *Layer, p *Prim, s *spec, orders map[*Prim][]string) error {
	return c.each(s, func(name string, r valueRep) error {
		switch name {
		case "properties", "variantChildren", "variantSetChildren", "documentation", "comment", "clips", "relocates", "layerRelocates":
			return nil
		}
		v, err := c.value(r, 0)
		if err != nil {
			return err
		}
		switch name {
		case "specifier":
			if n, ok := v.(int64); ok && n >= 0 && n <= int64(Class) {
				p.Specifier = Specifier(n)
			}
		case "typeName":
			p.Type, _ = wordOf(v)
		case "primChildren":
			orders[p], _ = v.([]string)
		case "references":
			p.References, _ = v.(ListOp[Reference])
		case "payload":
			p.Payloads, _ = v.(ListOp[Reference])
		case "inheritPaths":
			p.Inherits, _ = v.(ListOp[string])
		case "specializes":
			p.Specializes, _ = v.(ListOp[string])
		case "variantSelection":
			p.Selections, _ = v.(map[string]string)
		case "variantSetNames":
			p.SetNames, _ = v.(ListOp[string])
		case "subLayers":
			if p == l.Root {
				l.SubLayers, _ = v.([]string)
			}
		default:
			if p == l.Root {
				l.Meta[name] = v
			}
			p.meta(name, v)
		}
		return nil
	})
}

// propertyFields reads what a crate says about a property.
func (c *crate) propertyFields(p *Property, s *spec) error {
	var samples func() (Value, error)
	err := c.each(s, func(name string, r valueRep) error {
		switch name {
		case "default":
			p.Has = true
			if r.array() && !r.edit() && r.payload() != 0 {
				place := p.Place
				p.lazy = func() (Value, error) {
					v, err := c.anew().value(r, 0)
					return v, within(place, err)
				}
				return nil
			}
			var err error
			p.value, err = c.value(r, 0)
			return err
		case "timeSamples":
			if r.kind() == typeSamples && !r.inlined() {
				samples = func() (Value, error) {
					v, err := c.anew().earliest(r)
					return v, within(p.Place, err)
				}
			}
			return nil
		case "typeName", "interpolation", "elementSize", "connectionPaths", "targetPaths", "colorSpace", "bindMaterialAs":
		default:
			return nil
		}
		v, err := c.value(r, 0)
		if err != nil {
			return err
		}
		switch name {
		case "typeName":
			p.Type, _ = wordOf(v)
		case "interpolation":
			p.Interpolation, _ = wordOf(v)
		case "colorSpace":
			p.ColorSpace, _ = wordOf(v)
		case "bindMaterialAs":
			p.BindStrength, _ = wordOf(v)
		case "elementSize":
			if n, ok := v.(int64); ok && n > 0 && n < 1<<20 {
				p.ElementSize = int(n)
			}
		case "connectionPaths":
			p.Connections, _ = v.(ListOp[string])
		case "targetPaths":
			p.Targets, _ = v.(ListOp[string])
		}
		return nil
	})
	if err == nil && samples != nil && !p.Has {
		p.Has, p.Sampled, p.lazy = true, true, samples
	}
	return err
}

// earliest reads the first of the values at times: the distance of the times' rep, that rep,
// the distance of the number of values, that, and their reps.
func (c *crate) earliest(r valueRep) (Value, error) {
	in := &cursor{c, r.payload()}
	rep, err := in.away()
	if err != nil {
		return nil, err
	}
	if k := rep.kind(); k != typeDoubles && !(k == typeDouble && rep.array()) {
		return nil, malformed(at(r.payload(), ""), "the times of values are no numbers")
	}
	v, err := c.value(rep, 1)
	if err != nil {
		return nil, err
	}
	times, _ := v.(*Numbers)
	start := in.at
	d, err := in.u64()
	if err != nil {
		return nil, err
	}
	if int64(d) < 0 || int64(d) > c.size-start {
		return nil, malformed(at(start, ""), "values lie %d bytes away", int64(d))
	}
	in.at = start + int64(d)
	n, err := in.count(8)
	if err != nil {
		return nil, err
	}
	if n == 0 || times == nil || int64(times.Flat()) < n {
		return nil, malformed(at(start, ""), "there are %d values without as many times", n)
	}
	first := 0
	for i := range int(n) {
		if times.At(i) < times.At(first) {
			first = i
		}
	}
	in.at += 8 * int64(first)
	last, err := in.u64()
	if err != nil {
		return nil, err
	}
	switch rep = valueRep(last); rep.kind() {
	case typeDict, typeAnyValue: // which attributes do not have
		return nil, nil
	}
	return c.value(rep, 1)
}
