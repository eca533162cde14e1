package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/untoldkit/untold/cook/verify"
	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/internal/human"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/payloadpath"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/remote"
)

// errVisitTime ends a visit that takes too long.
var errVisitTime = errors.New("reading from servers takes too long")

// visit gives f a Fetcher whose cache is empty and goes afterwards, and a context
// with a deadline, for commands that judge or show what a server has now.
func (r *remoteFlags) visit(ctx context.Context, a *app, f func(ctx context.Context, dir string, fetch *remote.Fetcher) error) error {
	if r.timeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, r.timeout, fmt.Errorf("%w: more than %v (--timeout)", errVisitTime, r.timeout))
		defer stop()
	}
	dir, err := os.MkdirTemp("", "untold-*")
	if err != nil {
		return err
	}
	cfg := config.Default()
	if err := a.runtimeProfile(&cfg, ""); err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	o := r.options(a, &cfg)
	o.CacheDir, o.CacheBudget, o.NoSync = filepath.Join(dir, "cache"), math.MaxInt64/4, true
	o.MaxTotal, o.FinalRefusals = r.maxDownload.or(visitBytes), true
	fetch, err := remote.New(o)
	if err == nil {
		err = f(ctx, dir, fetch)
		if e := fetch.Close(); err == nil {
			err = e
		}
	}
	if e := os.RemoveAll(dir); err == nil {
		err = e
	}
	return explainRemote(err)
}

// mirror is a copy of remote files under their own names, so that they can be
// judged like local ones.
type mirror struct {
	dir   string
	fetch *remote.Fetcher
	// names maps folders of the copy to the addresses that they stand for; both
	// end in a separator.
	names    [][2]string
	maxFiles int // of all manifests; 0: no limit
	maxBytes int64
	files    int

	mu    sync.Mutex
	asked map[string]bool // copies of textures
}

// add copies what an argument names and returns the path of the copy. Paths are
// returned as they are.
func (m *mirror) add(ctx context.Context, arg string, progress func(done, total int)) (string, error) {
	if !remote.IsURL(arg) {
		return arg, nil
	}
	u, err := url.Parse(arg)
	if err != nil {
		return "", fmt.Errorf("%s: it is no address: write it with %%XX in the place of what none may hold", remote.Redact(arg))
	}
	name := path.Base(u.Path)
	if name == "." || name == "/" || strings.HasSuffix(u.Path, "/") {
		return "", fmt.Errorf("%s is a folder; name a manifest or a container in it", remote.Redact(arg))
	}
	if payloadpath.Check(name) != nil {
		name = "file" + path.Ext(name)
	}
	dir := filepath.Join(m.dir, "mirror", fmt.Sprint(len(m.names)))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	copied := filepath.Join(dir, name)
	if !strings.EqualFold(path.Ext(name), ".json") {
		plain := plainAddress(arg)
		m.names = append(m.names, [2]string{dir + string(filepath.Separator), plain[:strings.LastIndexByte(plain, '/')+1]})
		from, err := m.fetch.Local(ctx, arg, remote.Expected{})
		if err != nil {
			return "", err
		}
		if err := link(from, copied); err != nil {
			return "", err
		}
		return copied, m.textures(ctx, u, copied)
	}
	scene, err := m.fetch.OpenManifest(ctx, arg)
	if err != nil {
		return "", err
	}
	m.names = append(m.names, [2]string{dir + string(filepath.Separator), scene.Base})
	if err := link(scene.File, copied); err != nil {
		return "", err
	}
	return copied, m.payloads(ctx, scene, dir, progress)
}

// payloads copies what a manifest names. What the server does not have is
// missing in the copy, too, and what is wrong with a path is a finding.
func (m *mirror) payloads(ctx context.Context, scene remote.Manifest, dir string, progress func(done, total int)) error {
	doc, err := manifest.Load(scene.File)
	if err != nil || doc.DryRun {
		return nil
	}
	base, err := url.Parse(scene.Base)
	if err != nil {
		return err
	}
	list := append(doc.Payloads(), doc.ColorTables()...)
	slices.Sort(list)
	list = slices.Compact(list)
	if err := m.count(doc, len(list), scene.URL); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(8) // the Fetcher has a limit of its own
	for i, rel := range list {
		if progress != nil {
			progress(i, len(list))
		}
		g.Go(func() error { return m.payload(ctx, base, dir, rel) })
	}
	err = g.Wait()
	if progress != nil && err == nil {
		progress(len(list), len(list))
	}
	return err
}

