package gltfexport

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/internal/testfile"
)

func gray(v uint8) color.NRGBA { return color.NRGBA{v, v, v, 255} }

func TestMaterialValues(t *testing.T) {
	none := gltfscene.TextureRef{Image: -1, Scale: [2]float64{1, 1}}
	base := gltfscene.Material{
		Name: "Paint", BaseColor: [4]float32{1, 1, 1, 1}, Metallic: 1, Roughness: 1, NormalScale: 1, OcclusionStrength: 1, AlphaCutoff: 0.5,
		BaseColorTex: none, MetalRoughTex: none, NormalTex: none, OcclusionTex: none, EmissiveTex: none,
	}
	for _, c := range []struct {
		name string
		in   func(*records.Material)
		want func(*gltfscene.Material)
	}{
		{"neutral", func(*records.Material) {}, func(*gltfscene.Material) {}},
		{"factors", func(m *records.Material) {
			m.BaseColor, m.Metallic, m.Roughness, m.Emissive = [4]float32{0.8, 0.1, 0.3, 0.7}, 0, 0.35, [3]float32{0.5, 0, 1}
		}, func(m *gltfscene.Material) {
			m.BaseColor, m.Metallic, m.Roughness, m.Emissive = [4]float32{0.8, 0.1, 0.3, 0.7}, 0, 0.35, [3]float32{0.5, 0, 1}
		}},
		{"bright", func(m *records.Material) { m.Emissive = [3]float32{8, 2, 0} }, func(m *gltfscene.Material) { m.Emissive = [3]float32{8, 2, 0} }},
		{
			"cutout", func(m *records.Material) {
				m.Flags, m.AlphaCutoff = records.MaterialCutout|records.MaterialDoubleSided, 0.25
			},
			func(m *gltfscene.Material) {
				m.AlphaMode, m.AlphaCutoff, m.DoubleSided = gltfscene.AlphaMask, 0.25, true
			},
		},
		{
			"blend", func(m *records.Material) { m.Flags = records.MaterialBlend | records.MaterialUnlit },
			func(m *gltfscene.Material) { m.AlphaMode, m.Unlit = gltfscene.AlphaBlend, true },
		},
		{"reserved alpha mode", func(m *records.Material) { m.Flags = 3 }, func(*gltfscene.Material) {}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := quadFile(t, func(*format.Builder) records.Material {
				m := blank()
				c.in(&m)
				return m
			})
			want := base
			c.want(&want)
			res, s := back(t, save(t, t.TempDir(), "a.untold", f), ".glb", Options{})
			if d := cmp.Diff([]gltfscene.Material{want}, s.Materials); d != "" || len(res.Notes) != 0 {
				t.Error(d, res.Notes)
			}
		})
	}
}

// texturedFile has all slots filled; the files are written below dir.
func texturedFile(t *testing.T, dir string) *format.File {
	t.Helper()
	testfile.Write(t, filepath.Join(dir, "Textures/base colour.png"), pngOf(t, 4, 4, color.NRGBA{200, 100, 50, 255}))
	testfile.Write(t, filepath.Join(dir, "Textures/n.png"), pngOf(t, 4, 4, color.NRGBA{128, 128, 255, 255}))
	testfile.Write(t, filepath.Join(dir, "Textures/orm.png"), pngOf(t, 4, 4, color.NRGBA{255, 90, 30, 255}))
	testfile.Write(t, filepath.Join(dir, "Textures/e.png"), pngOf(t, 4, 4, color.NRGBA{1, 2, 3, 255}))
	return quadFile(t, func(b *format.Builder) records.Material {
		add := func(name string) uint32 {
			return b.AddTexture(name, "Textures/"+name, records.Texture{Width: 4, Height: 4, MipCount: 1})
		}
		m := blank()
		m.NormalScale, m.OcclusionStrength, m.Emissive = 0.5, 0.25, [3]float32{1, 1, 1}
		m.BaseColorTexture, m.NormalTexture, m.EmissiveTexture = add("base colour.png"), add("n.png"), add("e.png")
		m.MetallicTexture = add("orm.png")
		m.RoughnessTexture, m.OcclusionTexture = m.MetallicTexture, m.MetallicTexture
		m.Reserved[0] = records.ChannelsMetalRough
		return m
	})
}

