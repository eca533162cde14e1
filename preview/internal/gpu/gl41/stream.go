//go:build cgo && !nopreview

package gl41

import (
	"unsafe"

	"github.com/go-gl/gl/v4.1-core/gl"

	"github.com/untoldkit/untold/preview/internal/gpu"
)

// stream is data that is written anew every frame: as many buffers as there
// are frames in flight, each mapped for good where the driver can, else mapped
// when it is written. Neither waits: the caller has, for the frame's fence.
type stream struct {
	target     uint32
	format     uint32 // of the buffer texture; 0: none
	unit       uint32 // that shaders read it at
	floor      int    // bytes to begin with, so that a scene that comes rarely makes it grow
	persistent bool
	buffers    [gpu.InFlight]streamBuffer
}

type streamBuffer struct {
	buffer, texture uint32
	size            int
	mapped          unsafe.Pointer
}

// write stores data for a frame and leaves the buffer bound to its target. The
// caller has waited until the GPU is done with the frame that used it last.
func (s *stream) write(frame int, data []byte) *streamBuffer {
	b := &s.buffers[frame]
	n := len(data)
	if n > b.size || b.buffer == 0 {
		s.grow(b, n)
	}
	gl.BindBuffer(s.target, b.buffer)
	switch {
	case n == 0:
	case b.mapped != nil:
		copy(unsafe.Slice((*byte)(b.mapped), n), data)
	default:
		writeMapped(s.target, 0, data)
	}
	return b
}

// Write is the gpu.Stream.
func (s *stream) Write(at int, data []byte) {
	b := s.write(at, data)
	switch {
	case s.format != 0:
		gl.ActiveTexture(gl.TEXTURE0 + s.unit)
		gl.BindTexture(gl.TEXTURE_BUFFER, b.texture)
	case s.target == gl.UNIFORM_BUFFER:
		gl.BindBufferBase(gl.UNIFORM_BUFFER, 0, b.buffer)
	}
}

// Close is the gpu.Stream.
func (s *stream) Close() { s.close() }

// NewUniforms makes the values of the uniform block.
func (d *Device) NewUniforms() gpu.Stream {
	return &stream{target: gl.UNIFORM_BUFFER, persistent: d.caps.PersistentMap}
}

// NewRecords makes a buffer texture.
func (d *Device) NewRecords(f gpu.TexelFormat, unit, floor int) gpu.Stream {
	format := uint32(gl.RGBA32F)
	if f == gpu.RGBA32UI {
		format = gl.RGBA32UI
	}
	return &stream{target: gl.TEXTURE_BUFFER, format: format, unit: uint32(unit), floor: floor, persistent: d.caps.PersistentMap}
}

// SetCommands stores the commands where the driver reads them, or keeps them for
// DrawCommands.
func (d *Device) SetCommands(at int, commands []uint32) {
	if !d.caps.MultiDraw {
		d.words = commands
		return
	}
	d.commands.write(at, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(commands))), 4*len(commands)))
}

// grow replaces a buffer by a larger one.
func (s *stream) grow(b *streamBuffer, n int) {
	size := max(4096, s.floor, 2*b.size)
	for size < n {
		size *= 2
	}
	s.drop(b)
	gl.GenBuffers(1, &b.buffer)
	gl.BindBuffer(s.target, b.buffer)
	b.size = size
	if s.persistent {
		const flags = gl.MAP_WRITE_BIT | gl.MAP_PERSISTENT_BIT | gl.MAP_COHERENT_BIT
		gl.BufferStorage(s.target, size, nil, flags)
		b.mapped = gl.MapBufferRange(s.target, 0, size, flags)
	} else {
		gl.BufferData(s.target, size, nil, gl.STREAM_DRAW)
	}
	if s.format != 0 {
		gl.GenTextures(1, &b.texture)
		gl.ActiveTexture(gl.TEXTURE0 + scratchUnit)
		gl.BindTexture(gl.TEXTURE_BUFFER, b.texture)
		gl.TexBuffer(gl.TEXTURE_BUFFER, s.format, b.buffer)
	}
}

func (s *stream) drop(b *streamBuffer) {
	if b.buffer != 0 {
		gl.DeleteBuffers(1, &b.buffer)
	}
	if b.texture != 0 {
		gl.DeleteTextures(1, &b.texture)
	}
	*b = streamBuffer{}
}

func (s *stream) close() {
	for i := range s.buffers {
		s.drop(&s.buffers[i])
	}
}
