package gltfscene

import (
	"cmp"
	"context"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/qmuntal/gltf"

	"github.com/untoldkit/untold/internal/filestamp"
)

// geometry decodes the meshes of a scene by their plans. Meshes that several nodes show,
// and what several primitives share, it keeps as far as its cache has room; all else is
// decoded when it is needed, which takes little beside what is done with it. It is safe
// for use by several goroutines.
type geometry struct {
	cache *cache
	plans []plan   // by meshes
	first []uint32 // by Scene.Meshes, and one more: index into plans
	uses  []int32  // by Scene.Meshes: nodes
	jobs  *jobTable
	main  *os.File // nil once it is closed
	own   *inFile  // the store of what lies in the main file, or was made of it; nil for none
	stamp filestamp.Stamp

	mu     sync.Mutex // for spills
	spills []*os.File

	// check, when set, sees every mesh that is decoded, and refuses those that are not what
	// a plan knows.
	check   func(mesh int, list []Primitive) error
	checked []atomic.Bool
}

// newGeometry groups plans, which are in the order of meshes.
func newGeometry(c *cache, s *Scene, plans []plan, jobs *jobTable) *geometry {
	g := &geometry{cache: c, plans: slices.Clone(plans), first: make([]uint32, len(s.Meshes)+1), uses: make([]int32, len(s.Meshes)), jobs: jobs}
	for i := range plans {
		g.first[plans[i].mesh+1]++
	}
	for i := range s.Meshes {
		g.first[i+1] += g.first[i]
	}
	for i := range s.Nodes {
		if m := s.Nodes[i].Shown(); m >= 0 {
			g.uses[m]++
		}
	}
	return g
}

// of returns the plans of a mesh.
func (g *geometry) of(mesh int) []plan { return g.plans[g.first[mesh]:g.first[mesh+1]] }

// decodeBytes is Scene.DecodeBytes.
func (g *geometry) decodeBytes(mesh int) (most int64) {
	see := func(id jobID) {
		if id == 0 {
			return
		}
		store := g.jobs.get(id).store
		if store == 0 { // zeros, of a scene that may have no stores at all
			return
		}
		switch s := g.jobs.stores[store].(type) {
		case *dracoData:
			most = max(most, s.stream.took)
		case *unpacked:
			most = max(most, int64(s.size))
		}
	}
	for i := range g.of(mesh) {
		pl := &g.of(mesh)[i]
		for _, id := range pl.attributes() {
			see(*id)
		}
		see(pl.index)
	}
	return most
}

// all decodes a job, whose accessor is acc, or takes it from the cache.
func (g *geometry) all(j *job, acc *accessor) (*decoded, error) {
	decode := func() (*decoded, int64, error) {
		d, err := g.jobs.decode(j, acc, 0, j.count)
		j.saw(d, err)
		return d, j.bytes(), err
	}
	if j.uses < 2 {
		d, _, err := decode()
		return d, err
	}
	return cached(g.cache, j, decode)
}

// smallJob is what is not worth decoding in parts, in bytes.
const smallJob = 1 << 20

// some decodes the elements of a job from first to last, of which it may decode more: from
// is the first element of the result.
func (g *geometry) some(j *job, acc *accessor, first, last int) (d *decoded, from int, err error) {
	if last-first == j.count || acc.sparse != nil || g.cache.keepsAll() || j.bytes() <= smallJob || g.cache.has(j) {
		d, err = g.all(j, acc)
		return d, 0, err
	}
	g.jobs.look(j)
	if err := j.what().err; err != nil {
		return nil, 0, err
	}
	d, err = g.jobs.decode(j, acc, first, last)
	return d, first, err
}

// meshKey names a mesh in the cache.
type meshKey struct {
	g *geometry
	i int
}

