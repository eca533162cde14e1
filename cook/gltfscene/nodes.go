package gltfscene

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/qmuntal/gltf"
	"github.com/untoldkit/untold/internal/geom"
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

// sceneIndex chooses the scene, -1 when the file has none: then all roots count.
func (im *importer) sceneIndex() (int, error) {
	d := im.doc
	n := len(d.scenes.raw)
	if d.scenes.err != nil {
		return 0, d.scenes.err
	}
	if im.opts.Scene != DefaultScene {
		if im.opts.Scene < 0 || im.opts.Scene >= n {
			return 0, &Error{Place: "scenes", Reason: fmt.Sprintf("scene %d is asked for, the file has %d", im.opts.Scene, n), Err: ErrNoSuchScene}
		}
		return im.opts.Scene, nil
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
		im.notes.warn("no-scene", "scenes", "the file has no scene: all nodes without a parent are placed")
	}
	return -1, nil
}

// roots returns the nodes that are no other's child and no other's level of
// detail. Faults are left to the walk.
func (im *importer) roots() []int {
	t := &im.doc.nodes
	below := make([]bool, len(t.raw))
	for i, raw := range t.raw {
		node, err := t.peek(i)
		if err != nil {
			continue
		}
		list := node.Children
		var ext struct{ IDs []int }
		if lod := member(member(raw, "extensions"), lodName); isObjectValue(lod) && lodSchema.decode(lod, &ext) == nil {
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
func (im *importer) placeNodes() error {
	index, err := im.sceneIndex()
	if err != nil {
		return err
	}
	var roots []int
	place := "scenes"
	if index < 0 {
		roots = im.roots()
	} else {
		scene, err := im.doc.scenes.get(index)
		if err != nil {
			return err
		}
		roots, place = scene.Nodes, im.doc.scenes.place(index)
	}
	im.root = place
	im.placed = make([]int32, len(im.doc.nodes.raw))
	var stack []pending
	for i, root := range slices.Backward(roots) {
		stack = append(stack, pending{index: root, parent: -1, child: i})
	}
	if err := im.descend(stack, place); err != nil {
		return err
	}
	return im.groupLODs()
}

// descend places the nodes on the stack and all below them; scene is the
// place of the scene.
func (im *importer) descend(stack []pending, scene string) error {
	where := func(p pending) string {
		switch {
		case p.level != "":
			return p.level
		case p.parent < 0:
			return fmt.Sprintf("%s.nodes[%d]", scene, p.child)
		}
		return fmt.Sprintf("nodes[%d].children[%d]", im.scene.Nodes[p.parent].Index, p.child)
	}
	for len(stack) > 0 {
		p := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if err := im.doc.nodes.check(p.index); err != nil {
			return at(where(p), err)
		}
		if at := im.placed[p.index]; at != 0 {
			return im.secondVisit(p, int(at-1), where(p))
		}
		node, err := im.doc.nodes.get(p.index)
		if err != nil {
			return err
		}
		self := len(im.scene.Nodes)
		im.placed[p.index] = int32(self + 1)
		if len(im.scene.Nodes)%1024 == 0 && im.ctx.Err() != nil {
			return im.ctx.Err()
		}
		hidden, err := im.placeNode(p, node)
		if err != nil {
			return at(im.doc.nodes.place(p.index), err)
		}
		for i, child := range slices.Backward(node.Children) {
			stack = append(stack, pending{index: child, parent: self, child: i, hidden: hidden, lesser: p.lesser})
		}
	}
	return nil
}

// secondVisit explains why a node is reached twice.
func (im *importer) secondVisit(p pending, first int, where string) error {
	for a := p.parent; a >= 0; a = im.scene.Nodes[a].Parent {
		if a == first {
			return malformed(where, "node %d is its own ancestor: the hierarchy has a cycle", p.index)
		}
	}
	return malformed(where, "node %d is placed twice: it must have one parent, or be one root", p.index)
}

// placeNode appends one node and what it carries.
func (im *importer) placeNode(p pending, node *gltf.Node) (hidden bool, err error) {
	raw := im.doc.nodes.raw[p.index]
	local, err := im.localMatrix(p.index, node, raw)
	if err != nil {
		return false, err
	}
	n := Node{Index: p.index, Name: cleanName(node.Name), Parent: p.parent, World: local, Mesh: -1}
	if n.Name == "" {
		n.Name = "node_" + strconv.Itoa(p.index)
	}
	if p.parent >= 0 {
		n.World = im.scene.Nodes[p.parent].World.Mul(local)
	}
	if !n.World.IsFinite() {
		return false, malformed("", "its world transform is not finite")
	}
	if extras := member(raw, "extras"); extras != nil && !isNull(extras) {
		n.Extras = clone(extras)
	}
	ext := im.observe(im.doc.nodes.place(p.index), onNode, raw)
	hidden = p.hidden || string(member(member(ext, "KHR_node_visibility"), "visible")) == "false"
	if node.Mesh != nil {
		if err := im.doc.meshes.check(*node.Mesh); err != nil {
			return false, at(".mesh", err)
		}
		n.Mesh = *node.Mesh // the file's index until planMeshes
		if hidden {
			n.Mesh = -1
			im.notes.warn("nodes-hidden", im.doc.nodes.place(p.index), "meshes of nodes that KHR_node_visibility hides were left out")
		}
		if node.Skin != nil {
			im.notes.warn("skins-skipped", im.doc.nodes.place(p.index), "skins are not applied: the mesh is taken as stored, under its node's transform")
		}
	}
	self := len(im.scene.Nodes)
	im.scene.Nodes = append(im.scene.Nodes, n)
	if inst := member(ext, instancingName); isObjectValue(inst) && n.Mesh >= 0 {
		if err := im.placeInstances(self, inst); err != nil {
			return false, at(".extensions."+instancingName, err)
		}
	}
	if lod := member(ext, lodName); isObjectValue(lod) {
		im.lodOwners = append(im.lodOwners, lodOwner{node: self, hidden: hidden, ext: lod})
	}
	if p.lesser {
		return hidden, nil
	}
	if node.Camera != nil {
		im.placeCamera(*node.Camera, n)
	}
	if light := member(ext, lightsName); light != nil {
		im.placeLight(light, n)
	}
	return hidden, nil
}

// localMatrix returns a node's transform relative to its parent.
func (im *importer) localMatrix(index int, node *gltf.Node, raw []byte) (geom.Mat4, error) {
	place := im.doc.nodes.place(index)
	given := func(name string) bool {
		v := member(raw, name)
		return v != nil && !isNull(v)
	}
	if !given("matrix") {
		r := node.Rotation
		if r == [4]float64{} {
			im.notes.warn("zero-rotation", place, "a rotation of length 0 was taken as none")
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
		im.notes.warn("matrix-and-trs", place, "a node has a matrix as well as translation, rotation or scale; the matrix was used")
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
