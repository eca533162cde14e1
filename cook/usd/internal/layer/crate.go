package layer

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
)

// crateMagic begins every crate.
const crateMagic = "PXR-USDC"

// The sizes of what a crate begins with: the magic, a version, the place of the table of
// contents and reserved words; and of an entry of that table.
const (
	bootSize  = 88
	entrySize = 32
)

// oldest and newest are the versions of crates that are read, as major<<16 | minor<<8.
const (
	oldest = 0
	newest = 0<<16 | 13<<8
)

// noIndex ends lists of fields, and stands for what is not there.
const noIndex = 1<<32 - 1

// crate is an open binary layer. Its structure is in memory, values are read when they are
// asked for.
type crate struct {
	r       io.ReaderAt
	size    int64
	memory  int64 // that one list may take
	version int
	budget

	tokens    []string
	strings   []uint32 // tokens
	fields    []field
	fieldSets []uint32
	paths     []pathNode
	specs     []spec
	named     []uint32 // by tokens, the last spec that had a field of that name
}

// field is a named value.
type field struct {
	token uint32
	rep   valueRep
}

// pathNode is a path by its last part; parent is -1 for the root, -2 for one that the file
// does not have.
type pathNode struct {
	parent   int32
	token    uint32
	property bool
}

const (
	rootPath = -1
	noPath   = -2
)

// spec is what the crate says about a path.
type spec struct {
	path, fields uint32
	kind         uint32
}

// The kinds of specs that matter.
const (
	specAttribute    = 1
	specPrim         = 6
	specPseudoRoot   = 7
	specRelationship = 8
	specVariant      = 10
)

// IsCrate reports whether a file that begins so is a crate.
func IsCrate(head []byte) bool {
	return len(head) >= len(crateMagic) && string(head[:len(crateMagic)]) == crateMagic
}

// OpenCrate reads a binary layer of size bytes. r must stay open as long as values are
// read. memory limits, in bytes, what each list of the structure, all values that are kept,
// and each that is read later may take; prims and properties may take twice that. The error is an *Error, ctx's, or one of r.
func OpenCrate(ctx context.Context, r io.ReaderAt, size, memory int64) (*Layer, error) {
	c := &crate{r: r, size: size, memory: memory, budget: newBudget(ctx, size, memory)}
	if err := c.open(); err != nil {
		return nil, err
	}
	return c.tree()
}

func at(offset int64, what string) string {
	if what == "" {
		return fmt.Sprintf("byte %d", offset)
	}
	return fmt.Sprintf("byte %d: %s", offset, what)
}

// bytes reads n bytes.
func (c *crate) bytes(offset, n int64) ([]byte, error) {
	if offset < 0 || n < 0 || offset > c.size || n > c.size-offset {
		return nil, malformed(at(offset, ""), "%d bytes are needed, the file has %d", n, c.size)
	}
	if n > c.memory {
		return nil, tooLarge(at(offset, ""), n)
	}
	b := make([]byte, n)
	if _, err := c.r.ReadAt(b, offset); err != nil && !(err == io.EOF && n == 0) {
		return nil, fmt.Errorf("%s: %w", at(offset, ""), err)
	}
	return b, nil
}

func tooLarge(place string, n int64) error {
	return &Error{Place: place, Reason: fmt.Sprintf("%d bytes are more than the memory allows", n), Err: ErrTooLarge}
}

// cursor reads one thing after the other.
type cursor struct {
	*crate
	at int64
}

func (c *cursor) take(n int64) ([]byte, error) {
	b, err := c.bytes(c.at, n)
	c.at += n
	return b, err
}

func (c *cursor) u32() (uint32, error) {
	b, err := c.take(4)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b), nil
}

func (c *cursor) u64() (uint64, error) {
	b, err := c.take(8)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(b), nil
}

// count reads how many elements follow, of which each takes at least so many bytes of the
// file.
func (c *cursor) count(each int64) (int64, error) {
	n, err := c.u64()
	if err != nil {
		return 0, err
	}
	if n > uint64(c.size) || int64(n)*each > c.size-c.at {
		return 0, malformed(at(c.at-8, ""), "states %d elements, %d bytes are left", n, c.size-c.at)
	}
	return int64(n), nil
}