// mesh decodes the primitives of a mesh, without their materials, or takes them from the
// cache. The result, which must not be modified, has an entry for each plan.
func (g *geometry) mesh(i int) ([]Primitive, error) {
	if g.uses[i] < 2 || g.cache.keepsAll() {
		list, _, err := g.decode(i)
		return list, err
	}
	return cached(g.cache, meshKey{g, i}, func() ([]Primitive, int64, error) {
		list, _, err := g.decode(i)
		size := int64(0)
		for k := range list {
			size += list[k].bytes()
		}
		return list, size, err
	})
}

// decode decodes the primitives of a mesh; dropped counts the triangles of each that were
// left out.
func (g *geometry) decode(i int) (list []Primitive, dropped []int, err error) {
	plans := g.of(i)
	list, dropped = make([]Primitive, len(plans)), make([]int, len(plans))
	for k := range plans {
		if list[k], dropped[k], err = g.primitive(&plans[k]); err != nil {
			return nil, nil, err
		}
	}
	return list, dropped, nil
}

// primitive assembles a primitive from its decoded accessors.
func (g *geometry) primitive(pl *plan) (p Primitive, dropped int, err error) {
	p = Primitive{Slot: int(pl.slot)}
	first, last := 0, pl.count
	if pl.index != 0 {
		j := g.jobs.get(pl.index)
		d, err := g.all(j, g.jobs.unpack(j))
		if err != nil {
			return p, 0, err
		}
		if int64(d.largest) >= int64(pl.count) {
			bad := slices.IndexFunc(d.index, func(v uint32) bool { return int64(v) >= int64(pl.count) })
			return p, 0, malformed(g.jobs.place(j), "element %d is %d, but there are %d vertices", bad, d.index[bad], pl.count)
		}
		p.Indices = d.index
		if from, to, ok := pl.narrow(d); ok {
			first, last, p.Indices = from, to, d.rebased()
		}
	}
	if err := g.attributes(&p, pl, first, last); err != nil {
		return p, 0, err
	}
	if pl.mode == gltf.PrimitiveTriangles {
		if p.Indices == nil {
			p.Indices = make([]uint32, pl.count)
			for i := range p.Indices {
				p.Indices[i] = uint32(i)
			}
		}
		whole := len(p.Indices) - len(p.Indices)%3
		p.Indices = p.Indices[:whole:whole]
		return p, 0, nil
	}
	n, vertex := pl.count, func(i int) uint32 { return uint32(i) }
	if pl.index != 0 {
		list := p.Indices
		n, vertex = len(list), func(i int) uint32 { return list[i] }
	}
	p.Indices, dropped = triangulate(pl.mode, n, vertex)
	return p, dropped, nil
}

// narrow returns the range of vertices that the indices use if that is less than half of
// them: some exporters share one large set among many primitives, and later stages look
// at every vertex of each.
func (pl *plan) narrow(d *decoded) (first, last int, ok bool) {
	first, last = int(d.smallest), int(d.largest)+1
	return first, last, last-first <= pl.count/2
}

// attributes decodes what the vertices from first to last have.
func (g *geometry) attributes(p *Primitive, pl *plan, first, last int) error {
	ids := pl.attributes()
	var accs [len(ids)]*accessor
	for i, id := range ids {
		if *id != 0 {
			accs[i] = g.jobs.unpack(g.jobs.get(*id))
		}
	}
	if !g.cache.keepsAll() {
		readTogether(accs[:])
	}
	for i, set := range [len(ids)]func(d *decoded, lo, hi int){
		func(d *decoded, lo, hi int) { p.Positions = d.vec3[lo:hi:hi] },
		func(d *decoded, lo, hi int) { p.Normals = d.vec3[lo:hi:hi] },
		func(d *decoded, lo, hi int) { p.Tangents = d.vec4[lo:hi:hi] },
		func(d *decoded, lo, hi int) { p.UV[0] = d.vec2[lo:hi:hi] },
		func(d *decoded, lo, hi int) { p.UV[1] = d.vec2[lo:hi:hi] },
		func(d *decoded, lo, hi int) { p.Colors = d.vec4[lo:hi:hi] },
	} {
		if accs[i] == nil {
			continue
		}
		d, from, err := g.some(g.jobs.get(*ids[i]), accs[i], first, last)
		if err != nil {
			return err
		}
		set(d, first-from, last-from)
	}
	return nil
}

