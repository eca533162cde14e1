package meshfile

import (
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/untoldkit/untold/cook/gltfscene"
)

const plySquare = "element vertex 4\nproperty float x\nproperty float y\nproperty float z\n"

// binarySquare is a square of odd types in binary, with colours and strips.
func binarySquare(order binary.AppendByteOrder, name string) string {
	b := []byte("ply\nformat " + name + " 1.0\ncomment made by hand\nelement vertex 4\nproperty uchar red\nproperty double z\nproperty short x\n" +
		"property list ushort int skipped\nproperty uint y\nproperty uchar green\nproperty uchar blue\n" +
		"element face 1\nproperty list uchar ushort vertex_index\nproperty float quality\n" +
		"element tristrips 1\nproperty list int int vertex_indices\nend_header\n")
	for _, p := range [][2]uint16{{0, 0}, {1, 0}, {1, 1}, {0, 1}} {
		b = append(b, 255)
		b = order.AppendUint64(b, math.Float64bits(0.5))
		b = order.AppendUint16(b, p[0])
		b = order.AppendUint32(order.AppendUint32(order.AppendUint16(b, 2), 7), 8)
		b = append(order.AppendUint32(b, uint32(p[1])), 128, 0)
	}
	b = append(b, 3)
	for _, i := range []uint16{0, 1, 2} {
		b = order.AppendUint16(b, i)
	}
	b = order.AppendUint32(b, math.Float32bits(1))
	b = order.AppendUint32(b, 9)
	for _, i := range []int32{0, 2, 3, -1, 0, 1, 3, 2, -1} {
		b = order.AppendUint32(b, uint32(i))
	}
	return string(b)
}

// TestPLY reads text and binary of both orders.
func TestPLY(t *testing.T) {
	const corners = "0 0 0\n1 0 0\n1 1 0\n0 1 0\n"
	for name, c := range map[string]struct {
		text  string
		area  float64
		notes string
	}{
		"text":          {"ply\nformat ascii 1.0\n" + plySquare + "element face 1\nproperty list uchar int vertex_indices\nend_header\n" + corners + "4 0 1 2 3\n", 1, ""},
		"CR LF":         {strings.ReplaceAll("ply\nformat ascii 1.0\n"+plySquare+"element face 1\nproperty list uchar int vertex_indices\nend_header\n"+corners+"4 0 1 2 3\n", "\n", "\r\n"), 1, ""},
		"one line":      {"ply\nformat ascii 1.0\n" + plySquare + "element face 1\nproperty list uchar int vertex_indices\nend_header\n" + strings.ReplaceAll(corners, "\n", " ") + "4 0 1 2 3", 1, ""},
		"faces first":   {"ply\nformat ascii 1.0\nelement face 1\nproperty list uchar int vertex_indices\n" + plySquare + "end_header\n4 0 1 2 3\n" + corners, 1, ""},
		"edges":         {"ply\nformat ascii 1.0\n" + plySquare + "element face 1\nproperty list uchar int vertex_indices\nelement edge 1\nproperty int a\nproperty int b\nend_header\n" + corners + "4 0 1 2 3\n0 1\n", 1, "elements-skipped"},
		"little endian": {binarySquare(binary.LittleEndian, "binary_little_endian"), 2, ""},
		"big endian":    {binarySquare(binary.BigEndian, "binary_big_endian"), 2, ""},
	} {
		s := load(t, "a.ply", c.text, nil, Options{Up: "y"})
		area, _, _ := measure(t, s)
		if !near(area, c.area) || noteCodes(s) != c.notes {
			t.Errorf("%s: area %v, notes %q", name, area, noteCodes(s))
		}
		if strings.Contains(name, "endian") {
			list, _ := s.Geometry(0)
			if col := list[0].Colors[0]; col[0] != 1 || col[1] < 0.21 || col[1] > 0.22 || col[2] != 0 {
				t.Errorf("%s: colours %v", name, list[0].Colors)
			}
		}
	}
}

// TestPLYAttributes: texture coordinates of vertices and corners, normals, colours of
// faces, the texture of a comment, and z that points upwards.
func TestPLYAttributes(t *testing.T) {
	const head = "ply\nformat ascii 1.0\ncomment TextureFile my skin.png\n"
	beside := map[string]string{"my skin.png": picture}
	s := load(t, "a.ply", head+plySquare+"property float s\nproperty float t\nproperty float nx\nproperty float ny\nproperty float nz\n"+
		"element face 2\nproperty list uchar int vertex_indices\nproperty uchar red\nproperty uchar green\nproperty uchar blue\nend_header\n"+
		"0 0 0 0 0 0 0 1\n1 0 0 1 0 0 0 1\n1 1 0 1 1 0 0 1\n0 1 0 0 1 0 0 1\n3 0 1 2 255 0 0\n3 0 2 3 0 0 255\n", beside, Options{})
	list, err := s.Geometry(0)
	if err != nil {
		t.Fatal(err)
	}
	p := list[0]
	if len(p.Positions) != 6 || p.UV[0][0] != [2]float32{0, 1} || p.Normals[0] != [3]float32{0, 0, 1} || p.Colors[0] != [4]float32{1, 0, 0, 1} {
		t.Errorf("%+v", p)
	}
	if s.Materials[0].BaseColorTex.Image != 0 || s.Images[0].URI != "my skin.png" || s.Images[0].Place != "comment TextureFile" {
		t.Errorf("%+v %+v", s.Materials[0], s.Images)
	}
	if _, box, _ := measure(t, s); box.Max[1] != 0 || box.Min[2] != -1 {
		t.Errorf("z is not up: %v", box)
	}
	s = load(t, "a.ply", head+plySquare+"element face 1\nproperty list uchar int vertex_indices\nproperty list uchar float texcoord\nend_header\n"+
		"0 0 0\n1 0 0\n1 1 0\n0 1 0\n3 0 1 2 6 0 0 1 0 1 0.25\n", beside, Options{})
	if list, _ = s.Geometry(0); list[0].UV[0][2] != [2]float32{1, 0.75} {
		t.Errorf("%+v", list[0].UV)
	}
}

