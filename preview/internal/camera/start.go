package camera

import (
	"math"
	"slices"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime"
)

// Scene is what the choice of a view needs to know.
type Scene struct {
	Bounds geom.Box
	// Content is where most of the triangles are: what a view is to show. It is
	// Bounds unless a few triangles reach far beyond all others; without a size it
	// stands for Bounds.
	Content  geom.Box
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
	var boxes []geom.Box
	var triangles []float64
	add := func(t *manifest.Tile) {
		b := m.BandsOf(t)
		reach := b.AutoPrefetch() // from there its load starts
		if len(t.HLODLevels) > 0 || len(t.LODLevels) > 0 {
			reach = ceiling
		}
		box := t.Bounds.Box()
		s.Bounds = s.Bounds.Union(box)
		s.Tiles = append(s.Tiles, Tile{box, min(reach, ceiling)})
		boxes, triangles = append(boxes, box), append(triangles, float64(t.TriangleCount))
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
	s.Content = geom.Bulk(boxes, triangles)
	if m.ContentBounds != nil {
		s.Content = m.ContentBounds.Box()
	}
	if s.Content.IsEmpty() || !s.Bounds.Contains(s.Content, 1e-3) {
		s.Content = s.Bounds
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
	p := Pose{Position: c.Position, Forward: c.Forward, FovYDegrees: c.FovYDegrees, Near: c.NearClip, Far: c.FarClip, Up: c.Up}
	if !(p.Near > 0) || !(p.Far > p.Near) {
		p.Near, p.Far = 0, 0
	}
	return p
}

// least is the part of the height of a picture below which a tile is nothing,
// leastScene that below which a scene is.
const (
	least      = 0.01
	leastScene = 0.125
)

// Sees reports whether a pose has a part of the scene in view that is streamed
// from there, and neither that nor the whole scene is just a dot. aspect is width over height, fovY in degrees for
// poses without one.
func (s *Scene) Sees(p Pose, aspect, fovY float64) bool {
	if p.FovYDegrees > 0 {
		fovY = p.FovYDegrees
	}
	near, far := Clip(s.Bounds, p.Position)
	c := runtime.Camera{Position: p.Position, Forward: p.Forward, Up: [3]float64{0, 1, 0}, FovYDegrees: fovY, Aspect: aspect, Near: near, Far: far}
	frustum := c.Frustum()
	tan := geom.Tan(float64(fovY * (math.Pi / 360)))
	if s.Bounds.Size().Len() < float64(2*leastScene*s.Bounds.Distance(p.Position)*tan) {
		return false
	}
	for i := range s.Tiles {
		t := &s.Tiles[i]
		d := t.Box.Distance(p.Position)
		if d <= t.Reach && t.Box.Size().Len() > float64(2*least*d*tan) && frustum.Sees(t.Box.Min, t.Box.Max) {
			return true
		}
	}
	return false
}

// enough is the part of what lies in view that must be near enough to be
// streamed for a view to count as a good one.
const enough = 0.6

// filled is the part of the picture's width or height, whichever is the tighter,
// that a view's content takes.
const filled = 2.0 / 3

// Frame returns a view of the content from above and from the side on which
// most of it is seen. Where the scene is so large that little of it would be
// streamed from there, the view moves in until most of what it shows is within
// reach. aspect is width over height, fovY in degrees.
func (s *Scene) Frame(aspect, fovY float64) Pose {
	if s.Bounds.IsEmpty() || !s.Bounds.Size().IsFinite() {
		return Pose{Position: geom.Vec3{0, 0, 1}, Forward: geom.Vec3{0, 0, -1}}
	}
	content := s.Content
	if content.IsEmpty() || content.Size().Len() == 0 {
		content = s.Bounds
	}
	best, bestScore := Pose{}, -1.0
	try := func(boxes []geom.Box, forward geom.Vec3, part float64) (good bool) {
		p := fit(boxes, forward, aspect, fovY, filled, part)
		score := s.score(p, aspect, fovY)
		if score > float64(bestScore*1.2) {
			best, bestScore = p, score
		}
		return score >= enough
	}
	boxes := s.within(content)
	for part := 1.0; part > 0.02; part *= 0.75 {
		for side := range 4 {
			if try(boxes, direction(content, side), part) {
				return best
			}
		}
	}
	// Nothing near the middle: look at one of the largest tiles.
	for _, b := range s.largest(8) {
		if try([]geom.Box{b}, direction(b, 0), 1) {
			break
		}
	}
	return best
}

// within returns what the tiles have inside a box.
func (s *Scene) within(content geom.Box) []geom.Box {
	var out []geom.Box
	for i := range s.Tiles {
		if b := s.Tiles[i].Box.Intersect(content); !b.IsEmpty() && b.Size().IsFinite() {
			out = append(out, b)
		}
	}
	if len(out) == 0 {
		out = append(out, content)
	}
	return out
}

// The angles from which a view looks, in degrees: the azimuth off the front, and
// down.
const (
	leastAzimuth, mostAzimuth = 20, 70
	lowest, highest           = 12.0, 32.0
	almostAll                 = 0.97
)

// direction returns the way to look at a box: as near to its front, +Z, as
// almost the most of it is seen, and the lower the higher the box is. side picks
// one of the four corners that this can be done from.
func direction(b geom.Box, side int) geom.Vec3 {
	size := b.Size()
	width := func(degrees float64) float64 {
		sin, cos := geom.Sincos(degrees * (math.Pi / 180))
		return float64(size[0]*cos) + float64(size[2]*sin)
	}
	most := 0.0
	for a := leastAzimuth; a <= mostAzimuth; a++ {
		most = max(most, width(float64(a)))
	}
	azimuth := float64(leastAzimuth)
	for width(azimuth) < float64(almostAll*most) {
		azimuth++
	}
	down := highest
	if across := max(size[0], size[2]); across > 0 {
		down -= float64((highest - lowest) * min(size[1]/across, 1))
	} else if size[1] > 0 {
		down = lowest
	}
	sa, ca := geom.Sincos(azimuth * (math.Pi / 180))
	sd, cd := geom.Sincos(down * (math.Pi / 180))
	x, z := 1.0, 1.0
	if side&1 != 0 {
		x = -1
	}
	if side&2 != 0 {
		z = -1
	}
	return geom.Vec3{-x * float64(sa*cd), -sd, -z * float64(ca*cd)}
}

// fit returns a view along a direction in which boxes fill a part of the picture's
// width or height, around its middle, from that part of the distance.
func fit(boxes []geom.Box, f geom.Vec3, aspect, fovY, fill, part float64) Pose {
	right := f.Cross(geom.Vec3{0, 1, 0}).Normalize(1e-9, geom.Vec3{1, 0, 0})
	up := right.Cross(f)
	tanY := geom.Tan(float64(fovY * (math.Pi / 360)))
	tanX := tanY * aspect
	all := geom.EmptyBox()
	for _, b := range boxes {
		all = all.Union(b)
	}
	target, size := all.Center(), all.Size().Len()
	d := max(size, 1e-3) / min(tanX, tanY)
	// Where the content lies in the picture depends on where the camera is, and
	// the other way round. What is near grows faster than the way to it shrinks: half
	// of each step does not overshoot.
	for range 200 {
		lo, hi, nearest := [2]float64{1e9, 1e9}, [2]float64{-1e9, -1e9}, math.Inf(1)
		for i := range boxes {
			for _, c := range boxes[i].Corners() {
				rel := c.Sub(target)
				z := d + rel.Dot(f)
				nearest = min(nearest, z)
				z = max(z, float64(d*0.05)) // beside the camera
				for k, v := range [2]float64{rel.Dot(right) / (z * tanX), rel.Dot(up) / (z * tanY)} {
					lo[k], hi[k] = min(lo[k], v), max(hi[k], v)
				}
			}
		}
		x, y := (lo[0]+hi[0])/2, (lo[1]+hi[1])/2
		if math.Abs(x)+math.Abs(y)+math.Abs(float64(max(hi[0]-lo[0], hi[1]-lo[1])/2)-fill) < 1e-3 && nearest > 0 {
			break
		}
		target = target.Add(right.Scale(x / 2 * d * tanX)).Add(up.Scale(y / 2 * d * tanY))
		filled := max(hi[0]-lo[0], hi[1]-lo[1]) / 2
		// In front of what is nearest, whatever its place in the picture.
		d = max(float64(d*math.Sqrt(filled/fill)), d-nearest+float64(size*1e-3), 1e-3)
	}
	return Pose{Position: target.Sub(f.Scale(d * part)), Forward: f}
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
		radius := float64(t.Box.Size().Len() / 2)
		rel := t.Box.Center().Sub(p.Position)
		z := rel.Dot(f)
		if z < -radius || math.Abs(rel.Dot(right)) > float64(z*tanX)+radius || math.Abs(rel.Dot(up)) > float64(z*tanY)+radius {
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
