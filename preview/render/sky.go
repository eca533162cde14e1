package render

import "github.com/untoldkit/untold/internal/geom"

// defaultSun points to the sun of an afternoon, before and to the left of who
// looks at the front (+Z) of things.
var defaultSun = geom.Vec3{-0.5, 0.74, 0.6}.Normalize(0, geom.Vec3{0, 1, 0})

// sky is the light of the scene: the radiance of the sky by height, in linear
// colour, in the scale where the sun's light on a white surface that faces it
// has radiance sun.
type sky struct {
	sun, zenith, horizon, ground, glow [3]float64
}

// daylight is a clear sky with a warm sun, matched by eye to photographs
// exposed for the sunlit side; its ratio of sun to sky on level ground is about
// 3 to 1.
var daylight = sky{
	sun:     [3]float64{2.75, 2.52, 2.2},
	zenith:  [3]float64{0.20, 0.37, 0.72},
	horizon: [3]float64{0.72, 0.85, 1.00},
	ground:  [3]float64{0.32, 0.30, 0.26},
	glow:    [3]float64{0.30, 0.26, 0.20},
}

// under returns the light under another sun and sky.
func (s sky) under(d *Daylight) sky {
	s.sun = d.Sun
	for _, c := range [...]*[3]float64{&s.zenith, &s.horizon, &s.ground, &s.glow} {
		for i := range c {
			c[i] *= d.Sky
		}
	}
	return s
}

// exposureBias brings a sunlit white wall to the shoulder of each tone curve, and
// what lies in the middle to about the same brightness.
var exposureBias = [tones]float64{ToneNeutral: 0.6, ToneACES: 0.39}
