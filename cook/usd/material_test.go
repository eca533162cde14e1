package usd

import (
	"archive/zip"
	"bytes"
	"fmt"
	"image/color"
	"image/png"
	"math"
	"strings"
	"testing"

	"github.com/untoldkit/untold/cook/gltfscene"
)

// shaded is a mesh with a material of some inputs, and more shaders.
func shaded(inputs, shaders string) string {
	return "def Mesh \"World\" {" + quad + `
    texCoord2f[] primvars:st = [(0, 0), (1, 0), (1, 1), (0, 1)] ( interpolation = "vertex" )
    texCoord2f[] primvars:UVMap = [(0, 0), (1, 0), (1, 1), (0, 1)] ( interpolation = "vertex" )
    rel material:binding = </World/Mat>
    def Material "Mat" {
        token outputs:surface.connect = </World/Mat/S.outputs:surface>
        def Shader "S" {
            uniform token info:id = "UsdPreviewSurface"
` + inputs + "\n}\n" + shaders + "\n}\n}\n"
}

// imageShader is a texture shader.
func imageShader(name, file, more string) string {
	return "def Shader \"" + name + "\" {\nuniform token info:id = \"UsdUVTexture\"\nasset inputs:file = @" + file + "@\n" + more + "\n}\n"
}

// lookOf returns the only material of a scene.
func lookOf(t *testing.T, s *gltfscene.Scene) *gltfscene.Material {
	t.Helper()
	if len(s.Materials) != 1 {
		t.Fatalf("there are %d materials", len(s.Materials))
	}
	return &s.Materials[0]
}

// pixel returns the first pixel of an image of a scene.
func pixel(t *testing.T, s *gltfscene.Scene, r gltfscene.TextureRef) string {
	t.Helper()
	if r.Image < 0 {
		return "none"
	}
	data, err := s.Images[r.Image].Bytes()
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	c := color.NRGBAModel.Convert(img.At(0, 0)).(color.NRGBA)
	return fmt.Sprint(c.R, " ", c.G, " ", c.B, " ", c.A)
}

