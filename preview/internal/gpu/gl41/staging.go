//go:build cgo && !nopreview

package gl41

import (
	"unsafe"

	"github.com/go-gl/gl/v4.1-core/gl"
)

// stagingBytes is how much may be on its way to the GPU: what the frames in
// flight have been given, and the one that is being prepared.
const stagingBytes = 16 << 20

// staging is memory that the GPU copies from by itself. Writing straight to a
// buffer or texture that an earlier frame still draws from would make the driver
// wait for that frame, or copy once more; here a place is written again only
// when the fence of the frame that used it was passed.
type staging struct {
	ring
	buffer uint32
	mapped unsafe.Pointer // for good; nil: mapped for each write
}

func (s *staging) init(persistent bool) {
	s.ring = ring{size: stagingBytes}
	gl.GenBuffers(1, &s.buffer)
	gl.BindBuffer(gl.COPY_READ_BUFFER, s.buffer)
	if persistent {
		const flags = gl.MAP_WRITE_BIT | gl.MAP_PERSISTENT_BIT | gl.MAP_COHERENT_BIT
		gl.BufferStorage(gl.COPY_READ_BUFFER, s.size, nil, flags|gl.CLIENT_STORAGE_BIT)
		s.mapped = gl.MapBufferRange(gl.COPY_READ_BUFFER, 0, s.size, flags)
		return
	}
	gl.BufferData(gl.COPY_READ_BUFFER, s.size, nil, gl.STREAM_DRAW)
}

// write stores data and returns where. It is false when there is no room.
func (s *staging) write(data []byte) (at int, ok bool) {
	if at, ok = s.take(len(data)); !ok {
		return 0, false
	}
	if s.mapped != nil {
		copy(unsafe.Slice((*byte)(unsafe.Add(s.mapped, at)), len(data)), data)
		return at, true
	}
	gl.BindBuffer(gl.COPY_READ_BUFFER, s.buffer)
	return at, writeMapped(gl.COPY_READ_BUFFER, at, data)
}

// writeMapped stores data in the bound buffer at a place that the GPU does not
// use.
func writeMapped(target uint32, at int, data []byte) bool {
	p := gl.MapBufferRange(target, at, len(data), gl.MAP_WRITE_BIT|gl.MAP_INVALIDATE_RANGE_BIT|gl.MAP_UNSYNCHRONIZED_BIT)
	if p == nil {
		return false
	}
	copy(unsafe.Slice((*byte)(p), len(data)), data)
	return gl.UnmapBuffer(target)
}

// copyTo stores data in a buffer that the GPU alone may write. Where there is no
// room it goes by way of a buffer of its own.
func (s *staging) copyTo(buffer uint32, offset int, data []byte) {
	if len(data) == 0 {
		return
	}
	at, ok := s.write(data)
	if ok {
		gl.BindBuffer(gl.COPY_READ_BUFFER, s.buffer)
	} else {
		var own uint32
		gl.GenBuffers(1, &own)
		defer gl.DeleteBuffers(1, &own) // once the copy is done
		gl.BindBuffer(gl.COPY_READ_BUFFER, own)
		gl.BufferData(gl.COPY_READ_BUFFER, len(data), unsafe.Pointer(&data[0]), gl.STREAM_COPY)
		at = 0
	}
	// Not through the element array target, which belongs to a vertex array.
	gl.BindBuffer(gl.COPY_WRITE_BUFFER, buffer)
	gl.CopyBufferSubData(gl.COPY_READ_BUFFER, gl.COPY_WRITE_BUFFER, at, offset, len(data))
}

func (s *staging) close() {
	gl.DeleteBuffers(1, &s.buffer)
	*s = staging{}
}
