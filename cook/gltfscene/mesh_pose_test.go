package gltfscene

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/geom"
)

// skinned is a builder with a triangle whose vertices follow two joints: the first stands
// still, the second, node 1, moves up by 2. The mesh is shown by node 2, which is moved
// itself; that counts for its child, node 3, alone.
func skinned() (*builder, object) {
	b := newBuilder()
	attributes := object{
		"POSITION":  b.floats("VEC3", 3, triangle()...),
		"NORMAL":    b.floats("VEC3", 3, 0, 0, 1, 0, 0, 1, 0, 0, 1),
		"TANGENT":   b.floats("VEC4", 4, 1, 0, 0, -1, 1, 0, 0, -1, 1, 0, 0, -1),
		"JOINTS_0":  b.accessor([]byte{0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0}, u8, 3, "VEC4", nil),
		"WEIGHTS_0": b.floats("VEC4", 4, 1, 0, 0, 0, 0.5, 0.5, 0, 0, 1, 0, 0, 0),
	}
	prim := object{"attributes": attributes}
	b.doc["meshes"] = []any{object{"primitives": []any{prim}}}
	b.doc["nodes"] = []any{
		object{"name": "still"},
		object{"name": "up", "translation": []float64{0, 2, 0}},
		object{"name": "shown", "mesh": 0, "skin": 0, "translation": []float64{100, 0, 0}, "children": []int{3}},
		object{"name": "below"},
	}
	b.doc["skins"] = []any{object{"joints": []int{0, 1}}}
	b.doc["scenes"] = []any{object{"nodes": []int{0, 1, 2}}}
	return b, attributes
}

// inWorld returns the positions and the normals of what a node shows, in the world.
func inWorld(t *testing.T, s *Scene, name string) (positions, normals [][3]float64) {
	t.Helper()
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if n.Name != name {
			continue
		}
		p := s.Meshes[n.Mesh].Primitives[0]
		for k := range p.Positions {
			v := n.World.Point(geom.FromF32(p.Positions[k]))
			positions = append(positions, [3]float64{geom.Round(v[0], 4), geom.Round(v[1], 4), geom.Round(v[2], 4)})
			if p.Normals != nil {
				c := n.World.Cofactor()
				v := c.Dir(geom.FromF32(p.Normals[k])).Normalize(0, geom.Vec3{})
				normals = append(normals, [3]float64{geom.Round(v[0], 4), geom.Round(v[1], 4), geom.Round(v[2], 4)})
			}
		}
		return positions, normals
	}
	t.Fatalf("no node %s", name)
	return nil, nil
}

// TestSkinsArePosed: vertices stand where their joints put them, whatever the transform of
// the node that shows them.
func TestSkinsArePosed(t *testing.T) {
	b, _ := skinned()
	s := b.load(t)
	checkScene(t, s)
	if got, _ := inWorld(t, s, "shown"); !slices.Equal(got, [][3]float64{{0, 0, 0}, {1, 1, 0}, {0, 3, 0}}) {
		t.Errorf("positions %v", got)
	}
	for _, n := range s.Nodes {
		if n.Name == "below" && n.World.Point(geom.Vec3{}) != (geom.Vec3{100, 0, 0}) {
			t.Errorf("a child of the node has moved to %v", n.World.Point(geom.Vec3{}))
		}
	}
	if n := note(s, "skins-posed"); n.Count != 1 || n.Warning || n.Where != "nodes[2]" {
		t.Errorf("notes %+v", s.Notes)
	}
	if p := s.Meshes[0].Primitives[0]; p.Tangents[0][3] != -1 {
		t.Errorf("tangents %v", p.Tangents)
	}
}

// TestSkinsTurnNormals: normals and tangents turn with the joints, and stay of length 1.
func TestSkinsTurnNormals(t *testing.T) {
	b, attributes := skinned()
	attributes["JOINTS_0"] = b.accessor(make([]byte, 12), u8, 3, "VEC4", nil)
	half := math.Sqrt(0.5)
	b.doc["nodes"].([]any)[0] = object{"rotation": []float64{half, 0, 0, half}, "scale": []float64{3, 3, 3}}
	s := b.load(t)
	positions, normals := inWorld(t, s, "shown")
	if !slices.Equal(positions, [][3]float64{{0, 0, 0}, {3, 0, 0}, {0, 0, 3}}) || !slices.Equal(normals, [][3]float64{{0, -1, 0}, {0, -1, 0}, {0, -1, 0}}) {
		t.Errorf("positions %v, normals %v", positions, normals)
	}
	if p := s.Meshes[0].Primitives[0]; math.Abs(float64(p.Normals[0][1])+1) > 1e-6 || p.Tangents[1] != [4]float32{1, 0, 0, -1} {
		t.Errorf("normals %v, tangents %v", p.Normals, p.Tangents)
	}
}

