package cook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/untoldkit/untold/cook/internal/texture"
	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/internal/journal"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/partition"
)

// textureExts end the names of the textures that a cook writes.
var textureExts = []string{".png", ".jpg", ".utex", ".ktx2"}

// neighbours are the other scenes of an output folder.
type neighbours struct {
	names map[string]string // folded payload names -> manifest
}

// otherScenes reads the manifests of other scenes in the folder. It refuses a
// second scene in one payload folder, where tiles have the same names.
func otherScenes(dir, file, payloadDir string) (*neighbours, error) {
	n := &neighbours{names: map[string]string{}}
	found, err := journal.Names(dir)
	if err != nil {
		return n, nil // damaged: this cook replaces it
	}
	for _, name := range found {
		at := filepath.Join(dir, name)
		if !strings.EqualFold(filepath.Ext(name), ".json") || name == file {
			continue
		}
		if st, err := journal.Stat(at); err != nil || !st.Mode().IsRegular() {
			continue // to read a pipe would block
		}
		m, err := manifest.Load(at)
		if err != nil || m.DryRun {
			continue
		}
		if journal.Fold(name) == journal.Fold(file) {
			return nil, fmt.Errorf("cook: %s already holds the scene of %s, and not all file systems tell that name from %s, which differs by case alone; choose another output folder, or give the scene file its old name", dir, name, file)
		}
		if journal.Fold(path.Clean(m.PayloadDir)) == journal.Fold(payloadDir) {
			return nil, fmt.Errorf("cook: %s already holds the scene of %s in the folder %q; choose another output folder or --payload-dir", dir, name, payloadDir)
		}
		for _, p := range slices.Concat(m.Payloads(), m.ColorTables()) {
			n.names[journal.Fold(path.Clean(p))] = name
		}
	}
	return n, nil
}

// check refuses to write over the files of another scene.
func (n *neighbours) check(files []string) error {
	for _, f := range files {
		if m, ok := n.names[journal.Fold(f)]; ok {
			return fmt.Errorf("cook: %s belongs to the scene of %s; choose another output folder or --payload-dir", f, m)
		}
	}
	return nil
}

// oldScene is what an earlier cook of a scene has left.
type oldScene struct {
	o          *output
	m          *manifest.Manifest
	payloads   []string // containers in the payload folder
	textures   []string // that these name, and the colour table
	neighbours *neighbours
}

// readOldScene reads the manifest that is about to be replaced and the texture
// names of its containers; nil when there is none. Nothing is read through a
// link.
func (o *output) readOldScene(ctx context.Context, file string, n *neighbours, jobs int) (*oldScene, error) {
	m, err := o.readManifest(file)
	if m == nil || err != nil {
		return nil, err
	}
	s := &oldScene{o: o, m: m, neighbours: n}
	for _, p := range m.Payloads() {
		if !s.owns(p) || !strings.HasSuffix(p, partition.PayloadExt) {
			continue
		}
		reached, err := journal.Reaches(o.files, p)
		if err != nil {
			return nil, oldError(p, err)
		}
		if reached {
			s.payloads = append(s.payloads, p)
		}
	}
	slices.Sort(s.payloads)
	s.payloads = slices.Compact(s.payloads)
	s.textures, err = o.texturesOf(ctx, s.payloads, jobs)
	if g := m.ColorGradeLUT; g != nil && strings.HasSuffix(g.URI, gradeEnd) { // others may be anybody's
		s.textures = append(s.textures, g.URI)
	}
	s.textures = slices.DeleteFunc(s.textures, func(t string) bool { return !s.owns(t) })
	return s, err
}

// owns reports whether a name lies in the old scene's payload folder.
func (s *oldScene) owns(name string) bool {
	dir := s.m.PayloadDir
	return dir != "" && path.Clean(dir) == dir && dir != "." && strings.HasPrefix(name, dir+"/") && journal.CheckPath(name) == nil
}

// oldError is about a file of the old scene that cannot be read. To go on would
// leave files of it for ever.
func oldError(name string, err error) error {
	return fmt.Errorf("cook: reading the scene that is to be replaced: %s: %w", name, err)
}

