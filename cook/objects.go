package cook

import (
	"context"
	"encoding/json"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/internal/geom"
)

// object is a placed mesh: what the partitioner sees as one thing.
type object struct {
	node      int    // index into Scene.Nodes
	name      string // unique within the scene
	box       geom.Box
	triangles int
	policy    string // extras.untold_tile_policy
}

// objectsOf lists the nodes with geometry, with exact world boxes.
func objectsOf(ctx context.Context, s *gltfscene.Scene, jobs int, ns *notes) ([]object, error) {
	names := nameTable{}
	var out []object
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if n.Mesh < 0 {
			continue
		}
		o := object{node: i, policy: tilePolicy(n.Extras)}
		for k := range s.Meshes[n.Mesh].Primitives {
			o.triangles += len(s.Meshes[n.Mesh].Primitives[k].Indices) / 3
		}
		if o.triangles == 0 {
			continue
		}
		o.name = names.unique(n.Name)
		if o.name != n.Name {
			ns.add("renamed-objects", 1, i, n.Name)
		}
		out = append(out, o)
	}
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
				n := &s.Nodes[out[i].node]
				out[i].box = worldBox(s, n, whole[n.Mesh])
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
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

// worldBox returns the box of the vertices that triangles use, moved to world
// space and rounded as they will be stored. whole tells which primitives use
// all of theirs.
func worldBox(s *gltfscene.Scene, n *gltfscene.Node, whole []bool) geom.Box {
	box := geom.EmptyBox()
	for k := range s.Meshes[n.Mesh].Primitives {
		p := &s.Meshes[n.Mesh].Primitives[k]
		if whole[k] {
			for _, v := range p.Positions {
				box = box.Extend(n.World.Point(geom.FromF32(v)))
			}
			continue
		}
		for _, i := range p.Indices {
			box = box.Extend(n.World.Point(geom.FromF32(p.Positions[i])))
		}
	}
	return geom.Box{Min: geom.FromF32(box.Min.F32()), Max: geom.FromF32(box.Max.F32())}
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
