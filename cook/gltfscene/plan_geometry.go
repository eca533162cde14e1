package gltfscene

import (
	"bytes"
	"io"
	"math"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/qmuntal/gltf"

	"github.com/untoldkit/untold/cook/internal/planfile"
	"github.com/untoldkit/untold/internal/filestamp"
	"github.com/untoldkit/untold/internal/meshopt"
)

// Kinds of stores.
const (
	storeOwn      = iota // what lies in the main file, or was made of it
	storeBeside          // a file
	storeBytes           // bytes that the document has
	storeUnpacked        // what a meshopt stream decodes to
	storeDraco           // a part of a Draco mesh
	storeStream          // a Draco mesh; no extent lies in it
	storeBaked           // an image that is made of others
)

// sized is a store that was read, with how many bytes it has.
type sized struct {
	store  store
	size   int64
	stream *dracoStream // of storeStream
	depth  int          // of stores that lie in each other, this one among them
}

// mostDeep is how many stores lie in each other at most: a file, a packed view, a stream
// in that, and a part of what the stream holds.
const mostDeep = 4

// streamStore stands for a stream among stores.
type streamStore struct{ s *dracoStream }

func (streamStore) reader() (ranges, func(), error) { return ranges{}, func() {}, nil }

// extent codes where bytes lie, and returns the number of their store. A store follows the
// first extent that lies in it.
func (p *planCoder) extent(x *extent) (number int) {
	number = p.store(x.store) // 0 is none
	if number == 0 || p.c.Err() != nil {
		return 0
	}
	size := math.MaxInt
	if p.c.Reading() {
		s := p.list[number-1]
		x.store, size = s.store, int(s.size)
		if x.store == nil {
			p.c.Fail("an extent lies in a stream")
		}
	}
	p.c.Int(&x.off, 0, size)
	p.c.Int(&x.n, 0, max(0, size-x.off))
	return number
}

// store codes a store and returns its number, from 1; 0 is none. A new one gets the next
// number when those that it lies in have theirs.
func (p *planCoder) store(s store) int {
	c := p.c
	if sp, ok := s.(*spilled); ok {
		s = sp.from
	}
	const none, fresh, known = 0, 1, 2
	code := none
	switch n, ok := p.stores[s]; {
	case s == nil:
	case ok:
		code = known + n - 1
	default:
		code = fresh
	}
	c.Int(&code, none, known+len(p.list)-1+len(p.stores))
	switch {
	case c.Err() != nil || code == none:
		return 0
	case code >= known:
		if c.Reading() {
			p.inner = max(p.inner, p.list[code-known].depth)
		}
		return code - known + 1
	case !c.Hold(perStore):
		return 0
	case !c.Reading():
		p.writeStore(s)
		p.stores[s] = len(p.stores) + 1
		return p.stores[s]
	}
	outer := p.inner
	if p.inner, p.deep = 0, p.deep+1; p.deep > mostDeep {
		c.Fail("stores lie in each other %d deep", p.deep)
		return 0
	}
	made := p.readStore()
	if made.depth = p.inner + 1; made.depth > mostDeep {
		c.Fail("stores lie in each other %d deep", made.depth)
	}
	p.deep--
	p.list = append(p.list, made)
	p.inner = max(outer, made.depth)
	return len(p.list)
}

func (p *planCoder) writeStore(s store) {
	c := p.c
	kind := func(k int) { c.Int(&k, 0, storeBaked) }
	switch s := s.(type) {
	case *inFile:
		if s != p.scene.geometry.own {
			c.Fail("bytes lie in a file that is not known")
		}
		kind(storeOwn)
	case *external:
		kind(storeBeside)
		c.Text(&s.name)
		c.Int64(&s.size)
	case *inMemory:
		kind(storeBytes)
		c.Bytes(&s.data)
	case *madeFile:
		kind(storeBytes)
		c.BytesFrom(io.NewSectionReader(s.file, 0, int64(s.size)), s.size)
	case *unpacked:
		kind(storeUnpacked)
		p.unpacked(s)
	case *dracoData:
		kind(storeDraco)
		p.draco(s)
	case streamStore:
		kind(storeStream)
		p.stream(s.s)
	case *glossBake:
		kind(storeBaked)
		p.baked(s)
	default:
		c.Fail("bytes lie in %T", s)
	}
}

