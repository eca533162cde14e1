package meshfile

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"path"

	"github.com/untoldkit/untold/cook/gltfscene"
)

// plyReader reads a PLY file.
type plyReader struct {
	*soup
	h     *plyHeader
	size  int64
	in    *bufio.Reader
	order binary.ByteOrder // nil for text
	text  *lines
	left  []byte // of the line
	read  int64  // bytes, of a binary file
	buf   [8]byte

	vertices int64 // as the header says
	uvs      bool  // by vertices
	normal   bool
	colored  bool
	corners  []corner
	list     []float64
}

func readPLY(s *soup, in io.Reader, size int64) error {
	r := &plyReader{soup: s, size: size, in: bufio.NewReaderSize(in, 256<<10)}
	var err error
	if r.h, err = readPLYHeader(r.in); err != nil {
		return err
	}
	r.read = r.h.bytes
	switch r.h.format {
	case "binary_little_endian":
		r.order = binary.LittleEndian
	case "binary_big_endian":
		r.order = binary.BigEndian
	default:
		r.text = newLines(r.in, false)
		r.text.following = r.h.lines + 1
	}
	faces := false
	for i := range r.h.elements {
		e := &r.h.elements[i]
		switch e.name {
		case "vertex":
			r.vertices = e.count
		case "face", "tristrips":
			faces = faces || e.count > 0
		}
		if e.count > 0 && len(e.properties) == 0 {
			return malformed("", "element %s has no properties", clip([]byte(e.name)))
		}
	}
	if r.vertices > maxRecords {
		return tooMany("vertices")
	}
	if !faces {
		return &gltfscene.Error{
			Reason: fmt.Sprintf("is a cloud of %d points without faces", r.vertices),
			Hint:   "make a mesh of it first, for example with the Poisson reconstruction of MeshLab or CloudCompare", Err: gltfscene.ErrUnsupported,
		}
	}
	if err := r.texture(); err != nil {
		return err
	}
	s.want.smooth = smooth
	for i := range r.h.elements {
		if err := r.element(&r.h.elements[i]); err != nil {
			return err
		}
	}
	if s.positions.n != r.vertices {
		return malformed("", "has no element vertex")
	}
	return nil
}

// texture makes a material of the image that a comment names.
func (r *plyReader) texture() error {
	if r.h.texture == "" {
		return nil
	}
	tidy, _, err := tidyName(".", r.h.texture, r.opts.AllowParentPaths)
	if err != nil {
		return &gltfscene.Error{
			Place: "comment TextureFile", Reason: fmt.Sprintf("the name %q %v", clip([]byte(r.h.texture)), err),
			Hint: "Options.AllowParentPaths permits it for files that you trust", Err: gltfscene.ErrOutsideFolder,
		}
	}
	m := newMaterial(path.Base(tidy))
	m.base = &textureSlot{image: r.images.add(tidy, "comment TextureFile"), scale: [2]float64{1, 1}}
	r.want.material = r.material(m.name)
	r.library[m.name] = m
	return nil
}

// element reads all of one kind.
func (r *plyReader) element(e *plyElement) error {
	// What the file cannot hold is refused before it is read.
	least := e.least()
	if r.order == nil {
		least = int64(len(e.properties)) // a digit each
	}
	if least > 0 && e.count > (r.size-min(r.read, r.size))/least {
		return malformed("", "element %s has %d entries by the header, the file is too short for them", clip([]byte(e.name)), e.count)
	}
	var entry func(i int64) error
	switch e.name {
	case "vertex":
		f, err := r.vertex(e)
		if err != nil {
			return err
		}
		entry = f
	case "face":
		f, err := r.face(e)
		if err != nil {
			return err
		}
		entry = f
	case "tristrips":
		f, err := r.strips(e)
		if err != nil {
			return err
		}
		entry = f
	default:
		if e.count > 0 {
			r.note("elements-skipped", false, e.name, "elements other than vertices, faces and strips were left out")
		}
		entry = func(int64) error { return r.entry(e, nil, nil) }
	}
	for i := range e.count {
		if i%8192 == 0 && r.ctx.Err() != nil {
			return r.ctx.Err()
		}
		if err := entry(i); err != nil {
			return r.placed(e, i, err)
		}
	}
	return nil
}

