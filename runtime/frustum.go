package runtime

import "github.com/untoldkit/untold/internal/geom"

// Frustum is what a camera sees, for callers that want to know which boxes are
// in view.
type Frustum struct{ v view }

// Frustum returns what the camera sees. One without a lens or a direction sees
// everything.
func (c Camera) Frustum() Frustum {
	forward := geom.Vec3(c.Forward).Normalize(1e-9, geom.Vec3{})
	if forward == (geom.Vec3{}) {
		return Frustum{}
	}
	root := geom.Identity()
	return Frustum{makeView(&c, c.Position, forward, &root, &root, 0)}
}

// Sees reports whether a box, given by its corners in the camera's space, touches
// the frustum.
func (f *Frustum) Sees(lo, hi [3]float64) bool {
	return f.v.seesWithin(&geom.Box{Min: lo, Max: hi}, 0)
}
