package meshfile

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/untoldkit/untold/cook/gltfscene"
)

// plyType is a type of numbers in PLY.
type plyType uint8

const (
	plyNone plyType = iota
	plyI8
	plyU8
	plyI16
	plyU16
	plyI32
	plyU32
	plyF32
	plyF64
)

// size is how many bytes a number has in a binary file.
func (t plyType) size() int { return [...]int{0, 1, 1, 2, 2, 4, 4, 4, 8}[t] }

func (t plyType) integer() bool { return t <= plyU32 }

// full is the value that stands for 1 in colours.
func (t plyType) full() float64 {
	return [...]float64{0, 127, 255, 32767, 65535, 1<<31 - 1, 1<<32 - 1, 1, 1}[t]
}

var plyTypes = map[string]plyType{
	"char": plyI8, "int8": plyI8, "uchar": plyU8, "uint8": plyU8, "short": plyI16, "int16": plyI16, "ushort": plyU16, "uint16": plyU16,
	"int": plyI32, "int32": plyI32, "uint": plyU32, "uint32": plyU32, "float": plyF32, "float32": plyF32, "double": plyF64, "float64": plyF64,
}

// plyProperty is a column of an element.
type plyProperty struct {
	name  string
	count plyType // of a list's length, plyNone for a plain number
	kind  plyType
}

// plyElement is a kind of things in the file.
type plyElement struct {
	name       string
	count      int64
	properties []plyProperty
}

// least is how many bytes one takes at least in a binary file.
func (e *plyElement) least() int64 {
	n := 0
	for _, p := range e.properties {
		if p.count != plyNone {
			n += p.count.size()
		} else {
			n += p.kind.size()
		}
	}
	return int64(n)
}

// find returns the position of the first property that has one of the names, -1 for none.
func (e *plyElement) find(names ...string) int {
	for _, name := range names {
		for i := range e.properties {
			if strings.EqualFold(e.properties[i].name, name) {
				return i
			}
		}
	}
	return -1
}

// Limits of a header.
const (
	maxPLYHeader     = 1 << 20 // bytes
	maxPLYElements   = 256
	maxPLYProperties = 1024
)

// plyHeader is what stands before the elements.
type plyHeader struct {
	format   string // ascii, binary_little_endian or binary_big_endian
	elements []plyElement
	texture  string // of the comment TextureFile, as MeshLab writes it
	lines    int
	bytes    int64
}

// readPLYHeader reads up to the line after end_header.
func readPLYHeader(in *bufio.Reader) (*plyHeader, error) {
	h := &plyHeader{}
	for {
		text, err := h.line(in)
		if err != nil {
			return nil, err
		}
		place := line(h.lines)
		words := strings.Fields(text)
		switch {
		case h.lines == 1:
			if text != "ply" {
				return nil, malformed(place, "a PLY file begins with the line \"ply\", not %q", clip([]byte(text)))
			}
		case len(words) == 0:
		case words[0] == "comment" || words[0] == "obj_info":
			if len(words) > 2 && strings.EqualFold(words[1], "TextureFile") && h.texture == "" {
				_, rest, _ := strings.Cut(text, words[1])
				h.texture = strings.TrimSpace(rest)
			}
		case words[0] == "format":
			if len(words) != 3 {
				return nil, malformed(place, "%q is not of the form \"format NAME VERSION\"", clip([]byte(text)))
			}
			switch h.format = words[1]; h.format {
			case "ascii", "binary_little_endian", "binary_big_endian":
			default:
				return nil, malformed(place, "format %q is unknown: it is ascii, binary_little_endian or binary_big_endian", clip([]byte(words[1])))
			}
		case words[0] == "element":
			if err := h.element(place, words); err != nil {
				return nil, err
			}
		case words[0] == "property":
			if err := h.property(place, words); err != nil {
				return nil, err
			}
		case words[0] == "end_header":
			if h.format == "" {
				return nil, malformed(place, "the header has no line \"format\"")
			}
			return h, nil
		default:
			return nil, malformed(place, "%q is unknown in a header", clip([]byte(words[0])))
		}
	}
}

// line reads a line of the header without its end, LF, CR LF or CR. Binary data may begin
// right behind it.
func (h *plyHeader) line(in *bufio.Reader) (string, error) {
	var out []byte
	for h.lines++; ; {
		c, err := in.ReadByte()
		if err == io.EOF {
			return "", malformed(line(h.lines), "the header ends without the line \"end_header\"")
		}
		if err != nil {
			return "", err
		}
		if h.bytes++; h.bytes > maxPLYHeader {
			return "", malformed(line(h.lines), "the header has more than %d bytes", maxPLYHeader)
		}
		if c == '\n' {
			return string(out), nil
		}
		if c == '\r' {
			if next, err := in.Peek(1); err == nil && next[0] == '\n' {
				in.ReadByte() //nolint:errcheck // it was peeked at
				h.bytes++
			}
			return string(out), nil
		}
		out = append(out, c)
	}
}

func (h *plyHeader) element(place string, words []string) error {
	if len(words) != 3 {
		return malformed(place, "an element has a name and a number")
	}
	n, ok := parseInt([]byte(words[2]))
	if !ok || n < 0 {
		return malformed(place, "element %s has the number %q", clip([]byte(words[1])), clip([]byte(words[2])))
	}
	if len(h.elements) == maxPLYElements {
		return &gltfscene.Error{Place: place, Reason: fmt.Sprintf("there are more than %d elements", maxPLYElements), Err: gltfscene.ErrTooLarge}
	}
	for i := range h.elements {
		if h.elements[i].name == words[1] {
			return malformed(place, "element %s stands there twice", clip([]byte(words[1])))
		}
	}
	h.elements = append(h.elements, plyElement{name: words[1], count: n})
	return nil
}

func (h *plyHeader) property(place string, words []string) error {
	if len(h.elements) == 0 {
		return malformed(place, "a property stands before the first element")
	}
	e := &h.elements[len(h.elements)-1]
	if len(e.properties) == maxPLYProperties {
		return &gltfscene.Error{Place: place, Reason: fmt.Sprintf("there are more than %d properties", maxPLYProperties), Err: gltfscene.ErrTooLarge}
	}
	var p plyProperty
	switch {
	case len(words) == 5 && words[1] == "list":
		p = plyProperty{words[4], plyTypes[words[2]], plyTypes[words[3]]}
		if p.count == plyNone || p.kind == plyNone || !p.count.integer() {
			return malformed(place, "the list %q has lengths of type %q and entries of type %q", clip([]byte(p.name)), clip([]byte(words[2])), clip([]byte(words[3])))
		}
	case len(words) == 3:
		p = plyProperty{name: words[2], kind: plyTypes[words[1]]}
		if p.kind == plyNone {
			return malformed(place, "property %q has the unknown type %q", clip([]byte(p.name)), clip([]byte(words[1])))
		}
	default:
		return malformed(place, "a property has a type and a name, a list two types and a name")
	}
	e.properties = append(e.properties, p)
	return nil
}
