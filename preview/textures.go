package preview

import (
	"errors"
	"fmt"
	"io/fs"
	"math"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/preview/render"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/texture"
)

// textureParams returns how the textures of a scene are streamed: by what is seen
// of them where the manifest says how large they are, else as its radii suit,
// unless the texture parameters were set.
func textureParams(cfg *runtime.Config, m *manifest.Manifest) (t textureChoice, err error) {
	t.params, t.scales, err = texture.ForScene(texture.Params(cfg.Texture), texture.Params(runtime.DefaultConfig().Texture), m)
	return t, err
}

// textureChoice is how the textures of a scene are streamed.
type textureChoice struct {
	params texture.Params
	scales texture.Scales
}

// chooseTextures tells the renderer how the textures of the scene are streamed.
func (a *app) chooseTextures(t textureChoice) {
	a.textures = t
	a.r.SetTextureScales(t.scales)
}

// streamTextures lets the renderer judge its textures in real time, within the budget that
// the runtime has for them, of which it learns by used.
func (a *app) streamTextures() error {
	if err := a.r.SetTextures(a.textures.params, a.textureBudget()); err != nil {
		return err
	}
	if a.o.Fetcher != nil && a.stats.TexturesMissing > 0 && a.frame%retryFrames == 0 {
		a.r.RetryTextures() // those of a remote scene follow their payload
	}
	a.sight = render.Frame{Camera: a.drawCam, CullCamera: a.frozen, Drawn: a.drawn, Root: a.rootOf}
	a.r.StreamTextures(render.TextureView{Frame: &a.sight, Now: a.clock.Now(), Camera: a.streamCam.Position, Pixel: texture.PixelSize(a.drawCam.FovYDegrees, a.lines()), Root: a.rootOf})
	return nil
}

// retryFrames is how many frames missing textures are left alone for.
const retryFrames = 60

// textureBudget returns the bytes for textures, 0 for no limit: the budget of
// the runtime up to its high-water mark. At the mark the runtime makes textures
// smaller, and those that had grown to fill the rest would do so again and
// again.
func (a *app) textureBudget() int64 {
	b := a.s.Stats().TextureBudget
	if b == 0 {
		b = a.textureLimit // before the first tick of the runtime
	}
	if b <= 0 || b == math.MaxInt64 {
		return 0
	}
	return max(1, int64(a.o.Config.HighWaterMark*float64(b))-1)
}

// whiteTold is how many textures a person is told of one by one.
const whiteTold = 5

// tellWhite says once of a texture that it cannot be shown, and why. Where most
// of a scene's textures are gone, the figures count them. A file of a scene at an
// address that is not there yet may still come.
func (a *app) tellWhite(slot texture.Slot, err error) {
	if a.white[slot] || a.o.Fetcher != nil && errors.Is(err, fs.ErrNotExist) {
		return
	}
	if a.white == nil {
		a.white = map[texture.Slot]bool{}
	}
	a.white[slot] = true
	switch n := len(a.white); {
	case n <= whiteTold:
		a.news.alarm(a.clock.elapsed(), fmt.Sprintf("a texture is drawn white: %v", err))
	case n == whiteTold+1:
		a.news.alarm(a.clock.elapsed(), "more textures are drawn white: the figures have their number, and the events their names")
	}
}
