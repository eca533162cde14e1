package simulate

import (
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
)

var city = geom.Box{Min: geom.Vec3{-100, 0, -50}, Max: geom.Vec3{300, 40, 50}}

func TestGeneratedPaths(t *testing.T) {
	walk := func(o PathOptions) (*CameraPath, error) { return Walk(o, 7) }
	for name, path := range map[string]func(PathOptions) (*CameraPath, error){"orbit": Orbit, "fly": FlyThrough, "walk": walk} {
		p, err := path(PathOptions{Bounds: city})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		again, _ := path(PathOptions{Bounds: city})
		if !reflect.DeepEqual(p, again) {
			t.Errorf("%s: two calls differ", name)
		}
		if len(p.Keys) < 5 || p.Keys[0].T != 0 {
			t.Errorf("%s: %d keys", name, len(p.Keys))
		}
		for i := 1; i < len(p.Keys); i++ {
			if p.Keys[i].T <= p.Keys[i-1].T || !p.Keys[i].Linear {
				t.Fatalf("%s: key %d is not after the one before", name, i)
			}
		}
		// Everything is in reach of the scene, at an even speed.
		usual := map[string]float64{"orbit": orbitSpeed, "fly": flySpeed, "walk": walkSpeed}[name]
		for i := 1; i < len(p.Keys); i++ {
			a, b := p.Keys[i-1], p.Keys[i]
			v := b.Position.Sub(a.Position).Len() / (b.T - a.T).Seconds()
			if math.Abs(v-usual) > 1e-3 {
				t.Fatalf("%s: %v m/s at key %d", name, v, i)
			}
			if city.Distance(b.Position) > 400 {
				t.Fatalf("%s: strays to %v", name, b.Position)
			}
		}
	}
}

func TestPathSpeedAndDuration(t *testing.T) {
	full, err := FlyThrough(PathOptions{Bounds: city, Speed: 10})
	if err != nil {
		t.Fatal(err)
	}
	end := func(p *CameraPath) float64 { return p.Keys[len(p.Keys)-1].T.Seconds() }
	// Five lanes of 400 m and four steps of 20 m.
	if math.Abs(end(full)-208) > 0.01 {
		t.Errorf("%v s at 10 m/s", end(full))
	}
	fit, _ := FlyThrough(PathOptions{Bounds: city, Duration: 20 * time.Second})
	if math.Abs(end(fit)-20) > 1e-6 || fit.At(time.Hour).Position != full.At(time.Hour).Position {
		t.Errorf("%v s, ends at %v", end(fit), fit.At(time.Hour).Position)
	}
	cut, _ := FlyThrough(PathOptions{Bounds: city, Speed: 10, Duration: 20 * time.Second})
	if end(cut) != 20 || cut.At(20*time.Second).Position != full.At(20*time.Second).Position {
		t.Errorf("%v s, ends at %v", end(cut), cut.At(20*time.Second).Position)
	}
}

// TestPathsOfSmallScenes: what is smaller than a street is flown through in seconds, not in
// frames, at a height from which it is seen.
func TestPathsOfSmallScenes(t *testing.T) {
	walk := func(o PathOptions) (*CameraPath, error) { return Walk(o, 3) }
	for name, b := range map[string]geom.Box{
		"helmet": {Min: geom.Vec3{-0.2, 0, -0.17}, Max: geom.Vec3{0.16, 0.72, 0.2}},
		"card":   {Min: geom.Vec3{-0.05, 0, 1}, Max: geom.Vec3{0.05, 0, 1.03}},
		"room":   {Min: geom.Vec3{-5, 0, -5}, Max: geom.Vec3{5, 5, 5}},
		"house":  {Min: geom.Vec3{0, 0, 0}, Max: geom.Vec3{25, 8, 12}},
	} {
		size := b.Size()
		for kind, path := range map[string]func(PathOptions) (*CameraPath, error){"orbit": Orbit, "fly": FlyThrough, "walk": walk} {
			p, err := path(PathOptions{Bounds: b})
			if err != nil {
				t.Fatal(err)
			}
			if end := p.Keys[len(p.Keys)-1].T; end < 6*time.Second {
				t.Errorf("%s, %s: over after %v", name, kind, end)
			}
			for _, k := range p.Keys {
				if above := k.Position[1] - b.Min[1]; above > max(size[0], size[1], size[2]) {
					t.Fatalf("%s, %s: %g m above what is %v", name, kind, above, size)
				}
				if kind == "walk" && !b.Contains(geom.Box{Min: geom.Vec3{k.Position[0], b.Min[1], k.Position[2]}, Max: geom.Vec3{k.Position[0], b.Min[1], k.Position[2]}}, 1e-3) {
					t.Fatalf("%s: the walk strays to %v", name, k.Position)
				}
			}
		}
	}
	// Asked for, a speed is taken as it is.
	p, err := FlyThrough(PathOptions{Bounds: geom.Box{Max: geom.Vec3{1, 1, 1}}, Speed: 20})
	if err != nil {
		t.Fatal(err)
	}
	if end := p.Keys[len(p.Keys)-1].T.Seconds(); math.Abs(end-5.8/20) > 1e-3 {
		t.Errorf("%v s at 20 m/s", end)
	}
}

