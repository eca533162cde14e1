package gltfscene

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/geom"
)

// TestPlacementsRepeat: levels, lights and transforms are repeated with the nodes.
func TestPlacementsRepeat(t *testing.T) {
	b := lodScene([]int{0, 2, 3}, lod(shown("A"), 1), shown("x"), shown("B_LOD0"), shown("B_LOD1"))
	b.doc["extensionsUsed"] = []string{lodName, lightsName}
	b.doc["extensions"] = object{lightsName: object{"lights": []any{object{"type": "point"}}}}
	b.doc["nodes"].([]any)[2].(object)["extensions"] = object{lightsName: object{"light": 0}}
	once, err := LoadBytes(context.Background(), "a.glb", b.glb(), DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	opts := DefaultOptions()
	move := geom.Identity()
	move[12] = 5
	opts.Placements = []Placement{{Name: "p", World: geom.Identity(), Extras: []byte(`{"k":1}`)}, {Name: "q", World: move}}
	s, err := LoadBytes(context.Background(), "a.glb", b.glb(), opts)
	if err != nil {
		t.Fatal(err)
	}
	n := len(once.Nodes) + 1
	if len(s.Nodes) != 2*n || len(s.LODs) != 2*len(once.LODs) || len(s.Lights) != 2 || len(s.Meshes) != len(once.Meshes) {
		t.Fatalf("%d nodes, %d groups, %d lights", len(s.Nodes), len(s.LODs), len(s.Lights))
	}
	for k := range 2 {
		for i := range once.Nodes {
			got, want := s.Nodes[k*n+1+i], once.Nodes[i]
			want.Parent += k*n + 1
			if want.LOD.Group > 0 {
				want.LOD.Group += k * len(once.LODs)
			}
			want.World[12] += float64(5 * k)
			if k == 0 {
				want.Extras = []byte(`{"k":1}`)
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("copy %d: %+v, want %+v", k, got, want)
			}
		}
		for g := range once.LODs {
			for l, level := range s.LODs[k*len(once.LODs)+g].Levels {
				if level.Nodes[0] != once.LODs[g].Levels[l].Nodes[0]+k*n+1 {
					t.Errorf("copy %d, group %d: %v", k, g, level)
				}
			}
		}
	}
	if s.Lights[1].World[12] != 5 {
		t.Errorf("%v", s.Lights[1].World)
	}
	opts.MaxNodes = int64(2*n - 1)
	if _, err := LoadBytes(context.Background(), "a.glb", b.glb(), opts); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
}

// TestMergedExtras: members of a placement replace those of a node.
func TestMergedExtras(t *testing.T) {
	for _, c := range [][3]string{
		{"", "", ""},
		{`{"a":1}`, "", `{"a":1}`},
		{"", `{"a":1}`, `{"a":1}`},
		{`[1]`, `{"a":1}`, `{"a":1}`},
		{`{"a":1,"b":[2]}`, `{"c":3,"a":{"x":4}}`, `{"c":3,"a":{"x":4},"b":[2]}`},
	} {
		if got := string(mergedExtras([]byte(c[0]), []byte(c[1]))); got != c[2] {
			t.Errorf("%s", got)
		}
	}
}

// TestJoin: parts keep their materials and images, and say where their nodes are.
func TestJoin(t *testing.T) {
	part := func(name string) *Scene {
		b := withMaterial(object{"pbrMetallicRoughness": object{"baseColorTexture": object{"index": 0}}})
		b.list("textures", object{"source": 0})
		b.list("images", object{"uri": "data:image/png;base64,iVBORw0KGgo="})
		s, err := LoadBytes(context.Background(), name, b.glb(), DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := Join("both", "list", []*Scene{part("a.glb"), part("b.glb")})
	if len(s.Meshes) != 2 || len(s.Materials) != 2 || len(s.Images) != 2 || s.Nodes[1].Mesh != 1 {
		t.Fatalf("%+v", s)
	}
	for i := range s.Meshes {
		list, err := s.Geometry(i)
		if err != nil {
			t.Fatal(err)
		}
		if m := list[0].Material; m != i || s.Meshes[i].Parts[0].Material != i || s.Materials[m].BaseColorTex.Image != i {
			t.Errorf("mesh %d: material %d, image %d", i, m, s.Materials[m].BaseColorTex.Image)
		}
	}
	if got := s.NodePlace(1) + " " + s.Images[1].Place; got != "b.glb: nodes[0] b.glb: images[0]" {
		t.Error(got)
	}
	for _, n := range s.Notes {
		if n.Count != 2 || !strings.HasPrefix(n.Where, "a.glb") {
			t.Errorf("%+v", n)
		}
	}
	if err := errors.Join(s.Unchanged(), s.Close(), s.Close()); err != nil {
		t.Error(err)
	}
}
