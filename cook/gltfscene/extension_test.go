package gltfscene

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/geom"
)

func TestExtensionPolicies(t *testing.T) {
	for _, tt := range []struct {
		name             string
		required         bool
		err, note, warns bool
	}{
		{"KHR_texture_transform", true, false, false, false},
		{"KHR_materials_clearcoat", false, false, true, false},
		{"KHR_materials_clearcoat", true, false, true, true},
		{"KHR_materials_of_the_future", true, false, true, true},
		{"EXT_structural_metadata", false, false, true, false},
		{"ACME_gizmo", false, false, true, true},
		{"ACME_gizmo", true, true, false, false},
		{"EXT_meshopt_compression", true, false, false, false},
		{"KHR_meshopt_compression", true, false, false, false},
		{"KHR_draco_mesh_compression", false, false, false, false},
		{"KHR_draco_mesh_compression", true, false, false, false},
		{"MSFT_lod", true, false, false, false},
	} {
		b, _ := oneTriangle()
		b.doc["extensionsUsed"] = []string{tt.name}
		if tt.required {
			b.doc["extensionsRequired"] = []string{tt.name}
		}
		s, err := LoadBytes(context.Background(), "x.glb", b.glb(), DefaultOptions())
		if errors.Is(err, ErrUnsupported) != tt.err {
			t.Errorf("%+v: %v", tt, err)
		}
		if tt.err {
			if !strings.Contains(err.Error(), tt.name) {
				t.Errorf("%+v: %v", tt, err)
			}
			continue
		}
		n := note(s, "extension-ignored:"+tt.name)
		if (n.Count == 1) != tt.note || n.Warning != tt.warns {
			t.Errorf("%+v: notes %+v", tt, s.Notes)
		}
	}
}

func TestExtensionPlaces(t *testing.T) {
	b, prim := oneTriangle()
	prim["extensions"] = object{"KHR_materials_sheen": object{}}
	b.doc["extensionsUsed"] = []string{"KHR_materials_sheen", "ACME_a"}
	b.doc["extensionsRequired"] = []string{"KHR_texture_transform"}
	b.doc["extensions"] = object{"ACME_a": 42, "ACME_b": object{}}
	s := b.load(t)
	for code, where := range map[string]string{
		"extension-misplaced":  "meshes[0].primitives[0].extensions.KHR_materials_sheen",
		"extension-not-used":   "extensionsRequired[0]",
		"extension-no-object":  "extensions.ACME_a",
		"extension-undeclared": "extensions.ACME_b",
	} {
		if n := note(s, code); n.Count != 1 || n.Where != where {
			t.Errorf("%s: %+v", code, n)
		}
	}
}

func TestQuantizationNote(t *testing.T) {
	b := newBuilder()
	b.mesh(object{"attributes": object{"POSITION": b.accessor(shortBytes(0, 0, 0, 0, 5, 0, 0, 0, 0, 5, 0, 0), i16, 3, "VEC3", nil)}})
	b.viewObj(0)["byteStride"] = 8
	if s := b.load(t); note(s, "quantization-not-required").Count != 1 || first(t, s).Positions[1][0] != 5 {
		t.Errorf("notes %v", s.Notes)
	}
	b.doc["extensionsUsed"] = []string{"KHR_mesh_quantization"}
	b.doc["extensionsRequired"] = []string{"KHR_mesh_quantization"}
	if s := b.load(t); note(s, "quantization-not-required").Count != 0 {
		t.Errorf("notes %v", s.Notes)
	}
}

func TestVisibilityAndSkins(t *testing.T) {
	b, _ := oneTriangle()
	b.doc["extensionsUsed"] = []string{"KHR_node_visibility"}
	b.doc["nodes"] = []any{
		object{"children": []int{1}, "extensions": object{"KHR_node_visibility": object{"visible": false}}},
		object{"mesh": 0},
		object{"mesh": 0, "skin": 0},
	}
	b.doc["skins"] = []any{object{"joints": []int{1}}}
	b.doc["scenes"] = []any{object{"nodes": []int{0, 2}}}
	s := b.load(t)
	if s.Triangles() != 1 || note(s, "nodes-hidden").Count != 1 || note(s, "skin-faulty").Count != 1 {
		t.Errorf("%d triangles, notes %v", s.Triangles(), s.Notes)
	}
}

func TestInstances(t *testing.T) {
	build := func() (*builder, object) {
		b, _ := oneTriangle()
		attributes := object{
			"TRANSLATION": b.floats("VEC3", 3, 1, 0, 0, 2, 0, 0),
			"ROTATION":    b.accessor(shortBytes(0, 0, 0, 32767, 0, 0, 32767, 0), i16, 2, "VEC4", object{"normalized": true}),
			"_ID":         0,
		}
		b.doc["extensionsUsed"] = []string{instancingName}
		b.doc["extensionsRequired"] = []string{instancingName}
		node := b.doc["nodes"].([]any)[0].(object)
		node["name"] = "tree"
		node["scale"] = []int{10, 10, 10}
		node["extensions"] = object{instancingName: object{"attributes": attributes}}
		return b, attributes
	}
	b, _ := build()
	s := b.load(t)
	checkScene(t, s)
	if s.Triangles() != 2 || len(s.Nodes) != 3 || s.Nodes[0].Mesh != -1 || note(s, "instances-expanded").Count != 2 {
		t.Fatalf("%d triangles, nodes %+v", s.Triangles(), s.Nodes)
	}
	n := s.Nodes[2]
	if n.Name != "tree#1" || n.Parent != 0 || n.Index != 0 {
		t.Errorf("node %+v", n)
	}
	if got := n.World.Point(geom.Vec3{1, 0, 0}).Sub(geom.Vec3{10, 0, 0}); got.Len() > 1e-12 {
		t.Errorf("half a turn: off by %v", got)
	}
	for name, edit := range map[string]func(b *builder, attributes object){
		"has 3 elements, others have 2": func(b *builder, a object) { a["SCALE"] = 0 },
		"must be VEC3 of FLOAT":         func(b *builder, a object) { a["SCALE"] = a["ROTATION"] },
		"must be VEC4 of FLOAT":         func(b *builder, a object) { a["ROTATION"] = a["TRANSLATION"] },
		"names accessor 99":             func(b *builder, a object) { a["SCALE"] = 99 },
		"would exceed the limit": func(b *builder, a object) {
			delete(a, "ROTATION")
			b.acc(1)["count"] = 1 << 30
			delete(b.acc(1), "bufferView")
		},
	} {
		b, attributes := build()
		edit(b, attributes)
		if _, err := LoadBytes(context.Background(), "x.glb", b.glb(), DefaultOptions()); err == nil || !strings.Contains(err.Error(), name) ||
			!strings.Contains(err.Error(), "nodes[0].extensions."+instancingName) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