// open reads everything but values.
func (c *crate) open() error {
	boot, err := c.bytes(0, bootSize)
	if err != nil {
		return err
	}
	if !IsCrate(boot) {
		return malformed("byte 0", "does not begin with %q", crateMagic)
	}
	c.version = int(boot[8])<<16 | int(boot[9])<<8
	if c.version < oldest || c.version > newest {
		return &Error{Place: "byte 8", Reason: fmt.Sprintf("version %d.%d.%d of crates is not read, only 0.0 to 0.13", boot[8], boot[9], boot[10]), Err: ErrUnsupported}
	}
	toc := binary.LittleEndian.Uint64(boot[16:])
	if toc > uint64(c.size) {
		return malformed("byte 16", "the table of contents is at byte %d of %d", toc, c.size)
	}
	in := &cursor{c, int64(toc)}
	n, err := in.count(entrySize)
	if err != nil {
		return err
	}
	sections := map[string]*cursor{}
	for range n {
		e, err := in.take(entrySize)
		if err != nil {
			return err
		}
		name := cString(e[:16])
		start, size := binary.LittleEndian.Uint64(e[16:]), binary.LittleEndian.Uint64(e[24:])
		if start > uint64(c.size) || size > uint64(c.size)-start {
			return malformed(at(in.at-entrySize, ""), "section %q leaves the file", clip(name))
		}
		sections[name] = &cursor{c, int64(start)}
	}
	for _, s := range []struct {
		name      string
		read, old func(*cursor) error
	}{
		{"TOKENS", c.readTokens, c.oldTokens},
		{"STRINGS", c.readStrings, c.readStrings},
		{"FIELDS", c.readFields, c.oldFields},
		{"FIELDSETS", c.readFieldSets, c.oldFieldSets},
		{"PATHS", c.readPaths, c.oldPaths},
		{"SPECS", c.readSpecs, c.oldSpecs},
	} {
		in := sections[s.name]
		if in == nil {
			return malformed(at(int64(toc), ""), "there is no section %s", s.name)
		}
		read := s.read
		if c.version < packedFrom {
			read = s.old
		}
		if err := read(in); err != nil {
			return err
		}
	}
	return nil
}

