package remote

import (
	"sync"
)

const (
	// enoughProbes is how many files of a scene are looked at before the scene is
	// taken to have none that can be read by ranges.
	enoughProbes = 4
	// maxReplaced is how often a file may turn out to be another version while it is
	// read by ranges; then it is fetched whole. Otherwise hosts behind one address that
	// disagree about its ETag would make it begin anew for ever.
	maxReplaced = 3
)

// rangeFiles are the range files of a Fetcher, and what it has learned about which
// files can be read by ranges.
type rangeFiles struct {
	mu     sync.Mutex
	open   map[string]*rangeFile // by their names in the cache
	asked  map[*rangeFile]bool   // those that a payload.Request has opened
	probes map[string]probes     // by the base of the scene
	// replacements counts, by names in the cache, how often the blocks of a file were
	// of a version that is gone, since all of it has last come.
	replacements map[string]int
}

// probes counts what the first looks at files of a scene have shown.
type probes struct{ fit, unfit int }

func newRangeFiles() rangeFiles {
	return rangeFiles{
		open: map[string]*rangeFile{}, asked: map[*rangeFile]bool{}, probes: map[string]probes{}, replacements: map[string]int{},
	}
}

func (x *rangeFiles) get(name string) *rangeFile {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.open[name]
}

// add registers a file for all who want it, unless somebody was faster, whose file it
// returns.
func (x *rangeFiles) add(r *rangeFile) *rangeFile {
	x.mu.Lock()
	defer x.mu.Unlock()
	if known := x.open[r.s.name]; known != nil {
		return known
	}
	x.open[r.s.name] = r
	return r
}

// remove forgets a file. replaced says that this is since its version is gone.
func (x *rangeFiles) remove(r *rangeFile, replaced bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if replaced {
		x.replacements[r.s.name]++
	}
	if x.open[r.s.name] == r {
		delete(x.open, r.s.name)
	}
	delete(x.asked, r)
}

// replacedTooOften reports whether a file is to be fetched whole.
func (x *rangeFiles) replacedTooOften(name string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.replacements[name] >= maxReplaced
}

// forgetReplacements is called when all of one version of a file has come.
func (x *rangeFiles) forgetReplacements(name string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.replacements, name)
}

// note counts a file for saved.
func (x *rangeFiles) note(r *rangeFile) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.asked[r] = true
}

// saved sums up what was not fetched of the files that requests have opened.
func (x *rangeFiles) saved() (sum int64) {
	x.mu.Lock()
	list := make([]*rangeFile, 0, len(x.asked))
	for r := range x.asked {
		list = append(list, r)
	}
	x.mu.Unlock()
	for _, r := range list {
		sum += r.Size() - r.partial.Stored()
	}
	return sum
}

// probing reports whether files of a scene are to be looked at: not when all of the
// first ones were unfit.
func (x *rangeFiles) probing(base string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	n := x.probes[base]
	return n.fit > 0 || n.unfit < enoughProbes
}

func (x *rangeFiles) probed(base string, n int, fit bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	p := x.probes[base]
	if fit {
		p.fit += n
	} else {
		p.unfit += n
	}
	x.probes[base] = p
}
