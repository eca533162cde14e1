package preview

import (
	"math"
	"testing"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/preview/render"
)

// room is a manifest of one tile of 10 x 3 x 10 m with lights.
func room(lights ...manifest.Light) (*manifest.Manifest, geom.Box) {
	b := geom.Box{Max: geom.Vec3{10, 3, 10}}
	return &manifest.Manifest{Tiles: []manifest.Tile{{ID: "a", Bounds: manifest.BoundsOf(b)}}, SceneLights: lights}, b
}

func light(kind string, intensity float64, edit ...func(*manifest.Light)) manifest.Light {
	l := manifest.DefaultLight(kind)
	l.Intensity, l.Position = intensity, [3]float64{5, 2, 5}
	for _, f := range edit {
		f(&l)
	}
	return l
}

func upwards(l *manifest.Light) { l.Direction = [3]float64{0, 1, 0} }
func watts(l *manifest.Light)   { l.RadiometricUnit = true }

// TestExposureFitsTheLights: whatever the units, a scene is lit as by the preview's sun.
func TestExposureFitsTheLights(t *testing.T) {
	identity := geom.Identity()
	want := render.SunLuminance()
	for _, power := range []float64{1e-3, 3, 1e5} {
		a := authoredOf(room(light(manifest.LightDirectional, power)))
		day, rest := a.at(&identity, LightingAuthored)
		if day == nil || math.Abs(render.Luminance(day.Sun)-want) > 1e-9 || day.Sky < 0.999 || len(rest) != 0 || a.sun != [3]float64{0, 1, 0} {
			t.Errorf("a sun of %v: %+v, %v", power, day, rest)
		}
		a = authoredOf(room(light(manifest.LightPoint, power)))
		day, rest = a.at(&identity, LightingAuthored)
		if len(rest) != 1 || math.Abs(render.Luminance(rest[0].Color)/4-want) > 1e-9 || day.Sun != [3]float64{} || day.Sky != dusk {
			t.Errorf("a lamp of %v, 2 m above the ground: %+v, %+v", power, day, rest)
		}
	}
}

// TestWhichLightIsTheSun: the strongest that shines down, else the strongest.
func TestWhichLightIsTheSun(t *testing.T) {
	const dir = manifest.LightDirectional
	aside := func(l *manifest.Light) { l.Direction = [3]float64{0.6, -0.8, 0} }
	for _, tc := range []struct {
		name   string
		lights []manifest.Light
		want   [3]float64
		rest   int
	}{
		{"the stronger", []manifest.Light{light(dir, 1), light(dir, 2, aside)}, [3]float64{-0.6, 0.8, 0}, 1},
		{"not from below", []manifest.Light{light(dir, 9, upwards), light(dir, 1)}, [3]float64{0, 1, 0}, 1},
		{"from below alone", []manifest.Light{light(dir, 9, upwards)}, [3]float64{0, -1, 0}, 0},
		{"none", []manifest.Light{light(dir, 0), light(dir, math.Inf(1)), light(manifest.LightPoint, 1)}, [3]float64{}, 1},
	} {
		a := authoredOf(room(tc.lights...))
		for k := range tc.want {
			if math.Abs(a.sun[k]-tc.want[k]) > 1e-9 {
				t.Errorf("%s: the sun is at %v, want %v", tc.name, a.sun, tc.want)
				break
			}
		}
		if len(a.lights) != tc.rest {
			t.Errorf("%s: %d lights beside the sun, want %d", tc.name, len(a.lights), tc.rest)
		}
	}
}

// TestLightsOfTheManifest: what is made of kinds and units.
func TestLightsOfTheManifest(t *testing.T) {
	const pi4 = 4 * math.Pi
	spot := light(manifest.LightSpot, 8*math.Pi, watts, func(l *manifest.Light) { l.InnerCone, l.OuterCone, l.Range = 30, 60, 7 })
	got := lightOf(&spot)
	if got.Kind != render.LightSpot || math.Abs(got.Color[0]-2) > 1e-9 || math.Abs(got.OuterCone-0.5) > 1e-9 || got.Range != 7 {
		t.Errorf("spot: %+v", got)
	}
	area := light(manifest.LightArea, math.Pi, watts)
	if got = lightOf(&area); got.Kind != render.LightArea || got.Color[0] != 1 {
		t.Errorf("area: %+v", got)
	}
	bulb := light(manifest.LightPoint, pi4)
	if got = lightOf(&bulb); got.Kind != render.LightPoint || got.Color[0] != pi4 || got.Range != 0 {
		t.Errorf("point: %+v", got)
	}
}

// TestLightingModes: the preview's light is what a scene without lights has, and a
// scene that moves takes its lights along.
func TestLightingModes(t *testing.T) {
	identity := geom.Identity()
	none := authoredOf(room())
	for how := range lightings {
		if day, rest := none.at(&identity, how); day != nil || rest != nil {
			t.Errorf("%v: a scene without lights has %v, %v", how, day, rest)
		}
	}
	a := authoredOf(room(light(manifest.LightPoint, 1, func(l *manifest.Light) { l.Range = 4 })))
	if day, rest := a.at(&identity, LightingPreview); day != nil || rest != nil {
		t.Errorf("the preview's: %v, %v", day, rest)
	}
	for _, how := range []Lighting{LightingBoth, LightingAuto} { // a lamp alone is no day
		if day, rest := a.at(&identity, how); day != nil || len(rest) != 1 {
			t.Errorf("%v: %v, %v", how, day, rest)
		}
	}
	sunny := authoredOf(room(light(manifest.LightDirectional, 1, func(*manifest.Light) {})))
	if day, _ := sunny.at(&identity, LightingAuto); day == nil {
		t.Error("auto has a day of its own where there is a sun")
	}
	twice := geom.Mat4{2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 1, 0, 0, 1}
	before := a.lights[0]
	_, rest := a.at(&twice, LightingAuthored)
	if got := rest[0]; got.Position != (geom.Vec3{11, 4, 10}) || got.Range != 8 || got.Color[0] != 4*before.Color[0] {
		t.Errorf("twice as large: %+v of %+v", got, before)
	}
	for how := range lightings {
		if got, ok := ParseLighting(how.String()); got != how || !ok {
			t.Errorf("%v is read as %v, %t", how, got, ok)
		}
	}
	if _, ok := ParseLighting("sun"); ok {
		t.Error("there are no such lights")
	}
}

// TestLampsThatDoNotReachTheGround: lamps of a tower, whose one tile begins far below most of
// them, light it all the same.
func TestLampsThatDoNotReachTheGround(t *testing.T) {
	var lamps []manifest.Light
	for floor := range 5 {
		lamps = append(lamps, light(manifest.LightPoint, 100, func(l *manifest.Light) {
			l.Position[1], l.Range = 2.5+3*float64(floor), 2.6
		}))
	}
	m, box := room(lamps...)
	a := authoredOf(m, box)
	if !a.any {
		t.Fatal("the lamps are left out")
	}
	at := a.lights[4].Position.Sub(geom.Vec3{0, 1.3, 0})
	if sum := arriving(&a.lights[4], at, 0.1) / render.SunLuminance(); sum < 0.5 || sum > 2 {
		t.Errorf("%v of the sun below the highest lamp", sum)
	}
}
