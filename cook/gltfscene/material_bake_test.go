package gltfscene

import (
	"bytes"
	"encoding/base64"
	"errors"
	"image"
	"image/color"
	encoder "image/png"
	"path/filepath"
	"testing"

	"github.com/untoldkit/untold/cook/internal/texture"
	"github.com/untoldkit/untold/internal/testfile"
)

// pngURI returns a data: URI of an image with these pixels in rows.
func pngURI(width int, pixels ...color.NRGBA) string {
	img := image.NewNRGBA(image.Rect(0, 0, width, len(pixels)/width))
	for i, p := range pixels {
		img.SetNRGBA(i%width, i/width, p)
	}
	var out bytes.Buffer
	if err := encoder.Encode(&out, img); err != nil {
		panic(err)
	}
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(out.Bytes())
}

// glossySquare has a material with a texture for each of diffuse and specular-glossiness.
func glossySquare(sg object) *builder {
	b := withMaterial(object{"extensions": object{specGlossName: sg}, "name": "Bottle"})
	b.doc["extensionsUsed"] = []string{specGlossName}
	for i := range 2 {
		b.list("textures", object{"source": i})
	}
	b.list("images", object{"uri": pngURI(2,
		color.NRGBA{255, 0, 0, 255}, color.NRGBA{0, 0, 0, 128}, // plastic, metal
		color.NRGBA{188, 188, 188, 255}, color.NRGBA{0, 0, 0, 0})})
	b.list("images", object{"uri": pngURI(2,
		color.NRGBA{56, 56, 56, 255}, color.NRGBA{255, 220, 157, 51},
		color.NRGBA{0, 0, 0, 0}, color.NRGBA{56, 56, 56, 128})})
	return b
}

