package gltfscene

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/qmuntal/gltf"
	"github.com/untoldkit/untold/internal/geom"
)

// bent is a placed node that may show its mesh otherwise than it is stored.
type bent struct {
	first, last int       // in Scene.Nodes: the node and its instances
	skin        int       // -1 for none
	weights     []float64 // of morph targets; nil: those of the mesh
}

// pose is how nodes show a mesh: moved by morph targets, then by joints.
type pose struct {
	mesh    int       // in the file
	weights []float64 // of morph targets
	// frames lead, by the joints of a skin, from the mesh to the space of the node that
	// shows it (see skinSpace); nil without a skin. glTF wants skinned meshes where their joints are,
	// whatever the node's own transform, which is applied later and hence undone here.
	frames []geom.Mat4
	place  string // of the first node
}

// still reports whether the mesh is shown as it is stored.
func (p *pose) still() bool { return p.frames == nil && !p.morphs(len(p.weights)) }

// morphs reports whether one of a number of targets has a weight.
func (p *pose) morphs(targets int) bool {
	return slices.ContainsFunc(p.weights[:min(len(p.weights), targets)], func(w float64) bool { return w != 0 })
}

// key is the same for poses that are the same, and short, whatever the number of joints.
func (p *pose) key() [sha256.Size]byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(p.mesh))
	b = binary.LittleEndian.AppendUint64(b, uint64(len(p.weights)))
	for _, w := range p.weights {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(w))
	}
	for i := range p.frames {
		for _, v := range p.frames[i] {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
	}
	return sha256.Sum256(b)
}

// bend remembers that the nodes from first on, which show one mesh, may show it otherwise.
func (np *nodePlacer) bend(first int, node *gltf.Node) {
	b := bent{first: first, last: len(np.scene.Nodes), skin: -1, weights: node.Weights}
	if node.Skin != nil {
		b.skin = *node.Skin
	}
	if b.skin >= 0 || b.weights != nil {
		np.bent = append(np.bent, b)
	}
}

// poseNodes gives nodes whose mesh is shown otherwise than stored a mesh of their own: an
// index behind those of the file, one for each pose. It follows all placing, since joints
// may come after what they move.
func (np *nodePlacer) poseNodes() error {
	known, moved := make(map[[sha256.Size]byte]int), make(map[int]geom.Mat4)
	for i := range np.bent {
		b := &np.bent[i]
		if i%256 == 0 && np.ctx.Err() != nil {
			return np.ctx.Err()
		}
		mesh := -1
		for k := b.first; k < b.last; k++ {
			mesh = max(mesh, np.scene.Nodes[k].Mesh)
		}
		if mesh < 0 {
			continue // hidden
		}
		src, err := np.doc.meshes.peek(mesh)
		if err != nil {
			continue // reported when the mesh is planned
		}
		p := &pose{mesh: mesh, weights: b.weights, place: np.doc.nodes.place(np.scene.Nodes[b.first].Index)}
		if p.weights == nil {
			p.weights = src.Weights
		}
		if b.skin >= 0 {
			var space geom.Mat4
			if p.frames, space, err = np.frames(b); err == nil && space != np.scene.Nodes[b.first].World {
				moved[b.first] = space
			}
			if err != nil {
				np.notes.fault("skin-faulty", skinFaulty, at(p.place+".skin", err))
			} else {
				np.notes.info("skins-posed", p.place, "skinned meshes are stored as their joints pose them")
			}
		}
		if p.frames == nil && slices.Equal(p.weights, src.Weights) {
			continue
		}
		n, ok := known[p.key()]
		if !ok {
			n = len(np.poses)
			known[p.key()] = n
			np.poses = append(np.poses, p)
		}
		for k := b.first; k < b.last; k++ {
			if np.scene.Nodes[k].Mesh >= 0 {
				np.scene.Nodes[k].Mesh = len(np.doc.meshes.raw) + n
			}
		}
	}
	for node, space := range moved { // at last: they may be joints of others
		np.scene.Nodes[node].World = space
	}
	np.bent, np.binds, np.parents = nil, nil, nil
	return nil
}

const skinFaulty = "a skin could not be applied, and its mesh stands as it is stored"

