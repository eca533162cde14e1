package format

import (
	"math"

	"github.com/untoldkit/untold/format/records"
)

// WorldTransforms returns the matrix of every entity, in the order of the
// table, column-major, from its own space to the world: root transform * parents
// * local. It is the identity for what is on or below a cycle of parents, or is
// moved beyond what numbers hold.
func (r *Reader) WorldTransforms() [][16]float64 {
	worlds := r.worldTransforms()
	out := make([][16]float64, len(worlds))
	for i := range worlds {
		out[i] = worlds[i].m
		if !worlds[i].ok {
			out[i] = widen(&identity)
		}
	}
	return out
}

func (r *Reader) worldTransforms() []worldTransform {
	p := parser{header: r.p.header, entities: r.p.entities, byID: make(map[uint32]int, len(r.p.entities))}
	for i := range p.entities {
		if _, dup := p.byID[p.entities[i].ID]; !dup {
			p.byID[p.entities[i].ID] = i
		}
	}
	return p.worldTransforms()
}

// Placed returns the entities with the header's root transform multiplied into
// those that have no parent, so that transforms along the hierarchy alone lead
// to the world, and the world box of the geometry. In files without a root
// transform these are the table and the header's box. Else the world boxes are
// those of the meshes' boxes, moved: writers do not agree whether the stored ones
// contain the root transform. The slice must not be changed.
func (r *Reader) Placed() ([]records.Entity, records.Bounds) {
	root := r.p.header.RootTransform
	if root == identity || !finite(root[:]...) {
		return r.p.entities, r.p.header.WorldBounds
	}
	out := append([]records.Entity(nil), r.p.entities...)
	worlds := r.worldTransforms()
	var all records.Bounds
	some := false
	for i := range out {
		e := &out[i]
		if e.ParentID == records.NoIndex {
			e.LocalTransform = placed(&root, &e.LocalTransform)
		}
		if box, ok := r.placedBox(e, &worlds[i]); ok {
			e.WorldBounds = box
		}
		if e.MeshCount == 0 || !usableBox(e.WorldBounds) {
			continue
		}
		if some {
			all = all.Union(e.WorldBounds)
		} else {
			all, some = e.WorldBounds, true
		}
	}
	if !some {
		all = r.p.header.WorldBounds
	}
	return out, all
}

// placed returns root * local.
func placed(root, local *[16]float32) (out [16]float32) {
	if *local == identity {
		return *root
	}
	m, l := widen(root), widen(local)
	m = m.mul(&l)
	for i, v := range m {
		out[i] = float32(v)
	}
	return out
}

// placedBox returns the world box of an entity's meshes as far as it can be
// told from their records.
func (r *Reader) placedBox(e *records.Entity, w *worldTransform) (box records.Bounds, ok bool) {
	from := min(uint64(e.FirstMesh), uint64(len(r.p.meshes)))
	to := min(from+uint64(e.MeshCount), uint64(len(r.p.meshes)))
	if from == to || !w.ok {
		return records.Bounds{}, false
	}
	var local records.Bounds
	for i, m := range r.p.meshes[from:to] {
		if !usableBox(m.LocalBounds) {
			return records.Bounds{}, false
		}
		if local = local.Union(m.LocalBounds); i == 0 {
			local = m.LocalBounds
		}
	}
	box = movedBox(&local, &w.m)
	return box, usableBox(box)
}

// movedBox returns the box of a box that is moved by m.
func movedBox(b *records.Bounds, m *matrix) (out records.Bounds) {
	for r := range 3 {
		lo, hi := m[12+r], m[12+r]
		for c := range 3 {
			x, y := float64(m[4*c+r]*float64(b.Min[c])), float64(m[4*c+r]*float64(b.Max[c]))
			lo, hi = lo+math.Min(x, y), hi+math.Max(x, y)
		}
		out.Min[r], out.Max[r] = float32(lo), float32(hi)
	}
	return out
}