func TestTextures(t *testing.T) {
	for _, ext := range []string{".glb", ".gltf"} {
		dir := t.TempDir()
		res, s := back(t, save(t, dir, "a.untold", texturedFile(t, dir)), ext, Options{})
		if res.Textures != 4 || len(res.Notes) != 0 || len(s.Images) != 4 {
			t.Fatalf("%s: %+v, %d images", ext, res, len(s.Images))
		}
		m := &s.Materials[0]
		if m.MetalRoughTex.Image != m.OcclusionTex.Image || m.NormalScale != 0.5 || m.OcclusionStrength != 0.25 {
			t.Errorf("%s: %+v", ext, m)
		}
		for slot, want := range map[int]string{
			m.BaseColorTex.Image: "base colour.png", m.NormalTex.Image: "n.png", m.MetalRoughTex.Image: "orm.png", m.EmissiveTex.Image: "e.png",
		} {
			b, err := s.Images[slot].Bytes()
			file, err2 := os.ReadFile(filepath.Join(dir, "Textures", want))
			if err != nil || err2 != nil || !bytes.Equal(b, file) {
				t.Errorf("%s: the bytes of %s differ (%v, %v)", ext, want, err, err2)
			}
		}
	}
}

// TestReference does not copy what lies below the output already.
func TestReference(t *testing.T) {
	dir := t.TempDir()
	path := save(t, dir, "tiles/a.untold", texturedFile(t, filepath.Join(dir, "tiles")))
	out := filepath.Join(dir, "m.gltf")
	if _, err := Export(context.Background(), path, out, Options{}); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(out)
	if err != nil || !strings.Contains(string(b), `"tiles/Textures/base%20colour.png"`) {
		t.Errorf("%s, %v", b, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "m_textures")); err == nil {
		t.Error("textures were copied")
	}
}

// TestTextureFaults leaves slots empty and says why.
func TestTextureFaults(t *testing.T) {
	outside := t.TempDir()
	secret := testfile.Write(t, filepath.Join(outside, "secret.png"), pngOf(t, 2, 2, gray(9)))
	for _, c := range []struct{ name, uri, note string }{
		{"missing", "Textures/none.png", "texture-missing"},
		{"climbs", "../secret.png", "texture-refused"},
		{"absolute", filepath.ToSlash(secret), "texture-refused"},
		{"url", "http://example.com/a.png", "texture-refused"},
		{"link", "link.png", "texture-refused"},
		{"utex", "a.utex", "texture-damaged"},
		{"webp", "a.webp", "texture-format"},
		{"empty file", "empty.png", "texture-damaged"},
		{"cut png", "cut.png", "texture-damaged"},
		{"folder", "folder.png", "texture-damaged"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			testfile.Write(t, filepath.Join(dir, "a.utex"), "UTEX\x00\x00\x00\x00more")
			testfile.Write(t, filepath.Join(dir, "a.webp"), "RIFF\x00\x00\x00\x00WEBPVP8 ")
			testfile.Write(t, filepath.Join(dir, "empty.png"), "")
			testfile.Write(t, filepath.Join(dir, "cut.png"), pngOf(t, 2, 2, gray(1))[:20])
			testfile.Write(t, filepath.Join(dir, "folder.png/x"), "")
			if c.name == "link" {
				if err := os.Symlink(secret, filepath.Join(dir, "link.png")); err != nil {
					t.Skip("no symbolic links here: ", err)
				}
			}
			if c.name == "absolute" && runtime.GOOS == "windows" {
				t.Skip("a drive letter is another case")
			}
			f := quadFile(t, func(b *format.Builder) records.Material {
				m := blank()
				m.BaseColorTexture = b.AddTexture("x", c.uri, records.Texture{Width: 2, Height: 2, MipCount: 1})
				return m
			})
			res, s := back(t, save(t, dir, "a.untold", f), ".glb", Options{})
			if d := cmp.Diff(map[string]int{c.note: 1}, noteCounts(res)); d != "" || s.Materials[0].BaseColorTex.Image >= 0 {
				t.Error(d)
			}
		})
	}
}

