package layer

import "strings"

// body reads what stands between the braces of a prim, or in the whole file.
func (t *text) body(p *Prim, whole bool) error {
	for {
		if err := t.tick(); err != nil {
			return err
		}
		switch c := t.next(); {
		case c == 0 && t.at >= len(t.data):
			if whole {
				return nil
			}
			return t.wanted("}")
		case c == '}' && !whole:
			t.at++
			return nil
		}
		switch t.peek() {
		case "def", "over", "class":
			if err := t.prim(p); err != nil {
				return err
			}
		case "variantSet":
			t.word()
			if err := t.variantSet(p); err != nil {
				return err
			}
		case "reorder":
			t.word()
			if w := t.word(); w == "rel" {
				t.word()
			} else if w != "nameChildren" && w != "properties" && w != "rootPrims" {
				t.word()
				if t.is('.') {
					t.word()
				}
			}
			if err := t.expect('='); err != nil {
				return err
			}
			if _, err := t.value(); err != nil {
				return err
			}
		default:
			if whole {
				return t.wanted("def, over or class")
			}
			if err := t.property(p); err != nil {
				return err
			}
		}
	}
}

// prim reads a prim.
func (t *text) prim(parent *Prim) error {
	done, err := t.deeper()
	if err != nil {
		return err
	}
	defer done()
	if err := t.charge(primCost); err != nil {
		return err
	}
	p := &Prim{Place: t.place()}
	switch t.word() {
	case "over":
		p.Specifier = Over
	case "class":
		p.Specifier = Class
	}
	p.Type = t.word()
	if p.Name, err = t.quoted(); err != nil {
		return err
	}
	if p.Name == "" || len(p.Name) > maxName || strings.ContainsAny(p.Name, "/.<>{}[]\n\r\x00") {
		return malformed(p.Place, "%q cannot be the name of a prim", clip(p.Name))
	}
	parent.Children = append(parent.Children, p)
	if err := t.metadata(p); err != nil {
		return err
	}
	if t.next() != '{' { // without a body
		return nil
	}
	t.at++
	return t.body(p, false)
}

// variantSet reads a set of variants.
func (t *text) variantSet(p *Prim) error {
	done, err := t.deeper()
	if err != nil {
		return err
	}
	defer done()
	name, err := t.quoted()
	if err != nil {
		return err
	}
	if err := t.expect('='); err != nil {
		return err
	}
	if err := t.expect('{'); err != nil {
		return err
	}
	s := p.set(name)
	for !t.is('}') {
		if err := t.charge(primCost); err != nil {
			return err
		}
		v := &Prim{Place: t.place(), Specifier: Over}
		if v.Name, err = t.quoted(); err != nil {
			return err
		}
		if err := t.metadata(v); err != nil {
			return err
		}
		if err := t.expect('{'); err != nil {
			return err
		}
		if err := t.body(v, false); err != nil {
			return err
		}
		s.Variants = append(s.Variants, v)
	}
	return nil
}

// operation takes the word that says what a list does to that of weaker layers.
func (t *text) operation() string {
	switch w := t.peek(); w {
	case "add", "prepend", "append", "delete", "reorder":
		t.word()
		return w
	}
	return ""
}

// metadata reads what stands in the parentheses behind a prim's name, if there are any.
func (t *text) metadata(p *Prim) error {
	if !t.is('(') {
		return nil
	}
	for !t.is(')') {
		if c := t.next(); c == '"' || c == '\'' { // a comment
			if _, err := t.quoted(); err != nil {
				return err
			}
			continue
		}
		op := t.operation()
		key := t.word()
		if key == "" {
			return t.wanted("the name of a metadatum")
		}
		if err := t.expect('='); err != nil {
			return err
		}
		if err := t.metadatum(p, op, key); err != nil {
			return err
		}
	}
	return nil
}

func (t *text) metadatum(p *Prim, op, key string) error {
	switch key {
	case "references":
		return listOf(t, op, &p.References, t.reference)
	case "payload":
		return listOf(t, op, &p.Payloads, t.reference)
	case "inherits":
		return listOf(t, op, &p.Inherits, t.path)
	case "specializes":
		return listOf(t, op, &p.Specializes, t.path)
	case "variantSets":
		return listOf(t, op, &p.SetNames, t.quoted)
	case "variants":
		d, err := t.dict()
		for k, v := range d {
			if s, ok := v.(string); ok {
				if p.Selections == nil {
					p.Selections = map[string]string{}
				}
				p.Selections[k] = s
			}
		}
		return err
	case "inactiveIds":
		l, _ := p.Meta[key].(ListOp[int64])
		err := listOf(t, op, &l, t.whole)
		p.meta(key, l)
		return err
	case "relocates", "prefixSubstitutions", "suffixSubstitutions":
		return t.skipBraces()
	case "subLayers":
		var list ListOp[Reference]
		if err := listOf(t, "", &list, t.reference); err != nil {
			return err
		}
		names := []Asset{}
		for _, r := range list.Items {
			names = append(names, Asset(r.Asset))
		}
		p.meta(key, names)
		return nil
	}
	v, err := t.value()
	if err == nil && op != "delete" && op != "reorder" {
		p.meta(key, v)
	}
	return err
}

func (p *Prim) meta(key string, v Value) {
	if p.Meta == nil {
		p.Meta = map[string]Value{}
	}
	p.Meta[key] = v
}

