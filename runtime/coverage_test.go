package runtime

import (
	"fmt"
	"math"
	"testing"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/config"
)

// The camera looks along -Z with 90 degrees, so that what lies d metres ahead is
// in view up to d to the sides.
func coverageCamera() Camera {
	return Camera{Forward: [3]float64{0, 0, -1}, FovYDegrees: 90, Aspect: 1, Near: 0.1, Far: 5000}
}

func withCamera(c Camera) rigOption { return func(_ *config.Config, _ *Deps, r *rig) { r.camera = c } }

func TestCoverage(t *testing.T) {
	ahead := tileAt("ahead", box(-5, 0, -40, 5, 5, -30))
	for _, c := range []struct {
		name  string
		tiles []manifest.Tile
		want  Coverage
	}{
		{"drawn", []manifest.Tile{ahead}, Coverage{InView: 1}},
		{"behind", []manifest.Tile{ahead, tileAt("behind", box(-5, 0, 300, 5, 5, 310))}, Coverage{InView: 1}},
		{"beside", []manifest.Tile{ahead, tileAt("beside", box(400, 0, -310, 410, 5, -300))}, Coverage{InView: 1}},
		{"out of reach", []manifest.Tile{ahead, tileAt("far", box(-5, 0, -310, 5, 5, -300))}, Coverage{InView: 2, Bare: 1}},
		{"a dot", []manifest.Tile{ahead, tileAt("dot", box(0, 0, -301, 0.5, 0.5, -300.5))}, Coverage{InView: 1}},
		{"an HLOD", []manifest.Tile{ahead, tileAt("far", box(-5, 0, -310, 5, 5, -300), hlodAt(95))}, Coverage{InView: 2}},
	} {
		r := newRig(t, sceneOf(c.tiles...), withCamera(coverageCamera()))
		for range 30 {
			r.step()
		}
		if got := r.s.Coverage(); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
		if st := r.s.Stats(); st.TilesInView != c.want.InView || st.UncoveredTiles != c.want.Bare {
			t.Errorf("%s: the counters say %d of %d", c.name, st.UncoveredTiles, st.TilesInView)
		}
	}
}

// What the floor or the interior zone keeps out does not count.
func TestCoverageBehindGates(t *testing.T) {
	inside, upstairs, ground := tileAt("inside", box(-5, 0, -40, 5, 5, -30)), tileAt("upstairs", box(-5, 20, -40, 5, 25, -30)), 0
	inside.Interior, inside.FloorID, upstairs.Interior, upstairs.FloorID = true, &ground, true, &ground
	zone := box(-6, -1, -41, 6, 30, -29)
	m := sceneOf(inside, upstairs)
	m.PartitioningMode, m.InteriorZone = manifest.ModeQuadtreeFloor, &zone
	c := coverageCamera()
	for _, step := range []struct {
		position [3]float64
		want     Coverage
	}{
		{[3]float64{0, 2, 0}, Coverage{}},              // outside
		{[3]float64{0, 2, -29.5}, Coverage{InView: 1}}, // on the ground floor
		{[3]float64{0, 22, -29.5}, Coverage{InView: 1}},
	} {
		c.Position = step.position
		r := newRig(t, m, withCamera(c))
		for range 30 {
			r.step()
		}
		if got := r.s.Coverage(); got != step.want {
			t.Errorf("at %v: %+v, want %+v", step.position, got, step.want)
		}
	}
}

// What the geometry budget leaves out counts, and is told apart.
func TestCoverageOfAShortBudget(t *testing.T) {
	var tiles []manifest.Tile
	for i := range 8 {
		z := float64(-30 * (i + 1))
		tiles = append(tiles, tileAt(fmt.Sprint("t", i), box(-5, 0, z-10, 5, 5, z)))
	}
	m := sceneOf(tiles...)
	m.StreamingDefaults.StreamingRadius, m.StreamingDefaults.UnloadRadius = 400, 450
	r := newRig(t, m, withCamera(coverageCamera()), withConfig(func(c *config.Config) { c.GeometryBudget = 400 }), withBytes(100))
	for range 600 {
		r.step()
	}
	got := r.s.Coverage()
	if got.InView != 8 || got.Bare == 0 || got.Bare != got.GivenUp || got.Bare > 6 {
		t.Errorf("%+v, reach %v", got, r.s.Stats().GeometryReach)
	}
	if s := got.Share(); s != float64(got.Bare)/8 {
		t.Errorf("a share of %v", s)
	}
}

// More tiles than one look takes are looked at in turn: rest begins when all have been
// looked at in vain, and lasts; it ends when one of them is wanted.
func TestAtRestWithManyTiles(t *testing.T) {
	tiles := []manifest.Tile{tileAt("ahead", box(-5, 0, -30, 5, 10, -20))}
	for i := range 7 {
		x := 5 * float64(i-3)
		tiles = append(tiles, tileAt(fmt.Sprint("behind", i), box(x, 0, 40, x+4, 10, 45)))
	}
	r := newRig(t, sceneOf(tiles...), withCamera(coverageCamera()), func(c *config.Config, _ *Deps, _ *rig) { c.EnableFrustumGate = true })
	r.s.selector.window = 2
	for k := range 40 {
		if r.step(); k > 20 && !r.s.AtRest() {
			t.Fatalf("no rest in step %d", k)
		}
	}
	if full := r.s.Stats().ResidentFull; full != 1 {
		t.Fatalf("%d tiles are there", full)
	}
	r.camera.Forward = [3]float64{0, 0, 1}
	rest := 0
	for k := range 60 {
		r.step()
		if got := r.s.AtRest(); got && len(r.s.loads.list) > 0 {
			t.Fatalf("rest in step %d, while something loads", k)
		} else if got {
			rest++
		} else if rest > 0 {
			t.Fatalf("no rest again in step %d", k)
		}
	}
	if full := r.s.Stats().ResidentFull; full != 8 || rest == 0 {
		t.Errorf("%d tiles are there, %d steps at rest", full, rest)
	}
}

// At rest is when what is wanted from here has come, not a moment after a jump.
func TestAtRest(t *testing.T) {
	r := newRig(t, sceneOf(tileAt("a", box(0, 0, -10, 10, 10, 0)), tileAt("b", box(200, 0, -10, 210, 10, 0))))
	if r.s.AtRest() {
		t.Error("before the first update")
	}
	r.step()
	if r.s.AtRest() {
		t.Error("while a loads")
	}
	for range 10 {
		r.step()
	}
	if !r.s.AtRest() {
		t.Error("a has come, and still")
	}
	r.dt /= 100 // no tick
	r.camera.Position[0] = 190
	r.step()
	if r.s.AtRest() {
		t.Error("nobody has looked from there")
	}
	r.dt *= 100
	r.step()
	if r.s.AtRest() || len(r.s.loads.list) == 0 {
		t.Error("while b loads")
	}
	for range 100 {
		r.step()
	}
	if !r.s.AtRest() {
		t.Error("b has come, and still")
	}
	if c := (Coverage{}); math.IsNaN(c.Share()) {
		t.Error("a share of nothing")
	}
}
