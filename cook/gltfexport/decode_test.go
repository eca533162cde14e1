package gltfexport

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/png"
	"math"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/cook"
	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/internal/texture"
	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/utex"
	"github.com/untoldkit/untold/internal/atomicfile"
	"github.com/untoldkit/untold/internal/boxscene"
	"github.com/untoldkit/untold/internal/fuzzbound"
	"github.com/untoldkit/untold/internal/race"
	"github.com/untoldkit/untold/internal/testfile"
)

// smooth is a picture without edges; its alpha is from 255 to 255 - fade.
func smooth(w, h int, seed, fade float64) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	wave := func(x, y, k float64) uint8 { return uint8(128 + 100*math.Sin(x/(20+k)+seed)*math.Cos(y/(25-k))) }
	for y := range h {
		for x := range w {
			fx, fy := float64(x), float64(y)
			img.SetNRGBA(x, y, color.NRGBA{wave(fx, fy, 0), wave(fy, fx, 5), wave(fx+fy, fx, 9), 255 - uint8(fade*fx/float64(w))})
		}
	}
	return img
}

// bumps is a normal map of a wavy surface.
func bumps(w, h int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			nx, ny := 0.5*math.Sin(float64(x)/15), 0.4*math.Cos(float64(y)/18)
			nz := math.Sqrt(1 - nx*nx - ny*ny)
			c := func(v float64) uint8 { return uint8((v+1)*127.5 + 0.5) }
			img.SetNRGBA(x, y, color.NRGBA{c(nx), c(ny), c(nz), 255})
		}
	}
	return img
}

