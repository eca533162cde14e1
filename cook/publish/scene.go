package publish

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/untoldkit/untold/cook/internal/publication"
	"github.com/untoldkit/untold/cook/verify"
	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/internal/blob"
	"github.com/untoldkit/untold/internal/journal"
	"github.com/untoldkit/untold/internal/picture"
	"github.com/untoldkit/untold/internal/plainfile"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/payloadpath"
)

// scene is a manifest of the folder and what it names.
type scene struct {
	manifest   string // path in the folder, with slashes: the key of the manifest
	dir        string // the manifest's folder on this machine
	text       []byte // as it was cooked, then as it is published
	doc        *manifest.Manifest
	containers map[string]*container // by the paths that the manifest has
	tables     []*file               // of colours, in the order of Manifest.ColorTables
	packed     *file                 // the published text as gzip, for the page; else nil
}

// base returns the key of the manifest's folder: "" or with a slash at the end.
func (s *scene) base() string {
	if d := path.Dir(s.manifest); d != "." {
		return d + "/"
	}
	return ""
}

// payloads returns the prefix of the keys of the scene's payloads.
func (s *scene) payloads() string { return publication.Payloads(s.manifest) }

// file is a file of the folder.
type file struct {
	source   string // path in the folder, with slashes
	dir, rel string // for payloadpath.Open
	size     int64
	sha      string // SHA-256, hex
	stat     fs.FileInfo
	key      string // where it is published
	twin     string // key in the place whose object has the same content, "" for none
	content  []byte // of a file that is of no folder, else nil
	repacked *repacked
}

func (f *file) open() (*os.File, error) { return payloadpath.Open(f.dir, f.rel) }

// container is a file with the textures that it names, by their URIs.
type container struct {
	file
	textures map[string]*file
	large    bool // repacking it would take too much memory
}

// apart refuses to publish a folder into itself.
func apart(dir string, to Place) error {
	f, ok := to.(blob.Filer)
	if !ok {
		return nil
	}
	inside, err := f.File("x")
	if err != nil {
		return err
	}
	from, place := plainfile.RealPath(dir), plainfile.RealPath(filepath.Dir(inside))
	switch st, err := os.Stat(from); {
	case err != nil:
		return nil // find says that
	case !st.IsDir():
		from = filepath.Dir(from)
	}
	for _, p := range [][2]string{{from, place}, {place, from}} {
		if plainfile.Within(p[1], p[0]) {
			return fmt.Errorf("%w: %s and %s lie in one another: publish to a folder beside it", ErrScene, dir, to)
		}
	}
	return nil
}

// read judges the folder and takes it in: texts, sizes and hashes.
func (r *run) read(ctx context.Context, dir string) ([]*scene, error) {
	scenes, err := find(dir)
	if err != nil {
		return nil, err
	}
	paths := make([]string, len(scenes))
	for i, s := range scenes {
		paths[i] = filepath.Join(s.dir, path.Base(s.manifest))
	}
	if err := r.judge(ctx, paths); err != nil {
		return nil, err
	}
	var containers []*container
	for _, s := range scenes {
		if err := s.load(); err != nil {
			return nil, err
		}
		for _, rel := range slices.Sorted(maps.Keys(s.containers)) {
			containers = append(containers, s.containers[rel])
		}
	}
	if err := r.each(ctx, "read", len(containers), func(i int) error { return containers[i].scan(ctx, r.memory) }); err != nil {
		return nil, err
	}
	others, err := textures(scenes, containers)
	if err != nil {
		return nil, err
	}
	if err := r.each(ctx, "textures", len(others), func(i int) error { return others[i].scan() }); err != nil {
		return nil, err
	}
	var cooked []string
	for _, f := range others {
		if verify.IsTexture(f.rel) {
			cooked = append(cooked, filepath.Join(f.dir, filepath.FromSlash(f.rel)))
		}
	}
	if len(cooked) == 0 {
		return scenes, nil
	}
	return scenes, r.judge(ctx, cooked)
}

// find lists the manifests of a folder.
func find(dir string) ([]*scene, error) {
	st, err := journal.Stat(dir)
	if err != nil {
		return nil, err
	}
	if !st.IsDir() {
		return []*scene{{manifest: filepath.Base(dir), dir: filepath.Dir(dir)}}, nil
	}
	files, err := journal.Files(dir)
	if err != nil {
		return nil, err
	}
	var out []*scene
	for _, p := range files {
		if !strings.EqualFold(filepath.Ext(p), ".json") || !verify.IsManifest(p) {
			continue
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return nil, err
		}
		out = append(out, &scene{manifest: filepath.ToSlash(rel), dir: filepath.Dir(p)})
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w: there is no manifest in %s: name the folder that untold cook wrote", ErrScene, dir)
	}
	return out, nil
}

// judge refuses files with errors.
func (r *run) judge(ctx context.Context, paths []string) error {
	var progress func(done, total int)
	if r.o.Progress != nil {
		progress = func(done, total int) { r.o.Progress("validate", done, total) }
	}
	report, err := verify.Paths(ctx, paths, verify.Options{Jobs: r.o.Jobs, Memory: r.memory.size, Progress: progress})
	if err != nil {
		return err
	}
	if report.Errors > 0 {
		return &FindingsError{Report: report}
	}
	return nil
}

