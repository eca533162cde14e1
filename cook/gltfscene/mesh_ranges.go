package gltfscene

import (
	"fmt"
	"math"

	"github.com/qmuntal/gltf"
)

// Range is the numbers from First to before End.
type Range struct{ First, End int }

// Ranged reports whether GeometryOf reads of Meshes[mesh].Parts[part] no more than it is
// asked for: a list of triangles that is stored as it is.
func (s *Scene) Ranged(mesh, part int) bool {
	if s.joined != nil {
		k, i := s.joined.of(mesh)
		return s.joined.parts[k].Ranged(i, part)
	}
	if s.geometry == nil {
		return false
	}
	pl := s.geometry.planOf(mesh, s.Meshes[mesh].Parts[part].Slot)
	return pl != nil && s.geometry.ranged(pl)
}

// GeometryOf decodes some triangles of Meshes[mesh].Parts[part], whose numbers lie in
// ranges: these ascend and do not overlap. It has the vertices that they use alone, in the
// order of the file, and reads of the files no more than these and what lies close between
// them. Without ranges it is the primitive as Geometry returns it. What is decoded is not
// held against a plan. Slices must not be modified. It is safe for use by several
// goroutines; the error is an *Error.
func (s *Scene) GeometryOf(mesh, part int, ranges []Range) (p Primitive, err error) {
	if s.joined != nil {
		k, i := s.joined.of(mesh)
		if p, err = s.joined.parts[k].GeometryOf(i, part, ranges); err == nil && p.Material >= 0 {
			p.Material += s.joined.materials[k]
		}
		return p, err
	}
	m := &s.Meshes[mesh]
	if s.geometry == nil && ranges == nil {
		return m.Primitives[part], nil
	}
	foreign := func() error { return named(s.Source, at(fmt.Sprintf("meshes[%d]", m.Index), changed(s.Source))) }
	var pl *plan
	if s.geometry != nil {
		pl = s.geometry.planOf(mesh, m.Parts[part].Slot)
	}
	switch {
	case pl == nil, ranges != nil && !s.geometry.ranged(pl):
		return p, foreign()
	case ranges == nil:
		p, _, err = s.geometry.primitive(pl)
	default:
		p, err = s.geometry.triangles(pl, ranges)
	}
	if err != nil {
		return p, named(s.Source, err)
	}
	p.Material = m.Parts[part].Material
	if ranges == nil && p.part() != m.Parts[part] {
		return p, foreign()
	}
	return p, nil
}

// of returns which part a mesh is of, and its number there.
func (j *joined) of(mesh int) (k, i int) {
	k = part(j.meshes, mesh)
	return k, mesh - j.meshes[k]
}

// planOf returns the plan of a primitive; nil if there is none.
func (g *geometry) planOf(mesh, slot int) *plan {
	list := g.of(mesh)
	for i := range list {
		if int(list[i].slot) == slot {
			return &list[i]
		}
	}
	return nil
}

// ranged is Scene.Ranged.
func (g *geometry) ranged(pl *plan) bool {
	if pl.mode != gltf.PrimitiveTriangles {
		return false
	}
	ids := pl.attributes()
	for _, id := range append(ids[:], &pl.index) {
		if *id == 0 {
			continue
		}
		j := g.jobs.get(*id)
		if j.store == 0 || j.what().sparse != nil {
			return false
		}
		switch g.jobs.stores[j.store].(type) {
		case *inFile, *external:
		default:
			return false
		}
	}
	return true
}

