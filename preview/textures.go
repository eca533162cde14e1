package preview

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"time"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/preview/render"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/texture"
)

// textureParams returns how the textures of a scene are streamed: by what is seen
// of them where the manifest says how large they are, else as its radii suit,
// unless the texture parameters were set.
func textureParams(cfg *config.Config, m *manifest.Manifest) (t textureChoice, err error) {
	t.params, t.scales, err = texture.ForScene(cfg.Texture, m)
	return t, err
}

// textureChoice is how the textures of a scene are streamed.
type textureChoice struct {
	params config.Textures
	scales texture.Scales
}

// textureControl owns how the textures of the shown scene are streamed in real
// time, and of which it was said that they are white.
type textureControl struct {
	r         renderer
	alert     func(string)
	remote    bool    // what is missing may still come
	highWater float64 // of the budget
	lines     float64 // of the picture, at least
	limit     int64   // of the configuration
	changes   int     // at a time, at least
	choice    textureChoice
	frame     render.Frame // the frame that r is told of
	white     map[texture.Slot]bool
}

// choose tells the renderer how the textures of the scene are streamed.
func (c *textureControl) choose(t textureChoice) {
	t.params.ConcurrentOps = max(t.params.ConcurrentOps, c.changes)
	c.choice = t
	c.r.SetTextureScales(t.scales)
}

// stream lets the renderer choose the sizes of its textures by what a frame draws,
// within the budget that the runtime has for them. busy says that geometry is on its way
// too, draft that the scene is not as fine as it will be. retry tries those that are
// missing once more.
func (c *textureControl) stream(f *render.Frame, eye geom.Vec3, now time.Duration, lines int, budget int64, busy, draft, retry bool) error {
	if err := c.r.SetTextures(c.choice.params, c.budget(budget)); err != nil {
		return err
	}
	if retry && c.remote {
		c.r.RetryTextures() // those of a remote scene follow their payload
	}
	c.frame = *f
	c.r.StreamTextures(render.TextureView{Frame: &c.frame, Now: now, Camera: eye, Busy: busy, Draft: draft, Pixel: texture.PixelSize(f.Camera.FovYDegrees, max(c.lines, float64(lines))), Root: f.Root})
	return nil
}

// retryFrames is how many frames missing textures are left alone for.
const retryFrames = 60

// budget returns the bytes for textures, 0 for no limit: the budget b of the
// runtime, 0 before its first tick, up to its high-water mark. At the mark the
// runtime makes textures smaller, and those that had grown to fill the rest would
// do so again and again.
func (c *textureControl) budget(b int64) int64 {
	if b == 0 {
		b = c.limit
	}
	if b <= 0 || b == math.MaxInt64 {
		return 0
	}
	return max(1, int64(c.highWater*float64(b))-1)
}

// whiteTold is how many textures a person is told of one by one.
const whiteTold = 5

// tellWhite says once of a texture that it cannot be shown, and why. Where most
// of a scene's textures are gone, the figures count them. A file of a scene at an
// address that is not there yet may still come.
func (c *textureControl) tellWhite(slot texture.Slot, err error) {
	if c.white[slot] || c.remote && errors.Is(err, fs.ErrNotExist) {
		return
	}
	if c.white == nil {
		c.white = map[texture.Slot]bool{}
	}
	c.white[slot] = true
	switch n := len(c.white); {
	case n <= whiteTold:
		c.alert(fmt.Sprintf("a texture is drawn white: %v", err))
	case n == whiteTold+1:
		c.alert("more textures are drawn white: the figures have their number, and the events their names")
	}
}
