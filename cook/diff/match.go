package diff

import (
	"cmp"
	"crypto/sha256"
	"slices"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/internal/geom"
)

// match finds what became of the triangles of two containers: whole meshes first,
// then triangles with the same corners, then what has moved.
type match struct {
	content   [2]*content
	units     [2][]unit
	tolerance float64
	moves     map[moveKey]int64
	total     Triangles
	parents   [2]map[uint32]string // names of entities by their ids
}

// moveKey is a translation, rounded.
type moveKey struct {
	by     [3]float64
	turned bool
}

func newMatch(a, b *content, tolerance float64) *match {
	return &match{content: [2]*content{a, b}, tolerance: tolerance, moves: map[moveKey]int64{}}
}

func (m *match) run() error {
	for s := range m.units {
		var err error
		if m.units[s], err = m.content[s].units(); err != nil {
			return &sideError{s, err}
		}
	}
	m.sameUnits()
	m.partners()
	m.movedUnits()
	m.oneByOne()
	m.total.Moves = m.listMoves()
	return nil
}

// sameUnits settles the meshes that both sides have.
func (m *match) sameUnits() {
	type key struct {
		hash     [sha256.Size]byte
		world    geom.Mat4
		material string
	}
	left := map[key][]int{}
	for i := range m.units[0] {
		u := &m.units[0][i]
		k := key{u.hash, u.world, u.material}
		left[k] = append(left[k], i)
	}
	for j := range m.units[1] {
		u := &m.units[1][j]
		k := key{u.hash, u.world, u.material}
		l := left[k]
		if len(l) == 0 {
			continue
		}
		// A namesake, if there is one among the first.
		at := max(slices.IndexFunc(l[:min(len(l), 8)], func(i int) bool { return m.units[0][i].owner == u.owner }), 0)
		m.pair(l[at], j)
		left[k] = slices.Delete(l, at, at+1)
		m.same(j)
	}
}

// same settles a mesh of B and its partner as the same.
func (m *match) same(j int) {
	v := &m.units[1][j]
	u := &m.units[0][v.partner]
	u.settled, v.settled = true, true
	u.count.Same = u.triangles
	m.total.Same += u.triangles
}

func (m *match) pair(i, j int) {
	m.units[0][i].partner, m.units[1][j].partner = j, i
}

// partners pairs the other meshes: by all names, then by the material, in whose
// place all of a tile is one mesh, then by the name of the mesh.
func (m *match) partners() {
	for _, name := range []func(u *unit) string{
		func(u *unit) string { return string(u.hash[:]) + u.owner + "\x00" + u.name + "\x00" + u.material },
		func(u *unit) string { return string(u.hash[:]) + u.material },
		func(u *unit) string { return u.owner + "\x00" + u.name + "\x00" + u.material },
		func(u *unit) string { return u.material },
		func(u *unit) string { return u.owner + "\x00" + u.name },
		func(u *unit) string { return u.name },
	} {
		left := map[string][]int{}
		for i := range m.units[0] {
			if u := &m.units[0][i]; u.partner < 0 {
				left[name(u)] = append(left[name(u)], i)
			}
		}
		if len(left) == 0 {
			return
		}
		for j := range m.units[1] {
			u := &m.units[1][j]
			if u.partner >= 0 {
				continue
			}
			if l := left[name(u)]; len(l) > 0 {
				left[name(u)] = l[1:]
				m.pair(l[0], j)
			}
		}
	}
}

// movedUnits settles the meshes that have the same geometry in another place. The
// others are looked at one triangle at a time.
func (m *match) movedUnits() {
	for i := range m.units[0] {
		u := &m.units[0][i]
		if u.settled || u.partner < 0 {
			continue
		}
		v := &m.units[1][u.partner]
		if u.hash != v.hash || u.material != v.material {
			continue
		}
		if m.tolerance > 0 && drift(u.box(), &u.world, &v.world) <= m.tolerance {
			m.same(u.partner)
			continue
		}
		u.settled, v.settled = true, true
		u.count.Moved = u.triangles
		m.total.Moved += u.triangles
		by, ok := shift(&u.world, &v.world)
		m.noteMove(by, !ok, u.triangles)
	}
}

// noteMove counts triangles that moved. What moved by no number is taken for turned.
func (m *match) noteMove(by geom.Vec3, turned bool, n int64) {
	for _, x := range by {
		turned = turned || x-x != 0
	}
	k := moveKey{turned: turned}
	if !turned {
		for a := range by {
			k.by[a] = geom.Round(by[a], moveDecimals) + 0
		}
	}
	m.moves[k] += n
}

