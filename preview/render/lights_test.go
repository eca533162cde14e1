package render

import (
	"math"
	"slices"
	"testing"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/runtime"
)

func chosen(list []Light) []shownLight {
	l := newLens(&runtime.Camera{Forward: [3]float64{0, 0, -1}, FovYDegrees: 60, Near: 0.1, Far: 1000}, 1)
	view := frustumOf(&l)
	var s lights
	s.choose(list, &l, &view)
	return s.shown
}

func lamp(z, power float64) Light {
	return Light{Position: geom.Vec3{0, 0, z}, Color: [3]float64{power, power, power}}
}

// TestLightsAreChosenByTheirEffect: the brightest at the camera first, what is not
// seen not at all.
func TestLightsAreChosenByTheirEffect(t *testing.T) {
	behind := lamp(500, 1)
	behind.Range = 400
	list := []Light{
		lamp(-10, 1), lamp(-20, 400), lamp(-5, 0), lamp(-5, math.Inf(1)), lamp(-5, math.NaN()), lamp(math.NaN(), 1), behind,
		{Kind: LightDirectional, Color: [3]float64{1, 1, 1}},
		lamp(-10, 1),
	}
	var got []int32
	for _, s := range chosen(list) {
		got = append(got, s.light)
		if s.share != 1 {
			t.Errorf("light %d has %v of its light", s.light, s.share)
		}
	}
	if want := []int32{7, 1, 0, 8}; !slices.Equal(got, want) {
		t.Errorf("lights %v, want %v", got, want)
	}
}

// TestLightsBehindTakeNoPlace: what is not in view is left out before the brightest are
// counted, so that it takes no light of those that are.
func TestLightsBehindTakeNoPlace(t *testing.T) {
	var list []Light
	for i := range 3 * maxLights {
		l := lamp(40+float64(i), 1e6)
		l.Range = 20
		list = append(list, l)
	}
	list = append(list, lamp(-30, 1), lamp(-40, 1))
	got := chosen(list)
	if len(got) != 2 || got[0].light != 3*maxLights || got[0].share != 1 || got[1].share != 1 {
		t.Errorf("%+v", got)
	}
}

// TestReachOfColors: a light reaches as far as its greatest channel is seen, whatever its
// luminance.
func TestReachOfColors(t *testing.T) {
	// 40 m behind the camera: white of this strength reaches it, and blue does, too.
	power := float64(45*45) * SunLuminance() / 256
	for _, c := range [][3]float64{{power, power, power}, {0, 0, power}, {power, 0, 0}} {
		if got := chosen([]Light{{Position: geom.Vec3{0, 0, 40}, Color: c}}); len(got) != 1 {
			t.Errorf("%v does not reach", c)
		}
		if got := chosen([]Light{{Position: geom.Vec3{0, 0, 50}, Color: c}}); len(got) != 0 {
			t.Errorf("%v reaches too far", c)
		}
	}
}

// TestNoLightComesAtOnce: of more lights than a frame has the last ones have little
// of their light.
func TestNoLightComesAtOnce(t *testing.T) {
	var list []Light
	for i := range 3 * maxLights {
		list = append(list, lamp(-5-0.2*float64(i), 1))
	}
	got := chosen(list)
	if len(got) != maxLights {
		t.Fatalf("%d lights, want %d", len(got), maxLights)
	}
	last := 2.0
	for i, s := range got {
		if int(s.light) != i || s.share > last || s.share < 0 {
			t.Errorf("place %d has light %d with %v", i, s.light, s.share)
		}
		last = min(s.share, 1)
	}
	if got[0].share != 1 || last > 0.2 {
		t.Errorf("the first light has %v, the last one %v", got[0].share, last)
	}
}

// TestManyLightsStayBright: lamps of a street, of which one more than a frame has, lose a few,
// however far they are and however alike.
func TestManyLightsStayBright(t *testing.T) {
	for _, far := range []float64{40, 100, 300, 900} {
		for _, n := range []int{maxLights, maxLights + 1, maxLights + 4, 100} {
			var list []Light
			for i := range n {
				list = append(list, lamp(-far-0.3*float64(i), 1000))
			}
			sum := 0.0
			for _, s := range chosen(list) {
				if !(s.share >= 0 && s.share <= 1) {
					t.Fatalf("%v of the light of %d", s.share, s.light)
				}
				sum += s.share
			}
			if sum < maxLights-fadingLights {
				t.Errorf("%d lamps at %v m: %v of %d shine", n, far, sum, maxLights)
			}
		}
	}
	for _, same := range []Light{lamp(-50, 9), {Kind: LightDirectional, Color: [3]float64{1, 1, 1}}} {
		for _, s := range chosen(slices.Repeat([]Light{same}, maxLights+2)) {
			if s.share != 1 {
				t.Errorf("lights of kind %d that are alike: %+v", same.Kind, s)
			}
		}
	}
}
