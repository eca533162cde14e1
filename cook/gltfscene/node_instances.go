package gltfscene

import (
	"fmt"

	"github.com/qmuntal/gltf"
	"github.com/untoldkit/untold/internal/geom"
)

const instancingName = "EXT_mesh_gpu_instancing"

var instancingSchema = &schema{[]prop{{name: "attributes", kind: isIndexMap, need: true}}}

// nodeBytes is about what an instance costs in Scene.Nodes.
const nodeBytes = 288

// placeInstances expands EXT_mesh_gpu_instancing: the node at position self
// gives its mesh to one child per instance.
func (np *nodePlacer) placeInstances(self int, raw []byte) error {
	var ext struct{ Attributes map[string]int }
	if err := instancingSchema.decode(raw, &ext); err != nil {
		return err
	}
	count := -1
	read := func(name string) (*accessor, error) {
		index, ok := ext.Attributes[name]
		if !ok {
			return nil, nil
		}
		place := fmt.Sprintf(".attributes.%s (accessor %d)", name, index)
		if err := np.doc.accessors.check(index); err != nil {
			return nil, at(place, err)
		}
		a, err := np.data.accessor(index)
		if err != nil {
			return nil, at(place, err)
		}
		signed := a.normalized && (a.ct == i8 || a.ct == i16)
		switch {
		case name == "ROTATION" && (a.typ != gltf.AccessorVec4 || a.ct != f32 && !signed):
			return nil, malformed(place, "is %s, must be VEC4 of FLOAT or of normalized BYTE or SHORT", a.format())
		case name != "ROTATION" && (a.typ != gltf.AccessorVec3 || a.ct != f32):
			return nil, malformed(place, "is %s, must be VEC3 of FLOAT", a.format())
		case count >= 0 && a.count != count:
			return nil, malformed(place, "has %d elements, others have %d", a.count, count)
		}
		count = a.count
		return a, nil
	}
	var of [3]*accessor
	for i, name := range []string{"TRANSLATION", "ROTATION", "SCALE"} {
		var err error
		if of[i], err = read(name); err != nil {
			return err
		}
	}
	if count < 0 {
		return nil // custom attributes only: nothing that places an instance
	}
	if err := np.data.reserve("", int64(count), nodeBytes); err != nil {
		return err
	}
	if err := np.data.checkReserved(); err != nil {
		return err
	}
	return np.expand(self, count, of[0], of[1], of[2])
}

// expand appends the instances; absent accessors stand for the identity.
func (np *nodePlacer) expand(self, count int, translation, rotation, scale *accessor) error {
	t, err := decodeAll[[3]float32](".attributes.TRANSLATION", translation)
	if err != nil {
		return err
	}
	r, err := decodeAll[[4]float32](".attributes.ROTATION", rotation)
	if err != nil {
		return err
	}
	s, err := decodeAll[[3]float32](".attributes.SCALE", scale)
	if err != nil {
		return err
	}
	owner := np.scene.Nodes[self]
	np.scene.Nodes[self].Mesh = -1
	for i := range count {
		move, turn, size := geom.Vec3{}, [4]float64{0, 0, 0, 1}, geom.Vec3{1, 1, 1}
		if t != nil {
			move = geom.FromF32(t[i])
		}
		if r != nil {
			turn = [4]float64{float64(r[i][0]), float64(r[i][1]), float64(r[i][2]), float64(r[i][3])}
		}
		if s != nil {
			size = geom.FromF32(s[i])
		}
		n := Node{
			Index: owner.Index, Name: fmt.Sprintf("%s#%d", owner.Name, i), Parent: self, Mesh: owner.Mesh,
			World: owner.World.Mul(geom.TRS(move, turn, size)),
		}
		if !n.World.IsFinite() {
			return malformed("", "instance %d has a world transform that is not finite", i)
		}
		np.scene.Nodes = append(np.scene.Nodes, n)
	}
	np.notes.add(count, false, "instances-expanded", np.doc.nodes.place(owner.Index), "instances of "+instancingName+" became nodes")
	return nil
}

// decodeAll decodes an accessor at once; nil for nil.
func decodeAll[V vec](place string, a *accessor) ([]V, error) {
	if a == nil {
		return nil, nil
	}
	out, bad, err := decodeVec[V](a, 0, a.count, 0)
	switch {
	case err != nil:
		return nil, at(place, err)
	case bad < 0:
		return out, nil
	case out == nil:
		return nil, a.sparseFault(place, bad)
	}
	return nil, malformed(place, "element %d is not finite (NaN or infinity)", bad)
}
