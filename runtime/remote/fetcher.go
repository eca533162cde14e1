package remote

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime"
)

// pinFor is how long a file that was handed out is kept from eviction: long
// enough for its reader to open it.
const pinFor = 10 * time.Second

// Fetcher downloads files and keeps them in a cache. It is a runtime.Fetcher.
// All methods may be called concurrently.
type Fetcher struct {
	opts    Options
	log     *slog.Logger
	cache   *Cache
	client  *http.Client
	own     *border // made here; nil when the transport was given
	gate    *gate
	logins  logins
	flights flights
	m       counters
	buffers sync.Pool // of *[]byte, to copy bodies
	tex     prefetcher
	// manifests maps the bases of opened manifests to their names in the cache.
	manifests sync.Map

	base   context.Context // of all downloads
	cancel context.CancelCauseFunc

	mu      sync.Mutex
	bans    map[string]time.Time // addresses not to be asked for before
	parts   map[string]*parts    // files that are read in parts, by their name in the cache
	partial map[*parts]bool      // those that a Request has opened
	probes  map[string]probes    // by the base of the scene
	// replaced counts, by names in the cache, how often the parts of a file were
	// those of a version that is gone, since all of it has last come.
	replaced map[string]int
	closed   bool
	work     sync.WaitGroup
}

// New opens the cache and returns a Fetcher. Close it.
func New(opts Options) (*Fetcher, error) { return newOn(opts, nil) }

func newOn(opts Options, wrap func(disk) disk) (*Fetcher, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	dir := opts.CacheDir
	if dir == "" {
		if dir, err = DefaultCacheDir(); err != nil {
			return nil, err
		}
	}
	cache, err := openCacheOn(dir, CacheOptions{Budget: opts.CacheBudget, NoSync: opts.NoSync, Clock: opts.Clock}, wrap)
	if err != nil {
		return nil, err
	}
	cache.tell = func(e *Entry) {
		opts.Logger.Warn("a file of the cache was damaged or gone; it is asked for again when it is wanted", "url", e.URL, "file", e.Name)
	}
	f := &Fetcher{
		opts: opts, log: opts.Logger, cache: cache, flights: flights{m: map[string]*flight{}}, bans: map[string]time.Time{},
		parts: map[string]*parts{}, partial: map[*parts]bool{}, probes: map[string]probes{},
		replaced: map[string]int{},
	}
	f.base, f.cancel = context.WithCancelCause(context.Background())
	f.gate = newGate(opts.HostRequests, opts.TextureRequests, &f.m)
	f.tex.init(f, opts.TextureRequests)
	f.buffers.New = func() any { b := make([]byte, 256<<10); return &b }
	transport := opts.Transport
	if transport == nil {
		f.own = newBorder(opts.net(), opts.HostRequests)
		transport = f.own
	}
	f.client = &http.Client{Transport: transport, CheckRedirect: checkRedirect(opts.AllowInsecureHTTP, f.own == nil)}
	return f, nil
}

// newTransport keeps a connection for every request that a host may have.
func newTransport(perHost int) *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = perHost
	t.DisableCompression = true
	t.ReadBufferSize = 64 << 10
	t.MaxResponseHeaderBytes = 1 << 20
	return t
}

// Want is what is known of a file before it comes. Zero fields are unknown.
type Want struct {
	Size   int64  // bytes
	SHA256 string // lower-case hex
}

// Manifest is an open remote manifest.
type Manifest struct {
	File    string // local copy, in the cache
	Base    string // address that payload paths are relative to, with a slash at its end
	URL     string // as asked for, by Redact: for messages
	Changed bool   // the cache had none, or another one
	Stale   bool   // the server gave none: this is the copy of an earlier time
}

// source is a file to bring.
type source struct {
	url        *url.URL
	name       string // in the cache
	want       Want
	revalidate bool // ask the server even if the cache has it
	texture    bool
	manifest   bool
	doubtful   bool // reading it has failed: compare its hash
	lenient    bool // a manifest that is no JSON is better than none
}

