// Package draco decodes the triangle meshes of the glTF extension
// KHR_draco_mesh_compression.
//
// It implements version 2.2 of the Draco bitstream, the one that the extension
// demands: sequential and edgebreaker connectivity (standard and valence
// traversal), attributes of all kinds with attribute seams, both codings of
// symbols and the prediction schemes that encoders of this version write. What
// only older versions of the format use is refused by ErrUnsupported.
//
// Streams are taken for hostile: an entropy coder can claim any number of
// symbols with a few bytes, so Decode works within Limits that the caller
// knows from elsewhere, and every table that it allocates counts against them.
// The result is the same on every machine: float products are never fused.
package draco

import (
	"errors"
	"fmt"
)

// The kinds of failure, for errors.Is. Every error of this package wraps one.
var (
	// ErrMalformed: the stream breaks a rule of the bitstream, typically
	// because it was cut off or overwritten.
	ErrMalformed = errors.New("draco: malformed stream")
	// ErrUnsupported: a point cloud, or a part of another bitstream version.
	ErrUnsupported = errors.New("draco: unsupported stream")
	// ErrTooLarge: the mesh would exceed the Limits.
	ErrTooLarge = errors.New("draco: mesh exceeds the limits")
)

// Limits bound the mesh that Decode may build and by that its memory, which
// is at most some kilobytes for each face and point.
type Limits struct {
	Faces  int   // triangles
	Points int   // vertices
	Bytes  int64 // of all tables and the result; 0 for what follows from the others
}

// Kind is the meaning of an attribute.
type Kind uint8

// The kinds of attributes; others count as Generic.
const (
	Position Kind = iota
	Normal
	Color
	TexCoord
	Generic
)

// Type is the type of an attribute's components.
type Type uint8

// The types of components.
const (
	Int8 Type = iota + 1
	Uint8
	Int16
	Uint16
	Int32
	Uint32
	Int64
	Uint64
	Float32
	Float64
	Bool
)

var typeSizes = [...]int{
	Int8: 1, Uint8: 1, Int16: 2, Uint16: 2, Int32: 4, Uint32: 4,
	Int64: 8, Uint64: 8, Float32: 4, Float64: 8, Bool: 1,
}

// Size returns the bytes of one component, 0 for an unknown type.
func (t Type) Size() int {
	if int(t) < len(typeSizes) {
		return typeSizes[t]
	}
	return 0
}

// Attribute is one attribute of every point.
type Attribute struct {
	ID         uint32 // what the attributes property of the extension names
	Kind       Kind
	Type       Type
	Components int
	Normalized bool
	// Data holds the elements of all points, tightly packed, little-endian.
	Data []byte
}

// Mesh is a decoded mesh. Points and faces are in the order of the reference
// decoder.
type Mesh struct {
	Points     int
	Indices    []uint32 // three per face, below Points
	Attributes []Attribute
	// Took is how many bytes were allocated for the tables that outlive a step of the
	// decoder, and for the result.
	Took int64
}

// Attribute returns the attribute of an id, nil if there is none.
func (m *Mesh) Attribute(id uint32) *Attribute {
	for i := range m.Attributes {
		if m.Attributes[i].ID == id {
			return &m.Attributes[i]
		}
	}
	return nil
}

// decoder is the state of one Decode.
type decoder struct {
	*reader
	limits Limits
	points int
	// index holds the point of each corner.
	index []int32
	eb    *edgebreaker // nil for sequential connectivity
	decs  []*attDecoder
	atts  []*attribute
}

// Decode decodes a mesh. It does not keep src. The error wraps ErrMalformed,
// ErrUnsupported or ErrTooLarge.
func Decode(src []byte, limits Limits) (*Mesh, error) {
	// Counts are int32 inside, and corners three per face.
	const most = 1<<31/3 - 1
	limits.Faces = max(0, min(limits.Faces, most))
	limits.Points = max(0, min(limits.Points, most))
	budget := 1<<20 + 1024*int64(limits.Faces) + 512*int64(limits.Points)
	if limits.Bytes > 0 {
		budget = min(budget, limits.Bytes)
	}
	d := &decoder{limits: limits, reader: &reader{data: src, budget: budget}}
	d.decode()
	if d.err != nil {
		return nil, d.err
	}
	m, err := d.mesh()
	if err == nil {
		m.Took = max(0, budget-d.budget)
	}
	return m, err
}

// decode runs the steps of the format in order; errors stick in the reader.
func (d *decoder) decode() {
	method := d.header()
	if d.err != nil {
		return
	}
	if method == 0 {
		d.sequential()
	} else {
		d.eb = &edgebreaker{decoder: d}
		d.eb.decode()
	}
	if d.err == nil && d.points > d.limits.Points {
		d.tooLarge("%d points, the limit is %d", d.points, d.limits.Points)
	}
	if d.err == nil {
		d.attributes()
	}
}

// header reads the header and skips metadata.
func (d *decoder) header() (method uint8) {
	if magic := d.take(5); d.err != nil || string(magic) != "DRACO" {
		d.fail("does not begin with DRACO")
		return 0
	}
	major, minor := d.u8(), d.u8()
	kind, method, flags := d.u8(), d.u8(), d.u16()
	switch {
	case d.err != nil:
	case major != 2 || minor != 2:
		d.unsupported("bitstream version %d.%d, only 2.2 is known", major, minor)
	case kind != 1:
		d.unsupported("geometry type %d, only triangle meshes are known", kind)
	case method > 1:
		d.unsupported("mesh encoding %d", method)
	case flags&0x8000 != 0:
		d.skipMetadata()
	}
	return method
}

// skipMetadata skips names and values that do not change the mesh.
func (d *decoder) skipMetadata() {
	for n := d.varint(); n > 0 && d.err == nil; n-- {
		d.varint() // attribute id
		d.skipMetadataElement(0)
	}
	d.skipMetadataElement(0)
}

func (d *decoder) skipMetadataElement(depth int) {
	if depth > 100 {
		d.fail("metadata is nested too deeply")
		return
	}
	for n := d.varint(); n > 0 && d.err == nil; n-- {
		d.take(uint64(d.u8()))
		d.take(uint64(d.varint()))
	}
	for n := d.varint(); n > 0 && d.err == nil; n-- {
		d.take(uint64(d.u8()))
		d.skipMetadataElement(depth + 1)
	}
}

// mesh assembles the result.
func (d *decoder) mesh() (*Mesh, error) {
	m := &Mesh{Points: d.points, Indices: alloc[uint32](d.reader, len(d.index))}
	if d.err != nil {
		return nil, d.err
	}
	for i, p := range d.index {
		if int(p) >= d.points || p < 0 {
			return nil, fmt.Errorf("%w: index %d of %d points", ErrMalformed, p, d.points)
		}
		m.Indices[i] = uint32(p)
	}
	for _, a := range d.atts {
		out, err := a.expand(d)
		if err != nil {
			return nil, err
		}
		m.Attributes = append(m.Attributes, out)
	}
	return m, nil
}
