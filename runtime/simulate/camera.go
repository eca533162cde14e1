package simulate

import (
	"cmp"
	"slices"
	"time"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/runtime"
)

// At returns the camera at a time: before the first key that one, after the
// last key the last one. A path without keys stands at the origin and looks
// along -Z.
func (p *CameraPath) At(t time.Duration) runtime.Camera {
	c := runtime.Camera{
		Forward: [3]float64{0, 0, -1}, Up: [3]float64{0, 1, 0},
		FovYDegrees: p.FovYDegrees, Aspect: p.Aspect, Near: p.Near, Far: p.Far,
	}
	if len(p.Keys) == 0 {
		return c
	}
	// The last key that is not after t.
	i, exact := slices.BinarySearchFunc(p.Keys, t, func(k CameraKey, t time.Duration) int { return cmp.Compare(k.T, t) })
	if !exact {
		i--
	}
	k := &p.Keys[max(i, 0)]
	position, forward := k.Position, k.Forward.Normalize(0, geom.Vec3{0, 0, -1})
	if i >= 0 && i+1 < len(p.Keys) && p.Keys[i+1].Linear {
		next := &p.Keys[i+1]
		part := float64(t-k.T) / float64(next.T-k.T)
		position = mix(position, next.Position, part)
		// Between opposite directions there is no way; then it turns at the end.
		forward = mix(forward, next.Forward.Normalize(0, forward), part).Normalize(1e-9, forward)
	}
	c.Position, c.Forward = position, forward
	return c
}

// mix returns the point on the way from a to b.
func mix(a, b geom.Vec3, part float64) geom.Vec3 {
	return a.Scale(1 - part).Add(b.Scale(part))
}
