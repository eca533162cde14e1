package gltfscene

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestAudit puts one faulty, unused part at a time beside a sound triangle
// and expects exactly one note about it.
func TestAudit(t *testing.T) {
	for _, tt := range []struct {
		list, json   string
		where, fault string
	}{
		{"bufferViews", `{"buffer":7,"byteLength":1}`, "bufferViews[1].buffer", "names buffer 7"},
		{"bufferViews", `{"buffer":0,"byteLength":99}`, "bufferViews[1]", "ends at byte 99 of buffer 0, which has 36"},
		{"bufferViews", `{"buffer":0,"byteLength":1,"byteStride":5}`, "bufferViews[1].byteStride", "is 5"},
		{"bufferViews", `[]`, "bufferViews[1]", "is an array, must be an object"},
		{"accessors", `{"componentType":5126,"type":"VEC3","count":1,"byteOffset":4}`, "accessors[1].byteOffset", "without a bufferView"},
		{"accessors", `{"bufferView":9,"componentType":5126,"type":"VEC3","count":1}`, "accessors[1].bufferView", "names bufferView 9"},
		{"accessors", `{"bufferView":0,"componentType":5126,"type":"MAT4","count":1}`, "accessors[1]", "1 elements of 64 bytes"},
		{"accessors", `{"bufferView":0,"componentType":5121,"type":"MAT3","count":4}`, "accessors[1]", "4 elements of 12 bytes"},
		{"accessors", `{"bufferView":0,"componentType":5121,"type":"MAT2","count":9007199254740991}`, "accessors[1]", "elements of 8 bytes"},
		{"nodes", `{"children":[5]}`, "nodes[1].children[0]", "names node 5"},
		{"nodes", `{"mesh":5}`, "nodes[1].mesh", "names mesh 5"},
		{"nodes", `{"camera":5}`, "nodes[1].camera", "names camera 5"},
		{"nodes", `{"skin":5}`, "nodes[1].skin", "names skin 5"},
		{"meshes", `{}`, "meshes[1].primitives", "is missing"},
		{"meshes", `{"primitives":[{"attributes":{"POSITION":5}}]}`, "meshes[1].primitives[0].attributes.POSITION", "names accessor 5"},
		{"meshes", `{"primitives":[{"attributes":{"TEXCOORD_0":0}}]}`, "meshes[1].primitives[0].attributes.TEXCOORD_0 (accessor 0)", "is VEC3 of FLOAT"},
		{"meshes", `{"primitives":[{"attributes":{"POSITION":0},"material":5}]}`, "meshes[1].primitives[0].material", "names material 5"},
		{"meshes", `{"primitives":[{"attributes":{"POSITION":0},"indices":0}]}`, "meshes[1].primitives[0].indices (accessor 0)", "is VEC3 of FLOAT, must be SCALAR"},
		{"meshes", `{"primitives":[{"attributes":{"POSITION":0},"targets":[{"POSITION":8}]}]}`, "meshes[1].primitives[0].targets[0].POSITION", "names accessor 8"},
		{"textures", `{"source":5}`, "textures[0].source", "names image 5"},
		{"textures", `{"sampler":5}`, "textures[0].sampler", "names sampler 5"},
		{"samplers", `{"wrapT":5}`, "samplers[0].wrapT", "is 5, must be one of"},
		{"images", `{}`, "images[0]", "neither a uri nor a bufferView"},
		{"images", `{"uri":"a.png","bufferView":0}`, "images[0]", "a uri as well as a bufferView"},
		{"images", `{"bufferView":0}`, "images[0].mimeType", "is missing"},
		{"images", `{"bufferView":5,"mimeType":"image/png"}`, "images[0].bufferView", "names bufferView 5"},
		{"materials", `{"pbrMetallicRoughness":{"metallicRoughnessTexture":{"index":3}}}`, "materials[0].pbrMetallicRoughness.metallicRoughnessTexture.index", "names texture 3"},
		{"materials", `{"alphaMode":1}`, "materials[0].alphaMode", "is a number, must be a string"},
		{"cameras", `{"type":"perspective"}`, "cameras[0]", `has type "perspective" without that property`},
		{"cameras", `{"type":"perspective","perspective":{"yfov":4,"znear":1}}`, "cameras[0].perspective.yfov", "is 4, must be above 0 and below pi"},
		{"cameras", `{"type":"perspective","perspective":{"yfov":1,"znear":0}}`, "cameras[0].perspective.znear", "is 0"},
		{"cameras", `{"type":"perspective","perspective":{"yfov":1,"znear":1,"aspectRatio":0}}`, "cameras[0].perspective.aspectRatio", "is 0"},
		{"cameras", `{"type":"orthographic","orthographic":{"xmag":0,"ymag":1,"znear":0,"zfar":1}}`, "cameras[0].orthographic", "magnification of 0"},
		{"cameras", `{"type":"orthographic","orthographic":{"xmag":1,"ymag":1,"znear":2,"zfar":1}}`, "cameras[0].orthographic", "0 <= znear < zfar"},
		{"skins", `{"joints":[0,5]}`, "skins[0].joints[1]", "names node 5"},
		{"skins", `{}`, "skins[0].joints", "is missing"},
		{"animations", `{"samplers":[],"channels":[]}`, "animations[0].channels", "is empty"},
		{"animations", `{"samplers":[{"input":0,"output":0}],"channels":[{"sampler":0,"target":{"path":"scale"}}]}`, "animations[0].samplers[0].input", "must be SCALAR of FLOAT"},
		{"animations", `{"samplers":[{"input":5,"output":0}],"channels":[{"sampler":0,"target":{"path":"scale"}}]}`, "animations[0].samplers[0].input", "names accessor 5"},
		{"animations", `{"samplers":[],"channels":[{"sampler":0,"target":{"path":"scale"}}]}`, "animations[0].channels[0].sampler", "names sampler 0 of 0"},
	} {
		t.Run(tt.where+" "+tt.fault, func(t *testing.T) {
			b, _ := oneTriangle()
			b.list(tt.list, json.RawMessage(tt.json))
			s := b.load(t)
			n := note(s, "unused-part-faulty")
			if n.Count != 1 || n.Where != tt.where || !strings.Contains(n.Message, tt.fault) || !n.Warning {
				t.Errorf("got %+v", s.Notes)
			}
			if s.Triangles() != 1 {
				t.Errorf("%d triangles", s.Triangles())
			}
		})
	}
}