// TestMirroredSkins: the handedness of a tangent turns where its own vertex is mirrored, which
// the node that shows the mesh has no part in. That node alone decides which side of a
// triangle is the front, as in viewers, and is left to mirror what is stored.
func TestMirroredSkins(t *testing.T) {
	mirror := []float64{-1, 1, 1}
	for name, tt := range map[string]struct {
		all, still, up, shown bool // what is mirrored: all nodes, the joints, the node with the mesh
		w                     [3]float64
		x                     float64 // of the second vertex, which follows the second joint by a quarter
		front                 bool    // the triangle is counter-clockwise as stored
	}{
		"nothing":        {w: [3]float64{-1, -1, -1}, x: 1, front: true},
		"joints":         {still: true, up: true, w: [3]float64{1, 1, 1}, x: -1, front: true},
		"a joint":        {up: true, w: [3]float64{-1, -1, 1}, x: 0.5, front: true},
		"node":           {shown: true, w: [3]float64{-1, -1, -1}, x: 1},
		"all":            {all: true, w: [3]float64{1, 1, 1}, x: -1},
		"joints in all":  {all: true, still: true, up: true, w: [3]float64{-1, -1, -1}, x: 1},
		"node in all":    {all: true, shown: true, w: [3]float64{1, 1, 1}, x: -1, front: true},
		"node and joint": {shown: true, up: true, w: [3]float64{-1, -1, 1}, x: 0.5},
	} {
		b, attributes := skinned()
		attributes["NORMAL"] = b.floats("VEC3", 3, 0.6, 0, 0.8, 0.6, 0, 0.8, 0.6, 0, 0.8)
		attributes["WEIGHTS_0"] = b.floats("VEC4", 4, 1, 0, 0, 0, 0.75, 0.25, 0, 0, 1, 0, 0, 0)
		nodes := b.doc["nodes"].([]any)
		for i, does := range []bool{tt.still, tt.up, tt.shown} {
			if does {
				nodes[i].(object)["scale"] = mirror
			}
		}
		if tt.all {
			b.doc["nodes"] = append(nodes, object{"scale": mirror, "children": []int{0, 1, 2}})
			b.doc["scenes"] = []any{object{"nodes": []int{4}}}
		}
		s := b.load(t)
		checkScene(t, s)
		positions, _ := inWorld(t, s, "shown")
		for i := range s.Nodes {
			n := &s.Nodes[i]
			if n.Name != "shown" {
				continue
			}
			p, sign := s.Meshes[n.Mesh].Primitives[0], 1.0
			if n.World.Det3() < 0 {
				sign = -1
			}
			var w [3]float64
			for k := range w {
				w[k] = sign * float64(p.Tangents[k][3])
			}
			if w != tt.w || positions[1][0] != tt.x || sign > 0 != tt.front || !slices.Equal(p.Indices, []uint32{0, 1, 2}) {
				t.Errorf("%s: handedness %v, positions %v, determinant %v, indices %v", name, w, positions, n.World.Det3(), p.Indices)
			}
			normal := n.World.Cofactor()
			if v := normal.Dir(geom.FromF32(p.Normals[0])).Scale(sign); v[0]*tt.w[0] > 0 {
				t.Errorf("%s: a normal points to %v", name, v)
			}
		}
	}
}

