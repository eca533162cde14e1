package gltfexport

import (
	"encoding/json"
	"math"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/glb"
	"github.com/untoldkit/untold/manifest"
)

type lightJSON struct {
	Name      string    `json:"name,omitempty"`
	Type      string    `json:"type"`
	Color     []float64 `json:"color,omitempty"`
	Intensity float64   `json:"intensity"`
	Range     float64   `json:"range,omitempty"`
	Spot      *spotJSON `json:"spot,omitempty"`
}

type spotJSON struct {
	Inner float64 `json:"innerConeAngle"`
	Outer float64 `json:"outerConeAngle"`
}

type cameraJSON struct {
	Name        string          `json:"name,omitempty"`
	Type        string          `json:"type"`
	Perspective perspectiveJSON `json:"perspective"`
}

type perspectiveJSON struct {
	Aspect float64 `json:"aspectRatio,omitempty"`
	FovY   float64 `json:"yfov"`
	Far    float64 `json:"zfar,omitempty"`
	Near   float64 `json:"znear"`
}

// lights writes scene_lights as KHR_lights_punctual, a node each.
func (e *exporter) lights(list []manifest.Light) {
	for i := range list {
		l := &list[i]
		out, ok := lightOf(l)
		place, placed := look(l.Position, l.Direction, l.Up)
		if !ok || !placed {
			e.notes.add("light-skipped", 1, l.Name)
			continue
		}
		if l.RadiometricUnit {
			e.notes.add("light-units", 1, l.Name)
		}
		text, err := json.Marshal(out)
		if err != nil {
			e.notes.add("light-skipped", 1, l.Name)
			continue
		}
		e.doc.lights = append(e.doc.lights, text)
		e.scenery(place, nodeJSON{Name: l.Name, Extensions: &nodeExtras{lightRefJSON{len(e.doc.lights) - 1}}})
	}
}

// scenery adds a node to the scene itself. Its numbers are finite, so that it
// can be encoded.
func (e *exporter) scenery(p placement, n nodeJSON) {
	at := e.doc.Count(glb.Nodes)
	if err := e.addNode(p, n); err == nil {
		e.doc.roots = append(e.doc.roots, at)
	}
}

// lightOf maps a light; it is false for those that glTF cannot tell. The
// manifest's intensities are candela and lux like glTF's, unless it marks them
// as radiometric; angles are degrees there and radians here.
func lightOf(l *manifest.Light) (lightJSON, bool) {
	out := lightJSON{Name: l.Name, Type: l.Kind, Intensity: l.Intensity}
	top := max(l.Color[0], l.Color[1], l.Color[2])
	for _, c := range l.Color {
		if !(c >= 0 && c <= anyFactor) {
			return out, false
		}
	}
	if !(l.Intensity >= 0) || math.IsInf(l.Intensity*max(top, 1), 0) {
		return out, false
	}
	color := l.Color
	if top > 1 { // glTF's colours end at 1
		for i := range color {
			color[i] /= top
		}
		out.Intensity *= top
	}
	if color != [3]float64{1, 1, 1} {
		out.Color = color[:]
	}
	switch l.Kind {
	case manifest.LightDirectional:
		return out, true
	case manifest.LightPoint, manifest.LightSpot:
	default:
		return out, false
	}
	if l.Range > 0 && !math.IsInf(l.Range, 0) {
		out.Range = l.Range
	}
	if l.Kind == manifest.LightSpot {
		inner, outer := radians(l.InnerCone), min(radians(l.OuterCone), math.Pi/2)
		if !(inner >= 0 && outer > 0) {
			return out, false
		}
		if inner >= outer { // glTF wants a rim, however thin
			inner = outer * 0.999
		}
		out.Spot = &spotJSON{inner, outer}
	}
	return out, true
}

// cameras writes scene_cameras, a node each.
func (e *exporter) cameras(list []manifest.Camera) {
	for i := range list {
		c := &list[i]
		p := perspectiveJSON{FovY: radians(c.FovYDegrees), Near: c.NearClip}
		if c.AspectRatio > 0 && !math.IsInf(c.AspectRatio, 0) {
			p.Aspect = c.AspectRatio
		}
		if !math.IsInf(c.FarClip, 0) {
			p.Far = c.FarClip
		}
		place, ok := look(c.Position, c.Forward, c.Up)
		if !ok || !(p.FovY > 0 && p.FovY < math.Pi && p.Near > 0 && (p.Far == 0 || p.Far > p.Near)) || math.IsInf(p.Near, 0) {
			e.notes.add("camera-skipped", 1, c.Name)
			continue
		}
		k, err := e.doc.add(glb.Cameras, cameraJSON{c.Name, "perspective", p})
		if err != nil {
			e.notes.add("camera-skipped", 1, c.Name)
			continue
		}
		e.scenery(place, nodeJSON{Name: c.Name, Camera: &k})
	}
}

func radians(degrees float64) float64 { return degrees * math.Pi / 180 }

// look places a node whose -Z points along forward, as glTF's lights and
// cameras do. The manifest's cameras have a mirrored basis, so the third axis
// is computed.
func look(position, forward, up geom.Vec3) (placement, bool) {
	p := placement{t: position, q: noRotation, s: noScale}
	z := forward.Scale(-1).Normalize(1e-9, geom.Vec3{})
	if z == (geom.Vec3{}) || !position.IsFinite() || !forward.IsFinite() {
		return p, false
	}
	x := up.Cross(z)
	if x.IsFinite() {
		x = x.Normalize(1e-9, perpendicular(z))
	} else {
		x = perpendicular(z)
	}
	p.q = quaternion(&[3]geom.Vec3{x, z.Cross(x), z})
	return p, true
}
