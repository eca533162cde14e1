package publish

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/untoldkit/untold/cook/internal/publication"
	"github.com/untoldkit/untold/internal/blob"
	"github.com/untoldkit/untold/internal/mediatype"
	"github.com/untoldkit/untold/manifest"
)

// inMemory is the largest file that is hashed again in memory right before it is
// sent. Larger ones are compared by size, time of change and identity.
const inMemory = 8 << 20

// missing asks the place which files it does not have, or has with another size.
func (r *run) missing(ctx context.Context, files []*file) ([]*file, error) {
	out, _, err := r.look(ctx, files)
	return out, err
}

// missingOrDamaged is missing that looks into what the place has, too; see compares.
func (r *run) missingOrDamaged(ctx context.Context, files []*file) (missing, damaged []*file, err error) {
	missing, there, err := r.look(ctx, files)
	if err != nil {
		return nil, nil, err
	}
	if damaged, err = r.damaged(ctx, there); err != nil {
		return nil, nil, err
	}
	missing = append(missing, damaged...)
	slices.SortFunc(missing, func(a, b *file) int { return strings.Compare(a.key, b.key) })
	return missing, damaged, nil
}

// look asks the place for names and sizes.
func (r *run) look(ctx context.Context, files []*file) (missing, there []*file, err error) {
	want := map[string]*file{}
	r.there = map[string]int64{}
	prefixes := map[string]bool{}
	for _, f := range files {
		want[f.key] = f
		prefixes[prefixOf(f.key)] = true
	}
	for _, at := range slices.Sorted(maps.Keys(prefixes)) {
		for o, err := range r.to.List(ctx, at) {
			if err != nil {
				return nil, nil, err
			}
			r.there[o.Key] = o.Size
			if f := want[o.Key]; f != nil && f.size == o.Size {
				there = append(there, f)
				delete(want, o.Key)
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		missing = append(missing, want[key])
	}
	return missing, there, nil
}

// prefixOf returns the prefix of payloads that a key lies below.
func prefixOf(key string) string {
	const name = "payloads/"
	if strings.HasPrefix(key, name) {
		return name
	}
	return key[:strings.Index(key, "/"+name)+1+len(name)]
}

// lookForCopies finds the files whose content the last version has under another key,
// in a place that copies by itself.
func (r *run) lookForCopies(ctx context.Context, missing []*file, last *publication.Version) error {
	if _, ok := r.to.(blob.Copier); !ok || last == nil {
		return nil
	}
	have := map[string]string{} // SHA-256 to key
	look := func(files []publication.File) {
		for _, f := range files {
			if size, ok := r.there[f.Key]; ok && size == f.Size {
				have[f.SHA256] = f.Key
			}
		}
	}
	for i := range last.Scenes {
		look(last.Scenes[i].Files)
	}
	look(last.Viewer)
	for _, f := range missing {
		if key := have[f.sha]; key != "" && r.there[key] == f.size {
			f.twin = key
		}
	}
	if !r.compares() {
		return nil
	}
	return r.each(ctx, "compare", len(missing), func(i int) error {
		f := missing[i]
		if f.twin == "" {
			return nil
		}
		sum, err := r.hashThere(ctx, f.twin)
		if sum != f.sha {
			f.twin = ""
		}
		return err
	})
}

// send puts files to their keys.
func (r *run) send(ctx context.Context, files []*file) error {
	return r.each(ctx, "send", len(files), func(i int) error { return r.sendOne(ctx, files[i]) })
}

// sendOne puts a file, unless it is not the one that was hashed.
func (r *run) sendOne(ctx context.Context, f *file) error {
	o := PutOptions{ContentType: mediatype.Of(f.key), CacheControl: PayloadCache}
	if c, ok := r.to.(blob.Copier); ok && f.twin != "" {
		// One that has gone meanwhile, or is too large to be copied, is sent.
		err := c.Copy(ctx, f.twin, f.key, o)
		if err == nil || ctx.Err() != nil || errors.Is(err, blob.ErrUnreachable) {
			return err
		}
	}
	if f.content != nil {
		return r.put(ctx, f.key, f.content, o)
	}
	in, err := f.open()
	if err != nil {
		return f.wrong(err)
	}
	defer in.Close()
	if f.repacked != nil {
		free, err := r.memory.take(ctx, f.repacked)
		if err != nil {
			return err
		}
		defer free()
		data, err := f.pack(in)
		if err != nil {
			return err
		}
		return r.put(ctx, f.key, data, o)
	}
	if f.size > inMemory {
		if err := f.unchanged(in); err != nil {
			return err
		}
		if err := r.to.Put(ctx, f.key, in, f.size, o); err != nil {
			return err
		}
		if err := f.unchanged(in); err != nil {
			return errors.Join(err, r.to.Delete(ctx, f.key))
		}
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(in, f.size+1))
	if err != nil {
		return f.wrong(err)
	}
	if hashOf(data) != f.sha {
		return f.changed()
	}
	return r.put(ctx, f.key, data, o)
}

// unchanged compares an open file with the one that was hashed.
func (f *file) unchanged(in *os.File) error {
	st, err := in.Stat()
	if err != nil {
		return f.wrong(err)
	}
	if !os.SameFile(st, f.stat) || st.Size() != f.size || !st.ModTime().Equal(f.stat.ModTime()) {
		return f.changed()
	}
	return nil
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// unveil puts the manifests of scenes where readers look for them.
func (r *run) unveil(ctx context.Context, scenes []*scene) error {
	for _, s := range scenes {
		if err := r.show(ctx, s.manifest, s.text); err != nil {
			return err
		}
	}
	return nil
}

// show puts a manifest unless the place has the same; a dry run looks only.
func (r *run) show(ctx context.Context, key string, text []byte) error {
	now, err := blob.Read(ctx, r.to, key, manifest.MaxBytes)
	if err != nil && !errors.Is(err, blob.ErrNotFound) {
		return err
	}
	changed := err != nil || !bytes.Equal(now, text)
	r.report.Scenes = append(r.report.Scenes, Scene{Manifest: key, Changed: changed})
	if !changed || r.o.DryRun {
		return nil
	}
	return r.put(ctx, key, text, PutOptions{ContentType: mediatype.Of(key), CacheControl: ManifestCache})
}