// TestSkinsOfFlatNodes: a mesh stands where its joints are also below a node whose transform
// cannot be undone; what else hangs on that node stays flat.
func TestSkinsOfFlatNodes(t *testing.T) {
	for _, scale := range [][]float64{{0, 1, 1}, {0, 0, 0}, {1e-45, 1e-45, 1e-45}, {1e-120, 1e-120, 1e-120}} {
		b, _ := skinned()
		nodes := b.doc["nodes"].([]any)
		nodes[0].(object)["translation"] = []float64{5e6, 0, 0}
		nodes[1].(object)["translation"] = []float64{5e6, 2, 0}
		nodes[3].(object)["mesh"] = 0
		nodes[3].(object)["translation"] = []float64{1, 1, 0}
		// The node of another skinned mesh is a joint as well.
		nodes[2].(object)["scale"], nodes[2].(object)["children"] = scale, []int{3, 4}
		b.doc["nodes"] = append(nodes, object{"name": "again", "mesh": 0, "skin": 1})
		b.doc["skins"] = append(b.doc["skins"].([]any), object{"joints": []int{2, 0}})
		s := b.load(t)
		checkScene(t, s)
		for name, want := range map[string][][3]float64{
			"shown": {{5e6, 0, 0}, {5e6 + 1, 1, 0}, {5e6, 3, 0}},
			"again": {{100, 0, 0}, {2500050.5 + scale[0]/2, 0, 0}, {5e6, 1, 0}},
			"below": {{100 + scale[0], scale[1], 0}, {100 + 2*scale[0], scale[1], 0}, {100 + scale[0], 2 * scale[1], 0}},
		} {
			got, _ := inWorld(t, s, name)
			for k := range got {
				for c := range 3 {
					if math.Abs(got[k][c]-want[k][c]) > 0.3 || name == "shown" && got[k] != want[k] {
						t.Errorf("scale %v, %s: positions %v, want %v", scale, name, got, want)
					}
				}
			}
		}
		if note(s, "skin-faulty").Count > 0 || note(s, "skins-posed").Count != 2 {
			t.Errorf("scale %v: notes %+v", scale, s.Notes)
		}
	}
}

// TestSkinsWithBindMatrices: inverse bind matrices lead from the mesh to the joints.
func TestSkinsWithBindMatrices(t *testing.T) {
	b, _ := skinned()
	b.doc["skins"] = []any{object{"joints": []int{0, 1}, "inverseBindMatrices": b.floats("MAT4", 16,
		1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1,
		1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, -2, 5, 1)}}
	if got, _ := inWorld(t, b.load(t), "shown"); !slices.Equal(got, [][3]float64{{0, 0, 0}, {1, 0, 2.5}, {0, 1, 5}}) {
		t.Errorf("positions %v", got)
	}
}

// TestSkinVariants: nodes that share a mesh and stand alike share what is posed; others get
// their own, and one without a skin shows the mesh as it is stored.
func TestSkinVariants(t *testing.T) {
	b, _ := skinned()
	nodes := b.doc["nodes"].([]any)
	again := object{"name": "again", "mesh": 0, "skin": 0, "translation": []float64{100, 0, 0}}
	other := object{"name": "other", "mesh": 0, "skin": 1}
	b.doc["nodes"] = append(nodes, again, other, object{"name": "plain", "mesh": 0})
	b.doc["skins"] = append(b.doc["skins"].([]any), object{"joints": []int{1, 0}})
	b.doc["scenes"] = []any{object{"nodes": []int{0, 1, 2, 4, 5, 6}}}
	s := b.load(t)
	checkScene(t, s)
	if len(s.Meshes) != 3 || note(s, "skins-posed").Count != 3 {
		t.Errorf("%d meshes, notes %+v", len(s.Meshes), s.Notes)
	}
	for name, want := range map[string][][3]float64{
		"shown": {{0, 0, 0}, {1, 1, 0}, {0, 3, 0}},
		"again": {{0, 0, 0}, {1, 1, 0}, {0, 3, 0}},
		"other": {{0, 2, 0}, {1, 1, 0}, {0, 1, 0}},
		"plain": {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}},
	} {
		if got, _ := inWorld(t, s, name); !slices.Equal(got, want) {
			t.Errorf("%s: positions %v, want %v", name, got, want)
		}
	}
	for _, m := range s.Meshes {
		if m.Index != 0 {
			t.Errorf("mesh %+v", m.Index)
		}
	}
}

