//go:build cgo && !nopreview

package render

import (
	"log/slog"
	"strings"

	"github.com/go-gl/gl/v4.1-core/gl"

	"github.com/untoldkit/untold/runtime/config"
)

// Names that the bindings of OpenGL 4.1 lack.
const (
	textureMaxAnisotropy    = 0x84FE // EXT_texture_filter_anisotropic
	maxTextureMaxAnisotropy = 0x84FF
	compressedRGBABPTC      = 0x8E8C // ARB_texture_compression_bptc
	compressedSRGBAlphaBPTC = 0x8E8D
	compressedRGBAASTC4x4   = 0x93B0 // KHR_texture_compression_astc_ldr; further sizes follow
	compressedSRGBASTC4x4   = 0x93D0
	nvxDedicatedMemory      = 0x9047 // NVX_gpu_memory_info, KiB
)

// capabilities reads what the driver has, by extension string.
func capabilities(o *Options) Info {
	has := extensions()
	if o.Plain {
		has = map[string]bool{}
	}
	i := Info{
		Vendor: gl.GoStr(gl.GetString(gl.VENDOR)), Device: gl.GoStr(gl.GetString(gl.RENDERER)), Version: gl.GoStr(gl.GetString(gl.VERSION)),
		ReverseZ:       has["GL_ARB_clip_control"],
		MultiDraw:      has["GL_ARB_multi_draw_indirect"] && has["GL_ARB_base_instance"],
		PersistentMap:  has["GL_ARB_buffer_storage"],
		TextureStorage: has["GL_ARB_texture_storage"],
		Blocks:         has["GL_ARB_texture_compression_bptc"],
		ASTC:           has["GL_KHR_texture_compression_astc_ldr"],
		CopyImage:      has["GL_ARB_copy_image"],
		DebugOutput:    has["GL_KHR_debug"],
		Anisotropy:     1,
	}
	device := strings.ToLower(i.Device)
	for _, name := range [...]string{"llvmpipe", "softpipe", "swrast", "software", "swiftshader"} {
		i.Software = i.Software || strings.Contains(device, name)
	}
	if has["GL_EXT_texture_filter_anisotropic"] {
		i.Anisotropy = int(integer(maxTextureMaxAnisotropy))
	}
	if has["GL_NVX_gpu_memory_info"] {
		i.DedicatedBytes = int64(integer(nvxDedicatedMemory)) << 10
	}
	i.MaxTexture = int(integer(gl.MAX_TEXTURE_SIZE))
	i.Samples = int(integer(gl.MAX_SAMPLES))
	return i
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

func extensions() map[string]bool {
	n := integer(gl.NUM_EXTENSIONS)
	out := make(map[string]bool, n)
	for i := range n {
		out[gl.GoStr(gl.GetStringi(gl.EXTENSIONS, uint32(i)))] = true
	}
	return out
}

func integer(name uint32) int32 {
	var v int32
	gl.GetIntegerv(name, &v)
	return v
}
