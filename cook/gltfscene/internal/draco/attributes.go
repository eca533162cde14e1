package draco

import (
	"encoding/binary"
	"fmt"
	"math"
)

// How the values of an attribute are coded.
const (
	codedRaw = iota
	codedInteger
	codedQuantized
	codedNormal
)

// attribute is an attribute while it is decoded.
type attribute struct {
	Attribute
	dec   *attDecoder
	coded uint8

	raw    []byte  // codedRaw: the elements
	values []int32 // else: integers, width per element
	width  int

	bits     int // codedQuantized and codedNormal
	low      []float32
	spread   float32
	position *attribute // for predictions from geometry
}

// attDecoder is a group of attributes with the same order of values.
type attDecoder struct {
	t       *table // nil for sequential connectivity
	order   order
	count   int     // values
	ofPoint []int32 // the value of each point, nil for the same number
	atts    []*attribute
}

// attributes decodes all attributes.
func (d *decoder) attributes() {
	n := int(d.u8())
	type head struct {
		data           int8
		corner, degree uint8
	}
	heads := make([]head, n)
	used := make(map[int8]bool)
	for i := range heads {
		if d.eb == nil {
			break
		}
		h := head{int8(d.u8()), d.u8(), d.u8()}
		heads[i] = h
		if h.data >= 0 && int(h.data) >= len(d.eb.cuts) || h.corner > 1 || h.degree > 1 ||
			h.corner == 1 && (h.degree != 0 || h.data < 0) || used[max(h.data, -1)] {
			d.fail("attribute decoder %d is not possible", i)
		}
		used[max(h.data, -1)] = true
	}
	for range n {
		dec := &attDecoder{}
		d.decs = append(d.decs, dec)
		d.describe(dec)
		if d.err != nil {
			return
		}
	}
	for i, dec := range d.decs {
		if d.eb == nil {
			dec.count = d.points
		} else {
			dec.t = &d.eb.base
			if heads[i].corner == 1 {
				dec.t = d.eb.cuts[heads[i].data]
			}
			d.arrange(dec, heads[i].degree == 1)
		}
		for _, a := range dec.atts {
			d.values(a)
		}
		for _, a := range dec.atts {
			d.parameters(a)
		}
		if d.err != nil {
			return
		}
	}
}

// describe reads what the attributes of a group are.
func (d *decoder) describe(dec *attDecoder) {
	n := d.count("attributes", len(d.data)/6)
	for range n {
		a := &attribute{dec: dec}
		kind := d.u8()
		a.Kind = Kind(min(kind, uint8(Generic)))
		a.Type = Type(d.u8())
		a.Components = int(d.u8())
		a.Normalized = d.u8() != 0
		a.ID = d.varint()
		if d.err == nil && (a.Type.Size() == 0 || a.Components == 0) {
			d.fail("an attribute has %d components of type %d", a.Components, a.Type)
		}
		dec.atts = append(dec.atts, a)
		d.atts = append(d.atts, a)
	}
	for _, a := range dec.atts {
		a.coded = d.u8()
		ok := true
		switch a.coded {
		case codedRaw:
		case codedInteger:
			ok = a.Type <= Uint32
		case codedQuantized:
			ok = a.Type == Float32
		case codedNormal:
			ok = a.Type == Float32 && a.Components == 3
		default:
			ok = false
		}
		if !ok {
			d.fail("coding %d of type %d is not possible", a.coded, a.Type)
		}
	}
}

// arrange determines the order of a group's values.
func (d *decoder) arrange(dec *attDecoder, byDegree bool) {
	dec.order = d.eb.traverse(dec.t, byDegree)
	dec.count = len(dec.order.corner)
	dec.ofPoint = alloc[int32](d.reader, d.points)
	if d.err != nil {
		return
	}
	if dec.count > d.points {
		d.fail("an attribute has %d values for %d points", dec.count, d.points)
		return
	}
	for c, p := range d.index {
		v := dec.order.value[dec.t.vert[c]]
		if v < 0 || int(p) >= d.points {
			d.fail("corner %d has no value", c)
			return
		}
		dec.ofPoint[p] = v
	}
}

