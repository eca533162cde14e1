package gltfscene

import (
	"fmt"
	"math"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/qmuntal/gltf"
)

// job decodes one accessor. Each primitive has several, as long as a scene is open: a job
// is packed, and names others by their numbers. It does not change, but for what is found
// out once.
type job struct {
	off, count int                     // of the elements in the store; those of no store are zeros
	rare       atomic.Pointer[rareJob] // nil for nearly all
	once       sync.Once
	store      uint32 // in jobTable.stores, 0 for none
	stride     uint32 // see rareJob
	accessor   uint32 // the first that is used, in the file
	mesh, slot uint32 // of the first primitive that uses it, in the file
	uses       uint32 // primitives
	use        uint8  // index into classes, or indexUse
	typ        gltf.AccessorType
	component  uint8 // less i8
	normalized bool
}

// indexUse stands for indices, which are no attribute.
const indexUse = 255

// rareJob is what hardly any job has.
type rareJob struct {
	stride     int // where it is more than 32 bits
	sparse     *sparse
	fixed, odd int // see decoded, of all elements
	err        error
}

// jobID is the number of a job plus one; 0 stands for none.
type jobID uint32

// jobTable holds the jobs of a scene, in the order in which they are planned, and the
// stores that they read.
type jobTable struct {
	slabs  [][]job
	n      int
	stores []store
}

// jobSlab is how many jobs are allocated at a time.
const jobSlab = 1024

// get returns a job by its number.
func (t *jobTable) get(id jobID) *job { return &t.slabs[(id-1)/jobSlab][(id-1)%jobSlab] }

// add returns a new job, and its number; 0 where there are too many.
func (t *jobTable) add() (*job, jobID) {
	if t.n == min(math.MaxUint32, math.MaxInt) {
		return nil, 0
	}
	if t.n%jobSlab == 0 {
		t.slabs = append(t.slabs, make([]job, jobSlab))
	}
	t.n++
	return t.get(jobID(t.n)), jobID(t.n)
}

// all lists the jobs.
func (t *jobTable) all(yield func(*job) bool) {
	for id := range t.n {
		if !yield(t.get(jobID(id + 1))) {
			return
		}
	}
}

// class is what the job decodes to.
func (j *job) class() class {
	if j.use == indexUse {
		return classIndex
	}
	return classes[j.use].class
}

// unpack returns the accessor of a job.
func (t *jobTable) unpack(j *job) *accessor {
	a := &accessor{
		typ: j.typ, ct: i8 + int(j.component), normalized: j.normalized, count: j.count, stride: int(j.stride),
	}
	var size int
	a.comps, size = componentsOf(j.typ, a.ct)
	if r := j.rare.Load(); r != nil {
		a.sparse = r.sparse
		a.stride = max(a.stride, r.stride)
	}
	if j.store > 0 {
		a.at = extent{t.stores[j.store], j.off, (j.count-1)*a.stride + size}
	}
	return a
}

// pack is the reverse of unpack; number is that of the accessor's store.
func (j *job) pack(a *accessor, number uint32) {
	j.off, j.count, j.store, j.stride = a.at.off, a.count, number, uint32(a.stride)
	j.typ, j.component, j.normalized = a.typ, uint8(a.ct-i8), a.normalized
	if r := (rareJob{sparse: a.sparse}); a.sparse != nil || a.stride > min(math.MaxUint32, math.MaxInt) {
		if a.stride > min(math.MaxUint32, math.MaxInt) {
			j.stride, r.stride = 0, a.stride
		}
		j.rare.Store(&r)
	}
}

// what returns what hardly any job has.
func (j *job) what() (r rareJob) {
	if p := j.rare.Load(); p != nil {
		r = *p
	}
	return r
}

// found remembers what the elements hold.
func (j *job) found(fixed, odd int, err error) {
	if fixed == 0 && odd == 0 && err == nil {
		return
	}
	r := j.what()
	r.fixed, r.odd, r.err = fixed, odd, err
	j.rare.Store(&r)
}

// decoded is what a job gives, or a part of it.
type decoded struct {
	vec2              [][2]float32
	vec3              [][3]float32
	vec4              [][4]float32
	index             []uint32
	smallest, largest uint32 // of index
	fixed             int    // elements that were repaired
	odd               int    // directions that were not finite and are 0 now
	once              sync.Once
	shifted           []uint32 // see rebased
}

// elementBytes are what an element of a class takes. Twice for indices, which may be
// rebased.
var elementBytes = [...]int64{classPosition: 12, classNormal: 12, classTangent: 16, classUV: 8, classColor: 16, classIndex: 8}

func (j *job) bytes() int64 { return int64(j.count) * elementBytes[j.class()] }

// spot is where an accessor is used.
type spot struct {
	primitive, property string
	accessor            int
}

func (s spot) String() string {
	return s.primitive + s.property + " (accessor " + strconv.Itoa(s.accessor) + ")"
}

