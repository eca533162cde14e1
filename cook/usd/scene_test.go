package usd

import (
	"archive/zip"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/cook/gltfscene"
)

// TestMeshes: faces of every form, with the area that they have.
func TestMeshes(t *testing.T) {
	for _, c := range []struct {
		name, body string
		area       float64
		triangles  int
		notes      string
	}{
		{"square", quad, 1, 2, ""},
		{"concave", `
    int[] faceVertexCounts = [4]
    int[] faceVertexIndices = [0, 1, 2, 3]
    point3f[] points = [(0, 0, 0), (2, 0, 0), (0.5, 0.5, 0), (0, 2, 0)]
    uniform token subdivisionScheme = "none"`, 1, 2, ""},
		{"hole", `
    int[] faceVertexCounts = [3, 3, 2]
    int[] faceVertexIndices = [0, 1, 2, 0, 2, 3, 0, 1]
    int[] holeIndices = [1]
    point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
    uniform token subdivisionScheme = "none"`, 0.5, 1, "faces-incomplete"},
		{"cage", strings.Replace(quad, `"none"`, `"catmullClark"`, 1), 1, 2, "usd-subdivision-skipped"},
		{"empty", "", 0, 0, "usd-empty-meshes"},
		{"sample", strings.Replace(quad, "points = [", "points.timeSamples = { 2: [], 1: [", 1) + "", 1, 2, "usd-samples-skipped"},
	} {
		body := c.body
		if c.name == "sample" {
			body = strings.Replace(body, "(0, 1, 0)]", "(0, 1, 0)] }", 1)
		}
		s := one(t, "def Mesh \"World\" {"+body+"}")
		area, _, n := extent(t, s)
		if math.Abs(area-c.area) > 1e-6 || n != c.triangles || codes(s) != c.notes {
			t.Errorf("%s: area %v of %d triangles, %q; want %v of %d, %q", c.name, area, n, codes(s), c.area, c.triangles, c.notes)
		}
	}
}

// TestPrimvars: values over a mesh, by how they are spread.
func TestPrimvars(t *testing.T) {
	const two = `
    int[] faceVertexCounts = [3, 3]
    int[] faceVertexIndices = [0, 1, 2, 0, 2, 3]
    point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
    uniform token subdivisionScheme = "none"
`
	for _, c := range []struct {
		name, body string
		vertices   int
		first      [2]float32 // texture coordinates of the first vertex, as glTF has them
	}{
		{"constant", `texCoord2f[] primvars:st = [(0.25, 0.25)]`, 4, [2]float32{0.25, 0.75}},
		{"uniform", `texCoord2f[] primvars:st = [(0, 0), (1, 1)] ( interpolation = "uniform" )`, 6, [2]float32{0, 1}},
		{"vertex", `texCoord2f[] primvars:st = [(0, 0), (1, 0), (1, 1), (0, 1)] ( interpolation = "vertex" )`, 4, [2]float32{0, 1}},
		{"indexed", "texCoord2f[] primvars:st = [(0, 0.5), (1, 1)] ( interpolation = \"faceVarying\" )\nint[] primvars:st:indices = [0, 1, 1, 0, 1, 0]", 4, [2]float32{0, 0.5}},
	} {
		s := one(t, "def Mesh \"World\" {"+two+c.body+"\n}")
		list, err := s.Geometry(0)
		if err != nil {
			t.Fatal(err)
		}
		if p := list[0]; len(p.Positions) != c.vertices || p.UV[0] == nil || p.UV[0][0] != c.first {
			t.Errorf("%s: %d vertices, %v", c.name, len(p.Positions), p.UV[0])
		}
	}
	// Values that are too few do no harm.
	s := one(t, "def Mesh \"World\" {"+two+"texCoord2f[] primvars:st = [(0, 0)] ( interpolation = \"vertex\" )\nnormal3f[] normals = [(0, 0, 1)]\n}")
	if list, err := s.Geometry(0); err != nil || list[0].UV[0] != nil || !strings.Contains(codes(s), "usd-primvars-skipped") {
		t.Errorf("%v, %v", err, codes(s))
	}
}

// TestWinding: faces of both orientations show their fronts to where they were modelled.
func TestWinding(t *testing.T) {
	for _, c := range []struct {
		body string
		z    float64
	}{{quad, 1}, {quad + "uniform token orientation = \"leftHanded\"\n", -1}} {
		s := one(t, "def Mesh \"World\" {"+c.body+"}")
		list, err := s.Geometry(0)
		if err != nil {
			t.Fatal(err)
		}
		p := list[0]
		a, b, d := p.Positions[p.Indices[0]], p.Positions[p.Indices[1]], p.Positions[p.Indices[2]]
		if z := (b[0]-a[0])*(d[1]-a[1]) - (b[1]-a[1])*(d[0]-a[0]); float64(z)*c.z <= 0 {
			t.Errorf("z of the front is %v, want the sign of %v", z, c.z)
		}
	}
}

