package gltfscene

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/untoldkit/untold/internal/testfile"
)

// withMaterial is a triangle with texture coordinates and a material.
func withMaterial(material object) *builder {
	b, prim := oneTriangle()
	prim["attributes"].(object)["TEXCOORD_0"] = b.floats("VEC2", 2, 0, 0, 1, 0, 0, 1)
	prim["attributes"].(object)["TEXCOORD_1"] = 1
	b.list("materials", object{})
	prim["material"] = b.list("materials", material)
	return b
}

var emptySlot = TextureRef{Image: -1, Scale: [2]float64{1, 1}}

func defaultMaterial() Material {
	return Material{
		Index: 1, Name: "material_1", BaseColor: [4]float32{1, 1, 1, 1}, Metallic: 1, Roughness: 1,
		NormalScale: 1, OcclusionStrength: 1, AlphaCutoff: 0.5,
		BaseColorTex: emptySlot, MetalRoughTex: emptySlot, NormalTex: emptySlot, OcclusionTex: emptySlot, EmissiveTex: emptySlot,
	}
}

const png = "\x89PNG\r\n\x1A\n...."

func TestMaterials(t *testing.T) {
	for _, tt := range []struct {
		name string
		in   object
		want func(m *Material)
		note string
	}{
		{"defaults", object{}, func(*Material) {}, ""},
		{"empty pbr", object{"pbrMetallicRoughness": object{}}, func(*Material) {}, ""},
		{"nulls", object{"pbrMetallicRoughness": object{"baseColorFactor": nil, "metallicFactor": nil}, "alphaCutoff": nil}, func(*Material) {}, ""},
		{
			"zeros",
			object{"pbrMetallicRoughness": object{"baseColorFactor": []int{0, 0, 0, 0}, "metallicFactor": 0, "roughnessFactor": 0}, "alphaCutoff": 0},
			func(m *Material) { m.BaseColor, m.Metallic, m.Roughness, m.AlphaCutoff = [4]float32{}, 0, 0, 0 }, "",
		},
		{
			"all",
			object{
				"name": "a\nb", "alphaMode": "MASK", "alphaCutoff": 0.25, "doubleSided": true, "emissiveFactor": []float64{0.5, 0, 1},
				"extensions": object{"KHR_materials_unlit": object{}, "KHR_materials_emissive_strength": object{"emissiveStrength": 4}},
			},
			func(m *Material) {
				m.Name, m.AlphaMode, m.AlphaCutoff, m.DoubleSided, m.Unlit = "a b", AlphaMask, 0.25, true, true
				m.Emissive = [3]float32{2, 0, 4}
			}, "extension-undeclared",
		},
		{
			"clamped",
			object{"pbrMetallicRoughness": object{"baseColorFactor": []float64{2, -1, 0.5, 1}, "metallicFactor": 7}, "emissiveFactor": []int{3, 0, 0}, "alphaCutoff": -1},
			func(m *Material) {
				m.BaseColor, m.Metallic, m.Emissive, m.AlphaCutoff = [4]float32{1, 0, 0.5, 1}, 1, [3]float32{1}, 0
			}, "material-clamped",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := withMaterial(tt.in).load(t)
			want := defaultMaterial()
			tt.want(&want)
			if diff := cmp.Diff([]Material{want}, s.Materials); diff != "" {
				t.Error(diff)
			}
			if tt.note != "" && note(s, tt.note).Count == 0 {
				t.Errorf("notes %v", s.Notes)
			}
			if first(t, s).Material != 0 {
				t.Error("the primitive does not use it")
			}
		})
	}
}

