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

// interleaved returns the attributes of a primitive that are read together, nil for none.
func (g *geometry) interleaved(pl *plan) *interleaved {
	if g.cache.keepsAll() {
		return nil
	}
	w, n := &interleaved{}, 0
	for _, j := range [...]*job{pl.position, pl.normal, pl.tangent, pl.uv[0], pl.uv[1], pl.color} {
		if j == nil || !j.lies() {
			continue
		}
		at := j.acc.at
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
		return nil
	}
	return w
}

// lies reports whether there is something between the elements of a job, and all of them
// lie in a file.
func (j *job) lies() bool {
	a := j.acc
	switch a.at.store.(type) {
	case *inFile, *external:
		return a.sparse == nil && a.stride > a.comps*componentSize(a.ct)
	}
	return false
}

// accessor returns that of a job, with its bytes among those that are read together where
// they are.
func (w *interleaved) accessor(j *job) *accessor {
	if w == nil || !j.lies() || j.acc.at.store != w.span.store {
		return j.acc
	}
	at := j.acc.at
	if at.off < w.span.off || at.off+at.n > w.span.off+w.span.n {
		return j.acc
	}
	a := *j.acc
	a.at = extent{w, at.off - w.span.off, at.n}
	return &a
}

// reader implements store. Nothing is read where all attributes are in the cache.
func (w *interleaved) reader() (ranges, func(), error) {
	w.once.Do(func() { w.data, w.err = w.span.bytes() })
	return ranges{all: w.data}, func() {}, w.err
}
