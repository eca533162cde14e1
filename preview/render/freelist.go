package render

import (
	"slices"
	"sort"
)

// span is a range [at, at+n) of a page.
type span struct{ at, n int }

func (s span) end() int { return s.at + s.n }

// freeList hands out ranges of [0, size) and takes them back: best fit, with
// neighbours joined on release, so that ranges of assets that come and go leave
// large holes for the next ones.
type freeList struct {
	free []span // by at; never adjacent, never empty
	size int
	used int
}

func newFreeList(size int) freeList {
	f := freeList{size: size}
	if size > 0 {
		f.free = []span{{0, size}}
	}
	return f
}

// alloc returns the start of n units in the smallest hole that has them.
func (f *freeList) alloc(n int) (span, bool) {
	if n <= 0 {
		return span{}, n == 0
	}
	best := -1
	for i := range f.free {
		if h := f.free[i].n; h >= n && (best < 0 || h < f.free[best].n) {
			if best = i; h == n {
				break
			}
		}
	}
	if best < 0 {
		return span{}, false
	}
	h := &f.free[best]
	s := span{h.at, n}
	if h.n == n {
		f.free = slices.Delete(f.free, best, best+1)
	} else {
		h.at, h.n = h.at+n, h.n-n
	}
	f.used += n
	return s, true
}

// release takes back what alloc gave.
func (f *freeList) release(s span) {
	if s.n <= 0 {
		return
	}
	f.used -= s.n
	i := sort.Search(len(f.free), func(i int) bool { return f.free[i].at > s.at })
	left := i > 0 && f.free[i-1].end() == s.at
	right := i < len(f.free) && f.free[i].at == s.end()
	switch {
	case left && right:
		f.free[i-1].n += s.n + f.free[i].n
		f.free = slices.Delete(f.free, i, i+1)
	case left:
		f.free[i-1].n += s.n
	case right:
		f.free[i] = span{s.at, s.n + f.free[i].n}
	default:
		f.free = slices.Insert(f.free, i, s)
	}
}
