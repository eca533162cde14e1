package remote

import (
	"cmp"
	"context"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/manifest/payloadpath"
	"github.com/untoldkit/untold/runtime/remote/internal/diskcache"
	"github.com/untoldkit/untold/runtime/remote/internal/weburl"
)

// failedFor is how long a texture that could not be had is left alone.
const failedFor = time.Minute

// prefetcher brings the textures of containers to the cache, in the background:
// a few at a time, each once, in the order in which their containers came.
type prefetcher struct {
	f     *Fetcher
	limit int // goroutines

	mu      sync.Mutex
	queue   []task
	pending map[string]bool      // ids of queued and running tasks
	failed  map[string]time.Time // textures that are left alone until then
	sound   map[string]time.Time // textures whose hash was compared, and when these had come
	workers int
	idle    chan struct{} // closed when pending is empty
}

// containerFile is a container that has come.
type containerFile struct {
	name     string // in the cache
	url      *url.URL
	folder   string // of the cache, in which its texture URIs resolve
	partial  bool   // the file is not whole: textures are those that it names
	textures []namedTexture
}

// namedTexture is a texture that a container names.
type namedTexture struct {
	uri   string
	shape shape
}

// task is a container to look through, or a texture to bring.
type task struct {
	container containerFile
	texture   *source
}

func (t task) id() string {
	if t.texture != nil {
		return t.texture.name
	}
	return t.container.name + " " + t.container.folder
}

func (p *prefetcher) init(f *Fetcher, limit int) {
	p.f, p.limit = f, limit
	p.pending, p.failed, p.sound = map[string]bool{}, map[string]time.Time{}, map[string]time.Time{}
	p.idle = make(chan struct{})
	close(p.idle)
}

// scan queues the textures of a container.
func (p *prefetcher) scan(c containerFile) { p.add(task{container: c}) }

func (p *prefetcher) add(t task) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pending[t.id()] {
		return
	}
	if len(p.pending) == 0 {
		p.idle = make(chan struct{})
	}
	p.pending[t.id()] = true
	p.queue = append(p.queue, t)
	if t.texture != nil {
		p.f.m.texturesPending.Add(1)
	}
	if p.workers < p.limit && p.f.spawn(p.work) {
		p.workers++
	} else if p.workers == 0 { // closed
		p.drop()
	}
}

// drop forgets what is queued.
func (p *prefetcher) drop() {
	for _, t := range p.queue {
		p.finish(t)
	}
	p.queue = nil
}

// finish notes that a task is over.
func (p *prefetcher) finish(t task) {
	delete(p.pending, t.id())
	if t.texture != nil {
		p.f.m.texturesPending.Add(-1)
	}
	if len(p.pending) == 0 {
		close(p.idle)
	}
}

// work does tasks until none is left.
func (p *prefetcher) work() {
	for {
		p.mu.Lock()
		if p.f.base.Err() != nil {
			p.drop()
		}
		if len(p.queue) == 0 {
			p.workers--
			p.mu.Unlock()
			return
		}
		t := p.queue[0]
		p.queue = p.queue[1:]
		p.mu.Unlock()
		if t.texture != nil {
			p.fetch(t.texture)
		} else {
			p.list(t.container)
		}
		p.mu.Lock()
		p.finish(t)
		p.mu.Unlock()
	}
}

// fetch downloads one texture. A failure is counted, and geometry is drawn without
// the texture.
func (p *prefetcher) fetch(s *source) {
	_, err := p.f.ensure(p.f.base, *s)
	if err == nil {
		p.f.m.textures.Add(1)
		return
	}
	if p.f.base.Err() == nil {
		p.fail(s.name, weburl.Shown(s.url), err)
	}
}

