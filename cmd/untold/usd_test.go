package main

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
)

// stageOf writes a scene of USD: a layer, one below it, one that it references, an image.
func stageOf(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "set")
	pixel, err := base64.StdEncoding.DecodeString(onePixel)
	if err != nil {
		t.Fatal(err)
	}
	const head = "#usda 1.0\n(\ndefaultPrim = \"Set\"\nmetersPerUnit = 1\nupAxis = \"Y\"\n"
	testfile.WriteTree(t, dir, map[string]string{
		"set.usda":   head + "subLayers = [@below.usda@]\n)\nover \"Set\" {\ndef Xform \"Slab\" ( references = @parts/slab.usd@ ) {}\n}\n",
		"below.usda": head + ")\ndef Xform \"Set\" {\ndef Cube \"Box\" {}\n}\n",
		"parts/slab.usd": head + `)
def Xform "Set" {
    def Mesh "Plate" {
        int[] faceVertexCounts = [4]
        int[] faceVertexIndices = [0, 1, 2, 3]
        point3f[] points = [(0, 0, 0), (0, 0, 1), (1, 0, 1), (1, 0, 0)]
        texCoord2f[] primvars:st = [(0, 0), (1, 0), (1, 1), (0, 1)] ( interpolation = "vertex" )
        uniform token subdivisionScheme = "none"
        rel material:binding = </Set/Stone>
    }
    def Material "Stone" {
        token outputs:surface.connect = </Set/Stone/Surface.outputs:surface>
        def Shader "Surface" {
            uniform token info:id = "UsdPreviewSurface"
            color3f inputs:diffuseColor.connect = </Set/Stone/Image.outputs:rgb>
        }
        def Shader "Image" {
            uniform token info:id = "UsdUVTexture"
            asset inputs:file = @grey.png@
        }
    }
}
`,
		"parts/grey.png": string(pixel),
	})
	return dir
}

// TestCookUSD cooks a scene of several layers, and again when one of them has changed.
func TestCookUSD(t *testing.T) {
	dir, out := stageOf(t), filepath.Join(t.TempDir(), "out")
	cook := func(arg, want string) {
		t.Helper()
		r := execute(t, nil, "cook", arg, "-o", out, "--sync=false")
		if r.code != 0 || !strings.Contains(r.stdout, want) {
			t.Fatalf("exit %d, want %q\n%s%s", r.code, want, r.stdout, r.err)
		}
	}
	scene := filepath.Join(dir, "set.usda")
	cook(scene, "set.json: 2 objects, 14 triangles in 1 tile")
	cook(scene, "nothing has changed since the last cook")
	below := filepath.Join(dir, "below.usda")
	testfile.Write(t, below, strings.Replace(string(testfile.Read(t, below)), "def Cube \"Box\" {}", "def Cube \"Box\" {}\ndef Plane \"Wall\" {}", 1))
	cook(scene, "set.json: 3 objects, 16 triangles in 1 tile")
	testfile.Write(t, filepath.Join(dir, "parts", "grey.png"), string(testfile.Read(t, filepath.Join(dir, "parts", "grey.png")))+"x")
	cook(scene, "set.json: 3 objects, 16 triangles in 1 tile")
	// Of a folder, the layers that others name are no scenes of their own.
	out = filepath.Join(t.TempDir(), "folder")
	cook(dir, "set.json: 3 objects, 16 triangles in 1 tile")

	made := filepath.Join(t.TempDir(), "set.untold")
	if r := execute(t, nil, "convert", scene, "-o", made); r.code != 0 || !strings.Contains(r.stdout, "3 meshes, 16 triangles, 2 materials, 1 texture") {
		t.Errorf("convert: exit %d\n%s%s", r.code, r.stdout, r.err)
	}
	if r := execute(t, nil, "simulate", scene); r.code == 0 || !strings.Contains(r.err, "set.usda is a USD scene, and simulate works on what is cooked from it") {
		t.Errorf("simulate: exit %d\n%s", r.code, r.err)
	}
	// Text alone may be piped in.
	pipe := exec.Command(underTest(t), "cook", "-", "-o", filepath.Join(t.TempDir(), "pipe"), "--sync=false")
	pipe.Stdin = strings.NewReader("#usda 1.0\ndef Cube \"A\" {}\n")
	if said, err := pipe.CombinedOutput(); err != nil || !strings.Contains(string(said), "stdin.json: 1 object, 12 triangles") {
		t.Errorf("%v\n%s", err, said)
	}
}

// TestCookUSDAddress downloads a layer with the layers and images that it needs.
func TestCookUSDAddress(t *testing.T) {
	server := httptest.NewServer(http.FileServer(http.Dir(stageOf(t))))
	defer server.Close()
	r := execute(t, nil, "cook", server.URL+"/set.usda", "-o", filepath.Join(t.TempDir(), "net"), "--sync=false")
	if r.code != 0 || !strings.Contains(r.stdout, "set.json: 2 objects, 14 triangles in 1 tile (14 triangles") || !strings.Contains(r.stdout, "1 texture") {
		t.Fatalf("exit %d\n%s%s", r.code, r.stdout, r.err)
	}
}