// values reads the values of a.
func (d *decoder) values(a *attribute) {
	if a.coded == codedRaw {
		a.raw = d.take(uint64(a.dec.count) * uint64(a.Components*a.Type.Size()))
		return
	}
	a.width = a.Components
	if a.coded == codedNormal {
		a.width = 2
	}
	method, kind := int8(d.u8()), transformNone
	if method != methodNone {
		kind = int8(d.u8())
	}
	p := d.predictor(a, method, kind)
	n := a.dec.count * a.width
	symbols := d.integers(n, a.width)
	a.values = alloc[int32](d.reader, n)
	if d.err != nil {
		return
	}
	for i, s := range symbols {
		a.values[i] = int32(s)
		if p == nil || kind == transformWrap {
			a.values[i] = signed(s)
		}
	}
	if p != nil {
		p.read()
		if d.err == nil && n > 0 {
			p.run()
		}
	}
}

// integers reads n numbers, coded or plain.
func (d *decoder) integers(n, group int) []uint32 {
	if d.u8() != 0 {
		return d.symbols(n, group)
	}
	size := int(d.u8())
	if size < 1 || size > 4 {
		d.fail("numbers of %d bytes", size)
		return nil
	}
	b := d.take(uint64(n) * uint64(size))
	out := alloc[uint32](d.reader, n)
	for i := range out {
		for j := range size {
			out[i] |= uint32(b[i*size+j]) << (8 * j)
		}
	}
	return out
}

// parameters reads what turns integers into floats.
func (d *decoder) parameters(a *attribute) {
	switch a.coded {
	case codedQuantized:
		for range a.Components {
			a.low = append(a.low, d.f32())
		}
		a.spread = d.f32()
		if a.bits = int(d.u8()); a.bits < 1 || a.bits > 30 {
			d.fail("quantization to %d bits", a.bits)
		}
	case codedNormal:
		if a.bits = int(d.u8()); a.bits < 2 || a.bits > 30 {
			d.fail("normals of %d bits", a.bits)
		}
	}
}

// expand returns the attribute with an element for each point.
func (a *attribute) expand(d *decoder) (Attribute, error) {
	size := a.Components * a.Type.Size()
	out := a.Attribute
	out.Data = alloc[uint8](d.reader, size*d.points)
	if d.err != nil {
		return out, d.err
	}
	put := a.writer()
	for p := range d.points {
		v := p
		if a.dec.ofPoint != nil {
			v = int(a.dec.ofPoint[p])
		}
		if v >= a.dec.count {
			return out, fmt.Errorf("%w: point %d has no value", ErrMalformed, p)
		}
		put(out.Data[p*size:(p+1)*size], v)
	}
	return out, nil
}

// writer returns the function that writes element v.
func (a *attribute) writer() func(to []byte, v int) {
	switch a.coded {
	case codedRaw:
		return func(to []byte, v int) { copy(to, a.raw[v*len(to):]) }
	case codedNormal:
		return func(to []byte, v int) {
			for i, f := range unitVector(a.values[2*v], a.values[2*v+1], a.bits) {
				binary.LittleEndian.PutUint32(to[4*i:], math.Float32bits(f))
			}
		}
	case codedQuantized:
		step := a.spread / float32(int32(1)<<a.bits-1)
		return func(to []byte, v int) {
			for i, low := range a.low {
				f := float32(float32(a.values[v*a.width+i])*step) + low
				binary.LittleEndian.PutUint32(to[4*i:], math.Float32bits(f))
			}
		}
	}
	n := a.Type.Size()
	return func(to []byte, v int) {
		for i := range a.Components {
			x := uint32(a.values[v*a.width+i])
			for j := range n {
				to[i*n+j] = byte(x >> (8 * j))
			}
		}
	}
}
