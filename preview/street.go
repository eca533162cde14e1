package preview

import (
	"math"
	"path/filepath"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/preview/internal/camera"
)

// streetSide is the side of the square around the middle of the content in which
// a place on the street is sought, in heights of eyes.
const streetSide = 60

// street finds a place with a view between what stands around the middle of the
// scene, from its geometry. Without readable geometry, or room, there is none.
func street(look *camera.Scene, open *Loaded) (camera.Pose, bool) {
	dir := open.Source.Base
	if dir == "" {
		dir = filepath.Dir(open.Source.Path)
	}
	eye := camera.EyeLevel(look.Content)
	middle, half := look.Content.Center(), float64(eye*streetSide/2)
	area := geom.Box{
		Min: geom.Vec3{middle[0] - half, look.Content.Min[1], middle[2] - half},
		Max: geom.Vec3{middle[0] + half, look.Content.Max[1], middle[2] + half},
	}.Intersect(look.Content)
	var list []camera.Triangle
	m := open.streamed()
	for i := range m.Tiles {
		t := &m.Tiles[i]
		if area.Intersect(t.Bounds.Box()).IsEmpty() || t.Interior {
			continue
		}
		list = appendTriangles(list, dir, t.Path)
	}
	// A model's street is looked at by a person of its size.
	scale := camera.EyeHeight / eye
	scaled := func(p geom.Vec3) geom.Vec3 { return p.Sub(middle).Scale(scale) }
	floor := math.Inf(1)
	var near []camera.Triangle
	for _, t := range list {
		box := geom.EmptyBox().Extend(t[0]).Extend(t[1]).Extend(t[2])
		if area.Intersect(box).IsEmpty() {
			continue
		}
		if box.Size()[0]+box.Size()[2] < 4*half { // not what lies below everything
			floor = min(floor, box.Min[1])
		}
		near = append(near, camera.Triangle{scaled(t[0]), scaled(t[1]), scaled(t[2])})
	}
	if area.Min[1] = max(area.Min[1], floor); area.IsEmpty() {
		return camera.Pose{}, false
	}
	p, ok := camera.StandOutside(near, geom.Box{Min: scaled(area.Min), Max: scaled(area.Max)}, 80*math.Pi/180)
	p.Position = p.Position.Scale(1 / scale).Add(middle)
	return p, ok
}
