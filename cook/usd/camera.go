package usd

import (
	"math"

	"github.com/untoldkit/untold/cook/usd/internal/layer"
	"github.com/untoldkit/untold/internal/geom"
)

// camera makes a camera of glTF of one of UsdGeomCamera, and returns its number. Both look
// along -Z. What glTF has no words for, such as focus and shutter, is left out. One that
// shows nothing has no number: -1.
func (r *reader) camera(p *prim) (int, error) {
	metres, err := r.metres()
	if err != nil {
		return 0, err
	}
	width, height, focal := 20.955, 15.2908, 50.0
	for _, a := range []struct {
		name string
		to   *float64
	}{{"horizontalAperture", &width}, {"verticalAperture", &height}, {"focalLength", &focal}} {
		if *a.to, err = r.amount(p, *a.to, a.name); err != nil {
			return 0, err
		}
	}
	near, far := 1.0, 1e6
	if n, err := r.numbers(p, "clippingRange", 2); err != nil {
		return 0, err
	} else if n != nil {
		near, far = n.At(0), n.At(1)
	}
	near, far = float64(near*metres), float64(far*metres)
	if !(near >= 1e-6 && near <= 1e9) {
		near = 0.01
	}
	if !(far > near && far <= 1e12) {
		far = float64(near * 1e6)
	}
	kind, err := r.word(p, "projection", "perspective")
	if err != nil {
		return 0, err
	}
	flat := kind == "orthographic"
	if !(inRange(width) && inRange(height) && (flat || inRange(focal))) {
		r.note("usd-cameras-invalid", true, p.path, "cameras whose aperture or focal length is none were left out")
		return -1, nil
	}
	out := members{"name": p.name}
	if flat { // tenths of units, of which glTF wants half
		out["type"] = kind
		out[kind] = members{"xmag": float64(width*metres) / 20, "ymag": float64(height*metres) / 20, "znear": near, "zfar": far}
	} else {
		out["type"] = "perspective"
		out["perspective"] = members{"aspectRatio": width / height, "yfov": 2 * arctan(height/(2*focal)), "znear": near, "zfar": far}
	}
	r.doc.cameras = append(r.doc.cameras, out)
	return len(r.doc.cameras) - 1, nil
}

// inRange reports whether a length of a camera is one, in tenths of units.
func inRange(x float64) bool { return x >= 1e-9 && x <= 1e9 }

// arctan returns the angle of a tangent above 0, the same on every machine.
func arctan(x float64) float64 {
	at := math.Pi / 4
	for range 12 {
		sin, cos := geom.Sincos(at)
		at -= (sin - float64(x*cos)) / (cos + float64(x*sin))
	}
	return at
}

// amount returns the number of the first attribute that there is of some, or another.
func (r *reader) amount(p *prim, other float64, names ...string) (float64, error) {
	for _, name := range names {
		n, err := r.numbers(p, name, 1)
		if err != nil {
			return 0, err
		}
		if n != nil && n.Flat() == 1 && finite(n.At(0)) {
			return n.At(0), nil
		}
	}
	return other, nil
}

// flag returns the truth of the first attribute that there is of some, or another.
func (r *reader) flag(p *prim, names ...string) (bool, error) {
	for _, name := range names {
		v, err := r.value(p, name)
		if err != nil {
			return false, err
		}
		switch v := v.(type) {
		case bool:
			return v, nil
		case int64:
			return v != 0, nil
		case *layer.Numbers:
			return v.Flat() == 1 && v.At(0) != 0, nil
		}
	}
	return false, nil
}