// TestJointsOutsideTheScene: joints that the scene does not reach count with all above them.
func TestJointsOutsideTheScene(t *testing.T) {
	b, _ := skinned()
	nodes := b.doc["nodes"].([]any)
	b.doc["nodes"] = append(nodes, object{"children": []int{1}, "scale": []float64{1, 3, 1}})
	b.doc["scenes"] = []any{object{"nodes": []int{0, 2}}}
	s := b.load(t)
	if got, _ := inWorld(t, s, "shown"); !slices.Equal(got, [][3]float64{{0, 0, 0}, {1, 3, 0}, {0, 9, 0}}) || len(s.Nodes) != 3 {
		t.Errorf("%d nodes, positions %v", len(s.Nodes), got)
	}
	b.doc["nodes"].([]any)[1].(object)["children"] = []int{4}
	if s := b.load(t); !strings.Contains(note(s, "skin-faulty").Message, "its own ancestor") {
		t.Errorf("notes %+v", s.Notes)
	}
}

// TestSkinWeights: weights count by their share, also those of a second set, and vertices
// without any follow their first joint.
func TestSkinWeights(t *testing.T) {
	b, attributes := skinned()
	attributes["WEIGHTS_0"] = b.floats("VEC4", 4, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0)
	attributes["JOINTS_1"] = b.accessor(shortBytes(1, 0, 0, 0, 1, 0, 0, 0, 1, 99, 0, 0), u16, 3, "VEC4", nil)
	attributes["WEIGHTS_1"] = b.accessor([]byte{0, 0, 0, 0, 255, 0, 0, 0, 0, 0, 0, 0}, u8, 3, "VEC4", object{"normalized": true})
	if got, _ := inWorld(t, b.load(t), "shown"); !slices.Equal(got, [][3]float64{{0, 0, 0}, {1, 1, 0}, {0, 3, 0}}) {
		t.Errorf("positions %v", got)
	}
}

// TestFaultySkins: a skin that cannot be applied leaves the mesh as it is stored, and a note
// says why.
func TestFaultySkins(t *testing.T) {
	for _, tt := range []struct {
		why    string
		change func(b *builder, attributes object)
	}{
		{"names skin 0, but the file has 0", func(b *builder, _ object) { b.doc["skins"] = []any{} }},
		{"names node 9, but the file has 4", func(b *builder, _ object) { b.doc["skins"] = []any{object{"joints": []int{0, 9}}} }},
		{"is empty", func(b *builder, _ object) { b.doc["skins"] = []any{object{"joints": []int{}}} }},
		{"must be MAT4 of FLOAT", func(b *builder, attributes object) {
			b.doc["skins"] = []any{object{"joints": []int{0, 1}, "inverseBindMatrices": attributes["POSITION"]}}
		}},
		{"has 1 elements, the skin has 2 joints", func(b *builder, _ object) {
			b.doc["skins"] = []any{object{"joints": []int{0, 1}, "inverseBindMatrices": b.floats("MAT4", 16, make([]float32, 16)...)}}
		}},
		{"cannot be undone for its instances", func(b *builder, _ object) {
			node := b.doc["nodes"].([]any)[2].(object)
			node["scale"] = []float64{0, 1, 1}
			node["extensions"] = object{instancingName: object{"attributes": object{"TRANSLATION": b.floats("VEC3", 3, 0, 0, 0)}}}
			b.doc["extensionsUsed"] = []string{instancingName}
		}},
		{"lacks JOINTS_0", func(_ *builder, attributes object) { delete(attributes, "JOINTS_0") }},
		{"lacks WEIGHTS_0", func(_ *builder, attributes object) { delete(attributes, "WEIGHTS_0") }},
		{"must be VEC4", func(_ *builder, attributes object) { attributes["JOINTS_0"] = attributes["WEIGHTS_0"] }},
		{"must be VEC4", func(_ *builder, attributes object) { attributes["WEIGHTS_0"] = attributes["POSITION"] }},
		{"not finite", func(b *builder, attributes object) {
			attributes["WEIGHTS_0"] = b.floats("VEC4", 4, 1, 0, 0, 0, float32(math.NaN()), 0, 0, 0, 1, 0, 0, 0)
		}},
		{"element 1 names joint 7, the skin has 2", func(b *builder, attributes object) {
			attributes["JOINTS_0"] = b.accessor([]byte{0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0}, u8, 3, "VEC4", nil)
		}},
		{"has 2 elements, POSITION has 3", func(b *builder, attributes object) {
			attributes["JOINTS_0"] = b.accessor(make([]byte, 8), u8, 2, "VEC4", nil)
		}},
	} {
		b, attributes := skinned()
		tt.change(b, attributes)
		s := b.load(t)
		checkScene(t, s)
		p := s.Meshes[0].Primitives[0]
		if n := note(s, "skin-faulty"); n.Count != 1 || !n.Warning || !strings.Contains(n.Message, tt.why) {
			t.Errorf("%s: notes %+v", tt.why, s.Notes)
		}
		if p.Positions[1] != [3]float32{1, 0, 0} || p.Positions[2] != [3]float32{0, 1, 0} {
			t.Errorf("%s: positions %v", tt.why, p.Positions)
		}
	}
}

