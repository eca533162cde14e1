package camera

import (
	"math"
	"testing"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
)

func box(x0, y0, z0, x1, y1, z1 float64) geom.Box {
	return geom.Box{Min: geom.Vec3{x0, y0, z0}, Max: geom.Vec3{x1, y1, z1}}
}

// holds reports whether a pose has a whole box in view.
func holds(p Pose, b geom.Box, aspect, fovY float64) bool {
	f := p.Forward
	right := f.Cross(geom.Vec3{0, 1, 0}).Normalize(1e-9, geom.Vec3{1, 0, 0})
	up := right.Cross(f)
	tan := math.Tan(fovY * math.Pi / 360)
	for _, c := range b.Corners() {
		rel := c.Sub(p.Position)
		z := rel.Dot(f)
		if z <= 0 || math.Abs(rel.Dot(right)) > z*tan*aspect || math.Abs(rel.Dot(up)) > z*tan {
			return false
		}
	}
	return true
}

func TestFrameHoldsSmallScenes(t *testing.T) {
	for _, b := range []geom.Box{cube(0.3), box(10, 0, 5, 30, 4, 60), box(-1, 0, -1, 1, 40, 1), box(0, 0, 0, 100, 0, 100)} {
		for _, aspect := range []float64{0.5, 1, 16.0 / 9} {
			s := Scene{Bounds: b, Tiles: []Tile{{b, math.Inf(1)}}}
			if p := s.Frame(aspect, 60); !holds(p, b, aspect, 60) {
				t.Errorf("%v at %g is not in view from %+v", b, aspect, p)
			}
		}
	}
}

// A view fills two thirds of the picture, in its middle, with where the
// triangles are, whatever lies below or beyond them.
func TestFrameFillsThePicture(t *testing.T) {
	town := box(-30, 0, -20, 30, 9, 20)
	inf := math.Inf(1)
	for name, tc := range map[string]struct {
		s    Scene
		show geom.Box
	}{
		"a room":         {Scene{Bounds: cube(3), Tiles: []Tile{{cube(3), inf}}}, cube(3)},
		"a ship":         {Scene{Bounds: box(-4, -2, -14, 4, 22, 14), Tiles: []Tile{{box(-4, -2, -14, 4, 22, 14), inf}}}, box(-4, -2, -14, 4, 22, 14)},
		"a mast":         {Scene{Bounds: box(0, 0, 0, 1, 60, 1), Tiles: []Tile{{box(0, 0, 0, 1, 60, 1), inf}}}, box(0, 0, 0, 1, 60, 1)},
		"a plain":        {Scene{Bounds: box(0, 0, 0, 9, 0, 4), Tiles: []Tile{{box(0, 0, 0, 9, 0, 4), inf}}}, box(0, 0, 0, 9, 0, 4)},
		"far away":       {Scene{Bounds: box(5e5, 0, 4e6, 5e5+90, 5, 4e6+40), Tiles: []Tile{{box(5e5, 0, 4e6, 5e5+90, 5, 4e6+40), inf}}}, box(5e5, 0, 4e6, 5e5+90, 5, 4e6+40)},
		"town on ground": {Scene{Bounds: box(-1000, -1, -1000, 1000, 9, 1000), Content: town, Tiles: []Tile{{box(-1000, -1, -1000, 1000, 9, 1000), inf}}}, town},
	} {
		for _, aspect := range []float64{0.5, 1, 16.0 / 9} {
			p := tc.s.Frame(aspect, 60)
			x0, y0, x1, y1 := extent(p, tc.show, aspect, 60)
			if fill := max(x1-x0, y1-y0) / 2; math.Abs(fill-filled) > 0.01 || math.Abs(x0+x1) > 0.02 || math.Abs(y0+y1) > 0.02 {
				t.Errorf("%s at %.2f: %.2f to %.2f across, %.2f to %.2f up", name, aspect, x0, x1, y0, y1)
			}
			if p.Forward[1] >= 0 {
				t.Errorf("%s is seen from below: %v", name, p.Forward)
			}
		}
	}
}

// extent returns where a box lies in a picture, whose edges are at -1 and 1.
func extent(p Pose, b geom.Box, aspect, fovY float64) (x0, y0, x1, y1 float64) {
	right := p.Forward.Cross(geom.Vec3{0, 1, 0}).Normalize(1e-9, geom.Vec3{1, 0, 0})
	up := right.Cross(p.Forward)
	tan := math.Tan(fovY * math.Pi / 360)
	x0, y0, x1, y1 = math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	for _, c := range b.Corners() {
		rel := c.Sub(p.Position)
		z := rel.Dot(p.Forward)
		x, y := rel.Dot(right)/(z*tan*aspect), rel.Dot(up)/(z*tan)
		x0, y0, x1, y1 = min(x0, x), min(y0, y), max(x1, x), max(y1, y)
	}
	return x0, y0, x1, y1
}

