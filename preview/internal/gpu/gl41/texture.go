//go:build cgo && !nopreview

package gl41

import (
	"fmt"
	"unsafe"

	"github.com/go-gl/gl/v4.1-core/gl"

	"github.com/untoldkit/untold/preview/internal/gpu"
	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// internalFormat returns how OpenGL calls the way in which a texture is stored.
func internalFormat(i *gpu.TextureInfo) uint32 {
	switch {
	case i.Encoding.ASTC() && i.SRGB:
		return compressedSRGBASTC4x4 + uint32(i.Encoding-texfile.ASTC4x4)
	case i.Encoding.ASTC():
		return compressedRGBAASTC4x4 + uint32(i.Encoding-texfile.ASTC4x4)
	case i.Encoding == texfile.BC5:
		return gl.COMPRESSED_RG_RGTC2
	case i.Encoding == texfile.BC7 && i.SRGB:
		return compressedSRGBAlphaBPTC
	case i.Encoding == texfile.BC7:
		return compressedRGBABPTC
	case i.SRGB:
		return gl.SRGB8_ALPHA8
	}
	return gl.RGBA8
}

// NewTexture makes a texture object with all its layers and levels.
func (d *Device) NewTexture(i *gpu.TextureInfo, layers int) gpu.Texture {
	var t uint32
	gl.GenTextures(1, &t)
	gl.ActiveTexture(gl.TEXTURE0 + scratchUnit)
	gl.BindTexture(gl.TEXTURE_2D_ARRAY, t)
	// First how many levels there are and how they are read: drivers keep a
	// texture whose levels do not fit that in another way.
	gl.TexParameteri(gl.TEXTURE_2D_ARRAY, gl.TEXTURE_BASE_LEVEL, 0)
	gl.TexParameteri(gl.TEXTURE_2D_ARRAY, gl.TEXTURE_MAX_LEVEL, int32(i.Levels-1))
	gl.TexParameteri(gl.TEXTURE_2D_ARRAY, gl.TEXTURE_MIN_FILTER, gl.LINEAR_MIPMAP_LINEAR)
	gl.TexParameteri(gl.TEXTURE_2D_ARRAY, gl.TEXTURE_MAG_FILTER, gl.LINEAR)
	if i.GreenInAlpha {
		gl.TexParameteri(gl.TEXTURE_2D_ARRAY, gl.TEXTURE_SWIZZLE_G, gl.ALPHA)
	}
	if i.Anisotropy > 1 {
		gl.TexParameterf(gl.TEXTURE_2D_ARRAY, textureMaxAnisotropy, float32(i.Anisotropy))
	}
	format := internalFormat(i)
	if d.caps.TextureStorage {
		gl.TexStorage3D(gl.TEXTURE_2D_ARRAY, int32(i.Levels), format, int32(i.Width), int32(i.Height), int32(layers))
		return gpu.Texture(t)
	}
	for level := range i.Levels {
		w, h := i.Mip(level)
		if i.Encoding == texfile.RGBA8 {
			gl.TexImage3D(gl.TEXTURE_2D_ARRAY, int32(level), int32(format), int32(w), int32(h), int32(layers), 0, gl.RGBA, gl.UNSIGNED_BYTE, nil)
		} else {
			gl.CompressedTexImage3D(gl.TEXTURE_2D_ARRAY, int32(level), format, int32(w), int32(h), int32(layers), 0, int32(layers*i.Bytes(w, h)), nil)
		}
	}
	return gpu.Texture(t)
}

// NewAtlas makes a texture of one channel.
func (d *Device) NewAtlas(width, height int, pix []byte) gpu.Texture {
	var t uint32
	gl.GenTextures(1, &t)
	gl.ActiveTexture(gl.TEXTURE0 + scratchUnit)
	gl.BindTexture(gl.TEXTURE_2D, t)
	gl.TexParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAX_LEVEL, 0)
	gl.TexParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR)
	gl.TexParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.LINEAR)
	gl.TexParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE)
	gl.TexParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE)
	gl.PixelStorei(gl.UNPACK_ALIGNMENT, 1)
	gl.TexImage2D(gl.TEXTURE_2D, 0, gl.R8, int32(width), int32(height), 0, gl.RED, gl.UNSIGNED_BYTE, unsafe.Pointer(&pix[0]))
	return gpu.Texture(t)
}

// WriteRows stores rows of a level of a layer, by way of the staging memory: NVIDIA's
// driver waits for the frames in flight before it writes the program's memory to an array
// that they draw from. Textures whose levels are made one by one take the program's memory
// all the same, as that driver fills them slowly from a buffer while levels are missing.
func (d *Device) WriteRows(t gpu.Texture, i *gpu.TextureInfo, layer, level, y, width, height int, data []byte) {
	gl.ActiveTexture(gl.TEXTURE0 + scratchUnit)
	gl.BindTexture(gl.TEXTURE_2D_ARRAY, uint32(t))
	gl.PixelStorei(gl.UNPACK_ALIGNMENT, 4)
	if d.caps.TextureStorage {
		if at, ok := d.staging.write(data); ok {
			gl.BindBuffer(gl.PIXEL_UNPACK_BUFFER, d.staging.buffer)
			if i.Encoding == texfile.RGBA8 {
				writeTexels(level, y, layer, width, height, at)
			} else {
				writeBlocks(level, y, layer, width, height, internalFormat(i), len(data), at)
			}
			gl.BindBuffer(gl.PIXEL_UNPACK_BUFFER, 0)
			return
		}
	}
	pix := unsafe.Pointer(&data[0])
	if i.Encoding == texfile.RGBA8 {
		gl.TexSubImage3D(gl.TEXTURE_2D_ARRAY, int32(level), 0, int32(y), int32(layer), int32(width), int32(height), 1, gl.RGBA, gl.UNSIGNED_BYTE, pix)
		return
	}
	gl.CompressedTexSubImage3D(gl.TEXTURE_2D_ARRAY, int32(level), 0, int32(y), int32(layer), int32(width), int32(height), 1, internalFormat(i), int32(len(data)), pix)
}