// placed says at which entry an error was met.
func (r *plyReader) placed(e *plyElement, i int64, err error) error {
	var g *gltfscene.Error
	if !errors.As(err, &g) {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return malformed(fmt.Sprintf("%s %d", clip([]byte(e.name)), i), "the file ends within it: it is cut off")
		}
		return err
	}
	place := fmt.Sprintf("%s %d", clip([]byte(e.name)), i)
	if r.text != nil {
		place += ", " + line(r.text.number)
	} else {
		place += fmt.Sprintf(", byte %d", r.read)
	}
	c := *g
	c.Place = place
	return &c
}

// number reads a number.
func (r *plyReader) number(t plyType) (float64, error) {
	if r.order == nil {
		w, err := r.word()
		if err != nil {
			return 0, err
		}
		v, ok := parseFloat(w)
		if !ok {
			return 0, malformed("", "a number is %q", clip(w))
		}
		return v, nil
	}
	b := r.buf[:t.size()]
	if _, err := io.ReadFull(r.in, b); err != nil {
		return 0, err
	}
	r.read += int64(len(b))
	switch t {
	case plyI8:
		return float64(int8(b[0])), nil
	case plyU8:
		return float64(b[0]), nil
	case plyI16:
		return float64(int16(r.order.Uint16(b))), nil
	case plyU16:
		return float64(r.order.Uint16(b)), nil
	case plyI32:
		return float64(int32(r.order.Uint32(b))), nil
	case plyU32:
		return float64(r.order.Uint32(b)), nil
	case plyF32:
		return float64(math.Float32frombits(r.order.Uint32(b))), nil
	}
	return math.Float64frombits(r.order.Uint64(b)), nil
}

// word returns the next word of a text.
func (r *plyReader) word() ([]byte, error) {
	for {
		var w []byte
		if w, r.left = word(r.left); len(w) > 0 {
			return w, nil
		}
		var err error
		if r.left, err = r.text.next(); err != nil {
			return nil, err
		}
	}
}

