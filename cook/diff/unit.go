package diff

import (
	"crypto/sha256"
	"math"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/internal/geom"
)

// unit is a mesh record in its place: local geometry, a matrix and a material.
type unit struct {
	record    int
	entity    int // -1 for none
	name      string
	owner     string // the entity's name
	material  string
	vertices  []byte
	indices   []byte
	indexType vertex.IndexType
	hash      [sha256.Size]byte // of the local geometry
	world     geom.Mat4
	triangles int64
	partner   int       // the unit of the other side that it is compared with, -1
	settled   bool      // as a whole, and not one triangle at a time
	count     Triangles // what became of its triangles; what both sides have is counted in A
}

// maxOverlap bounds the bytes that are hashed, as a multiple of what there is.
const maxOverlap = 4

// units lists the mesh records of a container.
func (c *content) units() ([]unit, error) {
	type span struct {
		v, vn, i, in uint64
		t            vertex.IndexType
	}
	entities := c.r.Entities()
	byID := make(map[uint32]int, len(entities))
	for i := len(entities) - 1; i >= 0; i-- {
		byID[entities[i].ID] = i
	}
	worlds := c.r.WorldTransforms()
	known := map[span][sha256.Size]byte{}
	var work uint64
	out := make([]unit, len(c.r.Meshes()))
	for i := range out {
		m := &c.r.Meshes()[i]
		u := &out[i]
		*u = unit{
			record: i, entity: -1, name: c.r.String(m.NameOffset), indexType: m.IndexType,
			world: geom.Identity(), triangles: int64(m.IndexCount / 3), partner: -1,
		}
		if k, ok := byID[m.EntityID]; ok {
			u.entity, u.owner, u.world = k, c.r.String(entities[k].NameOffset), geom.Mat4(worlds[k])
		}
		if m.Material != records.NoIndex {
			u.material = materialName(c.r, m.Material)
		}
		u.vertices = c.geo.Vertices[m.VertexOffset:][:m.VertexSize]
		u.indices = c.geo.Indices[m.IndexOffset:][:m.IndexSize]
		k := span{m.VertexOffset, m.VertexSize, m.IndexOffset, m.IndexSize, m.IndexType}
		sum, ok := known[k]
		if !ok {
			if work += m.VertexSize + m.IndexSize; work > maxOverlap*uint64(len(c.geo.Vertices)+len(c.geo.Indices))+1<<20 {
				return nil, ErrOverlap
			}
			h := sha256.New()
			h.Write([]byte{byte(m.IndexType)})
			h.Write(u.vertices)
			h.Write(u.indices)
			h.Sum(sum[:0])
			known[k] = sum
		}
		u.hash = sum
	}
	return out, nil
}

// corner is a corner of a triangle in the world.
type corner struct {
	at [3]float64
	v  vertex.Vertex
}

// corners returns the corners of triangle k.
func (u *unit) corners(k int) (out [3]corner) {
	identity := u.world == geom.Identity()
	for i := range out {
		v := vertex.Get(u.vertices[int(vertex.IndexAt(u.indices, u.indexType, 3*k+i))*vertex.Size:])
		p := geom.FromF32(v.Position)
		if !identity {
			p = place(&u.world, p)
		}
		for a := range p {
			p[a] += 0 // no negative zero
		}
		out[i] = corner{p, v}
	}
	return out
}

// place is the product of a matrix and a point, without fused operations.
func place(m *geom.Mat4, p geom.Vec3) (q geom.Vec3) {
	for r := range q {
		q[r] = float64(m[r]*p[0]) + float64(m[4+r]*p[1]) + float64(m[8+r]*p[2]) + m[12+r]
	}
	return q
}

// shift returns the vector between two matrices that differ by a translation
// alone.
func shift(a, b *geom.Mat4) (by geom.Vec3, ok bool) {
	for i := range a {
		switch {
		case i >= 12 && i < 15:
			by[i-12] = b[i] - a[i]
		case a[i] != b[i]:
			return by, false
		}
	}
	return by, true
}

// box returns the box of the local geometry, whatever the record says.
func (u *unit) box() (b records.Bounds) {
	for i := 0; i < len(u.vertices); i += vertex.Size {
		p := vertex.Get(u.vertices[i:]).Position
		if i == 0 {
			b = records.Bounds{Min: p, Max: p}
		}
		b = b.Union(records.Bounds{Min: p, Max: p})
	}
	return b
}

// drift returns how far the corners of a box lie apart under two matrices: no point
// inside lies farther.
func drift(box records.Bounds, a, b *geom.Mat4) (far float64) {
	for i := range 8 {
		var p geom.Vec3
		for k := range p {
			p[k] = float64(box.Min[k])
			if i>>k&1 == 1 {
				p[k] = float64(box.Max[k])
			}
		}
		x, y := place(a, p), place(b, p)
		for k := range x {
			d := math.Abs(x[k] - y[k])
			if !(d <= far) { // also what is no number
				far = d
			}
		}
	}
	return far
}
