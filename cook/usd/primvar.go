package usd

import (
	"strings"

	"github.com/untoldkit/untold/cook/usd/internal/layer"
)

// primvar are values over a mesh.
type primvar struct {
	interpolation string // constant, uniform, vertex or faceVarying
	values        *layer.Numbers
	indices       *layer.Numbers // nil for none
}

// corner is a corner of a face.
type corner struct {
	face, at int // the face, and the corner among those of all faces
	point    int
}

// index returns which element of the values a corner has.
func (v *primvar) index(c corner) int {
	i := 0
	switch v.interpolation {
	case "uniform":
		i = c.face
	case "vertex":
		i = c.point
	case "faceVarying":
		i = c.at
	}
	if v.indices != nil {
		i = int(v.indices.IntAt(i))
	}
	return i
}

// fits reports whether every corner of a mesh has a value.
func (v *primvar) fits(faces, corners, points int) bool {
	want := map[string]int{"constant": 1, "uniform": faces, "vertex": points, "faceVarying": corners}[v.interpolation]
	if want == 0 {
		return false
	}
	if v.indices == nil {
		return v.values.Len() >= want
	}
	if v.indices.Len() < want {
		return false
	}
	n := int64(v.values.Len())
	for i := range v.indices.Len() {
		if k := v.indices.IntAt(i); k < 0 || k >= n {
			return false
		}
	}
	return true
}

// primvar reads values over a mesh, of elements of a width; nil for none. name is that of
// the attribute. What has no interpolation has otherwise.
func (r *reader) primvar(p *prim, name string, width int, otherwise string) (*primvar, error) {
	raw, err := r.value(p, name)
	if err != nil {
		return nil, err
	}
	n := numbersOf(raw)
	if n == nil || n.Flat() == 0 {
		return nil, nil
	}
	if n.Width != width {
		if n.Width == 1 && n.Flat()%width == 0 && width > 1 { // an array of single numbers
			n.Width = width
		} else if !(n.Width > width) {
			r.note("usd-primvars-skipped", true, p.path+"."+name, "values over meshes of the wrong number or type were left out")
			return nil, nil
		}
	}
	v := &primvar{interpolation: otherwise, values: n}
	if a := p.described(name, func(a *layer.Property) bool { return a.Interpolation != "" }); a != nil {
		v.interpolation = a.Interpolation
	}
	if v.interpolation == "varying" { // the same on meshes
		v.interpolation = "vertex"
	}
	if !strings.HasPrefix(name, "primvars:") {
		return v, nil
	}
	if v.indices, err = r.numbers(p, name+":indices", 1); err != nil {
		return nil, err
	}
	return v, nil
}

// inherited is primvar for constant values, which prims have of those above them.
func (r *reader) inherited(p *prim, name string, width int) (*primvar, error) {
	v, err := r.primvar(p, name, width, "constant")
	if err != nil || v != nil {
		return v, err
	}
	for up := p.parent; up != nil; up = up.parent {
		if v, err = r.primvar(up, name, width, "constant"); err != nil {
			return nil, err
		}
		if v != nil && v.interpolation == "constant" {
			return v, nil
		}
	}
	return nil, nil
}

// texcoords lists the primvars of a prim that are texture coordinates: first st, then as
// they come.
func (p *prim) texcoords() []string {
	var out []string
	for _, name := range p.names() {
		short, ok := strings.CutPrefix(name, "primvars:")
		if !ok || strings.HasSuffix(name, ":indices") {
			continue
		}
		a := p.described(name, func(a *layer.Property) bool { return a.Type != "" })
		if a == nil {
			continue
		}
		switch a.Type {
		case "texCoord2f[]", "texCoord2h[]", "texCoord2d[]", "float2[]":
			if short == "st" {
				out = append([]string{short}, out...)
			} else if a.Type != "float2[]" || strings.Contains(strings.ToLower(short), "uv") || strings.HasPrefix(short, "st") {
				out = append(out, short)
			}
		}
	}
	return out
}
