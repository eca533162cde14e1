package usd

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/untoldkit/untold/cook/gltfscene"
)

// TestCameras: cameras are placed, and their angles are those of their apertures.
func TestCameras(t *testing.T) {
	s := one(t, `def Xform "World" {
def Camera "A" {
    float focalLength = 18
    float horizontalAperture = 36
    float verticalAperture = 24
    float2 clippingRange = (0.5, 200)
    double3 xformOp:translate = (1, 2, 3)
    uniform token[] xformOpOrder = ["xformOp:translate"]
}
def Camera "B" {
    token projection = "orthographic"
}
def Mesh "M" {`+quad+`}
}`)
	if len(s.Cameras) != 2 || codes(s) != "" {
		t.Fatalf("%d cameras, %s", len(s.Cameras), codes(s))
	}
	c := s.Cameras[0]
	if want := 2 * math.Atan(24.0/36); c.Name != "A" || math.Abs(c.FovY-want) > 1e-9 || math.Abs(c.Aspect-1.5) > 1e-9 || c.Near != 0.5 || c.Far != 200 {
		t.Errorf("%+v, want an angle of %v", c, want)
	}
	if at := c.World; at[12] != 1 || at[13] != 2 || at[14] != 3 {
		t.Errorf("it stands at %v", at[12:15])
	}
	if !s.Cameras[1].Orthographic {
		t.Errorf("%+v", s.Cameras[1])
	}
}

// TestLights: luminances of surfaces become candela, and lux of what is far.
func TestLights(t *testing.T) {
	for _, c := range []struct {
		name, prim, kind string
		intensity, outer float64 // radians
		notes            string
	}{
		{"sphere", "def SphereLight \"L\" {\nfloat inputs:intensity = 10\nfloat inputs:radius = 0.2\n}", "point", 10 * math.Pi * 0.04, 0, "usd-lights-approximated"},
		{"exposure", "def SphereLight \"L\" {\nfloat inputs:intensity = 10\nfloat inputs:exposure = 1.5\nfloat inputs:radius = 0.2\n}", "point", math.Pow(2, 1.5) * 10 * math.Pi * 0.04, 0, "usd-lights-approximated"},
		{"darker", "def SphereLight \"L\" {\nfloat inputs:intensity = 10\nfloat inputs:exposure = -2.25\nfloat inputs:radius = 0.2\n}", "point", math.Pow(2, -2.25) * 10 * math.Pi * 0.04, 0, "usd-lights-approximated"},
		{"of a size that does not count", "def SphereLight \"L\" {\nfloat inputs:intensity = 8\nfloat inputs:radius = 3\nbool inputs:normalize = 1\n}", "point", 2, 0, "usd-lights-approximated"},
		{"a point", "def SphereLight \"L\" {\nfloat inputs:intensity = 8\nfloat inputs:radius = 0\n}", "point", 8, 0, ""},
		{"an old name", "def SphereLight \"L\" {\nfloat intensity = 8\nfloat radius = 0\n}", "point", 8, 0, ""},
		{"spot", "def SphereLight \"L\" {\nfloat inputs:intensity = 8\nfloat inputs:radius = 0\nfloat inputs:shaping:cone:angle = 30\n}", "spot", 8, math.Pi / 6, ""},
		{"rectangle", "def RectLight \"L\" {\nfloat inputs:intensity = 3\nfloat inputs:width = 2\nfloat inputs:height = 0.5\n}", "spot", 3, math.Pi / 2, "usd-lights-approximated"},
		{"disk", "def DiskLight \"L\" {\nfloat inputs:intensity = 3\nfloat inputs:radius = 1\n}", "spot", 3 * math.Pi, math.Pi / 2, "usd-lights-approximated"},
		{"sun", "def DistantLight \"L\" {\nfloat inputs:intensity = 5\nbool inputs:normalize = 1\n}", "directional", 5, 0, ""},
		{"sun by default", "def DistantLight \"L\" {}", "directional", 50000 * math.Pi * math.Pow(math.Sin(0.53*math.Pi/360), 2), 0, ""},
		{"warm", "def SphereLight \"L\" {\nfloat inputs:radius = 0\ncolor3f inputs:color = (2, 1, 0)\nbool inputs:enableColorTemperature = 1\n}", "point", 2, 0, "usd-light-parts-skipped"},
	} {
		s := one(t, "def Xform \"World\" {\n"+c.prim+"\ndef Mesh \"M\" {"+quad+"}\n}")
		if len(s.Lights) != 1 {
			t.Errorf("%s: %d lights, %s", c.name, len(s.Lights), codes(s))
			continue
		}
		l := s.Lights[0]
		if l.Kind != c.kind || math.Abs(l.Intensity-c.intensity) > 1e-6*c.intensity || c.kind == "spot" && math.Abs(l.OuterCone-c.outer) > 1e-9 || codes(s) != c.notes {
			t.Errorf("%s: %+v, %q; want %s of %v within %v, %q", c.name, l, codes(s), c.kind, c.intensity, c.outer, c.notes)
		}
		if c.name == "warm" && l.Color != [3]float64{1, 0.5, 0} {
			t.Errorf("the colour is %v", l.Color)
		}
	}
}

