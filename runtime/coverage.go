package runtime

import (
	"math"

	"github.com/untoldkit/untold/manifest/band"
	"github.com/untoldkit/untold/runtime/payload"
)

// A tile counts for Coverage from so many pixels on, on a screen of so many
// lines: the one for which a cook works out how far anything is wanted.
const (
	coveragePixels = 2
	coverageHeight = 1080
)

// Coverage says how much of what is in view shows something.
type Coverage struct {
	// InView counts the tiles that touch the frustum and are larger than two
	// pixels of 1080 lines. Those that the floor or the interior zone keeps out and
	// that show nothing are left out.
	InView int
	Bare   int // of them, those that show nothing
	// GivenUp counts those of Bare that lie farther away than the geometry budget
	// reaches, or none of whose meshes it has room for.
	GivenUp int
}

// Share returns the part of InView that shows nothing, from 0 to 1.
func (c Coverage) Share() float64 {
	if c.InView == 0 {
		return 0
	}
	return float64(c.Bare) / float64(c.InView)
}

// Coverage looks at every tile of every scene from the camera of the last
// Update, so that it costs more than a tick. A camera without a lens sees
// everything.
func (s *Streamer) Coverage() (c Coverage) {
	if s.closed {
		return c
	}
	fovY := s.camera.FovYDegrees
	if !hasLens(&s.camera) {
		fovY = 60
	}
	keep := math.Inf(1) // of the budget
	if far, _ := s.budget.split.limits(s.cfg.MaxQueryRadius); far < s.cfg.MaxQueryRadius {
		keep = far
	}
	onePixel := band.ScreenError(1, 1, fovY, coverageHeight) // of a metre at a metre
	for _, sc := range s.scenes {
		v := makeView(&s.camera, s.camera.Position, s.camera.Forward, &sc.root, &sc.inverse, 0)
		for i := range sc.tiles.tiles {
			s.cover(&c, sc, int32(i), &v, onePixel, keep)
		}
	}
	s.stats.TilesInView, s.stats.UncoveredTiles, s.stats.TilesGivenUp = c.InView, c.Bare, c.GivenUp
	return c
}

// cover counts a tile; onePixel is how many pixels a metre covers at a metre,
// keep how far the geometry budget goes.
func (s *Streamer) cover(c *Coverage, sc *scene, tile int32, v *view, onePixel, keep float64) {
	box := &sc.tiles.box[tile]
	size := box.Size()
	d := box.Distance(v.pos)
	if !(float64(max(size[0], size[1], size[2])*onePixel) > coveragePixels*d) || !v.seesWithin(box, 0) {
		return
	}
	if sc.refinement.hides(tile) {
		c.InView++
		return
	}
	short := d >= keep
	if sc.tiles.record[tile] >= 0 {
		r := sc.recordOf(tile)
		short = short || r.full().resident() && r.full().split // there, and there is no room for its meshes
		if r.drawn != payload.RepNone && r.shows(r.drawn) || r.fading != payload.RepNone && r.shows(r.fading) {
			c.InView++
			return
		}
	}
	if sc.floorKeepsOut(tile, v.pos) || sc.zoneKeepsOut(tile, v.pos) {
		return
	}
	c.InView++
	c.Bare++
	if short {
		c.GivenUp++
	}
}

// AtRest reports whether everything that is wanted from where the camera is has
// been asked for and has come: nothing is in flight, nothing waits for a slot or
// to be looked at, nothing fades, and no scene has a draft.
func (s *Streamer) AtRest() bool {
	return !s.Drafts() && s.selector.lookedFrom == s.camera && len(s.loads.list) == 0 && len(s.meshes.loading) == 0 && s.backlog == 0 && s.selector.fruitless >= s.selector.windows &&
		!s.wake && !s.budget.split.frame.falls && s.residency.awaited == 0 && s.activeFades() == 0
}
