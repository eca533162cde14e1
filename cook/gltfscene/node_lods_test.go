package gltfscene

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// lodScene makes a document of nodes; roots are those of the scene. Each node
// with a mesh shows mesh 0.
func lodScene(roots []int, nodes ...object) *builder {
	b, _ := oneTriangle()
	list := make([]any, len(nodes))
	for i, n := range nodes {
		list[i] = n
	}
	b.doc["nodes"] = list
	b.doc["scenes"] = []any{object{"nodes": roots}}
	b.doc["extensionsUsed"] = []string{lodName}
	return b
}

func shown(name string, children ...int) object {
	n := object{"name": name, "mesh": 0}
	if len(children) > 0 {
		n["children"] = children
	}
	return n
}

func lod(n object, ids ...int) object {
	n["extensions"] = object{lodName: object{"ids": ids}}
	return n
}

// groupsOf lists name, group and level of every node; "-" stands before one
// that is not drawn.
func groupsOf(s *Scene) string {
	var words []string
	for _, n := range s.Nodes {
		w := n.Name
		if n.LOD.Group > 0 {
			w += "=" + s.LODs[n.LOD.Group-1].Name + string(rune('0'+n.LOD.Level))
			if n.LOD.Mesh < 0 {
				w += "!"
			}
		}
		if n.Mesh < 0 {
			w = "-" + w
		}
		words = append(words, w)
	}
	return strings.Join(words, " ")
}

func TestLODGroups(t *testing.T) {
	group := func(n object) object { delete(n, "mesh"); return n }
	for name, tt := range map[string]struct {
		b      *builder
		want   string
		groups int
		notes  string
	}{
		"names":          {lodScene([]int{0, 1, 2}, shown("A_LOD0"), shown("A_LOD1"), shown("B")), "A_LOD0=A0 -A_LOD1=A1 B", 1, "lod-groups"},
		"order":          {lodScene([]int{0, 1, 2}, shown("A_LOD2"), shown("A_lod0"), shown("A_LOD1")), "-A_LOD2=A2 A_lod0=A0 -A_LOD1=A1", 1, "lod-groups"},
		"no level 0":     {lodScene([]int{0, 1}, shown("A_LOD1"), shown("A_LOD2")), "A_LOD1=A0 -A_LOD2=A1", 1, "lod-level-missing"},
		"alone":          {lodScene([]int{0, 1}, shown("A_LOD0"), shown("B_LOD1")), "A_LOD0 B_LOD1", 0, ""},
		"other names":    {lodScene([]int{0, 1, 2, 3}, shown("LOD0"), shown("_LOD1"), shown("A_LOD"), shown("A_LOD1x")), "LOD0 _LOD1 A_LOD A_LOD1x", 0, ""},
		"no siblings":    {lodScene([]int{0, 1}, shown("A_LOD0"), shown("G", 2), shown("A_LOD1")), "A_LOD0 G A_LOD1", 0, ""},
		"subtree":        {lodScene([]int{0, 1}, group(shown("A_LOD0", 2)), group(shown("A_LOD1", 3)), shown("x"), shown("y")), "-A_LOD0=A0! x=A0 -A_LOD1=A1! -y=A1", 1, "lod-groups"},
		"copies":         {lodScene([]int{0, 1, 2, 3}, shown("A_LOD0"), shown("A_LOD0"), shown("A_LOD1"), shown("A_LOD1")), "A_LOD0=A0 A_LOD0=A0 -A_LOD1=A1 -A_LOD1=A1", 2, "lod-groups"},
		"uneven copies":  {lodScene([]int{0, 1, 2}, shown("A_LOD0"), shown("A_LOD0"), shown("A_LOD1")), "A_LOD0=A0 A_LOD0=A0 -A_LOD1=A1", 1, "lod-ambiguous"},
		"numbered":       {lodScene([]int{0, 1, 2, 3}, shown("A_LOD0"), shown("A_LOD1"), shown("A_LOD0.001"), shown("A_LOD1.001")), "A_LOD0=A0 -A_LOD1=A1 A_LOD0.001=A.0010 -A_LOD1.001=A.0011", 2, "lod-groups"},
		"nested names":   {lodScene([]int{0, 1}, shown("A_LOD0", 2, 3), shown("A_LOD1"), shown("B_LOD0"), shown("B_LOD1")), "A_LOD0=A0 B_LOD0=A0 -B_LOD1=A0! -A_LOD1=A1", 1, "lod-nested"},
		"extension":      {lodScene([]int{0}, lod(shown("A"), 1, 2), shown("x"), shown("y")), "A=A0 -x=A1 -y=A2", 1, "lod-groups"},
		"placed already": {lodScene([]int{1, 0}, lod(shown("A"), 1), shown("x")), "-x=A1 A=A0", 1, "lod-groups"},
		"below":          {lodScene([]int{0}, group(shown("R", 1)), lod(shown("A"), 2), shown("x", 3), shown("y")), "-R A=A0 -x=A1 -y=A1", 1, "lod-groups"},
		"of each other":  {lodScene([]int{0}, lod(shown("A"), 1), lod(shown("x"), 0)), "A=A0 -x=A1", 1, "lod-nested"},
		"chain":          {lodScene([]int{0}, lod(shown("A"), 1), lod(shown("x"), 2), shown("y")), "A=A0 -x=A1", 1, "lod-nested"},
		"both":           {lodScene([]int{0, 1}, lod(shown("A_LOD0"), 1), shown("A_LOD1")), "A_LOD0=A_LOD00 -A_LOD1=A_LOD01", 1, "lod-groups"},
		"itself":         {lodScene([]int{0}, lod(shown("A"), 0)), "A", 0, "lod-faulty"},
		"own child":      {lodScene([]int{0}, lod(shown("A", 1), 1), shown("x")), "A x", 0, "lod-faulty"},
		"own parent":     {lodScene([]int{0}, shown("P", 1), lod(shown("A"), 0)), "P A", 0, "lod-faulty"},
		"twice":          {lodScene([]int{0}, lod(shown("A"), 1, 1), shown("x")), "A=A0 -x=A1", 1, "lod-faulty"},
		"none":           {lodScene([]int{0}, lod(shown("A"), 9)), "A", 0, "lod-faulty"},
		"wrong type":     {lodScene([]int{0}, object{"name": "A", "mesh": 0, "extensions": object{lodName: object{"ids": "1"}}}), "A", 0, "lod-faulty"},
		"shared level":   {lodScene([]int{0, 1}, lod(shown("A"), 2), lod(shown("B"), 2), shown("x")), "A=A0 B -x=A1", 1, "lod-faulty"},
		"nested":         {lodScene([]int{0}, lod(shown("A", 1), 3), lod(shown("B"), 2), shown("b"), shown("a")), "A=A0 B=A0 -a=A1 -b=A0!", 1, "lod-nested"},
	} {
		t.Run(name, func(t *testing.T) {
			s := tt.b.load(t)
			checkScene(t, s)
			if diff := cmp.Diff(tt.want, groupsOf(s)); diff != "" {
				t.Error(diff)
			}
			if len(s.LODs) != tt.groups || tt.notes != "" && note(s, tt.notes).Count == 0 || tt.notes == "" && len(s.Notes) != 0 {
				t.Errorf("%d groups, notes %+v", len(s.LODs), s.Notes)
			}
		})
	}
}

