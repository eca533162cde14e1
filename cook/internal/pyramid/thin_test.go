package pyramid

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"github.com/untoldkit/untold/cook/appearance"
	"github.com/untoldkit/untold/cook/internal/bake"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/race"
)

// plain is an empty opaque part in one colour.
func plain(color [4]float32, both bool) Part {
	return Part{
		Bake: bake.Look{BaseColor: color, Roughness: 1, DoubleSided: both},
		Look: appearance.Material{Color: color, DoubleSided: both},
	}
}

// box adds a closed box.
func (p *Part) box(lo, hi geom.Vec3) {
	b := block(lo, hi)
	for _, v := range b.Indices {
		p.Indices = append(p.Indices, uint32(len(p.Positions))+v)
	}
	p.Positions, p.Normals = append(p.Positions, b.Positions...), append(p.Normals, b.Normals...)
}

// boards adds a fence of n boards, each turned about where the fence begins.
func (p *Part) boards(x, z float64, n int, turn float64) {
	sin, cos := math.Sin(turn), math.Cos(turn)
	along, up, out := geom.Vec3{cos, 0, sin}, geom.Vec3{0, 1, 0}, geom.Vec3{-sin, 0, cos}
	for i := range n {
		at := geom.Vec3{x, 0.9, z}.Add(along.Scale(0.25 * float64(i)))
		for _, s := range []float64{1, -1} {
			p.quad(at.Add(out.Scale(0.02*s)), along.Scale(0.1*s), up.Scale(0.9), out.Scale(s))
			p.quad(at.Add(along.Scale(0.1*s)), out.Scale(-0.02*s), up.Scale(0.9), along.Scale(s))
		}
		p.quad(at.Add(up.Scale(0.9)), along.Scale(0.1), out.Scale(-0.02), up)
	}
}

// palm adds leaves that are opaque sheets, and a trunk to another part.
func palm(leaves, wood *Part, x, z float64) {
	for i := range 11 {
		turn := float64(i) * 0.571
		out, side := geom.Vec3{math.Cos(turn), 0, math.Sin(turn)}, geom.Vec3{math.Sin(turn), 0, -math.Cos(turn)}
		for k := range 4 {
			t := 0.3 + 0.6*float64(k)
			along := out.Add(geom.Vec3{0, 0.5 - 0.35*float64(k), 0})
			leaves.quad(geom.Vec3{x, 7 - 0.12*t*t, z}.Add(out.Scale(t)), side.Scale(-0.3), along.Scale(0.3), side.Scale(-1).Cross(along).Normalize(1e-9, geom.Vec3{0, 1, 0}))
		}
	}
	wood.box(geom.Vec3{x - 0.15, 0, z - 0.15}, geom.Vec3{x + 0.15, 7, z + 0.15})
}

// coast is palms, fences and masts around a place, and a house.
func coast(x, z float64) []Part {
	leaves, wood := plain([4]float32{0.1, 0.3, 0.05, 1}, true), plain([4]float32{0.3, 0.2, 0.1, 1}, false)
	white, wall := plain([4]float32{0.9, 0.9, 0.9, 1}, false), plain([4]float32{0.6, 0.2, 0.1, 1}, false)
	for i := range 5 {
		for k := range 4 {
			palm(&leaves, &wood, x+8*float64(i), z+8*float64(k))
		}
	}
	for i := range 4 {
		white.boards(x-2, z+2+8*float64(i), 120, 0.3*float64(i))
		white.box(geom.Vec3{x + 9*float64(i), 0, z + 34}, geom.Vec3{x + 9*float64(i) + 0.16, 8, z + 34.16})
	}
	wall.box(geom.Vec3{x + 11, 0, z + 11}, geom.Vec3{x + 14, 3, z + 15})
	return []Part{leaves, wood, white, wall}
}

