package render

import (
	"log/slog"

	"github.com/untoldkit/untold/preview/internal/gpu"
	"github.com/untoldkit/untold/runtime/config"
)

// infoOf says what a device has.
func infoOf(c *gpu.Caps) Info {
	return Info{
		Vendor: c.Vendor, Device: c.Device, Version: c.Version, ReverseZ: c.ReverseZ, MultiDraw: c.MultiDraw, PersistentMap: c.PersistentMap,
		TextureStorage: c.TextureStorage, Blocks: c.Blocks, ASTC: c.ASTC, CopyImage: c.CopyTexture, DebugOutput: c.DebugOutput, Software: c.Software,
		Samples: c.Samples, MaxTexture: c.MaxTexture, Anisotropy: c.Anisotropy, DedicatedBytes: c.DedicatedBytes,
	}
}

// settle fixes the options to what the driver has; o is complete afterwards.
func (i *Info) settle(o *Options) {
	def := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	def(&o.Width, 1280)
	def(&o.Height, 720)
	def(&o.Cascades, maxCascades)
	def(&o.MaxTexture, 2048)
	if i.Software { // where these cost the most
		def(&o.Samples, 1)
		def(&o.Anisotropy, 1)
	}
	def(&o.Samples, 4)
	if o.Height < 480 {
		def(&o.ShadowSize, 1024)
	}
	def(&o.ShadowSize, 2048)
	def(&o.Anisotropy, 4)
	if o.ShadowDistance <= 0 {
		o.ShadowDistance = 400
	}
	o.Tone = min(o.Tone, tones-1)
	o.Samples = max(1, min(o.Samples, i.Samples))
	o.Cascades = max(1, min(o.Cascades, maxCascades))
	o.MaxTexture = max(1, min(o.MaxTexture, i.MaxTexture))
	o.ShadowSize = max(0, min(o.ShadowSize, i.MaxTexture))
	o.Anisotropy = max(1, min(o.Anisotropy, i.Anisotropy))
	if o.Textures == (config.Textures{}) {
		o.Textures = config.Default().Texture
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	i.Samples, i.MaxTexture, i.ShadowSize, i.Cascades, i.Anisotropy = o.Samples, o.MaxTexture, o.ShadowSize, o.Cascades, o.Anisotropy
}
