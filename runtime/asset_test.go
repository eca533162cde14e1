package runtime

import (
	"slices"
	"testing"

	"github.com/untoldkit/untold/format"
)

// nodeSpec is a node of a made-up asset.
type nodeSpec struct {
	name   string
	box    [6]float64 // min, max
	bytes  int64      // 0: a node without meshes
	parent string
}

// assetOf makes an asset without buffers; released counts how often they go back.
func assetOf(released *int, specs ...nodeSpec) *Asset {
	a := NewAsset(func() {
		if released != nil {
			*released++
		}
	})
	names := make([]string, len(specs))
	ids := map[string]uint32{}
	for i, n := range specs {
		names[i], ids[n.name] = n.name, uint32(i)
		e := format.Entity{ID: uint32(i), ParentID: format.NoIndex, NameOffset: uint32(i), FirstMesh: uint32(len(a.Meshes))}
		if n.parent != "" {
			e.ParentID = ids[n.parent]
		}
		for k := range 3 {
			e.WorldBounds.Min[k], e.WorldBounds.Max[k] = float32(n.box[k]), float32(n.box[k+3])
		}
		if n.bytes > 0 {
			e.MeshCount = 1
			a.Meshes = append(a.Meshes, format.Mesh{EntityID: e.ID, EstimatedGPUBytes: uint64(n.bytes)})
		}
		a.Entities = append(a.Entities, e)
	}
	a.Strings = func(at uint32) string { return names[at] }
	return a
}

func TestAssetViewsShareTheBuffers(t *testing.T) {
	released := 0
	a := assetOf(&released, nodeSpec{name: "root"}, nodeSpec{name: "group", parent: "root"},
		nodeSpec{name: "a", bytes: 5, parent: "group", box: [6]float64{0, 0, 0, 1, 1, 1}}, nodeSpec{name: "b", bytes: 7, box: [6]float64{2, 0, 0, 3, 1, 1}})
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
		nodes  []nodeSpec
		want   []stub
		groups int
	}{
		{
			"names are unique",
			[]nodeSpec{{name: "x", bytes: 1}, {name: "empty"}, {name: "x", bytes: 1}, {name: "y", bytes: 1}},
			[]stub{{"x#1", []int32{1}}, {"x#2", []int32{2}}, {"y", []int32{3}}},
			0,
		},
		{
			"a name like another's unique one",
			[]nodeSpec{{name: "x", bytes: 1}, {name: "x", bytes: 1}, {name: "x#1", bytes: 1}},
			[]stub{{"x#1#1", []int32{1}}, {"x#2", []int32{2}}, {"x#1", []int32{3}}},
			0,
		},
		{
			"a group",
			[]nodeSpec{{name: "Tree_LOD1", bytes: 1, box: unit}, {name: "rock", bytes: 1}, {name: "Tree_lod0", bytes: 1, box: unit}},
			[]stub{{"Tree", []int32{3, 1}}, {"rock", []int32{2}}},
			1,
		},
		{
			"several of one name",
			[]nodeSpec{{name: "T_LOD0", bytes: 1}, {name: "T_LOD0", bytes: 1}, {name: "T_LOD1", bytes: 1}, {name: "T_LOD1", bytes: 1}},
			[]stub{{"T#1", []int32{1, 3}}, {"T#2", []int32{2, 4}}},
			2,
		},
		{
			"levels of several nodes",
			[]nodeSpec{{name: "T_LOD0", bytes: 1}, {name: "T_LOD0", bytes: 1}, {name: "T_LOD1", bytes: 1}},
			[]stub{{"T", []int32{1, 2, 3}}},
			1,
		},
		{"a level that is left alone", []nodeSpec{{name: "T_LOD2", bytes: 1}}, []stub{{"T", []int32{1}}}, 0},
		{
			"parents tell groups apart",
			[]nodeSpec{{name: "p"}, {name: "q"}, {name: "T_LOD0", bytes: 1, parent: "p"}, {name: "T_LOD1", bytes: 1, parent: "q"}},
			[]stub{{"T#1", []int32{1}}, {"T#2", []int32{2}}},
			0,
		},
		{"no names", []nodeSpec{{bytes: 1}, {bytes: 1}}, []stub{{"#1", []int32{1}}, {"#2", []int32{2}}}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := assetOf(nil, c.nodes...).layout()
			var got []stub
			for _, p := range n.stubs {
				s := stub{name: p.name}
				for _, x := range p.parts {
					s.parts = append(s.parts, x.part)
				}
				got = append(got, s)
			}
			if !slices.EqualFunc(got, c.want, func(a, b stub) bool { return a.name == b.name && slices.Equal(a.parts, b.parts) }) {
				t.Errorf("stubs %v, want %v", got, c.want)
			}
			if n.groups != c.groups {
				t.Errorf("%d groups, want %d", n.groups, c.groups)
			}
		})
	}
}

func TestSplitLOD(t *testing.T) {
	for name, want := range map[string]struct {
		common string
		level  int
	}{
		"Tree_LOD0": {"Tree", 0}, "Tree_mat1_lod12": {"Tree_mat1", 12}, "Tree_LOD2.001": {"Tree.001", 2},
		"_LOD1": {}, "Tree_LOD": {}, "Tree_LOD123": {}, "TreeLOD1": {}, "": {}, "Tree_LOD1.x": {}, "Tree_LOD1.": {},
	} {
		common, level, ok := splitLOD(name)
		if common != want.common || level != want.level || ok != (want.common != "") {
			t.Errorf("%q: %q, %d, %v", name, common, level, ok)
		}
	}
}

func TestHostileNodes(t *testing.T) {
	a := assetOf(nil, nodeSpec{name: "a", bytes: 1}, nodeSpec{name: "b", bytes: 1})
	a.Entities[0].ParentID, a.Entities[1].ParentID = 1, 0 // a cycle
	a.Entities[1].FirstMesh, a.Entities[1].MeshCount = 1<<31, 1<<31
	a.Meshes[0].EstimatedGPUBytes = 1 << 63
	if v := a.View(0); len(v.Entities) > 4 {
		t.Errorf("%d entities", len(v.Entities))
	}
	if v := a.View(1); len(v.Meshes) != 0 {
		t.Errorf("%d meshes", len(v.Meshes))
	}
	if n := a.layout(); n.bytes < 0 || n.bytes > 1<<52 {
		t.Errorf("%d bytes", n.bytes)
	}
}

func TestViewsNarrowTheGeometry(t *testing.T) {
	a := assetOf(nil, nodeSpec{name: "a", bytes: 1}, nodeSpec{name: "b", bytes: 1}, nodeSpec{name: "c", bytes: 1})
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
