package camera

import (
	"math"
	"slices"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
)

// Scene is what the choice of a view needs to know.
type Scene struct {
	Bounds   geom.Box
	Tiles    []Tile
	Authored []manifest.Camera
	// Indoors is set when the scene has floors; Floor is the box of the tiles
	// of the ground floor then, Zone what lies inside the outer shell.
	Indoors     bool
	Floor, Zone geom.Box
}

// Tile is a part of a scene.
type Tile struct {
	Box geom.Box
	// Reach is the distance in metres up to which the tile shows anything.
	Reach float64
}

// SceneOf reads a manifest. ceiling is the distance in metres beyond which the
// runtime shows nothing.
func SceneOf(m *manifest.Manifest, ceiling float64) *Scene {
	s := &Scene{Bounds: geom.EmptyBox(), Authored: m.SceneCameras, Floor: geom.EmptyBox(), Zone: geom.EmptyBox()}
	add := func(t *manifest.Tile) {
		b := m.BandsOf(t)
		reach := b.AutoPrefetch() // from there its load starts
		if len(t.HLODLevels) > 0 || len(t.LODLevels) > 0 {
			reach = ceiling
		}
		box := t.Bounds.Box()
		s.Bounds = s.Bounds.Union(box)
		s.Tiles = append(s.Tiles, Tile{box, min(reach, ceiling)})
	}
	for i := range m.Tiles {
		add(&m.Tiles[i])
	}
	if m.SharedBucket != nil && m.SharedBucket.Path != "" {
		add(&m.SharedBucket.Tile)
	}
	if s.Bounds.IsEmpty() && m.SceneBounds != nil {
		s.Bounds = m.SceneBounds.Box()
	}
	s.ground(m)
	return s
}

// ground finds the ground floor: the floor 0, else the one nearest to it.
func (s *Scene) ground(m *manifest.Manifest) {
	if !m.HasFloors() || m.InteriorZone == nil {
		return
	}
	level := math.MaxInt
	for i := range m.Tiles {
		if f := m.Tiles[i].FloorID; m.Tiles[i].Interior && f != nil && (abs(*f) < abs(level) || *f == abs(level)) {
			level = *f
		}
	}
	for i := range m.Tiles {
		if f := m.Tiles[i].FloorID; m.Tiles[i].Interior && f != nil && *f == level {
			s.Floor = s.Floor.Union(m.Tiles[i].Bounds.Box())
		}
	}
	s.Zone = m.InteriorZone.Box()
	s.Indoors = !s.Floor.IsEmpty()
}

func abs(i int) int { return max(i, -i) }

// Authored returns the pose of an authored camera.
func Authored(c *manifest.Camera) Pose {
	p := Pose{Position: c.Position, Forward: c.Forward, FovYDegrees: c.FovYDegrees, Near: c.NearClip, Far: c.FarClip}
	if !(p.Near > 0) || !(p.Far > p.Near) {
		p.Near, p.Far = 0, 0
	}
	return p
}

// enough is the part of what lies in view that must be near enough to be
// streamed for a view to count as a good one.
const enough = 0.6

// Frame returns a view of the whole scene from above one of its corners. Where
// the scene is so large that little of it would be streamed from there, the
// view moves in until most of what it shows is within reach. aspect is width
// over height, fovY in degrees.
func (s *Scene) Frame(aspect, fovY float64) Pose {
	if s.Bounds.IsEmpty() || !s.Bounds.Size().IsFinite() {
		return Pose{Position: geom.Vec3{0, 0, 1}, Forward: geom.Vec3{0, 0, -1}}
	}
	best, bestScore := Pose{}, -1.0
	try := func(target geom.Box, part float64, azimuth float64) (good bool) {
		p := fit(target, azimuth, aspect, fovY, part)
		score := s.score(p, aspect, fovY)
		if score > float64(bestScore*1.2) {
			best, bestScore = p, score
		}
		return score >= enough
	}
	for part := 1.0; part > 0.02; part *= 0.75 {
		for i := range 8 {
			if try(s.Bounds, part, azimuthOf(i)) {
				return best
			}
		}
	}
	// Nothing near the middle: look at one of the largest tiles.
	for _, b := range s.largest(8) {
		if try(b, 1, azimuthOf(0)) {
			break
		}
	}
	return best
}

// azimuthOf orders the directions from which to look: corners before sides.
func azimuthOf(i int) float64 {
	return [...]float64{1, -1, 3, -3, 0, 2, -2, 4}[i] * math.Pi / 4
}

// fit returns a view of a box from above; a part of 1 just holds it, less is
// nearer.
func fit(b geom.Box, azimuth, aspect, fovY, part float64) Pose {
	const down = 27 * math.Pi / 180
	sa, ca := geom.Sincos(azimuth)
	sd, cd := geom.Sincos(down)
	// From the side that the azimuth names, 0 being +Z.
	f := geom.Vec3{float64(-sa * cd), -sd, float64(-ca * cd)}
	right := f.Cross(geom.Vec3{0, 1, 0}).Normalize(1e-9, geom.Vec3{1, 0, 0})
	up := right.Cross(f)
	tanY := geom.Tan(float64(fovY * (math.Pi / 360)))
	tanX := tanY * aspect
	middle, d := b.Center(), 0.0
	for _, c := range b.Corners() {
		rel := c.Sub(middle)
		z := rel.Dot(f)
		d = max(d, math.Abs(rel.Dot(right))/tanX-z, math.Abs(rel.Dot(up))/tanY-z)
	}
	d = max(d*1.04*part, 1e-3)
	return Pose{Position: middle.Sub(f.Scale(d)), Forward: f}
}

// score tells how much of what a pose looks at is within reach: 0 to 1,
// weighted by how large it appears.
func (s *Scene) score(p Pose, aspect, fovY float64) float64 {
	f := p.Forward
	right := f.Cross(geom.Vec3{0, 1, 0}).Normalize(1e-9, geom.Vec3{1, 0, 0})
	up := right.Cross(f)
	tanY := geom.Tan(float64(fovY * (math.Pi / 360)))
	tanX := tanY * aspect
	var seen, all float64
	for i := range s.Tiles {
		t := &s.Tiles[i]
		radius := t.Box.Size().Len() / 2
		rel := t.Box.Center().Sub(p.Position)
		z := rel.Dot(f)
		if z < -radius || math.Abs(rel.Dot(right)) > z*tanX+radius || math.Abs(rel.Dot(up)) > z*tanY+radius {
			continue
		}
		d := t.Box.Distance(p.Position)
		if d == 0 && len(s.Tiles) > 1 && radius < s.Bounds.Size().Len()/4 {
			return 0 // likely inside a wall
		}
		weight := float64(radius*radius) / (float64(rel.Dot(rel)) + float64(radius*radius) + 1e-12)
		all += weight
		if d <= t.Reach {
			seen += weight
		}
	}
	if all == 0 {
		return 0
	}
	return seen / all
}

// largest returns the boxes of the n largest tiles.
func (s *Scene) largest(n int) []geom.Box {
	list := make([]geom.Box, 0, len(s.Tiles))
	for i := range s.Tiles {
		list = append(list, s.Tiles[i].Box)
	}
	slices.SortStableFunc(list, func(a, b geom.Box) int {
		switch x, y := a.Size().Len(), b.Size().Len(); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	return list[:min(n, len(list))]
}
