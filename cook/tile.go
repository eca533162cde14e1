package cook

import (
	"context"
	"fmt"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/mesh"
	"github.com/untoldkit/untold/cook/texture"
	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/internal/geom"
)

// tileBuilder turns objects into containers. It is read-only while tiles are
// built and so serves all workers.
type tileBuilder struct {
	scene     *gltfscene.Scene
	objects   []object
	staged    []texture.Staged // by Scene.Images
	materials []gltfscene.Material
	plans     []uvPlan // by materials
	notes     *notes
}

// newTileBuilder prepares what all tiles share. The material for primitives
// without one is appended behind the scene's.
func newTileBuilder(s *gltfscene.Scene, objects []object, staged []texture.Staged, ns *notes) *tileBuilder {
	b := &tileBuilder{scene: s, objects: objects, staged: staged, notes: ns}
	b.materials = append(append(b.materials, s.Materials...), defaultMaterial())
	for i := range b.materials {
		m := &b.materials[i]
		b.plans = append(b.plans, uvPlanOf(m, staged, ns))
		if isBlack(m) {
			ns.add("black-lifted", 1, i, m.Name)
		}
	}
	return b
}

// material returns the index into b.materials for a primitive.
func (b *tileBuilder) material(p *gltfscene.Primitive) int {
	if p.Material < 0 {
		return len(b.materials) - 1
	}
	return p.Material
}

// build returns a container with the given objects, in order, or nil when none
// of them has a triangle with an area. count is false where an object has been
// counted for the notes before, as in its second tile.
func (b *tileBuilder) build(ctx context.Context, t format.FileType, members []int, count func(object int) bool) (*format.File, error) {
	out := format.NewBuilder(t)
	for _, i := range members {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := b.addObject(out, i, count(i)); err != nil {
			return nil, err
		}
	}
	f := out.File()
	if len(f.Meshes) == 0 {
		return nil, nil
	}
	return f, nil
}

// addObject bakes one object: a single entity, or one per material named
// <name>_mat<slot> as the reference exporter does.
func (b *tileBuilder) addObject(out *format.Builder, i int, count bool) error {
	o := &b.objects[i]
	n := &b.scene.Nodes[o.node]
	src := &b.scene.Meshes[n.Mesh]
	written := 0
	for k := range src.Primitives {
		p := &src.Primitives[k]
		if len(p.Indices) == 0 {
			continue
		}
		plan := &b.plans[b.material(p)]
		m := meshOf(p, plan)
		m.Transform(&n.World)
		if m.Normals == nil {
			m.FlatNormals()
		}
		if m.Tangents == nil {
			m.GenerateTangents()
		}
		packed, err := m.Pack(plan.pack)
		if err != nil {
			return fmt.Errorf("%s: nodes[%d] (%s), meshes[%d].primitives[%d]: %w", b.scene.Source, n.Index, n.Name, src.Index, p.Slot, err)
		}
		if count {
			b.notes.add("degenerate-triangles", packed.Degenerate, i, o.name)
			b.notes.add("uv-clamped", packed.UVClamped, i, o.name)
		}
		if len(packed.Indices) == 0 {
			continue
		}
		written++
		suffix := ""
		if len(src.Primitives) > 1 {
			suffix = fmt.Sprintf("_mat%d", p.Slot)
		}
		err = out.AddObject(format.Object{
			Name: n.Name + suffix, MeshName: src.Name + suffix,
			Material: materialRecord(out, &b.materials[b.material(p)], b.staged),
			Vertices: packed.Vertices, Indices: packed.Indices,
		})
		if err != nil {
			return fmt.Errorf("%s: nodes[%d]: %w", b.scene.Source, n.Index, err)
		}
	}
	if written == 0 && count {
		b.notes.add("empty-object", 1, i, o.name)
	}
	return nil
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