// Fetch begins to bring a payload to the disk and returns at once. The address
// is that of req.Path below req.Dir; where req.Dir is no address, the payload is
// a local file and passes through. The answer's Dir is the folder in which the
// texture URIs of the payload resolve once the textures have come. It does not
// wait for them.
func (f *Fetcher) Fetch(req runtime.Request) {
	ok := f.spawn(func() {
		got, err := f.payload(req)
		if err != nil {
			err = fmt.Errorf("tile %s, %v: %w", req.TileID, req.Key.Rep, err)
		}
		req.Done.Fetched(req.Token, got, err)
	})
	if !ok {
		req.Done.Fetched(req.Token, runtime.Fetched{}, ErrClosed)
	}
}

func (f *Fetcher) payload(req runtime.Request) (runtime.Fetched, error) {
	if !IsURL(req.Dir) {
		file, err := manifest.Resolve(req.Dir, req.Path)
		return runtime.Fetched{File: file}, err
	}
	base, err := parseBase(req.Dir)
	if err != nil {
		return runtime.Fetched{}, err
	}
	f.logins.take(base)
	u, err := manifest.ResolveURL(base, req.Path)
	if err != nil {
		return runtime.Fetched{}, err
	}
	s := source{url: u, name: fileName(u), want: Want{req.Size, req.SHA256}, doubtful: req.Attempt > 1}
	ctx := req.Context
	if ctx == nil {
		ctx = f.base
	}
	p, uris, err := f.openParts(ctx, req, s)
	if err != nil {
		return runtime.Fetched{}, err
	}
	if p == nil {
		if _, err := f.bring(ctx, s); err != nil {
			return runtime.Fetched{}, err
		}
	}
	// A scene in use keeps its manifest, which is opened once only.
	if name, ok := f.manifests.Load(base.String()); ok {
		f.cache.use(name.(string))
	}
	folder := textureFolder(directory(u))
	if p != nil {
		c := payload{name: s.name, url: u, folder: folder, uris: uris, open: true}
		f.tex.verify(c)
		f.tex.scan(c)
		return runtime.Fetched{Ranges: p, Dir: f.cache.path(folder)}, nil
	}
	c := payload{name: s.name, url: u, folder: folder}
	f.tex.verify(c)
	f.tex.scan(c)
	return runtime.Fetched{File: f.cache.path(s.name), Dir: f.cache.path(folder)}, nil
}

// Local returns the path of a local copy of the file at an address: that of the
// cache if there is one that fits want, else a new one. The file stays for 10 s
// at least, then until its room is needed.
func (f *Fetcher) Local(ctx context.Context, rawURL string, want Want) (string, error) {
	u, err := f.address(rawURL)
	if err != nil {
		return "", err
	}
	s := source{url: u, name: fileName(u), want: want}
	if _, err := f.bring(ctx, s); err != nil {
		return "", err
	}
	return f.cache.path(s.name), nil
}

// OpenManifest brings a manifest. What the cache has is offered to the server
// with one conditional request; when all attempts fail, it serves. When the
// manifest has changed, what the cache has of the scene is asked for again too,
// unless the new manifest declares the hash that it has. Payload paths are
// relative to the address as given, whatever it redirects to.
func (f *Fetcher) OpenManifest(ctx context.Context, rawURL string) (Manifest, error) {
	u, err := f.address(rawURL)
	if err != nil {
		return Manifest{}, err
	}
	s := source{url: u, name: fileName(u), revalidate: true, manifest: true}
	file, err := f.bring(ctx, s)
	if err != nil {
		return Manifest{}, err
	}
	base := directory(u).String()
	f.manifests.Store(base, s.name)
	return Manifest{File: f.cache.path(s.name), Base: base, URL: shown(u), Changed: file.changed, Stale: file.stale}, nil
}

// bring gets a file from the cache or the network.
func (f *Fetcher) bring(ctx context.Context, s source) (local, error) {
	if err := checkScheme(s.url, f.opts.AllowInsecureHTTP); err != nil {
		return local{}, err
	}
	if err := ctx.Err(); err != nil {
		return local{}, context.Cause(ctx)
	}
	if e, ok := f.cached(s); ok {
		f.hit(s)
		return local{entry: e, cached: true}, nil
	}
	// Who expects other bytes cannot share.
	key := fmt.Sprintf("%s %d %s", s.name, s.want.Size, s.want.SHA256)
	file, joined, err := f.flights.do(ctx, f.base, key, f.spawn, func(ctx context.Context) (local, error) {
		return f.download(ctx, s)
	})
	if joined {
		f.m.joined.Add(1)
	}
	if err != nil {
		return local{}, err
	}
	f.cache.pin(s.name, f.opts.Clock.Now().Add(pinFor))
	return file, nil
}

