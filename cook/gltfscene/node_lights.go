package gltfscene

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/qmuntal/gltf"
	"github.com/untoldkit/untold/internal/jsonscan"
)

const lightsName = "KHR_lights_punctual"

const (
	faultyLight  = "a faulty light was left out"
	faultyCamera = "a faulty camera was left out"
)

// lightSource is the JSON of one light.
type lightSource struct {
	Name      string
	Type      string
	Color     *[3]float64
	Intensity *float64
	Range     *float64
	Spot      *struct {
		InnerConeAngle *float64
		OuterConeAngle *float64
	}
}

var (
	lightSchema = &schema{[]prop{
		{name: "type", kind: isString, need: true, strs: []string{"directional", "point", "spot"}},
		{name: "color", kind: isNums, size: 3},
		{name: "intensity", kind: isNum},
		{name: "range", kind: isNum},
		{name: "spot", kind: isObject, sub: &schema{[]prop{
			{name: "innerConeAngle", kind: isNum}, {name: "outerConeAngle", kind: isNum},
		}}},
		{name: "name", kind: isString},
	}}
	lightRefSchema = &schema{[]prop{{name: "light", kind: isInt, need: true}}}
)

// parseLights reads the document's lights; the result is not nil.
func (d *document) parseLights() []memo[Light] {
	list := []memo[Light]{}
	all := jsonscan.Member(jsonscan.Member(d.extensions, lightsName), "lights")
	for i, e := range jsonscan.Elements(all, 0) {
		l, err := parseLight(e.Of(all))
		if err != nil {
			err = at(fmt.Sprintf("extensions.%s.lights[%d]", lightsName, i), err)
		}
		list = append(list, memo[Light]{&l, err})
	}
	return list
}

// placeLight adds the light that a node refers to; a faulty one is noted.
func (np *nodePlacer) placeLight(ref []byte, n Node) {
	var r struct{ Light int }
	place := np.doc.nodes.place(n.Index) + ".extensions." + lightsName
	if err := lightRefSchema.decode(ref, &r); err != nil {
		np.notes.fault("light-faulty", faultyLight, at(place, err))
		return
	}
	if np.lights == nil {
		np.lights = np.doc.parseLights()
	}
	if r.Light >= len(np.lights) {
		np.notes.fault("light-faulty", faultyLight, malformed(place+".light", "names light %d, but the file has %d", r.Light, len(np.lights)))
		return
	}
	if np.doc.lightsUsed == nil {
		np.doc.lightsUsed = make(map[int]bool)
	}
	np.doc.lightsUsed[r.Light] = true
	if err := np.lights[r.Light].err; err != nil {
		np.notes.fault("light-faulty", faultyLight, err)
		return
	}
	l := *np.lights[r.Light].v
	if l.Name == "" {
		l.Name = n.Name
	}
	l.World, l.SourceNode = n.World, n.Index
	np.scene.Lights = append(np.scene.Lights, l)
}

// parseLight reads and checks one light.
func parseLight(raw []byte) (Light, error) {
	src := lightSource{}
	if err := lightSchema.decode(raw, &src); err != nil {
		return Light{}, err
	}
	l := Light{Name: cleanName(src.Name), Kind: src.Type, Color: [3]float64{1, 1, 1}, Intensity: 1}
	if src.Color != nil {
		l.Color = *src.Color
	}
	for _, c := range l.Color {
		if c < 0 {
			return l, malformed(".color", "has the negative component %v", c)
		}
	}
	if src.Intensity != nil {
		l.Intensity = *src.Intensity
	}
	if l.Intensity < 0 {
		return l, malformed(".intensity", "is %v, must be >= 0", l.Intensity)
	}
	if src.Range != nil {
		if !(*src.Range > 0) {
			return l, malformed(".range", "is %v, must be > 0", *src.Range)
		}
		if l.Kind != "directional" { // whose range has no meaning
			l.Range = *src.Range
		}
	}
	if l.Kind != "spot" {
		return l, nil
	}
	l.OuterCone = math.Pi / 4
	if src.Spot == nil {
		return l, malformed(".spot", "is missing")
	}
	if src.Spot.InnerConeAngle != nil {
		l.InnerCone = *src.Spot.InnerConeAngle
	}
	if src.Spot.OuterConeAngle != nil {
		l.OuterCone = *src.Spot.OuterConeAngle
	}
	// Half a right angle, rounded up to single precision, is still a right angle.
	if !(l.InnerCone >= 0 && l.InnerCone < l.OuterCone && l.OuterCone <= float64(float32(math.Pi/2))) {
		return l, malformed(".spot", "has cone angles %v and %v: 0 <= inner < outer <= pi/2 must hold", l.InnerCone, l.OuterCone)
	}
	return l, nil
}

