package preview

import (
	"math"
	"slices"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/preview/render"
)

// Lighting chooses whose light a scene is shown in.
type Lighting uint8

// The ways. A scene without any light has the preview's sun and sky in all of them.
const (
	LightingAuto     Lighting = iota // LightingAuthored with a sun, else LightingBoth: a scene of lamps is not shown at night
	LightingAuthored                 // that of the scene's author
	LightingPreview                  // the preview's sun and sky alone, from where the author's sun stands
	LightingBoth                     // and the author's lights
	lightings
)

var lightingNames = [...]string{"auto", "authored", "preview", "both"}

// String returns the name in lower case.
func (l Lighting) String() string { return lightingNames[min(l, lightings-1)] }

// ParseLighting is the inverse of String.
func ParseLighting(s string) (Lighting, bool) {
	i := slices.Index(lightingNames[:], s)
	return Lighting(max(i, 0)), i >= 0
}

// LightingNames returns the names of all.
func LightingNames() []string { return slices.Clone(lightingNames[:]) }

// authored is what the author of a scene lights it with, in the space of the scene.
// Units differ between scenes, candela here, watts there, numbers without one
// elsewhere; only their ratios count: scale takes what lights the scene to where
// the preview's own sun would be.
type authored struct {
	sun      [3]float64     // direction to the sun; 0: none
	sunColor [3]float64     // of render.Daylight
	lights   []render.Light // beside it
	any      bool           // there is light

	world    []render.Light // of this frame
	daylight render.Daylight
}

// dusk is the part of the sky that a scene has without a sun: shapes that no lamp
// reaches can be told from each other.
const dusk = 0.12

// authoredOf reads the lights of a manifest. content is where most of the scene is.
func authoredOf(m *manifest.Manifest, content geom.Box) *authored {
	a := &authored{}
	sun := -1
	for i := range m.SceneLights {
		l := &m.SceneLights[i]
		if l.Kind != manifest.LightDirectional || !(radiance(l) > 0) {
			continue
		}
		// What shines from below is no sun where another one is.
		if sun < 0 || shinesDown(l) && !shinesDown(&m.SceneLights[sun]) ||
			shinesDown(l) == shinesDown(&m.SceneLights[sun]) && radiance(l) > radiance(&m.SceneLights[sun]) {
			sun = i
		}
	}
	for i := range m.SceneLights {
		l := &m.SceneLights[i]
		if i == sun || !(radiance(l) > 0) || !geom.Vec3(l.Position).IsFinite() {
			continue
		}
		a.lights = append(a.lights, lightOf(l))
	}
	if sun >= 0 {
		l := &m.SceneLights[sun]
		a.sun, a.sunColor = geom.Vec3(l.Direction).Scale(-1), scaled(l.Color, l.Intensity)
	}
	a.expose(m, content)
	return a
}

func shinesDown(l *manifest.Light) bool { return l.Direction[1] < 0 }

// radiance returns how bright a light is, 0 for one that is none.
func radiance(l *manifest.Light) float64 {
	v := render.Luminance(scaled(l.Color, l.Intensity))
	if !(v > 0) || math.IsInf(v, 0) || l.Color[0] < 0 || l.Color[1] < 0 || l.Color[2] < 0 {
		return 0
	}
	return v
}

func scaled(c [3]float64, by float64) [3]float64 {
	return [3]float64{float64(c[0] * by), float64(c[1] * by), float64(c[2] * by)}
}

// lightOf returns a light with its own units: candela, or lux of those without a
// place. Watts of the exporter become intensities by the angle that they go to, a
// sphere, or half of one weighed by cosines.
func lightOf(l *manifest.Light) render.Light {
	power := l.Intensity
	if l.RadiometricUnit {
		switch l.Kind {
		case manifest.LightPoint, manifest.LightSpot:
			power /= 4 * math.Pi
		case manifest.LightArea:
			power /= math.Pi
		}
	}
	out := render.Light{
		Position: l.Position, Direction: geom.Vec3(l.Direction).Normalize(1e-9, geom.Vec3{0, -1, 0}),
		Color: scaled(l.Color, power), Range: max(0, l.Range),
	}
	switch l.Kind {
	case manifest.LightDirectional:
		out.Kind = render.LightDirectional
	case manifest.LightSpot:
		out.Kind = render.LightSpot
		_, out.InnerCone = geom.Sincos(l.InnerCone * (math.Pi / 180))
		_, out.OuterCone = geom.Sincos(max(l.OuterCone, 0.1) * (math.Pi / 180))
	case manifest.LightArea:
		out.Kind = render.LightArea
	}
	return out
}

