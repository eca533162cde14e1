package gltfscene

import (
	"container/list"
	"math"
	"sync"
)

// cache keeps what has been decoded, the least recently used first to go. What is larger
// than all of its room stays as long as it is among the last few: several attributes of
// one primitive come out of one stream. It is safe for use by several goroutines; what
// several ask for is decoded once.
type cache struct {
	limit int64

	mu      sync.Mutex
	held    int64
	entries map[any]*cacheEntry
	recent  list.List // of keys, the last used in front
}

// cacheLeast is how many entries stay whatever their size.
const cacheLeast = 4

type cacheEntry struct {
	once  sync.Once
	value any
	size  int64
	err   error
	at    *list.Element // nil while it is made
}

func newCache(limit int64) *cache {
	return &cache{limit: limit, entries: make(map[any]*cacheEntry)}
}

// keepsAll reports whether nothing is ever let go.
func (c *cache) keepsAll() bool { return c.limit == math.MaxInt64 }

// has reports whether a key's value is at hand.
func (c *cache) has(key any) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[key]
	return e != nil && e.at != nil
}

// cached returns what make has made for key. Errors are not kept.
func cached[T any](c *cache, key any, make func() (T, int64, error)) (T, error) {
	c.mu.Lock()
	e := c.entries[key]
	if e == nil {
		e = &cacheEntry{}
		c.entries[key] = e
	} else if e.at != nil {
		c.recent.MoveToFront(e.at)
	}
	c.mu.Unlock()
	e.once.Do(func() {
		var v T
		v, e.size, e.err = make()
		e.value = v
		c.keep(key, e)
	})
	v, _ := e.value.(T)
	return v, e.err
}

// keep enters what was made and lets go of what there is no room for.
func (c *cache) keep(key any, e *cacheEntry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.err != nil {
		delete(c.entries, key)
		return
	}
	e.at = c.recent.PushFront(key)
	c.held += e.size
	for c.held > c.limit && c.recent.Len() > cacheLeast {
		last := c.recent.Back()
		old := c.entries[last.Value]
		c.recent.Remove(last)
		delete(c.entries, last.Value)
		c.held -= old.size
	}
}
