package cook

import (
	"encoding/json"
	"fmt"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/internal/geom"
)

// object is what the partitioner sees as one thing: a placed mesh, or an
// authored LOD group with the meshes of all its levels.
type object struct {
	node      int    // index into Scene.Nodes, of a group's first node
	name      string // unique within the scene
	box       geom.Box
	triangles int    // of a group: of its finest level
	policy    string // extras.untold_tile_policy
	identity  bool   // never merged with others
	group     int    // 1 + index into Scene.LODs, 0 for none
	placed    []placed
}

// placed is a mesh at a node.
type placed struct {
	node  int // index into Scene.Nodes
	mesh  int // index into Scene.Meshes
	level int // of the LOD group, 0 without one
}

// objectsOf lists the nodes with geometry, with exact world boxes. The nodes
// of a LOD group are one object, so that its levels stay together; its finest
// level alone counts for the box.
func objectsOf(s *gltfscene.Scene, v *survey, ns *notes) ([]object, error) {
	n := 0
	for i := range s.Nodes {
		if mesh := s.Nodes[i].Shown(); mesh >= 0 && s.Meshes[mesh].Triangles() > 0 {
			n++
		}
	}
	names := make(nameTable, n)
	out := make([]object, 0, n)
	parts := make([]placed, 0, n) // of objects of one mesh, together: they may be many
	groups := map[int]int{}       // LOD group to index into out
	for i := range s.Nodes {
		n := &s.Nodes[i]
		mesh := n.Shown()
		if mesh < 0 || s.Meshes[mesh].Triangles() == 0 {
			continue
		}
		p := placed{i, mesh, n.LOD.Level}
		if k, ok := groups[n.LOD.Group]; ok && n.LOD.Group > 0 {
			out[k].add(s, p)
			continue
		}
		name := n.Name
		o := object{node: i, policy: tilePolicy(n.Extras), identity: keepsIdentity(n.Name, n.Extras)}
		if o.group = n.LOD.Group; o.group > 0 {
			groups[o.group] = len(out)
			name, o.identity = s.LODs[o.group-1].Name, true
		} else {
			o.placed = parts[len(parts) : len(parts) : len(parts)+1]
			parts = parts[:len(parts)+1]
		}
		o.add(s, p)
		if o.name = names.unique(name); o.name != name {
			ns.add("renamed-objects", 1, i, name)
		}
		out = append(out, o)
	}
	measureObjects(s, v, out)
	for i := range out {
		o := &out[i]
		if !o.box.Min.IsFinite() || !o.box.Max.IsFinite() {
			return nil, fmt.Errorf("%s (%s): its world transform moves vertices beyond single precision (%w)",
				s.NodePlace(o.node), o.name, ErrBadInput)
		}
	}
	return out, nil
}

// measureObjects finds the boxes of objects in the world.
func measureObjects(s *gltfscene.Scene, v *survey, out []object) {
	for i := range out {
		out[i].box = out[i].worldBox(s, v)
	}
}

func (o *object) add(s *gltfscene.Scene, p placed) {
	o.placed = append(o.placed, p)
	if p.level == 0 {
		o.triangles += s.Meshes[p.mesh].Triangles()
	}
}

// finest returns the number of the finest level that has geometry.
func (o *object) finest() int {
	n := o.placed[0].level
	for _, p := range o.placed {
		n = min(n, p.level)
	}
	return n
}

// worldBox returns the box of the vertices that triangles use, moved to world
// space and rounded as they will be stored; of a group, of its finest level
// that has any.
func (o *object) worldBox(s *gltfscene.Scene, v *survey) geom.Box {
	finest := o.finest()
	box := geom.EmptyBox()
	for _, p := range o.placed {
		if p.level == finest {
			box = box.Union(v.box(p.node, &s.Nodes[p.node].World))
		}
	}
	return geom.Box{Min: geom.FromF32(box.Min.F32()), Max: geom.FromF32(box.Max.F32())}
}

// tilePolicy reads the placement override from a node's extras.
func tilePolicy(extras json.RawMessage) string {
	return readExtras(extras).text("untold_tile_policy")
}

// nameTable makes names unique the way the reference exporter's host does:
// the second "Lamp" becomes "Lamp.001".
type nameTable map[string]int

func (t nameTable) unique(name string) string {
	if _, taken := t[name]; !taken {
		t[name] = 0
		return name
	}
	for {
		t[name]++
		if s := fmt.Sprintf("%s.%03d", name, t[name]); !t.has(s) {
			t[s] = 0
			return s
		}
	}
}

func (t nameTable) has(name string) bool {
	_, ok := t[name]
	return ok
}
