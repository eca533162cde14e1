package gltfscene

import "sync"

// interleaved are attributes of a primitive whose elements lie between each other in a
// file, so that reading one reads the others: they are read once together.
type interleaved struct {
	span extent // all of them
	once sync.Once
	data []byte
	err  error
}

// mostTogether is how many bytes are read together at most; longer ones are read in parts
// for each attribute.
const mostTogether = 16 << 20

// readTogether moves the accessors of a primitive that are read together, so that their
// bytes lie among those of all of them. Those of attributes that it lacks are nil.
func readTogether(accs []*accessor) {
	w, n := &interleaved{}, 0
	for _, a := range accs {
		if a == nil || !a.lies() {
			continue
		}
		at := a.at
		switch s := &w.span; {
		case n == 0:
			*s = at
		case at.store != s.store || at.off >= s.off+s.n || s.off >= at.off+at.n:
			continue
		default:
			end := max(s.off+s.n, at.off+at.n)
			s.off = min(s.off, at.off)
			s.n = end - s.off
		}
		n++
	}
	if n < 2 || w.span.n > mostTogether {
		return
	}
	for _, a := range accs {
		if a == nil || !a.lies() || a.at.store != w.span.store {
			continue
		}
		if a.at.off >= w.span.off && a.at.off+a.at.n <= w.span.off+w.span.n {
			a.at = extent{w, a.at.off - w.span.off, a.at.n}
		}
	}
}

// lies reports whether there is something between the elements of an accessor, and all of
// them lie in a file.
func (a *accessor) lies() bool {
	switch a.at.store.(type) {
	case *inFile, *external:
		return a.sparse == nil && a.stride > a.comps*componentSize(a.ct)
	}
	return false
}

// reader implements store. Nothing is read where all attributes are in the cache.
func (w *interleaved) reader() (ranges, func(), error) {
	w.once.Do(func() { w.data, w.err = w.span.bytes() })
	return ranges{all: w.data}, func() {}, w.err
}
