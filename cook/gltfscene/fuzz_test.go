package gltfscene

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/jsonscan"
)

// fuzzOptions bound the memory of one run.
var fuzzOptions = Options{Scene: DefaultScene, Jobs: 2, MaxDecodedBytes: 4 << 20}

// seeds are documents that use most of what is parsed.
func seeds() []*builder {
	plain, prim := oneTriangle()
	prim["indices"] = plain.accessor([]byte{0, 1, 2}, u8, 3, "SCALAR", nil)
	strip := newBuilder()
	strip.mesh(object{"mode": 5, "attributes": object{"POSITION": strip.accessor(shortBytes(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11), u16, 4, "VEC3", nil)}})
	textured := withMaterial(object{"pbrMetallicRoughness": object{"baseColorTexture": object{
		"index":      0,
		"extensions": object{"KHR_texture_transform": object{"offset": []int{1, 2}}},
	}}, "alphaMode": "BLEND"})
	textured.list("textures", object{"source": 0, "sampler": 0})
	textured.list("samplers", object{"wrapS": 33071})
	textured.list("images", object{"uri": "data:image/png;base64,iVBORw0KGgo="})
	sparse, _ := oneTriangle()
	sparse.sparse([]byte{0, 2}, 2)
	instanced, _ := oneTriangle()
	instanced.doc["nodes"].([]any)[0].(object)["extensions"] = object{
		instancingName: object{"attributes": object{"TRANSLATION": 0}},
		lightsName:     object{"light": 0},
	}
	instanced.doc["nodes"].([]any)[0].(object)["camera"] = 0
	instanced.doc["extensions"] = object{lightsName: object{"lights": []any{object{"type": "point"}}}}
	instanced.doc["cameras"] = []any{object{"type": "perspective", "perspective": object{"yfov": 1, "znear": 1}}}
	instanced.doc["animations"] = []any{object{"samplers": []any{object{"input": 0, "output": 0}}, "channels": []any{object{"sampler": 0, "target": object{"path": "scale"}}}}}
	squeezed, ext := compressedTriangle(khrMeshopt)
	squeezed.viewObj(0)["buffer"], squeezed.viewObj(1)["buffer"] = 0, 0
	ext["filter"] = "EXPONENTIAL"
	levels := lodScene([]int{0, 2, 3}, lod(shown("A"), 1), shown("x"), shown("B_LOD0"), shown("B_LOD1", 4, 5), shown("C_LOD0"), shown("C_LOD2"))
	levels.doc["nodes"].([]any)[0].(object)["extras"] = object{"MSFT_screencoverage": []float64{0.5, 0.25}}
	glossy := specGlossMaterial(object{"diffuseFactor": []float64{1, 0, 0, 1}, "diffuseTexture": object{"index": 0}}, nil)
	posed, _ := skinned()
	morphed, _ := morphing()
	morphed.doc["meshes"].([]any)[0].(object)["weights"] = []float64{0.5, 1}
	clamped := plate(object{"wrapS": 33071, "wrapT": 33648}, object{"extensions": object{transformName: object{"scale": []float64{1, 2}, "rotation": 1}}})
	baked := glossySquare(object{"diffuseTexture": object{"index": 0}, "specularGlossinessTexture": object{"index": 1}})
	return []*builder{plain, strip, textured, sparse, instanced, squeezed, levels, glossy, posed, morphed, clamped, baked}
}

// checkLoad verifies what must hold for any bytes.
func checkLoad(t *testing.T, name string, data []byte) {
	s, err := LoadBytes(context.Background(), name, data, fuzzOptions)
	if err == nil {
		checkScene(t, s)
		return
	}
	var e *Error
	if !errors.As(err, &e) || e.File != name || e.Reason == "" {
		t.Fatalf("bad error: %#v", err)
	}
	if text := err.Error(); strings.ContainsAny(text, "\n\r\t\x00\x1B") || len(text) > 4000 {
		t.Fatalf("bad text: %q", text)
	}
	known := false
	for _, k := range sentinels {
		known = known || errors.Is(err, k.err)
	}
	if !known {
		t.Fatalf("error of no kind: %v", err)
	}
}

func FuzzLoadGLB(f *testing.F) {
	for _, b := range seeds() {
		f.Add(b.glb())
	}
	f.Fuzz(func(t *testing.T, data []byte) { checkLoad(t, "x.glb", data) })
}

func FuzzLoadGLTF(f *testing.F) {
	for _, b := range seeds() {
		f.Add(b.gltf())
	}
	f.Fuzz(func(t *testing.T, data []byte) { checkLoad(t, "x.gltf", data) })
}

// FuzzLoadValue replaces one value of a sound document, which gets past the
// JSON more often than changed bytes do.
func FuzzLoadValue(f *testing.F) {
	for i := range seeds() {
		f.Add(uint8(i), uint16(40*i), "-1")
	}
	f.Fuzz(func(t *testing.T, which uint8, place uint16, value string) {
		list := seeds()
		js := list[int(which)%len(list)].gltf()
		at := int(place) % len(js)
		for at < len(js) && js[at] != ':' && js[at] != '[' && js[at] != ',' {
			at++
		}
		start := jsonscan.Space(js, min(at+1, len(js)))
		end := jsonscan.Skip(js, start)
		checkLoad(t, "x.gltf", []byte(string(js[:start])+value+string(js[end:])))
	})
}

// TestMutations changes every value of the seeds to odd ones.
func TestMutations(t *testing.T) {
	odd := []string{"null", "-1", "1e999", "9007199254740993", "0.5", `"x"`, "[]", "{}", "[null]", "true", "[[[]]]", "4294967296"}
	for _, b := range seeds() {
		js := b.gltf()
		for i := 0; i < len(js); i++ {
			if js[i] != ':' && js[i] != '[' && js[i] != ',' {
				continue
			}
			start := jsonscan.Space(js, i+1)
			end := jsonscan.Skip(js, start)
			if end <= start || end > len(js) {
				continue
			}
			for _, value := range odd {
				changed := string(js[:start]) + value + string(js[end:])
				checkLoad(t, "x.gltf", []byte(changed))
			}
		}
	}
}