func (f *Fetcher) hit(s source) {
	if !s.texture {
		f.m.hits.Add(1)
	}
	f.cache.pin(s.name, f.opts.Clock.Now().Add(pinFor))
}

// cached returns what the cache has if it serves without asking the server.
func (f *Fetcher) cached(s source) (Entry, bool) {
	if s.revalidate {
		return Entry{}, false
	}
	e, ok := f.cache.lookup(s.name)
	if !ok {
		// After a crash there may be a file whose hash is not known.
		if e, ok = f.cache.peek(s.name); !ok || e.SHA256 != "" || s.want.SHA256 == "" {
			return Entry{}, false
		}
		e, ok = f.cache.check(s.name, s.want.SHA256)
	} else if s.doubtful {
		e, ok = f.cache.check(s.name, "")
	}
	return e, ok && s.want.fits(e) && (!e.Old || s.want.SHA256 != "")
}

// fits reports whether an entry is what is expected.
func (w Want) fits(e Entry) bool {
	return (w.Size <= 0 || w.Size == e.Size) && (w.SHA256 == "" || w.SHA256 == e.SHA256)
}

// download asks the server. It runs once for all who wait.
func (f *Fetcher) download(ctx context.Context, s source) (local, error) {
	// A download may have ended between the caller's look and this one.
	if e, ok := f.cached(s); ok {
		f.hit(s)
		return local{entry: e, cached: true}, nil
	}
	if e, ok, err := f.finishParts(ctx, s); ok || err != nil {
		return local{entry: e}, err
	}
	before, had := f.cache.lookup(s.name)
	if had { // or the server would confirm what the disk has damaged
		sum := before.SHA256
		before, had = f.cache.check(s.name, "")
		before.SHA256 = sum // a manifest that comes as it was makes nothing old
	}
	conditional := had && s.want.fits(before)
	if !s.texture && !conditional {
		f.m.misses.Add(1)
	}
	var file local
	tries := 0
	var rest unfinished
	defer rest.keep(f, s)
	err := f.attempts(ctx, s.url, func(ctx context.Context) (err error) {
		// Who asks for a broken manifest gets it in the end, to say what is wrong.
		tries++
		s.lenient = !had && tries == f.opts.HTTP.Attempts
		file, err = f.transfer(ctx, s, before, conditional, &rest)
		return err
	})
	if err != nil && had && (s.manifest || s.texture) && ctx.Err() == nil {
		// Better an old one than none, if it is still there.
		if e, ok := f.cache.lookup(s.name); ok {
			f.m.staleServed.Add(1)
			f.log.Warn("an old copy serves", "url", shown(s.url), "since", e.CachedAt, "error", err)
			return local{entry: e, stale: true, cached: true}, nil
		}
	}
	if err != nil {
		return local{}, err
	}
	f.settled(s.name)
	file.changed = before.SHA256 != file.entry.SHA256
	return file, nil
}

// spawn runs fn in a goroutine that Close waits for, unless closed.
func (f *Fetcher) spawn(fn func()) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return false
	}
	f.work.Go(fn)
	return true
}

// Cache returns the cache.
func (f *Fetcher) Cache() *Cache { return f.cache }

// Metrics returns the counters.
func (f *Fetcher) Metrics() Metrics {
	m := f.m.metrics()
	m.BytesSaved += f.partsSaved()
	m.CacheDamaged = f.cache.lost.Load()
	return m
}

// WaitTextures returns when no texture is waiting or under way, or with ctx.
func (f *Fetcher) WaitTextures(ctx context.Context) error { return f.tex.wait(ctx) }

// Close cancels all downloads, waits for them and closes the cache. Requests
// that come later are answered with ErrClosed.
func (f *Fetcher) Close() error {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.cancel(ErrClosed)
	f.work.Wait()
	if f.own != nil {
		f.own.CloseIdleConnections()
	}
	return f.cache.Close()
}
