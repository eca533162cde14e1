package render

import (
	"math"

	"github.com/untoldkit/untold/internal/geom"
)

// maxCascades is what the shaders have room for.
const maxCascades = 4

// A cascade's shadow map covers the bounding sphere of a slice of the view, so
// that its size does not depend on where the camera looks, and its centre moves
// in whole texels, so that edges do not crawl (Valient, "Stable rendering of
// cascaded shadow maps", ShaderX6, 2008).
//
// The sphere has a margin. As long as the slice stays inside it the map is
// kept: the scene and the sun do not move. Otherwise the next map is drawn into
// a second layer, a part of it in each frame, and takes over when it is
// complete (see mapBuild). Until then the old one is used where it reaches: the
// shaders go on to the next cascade where it does not.
type cascade struct {
	fit     fit
	valid   bool
	content uint64    // what was drawn into the map, see contribution
	far     float64   // distance at which its slice ends
	layer   int       // of the texture
	matrix  geom.Mat4 // world to [0, 1] in x, y and depth
}

// fit is the box of a cascade in the space of the light.
type fit struct {
	center geom.Vec3 // light space
	radius float64   // of the map, with margin
	light  lightSpace
}

// Parts of a slice's radius.
const (
	cascadeMargin = 0.125 // that is added around it, at least
	cascadeReach  = 0.5   // that is added at most, for a camera that moves fast
)

// splitBlend weighs logarithmic against uniform splits (Zhang et al.,
// "Parallel-split shadow maps", 2006).
const splitBlend = 0.85

// lightSpace is the rotation to the space in which the sun shines down -z.
type lightSpace struct{ x, y, z geom.Vec3 }

// lightSpaceOf returns the space of a direction to the sun.
func lightSpaceOf(sun geom.Vec3) lightSpace {
	z := sun.Normalize(1e-9, defaultSun)
	x := geom.Vec3{0, 1, 0}.Cross(z)
	if x.Len() < 1e-3 {
		x = geom.Vec3{1, 0, 0}
	}
	x = x.Normalize(0, geom.Vec3{1, 0, 0})
	return lightSpace{x, z.Cross(x), z}
}

func (l *lightSpace) to(p geom.Vec3) geom.Vec3 { return geom.Vec3{l.x.Dot(p), l.y.Dot(p), l.z.Dot(p)} }

// cascadeSplits fills the far distances of n slices up to distance.
func cascadeSplits(dst *[maxCascades]float64, n int, near, distance float64) {
	near = max(near, distance/500)
	for i := range n {
		part := float64(i+1) / float64(n)
		logarithmic := near * math.Pow(distance/near, part)
		uniform := near + float64((distance-near)*part)
		dst[i] = float64(splitBlend*logarithmic) + float64((1-splitBlend)*uniform)
	}
	dst[n-1] = distance
}

// slice is the bounding sphere of a part of the view.
type slice struct {
	center geom.Vec3 // world
	radius float64
}

// sliceOf returns the smallest sphere around the part of the view between near
// and far whose centre is on the axis.
func sliceOf(l *lens, near, far float64) slice {
	t2 := float64(l.tanX*l.tanX) + float64(l.tanY*l.tanY)
	// Equal distance to the near and far corners, unless the far ones alone
	// decide.
	c := min(far, (near+far)/2*(1+t2))
	r := math.Sqrt(float64((far-c)*(far-c)) + float64(far*far*t2))
	return slice{l.eye.Add(l.forward.Scale(c)), r}
}

// motion is how a slice moves: per frame, and in how many frames a map can be
// drawn anew.
type motion struct {
	step   geom.Vec3 // world
	frames float64
}

// wanted returns the sphere that a map should cover when its drawing begins
// now: it is first used when the slice has moved on for as many frames as that
// takes, and has to last for as many again. The picture of a camera at rest is
// the sharpest.
func (m *motion) wanted(s slice) slice {
	way := m.step.Scale(m.frames)
	lead := way.Scale(1.5)
	if most := cascadeReach * s.radius; lead.Len() > most {
		lead = lead.Scale(most / lead.Len())
	}
	margin := max(cascadeMargin*s.radius, min(0.75*way.Len(), cascadeReach*s.radius))
	return slice{s.center.Add(lead), s.radius + margin}
}

// covers reports whether a map holds a slice.
func (f *fit) covers(s slice) bool {
	d := f.light.to(s.center).Sub(f.center)
	return max(math.Abs(d[0]), math.Abs(d[1]), math.Abs(d[2]))+s.radius <= f.radius
}

// holds reports whether a map holds the middle of a slice.
func (f *fit) holds(s slice) bool { return f.covers(slice{center: s.center}) }