// mostProbes bounds the places at which the light of a scene is measured.
const mostProbes = 256

// expose finds the scale: with it the middle of what arrives at the ground below
// each light, or anywhere, where there is a sun alone, is as bright as the
// preview's sun. It follows from the manifest, so that no picture depends on those
// before it.
func (a *authored) expose(m *manifest.Manifest, content geom.Box) {
	everywhere := render.Luminance(a.sunColor)
	var local []render.Light
	for i := range a.lights {
		if l := &a.lights[i]; l.Kind == render.LightDirectional {
			everywhere += render.Luminance(l.Color)
		} else {
			local = append(local, *l)
		}
	}
	key := everywhere
	if len(local) > 0 {
		boxes := boxesOf(m)
		least := max(content.Size().Len()*0.02, 1e-2)
		if content.IsEmpty() || !content.Size().IsFinite() {
			least = 1
		}
		n := min(len(local), mostProbes)
		found := make([]float64, 0, n)
		for i := range n {
			l := &local[i*len(local)/n]
			at := beneath(l.Position, boxes, content)
			// Boxes reach below the ground that a lamp is made for.
			if d := l.Position.Sub(at).Len(); l.Range > 0 && d > l.Range/2 {
				at = l.Position.Sub(geom.Vec3{0, l.Range / 2, 0})
			}
			sum := everywhere
			for k := range local {
				sum += arriving(&local[k], at, least)
			}
			if sum > 0 {
				found = append(found, sum)
			}
		}
		if slices.Sort(found); len(found) > 0 {
			key = found[len(found)/2]
		}
	}
	if !(key > 0) || math.IsInf(key, 0) {
		*a = authored{sun: a.sun}
		return
	}
	a.any = true
	by := render.SunLuminance() / key
	a.sunColor = scaled(a.sunColor, by)
	for i := range a.lights {
		a.lights[i].Color = scaled(a.lights[i].Color, by)
	}
}

// arriving returns how much of a light arrives at a place, whichever way it goes.
func arriving(l *render.Light, at geom.Vec3, least float64) float64 {
	d := max(l.Position.Sub(at).Len(), least)
	window := 1.0
	if l.Range > 0 {
		q := d / l.Range
		q *= q
		window = max(0, 1-float64(q*q))
	}
	return render.Luminance(l.Color) * window / (d * d)
}

// boxesOf returns those of the tiles.
func boxesOf(m *manifest.Manifest) []geom.Box {
	var out []geom.Box
	for i := range m.Tiles {
		out = append(out, m.Tiles[i].Bounds.Box())
	}
	if m.SharedBucket != nil {
		out = append(out, m.SharedBucket.Bounds.Box())
	}
	return out
}

// beneath returns the ground below a light: the lowest of the nearest box below it,
// else what the content has nearest to it.
func beneath(p geom.Vec3, boxes []geom.Box, content geom.Box) geom.Vec3 {
	ground := math.Inf(-1)
	for i := range boxes {
		b := &boxes[i]
		if p[0] >= b.Min[0] && p[0] <= b.Max[0] && p[2] >= b.Min[2] && p[2] <= b.Max[2] && p[1] > b.Min[1] {
			ground = max(ground, b.Min[1])
		}
	}
	switch {
	case !math.IsInf(ground, 0):
		return geom.Vec3{p[0], ground, p[2]}
	case content.IsEmpty():
		return geom.Vec3{}
	}
	return content.Center()
}

// at returns the lights where the scene is, and the sun and sky for them.
func (a *authored) at(root *geom.Mat4, how Lighting) (*render.Daylight, []render.Light) {
	if how == LightingPreview || !a.any {
		return nil, nil
	}
	if how == LightingAuto && a.sun == [3]float64{} {
		how = LightingBoth
	}
	a.world = a.world[:0]
	stretch := max(root.Column(0).Len(), root.Column(1).Len(), root.Column(2).Len())
	for _, l := range a.lights {
		l.Position, l.Direction = root.Point(l.Position), root.Dir(l.Direction).Normalize(1e-9, l.Direction)
		if l.Kind != render.LightDirectional { // a model of a lamp is lit as the lamp
			l.Color, l.Range = scaled(l.Color, stretch*stretch), l.Range*stretch
		}
		a.world = append(a.world, l)
	}
	if how == LightingBoth {
		return nil, a.world
	}
	a.daylight.Sun = a.sunColor
	a.daylight.Sky = max(dusk, min(1, render.Luminance(a.sunColor)/render.SunLuminance()))
	return &a.daylight, a.world
}
