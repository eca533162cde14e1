package gltfscene

import (
	"fmt"
	"math"

	"github.com/qmuntal/gltf"
	"golang.org/x/sync/semaphore"
)

// meshRoom refuses a mesh that is larger than Options.MaxMeshBytes, and returns what waits
// until the others that are decoded leave room for one.
func (g *geometry) meshRoom(se *session) (wait func(mesh int) (free func(), err error), err error) {
	most := se.opts.MaxMeshBytes
	if most == 0 {
		return func(int) (func(), error) { return func() {}, nil }, nil
	}
	sizes := make([]int64, len(g.uses))
	for i := range sizes {
		sizes[i] = g.meshBytes(i)
		if err := se.fitsMesh(fmt.Sprintf("meshes[%d]", se.scene.Meshes[i].Index), "read", sizes[i]); err != nil {
			return nil, err
		}
	}
	sem := semaphore.NewWeighted(most)
	return func(i int) (func(), error) {
		if err := sem.Acquire(se.ctx, sizes[i]); err != nil {
			return nil, err
		}
		return func() { sem.Release(sizes[i]) }, nil
	}, nil
}

// fitsMesh refuses a mesh that takes more than Options.MaxMeshBytes while something is done.
func (se *session) fitsMesh(place, done string, size int64) error {
	most := se.opts.MaxMeshBytes
	if most == 0 || size <= most {
		return nil
	}
	const mb = 1e6
	return &Error{
		Place:  place,
		Reason: fmt.Sprintf("its geometry takes %.0f MB while it is %s, and %.0f MB can be had", math.Ceil(float64(size)/mb), done, math.Floor(float64(most)/mb)),
		Hint:   "divide the mesh, or raise Options.MaxMeshBytes",
		Err:    ErrTooLarge,
	}
}

// meshBytes is what the primitives of a mesh take at least, by their counts. Of vertices that
// several primitives share, each may use few, which are decoded alone.
func (g *geometry) meshBytes(mesh int) (n int64) {
	seen := map[jobID]bool{} // indices
	for i := range g.of(mesh) {
		pl := &g.of(mesh)[i]
		for _, id := range pl.attributes() {
			if *id == 0 {
				continue
			}
			if j := g.jobs.get(*id); j.uses == 1 {
				n += int64(min(j.count, pl.elements)) * elementBytes[j.class()]
			}
		}
		if pl.index == 0 || !seen[pl.index] || pl.mode != gltf.PrimitiveTriangles {
			seen[pl.index] = true
			n += 12 * pl.triangles()
		}
	}
	return n
}