// CopyTexture copies levels on the GPU.
func (d *Device) CopyTexture(dst, src gpu.Layer, i *gpu.TextureInfo, skip int) {
	for level := range i.Levels - skip {
		w, h := i.Mip(level + skip)
		gl.CopyImageSubData(uint32(src.Texture), gl.TEXTURE_2D_ARRAY, int32(level+skip), 0, 0, int32(src.Number),
			uint32(dst.Texture), gl.TEXTURE_2D_ARRAY, int32(level), 0, 0, int32(dst.Number), int32(w), int32(h), 1)
	}
}

// DeleteTexture deletes a texture as soon as no frame in flight draws from it: NVIDIA's
// driver would wait for them.
func (d *Device) DeleteTexture(t gpu.Texture) { d.unused = append(d.unused, uint32(t)) }

// BindTexture binds a texture to a unit.
func (d *Device) BindTexture(unit int, t gpu.Texture) {
	gl.ActiveTexture(gl.TEXTURE0 + uint32(unit))
	gl.BindTexture(gl.TEXTURE_2D_ARRAY, uint32(t))
}

// BindAtlas binds a texture of one channel to a unit.
func (d *Device) BindAtlas(unit int, t gpu.Texture) {
	gl.ActiveTexture(gl.TEXTURE0 + uint32(unit))
	gl.BindTexture(gl.TEXTURE_2D, uint32(t))
}

// NewShadowMaps makes layers of depths and their framebuffers.
func (d *Device) NewShadowMaps(edge, layers, unit int) (gpu.Texture, []gpu.Framebuffer, error) {
	var t uint32
	gl.GenTextures(1, &t)
	gl.ActiveTexture(gl.TEXTURE0 + uint32(unit))
	gl.BindTexture(gl.TEXTURE_2D_ARRAY, t)
	for name, v := range map[uint32]int32{
		gl.TEXTURE_MIN_FILTER: gl.LINEAR, gl.TEXTURE_MAG_FILTER: gl.LINEAR, gl.TEXTURE_MAX_LEVEL: 0,
		gl.TEXTURE_WRAP_S: gl.CLAMP_TO_EDGE, gl.TEXTURE_WRAP_T: gl.CLAMP_TO_EDGE,
		gl.TEXTURE_COMPARE_MODE: gl.COMPARE_REF_TO_TEXTURE, gl.TEXTURE_COMPARE_FUNC: gl.LEQUAL,
	} {
		gl.TexParameteri(gl.TEXTURE_2D_ARRAY, name, v)
	}
	gl.TexImage3D(gl.TEXTURE_2D_ARRAY, 0, gl.DEPTH_COMPONENT24, int32(edge), int32(edge), int32(layers), 0, gl.DEPTH_COMPONENT, gl.UNSIGNED_INT, nil)
	names := make([]uint32, layers)
	gl.GenFramebuffers(int32(layers), &names[0])
	fbos := make([]gpu.Framebuffer, layers)
	for i, name := range names {
		fbos[i] = gpu.Framebuffer(name)
		gl.BindFramebuffer(gl.FRAMEBUFFER, name)
		gl.FramebufferTextureLayer(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, t, 0, int32(i))
		gl.DrawBuffer(gl.NONE)
		gl.ReadBuffer(gl.NONE)
		if status := gl.CheckFramebufferStatus(gl.FRAMEBUFFER); status != gl.FRAMEBUFFER_COMPLETE {
			return gpu.Texture(t), fbos, fmt.Errorf("no shadow map of %d texels (status 0x%x)", edge, status)
		}
	}
	return gpu.Texture(t), fbos, nil
}

// BindShadowMaps binds layers of depths to a unit.
func (d *Device) BindShadowMaps(unit int, t gpu.Texture) {
	gl.ActiveTexture(gl.TEXTURE0 + uint32(unit))
	gl.BindTexture(gl.TEXTURE_2D_ARRAY, uint32(t))
}

// DeleteFramebuffers deletes framebuffers.
func (d *Device) DeleteFramebuffers(list []gpu.Framebuffer) {
	for _, f := range list {
		name := uint32(f)
		gl.DeleteFramebuffers(1, &name)
	}
}

// BindFramebuffer makes a framebuffer the place to draw.
func (d *Device) BindFramebuffer(f gpu.Framebuffer) { gl.BindFramebuffer(gl.FRAMEBUFFER, uint32(f)) }
