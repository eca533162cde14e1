//go:build cgo && !nopreview

package render

import (
	"unsafe"

	"github.com/go-gl/gl/v4.1-core/gl"
)

// materialBuffer holds the materials of all representations, as a buffer that
// shaders fetch from.
type materialBuffer struct {
	list            freeList
	buffer, texture uint32
}

const materialBytes = 4 * materialFloats

// write stores packed materials and returns where.
func (m *materialBuffer) write(s *staging, packed []float32) span {
	n := len(packed) / materialFloats
	at, ok := m.list.alloc(n)
	if !ok {
		m.grow(n)
		at, _ = m.list.alloc(n)
	}
	s.copyTo(m.buffer, at.at*materialBytes, unsafe.Slice((*byte)(unsafe.Pointer(&packed[0])), n*materialBytes))
	return at
}

// duplicate stores a copy of a material and returns where.
func (m *materialBuffer) duplicate(i int) span {
	at, ok := m.list.alloc(1)
	if !ok {
		m.grow(1)
		at, _ = m.list.alloc(1)
	}
	gl.BindBuffer(gl.COPY_READ_BUFFER, m.buffer)
	gl.BindBuffer(gl.COPY_WRITE_BUFFER, m.buffer)
	gl.CopyBufferSubData(gl.COPY_READ_BUFFER, gl.COPY_WRITE_BUFFER, i*materialBytes, at.at*materialBytes, materialBytes)
	return at
}

// grow makes room for at least n more.
func (m *materialBuffer) grow(n int) {
	old := m.list.size
	size := max(1024, 2*old)
	for size-old < n {
		size *= 2
	}
	var buffer uint32
	gl.GenBuffers(1, &buffer)
	gl.BindBuffer(gl.COPY_WRITE_BUFFER, buffer)
	gl.BufferData(gl.COPY_WRITE_BUFFER, size*materialBytes, nil, gl.STATIC_DRAW)
	if old > 0 {
		gl.BindBuffer(gl.COPY_READ_BUFFER, m.buffer)
		gl.CopyBufferSubData(gl.COPY_READ_BUFFER, gl.COPY_WRITE_BUFFER, 0, 0, old*materialBytes)
		gl.DeleteBuffers(1, &m.buffer)
	} else {
		gl.GenTextures(1, &m.texture)
	}
	m.buffer = buffer
	gl.ActiveTexture(gl.TEXTURE0 + unitScratch)
	gl.BindTexture(gl.TEXTURE_BUFFER, m.texture)
	gl.TexBuffer(gl.TEXTURE_BUFFER, gl.RGBA32F, m.buffer)
	m.list.size = size
	m.list.used += size - old // release takes it off again
	m.list.release(span{old, size - old})
}

func (m *materialBuffer) close() {
	gl.DeleteBuffers(1, &m.buffer)
	gl.DeleteTextures(1, &m.texture)
}