// isStale reports whether a map of size texels should be drawn anew: for other
// content, because the slice is about to leave it, or because it is needlessly
// coarse. At rest it should lie where one lies that knows of no past, so that
// pictures depend on what they show alone.
func (c *cascade) isStale(s slice, m *motion, size int, content uint64) bool {
	if m.step == (geom.Vec3{}) {
		rest := cascade{}
		rest.place(m.wanted(s), &c.fit.light, size)
		return c.content != content || c.fit != rest.fit
	}
	soon := slice{s.center.Add(m.step.Scale(m.frames)), s.radius}
	return c.content != content || !c.fit.covers(s) || !c.fit.covers(soon) || c.fit.radius > coarse*m.wanted(s).radius
}

// coarse is how many times larger than wanted a map may be. Radii move in steps
// of up to a sixteenth.
const coarse = 1.25

// place fits a cascade of size texels around a sphere.
func (c *cascade) place(s slice, light *lightSpace, size int) {
	// Radii in steps keep texels from changing their size with rounding errors.
	step := math.Exp2(math.Floor(math.Log2(s.radius))) / 16
	r := math.Ceil(s.radius/step) * step
	texel := 2 * r / float64(size)
	p := light.to(s.center)
	for i := range p {
		p[i] = math.Round(p[i]/texel) * texel
	}
	c.fit = fit{center: p, radius: r, light: *light}
	c.matrix = c.fit.matrix()
}

// matrix returns the transform from the world to texture space: x, y and depth
// in [0, 1], depth growing away from the sun.
func (f *fit) matrix() geom.Mat4 {
	k := 0.5 / f.radius
	row := func(a geom.Vec3, k, c float64) [4]float64 {
		return [4]float64{a[0] * k, a[1] * k, a[2] * k, 0.5 - float64(c*k)}
	}
	x := row(f.light.x, k, f.center[0])
	y := row(f.light.y, k, f.center[1])
	z := row(f.light.z, -k, f.center[2])
	return geom.Mat4{
		x[0], y[0], z[0], 0, x[1], y[1], z[1], 0, x[2], y[2], z[2], 0, x[3], y[3], z[3], 1,
	}
}

// relative returns the transform for positions relative to the eye.
func relative(m *geom.Mat4, eye geom.Vec3) geom.Mat4 {
	out := *m
	t := m.Point(eye)
	out[12], out[13], out[14] = t[0], t[1], t[2]
	return out
}

// toClip returns the transform from texture space to clip space of depth -1 to 1
// (or 0 to 1).
func toClip(m *geom.Mat4, zeroToOne bool) geom.Mat4 {
	k := geom.Mat4{0: 2, 5: 2, 10: 2, 12: -1, 13: -1, 14: -1, 15: 1}
	if zeroToOne {
		k[10], k[14] = 1, 0
	}
	return k.Mul(*m)
}

// casters returns the planes between which casters lie: the sides of the map.
// There is none towards the sun, since what is before the map still casts, nor
// away from it where nothing is seen.
func (f *fit) casters() (out [5]plane) {
	for i, a := range [...]geom.Vec3{f.light.x, f.light.y} {
		out[2*i] = plane{a, f.radius - f.center[i]}
		out[2*i+1] = plane{a.Scale(-1), f.radius + f.center[i]}
	}
	out[4] = plane{f.light.z, f.radius - f.center[2]}
	return out
}

// shadowReach says where there are shadows: distances from the eye.
type shadowReach struct {
	near, far float64 // of the sharper cascades
	end       float64 // of the last one; far: it rests
	scene     slice   // around all that can be seen; radius 0: not known
}

// shadowRange returns the distances of a shadowReach: limit reaches farther when
// everything is far away, and less far when everything is near; end is beyond
// everything. They move in steps of half a power of two, so that they rarely
// change.
func shadowRange(limit, nearest, farthest float64) (r shadowReach) {
	step := func(v float64, round func(float64) float64) float64 { return math.Exp2(round(2*math.Log2(v)) / 2) }
	r.far = limit
	if nearest > 0 {
		r.near = step(nearest, math.Floor)
		r.far = max(r.far, shadowStretch*r.near)
	}
	r.end = r.far
	if farthest > 0 {
		most := step(farthest, math.Ceil)
		r.far, r.end = min(r.far, most), most
	}
	return r
}

// sceneSlice returns the sphere around a scene.
func sceneSlice(b *geom.Box) slice {
	if b == nil || b.IsEmpty() || !b.Min.IsFinite() || !b.Max.IsFinite() {
		return slice{}
	}
	return slice{b.Center(), b.Size().Len() / 2}
}

// shadowStretch is how many times the distance to the nearest thing shadows
// reach at least.
const shadowStretch = 4