func (p *planCoder) readStore() (made sized) {
	c, kind := p.c, 0
	c.Int(&kind, storeOwn, storeBaked)
	if c.Err() != nil {
		return made
	}
	switch kind {
	case storeOwn:
		if made = (sized{store: p.own, size: p.size}); p.own == nil {
			c.Fail("there are no bytes")
		}
		if !p.owned {
			p.plain += p.size
		}
		p.owned = true
	case storeBeside:
		made = p.besides()
	case storeBytes:
		made = p.made()
	case storeUnpacked:
		u := &unpacked{cache: p.cache}
		p.unpacked(u)
		made = sized{store: u, size: int64(u.size)}
		if int64(u.size) > p.cache.limit/unpackedShare && !p.cache.keepsAll() {
			made.store = &lateSpill{p: p, u: u}
		}
	case storeDraco:
		d := &dracoData{}
		p.draco(d)
		made = sized{store: d, size: int64(d.size)}
	case storeStream:
		s := &dracoStream{cache: p.cache, data: map[dracoPart]*dracoData{}}
		p.stream(s)
		made.stream = s
	case storeBaked:
		g := &glossBake{}
		made = sized{store: g, size: p.baked(g)}
	}
	return made
}

// made reads bytes that the plan has: into memory, or, what is more than the cache would keep of
// one view, into a temporary file.
func (p *planCoder) made() (made sized) {
	buf := &bytes.Buffer{}
	n := p.c.BytesTo(func(n int) (io.Writer, error) {
		if p.cache.keepsAll() || int64(n) <= p.cache.limit/unpackedShare {
			return buf, nil
		}
		f, err := spill(nil)
		if err != nil {
			return nil, openError("(temporary)", err)
		}
		p.spills = append(p.spills, f)
		made.store = &inFile{f, "(temporary)"}
		return f, nil
	})
	if made.store == nil {
		made.store = &inMemory{buf.Bytes()}
	}
	made.size = int64(n)
	p.plain += made.size
	return made
}

// baked codes an image that is made of others, and returns its size.
func (p *planCoder) baked(g *glossBake) int64 {
	c := p.c
	p.extent(&g.diffuse)
	p.extent(&g.gloss)
	c.Floats(g.factors[:])
	c.Bool(&g.metalRough)
	c.Int(&g.width, 1, mostBaked)
	c.Int(&g.height, 1, mostBaked)
	if !c.Reading() || c.Err() != nil {
		return 0
	}
	for _, x := range []extent{g.diffuse, g.gloss} {
		if _, nested := x.store.(*glossBake); nested {
			c.Fail("an image is made of one that is made")
		}
	}
	for _, f := range g.factors {
		if !(f >= 0 && f <= 1) {
			c.Fail("a factor is %v", f)
		}
	}
	if g.gloss.store == nil || g.width > mostBaked/g.height {
		c.Fail("an image of %d x %d texels is made of nothing", g.width, g.height)
	}
	if c.Err() != nil {
		return 0
	}
	n, err := g.size()
	if err != nil {
		c.Fail("%v", err)
	}
	return int64(n)
}

// besides finds a file that a URI named.
func (p *planCoder) besides() (made sized) {
	x := &external{src: p.src}
	p.c.Text(&x.name)
	p.c.Int64(&x.size)
	if p.c.Err() != nil {
		return made
	}
	f, info, err := p.src.open(x.name)
	if err != nil {
		p.c.Fail("%v", openError(x.name, err))
		return made
	}
	f.Close()
	if info.Size() != x.size {
		p.c.Fail("file %s has %d bytes, not %d", quote(x.name), info.Size(), x.size)
	}
	x.stamp = filestamp.Of(info)
	p.plain += x.size
	return sized{store: x, size: x.size}
}

func (p *planCoder) unpacked(u *unpacked) {
	c := p.c
	p.extent(&u.packed)
	mode, filter := int(u.layout.Mode), int(u.layout.Filter)
	c.Int(&mode, 0, math.MaxUint8)
	c.Int(&filter, 0, math.MaxUint8)
	u.layout.Mode, u.layout.Filter = meshopt.Mode(mode), meshopt.Filter(filter)
	c.Int(&u.layout.Count, 0, math.MaxInt32)
	c.Int(&u.layout.Stride, 1, math.MaxUint16)
	c.Int(&u.size, 0, math.MaxInt)
	if !c.Reading() || c.Err() != nil {
		return
	}
	p.plain += 2 * int64(u.packed.n)
	if err := u.layout.Check(); err != nil || u.size != u.layout.Count*u.layout.Stride {
		c.Fail("a compressed view of %d elements", u.layout.Count)
		return
	}
	p.reserve(int64(u.size), 1)
}

