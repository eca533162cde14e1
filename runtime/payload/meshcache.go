package payload

import (
	"context"
	"sync"
)

// MeshCache is a Loader in front of another one, for scenes in which several
// tiles or entities name the same file. Requests for a file that is being
// loaded wait for that one load, and an asset that somebody holds is shared; what
// nobody holds any more is kept up to a number of bytes, and given back first
// when memory runs short. Tiles of one scene never share files, so the default
// Loader has none.
type MeshCache struct {
	inner  Loader
	keep   int64
	answer Completions

	mu     sync.Mutex
	files  map[cacheKey]*cachedFile
	flying map[uint64]*cachedFile // by token of the inner request
	token  uint64
	use    uint64 // counts requests, for the order of eviction
}

// cacheKey names a file.
type cacheKey struct{ local, dir, path, sha256 string }

// cachedFile is a file that is loaded or being loaded.
type cachedFile struct {
	key     cacheKey
	result  Result // with an asset, once it is loaded
	bytes   int64
	used    uint64
	waiting []Request // while it is being loaded
	cancel  context.CancelFunc
}

// NewMeshCache returns a cache in front of a loader that keeps up to so many
// bytes of decoded assets that nobody uses.
func NewMeshCache(inner Loader, keep int64) *MeshCache {
	c := &MeshCache{inner: inner, keep: keep, files: map[cacheKey]*cachedFile{}, flying: map[uint64]*cachedFile{}}
	c.answer.divert = c.loaded
	return c
}

// Start answers a request from the cache, or with the answer to a load.
func (c *MeshCache) Start(req Request) {
	key := cacheKey{req.Local.File, req.Dir, req.Path, req.SHA256}
	c.mu.Lock()
	c.use++
	f := c.files[key]
	if f != nil && f.waiting == nil { // loaded
		f.used = c.use
		result := f.share()
		c.mu.Unlock()
		req.Done.Loaded(req.Token, result)
		return
	}
	if f != nil {
		f.waiting = append(f.waiting, req)
		c.mu.Unlock()
		return
	}
	f = &cachedFile{key: key, used: c.use, waiting: []Request{req}}
	c.files[key] = f
	c.token++
	c.flying[c.token] = f
	inner := req
	inner.Token, inner.Done = c.token, &c.answer
	// One who gives up does not end the load for the others.
	inner.Context, f.cancel = context.WithCancel(context.WithoutCancel(req.Context))
	c.mu.Unlock()
	context.AfterFunc(req.Context, func() { c.giveUp(f) })
	c.inner.Start(inner)
}

// share returns the result with a handle of its own on the asset.
func (f *cachedFile) share() Result {
	r := f.result
	r.Asset = r.Asset.Retain()
	return r
}

// giveUp cancels a load when all who wait for it have gone.
func (c *MeshCache) giveUp(f *cachedFile) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, req := range f.waiting {
		if req.Context.Err() == nil {
			// Somebody else waits still, and looks after it from now on.
			context.AfterFunc(req.Context, func() { c.giveUp(f) })
			return
		}
	}
	f.cancel()
}

// loaded takes the answer of the inner loader.
func (c *MeshCache) loaded(x Answer) {
	if x.Result.Asset != nil {
		x.Result.Asset.Layout() // before it is shared
	}
	c.mu.Lock()
	f := c.flying[x.Token]
	if f == nil { // a second answer
		c.mu.Unlock()
		x.Result.Asset.Release()
		return
	}
	delete(c.flying, x.Token)
	waiting := f.waiting
	f.waiting, f.result = nil, x.Result
	answers := make([]Result, len(waiting))
	for i := range answers {
		answers[i] = f.share()
	}
	if x.Result.Err != nil || x.Result.Asset == nil || x.Result.Asset.buffers == nil {
		delete(c.files, f.key)
	} else {
		f.bytes = x.Result.Asset.CPUBytes()
	}
	dropped := c.trim(c.keep)
	c.mu.Unlock()
	f.cancel()
	for i, req := range waiting {
		req.Done.Loaded(req.Token, answers[i])
	}
	for _, a := range dropped {
		a.Release()
	}
}

// trim takes unused files off the cache, the one used longest ago first, until
// at most keep bytes of them are left. The caller releases the assets.
func (c *MeshCache) trim(keep int64) (dropped []*Asset) {
	for {
		unused, oldest := int64(0), (*cachedFile)(nil)
		for _, f := range c.files {
			if f.waiting != nil || f.result.Asset.buffers.holders.Load() > 1 {
				continue
			}
			unused += f.bytes
			if oldest == nil || f.used < oldest.used {
				oldest = f
			}
		}
		if oldest == nil || unused <= keep {
			return dropped
		}
		delete(c.files, oldest.key)
		dropped = append(dropped, oldest.result.Asset)
	}
}

// EvictUnused drops all assets that nobody holds and returns their bytes. The
// Streamer calls it under pressure from the system, before anything that is in
// use goes.
func (c *MeshCache) EvictUnused() (freed int64) {
	c.mu.Lock()
	before := c.bytes()
	dropped := c.trim(-1)
	freed = before - c.bytes()
	c.mu.Unlock()
	for _, a := range dropped {
		a.Release()
	}
	return freed
}

func (c *MeshCache) bytes() (sum int64) {
	for _, f := range c.files {
		sum += f.bytes
	}
	return sum
}

// CacheUsage says what a MeshCache holds.
type CacheUsage struct {
	Files   int   // loaded and being loaded
	Bytes   int64 // decoded assets
	Holders int   // who holds them beside the cache
	Unused  int64 // bytes that nobody holds
}

// Usage returns what the cache holds.
func (c *MeshCache) Usage() (u CacheUsage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	u.Files = len(c.files)
	for _, f := range c.files {
		if f.waiting != nil {
			continue
		}
		u.Bytes += f.bytes
		holders := int(f.result.Asset.buffers.holders.Load()) - 1
		u.Holders += holders
		if holders == 0 {
			u.Unused += f.bytes
		}
	}
	return u
}
