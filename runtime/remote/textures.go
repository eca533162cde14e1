package remote

import (
	"context"
	"net/url"
	"path"
	"sync"
	"time"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/manifest"
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

// payload is a container that has come.
type payload struct {
	name   string // in the cache
	url    *url.URL
	folder string // of the cache in which its texture URIs resolve
	open   bool   // uris is what it names: the file itself is not whole
	uris   []string
}

// task is a container to look through, or a texture to bring.
type task struct {
	payload payload
	texture *source
}

func (t task) id() string {
	if t.texture != nil {
		return t.texture.name
	}
	return t.payload.name + " " + t.payload.folder
}

func (p *prefetcher) init(f *Fetcher, limit int) {
	p.f, p.limit = f, limit
	p.pending, p.failed, p.sound = map[string]bool{}, map[string]time.Time{}, map[string]time.Time{}
	p.idle = make(chan struct{})
	close(p.idle)
}

// scan queues the textures of a container.
func (p *prefetcher) scan(c payload) { p.add(task{payload: c}) }

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
			p.bring(t.texture)
		} else {
			p.list(t.payload)
		}
		p.mu.Lock()
		p.finish(t)
		p.mu.Unlock()
	}
}

// bring downloads one texture. A failure is counted; geometry is drawn without.
func (p *prefetcher) bring(s *source) {
	_, err := p.f.bring(p.f.base, *s)
	if err == nil {
		p.f.m.textures.Add(1)
		return
	}
	if p.f.base.Err() == nil {
		p.fail(s.name, shown(s.url), err)
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

func (p *prefetcher) resting(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.f.opts.Clock.Now().Before(p.failed[id])
}

// verify compares the hashes of the textures that the cache has of a container, each
// once for every time that it came, before anybody reads them: unlike containers
// they have no hash of their own, and a disk may damage them and keep size and time.
// What is damaged leaves the cache, so that scan asks for it again.
func (p *prefetcher) verify(c payload) {
	for _, uri := range p.uris(c) {
		s, err := textureSource(c, uri)
		if err != nil {
			continue
		}
		e, ok := p.f.cache.peek(s.name)
		p.mu.Lock()
		known := p.sound[s.name].Equal(e.CachedAt)
		p.mu.Unlock()
		if !ok || known {
			continue
		}
		if e, ok = p.f.cache.lookup(s.name); ok {
			e, ok = p.f.cache.check(s.name, "")
		}
		if ok {
			p.mu.Lock()
			p.sound[s.name] = e.CachedAt
			p.mu.Unlock()
		}
	}
}

// uris returns the texture URIs of a container.
func (p *prefetcher) uris(c payload) []string {
	if c.open {
		return c.uris
	}
	return textureURIs(p.f.cache.path(c.name))
}

// list queues the textures of a container that the cache does not have.
func (p *prefetcher) list(c payload) {
	for _, uri := range p.uris(c) {
		if p.f.base.Err() != nil {
			return
		}
		s, err := textureSource(c, uri)
		if err != nil {
			p.fail(c.folder+"/"+uri, uri, err)
			continue
		}
		if _, ok := p.f.cached(s); ok {
			p.f.m.texturesPresent.Add(1)
			continue
		}
		if !p.resting(s.name) {
			p.add(task{texture: &s})
		}
	}
}

// textureURIs returns the texture URIs of a container, each once. What is no
// container has none; its loader will say why.
func textureURIs(file string) []string {
	r, err := format.Open(file)
	if err != nil {
		return nil
	}
	defer r.Close()
	return textureNames(r)
}

// textureSource says where a texture comes from and goes to: the same relative
// path on both sides.
func textureSource(c payload, uri string) (source, error) {
	if err := checkTextureURI(uri); err != nil {
		return source{}, err
	}
	u, err := manifest.ResolveURL(c.url, uri)
	if err != nil {
		return source{}, err
	}
	s := source{url: u, name: path.Join(c.folder, uri), texture: true}
	if !validName(s.name) {
		return source{}, &manifest.PathError{Path: uri, Reason: "is no name for the cache"}
	}
	return s, nil
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
