package meshfile

import (
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/untoldkit/untold/cook/gltfscene"
)

// binarySTL makes a file of two facets with a field each.
func binarySTL(head string, fields ...uint16) string {
	b := append([]byte(head), make([]byte, stlHeader-len(head))...)
	b = binary.LittleEndian.AppendUint32(b, 2)
	for i, list := range [][9]float32{{0, 0, 0, 1, 0, 0, 1, 1, 0}, {0, 0, 0, 1, 1, 0, 0, 1, 0}} {
		b = append(b, make([]byte, 12)...)
		for _, v := range list {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
		}
		field := uint16(0)
		if i < len(fields) {
			field = fields[i]
		}
		b = binary.LittleEndian.AppendUint16(b, field)
	}
	return string(b)
}

const textSTL = "solid my part\n facet normal 0 0 1\n  outer loop\n   vertex 0 0 0\n   vertex 1 0 0\n   vertex 1 1 0\n  endloop\n endfacet\n" +
	"facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 1 0\nVERTEX 0 1 0\nendloop\nendfacet\nendsolid my part\n"

// TestSTL reads text and binary, which may begin like a text.
func TestSTL(t *testing.T) {
	for name, c := range map[string]struct{ text, node, notes string }{
		"text":            {textSTL, "my part", ""},
		"two solids":      {textSTL + strings.ReplaceAll(textSTL, "my part", "other"), "my part", ""},
		"no name":         {strings.ReplaceAll(textSTL, " my part", ""), "a", ""},
		"CR LF":           {strings.ReplaceAll(textSTL, "\n", "\r\n"), "my part", ""},
		"binary":          {binarySTL("made by hand"), "a", ""},
		"binary solid":    {binarySTL("solid edge"), "a", ""},
		"trailing":        {binarySTL("made by hand") + "more", "a", "stl-trailing-bytes"},
		"solid, trailing": {binarySTL("solid edge") + "more", "a", "stl-trailing-bytes"},
	} {
		s := load(t, "a.stl", c.text, nil, Options{Up: "y"})
		area, _, _ := measure(t, s)
		want := 1.0
		if name == "two solids" {
			want = 2
		}
		if !near(area, want) || s.Nodes[0].Name != c.node || noteCodes(s) != c.notes {
			t.Errorf("%s: area %v, node %q, notes %q", name, area, s.Nodes[0].Name, noteCodes(s))
		}
		if p := s.Meshes[0].Parts[0]; p.Vertices != 4 || p.Normals {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

// TestSTLColors: the field of facets holds colours in two ways.
func TestSTLColors(t *testing.T) {
	first := func(text string) [4]float32 {
		s := load(t, "a.stl", text, nil, Options{})
		list, err := s.Geometry(0)
		if err != nil || list[0].Colors == nil {
			t.Fatalf("%v %+v", err, list)
		}
		return list[0].Colors[0]
	}
	if c := first(binarySTL("x", 0x8000|31<<10, 0x8000|31)); c != [4]float32{1, 0, 0, 1} {
		t.Errorf("bit 15 set: %v", c)
	}
	if c := first(binarySTL("x COLOR=\xff\xff\xff\xff", 31, 31<<10)); c != [4]float32{1, 0, 0, 1} {
		t.Errorf("with a colour in the header: %v", c)
	}
}

// TestSTLFaults: what is wrong is said with its place.
func TestSTLFaults(t *testing.T) {
	binary := binarySTL("x")
	for name, c := range map[string]struct{ text, want string }{
		"short":       {"abc", "has 3 bytes; a binary STL file has 84 before the first facet"},
		"cut off":     {binary[:len(binary)-1], "byte 80: the file announces 2 facets, which take 184 bytes, and has 183: it is cut off, or no STL"},
		"no facets":   {binary[:80] + "\x00\x00\x00\x00", "has no facets"},
		"empty solid": {"solid a\nendsolid a\n", "has no facets"},
		"word":        {"solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 zero 0\n", `line 4: vertex wants three numbers, not "zero"`},
		"unknown":     {"solid a\nhello\n", `line 2: "hello" is unknown in an STL file`},
		"two":         {"solid a\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nendloop\n", "line 5: a facet has 2 vertices"},
		"cut text":    {textSTL[:strings.Index(textSTL, "  endloop")], "the file ends within a facet: it is cut off"},
		"no end":      {"solid a\nouter loop\nvertex 0 0 0\nendfacet\n", "line 4: a loop of vertices has no end"},
		"NaN":         {binary[:96] + "\xff\xff\xff\x7f" + binary[100:], "facet 0: a coordinate is NaN"},
	} {
		_, err := tryLoad(t, "a.stl", c.text, nil, Options{})
		if err == nil || !errors.Is(err, gltfscene.ErrMalformed) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
