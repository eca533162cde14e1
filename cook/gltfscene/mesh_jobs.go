package gltfscene

import (
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
)

// jobKey identifies what a job decodes. Accessors that read the same bytes
// in the same way share a job, and their primitives share the slice.
type jobKey struct {
	class    class
	accessor int // for sparse accessors and those without a bufferView, else -1
	at       extent
	count    int
	stride   int
	ct       int
	comps    int
	norm     bool
}

// job decodes one accessor. It does not change, but for what is found out once.
type job struct {
	class class
	acc   *accessor
	place spot // of the first primitive that uses it
	uses  int  // primitives

	once       sync.Once
	fixed, odd int // see decoded, of all elements
	err        error
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

func (j *job) bytes() int64 { return int64(j.acc.count) * elementBytes[j.class] }

// spot is where an accessor is used. There are very many, and hardly any is ever named.
type spot struct {
	primitive, property string
	accessor            int
}

func (s spot) String() string {
	return s.primitive + s.property + " (accessor " + strconv.Itoa(s.accessor) + ")"
}

// job returns the job that decodes an accessor for the attribute at place. The
// data are those of packed, if that holds the attribute of this name.
func (mp *meshPlanner) job(c class, place spot, name string, packed *compressedMesh) (*job, error) {
	i := place.accessor
	if err := mp.doc.accessors.check(i); err != nil {
		return nil, at(place.String(), err)
	}
	a, err := mp.source(i, name, packed)
	if err != nil {
		return nil, at(place.String(), err)
	}
	ok, quantized := a.accepts(c)
	if !ok {
		return nil, malformed(place.String(), "is %s, must be %s", a.format(), wants[c])
	}
	if quantized {
		mp.noteQuantized(place.String())
	}
	key := jobKey{class: c, accessor: -1, count: a.count, stride: a.stride, ct: a.ct, comps: a.comps, norm: a.normalized}
	if a.at.store == nil || a.sparse != nil {
		key.accessor = i
	} else {
		key.at = extent{a.at.store, a.at.off, 0}
	}
	if j := mp.jobOf[key]; j != nil {
		j.uses++
		return j, nil
	}
	j := &job{class: c, acc: a, place: place, uses: 1}
	mp.jobOf[key] = j
	mp.jobs = append(mp.jobs, j)
	err = mp.data.reserve("", int64(a.count), elementBytes[c])
	if err != nil {
		err = at(place.String(), err)
	}
	return j, err
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

// decode decodes the elements from first to last; all of them for indices and sparse
// accessors. acc is the job's accessor, or the same with its bytes elsewhere.
func (j *job) decode(acc *accessor, first, last int) (d *decoded, err error) {
	d = &decoded{}
	bad, whole := -1, true
	switch j.class {
	case classPosition, classNormal:
		d.vec3, bad, err = decodeVec[[3]float32](acc, first, last, 0)
		whole = d.vec3 != nil
		if j.class == classNormal && whole && bad >= 0 {
			d.odd, bad = zeroNotFinite(d.vec3), -1
		}
	case classTangent:
		d.vec4, bad, err = decodeVec[[4]float32](acc, first, last, 0)
		if d.vec4 != nil && bad >= 0 {
			d.odd, bad = zeroNotFinite(d.vec4), -1
		}
		d.fixed = fixHandedness(d.vec4)
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
		return nil, at(j.place.String(), err)
	case bad < 0:
		return d, nil
	case !whole:
		return nil, j.acc.sparseFault(j.place.String(), bad)
	}
	return nil, malformed(j.place.String(), "element %d is not finite (NaN or infinity)", bad)
}

// saw remembers, once, what the decoding of all elements has shown.
func (j *job) saw(d *decoded, err error) {
	j.once.Do(func() {
		if j.err = err; err == nil {
			j.fixed, j.odd = d.fixed, d.odd
		}
	})
}

// look decodes all elements, a part at a time where there are many, and remembers what
// that has shown.
func (j *job) look() {
	j.once.Do(func() {
		step := max(1, int(pieceBytes/elementBytes[j.class]))
		if j.class == classIndex || j.acc.sparse != nil {
			step = max(1, j.acc.count)
		}
		for first := 0; first < j.acc.count; first += step {
			var d *decoded
			if d, j.err = j.decode(j.acc, first, min(first+step, j.acc.count)); j.err != nil {
				return
			}
			j.fixed, j.odd = j.fixed+d.fixed, j.odd+d.odd
		}
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
