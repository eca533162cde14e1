package camera

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/geom"
)

func cube(edge float64) geom.Box {
	return geom.Box{Min: geom.Vec3{-edge / 2, -edge / 2, -edge / 2}, Max: geom.Vec3{edge / 2, edge / 2, edge / 2}}
}

func near(a, b geom.Vec3, eps float64) bool { return a.Sub(b).Len() <= eps }

func TestFlySpeedFitsTheScene(t *testing.T) {
	for _, tc := range []struct {
		edge, want float64 // metres, metres in a second
	}{
		{0.3, 0.3 * math.Sqrt(3) / crossing},
		{30, 30 * math.Sqrt(3) / crossing},
		{5000, maxSpeed},
	} {
		r := New(cube(tc.edge))
		r.Jump(Pose{Forward: geom.Vec3{0, 0, -1}})
		for range 120 { // settles, then a second
			r.Step(Input{Move: geom.Vec3{0, 0, 1}}, 1.0/60)
		}
		at := r.Position()
		for range 60 {
			r.Step(Input{Move: geom.Vec3{0, 0, 1}}, 1.0/60)
		}
		if got := r.Position().Sub(at); math.Abs(got[2]+tc.want) > tc.want*1e-3 || math.Abs(got[0]) > 1e-9 {
			t.Errorf("cube of %g m: moved %v in a second, want %g along -Z", tc.edge, got, tc.want)
		}
	}
}

func TestFlyInput(t *testing.T) {
	for _, tc := range []struct {
		name string
		in   Input
		want geom.Vec3 // direction
	}{
		{"right", Input{Move: geom.Vec3{1, 0, 0}}, geom.Vec3{1, 0, 0}},
		{"up", Input{Move: geom.Vec3{0, 1, 0}}, geom.Vec3{0, 1, 0}},
		{"back", Input{Move: geom.Vec3{0, 0, -1}}, geom.Vec3{0, 0, 1}},
		{"diagonal", Input{Move: geom.Vec3{1, 0, 1}}, geom.Vec3{math.Sqrt2 / 2, 0, -math.Sqrt2 / 2}},
	} {
		lengths := map[string]float64{}
		for speed, in := range map[string]Input{"plain": tc.in, "fast": {Move: tc.in.Move, Fast: true}, "slow": {Move: tc.in.Move, Slow: true}} {
			r := New(cube(10))
			r.Jump(Pose{Forward: geom.Vec3{0, 0, -1}})
			r.Step(in, 0.1)
			d := r.Position()
			lengths[speed] = d.Len()
			if !near(d.Scale(1/d.Len()), tc.want, 1e-9) {
				t.Errorf("%s %s: moved along %v, want %v", tc.name, speed, d, tc.want)
			}
		}
		if f, s := lengths["fast"]/lengths["plain"], lengths["plain"]/lengths["slow"]; math.Abs(f-4) > 1e-9 || math.Abs(s-4) > 1e-9 {
			t.Errorf("%s: fast is %g times, slow 1/%g", tc.name, f, s)
		}
	}
	r := New(cube(10))
	r.Jump(Pose{Forward: geom.Vec3{0, 0, -1}})
	r.Step(Input{Look: [2]float64{0.5, 0}}, 0)
	if !near(r.Forward(), geom.Vec3{1, 0, 0}, 1e-9) {
		t.Errorf("a drag of half a window to the right looks along %v, want +X", r.Forward())
	}
	r.Step(Input{Look: [2]float64{0, 9}}, 0)
	if f := r.Forward(); f[1] > -0.99 || f[1] < -1 {
		t.Errorf("a drag down ends at %v", f)
	}
	speed := r.Speed()
	r.Step(Input{Pace: 1}, 0)
	if r.Speed() <= speed {
		t.Error("the wheel does not make the flight faster")
	}
}

// TestStraightDown: a view down has its upper edge where it is said to be, else where it
// was.
func TestStraightDown(t *testing.T) {
	r := New(cube(10))
	for _, tc := range []struct{ forward, up, want geom.Vec3 }{
		{geom.Vec3{0, -1, 0}, geom.Vec3{0, 0, -1}, geom.Vec3{0, 0, -1}},
		{geom.Vec3{0, -1, 0}, geom.Vec3{1, 0, 0}, geom.Vec3{1, 0, 0}},
		{geom.Vec3{0, -1, 0}, geom.Vec3{}, geom.Vec3{1, 0, 0}},
		{geom.Vec3{0, 1, 0}, geom.Vec3{0, 0, 1}, geom.Vec3{0, 0, -1}},
		{geom.Vec3{0, -1, 0}, geom.Vec3{0, 1, 0}, geom.Vec3{0, 0, -1}},
	} {
		r.Jump(Pose{Forward: tc.forward, Up: tc.up})
		f := r.Forward() // not quite straight
		f[1] = 0
		if !near(f.Normalize(0, geom.Vec3{}), tc.want, 1e-6) {
			t.Errorf("%v with %v up is headed for %v, want %v", tc.forward, tc.up, f, tc.want)
		}
	}
}