// TestSkinnedInstances: instances repeat the posed mesh.
func TestSkinnedInstances(t *testing.T) {
	b, _ := skinned()
	b.doc["extensionsUsed"] = []string{instancingName}
	b.doc["nodes"].([]any)[2].(object)["extensions"] = object{instancingName: object{"attributes": object{"TRANSLATION": b.floats("VEC3", 3, 0, 0, 0, 0, 0, 7)}}}
	s := b.load(t)
	if got, _ := inWorld(t, s, "shown#1"); !slices.Equal(got, [][3]float64{{0, 0, 7}, {1, 1, 7}, {0, 3, 7}}) || len(s.Meshes) != 1 {
		t.Errorf("%d meshes, positions %v", len(s.Meshes), got)
	}
}

// morphing is a builder with a triangle that two targets move along z.
func morphing() (*builder, object) {
	b, prim := oneTriangle()
	prim["attributes"].(object)["NORMAL"] = b.floats("VEC3", 3, 0, 0, 1, 0, 0, 1, 0, 0, 1)
	prim["targets"] = []any{
		object{"POSITION": b.floats("VEC3", 3, 0, 0, 1, 0, 0, 0, 0, 0, 2), "NORMAL": b.floats("VEC3", 3, 0, 1, -1, 0, 0, 0, 0, 0, 0)},
		object{"POSITION": b.floats("VEC3", 3, 0, 0, 10, 0, 0, 10, 0, 0, 10)},
	}
	return b, prim
}

// TestMorphTargets: the weights of the node count, else those of the mesh, else none.
func TestMorphTargets(t *testing.T) {
	for _, tt := range []struct {
		mesh, node []float64
		z          [3]float32
		note       string
	}{
		{nil, nil, [3]float32{0, 0, 0}, "morph-targets-skipped"},
		{[]float64{0, 0}, nil, [3]float32{0, 0, 0}, "morph-targets-skipped"},
		{[]float64{1}, nil, [3]float32{1, 0, 2}, "morph-targets-posed"},
		{[]float64{1, 0.5}, nil, [3]float32{6, 5, 7}, "morph-targets-posed"},
		{[]float64{1, 0.5}, []float64{0, -1}, [3]float32{-10, -10, -10}, "morph-targets-posed"},
		{[]float64{1, 0.5}, []float64{0, 0}, [3]float32{0, 0, 0}, "morph-targets-skipped"},
		{[]float64{0, 0, 9}, []float64{2, 0, 9, 9}, [3]float32{2, 0, 4}, "morph-targets-posed"},
	} {
		b, _ := morphing()
		if tt.mesh != nil {
			b.doc["meshes"].([]any)[0].(object)["weights"] = tt.mesh
		}
		if tt.node != nil {
			b.doc["nodes"].([]any)[0].(object)["weights"] = tt.node
		}
		s := b.load(t)
		checkScene(t, s)
		p := first(t, s)
		if z := [3]float32{p.Positions[0][2], p.Positions[1][2], p.Positions[2][2]}; z != tt.z {
			t.Errorf("%v, %v: z %v, want %v", tt.mesh, tt.node, z, tt.z)
		}
		if n := note(s, tt.note); n.Count != 1 || n.Warning {
			t.Errorf("%v, %v: notes %+v", tt.mesh, tt.node, s.Notes)
		}
	}
}

