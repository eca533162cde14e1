package cook

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/untoldkit/untold/cook/appearance"
	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/internal/texture"
	"github.com/untoldkit/untold/format"
)

// tileBuilder turns objects into containers. It is read-only while tiles are
// built and so serves all workers.
type tileBuilder struct {
	scene        *gltfscene.Scene
	objects      []object
	staged       []texture.Staged    // by Scene.Images
	small        []texture.Staged    // the same for HLODs
	shrunk       []texture.Staged    // what atlases are drawn from
	images       smallImages         // their pixels
	looks        appearance.Textures // of materials, seen from afar
	lookSide     float64             // see Options
	baked        bakedImages
	nodeTextures nodeTextures
	materials    []gltfscene.Material
	plans        []uvPlan // by materials
	classes      []int    // by materials; nil: nothing is merged
	instances    bool
	garbage      *backstop
	out          *output // where containers are written
}

// newTileBuilder prepares what all tiles share. The material for primitives
// without one is appended behind the scene's.
func newTileBuilder(s *gltfscene.Scene, objects []object, staged []texture.Staged, o *Options, ns *notes) *tileBuilder {
	b := &tileBuilder{scene: s, objects: objects, staged: staged, instances: o.Instances, lookSide: o.lookSide, garbage: newBackstop(o.memory())}
	b.looks.Images = s.Images
	b.materials = append(append(b.materials, s.Materials...), defaultMaterial())
	for i := range b.materials {
		m := &b.materials[i]
		b.plans = append(b.plans, uvPlanOf(m, staged, ns))
		if isBlack(m) {
			ns.add("black-lifted", 1, i, m.Name)
		}
	}
	if o.Merge {
		b.classes = materialClasses(b.materials, staged)
	}
	return b
}

// material returns the index into b.materials for the material of a primitive.
func (b *tileBuilder) material(of int) int {
	if of < 0 {
		return len(b.materials) - 1
	}
	return of
}

// member is one object of a container with its parts.
type member struct {
	object int
	parts  []part
	cut    bool          // the parts are pieces of it
	notes  *[]memberNote // where they are counted here, else nil
}

// note counts something about a member.
func (m *member) note(code string, n int) {
	if m.notes != nil && n > 0 {
		*m.notes = append(*m.notes, memberNote{code, n, m.object})
	}
}

// tile is a built container.
type tile struct {
	file    *format.File
	present []int // the objects that have a triangle with an area
	order   orderStats
}

// build returns a container with the given members, in order, or nil when none
// of them has a triangle with an area. look, when set, sees what the container
// will hold.
func (b *tileBuilder) build(ctx context.Context, t format.FileType, members []int, get func(object int) (member, error), look func([]drawable)) (*tile, error) {
	all, present, err := b.gather(ctx, members, get)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	if look != nil {
		look(all)
	}
	out := &tile{present: present}
	out.file, err = b.write(t, all, b.staged, &out.order)
	return out, err
}

// gather packs the given members, in order, as a container is to hold them, and lists
// those that have a triangle with an area.
func (b *tileBuilder) gather(ctx context.Context, members []int, get func(object int) (member, error)) (all []drawable, present []int, err error) {
	shared := b.sharedMeshes(members)
	for _, i := range members {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		m, err := get(i)
		if err != nil {
			return nil, nil, err
		}
		if !m.cut && b.instanced(i, shared) {
			// Its parts are packed in the mesh's own space, once a mesh.
			if m.parts, err = shared[b.objects[i].placed[0].mesh].parts(b, i); err != nil {
				return nil, nil, err
			}
		}
		list, err := b.pack(&m)
		if err != nil {
			return nil, nil, err
		}
		if len(list) > 0 {
			present = append(present, i)
		}
		all = append(all, list...)
	}
	if len(all) > 0 && b.classes != nil {
		all = merge(all, b.classes)
	}
	return all, present, nil
}

// write lays the drawables out as a container.
func (b *tileBuilder) write(t format.FileType, all []drawable, staged []texture.Staged, order *orderStats) (*format.File, error) {
	out := format.NewBuilder(t)
	first := map[instanceKey]int{} // number of the object that holds the mesh
	for i := range all {
		d := &all[i]
		m, images := &b.materials[d.material], staged
		if d.atlas != nil {
			m, images = &d.atlas.material, d.atlas.staged
		}
		o := format.Object{Name: d.name, MeshName: d.meshName, Material: materialRecord(out, m, images), Transform: d.transform}
		of, again := first[d.instance]
		if again && d.instance.slot > 0 {
			if err := out.AddInstance(of, o); err != nil {
				return nil, fmt.Errorf("%s: %w", b.scene.Source, err)
			}
			continue
		}
		first[d.instance] = i
		order.add(d.packed.OptimizeOrder(), len(d.packed.Indices)/3)
		o.Vertices, o.Indices = d.packed.Vertices, d.packed.Indices
		if err := out.AddObject(o); err != nil {
			return nil, fmt.Errorf("%s: %w", b.scene.Source, err)
		}
		d.packed = nil
	}
	return out.File(), nil
}

// pack quantises a member's parts. An object with several materials becomes
// several entities named <name>_mat<slot>, as the reference exporter does it.
func (b *tileBuilder) pack(m *member) ([]drawable, error) {
	o := &b.objects[m.object]
	var out []drawable
	finest := o.finest()
	for k := range m.parts {
		p := &m.parts[k]
		n, src := &b.scene.Nodes[p.node], &b.scene.Meshes[p.mesh]
		packed, err := p.pack(b.plans[p.material].pack)
		if err != nil {
			return nil, fmt.Errorf("%s (%s), meshes[%d].primitives[%d]: %w", b.scene.NodePlace(p.node), n.Name, src.Index, p.slot, err)
		}
		m.note("normals-repaired", p.normals)
		m.note("tangents-repaired", p.tangents)
		m.note("degenerate-triangles", packed.Degenerate)
		m.note("uv-clamped", packed.UVClamped)
		if len(packed.Indices) == 0 {
			continue
		}
		suffix := ""
		if len(src.Parts) > 1 {
			suffix = fmt.Sprintf("_mat%d", p.slot)
		}
		name := n.Name + suffix
		if o.group > 0 {
			// The runtime tells the levels of a group by this ending.
			name = fmt.Sprintf("%s%s_LOD%d", b.scene.LODs[o.group-1].Name, suffix, p.level)
		}
		d := drawable{level: p.level - finest, name: name, meshName: src.Name + suffix, material: p.material, packed: packed, identity: o.identity}
		if p.instance != nil {
			d.identity, d.instance, d.transform = true, instanceKey{p.mesh, p.slot + 1}, transformOf(&n.World)
		}
		out = append(out, d)
	}
	if len(out) == 0 && !m.cut {
		m.note("empty-object", 1)
	}
	return out, nil
}

// keepsIdentity reports whether an object opts out of merging: its name starts
// with NM_, or the extra untold_no_merge is true, which some tools write as 1.
func keepsIdentity(name string, extras json.RawMessage) bool {
	if strings.HasPrefix(name, "NM_") {
		return true
	}
	return readExtras(extras).flag("untold_no_merge")
}
