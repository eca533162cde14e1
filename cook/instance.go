package cook

import (
	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/mesh"
	"github.com/untoldkit/untold/internal/geom"
)

// instanceKey names a primitive that a container stores once: the mesh and the
// primitive's slot + 1, so that the zero value names none.
type instanceKey struct{ mesh, slot int }

// sharedMesh is a mesh that several objects of a container use.
type sharedMesh struct {
	uses  int
	baked []part // in the mesh's own space, made at the first use
}

// instancePart holds the packed form that all uses share.
type instancePart struct{ packed *mesh.Packed }

// sharedMeshes counts the uses of meshes among the members of a container.
func (b *tileBuilder) sharedMeshes(members []int) map[int]*sharedMesh {
	if !b.instances {
		return nil
	}
	out := map[int]*sharedMesh{}
	for _, i := range members {
		if !canInstance(b.scene, &b.objects[i]) {
			continue
		}
		m := b.objects[i].placed[0].mesh
		if out[m] == nil {
			out[m] = &sharedMesh{}
		}
		out[m].uses++
	}
	return out
}

// canInstance reports whether an object may carry its transform in its entity:
// mirrored ones may not, because a renderer would cull their front faces.
func canInstance(s *gltfscene.Scene, o *object) bool {
	return o.group == 0 && len(o.placed) == 1 && s.Nodes[o.node].World.Det3() > 0
}

// instanced reports whether the object is one of several uses of its mesh.
func (b *tileBuilder) instanced(i int, shared map[int]*sharedMesh) bool {
	if !b.instances || !canInstance(b.scene, &b.objects[i]) {
		return false
	}
	m := shared[b.objects[i].placed[0].mesh]
	return m != nil && m.uses > 1
}

// parts returns the mesh's parts in its own space for one of its uses.
func (s *sharedMesh) parts(b *tileBuilder, object int) ([]part, error) {
	at := b.objects[object].placed[0]
	if s.baked == nil {
		id := geom.Identity()
		var err error
		if s.baked, err = b.bakeMesh(at, &id); err != nil {
			return nil, err
		}
		for k := range s.baked {
			s.baked[k].instance = &instancePart{}
		}
	}
	out := append([]part(nil), s.baked...)
	for k := range out {
		out[k].placed = at
	}
	return out, nil
}

// transformOf rounds a world matrix for an entity.
func transformOf(m *geom.Mat4) [16]float32 {
	var out [16]float32
	for i, v := range m {
		out[i] = float32(v)
	}
	return out
}

// orderStats sums the vertex cache figures of many meshes, weighted by their
// triangles.
type orderStats struct {
	Triangles  int
	ACMRBefore float64 // vertices transformed per triangle, FIFO cache of 16
	ACMRAfter  float64
	ATVRBefore float64 // the same per vertex; 1 is ideal
	ATVRAfter  float64
}

func (s *orderStats) add(o mesh.OrderStats, triangles int) {
	s.merge(orderStats{triangles, o.Before.ACMR, o.After.ACMR, o.Before.ATVR, o.After.ATVR})
}

// merge adds the figures of o.
func (s *orderStats) merge(o orderStats) {
	n := s.Triangles + o.Triangles
	if n == 0 {
		return
	}
	mix := func(a *float64, b float64) {
		*a = (float64(*a*float64(s.Triangles)) + float64(b*float64(o.Triangles))) / float64(n)
	}
	mix(&s.ACMRBefore, o.ACMRBefore)
	mix(&s.ACMRAfter, o.ACMRAfter)
	mix(&s.ATVRBefore, o.ATVRBefore)
	mix(&s.ATVRAfter, o.ATVRAfter)
	s.Triangles = n
}
