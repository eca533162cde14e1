package layer

import (
	"math"
	"slices"
)

// valueRep says what a value is and where: its type, whether it is an array, is in the rep
// itself, is packed, and 48 bits of payload.
type valueRep uint64

func (r valueRep) array() bool    { return r>>63&1 != 0 }
func (r valueRep) inlined() bool  { return r>>62&1 != 0 }
func (r valueRep) packed() bool   { return r>>61&1 != 0 }
func (r valueRep) edit() bool     { return r>>60&1 != 0 }
func (r valueRep) kind() byte     { return byte(r >> 48) }
func (r valueRep) payload() int64 { return int64(r & (1<<48 - 1)) }

// The types of values.
const (
	typeBool        = 1
	typeUChar       = 2
	typeInt         = 3
	typeUInt        = 4
	typeInt64       = 5
	typeUInt64      = 6
	typeHalf        = 7
	typeFloat       = 8
	typeDouble      = 9
	typeString      = 10
	typeToken       = 11
	typeAsset       = 12
	typeMatrix2     = 13
	typeMatrix3     = 14
	typeMatrix4     = 15
	typeQuatd       = 16
	typeQuatf       = 17
	typeQuath       = 18
	typeVec2d       = 19 // and f, h, i; then of 3 and of 4
	typeVec4i       = 30
	typeDict        = 31
	typeTokenList   = 32
	typeStringList  = 33
	typePathList    = 34
	typeRefList     = 35
	typeIntList     = 36 // then of 8 bytes, and both without signs
	typeUInt64List  = 39
	typePathVector  = 40
	typeTokenVector = 41
	typeSpecifier   = 42
	typeVariability = 44
	typeSelections  = 45
	typeSamples     = 46
	typePayload     = 47
	typeDoubles     = 48
	typeStrings     = 50
	typeBlock       = 51
	typeAnyValue    = 52
	typePayloadList = 55
	typeTimeCode    = 56
)

// element is how a number of a type is stored.
type element struct {
	form  byte // 'b' 1 byte, 'i' and 'u' 4, 'I' and 'U' 8, 'h' 2, 'f' 4, 'd' 8
	width int
	quat  bool // x, y, z, w
}

func (e element) size() int64 {
	n := map[byte]int64{'b': 1, 'i': 4, 'u': 4, 'I': 8, 'U': 8, 'h': 2, 'f': 4, 'd': 8}[e.form]
	return n * int64(e.width)
}

// elementOf returns what values of a type consist of; width 0 where they are no numbers.
func elementOf(kind byte) element {
	switch kind {
	case typeBool, typeUChar:
		return element{'b', 1, false}
	case typeInt:
		return element{'i', 1, false}
	case typeUInt:
		return element{'u', 1, false}
	case typeInt64:
		return element{'I', 1, false}
	case typeUInt64:
		return element{'U', 1, false}
	case typeHalf:
		return element{'h', 1, false}
	case typeFloat:
		return element{'f', 1, false}
	case typeDouble, typeTimeCode:
		return element{'d', 1, false}
	case typeMatrix2:
		return element{'d', 4, false}
	case typeMatrix3:
		return element{'d', 9, false}
	case typeMatrix4:
		return element{'d', 16, false}
	case typeQuatd:
		return element{'d', 4, true}
	case typeQuatf:
		return element{'f', 4, true}
	case typeQuath:
		return element{'h', 4, true}
	}
	if kind >= typeVec2d && kind <= typeVec4i {
		return element{"dfhi"[(kind-typeVec2d)%4], 2 + int(kind-typeVec2d)/4, false}
	}
	return element{}
}

func (c *crate) token(i uint32) (string, error) {
	if int64(i) >= int64(len(c.tokens)) {
		return "", malformed("", "token %d of %d is named", i, len(c.tokens))
	}
	return c.tokens[i], nil
}

func (c *crate) text(i uint32) (string, error) {
	if int64(i) >= int64(len(c.strings)) {
		return "", malformed("", "text %d of %d is named", i, len(c.strings))
	}
	return c.token(c.strings[i])
}