// TestTransforms: operations, and where they put a square.
func TestTransforms(t *testing.T) {
	for _, c := range []struct{ name, ops, order, want string }{
		{"translate", "double3 xformOp:translate = (1, 2, 3)", `"xformOp:translate"`, "Q 1,2,3 2,3,3"},
		{"scale after", "double3 xformOp:translate = (1, 2, 3)\nfloat3 xformOp:scale = (2, 2, 2)", `"xformOp:translate", "xformOp:scale"`, "Q 1,2,3 3,4,3"},
		{"scale before", "double3 xformOp:translate = (1, 2, 3)\nfloat3 xformOp:scale = (2, 2, 2)", `"xformOp:scale", "xformOp:translate"`, "Q 2,4,6 4,6,6"},
		{"rotateZ", "float xformOp:rotateZ = 90", `"xformOp:rotateZ"`, "Q -1,0,0 0,1,0"},
		{"rotateXYZ", "float3 xformOp:rotateXYZ = (90, 90, 0)", `"xformOp:rotateXYZ"`, "Q 0,0,-1 1,0,0"},
		{"rotateZYX", "float3 xformOp:rotateZYX = (90, 90, 0)", `"xformOp:rotateZYX"`, "Q 0,0,0 0,1,1"},
		{"orient", "quatf xformOp:orient = (0.70710677, 0, 0, 0.70710677)", `"xformOp:orient"`, "Q -1,0,0 0,1,0"},
		{"transform", "matrix4d xformOp:transform = ((0, 1, 0, 0), (-1, 0, 0, 0), (0, 0, 1, 0), (5, 0, 0, 1))", `"xformOp:transform"`, "Q 4,0,0 5,1,0"},
		{
			"pivot", "float3 xformOp:translate:pivot = (1, 1, 0)\nfloat xformOp:rotateZ = 180",
			`"xformOp:translate:pivot", "xformOp:rotateZ", "!invert!xformOp:translate:pivot"`, "Q 1,1,0 2,2,0",
		},
		{"reset", "double3 xformOp:translate = (1, 0, 0)", `"!resetXformStack!", "xformOp:translate"`, "Q 1,0,0 2,1,0"},
		{"axis", "double xformOp:translateX = 4\ndouble xformOp:scaleY = 3", `"xformOp:translateX", "xformOp:scaleY"`, "Q 4,0,0 5,3,0"},
		{"not in order", "double3 xformOp:translate = (1, 2, 3)", "", "Q 0,0,0 1,1,0"},
	} {
		up := ""
		if c.name == "reset" {
			up = "double3 xformOp:translate = (100, 0, 0)\nuniform token[] xformOpOrder = [\"xformOp:translate\"]\n"
		}
		s := one(t, "def Xform \"World\" {\n"+up+"def Mesh \"Q\" {"+quad+c.ops+"\nuniform token[] xformOpOrder = ["+c.order+"]\n}\n}")
		if got := shows(t, s); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestSpace: axes and units become glTF's.
func TestSpace(t *testing.T) {
	for _, c := range []struct{ meta, want string }{
		{`metersPerUnit = 1 upAxis = "Y"`, "Q 0,0,0 1,1,0"},
		{`metersPerUnit = 0.5 upAxis = "Z"`, "Q 0,0,-0.5 0.5,0,0"},
		{``, "Q 0,0,0 0.01,0.01,0"},
	} {
		s := load(t, map[string]string{"a.usda": "#usda 1.0\n(" + c.meta + ")\ndef Mesh \"Q\" {" + quad + "}"}, "a.usda")
		if got := shows(t, s); got != c.want {
			t.Errorf("%s: %s, want %s", c.meta, got, c.want)
		}
	}
}

// TestSpacesOfLayers: a sublayer's axes and units count for scenes of its own, and that is
// said.
func TestSpacesOfLayers(t *testing.T) {
	below := "#usda 1.0\n(\nmetersPerUnit = 1\nupAxis = \"Z\"\n)\ndef Mesh \"Q\" {" + quad + "}"
	s := load(t, map[string]string{"a.usda": "#usda 1.0\n(subLayers = [@b.usda@])", "b.usda": below}, "a.usda")
	if got, want := shows(t, s), "Q 0,0,0 0.01,0.01,0"; got != want || codes(s) != "usd-units-missing usd-spaces-differ" {
		t.Errorf("%s, %s; want %s", got, codes(s), want)
	}
	s = load(t, map[string]string{"a.usda": "#usda 1.0\n(\nmetersPerUnit = 1\nupAxis = \"Z\"\nsubLayers = [@b.usda@]\n)", "b.usda": below}, "a.usda")
	if got, want := shows(t, s), "Q 0,0,-1 1,0,0"; got != want || codes(s) != "" {
		t.Errorf("%s, %s; want %s", got, codes(s), want)
	}
}

// TestInactiveIds: instances that layers take away, each changing the list of the one below.
func TestInactiveIds(t *testing.T) {
	const instancer = `def PointInstancer "World" (
    inactiveIds = [7, 9]
) {
rel prototypes = </World/P>
int[] protoIndices = [0, 0, 0, 0]
int64[] ids = [6, 7, 8, 9]
point3f[] positions = [(0, 0, 0), (10, 0, 0), (20, 0, 0), (30, 0, 0)]
def Mesh "P" {` + quad + `}
}`
	for over, want := range map[string]string{
		"": "P 0,0,0 1,1,0; P 20,0,0 21,1,0",
		"over \"World\" ( delete inactiveIds = [9] prepend inactiveIds = [6] ) {}": "P 20,0,0 21,1,0; P 30,0,0 31,1,0",
		"over \"World\" ( inactiveIds = None ) {}":                                 "P 0,0,0 1,1,0; P 10,0,0 11,1,0; P 20,0,0 21,1,0; P 30,0,0 31,1,0",
	} {
		s := load(t, map[string]string{"a.usda": strings.Replace(head, "(\n", "(\nsubLayers = [@b.usda@]\n", 1) + over, "b.usda": head + instancer}, "a.usda")
		if got := shows(t, s); got != want {
			t.Errorf("%s: %s, want %s", over, got, want)
		}
	}
}

// TestShapes: the simple shapes have the sizes and, nearly, the areas that they should.
func TestShapes(t *testing.T) {
	for _, c := range []struct {
		kind, body string
		area       float64
		box        string
	}{
		{"Cube", "double size = 3", 54, "S -1.5,-1.5,-1.5 1.5,1.5,1.5"},
		{"Sphere", "double radius = 2", 4 * math.Pi * 4, "S -2,-2,-2 2,2,2"},
		{"Cylinder", "double height = 3", 2*math.Pi*3 + 2*math.Pi, "S -1,-1,-1.5 1,1,1.5"},
		{"Cylinder", "uniform token axis = \"X\"\ndouble height = 3", 2*math.Pi*3 + 2*math.Pi, "S -1.5,-1,-1 1.5,1,1"},
		{"Cone", "uniform token axis = \"Y\"", math.Pi*math.Sqrt(5) + math.Pi, "S -1,-1,-1 1,1,1"},
		{"Capsule", "double height = 2", math.Pi*2 + math.Pi, "S -0.5,-0.5,-1.5 0.5,0.5,1.5"},
		{"Plane", "double width = 4", 8, "S -2,-1,0 2,1,0"},
	} {
		s := one(t, "def "+c.kind+" \"S\" {\n"+c.body+"\n}")
		area, _, _ := extent(t, s)
		if got := shows(t, s); got != c.box || area > c.area*1.0001 || area < c.area*0.97 {
			t.Errorf("%s: %s, area %v; want %s, %v", c.kind, got, area, c.box, c.area)
		}
		// Fronts look away from the middle.
		list, err := s.Geometry(0)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range list {
			for k := 0; k < len(p.Indices); k += 3 {
				a, b, d := p.Positions[p.Indices[k]], p.Positions[p.Indices[k+1]], p.Positions[p.Indices[k+2]]
				n := p.Normals[p.Indices[k]]
				var cross [3]float32
				for i := range cross {
					u, v := (i+1)%3, (i+2)%3
					cross[i] = (b[u]-a[u])*(d[v]-a[v]) - (b[v]-a[v])*(d[u]-a[u])
				}
				if cross[0]*n[0]+cross[1]*n[1]+cross[2]*n[2] < 0 {
					t.Fatalf("%s: a face looks against its normal", c.kind)
				}
			}
		}
	}
}

// TestInstancers: prototypes stand where the instancer puts them, once each in the file.
func TestInstancers(t *testing.T) {
	s := one(t, `def PointInstancer "World" {
    rel prototypes = [</World/Protos/A>, </World/Protos/B>]
    int[] protoIndices = [0, 1, 0, 1]
    point3f[] positions = [(0, 0, 0), (10, 0, 0), (20, 0, 0), (30, 0, 0)]
    quath[] orientations = [(1, 0, 0, 0), (0, 0, 0, 1), (1, 0, 0, 0), (1, 0, 0, 0)]
    float3[] scales = [(1, 1, 1), (1, 1, 1), (2, 2, 2), (1, 1, 1)]
    int64[] ids = [7, 8, 9, 10]
    int64[] invisibleIds = [10]
    over "Protos" {
        def Mesh "A" {`+quad+`}
        def Xform "B" {
            double3 xformOp:translate = (1, 0, 0)
            uniform token[] xformOpOrder = ["xformOp:translate"]
            def Mesh "M" {`+quad+`}
        }
    }
}`)
	want := "A 0,0,0 1,1,0; M 8,-1,0 9,0,0; A 20,0,0 22,2,0"
	if got := shows(t, s); got != want || len(s.Meshes) != 2 {
		t.Errorf("%s with %d meshes, want %s", got, len(s.Meshes), want)
	}
}

// TestSeen: what is not drawn is left out.
func TestSeen(t *testing.T) {
	mesh := func(name, meta, body string) string {
		return "def Mesh \"" + name + "\" (" + meta + ") {" + quad + body + "}\n"
	}
	s := one(t, "def Xform \"World\" {\n"+
		mesh("A", "", "")+mesh("B", "active = false", "")+mesh("C", "", "token visibility = \"invisible\"\n")+
		mesh("D", "", "uniform token purpose = \"guide\"\n")+mesh("E", "", "uniform token purpose = \"render\"\n")+
		"def Xform \"F\" {\nuniform token purpose = \"proxy\"\n"+mesh("G", "", "")+mesh("H", "", "uniform token purpose = \"default\"\n")+"}\n"+
		"class \"I\" {\n"+mesh("J", "", "")+"}\nover \"K\" {\n"+mesh("L", "", "")+"}\ndef Camera \"M\" {}\ndef SphereLight \"N\" {}\ndef DomeLight \"Q\" {}\ndef Points \"O\" {}\n}")
	want := "A 0,0,0 1,1,0; E 0,0,0 1,1,0; F 0,0,0 1,1,0"
	if got := shows(t, s); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	want = "usd-invisible-skipped usd-purposes-skipped usd-lights-approximated usd-lights-skipped usd-geometry-skipped"
	if codes(s) != want {
		t.Errorf("%s, want %s", codes(s), want)
	}
}

// TestExtras: data of the user's become node extras.
func TestExtras(t *testing.T) {
	s := one(t, `def Xform "World" {
    def Xform "Chair" (
        customData = {
            string untold_tile_policy = "force_local"
            int n = 3
        }
    ) {
        custom string userProperties:owner = "me"
        custom string userProperties:blender:object_name = "Chair"
        def Mesh "Chair_mesh" {`+quad+`}
    }
}`)
	var got string
	for _, n := range s.Nodes {
		if n.Mesh >= 0 {
			got = n.Name + " " + string(n.Extras)
		}
	}
	if want := `Chair {"blender:object_name":"Chair","n":3,"owner":"me","untold_tile_policy":"force_local"}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestPackages: a package is its first layer, with what lies in it.
func TestPackages(t *testing.T) {
	inner := head + "def \"World\" (\n references = @parts/b.usda@\n) {}"
	part := head + "def Mesh \"World\" {" + quad + "}"
	s := load(t, map[string]string{"a.usdz": packed(t, zip.Store, "a.usda", inner, "parts/b.usda", part)}, "a.usdz")
	if got := shows(t, s); got != "World 0,0,0 1,1,0" || len(s.Files) != 1 {
		t.Errorf("%s of %v", got, s.Files)
	}
	files := map[string]string{
		"scene.usda": head + "def \"World\" {\ndef \"A\" ( references = @kit/a.usdz@ ) {}\ndef \"B\" ( references = @kit/a.usdz[parts/b.usda]@ ) {}\n}",
		"kit/a.usdz": packed(t, zip.Store, "a.usda", inner, "parts/b.usda", part),
	}
	s = load(t, files, "scene.usda")
	if got := shows(t, s); got != "A 0,0,0 1,1,0; B 0,0,0 1,1,0" || len(s.Meshes) != 1 || len(s.Files) != 2 {
		t.Errorf("%s, %d meshes of %v", got, len(s.Meshes), s.Files)
	}
	_, err := tryLoad(t, map[string]string{"a.usdz": packed(t, zip.Deflate, "a.usda", inner)}, "a.usdz", Options{})
	if !errors.Is(err, gltfscene.ErrUnsupported) || !strings.Contains(err.Error(), "is compressed within its package") {
		t.Errorf("%v", err)
	}
}

// TestCrate: a crate cooks to the same bytes as its text.
func TestCrate(t *testing.T) {
	made := map[string]string{}
	for _, ext := range []string{"usda", "usdc"} {
		data, err := os.ReadFile(filepath.Join("testdata", "room."+ext))
		if err != nil {
			t.Fatal(err)
		}
		m, err := parse(data, "room.usd", memory{"wood.png": wood}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		bin := make([]byte, m.Size)
		if _, err := m.Buffer.ReadAt(bin, 0); err != nil {
			t.Fatal(err)
		}
		made[ext] = string(m.JSON) + string(bin)
		m.Close()
	}
	if made["usda"] != made["usdc"] {
		t.Errorf("the crate makes other bytes")
	}
}