// entry reads one entry: plain numbers go to values, by their properties, and entries of
// lists to item, with the number of the property, the position and the length; both may be
// nil.
func (r *plyReader) entry(e *plyElement, values []float64, item func(property int, i, n int64, v float64) error) error {
	for k := range e.properties {
		p := &e.properties[k]
		if p.count == plyNone {
			v, err := r.number(p.kind)
			if err != nil {
				return err
			}
			if values != nil {
				values[k] = v
			}
			continue
		}
		length, err := r.number(p.count)
		if err != nil {
			return err
		}
		if !(length >= 0 && length < 1<<40) || length != math.Floor(length) {
			return malformed("", "the list %s has the length %v", clip([]byte(p.name)), length)
		}
		n := int64(length)
		for i := range n {
			if i%(1<<16) == 1<<16-1 && r.ctx.Err() != nil {
				return r.ctx.Err()
			}
			v, err := r.number(p.kind)
			if err != nil {
				return err
			}
			if item != nil {
				if err := item(k, i, n, v); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// vertex returns what reads a vertex.
func (r *plyReader) vertex(e *plyElement) (func(int64) error, error) {
	var at [3]int
	for i, name := range []string{"x", "y", "z"} {
		if at[i] = e.find(name); at[i] < 0 || e.properties[at[i]].count != plyNone {
			return nil, malformed("", "element vertex has no property %s", name)
		}
	}
	plain := func(names ...string) int {
		if i := e.find(names...); i >= 0 && e.properties[i].count == plyNone {
			return i
		}
		return -1
	}
	normal := [3]int{plain("nx", "normal_x"), plain("ny", "normal_y"), plain("nz", "normal_z")}
	uv := [2]int{plain("s", "u", "texture_u", "texture_s", "tx"), plain("t", "v", "texture_v", "texture_t", "ty")}
	color := colorOf(e)
	r.normal, r.uvs, r.colored = min(normal[0], normal[1], normal[2]) >= 0, min(uv[0], uv[1]) >= 0, color.some()
	values := make([]float64, len(e.properties))
	return func(int64) error {
		if err := r.entry(e, values, nil); err != nil {
			return err
		}
		for i := range at {
			if v := values[at[i]]; v-v != 0 {
				return malformed("", "a coordinate is %v", v)
			}
		}
		if err := r.addPosition([3]float64{values[at[0]], values[at[1]], values[at[2]]}); err != nil {
			return err
		}
		if r.normal {
			n := [3]float64{values[normal[0]], values[normal[1]], values[normal[2]]}
			for i := range n {
				if n[i]-n[i] != 0 {
					n = [3]float64{}
					r.note("normals-not-finite", true, "", "normals that are no numbers or infinite count as missing")
					break
				}
			}
			if err := r.addNormal(n); err != nil {
				return err
			}
		}
		if r.uvs {
			if err := r.addTexcoord(values[uv[0]], values[uv[1]]); err != nil {
				return err
			}
		}
		if r.colored {
			return r.addColor(color.of(e, values))
		}
		return nil
	}, nil
}

// plyColor are the properties of a colour, -1 for none.
type plyColor [4]int

func colorOf(e *plyElement) plyColor {
	var c plyColor
	for i, names := range [4][]string{{"red", "r", "diffuse_red"}, {"green", "g", "diffuse_green"}, {"blue", "b", "diffuse_blue"}, {"alpha", "a", "diffuse_alpha"}} {
		if c[i] = e.find(names...); c[i] >= 0 && e.properties[c[i]].count != plyNone {
			c[i] = -1
		}
	}
	return c
}

func (c *plyColor) some() bool { return c[0] >= 0 && c[1] >= 0 && c[2] >= 0 }

// of returns the colour of an entry.
func (c *plyColor) of(e *plyElement, values []float64) [4]uint8 {
	out := [4]uint8{0, 0, 0, 255}
	for i, k := range c {
		if k >= 0 {
			out[i] = colorByte(values[k] * 255 / e.properties[k].kind.full())
		}
	}
	return out
}

// index reads the number of a vertex.
func (r *plyReader) index(v float64) (uint32, error) {
	if !(v >= 0 && v < float64(r.vertices)) || v != math.Floor(v) {
		return 0, malformed("", "vertex %v is named, the file has %d, from 0 on", v, r.vertices)
	}
	return uint32(v) + 1, nil
}

// cornerOf gives a corner what its vertex has.
func (r *plyReader) cornerOf(v uint32) corner {
	c := corner{v: v}
	if r.uvs {
		c.t = v
	}
	if r.normal {
		c.n = v
	}
	return c
}

// face returns what reads a face.
func (r *plyReader) face(e *plyElement) (func(int64) error, error) {
	indices, uvs := e.find("vertex_indices", "vertex_index"), e.find("texcoord")
	if indices < 0 || e.properties[indices].count == plyNone {
		if e.count == 0 {
			return func(int64) error { return nil }, nil
		}
		return nil, malformed("", "element face has no list vertex_indices")
	}
	color := colorOf(e)
	values := make([]float64, len(e.properties))
	return func(int64) error {
		r.corners, r.list = r.corners[:0], r.list[:0]
		err := r.entry(e, values, func(property int, i, n int64, v float64) error {
			switch property {
			case indices:
				if n > maxCorners {
					return malformed("", "a face has %d corners, more than %d", n, maxCorners)
				}
				k, err := r.index(v)
				if err != nil {
					return err
				}
				r.corners = append(r.corners, r.cornerOf(k))
			case uvs:
				if n > 2*maxCorners {
					return malformed("", "a face has %d texture coordinates", n)
				}
				r.list = append(r.list, v)
			}
			return nil
		})
		if err != nil {
			return err
		}
		if len(r.corners) < 3 {
			r.note("faces-incomplete", true, "", "faces of fewer than three corners were left out")
			return nil
		}
		if len(r.list) == 2*len(r.corners) {
			for i := range r.corners {
				if err := r.addTexcoord(r.list[2*i], r.list[2*i+1]); err != nil {
					return err
				}
				r.corners[i].t = uint32(r.texcoords.n)
			}
		}
		r.want.color = 0
		if color.some() {
			c := color.of(e, values)
			r.want.color = binary.LittleEndian.Uint32(c[:])
		}
		return r.addFace(r.corners)
	}, nil
}

// strips returns what reads triangle strips, of which -1 ends one.
func (r *plyReader) strips(e *plyElement) (func(int64) error, error) {
	indices := e.find("vertex_indices", "vertex_index")
	if indices < 0 || e.properties[indices].count == plyNone {
		return nil, malformed("", "element tristrips has no list vertex_indices")
	}
	return func(int64) error {
		var last [2]uint32
		length := 0
		return r.entry(e, nil, func(property int, _, _ int64, v float64) error {
			if property != indices {
				return nil
			}
			if v == -1 {
				length = 0
				return nil
			}
			k, err := r.index(v)
			if err != nil {
				return err
			}
			a, b := last[0], last[1]
			if length%2 == 1 {
				a, b = b, a
			}
			last = [2]uint32{last[1], k}
			if length++; length < 3 || a == b || a == k || b == k {
				return nil
			}
			return r.addFace(append(r.corners[:0], r.cornerOf(a), r.cornerOf(b), r.cornerOf(k)))
		})
	}, nil
}
