//go:build cgo && !nopreview

// Package gl41 is the gpu.Device of OpenGL 4.1 core and of the extensions that
// drivers have beside it.
package gl41

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-gl/gl/v4.1-core/gl"

	"github.com/untoldkit/untold/preview/internal/gpu"
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

// scratchUnit is the texture unit that no sampler reads: textures are bound to it
// to be written.
const scratchUnit = 15

// maxDraws bounds the records of a frame.
const maxDraws = 1 << 20

// Device is the device of the context that was current in New.
type Device struct {
	caps     gpu.Caps
	staging  staging
	fences   [gpu.InFlight]uintptr
	unused   []uint32               // textures that the frame in preparation may draw from last
	dropped  [gpu.InFlight][]uint32 // by the frame that may
	timer    timer
	ids      uint32   // see newIDs; 0 before the first vertex array and without MultiDraw
	empty    uint32   // a vertex array without attributes
	commands stream   // with MultiDraw
	words    []uint32 // else: of SetCommands
}

var _ gpu.Device = (*Device)(nil)

// New makes the device of the current context; plain leaves all extensions alone.
func New(plain bool) *Device {
	d := &Device{caps: capabilities(plain)}
	d.SRGB(true)
	if d.caps.ReverseZ {
		gl.ClipControl(gl.LOWER_LEFT, gl.ZERO_TO_ONE)
	}
	d.commands = stream{target: gl.DRAW_INDIRECT_BUFFER, floor: 1 << 19, persistent: d.caps.PersistentMap}
	d.staging.init(d.caps.PersistentMap)
	gl.GenVertexArrays(1, &d.empty)
	d.timer.init(!d.caps.Software)
	return d
}

// capabilities reads what the driver has, by extension string.
func capabilities(plain bool) gpu.Caps {
	has := extensions()
	if plain {
		has = map[string]bool{}
	}
	c := gpu.Caps{
		Vendor: gl.GoStr(gl.GetString(gl.VENDOR)), Device: gl.GoStr(gl.GetString(gl.RENDERER)), Version: "OpenGL " + gl.GoStr(gl.GetString(gl.VERSION)),
		ReverseZ:       has["GL_ARB_clip_control"],
		MultiDraw:      has["GL_ARB_multi_draw_indirect"] && has["GL_ARB_base_instance"],
		PersistentMap:  has["GL_ARB_buffer_storage"],
		TextureStorage: has["GL_ARB_texture_storage"],
		Blocks:         has["GL_ARB_texture_compression_bptc"],
		ASTC:           has["GL_KHR_texture_compression_astc_ldr"],
		CopyTexture:    has["GL_ARB_copy_image"],
		DebugOutput:    has["GL_KHR_debug"],
		BaseVertex:     true,
		Wireframe:      true,
		Anisotropy:     1,
	}
	device := strings.ToLower(c.Device)
	for _, name := range [...]string{"llvmpipe", "softpipe", "swrast", "software", "swiftshader"} {
		c.Software = c.Software || strings.Contains(device, name)
	}
	if has["GL_EXT_texture_filter_anisotropic"] {
		c.Anisotropy = int(integer(maxTextureMaxAnisotropy))
	}
	if has["GL_NVX_gpu_memory_info"] {
		c.DedicatedBytes = int64(integer(nvxDedicatedMemory)) << 10
	}
	c.MaxTexture = int(integer(gl.MAX_TEXTURE_SIZE))
	c.MaxLayers = int(integer(gl.MAX_ARRAY_TEXTURE_LAYERS))
	c.Samples = int(integer(gl.MAX_SAMPLES))
	c.MaxDraws = min(maxDraws, int(integer(gl.MAX_TEXTURE_BUFFER_SIZE))/gpu.ObjectTexels)
	return c
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

// Caps says what the driver has.
func (d *Device) Caps() gpu.Caps { return d.caps }

// Err returns the errors of OpenGL since the last call.
func (d *Device) Err() (err error) {
	for range 16 {
		e := gl.GetError()
		if e == gl.NO_ERROR {
			break
		}
		err = errors.Join(err, fmt.Errorf("OpenGL error 0x%x", e))
	}
	return err
}

// Finish waits until all is drawn.
func (d *Device) Finish() { gl.Finish() }

// fenceStep is how long the wait for the GPU sleeps between two looks.
const fenceStep = 100 * time.Microsecond

// Wait waits until the GPU is done with the frame that used the same buffers. It
// sleeps: drivers that wait in a call keep a processor busy all the time.
func (d *Device) Wait(at int) {
	defer d.passed(at)
	if d.fences[at] == 0 {
		return
	}
	if d.caps.Software { // which has nothing else to do
		for gl.ClientWaitSync(d.fences[at], gl.SYNC_FLUSH_COMMANDS_BIT, uint64(time.Second)) == gl.TIMEOUT_EXPIRED {
		}
		return
	}
	for gl.ClientWaitSync(d.fences[at], gl.SYNC_FLUSH_COMMANDS_BIT, 0) == gl.TIMEOUT_EXPIRED {
		time.Sleep(fenceStep)
	}
}

// passed gives back what a frame has used that the GPU is done with.
func (d *Device) passed(at int) {
	d.staging.passed(at)
	d.dropped[at] = deleteTextures(d.dropped[at])
}

// deleteTextures deletes textures, and returns an empty list in the memory of theirs.
func deleteTextures(names []uint32) []uint32 {
	if len(names) > 0 {
		gl.DeleteTextures(int32(len(names)), &names[0])
	}
	return names[:0]
}

// Fence ends a frame.
func (d *Device) Fence(at int) {
	if d.fences[at] != 0 {
		gl.DeleteSync(d.fences[at])
	}
	d.fences[at] = gl.FenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0)
	d.staging.submit(at)
	d.dropped[at], d.unused = d.unused, d.dropped[at]
}

// Close gives back what the device has made for itself.
func (d *Device) Close() {
	d.Listen(nil)
	d.timer.close()
	d.commands.close()
	d.staging.close()
	deleteTextures(d.unused)
	for _, names := range d.dropped {
		deleteTextures(names)
	}
	gl.DeleteBuffers(1, &d.ids)
	gl.DeleteVertexArrays(1, &d.empty)
	for _, f := range d.fences {
		if f != 0 {
			gl.DeleteSync(f)
		}
	}
}
