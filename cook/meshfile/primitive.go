package meshfile

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/internal/gltfdoc"
	"github.com/untoldkit/untold/cook/internal/texture"
	"github.com/untoldkit/untold/internal/glb"
)

// The views of the buffer, by what their elements are.
const (
	viewVec3 = iota // 3 float32
	viewPair        // 2 float32, or 4 uint16
	viewIndices
)

var viewStrides = [...]int{viewVec3: 12, viewPair: 8, viewIndices: 0}

// vertex is a vertex as it is stored, with the bits of its numbers; equal ones are one.
type vertex [9]uint32

// Where the parts of a vertex lie.
const (
	atPosition = 0
	atNormal   = 3
	atUV       = 6
	atColor    = 8
)

// primitive writes the triangles of b.tris that have one material, and returns the
// primitive of a mesh that shows them.
func (b *builder) primitive(m uint32, list []int32) ([]byte, error) {
	if most := b.opts.memory() / (objectBytes / 4); int64(b.accessorCount) > most {
		return nil, &gltfscene.Error{
			Reason: fmt.Sprintf("its objects and pieces use materials more than %d times", most/4),
			Hint:   "join materials, divide the file, or cook where there is more memory", Err: gltfscene.ErrTooLarge,
		}
	}
	normals, uvs, colors := false, false, b.colors.n > 0
	for _, i := range list {
		t := &b.tris[i]
		normals = normals || t.smooth != flat
		colors = colors || t.color != 0
		for _, c := range t.corners {
			normals, uvs = normals || c.n > 0, uvs || c.t > 0
		}
	}
	b.verts.Reset(3 * len(list))
	indices := make([]byte, 0, 12*len(list))
	for _, i := range list {
		t := &b.tris[i]
		p, err := b.cornersOf(t)
		if err != nil {
			return nil, err
		}
		face := faceNormal(&p)
		for k, c := range t.corners {
			var v vertex
			for i, x := range p[k] {
				v[atPosition+i] = gltfdoc.Bits(x)
			}
			if normals {
				n, err := b.normal(c, t.smooth, face)
				if err != nil {
					return nil, err
				}
				for i, x := range n {
					v[atNormal+i] = gltfdoc.Bits(x)
				}
			}
			if c.t > 0 {
				at, err := b.texcoords.at(int64(c.t) - 1)
				if err != nil {
					return nil, err
				}
				v[atUV] = gltfdoc.Bits(math.Float32frombits(binary.LittleEndian.Uint32(at)))
				v[atUV+1] = gltfdoc.Bits(float32(1 - float64(math.Float32frombits(binary.LittleEndian.Uint32(at[4:])))))
			}
			if colors {
				if v[atColor] = t.color; t.color == 0 && b.colors.n > 0 {
					at, err := b.colors.at(int64(c.v) - 1)
					if err != nil {
						return nil, err
					}
					v[atColor] = binary.LittleEndian.Uint32(at)
				} else if t.color == 0 {
					v[atColor] = binary.LittleEndian.Uint32(white)
				}
			}
			indices = binary.LittleEndian.AppendUint32(indices, b.verts.Number(&v))
		}
	}
	if colors && m > 0 && b.library[b.materials[m-1]] != nil && b.allBlack() {
		// Some programs write so where only others of the file's objects have colours.
		colors = false
		b.note("black-colors-skipped", false, b.materials[m-1], "vertex colours that are black throughout were left out where there is a material")
	}
	out := []byte(`{"attributes":{"POSITION":`)
	add := func(view, component int, kind string, normalized bool, of func(buf []byte, v *vertex) []byte, extent string) {
		out = strconv.AppendInt(out, int64(b.accessor(view, component, len(b.verts.List), kind, normalized, extent)), 10)
		b.each(of)
	}
	add(viewVec3, glb.ComponentF32, "VEC3", false, words(atPosition, 3), b.verts.Extent())
	if normals {
		out = append(out, `,"NORMAL":`...)
		add(viewVec3, glb.ComponentF32, "VEC3", false, words(atNormal, 3), "")
	}
	if uvs {
		out = append(out, `,"TEXCOORD_0":`...)
		add(viewPair, glb.ComponentF32, "VEC2", false, words(atUV, 2), "")
	}
	if colors {
		out = append(out, `,"COLOR_0":`...)
		add(viewPair, glb.ComponentU16, "VEC4", true, func(buf []byte, v *vertex) []byte {
			c := v[atColor]
			for range 3 { // alpha is no light
				buf = binary.LittleEndian.AppendUint16(buf, texture.Linear16(uint8(c)))
				c >>= 8
			}
			return binary.LittleEndian.AppendUint16(buf, uint16(c)*257)
		}, "")
	}
	out = append(out, `},"indices":`...)
	out = strconv.AppendInt(out, int64(b.accessor(viewIndices, glb.ComponentU32, len(indices)/4, "SCALAR", false, "")), 10)
	if err := b.write(indices); err != nil {
		return nil, err
	}
	out = append(out, `,"material":`...)
	return append(strconv.AppendInt(out, int64(b.materialIndex(m)), 10), '}'), nil
}

// allBlack reports whether no vertex has a colour but black.
func (b *builder) allBlack() bool {
	for i := range b.verts.List {
		if b.verts.List[i][atColor]&0xFFFFFF != 0 {
			return false
		}
	}
	return true
}

// words returns what appends some words of a vertex.
func words(at, n int) func(buf []byte, v *vertex) []byte {
	return func(buf []byte, v *vertex) []byte {
		for _, w := range v[at : at+n] {
			buf = binary.LittleEndian.AppendUint32(buf, w)
		}
		return buf
	}
}

// each writes a part of every vertex. An error of the file sticks to the writer.
func (b *builder) each(of func(buf []byte, v *vertex) []byte) {
	buf := b.scratch[:0]
	for i := range b.verts.List {
		if buf = of(buf, &b.verts.List[i]); len(buf) > 64<<10 {
			b.write(buf) //nolint:errcheck // the last write says it again
			buf = buf[:0]
		}
	}
	b.write(buf) //nolint:errcheck // as above
	b.scratch = buf
}

func (b *builder) write(data []byte) error {
	b.n += int64(len(data))
	_, err := b.out.Write(data)
	return gltfdoc.Working(err)
}

// accessor adds one for what is written next, and returns its number.
func (b *builder) accessor(view, component, count int, kind string, normalized bool, extent string) int {
	b.accessors = gltfdoc.AppendElement(b.accessors, gltfdoc.Accessor(view, b.n, component, count, kind, normalized, extent))
	b.accessorCount++
	return b.accessorCount - 1
}

// cornersOf returns the positions of a triangle.
func (b *builder) cornersOf(t *triangle) (p [3][3]float32, err error) {
	for k, c := range t.corners {
		if p[k], err = b.position(c.v); err != nil {
			return p, err
		}
	}
	return p, nil
}
