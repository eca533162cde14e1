package remote

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"sync"

	"github.com/untoldkit/untold/manifest/payloadpath"
	"github.com/untoldkit/untold/runtime/internal/hostqueue"
	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/remote/internal/diskcache"
	"github.com/untoldkit/untold/runtime/remote/internal/weburl"
)

// Fetcher downloads files and keeps them in a cache. It is a payload.Fetcher.
// All methods may be called concurrently.
type Fetcher struct {
	opts      Options
	log       *slog.Logger
	cache     *diskcache.Cache
	http      *httpClient
	downloads singleflight
	ranges    rangeFiles
	textures  prefetcher
	m         counters
	buffers   sync.Pool // of *[]byte, to copy bodies
	onDemand  textureFolders
	manifests sync.Map // the names in the cache of opened manifests, by their bases

	base   context.Context // of all downloads
	cancel context.CancelCauseFunc

	mu     sync.Mutex
	closed bool
	work   sync.WaitGroup
}

// New opens the cache and returns a Fetcher. Close it.
func New(opts Options) (*Fetcher, error) {
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
	f := &Fetcher{opts: opts, log: opts.Logger, downloads: singleflight{m: map[string]*flight{}}, ranges: newRangeFiles()}
	cache, err := diskcache.Open(dir, diskcache.Options{
		Budget: opts.CacheBudget, NoSync: opts.NoSync, Now: opts.Clock.Now, Damaged: f.noteDamaged, Disk: opts.disk,
	})
	if err != nil {
		return nil, err
	}
	f.cache = cache
	f.base, f.cancel = context.WithCancelCause(context.Background())
	f.http = newHTTPClient(&f.opts, &f.m)
	f.textures.init(f, opts.TextureRequests)
	f.buffers.New = func() any { b := make([]byte, 256<<10); return &b }
	return f, nil
}

// noteDamaged counts a file of the cache that was damaged or gone, and logs it unless
// the cache is just being opened.
func (f *Fetcher) noteDamaged(e *Entry) {
	f.m.damaged.Add(1)
	if f.cache != nil {
		f.log.Warn("a file of the cache was damaged or gone; it is asked for again when it is wanted", "url", e.URL, "file", e.Name)
	}
}

