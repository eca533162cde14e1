package gltfscene

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/qmuntal/gltf"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/jsonscan"
)

// pending is a node on the stack of the walk.
type pending struct {
	index  int // in the file
	parent int // in Scene.Nodes
	child  int // position within the parent's children, or within the scene's nodes
	hidden bool
	level  string // the place that names it as a level of detail, else empty
	lesser bool   // within such a level: its cameras and lights are left out
}

// nodePlacer walks the scene's hierarchy: it owns which node of the file has been
// placed, and what hangs on nodes: levels of detail, lights and cameras. What it
// finds goes to the scene; it decodes no geometry.
type nodePlacer struct {
	*session
	data *dataReader

	root      string                    // the place of the scene
	placed    []int32                   // by the file's index of a node: position in Scene.Nodes + 1
	lodOwners []lodOwner                // nodes with MSFT_lod, in the order of Scene.Nodes
	bent      []bent                    // nodes with skins or weights, in the order of Scene.Nodes
	poses     []*pose                   // by Node.Mesh less the number of meshes of the file, until planMeshes
	binds     map[int]memo[[]geom.Mat4] // inverse bind matrices, by skins of the file
	parents   []int32                   // of nodes of the file, plus one, once poses need them
	unplaced  map[int]geom.Mat4         // where joints are that the scene does not reach
	lights    []memo[Light]             // of KHR_lights_punctual, once a node needs one
	cameras   map[int]memo[Camera]
}

// sceneIndex chooses the scene, -1 when the file has none: then all roots count.
func (np *nodePlacer) sceneIndex() (int, error) {
	d := np.doc
	n := len(d.scenes.raw)
	if d.scenes.err != nil {
		return 0, d.scenes.err
	}
	if np.opts.Scene != DefaultScene {
		if np.opts.Scene < 0 || np.opts.Scene >= n {
			return 0, &Error{Place: "scenes", Reason: fmt.Sprintf("scene %d is asked for, the file has %d", np.opts.Scene, n), Err: ErrNoSuchScene}
		}
		return np.opts.Scene, nil
	}
	switch {
	case d.sceneErr != nil:
		return 0, d.sceneErr
	case d.scene >= n:
		return 0, malformed("scene", "names scene %d, but the file has %d", d.scene, n)
	case d.scene >= 0:
		return d.scene, nil
	case n > 0:
		return 0, nil
	}
	if len(d.nodes.raw) > 0 || len(d.meshes.raw) > 0 {
		np.notes.warn("no-scene", "scenes", "the file has no scene: all nodes without a parent are placed")
	}
	return -1, nil
}

// roots returns the nodes that are no other's child and no other's level of
// detail. Faults are left to the walk.
func (np *nodePlacer) roots() []int {
	t := &np.doc.nodes
	below := make([]bool, len(t.raw))
	for i, raw := range t.raw {
		node, err := t.peek(i)
		if err != nil {
			continue
		}
		list := node.Children
		var ext struct{ IDs []int }
		if lod := jsonscan.Member(jsonscan.Member(raw, "extensions"), lodName); isObjectValue(lod) && lodSchema.decode(lod, &ext) == nil {
			list = append(slices.Clip(list), ext.IDs...)
		}
		for _, c := range list {
			if c >= 0 && c < len(below) && c != i {
				below[c] = true
			}
		}
	}
	var out []int
	for i := range below {
		if !below[i] {
			out = append(out, i)
		}
	}
	return out
}

// placeNodes walks the scene's hierarchy depth-first, without recursion, and
// appends every node with its world transform.
func (np *nodePlacer) placeNodes() error {
	index, err := np.sceneIndex()
	if err != nil {
		return err
	}
	var roots []int
	place := "scenes"
	if index < 0 {
		roots = np.roots()
	} else {
		scene, err := np.doc.scenes.get(index)
		if err != nil {
			return err
		}
		roots, place = scene.Nodes, np.doc.scenes.place(index)
	}
	np.root = place
	np.placed = make([]int32, len(np.doc.nodes.raw))
	var stack []pending
	for i, root := range slices.Backward(roots) {
		stack = append(stack, pending{index: root, parent: -1, child: i})
	}
	if err := np.descend(stack, place); err != nil {
		return err
	}
	return np.groupLODs()
}

// descend places the nodes on the stack and all below them; scene is the
// place of the scene.
func (np *nodePlacer) descend(stack []pending, scene string) error {
	where := func(p pending) string {
		switch {
		case p.level != "":
			return p.level
		case p.parent < 0:
			return fmt.Sprintf("%s.nodes[%d]", scene, p.child)
		}
		return fmt.Sprintf("nodes[%d].children[%d]", np.scene.Nodes[p.parent].Index, p.child)
	}
	node := new(gltf.Node) // each in its turn
	for len(stack) > 0 {
		p := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if err := np.doc.nodes.check(p.index); err != nil {
			return at(where(p), err)
		}
		if at := np.placed[p.index]; at != 0 {
			return np.secondVisit(p, int(at-1), where(p))
		}
		if err := np.doc.nodes.read(p.index, node); err != nil {
			return err
		}
		self := len(np.scene.Nodes)
		np.placed[p.index] = int32(self + 1)
		if len(np.scene.Nodes)%1024 == 0 && np.ctx.Err() != nil {
			return np.ctx.Err()
		}
		hidden, err := np.placeNode(p, node)
		if err != nil {
			return at(np.doc.nodes.place(p.index), err)
		}
		for i, child := range slices.Backward(node.Children) {
			stack = append(stack, pending{index: child, parent: self, child: i, hidden: hidden, lesser: p.lesser})
		}
	}
	return nil
}

