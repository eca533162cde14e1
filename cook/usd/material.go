package usd

import (
	"fmt"

	"github.com/untoldkit/untold/cook/usd/internal/layer"
)

// bindings are the relationships that name a material, in the order in which they count:
// ours is that of previews.
var bindings = []string{"material:binding:preview", "material:binding", "material:binding:full"}

// bound returns the number of the material that a prim shows.
func (w *walker) bound(p *prim) (int, error) {
	for _, name := range bindings {
		var found *prim
		for at := p; at != nil; at = at.parent {
			list := at.targets(name)
			if len(list) == 0 {
				continue
			}
			strong := at.described(name, func(a *layer.Property) bool { return a.BindStrength != "" })
			if found != nil && (strong == nil || strong.BindStrength != "strongerThanDescendants") {
				continue
			}
			m, err := w.prim(list[0], at)
			if err != nil {
				return 0, err
			}
			if m == nil {
				w.note("usd-materials-missing", true, at.path, "materials that are named are not there: "+clip(list[0]))
				continue
			}
			found = m
		}
		if found == nil {
			continue
		}
		i, err := w.material(found)
		if err != nil || i >= 0 {
			return i, err
		}
	}
	for at := p; at != nil; at = at.parent {
		for _, o := range at.opinions {
			for _, a := range o.Properties {
				if len(a.Name) > 28 && a.Name[:28] == "material:binding:collection:" {
					w.note("usd-collections-skipped", true, at.path, "materials that are bound to collections were left out")
				}
			}
		}
	}
	return w.plainLook(p)
}

// plainLook returns the material of a prim that names none: of its displayColor.
func (w *walker) plainLook(p *prim) (int, error) {
	color, err := w.inherited(p, "primvars:displayColor", 3)
	if err != nil {
		return 0, err
	}
	opacity, err := w.inherited(p, "primvars:displayOpacity", 1)
	if err != nil {
		return 0, err
	}
	l := newLook("default")
	key := "plain"
	flat := func(v *primvar) bool {
		return v == nil || v.values.Len() == 1 && v.interpolation == "constant" || v.values.Len() == 1 && v.indices == nil
	}
	switch {
	case color == nil && opacity == nil:
	case flat(color) && flat(opacity):
		l.name = "displayColor"
		if color != nil {
			for i := range 3 {
				l.base[i] = unit(color.values.At(i), 1)
			}
		}
		if opacity != nil {
			l.base[3] = unit(opacity.values.At(0), 1)
		}
		if l.base[3] < 1 {
			l.mode = "BLEND"
		}
		key = fmt.Sprint("flat", l.base)
	default:
		l.name, l.colors = "displayColor", true
		key = "colors"
		if opacity != nil {
			l.mode, key = "BLEND", "colors and opacities"
		}
	}
	return w.once(key, l), nil
}

// once adds a material, if there is none of the key.
func (w *walker) once(key string, l *look) int {
	i, ok := w.materialOf[key]
	if !ok {
		i = w.doc.addLook(l)
		w.materialOf[key] = i
	}
	return i
}

// unit returns a number from 0 to 1.
func unit(x, otherwise float64) float64 {
	if x-x != 0 {
		return otherwise
	}
	return min(max(x, 0), 1)
}

// material reads a material and returns its number; -1 for one that is not read.
func (w *walker) material(p *prim) (int, error) {
	key := "material " + p.identity(w.ids)
	if i, ok := w.materialOf[key]; ok {
		return i, nil
	}
	l, err := w.surfaceLook(p)
	if err != nil {
		return -1, err
	}
	i := -1
	if l != nil {
		i = w.doc.addLook(l)
	}
	w.materialOf[key] = i
	return i, nil
}

// end is what an input leads to: an attribute with a value, or the output of a shader.
type end struct {
	p      *prim
	name   string
	shader bool
}

// follow goes along connections.
func (w *walker) follow(p *prim, name string) (end, error) {
	for range maxChain {
		list := p.connections(name)
		if len(list) == 0 {
			return end{p: p, name: name}, nil
		}
		path, attr, ok := isAttr(list[0])
		if !ok {
			return end{p: p, name: name}, nil
		}
		q, err := w.prim(path, p)
		if err != nil {
			return end{}, err
		}
		if q == nil {
			w.note("usd-prims-missing", true, p.path+"."+name, "connections lead to prims that are not there: "+clip(path))
			return end{p: p, name: name}, nil
		}
		if q.typeName() == "Shader" && len(attr) > 8 && attr[:8] == "outputs:" {
			return end{p: q, name: attr[8:], shader: true}, nil
		}
		p, name = q, attr
	}
	return end{}, malformed(p.path+"."+name, "is connected through more than %d others", maxChain)
}

// shaderID returns what a shader is.
func (w *walker) shaderID(p *prim) (string, error) { return w.word(p, "info:id", "") }

