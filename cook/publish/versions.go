package publish

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/untoldkit/untold/cook/internal/publication"
	"github.com/untoldkit/untold/internal/blob"
	"github.com/untoldkit/untold/manifest"
)

// past is what records there are, oldest first.
type past []entry

type entry struct {
	number int
	put    time.Time
}

// last returns the number of the newest version, 0 for none.
func (p past) last() int {
	if len(p) == 0 {
		return 0
	}
	return p[len(p)-1].number
}

// history lists the records.
func (r *run) history(ctx context.Context) (past, error) {
	var out past
	for o, err := range r.to.List(ctx, publication.Folder+"v") {
		if err != nil {
			return nil, err
		}
		if n, ok := publication.Number(o.Key); ok {
			out = append(out, entry{n, o.ModTime})
		}
	}
	slices.SortFunc(out, func(a, b entry) int { return cmp.Compare(a.number, b.number) })
	return out, nil
}

// latest reads the newest record, nil when there is none that can be used.
func (r *run) latest(ctx context.Context, p past) *publication.Version {
	if len(p) == 0 {
		return nil
	}
	v, err := r.load(ctx, p.last())
	if err != nil {
		r.note("the record of version %d cannot be used, so that files may get new addresses: %v", p.last(), err)
		return nil
	}
	return v
}

func (r *run) note(format string, args ...any) {
	r.report.Notes = append(r.report.Notes, fmt.Sprintf(format, args...))
}

// load reads a record.
func (r *run) load(ctx context.Context, number int) (*publication.Version, error) {
	data, err := blob.Read(ctx, r.to, publication.Key(number), manifest.MaxBytes)
	if err != nil {
		return nil, err
	}
	return publication.Parse(data, number)
}

// record writes the copies of manifests and then the record of a version, for which
// nobody else may have taken the number.
func (r *run) record(ctx context.Context, v *publication.Version, manifests map[string][]byte) error {
	for _, sha := range slices.Sorted(maps.Keys(manifests)) {
		if err := r.put(ctx, publication.ManifestKey(sha), manifests[sha], PutOptions{ContentType: "application/json", CacheControl: "no-cache"}); err != nil {
			return err
		}
	}
	data, err := v.Encode()
	if err != nil {
		return err
	}
	err = r.put(ctx, publication.Key(v.Number), data, PutOptions{IfAbsent: true, ContentType: "application/json", CacheControl: "no-cache"})
	if errors.Is(err, blob.ErrExists) {
		// An attempt whose answer was lost has written it as well.
		if got, e := blob.Read(ctx, r.to, publication.Key(v.Number), int64(len(data))); e == nil && bytes.Equal(got, data) {
			return nil
		}
		return fmt.Errorf("%w to %s: publish again: %w", ErrRace, r.to, err)
	}
	return err
}

func (r *run) put(ctx context.Context, key string, data []byte, o PutOptions) error {
	return r.to.Put(ctx, key, bytes.NewReader(data), int64(len(data)), o)
}

// texts returns the manifests of scenes by their hashes.
func texts(scenes []*scene) map[string][]byte {
	out := map[string][]byte{}
	for _, s := range scenes {
		out[s.record().SHA256] = s.text
	}
	return out
}

// Versions lists the numbers of the versions that a place has, oldest first.
func Versions(ctx context.Context, at Place) ([]int, error) {
	r := &run{to: at, report: &Report{}}
	p, err := r.history(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]int, len(p))
	for i := range p {
		out[i] = p[i].number
	}
	return out, nil
}

// Rollback publishes an older version again: its manifests become those of a new
// version. Its payloads must be there: they are while Options.Keep, or a version since
// then, has kept them. Of the options it uses DryRun and Jobs.
func Rollback(ctx context.Context, at Place, number int, o Options) (*Report, error) {
	o.Jobs = cmp.Or(max(o.Jobs, 0), defaultJobs)
	r := &run{to: at, o: o, report: &Report{Place: at.String(), DryRun: o.DryRun, Scenes: []Scene{}, Sent: []Transfer{}, Copied: []Transfer{}}}
	p, err := r.history(ctx)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(p, func(e entry) bool { return e.number == number }) {
		numbers := make([]string, len(p))
		for i := range p {
			numbers[i] = strconv.Itoa(p[i].number)
		}
		return nil, fmt.Errorf("%w: %s has no version %d: it has %s", ErrVersion, at, number, cmp.Or(strings.Join(numbers, ", "), "none"))
	}
	old, err := r.load(ctx, number)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrVersion, err)
	}
	if err := r.complete(ctx, old, true); err != nil {
		return nil, err
	}
	manifests := map[string][]byte{}
	for i := range old.Scenes {
		s := &old.Scenes[i]
		text, err := blob.Read(ctx, at, publication.ManifestKey(s.SHA256), manifest.MaxBytes)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrVersion, err)
		}
		if hashOf(text) != s.SHA256 {
			return nil, fmt.Errorf("%w: the copy of %s is damaged", ErrVersion, s.Manifest)
		}
		manifests[s.SHA256] = text
	}
	last := r.latest(ctx, p)
	// The page stays as it is: it shows scenes of all versions.
	next := &publication.Version{Number: p.last() + 1, Scenes: slices.Clone(old.Scenes)}
	next.Carry(last)
	r.report.Previous, r.report.Version = p.last(), p.last()
	if !next.Same(last) {
		r.report.Version = next.Number
		if !o.DryRun {
			if err := r.record(ctx, next, manifests); err != nil {
				return nil, err
			}
			if err := r.complete(ctx, old, false); err != nil {
				return nil, err
			}
		}
	}
	for i := range old.Scenes {
		s := &old.Scenes[i]
		if err := r.show(ctx, s.Manifest, manifests[s.SHA256]); err != nil {
			return nil, err
		}
	}
	r.report.Viewer = next.Viewer != nil
	if err := r.front(ctx, next, nil); err != nil {
		return nil, err
	}
	return r.report, nil
}

// complete refuses a version whose payloads are not all there, and counts them; with deep it
// looks into them where the place is a folder.
func (r *run) complete(ctx context.Context, v *publication.Version, deep bool) error {
	var files []*file
	for i := range v.Scenes {
		for _, f := range v.Scenes[i].Files {
			files = append(files, &file{key: f.Key, size: f.Size, sha: f.SHA256})
		}
	}
	look := r.missing
	if deep {
		look = func(ctx context.Context, files []*file) ([]*file, error) {
			missing, _, err := r.missingOrDamaged(ctx, files)
			return missing, err
		}
	}
	missing, err := look(ctx, files)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		return fmt.Errorf("%w: of version %d %d of %d files are not in %s any more, or not as they were, the first is %s: publish the folder that it came from", ErrVersion, v.Number, len(missing), len(files), r.to, missing[0].key)
	}
	r.report.Files, r.report.Bytes = len(files), 0
	for _, f := range files {
		r.report.Bytes += f.size
	}
	return nil
}
