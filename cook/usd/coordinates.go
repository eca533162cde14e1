package usd

import (
	"math"

	"github.com/untoldkit/untold/internal/geom"
)

// varname returns the primvar that a reader reads.
func (w *walker) varname(p *prim) (string, error) {
	e, err := w.follow(p, "inputs:varname")
	if err != nil || e.shader {
		return "st", err
	}
	return w.word(e.p, e.name, "st")
}

// coordinates finds the primvar that a texture is laid out by, and how it is moved.
func (w *walker) coordinates(p *prim) (name string, move *uvTransform, err error) {
	at, attr := p, "inputs:st"
	for range maxChain {
		e, err := w.follow(at, attr)
		if err != nil || !e.shader {
			return "st", move, err
		}
		id, err := w.shaderID(e.p)
		if err != nil {
			return "", nil, err
		}
		switch id {
		case "UsdTransform2d":
			if move != nil {
				w.note("usd-shaders-skipped", true, e.p.path, "shaders other than textures and their coordinates were left out: a second UsdTransform2d")
				return "st", move, nil
			}
			if move, err = w.transform2d(e.p); err != nil {
				return "", nil, err
			}
			at, attr = e.p, "inputs:in"
			continue
		case "UsdPrimvarReader_float2":
			name, err := w.varname(e.p)
			return name, move, err
		}
		w.note("usd-shaders-skipped", true, e.p.path, "shaders other than textures and their coordinates were left out: "+clip(id))
		return "st", move, nil
	}
	return "st", move, nil
}

// transform2d reads how texture coordinates are scaled, turned and moved, in that order. v
// points upwards there.
func (w *walker) transform2d(p *prim) (*uvTransform, error) {
	pair := func(name string, otherwise float64) (out [2]float64, err error) {
		e, err := w.follow(p, name)
		if err != nil {
			return out, err
		}
		v, err := w.value(e.p, e.name)
		out = [2]float64{otherwise, otherwise}
		if n := numbersOf(v); n != nil && n.Flat() == 2 && n.At(0)-n.At(0) == 0 && n.At(1)-n.At(1) == 0 {
			out = [2]float64{n.At(0), n.At(1)}
		}
		return out, err
	}
	scale, err := pair("inputs:scale", 1)
	if err != nil {
		return nil, err
	}
	moved, err := pair("inputs:translation", 0)
	if err != nil {
		return nil, err
	}
	e, err := w.follow(p, "inputs:rotation")
	if err != nil {
		return nil, err
	}
	degrees, err := w.number(e.p, e.name, 0)
	if err != nil {
		return nil, err
	}
	angle := degrees * (math.Pi / 180)
	sin, cos := geom.Sincos(angle)
	t := &uvTransform{
		Offset:   [2]float64{moved[0] - float64(sin*scale[1]), 1 - float64(cos*scale[1]) - moved[1]},
		Rotation: angle, Scale: scale,
	}
	if !finite(t.Offset[0], t.Offset[1], t.Rotation) {
		return nil, malformed(p.path, "what it does to texture coordinates is not finite")
	}
	if *t == (uvTransform{Scale: [2]float64{1, 1}}) {
		return nil, nil
	}
	return t, nil
}
