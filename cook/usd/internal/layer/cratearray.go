package layer

import (
	"encoding/binary"
	"math"
	"slices"
)

// decode decodes as many elements as there are bytes for.
func decode(b []byte, e element) *Numbers {
	out := &Numbers{Width: e.width}
	switch e.form {
	case 'b':
		out.Int = make([]int64, len(b))
		for i, v := range b {
			out.Int[i] = int64(v)
		}
	case 'i', 'u':
		out.Int = make([]int64, len(b)/4)
		for i := range out.Int {
			if v := binary.LittleEndian.Uint32(b[4*i:]); e.form == 'i' {
				out.Int[i] = int64(int32(v))
			} else {
				out.Int[i] = int64(v)
			}
		}
	case 'I', 'U':
		out.Int = make([]int64, len(b)/8)
		for i := range out.Int {
			v := binary.LittleEndian.Uint64(b[8*i:])
			if e.form == 'U' && v > math.MaxInt64 {
				return decodeHuge(b, e)
			}
			out.Int[i] = int64(v)
		}
	case 'h':
		out.F32 = make([]float32, len(b)/2)
		for i := range out.F32 {
			out.F32[i] = float32(half(binary.LittleEndian.Uint16(b[2*i:])))
		}
	case 'f':
		out.F32 = make([]float32, len(b)/4)
		for i := range out.F32 {
			out.F32[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		}
	case 'd':
		out.F64 = make([]float64, len(b)/8)
		for i := range out.F64 {
			out.F64[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
		}
	}
	if e.quat { // x, y, z, w become w, x, y, z
		for i := 0; i+3 < len(out.F32); i += 4 {
			q := out.F32[i : i+4]
			q[0], q[1], q[2], q[3] = q[3], q[0], q[1], q[2]
		}
		for i := 0; i+3 < len(out.F64); i += 4 {
			q := out.F64[i : i+4]
			q[0], q[1], q[2], q[3] = q[3], q[0], q[1], q[2]
		}
	}
	return out
}

// decodeHuge decodes whole numbers without signs of which some are beyond 2^63, nearly.
func decodeHuge(b []byte, e element) *Numbers {
	out := &Numbers{Width: e.width, F64: make([]float64, len(b)/8)}
	for i := range out.F64 {
		out.F64[i] = float64(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return out
}

// half decodes a number of 16 bits.
func half(h uint16) float64 {
	exp, frac := int(h>>10&31), float64(h&1023)
	v := 0.0
	switch exp {
	case 0:
		v = frac / (1 << 24)
	case 31:
		if v = math.Inf(1); frac > 0 {
			v = math.NaN()
		}
	default:
		v = (1 + float64(frac/1024)) * math.Float64frombits(uint64(exp-15+1023)<<52)
	}
	if h>>15 != 0 {
		v = -v
	}
	return v
}

// leastPacked is how many elements an array has to be packed.
const leastPacked = 16

// array reads an array of numbers, texts, tokens or names of files.
func (c *crate) array(r valueRep, e element) (Value, error) {
	if r.payload() == 0 {
		return &Numbers{Width: max(e.width, 1), Array: true, F64: []float64{}}, nil
	}
	in := &cursor{c, r.payload()}
	if c.version < 0<<16|5<<8 { // the number of dimensions, always 1
		in.at += 4
	}
	var n uint64
	if c.version < 0<<16|7<<8 {
		v, err := in.u32()
		if err != nil {
			return nil, err
		}
		n = uint64(v)
	} else {
		var err error
		if n, err = in.u64(); err != nil {
			return nil, err
		}
	}
	place := at(r.payload(), "")
	left := uint64(max(c.size-in.at, 0))
	if e.width == 0 {
		if n > left/4 {
			return nil, malformed(place, "states %d elements, %d bytes are left", n, left)
		}
		if err := c.charge(2 * elementCost * int64(n)); err != nil {
			return nil, err
		}
		return in.wordArray(r.kind(), n)
	}
	packed := r.packed() && n >= leastPacked && e.width == 1 && e.form != 'b'
	if !packed && n > left/uint64(e.size()) {
		return nil, malformed(place, "states %d elements, %d bytes are left", n, left)
	}
	if n > uint64(c.memory/8) {
		return nil, tooLarge(place, int64(min(n, 1<<40))*8)
	}
	if err := c.charge(int64(n) * max(e.size(), 8)); err != nil {
		return nil, err
	}
	if packed {
		return in.packedArray(e, n)
	}
	b, err := in.take(int64(n) * e.size())
	if err != nil {
		return nil, err
	}
	out := decode(b, e)
	out.Array = true
	return out, nil
}

func (c *cursor) wordArray(kind byte, n uint64) (Value, error) {
	out := []string{}
	for range n {
		s, err := c.name(kind == typeToken)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	switch kind {
	case typeString, typeToken:
		return out, nil
	case typeAsset:
		list := make([]Asset, n)
		for i, s := range out {
			list[i] = Asset(s)
		}
		return list, nil
	}
	return nil, nil
}

// packedArray reads whole numbers as differences, floating ones as whole ones or as indices
// into a table.
func (c *cursor) packedArray(e element, n uint64) (Value, error) {
	start := c.at
	out := &Numbers{Width: 1, Array: true}
	var err error
	switch e.form {
	case 'i', 'u', 'I', 'U':
		if out.Int, err = c.packedInts(n, int(e.size())); err != nil {
			return nil, err
		}
		for i := range out.Int {
			if e.form == 'u' {
				out.Int[i] = int64(uint32(out.Int[i]))
			}
		}
		if e.form == 'U' && len(out.Int) > 0 && slices.Min(out.Int) < 0 { // beyond 2^63: nearly
			out.F64 = make([]float64, len(out.Int))
			for i, v := range out.Int {
				out.F64[i] = float64(uint64(v))
			}
			out.Int = nil
		}
		return out, nil
	}
	code, err := c.take(1)
	if err != nil {
		return nil, err
	}
	var table *Numbers
	switch code[0] {
	case 'i':
	case 't':
		size, err := c.u32()
		if err != nil {
			return nil, err
		}
		b, err := c.take(int64(size) * e.size())
		if err != nil {
			return nil, err
		}
		table = decode(b, e)
	default:
		return nil, malformed(at(start, ""), "numbers are packed in way %q", code)
	}
	list, err := c.packedInts(n, 4)
	if err != nil {
		return nil, err
	}
	number := func(v int64) (float64, error) {
		if table == nil {
			return float64(v), nil
		}
		if v < 0 || v >= int64(table.Flat()) {
			return 0, malformed(at(start, ""), "number %d of a table of %d is named", v, table.Flat())
		}
		return table.At(int(v)), nil
	}
	if e.form == 'd' {
		out.F64 = make([]float64, n)
	} else {
		out.F32 = make([]float32, n)
	}
	for i, v := range list {
		x, err := number(v)
		if err != nil {
			return nil, err
		}
		if e.form == 'd' {
			out.F64[i] = x
		} else {
			out.F32[i] = float32(x)
		}
	}
	return out, nil
}