// placeCamera adds the camera that a node refers to; a faulty one is noted.
func (np *nodePlacer) placeCamera(index int, n Node) {
	if err := np.doc.cameras.check(index); err != nil {
		np.notes.fault("camera-faulty", faultyCamera, at(np.doc.nodes.place(n.Index)+".camera", err))
		return
	}
	src, err := np.doc.cameras.get(index)
	if err != nil {
		np.notes.fault("camera-faulty", faultyCamera, err)
		return
	}
	if _, ok := np.cameras[index]; !ok {
		c, err := parseCamera(src, np.doc.cameras.raw[index])
		np.cameras[index] = memo[Camera]{&c, err}
	}
	if err := np.cameras[index].err; err != nil {
		np.notes.fault("camera-faulty", faultyCamera, at(np.doc.cameras.place(index), err))
		return
	}
	c := *np.cameras[index].v
	if c.Name == "" {
		c.Name = n.Name
	}
	c.World, c.SourceNode = n.World, n.Index
	np.scene.Cameras = append(np.scene.Cameras, c)
}

// parseCamera checks the ranges of a camera; glTF 2.0 section 3.10.3.
func parseCamera(src *gltf.Camera, raw []byte) (Camera, error) {
	c := Camera{Name: cleanName(src.Name)}
	var kind string
	if json.Unmarshal(jsonscan.Member(raw, "type"), &kind) != nil {
		return c, malformed(".type", "is missing")
	}
	switch {
	case src.Perspective != nil && src.Orthographic != nil:
		return c, malformed("", "is perspective as well as orthographic")
	case kind == "perspective" && src.Perspective != nil:
		p := src.Perspective
		c.FovY, c.Near = p.Yfov, p.Znear
		if p.AspectRatio != nil {
			if c.Aspect = *p.AspectRatio; !(c.Aspect > 0) {
				return c, malformed(".perspective.aspectRatio", "is %v, must be > 0", c.Aspect)
			}
		}
		if !(c.FovY > 0 && c.FovY < math.Pi) {
			return c, malformed(".perspective.yfov", "is %v, must be above 0 and below pi", c.FovY)
		}
		if !(c.Near > 0) {
			return c, malformed(".perspective.znear", "is %v, must be > 0", c.Near)
		}
		if p.Zfar != nil {
			if c.Far = *p.Zfar; !(c.Far > c.Near) {
				return c, malformed(".perspective.zfar", "is %v, must be above znear, %v", c.Far, c.Near)
			}
		}
	case kind == "orthographic" && src.Orthographic != nil:
		o := src.Orthographic
		c.Orthographic, c.Near, c.Far = true, o.Znear, o.Zfar
		if o.Xmag == 0 || o.Ymag == 0 {
			return c, malformed(".orthographic", "has a magnification of 0")
		}
		if !(c.Near >= 0 && c.Far > c.Near) {
			return c, malformed(".orthographic", "has znear %v and zfar %v: 0 <= znear < zfar must hold", c.Near, c.Far)
		}
		c.Aspect = math.Abs(o.Xmag / o.Ymag)
	default:
		return c, malformed("", "has type %q without that property", clip(kind))
	}
	return c, nil
}
