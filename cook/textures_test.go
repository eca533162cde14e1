package cook

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/internal/texture"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/utex"
	"github.com/untoldkit/untold/internal/race"
	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/manifest"
)

// pixels is a PNG of a size in which every 16th pixel is a hole.
func pixels(w, h int, seed byte) []byte {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := range w * h {
		copy(img.Pix[4*i:], []byte{byte(i)*seed + 40, byte(i / w), seed * 30, 255})
		if i%16 == 0 {
			img.Pix[4*i+3] = 0
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func embedded(name string, data []byte) obj {
	return obj{"name": name, "uri": "data:image/png;base64," + base64.StdEncoding.EncodeToString(data)}
}

// texturedHills is the scene of hills with textures: grass is cut out and has a
// normal map; its base colour is data of the rock as well.
func texturedHills(t testing.TB, images ...obj) string {
	path := hills(t, 32)
	data := testfile.Read(t, path)
	var doc obj
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	var textures []obj
	for i := range images {
		textures = append(textures, obj{"source": i})
	}
	doc["images"], doc["textures"] = images, textures
	doc["materials"] = []obj{
		{
			"name": "grass", "alphaMode": "MASK", "normalTexture": obj{"index": 1},
			"pbrMetallicRoughness": obj{"baseColorTexture": obj{"index": 0}},
		},
		{"name": "rock", "pbrMetallicRoughness": obj{"baseColorTexture": obj{"index": 2}, "metallicRoughnessTexture": obj{"index": 0}}},
	}
	data, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return testfile.Write(t, path, data)
}

func hillImages() []obj {
	return []obj{
		embedded("leaf", pixels(150, 100, 3)), embedded("bumps", pixels(64, 64, 5)), embedded("stone", pixels(33, 70, 7)),
	}
}

// checkTextures compares the texture records of all containers with the files
// that they name, and says which files none names.
func checkTextures(t *testing.T, dir string) (byName map[string]records.Texture) {
	t.Helper()
	byName = map[string]records.Texture{}
	for name := range testfile.ReadTree(t, dir) {
		if filepath.Ext(name) != ".untold" {
			continue
		}
		checkContainer(t, filepath.Join(dir, name))
		r, f := openFile(t, filepath.Join(dir, name))
		for _, tex := range f.Textures {
			uri := r.String(tex.URIOffset)
			path := filepath.Join(dir, filepath.Dir(name), uri)
			if filepath.Ext(uri) == ".utex" {
				checkUtexRecord(t, path, tex)
			} else {
				checkImageRecord(t, path, tex)
			}
			tex.NameOffset, tex.URIOffset = 0, 0
			byName[filepath.Base(uri)] = tex
		}
	}
	for name := range testfile.ReadTree(t, dir) {
		base := filepath.Base(name)
		if _, ok := byName[base]; !ok && filepath.Ext(base) != ".untold" && filepath.Ext(base) != ".json" {
			t.Errorf("nobody names %s", name)
		}
		if strings.Contains(name, "/.") || strings.HasPrefix(name, ".") {
			t.Errorf("%s was left behind", name)
		}
	}
	return byName
}

func checkUtexRecord(t *testing.T, path string, tex records.Texture) {
	t.Helper()
	r, err := utex.Open(path)
	if err != nil {
		t.Error(err)
		return
	}
	defer r.Close()
	want := map[utex.PixelFormat]records.TextureFormat{
		utex.BC7: records.TextureBC7, utex.BC7SRGB: records.TextureBC7, utex.BC5: records.TextureBC5,
		utex.ASTC4x4: records.TextureASTC4x4, utex.ASTC4x4SRGB: records.TextureASTC4x4, utex.ASTC6x6: records.TextureASTC6x6,
	}[r.Format]
	if tex.Format != want || int(tex.Width) != r.Width || int(tex.Height) != r.Height || int(tex.MipCount) != len(r.Levels) {
		t.Errorf("%s: %+v, the file has %v %d x %d", path, tex, r.Format, r.Width, r.Height)
	}
	if srgb := tex.Flags&records.TextureSRGB != 0; srgb != r.Format.SRGB() {
		t.Errorf("%s: flags %x, format %v", path, tex.Flags, r.Format)
	}
	if normal := tex.Flags&records.TextureNormalMap != 0; normal != (r.Format == utex.BC5 || r.Flags&utex.NormalPacked != 0) {
		t.Errorf("%s: flags %x, format %v", path, tex.Flags, r.Format)
	}
}

func checkImageRecord(t *testing.T, path string, tex records.Texture) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Error(err)
		return
	}
	defer f.Close()
	cfg, _, err := image.DecodeConfig(f)
	if err != nil || tex.Format != records.TextureUnknown || int(tex.Width) != cfg.Width || int(tex.Height) != cfg.Height || tex.MipCount != 1 {
		t.Errorf("%s: %+v, the file has %d x %d, %v", path, tex, cfg.Width, cfg.Height, err)
	}
}

// TestTextureModes cooks with every mode, with and without HLODs and their
// atlas: every record fits its file, and no file is there for nothing.
func TestTextureModes(t *testing.T) {
	scene := texturedHills(t, hillImages()...)
	for _, mode := range []texture.Mode{texture.ModeCopy, texture.ModeResize, texture.ModeBC, texture.ModeASTC} {
		for _, levels := range []string{"", "hlod", "atlas"} {
			if race.Enabled && mode == texture.ModeASTC && levels != "hlod" {
				continue // make test cooks all without the detector
			}
			o := levelOptions()
			o.Textures = mode
			if mode != texture.ModeCopy {
				o.MaxTexture = 64
			}
			o.HLODMaxTexture = 32
			if levels == "" {
				o.LODs, o.HLODs = nil, nil
			}
			o.HLODAtlas = levels == "atlas"
			res, dir := runLevels(t, scene, o)
			got := checkTextures(t, dir)
			for name, size := range wantTextures(mode, levels) {
				if r, ok := got[name]; !ok || int(r.Width) != size[0] || int(r.Height) != size[1] {
					t.Errorf("%v %s: %s is %+v, want %v", mode, levels, name, r, size)
				}
			}
			sum, files := res.TextureTotals, int64(0)
			count := 0
			for name, data := range testfile.ReadTree(t, dir) {
				if strings.Contains(name, texture.Folder) {
					files += int64(len(data))
					count++
				}
			}
			if sum.Mode != mode.String() || sum.Bytes != files || sum.Files != count || res.Textures != count || res.TextureBytes != files || sum.Images != 3 || sum.GPUBytes == 0 {
				t.Errorf("%v %s: %+v, there are %d files of %d bytes", mode, levels, sum, count, files)
			}
			if n := noteCount(res.Notes, "texture-two-roles"); (n == 1) != (mode != texture.ModeCopy) {
				t.Errorf("%v: %d notes of two roles", mode, n)
			}
		}
	}
}

// wantTextures lists some of the files, with their sizes.
func wantTextures(mode texture.Mode, levels string) map[string][2]int {
	want := map[string][2]int{}
	switch mode {
	case texture.ModeCopy:
		want["leaf.png"], want["bumps.png"], want["stone.png"] = [2]int{150, 100}, [2]int{64, 64}, [2]int{33, 70}
		if levels == "hlod" {
			want["leaf_hlod.png"], want["bumps_hlod.png"] = [2]int{32, 21}, [2]int{32, 32}
		}
	case texture.ModeResize:
		want["leaf.png"], want["leaf_data.png"], want["bumps.png"], want["stone.png"] = [2]int{64, 43}, [2]int{64, 43}, [2]int{64, 64}, [2]int{30, 64}
		if levels == "hlod" {
			want["leaf_hlod.png"], want["leaf_data_hlod.png"], want["bumps_hlod.png"] = [2]int{32, 21}, [2]int{32, 21}, [2]int{32, 32}
		}
	case texture.ModeBC, texture.ModeASTC:
		want["leaf.utex"], want["leaf_data.utex"], want["bumps.utex"], want["stone.utex"] = [2]int{64, 43}, [2]int{64, 43}, [2]int{64, 64}, [2]int{30, 64}
		if levels == "hlod" {
			want["leaf_hlod.utex"], want["leaf_data_hlod.utex"], want["bumps_hlod.utex"] = [2]int{32, 21}, [2]int{32, 21}, [2]int{32, 32}
		}
	}
	return want
}

// TestTexturesIgnoreJobs: the same bytes with any number of workers.
func TestTexturesIgnoreJobs(t *testing.T) {
	scene := texturedHills(t, hillImages()...)
	for _, mode := range []texture.Mode{texture.ModeBC, texture.ModeASTC} {
		var want map[string]string
		for _, jobs := range []int{1, 2, 9} {
			if race.Enabled && (jobs == 2 || mode == texture.ModeASTC) {
				continue
			}
			o := levelOptions()
			o.Textures, o.HLODAtlas, o.Jobs = mode, true, jobs
			_, dir := runLevels(t, scene, o)
			got := testfile.ReadTree(t, dir)
			if want == nil {
				want = got
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%v: %d jobs give other files", mode, jobs)
			}
		}
	}
}

// TestTexturesDamaged: an image that only the decoder finds damaged is kept,
// with a warning; the cook goes on, atlas included.
func TestTexturesDamaged(t *testing.T) {
	bad := pixels(60, 60, 3)
	i := bytes.Index(bad, []byte("IDAT"))
	bad[i+5] ^= 0x7f // of the deflate stream's head
	sum := bad[i-4:]
	n := int(sum[0])<<24 | int(sum[1])<<16 | int(sum[2])<<8 | int(sum[3])
	copy(bad[i+4+n:], crc(bad[i:i+4+n]))
	for _, mode := range []texture.Mode{texture.ModeCopy, texture.ModeResize, texture.ModeBC} {
		o := levelOptions()
		o.Textures, o.HLODAtlas, o.HLODMaxTexture = mode, true, 16
		res, dir := runLevels(t, texturedHills(t, embedded("leaf", bad), embedded("bumps", pixels(40, 40, 5)), embedded("stone", pixels(40, 40, 7))), o)
		if noteCount(res.Notes, "texture-kept") != 1 {
			t.Errorf("%v: %+v", mode, res.Notes)
		}
		if got, err := os.ReadFile(filepath.Join(dir, "tiles", texture.Folder, "leaf.png")); err != nil || !bytes.Equal(got, bad) {
			t.Errorf("%v: the image has changed or gone, %v", mode, err)
		}
	}
}

// TestTexturesDamagedAtSight: what is cut off stops the cook, unless images may
// be missing.
func TestTexturesDamagedAtSight(t *testing.T) {
	scene := texturedHills(t, embedded("leaf", pixels(60, 60, 3)[:200]), embedded("bumps", pixels(40, 40, 5)), embedded("stone", pixels(40, 40, 7)))
	o := levelOptions()
	o.Textures = texture.ModeBC
	_, err := Run(context.Background(), scene, t.TempDir(), o)
	if !errors.Is(err, texture.ErrDamaged) || !strings.Contains(err.Error(), "images[0]") {
		t.Errorf("%v", err)
	}
	o.AllowMissingImages = true
	res, dir := runLevels(t, scene, o)
	if noteCount(res.Notes, "texture-damaged-skipped") != 1 {
		t.Errorf("%+v", res.Notes)
	}
	checkTextures(t, dir)
}

func crc(b []byte) []byte {
	c := uint32(0xffffffff)
	for _, x := range b {
		c ^= uint32(x)
		for range 8 {
			c = c>>1 ^ 0xedb88320&-(c&1)
		}
	}
	c = ^c
	return []byte{byte(c >> 24), byte(c >> 16), byte(c >> 8), byte(c)}
}

// TestTextureDryRun: a plan does not touch images, also where levels are tried for their
// distances.
func TestTextureDryRun(t *testing.T) {
	scene := texturedHills(t, hillImages()...)
	for _, mode := range []texture.Mode{texture.ModeCopy, texture.ModeBC} {
		for _, fit := range []bool{false, true} {
			for _, atlas := range []bool{false, true} {
				o := levelOptions()
				o.Textures, o.DryRun, o.FitDistances, o.HLODAtlas = mode, true, fit, atlas
				o.LODs, o.HLODs = nil, []manifest.HLODLevel{{Suffix: "_hlod", ReductionRatio: 0.6}}
				o.Progress = func(stage string, _, _ int) {
					if stage == TextureStage {
						t.Error("textures are cooked")
					}
				}
				res, dir := runLevels(t, scene, o)
				if _, err := os.Stat(dir); err == nil || res.TextureTotals.Images == 0 || res.Levels == 0 {
					t.Errorf("%v fit %t atlas %t: %v, %d levels, %+v", mode, fit, atlas, err, res.Levels, res.TextureTotals)
				}
			}
		}
	}
}

// TestConvertTextureModes: models that share a folder keep their textures
// apart in every mode.
func TestConvertTextureModes(t *testing.T) {
	for _, mode := range []texture.Mode{texture.ModeResize, texture.ModeBC} {
		dir := t.TempDir()
		o := ClassicOptions()
		o.Textures, o.MaxTexture = mode, 1
		for i, c := range []color.NRGBA{red, blue, red} {
			m := textured(dataImage("wood", c), dataImage("glow", green))
			got := convertFile(t, m.save(t), filepath.Join(dir, string(rune('a'+i))+".untold"), o)
			if got.Textures != 2 || got.TextureTotals.Mode != mode.String() {
				t.Errorf("%+v", got.TextureTotals)
			}
		}
		checkTextures(t, dir)
		if n := len(testfile.ReadTree(t, filepath.Join(dir, texture.Folder))); n != 3 {
			t.Errorf("%v: %d textures", mode, n)
		}
	}
}

func TestTextureOptions(t *testing.T) {
	scene := textured(dataImage("a", red), dataImage("b", green)).save(t)
	for name, set := range map[string]func(*Options){
		"copies with a limit": func(o *Options) { o.MaxTexture = 4 },
		"a negative limit":    func(o *Options) { o.Textures, o.MaxTexture = texture.ModeBC, -1 },
		"an unknown mode":     func(o *Options) { o.Textures = 9 },
		"unknown blocks":      func(o *Options) { o.Textures, o.ASTC.Block = texture.ModeASTC, [2]int{5, 4} },
		"blocks without ASTC": func(o *Options) { o.Textures, o.ASTC.Block = texture.ModeBC, [2]int{5, 5} },
		"effort with UASTC":   func(o *Options) { o.Textures, o.ASTC.High = texture.ModeKTX2, true },
	} {
		o := ClassicOptions()
		set(&o)
		if _, err := Run(context.Background(), scene, t.TempDir(), o); err == nil {
			t.Errorf("Run: %s works", name)
		}
		if _, err := Convert(context.Background(), scene, filepath.Join(t.TempDir(), "x.untold"), o); err == nil {
			t.Errorf("Convert: %s works", name)
		}
	}
}

// TestTextureRoles reads the roles off materials.
func TestTextureRoles(t *testing.T) {
	var photo bytes.Buffer
	if err := jpeg.Encode(&photo, image.NewGray(image.Rect(0, 0, 8, 8)), nil); err != nil {
		t.Fatal(err)
	}
	d := &model{}
	base := d.texture(embedded("base", pixels(8, 8, 1)))
	glow := d.texture(obj{"uri": "data:image/jpeg;base64," + base64.StdEncoding.EncodeToString(photo.Bytes()), "name": "glow"})
	add(&d.samplers, obj{"wrapS": 33071, "wrapT": 33648})
	d.textures[base]["sampler"] = 0
	p := d.square(0)
	p["material"] = add(&d.materials, obj{
		"alphaMode": "MASK", "alphaCutoff": 0.3, "emissiveTexture": obj{"index": glow}, "occlusionTexture": obj{"index": glow},
		"pbrMetallicRoughness": obj{"baseColorTexture": obj{"index": base}, "baseColorFactor": []float64{1, 1, 1, 0.5}},
	})
	d.node("Box", p)
	o := ClassicOptions()
	s, _, _, err := load(context.Background(), d.save(t), &o, &notes{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	roles := textureRoles(s, func(*gltfscene.Material) bool { return true })
	want := texture.Role{Use: texture.Color, Alpha: texture.AlphaMasked, Cutoff: 0.6, Edges: [2]texture.Edge{texture.EdgeClamp, texture.EdgeMirror}}
	if got := roles[0].List(); len(got) != 1 || got[0] != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := roles[1].List(); len(got) != 2 || got[0] != (texture.Role{Use: texture.Color}) || got[1] != (texture.Role{Use: texture.Data}) {
		t.Errorf("%+v", got)
	}
}
