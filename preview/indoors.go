package preview

import (
	"math"
	"path/filepath"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest/payloadpath"
	"github.com/untoldkit/untold/preview/internal/camera"
)

// maxPlanTriangles bounds the geometry that is read for the start pose.
const maxPlanTriangles = 600_000

// indoors finds a place to stand on the ground floor from its geometry. Without
// readable geometry there is none; the scene is shown from outside then.
func indoors(look *camera.Scene, open *Loaded) (camera.Pose, bool) {
	dir := open.Source.Base
	if dir == "" {
		dir = filepath.Dir(open.Source.Path)
	}
	var list []camera.Triangle
	m := open.Source.Manifest
	for i := range m.Tiles {
		t := &m.Tiles[i]
		if !t.Interior || !look.Floor.Contains(t.Bounds.Box(), 1e-3) {
			continue
		}
		list = appendTriangles(list, dir, t.Path)
		if len(list) >= maxPlanTriangles {
			break
		}
	}
	// What lies outside the outer shell is no room.
	area := look.Floor
	for _, axis := range [...]int{0, 2} {
		area.Min[axis], area.Max[axis] = max(area.Min[axis], look.Zone.Min[axis]), min(area.Max[axis], look.Zone.Max[axis])
	}
	return camera.Stand(list, area, 80*math.Pi/180)
}

// appendTriangles reads a payload; one that cannot be read has none.
func appendTriangles(list []camera.Triangle, dir, rel string) []camera.Triangle {
	f, err := payloadpath.Open(dir, rel)
	if err != nil {
		return list
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return list
	}
	r, err := format.NewReader(f, info.Size())
	if err != nil {
		return list
	}
	worlds := worldsOf(r)
	for i, mesh := range r.Meshes() {
		if len(list) >= maxPlanTriangles {
			break
		}
		vertices, err := r.MeshVertices(i, nil)
		if err != nil {
			return list
		}
		raw, err := r.MeshIndices(i, nil)
		if err != nil {
			return list
		}
		world, ok := worlds[mesh.EntityID]
		if !ok {
			world = geom.Identity()
		}
		indices := vertex.Indices(raw, mesh.IndexType)
		at := func(k uint32) geom.Vec3 {
			v := vertex.Get(vertices[int(k)*vertex.Size:])
			return world.Point(geom.FromF32(v.Position))
		}
		count := uint32(len(vertices) / vertex.Size)
		for k := 0; k+2 < len(indices) && len(list) < maxPlanTriangles; k += 3 {
			if a, b, c := indices[k], indices[k+1], indices[k+2]; max(a, b, c) < count {
				list = append(list, camera.Triangle{at(a), at(b), at(c)})
			}
		}
	}
	return list
}

// worldsOf returns the transforms of a payload's entities to the world, by id.
func worldsOf(r *format.Reader) map[uint32]geom.Mat4 {
	out := map[uint32]geom.Mat4{}
	entities := r.Entities()
	for i, m := range r.WorldTransforms() {
		out[entities[i].ID] = m
	}
	return out
}