// TestDuplicates writes textures and materials of one content once.
func TestDuplicates(t *testing.T) {
	dir := t.TempDir()
	data := pngOf(t, 2, 2, gray(77))
	testfile.Write(t, filepath.Join(dir, "a/x.png"), data)
	testfile.Write(t, filepath.Join(dir, "b/y.png"), data)
	b := format.NewBuilder(format.FileTile)
	for _, uri := range []string{"a/x.png", "b/y.png"} {
		m := blank()
		m.BaseColorTexture = b.AddTexture(uri, uri, records.Texture{Width: 2, Height: 2, MipCount: 1})
		vs, idx := quad()
		if err := b.AddObject(format.Object{Name: uri, Material: b.AddMaterial("M", m), Vertices: vertex.Append(nil, vs), Indices: idx}); err != nil {
			t.Fatal(err)
		}
	}
	res, _ := back(t, save(t, dir, "c.untold", b.File()), ".glb", Options{})
	if res.Textures != 1 || res.Materials != 1 || res.TextureBytes != int64(len(data)) {
		t.Errorf("%+v", res)
	}
}

// TestCopyNames keeps files of one name and other content apart.
func TestCopyNames(t *testing.T) {
	dir := t.TempDir()
	testfile.Write(t, filepath.Join(dir, "a/x.png"), pngOf(t, 2, 2, gray(1)))
	testfile.Write(t, filepath.Join(dir, "b/X.png"), pngOf(t, 2, 2, gray(2)))
	f := quadFile(t, func(b *format.Builder) records.Material {
		m := blank()
		m.BaseColorTexture = b.AddTexture("x", "a/x.png", records.Texture{})
		m.EmissiveTexture = b.AddTexture("x", "b/X.png", records.Texture{})
		return m
	})
	_, s := back(t, save(t, dir, "c.untold", f), ".gltf", Options{})
	if len(s.Images) != 2 || strings.EqualFold(s.Images[0].URI, s.Images[1].URI) {
		t.Errorf("%+v", s.Images)
	}
}

// TestChannels combines what glTF keeps in one texture.
func TestChannels(t *testing.T) {
	dir := t.TempDir()
	testfile.Write(t, filepath.Join(dir, "r.png"), pngOf(t, 4, 2, color.NRGBA{10, 20, 30, 40}))
	testfile.Write(t, filepath.Join(dir, "m.png"), pngOf(t, 2, 4, color.NRGBA{50, 60, 70, 80}))
	testfile.Write(t, filepath.Join(dir, "cut.png"), pngOf(t, 2, 2, gray(1))[:50])
	for _, c := range []struct {
		name         string
		rough, metal string
		channels     uint32
		factor       float32 // metallic
		note         string
		want         color.NRGBA
	}{
		{"red of two", "r.png", "m.png", 0, 1, "channels", color.NRGBA{255, 10, 50, 255}},
		{"blue and alpha of one", "r.png", "r.png", 2 | 3<<2, 1, "channels", color.NRGBA{255, 30, 40, 255}},
		{"roughness alone", "r.png", "", 1, 1, "channels", color.NRGBA{255, 20, 255, 255}},
		{"roughness without metal", "r.png", "", 1, 0, "", color.NRGBA{10, 20, 30, 40}},
		{"metal alone", "", "m.png", 3 << 2, 1, "channels", color.NRGBA{255, 255, 80, 255}},
		{"undecodable", "cut.png", "m.png", 0, 1, "channels-lost", color.NRGBA{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := quadFile(t, func(b *format.Builder) records.Material {
				m := blank()
				m.Metallic, m.Reserved[0] = c.factor, c.channels
				if c.rough != "" {
					m.RoughnessTexture = b.AddTexture(c.rough, c.rough, records.Texture{})
				}
				if c.metal != "" {
					m.MetallicTexture = b.AddTexture(c.metal, c.metal, records.Texture{})
				}
				return m
			})
			res, s := back(t, save(t, dir, "a.untold", f), ".gltf", Options{})
			if c.note != "" && noteCounts(res)[c.note] != 1 || c.note == "" && len(res.Notes) > 0 {
				t.Errorf("notes %+v", res.Notes)
			}
			if c.want == (color.NRGBA{}) {
				return
			}
			data, err := s.Images[s.Materials[0].MetalRoughTex.Image].Bytes()
			if err != nil {
				t.Fatal(err)
			}
			img, _, err := image.Decode(bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			if got := color.NRGBAModel.Convert(img.At(1, 1)); got != c.want {
				t.Errorf("pixel %v, want %v", got, c.want)
			}
		})
	}
}
