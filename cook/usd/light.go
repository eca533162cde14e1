package usd

import (
	"math"

	"github.com/untoldkit/untold/internal/geom"
)

// lamps are the lights that glTF can say something about.
var lamps = map[string]bool{"DistantLight": true, "SphereLight": true, "RectLight": true, "DiskLight": true, "CylinderLight": true}

// Notes about lights.
const (
	lightsNear  = "surfaces that shine become points and spots, as glTF has no others"
	lightsParts = "textures, profiles and temperatures of lights were left out"
)

// light makes a light of KHR_lights_punctual of one of UsdLux, and returns its number. Both
// shine along -Z. UsdLux states luminances in nits, of a surface; glTF wants candela for what
// has a place, luminance times the area that is seen, and lux for what has none, luminance
// times the solid angle.
func (r *reader) light(p *prim, kind string) (int, error) {
	metres, err := r.metres()
	if err != nil {
		return 0, err
	}
	power, radius, width, height, length, angle := 1.0, 0.5, 1.0, 1.0, 1.0, 0.53
	if kind == "DistantLight" { // UsdLux has another default for what is as far as the sun
		power = 50000
	}
	exposure, cone, softness := 0.0, 90.0, 0.0
	for _, a := range []struct {
		to   *float64
		name string
	}{
		{&power, "intensity"},
		{&exposure, "exposure"},
		{&radius, "radius"},
		{&width, "width"},
		{&height, "height"},
		{&length, "length"},
		{&angle, "angle"},
		{&cone, "shaping:cone:angle"},
		{&softness, "shaping:cone:softness"},
	} {
		if *a.to, err = r.amount(p, *a.to, "inputs:"+a.name, a.name); err != nil {
			return 0, err
		}
	}
	normalize, err := r.flag(p, "inputs:normalize", "normalize")
	if err != nil {
		return 0, err
	}
	color := [3]float64{1, 1, 1}
	for _, name := range []string{"inputs:color", "color"} {
		n, err := r.numbers(p, name, 3)
		if err != nil {
			return 0, err
		}
		if n != nil && n.Flat() == 3 {
			color = [3]float64{n.At(0), n.At(1), n.At(2)}
			break
		}
	}
	for _, name := range []string{"inputs:enableColorTemperature", "enableColorTemperature"} {
		if on, err := r.flag(p, name); err != nil {
			return 0, err
		} else if on {
			r.note("usd-light-parts-skipped", false, p.path+"."+name, lightsParts)
		}
	}
	for _, name := range []string{"inputs:texture:file", "inputs:shaping:ies:file"} {
		if v, err := r.value(p, name); err != nil {
			return 0, err
		} else if v != nil {
			r.note("usd-light-parts-skipped", false, p.path+"."+name, lightsParts)
		}
	}
	power *= stops(exposure)
	radius, width, height, length = math.Abs(float64(radius*metres)), math.Abs(float64(width*metres)), math.Abs(float64(height*metres)), math.Abs(float64(length*metres))
	out := members{"name": p.name, "type": "point"}
	seen, whole := 0.0, 0.0 // area from afar, and of the whole surface
	switch kind {
	case "DistantLight":
		out["type"] = "directional"
		sin, _ := geom.Sincos(angle * (math.Pi / 360))
		seen = math.Pi * float64(sin*sin)
		whole = seen
	case "SphereLight":
		seen = math.Pi * float64(radius*radius)
		whole = 4 * seen
	case "CylinderLight":
		seen, whole = 2*float64(radius*length), 2*math.Pi*float64(radius*length)
	case "RectLight":
		seen = float64(width * height)
		whole = seen
	case "DiskLight":
		seen = math.Pi * float64(radius*radius)
		whole = seen
	}
	if point, err := r.flag(p, "treatAsPoint"); err != nil {
		return 0, err
	} else if seen == 0 {
		seen, whole = 1, 1 // as large as it shines
	} else if !point && kind != "DistantLight" {
		r.note("usd-lights-approximated", false, p.path, lightsNear)
	}
	if power *= seen; normalize {
		power /= whole
	}
	top := max(color[0], color[1], color[2])
	if !finite(power, top) || power < 0 || color[0] < 0 || color[1] < 0 || color[2] < 0 {
		r.note("usd-lights-invalid", true, p.path, "lights that shine with less than nothing, or without end, were left out")
		return -1, nil
	}
	if top > 0 {
		for i := range color {
			color[i] /= top
		}
		power *= top
	}
	out["color"], out["intensity"] = color, min(power, 1e30)
	flat := kind == "RectLight" || kind == "DiskLight"
	if kind != "DistantLight" && (flat || cone < 90) {
		// What shines to one side fades towards its edge by the cosine.
		outer := min(max(cone, 0.1), 90) * (math.Pi / 180)
		inner := 0.0
		if cone < 90 {
			inner = float64(outer * (1 - min(max(softness, 0.01), 1)))
		}
		out["type"], out["spot"] = "spot", members{"innerConeAngle": inner, "outerConeAngle": min(outer, math.Pi/2)}
	}
	r.doc.lights = append(r.doc.lights, out)
	return len(r.doc.lights) - 1, nil
}

// stops returns 2^x, of x from -64 to 64, the same on every machine.
func stops(x float64) float64 {
	x = min(max(x, -64), 64)
	whole := math.Floor(x)
	// The rest by the powers of its halves.
	out, root, rest := 1.0, 2.0, x-whole
	for range 40 {
		root = math.Sqrt(root)
		if rest *= 2; rest >= 1 {
			rest--
			out *= root
		}
	}
	for ; whole > 0; whole-- {
		out *= 2
	}
	for ; whole < 0; whole++ {
		out /= 2
	}
	return out
}