func encodePNG(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// encodeUtex compresses a picture as cook does.
func encodeUtex(t testing.TB, img *image.NRGBA, r texture.Role, m texture.Mode) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := texture.EncodeOne(&b, "x", img, r, m, texture.ASTC{}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// emptyUtex is a file with all levels, of zeros.
func emptyUtex(t testing.TB, w, h int, f utex.PixelFormat) []byte {
	t.Helper()
	var b bytes.Buffer
	out, err := utex.NewWriter(&b, w, h, f, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range utex.NewInfo(w, h, f, 0).Levels {
		if err := out.WriteLevel(make([]byte, l.Size)); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// psnr compares pictures of one size, all four channels, in dB.
func psnr(t testing.TB, a *image.NRGBA, b image.Image) float64 {
	t.Helper()
	if a.Bounds() != b.Bounds() {
		t.Fatalf("%v, want %v", b.Bounds(), a.Bounds())
	}
	sum := 0.0
	for y := range a.Rect.Dy() {
		for x := range a.Rect.Dx() {
			p, q := a.NRGBAAt(x, y), color.NRGBAModel.Convert(b.At(x, y)).(color.NRGBA)
			for _, d := range [...]int{int(p.R) - int(q.R), int(p.G) - int(q.G), int(p.B) - int(q.B), int(p.A) - int(q.A)} {
				sum += float64(d * d)
			}
		}
	}
	return 10 * math.Log10(255*255*4*float64(a.Rect.Dx()*a.Rect.Dy())/(sum+1e-9))
}

// slotPicture decodes an image of a scene, which must be a PNG.
func slotPicture(t testing.TB, s *gltfscene.Scene, ref gltfscene.TextureRef) image.Image {
	t.Helper()
	if ref.Image < 0 {
		t.Fatal("the slot is empty")
	}
	data, err := s.Images[ref.Image].Bytes()
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// TestCompressedTextures: what was compressed while cooking comes back as
// pictures, near their sources, in the slots that they had.
func TestCompressedTextures(t *testing.T) {
	base, normal := smooth(150, 106, 1, 180), bumps(96, 64)
	orm, glow := smooth(64, 90, 2, 0), smooth(40, 40, 3, 0)
	scene := paintedBox(t, map[string]*image.NRGBA{"base": base, "bumps": normal, "orm": orm, "glow": glow})
	for _, c := range []struct {
		name string
		mode cook.TextureMode
		astc cook.ASTCOptions
	}{
		{"bc", cook.TexturesBC, cook.ASTCOptions{}},
		{"astc", cook.TexturesASTC, cook.ASTCOptions{}},
		{"astc 5x5", cook.TexturesASTC, cook.ASTCOptions{Block: [2]int{5, 5}}},
	} {
		if race.Enabled && c.mode == cook.TexturesASTC {
			continue // make test compresses all without the detector
		}
		dir := t.TempDir()
		o := cook.ClassicOptions()
		o.Textures, o.ASTC = c.mode, c.astc
		if _, err := cook.Run(context.Background(), scene, dir, o); err != nil {
			t.Fatal(err)
		}
		for _, ext := range []string{".glb", ".gltf"} {
			t.Run(c.name+ext, func(t *testing.T) {
				res, s := back(t, dir, ext, Options{})
				if res.Textures != 4 || len(res.Notes) != 0 || len(s.Materials) != 1 || len(s.Images) != 4 {
					t.Fatalf("%+v, %d images", res, len(s.Images))
				}
				m := &s.Materials[0]
				for name, x := range map[string]struct {
					ref    gltfscene.TextureRef
					source *image.NRGBA
				}{
					"base": {m.BaseColorTex, base}, "bumps": {m.NormalTex, normal}, "orm": {m.MetalRoughTex, orm}, "glow": {m.EmissiveTex, glow},
				} {
					if q := psnr(t, x.source, slotPicture(t, s, x.ref)); q < 35 {
						t.Errorf("%s: %.2f dB", name, q)
					} else {
						t.Logf("%s: %.2f dB", name, q)
					}
					if img := s.Images[x.ref.Image]; filepath.Ext(img.Name) != ".png" {
						t.Errorf("%s is named %q", name, img.Name)
					}
				}
				var total int64
				for i := range s.Images {
					b, err := s.Images[i].Bytes()
					if err != nil {
						t.Fatal(err)
					}
					total += int64(len(b))
				}
				if res.TextureBytes != total {
					t.Errorf("%d bytes of textures, the result says %d", total, res.TextureBytes)
				}
			})
		}
		a, b := filepath.Join(t.TempDir(), "a.glb"), filepath.Join(t.TempDir(), "a.glb")
		for _, out := range []string{a, b} {
			if _, err := Export(context.Background(), dir, out, Options{}); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(testfile.Read(t, a), testfile.Read(t, b)) {
			t.Errorf("%s: two exports differ", c.name)
		}
	}
}

// paintedBox is a scene with one box, whose material has all slots filled.
func paintedBox(t testing.TB, images map[string]*image.NRGBA) string {
	t.Helper()
	type m = boxscene.Object
	s := boxscene.New(boxscene.Box{Name: "Box", At: [3]float64{1, 1, 1}})
	s.AddTexCoords()
	s.Primitive["material"] = 0
	var list, textures []m
	for i, name := range []string{"base", "bumps", "orm", "glow"} {
		uri := "data:image/png;base64," + base64.StdEncoding.EncodeToString(encodePNG(t, images[name]))
		list, textures = append(list, m{"name": name, "uri": uri}), append(textures, m{"source": i})
	}
	s.Root["images"], s.Root["textures"] = list, textures
	s.Root["materials"] = []m{{
		"name": "Paint", "alphaMode": "BLEND", "emissiveFactor": []float64{1, 1, 1},
		"normalTexture": m{"index": 1}, "occlusionTexture": m{"index": 2}, "emissiveTexture": m{"index": 3},
		"pbrMetallicRoughness": m{"baseColorTexture": m{"index": 0}, "metallicRoughnessTexture": m{"index": 2}},
	}}
	return s.Save(t, "painted.gltf")
}

// TestNormalsAreWhole: normal maps of two channels, in both forms, get a third
// that makes them directions, and no alpha.
func TestNormalsAreWhole(t *testing.T) {
	for _, mode := range []texture.Mode{texture.ModeBC, texture.ModeASTC} {
		dir := t.TempDir()
		testfile.Write(t, filepath.Join(dir, "n.utex"), encodeUtex(t, bumps(64, 48), texture.Role{Use: texture.Normal}, mode))
		_, s := back(t, save(t, dir, "a.untold", quadFile(t, func(b *format.Builder) records.Material {
			m := blank()
			m.NormalTexture = b.AddTexture("n", "n.utex", records.Texture{})
			return m
		})), ".glb", Options{})
		img := slotPicture(t, s, s.Materials[0].NormalTex)
		for y := range 48 {
			for x := range 64 {
				p := color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)
				v := func(c uint8) float64 { return float64(c)/127.5 - 1 }
				if l := math.Sqrt(v(p.R)*v(p.R) + v(p.G)*v(p.G) + v(p.B)*v(p.B)); math.Abs(l-1) > 0.01 || p.A != 255 {
					t.Fatalf("%v at %d, %d: %v has length %v", mode, x, y, p, l)
				}
			}
		}
	}
}

// TestUtexFaults leaves the slots of what cannot be decoded empty, without
// allocating what a header promises.
func TestUtexFaults(t *testing.T) {
	sound := encodeUtex(t, smooth(32, 32, 1, 0), texture.Role{}, texture.ModeBC)
	patched := func(at int, v uint32) []byte {
		b := bytes.Clone(sound)
		binary.LittleEndian.PutUint32(b[at:], v)
		return b
	}
	for _, c := range []struct {
		name string
		data []byte
		note string
	}{
		{"sound", sound, ""},
		{"header alone", sound[:utex.HeaderSize], "texture-damaged"},
		{"magic alone", sound[:8], "texture-damaged"},
		{"half", sound[:len(sound)/2], "texture-damaged"},
		{"last byte missing", sound[:len(sound)-1], "texture-damaged"},
		{"other width", patched(16, 1<<16), "texture-damaged"},
		{"no width", patched(16, 0), "texture-damaged"},
		{"many levels", patched(24, 1<<31), "texture-damaged"},
		{"unknown format", patched(28, 1), "texture-damaged"},
		{"other blocks", patched(28, uint32(utex.ASTC6x6)), "texture-damaged"},
		{"offset beyond the end", patched(utex.HeaderSize, 1<<30), "texture-damaged"},
		{"more texels than are decoded", emptyUtex(t, 8200, 8200, 218), "texture-size"},
		{"no decoder: 16 bits", emptyUtex(t, 4, 4, utex.R16Unorm), "texture-format"},
		{"no decoder: half floats", emptyUtex(t, 4, 4, utex.RGBA16Float), "texture-format"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			testfile.Write(t, filepath.Join(dir, "x.utex"), c.data)
			path := save(t, dir, "a.untold", quadFile(t, func(b *format.Builder) records.Material {
				m := blank()
				m.BaseColorTexture = b.AddTexture("x", "x.utex", records.Texture{})
				return m
			}))
			for _, ext := range []string{".glb", ".gltf"} {
				var res *Result
				n := fuzzbound.Allocated(func() {
					var err error
					if res, err = Export(context.Background(), path, filepath.Join(dir, "m"+ext), Options{}); err != nil {
						t.Fatal(err)
					}
				})
				want := map[string]int{}
				if c.note != "" {
					want[c.note] = 1
				}
				if d := cmp.Diff(want, noteCounts(res)); d != "" || (res.Textures == 0) != (c.note != "") || n > 16<<20 {
					t.Errorf("%s: %s, %d textures, %d bytes allocated", ext, d, res.Textures, n)
				}
			}
		})
	}
}

// TestDecodedNames: pictures of one content are written once, those of one name
// and other content apart, and none in place of a copy.
func TestDecodedNames(t *testing.T) {
	dir := t.TempDir()
	a := encodeUtex(t, smooth(16, 16, 1, 0), texture.Role{}, texture.ModeBC)
	testfile.Write(t, filepath.Join(dir, "a/x.utex"), a)
	testfile.Write(t, filepath.Join(dir, "b/same.utex"), a)
	testfile.Write(t, filepath.Join(dir, "c/X.utex"), encodeUtex(t, smooth(16, 16, 2, 0), texture.Role{}, texture.ModeBC))
	testfile.Write(t, filepath.Join(dir, "x.png"), pngOf(t, 2, 2, gray(7)))
	f := quadFile(t, func(b *format.Builder) records.Material {
		m := blank()
		m.BaseColorTexture, m.EmissiveTexture = b.AddTexture("x", "a/x.utex", records.Texture{}), b.AddTexture("x", "b/same.utex", records.Texture{})
		m.NormalTexture, m.OcclusionTexture = b.AddTexture("x", "c/X.utex", records.Texture{}), b.AddTexture("x", "x.png", records.Texture{})
		return m
	})
	res, s := back(t, save(t, dir, "a.untold", f), ".gltf", Options{})
	m := &s.Materials[0]
	if res.Textures != 3 || len(s.Images) != 3 || m.BaseColorTex.Image != m.EmissiveTex.Image {
		t.Fatalf("%+v, %d images", res, len(s.Images))
	}
	for _, x := range []struct {
		ref  gltfscene.TextureRef
		want *image.NRGBA
	}{{m.BaseColorTex, smooth(16, 16, 1, 0)}, {m.NormalTex, smooth(16, 16, 2, 0)}} {
		if q := psnr(t, x.want, slotPicture(t, s, x.ref)); q < 35 {
			t.Errorf("%.2f dB", q)
		}
	}
	if w := slotPicture(t, s, m.OcclusionTex).Bounds().Dx(); w != 2 {
		t.Errorf("the copy is %d pixels wide", w)
	}
}

// TestCombineDecoded combines metallic and roughness of compressed textures.
func TestCombineDecoded(t *testing.T) {
	dir := t.TempDir()
	flat := image.NewNRGBA(image.Rect(0, 0, 8, 8))
	for i := range 64 {
		copy(flat.Pix[4*i:], []byte{50, 100, 200, 255})
	}
	testfile.Write(t, filepath.Join(dir, "r.utex"), encodeUtex(t, flat, texture.Role{Use: texture.Data}, texture.ModeASTC))
	testfile.Write(t, filepath.Join(dir, "m.png"), pngOf(t, 8, 8, gray(30)))
	f := quadFile(t, func(b *format.Builder) records.Material {
		m := blank()
		m.RoughnessTexture, m.MetallicTexture = b.AddTexture("r", "r.utex", records.Texture{}), b.AddTexture("m", "m.png", records.Texture{})
		return m
	})
	res, s := back(t, save(t, dir, "a.untold", f), ".glb", Options{})
	p := color.NRGBAModel.Convert(slotPicture(t, s, s.Materials[0].MetalRoughTex).At(3, 3)).(color.NRGBA)
	if d := int(p.G) - 50; noteCounts(res)["channels"] != 1 || p.R != 255 || d < -3 || d > 3 || p.B != 30 {
		t.Errorf("%v, %+v", p, res.Notes)
	}
}

// FuzzUtex exports a container with an arbitrary .utex file: what is exported
// must load, and its picture decode.
func FuzzUtex(f *testing.F) {
	for _, m := range []texture.Mode{texture.ModeBC, texture.ModeASTC} {
		for _, use := range []texture.Use{texture.Color, texture.Normal} {
			f.Add(encodeUtex(f, smooth(9, 7, 1, 90), texture.Role{Use: use}, m))
		}
	}
	f.Add(emptyUtex(f, 4, 4, utex.R16Unorm))
	f.Add([]byte(utex.Magic))
	file := quadFile(f, func(b *format.Builder) records.Material {
		m := blank()
		m.BaseColorTexture = b.AddTexture("x", "x.utex", records.Texture{})
		return m
	})
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		testfile.Write(t, filepath.Join(dir, "x.utex"), data)
		path, out := save(t, dir, "a.untold", file), filepath.Join(dir, "m.glb")
		var res *Result
		// A block of 12 x 12 texels has 16 bytes, and becomes 576.
		fuzzbound.Run(t, len(data), fuzzbound.Limits{Alloc: 32 << 20, PerByte: 200}, func() {
			var err error
			if res, err = Export(context.Background(), path, out, Options{files: atomicfile.Options{NoSync: true}}); err != nil {
				t.Fatal(err)
			}
		})
		s, err := gltfscene.Load(context.Background(), out, gltfscene.DefaultOptions())
		if err != nil {
			t.Fatalf("the export does not load: %v", err)
		}
		if res.Textures == 1 && isUtex(bytes.NewReader(data)) {
			slotPicture(t, s, s.Materials[0].BaseColorTex)
		}
	})
}

// TestDecodedChanged: beside a .gltf files are decoded last; what changed since
// it was planned is an error, and so is a cancelled export, which writes nothing.
func TestDecodedChanged(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "x.utex")
	a, b := smooth(16, 16, 1, 0), smooth(16, 16, 2, 0)
	testfile.Write(t, file, encodeUtex(t, a, texture.Role{}, texture.ModeBC))
	path := save(t, dir, "a.untold", quadFile(t, func(b *format.Builder) records.Material {
		m := blank()
		m.BaseColorTexture = b.AddTexture("x", "x.utex", records.Texture{})
		return m
	}))
	ctx, cancel := context.WithCancel(context.Background())
	for _, c := range []struct {
		name string
		done func()
		want error
	}{
		{"changed", func() { testfile.Write(t, file, encodeUtex(t, b, texture.Role{}, texture.ModeBC)) }, errChanged},
		{"cancelled", cancel, context.Canceled},
	} {
		testfile.Write(t, file, encodeUtex(t, a, texture.Role{}, texture.ModeBC))
		out := filepath.Join(t.TempDir(), "m.gltf")
		_, err := Export(ctx, path, out, Options{Progress: func(_ string, done, total int) {
			if done == total {
				c.done()
			}
		}})
		if l, _ := filepath.Glob(filepath.Join(filepath.Dir(out), "*.*")); !errors.Is(err, c.want) || len(l) != 0 {
			t.Errorf("%s: %v, %v", c.name, err, l)
		}
	}
}