// fail counts a texture that cannot be had, once, and leaves it alone for a
// while.
func (p *prefetcher) fail(id, what string, err error) {
	p.mu.Lock()
	now := p.f.opts.Clock.Now()
	known := now.Before(p.failed[id])
	if len(p.failed) >= 4096 {
		clear(p.failed) // a bound, not a plan
	}
	if !known {
		p.failed[id] = now.Add(failedFor)
	}
	p.mu.Unlock()
	if !known {
		p.f.m.texturesFailed.Add(1)
		p.f.log.Warn("texture skipped", "texture", what, "error", err)
	}
}

// leave leaves something alone for a while.
func (p *prefetcher) leave(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failed[id] = p.f.opts.Clock.Now().Add(failedFor)
}

// failedLately reports whether a texture is left alone.
func (p *prefetcher) failedLately(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.f.opts.Clock.Now().Before(p.failed[id])
}

// verify compares the hashes of the textures that the cache has of a container, before
// anybody reads them, each once for every time that it came: unlike containers they
// have no declared hash, and a disk may damage them and keep size and time. Damaged
// ones leave the cache, so that scan asks for them again.
func (p *prefetcher) verify(c containerFile) {
	for _, t := range p.texturesOf(&c) {
		if s, err := textureSource(&c, t.uri); err == nil {
			p.verifyFile(s.name)
		}
	}
}

// verifyFile compares the hash of a texture, unless that was done since it came.
func (p *prefetcher) verifyFile(name string) {
	e, ok := p.f.cache.Peek(name)
	p.mu.Lock()
	known := p.sound[name].Equal(e.CachedAt)
	p.mu.Unlock()
	if !ok || known {
		return
	}
	if e, ok = p.f.cache.Lookup(name); ok {
		e, ok = p.f.cache.Check(name, "")
	}
	if ok {
		p.mu.Lock()
		p.sound[name] = e.CachedAt
		p.mu.Unlock()
	}
}

// texturesOf returns the textures of a container. A file that is no container has none;
// its loader will say why.
func (p *prefetcher) texturesOf(c *containerFile) []namedTexture {
	if c.partial {
		return c.textures
	}
	r, err := format.Open(p.f.cache.Path(c.name))
	if err != nil {
		return nil
	}
	defer r.Close()
	return texturesOf(r)
}

// list queues the textures of a container that the cache does not have.
func (p *prefetcher) list(c containerFile) {
	for _, t := range p.texturesOf(&c) {
		if p.f.base.Err() != nil {
			return
		}
		s, err := textureSource(&c, t.uri)
		if err != nil {
			p.fail(c.folder+"/"+t.uri, t.uri, err)
			continue
		}
		if _, ok := p.f.fresh(s); ok {
			p.f.m.texturesPresent.Add(1)
			continue
		}
		if !p.failedLately(s.name) {
			p.add(task{texture: &s})
		}
	}
}

// textureSource says where a texture comes from and goes to: the same relative
// path on both sides.
func textureSource(c *containerFile, uri string) (source, error) {
	name, err := diskcache.TextureName(c.folder, uri)
	if err != nil {
		return source{}, err
	}
	u, err := payloadpath.URL(c.url, uri)
	if err != nil {
		return source{}, err
	}
	return source{url: u, name: name, texture: true}, nil
}

// texturesOf returns the textures that a container names, each URI once.
func texturesOf(r *format.Reader) []namedTexture {
	var list []namedTexture
	for _, t := range r.Textures() {
		if uri := r.String(t.URIOffset); uri != "" {
			ktx2 := t.Format == records.TextureUnknown && strings.EqualFold(path.Ext(uri), ".ktx2")
			list = append(list, namedTexture{uri, shape{t.Format, t.Width, t.Height, t.MipCount, ktx2}})
		}
	}
	slices.SortStableFunc(list, func(a, b namedTexture) int { return cmp.Compare(a.uri, b.uri) })
	return slices.CompactFunc(list, func(a, b namedTexture) bool { return a.uri == b.uri })
}

// wait returns when nothing is pending.
func (p *prefetcher) wait(ctx context.Context) error {
	p.mu.Lock()
	idle := p.idle
	p.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-p.f.base.Done():
		return ErrClosed
	}
}
