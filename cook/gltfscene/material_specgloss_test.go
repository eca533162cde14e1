package gltfscene

import (
	"bytes"
	"encoding/base64"
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/testfile"
)

func specGlossMaterial(sg, rest object) *builder {
	m := object{"extensions": object{specGlossName: sg}}
	for k, v := range rest {
		m[k] = v
	}
	b := withMaterial(m)
	b.doc["extensionsUsed"] = []string{specGlossName}
	b.list("textures", object{"source": 0})
	b.list("images", object{"uri": "data:image/png;base64,iVBORw0KGgo="})
	return b
}

func TestSpecularGlossiness(t *testing.T) {
	tex := object{"index": 0}
	for name, tt := range map[string]struct {
		sg, rest         object
		base             [4]float32
		metal, rough     float32
		note             string
		baseTex, metalRT int
	}{
		"plastic": {
			object{"diffuseFactor": []float64{0.5, 0.2, 0.1, 0.25}, "specularFactor": []float64{0.04, 0.04, 0.04}, "glossinessFactor": 0.75},
			nil,
			[4]float32{0.5, 0.2, 0.1, 0.25},
			0, 0.25, "specular-glossiness-converted", -1, -1,
		},
		"gold": {
			object{"diffuseFactor": []float64{0, 0, 0, 1}, "specularFactor": []float64{1, 0.766, 0.336}},
			nil,
			[4]float32{1, 0.766, 0.336, 1},
			1, 0, "specular-glossiness-converted", -1, -1,
		},
		"defaults": {object{}, nil, [4]float32{1, 1, 1, 1}, 1, 0, "specular-glossiness-converted", -1, -1},
		"black":    {object{"specularFactor": []float64{0, 0, 0}, "diffuseFactor": []float64{0, 0, 0, 1}}, nil, [4]float32{0, 0, 0, 1}, 0, 0, "specular-glossiness-converted", -1, -1},
		"diffuse texture": {
			object{"diffuseTexture": tex, "specularFactor": []float64{0, 0, 0}, "glossinessFactor": 0},
			object{"pbrMetallicRoughness": object{"metallicRoughnessTexture": tex}},
			[4]float32{1, 1, 1, 1},
			0, 1, "specular-glossiness-converted", 0, -1,
		},
		"specular texture": {
			object{"diffuseFactor": []float64{0, 1, 0, 1}, "specularGlossinessTexture": tex},
			nil,
			[4]float32{0, 1, 0, 1},
			0, 0.5, "specular-glossiness-texture", -1, -1,
		},
		"own textures": {
			object{"specularGlossinessTexture": tex, "glossinessFactor": 0.3},
			object{"pbrMetallicRoughness": object{"metallicRoughnessTexture": tex, "roughnessFactor": 0.5}},
			[4]float32{1, 1, 1, 1},
			1, 0.5, "specular-glossiness-skipped", -1, 0,
		},
		"clamped": {
			object{"diffuseFactor": []float64{2, 0, 0, 1}, "specularFactor": []float64{-1, 0, 0}, "glossinessFactor": 3},
			nil,
			[4]float32{1, 0, 0, 1},
			0, 0, "material-clamped", -1, -1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := specGlossMaterial(tt.sg, tt.rest).load(t)
			m := s.Materials[0]
			for i, want := range tt.base {
				if math.Abs(float64(m.BaseColor[i]-want)) > 1e-2 {
					t.Errorf("base colour %v, want %v", m.BaseColor, tt.base)
				}
			}
			if math.Abs(float64(m.Metallic-tt.metal)) > 1e-3 || math.Abs(float64(m.Roughness-tt.rough)) > 1e-6 {
				t.Errorf("metallic %v, roughness %v", m.Metallic, m.Roughness)
			}
			if note(s, tt.note).Count == 0 || m.BaseColorTex.Image != tt.baseTex || m.MetalRoughTex.Image != tt.metalRT {
				t.Errorf("%+v, notes %+v", m, s.Notes)
			}
		})
	}
}

func TestSpecularGlossinessFaults(t *testing.T) {
	for _, tt := range []struct {
		sg   object
		want string
	}{
		{object{"diffuseFactor": []float64{1}}, "diffuseFactor"},
		{object{"glossinessFactor": "x"}, "glossinessFactor"},
		{object{"diffuseTexture": object{}}, "diffuseTexture.index"},
		{object{"diffuseTexture": object{"index": 9}}, "diffuseTexture.index"},
	} {
		_, err := loadGLB(specGlossMaterial(tt.sg, nil).glb())
		if !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), "].extensions."+specGlossName+"."+tt.want) {
			t.Errorf("%v: %v", tt.sg, err)
		}
	}
}

