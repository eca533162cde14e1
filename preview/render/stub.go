//go:build !cgo || nopreview

package render

import (
	"context"
	"image"

	"github.com/untoldkit/untold/preview/internal/batch"
	"github.com/untoldkit/untold/preview/surface"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/memory"
	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/texture"
)

// Renderer cannot be made in this build.
type Renderer struct{}

// New returns surface.ErrUnavailable in this build.
func New(Options) (*Renderer, error) { return nil, surface.ErrUnavailable }

// Info says what the driver has.
func (*Renderer) Info() Info { return Info{} }

// Upload takes over a representation.
func (*Renderer) Upload(payload.Key, *payload.Asset) error { return surface.ErrUnavailable }

// Release frees a representation.
func (*Renderer) Release(payload.Key) {}

// Drawable reports whether a representation is uploaded.
func (*Renderer) Drawable(payload.Key) bool { return false }

// Pump uploads some of what waits.
func (*Renderer) Pump(Budget) (idle bool) { return true }

// SetTextures changes the parameters of texture streaming.
func (*Renderer) SetTextures(config.Textures, int64) error { return surface.ErrUnavailable }

// SetTextureScales says how large textures are in the world.
func (*Renderer) SetTextureScales(texture.Scales) {}

// StreamTextures judges textures.
func (*Renderer) StreamTextures(TextureView) {}

// AwaitTextures waits for what is being read.
func (*Renderer) AwaitTextures(context.Context) error { return surface.ErrUnavailable }

// Follow lets another Streamer decide about textures.
func (*Renderer) Follow(*texture.Streamer) {}

// Show gives a texture another size.
func (*Renderer) Show(texture.ID, texture.Slot, int) {}

// Hide frees a texture.
func (*Renderer) Hide(texture.ID) {}

// Shed makes textures smaller.
func (*Renderer) Shed(int) int { return 0 }

// Prewarm decodes textures ahead of their meshes.
func (*Renderer) Prewarm(context.Context, runtime.RootID, *payload.Asset) error {
	return surface.ErrUnavailable
}

// Settle waits for all textures.
func (*Renderer) Settle(context.Context) error { return surface.ErrUnavailable }

// RetryTextures looks for missing textures again.
func (*Renderer) RetryTextures() {}

// SetBatching begins to join static meshes.
func (*Renderer) SetBatching(*BatchOptions) {}

// SetBatchScene tells the size of a scene's batch cells.
func (*Renderer) SetBatchScene(payload.SceneID, float64) {}

// LimitBatches bounds the bytes of all batches.
func (*Renderer) LimitBatches(int64) {}

// RelieveBatches answers memory pressure.
func (*Renderer) RelieveBatches(memory.PressureLevel) {}

// AppendBatchCells appends the cells of all scenes.
func (*Renderer) AppendBatchCells(dst []batch.Cell) []batch.Cell { return dst }

// Resize changes the size of the picture.
func (*Renderer) Resize(width, height int) error { return surface.ErrUnavailable }

// Draw draws one frame.
func (*Renderer) Draw(Frame) Stats { return Stats{} }

// ReadPixels returns the last picture.
func (*Renderer) ReadPixels() *image.NRGBA { return nil }

// Close frees everything.
func (*Renderer) Close() {}