// moveDecimals is how exactly a translation is told, in decimals of a metre.
const moveDecimals = 4

func (m *match) listMoves() (out []Move) {
	for k, n := range m.moves {
		v := Move{Triangles: n}
		if !k.turned {
			by := k.by
			v.By = &by
		}
		out = append(out, v)
	}
	slices.SortFunc(out, compareMoves)
	return out
}

// compareMoves orders by triangles, then by length, so that a mirrored comparison
// has the same order; the vector decides last.
func compareMoves(x, y Move) int {
	if c := cmp.Compare(y.Triangles, x.Triangles); c != 0 {
		return c
	}
	if x.By == nil || y.By == nil {
		switch {
		case x.By != nil:
			return -1
		case y.By != nil:
			return 1
		}
		return 0
	}
	l := func(v *[3]float64) float64 { return geom.Vec3(*v).Len() }
	return cmp.Or(cmp.Compare(l(x.By), l(y.By)), slices.Compare(x.By[:], y.By[:]))
}

// The attributes in which two triangles with the same corners can differ.
const (
	otherNormals = 1 << iota
	otherTangents
	otherUV0
	otherUV1
	otherColors
	otherMaterial
	otherWinding
)

// differences compares the attributes of two triangles, corner by corner in the
// orders given.
func differences(a, b *[3]corner, materials bool) (mask int) {
	for i := range a {
		mask |= vertexDifferences(&a[i].v, &b[i].v)
	}
	if materials {
		mask |= otherMaterial
	}
	return mask
}

func vertexDifferences(v, w *vertex.Vertex) (mask int) {
	if v.Normal != w.Normal {
		mask |= otherNormals
	}
	if v.Tangent != w.Tangent {
		mask |= otherTangents
	}
	if v.UV0 != w.UV0 {
		mask |= otherUV0
	}
	if v.UV1 != w.UV1 {
		mask |= otherUV1
	}
	if v.Color != w.Color {
		mask |= otherColors
	}
	return mask
}

// note counts a changed triangle by what differs.
func (a *Attributes) note(mask int) {
	for _, x := range []struct {
		bit int
		n   *int64
	}{
		{otherNormals, &a.Normals},
		{otherTangents, &a.Tangents},
		{otherUV0, &a.UV0},
		{otherUV1, &a.UV1},
		{otherColors, &a.Colors},
		{otherMaterial, &a.Material},
		{otherWinding, &a.Winding},
	} {
		if mask&x.bit != 0 {
			*x.n++
		}
	}
}

// records lists the meshes and entities that differ.
func (m *match) records() (meshes, entities []Record) {
	a, b := m.units[0], m.units[1]
	for i := range a {
		u := &a[i]
		if u.partner < 0 {
			meshes = append(meshes, Record{Name: u.name, Change: Removed, A: u.record, B: -1, Entity: u.owner, Material: u.material, Triangles: u.counted()})
			continue
		}
		v := &b[u.partner]
		count := u.count
		count.Added, count.From = v.count.Added, v.count.From
		count.Unmatched = count.Unmatched || v.count.Unmatched
		fields := compareValues(m.meshValues(0, u), m.meshValues(1, v), m.tolerance)
		if len(fields) > 0 || count.differ() {
			r := Record{Name: v.name, Change: Changed, A: u.record, B: v.record, Entity: v.owner, Material: v.material, Fields: fields}
			if count.differ() {
				r.Triangles = &count
			}
			meshes = append(meshes, r)
		}
	}
	for j := range b {
		if v := &b[j]; v.partner < 0 {
			meshes = append(meshes, Record{Name: v.name, Change: Added, A: -1, B: v.record, Entity: v.owner, Material: v.material, Triangles: v.counted()})
		}
	}
	sortRecords(meshes)
	return meshes, m.entities()
}

func (u *unit) counted() *Triangles {
	c := u.count
	return &c
}

// meshValues are the fields of a mesh in its place that are no offsets.
func (m *match) meshValues(side int, u *unit) []value {
	r := &m.content[side].r.Meshes()[u.record]
	out := []value{
		{"name", u.name},
		{"material", u.material},
		{"vertex_count", r.VertexCount},
		{"index_count", r.IndexCount},
		{"index_type", r.IndexType.String()},
		{"flags", r.Flags},
		{"bounds.min", numbers(r.LocalBounds.Min[:])},
		{"bounds.max", numbers(r.LocalBounds.Max[:])},
	}
	return out
}