// place says where the job's accessor is used first.
func (t *jobTable) place(j *job) string {
	property := ".indices"
	if j.use != indexUse {
		property = classes[j.use].property
	}
	return spot{primitivePlace(int(j.mesh), int(j.slot)), property, int(j.accessor)}.String()
}

// primitivePlace names a primitive by the file's number of its mesh.
func primitivePlace(mesh, slot int) string {
	return "meshes[" + strconv.Itoa(mesh) + "].primitives[" + strconv.Itoa(slot) + "]"
}

// jobKey identifies what a job decodes. Accessors that read the same bytes
// in the same way share a job, and their primitives share the slice.
type jobKey struct {
	class      class
	typ        gltf.AccessorType
	component  uint8
	normalized bool
	store      uint32
	accessor   int // for sparse accessors and those without a bufferView, else -1
	off, count int
	stride     int
}

// job returns the job that decodes an accessor for the attribute at place, and the
// accessor. use is an index into classes, or indexUse. The
// data are those of packed, if that holds the attribute of this name.
func (mp *meshPlanner) job(pl *draft, use uint8, place spot, name string, packed *compressedMesh) (jobID, *accessor, error) {
	i, c := place.accessor, classIndex
	if use != indexUse {
		c = classes[use].class
	}
	if err := mp.doc.accessors.check(i); err != nil {
		return 0, nil, at(place.String(), err)
	}
	a, err := mp.source(i, name, packed)
	if err != nil {
		return 0, nil, at(place.String(), err)
	}
	ok, quantized := a.accepts(c)
	if !ok {
		return 0, nil, malformed(place.String(), "is %s, must be %s", a.format(), wants[c])
	}
	if quantized {
		mp.noteQuantized(place.String())
	}
	if use < bendable && pl.posed[use] != nil {
		a = pl.posed[use]
	}
	key := jobKey{class: c, typ: a.typ, component: uint8(a.ct - i8), normalized: a.normalized, accessor: -1, count: a.count, stride: a.stride}
	if key.store = mp.store(a.at.store); key.store == 0 || a.sparse != nil {
		key.accessor = i
	} else {
		key.off = a.at.off
	}
	if id := mp.jobOf[key]; id != 0 {
		mp.jobs.get(id).uses++
		return id, a, nil
	}
	index := mp.scene.Meshes[pl.mesh].Index
	if max(uint64(i), uint64(index)) > math.MaxUint32 {
		return 0, nil, tooMany(place.String())
	}
	j, id := mp.jobs.add()
	if id == 0 {
		return 0, nil, tooMany(place.String())
	}
	j.pack(a, key.store)
	j.use, j.accessor, j.mesh, j.slot, j.uses = use, uint32(i), uint32(index), pl.slot, 1
	mp.jobOf[key] = id
	err = mp.data.reserve("", int64(a.count), elementBytes[c])
	if err != nil {
		err = at(place.String(), err)
	}
	return id, a, err
}

// tooMany refuses what cannot be numbered.
func tooMany(place string) error {
	return &Error{Place: place, Reason: "the file has more than 4294967295 accessors, meshes or primitives", Hint: "divide the scene", Err: ErrTooLarge}
}

// store returns the number of a store, 0 for none.
func (mp *meshPlanner) store(s store) uint32 {
	if s == nil {
		return 0
	}
	n, ok := mp.storeOf[s]
	if !ok {
		if len(mp.jobs.stores) == 0 {
			mp.jobs.stores = append(mp.jobs.stores, nil)
		}
		n = uint32(len(mp.jobs.stores))
		mp.jobs.stores = append(mp.jobs.stores, s)
		mp.storeOf[s] = n
	}
	return n
}

// reserve counts memory against the limit for decoded geometry. The product
// cannot overflow: counts are at most 2^53 and checked one by one.
func (dr *dataReader) reserve(place string, count, size int64) error {
	const most = 1 << 56 // far above any limit
	if count > most/size || dr.decoded+count*size > most {
		return &Error{
			Place: place, Reason: fmt.Sprintf("%d elements of %d bytes exceed every limit for decoded geometry", count, size),
			Hint: "the count is damaged: export the file again", Err: ErrTooLarge,
		}
	}
	dr.decoded += count * size
	return nil
}

func tooLarge(place string, limit int64) error {
	return &Error{
		Place: place, Reason: fmt.Sprintf("the decoded geometry would exceed the limit of %d bytes", limit),
		Hint: "raise Options.MaxDecodedBytes if the file is sound", Err: ErrTooLarge,
	}
}

// checkReserved applies the limit once all buffers are known.
func (dr *dataReader) checkReserved() error {
	if limit := dr.decodedLimit(); dr.decoded > limit {
		return tooLarge("", limit)
	}
	return nil
}

// decodedLimit returns the limit for decoded geometry in bytes.
func (dr *dataReader) decodedLimit() int64 {
	if dr.opts.MaxDecodedBytes > 0 {
		return dr.opts.MaxDecodedBytes
	}
	return 64<<20 + 32*dr.bufferBytes
}