// frames returns what a skin does for a node, and the space in which that is told: the node's,
// unless its transform cannot be undone.
func (np *nodePlacer) frames(b *bent) (out []geom.Mat4, space geom.Mat4, err error) {
	s, err := np.doc.skins.get(b.skin)
	if err != nil {
		return nil, space, err
	}
	place := np.doc.skins.place(b.skin)
	if len(s.Joints) == 0 {
		return nil, space, malformed(place+".joints", "is empty")
	}
	if _, ok := np.binds[b.skin]; !ok {
		list, err := np.bindMatrices(s)
		np.binds[b.skin] = memo[[]geom.Mat4]{&list, at(place, err)}
	}
	bind := np.binds[b.skin]
	if bind.err != nil {
		return nil, space, bind.err
	}
	// Every node with the skin has its own; nothing else is as long.
	if err := np.data.reserve("", int64(len(s.Joints)), 128); err != nil {
		return nil, space, err
	}
	if err := np.data.checkReserved(); err != nil {
		return nil, space, err
	}
	out = make([]geom.Mat4, len(s.Joints))
	where := func(i int) string { return fmt.Sprintf("%s.joints[%d]", place, i) }
	for i, joint := range s.Joints {
		if err := np.doc.nodes.check(joint); err != nil {
			return nil, space, at(where(i), err)
		}
		if out[i], err = np.jointWorld(joint); err != nil {
			return nil, space, at(where(i), err)
		}
	}
	space, back, err := np.skinSpace(b, &out[0])
	if err != nil {
		return nil, space, err
	}
	for i := range out {
		out[i] = back.Mul(out[i])
		if list := *bind.v; list != nil {
			out[i] = out[i].Mul(list[i])
		}
		if !out[i].IsFinite() {
			return nil, space, malformed(where(i), "its transform is not finite")
		}
	}
	return out, space, nil
}

// skinSpace returns the space in which the vertices of a skinned mesh are stored, and the way
// into it. It is that of the node, also because that decides which side of triangles is the
// front; where the node has flattened it, or shrunk it to less than floats can undo, it is
// one at a joint, where vertices are near the origin.
func (np *nodePlacer) skinSpace(b *bent, joint *geom.Mat4) (space, back geom.Mat4, err error) {
	space = np.scene.Nodes[b.first].World
	back, ok := space.InverseAffine()
	if ok && !slices.ContainsFunc(back[:], func(v float64) bool { return math.Abs(v) > math.MaxFloat32 }) {
		return space, back, nil
	}
	if b.last > b.first+1 {
		return space, back, malformed("", "the transform of its node cannot be undone for its instances")
	}
	space, back = geom.Identity(), geom.Identity()
	for c, v := range joint.Column(3) {
		space[12+c], back[12+c] = v, -v
	}
	return space, back, nil
}

// jointWorld returns where a joint is, also of one that the scene does not reach.
func (np *nodePlacer) jointWorld(joint int) (geom.Mat4, error) {
	world := geom.Identity()
	var chain []int // from the joint up to what is known
	for ; joint >= 0; joint = np.parentOf(joint) {
		if at := np.placed[joint]; at > 0 {
			world = np.scene.Nodes[at-1].World
			break
		}
		if known, ok := np.unplaced[joint]; ok {
			world = known
			break
		}
		if chain = append(chain, joint); len(chain) > len(np.doc.nodes.raw) {
			return world, malformed("", "is its own ancestor: the hierarchy has a cycle")
		}
	}
	for _, n := range slices.Backward(chain) {
		node, err := np.doc.nodes.peek(n)
		if err != nil {
			return world, err
		}
		local, err := np.localMatrix(n, node, np.doc.nodes.raw[n])
		if err != nil {
			return world, at(np.doc.nodes.place(n), err)
		}
		world = world.Mul(local)
		if np.unplaced == nil {
			np.unplaced = make(map[int]geom.Mat4)
		}
		np.unplaced[n] = world
	}
	return world, nil
}

// parentOf returns the parent of a node, -1 for none.
func (np *nodePlacer) parentOf(node int) int {
	if np.parents == nil {
		np.parents = make([]int32, len(np.doc.nodes.raw)) // plus one
		for i := range np.doc.nodes.raw {
			n, err := np.doc.nodes.peek(i)
			if err != nil {
				continue
			}
			for _, c := range n.Children {
				if c >= 0 && c < len(np.parents) {
					np.parents[c] = int32(i + 1)
				}
			}
		}
	}
	return int(np.parents[node]) - 1
}

// bindMatrices reads the inverse bind matrices of a skin; nil for none.
func (np *nodePlacer) bindMatrices(s *gltf.Skin) ([]geom.Mat4, error) {
	if s.InverseBindMatrices == nil {
		return nil, nil
	}
	i := *s.InverseBindMatrices
	place := fmt.Sprintf(".inverseBindMatrices (accessor %d)", i)
	if err := np.doc.accessors.check(i); err != nil {
		return nil, at(place, err)
	}
	a, err := np.data.accessor(i)
	if err != nil {
		return nil, at(place, err)
	}
	switch {
	case a.typ != gltf.AccessorMat4 || a.ct != f32:
		return nil, malformed(place, "is %s, must be MAT4 of FLOAT", a.format())
	case a.count < len(s.Joints):
		return nil, malformed(place, "has %d elements, the skin has %d joints", a.count, len(s.Joints))
	case a.sparse != nil:
		return nil, unsupported(place, "store the matrices in full", "is sparse")
	}
	out := make([]geom.Mat4, len(s.Joints))
	err = a.each(0, len(out), func(at, n int, data []byte) {
		for k := range n {
			m := &out[at+k]
			for c := range m {
				m[c] = float64(math.Float32frombits(binary.LittleEndian.Uint32(data[k*a.stride+4*c:])))
			}
			m[3], m[7], m[11], m[15] = 0, 0, 0, 1
		}
	})
	return out, at(place, err)
}
