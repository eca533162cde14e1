package render

import (
	"math"

	"github.com/untoldkit/untold/internal/geom"
)

// frameBlock is the uniform block of frame.glsl.
type frameBlock struct {
	viewProj                                                [16]float32
	shadowAxes                                              [3][4]float32
	shadowMap                                               [maxCascades][4]float32
	shadowLayers                                            [4]float32
	rayX, rayY, rayZ                                        [4]float32
	sunDir, sunColor, zenith, horizon, ground, glow, window [4]float32
	grade                                                   [3][4]float32
	lightCount                                              [4]float32
	lights                                                  [maxLights][3][4]float32
}

// fill writes a frame that was collected: its camera, its light, the size of the
// picture in pixels, and where its shadow maps lie. brightness multiplies all light.
func (b *frameBlock) fill(c *collected, s *shadowPlan, day *Daylight, brightness float64, width, height int, reverseZ bool) {
	l := &c.lens
	vec := func(v geom.Vec3, w float64) [4]float32 {
		return [4]float32{float32(v[0]), float32(v[1]), float32(v[2]), float32(w)}
	}
	b.viewProj = f32(l.viewProj(reverseZ))
	b.rayX, b.rayY, b.rayZ = vec(l.right.Scale(l.tanX), 0), vec(l.up.Scale(l.tanY), 0), vec(l.forward, 0)
	d := daylight
	if day != nil {
		d = d.under(day)
	}
	b.sunDir = vec(c.sun, float64(s.shown()))
	b.sunColor = vec(d.sun, brightness)
	b.zenith = vec(d.zenith, 1/float64(max(1, s.size)))
	b.horizon = vec(d.horizon, c.shadowFar)
	b.ground, b.glow = vec(d.ground, 0), vec(d.glow, float64(c.shade))
	w, h := float64(width), float64(height)
	b.window = [4]float32{float32(w), float32(h), float32(1 / w), float32(1 / h)}
	b.fillShadows(s, l.eye)
	b.lightCount = [4]float32{}
}

// brightnessOf returns the factor of an exposure in stops; one that makes no sense
// is neutral.
func brightnessOf(exposure float64, t Tone) float64 {
	if math.IsNaN(exposure) || math.Abs(exposure) > 30 {
		exposure = 0
	}
	return math.Exp2(exposure) * exposureBias[t]
}

// fillShadows writes where the maps lie. All have the same light: under another
// one all are drawn anew at once.
func (b *frameBlock) fillShadows(s *shadowPlan, eye geom.Vec3) {
	light := &s.cascades[0].fit.light
	for i, axis := range [...]geom.Vec3{light.x, light.y, light.z.Scale(-1)} {
		a := axis.F32()
		b.shadowAxes[i] = [4]float32{a[0], a[1], a[2]}
	}
	for i := range s.shown() {
		c := &s.cascades[i]
		at := c.matrix.Point(eye).F32()
		b.shadowMap[i] = [4]float32{at[0], at[1], at[2], float32(0.5 / c.fit.radius)}
		b.shadowLayers[i] = float32(c.layer)
	}
}
