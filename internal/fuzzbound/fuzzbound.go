// Package fuzzbound bounds what one input of a fuzz target may cost. The
// engine itself waits for ever for an input that does not end, and notices one
// that takes gigabytes only when the machine has none left.
package fuzzbound

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"testing"
	"time"
)

// Limits are what an input may cost. They are far above what a sound input
// takes, so that a slow machine does not fail.
type Limits struct {
	// Alloc is the number of bytes that may be allocated in all, freed or not,
	// beside PerByte for every byte of the input.
	Alloc, PerByte uint64
	// Time ends the process, with the stacks of all goroutines, when the input
	// takes longer. The default is a minute.
	Time time.Duration
}

// Run calls f and fails the test if that allocates more than an input of size
// bytes may. It must not be called by several goroutines of a process at once:
// what all of them allocate counts.
func Run(t testing.TB, size int, l Limits, f func()) {
	t.Helper()
	if l.Time == 0 {
		l.Time = time.Minute
	}
	late := time.AfterFunc(l.Time, func() {
		buf := make([]byte, 1<<20)
		panic(fmt.Sprintf("%s: an input takes more than %v\n%s", t.Name(), l.Time, buf[:runtime.Stack(buf, true)]))
	})
	defer late.Stop()
	if n, most := Allocated(f), l.Alloc+l.PerByte*uint64(size); n > most {
		t.Errorf("%d bytes allocated for an input of %d, at most %d are allowed", n, size, most)
	}
}

// Allocated calls f and returns how many bytes the process allocates meanwhile,
// freed or not, other goroutines too.
func Allocated(f func()) uint64 {
	before := allocations()
	f()
	return allocations() - before
}

func allocations() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}
