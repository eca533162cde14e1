package render

import "github.com/untoldkit/untold/preview/internal/gpu"

// materialBuffer holds the materials of all representations, as a table that
// shaders fetch from.
type materialBuffer struct {
	list  freeList
	table gpu.Table
}

const materialBytes = 4 * materialFloats

// write stores packed materials and returns where.
func (m *materialBuffer) write(packed []float32) span {
	at := m.take(len(packed) / materialFloats)
	m.table.Write(at.at*materialBytes, bytesOf(packed[:at.n*materialFloats]))
	return at
}

// duplicate stores a copy of a material and returns where.
func (m *materialBuffer) duplicate(i int) span {
	at := m.take(1)
	m.table.Copy(at.at*materialBytes, i*materialBytes, materialBytes)
	return at
}

// take finds room for n.
func (m *materialBuffer) take(n int) span {
	at, ok := m.list.alloc(n)
	if !ok {
		m.grow(n)
		at, _ = m.list.alloc(n)
	}
	return at
}

// grow makes room for at least n more.
func (m *materialBuffer) grow(n int) {
	old := m.list.size
	size := max(1024, 2*old)
	for size-old < n {
		size *= 2
	}
	m.table.Grow(size * materialBytes)
	m.list.size = size
	m.list.used += size - old // release takes it off again
	m.list.release(span{old, size - old})
}