func (p *planCoder) draco(d *dracoData) {
	c := p.c
	n := p.store(streamStore{d.stream})
	if c.Reading() {
		if n > 0 {
			d.stream = p.list[n-1].stream
		}
		if d.stream == nil {
			c.Fail("a part of no stream")
			return
		}
	}
	c.Int(&d.part.id, facesPart, min(math.MaxUint32, math.MaxInt))
	c.Bool(&d.part.floats)
	c.Int(&d.size, 0, math.MaxInt32)
}

func (p *planCoder) stream(s *dracoStream) {
	c := p.c
	p.extent(&s.packed)
	c.Int(&s.limits.Faces, 0, math.MaxInt32)
	c.Int(&s.limits.Points, 0, math.MaxInt32)
	c.Int64(&s.limits.Bytes)
	c.Int64(&s.took)
	if !c.Reading() {
		return
	}
	if s.took < 0 || s.took > s.limits.Bytes {
		c.Fail("a stream that takes %d of %d bytes", s.took, s.limits.Bytes)
	}
	p.plain += 15 * int64(s.packed.n)
	taken := p.taken
	p.reserve(int64(s.limits.Points), 6)
	p.reserve(int64(s.limits.Faces), 12)
	p.taken = taken
	if s.limits.Bytes < 1 {
		c.Fail("a stream of %d bytes", s.limits.Bytes)
	}
}

// lateSpill decodes a view that the cache has no room for to a temporary file, once.
type lateSpill struct {
	p    *planCoder
	u    *unpacked
	once sync.Once
	file *inFile
	err  error
}

func (l *lateSpill) reader() (ranges, func(), error) {
	l.once.Do(func() {
		out, err := l.u.decode()
		var f *os.File
		if err == nil {
			f, err = spill(out)
		}
		if l.err = err; err != nil {
			return
		}
		g := l.p.scene.geometry
		g.mu.Lock()
		defer g.mu.Unlock()
		g.spills = append(g.spills, f)
		l.file = &inFile{f, "(temporary)"}
	})
	if l.err != nil {
		return ranges{}, nil, l.err
	}
	return l.file.reader()
}

// geometry codes how meshes are decoded.
func (p *planCoder) geometry() {
	c, s := p.c, p.scene
	jobs, plans := &jobTable{}, []plan{}
	if !c.Reading() {
		jobs, plans = s.geometry.jobs, s.geometry.plans
	}
	list := make([]struct{}, jobs.n)
	planfile.List(c, &list, 8, func(i int, _ *struct{}) {
		id := jobID(i + 1)
		if !c.Hold(perJob) {
			return
		}
		if c.Reading() {
			if _, id = jobs.add(); id == 0 {
				c.Fail("%d accessors", i)
				return
			}
		}
		p.job(jobs, jobs.get(id))
	})
	planfile.List(c, &plans, 11, func(i int, pl *plan) {
		c.Hold(perPlan)
		p.plan(pl, jobs)
		if c.Reading() && i > 0 && pl.mesh < plans[i-1].mesh {
			c.Fail("the primitives of mesh %d are behind those of mesh %d", pl.mesh, plans[i-1].mesh)
		}
	})
	if !c.Reading() || c.Err() != nil {
		return
	}
	jobs.stores = make([]store, 1, 1+len(p.list))
	for i := range p.list {
		jobs.stores = append(jobs.stores, p.list[i].store)
	}
	g := newGeometry(p.cache, s, plans, jobs)
	g.checked = make([]atomic.Bool, len(s.Meshes))
	for i := range s.Meshes {
		if n := len(g.of(i)); n < len(s.Meshes[i].Parts) {
			c.Fail("mesh %d has %d parts, and how %d of them are decoded is known", i, len(s.Meshes[i].Parts), n)
		}
	}
	s.geometry = g
}

