package usd

import (
	"math"
	"strings"

	"github.com/untoldkit/untold/cook/usd/internal/layer"
	"github.com/untoldkit/untold/internal/geom"
)

// resetStack begins an order of operations that do not start from the parent's place.
const resetStack = "!resetXformStack!"

// local returns the transform of a prim from its own space to its parent's, or to that of
// the scene.
func (r *reader) local(p *prim) (m geom.Mat4, reset bool, err error) {
	m = geom.Identity()
	v, err := r.value(p, "xformOpOrder")
	if err != nil {
		return m, false, err
	}
	order, _ := v.([]string)
	for _, name := range order {
		if name == resetStack {
			m, reset = geom.Identity(), true
			continue
		}
		op, inverted := strings.CutPrefix(name, "!invert!")
		o, err := r.operation(p, op)
		if err != nil {
			return m, reset, err
		}
		if inverted {
			inv, ok := o.InverseAffine()
			if !ok {
				return m, reset, malformed(p.path+"."+op, "cannot be inverted")
			}
			o = inv
		}
		m = m.Mul(o)
	}
	if !m.IsFinite() {
		return m, reset, malformed(p.path, "its transform is not finite")
	}
	return m, reset, nil
}

// operation returns the transform of one operation.
func (r *reader) operation(p *prim, name string) (geom.Mat4, error) {
	m := geom.Identity()
	kind, ok := strings.CutPrefix(name, "xformOp:")
	if !ok {
		r.note("usd-xform-ops-unknown", true, p.path+"."+name, "operations of transforms that are unknown were left out")
		return m, nil
	}
	kind, _, _ = strings.Cut(kind, ":")
	v, err := r.value(p, name)
	if err != nil {
		return m, err
	}
	n := numbersOf(v)
	if n == nil { // without a value it does nothing
		return m, nil
	}
	want := map[string]int{"transform": 16, "orient": 4, "translate": 3, "scale": 3}[kind]
	axes := ""
	switch {
	case want > 0:
	case strings.HasPrefix(kind, "rotate") || strings.HasPrefix(kind, "translate") || strings.HasPrefix(kind, "scale"):
		if axes = strings.TrimLeft(kind, "rotaenslc"); len(axes) != 1 && (len(axes) != 3 || kind[0] != 'r') || strings.Trim(axes, "XYZ") != "" {
			axes = ""
		}
		want = len(axes)
	}
	if want == 0 {
		r.note("usd-xform-ops-unknown", true, p.path+"."+name, "operations of transforms that are unknown were left out")
		return m, nil
	}
	if n.Flat() != want {
		return m, malformed(p.path+"."+name, "has %d numbers, %d are expected", n.Flat(), want)
	}
	switch kind {
	case "transform":
		return matrixOf(n), nil // by rows for row vectors: the same order
	case "translate":
		m[12], m[13], m[14] = n.At(0), n.At(1), n.At(2)
		return m, nil
	case "scale":
		m[0], m[5], m[10] = n.At(0), n.At(1), n.At(2)
		return m, nil
	case "orient":
		return geom.TRS(geom.Vec3{}, [4]float64{n.At(1), n.At(2), n.At(3), n.At(0)}, geom.Vec3{1, 1, 1}), nil
	}
	axis := int(axes[0] - 'X')
	switch kind[0] {
	case 't':
		m[12+axis] = n.At(0)
		return m, nil
	case 's':
		m[5*axis] = n.At(0)
		return m, nil
	}
	// The first axis is turned about first.
	for i := range axes {
		axis := int(axes[i] - 'X')
		at := axis
		if len(axes) == 1 {
			at = 0
		}
		m = turn(axis, n.At(at)).Mul(m)
	}
	return m, nil
}

// matrixOf returns a matrix of 16 numbers, whose last column is dropped.
func matrixOf(n *layer.Numbers) geom.Mat4 {
	var m geom.Mat4
	for i := range m {
		m[i] = n.At(i)
	}
	m[3], m[7], m[11], m[15] = 0, 0, 0, 1
	return m
}

// turn rotates about an axis by degrees, exactly by right angles.
func turn(axis int, degrees float64) geom.Mat4 {
	degrees -= float64(360 * math.Floor(degrees/360))
	sin, cos := geom.Sincos(degrees * (math.Pi / 180))
	switch degrees {
	case 0:
		sin, cos = 0, 1
	case 90:
		sin, cos = 1, 0
	case 180:
		sin, cos = 0, -1
	case 270:
		sin, cos = -1, 0
	}
	m := geom.Identity()
	a, b := (axis+1)%3, (axis+2)%3
	m[5*a], m[5*b] = cos, cos
	m[4*a+b], m[4*b+a] = sin, -sin
	return m
}
