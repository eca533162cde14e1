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
//	uint32    vertices, triangles, flags (1: normals, 2: texture coordinates,
//	          4: colours, 8: groups)
//	float32   3 per vertex: positions
//	float32   3 per vertex: normals, if flagged
//	float32   2 per vertex: texture coordinates, if flagged
//	float32   4 per vertex: linear colours, if flagged
//	uint32    3 per triangle: indices
//	uint32    1 per triangle: groups, if flagged
const (
	magic      = "LODM"
	hasNormals = 1
	hasUV      = 2
	hasColors  = 4
	hasGroups  = 8
	allFlags   = hasNormals | hasUV | hasColors | hasGroups
)

// Write writes a mesh for other tools.
func Write(w io.Writer, m *Mesh) error {
	b := bufio.NewWriterSize(w, 1<<16)
	flags := uint32(0)
	for _, f := range []struct {
		flag uint32
		has  bool
	}{{hasNormals, m.Normals != nil}, {hasUV, m.UV != nil}, {hasColors, m.Colors != nil}, {hasGroups, m.Groups != nil}} {
		if f.has {
			flags |= f.flag
		}
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
	for _, c := range m.Colors {
		for _, v := range c {
			put(math.Float32bits(v))
		}
	}
	for _, i := range m.Indices {
		put(i)
	}
	for _, g := range m.Groups {
		put(uint32(g))
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
	perVertex, perTriangle := uint64(12), uint64(12)
	for _, f := range []struct {
		flag uint32
		to   *uint64
		size uint64
	}{{hasNormals, &perVertex, 12}, {hasUV, &perVertex, 8}, {hasColors, &perVertex, 16}, {hasGroups, &perTriangle, 4}} {
		if flags&f.flag != 0 {
			*f.to += f.size
		}
	}
	size := 16 + perVertex*uint64(vertices) + perTriangle*uint64(triangles)
	if flags > allFlags || uint64(len(data)) != size {
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
	if flags&hasColors != 0 {
		m.Colors = make([][4]float32, vertices)
		for i := range m.Colors {
			m.Colors[i] = [4]float32{number(), number(), number(), number()}
		}
	}
	for i := range m.Indices {
		if m.Indices[i] = word(); m.Indices[i] >= vertices {
			return nil, fmt.Errorf("index %d of an exchanged mesh is %d, of %d vertices", i, m.Indices[i], vertices)
		}
	}
	if flags&hasGroups != 0 {
		m.Groups = make([]int32, triangles)
		for i := range m.Groups {
			m.Groups[i] = int32(word())
		}
	}
	return m, nil
}
