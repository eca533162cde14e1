package gltfscene

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// jobKey identifies what a job decodes. Accessors that read the same bytes
// in the same way share a job, and their primitives share the slice.
type jobKey struct {
	class    class
	accessor int // for sparse accessors and those without a bufferView, else -1
	first    *byte
	count    int
	stride   int
	ct       int
	comps    int
	norm     bool
}

// job decodes one accessor; jobs run in parallel.
type job struct {
	class class
	acc   *accessor
	place string // of the first primitive that uses it

	vec2              [][2]float32
	vec3              [][3]float32
	vec4              [][4]float32
	index             []uint32
	smallest, largest uint32 // of index
	fixed             int    // elements that were repaired
	odd               int    // directions that were not finite and are 0 now
	once              sync.Once
	shifted           []uint32 // see rebased
	err               error
}

// job returns the job that decodes accessor i for the attribute at place. The
// data are those of packed, if that holds the attribute of this name.
func (mp *meshPlanner) job(c class, i int, place, name string, packed *compressedMesh) (*job, error) {
	place = fmt.Sprintf("%s (accessor %d)", place, i)
	if err := mp.doc.accessors.check(i); err != nil {
		return nil, at(place, err)
	}
	a, err := mp.source(i, name, packed)
	if err != nil {
		return nil, at(place, err)
	}
	ok, quantized := a.accepts(c)
	if !ok {
		return nil, malformed(place, "is %s, must be %s", a.format(), wants[c])
	}
	if quantized {
		mp.noteQuantized(place)
	}
	key := jobKey{class: c, accessor: -1, count: a.count, stride: a.stride, ct: a.ct, comps: a.comps, norm: a.normalized}
	if a.data == nil || a.sparse != nil {
		key.accessor = i
	} else {
		key.first = &a.data[0]
	}
	if j := mp.jobOf[key]; j != nil {
		return j, nil
	}
	j := &job{class: c, acc: a, place: place}
	mp.jobOf[key] = j
	mp.jobs = append(mp.jobs, j)
	// Twice for indices, which may be rebased.
	size := [...]int64{classPosition: 12, classNormal: 12, classTangent: 16, classUV: 8, classColor: 16, classIndex: 8}
	return j, mp.data.reserve(place, int64(a.count), size[c])
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

// run decodes.
func (j *job) run() {
	bad, decoded := -1, true
	switch j.class {
	case classPosition, classNormal:
		j.vec3, bad = decodeVec[[3]float32](j.acc, 0)
		decoded = j.vec3 != nil
		if j.class == classNormal && decoded && bad >= 0 {
			j.odd, bad = zeroNotFinite(j.vec3), -1
		}
	case classTangent:
		j.vec4, bad = decodeVec[[4]float32](j.acc, 0)
		if j.vec4 != nil && bad >= 0 {
			j.odd, bad = zeroNotFinite(j.vec4), -1
		}
		j.fixed = fixHandedness(j.vec4)
		decoded = j.vec4 != nil
	case classUV:
		j.vec2, bad = decodeVec[[2]float32](j.acc, 0)
		decoded = j.vec2 != nil
	case classColor:
		j.vec4, bad = decodeVec[[4]float32](j.acc, 1)
		j.fixed = clampColors(j.vec4)
		decoded = j.vec4 != nil
	case classIndex:
		j.index, j.smallest, j.largest, bad = decodeIndices(j.acc)
		decoded = bad < 0
	}
	switch {
	case bad < 0:
	case !decoded:
		j.err = j.acc.sparseFault(j.place, bad)
	default:
		j.err = malformed(j.place, "element %d is not finite (NaN or infinity)", bad)
	}
}

// sparseFault explains the bad entry k of a sparse list.
func (a *accessor) sparseFault(place string, k int) error {
	return malformed(place, "sparse.indices[%d] is %d: it must increase and be below %d",
		k, readIndex(a.sparse.indices, a.sparse.ct, k), a.count)
}

// rebased returns the indices minus the smallest one. Primitives that share
// the job share the result.
func (j *job) rebased() []uint32 {
	j.once.Do(func() {
		if j.shifted = j.index; j.smallest == 0 {
			return
		}
		j.shifted = make([]uint32, len(j.index))
		for i, v := range j.index {
			j.shifted[i] = v - j.smallest
		}
	})
	return j.shifted
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
