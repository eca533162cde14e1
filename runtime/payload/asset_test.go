package payload_test

import (
	"slices"
	"testing"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/runtime/internal/fake"
	"github.com/untoldkit/untold/runtime/payload"
)

func TestAssetViewsShareTheBuffers(t *testing.T) {
	released := 0
	a := fake.Asset(&released, fake.Node{Name: "root"}, fake.Node{Name: "group", Parent: "root"},
		fake.Node{Name: "a", Bytes: 5, Parent: "group", Box: [6]float64{0, 0, 0, 1, 1, 1}}, fake.Node{Name: "b", Bytes: 7, Box: [6]float64{2, 0, 0, 3, 1, 1}})
	v := a.View(2)
	if len(v.Meshes) != 1 || v.Meshes[0].EstimatedGPUBytes != 5 || len(v.Entities) != 3 {
		t.Fatalf("%d meshes, %d entities", len(v.Meshes), len(v.Entities))
	}
	last := v.Entities[2]
	if last.ID != 2 || last.FirstMesh != 0 || last.MeshCount != 1 || v.Entities[0].MeshCount+v.Entities[1].MeshCount != 0 {
		t.Errorf("%+v", v.Entities)
	}
	if v.Bounds.Max != [3]float32{1, 1, 1} {
		t.Errorf("bounds %v", v.Bounds)
	}
	both := a.View(2, 3)
	if len(both.Meshes) != 2 || both.Entities[len(both.Entities)-1].FirstMesh != 1 {
		t.Errorf("%+v", both.Entities)
	}
	more := a.Retain()
	a.Release()
	a.Release()
	v.Release()
	both.Release()
	if released != 0 {
		t.Fatal("the buffers went back while a handle holds them")
	}
	if a.View(2) != nil || a.Retain() != nil {
		t.Error("a released asset gives out views")
	}
	more.Release()
	more.Release()
	if released != 1 {
		t.Errorf("the buffers went back %d times", released)
	}
}

func TestAssetNodes(t *testing.T) {
	type stub struct {
		name  string
		parts []int32
	}
	unit := [6]float64{0, 0, 0, 1, 1, 1}
	for _, c := range []struct {
		name   string
		nodes  []fake.Node
		want   []stub
		groups int
	}{
		{
			"names are unique",
			[]fake.Node{{Name: "x", Bytes: 1}, {Name: "empty"}, {Name: "x", Bytes: 1}, {Name: "y", Bytes: 1}},
			[]stub{{"x#1", []int32{1}}, {"x#2", []int32{2}}, {"y", []int32{3}}},
			0,
		},
		{
			"a name like another's unique one",
			[]fake.Node{{Name: "x", Bytes: 1}, {Name: "x", Bytes: 1}, {Name: "x#1", Bytes: 1}},
			[]stub{{"x#1#1", []int32{1}}, {"x#2", []int32{2}}, {"x#1", []int32{3}}},
			0,
		},
		{
			"a group",
			[]fake.Node{{Name: "Tree_LOD1", Bytes: 1, Box: unit}, {Name: "rock", Bytes: 1}, {Name: "Tree_lod0", Bytes: 1, Box: unit}},
			[]stub{{"Tree", []int32{3, 1}}, {"rock", []int32{2}}},
			1,
		},
		{
			"several of one name",
			[]fake.Node{{Name: "T_LOD0", Bytes: 1}, {Name: "T_LOD0", Bytes: 1}, {Name: "T_LOD1", Bytes: 1}, {Name: "T_LOD1", Bytes: 1}},
			[]stub{{"T#1", []int32{1, 3}}, {"T#2", []int32{2, 4}}},
			2,
		},
		{
			"levels of several nodes",
			[]fake.Node{{Name: "T_LOD0", Bytes: 1}, {Name: "T_LOD0", Bytes: 1}, {Name: "T_LOD1", Bytes: 1}},
			[]stub{{"T", []int32{1, 2, 3}}},
			1,
		},
		{"a level that is left alone", []fake.Node{{Name: "T_LOD2", Bytes: 1}}, []stub{{"T", []int32{1}}}, 0},
		{
			"parents tell groups apart",
			[]fake.Node{{Name: "p"}, {Name: "q"}, {Name: "T_LOD0", Bytes: 1, Parent: "p"}, {Name: "T_LOD1", Bytes: 1, Parent: "q"}},
			[]stub{{"T#1", []int32{1}}, {"T#2", []int32{2}}},
			0,
		},
		{"no names", []fake.Node{{Bytes: 1}, {Bytes: 1}}, []stub{{"#1", []int32{1}}, {"#2", []int32{2}}}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := fake.Asset(nil, c.nodes...).Layout()
			var got []stub
			for _, p := range n.Stubs {
				s := stub{name: p.Name}
				for _, x := range p.Parts {
					s.parts = append(s.parts, x.Index)
				}
				got = append(got, s)
			}
			if !slices.EqualFunc(got, c.want, func(a, b stub) bool { return a.name == b.name && slices.Equal(a.parts, b.parts) }) {
				t.Errorf("stubs %v, want %v", got, c.want)
			}
			if n.Groups != c.groups {
				t.Errorf("%d groups, want %d", n.Groups, c.groups)
			}
		})
	}
}