// TestMaterials: what UsdPreviewSurface comes to.
func TestMaterials(t *testing.T) {
	files := map[string]string{
		"c.png": pngOf(color.NRGBA{200, 100, 50, 128}, 2), "d.png": pngOf(color.NRGBA{10, 20, 30, 255}, 4), "n.png": pngOf(color.NRGBA{128, 200, 255, 255}, 2),
	}
	for _, c := range []struct {
		name, inputs, shaders string
		want                  string // of describe below
		notes                 string
	}{
		{"constants", "color3f inputs:diffuseColor = (0.5, 0.25, 1)\nfloat inputs:metallic = 1\nfloat inputs:roughness = 0.25\ncolor3f inputs:emissiveColor = (2, 1, 0)", "", "[0.5 0.25 1 1] m1 r0.25 e[2 1 0] opaque", ""},
		{"defaults", "", "", "[0.18 0.18 0.18 1] m0 r0.5 e[0 0 0] opaque", ""},
		{"blend", "float inputs:opacity = 0.5", "", "[0.18 0.18 0.18 0.5] m0 r0.5 e[0 0 0] blend", ""},
		{"colour", "color3f inputs:diffuseColor.connect = </World/Mat/T.outputs:rgb>", imageShader("T", "c.png", ""), "[1 1 1 1] m0 r0.5 e[0 0 0] opaque base:200 100 50 128", ""},
		{"cut out", "color3f inputs:diffuseColor.connect = </World/Mat/T.outputs:rgb>\nfloat inputs:opacity.connect = </World/Mat/T.outputs:a>\nfloat inputs:opacityThreshold = 0.5", imageShader("T", "c.png", "float4 inputs:scale = (0.5, 1, 1, 1)"), "[0.5 1 1 1] m0 r0.5 e[0 0 0] mask0.5 base:200 100 50 128", ""},
		{"opacity of another image", "color3f inputs:diffuseColor.connect = </World/Mat/T.outputs:rgb>\nfloat inputs:opacity.connect = </World/Mat/U.outputs:g>", imageShader("T", "c.png", "") + imageShader("U", "d.png", ""), "[1 1 1 1] m0 r0.5 e[0 0 0] blend base:200 100 50 20", ""},
		{"roughness and metalness as glTF has them", "float inputs:metallic.connect = </World/Mat/T.outputs:b>\nfloat inputs:roughness.connect = </World/Mat/T.outputs:g>\nfloat inputs:occlusion.connect = </World/Mat/T.outputs:r>", imageShader("T", "d.png", ""), "[0.18 0.18 0.18 1] m1 r1 e[0 0 0] opaque orm:10 20 30 255 occlusion:10 20 30 255", ""},
		{"roughness alone", "float inputs:roughness.connect = </World/Mat/T.outputs:r>", imageShader("T", "d.png", "float4 inputs:scale = (2, 2, 2, 2)\nfloat4 inputs:bias = (0.2, 0, 0, 0)"), "[0.18 0.18 0.18 1] m0 r1 e[0 0 0] opaque orm:255 71 255 255", ""},
		{"two images", "float inputs:metallic.connect = </World/Mat/T.outputs:a>\nfloat inputs:roughness.connect = </World/Mat/U.outputs:b>\nfloat inputs:occlusion.connect = </World/Mat/U.outputs:r>", imageShader("T", "c.png", "") + imageShader("U", "d.png", ""), "[0.18 0.18 0.18 1] m1 r1 e[0 0 0] opaque orm:10 30 128 255 occlusion:10 30 128 255", ""},
		{"normal map", "normal3f inputs:normal.connect = </World/Mat/T.outputs:rgb>", imageShader("T", "n.png", "float4 inputs:scale = (2, 2, 2, 1)\nfloat4 inputs:bias = (-1, -1, -1, 0)\ntoken inputs:sourceColorSpace = \"raw\""), "[0.18 0.18 0.18 1] m0 r0.5 e[0 0 0] opaque normal:128 200 255 255", ""},
		{"normal map whose y points down", "normal3f inputs:normal.connect = </World/Mat/T.outputs:rgb>", imageShader("T", "n.png", "float4 inputs:scale = (2, -2, 2, 1)\nfloat4 inputs:bias = (-1, 1, -1, 0)"), "[0.18 0.18 0.18 1] m0 r0.5 e[0 0 0] opaque normal:128 55 255 255", ""},
		{"glow", "color3f inputs:emissiveColor.connect = </World/Mat/T.outputs:rgb>", imageShader("T", "c.png", "float4 inputs:scale = (3, 3, 3, 1)"), "[0.18 0.18 0.18 1] m0 r0.5 e[3 3 3] opaque glow:200 100 50 128", ""},
		{"through the material's inputs", "color3f inputs:diffuseColor.connect = </World/Mat.inputs:tint>\n}\ncolor3f inputs:tint = (1, 0, 0)\ndef Scope \"X\" {", "", "[1 0 0 1] m0 r0.5 e[0 0 0] opaque", ""},
		{"what is not read", "color3f inputs:diffuseColor.connect = </World/Mat/T.outputs:out>\nfloat inputs:clearcoat = 1\nint inputs:useSpecularWorkflow = 1", "def Shader \"T\" {\nuniform token info:id = \"Noise\"\n}", "[0.18 0.18 0.18 1] m0 r0.5 e[0 0 0] opaque", "usd-shaders-skipped usd-specular-skipped usd-shading-skipped"},
		{"an image of no name, tiles", "color3f inputs:diffuseColor.connect = </World/Mat/T.outputs:rgb>\ncolor3f inputs:emissiveColor.connect = </World/Mat/U.outputs:rgb>", imageShader("T", "", "") + imageShader("U", "x.<UDIM>.png", ""), "[0.18 0.18 0.18 1] m0 r0.5 e[0 0 0] opaque", "usd-textures-empty usd-udim-skipped"},
	} {
		with := map[string]string{"a.usda": head + shaded(c.inputs, c.shaders)}
		for k, v := range files {
			with[k] = v
		}
		s := load(t, with, "a.usda")
		m := lookOf(t, s)
		round := func(v float32) float64 { return math.Round(float64(v)*1e4) / 1e4 }
		got := fmt.Sprint([4]float64{round(m.BaseColor[0]), round(m.BaseColor[1]), round(m.BaseColor[2]), round(m.BaseColor[3])}, " m", round(m.Metallic), " r", round(m.Roughness), " e", m.Emissive, " ", [...]string{"opaque", "mask", "blend"}[m.AlphaMode])
		if m.AlphaMode == gltfscene.AlphaMask {
			got += fmt.Sprint(round(m.AlphaCutoff))
		}
		for _, r := range []struct {
			name string
			ref  gltfscene.TextureRef
		}{{"base", m.BaseColorTex}, {"orm", m.MetalRoughTex}, {"normal", m.NormalTex}, {"occlusion", m.OcclusionTex}, {"glow", m.EmissiveTex}} {
			if p := pixel(t, s, r.ref); p != "none" {
				got += " " + r.name + ":" + p
			}
		}
		if got != c.want || codes(s) != c.notes {
			t.Errorf("%s:\n%s, %q; want\n%s, %q", c.name, got, codes(s), c.want, c.notes)
		}
	}
}