// surfaceLook reads a UsdPreviewSurface; nil where the material has none.
func (w *walker) surfaceLook(p *prim) (*look, error) {
	s, err := w.follow(p, "outputs:surface")
	if err != nil {
		return nil, err
	}
	id := ""
	if s.shader {
		if id, err = w.shaderID(s.p); err != nil {
			return nil, err
		}
	}
	if id != "UsdPreviewSurface" {
		w.note("usd-materials-skipped", true, p.path, "materials without a UsdPreviewSurface were left out")
		return nil, nil
	}
	l := newLook(p.name)
	m := &previewSurface{walker: w, shader: s.p, look: l, path: p.path}
	for _, f := range []func() error{m.colors, m.opacity, m.shine, m.bumps, m.glow} {
		if err := f(); err != nil {
			return nil, err
		}
	}
	return l, m.finish()
}

// input is what a shader has for one of its inputs: a value, or a channel or more of a
// texture.
type input struct {
	value *layer.Numbers // nil for none
	tex   *texture
	out   string // rgb, r, g, b or a
}

// previewSurface reads a UsdPreviewSurface.
type previewSurface struct {
	*walker
	shader *prim
	look   *look
	path   string

	base, alpha input
}

// input reads an input.
func (m *previewSurface) input(name string) (in input, err error) {
	e, err := m.follow(m.shader, "inputs:"+name)
	if err != nil {
		return in, err
	}
	if !e.shader {
		v, err := m.value(e.p, e.name)
		in.value = numbersOf(v)
		return in, err
	}
	id, err := m.shaderID(e.p)
	if err != nil {
		return in, err
	}
	switch id {
	case "UsdUVTexture":
		in.tex, err = m.texture(e.p)
		in.out = e.name
		return in, err
	case "UsdPrimvarReader_float3", "UsdPrimvarReader_float4", "UsdPrimvarReader_float", "UsdPrimvarReader_vector":
		from, err := m.varname(e.p)
		if err != nil {
			return in, err
		}
		if from == "displayColor" && name == "diffuseColor" || from == "displayOpacity" && name == "opacity" {
			m.look.colors = true
			in.value = &layer.Numbers{Width: 3, F64: []float64{1, 1, 1}}
			return in, nil
		}
	}
	m.note("usd-shaders-skipped", true, e.p.path, "shaders other than textures and their coordinates were left out: "+clip(id))
	return in, nil
}

// number returns an input that is no texture.
func (in *input) number(i int, otherwise float64) float64 {
	if in.value == nil || in.value.Flat() <= i {
		return otherwise
	}
	if x := in.value.At(i); x-x == 0 {
		return x
	}
	return otherwise
}

// colors reads what is seen in white light.
func (m *previewSurface) colors() (err error) {
	if m.base, err = m.input("diffuseColor"); err != nil {
		return err
	}
	if m.alpha, err = m.input("opacity"); err != nil {
		return err
	}
	if m.base.tex == nil {
		for i := range 3 {
			m.look.base[i] = unit(m.base.number(i, 0.18), 0.18)
		}
	}
	return nil
}

// opacity reads what can be seen through, and makes the texture of colours.
func (m *previewSurface) opacity() error {
	l := m.look
	threshold, err := m.input("opacityThreshold")
	if err != nil {
		return err
	}
	cutoff := unit(threshold.number(0, 0), 0)
	if m.alpha.tex == nil {
		l.base[3] = unit(m.alpha.number(0, 1), 1)
	}
	seen := m.alpha.tex != nil || l.base[3] < 1
	switch {
	case seen && cutoff > 0:
		l.mode, l.cutoff = "MASK", cutoff
	case seen:
		l.mode = "BLEND"
	}
	t, a := m.base.tex, m.alpha.tex
	if t == nil && a == nil {
		return nil
	}
	same := a == nil || t != nil && a.sameImage(t) && m.alpha.out == "a" && a.scale[3] == 1 && a.bias[3] == 0
	if t != nil && same && m.base.out == "rgb" && t.direct(3) && !t.raw {
		for i := range 3 {
			l.base[i] = unit(t.scale[i], 1)
		}
		l.baseTex, err = m.ref(t)
		return err
	}
	// An image of its own: colours, and how much is seen of them.
	var c [4]channel
	for i := range 3 {
		if t != nil {
			c[i] = t.channel(m.base.out, i)
			c[i].color = true
		} else {
			c[i] = channel{fixed: 1, color: true}
		}
	}
	if c[3] = (channel{fixed: 1}); a != nil {
		c[3] = a.channel(m.alpha.out, 0)
	}
	l.baseTex, err = m.combine(c, t, a)
	return err
}