// value decodes a value, with what is not read here as nil.
func (c *crate) value(r valueRep, depth int) (Value, error) {
	if depth > maxDepth {
		return nil, malformed(at(r.payload(), ""), "values nest more than %d levels", maxDepth)
	}
	if r.edit() {
		return nil, nil
	}
	e := elementOf(r.kind())
	if err := c.charge(valueCost + 8*int64(e.width)); err != nil {
		return nil, err
	}
	in := &cursor{c, r.payload()}
	switch {
	case r.array():
		return c.array(r, e)
	case e.width > 0 && r.inlined():
		return c.inlined(r, e)
	case e.width > 0:
		b, err := in.take(e.size())
		if err != nil {
			return nil, err
		}
		n := decode(b, e)
		if e.width > 1 {
			return n, nil
		}
		return single(n, r.kind()), nil
	}
	index := uint32(r.payload())
	switch r.kind() {
	case typeString:
		return c.text(index)
	case typeToken:
		s, err := c.token(index)
		return Token(s), err
	case typeAsset:
		s, err := c.token(index)
		return Asset(s), err
	case typeSpecifier, typeVariability:
		return int64(index), nil
	case typeBlock:
		return nil, nil
	case typeDict:
		if r.inlined() {
			return Dict{}, nil
		}
		return in.dict(depth + 1)
	case typeTokenVector, typeStrings:
		return in.words(r.kind() == typeTokenVector)
	case typeTokenList, typeStringList:
		var l ListOp[string]
		err := listIn(in, &l, 4, func() (string, error) { return in.name(r.kind() == typeTokenList) })
		if err != nil {
			return nil, err
		}
		return l, nil
	case typeIntList, typeIntList + 1, typeIntList + 2, typeUInt64List:
		e := elementOf([]byte{typeInt, typeInt64, typeUInt, typeUInt64}[r.kind()-typeIntList])
		var l ListOp[int64]
		err := listIn(in, &l, e.size(), func() (int64, error) {
			b, err := in.take(e.size())
			if err != nil {
				return 0, err
			}
			n := decode(b, e)
			if n.Int == nil {
				return -1, nil // beyond what an id can be
			}
			return n.Int[0], nil
		})
		if err != nil {
			return nil, err
		}
		return l, nil
	case typePathList:
		var l ListOp[string]
		if err := listIn(in, &l, 4, in.path); err != nil {
			return nil, err
		}
		return l, nil
	case typePathVector:
		var l ListOp[string]
		l.Explicit = true
		err := vector(in, &l.Items, 4, in.path)
		return l, err
	case typeRefList:
		var l ListOp[Reference]
		if err := listIn(in, &l, 32, func() (Reference, error) { return in.reference(true, depth+1) }); err != nil {
			return nil, err
		}
		return l, nil
	case typePayloadList:
		var l ListOp[Reference]
		if err := listIn(in, &l, 8, func() (Reference, error) { return in.reference(false, depth+1) }); err != nil {
			return nil, err
		}
		return l, nil
	case typePayload:
		ref, err := in.reference(false, depth+1)
		return ListOp[Reference]{Explicit: true, Items: []Reference{ref}}, err
	case typeSelections:
		return in.selections()
	case typeDoubles:
		n, err := in.count(8)
		if err == nil {
			err = c.charge(8 * n)
		}
		if err != nil {
			return nil, err
		}
		b, err := in.take(8 * n)
		if err != nil {
			return nil, err
		}
		return decode(b, element{'d', 1, false}), nil
	case typeAnyValue:
		return in.any(depth + 1)
	}
	return nil, nil
}

// any reads a value that stands behind its own bytes.
func (c *cursor) any(depth int) (Value, error) {
	rep, err := c.away()
	if err != nil {
		return nil, err
	}
	return c.value(rep, depth)
}

// away reads the rep of a value that stands behind its own bytes: the distance of the rep is
// first.
func (c *cursor) away() (valueRep, error) {
	start := c.at
	d, err := c.u64()
	if err != nil {
		return 0, err
	}
	if int64(d) < 0 || int64(d) > c.size-start {
		return 0, malformed(at(start, ""), "a value lies %d bytes away", int64(d))
	}
	c.at = start + int64(d)
	rep, err := c.u64()
	return valueRep(rep), err
}

func (c *cursor) name(token bool) (string, error) {
	i, err := c.u32()
	if err != nil {
		return "", err
	}
	if token {
		return c.token(i)
	}
	return c.text(i)
}

func (c *cursor) path() (string, error) {
	i, err := c.u32()
	if err != nil {
		return "", err
	}
	return c.pathText(i)
}

// words reads tokens or texts.
func (c *cursor) words(tokens bool) (Value, error) {
	out := []string{}
	err := vector(c, &out, 4, func() (string, error) { return c.name(tokens) })
	return out, err
}