func TestTextures(t *testing.T) {
	b := withMaterial(object{
		"pbrMetallicRoughness": object{
			"baseColorTexture": object{"index": 0, "texCoord": 1, "extensions": object{"KHR_texture_transform": object{
				"offset": []float64{0.5, 0.25}, "rotation": 1.5, "scale": []int{2, 3}, "texCoord": 0,
			}}},
			"metallicRoughnessTexture": object{"index": 1},
		},
		"normalTexture":    object{"index": 2, "scale": 0.5},
		"occlusionTexture": object{"index": 3, "texCoord": 1, "strength": 0.75},
		"emissiveTexture":  object{"index": 4, "texCoord": 2},
	})
	for i := range 4 {
		b.list("images", object{"bufferView": b.view([]byte(png+string(rune('0'+i))), 0), "mimeType": "image/png"})
	}
	b.list("samplers", object{"wrapS": 33071, "wrapT": 33648})
	b.list("samplers", object{"wrapS": 1})
	for _, tex := range []object{
		{"source": 3, "sampler": 0},
		{"extensions": object{"KHR_texture_basisu": object{"source": 1}}},
		{"source": 1, "extensions": object{"EXT_texture_webp": object{"source": 0}}, "sampler": 1},
		{"name": "none"},
		{"source": 0},
	} {
		b.list("textures", tex)
	}
	b.doc["extensionsUsed"] = []string{"KHR_texture_transform", "KHR_texture_basisu", "EXT_texture_webp"}
	s := b.load(t)
	want := defaultMaterial()
	want.NormalScale, want.OcclusionStrength = 0.5, 0.75
	// Image 0 is reached only by a texture coordinate set that is not kept.
	want.BaseColorTex = TextureRef{Image: 1, WrapS: WrapClamp, WrapT: WrapMirror, Offset: [2]float64{0.5, 0.25}, Rot: 1.5, Scale: [2]float64{2, 3}}
	want.MetalRoughTex.Image, want.NormalTex.Image = 0, 0
	want.OcclusionTex.UVSet = 1 // its texture has no image
	if diff := cmp.Diff([]Material{want}, s.Materials); diff != "" {
		t.Error(diff)
	}
	images := []Image{
		{Index: 1, Place: "images[1]", MIME: "image/png", at: memoryExtent([]byte(png + "1"))},
		{Index: 3, Place: "images[3]", MIME: "image/png", at: memoryExtent([]byte(png + "3"))},
	}
	if diff := cmp.Diff(images, s.Images, cmp.AllowUnexported(Image{}, extent{}, inMemory{}), cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	for _, code := range []string{"sampler-faulty", "texture-without-image", "uv-set-unsupported"} {
		if note(s, code).Count != 1 {
			t.Errorf("no note %s in %v", code, s.Notes)
		}
	}
}

func TestMaterialFaults(t *testing.T) {
	texture := func(index any) object { return object{"normalTexture": object{"index": index}} }
	for _, tt := range []struct {
		name     string
		material object
		text     string
	}{
		{"texture index", texture(7), "materials[1].normalTexture.index: names texture 7, but the file has 2"},
		{"no index", object{"normalTexture": object{}}, "normalTexture.index: is missing"},
		{"image index", texture(0), "textures[0].source: names image 9"},
		{"no source", texture(1), "images[0]: has neither a uri nor a bufferView"},
		{"alpha mode", object{"alphaMode": "GLASS"}, `alphaMode: is "GLASS"`},
		{"factor", object{"pbrMetallicRoughness": object{"baseColorFactor": []int{1, 1, 1}}}, "has 3 numbers, must have 4"},
		{"strength", object{"extensions": object{"KHR_materials_emissive_strength": object{"emissiveStrength": -1}}}, "emissiveStrength: is -1"},
		{"transform", object{"normalTexture": object{"index": 1, "extensions": object{"KHR_texture_transform": object{"scale": 2}}}}, "KHR_texture_transform.scale: is a number"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := withMaterial(tt.material)
			b.doc["textures"] = []any{object{"source": 9}, object{"source": 0}}
			b.doc["images"] = []any{object{}}
			_, err := LoadBytes(context.Background(), "x.glb", b.glb(), DefaultOptions())
			if !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("got %v, want %q", err, tt.text)
			}
		})
	}
}

func TestMissingTexCoord(t *testing.T) {
	b := withMaterial(object{"normalTexture": object{"index": 0}})
	b.doc["textures"] = []any{object{"source": 0}}
	b.list("images", object{"uri": "data:image/png;base64,iVBORw0KGgo="})
	prim := b.doc["meshes"].([]any)[0].(object)["primitives"].([]any)[0].(object)
	delete(prim["attributes"].(object), "TEXCOORD_0")
	if n := note(b.load(t), "texcoord-missing"); n.Count != 1 || n.Where != "meshes[0].primitives[0]" {
		t.Errorf("note %+v", n)
	}
}

// TestSeveralImagesMissing: one error tells of all of them.
func TestSeveralImagesMissing(t *testing.T) {
	for n, want := range map[int]string{
		1: `images[1]: file "1.png" is missing (`,
		2: `images[1]: file "1.png" is missing, and another image is missing (`,
		4: `images[1]: file "1.png" is missing, and 3 more images are missing (`,
	} {
		b := withMaterial(object{})
		m := b.doc["materials"].([]any)[1].(object)
		for i, slot := range []string{"normalTexture", "occlusionTexture", "emissiveTexture"} {
			m[slot] = object{"index": i}
		}
		m["pbrMetallicRoughness"] = object{"baseColorTexture": object{"index": 3}, "metallicRoughnessTexture": object{"index": 4}}
		for i := range 5 {
			b.list("textures", object{"source": min(i, n)})
			b.list("images", object{"uri": fmt.Sprintf("%d.png", i)})
		}
		path := filepath.Join(write(t, map[string]string{"x.glb": string(b.glb()), "0.png": png}), "x.glb")
		if _, err := Load(context.Background(), path, DefaultOptions()); !errors.Is(err, ErrMissingFile) || !strings.Contains(err.Error(), want) {
			t.Errorf("%d missing: %v", n, err)
		}
	}
}

