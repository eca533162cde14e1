package serve

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"sync"
)

// Fault is an injected failure.
type Fault string

// The faults. A response without a body cannot be cut short: an abort closes
// its connection before the header, a truncation becomes a status.
const (
	NoFault Fault = ""
	// FaultStatus answers with Options.FailStatus instead of the file.
	FaultStatus Fault = "status"
	// FaultAbort sends the header and half of the body, then ends the connection
	// (HTTP/2: the stream). The client sees an error.
	FaultAbort Fault = "abort"
	// FaultTruncate sends half of the body under a Content-Length that says so.
	// Only the manifest's size and hash tell it from the file.
	FaultTruncate Fault = "truncate"
)

// Faults lists all faults.
func Faults() []Fault { return []Fault{FaultStatus, FaultAbort, FaultTruncate} }

// ParseFaults reads a list of faults such as "status,abort".
func ParseFaults(text string) ([]Fault, error) {
	var list []Fault
	for name := range strings.SplitSeq(text, ",") {
		f := Fault(strings.TrimSpace(name))
		if !slices.Contains(Faults(), f) {
			return nil, fmt.Errorf("serve: %q is no fault: use status, abort or truncate", f)
		}
		if !slices.Contains(list, f) {
			list = append(list, f)
		}
	}
	return list, nil
}

// maxCounted bounds the memory for counters; beyond, counting starts over.
const maxCounted = 1 << 16

// maxKey bounds what is kept of a path and a range, which clients make as long
// as they like: of more its hash counts.
const maxKey = 256

// faults chooses which requests fail.
type faults struct {
	rate  float64
	kinds []Fault
	seed  uint64

	mu    sync.Mutex
	count map[string]uint64 // requests by path and range
}

// choose returns the fault of the next request for a range ("" for all) of a
// file. The n-th request for it always gets the same answer, in whatever order
// those for other files come between.
func (f *faults) choose(path, byteRange string) Fault {
	if f.rate <= 0 {
		return NoFault
	}
	key := path + "\x00" + byteRange
	counted := key
	if len(key) > maxKey {
		sum := sha256.Sum256([]byte(key))
		counted = string(sum[:])
	}
	f.mu.Lock()
	if len(f.count) >= maxCounted {
		clear(f.count)
	}
	n := f.count[counted]
	f.count[counted] = n + 1
	f.mu.Unlock()

	h := fnv.New64a()
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], f.seed)
	binary.LittleEndian.PutUint64(b[8:], n)
	h.Write(b[:])
	h.Write([]byte(key))
	x := mix(h.Sum64())
	if float64(x>>11)/(1<<53) >= f.rate {
		return NoFault
	}
	return f.kinds[mix(x)%uint64(len(f.kinds))]
}

// mix is the finalizer of SplitMix64 (Steele, Lea, Flood: "Fast splittable
// pseudorandom number generators", 2014), behind a step of its sequence.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