// readManifest reads a manifest in its place, nil when there is none.
func (o *output) readManifest(file string) (*manifest.Manifest, error) {
	st, err := o.files.Lstat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, oldError(file, err)
	case !st.Mode().IsRegular() || st.Size() > manifest.MaxBytes:
		return nil, nil
	}
	f, err := o.files.Open(file)
	if err != nil {
		return nil, oldError(file, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, manifest.MaxBytes))
	if err != nil {
		return nil, oldError(file, err)
	}
	m, err := manifest.Decode(data)
	if err != nil {
		return nil, nil // another kind of file
	}
	return m, nil
}

// texturesOf lists the textures in the folder beside containers that these
// name, sorted. Containers that cannot be read name none.
func (o *output) texturesOf(ctx context.Context, containers []string, jobs int) ([]string, error) {
	lists := make([][]string, len(containers))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(jobs, 1))
	for i, c := range containers {
		g.Go(func() error {
			var err error
			if lists[i], err = o.texturesIn(c); err != nil {
				return oldError(c, err)
			}
			return ctx.Err()
		})
	}
	err := g.Wait()
	all := slices.Concat(lists...)
	slices.Sort(all)
	return slices.Compact(all), err
}

// texturesIn lists what one container names.
func (o *output) texturesIn(container string) (out []string, err error) {
	st, err := o.files.Lstat(container)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !st.Mode().IsRegular():
		return nil, nil
	}
	f, err := o.files.Open(container)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := format.NewReader(f, st.Size())
	if err != nil {
		return nil, nil // damaged: it names none
	}
	for _, t := range r.Textures() {
		name := path.Join(path.Dir(container), r.String(t.URIOffset))
		if path.Dir(name) == path.Join(path.Dir(container), texture.Folder) &&
			slices.Contains(textureExts, strings.ToLower(path.Ext(name))) && journal.CheckPath(name) == nil {
			out = append(out, name)
		}
	}
	return out, nil
}

// stale lists the files of the old scene that the new one does not have: its
// textures that nobody else in their folder names, then its containers.
func (s *oldScene) stale(ctx context.Context, fresh []string, jobs int) ([]string, error) {
	if s == nil {
		return nil, nil
	}
	stays := map[string]string{}
	for _, f := range fresh {
		stays[journal.Fold(f)] = f
	}
	for f := range s.neighbours.names {
		stays[f] = f
	}
	foreign, err := s.foreign(stays)
	if err != nil {
		return nil, err
	}
	others, err := s.o.texturesOf(ctx, foreign, jobs)
	if err != nil {
		return nil, err
	}
	for _, f := range others {
		stays[journal.Fold(f)] = f
	}
	var out []string
	for _, f := range slices.Concat(s.textures, s.payloads) {
		by, ok := stays[journal.Fold(f)]
		reached, err := journal.Reaches(s.o.files, f)
		if err != nil {
			return nil, oldError(f, err)
		}
		if !reached || ok && s.o.same(f, by) {
			continue
		}
		st, err := s.o.files.Lstat(f)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, oldError(f, err)
		}
		if err == nil && !st.IsDir() {
			out = append(out, f)
		}
	}
	return out, nil
}

// same reports whether two names, which differ by case at most, are one file:
// some file systems ignore case.
func (o *output) same(a, b string) bool {
	if a == b {
		return true
	}
	x, err1 := o.files.Lstat(a)
	y, err2 := o.files.Lstat(b)
	if errors.Is(err2, fs.ErrNotExist) {
		return false
	}
	return err1 != nil || err2 != nil || os.SameFile(x, y)
}

// foreign lists containers beside those of the old scene that belong to neither
// scene, such as single models.
func (s *oldScene) foreign(stays map[string]string) (out []string, err error) {
	dirs := map[string]bool{}
	for _, p := range s.payloads {
		dirs[path.Dir(p)] = true
	}
	for d := range dirs {
		list, err := s.o.files.ReadDir(d)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, oldError(d, err)
		}
		for _, e := range list {
			name := path.Join(d, e.Name())
			_, ok := slices.BinarySearch(s.payloads, name)
			if !ok && stays[journal.Fold(name)] != name && strings.EqualFold(path.Ext(name), partition.PayloadExt) {
				out = append(out, name)
			}
		}
	}
	return out, nil
}