func (p *planCoder) job(jobs *jobTable, j *job) {
	c, a, found := p.c, &accessor{}, rareJob{}
	if !c.Reading() {
		a, found = jobs.unpack(j), j.what()
	}
	use, typ, named := min(int(j.use), len(classes)), int(a.typ), int(j.accessor)
	c.Int(&use, 0, len(classes)) // the last is that of indices
	c.Int(&typ, 0, int(gltf.AccessorMat4))
	c.Int(&a.ct, i8, f32)
	c.Bool(&a.normalized)
	c.Int(&a.count, 0, math.MaxInt32)
	number := p.extent(&a.at)
	c.Int(&a.stride, 1, math.MaxInt32)
	c.Int(&named, 0, math.MaxInt32)
	c.Int(&found.fixed, 0, math.MaxInt32)
	c.Int(&found.odd, 0, math.MaxInt32)
	some := a.sparse != nil
	if c.Bool(&some); some && c.Err() == nil && c.Hold(perRare) {
		p.sparse(a)
	}
	if !c.Reading() || c.Err() != nil {
		return
	}
	if j.use = indexUse; use < len(classes) {
		j.use = uint8(use)
	}
	a.typ, j.accessor = gltf.AccessorType(typ), uint32(named)
	size := 0
	a.comps, size = componentsOf(a.typ, a.ct)
	if _, known := componentNames[a.ct]; !known || !allows(a, j.class()) {
		c.Fail("an accessor is %s", a.typ)
		return
	}
	if number > 0 {
		if a.count == 0 {
			c.Fail("no elements lie in %d bytes", a.at.n)
		}
		if err := fits(a.at.n, 0, a.count, a.stride, size); err != nil {
			c.Fail("%v", err)
		}
	}
	if s := a.sparse; s != nil {
		n := componentSize(s.ct)
		if fits(s.indices.n, 0, s.count, n, n) != nil || fits(s.values.n, 0, s.count, size, size) != nil || s.count > a.count {
			c.Fail("a sparse accessor is too short")
		}
	}
	p.reserve(int64(a.count), elementBytes[j.class()])
	j.pack(a, uint32(number))
	j.once.Do(func() { j.found(found.fixed, found.odd, nil) }) // what decoding shows is known
}

func (p *planCoder) sparse(a *accessor) {
	c := p.c
	if c.Reading() {
		a.sparse = &sparse{}
	}
	s := a.sparse
	c.Int(&s.count, 0, math.MaxInt32)
	p.extent(&s.indices)
	c.Int(&s.ct, i8, u32)
	p.extent(&s.values)
}

// plan codes how a primitive is decoded.
func (p *planCoder) plan(pl *plan, jobs *jobTable) {
	c, s := p.c, p.scene
	mesh, slot, mode := int(pl.mesh), int(pl.slot), int(pl.mode)
	c.Int(&mesh, 0, len(s.Meshes)-1)
	c.Int(&slot, 0, math.MaxInt32)
	c.Int(&mode, 0, math.MaxUint8)
	c.Int(&pl.count, 1, math.MaxInt32)
	if c.Reading() && c.Err() == nil {
		pl.mesh, pl.slot, pl.mode, pl.material = uint32(mesh), uint32(slot), gltf.PrimitiveMode(mode), -1
	}
	for i, id := range pl.attributes() {
		p.use(pl, id, jobs, uint8(i))
	}
	p.use(pl, &pl.index, jobs, indexUse)
	if !c.Reading() || c.Err() != nil {
		return
	}
	if pl.elements = pl.count; pl.index != 0 {
		pl.elements = jobs.get(pl.index).count
	}
	n := pl.elements
	switch {
	case pl.position == 0, n < 3,
		!slices.Contains([]gltf.PrimitiveMode{gltf.PrimitiveTriangles, gltf.PrimitiveTriangleStrip, gltf.PrimitiveTriangleFan}, pl.mode):
		c.Fail("%s is none of triangles", pl.where(s))
	case pl.mode != gltf.PrimitiveTriangles:
		p.reserve(int64(n-2), 12)
	case pl.index == 0:
		p.reserve(int64(n), 4)
	}
}

// use codes a job that a primitive uses.
func (p *planCoder) use(pl *plan, id *jobID, jobs *jobTable, as uint8) {
	c, n := p.c, int(*id)
	c.Int(&n, 0, jobs.n)
	if !c.Reading() || c.Err() != nil || n == 0 {
		return
	}
	*id = jobID(n)
	j, want := jobs.get(*id), classIndex
	if as != indexUse {
		want = classes[as].class
	}
	if j.class() != want || as != indexUse && j.count != pl.count {
		c.Fail("%s does not fit its accessors", pl.where(p.scene))
		return
	}
	if j.uses++; j.uses == 1 {
		j.use, j.mesh, j.slot = as, uint32(p.scene.Meshes[pl.mesh].Index), pl.slot
	}
}