func TestHostileNodes(t *testing.T) {
	a := fake.Asset(nil, fake.Node{Name: "a", Bytes: 1}, fake.Node{Name: "b", Bytes: 1})
	a.Entities[0].ParentID, a.Entities[1].ParentID = 1, 0 // a cycle
	a.Entities[1].FirstMesh, a.Entities[1].MeshCount = 1<<31, 1<<31
	a.Meshes[0].EstimatedGPUBytes = 1 << 63
	if v := a.View(0); len(v.Entities) > 4 {
		t.Errorf("%d entities", len(v.Entities))
	}
	if v := a.View(1); len(v.Meshes) != 0 {
		t.Errorf("%d meshes", len(v.Meshes))
	}
	if n := a.Layout(); n.Bytes < 0 || n.Bytes > 1<<52 {
		t.Errorf("%d bytes", n.Bytes)
	}
}

func TestViewsNarrowTheGeometry(t *testing.T) {
	a := fake.Asset(nil, fake.Node{Name: "a", Bytes: 1}, fake.Node{Name: "b", Bytes: 1}, fake.Node{Name: "c", Bytes: 1})
	a.Geometry = format.Geometry{Vertices: make([]byte, 320), Indices: make([]byte, 100)}
	for i := range a.Geometry.Vertices {
		a.Geometry.Vertices[i] = byte(i)
	}
	ranges := [][4]uint64{{0, 96, 0, 6}, {96, 64, 6, 44}, {160, 160, 50, 50}}
	for i, r := range ranges {
		a.Meshes[i].VertexOffset, a.Meshes[i].VertexSize, a.Meshes[i].IndexOffset, a.Meshes[i].IndexSize = r[0], r[1], r[2], r[3]
	}
	for i, r := range ranges {
		v := a.View(i)
		m := v.Meshes[0]
		if got := v.Geometry.Vertices[m.VertexOffset : m.VertexOffset+m.VertexSize]; len(got) != int(r[1]) || got[0] != byte(r[0]) {
			t.Errorf("part %d: %d vertex bytes from %d on", i, len(got), got[0])
		}
		if len(v.Geometry.Vertices) > int(r[1])+31 || len(v.Geometry.Indices) > int(r[3])+31 || (m.IndexOffset+r[2])%2 != 0 {
			t.Errorf("part %d holds %d and %d bytes, indices from %d on", i, len(v.Geometry.Vertices), len(v.Geometry.Indices), m.IndexOffset)
		}
	}
	if a.Meshes[2].VertexOffset != 160 {
		t.Error("the asset itself has changed")
	}
	for _, bad := range []uint64{1 << 63, 300} {
		a.Meshes[1].VertexOffset = bad
		if v := a.View(1); v.Meshes[0].VertexOffset != bad || len(v.Geometry.Vertices) != 320 {
			t.Errorf("a range outside was changed to %d", v.Meshes[0].VertexOffset)
		}
	}
}

// TestChildParts: the entities of a node are found by the names of its children.
func TestChildParts(t *testing.T) {
	names := []string{"", "b", "a", "other"}
	a := &payload.Asset{Strings: func(i uint32) string { return names[i] }, Children: []string{"a", "b", "c"}}
	for i := range names {
		a.Entities = append(a.Entities, records.Entity{ID: uint32(10 + i), NameOffset: uint32(i)})
	}
	if got := a.ChildParts(); len(got) != 2 || got[11] != 2 || got[12] != 1 {
		t.Errorf("parts: %v", got)
	}
	if a.Children = nil; a.ChildParts() != nil {
		t.Error("a tile has parts")
	}
}
