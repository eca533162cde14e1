// Package webgl2 is the gpu.Device of browsers. A call from WebAssembly costs
// microseconds, so that calls are written down as commands, and a frame is one call
// that has JavaScript replay them.
//
// What OpenGL 4.1 has and WebGL 2 lacks is done in other ways: tables are textures
// instead of buffers, the number of a draw's record is that of the draw and of its
// instance instead of an attribute, indices are absolute, depths before the near
// plane are clamped by the vertex shader, and what shows display values is drawn
// into a picture of its own, since colours of sRGB framebuffers are always linear
// light.
package webgl2

import (
	"errors"
	"fmt"
	"time"
	"unsafe"

	"github.com/untoldkit/untold/preview/internal/gpu"
	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// port is the browser's side.
type port interface {
	caps(plain bool) features
	// replay does what the words say.
	replay(words []uint32)
	// program compiles and links; the answer is what went wrong, "" for nothing.
	program(id uint32, s *gpu.Source) string
	// ready reports whether a program is made.
	ready(id uint32) bool
	// location gives a uniform of a program an id; false when there is none.
	location(program, id uint32, name string) bool
	// read stores the bytes of a target's picture.
	read(target uint32, pix []byte)
	// err returns the errors since the last call, "" for none.
	err() string
}

// features are what a browser has.
type features struct {
	gpu.Caps
	depthClamp bool
}

// Device is the device of a canvas.
type Device struct {
	port port
	features
	buffer commandBuffer
	free   []uint32 // ids that were deleted
	last   uint32   // id

	calls  []int32 // of SetCommands: counts, offsets, instances
	starts int     // commands of it
}

var _ gpu.Device = (*Device)(nil)

func newDevice(p port, plain bool) *Device {
	d := &Device{port: p, features: p.caps(plain)}
	d.MaxDraws = min(maxDraws, d.MaxTexture*tableWidth/gpu.ObjectTexels)
	return d
}

// tableWidth is how many texels a row of a table has, and maxDraws bounds the
// records of a frame.
const (
	tableWidth = 1024
	texelBytes = 16
	rowBytes   = tableWidth * texelBytes
	maxDraws   = 1 << 20
)

// newID returns a name for an object.
func (d *Device) newID() uint32 {
	if n := len(d.free); n > 0 {
		id := d.free[n-1]
		d.free = d.free[:n-1]
		return id
	}
	d.last++
	return d.last
}

// remove deletes an object. Its id is used again at once: commands are done in
// order.
func (d *Device) remove(id uint32) {
	if id != 0 {
		d.buffer.put(opDelete, id)
		d.free = append(d.free, id)
	}
}

// flush has what was asked for done.
func (d *Device) flush() {
	if len(d.buffer.words) > 0 {
		d.buffer.put(opEnd)
		d.port.replay(d.buffer.words)
		d.buffer.reset()
	}
}

// Caps says what the browser has.
func (d *Device) Caps() gpu.Caps { return d.features.Caps }

// Listen does nothing: browsers write what they have to say to their console.
func (d *Device) Listen(func(*gpu.Message)) {}

// Err returns what went wrong since the last call.
func (d *Device) Err() error {
	d.flush()
	if text := d.port.err(); text != "" {
		return errors.New(text)
	}
	return nil
}

// Finish has all calls done.
func (d *Device) Finish() { d.flush() }

// Wait does nothing: browsers hold frames back by themselves.
func (d *Device) Wait(int) {}

// BeginTimer does nothing.
func (d *Device) BeginTimer(int) time.Duration { return 0 }

// EndTimer does nothing.
func (d *Device) EndTimer() {}

// Fence has the frame drawn.
func (d *Device) Fence(int) { d.flush() }

// Close has all calls done. What was not deleted goes with the canvas.
func (d *Device) Close() { d.flush() }

// NewProgram compiles and links.
func (d *Device) NewProgram(s *gpu.Source) (gpu.Program, error) {
	d.flush()
	full := *s
	full.Vertex, full.Fragment = d.vertexPrologue()+s.Vertex, fragmentPrologue+s.Fragment
	id := d.newID()
	if text := d.port.program(id, &full); text != "" {
		d.free = append(d.free, id)
		return 0, fmt.Errorf("%s: %s", s.Name, text)
	}
	return gpu.Program(id), nil
}

// Ready reports whether a program is made.
func (d *Device) Ready(p gpu.Program) bool { return d.port.ready(uint32(p)) }

// DeleteProgram deletes a program.
func (d *Device) DeleteProgram(p gpu.Program) { d.remove(uint32(p)) }

// UseProgram takes a program into use.
func (d *Device) UseProgram(p gpu.Program) { d.buffer.put(opUseProgram, uint32(p)) }

// Location finds a uniform.
func (d *Device) Location(p gpu.Program, name string) gpu.Location {
	id := d.newID()
	if !d.port.location(uint32(p), id, name) {
		d.free = append(d.free, id)
		return -1
	}
	return gpu.Location(id)
}

// Uniform1f sets a uniform.
func (d *Device) Uniform1f(at gpu.Location, v float32) {
	if at >= 0 {
		d.buffer.put(opUniform1f, uint32(at), float(v))
	}
}

// Uniform4f sets a uniform.
func (d *Device) Uniform4f(at gpu.Location, v [4]float32) {
	if at >= 0 {
		d.buffer.put(opUniform4f, uint32(at), float(v[0]), float(v[1]), float(v[2]), float(v[3]))
	}
}

// UniformMatrix sets a uniform.
func (d *Device) UniformMatrix(at gpu.Location, m *[16]float32) {
	if at < 0 {
		return
	}
	d.buffer.put(opUniformMatrix, uint32(at))
	for _, v := range m {
		d.buffer.words = append(d.buffer.words, float(v))
	}
}

// Viewport draws into so many pixels.
func (d *Device) Viewport(width, height int) {
	d.buffer.put(opViewport, uint32(width), uint32(height))
}

// Clear clears what is bound.
func (d *Device) Clear(color *[4]float32, depth bool) {
	c := [4]float32{}
	if color != nil {
		c = *color
	}
	d.buffer.put(opClear, bit(color != nil), float(c[0]), float(c[1]), float(c[2]), float(c[3]), bit(depth))
}

// DepthTest says whether what is nearer hides.
func (d *Device) DepthTest(on bool) { d.buffer.put(opDepthTest, bit(on)) }

// DepthWrite says whether depths are noted.
func (d *Device) DepthWrite(on bool) { d.buffer.put(opDepthWrite, bit(on)) }

// DepthFar says where the far plane is.
func (d *Device) DepthFar(reversed bool) { d.buffer.put(opDepthFar, bit(reversed)) }

// DepthClamp keeps what lies before the near plane; see CLAMP_NEAR.
func (d *Device) DepthClamp(on bool) {
	if d.depthClamp {
		d.buffer.put(opDepthClamp, bit(on))
	}
}

// DepthOffset moves depths.
func (d *Device) DepthOffset(slope, constant float32) {
	d.buffer.put(opDepthOffset, float(slope), float(constant))
}

// Blend says how colours are added.
func (d *Device) Blend(m gpu.BlendMode) { d.buffer.put(opBlend, uint32(m)) }

// Cull says which faces are left out.
func (d *Device) Cull(m gpu.CullMode) { d.buffer.put(opCull, uint32(m)) }

// Mirrored says that front faces run clockwise.
func (d *Device) Mirrored(on bool) { d.buffer.put(opMirrored, bit(on)) }

// AlphaToCoverage makes alpha the share of samples.
func (d *Device) AlphaToCoverage(on bool) { d.buffer.put(opCoverage, bit(on)) }

// SRGB does nothing: the framebuffer decides.
func (d *Device) SRGB(bool) {}

// Wireframe draws edges.
func (d *Device) Wireframe(on bool, slope, constant float32) {
	d.buffer.put(opWireframe, bit(on), float(slope), float(constant))
}

// DrawTriangle draws a triangle without vertices.
func (d *Device) DrawTriangle() { d.buffer.put(opDrawTriangle) }

// DrawLines draws vertices as lines.
func (d *Device) DrawLines(first, count int) {
	d.buffer.put(opDrawLines, uint32(first), uint32(count))
}

// DrawTriangles draws indices.
func (d *Device) DrawTriangles(count int) { d.buffer.put(opDrawTriangles, uint32(count)) }

// SetCommands brings commands into the form of WEBGL_multi_draw. The record is the
// number of the command.
func (d *Device) SetCommands(_ int, commands []uint32) {
	n := len(commands) / gpu.CommandWords
	d.calls, d.starts = d.calls[:0], n
	for _, word := range [...]int{0, 2, 1} { // indices, the first one, instances
		for c := commands; len(c) > 0; c = c[gpu.CommandWords:] {
			v := int32(c[word])
			if word == 2 {
				v *= 4 // bytes
			}
			d.calls = append(d.calls, v)
		}
	}
	if n > 0 {
		d.buffer.put(opCommands, uint32(n), d.buffer.address(bytesOf(d.calls)))
	}
}

// DrawCommands draws commands.
func (d *Device) DrawCommands(first, count int, _ bool) (calls int) {
	d.buffer.put(opDrawCommands, uint32(first), uint32(count))
	if d.MultiDraw {
		return 1
	}
	return count
}

func bytesOf[T int32 | uint32](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), 4*len(s))
}