// decode decodes the elements of a job from first to last; all of them for indices and
// sparse accessors. acc is the job's accessor, or the same with its bytes elsewhere.
func (t *jobTable) decode(j *job, acc *accessor, first, last int) (d *decoded, err error) {
	d = &decoded{}
	bad, whole := -1, true
	switch c := j.class(); c {
	case classPosition, classNormal:
		d.vec3, bad, err = decodeVec[[3]float32](acc, first, last, 0)
		whole = d.vec3 != nil
		if c == classNormal && whole && bad >= 0 {
			d.odd, bad = zeroNotFinite(d.vec3), -1
		}
	case classTangent:
		d.vec4, bad, err = decodeVec[[4]float32](acc, first, last, 0)
		if d.vec4 != nil && bad >= 0 {
			d.odd, bad = zeroNotFinite(d.vec4), -1
		}
		d.fixed = fixHandedness(d.vec4) - d.odd // what was cleared has no w either
		whole = d.vec4 != nil
	case classUV:
		d.vec2, bad, err = decodeVec[[2]float32](acc, first, last, 0)
		whole = d.vec2 != nil
	case classColor:
		d.vec4, bad, err = decodeVec[[4]float32](acc, first, last, 1)
		d.fixed = clampColors(d.vec4)
		whole = d.vec4 != nil
	case classIndex:
		d.index, d.smallest, d.largest, bad, err = decodeIndices(acc)
		whole = bad < 0
	}
	switch {
	case err != nil:
		return nil, at(t.place(j), err)
	case bad < 0:
		return d, nil
	case !whole:
		return nil, acc.sparseFault(t.place(j), bad)
	}
	return nil, malformed(t.place(j), "element %d is not finite (NaN or infinity)", bad)
}

// saw remembers, once, what the decoding of all elements has shown.
func (j *job) saw(d *decoded, err error) {
	j.once.Do(func() {
		if err != nil {
			j.found(0, 0, err)
		} else {
			j.found(d.fixed, d.odd, nil)
		}
	})
}

// look decodes all elements of a job, a part at a time where there are many, and remembers
// what that has shown.
func (t *jobTable) look(j *job) {
	j.once.Do(func() {
		step := max(1, int(pieceBytes/elementBytes[j.class()]))
		if j.use == indexUse || j.what().sparse != nil {
			step = max(1, j.count)
		}
		fixed, odd, acc := 0, 0, t.unpack(j)
		for first := 0; first < j.count; first += step {
			d, err := t.decode(j, acc, first, min(first+step, j.count))
			if err != nil {
				j.found(fixed, odd, err)
				return
			}
			fixed, odd = fixed+d.fixed, odd+d.odd
		}
		j.found(fixed, odd, nil)
	})
}

// sparseFault explains the bad entry k of a sparse list.
func (a *accessor) sparseFault(place string, k int) error {
	indices, err := a.sparse.indices.bytes()
	if err != nil {
		return at(place, err)
	}
	return malformed(place, "sparse.indices[%d] is %d: it must increase and be below %d",
		k, readIndex(indices, a.sparse.ct, k), a.count)
}

// rebased returns the indices minus the smallest one. Primitives that share
// the job share the result.
func (d *decoded) rebased() []uint32 {
	d.once.Do(func() {
		if d.shifted = d.index; d.smallest == 0 {
			return
		}
		d.shifted = make([]uint32, len(d.index))
		for i, v := range d.index {
			d.shifted[i] = v - d.smallest
		}
	})
	return d.shifted
}

// zeroNotFinite puts 0, which says that there is no direction, in place of
// elements that are not finite and counts them.
func zeroNotFinite[V vec](list []V) (changed int) {
	for i := range list {
		if firstNotFinite(list[i:i+1]) == 0 {
			clear(list[i : i+1])
			changed++
		}
	}
	return changed
}

// fixHandedness makes w exactly +1 or -1 and counts the tangents changed.
func fixHandedness(list [][4]float32) (changed int) {
	for i := range list {
		w := float32(1)
		if list[i][3] < 0 {
			w = -1
		}
		if list[i][3] != w {
			list[i][3] = w
			changed++
		}
	}
	return changed
}

// clampColors limits colours to 0..1 and counts those changed. NaN stays.
func clampColors(list [][4]float32) (changed int) {
	for i := range list {
		v := list[i]
		for c := range v {
			if v[c] < 0 {
				v[c] = 0
			} else if v[c] > 1 {
				v[c] = 1
			}
		}
		if v != list[i] && v == v {
			list[i] = v
			changed++
		}
	}
	return changed
}

// parallel calls f(0..n-1) from several goroutines and returns the error of
// the lowest index, so that the outcome does not depend on the number of
// goroutines. It stops early when the context ends.
func (se *session) parallel(n int, f func(i int) error) error {
	errs := make([]error, n)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(se.opts.jobs(), n) {
		wg.Go(func() {
			for se.ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				errs[i] = f(i)
			}
		})
	}
	wg.Wait()
	if err := se.ctx.Err(); err != nil {
		return err
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