// TestLODTransforms verifies that a level stands where its node does.
func TestLODTransforms(t *testing.T) {
	level := shown("x")
	level["translation"] = []int{0, 2, 0}
	level["camera"] = 0
	owner := lod(shown("A"), 2)
	owner["translation"] = []int{0, 0, 4}
	owner["extras"] = object{"MSFT_screencoverage": []float64{0.5, 0.01}}
	parent := shown("P", 1)
	parent["translation"] = []int{1, 0, 0}
	b := lodScene([]int{0}, parent, owner, level)
	b.doc["cameras"] = []any{object{"type": "perspective", "perspective": object{"yfov": 1, "znear": 1}}}
	s := b.load(t)
	got := s.Nodes[2].World.Point([3]float64{})
	if s.Nodes[2].Parent != 0 || got != [3]float64{1, 2, 0} {
		t.Errorf("level at %v below %d", got, s.Nodes[2].Parent)
	}
	want := []LODGroup{{Name: "A", Levels: []LODLevel{{[]int{1}}, {[]int{2}}}, Coverage: []float64{0.5, 0.01}}}
	if diff := cmp.Diff(want, s.LODs); diff != "" {
		t.Error(diff)
	}
	if len(s.Cameras) != 0 || s.Triangles() != 2 {
		t.Errorf("%d cameras, %d triangles", len(s.Cameras), s.Triangles())
	}
	if ref := s.Nodes[2].LOD; ref != (LODRef{Group: 1, Level: 1, Mesh: 0}) {
		t.Errorf("ref %+v", ref)
	}
}

func TestCoverage(t *testing.T) {
	for text, ok := range map[string]bool{
		`{"MSFT_screencoverage":[0.5,0]}`: true, `{"MSFT_screencoverage":[0.5]}`: false, `{}`: false, ``: false,
		`{"MSFT_screencoverage":[0.5,2]}`: false, `{"MSFT_screencoverage":[0.5,"x"]}`: false, `{"MSFT_screencoverage":1}`: false,
	} {
		if got := coverage([]byte(text), 2, 2); (got != nil) != ok {
			t.Errorf("%s: %v", text, got)
		}
	}
	if coverage([]byte(`{"MSFT_screencoverage":[1,0.5]}`), 3, 2) != nil {
		t.Error("a level was ignored: the numbers no longer fit")
	}
}

// TestLODFaults verifies that a level that shares nodes with the scene is an
// error, as two parents are elsewhere.
func TestLODFaults(t *testing.T) {
	b := lodScene([]int{0, 2}, lod(shown("A"), 1), shown("x", 2), shown("y"))
	if _, err := loadGLB(b.glb()); !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), "node 2 is placed twice") {
		t.Errorf("got %v", err)
	}
}

func TestMaterialLOD(t *testing.T) {
	b := withMaterial(object{"extensions": object{lodName: object{"ids": []int{1}}}})
	b.list("materials", object{})
	b.doc["extensionsUsed"] = []string{lodName}
	if s := b.load(t); note(s, "material-lods-skipped").Count != 1 || len(s.Materials) != 1 || len(s.Notes) != 1 {
		t.Errorf("notes %+v", s.Notes)
	}
}