// A ship is seen from the side, whichever way it lies, and a cube from its
// front rather than from its corner.
func TestFrameLooksAtTheLargestSide(t *testing.T) {
	for _, tc := range []struct {
		b      geom.Box
		lo, hi float64 // degrees off +Z
	}{
		{box(-4, 0, -14, 4, 20, 14), 55, 80},
		{box(-14, 0, -4, 14, 20, 4), 15, 30},
		{cube(2), 25, 40},
	} {
		f := direction(tc.b, 0)
		if a := math.Atan2(-f[0], -f[2]) * 180 / math.Pi; a < tc.lo || a > tc.hi {
			t.Errorf("%v is seen from %.0f degrees off its front, want %g to %g", tc.b, a, tc.lo, tc.hi)
		}
	}
}

func TestSees(t *testing.T) {
	s := Scene{Bounds: box(0, 0, 0, 10, 5, 10), Tiles: []Tile{{box(0, 0, 0, 10, 5, 10), 200}}}
	for name, tc := range map[string]struct {
		p    Pose
		want bool
	}{
		"in front":    {Pose{Position: geom.Vec3{5, 2, 30}, Forward: geom.Vec3{0, 0, -1}}, true},
		"inside":      {Pose{Position: geom.Vec3{5, 2, 5}, Forward: geom.Vec3{0, 0, -1}}, true},
		"turned away": {Pose{Position: geom.Vec3{5, 2, 30}, Forward: geom.Vec3{0, 0, 1}}, false},
		"too far":     {Pose{Position: geom.Vec3{5, 2, 230}, Forward: geom.Vec3{0, 0, -1}}, false},
		"narrow":      {Pose{Position: geom.Vec3{15, 2, 30}, Forward: geom.Vec3{0, 0, -1}, FovYDegrees: 5}, false},
		"wide":        {Pose{Position: geom.Vec3{15, 2, 30}, Forward: geom.Vec3{0, 0, -1}}, true},
	} {
		if got := s.Sees(tc.p, 1, 60); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	s.Tiles[0].Reach = math.Inf(1)
	for z, want := range map[float64]bool{110: true, 130: false} { // the scene's diagonal of 15 m against an eighth of the height
		if got := s.Sees(Pose{Position: geom.Vec3{5, 2, z}, Forward: geom.Vec3{0, 0, -1}}, 1, 60); got != want {
			t.Errorf("from %v m: %v", z-10, got)
		}
	}
	if s.Sees(Pose{Position: geom.Vec3{5, 2, 5000}, Forward: geom.Vec3{0, 0, -1}}, 1, 60) {
		t.Error("a dot is something")
	}
}

func TestFrameMovesInToWhatIsStreamed(t *testing.T) {
	// 10 km of tiles that show nothing beyond 500 m.
	s := Scene{Bounds: geom.EmptyBox()}
	for x := range 50 {
		for z := range 50 {
			b := box(float64(x)*200, 0, float64(z)*200, float64(x)*200+180, 20, float64(z)*200+180)
			s.Tiles = append(s.Tiles, Tile{b, 500})
			s.Bounds = s.Bounds.Union(b)
		}
	}
	p := s.Frame(1.5, 60)
	if got := s.score(p, 1.5, 60); got < 0.3 {
		t.Errorf("only %.0f %% of the view from %+v is streamed", 100*got, p)
	}
	near := 0
	for i := range s.Tiles {
		if s.Tiles[i].Box.Distance(p.Position) < 500 {
			near++
		}
	}
	if near == 0 {
		t.Errorf("nothing is near %v", p.Position)
	}
}

func TestFrameFindsALonelyTile(t *testing.T) {
	far := box(4000, 0, 0, 4010, 5, 10)
	s := Scene{Bounds: box(-5000, 0, -5000, 5000, 5, 5000), Tiles: []Tile{{far, 30}}}
	if p := s.Frame(1.5, 60); far.Distance(p.Position) > 30 {
		t.Errorf("the only tile is %g m from %+v", far.Distance(p.Position), p)
	}
}

func TestSceneOf(t *testing.T) {
	ten, thirty, floor, upper := 10.0, 30.0, 0, 1
	tile := func(id string, b geom.Box) manifest.Tile {
		return manifest.Tile{ID: id, Bounds: manifest.BoundsOf(b), Center: b.Center(), StreamingRadius: &ten, UnloadRadius: &thirty}
	}
	a, c := tile("a", box(0, 0, 0, 4, 3, 4)), tile("b", box(0, 3, 0, 4, 6, 4))
	a.FloorID, a.Interior, c.FloorID, c.Interior = &floor, true, &upper, true
	c.LODLevels = []manifest.Level{{Path: "x", SwitchDistance: 20}}
	zone := manifest.BoundsOf(box(-1, -1, -1, 5, 7, 5))
	m := &manifest.Manifest{PartitioningMode: manifest.ModeQuadtreeFloor, Tiles: []manifest.Tile{a, c}, InteriorZone: &zone}
	s := SceneOf(m, 500)
	if len(s.Tiles) != 2 || s.Tiles[0].Reach != 20 || s.Tiles[1].Reach != 500 {
		t.Errorf("tiles %+v", s.Tiles)
	}
	if s.Bounds != box(0, 0, 0, 4, 6, 4) || !s.Indoors || s.Floor != box(0, 0, 0, 4, 3, 4) {
		t.Errorf("bounds %v, indoors %v, floor %v", s.Bounds, s.Indoors, s.Floor)
	}
	if s := SceneOf(&manifest.Manifest{}, 500); s.Indoors || !geom.Vec3(s.Frame(1, 60).Position).IsFinite() {
		t.Errorf("an empty scene: %+v", s)
	}
}

// room returns the triangles of a room with a floor, four walls and a pillar.
func room(x0, z0, x1, z1, floor float64) (out []Triangle) {
	quad := func(a, b, c, d geom.Vec3) { out = append(out, Triangle{a, b, c}, Triangle{a, c, d}) }
	wall := func(ax, az, bx, bz float64) {
		quad(geom.Vec3{ax, floor, az}, geom.Vec3{bx, floor, bz}, geom.Vec3{bx, floor + 3, bz}, geom.Vec3{ax, floor + 3, az})
	}
	quad(geom.Vec3{x0, floor, z1}, geom.Vec3{x1, floor, z1}, geom.Vec3{x1, floor, z0}, geom.Vec3{x0, floor, z0})
	wall(x0, z0, x1, z0)
	wall(x1, z0, x1, z1)
	wall(x1, z1, x0, z1)
	wall(x0, z1, x0, z0)
	mx, mz := (x0+x1)/2, (z0+z1)/2
	wall(mx-0.5, mz, mx+0.5, mz)
	wall(mx, mz-0.5, mx, mz+0.5)
	return out
}

func TestStand(t *testing.T) {
	tris := append(room(0, 0, 4, 4, 0.2), room(6, 0, 18, 8, 0.2)...)
	area := box(0, 0, 0, 18, 3.2, 8)
	p, ok := Stand(tris, area, 1.2)
	if !ok {
		t.Fatal("no place to stand")
	}
	if p.Position[0] < 6 {
		t.Errorf("stands at %v, want the large room", p.Position)
	}
	if math.Abs(p.Position[1]-0.2-EyeHeight) > 0.06 {
		t.Errorf("eyes at %g m, want %g", p.Position[1], 0.2+EyeHeight)
	}
	if p.Position[0] > 17.5 || p.Position[2] < 0.4 || p.Position[2] > 7.6 {
		t.Errorf("stands in a wall: %v", p.Position)
	}
	roof := append(tris[:len(tris):len(tris)], Triangle{geom.Vec3{6, 3, 0}, geom.Vec3{6, 3, 16}, geom.Vec3{30, 3, 0}}) // over the large room
	if p, ok := StandOutside(roof, area, 1.2); !ok || p.Position[0] > 6 {
		t.Errorf("outside at %+v, want where nothing is overhead", p)
	}
	again, _ := Stand(tris, area, 1.2)
	if again != p {
		t.Errorf("%+v, then %+v", p, again)
	}
	for name, tc := range map[string]struct {
		tris []Triangle
		area geom.Box
	}{
		"nothing":     {nil, area},
		"no area":     {tris, geom.EmptyBox()},
		"walls only":  {tris[2:10], area},
		"a cupboard":  {room(0, 0, 0.6, 0.6, 0), box(0, 0, 0, 0.6, 3, 0.6)},
		"NaN":         {[]Triangle{{geom.Vec3{math.NaN(), 0, 0}, geom.Vec3{1, 0, 0}, geom.Vec3{0, 0, 1}}}, area},
		"not finite":  {tris, box(0, 0, 0, math.Inf(1), 1, 1)},
		"open ground": {tris[:2], box(0, 0, 0, 400, 3, 400)},
	} {
		if p, ok := Stand(tc.tris, tc.area, 1.2); ok {
			t.Errorf("%s: stands at %+v", name, p)
		}
	}
}

func TestAuthored(t *testing.T) {
	c := manifest.DefaultCamera()
	c.Position, c.Forward, c.FovYDegrees, c.NearClip, c.FarClip = [3]float64{1, 2, 3}, [3]float64{1, 0, 0}, 40, 0.5, 90
	r := New(cube(10))
	r.Jump(Authored(&c))
	v := r.Camera(2)
	if v.Position != c.Position || !near(v.Forward, geom.Vec3{1, 0, 0}, 1e-9) || v.FovYDegrees != 40 || v.Near > 0.5 || v.Far < 90 {
		t.Errorf("%+v", v)
	}
}
