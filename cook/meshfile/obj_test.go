package meshfile

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/untoldkit/untold/cook/gltfscene"
)

func sprint(list ...any) string {
	var b strings.Builder
	for _, v := range list {
		fmt.Fprint(&b, v)
	}
	return b.String()
}

const square = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"

// TestOBJ reads what the format has in many ways.
func TestOBJ(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		area  float64
		names string
		notes string
	}{
		"polygon":            {square + "f 1 2 3 4\n", 1, "a", ""},
		"no last line end":   {square + "f 1 2 3 4", 1, "a", ""},
		"CR LF":              {strings.ReplaceAll(square+"f 1 2 3 4\n", "\n", "\r\n"), 1, "a", ""},
		"CR":                 {strings.ReplaceAll(square+"f 1 2 3 4\n", "\n", "\r"), 1, "a", ""},
		"continued":          {square + "f 1 2 \\\n3 \\\r\n 4\n", 1, "a", ""},
		"negative":           {square + "f -4 -3 -2 -1\n", 1, "a", ""},
		"vertices behind":    {"f 1 2 3 4\n" + square, 1, "a", ""},
		"tabs and comments":  {"# x\n\tv\t0 0 0 # here\nv 1 0 0\nv 1 1 0\n\nf 1 2 3 # a face\n", 0.5, "a", ""},
		"concave":            {"v 0 0 0\nv 4 0 0\nv 4 4 0\nv 2 1 0\nv 0 4 0\nf 1 2 3 4 5\n", 10, "a", ""},
		"objects":            {square + "o first\nf 1 2 3\no second\nf 1 3 4\n", 1, "first second", ""},
		"groups":             {square + "g first\nf 1 2 3\ng second part\nf 1 3 4\n", 1, "first,second part", ""},
		"both":               {square + "o house\ng wall\nf 1 2 3\ng roof\nf 1 3 4\n", 1, "house_wall house_roof", ""},
		"o and g alike":      {square + "o house\ng house\nf 1 2 3 4\n", 1, "house", ""},
		"taken up again":     {square + "g a\nf 1 2 3\ng b\nf 1 2 3\ng a\nf 1 3 4\n", 1.5, "a b", ""},
		"lines and points":   {square + "l 1 2\np 1\nf 1 2 3 4\n", 1, "a", "lines-skipped"},
		"unknown":            {square + "hello there\nf 1 2 3 4\n", 1, "a", "statements-unknown"},
		"free forms":         {square + "cstype bezier\ncurv 0 1 1 2\nend\nf 1 2 3 4\n", 1, "a", "free-forms-skipped"},
		"two corners":        {square + "f 1 2\nf 1 2 3 4\n", 1, "a", "faces-incomplete"},
		"weights":            {"v 0 0 0 1\nv 1 0 0 1\nv 1 1 0 1\nf 1 2 3\n", 0.5, "a", ""},
		"unknown material":   {square + "usemtl gold\nf 1 2 3 4\n", 1, "a", "materials-undefined"},
		"texture and normal": {square + "vt 0 0\nvt 1 0 0\nvt 1\nvn 0 0 1\nf 1/1/1 2/2/1 3/3/1 4//1\n", 1, "a", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := load(t, "a.obj", c.text, nil, Options{})
			area, _, _ := measure(t, s)
			var names []string
			for i := range s.Nodes {
				names = append(names, s.Nodes[i].Name)
			}
			sep := " "
			if strings.Contains(c.names, ",") {
				sep = ","
			}
			if got := strings.Join(names, sep); !near(area, c.area) || got != c.names || noteCodes(s) != c.notes {
				t.Errorf("area %v, names %q, notes %q", area, got, noteCodes(s))
			}
		})
	}
}