// shine reads metalness, roughness and occlusion.
func (m *previewSurface) shine() error {
	l := m.look
	metal, err := m.input("metallic")
	if err != nil {
		return err
	}
	rough, err := m.input("roughness")
	if err != nil {
		return err
	}
	dim, err := m.input("occlusion")
	if err != nil {
		return err
	}
	if v, err := m.input("useSpecularWorkflow"); err != nil {
		return err
	} else if v.number(0, 0) != 0 {
		m.note("usd-specular-skipped", true, m.path, "colours of highlights are not cooked")
	}
	l.metallic, l.roughness = unit(metal.number(0, 0), 0), unit(rough.number(0, 0.5), 0.5)
	mt, rt, ot := metal.tex, rough.tex, dim.tex
	if mt != nil || rt != nil {
		fits := func(in input, out string) bool { return in.tex == nil || in.out == out && in.tex.direct(1) }
		direct := fits(metal, "b") && fits(rough, "g") && (mt == nil || rt == nil || mt.sameImage(rt)) &&
			(mt != nil || l.metallic == 0) && (rt != nil || l.roughness == 0)
		t := rt
		if t == nil {
			t = mt
		}
		if mt != nil {
			l.metallic = unit(mt.scale[2], 1)
		}
		if rt != nil {
			l.roughness = unit(rt.scale[1], 1)
		}
		if direct {
			l.ormTex, err = m.ref(t)
		} else {
			c := [4]channel{{fixed: 1}, {fixed: 1}, {fixed: 1}, {fixed: 1}}
			if rt != nil {
				c[1], l.roughness = rt.channel(rough.out, 0), 1
			}
			if mt != nil {
				c[2], l.metallic = mt.channel(metal.out, 0), 1
			}
			if ot != nil { // beside them, where it is free
				c[0] = ot.channel(dim.out, 0)
			}
			if l.ormTex, err = m.combine(c, rt, mt); err == nil && ot != nil {
				l.occlusionTex = l.ormTex
			}
			return err
		}
		if err != nil {
			return err
		}
	}
	if ot == nil {
		return nil
	}
	if dim.out == "r" && ot.direct(1) && ot.scale[0] == 1 || dim.out == "rgb" {
		l.occlusionTex, err = m.ref(ot)
		return err
	}
	l.occlusionTex, err = m.combine([4]channel{ot.channel(dim.out, 0), {fixed: 1}, {fixed: 1}, {fixed: 1}}, ot, nil)
	return err
}

// bumps reads the normal map.
func (m *previewSurface) bumps() error {
	in, err := m.input("normal")
	if err != nil || in.tex == nil {
		return err
	}
	t := in.tex
	s, b := t.scale, t.bias
	usual := s == [4]float64{1, 1, 1, 1} && b == [4]float64{} ||
		s[0] == s[1] && s[0] > 0 && s[2] > 0 && b[0] == -s[0]/2 && b[1] == b[0]
	if usual {
		if s[0] != 1 && s[2] > 0 {
			if m.look.normalScale = s[0] / s[2]; !finite(m.look.normalScale) {
				return malformed(m.path, "the scale of its normal map is not finite")
			}
		}
		m.look.normalTex, err = m.ref(t)
		return err
	}
	// Such as of a map whose y points down: from -1..1 back to 0..1.
	c := [4]channel{t.channel("rgb", 0), t.channel("rgb", 1), t.channel("rgb", 2), {fixed: 1}}
	for i := range 3 {
		c[i].scale, c[i].bias = c[i].scale/2, float64(c[i].bias/2)+0.5
	}
	m.look.normalTex, err = m.combine(c, t, nil)
	return err
}

// glow reads what shines by itself.
func (m *previewSurface) glow() error {
	in, err := m.input("emissiveColor")
	if err != nil {
		return err
	}
	l := m.look
	if in.tex == nil {
		for i := range 3 {
			l.emissive[i] = min(max(in.number(i, 0), 0), 1e6)
		}
		return nil
	}
	t := in.tex
	for i := range 3 {
		if l.emissive[i] = 1; t.scale[i]-t.scale[i] == 0 {
			l.emissive[i] = min(max(t.scale[i], 0), 1e6)
		}
	}
	if in.out == "rgb" && t.bias == [4]float64{} && !t.raw {
		l.emissiveTex, err = m.ref(t)
		return err
	}
	var c [4]channel
	for i := range 3 {
		c[i] = t.channel(in.out, i)
		c[i].scale, c[i].color = 1, true
	}
	c[3] = channel{fixed: 1}
	l.emissiveTex, err = m.combine(c, t, nil)
	return err
}

// finish notes what is not cooked.
func (m *previewSurface) finish() error {
	for _, name := range []string{"clearcoat", "displacement"} {
		in, err := m.input(name)
		if err != nil {
			return err
		}
		if in.tex != nil || in.number(0, 0) != 0 {
			m.note("usd-shading-skipped", false, m.path, "clear coats and displacement are not cooked")
		}
	}
	return nil
}
