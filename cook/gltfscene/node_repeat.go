package gltfscene

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/jsonscan"
)

// Placement says where a copy of a whole scene stands.
type Placement struct {
	Name   string // of the node above it
	World  geom.Mat4
	Extras json.RawMessage // an object, or nil
}

// repeat puts a copy of all that was placed below a node of each placement. Who shows a
// mesh gets the placement's extras beside its own, which they replace; the only one takes
// its name.
func (np *nodePlacer) repeat() error {
	list := np.opts.Placements
	if list == nil {
		return nil
	}
	s, once := np.scene, *np.scene
	each := int64(len(once.Nodes)) + 1
	if limit := np.opts.MaxNodes; limit > 0 && each > limit/int64(max(1, len(list))) {
		return &Error{
			Reason: fmt.Sprintf("its %d nodes are placed %d times, the limit is %d nodes in all", len(once.Nodes), len(list), limit),
			Hint:   "place it less often, join its meshes, or cook where there is more memory", Err: ErrTooLarge,
		}
	}
	shown, alone := 0, 0
	for i := range once.Nodes {
		if once.Nodes[i].Mesh >= 0 {
			shown, alone = shown+1, i
		}
	}
	s.Nodes, s.LODs, s.Lights, s.Cameras = make([]Node, 0, int(each)*len(list)), nil, nil, nil
	for k := range list {
		p := &list[k]
		if np.ctx.Err() != nil {
			return np.ctx.Err()
		}
		top, groups := len(s.Nodes), len(s.LODs)
		s.Nodes = append(s.Nodes, Node{Index: -1, Name: p.Name, Parent: -1, World: p.World, Mesh: -1, Extras: p.Extras})
		for i := range once.Nodes {
			n := once.Nodes[i]
			n.Parent += top + 1
			if n.World = p.World.Mul(n.World); !n.World.IsFinite() {
				return malformed(np.doc.nodes.place(n.Index), "its world transform at the placement %q is not finite", clip(p.Name))
			}
			if n.LOD.Group > 0 {
				n.LOD.Group += groups
			}
			if n.Mesh >= 0 {
				n.Extras = mergedExtras(n.Extras, p.Extras)
				if shown == 1 && i == alone {
					n.Name = p.Name
				}
			}
			s.Nodes = append(s.Nodes, n)
		}
		for _, g := range once.LODs {
			levels := slices.Clone(g.Levels)
			for l := range levels {
				levels[l].Nodes = slices.Clone(levels[l].Nodes)
				for i := range levels[l].Nodes {
					levels[l].Nodes[i] += top + 1
				}
			}
			g.Levels = levels
			s.LODs = append(s.LODs, g)
		}
		for _, l := range once.Lights {
			l.World = p.World.Mul(l.World)
			s.Lights = append(s.Lights, l)
		}
		for _, c := range once.Cameras {
			c.World = p.World.Mul(c.World)
			s.Cameras = append(s.Cameras, c)
		}
	}
	return nil
}

// mergedExtras returns the members of both objects, of equal names those of over.
func mergedExtras(own, over json.RawMessage) json.RawMessage {
	if len(over) == 0 {
		return own
	}
	if len(own) == 0 || own[0] != '{' {
		return over
	}
	out := []byte{'{'}
	add := func(key string, value []byte) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		name, _ := json.Marshal(key) // a string always can be
		out = append(append(append(out, name...), ':'), value...)
	}
	taken := map[string]bool{}
	for k, v := range jsonscan.Members(over, 0) {
		name := string(k.Text)
		taken[name] = true
		add(name, v.Of(over))
	}
	for k, v := range jsonscan.Members(own, 0) {
		if name := string(k.Text); !taken[name] {
			add(name, v.Of(own))
		}
	}
	return append(out, '}')
}
