package render

import (
	"time"

	"github.com/untoldkit/untold/format/vertex/compact"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/preview/internal/gpu"
	"github.com/untoldkit/untold/runtime/payload"
)

// rep is a representation that was handed over for upload.
type rep struct {
	key       payload.Key
	serial    uint64 // unique
	box       geom.Box
	meshes    []mesh
	objects   []geom.Mat4
	bundles   []bundle
	materials span
	sets      []*textureSet // by material
	streamed  bool          // its textures are
	whole     mesh          // of a batch; meshes are its ranges in this frame
	cost      int           // of drawing it into a shadow map
	casters   [maxCascades]caster

	// Until it is resident:
	asset *payload.Asset
	made  *Packed
	sent  int // bytes of the bundles, of each vertices first

	resident, gone bool
	textured       bool          // nothing waits for its textures any more
	askedAt        time.Duration // since when something does; 0: nothing has yet

	// Of the frame that is being collected:
	slots []objectSlot // by object, 0 for the one that stands for the scene, and bundle
}

// objectSlot is where an object stands in the frame that it was collected in.
type objectSlot struct {
	stamp uint64 // number of the frame
	slot  int32
}

// indexUnit is the grain of index memory in bytes.
const indexUnit = 16

// page is one vertex buffer, one index buffer and the vertex array over them.
type page struct {
	id            int
	layout        compact.Layout
	vertices      freeList // in vertices
	indices       freeList // in units of indexUnit
	vao           gpu.VertexArray
	vertex, index gpu.Buffer
	bytes         int
}

// place is where a representation's geometry lies.
type place struct {
	page     *page
	vertices span
	indices  span
}

func (g *page) allocate(nv, ni int) (place, bool) {
	v, ok := g.vertices.alloc(nv)
	if !ok {
		return place{}, false
	}
	i, ok := g.indices.alloc(ni)
	if !ok {
		g.vertices.release(v)
		return place{}, false
	}
	return place{g, v, i}, true
}

func (a *place) bytes() int64 {
	return int64(a.vertices.n*a.page.layout.Size()) + int64(a.indices.n)*indexUnit
}