// TestPLYFaults: what is wrong is said with its place.
func TestPLYFaults(t *testing.T) {
	const faces = "element face 1\nproperty list uchar int vertex_indices\nend_header\n"
	square := "ply\nformat ascii 1.0\n" + plySquare
	little := binarySquare(binary.LittleEndian, "binary_little_endian")
	for name, c := range map[string]struct {
		text, want string
		kind       error
	}{
		"no PLY":           {"solid\n", `line 1: a PLY file begins with the line "ply", not "solid"`, gltfscene.ErrMalformed},
		"header only":      {"ply\nformat ascii 1.0\n", `line 3: the header ends without the line "end_header"`, gltfscene.ErrMalformed},
		"format":           {"ply\nformat hex 1.0\n", `line 2: format "hex" is unknown`, gltfscene.ErrMalformed},
		"type":             {"ply\nformat ascii 1.0\nelement vertex 1\nproperty half x\n", `line 4: property "x" has the unknown type "half"`, gltfscene.ErrMalformed},
		"float lengths":    {"ply\nformat ascii 1.0\nelement face 1\nproperty list float int a\n", `line 4: the list "a" has lengths of type "float"`, gltfscene.ErrMalformed},
		"points":           {square + "end_header\n0 0 0\n", "is a cloud of 4 points without faces (make a mesh of it first", gltfscene.ErrUnsupported},
		"too many":         {strings.Replace(square, "vertex 4", "vertex 4000000000", 1) + faces, "element vertex has 4000000000 entries by the header, the file is too short for them", gltfscene.ErrMalformed},
		"index":            {square + faces + "0 0 0\n1 0 0\n1 1 0\n0 1 0\n3 0 1 4\n", "face 0, line 14: vertex 4 is named, the file has 4, from 0 on", gltfscene.ErrMalformed},
		"negative":         {square + faces + "0 0 0\n1 0 0\n1 1 0\n0 1 0\n3 0 1 -1\n", "face 0, line 14: vertex -1 is named", gltfscene.ErrMalformed},
		"cut off":          {square + faces + "0 0 0\n1 0 0\n1 1 0\n0 1 0\n3 0 1", "face 0: the file ends within it: it is cut off", gltfscene.ErrMalformed},
		"cut off binary":   {little[:len(little)-3], "tristrips 0: the file ends within it: it is cut off", gltfscene.ErrMalformed},
		"word":             {square + faces + "0 0 zero\n" + strings.Repeat("0 0 0\n", 4), `vertex 0, line 10: a number is "zero"`, gltfscene.ErrMalformed},
		"no z":             {"ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\n" + faces + "0 0 3 0 0 0", "element vertex has no property z", gltfscene.ErrMalformed},
		"no vertices":      {"ply\nformat ascii 1.0\n" + faces + "3 0 0 0\n", "vertex 0 is named, the file has 0", gltfscene.ErrMalformed},
		"no list":          {square + "element face 1\nproperty int a\nend_header\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n3", "element face has no list vertex_indices", gltfscene.ErrMalformed},
		"negative length":  {square + strings.Replace(faces, "uchar", "char", 1) + "0 0 0\n1 0 0\n1 1 0\n0 1 0\n-3 0 1 2\n", "face 0, line 14: the list vertex_indices has the length -3", gltfscene.ErrMalformed},
		"texture outside":  {"ply\nformat ascii 1.0\ncomment TextureFile ../a.png\n" + plySquare + faces + "0 0 0\n1 0 0\n1 1 0\n0 1 0\n3 0 1 2\n", `comment TextureFile: the name "../a.png" leads out of the file's folder`, gltfscene.ErrOutsideFolder},
		"a coordinate NaN": {little[:strings.Index(little, "end_header\n")+12] + "\xff\xff\xff\xff\xff\xff\xff\x7f" + little[strings.Index(little, "end_header\n")+20:], "vertex 0, byte ", gltfscene.ErrMalformed},
	} {
		_, err := tryLoad(t, "a.ply", c.text, nil, Options{})
		if err == nil || !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
