package cook

import (
	"math"
	"runtime"
	"runtime/metrics"
	"sync"
)

// backstop has garbage collected where it would take too much of the memory. The collector
// paces itself by how fast it is, by limits that yield where it takes too much of the
// processors, and by settings that others make: on a busy machine a cook that fits ends up
// larger than its memory. Who is about to allocate much calls check before.
type backstop struct {
	most    int64        // bytes of the heap, garbage included
	heap    func() int64 // how many there are
	collect func()       // runtime.GC

	mu   sync.Mutex
	left int64 // that the last collection left
}

// backstopEighths is the part of the memory that the heap may have: the rest is for what lies
// beside it, and for what is allocated from one check to the next. leastPart is the part of
// the heap that has to be garbage for a collection.
const (
	backstopEighths = 5
	leastPart       = 20
)

func newBackstop(memory int64) *backstop {
	return &backstop{most: memory / 8 * backstopEighths, heap: heapBytes, collect: runtime.GC}
}

// check collects when the heap is too large, unless nearly all of it was in use the last
// time. It may be nil.
func (b *backstop) check() {
	if b == nil || b.heap() < b.most {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := b.heap(); n < b.most || n < b.left+b.most/leastPart {
		return // somebody else has collected, or there is little garbage
	}
	b.collect()
	b.left = b.heap()
}

// heapBytes returns the bytes of objects in the heap, those that are garbage among them.
func heapBytes() int64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return int64(min(s[0].Value.Uint64(), math.MaxInt64))
}
