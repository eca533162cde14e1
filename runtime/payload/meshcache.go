package payload

import (
	"context"
	"sync"
)

// MeshCache is a Loader in front of another one, for files that several entities
// of a scene name: requests with Shared. Those that ask for a file while it is
// being loaded wait for that one load. What has been loaded is kept when nobody
// uses it any more, until Trim drops it.
//
// What is kept is never handed out unasked: the inner Loader gets it as
// Request.Kept and answers with it where the file has not changed since. So a
// file that was replaced is read again, also where no hash is declared.
//
// Start and EndUnwanted are called on the owner goroutine, the other methods on
// any. Requests pass the cache by that are not Shared, or come in parts: their
// Ranges belong to one version of the file.
type MeshCache struct {
	ctx    context.Context // of the inner requests
	inner  Loader
	answer Completions

	mu     sync.Mutex
	files  map[cacheKey]*cachedFile
	loads  map[uint64]*sharedLoad // by the token of the request that began it
	uses   uint64                 // counts loads, for the order in which Trim drops
	closed bool
}

// cacheKey names a file, and what is expected of it.
type cacheKey struct {
	file, base, dir, path, sha256 string
	size                          int64
}

// cachedFile is a file that has been loaded.
type cachedFile struct {
	asset *Asset
	bytes int64
	used  uint64
}

// sharedLoad is a file that is being loaded.
type sharedLoad struct {
	key      cacheKey
	requests []Request
	kept     *Asset // a handle for the inner Loader; may be nil
	cancel   context.CancelFunc
	unwanted bool // all of the requests have been given up
}

// NewMeshCache returns a cache in front of a loader. ctx bounds its loads.
func NewMeshCache(ctx context.Context, inner Loader) *MeshCache {
	c := &MeshCache{ctx: ctx, inner: inner, files: map[cacheKey]*cachedFile{}, loads: map[uint64]*sharedLoad{}}
	c.answer.divert = c.loaded
	return c
}

// Start joins a request to the load of its file, or begins one under the
// request's token.
func (c *MeshCache) Start(req Request) {
	if !req.Shared || req.Local.Ranges != nil {
		c.inner.Start(req)
		return
	}
	key := cacheKey{req.Local.File, req.Local.Dir, req.Dir, req.Path, req.SHA256, req.Size}
	c.mu.Lock()
	for _, l := range c.loads {
		if l.key == key && !l.unwanted {
			l.requests = append(l.requests, req)
			c.mu.Unlock()
			return
		}
	}
	l := &sharedLoad{key: key, requests: []Request{req}}
	c.loads[req.Token] = l
	if f := c.files[key]; f != nil {
		l.kept = f.asset.Retain()
	}
	inner := req
	inner.Done, inner.Kept = &c.answer, l.kept
	inner.Context, l.cancel = context.WithCancel(c.ctx)
	c.mu.Unlock()
	c.inner.Start(inner)
}

// EndUnwanted cancels the loads of which all requests have been given up. Who
// gives one up calls it at once: what comes later begins a load of its own. The
// requests are answered when the inner Loader has answered.
func (c *MeshCache) EndUnwanted() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range c.loads {
		wanted := false
		for i := range l.requests {
			wanted = wanted || l.requests[i].Context.Err() == nil
		}
		if !wanted {
			l.unwanted = true
			l.cancel()
		}
	}
}

// loaded takes an answer of the inner Loader.
func (c *MeshCache) loaded(x Answer) {
	asset := x.Result.Asset
	if asset != nil {
		asset.Layout() // before it is shared
	}
	c.mu.Lock()
	l := c.loads[x.Token]
	if l == nil { // a second answer
		c.mu.Unlock()
		asset.Release()
		return
	}
	delete(c.loads, x.Token)
	answers := make([]Result, len(l.requests))
	for i := range answers {
		answers[i] = x.Result
		answers[i].Asset = asset.Retain()
	}
	if asset != nil { // what was made ready is for one of them, and not kept
		if len(answers) > 0 && answers[0].Asset != nil {
			answers[0].Asset.Ready = asset.Ready
		}
		asset.Ready = nil
	}
	drop := []*Asset{asset, l.kept}
	if !l.unwanted && !c.closed {
		if f := c.files[l.key]; f != nil {
			drop = append(drop, f.asset)
			delete(c.files, l.key)
		}
		if asset != nil && asset.buffers != nil {
			c.uses++
			c.files[l.key] = &cachedFile{asset, asset.CPUBytes(), c.uses}
			drop = drop[1:]
		}
	}
	c.mu.Unlock()
	l.cancel()
	for i := range l.requests {
		l.requests[i].Done.Loaded(l.requests[i].Token, answers[i])
	}
	for _, a := range drop {
		a.Release()
	}
}

// Trim drops files that nobody uses, the one loaded longest ago first, until
// they take at most so many bytes of main memory, and returns what it dropped.
func (c *MeshCache) Trim(most int64) (freed int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		unused, oldest, at := int64(0), (*cachedFile)(nil), cacheKey{}
		for key, f := range c.files {
			if !f.unused() {
				continue
			}
			unused += f.bytes
			if oldest == nil || f.used < oldest.used {
				oldest, at = f, key
			}
		}
		if oldest == nil || most > 0 && unused <= most {
			return freed
		}
		delete(c.files, at)
		oldest.asset.Release()
		freed += oldest.bytes
	}
}

// unused reports whether the cache alone holds a file.
func (f *cachedFile) unused() bool { return f.asset.buffers.holders.Load() == 1 }

// Close drops all that is kept, and keeps nothing of what is loaded later.
func (c *MeshCache) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.files {
		f.asset.Release()
	}
	c.files, c.closed = nil, true
}

// CacheUsage says what a MeshCache holds.
type CacheUsage struct {
	Files  int   // that have been loaded
	Bytes  int64 // of main memory that they take
	Users  int   // handles on them
	Unused int64 // bytes of files that have no user
}

// Usage returns what the cache holds.
func (c *MeshCache) Usage() (u CacheUsage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	u.Files = len(c.files)
	for _, f := range c.files {
		u.Bytes += f.bytes
		u.Users += int(f.asset.buffers.holders.Load()) - 1
		if f.unused() {
			u.Unused += f.bytes
		}
	}
	return u
}
