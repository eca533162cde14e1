package render

import (
	"cmp"
	"math"
	"slices"

	"github.com/untoldkit/untold/internal/geom"
)

// maxLights is how many lights beside the sun a frame has; frame.glsl knows it, too.
const maxLights = 32

// fadingLights of them have less light where there are more than maxLights.
const fadingLights = 8

// Light is a light of a scene's author beside the sun. It casts no shadow.
type Light struct {
	Kind LightKind
	// Position and Direction are in the world; Direction has unit length and is the
	// way the light travels, which lights of kind LightPoint do not have.
	Position, Direction geom.Vec3
	// Color is what a white surface shows that faces the light, at one metre or, of
	// LightDirectional, anywhere: linear, in the scale of Daylight.
	Color [3]float64
	// Range is where the light ends, in metres; 0: nowhere.
	Range float64
	// InnerCone and OuterCone are the cosines of half the angles within which a
	// LightSpot has all of its light, and beyond which it has none.
	InnerCone, OuterCone float64
}

// LightKind says where a light comes from.
type LightKind uint8

// The kinds.
const (
	LightPoint LightKind = iota
	LightSpot
	LightDirectional
	// LightArea is a surface seen from afar: it shines to the side of Direction, and as the
	// cosine says.
	LightArea
)

// Daylight is the sun and the sky of a frame.
type Daylight struct {
	// Sun is what a white surface shows that faces the sun, linear. Zero: there is
	// none, and no shadow.
	Sun [3]float64
	// Sky multiplies the sky; 1 is that of a day.
	Sky float64
}

// dark reports that there is no sun.
func (d *Daylight) dark() bool { return d != nil && d.Sun == [3]float64{} }

// Luminance returns how bright a linear colour is.
func Luminance(c [3]float64) float64 {
	return float64(0.2126*c[0]) + float64(0.7152*c[1]) + float64(0.0722*c[2])
}

// SunLuminance is how bright a white surface is that faces the sun of a day.
func SunLuminance() float64 { return Luminance(daylight.sun) }

// faint is the part of SunLuminance below which what a light adds is not seen.
const faint = 1.0 / 256

// shownLight is a light of a frame.
type shownLight struct {
	light  int32
	effect float64 // at the camera; infinite for what has no place
	share  float64 // of its light that is shown
}

// lights owns which lights a frame has. The same lights and camera give the same.
type lights struct {
	shown []shownLight
}

// choose finds the lights that matter most to a frame: of those whose reach is in
// view the ones that are brightest where the camera is. When there are more than
// a frame has, the last few of those that are shown have the less light the nearer
// they are to the first that is not, so that none comes or goes at once as the camera
// moves. All others keep theirs: lights that are alike do not get dark together.
func (s *lights) choose(list []Light, l *lens, view *frustum) {
	s.shown = s.shown[:0]
	for i := range list {
		if effect := effectOf(&list[i], l, view); effect > 0 {
			s.shown = append(s.shown, shownLight{int32(i), effect, 1})
		}
	}
	slices.SortFunc(s.shown, func(a, b shownLight) int {
		return cmp.Or(cmp.Compare(b.effect, a.effect), cmp.Compare(a.light, b.light))
	})
	if len(s.shown) <= maxLights {
		return
	}
	first := s.shown[maxLights].effect
	s.shown = s.shown[:maxLights]
	last := s.shown[maxLights-fadingLights:]
	for len(last) > 0 && math.IsInf(last[0].effect, 1) {
		last = last[1:]
	}
	for i := range last {
		// Where all are alike none is the weakest.
		if bright := last[0].effect; bright > first {
			last[i].share = (last[i].effect - first) / (bright - first)
		}
	}
}

// effectOf returns how bright a light is where the camera is, or would be were the
// camera at the edge of what it reaches; 0: it is not seen.
func effectOf(g *Light, l *lens, view *frustum) float64 {
	power, top := Luminance(g.Color), max(g.Color[0], g.Color[1], g.Color[2])
	switch {
	case !(power > 0) || math.IsInf(power, 0) || !g.Position.IsFinite():
		return 0
	case g.Kind == LightDirectional:
		return math.Inf(1)
	}
	// Blue is seen long after its luminance is not.
	reach := math.Sqrt(top / (faint * SunLuminance()))
	if g.Range > 0 {
		reach = min(reach, g.Range)
	}
	center, half := [3]float64(g.Position), [3]float64{reach, reach, reach}
	if !view.sees(&center, &half) {
		return 0
	}
	away := g.Position.Sub(l.eye)
	return power / max(away.Dot(away), 1e-4)
}

// fillLights writes the chosen lights, see light.glsl.
func (b *frameBlock) fillLights(s *lights, list []Light, eye geom.Vec3) {
	b.lightCount = [4]float32{float32(len(s.shown))}
	for i := range s.shown {
		g, share := &list[s.shown[i].light], s.shown[i].share
		at, d := g.Position.Sub(eye).F32(), g.Direction.F32()
		falloff := float32(0)
		if g.Range > 0 {
			falloff = float32(1 / (g.Range * g.Range))
		}
		scale, offset := float32(0), float32(1)
		switch g.Kind {
		case LightPoint:
		case LightSpot:
			// The punctual lights of glTF: a straight line in the cosine, squared.
			s := 1 / max(g.InnerCone-g.OuterCone, 1e-3)
			scale, offset = float32(s), float32(-float64(g.OuterCone*s))
		case LightArea:
			scale, offset = -1, 0
		case LightDirectional:
			falloff = -1
		}
		b.lights[i] = [3][4]float32{
			{at[0], at[1], at[2], falloff},
			{float32(g.Color[0] * share), float32(g.Color[1] * share), float32(g.Color[2] * share), scale},
			{d[0], d[1], d[2], offset},
		}
	}
}