// TestInvalidAuthored: a scene is cooked without cameras and lights that glTF cannot have.
func TestInvalidAuthored(t *testing.T) {
	for prim, want := range map[string]string{
		"def Camera \"C\" {\nfloat focalLength = 0\n}":                                                                         "usd-cameras-invalid",
		"def Camera \"C\" {\nfloat verticalAperture = -1\n}":                                                                   "usd-cameras-invalid",
		"def Camera \"C\" {\ndouble focalLength = 1e-310\nfloat verticalAperture = 1e9\n}":                                     "usd-cameras-invalid",
		"def Camera \"C\" {\ntoken projection = \"orthographic\"\nfloat focalLength = 0\n}":                                    "",
		"def SphereLight \"L\" {\nfloat inputs:intensity = -1\nfloat inputs:radius = 0\n}":                                     "usd-lights-invalid",
		"def SphereLight \"L\" {\ncolor3f inputs:color = (1, -1, 0)\nfloat inputs:radius = 0\n}":                               "usd-lights-invalid",
		"def SphereLight \"L\" {\ndouble inputs:intensity = 1e300\nfloat inputs:exposure = 64\ndouble inputs:radius = 1e10\n}": "usd-lights-approximated usd-lights-invalid",
	} {
		s := one(t, "def Xform \"World\" {\n"+prim+"\ndef Mesh \"M\" {"+quad+"}\n}")
		if codes(s) != want || want != "" && len(s.Cameras)+len(s.Lights) != 0 {
			t.Errorf("%s: %q, %d cameras, %d lights; want %q", prim, codes(s), len(s.Cameras), len(s.Lights), want)
		}
	}
}

// TestPrimsWithinMemory: what prims take counts, however short their text is.
func TestPrimsWithinMemory(t *testing.T) {
	text := head + "def \"World\" {\n" + strings.Repeat("def \"a\"{}\n", 20000) + "}"
	if _, err := tryLoad(t, map[string]string{"a.usda": text}, "a.usda", Options{Memory: 16 << 20}); !errors.Is(err, gltfscene.ErrTooLarge) || !strings.Contains(err.Error(), "its prims take more than 16777216 bytes") {
		t.Errorf("%v", err)
	}
	// And so does what all layers take together.
	half := head + "def \"World\" {\n" + strings.Repeat("def \"a\"{}\n", 10000) + "}"
	files := map[string]string{"a.usda": strings.Replace(head, "(\n", "(\nsubLayers = [@b.usda@, @c.usda@]\n", 1), "b.usda": half, "c.usda": half}
	if _, err := tryLoad(t, files, "a.usda", Options{Memory: 16 << 20}); !errors.Is(err, gltfscene.ErrTooLarge) {
		t.Errorf("%v", err)
	}
	if _, err := tryLoad(t, files, "a.usda", Options{Memory: 64 << 20}); err != nil {
		t.Errorf("%v", err)
	}
}