// TestCoordinates: how textures lie: by which primvar, wrapped and moved how.
func TestCoordinates(t *testing.T) {
	const st = "float2 inputs:st.connect = </World/Mat/P.outputs:result>\n"
	reader := "def Shader \"R\" {\nuniform token info:id = \"UsdPrimvarReader_float2\"\ntoken inputs:varname = \"UVMap\"\n}\n"
	move := "def Shader \"P\" {\nuniform token info:id = \"UsdTransform2d\"\nfloat2 inputs:in.connect = </World/Mat/R.outputs:result>\nfloat2 inputs:scale = (2, 4)\nfloat2 inputs:translation = (0.5, 0.25)\nfloat inputs:rotation = 90\n}\n"
	s := load(t, map[string]string{
		"a.usda": head + shaded("color3f inputs:diffuseColor.connect = </World/Mat/T.outputs:rgb>", imageShader("T", "c.png", st+"token inputs:wrapS = \"clamp\"\ntoken inputs:wrapT = \"mirror\"")+move+reader),
		"c.png":  wood,
	}, "a.usda")
	r := lookOf(t, s).BaseColorTex
	if r.WrapS != gltfscene.WrapClamp || r.WrapT != gltfscene.WrapMirror || r.Scale != [2]float64{2, 4} || math.Abs(r.Rot-math.Pi/2) > 1e-9 {
		t.Errorf("%+v", r)
	}
	// A point of the surface sees the same place of the image, whose v points up there and
	// down here.
	for _, p := range [][2]float64{{0, 0}, {0.3, 0.8}} {
		u, v := float64(2*p[0]), float64(4*p[1])
		u, v = -v+0.5, u+0.25 // turned by 90 degrees, moved
		sin, cos := math.Sincos(r.Rot)
		x, y := r.Scale[0]*p[0], r.Scale[1]*(1-p[1])
		gu, gv := cos*x+sin*y+r.Offset[0], -sin*x+cos*y+r.Offset[1]
		if math.Abs(gu-u) > 1e-6 || math.Abs(gv-(1-v)) > 1e-6 {
			t.Errorf("%v is at %v, %v, want %v, %v", p, gu, gv, u, 1-v)
		}
	}
}

// TestBindings: which material counts.
func TestBindings(t *testing.T) {
	material := func(name string) string {
		return "def Material \"" + name + "\" {\ntoken outputs:surface.connect = </World/" + name + "/S.outputs:surface>\ndef Shader \"S\" {\nuniform token info:id = \"UsdPreviewSurface\"\n}\n}\n"
	}
	for _, c := range []struct{ name, upper, own, want string }{
		{"inherited", "rel material:binding = </World/A>\n", "", "A"},
		{"own", "rel material:binding = </World/A>\n", "rel material:binding = </World/B>\n", "B"},
		{"stronger", "rel material:binding = </World/A> ( bindMaterialAs = \"strongerThanDescendants\" )\n", "rel material:binding = </World/B>\n", "A"},
		{"for previews", "rel material:binding:preview = </World/A>\n", "rel material:binding = </World/B>\n", "A"},
		{"missing", "rel material:binding = </World/A>\n", "rel material:binding = </World/X>\n", "A"},
		{"none", "", "", "default"},
		{"colour", "color3f[] primvars:displayColor = [(1, 0, 0)]\n", "", "displayColor"},
		{"of another kind", "", "rel material:binding = </World/C>\n", "default"},
	} {
		s := one(t, "def Xform \"World\" {\n"+c.upper+"def Mesh \"M\" {"+quad+c.own+"}\n"+material("A")+material("B")+"def Material \"C\" {}\n}")
		if m := lookOf(t, s); m.Name != c.want {
			t.Errorf("%s: %s, want %s", c.name, m.Name, c.want)
		}
	}
	// Parts of a mesh.
	s := one(t, "def Mesh \"World\" {"+strings.Replace(strings.Replace(quad, "[4]", "[3, 3]", 1), "0, 1, 2, 3", "0, 1, 2, 0, 2, 3", 1)+
		"rel material:binding = </World/A>\nuniform bool doubleSided = 1\ndef GeomSubset \"G\" {\nuniform token familyName = \"materialBind\"\nint[] indices = [1]\nrel material:binding = </World/B>\n}\n"+material("A")+material("B")+"}")
	list, err := s.Geometry(0)
	if err != nil || len(list) != 2 || len(list[0].Indices) != 3 || s.Materials[0].Name != "A" || s.Materials[1].Name != "B" || !s.Materials[0].DoubleSided {
		t.Errorf("%v, %v", list, err)
	}
}

// TestImagesOfPackages: images of a package come with the scene.
func TestImagesOfPackages(t *testing.T) {
	scene := head + shaded("color3f inputs:diffuseColor.connect = </World/Mat/T.outputs:rgb>", imageShader("T", "0/c.png", ""))
	s := load(t, map[string]string{"a.usdz": packed(t, zip.Store, "a.usda", scene, "0/c.png", wood)}, "a.usdz")
	if got := pixel(t, s, lookOf(t, s).BaseColorTex); got != "200 100 50 255" || codes(s) != "" {
		t.Errorf("%s, %s", got, codes(s))
	}
}