// survey decodes every mesh once, several at a time, counts what its primitives hold, and
// hands it to look. materials leads from the file's materials to the
// scene's.
func (g *geometry) survey(se *session, materials map[int]int, look func(mesh int, list []Primitive) error) error {
	// The largest first, so that no goroutine ends up with one alone; errors are still
	// reported in the order of the file.
	n := len(g.uses)
	order, size := make([]int, n), make([]int64, n)
	for i := range order {
		order[i] = i
	}
	for i := range g.plans {
		size[g.plans[i].mesh] += g.plans[i].triangles()
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(size[b], size[a]) })
	wait, err := g.meshRoom(se)
	if err != nil {
		return err
	}
	dropped, empty := make([]int, len(g.plans)), make([]bool, len(g.plans)) // by plans
	var failed atomic.Pointer[error]                                        // one of those that occurred
	err = se.parallel(len(order), func(k int) error {
		i := order[k]
		free, err := wait(i)
		if err != nil {
			return err
		}
		defer free()
		list, drops, err := g.decode(i)
		if err != nil {
			failed.Store(&err)
			return nil
		}
		at := int(g.first[i])
		copy(dropped[at:], drops)
		kept := list[:0]
		for n := range list {
			if list[n].Material = -1; g.plans[at+n].material >= 0 {
				list[n].Material = materials[int(g.plans[at+n].material)]
			}
			if empty[at+n] = len(list[n].Indices) == 0; !empty[at+n] {
				kept = append(kept, list[n])
			}
		}
		if len(kept) > 0 {
			parts := make([]Part, len(kept))
			for n := range kept {
				parts[n] = kept[n].part()
			}
			se.scene.Meshes[i].Parts = parts
		}
		return look(i, kept)
	})
	if err != nil {
		return err
	}
	if one := failed.Load(); one != nil {
		// A file may be read the second time, but what was left out stays so.
		return cmp.Or(g.firstFault(se.ctx), *one)
	}
	g.note(se, dropped, empty)
	return nil
}

// firstFault returns the error that comes first in the file.
func (g *geometry) firstFault(ctx context.Context) error {
	for j := range g.jobs.all {
		g.jobs.look(j)
		if err := j.what().err; err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	for i := range g.uses {
		if _, _, err := g.decode(i); err != nil {
			return err
		}
	}
	return nil
}

// note says what was repaired and left out.
func (g *geometry) note(se *session, dropped []int, empty []bool) {
	for j := range g.jobs.all {
		g.jobs.look(j) // those of which parts alone were decoded
		r := j.what()
		if r.odd == 0 && r.fixed == 0 {
			continue
		}
		place := g.jobs.place(j)
		switch j.class() {
		case classNormal:
			se.notes.add(r.odd, true, "normals-not-finite", place, "normals that are no numbers or infinite count as missing")
		case classTangent:
			se.notes.add(r.odd, true, "tangents-not-finite", place, "tangents that are no numbers or infinite count as missing")
			se.notes.add(r.fixed, true, "tangent-handedness", place, "tangents whose w is neither 1 nor -1 were repaired")
		case classColor:
			se.notes.add(r.fixed, true, "colors-clamped", place, "vertex colours outside 0 to 1 were clamped")
		}
	}
	for i := range g.plans {
		if dropped[i] == 0 && !empty[i] {
			continue
		}
		place := g.plans[i].where(se.scene)
		se.notes.add(dropped[i], false, "degenerate-triangles", place, "triangles of strips and fans that use a vertex twice were left out")
		if empty[i] {
			se.notes.warn("empty-primitives", place, "primitives without a triangle were left out")
		}
	}
}