// TestMetalFrom goes there and back: a grey metallic-roughness material has
// an exact specular-glossiness equivalent.
func TestMetalFrom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		grey := rapid.Float64Range(0.05, 0.95).Draw(t, "grey")
		metal := rapid.Float64Range(0, 1).Draw(t, "metallic")
		specular := dielectric*(1-metal) + grey*metal
		diffuse := grey * (1 - dielectric) * (1 - metal) / (1 - specular)
		base, got := metalFrom([3]float64{diffuse, diffuse, diffuse}, [3]float64{specular, specular, specular})
		if math.Abs(got-metal) > 1e-6 || math.Abs(base[0]-grey) > 1e-6 {
			t.Fatalf("metallic %v, base %v; want %v, %v", got, base[0], metal, grey)
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.Float64Range(0, 1)
		var c [6]float64
		for i := range c {
			c[i] = unit.Draw(t, "component")
		}
		base, metal := metalFrom([3]float64(c[:3]), [3]float64(c[3:]))
		for _, v := range append(base[:], metal) {
			if !(v >= 0 && v <= 1) {
				t.Fatalf("%v, %v out of range", base, metal)
			}
		}
	})
}

// TestTextureFallback: the image of KHR_texture_basisu is what a viewer shows, and the
// source where that cannot be decoded.
func TestTextureFallback(t *testing.T) {
	sound := testfile.Read(t, "../../internal/ktx2/testdata/uastc-one.ktx2")
	astc := bytes.Clone(sound)
	astc[12] = 157
	uri := func(data []byte) object {
		return object{"uri": "data:image/ktx2;base64," + base64.StdEncoding.EncodeToString(data)}
	}
	for name, tt := range map[string]struct {
		image  func(b *builder) object
		reason string // empty: the image is used
	}{
		"sound":           {func(*builder) object { return uri(sound) }, ""},
		"in a bufferView": {func(b *builder) object { return object{"bufferView": b.view(sound, 0), "mimeType": "image/ktx2"} }, ""},
		"cut off":         {func(*builder) object { return uri(sound[:100]) }, "damaged KTX2 file"},
		"another format":  {func(*builder) object { return uri(astc) }, "VkFormat 157 (ASTC) is not decoded"},
		"missing":         {func(*builder) object { return object{"uri": "no.ktx2"} }, `file "no.ktx2" is missing`},
		"nothing":         {func(*builder) object { return object{} }, "neither a uri nor a bufferView"},
	} {
		b := withMaterial(object{"pbrMetallicRoughness": object{"baseColorTexture": object{"index": 0}}})
		b.doc["extensionsUsed"] = []string{basisuName}
		b.list("textures", object{"source": 1, "extensions": object{basisuName: object{"source": 0}}})
		b.list("images", tt.image(b))
		b.list("images", object{"mimeType": "image/png", "uri": "data:image/png;base64,iVBORw0KGgo="})
		s := b.load(t)
		n := note(s, "texture-fallback:"+basisuName)
		if tt.reason == "" {
			if len(s.Notes) != 0 || len(s.Images) != 1 || s.Images[0].MIME != "image/ktx2" {
				t.Errorf("%s: notes %+v, images %+v", name, s.Notes, s.Images)
			}
			continue
		}
		if n.Count != 1 || n.Where != "textures[0]" || !strings.Contains(n.Message, "image 1 (image/png)") || !strings.Contains(n.Message, tt.reason) || s.Images[0].MIME != "image/png" {
			t.Errorf("%s: notes %+v", name, s.Notes)
		}
	}
	b := withMaterial(object{"pbrMetallicRoughness": object{"baseColorTexture": object{"index": 0}}})
	b.doc["extensionsUsed"] = []string{basisuName}
	b.list("textures", object{"extensions": object{basisuName: object{"source": 0}}})
	b.list("images", uri(sound[:12]))
	if s := b.load(t); len(s.Notes) != 0 || s.Images[0].MIME != "image/ktx2" {
		t.Errorf("without a source: notes %+v, images %+v", s.Notes, s.Images)
	}
}

func TestVariants(t *testing.T) {
	b, prim := oneTriangle()
	b.doc["extensionsUsed"] = []string{variantsName}
	b.doc["extensions"] = object{variantsName: object{"variants": []any{object{"name": "red"}}}}
	prim["extensions"] = object{variantsName: object{"mappings": []any{object{"material": 0, "variants": []int{0}}}}}
	if n := note(b.load(t), "variants-skipped"); n.Count != 1 || n.Warning || n.Where != "meshes[0].primitives[0]" {
		t.Errorf("note %+v", n)
	}
	b.doc["extensionsRequired"] = []string{variantsName}
	if n := note(b.load(t), "variants-skipped"); !n.Warning {
		t.Errorf("note %+v", n)
	}
}