// triangles decodes some triangles of a plan that is ranged.
func (g *geometry) triangles(pl *plan, ranges []Range) (p Primitive, err error) {
	p.Slot = int(pl.slot)
	least, most, last := uint32(math.MaxUint32), uint32(0), 0
	for _, r := range ranges {
		if r.First < last || r.End <= r.First || r.End > pl.elements/3 {
			return p, malformed(pl.place(g), "triangles %d to %d of %d are asked for", r.First, r.End, pl.elements/3)
		}
		last = r.End
	}
	for i := 0; i < len(ranges); {
		r := ranges[i]
		for i++; i < len(ranges) && ranges[i].First == r.End; i++ {
			r.End = ranges[i].End
		}
		if p.Indices, err = g.indices(p.Indices, pl, 3*r.First, 3*r.End); err != nil {
			return p, err
		}
	}
	for _, v := range p.Indices {
		least, most = min(least, v), max(most, v)
	}
	if int64(most) >= int64(pl.count) {
		return p, malformed(pl.place(g), "an index is %d, but there are %d vertices", most, pl.count)
	}
	if len(p.Indices) == 0 {
		return p, nil
	}
	number := make([]uint32, most-least+1) // by vertex: its number in p, plus one
	for _, v := range p.Indices {
		number[v-least] = 1
	}
	var vertices []uint32
	for i := range number {
		if number[i] > 0 {
			vertices = append(vertices, least+uint32(i))
			number[i] = uint32(len(vertices))
		}
	}
	for i, v := range p.Indices {
		p.Indices[i] = number[v-least] - 1
	}
	return p, g.pick(&p, pl, vertices)
}

// place says where the indices of a primitive are.
func (pl *plan) place(g *geometry) string {
	if pl.index != 0 {
		return g.jobs.place(g.jobs.get(pl.index))
	}
	return g.jobs.place(g.jobs.get(pl.position))
}

// indices appends the indices of a primitive from first to before last.
func (g *geometry) indices(to []uint32, pl *plan, first, last int) ([]uint32, error) {
	n := len(to)
	to = append(to, make([]uint32, last-first)...)
	if pl.index == 0 {
		for i := first; i < last; i++ {
			to[n+i-first] = uint32(i)
		}
		return to, nil
	}
	j := g.jobs.get(pl.index)
	a := g.jobs.unpack(j)
	err := a.each(first, last, func(i, count int, data []byte) { a.readIndices(to[n+i-first:][:count], data) })
	if err != nil {
		return nil, at(g.jobs.place(j), err)
	}
	return to, nil
}

// closeVertices is how far apart vertices are at most that are read in one go with those
// between them, and stepVertices is how many are decoded at a time.
const (
	closeVertices = 8
	stepVertices  = 1 << 15
)

// pick decodes what some vertices have, whose numbers ascend.
func (g *geometry) pick(p *Primitive, pl *plan, vertices []uint32) error {
	ids := pl.attributes()
	var whole [len(ids)]*accessor
	for i, id := range ids {
		if *id != 0 {
			whole[i] = g.jobs.unpack(g.jobs.get(*id))
		}
	}
	for from := 0; from < len(vertices); {
		to := from + 1
		for to < len(vertices) && vertices[to]-vertices[to-1] <= closeVertices && vertices[to]-vertices[from] < stepVertices {
			to++
		}
		some, first := vertices[from:to], vertices[from]
		n := int(some[len(some)-1]-first) + 1
		from = to
		var accs [len(ids)]*accessor
		for i, a := range whole {
			if a != nil {
				accs[i] = a.part(int(first), n)
			}
		}
		readTogether(accs[:])
		for i, a := range accs {
			if a == nil {
				continue
			}
			d, err := g.jobs.decode(g.jobs.get(*ids[i]), a, 0, n)
			if err != nil {
				return err
			}
			switch i {
			case 0:
				p.Positions = appendSome(p.Positions, d.vec3, some, first)
			case 1:
				p.Normals = appendSome(p.Normals, d.vec3, some, first)
			case 2:
				p.Tangents = appendSome(p.Tangents, d.vec4, some, first)
			case 3, 4:
				p.UV[i-3] = appendSome(p.UV[i-3], d.vec2, some, first)
			case 5:
				p.Colors = appendSome(p.Colors, d.vec4, some, first)
			}
		}
	}
	return nil
}

// appendSome appends elements of a list that starts at the number first.
func appendSome[T any](to, list []T, numbers []uint32, first uint32) []T {
	for _, v := range numbers {
		to = append(to, list[v-first])
	}
	return to
}

// part is n elements of an accessor that lies in a store and is not sparse.
func (a *accessor) part(first, n int) *accessor {
	b := *a
	b.count = n
	b.at = a.at.part(first*a.stride, (n-1)*a.stride+a.comps*componentSize(a.ct))
	return &b
}