func TestImages(t *testing.T) {
	b := withMaterial(object{"normalTexture": object{"index": 0}})
	b.list("textures", object{"source": 0})
	b.list("images", object{"uri": "tex/wall%201.jpg", "name": "wall", "mimeType": "image/jpeg"})
	dir := write(t, map[string]string{"x.glb": string(b.glb()), "tex/wall 1.jpg": png})
	path := filepath.Join(dir, "x.glb")
	s, err := Load(context.Background(), path, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	im := &s.Images[0]
	data, err := im.Bytes()
	if err != nil || string(data) != png || im.URI != "tex/wall 1.jpg" || im.MIME != "image/png" || im.Size() != int64(len(png)) || !filepath.IsAbs(im.file) {
		t.Errorf("got %q, %v, %+v", data, err, im)
	}
	if note(s, "image-mime").Count != 1 || note(s, "image-mime").Warning {
		t.Errorf("notes %v", s.Notes)
	}
	file := testfile.Write(t, filepath.Join(dir, "tex", "wall 1.jpg"), png[:4])
	if _, err := im.Bytes(); !errors.Is(err, ErrChanged) {
		t.Errorf("a file that shrank: %v", err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, err := im.Bytes(); !errors.Is(err, ErrMissingFile) || !strings.HasPrefix(err.Error(), "images[0]: ") {
		t.Errorf("a file that is gone: %v", err)
	}
	if _, err := Load(context.Background(), path, DefaultOptions()); !errors.Is(err, ErrMissingFile) || !strings.Contains(err.Error(), `images[0]: file "tex/wall 1.jpg" is missing`) ||
		!strings.HasSuffix(err.Error(), "; put it there, or leave it out with Options.AllowMissingImages)") {
		t.Errorf("missing at load: %v", err)
	}
	opts := DefaultOptions()
	opts.AllowMissingImages = true
	s, err = Load(context.Background(), path, opts)
	if err != nil || len(s.Images) != 0 || s.Materials[0].NormalTex.Image != -1 || note(s, "image-missing").Count != 1 {
		t.Errorf("missing, permitted: %v", err)
	}
}

func TestLights(t *testing.T) {
	b := newBuilder()
	b.doc["extensionsUsed"] = []string{lightsName}
	lights := []any{
		object{"type": "point", "color": []float64{1, 0.5, 0}, "intensity": 20, "range": 5, "name": "lamp"},
		object{"type": "spot", "spot": object{"innerConeAngle": 0.2}},
		object{"type": "directional", "range": 9},
		object{"type": "spot", "spot": object{"innerConeAngle": 2}},
		object{"type": "laser"},
	}
	b.doc["extensions"] = object{lightsName: object{"lights": lights}}
	var roots []int
	for i := range 6 {
		roots = append(roots, b.list("nodes", object{"translation": []int{i, 0, 0}, "extensions": object{lightsName: object{"light": i}}}))
	}
	b.doc["scenes"] = []any{object{"nodes": roots}}
	s := b.load(t)
	want := []Light{
		{Name: "lamp", Kind: "point", Color: [3]float64{1, 0.5, 0}, Intensity: 20, Range: 5},
		{Name: "node_1", Kind: "spot", Color: [3]float64{1, 1, 1}, Intensity: 1, InnerCone: 0.2, OuterCone: math.Pi / 4, SourceNode: 1},
		{Name: "node_2", Kind: "directional", Color: [3]float64{1, 1, 1}, Intensity: 1, SourceNode: 2},
	}
	for i := range want {
		want[i].World = s.Nodes[i].World
	}
	if diff := cmp.Diff(want, s.Lights); diff != "" {
		t.Error(diff)
	}
	if note(s, "light-faulty").Count != 3 || note(s, "unused-part-faulty").Count != 0 {
		t.Errorf("notes %v", s.Notes)
	}
}

func TestCameras(t *testing.T) {
	b := newBuilder()
	var roots []int
	for i, c := range []object{
		{"type": "perspective", "perspective": object{"yfov": 1, "znear": 0.1, "aspectRatio": 1.5}},
		{"type": "orthographic", "orthographic": object{"xmag": 2, "ymag": 1, "znear": 0, "zfar": 10}},
		{"type": "perspective", "perspective": object{"yfov": 1, "znear": 10, "zfar": 1}},
		{"type": "perspective", "orthographic": object{"xmag": 2, "ymag": 1, "znear": 0, "zfar": 10}},
		{"type": "perspective", "perspective": object{"znear": 10}},
	} {
		b.list("cameras", c)
		roots = append(roots, b.list("nodes", object{"camera": i}))
	}
	b.doc["scenes"] = []any{object{"nodes": append(roots, b.list("nodes", object{"camera": 77}))}}
	s := b.load(t)
	want := []Camera{
		{Name: "node_0", FovY: 1, Aspect: 1.5, Near: 0.1, World: s.Nodes[0].World},
		{Name: "node_1", Aspect: 2, Far: 10, World: s.Nodes[1].World, SourceNode: 1, Orthographic: true},
	}
	if diff := cmp.Diff(want, s.Cameras); diff != "" {
		t.Error(diff)
	}
	if note(s, "camera-faulty").Count != 4 {
		t.Errorf("notes %v", s.Notes)
	}
}