// NewTexture makes a texture with all its layers and levels.
func (d *Device) NewTexture(i *gpu.TextureInfo, layers int) gpu.Texture {
	id := d.newID()
	d.buffer.put(opNewTexture, id, internalFormat(i), bit(i.Encoding != texfile.RGBA8), uint32(i.Levels), uint32(i.Width), uint32(i.Height), uint32(layers), uint32(i.Anisotropy))
	return gpu.Texture(id)
}

// internalFormat returns how WebGL calls the way in which a texture is stored.
func internalFormat(i *gpu.TextureInfo) uint32 {
	const (
		rgba8, srgb8         = 0x8058, 0x8C43
		bc5, bc7, bc7SRGB    = 0x8DBD, 0x8E8C, 0x8E8D // EXT_texture_compression_rgtc, _bptc
		astc4x4, astc4x4SRGB = 0x93B0, 0x93D0         // WEBGL_compressed_texture_astc; further sizes follow
	)
	switch {
	case i.Encoding.ASTC() && i.SRGB:
		return astc4x4SRGB + uint32(i.Encoding-texfile.ASTC4x4)
	case i.Encoding.ASTC():
		return astc4x4 + uint32(i.Encoding-texfile.ASTC4x4)
	case i.Encoding == texfile.BC5:
		return bc5
	case i.Encoding == texfile.BC7 && i.SRGB:
		return bc7SRGB
	case i.Encoding == texfile.BC7:
		return bc7
	case i.SRGB:
		return srgb8
	}
	return rgba8
}