// listOf reads one element, several in brackets, or None.
func listOf[T comparable](t *text, op string, to *ListOp[T], element func() (T, error)) error {
	var list []T
	switch {
	case t.keyword("None"):
	case t.is('['):
		for !t.is(']') {
			v, err := element()
			if err != nil {
				return err
			}
			list = append(list, v)
			t.is(',')
		}
	default:
		v, err := element()
		if err != nil {
			return err
		}
		list = append(list, v)
	}
	switch op {
	case "":
		to.Explicit, to.Items = true, list
	case "prepend":
		to.Prepended = append(to.Prepended, list...)
	case "append":
		to.Appended = append(to.Appended, list...)
	case "add":
		to.Added = append(to.Added, list...)
	case "delete":
		to.Deleted = append(to.Deleted, list...)
	}
	return nil
}

// reference reads @file@</Prim> (offset = 1), of which one of both may be missing.
func (t *text) reference() (r Reference, err error) {
	if t.next() == '@' {
		if r.Asset, err = t.asset(); err != nil {
			return r, err
		}
	} else if t.next() != '<' {
		return r, t.wanted("@the name of a file@")
	}
	if t.next() == '<' {
		if r.Prim, err = t.path(); err != nil {
			return r, err
		}
	}
	if t.next() == '(' {
		err = t.metadata(&Prim{}) // offsets of time, and data of the user's
	}
	return r, err
}

// skipBraces skips a value of no interest.
func (t *text) skipBraces() error {
	if err := t.expect('{'); err != nil {
		return err
	}
	for depth := 1; depth > 0; {
		switch t.next() {
		case 0:
			if t.at >= len(t.data) {
				return t.wanted("}")
			}
			t.at++
		case '{':
			depth++
			t.at++
		case '}':
			depth--
			t.at++
		case '"', '\'':
			if _, err := t.quoted(); err != nil {
				return err
			}
		default:
			t.at++
		}
	}
	return nil
}

// property reads an attribute or a relationship.
func (t *text) property(p *Prim) error {
	place := t.place()
	op := t.operation()
	for t.keyword("custom") || t.keyword("uniform") || t.keyword("varying") || t.keyword("config") {
	}
	if op == "" {
		op = t.operation()
	}
	typ := t.word()
	if typ == "" {
		return t.wanted("a property")
	}
	if t.is('[') {
		if err := t.expect(']'); err != nil {
			return err
		}
		typ += "[]"
	}
	name := t.word()
	if name == "" || len(name) > maxName {
		return t.wanted("the name of a property")
	}
	at := p.Property(name)
	if at == nil {
		if err := t.charge(propertyCost); err != nil {
			return err
		}
		at = &Property{Name: name, Place: place}
		p.Properties = append(p.Properties, at)
		if p.properties == nil {
			p.properties = map[string]*Property{}
		}
		p.properties[name] = at
	}
	part := ""
	if t.at < len(t.data) && t.data[t.at] == '.' {
		t.at++
		part = t.word()
	}
	if typ != "rel" {
		at.Type = typ
	}
	if !t.is('=') {
		return t.propertyMeta(at)
	}
	var err error
	switch {
	case typ == "rel":
		err = listOf(t, op, &at.Targets, t.path)
	case part == "connect":
		err = listOf(t, op, &at.Connections, t.path)
	case part == "timeSamples":
		err = t.samples(at)
	case part == "spline":
		err = t.skipBraces()
	case part != "":
		err = t.fail("%q is no part of an attribute", clip(part))
	default:
		var v Value
		var lazy func() (Value, error)
		if v, lazy, err = t.typed(typ); err == nil {
			at.value, at.lazy, at.Has, at.Sampled = v, lazy, true, false
		}
	}
	if err != nil {
		return err
	}
	return t.propertyMeta(at)
}

// samples reads values at times, and keeps the earliest where there is no other.
func (t *text) samples(p *Property) error {
	if err := t.expect('{'); err != nil {
		return err
	}
	first := 0.0
	for n := 0; !t.is('}'); n++ {
		at, err := t.number()
		if err != nil {
			return err
		}
		if err := t.expect(':'); err != nil {
			return err
		}
		v, lazy, err := t.typed(p.Type)
		if err != nil {
			return err
		}
		if (!p.Has || p.Sampled) && (n == 0 || at < first) {
			first = at
			p.value, p.lazy, p.Has, p.Sampled = v, lazy, true, true
		}
		t.is(',')
	}
	return nil
}

// propertyMeta reads what stands in the parentheses behind a property, if there are any.
func (t *text) propertyMeta(p *Property) error {
	var holder Prim
	if err := t.metadata(&holder); err != nil {
		return err
	}
	for _, s := range []struct {
		key string
		to  *string
	}{{"interpolation", &p.Interpolation}, {"colorSpace", &p.ColorSpace}, {"bindMaterialAs", &p.BindStrength}} {
		if v, ok := wordOf(holder.Meta[s.key]); ok {
			*s.to = v
		}
	}
	if v, ok := holder.Meta["elementSize"].(int64); ok && v > 0 && v < 1<<20 {
		p.ElementSize = int(v)
	}
	return nil
}

// wordOf returns a text or a token.
func wordOf(v Value) (string, bool) {
	switch s := v.(type) {
	case string:
		return s, true
	case Token:
		return string(s), true
	}
	return "", false
}

// clip shortens text of a file.
func clip(s string) string {
	if len(s) > 60 {
		return s[:60] + "..."
	}
	return s
}
