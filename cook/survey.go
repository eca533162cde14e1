package cook

import (
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/internal/geom"
)

// survey is what is found out about geometry while a scene is opened, when each mesh is
// decoded once: planning needs no more.
type survey struct {
	jobs int
	keys bool // meshes are hashed

	once  sync.Once
	nodes [][]int // by Scene.Meshes: which nodes show it, at any level
	// By Scene.Nodes: the box of the vertices that triangles use, moved by all of the
	// node's transform but its translation. That comes last when a point is moved, and
	// rounding keeps the order of numbers, so that the box in the world is this one and
	// the translation, exactly.
	boxes []geom.Box
	sums  []sum // by Scene.Meshes
}

// look sees one mesh; meshes come from several goroutines.
func (v *survey) look(s *gltfscene.Scene, mesh int, list []gltfscene.Primitive) error {
	v.once.Do(func() { v.begin(s) })
	if v.keys {
		v.sums[mesh] = meshSum(s.Meshes[mesh].Name, list)
	}
	turns := map[[9]float64]int{} // transforms but for their translations, numbered
	var first []int               // by turn: the first node that has it
	of := make([]int, len(v.nodes[mesh]))
	for i, n := range v.nodes[mesh] {
		m := &s.Nodes[n].World
		key := [9]float64{m[0], m[1], m[2], m[4], m[5], m[6], m[8], m[9], m[10]}
		turn, ok := turns[key]
		if !ok {
			turn = len(first)
			turns[key] = turn
			first = append(first, n)
		}
		of[i] = turn
	}
	boxes := make([]geom.Box, len(first))
	whole := wholePrimitives(list)
	turned := func(from, to int) {
		for turn := from; turn < to; turn++ {
			boxes[turn] = turnedBox(list, &s.Nodes[first[turn]].World, whole)
		}
	}
	const batch = 64
	if len(first) <= batch {
		turned(0, len(first))
	} else {
		var g errgroup.Group
		g.SetLimit(v.jobs)
		for from := 0; from < len(first); from += batch {
			g.Go(func() error {
				turned(from, min(from+batch, len(first)))
				return nil
			})
		}
		_ = g.Wait() // boxes cannot fail
	}
	for i, n := range v.nodes[mesh] {
		v.boxes[n] = boxes[of[i]]
	}
	return nil
}

func (v *survey) begin(s *gltfscene.Scene) {
	v.nodes = make([][]int, len(s.Meshes))
	v.boxes = make([]geom.Box, len(s.Nodes))
	v.sums = make([]sum, len(s.Meshes))
	for i := range s.Nodes {
		if mesh := s.Nodes[i].Shown(); mesh >= 0 {
			v.nodes[mesh] = append(v.nodes[mesh], i)
		}
	}
}

// box returns the exact box of what a node shows in the world.
func (v *survey) box(node int, world *geom.Mat4) geom.Box {
	b, at := v.boxes[node], geom.Vec3{world[12], world[13], world[14]}
	return geom.Box{Min: b.Min.Add(at), Max: b.Max.Add(at)}
}

// turnedBox returns the box of a mesh that is moved by all of a transform but the
// translation. whole tells which primitives use all of their vertices.
func turnedBox(list []gltfscene.Primitive, world *geom.Mat4, whole []bool) geom.Box {
	box := geom.EmptyBox()
	for k := range list {
		p := &list[k]
		if whole[k] {
			for i := range p.Positions {
				box = box.Extend(world.Dir(geom.FromF32(p.Positions[i])))
			}
			continue
		}
		for _, i := range p.Indices {
			box = box.Extend(world.Dir(geom.FromF32(p.Positions[i])))
		}
	}
	return box
}

// wholePrimitives tells which primitives use all their vertices: there the vertices can
// be walked, which are several times fewer than the indices, for every instance.
func wholePrimitives(list []gltfscene.Primitive) []bool {
	var out, used []bool
	for k := range list {
		p := &list[k]
		used = append(used[:0], make([]bool, len(p.Positions))...)
		left := len(used)
		for _, v := range p.Indices {
			if !used[v] {
				used[v] = true
				left--
			}
		}
		out = append(out, left == 0)
	}
	return out
}
