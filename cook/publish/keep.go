package publish

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/untoldkit/untold/cook/internal/publication"
)

// prune removes what no version that stays names.
func (r *run) prune(ctx context.Context) error {
	if r.o.Keep == 0 {
		return nil
	}
	p, err := r.history(ctx)
	if err != nil {
		return err
	}
	named, prefixes := map[string]bool{}, map[string]bool{}
	var gone []int
	for i, e := range p {
		stays := i >= len(p)-r.o.Keep || r.young(p[i+1].put)
		v, err := r.load(ctx, e.number)
		if err != nil {
			if stays {
				r.note("nothing was removed, since nobody can tell what version %d consists of: %v", e.number, err)
				return nil
			}
			gone = append(gone, e.number)
			continue
		}
		if len(v.Viewer) > 0 {
			prefixes[publication.ViewerFolder] = true
		}
		for _, f := range v.Viewer {
			named[f.Key] = named[f.Key] || stays
		}
		for k := range v.Scenes {
			s := &v.Scenes[k]
			prefixes[publication.Payloads(s.Manifest)] = true
			if !stays {
				continue
			}
			named[publication.ManifestKey(s.SHA256)] = true
			for _, f := range s.Files {
				named[f.Key] = true
			}
		}
		if !stays {
			gone = append(gone, e.number)
		}
	}
	// Records first: one that is there names files that are there.
	for _, n := range gone {
		if err := r.to.Delete(ctx, publication.Key(n)); err != nil {
			return err
		}
	}
	for _, at := range append(slices.Sorted(maps.Keys(prefixes)), publication.Folder) {
		if err := r.sweep(ctx, at, named); err != nil {
			return err
		}
	}
	return nil
}

// young reports whether the grace since a time is not over. A clock that is behind
// that of the place makes nothing older.
func (r *run) young(t time.Time) bool { return r.o.Now.Sub(t) < r.o.Grace }

// sweep removes what is not named below a prefix.
func (r *run) sweep(ctx context.Context, at string, named map[string]bool) error {
	var old []Info
	for o, err := range r.to.List(ctx, at) {
		if err != nil {
			return err
		}
		if _, record := publication.Number(o.Key); record || named[o.Key] || r.young(o.ModTime) {
			continue
		}
		old = append(old, o)
	}
	err := r.each(ctx, "remove", len(old), func(i int) error { return r.to.Delete(ctx, old[i].Key) })
	if err != nil || at == publication.Folder {
		return err
	}
	for _, o := range old {
		r.report.Removed++
		r.report.RemovedBytes += o.Size
	}
	return nil
}