// dict reads a dictionary. Several may share what is in them, but none may hold itself.
func (c *cursor) dict(depth int) (Value, error) {
	start := c.at
	n, err := c.count(12)
	if err != nil {
		return nil, err
	}
	if depth > maxDepth {
		return nil, malformed(at(c.at, ""), "values nest more than %d levels", maxDepth)
	}
	if slices.Contains(c.dicts, start) {
		return nil, malformed(at(start, ""), "a dictionary is within itself")
	}
	c.dicts = append(c.dicts, start)
	defer func() { c.dicts = c.dicts[:len(c.dicts)-1] }()
	out := Dict{}
	for range n {
		if err := c.charge(entryCost); err != nil {
			return nil, err
		}
		key, err := c.name(false)
		if err != nil {
			return nil, err
		}
		if out[key], err = c.any(depth); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (c *cursor) selections() (Value, error) {
	n, err := c.count(8)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for range n {
		if err := c.charge(entryCost); err != nil {
			return nil, err
		}
		key, err := c.name(false)
		if err != nil {
			return nil, err
		}
		if out[key], err = c.name(false); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// reference reads a reference or a payload. Offsets of time are left out.
func (c *cursor) reference(data bool, depth int) (r Reference, err error) {
	if r.Asset, err = c.name(false); err != nil {
		return r, err
	}
	i, err := c.u32()
	if err != nil {
		return r, err
	}
	if i != noIndex {
		if r.Prim, err = c.pathText(i); err != nil {
			return r, err
		}
	}
	if data || c.version >= 0<<16|8<<8 {
		c.at += 16
	}
	if data {
		_, err = c.dict(depth)
	}
	return r, err
}

// vector reads a list of elements that take at least so many bytes.
func vector[T any](c *cursor, to *[]T, each int64, read func() (T, error)) error {
	n, err := c.count(each)
	if err != nil {
		return err
	}
	for range n {
		if err := c.charge(elementCost + each); err != nil {
			return err
		}
		v, err := read()
		if err != nil {
			return err
		}
		*to = append(*to, v)
	}
	return nil
}

// listIn reads what changes a list: a byte of bits for its parts, and these.
func listIn[T comparable](c *cursor, l *ListOp[T], each int64, read func() (T, error)) error {
	b, err := c.take(1)
	if err != nil {
		return err
	}
	var ordered []T
	l.Explicit = b[0]&1 != 0
	for _, part := range []struct {
		bit byte
		to  *[]T
	}{{2, &l.Items}, {4, &l.Added}, {32, &l.Prepended}, {64, &l.Appended}, {8, &l.Deleted}, {16, &ordered}} {
		if b[0]&part.bit != 0 {
			if err := vector(c, part.to, each, read); err != nil {
				return err
			}
		}
	}
	return nil
}

// inlined decodes numbers that stand in their rep: small ones as they are, doubles as
// floats, elements of vectors and diagonals of matrices as bytes.
func (c *crate) inlined(r valueRep, e element) (Value, error) {
	bits := uint32(r.payload())
	if e.width == 1 {
		switch e.form {
		case 'b':
			if r.kind() == typeBool {
				return bits&0xFF != 0, nil
			}
			return int64(bits & 0xFF), nil
		case 'i', 'I':
			return int64(int32(bits)), nil
		case 'u', 'U':
			return int64(bits), nil
		case 'h':
			return half(uint16(bits)), nil
		}
		return float64(math.Float32frombits(bits)), nil
	}
	out := &Numbers{Width: e.width}
	list := make([]float64, e.width)
	switch r.kind() {
	case typeMatrix2, typeMatrix3, typeMatrix4:
		side := map[byte]int{typeMatrix2: 2, typeMatrix3: 3, typeMatrix4: 4}[r.kind()]
		for i := range side {
			list[i*side+i] = float64(int8(bits >> (8 * i)))
		}
	default:
		for i := range list {
			list[i] = float64(int8(bits >> (8 * i)))
		}
	}
	if out.F64 = list; e.quat {
		out.F64 = []float64{list[3], list[0], list[1], list[2]}
	}
	return out, nil
}

// single is one number.
func single(n *Numbers, kind byte) Value {
	switch {
	case kind == typeBool:
		return n.Int[0] != 0
	case n.Int != nil:
		return n.Int[0]
	}
	return n.At(0)
}
