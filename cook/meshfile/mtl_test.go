package meshfile

import (
	"fmt"
	"strings"
	"testing"

	"github.com/untoldkit/untold/cook/gltfscene"
)

// picture is the smallest that passes for an image until it is decoded.
const picture = "\x89PNG\r\n\x1a\n"

// TestMTL reads statements of materials.
func TestMTL(t *testing.T) {
	beside := map[string]string{"wood.png": picture, "maps/wood normal.png": picture, "orm.png": picture, "glow.jpg": picture, "maps/leaf.png": picture}
	show := func(s *gltfscene.Scene, m *gltfscene.Material) string {
		tex := func(r gltfscene.TextureRef) string {
			if r.Image < 0 {
				return "-"
			}
			out := s.Images[r.Image].URI
			if r.Scale != [2]float64{1, 1} || r.Offset != [2]float64{} {
				out += fmt.Sprint(r.Scale, r.Offset)
			}
			if r.WrapS != gltfscene.WrapRepeat {
				out += " clamped"
			}
			return out
		}
		return fmt.Sprint(m.BaseColor, " ", m.Metallic, " ", m.Roughness, " ", m.Emissive, " mode ", m.AlphaMode, " ", m.DoubleSided, " ", m.NormalScale, " ",
			strings.Join([]string{tex(m.BaseColorTex), tex(m.MetalRoughTex), tex(m.NormalTex), tex(m.EmissiveTex)}, "|"))
	}
	const plain = " mode 0 false 1 -|-|-|-"
	for name, c := range map[string]struct{ mtl, want, notes string }{
		"nothing":           {"", "[1 1 1 1] 0 1 [0 0 0]" + plain, ""},
		"colour":            {"Kd 0.5 0.25 0.125\n", "[0.5 0.25 0.125 1] 0 1 [0 0 0]" + plain, ""},
		"one number":        {"Kd 0.5\n", "[0.5 0.5 0.5 1] 0 1 [0 0 0]" + plain, ""},
		"d":                 {"d 0.5\n", "[1 1 1 0.5] 0 1 [0 0 0] mode 2 false 1 -|-|-|-", ""},
		"Tr":                {"Tr 0.25\n", "[1 1 1 0.75] 0 1 [0 0 0] mode 2 false 1 -|-|-|-", ""},
		"d before Tr":       {"d 1\nTr 1\n", "[1 1 1 1] 0 1 [0 0 0]" + plain, ""},
		"invisible":         {"d 0\n", "[1 1 1 1] 0 1 [0 0 0]" + plain, "mtl-invisible"},
		"PBR":               {"Pr 0.25\nPm 1\nNs 100\n", "[1 1 1 1] 1 0.25 [0 0 0]" + plain, ""},
		"shiny":             {"Ks 1 1 1\nNs 30\n", "[1 1 1 1] 0 0.5 [0 0 0]" + plain, ""},
		"no highlight":      {"Ks 0 0 0\nNs 30\n", "[1 1 1 1] 0 1 [0 0 0]" + plain, ""},
		"light":             {"Ke 4 2 0\n", "[1 1 1 1] 0 1 [4 2 0]" + plain, ""},
		"texture":           {"Kd 0 0 0\nmap_Kd wood.png\n", "[1 1 1 1] 0 1 [0 0 0] mode 0 false 1 wood.png|-|-|-", "mtl-black-lifted texcoord-missing"},
		"backslash, spaces": {"norm maps\\wood normal.png\n", "[1 1 1 1] 0 1 [0 0 0] mode 0 false 1 -|-|maps/wood normal.png|-", "texcoord-missing"},
		"bump is normals":   {"map_Bump -bm 0.5 maps/wood normal.png\n", "[1 1 1 1] 0 1 [0 0 0] mode 0 false 0.5 -|-|maps/wood normal.png|-", "texcoord-missing"},
		"bump is heights":   {"map_Bump -bm 0.5 wood.png\n", "[1 1 1 1] 0 1 [0 0 0]" + plain, "mtl-heights-skipped"},
		"options":           {"map_Kd -s 2 4 1 -o 0.5 0.25 -clamp on wood.png\n", "[1 1 1 1] 0 1 [0 0 0] mode 0 false 1 wood.png[2 4] [0.5 -3.25] clamped|-|-|-", "texcoord-missing"},
		"other case":        {"map_Kd WOOD.PNG\n", "[1 1 1 1] 0 1 [0 0 0] mode 0 false 1 wood.png|-|-|-", "texcoord-missing"},
		"another machine":   {"map_Kd C:\\Users\\me\\wood.png\n", "[1 1 1 1] 0 1 [0 0 0] mode 0 false 1 wood.png|-|-|-", "absolute-names texcoord-missing"},
		"one image of both": {"Pr 0.5\nmap_Pr orm.png\nmap_Pm orm.png\n", "[1 1 1 1] 1 0.5 [0 0 0] mode 0 false 1 -|orm.png|-|-", "texcoord-missing"},
		"two images":        {"map_Pr wood.png\nmap_Pm orm.png\n", "[1 1 1 1] 0 1 [0 0 0]" + plain, "mtl-pbr-skipped"},
		"glow":              {"map_Ke glow.jpg\n", "[1 1 1 1] 0 1 [1 1 1] mode 0 false 1 -|-|-|glow.jpg", "texcoord-missing"},
		"cut out":           {"map_Kd maps/leaf.png\nmap_d maps/leaf.png\n", "[1 1 1 1] 0 1 [0 0 0] mode 1 true 1 maps/leaf.png|-|-|-", "texcoord-missing"},
		"opacity apart":     {"map_Kd wood.png\nmap_d maps/leaf.png\n", "[1 1 1 1] 0 1 [0 0 0] mode 0 false 1 wood.png|-|-|-", "mtl-opacity-skipped texcoord-missing"},
		"defined twice":     {"Kd 1 0 0\nnewmtl m\nKd 0 1 0\n", "[1 0 0 1] 0 1 [0 0 0]" + plain, ""},
	} {
		beside["a b.mtl"] = "# x\nKd 9 9 9\nnewmtl m\n" + c.mtl
		s := load(t, "a.obj", square+"mtllib a b.mtl\nusemtl m\nf 1 2 3 4\n", beside, Options{})
		if got := show(s, &s.Materials[0]); got != c.want || noteCodes(s) != c.notes || s.Materials[0].Name != "m" {
			t.Errorf("%s: %s, notes %q", name, got, noteCodes(s))
		}
		if len(s.Files) < 2 || !strings.HasSuffix(s.Files[0], "a.obj") || !strings.HasSuffix(s.Files[1], "a b.mtl") {
			t.Errorf("%s: files %q", name, s.Files)
		}
	}
}