// TestAuditIsSilent puts sound, unused parts beside a triangle.
func TestAuditIsSilent(t *testing.T) {
	b, _ := oneTriangle()
	for list, text := range map[string]string{
		"nodes":     `{"children":[2],"mesh":1,"camera":0,"skin":0}`,
		"meshes":    `{"primitives":[{"attributes":{"POSITION":0,"NORMAL":0,"_CUSTOM":0},"material":0}]}`,
		"materials": `{"normalTexture":{"index":0}}`,
		"textures":  `{"source":0,"sampler":0}`,
		"samplers":  `{"wrapS":10497}`,
		"images":    `{"uri":"not-looked-for.png"}`,
		"cameras":   `{"type":"perspective","perspective":{"yfov":1,"znear":1}}`,
		"skins":     `{"joints":[0]}`,
	} {
		b.list(list, json.RawMessage(text))
	}
	b.list("nodes", json.RawMessage(`{}`))
	if s := b.load(t); len(s.Notes) != 0 {
		t.Errorf("notes %+v", s.Notes)
	}
}

func TestEmptyArrays(t *testing.T) {
	b, _ := oneTriangle()
	b.doc["samplers"], b.doc["images"] = []any{}, []any{}
	if n := note(b.load(t), "empty-array"); n.Count != 2 || n.Warning {
		t.Errorf("note %+v", n)
	}
}

// TestMorphFaults verifies that faulty morph targets of a used mesh are noted.
func TestMorphFaults(t *testing.T) {
	b, prim := oneTriangle()
	prim["targets"] = []any{object{"POSITION": b.floats("VEC3", 3, 0, 0, 0)}, object{"NORMAL": 77}}
	s := b.load(t)
	if n := note(s, "morph-target-faulty"); n.Count != 2 || !strings.Contains(n.Message, "has 1 elements, POSITION has 3") {
		t.Errorf("notes %+v", s.Notes)
	}
	if note(s, "unused-part-faulty").Count != 0 {
		t.Errorf("notes %+v", s.Notes)
	}
}