// Expected is what is known of a file before it comes. Zero fields are unknown.
type Expected struct {
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

// source is a file to download.
type source struct {
	url        *url.URL
	name       string // in the cache
	expected   Expected
	revalidate bool // ask the server even if the cache has it
	texture    bool
	manifest   bool
	doubtful   bool // reading it has failed: compare its hash
	lenient    bool // a manifest that is no JSON is better than none
	// head is how many bytes the first request asks for when the file is read by
	// ranges; 0: headBytes.
	head int64
}

// kind returns what a request for so many bytes of the file is for, 0 where nobody knows.
func (s *source) kind(size int64) hostqueue.Request {
	return hostqueue.Request{Texture: s.texture, Size: size}
}

// entry is the entry that the file gets of an answer with these validators.
func (s *source) entry(v version) Entry {
	return Entry{Name: s.name, URL: weburl.Shown(s.url), ETag: v.etag, LastModified: v.modified}
}

// Fetch begins to bring a payload to the disk and returns at once. The address
// is that of req.Path below req.Dir; where req.Dir is no address, the payload is
// a local file and passes through. The answer's Dir is the folder in which the
// texture URIs of the payload resolve once the textures have come. It does not
// wait for them.
func (f *Fetcher) Fetch(req payload.Request) {
	ok := f.spawn(func() {
		got, err := f.payload(req)
		if err != nil {
			err = fmt.Errorf("tile %s, %v: %w", req.TileID, req.Key.Rep, err)
		}
		req.Done.Fetched(req.Token, got, err)
	})
	if !ok {
		req.Done.Fetched(req.Token, payload.Fetched{}, ErrClosed)
	}
}

func (f *Fetcher) payload(req payload.Request) (payload.Fetched, error) {
	if !IsURL(req.Dir) {
		file, err := payloadpath.Resolve(req.Dir, req.Path)
		return payload.Fetched{File: file}, err
	}
	base, err := weburl.ParseFolder(req.Dir)
	if err != nil {
		return payload.Fetched{}, err
	}
	f.http.logins.take(base)
	u, err := payloadpath.URL(base, req.Path)
	if err != nil {
		return payload.Fetched{}, err
	}
	s := source{url: u, name: diskcache.Name(u), expected: Expected{req.Size, req.SHA256}, doubtful: req.Attempt > 1}
	ctx := req.Context
	if ctx == nil {
		ctx = f.base
	}
	file, textures, err := f.openRanges(ctx, req, s)
	if err != nil {
		return payload.Fetched{}, err
	}
	if file == nil {
		if _, err := f.ensure(ctx, s); err != nil {
			return payload.Fetched{}, err
		}
	}
	// A scene in use keeps its manifest, which is opened once only.
	if name, ok := f.manifests.Load(base.String()); ok {
		f.cache.Use(name.(string))
	}
	c := containerFile{name: s.name, url: u, folder: diskcache.TextureFolder(weburl.Folder(u)), partial: file != nil, textures: textures}
	if f.opts.TexturesOnDemand {
		f.noteTextures(&c)
	} else {
		f.textures.verify(c)
		f.textures.scan(c)
	}
	if file != nil {
		return payload.Fetched{Ranges: file, Dir: f.cache.Path(c.folder)}, nil
	}
	return payload.Fetched{File: f.cache.Path(s.name), Dir: f.cache.Path(c.folder)}, nil
}

// Local returns the path of a local copy of the file at an address: that of the cache
// if there is one that is as expected, else a new one. The file stays for 10 s at
// least, then until its room is needed.
func (f *Fetcher) Local(ctx context.Context, rawURL string, expected Expected) (string, error) {
	u, err := f.http.address(rawURL)
	if err != nil {
		return "", err
	}
	s := source{url: u, name: diskcache.Name(u), expected: expected}
	if _, err := f.ensure(ctx, s); err != nil {
		return "", err
	}
	return f.cache.Path(s.name), nil
}

// OpenManifest brings a manifest. The version in the cache is offered to the server
// with one conditional request, and serves when all attempts fail. When the manifest
// has changed, the files of the scene in the cache are asked for again too, unless the
// new manifest declares the hash that they have. Payload paths are
// relative to the address as given, whatever it redirects to.
func (f *Fetcher) OpenManifest(ctx context.Context, rawURL string) (Manifest, error) {
	u, err := f.http.address(rawURL)
	if err != nil {
		return Manifest{}, err
	}
	s := source{url: u, name: diskcache.Name(u), revalidate: true, manifest: true}
	file, err := f.ensure(ctx, s)
	if err != nil {
		return Manifest{}, err
	}
	base := weburl.Folder(u).String()
	f.manifests.Store(base, s.name)
	return Manifest{File: f.cache.Path(s.name), Base: base, URL: weburl.Shown(u), Changed: file.changed, Stale: file.stale}, nil
}

// ensure makes the cache have a file, from the network where need be.
func (f *Fetcher) ensure(ctx context.Context, s source) (cachedFile, error) {
	if err := checkScheme(s.url, f.opts.AllowInsecureHTTP); err != nil {
		return cachedFile{}, err
	}
	if err := ctx.Err(); err != nil {
		return cachedFile{}, context.Cause(ctx)
	}
	if e, ok := f.fresh(s); ok {
		f.hit(s)
		return cachedFile{entry: e}, nil
	}
	// Callers that expect another size or hash need a download of their own.
	key := fmt.Sprintf("%s %d %s", s.name, s.expected.Size, s.expected.SHA256)
	file, joined, err := f.downloads.do(ctx, f.base, key, f.spawn, func(ctx context.Context) (cachedFile, error) {
		return f.download(ctx, s)
	})
	if joined {
		f.m.joined.Add(1)
	}
	if err != nil {
		return cachedFile{}, err
	}
	f.cache.Pin(s.name)
	return file, nil
}

func (f *Fetcher) hit(s source) {
	if !s.texture {
		f.m.hits.Add(1)
	}
	f.cache.Pin(s.name)
}

// fresh decides whether a cached file may be used without asking the server, and
// returns its entry. The file must be what was stored and as expected. It must also
// be of the current manifest, or have the hash that this declares; a manifest itself
// is always asked for.
func (f *Fetcher) fresh(s source) (Entry, bool) {
	if s.revalidate {
		return Entry{}, false
	}
	e, ok := f.cache.Lookup(s.name)
	if !ok {
		// After a crash there may be a file whose hash is not known.
		if e, ok = f.cache.Peek(s.name); !ok || e.SHA256 != "" || s.expected.SHA256 == "" {
			return Entry{}, false
		}
		e, ok = f.cache.Check(s.name, s.expected.SHA256)
	} else if s.doubtful {
		e, ok = f.cache.Check(s.name, "")
	}
	return e, ok && s.expected.fits(e) && (!e.Old || s.expected.SHA256 != "")
}

// fits reports whether an entry is what is expected.
func (x Expected) fits(e Entry) bool {
	return (x.Size <= 0 || x.Size == e.Size) && (x.SHA256 == "" || x.SHA256 == e.SHA256)
}

// download asks the server. It runs once for all who wait.
func (f *Fetcher) download(ctx context.Context, s source) (cachedFile, error) {
	// A download may have ended between the caller's look and this one.
	if e, ok := f.fresh(s); ok {
		f.hit(s)
		return cachedFile{entry: e}, nil
	}
	if e, ok, err := f.completeRanges(ctx, s); ok || err != nil {
		return cachedFile{entry: e}, err
	}
	before, had := f.cache.Lookup(s.name)
	if had { // or the server would confirm a file that the disk has damaged
		sum := before.SHA256
		before, had = f.cache.Check(s.name, "")
		before.SHA256 = sum // a manifest that comes as it was makes nothing old
	}
	conditional := had && s.expected.fits(before)
	if !s.texture && !conditional {
		f.m.misses.Add(1)
	}
	var file cachedFile
	tries := 0
	var rest unfinished
	defer rest.keep(f, s)
	err := f.http.attempts(ctx, s.url, func(ctx context.Context) (err error) {
		// The last attempt accepts a broken manifest, so that its reader says what is wrong.
		tries++
		s.lenient = !had && tries == f.opts.HTTP.Attempts
		file, err = f.transfer(ctx, s, before, conditional, &rest)
		return err
	})
	if err != nil && had && (s.manifest || s.texture) && ctx.Err() == nil {
		// An old copy is better than none, if it is still there.
		if e, ok := f.cache.Lookup(s.name); ok {
			f.m.staleServed.Add(1)
			f.log.Warn("an old copy serves", "url", weburl.Shown(s.url), "since", e.CachedAt, "error", err)
			return cachedFile{entry: e, stale: true}, nil
		}
	}
	if err != nil {
		return cachedFile{}, err
	}
	f.ranges.forgetReplacements(s.name)
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
func (f *Fetcher) Cache() *Cache { return &Cache{f.cache} }

// Metrics returns the counters.
func (f *Fetcher) Metrics() Metrics {
	m := f.m.metrics()
	m.BytesSaved += f.ranges.saved()
	return m
}

// WaitTextures returns when no texture is waiting or under way, or with ctx. With
// TexturesOnDemand it brings those that were asked for and given up.
func (f *Fetcher) WaitTextures(ctx context.Context) error {
	f.finishTextures(ctx)
	return f.textures.wait(ctx)
}

// Close cancels all downloads, waits for them and closes the cache. Requests
// that come later are answered with ErrClosed.
func (f *Fetcher) Close() error {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.cancel(ErrClosed)
	f.work.Wait()
	f.http.closeIdleConnections()
	return f.cache.Close()
}