// TestOBJFaults: what is wrong is said with the line.
func TestOBJFaults(t *testing.T) {
	long := strings.Repeat("1 ", maxLine)
	for name, c := range map[string]struct {
		text, want string
		kind       error
	}{
		"empty":              {"", "the file is empty", gltfscene.ErrMalformed},
		"bad number":         {"v 1 2 x\n", `line 1: v wants numbers, not "x"`, gltfscene.ErrMalformed},
		"not a number":       {"v 1 2 nan\n", `line 1: v wants numbers, not "nan"`, gltfscene.ErrMalformed},
		"too few":            {"#\nv 1 2\n", "line 2: v has 2 numbers, it needs 3", gltfscene.ErrMalformed},
		"too large":          {"v 1e39 0 0\n", "line 1: the coordinate 1e+39 is beyond single precision", gltfscene.ErrMalformed},
		"index 0":            {square + "f 0 1 2\n", "line 5: vertex 0 is named, they count from 1", gltfscene.ErrMalformed},
		"index beyond":       {square + "f 1 2 3\nf 1 2 9\n", "line 6: vertex 9 is named, the file has 4", gltfscene.ErrMalformed},
		"negative beyond":    {square + "f 1 2 -5\n", "line 5: vertex -5 is named, 4 came before it", gltfscene.ErrMalformed},
		"normal beyond":      {square + "f 1//1 2//1 3//1\n", "line 5: normal 1 is named, the file has 0", gltfscene.ErrMalformed},
		"huge index":         {square + "f 1 2 99999999999\n", "line 5: vertex 99999999999 is named, there can be no more than 4294967294", gltfscene.ErrMalformed},
		"four numbers":       {square + "f 1/1/1/1 2 3\n", `line 5: corner "1/1/1/1" has more than three numbers`, gltfscene.ErrMalformed},
		"no vertex":          {square + "f /1 2 3\n", `line 5: corner "/1" names no vertex`, gltfscene.ErrMalformed},
		"word as a corner":   {square + "f a b c\n", `line 5: corner "a" is not of the form v, v/vt, v//vn or v/vt/vn`, gltfscene.ErrMalformed},
		"group":              {"s maybe\n", `line 1: s wants the number of a smoothing group or off, not "maybe"`, gltfscene.ErrMalformed},
		"long line":          {"v 1 2 3\n" + long, "line 2: is longer than 4194304 bytes", gltfscene.ErrMalformed},
		"object of compiler": {"L\x01\x02\x00\x00\n", "line 1: this is no text (is it an object file of a compiler, which has the same ending?)", gltfscene.ErrMalformed},
		"missing library":    {"mtllib a.mtl\n", `line 1: file "a.mtl" is missing (put it there, or leave it out with Options.AllowMissingImages)`, gltfscene.ErrMissingFile},
		"library outside":    {"mtllib ../a.mtl\n", `line 1: mtllib names "../a.mtl", which leads out of the file's folder (Options.AllowParentPaths permits it for files that you trust)`, gltfscene.ErrOutsideFolder},
		"many objects":       {strings.Repeat("v 0 0 0\n", 3) + manyObjects(600), "there are more than 256 objects and groups", gltfscene.ErrTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := tryLoad(t, "a.obj", c.text, nil, Options{Memory: 1 << 20})
			if err == nil {
				t.Fatal("no error")
			}
			var e *gltfscene.Error
			if !errors.As(err, &e) || !errors.Is(err, c.kind) || !strings.HasSuffix(e.File, "a.obj") {
				t.Errorf("%#v", err)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v", err)
			}
		})
	}
}

func manyObjects(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "o %d\nf 1 2 3\n", i)
	}
	return b.String()
}

// TestShading: normals of the file, of smoothing groups, and of files that say nothing.
func TestShading(t *testing.T) {
	const cube = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n"
	const faces = "f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n"
	// A strip that bends a little at each edge.
	const bow = "v 0 0 0\nv 0 0 1\nv 1 0.2 0\nv 1 0.2 1\nv 2 0.2 0\nv 2 0.2 1\nv 3 0 0\nv 3 0 1\n"
	const strip = "f 1 2 4 3\nf 3 4 6 5\nf 5 6 8 7\n"
	for name, c := range map[string]struct {
		text     string
		vertices int // of what is written
		normals  bool
	}{
		"a cube has edges":    {cube + faces, 24, true},
		"a bow has none":      {bow + strip, 8, true},
		"a bow without group": {bow + "s off\n" + strip, 8, false},
		"a cube of one group": {cube + "s 1\n" + faces, 8, true},
		"two groups":          {bow + "s 1\nf 1 2 4 3\ns 2\nf 3 4 6 5\nf 5 6 8 7\n", 10, true},
		"given":               {bow + "vn 0 1 0\nf 1//1 2//1 4//1 3//1\nf 3//1 4//1 6//1 5//1\n", 6, true},
	} {
		s := load(t, "a.obj", c.text, nil, Options{})
		p := s.Meshes[0].Parts[0]
		if p.Vertices != c.vertices || p.Normals != c.normals {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

// TestColors: vertex colours are sRGB in the file and light in the scene, counted to 1 or
// to 255.
func TestColors(t *testing.T) {
	for _, text := range []string{
		"v 0 0 0 1 0 0.5019608\nv 1 0 0 1 0 0.5019608\nv 1 1 0 1 0 0.5019608\nf 1 2 3\n",
		"v 0 0 0 255 0 128\nv 1 0 0 255 0 128\nv 1 1 0 255 0 128\nf 1 2 3\n",
	} {
		s := load(t, "a.obj", text, nil, Options{})
		list, err := s.Geometry(0)
		if err != nil {
			t.Fatal(err)
		}
		c := list[0].Colors[0]
		if c[0] != 1 || c[1] != 0 || c[2] < 0.2155 || c[2] > 0.2161 || c[3] != 1 {
			t.Errorf("%v", c)
		}
	}
	// Black throughout beside a material is no colour.
	s := load(t, "a.obj", "mtllib a.mtl\nusemtl m\nv 0 0 0 0 0 0\nv 1 0 0 0 0 0\nv 1 1 0 0 0 0\nf 1 2 3\n", map[string]string{"a.mtl": "newmtl m\nKd 1 0 0\n"}, Options{})
	if list, _ := s.Geometry(0); list[0].Colors != nil || noteCodes(s) != "black-colors-skipped" {
		t.Errorf("%v, %s", list[0].Colors, noteCodes(s))
	}
}