// TestMTLFaults: what is wrong is said with the MTL file and its line.
func TestMTLFaults(t *testing.T) {
	for mtl, want := range map[string]string{
		"newmtl m\nKd red\n":            `a.mtl: line 2: kd wants numbers, not "red"`,
		"newmtl m\nKd 1 2 x\n":          `a.mtl: line 2: kd wants three numbers, not "x"`,
		"newmtl m\nd\n":                 `a.mtl: line 2: d wants a number, not ""`,
		"newmtl m\nmap_Kd -s 1\n":       `a.mtl: line 2: `,
		"newmtl m\nmap_Kd ../x.png\n":   `a.mtl: line 2: the name "../x.png" leads out of the file's folder`,
		"newmtl m\n\nmap_Kd none.png\n": `a.mtl: line 3: map_kd: file "none.png" is missing`,
	} {
		_, err := tryLoad(t, "a.obj", square+"mtllib a.mtl\nusemtl m\nf 1 2 3 4\n", map[string]string{"a.mtl": mtl}, Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", mtl, err)
		}
	}
	s := load(t, "a.obj", square+"mtllib none.mtl\nusemtl m\nf 1 2 3 4\n", nil, Options{AllowMissing: true})
	if got := noteCodes(s); got != "materials-missing materials-undefined" {
		t.Error(got)
	}
}
