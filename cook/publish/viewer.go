package publish

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/untoldkit/untold/cook/internal/publication"
	"github.com/untoldkit/untold/internal/blob"
	"github.com/untoldkit/untold/internal/mediatype"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/scenelist"
)

// Viewer is a page that shows the scenes of a place in a browser.
type Viewer struct {
	// Files are those that never change, by names with slashes: they go to a folder of
	// the place that is named by what is in them, so that an older page goes on with
	// its own.
	Files map[string][]byte
	// Front returns what lies beside the manifests, by names without slashes, and
	// leads to the files in a folder, which ends with a slash, and to the list of
	// scenes: an array of ListedScene.
	// What lies in their place is replaced when it is, byte for byte, what a version of
	// the place has written, and never otherwise.
	Front func(folder, scenes string) (map[string][]byte, error)
}

// ListedScene is a scene as the list for the page has it.
type ListedScene = scenelist.Scene

// ScenesName is the file that lists the scenes of a place for the page.
const ScenesName = scenelist.Name

// maxFront bounds the size of files that lead to the page.
const maxFront = 1 << 20

// ErrOccupied is matched by errors about files of others in the place of those that
// would be written. Nothing was sent then.
var ErrOccupied = errors.New("there is something else")

// page reads the files of the page, puts them into a version, and returns them with
// their keys.
func (r *run) page(next *publication.Version) ([]*file, error) {
	v := r.o.Viewer
	if v == nil {
		return nil, nil
	}
	var out []*file
	all := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(v.Files)) {
		data := append([]byte{}, v.Files[name]...)
		f := &file{source: name, rel: name, size: int64(len(data)), sha: hashOf(data), content: data}
		_, _ = io.WriteString(all, name+"\n"+f.sha+"\n") // a hash never fails
		out = append(out, f)
	}
	at := publication.ViewerFolder + hex.EncodeToString(all.Sum(nil))[:setDigits] + "/"
	for _, f := range out {
		f.key = at + f.source
		if err := blob.CheckKey(f.key); err != nil {
			return nil, fmt.Errorf("the page: %w", err)
		}
		next.Viewer = append(next.Viewer, publication.File{Key: f.key, Size: f.size, SHA256: f.sha})
	}
	slices.SortFunc(next.Viewer, func(a, b publication.File) int { return strings.Compare(a.Key, b.Key) })
	if next.Viewer == nil {
		return nil, errors.New("the page has no files")
	}
	fronts, err := r.fronts(next)
	for _, name := range slices.Sorted(maps.Keys(fronts)) {
		next.Front = append(next.Front, publication.File{Key: name, Size: int64(len(fronts[name])), SHA256: hashOf(fronts[name])})
	}
	return out, err
}

// viewerFolder returns where the files of a version's page are, with a slash at the end.
func viewerFolder(v *publication.Version) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(v.Viewer[0].Key, publication.ViewerFolder), "/")
	return publication.ViewerFolder + name + "/"
}

// fronts returns the files that lead to the page of a version, none when the page is
// another program's, whose files stay.
func (r *run) fronts(v *publication.Version) (map[string][]byte, error) {
	if r.o.Viewer == nil {
		return nil, nil
	}
	return r.o.Viewer.Front(viewerFolder(v), ScenesName)
}

// mayShow refuses to replace what is not of a page, or was changed. Before that nothing
// is sent.
func (r *run) mayShow(ctx context.Context, next, last *publication.Version, p past) error {
	if next.Viewer == nil {
		return nil
	}
	for i := range next.Scenes {
		if next.Scenes[i].Manifest == ScenesName {
			return fmt.Errorf("%w: a manifest is called %s, which is the list of scenes that the page reads: give it another name", ErrScene, ScenesName)
		}
	}
	fronts, err := r.fronts(next)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(fronts)) {
		now, err := r.small(ctx, name)
		if err != nil {
			return err
		}
		if now == nil || bytes.Equal(now, fronts[name]) {
			continue
		}
		if ours, err := r.wrote(ctx, p, name, now); err != nil {
			return err
		} else if !ours {
			return r.occupied(name)
		}
	}
	now, err := r.small(ctx, ScenesName)
	if err != nil || now == nil || last != nil && last.Viewer != nil {
		return err
	}
	if json.Unmarshal(now, new([]ListedScene)) != nil {
		return r.occupied(ScenesName)
	}
	return nil
}

