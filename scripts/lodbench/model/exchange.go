package model

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/untoldkit/untold/internal/geom"
)

// The exchange format, all little-endian:
//
//	4 bytes   "LODM"
//	uint32    vertices, triangles, flags (1: normals, 2: texture coordinates)
//	float32   3 per vertex: positions
//	float32   3 per vertex: normals, if flagged
//	float32   2 per vertex: texture coordinates, if flagged
//	uint32    3 per triangle: indices
const (
	magic      = "LODM"
	hasNormals = 1
	hasUV      = 2
)

// Write writes a mesh for other tools.
func Write(w io.Writer, m *Mesh) error {
	b := bufio.NewWriterSize(w, 1<<16)
	flags := uint32(0)
	if m.Normals != nil {
		flags |= hasNormals
	}
	if m.UV != nil {
		flags |= hasUV
	}
	var word [4]byte
	put := func(v uint32) {
		binary.LittleEndian.PutUint32(word[:], v)
		b.Write(word[:]) //nolint:errcheck // Flush returns the first error
	}
	b.WriteString(magic) //nolint:errcheck // as above
	put(uint32(len(m.Positions)))
	put(uint32(m.Triangles()))
	put(flags)
	for _, p := range m.Positions {
		for _, v := range p {
			put(math.Float32bits(float32(v)))
		}
	}
	for _, n := range m.Normals {
		for _, v := range n {
			put(math.Float32bits(v))
		}
	}
	for _, t := range m.UV {
		for _, v := range t {
			put(math.Float32bits(v))
		}
	}
	for _, i := range m.Indices {
		put(i)
	}
	return b.Flush()
}

// Read reads what Write or another tool wrote.
func Read(r io.Reader) (*Mesh, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	if len(data) < 16 || string(data[:4]) != magic {
		return nil, errors.New("not an exchanged mesh")
	}
	at := 4
	word := func() uint32 {
		v := binary.LittleEndian.Uint32(data[at:])
		at += 4
		return v
	}
	number := func() float32 { return math.Float32frombits(word()) }
	vertices, triangles, flags := word(), word(), word()
	size := 16 + 12*uint64(vertices)*uint64(1+flags&hasNormals) + 12*uint64(triangles)
	if flags&hasUV != 0 {
		size += 8 * uint64(vertices)
	}
	if flags > hasNormals|hasUV || uint64(len(data)) != size {
		return nil, fmt.Errorf("an exchanged mesh of %d vertices and %d triangles has %d bytes, not %d", vertices, triangles, size, len(data))
	}
	m := &Mesh{Positions: make([]geom.Vec3, vertices), Indices: make([]uint32, 3*uint64(triangles))}
	for i := range m.Positions {
		m.Positions[i] = geom.FromF32([3]float32{number(), number(), number()})
	}
	if flags&hasNormals != 0 {
		m.Normals = make([][3]float32, vertices)
		for i := range m.Normals {
			m.Normals[i] = [3]float32{number(), number(), number()}
		}
	}
	if flags&hasUV != 0 {
		m.UV = make([][2]float32, vertices)
		for i := range m.UV {
			m.UV[i] = [2]float32{number(), number()}
		}
	}
	for i := range m.Indices {
		if m.Indices[i] = word(); m.Indices[i] >= vertices {
			return nil, fmt.Errorf("index %d of an exchanged mesh is %d, of %d vertices", i, m.Indices[i], vertices)
		}
	}
	return m, nil
}
