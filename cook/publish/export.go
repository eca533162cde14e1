package publish

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/untoldkit/untold/cook/internal/publication"
	"github.com/untoldkit/untold/internal/atomicfile"
	"github.com/untoldkit/untold/internal/blob"
	"github.com/untoldkit/untold/internal/plainfile"
)

// Export writes the scenes of a cooked folder, or the one whose manifest is given, and
// the page of Options.Viewer, which is required, to a folder of their own, for any web
// server. The folder may hold an older export, of which what is not needed any more
// goes, and nothing else: otherwise, and when Run has published to it, the error matches
// ErrOccupied. Of the other options Jobs, DryRun, Compress,
// Memory and Progress are used.
func Export(ctx context.Context, dir, out string, o Options) (*Report, error) {
	if o.Viewer == nil {
		return nil, errors.New("the option Viewer is required")
	}
	to, err := blob.OpenFolder(out)
	if err != nil {
		return nil, err
	}
	return export(ctx, dir, to, out, o)
}

// export writes to a place that is the folder out.
func export(ctx context.Context, dir string, to Place, out string, o Options) (*Report, error) {
	o.Keep, o.Grace = 0, 0
	o.Jobs = cmp.Or(max(o.Jobs, 0), defaultJobs)
	r := &run{to: to, o: o, alone: true, memory: newWorkshop(&o), report: &Report{Place: to.String(), DryRun: o.DryRun, Scenes: []Scene{}, Sent: []Transfer{}, Copied: []Transfer{}}}
	if err := r.nothingElse(ctx, out); err != nil {
		return nil, err
	}
	if err := r.publish(ctx, dir); err != nil {
		return nil, err
	}
	if o.DryRun {
		return r.report, nil
	}
	return r.report, r.tidy(ctx)
}

// holdings are what the records of an export name.
type holdings struct {
	keys   map[string]bool
	fronts map[string][]string // SHA-256 of what was written, by keys
}

// holdings reads the records of a place, all of which have to be an export's.
func (r *run) holdings(ctx context.Context) (*holdings, error) {
	p, err := r.history(ctx)
	if err != nil {
		return nil, err
	}
	out := &holdings{map[string]bool{}, map[string][]string{}}
	for _, e := range p {
		v, err := r.load(ctx, e.number)
		if errors.Is(err, publication.ErrDamaged) {
			return nil, fmt.Errorf("%w: nobody can tell what of %s is of an export: %w; name another folder or empty it", ErrOccupied, r.to, err)
		}
		if err != nil {
			return nil, err
		}
		if !v.Export {
			return nil, fmt.Errorf("%w: %s was published to, and an export would remove its older versions and other scenes: name another folder, or publish to this one", ErrOccupied, r.to)
		}
		for _, key := range v.Keys() {
			out.keys[key] = true
		}
		if v.Viewer != nil {
			out.keys[ScenesName] = true
		}
		for _, f := range v.Front {
			out.fronts[f.Key] = append(out.fronts[f.Key], f.SHA256)
		}
	}
	return out, nil
}

// nothingElse refuses a folder with files that no export wrote.
func (r *run) nothingElse(ctx context.Context, out string) error {
	own, err := r.holdings(ctx)
	if err != nil {
		return err
	}
	strange := ""
	root := plainfile.RealPath(out) // a link is not walked through
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path == root {
			return fs.SkipAll
		}
		if err != nil || d.IsDir() {
			return err
		}
		if path == root { // what is no folder was refused before
			return fmt.Errorf("%w: %s is a link to what is not there; name a folder, or a path that is free", ErrOccupied, out)
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		key := filepath.ToSlash(rel)
		// An export that was stopped may leave the copy of a manifest without a record.
		if d.Type().IsRegular() && (own.keys[key] || atomicfile.IsTemp(key) || publication.IsManifestKey(key)) {
			return nil
		}
		if written := own.fronts[key]; d.Type().IsRegular() && written != nil {
			text, err := r.small(ctx, key)
			if err == nil && slices.Contains(written, hashOf(text)) {
				return nil
			}
			key += ", which was changed since it was exported"
		}
		strange = key
		return fs.SkipAll
	})
	if err != nil {
		return err
	}
	if strange != "" {
		return fmt.Errorf("%w: %s holds %s; name another folder or empty it", ErrOccupied, out, strange)
	}
	return nil
}

// tidy removes what older versions name and the newest does not: their records,
// payloads, pages, and manifests that are not there any more.
func (r *run) tidy(ctx context.Context) error {
	p, err := r.history(ctx)
	if err != nil {
		return err
	}
	v, err := r.load(ctx, p.last())
	if err != nil {
		return err
	}
	own, err := r.holdings(ctx)
	if err != nil {
		return err
	}
	for _, key := range v.Keys() {
		delete(own.keys, key)
	}
	delete(own.keys, ScenesName) // that of the newest
	for key := range own.fronts {
		own.keys[key] = true // nothingElse has compared it
	}
	for _, f := range v.Front {
		delete(own.keys, f.Key)
	}
	gone := map[string]int64{}
	for o, err := range r.to.List(ctx, "") {
		if err != nil {
			return err
		}
		if own.keys[o.Key] {
			gone[o.Key] = o.Size
		}
	}
	// Records go last: they tell what else is ours.
	keys := slices.Sorted(maps.Keys(gone))
	slices.SortStableFunc(keys, func(a, b string) int {
		return cmp.Compare(btoi(strings.HasPrefix(a, publication.Folder)), btoi(strings.HasPrefix(b, publication.Folder)))
	})
	for _, key := range keys {
		if err := r.to.Delete(ctx, key); err != nil {
			return err
		}
		if !strings.HasPrefix(key, publication.Folder) {
			r.report.Removed++
			r.report.RemovedBytes += gone[key]
		}
	}
	return nil
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