// entities compares the entity tables. Entities are paired as their meshes are, so
// that one that has another name is no other entity; then by name.
func (m *match) entities() []Record {
	for s := range m.parents {
		r := m.content[s].r
		m.parents[s] = make(map[uint32]string, len(r.Entities()))
		for i := range r.Entities() {
			m.parents[s][r.Entities()[i].ID] = r.String(r.Entities()[i].NameOffset)
		}
	}
	a, b := m.content[0].r.Entities(), m.content[1].r.Entities()
	text := func(s int, off uint32) string { return m.content[s].r.String(off) }
	partner, taken := make([]int, len(a)), make([]bool, len(b))
	for i := range partner {
		partner[i] = -1
	}
	for i := range m.units[0] {
		u := &m.units[0][i]
		if u.partner < 0 || u.entity < 0 || partner[u.entity] >= 0 {
			continue
		}
		if k := m.units[1][u.partner].entity; k >= 0 && !taken[k] {
			partner[u.entity], taken[k] = k, true
		}
	}
	left := map[string][]int{}
	for j := range b {
		if !taken[j] {
			n := text(1, b[j].NameOffset)
			left[n] = append(left[n], j)
		}
	}
	var out []Record
	for i := range a {
		name := text(0, a[i].NameOffset)
		if partner[i] < 0 {
			if l := left[name]; len(l) > 0 {
				partner[i], taken[l[0]] = l[0], true
				left[name] = l[1:]
			}
		}
		j := partner[i]
		if j < 0 {
			out = append(out, Record{Name: name, Change: Removed, A: i, B: -1})
			continue
		}
		x, y := m.entityValues(0, i), m.entityValues(1, j)
		if m.tolerance > 0 && entityDrift(&a[i], &b[j]) <= m.tolerance {
			y[localTransform] = x[localTransform]
		}
		if f := compareValues(x, y, m.tolerance); len(f) > 0 {
			out = append(out, Record{Name: text(1, b[j].NameOffset), Change: Changed, A: i, B: j, Fields: f})
		}
	}
	for j := range b {
		if !taken[j] {
			out = append(out, Record{Name: text(1, b[j].NameOffset), Change: Added, A: -1, B: j})
		}
	}
	sortRecords(out)
	return out
}

// entityDrift is how far two entities lie apart in the space of their parents.
func entityDrift(a, b *records.Entity) float64 {
	var x, y geom.Mat4
	for i := range x {
		x[i], y[i] = float64(a.LocalTransform[i]), float64(b.LocalTransform[i])
	}
	return drift(a.LocalBounds, &x, &y)
}

// localTransform is where entityValues has the matrix.
const localTransform = 4

func (m *match) entityValues(side, i int) []value {
	r := m.content[side].r
	e := &r.Entities()[i]
	parent := orNil(e.ParentID, func(id uint32) string { return m.parents[side][id] })
	return []value{
		{"name", r.String(e.NameOffset)},
		{"parent", parent},
		{"mesh_count", e.MeshCount},
		{"flags", e.Flags},
		{"local_transform", numbers(e.LocalTransform[:])},
		{"local_bounds.min", numbers(e.LocalBounds.Min[:])},
		{"local_bounds.max", numbers(e.LocalBounds.Max[:])},
		{"world_bounds.min", numbers(e.WorldBounds.Min[:])},
		{"world_bounds.max", numbers(e.WorldBounds.Max[:])},
	}
}

// sortedCorners returns the corners of a triangle in an order that depends on where
// they are alone, and whether that turns it over.
func sortedCorners(c [3]corner) (out [3]corner, turned bool) {
	less := func(x, y *corner) bool {
		for a := range 3 {
			if o := cmp.Compare(x.at[a], y.at[a]); o != 0 {
				return o < 0
			}
		}
		return attributeText(&x.v) < attributeText(&y.v)
	}
	swap := func(i, j int) {
		if less(&c[j], &c[i]) {
			c[i], c[j] = c[j], c[i]
			turned = !turned
		}
	}
	swap(0, 1)
	swap(1, 2)
	swap(0, 1)
	if c[0].at == c[1].at || c[1].at == c[2].at {
		turned = false // without an area there are no sides
	}
	return c, turned
}

// attributeText is a vertex without its position, for an order.
func attributeText(v *vertex.Vertex) string {
	w := *v
	w.Position = [3]float32{}
	return string(vertex.Append(nil, []vertex.Vertex{w}))
}
