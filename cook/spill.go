package cook

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"sync"

	"github.com/untoldkit/untold/cook/mesh"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/scratch"
)

// spillFile is a temporary file for meshes that there is no room for. It consists of
// blocks, which are used again once what lies in them is let go of. The zero value is
// ready; the file is made when the first mesh is written. It is safe for use by several
// goroutines.
type spillFile struct {
	mu     sync.Mutex
	file   *os.File
	free   []int64 // blocks, by number
	blocks int64   // of the file
}

// spillBlock is the size of a block, in bytes.
const spillBlock = 1 << 18

// spilled is the meshes of one owner in a spillFile, one behind the other. It is not safe
// for use by several goroutines.
type spilled struct {
	to     *spillFile
	blocks []int64
	end    int64 // bytes that are written
}

// spilledMesh says where a mesh lies, from a byte of its owner's on, and how many
// elements each of its lists has.
type spilledMesh struct {
	at    int64
	count meshCounts
}

// meshCounts are the numbers of positions, normals, tangents, both sets of texture
// coordinates, colours and indices.
type meshCounts [7]int

func countsOf(m *mesh.Mesh) meshCounts {
	return meshCounts{len(m.Positions), len(m.Normals), len(m.Tangents), len(m.UV[0]), len(m.UV[1]), len(m.Colors), len(m.Indices)}
}

// bytes is the size of all lists in the file, which is that in memory.
func (c *meshCounts) bytes() (n int64) {
	for i, size := range [...]int64{24, 12, 16, 8, 8, 16, 4} {
		n += int64(c[i]) * size
	}
	return n
}

// close removes the file.
func (f *spillFile) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file != nil {
		scratch.Close(f.file)
		f.file = nil
	}
}

// block returns the number of a block that nobody uses.
func (f *spillFile) block() (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		var err error
		if f.file, err = scratch.File("untold-pieces-"); err != nil {
			return 0, err
		}
	}
	if n := len(f.free); n > 0 {
		b := f.free[n-1]
		f.free = f.free[:n-1]
		return b, nil
	}
	f.blocks++
	return f.blocks - 1, nil
}

// drop gives the blocks back.
func (s *spilled) drop() {
	if s.to == nil {
		return
	}
	s.to.mu.Lock()
	defer s.to.mu.Unlock()
	s.to.free = append(s.to.free, s.blocks...)
	s.blocks, s.end = nil, 0
}

// spillBuffers are for the bytes of one mesh.
var spillBuffers = sync.Pool{New: func() any { return new([]byte) }}

// write puts a mesh behind those that are there.
func (s *spilled) write(m *mesh.Mesh) (spilledMesh, error) {
	buf := spillBuffers.Get().(*[]byte)
	defer spillBuffers.Put(buf)
	b := (*buf)[:0]
	for i := range m.Positions {
		for _, v := range m.Positions[i] {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
	}
	for i := range m.Normals {
		b = appendFloats(b, m.Normals[i][:])
	}
	for i := range m.Tangents {
		b = appendFloats(b, m.Tangents[i][:])
	}
	for _, set := range m.UV {
		for i := range set {
			b = appendFloats(b, set[i][:])
		}
	}
	for i := range m.Colors {
		b = appendFloats(b, m.Colors[i][:])
	}
	for _, v := range m.Indices {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	*buf = b
	out := spilledMesh{s.end, countsOf(m)}
	err := s.each(s.end, b, func(f *os.File, b []byte, off int64) error {
		_, err := f.WriteAt(b, off)
		return err
	})
	s.end += int64(len(b))
	if err != nil {
		return out, fmt.Errorf("cook: pieces of an object that lies in several tiles do not fit into a temporary file (another folder for them: TMPDIR): %w", err)
	}
	return out, nil
}

// read returns a mesh that was written.
func (s *spilled) read(at *spilledMesh) (*mesh.Mesh, error) {
	buf := spillBuffers.Get().(*[]byte)
	defer spillBuffers.Put(buf)
	n := int(at.count.bytes())
	if cap(*buf) < n {
		*buf = make([]byte, n)
	}
	b := (*buf)[:n]
	err := s.each(at.at, b, func(f *os.File, b []byte, off int64) error {
		got, err := f.ReadAt(b, off)
		if got == len(b) {
			return nil
		}
		if err == nil || err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("cook: pieces of an object in a temporary file: %w", err)
	}
	m, c := &mesh.Mesh{}, &at.count
	if c[0] > 0 {
		m.Positions = make([]geom.Vec3, c[0])
	}
	for i := range m.Positions {
		for k := range m.Positions[i] {
			m.Positions[i][k] = math.Float64frombits(binary.LittleEndian.Uint64(b))
			b = b[8:]
		}
	}
	m.Normals, b = takeFloats(b, c[1], func(v *[3]float32) []float32 { return v[:] })
	m.Tangents, b = takeFloats(b, c[2], func(v *[4]float32) []float32 { return v[:] })
	for set := range m.UV {
		m.UV[set], b = takeFloats(b, c[3+set], func(v *[2]float32) []float32 { return v[:] })
	}
	m.Colors, b = takeFloats(b, c[5], func(v *[4]float32) []float32 { return v[:] })
	m.Indices = make([]uint32, c[6])
	for i := range m.Indices {
		m.Indices[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return m, nil
}

// each calls f for the runs of bytes from at on, with where in the file they lie. Blocks
// are added as needed.
func (s *spilled) each(at int64, b []byte, f func(file *os.File, b []byte, off int64) error) error {
	for len(b) > 0 {
		k := int(at / spillBlock)
		if k == len(s.blocks) {
			number, err := s.to.block()
			if err != nil {
				return err
			}
			s.blocks = append(s.blocks, number)
		}
		from := at % spillBlock
		n := int(min(int64(len(b)), spillBlock-from))
		if err := f(s.to.file, b[:n], s.blocks[k]*spillBlock+from); err != nil {
			return err
		}
		at, b = at+int64(n), b[n:]
	}
	return nil
}

func appendFloats(b []byte, list []float32) []byte {
	for _, v := range list {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

// takeFloats takes n vectors from the front of b, nil for none.
func takeFloats[V any](b []byte, n int, parts func(*V) []float32) ([]V, []byte) {
	if n == 0 {
		return nil, b
	}
	out := make([]V, n)
	for i := range out {
		list := parts(&out[i])
		for k := range list {
			list[k] = math.Float32frombits(binary.LittleEndian.Uint32(b))
			b = b[4:]
		}
	}
	return out, b
}