// TestFaultyMorphTargets: a target that is no good is left out, and a note says why.
func TestFaultyMorphTargets(t *testing.T) {
	for why, change := range map[string]func(b *builder, target object){
		"not finite": func(b *builder, target object) {
			target["POSITION"] = b.floats("VEC3", 3, float32(math.Inf(1)), 0, 0, 0, 0, 0, 0, 0, 0)
		},
		"must be VEC3": func(b *builder, target object) { target["POSITION"] = b.floats("VEC2", 2, 0, 0, 0, 0, 0, 0) },
		"but the file": func(_ *builder, target object) { target["POSITION"] = 99 },
	} {
		b, prim := morphing()
		change(b, prim["targets"].([]any)[1].(object))
		if b.doc["meshes"].([]any)[0].(object)["weights"] = []float64{0, 1}; note(b.load(t), "morph-targets-skipped").Count > 0 {
			t.Errorf("%s: a target with a weight counts as one without", why)
		}
		b.doc["meshes"].([]any)[0].(object)["weights"] = []float64{1, 1}
		s := b.load(t)
		if n := note(s, "morph-target-faulty"); n.Count != 1 || !n.Warning || !strings.Contains(n.Message, why) {
			t.Errorf("%s: notes %+v", why, s.Notes)
		}
		if p := first(t, s); p.Positions[2] != [3]float32{0, 1, 2} {
			t.Errorf("%s: positions %v", why, p.Positions)
		}
	}
}

// TestMorphedNormals: normals are added up and made of length 1 again.
func TestMorphedNormals(t *testing.T) {
	b, _ := morphing()
	b.doc["meshes"].([]any)[0].(object)["weights"] = []float64{1}
	p := first(t, b.load(t))
	if p.Normals[0] != [3]float32{0, 1, 0} || p.Normals[1] != [3]float32{0, 0, 1} {
		t.Errorf("normals %v", p.Normals)
	}
}

// TestMorphThenSkin: targets move vertices before joints do.
func TestMorphThenSkin(t *testing.T) {
	b, attributes := skinned()
	prim := b.doc["meshes"].([]any)[0].(object)["primitives"].([]any)[0].(object)
	prim["targets"] = []any{object{"POSITION": b.floats("VEC3", 3, 0, 0, 0, 1, 0, 0, 0, 0, 0)}}
	attributes["JOINTS_0"] = b.accessor(make([]byte, 12), u8, 3, "VEC4", nil)
	b.doc["nodes"].([]any)[0].(object)["scale"] = []float64{2, 1, 1}
	b.doc["nodes"].([]any)[2].(object)["weights"] = []float64{1}
	if got, _ := inWorld(t, b.load(t), "shown"); !slices.Equal(got, [][3]float64{{0, 0, 0}, {4, 0, 0}, {0, 1, 0}}) {
		t.Errorf("positions %v", got)
	}
}

// TestPosedIsLimited: a small file cannot pose more than Options allow.
func TestPosedIsLimited(t *testing.T) {
	b, attributes := skinned()
	opts := DefaultOptions()
	many := b.list("accessors", object{"componentType": f32, "count": 5_000_000, "type": "VEC3"})
	attributes["POSITION"] = many
	attributes["WEIGHTS_0"] = b.list("accessors", object{"componentType": f32, "count": 5_000_000, "type": "VEC4"})
	attributes["JOINTS_0"] = b.list("accessors", object{"componentType": u8, "count": 5_000_000, "type": "VEC4"})
	delete(attributes, "NORMAL")
	delete(attributes, "TANGENT")
	_, err := LoadBytes(context.Background(), "a.glb", b.glb(), opts)
	if err == nil || !strings.Contains(err.Error(), "MaxDecodedBytes") {
		t.Errorf("error %v", err)
	}
}

// TestPosedWithinMemory: what posing takes counts in the memory that a mesh may have.
func TestPosedWithinMemory(t *testing.T) {
	b, _ := skinned()
	opts := DefaultOptions()
	const each = 16 + 24 + 16 + 12 + 8*bonesPerVertex
	opts.MaxMeshBytes = 3 * each
	if _, err := LoadBytes(t.Context(), "a.glb", b.glb(), opts); err != nil {
		t.Error(err)
	}
	opts.MaxMeshBytes--
	_, err := LoadBytes(t.Context(), "a.glb", b.glb(), opts)
	if !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "meshes[0].primitives[0]: its geometry takes 1 MB while it is posed") {
		t.Errorf("error %v", err)
	}
}