func TestWalkStaysInside(t *testing.T) {
	for seed := range uint64(20) {
		p, err := Walk(PathOptions{Bounds: city, Duration: 10 * time.Minute}, seed)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Keys[len(p.Keys)-1].T; got != 10*time.Minute {
			t.Errorf("seed %d: %v long", seed, got)
		}
		for _, k := range p.Keys {
			if !city.Contains(geom.Box{Min: k.Position, Max: k.Position}, 1e-3) || !near(k.Position[1], eyeHeight) {
				t.Fatalf("seed %d strays to %v", seed, k.Position)
			}
		}
	}
	a, _ := Walk(PathOptions{Bounds: city}, 1)
	b, _ := Walk(PathOptions{Bounds: city}, 2)
	if reflect.DeepEqual(a, b) {
		t.Error("two seeds give the same walk")
	}
}

func TestPathErrors(t *testing.T) {
	for _, o := range []PathOptions{
		{Bounds: geom.EmptyBox()},
		{Bounds: city, Speed: -1},
		{Bounds: city, Speed: math.Inf(1)},
		{Bounds: city, Duration: -1},
		{Bounds: city, Speed: 1e-9},
		{Bounds: geom.Box{Max: geom.Vec3{math.Inf(1), 1, 1}}},
	} {
		if _, err := FlyThrough(o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
	// A scene without extent is legal.
	point := geom.Box{Min: geom.Vec3{1, 1, 1}, Max: geom.Vec3{1, 1, 1}}
	for _, f := range []func(PathOptions) (*CameraPath, error){Orbit, FlyThrough, func(o PathOptions) (*CameraPath, error) { return Walk(o, 1) }} {
		if p, err := f(PathOptions{Bounds: point}); err != nil || len(p.Keys) == 0 {
			t.Error(err)
		}
	}
}

// TestSeeAll: the far plane lies behind the scene from all of the path, and stays where
// it is where it did before.
func TestSeeAll(t *testing.T) {
	m := &manifest.Manifest{Tiles: []manifest.Tile{
		{Bounds: manifest.Bounds{Max: [3]float64{100, 10, 100}}},
		{Bounds: manifest.Bounds{Min: [3]float64{4900, 0, 0}, Max: [3]float64{5000, 10, 100}}},
	}}
	for _, c := range []struct {
		x          float64
		least, far float64
	}{{0, 5000, 6500}, {-3000, 8000, 10200}, {2500, 2500, 3200}} {
		p := defaultLens()
		p.Keys = []CameraKey{{Position: [3]float64{c.x, 0, 0}}, {Position: [3]float64{2500, 0, 0}}}
		p.SeeAll(m)
		if !(p.Far >= c.least && p.Far <= c.far) {
			t.Errorf("from %v m the far plane is at %v m", c.x, p.Far)
		}
		p.Far = 1e6
		if p.SeeAll(m); p.Far != 1e6 {
			t.Errorf("%v m became less", p.Far)
		}
	}
}