// TestThinThingsKeepTheirArea: palms, fences and masts for which a model has no triangles
// cover what they did up two levels, from the side and from above, in their colour, within
// the budget, whatever the processors; without cards most of them are gone.
func TestThinThingsKeepTheirArea(t *testing.T) {
	o := Options{Triangles: 700, Side: 256, Samples: 2, Jobs: 1, Flush: 0.2}
	var all, level []Child
	for k := range 4 {
		c := Child{Parts: coast(float64(k%2)*48, float64(k/2)*48)}
		all = append(all, c)
		if race.Enabled && k > 0 {
			continue // make test compares all without the detector
		}
		level = append(level, Child{Model: built(t, Join([]Child{c}), o)})
	}
	check := func(what string, full *Source, m *Model) {
		t.Helper()
		low, high, drift := compare(t, full, m)
		if low < 0.7 || low > 1.4 || high < 0.7 || high > 1.4 || drift > 20 {
			t.Errorf("%s: it covers %.2f from the side and %.2f from above, colours are off by %.1f", what, low, high, drift)
		}
		if len(m.cards) == 0 || len(m.Mesh.Indices) > 3*o.Triangles || m.Mesh.Bounds().Size()[1] < 7.5 {
			t.Errorf("%s: %d triangles, %d cards, %v m", what, len(m.Mesh.Indices)/3, len(m.cards), m.Mesh.Bounds().Size())
		}
	}
	one := Join(all[:1])
	check("first level", one, level[0].Model)
	o.Jobs = 3
	again := built(t, one, o)
	if m := level[0].Model; !bytes.Equal(m.Atlas.Color.Pix, again.Atlas.Color.Pix) || fmt.Sprint(m.Mesh) != fmt.Sprint(again.Mesh) {
		t.Error("the model depends on the number of processors")
	}
	if race.Enabled {
		return
	}
	without := o
	without.Flush = 0
	bare := built(t, one, without)
	if low, high, _ := compare(t, one, bare); low > 0.7 && high > 0.7 {
		t.Errorf("without cards %.2f from the side and %.2f from above are left: the scene tests nothing", low, high)
	}
	o.Triangles = 1400
	top := built(t, Join(level), o)
	check("second level", Join(all), top)
	check("second level, as it is written", Join(all), top.Shown())
}

// TestFindThin: what vanishes is thin if it is slight, stands free and is not next to
// nothing; what a model has triangles for keeps them.
func TestFindThin(t *testing.T) {
	ground := plain([4]float32{0.5, 0.5, 0.5, 1}, false)
	ground.quad(geom.Vec3{}, geom.Vec3{20, 0, 0}, geom.Vec3{0, 0, -20}, geom.Vec3{0, 1, 0})
	fence := plain([4]float32{1, 1, 1, 1}, false)
	fence.boards(-15, 0, 120, 0)
	few := plain([4]float32{1, 1, 1, 1}, false)
	few.boards(-15, 0, 4, 0)
	flat := plain([4]float32{1, 1, 1, 1}, false) // boards before a wall
	flat.boards(-15, 0, 120, 0)
	flat.box(geom.Vec3{-16, 0, -4}, geom.Vec3{16, 4, -0.15})
	stones := plain([4]float32{1, 1, 1, 1}, false)
	for i := range 100 {
		x := float64(i%10)*3 - 15
		z := float64(i/10)*3 - 15
		stones.box(geom.Vec3{x, 0, z}, geom.Vec3{x + 1.5, 1.5, z + 1.5})
	}
	leaves, wood := plain([4]float32{0.1, 0.3, 0.1, 1}, true), plain([4]float32{0.3, 0.2, 0.1, 1}, false)
	for i := range 9 {
		palm(&leaves, &wood, float64(i%3)*8-8, float64(i/3)*8-8)
	}
	for _, c := range []struct {
		name      string
		parts     []Part
		triangles int
		flush     float64
		want      bool
	}{
		{"a fence", []Part{ground, fence}, 60, 0.3, true},
		{"a fence with triangles enough", []Part{ground, fence}, 4000, 0.3, false},
		{"a fence where nothing is flush", []Part{ground, fence}, 60, 0, false},
		{"some boards", []Part{ground, few}, 4, 0.3, false},
		{"boards before a wall", []Part{ground, flat}, 60, 0.3, false},
		{"stones", []Part{ground, stones}, 60, 0.3, false},
		{"palms", []Part{ground, leaves, wood}, 100, 0.3, true},
		{"nothing but a fence", []Part{fence}, 60, 0.3, true},
	} {
		d := &division{s: Join([]Child{{Parts: c.parts}}), o: Options{Triangles: c.triangles, Flush: c.flush}}
		if err := d.divide(); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got := len(d.stood.cards) > 0; got != c.want {
			t.Errorf("%s: %d cards, want some: %v", c.name, len(d.stood.cards), c.want)
		}
		for i := range d.things {
			if th := &d.things[i]; th.thin && !th.loose {
				t.Errorf("%s: a thing is thin and not loose", c.name)
			}
		}
	}
}

// TestCardsLieAlongFences: a fence that is turned has one upright card, along it and where
// it is.
func TestCardsLieAlongFences(t *testing.T) {
	fence := plain([4]float32{1, 1, 1, 1}, false)
	fence.boards(0, 0, 60, 0.5)
	d := &division{s: Join([]Child{{Parts: []Part{fence}}}), o: Options{Triangles: 20, Flush: 0.3}}
	if err := d.divide(); err != nil {
		t.Fatal(err)
	}
	if len(d.stood.cards) == 0 {
		t.Fatal("there are no cards")
	}
	across := geom.Vec3{-math.Sin(0.5), 0, math.Cos(0.5)}
	for _, c := range d.stood.cards {
		if math.Abs(c.Toward.Dot(across)) < 0.99 || math.Abs(c.Origin.Dot(across)) > 0.1 {
			t.Errorf("a card at %.2f looks to %.2f, want %.2f through the origin", c.Origin, c.Toward, across)
		}
	}
}
