package layer

import "encoding/binary"

// Crates before version 0.4 have the same sections as later ones, as they lie in memory:
// nothing is packed, and lists of records begin with their number. Those of 0.0 begin
// records of paths and specs with 4 bytes of padding; fields do so in all of them.

// packedFrom and tightFrom are the first versions with packed sections, and without padding.
const (
	packedFrom = 0<<16 | 4<<8
	tightFrom  = 0<<16 | 1<<8
)

// padding is how many bytes paths and specs begin with that say nothing.
func (c *crate) padding() int64 {
	if c.version < tightFrom {
		return 4
	}
	return 0
}

// records reads the number of records of so many bytes, and them.
func (c *cursor) records(each int64) (n int64, b []byte, err error) {
	if n, err = c.count(each); err != nil {
		return 0, nil, err
	}
	b, err = c.take(n * each)
	return n, b, err
}

func (c *crate) oldTokens(in *cursor) error {
	start := in.at
	n, err := in.u64()
	if err != nil {
		return err
	}
	_, text, err := in.records(1)
	if err != nil {
		return err
	}
	return c.splitTokens(start, n, text)
}

func (c *crate) oldFields(in *cursor) error {
	const size = 16 // padding, token, value
	n, b, err := in.records(size)
	if err != nil {
		return err
	}
	c.fields = make([]field, n)
	for i := range c.fields {
		c.fields[i] = field{binary.LittleEndian.Uint32(b[size*i+4:]), valueRep(binary.LittleEndian.Uint64(b[size*i+8:]))}
	}
	return nil
}

func (c *crate) oldFieldSets(in *cursor) error {
	n, b, err := in.records(4)
	if err != nil {
		return err
	}
	c.fieldSets = make([]uint32, n)
	for i := range c.fieldSets {
		c.fieldSets[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return nil
}

func (c *crate) oldSpecs(in *cursor) error {
	start := in.at
	size := c.padding() + 12
	n, b, err := in.records(size)
	if err != nil {
		return err
	}
	c.specs = make([]spec, n)
	for i := range c.specs {
		r := b[size*int64(i)+c.padding():]
		s := spec{binary.LittleEndian.Uint32(r), binary.LittleEndian.Uint32(r[4:]), binary.LittleEndian.Uint32(r[8:])}
		if err := c.checkSpec(start, i, s); err != nil {
			return err
		}
		c.specs[i] = s
	}
	return nil
}

// Bits of a path's record.
const (
	hasChild   = 1
	hasSibling = 2
	isProperty = 4
)

// oldPaths reads the tree of paths: a child follows its parent's record, and so does a
// sibling where there is no child. Where there are both, the place of the sibling in the
// file stands in between.
func (c *crate) oldPaths(in *cursor) error {
	start := in.at
	size := c.padding() + 12 // path, token, bits, 3 bytes of padding
	most, err := in.count(size)
	if err != nil {
		return err
	}
	if most*size > c.memory {
		return tooLarge(at(start, "PATHS"), most*size)
	}
	c.paths = make([]pathNode, most)
	for i := range c.paths {
		c.paths[i].parent = noPath
	}
	type branch struct {
		at     int64
		parent int32
	}
	stack := []branch{{in.at, rootPath}}
	for first := true; len(stack) > 0 && most > 0; {
		b := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for in.at = b.at; ; first = false {
			r, err := in.take(size)
			if err != nil {
				return err
			}
			r = r[c.padding():]
			i, token, bits := binary.LittleEndian.Uint32(r), binary.LittleEndian.Uint32(r[4:]), r[8]
			// No path comes twice, so the tree ends.
			if int64(i) >= most || c.paths[i].parent != noPath {
				return malformed(at(start, "PATHS"), "the record at byte %d is path %d of %d, or one that is there", in.at-size, i, most)
			}
			p := pathNode{parent: b.parent}
			if !first {
				if int64(token) >= int64(len(c.tokens)) {
					return malformed(at(start, "PATHS"), "path %d names token %d of %d", i, token, len(c.tokens))
				}
				p.token, p.property = token, bits&isProperty != 0
			}
			c.paths[i] = p
			if bits&hasSibling != 0 && b.parent == rootPath {
				return malformed(at(start, "PATHS"), "there is more than one root")
			}
			if bits&(hasChild|hasSibling) == hasChild|hasSibling {
				sibling, err := in.u64()
				if err != nil {
					return err
				}
				if sibling > uint64(c.size) {
					return malformed(at(start, "PATHS"), "a path is at byte %d of %d", sibling, c.size)
				}
				stack = append(stack, branch{int64(sibling), b.parent})
			}
			if bits&hasChild != 0 {
				b.parent = int32(i)
			}
			if bits&(hasChild|hasSibling) == 0 {
				break
			}
		}
	}
	return nil
}
