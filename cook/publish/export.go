package publish

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/untoldkit/untold/cook/internal/publication"
	"github.com/untoldkit/untold/internal/atomicfile"
	"github.com/untoldkit/untold/internal/blob"
)

// Export writes the scenes of a cooked folder, or the one whose manifest is given, and
// the page of Options.Viewer, which is required, to a folder of their own, for any web
// server. The folder may hold an older export, of which what is not needed any more
// goes, and nothing else: otherwise the error matches ErrOccupied. Of the other options
// Jobs, DryRun and Progress are used.
func Export(ctx context.Context, dir, out string, o Options) (*Report, error) {
	if o.Viewer == nil {
		return nil, errors.New("the option Viewer is required")
	}
	to, err := blob.OpenFolder(out)
	if err != nil {
		return nil, err
	}
	o.Keep, o.Grace = 0, 0
	if o.Jobs <= 0 {
		o.Jobs = 8
	}
	r := &run{to: to, o: o, alone: true, report: &Report{Place: to.String(), DryRun: o.DryRun, Scenes: []Scene{}, Sent: []Transfer{}, Copied: []Transfer{}}}
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

// payloadKey is what payloads of scenes and files of pages are called, as their names
// tell.
var payloadKey = regexp.MustCompile(`(^|/)payloads/([0-9a-f]{64}\.[0-9A-Za-z]+$|[0-9a-f]{32}/|viewer-[0-9a-f]{32}/)`)

// manifestsOf returns the keys of the manifests of all versions that a place knows.
func (r *run) manifestsOf(ctx context.Context) (map[string]bool, error) {
	p, err := r.history(ctx)
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for _, e := range p {
		v, err := r.load(ctx, e.number)
		if err != nil {
			continue // what it alone names is found to be of somebody else
		}
		for i := range v.Scenes {
			out[v.Scenes[i].Manifest] = true
		}
	}
	return out, nil
}

// nothingElse refuses a folder with files that no export wrote.
func (r *run) nothingElse(ctx context.Context, out string) error {
	known, err := r.manifestsOf(ctx)
	if err != nil {
		return err
	}
	fronts, err := r.o.Viewer.Front("", ScenesName)
	if err != nil {
		return err
	}
	strange := ""
	err = filepath.WalkDir(out, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path == out {
			return fs.SkipAll
		}
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(out, path)
		if err != nil {
			return err
		}
		key := filepath.ToSlash(rel)
		switch ours := known[key] || strings.HasPrefix(key, publication.Folder) || payloadKey.MatchString(key); {
		case d.Type().IsRegular() && (ours || atomicfile.IsTemp(key)):
			return nil
		case d.Type().IsRegular() && key == ScenesName && len(known) > 0:
			return nil
		case d.Type().IsRegular() && fronts[key] != nil:
			if text, err := r.small(ctx, key); err == nil && r.o.Viewer.Ours(text) {
				return nil
			}
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

// tidy removes what the newest version does not name: older ones, their payloads and
// pages, and manifests that are not there any more.
func (r *run) tidy(ctx context.Context) error {
	p, err := r.history(ctx)
	if err != nil {
		return err
	}
	v, err := r.load(ctx, p.last())
	if err != nil {
		return err
	}
	old, err := r.manifestsOf(ctx)
	if err != nil {
		return err
	}
	named := map[string]bool{publication.Key(v.Number): true}
	for _, f := range v.Viewer {
		named[f.Key] = true
	}
	for i := range v.Scenes {
		s := &v.Scenes[i]
		named[s.Manifest], named[publication.ManifestKey(s.SHA256)] = true, true
		for _, f := range s.Files {
			named[f.Key] = true
		}
	}
	gone := map[string]int64{}
	for key := range old {
		if !named[key] {
			gone[key] = 0
		}
	}
	for o, err := range r.to.List(ctx, "") {
		if err != nil {
			return err
		}
		if !named[o.Key] && (strings.HasPrefix(o.Key, publication.Folder) || payloadKey.MatchString(o.Key)) {
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