// NewAtlas makes a texture of one channel.
func (d *Device) NewAtlas(width, height int, pix []byte) gpu.Texture {
	id := d.newID()
	d.buffer.put(opNewAtlas, id, uint32(width), uint32(height), d.buffer.address(pix))
	d.flush()
	return gpu.Texture(id)
}

// WriteRows stores rows of a level of a layer at once.
func (d *Device) WriteRows(t gpu.Texture, _ *gpu.TextureInfo, layer, level, y, width, height int, data []byte) {
	d.buffer.put(opWriteTexture, uint32(t), uint32(layer), uint32(level), uint32(y), uint32(width), uint32(height), d.buffer.address(data), uint32(len(data)))
	d.flush()
}

// CopyTexture is not there.
func (d *Device) CopyTexture(gpu.Layer, gpu.Layer, *gpu.TextureInfo, int) {
	panic("textures of WebGL cannot be copied")
}

// DeleteTexture deletes a texture.
func (d *Device) DeleteTexture(t gpu.Texture) { d.remove(uint32(t)) }

// BindTexture binds a texture to a unit.
func (d *Device) BindTexture(unit int, t gpu.Texture) {
	d.buffer.put(opBindTexture, uint32(unit), uint32(t))
}

// BindAtlas binds a texture of one channel to a unit: what kind a texture is of, the
// browser's side knows.
func (d *Device) BindAtlas(unit int, t gpu.Texture) { d.BindTexture(unit, t) }

// NewShadowMaps makes layers of depths and their framebuffers.
func (d *Device) NewShadowMaps(edge, layers, unit int) (gpu.Texture, []gpu.Framebuffer, error) {
	id := d.newID()
	// Ids in a row.
	first := d.last + 1
	d.last += uint32(layers)
	fbos := make([]gpu.Framebuffer, layers)
	for i := range fbos {
		fbos[i] = gpu.Framebuffer(first + uint32(i))
	}
	d.buffer.put(opNewMaps, id, uint32(edge), uint32(layers), uint32(unit), first)
	return gpu.Texture(id), fbos, d.Err()
}

// BindShadowMaps binds layers of depths to a unit.
func (d *Device) BindShadowMaps(unit int, t gpu.Texture) {
	d.buffer.put(opBindMaps, uint32(unit), uint32(t))
}

// DeleteFramebuffers deletes framebuffers.
func (d *Device) DeleteFramebuffers(list []gpu.Framebuffer) {
	for _, f := range list {
		d.remove(uint32(f))
	}
}

// BindFramebuffer makes a framebuffer the place to draw.
func (d *Device) BindFramebuffer(f gpu.Framebuffer) { d.buffer.put(opBindFrame, uint32(f)) }

// target is the gpu.Target.
type target struct {
	d  *Device
	id uint32
}

// NewTarget makes the framebuffers that a picture passes.
func (d *Device) NewTarget(width, height, samples int) (gpu.Target, error) {
	t := target{d, d.newID()}
	d.buffer.put(opNewTarget, t.id, uint32(width), uint32(height), uint32(samples))
	if err := d.Err(); err != nil {
		t.Close()
		return nil, fmt.Errorf("no framebuffer of %d x %d pixels with %d samples: %w", width, height, samples, err)
	}
	return t, nil
}

func (t target) BindScene()              { t.d.buffer.put(opBindScene, t.id) }
func (t target) BindPicture()            { t.d.buffer.put(opBindPicture, t.id) }
func (t target) Resolve()                { t.d.buffer.put(opResolve, t.id) }
func (t target) Present(gpu.Framebuffer) { t.d.buffer.put(opPresent, t.id) }
func (t target) Close()                  { t.d.remove(t.id) }

func (t target) Read(pix []byte) {
	t.d.flush()
	t.d.port.read(t.id, pix)
}
