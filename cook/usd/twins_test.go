package usd

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/cook/gltfscene"
)

// writeTwin writes a glTF scene as a layer of text, with its images beside it: a test's own
// exporter, which does what those of other programs do.
func writeTwin(t testing.TB, s *gltfscene.Scene, dir string) string {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("#usda 1.0\n(\n    metersPerUnit = 1\n    upAxis = \"Y\"\n)\n")
	images := make([]string, len(s.Images))
	for i := range s.Images {
		data, err := s.Images[i].Bytes()
		if err != nil {
			t.Fatal(err)
		}
		images[i] = fmt.Sprintf("image%d%s", i, map[string]string{"image/png": ".png", "image/jpeg": ".jpg"}[s.Images[i].MIME])
		if err := os.WriteFile(filepath.Join(dir, images[i]), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b.WriteString("def Scope \"Looks\" {\n")
	for i := range s.Materials {
		writeTwinLook(&b, i, &s.Materials[i], images)
	}
	b.WriteString("}\n")
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if n.Mesh < 0 {
			continue
		}
		list, err := s.Geometry(n.Mesh)
		if err != nil {
			t.Fatal(err)
		}
		m := n.World
		fmt.Fprintf(&b, "def Xform \"Node%d\" {\nmatrix4d xformOp:transform = (", i)
		for r := range 4 {
			if r > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "(%v, %v, %v, %v)", m[4*r], m[4*r+1], m[4*r+2], m[4*r+3])
		}
		b.WriteString(")\nuniform token[] xformOpOrder = [\"xformOp:transform\"]\n")
		for k := range list {
			writeTwinMesh(&b, k, &list[k], s)
		}
		b.WriteString("}\n")
	}
	name := filepath.Join(dir, "twin.usda")
	if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func writeTwinMesh(b *bytes.Buffer, k int, p *gltfscene.Primitive, s *gltfscene.Scene) {
	fmt.Fprintf(b, "def Mesh \"Part%d\" {\nuniform token subdivisionScheme = \"none\"\n", k)
	list := func(name string, n int, of func(i int) string, meta string) {
		fmt.Fprintf(b, "%s = [", name)
		for i := range n {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(of(i))
		}
		fmt.Fprintf(b, "]%s\n", meta)
	}
	vec := func(v ...float32) string {
		text := strings.Trim(fmt.Sprint(v), "[]")
		return "(" + strings.ReplaceAll(text, " ", ", ") + ")"
	}
	const vertex = " ( interpolation = \"vertex\" )"
	list("int[] faceVertexCounts", len(p.Indices)/3, func(int) string { return "3" }, "")
	list("int[] faceVertexIndices", len(p.Indices), func(i int) string { return fmt.Sprint(p.Indices[i]) }, "")
	list("point3f[] points", len(p.Positions), func(i int) string { return vec(p.Positions[i][:]...) }, "")
	if p.Normals != nil {
		list("normal3f[] normals", len(p.Normals), func(i int) string { return vec(p.Normals[i][:]...) }, vertex)
	}
	for set, name := range []string{"st", "st1"} {
		if uv := p.UV[set]; uv != nil {
			list("texCoord2f[] primvars:"+name, len(uv), func(i int) string { return vec(uv[i][0], 1-uv[i][1]) }, vertex)
		}
	}
	if p.Material >= 0 {
		fmt.Fprintf(b, "rel material:binding = </Looks/M%d>\n", p.Material)
		if s.Materials[p.Material].DoubleSided {
			b.WriteString("uniform bool doubleSided = 1\n")
		}
	}
	b.WriteString("}\n")
}

func writeTwinLook(b *bytes.Buffer, i int, m *gltfscene.Material, images []string) {
	at := fmt.Sprintf("/Looks/M%d", i)
	var shaders strings.Builder
	shaders.WriteString("")
	texture := func(name string, r gltfscene.TextureRef, more string) bool {
		if r.Image < 0 {
			return false
		}
		wrap := func(w gltfscene.Wrap) string { return [...]string{"repeat", "clamp", "mirror"}[w] }
		fmt.Fprintf(&shaders, "def Shader \"%s\" {\nuniform token info:id = \"UsdUVTexture\"\nasset inputs:file = @%s@\ntoken inputs:wrapS = \"%s\"\ntoken inputs:wrapT = \"%s\"\nfloat2 inputs:st.connect = <%s/R%d.outputs:result>\n%s}\n",
			name, images[r.Image], wrap(r.WrapS), wrap(r.WrapT), at, r.UVSet, more)
		return true
	}
	fmt.Fprintf(b, "def Material \"M%d\" {\ntoken outputs:surface.connect = <%s/S.outputs:surface>\ndef Shader \"S\" {\nuniform token info:id = \"UsdPreviewSurface\"\n", i, at)
	if texture("Base", m.BaseColorTex, fmt.Sprintf("float4 inputs:scale = (%v, %v, %v, %v)\n", m.BaseColor[0], m.BaseColor[1], m.BaseColor[2], 1)) {
		fmt.Fprintf(b, "color3f inputs:diffuseColor.connect = <%s/Base.outputs:rgb>\n", at)
	} else {
		fmt.Fprintf(b, "color3f inputs:diffuseColor = (%v, %v, %v)\n", m.BaseColor[0], m.BaseColor[1], m.BaseColor[2])
	}
	switch {
	case m.AlphaMode == gltfscene.AlphaOpaque:
	case m.BaseColorTex.Image >= 0:
		fmt.Fprintf(b, "float inputs:opacity.connect = <%s/Base.outputs:a>\n", at)
	default:
		fmt.Fprintf(b, "float inputs:opacity = %v\n", m.BaseColor[3])
	}
	if m.AlphaMode == gltfscene.AlphaMask {
		fmt.Fprintf(b, "float inputs:opacityThreshold = %v\n", m.AlphaCutoff)
	}
	if texture("Shine", m.MetalRoughTex, "token inputs:sourceColorSpace = \"raw\"\n") {
		fmt.Fprintf(b, "float inputs:metallic.connect = <%s/Shine.outputs:b>\nfloat inputs:roughness.connect = <%s/Shine.outputs:g>\n", at, at)
	} else {
		fmt.Fprintf(b, "float inputs:metallic = %v\nfloat inputs:roughness = %v\n", m.Metallic, m.Roughness)
	}
	if texture("Bumps", m.NormalTex, "float4 inputs:scale = (2, 2, 2, 1)\nfloat4 inputs:bias = (-1, -1, -1, 0)\n") {
		fmt.Fprintf(b, "normal3f inputs:normal.connect = <%s/Bumps.outputs:rgb>\n", at)
	}
	if texture("Shade", m.OcclusionTex, "token inputs:sourceColorSpace = \"raw\"\n") {
		fmt.Fprintf(b, "float inputs:occlusion.connect = <%s/Shade.outputs:r>\n", at)
	}
	if texture("Glow", m.EmissiveTex, fmt.Sprintf("float4 inputs:scale = (%v, %v, %v, 1)\n", m.Emissive[0], m.Emissive[1], m.Emissive[2])) {
		fmt.Fprintf(b, "color3f inputs:emissiveColor.connect = <%s/Glow.outputs:rgb>\n", at)
	} else {
		fmt.Fprintf(b, "color3f inputs:emissiveColor = (%v, %v, %v)\n", m.Emissive[0], m.Emissive[1], m.Emissive[2])
	}
	b.WriteString("}\n" + shaders.String())
	for set, name := range []string{"st", "st1"} {
		fmt.Fprintf(b, "def Shader \"R%d\" {\nuniform token info:id = \"UsdPrimvarReader_float2\"\nstring inputs:varname = \"%s\"\n}\n", set, name)
	}
	b.WriteString("}\n")
}

// TestGLTFTwins: models of glTF that were written as USD cook to what they were: some, or
// all where UNTOLD_USD_TWINS names a folder, which keeps the twins for programs that show
// both.
func TestGLTFTwins(t *testing.T) {
	root := filepath.Join("..", "..", "..", "shared", "assets")
	if _, err := os.Stat(filepath.Join(root, "INVENTORY.tsv")); err != nil {
		t.Skip("the shared assets are absent: ", err)
	}
	models, err := filepath.Glob(filepath.Join(root, "*", "*", "*.gl[tb]*"))
	if err != nil {
		t.Fatal(err)
	}
	keep := os.Getenv("UNTOLD_USD_TWINS")
	compared := 0
	for i, model := range models {
		st, err := os.Stat(model)
		if err != nil {
			t.Fatal(err)
		}
		if keep == "" && (st.Size() > 2<<20 || i%6 > 0) { // all of them for those who wait
			continue
		}
		opts := gltfscene.DefaultOptions()
		want, err := gltfscene.Open(context.Background(), model, opts, 1<<24, nil)
		if err != nil {
			continue // of those that are invalid on purpose, or name what is not there
		}
		t.Run(filepath.Base(model), func(t *testing.T) {
			defer want.Close()
			for i := range want.Images {
				if m := want.Images[i].MIME; m != "image/png" && m != "image/jpeg" {
					t.Skip("has images of other formats")
				}
			}
			area, box, n := extent(t, want)
			if n == 0 || n > 50_000 && keep == "" {
				t.Skip("has no triangles, or many")
			}
			dir := t.TempDir()
			if keep != "" {
				dir = filepath.Join(keep, filepath.Base(filepath.Dir(model)))
				if err := os.MkdirAll(dir, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			got, err := openAt(t, writeTwin(t, want, dir), Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer got.Close()
			area2, box2, n2 := extent(t, got)
			size, d := box.Size().Len(), 0.0
			for k := range 3 {
				d = max(d, math.Abs(box.Min[k]-box2.Min[k]), math.Abs(box.Max[k]-box2.Max[k]))
			}
			if n2 != n || math.Abs(area-area2) > 1e-6*area || d > 1e-6*size {
				t.Errorf("%d triangles, area %v, box %v; of the glTF %d, %v, %v", n2, area2, box2, n, area, box)
			}
			sameLooks(t, want, got)
			compared++
		})
	}
	if compared == 0 {
		t.Error("no model was compared")
	}
}

// sameLooks compares materials, which have numbers of the glTF's as names.
func sameLooks(t *testing.T, want, got *gltfscene.Scene) {
	t.Helper()
	near := func(a, b float32) bool { return math.Abs(float64(a-b)) < 1e-5 }
	for i := range got.Materials {
		g, n := &got.Materials[i], 0
		if _, err := fmt.Sscanf(g.Name, "M%d", &n); err != nil {
			continue
		}
		w := &want.Materials[n]
		if w.DoubleSided != g.DoubleSided || w.AlphaMode != g.AlphaMode {
			t.Errorf("%s: sides or alpha differ", g.Name)
		}
		for k := range 3 {
			if !near(w.BaseColor[k], g.BaseColor[k]) || w.EmissiveTex.Image < 0 && !near(w.Emissive[k], g.Emissive[k]) {
				t.Errorf("%s: %v %v, want %v %v", g.Name, g.BaseColor, g.Emissive, w.BaseColor, w.Emissive)
				break
			}
		}
		for _, r := range []struct{ a, b gltfscene.TextureRef }{
			{w.BaseColorTex, g.BaseColorTex}, {w.MetalRoughTex, g.MetalRoughTex}, {w.NormalTex, g.NormalTex}, {w.OcclusionTex, g.OcclusionTex}, {w.EmissiveTex, g.EmissiveTex},
		} {
			if (r.a.Image < 0) != (r.b.Image < 0) {
				t.Errorf("%s: a texture is there or not: %v, want %v", g.Name, r.b.Image, r.a.Image)
				continue
			}
			if r.a.Image < 0 {
				continue
			}
			x, err := want.Images[r.a.Image].Bytes()
			if err != nil {
				t.Fatal(err)
			}
			y, err := got.Images[r.b.Image].Bytes()
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(x, y) || r.a.WrapS != r.b.WrapS || r.a.WrapT != r.b.WrapT {
				t.Errorf("%s: a texture is another one", g.Name)
			}
		}
	}
}