// count refuses a manifest that names more files, or declares more bytes, than may be
// downloaded, before any is.
func (m *mirror) count(doc *manifest.Manifest, files int, address string) error {
	if m.files += files; m.maxFiles > 0 && m.files > m.maxFiles {
		return fmt.Errorf("%s names %d files, at most %d are downloaded in all: raise --max-files, or validate the folder where it lies", address, files, m.maxFiles)
	}
	var declared, most int64 = 0, m.maxBytes
	add := func(n int64) {
		if declared += min(max(n, 0), most+1); declared > most {
			declared = most + 1
		}
	}
	for i := range doc.Tiles {
		t := &doc.Tiles[i]
		add(t.FileSizeBytes)
		for _, levels := range [][]manifest.Level{t.HLODLevels, t.LODLevels} {
			for k := range levels {
				add(levels[k].FileSizeBytes)
			}
		}
	}
	if declared > most {
		return fmt.Errorf("%s declares files of more than %s in all: raise --max-download, or validate the folder where it lies", address, human.Bytes(most))
	}
	return nil
}

func (m *mirror) payload(ctx context.Context, base *url.URL, dir, rel string) error {
	u, err := payloadpath.URL(base, rel)
	if err != nil {
		return nil
	}
	local, err := filepath.Localize(path.Clean(rel))
	if err != nil {
		return nil // no name for a file on this system
	}
	to := filepath.Join(dir, local)
	if err := m.fetchTo(ctx, base, rel, to); err != nil {
		return err
	}
	return m.textures(ctx, u, to)
}

// fetchTo copies a file that lies at a relative path from an address. What the
// server does not have is missing in the copy.
func (m *mirror) fetchTo(ctx context.Context, base *url.URL, rel, to string) error {
	u, err := payloadpath.URL(base, rel)
	if err != nil {
		return nil
	}
	from, err := m.fetch.Local(ctx, u.String(), remote.Expected{})
	var status *remote.StatusError
	switch {
	case errors.As(err, &status) && (status.Status == http.StatusNotFound || status.Status == http.StatusGone):
		return nil
	case err != nil:
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return nil // a file of that name: one of both is missing
	}
	return link(from, to)
}

// textures copies the textures that a container at an address names to where
// its copy looks for them.
func (m *mirror) textures(ctx context.Context, container *url.URL, copied string) error {
	r, err := format.Open(copied)
	if err != nil {
		return nil // what is wrong with it is a finding
	}
	defer r.Close()
	for _, t := range r.Textures() {
		uri := r.String(t.URIOffset)
		if records.URIEscape(uri) != "" {
			continue
		}
		to := filepath.Join(filepath.Dir(copied), filepath.FromSlash(uri))
		if first, err := m.first(to); err != nil || !first {
			if err != nil {
				return err
			}
			continue
		}
		if err := m.fetchTo(ctx, container, uri, to); err != nil {
			return err
		}
	}
	return nil
}

// first reports whether a texture has not been asked for before. It counts among
// the files that may be downloaded.
func (m *mirror) first(to string) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.asked[to] {
		return false, nil
	}
	if m.files++; m.maxFiles > 0 && m.files > m.maxFiles {
		return false, fmt.Errorf("the containers name textures beyond the %d files that are downloaded in all: raise --max-files, or validate the folder where it lies", m.maxFiles)
	}
	if m.asked == nil {
		m.asked = map[string]bool{}
	}
	m.asked[to] = true
	return true, nil
}

// link makes a file available under a second name.
func link(from, to string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil // two names for one file on this system
	}
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// rename puts the addresses back into a report.
func (m *mirror) rename(r *verify.Report) {
	for i := range r.Files {
		f := &r.Files[i]
		f.Path = m.address(f.Path)
		for k := range f.Findings {
			f.Findings[k].Message = m.address(f.Findings[k].Message)
		}
	}
}

func (m *mirror) address(text string) string {
	for _, n := range m.names {
		if rest, ok := strings.CutPrefix(text, n[0]); ok {
			return n[1] + filepath.ToSlash(rest)
		}
		text = strings.ReplaceAll(text, n[0], n[1])
	}
	return text
}

// remotePart is a remote file that is read in parts. It keeps the first failure
// of the network, so that it is not taken for a fault of the file.
type remotePart struct {
	*remote.RangeReader
	err error
}

// ReadAt reads as the RangeReader does.
func (p *remotePart) ReadAt(b []byte, off int64) (int, error) {
	n, err := p.RangeReader.ReadAt(b, off)
	if err != nil && !errors.Is(err, io.EOF) && p.err == nil {
		p.err = err
	}
	return n, err
}