// load reads the manifest.
func (s *scene) load() error {
	name := filepath.Join(s.dir, path.Base(s.manifest))
	in, err := journal.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	if s.text, err = io.ReadAll(io.LimitReader(in, manifest.MaxBytes+1)); err != nil {
		return err
	}
	if s.doc, err = manifest.Decode(s.text); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if s.doc.DryRun {
		return fmt.Errorf("%w: %s is a plan, which has no payloads: cook without --dry-run", ErrScene, name)
	}
	if err := blob.CheckKey(s.manifest); err != nil {
		return err
	}
	if strings.HasPrefix(s.manifest, "payloads/") || strings.Contains(s.manifest, "/payloads/") {
		return fmt.Errorf("%w: %s lies in a folder payloads, which is the name of one of its own where it is published: publish DIR with the manifest above", ErrScene, name)
	}
	s.containers = map[string]*container{}
	for _, rel := range s.doc.Payloads() {
		s.containers[rel] = &container{file: s.file(rel)}
	}
	for _, rel := range s.doc.ColorTables() {
		f := s.file(rel)
		s.tables = append(s.tables, &f)
	}
	return nil
}

func (s *scene) file(rel string) file {
	return file{source: path.Join(s.base(), rel), dir: s.dir, rel: rel}
}

// scan hashes the file.
func (f *file) scan() error {
	in, err := f.open()
	if err != nil {
		return f.wrong(err)
	}
	defer in.Close()
	return f.hash(in)
}

// hash takes in an open file: its size, its hash and what tells whether it changes.
func (f *file) hash(in *os.File) error {
	var err error
	if f.stat, err = in.Stat(); err != nil {
		return f.wrong(err)
	}
	h := sha256.New()
	n, err := io.Copy(h, in)
	if err != nil {
		return f.wrong(err)
	}
	f.size, f.sha = n, hex.EncodeToString(h.Sum(nil))
	if n != f.stat.Size() {
		return f.changed()
	}
	return f.looks(in)
}

// looks refuses images that are none. Cooked textures are judged by their own rules.
func (f *file) looks(in io.ReaderAt) error {
	switch strings.ToLower(path.Ext(f.rel)) {
	case ".png", ".jpg", ".jpeg", ".webp":
	default:
		if f.size > 0 {
			return nil
		}
	}
	head := make([]byte, picture.SniffBytes)
	n, err := in.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return f.wrong(err)
	}
	if picture.Sniff(head[:n]).MIME == "" {
		return fmt.Errorf("%w: %s is no image: cook again", ErrScene, f.source)
	}
	return nil
}

// wrong is the error for a file that the scene needs.
func (f *file) wrong(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %s is named and not there: cook again: %w", ErrScene, f.source, err)
	}
	return fmt.Errorf("%w: %s: %w", ErrScene, f.source, err)
}

// changed is the error for a file that is not what it was.
func (f *file) changed() error {
	return fmt.Errorf("%w: %s has changed while it was published: no manifest was sent; let the cook end and publish again", ErrScene, f.source)
}

// scan hashes a container as it is published and lists its textures, all of one opening:
// the textures are those of the bytes that were hashed.
func (c *container) scan(ctx context.Context, w *workshop) error {
	in, err := c.open()
	if err != nil {
		return c.wrong(err)
	}
	defer in.Close()
	if err := c.hash(in); err != nil {
		return err
	}
	r, err := format.NewReader(in, c.size)
	if err != nil {
		return c.wrong(err)
	}
	defer r.Close()
	c.textures = map[string]*file{}
	for _, t := range r.Textures() {
		uri := r.String(t.URIOffset)
		if records.URIEscape(uri) != "" || path.Clean(uri) != uri || blob.CheckKey(uri) != nil {
			return fmt.Errorf("%w: %s names a texture %q, which is no plain path below its folder: cook again", ErrScene, c.source, uri)
		}
		c.textures[uri] = nil
	}
	return w.repack(ctx, c, r)
}

// textures lists the files beside the containers, each once, and links them to those
// who name them.
func textures(scenes []*scene, containers []*container) ([]*file, error) {
	var out []*file
	known := map[string]*file{}
	for _, c := range containers {
		dir, sourceDir := filepath.Join(c.dir, filepath.FromSlash(path.Dir(c.rel))), path.Dir(c.source)
		for _, uri := range slices.Sorted(maps.Keys(c.textures)) {
			at := path.Join(sourceDir, uri)
			if known[at] == nil {
				known[at] = &file{source: at, dir: dir, rel: uri}
				out = append(out, known[at])
			}
			c.textures[uri] = known[at]
		}
	}
	for _, s := range scenes {
		out = append(out, s.tables...)
	}
	return out, nil
}

// each calls do for 0 to n-1 from several goroutines.
func (r *run) each(ctx context.Context, stage string, n int, do func(i int) error) error {
	g, inner := errgroup.WithContext(ctx)
	g.SetLimit(r.o.Jobs)
	var mu sync.Mutex
	done := 0
	for i := range n {
		if inner.Err() != nil {
			break
		}
		g.Go(func() error {
			if err := inner.Err(); err != nil {
				return err
			}
			if err := do(i); err != nil || r.o.Progress == nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			done++
			r.o.Progress(stage, done, n)
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return context.Cause(ctx)
}
