package render

import "github.com/untoldkit/untold/internal/geom"

// Shadow maps are drawn anew a part per frame, so that no frame is late for
// them: the maps of a flight through a city hold several times the triangles of
// the view, and streaming changes them all the time.
const (
	// shadowBudget is how much of the maps a frame draws, in triangles, where
	// that is enough to keep to buildFrames.
	shadowBudget = 16_000
	// drawCost is what a draw costs in triangles, whatever its size.
	drawCost = 48
	// minPart is the least number of triangles of which a part of a mesh is
	// drawn.
	minPart = 1024
)

// buildFrames is in how many frames a cascade's map is drawn at most, however
// much it holds. What changes while it is drawn may have to wait for the next
// one: shadows are late by at most twice as many frames.
var buildFrames = [maxCascades]int{8, 16, 32, 128}

// mapBuild is a map that is being drawn. What is drawn when is decided by counts
// alone, so that the same frames give the same pictures on every machine.
type mapBuild struct {
	on     bool
	id     uint64 // unique
	next   cascade
	frames int // so far
}

// caster is how far a representation is drawn into a map.
type caster struct {
	build   uint64
	mesh    int32  // next to draw; done: len(meshes)
	part    int32  // triangles of it that are drawn
	casting []cast // with what it is drawn, from the first mesh to the last
	content uint64 // its part in the content of the map
}

// done reports whether all meshes are drawn into the map of a build.
func (c *caster) done(build uint64, meshes int) bool {
	return c.build == build && int(c.mesh) == meshes
}

// restart begins with the first mesh; of what was drawn before nothing is lost.
func (c *caster) restart(build uint64, casting []cast, content uint64) {
	*c = caster{build: build, casting: append(c.casting[:0], casting...), content: content}
}

// covers reports whether all that casts a shadow now is drawn. What fades in has more
// texels from frame to frame, and what it replaces less: a map of which some texels
// come from an early frame and the others from a late one would have holes.
func (c *caster) covers(casting []cast) bool {
	for i := range casting {
		if !covered(c.casting, casting[i]) {
			return false
		}
	}
	return true
}

// covered reports whether a list of casts has all of one.
func covered(list []cast, want cast) bool {
	all := want.parts == 0
	for i := range list {
		c := &list[i]
		if c.mask&0xffff > want.mask&0xffff || c.mask>>16 < want.mask>>16 {
			continue
		}
		if c.parts == 0 {
			return true
		}
		if want.parts &^= c.parts; want.parts == 0 && !all {
			return true
		}
	}
	return false
}

// schedule decides which maps are drawn and where they lie.
type schedule struct {
	count    int // of cascades
	active   int // that are in use in this frame
	cascades [maxCascades]cascade
	builds   [maxCascades]mapBuild
	slices   [maxCascades]slice
	ends     [maxCascades]float64 // where they end
	motions  [maxCascades]motion
	late     [maxCascades]int // frames since the oldest change that a map does not show
	moving   bool             // slices holds the frame before
	begun    uint64           // builds
}

// steadiness is over how many frames motion is averaged, roughly.
const steadiness = 6

// follow takes over the slices of a frame and reports a jump: the camera is
// where no map reaches, the sun is another one, or there are no maps yet.
func (s *schedule) follow(l *lens, light *lightSpace, r *shadowReach) (jump bool) {
	near := max(l.near, r.near)
	sharp := s.sharp()
	cascadeSplits(&s.ends, sharp, near, r.far)
	s.active = sharp
	if r.end > r.far && sharp < s.count {
		s.ends[sharp], s.active = r.end, s.count
	}
	for i := range s.active {
		now := sliceOf(l, near, s.ends[i])
		if i == sharp && r.scene.radius > 0 && r.scene.radius < now.radius {
			now = r.scene
		}
		near = s.ends[i]
		s.motions[i].follow(&s.slices[i], &now, s.moving)
		s.slices[i] = now
		c := &s.cascades[i]
		// The last one may come later: it is not there when it has rested.
		jump = jump || !c.valid && i < sharp || c.valid && c.fit.light != *light || i == sharp-1 && !c.fit.holds(now)
	}
	for i := s.active; i < s.count; i++ {
		s.cascades[i].valid, s.builds[i].on = false, false
	}
	s.moving = true
	return jump
}

// sharp returns how many cascades there are up to the limit of shadows.
func (s *schedule) sharp() int { return max(1, s.count-1) }

// shown returns how many maps are there, the nearest first.
func (s *schedule) shown() int {
	n := 0
	for n < s.active && s.cascades[n].valid {
		n++
	}
	return n
}

// follow averages the steps of a slice. Those that are no motion do not count.
func (m *motion) follow(before, now *slice, known bool) {
	step := now.center.Sub(before.center)
	switch {
	case !known || step.Len() > now.radius:
		m.step = geom.Vec3{}
	case step == (geom.Vec3{}) && m.step.Len() < 1e-3*now.radius:
		m.step = geom.Vec3{} // at rest
	default:
		m.step = m.step.Add(step.Sub(m.step).Scale(1.0 / steadiness))
	}
}

// begin starts to draw the map of cascade i anew.
func (s *schedule) begin(i int, light *lightSpace, size int) {
	b := &s.builds[i]
	s.begun++
	*b = mapBuild{on: true, id: s.begun}
	b.next = cascade{valid: true, far: s.ends[i], layer: i}
	if s.cascades[i].layer == i {
		b.next.layer = i + s.count
	}
	b.next.place(s.motions[i].wanted(s.slices[i]), light, size)
}

// end puts a complete map into service; content is that of the scene where the
// map reaches.
func (s *schedule) end(i int, content uint64) {
	b := &s.builds[i]
	b.on = false
	s.cascades[i] = b.next
	s.motions[i].frames = float64(b.frames)
	s.late[i] = 0
	if b.next.content != content {
		s.late[i] = b.frames
	}
}

// reach returns at which distance shadows have faded out.
func (s *schedule) reach(r *shadowReach) float64 {
	if s.shown() > s.sharp() {
		return fadeless * r.end // beyond all that is seen
	}
	return min(r.far, s.cascades[s.sharp()-1].far)
}

// fadeless is how many times its distance an end has to be away from what should
// not fade: the shaders fade shadows out over the last 15 %.
const fadeless = 1.25

// share returns how much of the map of cascade i is drawn in this frame: of what
// is left of the frame's budget, and of the cost that remains. Of several maps
// the nearest gets half, so that none has to wait; the last of all, in which a
// change is hardly seen, no more than it needs to be done in time.
func (s *schedule) share(i, left, remains int) int {
	if i >= s.sharp() {
		left = 0
	}
	for k := i + 1; k < s.count; k++ {
		if s.builds[k].on {
			left /= 2
			break
		}
	}
	frames := max(1, buildFrames[i]-s.builds[i].frames)
	return max(left, minPart, (remains+frames-1)/frames)
}
