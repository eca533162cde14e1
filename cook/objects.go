package cook

import (
	"context"
	"encoding/json"
	"fmt"

	"golang.org/x/sync/errgroup"

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
func objectsOf(ctx context.Context, s *gltfscene.Scene, jobs int, ns *notes) ([]object, error) {
	names := nameTable{}
	var out []object
	groups := map[int]int{} // LOD group to index into out
	for i := range s.Nodes {
		n := &s.Nodes[i]
		mesh, level := n.Mesh, 0
		if n.LOD.Group > 0 {
			mesh, level = n.LOD.Mesh, n.LOD.Level
		}
		if mesh < 0 || s.Meshes[mesh].Triangles() == 0 {
			continue
		}
		p := placed{i, mesh, level}
		if k, ok := groups[n.LOD.Group]; ok && n.LOD.Group > 0 {
			out[k].add(s, p)
			continue
		}
		name := n.Name
		o := object{node: i, policy: tilePolicy(n.Extras), identity: keepsIdentity(n.Name, n.Extras)}
		if o.group = n.LOD.Group; o.group > 0 {
			groups[o.group] = len(out)
			name, o.identity = s.LODs[o.group-1].Name, true
		}
		o.add(s, p)
		if o.name = names.unique(name); o.name != name {
			ns.add("renamed-objects", 1, i, name)
		}
		out = append(out, o)
	}
	if err := measureObjects(ctx, s, out, jobs); err != nil {
		return nil, err
	}
	for i := range out {
		o := &out[i]
		if !o.box.Min.IsFinite() || !o.box.Max.IsFinite() {
			return nil, fmt.Errorf("%s: nodes[%d] (%s): its world transform moves vertices beyond single precision (%w)",
				s.Source, s.Nodes[o.node].Index, o.name, ErrBadInput)
		}
	}
	return out, nil
}

// measureObjects finds the boxes of objects in the world.
func measureObjects(ctx context.Context, s *gltfscene.Scene, out []object, jobs int) error {
	whole := wholePrimitives(s)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(jobs)
	const batch = 256
	for start := 0; start < len(out); start += batch {
		g.Go(func() error {
			for i := start; i < min(start+batch, len(out)); i++ {
				if err := ctx.Err(); err != nil {
					return err
				}
				out[i].box = out[i].worldBox(s, whole)
			}
			return nil
		})
	}
	return g.Wait()
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
func (o *object) worldBox(s *gltfscene.Scene, whole [][]bool) geom.Box {
	finest := o.finest()
	box := geom.EmptyBox()
	for _, p := range o.placed {
		if p.level == finest {
			box = box.Union(meshBox(&s.Meshes[p.mesh], &s.Nodes[p.node].World, whole[p.mesh]))
		}
	}
	return geom.Box{Min: geom.FromF32(box.Min.F32()), Max: geom.FromF32(box.Max.F32())}
}

// meshBox returns the exact box of a mesh in the world. whole tells which
// primitives use all of their vertices.
func meshBox(m *gltfscene.Mesh, world *geom.Mat4, whole []bool) geom.Box {
	box := geom.EmptyBox()
	for k := range m.Primitives {
		p := &m.Primitives[k]
		if whole[k] {
			for _, v := range p.Positions {
				box = box.Extend(world.Point(geom.FromF32(v)))
			}
			continue
		}
		for _, i := range p.Indices {
			box = box.Extend(world.Point(geom.FromF32(p.Positions[i])))
		}
	}
	return box
}

// wholePrimitives tells of every mesh which primitives use all their vertices:
// there the vertices can be walked, which are several times fewer than the
// indices, for every instance.
func wholePrimitives(s *gltfscene.Scene) [][]bool {
	out := make([][]bool, len(s.Meshes))
	var used []bool
	for i := range s.Meshes {
		for k := range s.Meshes[i].Primitives {
			p := &s.Meshes[i].Primitives[k]
			used = append(used[:0], make([]bool, len(p.Positions))...)
			left := len(used)
			for _, v := range p.Indices {
				if !used[v] {
					used[v] = true
					left--
				}
			}
			out[i] = append(out[i], left == 0)
		}
	}
	return out
}

// tilePolicy reads the placement override from a node's extras.
func tilePolicy(extras json.RawMessage) string {
	if len(extras) == 0 {
		return ""
	}
	var e struct {
		Policy string `json:"untold_tile_policy"`
	}
	if json.Unmarshal(extras, &e) != nil {
		return ""
	}
	return e.Policy
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