// secondVisit explains why a node is reached twice.
func (np *nodePlacer) secondVisit(p pending, first int, where string) error {
	for a := p.parent; a >= 0; a = np.scene.Nodes[a].Parent {
		if a == first {
			return malformed(where, "node %d is its own ancestor: the hierarchy has a cycle", p.index)
		}
	}
	return malformed(where, "node %d is placed twice: it must have one parent, or be one root", p.index)
}

// placeNode appends one node and what it carries.
func (np *nodePlacer) placeNode(p pending, node *gltf.Node) (hidden bool, err error) {
	raw := np.doc.nodes.raw[p.index]
	local, err := np.localMatrix(p.index, node, raw)
	if err != nil {
		return false, err
	}
	n := Node{Index: p.index, Name: cleanName(node.Name), Parent: p.parent, World: local, Mesh: -1}
	if n.Name == "" {
		n.Name = "node_" + strconv.Itoa(p.index)
	}
	if p.parent >= 0 {
		n.World = np.scene.Nodes[p.parent].World.Mul(local)
	}
	if !n.World.IsFinite() {
		return false, malformed("", "its world transform is not finite")
	}
	if extras := jsonscan.Member(raw, "extras"); extras != nil && !isNull(extras) {
		n.Extras = clone(extras)
	}
	ext := extensionsOf(raw)
	if ext != nil { // as of few nodes: places are texts
		np.observeMembers(np.doc.nodes.place(p.index), onNode, ext)
	}
	hidden = p.hidden || string(jsonscan.Member(jsonscan.Member(ext, "KHR_node_visibility"), "visible")) == "false"
	if node.Mesh != nil {
		if err := np.doc.meshes.check(*node.Mesh); err != nil {
			return false, at(".mesh", err)
		}
		n.Mesh = *node.Mesh // the file's index until planMeshes
		if hidden {
			n.Mesh = -1
			np.notes.warn("nodes-hidden", np.doc.nodes.place(p.index), "meshes of nodes that KHR_node_visibility hides were left out")
		}
	}
	self := len(np.scene.Nodes)
	if all := np.scene.Nodes; len(all) == cap(all) { // larger steps than append's, up to what can come
		np.scene.Nodes = slices.Grow(all, max(1, min(len(all), len(np.doc.nodes.raw)-len(all))))
	}
	np.scene.Nodes = append(np.scene.Nodes, n)
	if inst := jsonscan.Member(ext, instancingName); isObjectValue(inst) && n.Mesh >= 0 {
		if err := np.placeInstances(self, inst); err != nil {
			return false, at(".extensions."+instancingName, err)
		}
	}
	if node.Mesh != nil {
		np.bend(self, node)
	}
	if lod := jsonscan.Member(ext, lodName); isObjectValue(lod) {
		np.lodOwners = append(np.lodOwners, lodOwner{node: self, hidden: hidden, ext: lod})
	}
	if p.lesser {
		return hidden, nil
	}
	if node.Camera != nil {
		np.placeCamera(*node.Camera, n)
	}
	if light := jsonscan.Member(ext, lightsName); light != nil {
		np.placeLight(light, n)
	}
	return hidden, nil
}

// localMatrix returns a node's transform relative to its parent.
func (np *nodePlacer) localMatrix(index int, node *gltf.Node, raw []byte) (geom.Mat4, error) {
	given := func(name string) bool {
		v := jsonscan.Member(raw, name)
		return v != nil && !isNull(v)
	}
	if !given("matrix") {
		r := node.Rotation
		if r == [4]float64{} {
			np.notes.warn("zero-rotation", np.doc.nodes.place(index), "a rotation of length 0 was taken as none")
		}
		// A quaternion's square must not overflow or vanish in geom.TRS.
		if top := max(math.Abs(r[0]), math.Abs(r[1]), math.Abs(r[2]), math.Abs(r[3])); top > 1e100 || top > 0 && top < 1e-100 {
			for i := range r {
				r[i] /= top
			}
		}
		return geom.TRS(node.Translation, r, node.Scale), nil
	}
	if given("translation") || given("rotation") || given("scale") {
		np.notes.warn("matrix-and-trs", np.doc.nodes.place(index), "a node has a matrix as well as translation, rotation or scale; the matrix was used")
	}
	m := geom.Mat4(node.Matrix)
	const tolerance = 1e-5
	for i, want := range [4]float64{0, 0, 0, 1} {
		if math.Abs(m[4*i+3]-want) > tolerance {
			return m, malformed(".matrix", "is not affine: element %d is %v, must be %v", 4*i+3, m[4*i+3], want)
		}
		m[4*i+3] = want
	}
	return m, nil
}