// wrote reports whether a text is what a version of the place has put under a name. The
// newest ones are asked first; one that was stopped has put nothing.
func (r *run) wrote(ctx context.Context, p past, name string, text []byte) (bool, error) {
	sum := hashOf(text)
	for _, e := range slices.Backward(p) {
		v, err := r.load(ctx, e.number)
		if errors.Is(err, publication.ErrDamaged) || errors.Is(err, blob.ErrNotFound) {
			continue // what it alone has put counts as changed
		}
		if err != nil {
			return false, err
		}
		if slices.ContainsFunc(v.Front, func(f publication.File) bool { return f.Key == name && f.SHA256 == sum }) {
			return true, nil
		}
		if v.Viewer == nil || v.Front != nil {
			continue
		}
		// Older records do not say what was put, which is known for this page.
		if known, err := r.fronts(v); err != nil {
			return false, err
		} else if bytes.Equal(known[name], text) {
			return true, nil
		}
	}
	return false, nil
}

func (r *run) occupied(name string) error {
	return fmt.Errorf("%w: %s in %s is not as a publication of the page has put it, and would be replaced: nothing was sent; move it away, name another place, or publish without the page", ErrOccupied, name, r.to)
}

// small reads a small file of the place, nil when there is none.
func (r *run) small(ctx context.Context, key string) ([]byte, error) {
	data, err := blob.Read(ctx, r.to, key, maxFront)
	if errors.Is(err, blob.ErrNotFound) {
		return nil, nil
	}
	if err == nil && data == nil {
		data = []byte{}
	}
	return data, err
}

// front puts what leads to the page, and its list of scenes, where they have changed.
func (r *run) front(ctx context.Context, v *publication.Version, own []*scene) error {
	if v.Viewer == nil {
		return nil
	}
	list, err := r.list(ctx, v, own)
	if err != nil {
		return err
	}
	files, err := r.fronts(v)
	if err != nil {
		return err
	}
	names := append([]string{ScenesName}, slices.Sorted(maps.Keys(files))...)
	for _, name := range names {
		text := cmp.Or(string(files[name]), string(list))
		now, err := r.small(ctx, name)
		if err != nil {
			return err
		}
		if r.o.DryRun || bytes.Equal(now, []byte(text)) {
			continue
		}
		if err := r.put(ctx, name, []byte(text), PutOptions{ContentType: mediatype.Of(name), CacheControl: ManifestCache}); err != nil {
			return err
		}
	}
	return nil
}

// list writes the list of scenes. Those of other folders are read where they lie.
func (r *run) list(ctx context.Context, v *publication.Version, own []*scene) ([]byte, error) {
	out := []ListedScene{}
	for i := range v.Scenes {
		s := &v.Scenes[i]
		l := ListedScene{Path: s.Manifest}
		for _, f := range s.Files {
			if isPacked(s.Manifest, f.Key) {
				l.Packed = f.Key
				continue
			}
			l.Bytes += f.Size
		}
		if k := slices.IndexFunc(own, func(o *scene) bool { return o.manifest == s.Manifest }); k >= 0 {
			l.Tiles = len(own[k].doc.Tiles)
		} else if text, err := blob.Read(ctx, r.to, publication.ManifestKey(s.SHA256), manifest.MaxBytes); err == nil {
			if doc, err := manifest.Decode(text); err == nil { // else it is shown without
				l.Tiles = len(doc.Tiles)
			}
		}
		out = append(out, l)
	}
	return scenelist.Encode(out)
}