// TestWheelMovesAhead: a notch goes a part of the way to the scene, and inside it
// as far as a moment of flight, whatever frames take; the speed stays.
func TestWheelMovesAhead(t *testing.T) {
	for _, from := range []float64{300, 100, 0} {
		var moved [2]float64
		for i, dt := range []float64{1.0 / 60, 0.2} {
			r := New(cube(10))
			r.Jump(Pose{Position: geom.Vec3{0, 0, from}, Forward: geom.Vec3{0, 0, -1}})
			speed := r.Speed()
			r.Step(Input{Zoom: 1}, dt)
			for range 200 {
				r.Step(Input{}, dt)
			}
			moved[i] = from - r.Position()[2]
			if r.Speed() != speed {
				t.Errorf("from %g m: the speed is %g, was %g", from, r.Speed(), speed)
			}
			r.Step(Input{Zoom: -1}, dt)
			for range 200 {
				r.Step(Input{}, dt)
			}
			if r.Position()[2] <= from-moved[i] {
				t.Errorf("from %g m: a notch back does not lead back", from)
			}
		}
		if least := speedOf(10) * glideTime; moved[0] < least*0.99 || moved[0] > max(least*1.01, from/4) || math.Abs(moved[0]-moved[1]) > 0.001*moved[0] {
			t.Errorf("from %g m: a notch moves by %v m", from, moved)
		}
	}
}

// speedOf returns the speed in a cube of so many metres.
func speedOf(edge float64) float64 { return New(cube(edge)).Speed() }

func TestOrbit(t *testing.T) {
	r := New(cube(2))
	r.Jump(Pose{Position: geom.Vec3{0, 0, 6}, Forward: geom.Vec3{0, 0, -1}})
	r.SetMode(Orbit)
	if !near(r.Target(), geom.Vec3{}, 1e-9) {
		t.Fatalf("target %v, want the middle of the scene", r.Target())
	}
	r.Step(Input{Look: [2]float64{0.5, 0}}, 0)
	if !near(r.Position(), geom.Vec3{-6, 0, 0}, 1e-9) || !near(r.Target(), geom.Vec3{}, 1e-9) {
		t.Errorf("after a quarter turn at %v around %v", r.Position(), r.Target())
	}
	r.Step(Input{Zoom: 1}, 0)
	if d := r.Position().Len(); d >= 6 || d < 4 {
		t.Errorf("a notch of the wheel goes from 6 to %g m", d)
	}
	before := r.Target()
	r.Step(Input{Pan: [2]float64{0, 0.25}}, 0)
	if m := r.Target().Sub(before); m[1] <= 0 || math.Abs(m[0])+math.Abs(m[2]) > 1e-9 {
		t.Errorf("a drag down moves the target by %v, want up", m)
	}
	for range 1000 {
		r.Step(Input{Zoom: -1}, 0)
	}
	if d := r.Position().Len(); d > 100 {
		t.Errorf("the wheel leads %g m away from a scene of 2 m", d)
	}
	r.SetMode(Fly)
	at := r.Position()
	r.Step(Input{}, 1)
	if r.Position() != at {
		t.Error("changing the mode moves the camera")
	}
}

// TestRigStaysSane: whatever a person does, the camera keeps a finite place
// not far from the scene, a direction and ordered clipping planes.
func TestRigStaysSane(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := func(lo, hi float64) float64 { return rapid.Float64Range(lo, hi).Draw(t, "f") }
		r := New(cube(math.Exp(f(-7, 9))))
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "mode") {
				r.SetMode(Mode(rapid.IntRange(0, 1).Draw(t, "m")))
			}
			r.Step(Input{
				Move: geom.Vec3{f(-1, 1), f(-1, 1), f(-1, 1)}, Look: [2]float64{f(-3, 3), f(-3, 3)},
				Pan: [2]float64{f(-3, 3), f(-3, 3)}, Zoom: f(-40, 40), Fast: rapid.Bool().Draw(t, "fast"),
			}, f(-1, 100))
			c := r.Camera(1.5)
			if p := geom.Vec3(c.Position); !p.IsFinite() || r.bounds.Distance(p) > r.size*21 {
				t.Fatalf("the camera is at %v", p)
			}
			if l := geom.Vec3(c.Forward).Len(); math.Abs(l-1) > 1e-9 {
				t.Fatalf("forward has length %g", l)
			}
			if !(c.Near > 0 && c.Far > c.Near) {
				t.Fatalf("planes %g, %g", c.Near, c.Far)
			}
		}
	})
}

func TestClip(t *testing.T) {
	for _, tc := range []struct {
		edge, distance, near float64
	}{
		{0.4, 0, 0.4 * math.Sqrt(3) * 1e-4},
		{2000, 0, 0.1},
		{2, 11, 5},
	} {
		near, far := Clip(cube(tc.edge), geom.Vec3{0, 0, tc.distance})
		if math.Abs(near-tc.near) > 1e-9 || far < tc.distance+tc.edge/2 {
			t.Errorf("%g m from %g m: %g to %g, want near %g", tc.edge, tc.distance, near, far, tc.near)
		}
	}
}

func TestNewWithoutBounds(t *testing.T) {
	for _, b := range []geom.Box{geom.EmptyBox(), {}, {Min: geom.Vec3{math.Inf(-1), 0, 0}, Max: geom.Vec3{1, 1, 1}}, {Min: geom.Vec3{math.NaN(), 0, 0}, Max: geom.Vec3{1, 1, 1}}} {
		c := New(b).Camera(1)
		if !geom.Vec3(c.Position).IsFinite() || !(c.Far > c.Near) {
			t.Errorf("%v: %+v", b, c)
		}
	}
}