// decoded returns what an image of a scene shows.
func decodedImage(t *testing.T, s *Scene, i int) *image.NRGBA {
	t.Helper()
	data, err := s.Images[i].Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if int64(len(data)) != s.Images[i].Size() {
		t.Errorf("%s has %d bytes, not %d", s.Images[i].Name, len(data), s.Images[i].Size())
	}
	img, err := texture.Read(data, texture.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func wantTexels(t *testing.T, what string, img *image.NRGBA, want ...color.NRGBA) {
	t.Helper()
	for i, w := range want {
		g := img.NRGBAAt(i%img.Rect.Dx(), i/img.Rect.Dx())
		for k, d := range [4]int{int(g.R) - int(w.R), int(g.G) - int(w.G), int(g.B) - int(w.B), int(g.A) - int(w.A)} {
			if d < -2 || d > 2 {
				t.Errorf("%s: texel %d is %v, want %v (channel %d)", what, i, g, w, k)
				break
			}
		}
	}
}

// TestSpecularGlossinessTextures: each texel becomes a base colour, a roughness and a
// metallic factor.
func TestSpecularGlossinessTextures(t *testing.T) {
	b := glossySquare(object{
		"diffuseTexture": object{"index": 0}, "specularGlossinessTexture": object{"index": 1},
		"glossinessFactor": 0.5, "diffuseFactor": []float64{1, 1, 1, 0.75},
	})
	s := b.load(t)
	m := s.Materials[0]
	if len(s.Images) != 2 || m.BaseColorTex.Image != 0 || m.MetalRoughTex.Image != 1 || m.BaseColor != [4]float32{1, 1, 1, 0.75} || m.Metallic != 1 || m.Roughness != 1 {
		t.Fatalf("%+v, %d images", m, len(s.Images))
	}
	if len(s.Notes) != 1 || note(s, "specular-glossiness-baked").Count != 1 {
		t.Errorf("notes %+v", s.Notes)
	}
	wantTexels(t, "base colour", decodedImage(t, s, 0),
		color.NRGBA{255, 0, 0, 255}, color.NRGBA{255, 220, 157, 128}, color.NRGBA{191, 191, 191, 255}, color.NRGBA{0, 0, 0, 0})
	wantTexels(t, "metallic-roughness", decodedImage(t, s, 1),
		color.NRGBA{255, 128, 0, 255}, color.NRGBA{255, 230, 255, 255}, color.NRGBA{255, 255, 0, 255}, color.NRGBA{255, 191, 0, 255})

	// Of the same textures and factors they are made once.
	two := b.doc["materials"].([]any)[1].(object)
	b.mesh(object{"attributes": object{"POSITION": 0, "TEXCOORD_0": 1}, "material": b.list("materials", two)})
	if s = b.load(t); len(s.Images) != 2 || len(s.Materials) != 2 || s.Materials[1].MetalRoughTex.Image != 1 {
		t.Errorf("%d images, %+v", len(s.Images), s.Materials)
	}

	// The material's own textures are for readers that do not know the extension.
	two["pbrMetallicRoughness"] = object{"metallicRoughnessTexture": object{"index": 0}}
	if s = b.load(t); len(s.Images) != 2 || note(s, "specular-glossiness-baked").Count != 2 {
		t.Errorf("%d images, notes %+v", len(s.Images), s.Notes)
	}

	// Without a diffuse texture its factor is what is converted.
	s = glossySquare(object{"specularGlossinessTexture": object{"index": 1}, "diffuseFactor": []float64{0, 1, 0, 1}}).load(t)
	wantTexels(t, "of a factor", decodedImage(t, s, s.Materials[0].BaseColorTex.Image), color.NRGBA{0, 255, 0, 255})
}

// TestSpecularGlossinessLeftOut: textures that cannot be made are told of, with why.
func TestSpecularGlossinessLeftOut(t *testing.T) {
	moved := object{"index": 1, "extensions": object{transformName: object{"offset": []float64{0.5, 0}}}}
	for want, spoil := range map[string]func(b *builder, sg object){
		"different coordinates":      func(_ *builder, sg object) { sg["specularGlossinessTexture"] = moved },
		"has no image":               func(b *builder, _ object) { delete(b.doc["textures"].([]any)[1].(object), "source") },
		"neither PNG, JPEG, WebP":    func(b *builder, _ object) { b.doc["images"].([]any)[1].(object)["uri"] = "data:,hello" },
		"texels, more than 16777216": func(b *builder, _ object) { b.doc["images"].([]any)[1].(object)["uri"] = hugeURI(t) },
	} {
		sg := object{"diffuseTexture": object{"index": 0}, "specularGlossinessTexture": object{"index": 1}}
		b := glossySquare(sg)
		spoil(b, sg)
		s := b.load(t)
		n := note(s, "specular-glossiness-texture")
		if n.Count != 1 || !n.Warning || !bytes.Contains([]byte(n.Message), []byte(want)) {
			t.Errorf("%s: %+v", want, s.Notes)
		}
		if m := s.Materials[0]; m.Metallic != 0 || m.Roughness != 0.5 || m.BaseColorTex.Image != 0 || m.MetalRoughTex.Image != -1 || len(s.Images) != 1 {
			t.Errorf("%s: %+v, %d images", want, m, len(s.Images))
		}
	}
}

// hugeURI is a PNG that claims many texels.
func hugeURI(t *testing.T) string {
	uri := pngURI(1, color.NRGBA{})
	data, err := base64.StdEncoding.DecodeString(uri[len("data:image/png;base64,"):])
	if err != nil {
		t.Fatal(err)
	}
	data[18], data[22] = 0x40, 0x40 // 16384 and more
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(data)
}

// TestPlannedGloss: a plan knows how such images are made.
func TestPlannedGloss(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bottle.glb")
	b := glossySquare(object{"diffuseTexture": object{"index": 0}, "specularGlossinessTexture": object{"index": 1}})
	testfile.Write(t, path, string(b.glb()))
	s, raw := recorded(t, path, 0)
	defer s.Close()
	again, err := followPlan(t, path, raw, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	for i := range s.Images {
		want, err := s.Images[i].Bytes()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := again.Images[i].Bytes(); err != nil || !bytes.Equal(got, want) {
			t.Errorf("image %d differs: %v", i, err)
		}
	}
}

// TestMissingGloss: an image that is missing is an error in this slot as in others.
func TestMissingGloss(t *testing.T) {
	b := glossySquare(object{"diffuseTexture": object{"index": 0}, "specularGlossinessTexture": object{"index": 1}})
	b.doc["images"].([]any)[1] = object{"uri": "none.png"}
	path := testfile.Write(t, filepath.Join(t.TempDir(), "bottle.gltf"), b.gltf())
	if _, err := Load(t.Context(), path, DefaultOptions()); !errors.Is(err, ErrMissingFile) {
		t.Errorf("%v", err)
	}
	o := DefaultOptions()
	o.AllowMissingImages = true
	if _, err := Load(t.Context(), path, o); err != nil {
		t.Error(err)
	}
}