func cString(b []byte) string {
	for i, v := range b {
		if v == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}

func (c *crate) readTokens(in *cursor) error {
	start := in.at
	n, err := in.u64()
	if err != nil {
		return err
	}
	size, err := in.u64()
	if err != nil {
		return err
	}
	packed, err := in.count(1)
	if err != nil {
		return err
	}
	if size > uint64(c.memory) || !backed(size, packed) {
		return malformed(at(start, "TOKENS"), "states %d bytes in %d", size, packed)
	}
	src, err := in.take(packed)
	if err != nil {
		return err
	}
	text, err := unpack(src, int64(size))
	if err != nil {
		return malformed(at(start, "TOKENS"), "%v", err)
	}
	return c.splitTokens(start, n, text)
}

// tokenCost is what a token takes besides its text, in bytes.
const tokenCost = 16

// splitTokens finds n tokens, each of which ends in a zero.
func (c *crate) splitTokens(start int64, n uint64, text []byte) error {
	if n > uint64(len(text)) {
		return malformed(at(start, "TOKENS"), "states %d tokens in %d bytes", n, len(text))
	}
	if size := int64(n) * tokenCost; size > c.memory {
		return tooLarge(at(start, "TOKENS"), size)
	}
	c.tokens = make([]string, 0, n)
	for len(text) > 0 && uint64(len(c.tokens)) < n {
		s := cString(text)
		c.tokens = append(c.tokens, s)
		text = text[min(len(s)+1, len(text)):]
	}
	if uint64(len(c.tokens)) != n {
		return malformed(at(start, "TOKENS"), "there are %d tokens of %d", len(c.tokens), n)
	}
	return nil
}

func (c *crate) readStrings(in *cursor) error {
	n, err := in.count(4)
	if err != nil {
		return err
	}
	b, err := in.take(4 * n)
	if err != nil {
		return err
	}
	c.strings = make([]uint32, n)
	for i := range c.strings {
		c.strings[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return nil
}

func (c *crate) readFields(in *cursor) error {
	n, err := in.u64()
	if err != nil {
		return err
	}
	names, err := in.packedU32(n, 16)
	if err != nil {
		return err
	}
	packed, err := in.count(1)
	if err != nil {
		return err
	}
	start := in.at
	src, err := in.take(packed)
	if err != nil {
		return err
	}
	if !backed(8*n, packed) {
		return malformed(at(start, "FIELDS"), "states %d values in %d bytes", n, packed)
	}
	reps, err := unpack(src, int64(8*n))
	if err != nil {
		return malformed(at(start, "FIELDS"), "%v", err)
	}
	c.fields = make([]field, n)
	for i := range c.fields {
		c.fields[i] = field{names[i], valueRep(binary.LittleEndian.Uint64(reps[8*i:]))}
	}
	return nil
}

func (c *crate) readFieldSets(in *cursor) error {
	n, err := in.u64()
	if err != nil {
		return err
	}
	c.fieldSets, err = in.packedU32(n, 4)
	return err
}

func (c *crate) readSpecs(in *cursor) error {
	start := in.at
	n, err := in.u64()
	if err != nil {
		return err
	}
	var lists [3][]uint32
	for i := range lists {
		if lists[i], err = in.packedU32(n, 12); err != nil {
			return err
		}
	}
	c.specs = make([]spec, n)
	for i := range c.specs {
		s := spec{lists[0][i], lists[1][i], lists[2][i]}
		if err := c.checkSpec(start, i, s); err != nil {
			return err
		}
		c.specs[i] = s
	}
	return nil
}

func (c *crate) checkSpec(start int64, i int, s spec) error {
	if int64(s.path) >= int64(len(c.paths)) || int64(s.fields) >= int64(len(c.fieldSets)) {
		return malformed(at(start, "SPECS"), "spec %d names path %d of %d, fields %d of %d", i, s.path, len(c.paths), s.fields, len(c.fieldSets))
	}
	return nil
}

// readPaths reads the tree of paths. An entry's jump says where the next ones are: 0 only a
// sibling follows, -1 only a child, -2 neither; else a child follows, and the sibling is so
// many entries ahead.
func (c *crate) readPaths(in *cursor) error {
	start := in.at
	most, err := in.u64()
	if err != nil {
		return err
	}
	n, err := in.u64()
	if err != nil {
		return err
	}
	var lists [3][]uint32
	for i := range lists {
		if lists[i], err = in.packedU32(n, 16); err != nil {
			return err
		}
	}
	// Paths that no entry gives a place do no harm, but take memory.
	if most > n+1<<16 {
		return malformed(at(start, "PATHS"), "states %d paths in %d entries", most, n)
	}
	c.paths = make([]pathNode, most)
	for i := range c.paths {
		c.paths[i].parent = noPath
	}
	type branch struct {
		entry  int64
		parent int32
	}
	seen := make([]bool, n)
	stack := []branch{{0, rootPath}}
	for first := true; len(stack) > 0 && n > 0; {
		b := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for {
			i := b.entry
			if i < 0 || i >= int64(n) || seen[i] {
				return malformed(at(start, "PATHS"), "the tree of paths leads to entry %d of %d", i, n)
			}
			seen[i] = true
			at32, jump := lists[0][i], int64(int32(lists[2][i]))
			if uint64(at32) >= most || c.paths[at32].parent != noPath {
				return malformed(at(start, "PATHS"), "entry %d is path %d of %d, or one that is there", i, at32, most)
			}
			p := pathNode{parent: b.parent}
			if first {
				first = false
			} else {
				token := int64(int32(lists[1][i]))
				if p.property = token < 0; p.property {
					token = -token
				}
				if token >= int64(len(c.tokens)) {
					return malformed(at(start, "PATHS"), "entry %d names token %d of %d", i, token, len(c.tokens))
				}
				p.token = uint32(token)
			}
			c.paths[at32] = p
			child, sibling := jump > 0 || jump == -1, jump >= 0
			if sibling && b.parent == rootPath {
				return malformed(at(start, "PATHS"), "there is more than one root")
			}
			switch {
			case child && sibling:
				stack = append(stack, branch{i + jump, b.parent})
				b = branch{i + 1, int32(at32)}
			case child:
				b = branch{i + 1, int32(at32)}
			case sibling:
				b.entry++
			}
			if !child && !sibling {
				break
			}
		}
	}
	return nil
}
