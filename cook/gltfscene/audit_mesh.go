package gltfscene

import (
	"fmt"
	"maps"
	"slices"

	"github.com/qmuntal/gltf"
	"github.com/untoldkit/untold/internal/jsonscan"
)

// classes are the attributes that are cooked, POSITION first.
var classes = []struct {
	name     string
	property string // of a primitive
	class    class
}{
	{"POSITION", ".attributes.POSITION", classPosition},
	{"NORMAL", ".attributes.NORMAL", classNormal},
	{"TANGENT", ".attributes.TANGENT", classTangent},
	{"TEXCOORD_0", ".attributes.TEXCOORD_0", classUV},
	{"TEXCOORD_1", ".attributes.TEXCOORD_1", classUV},
	{"COLOR_0", ".attributes.COLOR_0", classColor},
}

// meshes checks the primitives of unused meshes without their data.
func (a *auditor) meshes() {
	unused(&a.d.meshes, func(i int, m *gltf.Mesh, place string) {
		list := jsonscan.Member(a.d.meshes.raw[i], "primitives")
		for k, e := range jsonscan.Elements(list, 0) {
			if k < len(m.Primitives) {
				where := fmt.Sprintf("%s.primitives[%d]", place, k)
				a.se.observe(where, onPrimitive, e.Of(list))
				a.primitive(where, m.Primitives[k])
			}
		}
	})
}

// primitive checks the accessors of a primitive against the rules that hold
// for used ones.
func (a *auditor) primitive(place string, p *gltf.Primitive) {
	for _, name := range slices.Sorted(maps.Keys(p.Attributes)) {
		a.fault(place+".attributes."+clip(name), a.d.accessors.check(p.Attributes[name]))
	}
	if p.Material != nil {
		a.fault(place+".material", a.d.materials.check(*p.Material))
	}
	count := -1
	for _, c := range classes {
		index, ok := p.Attributes[c.name]
		if !ok {
			continue
		}
		where := fmt.Sprintf("%s.attributes.%s (accessor %d)", place, c.name, index)
		acc := a.accessor(c.class, index, where)
		switch {
		case acc == nil:
		case count < 0:
			count = acc.count
		case acc.count != count:
			a.fault(where, malformed("", "has %d elements, others have %d", acc.count, count))
		}
		if acc != nil && c.class == classPosition {
			if src, _ := a.d.accessors.peek(index); len(src.Min) == 0 || len(src.Max) == 0 {
				a.fault(where, malformed("", "lacks min and max"))
			}
		}
	}
	for i, target := range p.Targets {
		for _, name := range slices.Sorted(maps.Keys(target)) {
			where := fmt.Sprintf("%s.targets[%d].%s", place, i, clip(name))
			acc, err := a.d.accessors.peek(target[name])
			if err != nil {
				a.fault(where, err)
			} else if count >= 0 && acc.Count != count {
				a.fault(where, malformed("", "has %d elements, the base has %d", acc.Count, count))
			}
		}
	}
	if p.Indices == nil {
		return
	}
	where := fmt.Sprintf("%s.indices (accessor %d)", place, *p.Indices)
	if a.accessor(classIndex, *p.Indices, where) == nil {
		return
	}
	acc, _ := a.d.accessors.peek(*p.Indices)
	if acc.BufferView != nil {
		if v, err := a.d.views.peek(*acc.BufferView); err == nil && v.ByteStride != 0 {
			a.fault(where, malformed("", "indices must not have a byteStride"))
		}
	}
}

// accessor checks the format of an accessor; nil if it is unusable.
func (a *auditor) accessor(c class, index int, place string) *accessor {
	src, err := a.d.accessors.peek(index)
	if err != nil {
		return nil // reported before
	}
	acc := newAccessor(src)
	ok, quantized := acc.accepts(c)
	if !ok {
		a.fault(place, malformed("", "is %s, must be %s", acc.format(), wants[c]))
		return nil
	}
	if quantized && !a.se.ext.required["KHR_mesh_quantization"] {
		a.fault(place, malformed("", "is quantized, but KHR_mesh_quantization is not required"))
	}
	return acc
}
