package cook

import (
	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/mesh"
	"github.com/untoldkit/untold/internal/geom"
)

// part is what one primitive of one object contributes to one tile.
type part struct {
	placed
	slot     int // of the primitive in its glTF mesh
	material int // index into tileBuilder.materials
	shape    *mesh.Mesh
	instance *instancePart // of a mesh that the container stores once, else nil

	// Vertices that had no usable normal or tangent and got one: for the notes.
	normals, tangents int
}

// pack quantises the part; instances of one mesh do it once.
func (p *part) pack(o mesh.PackOptions) (*mesh.Packed, error) {
	if p.instance == nil {
		return p.shape.Pack(o)
	}
	if p.instance.packed == nil {
		var err error
		if p.instance.packed, err = p.shape.Pack(o); err != nil {
			return nil, err
		}
	}
	return p.instance.packed, nil
}

// bake returns the parts of an object in world space, with normals and, where
// there are texture coordinates, tangents.
func (b *tileBuilder) bake(i int) ([]part, error) {
	var out []part
	for _, at := range b.objects[i].placed {
		list, err := b.bakeMesh(at, &b.scene.Nodes[at.node].World)
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	return out, nil
}

// bakeMesh returns the parts of one placed mesh, moved by world.
func (b *tileBuilder) bakeMesh(at placed, world *geom.Mat4) ([]part, error) {
	var out []part
	list, err := b.scene.Geometry(at.mesh)
	if err != nil {
		return nil, err
	}
	for k := range list {
		if len(list[k].Indices) > 0 {
			out = append(out, b.bakePrimitive(at, &list[k], world))
		}
	}
	return out, nil
}

// bakePrimitive returns one primitive of a placed mesh, moved by world.
func (b *tileBuilder) bakePrimitive(at placed, p *gltfscene.Primitive, world *geom.Mat4) part {
	made := part{placed: at, slot: p.Slot, material: b.material(p.Material)}
	m := meshOf(p, &b.plans[made.material])
	m.Transform(world)
	made.shape = m
	if m.Normals == nil {
		m.FlatNormals()
	} else {
		made.normals = m.RepairNormals()
	}
	if m.Tangents == nil {
		m.GenerateTangents()
	} else {
		made.tangents = m.RepairTangents()
	}
	return made
}

// meshOf copies a primitive's positions into double precision and puts the UV
// set that the material samples first, its transform baked in.
func meshOf(p *gltfscene.Primitive, plan *uvPlan) *mesh.Mesh {
	m := &mesh.Mesh{
		Positions: make([]geom.Vec3, len(p.Positions)), Normals: p.Normals, Tangents: p.Tangents,
		UV: p.UV, Colors: p.Colors, Indices: p.Indices,
	}
	for i, v := range p.Positions {
		m.Positions[i] = geom.FromF32(v)
	}
	if plan.set == 1 && p.UV[1] != nil {
		m.UV[0], m.UV[1] = p.UV[1], p.UV[0]
	}
	if !plan.transform.IsIdentity() {
		m.UV[0] = plan.transform.Apply(m.UV[0])
		if t := &plan.transform; t.Rot != 0 || t.Scale[0] <= 0 || t.Scale[1] <= 0 {
			m.Tangents = nil // u grows in another direction now
		}
	}
	return m
}
