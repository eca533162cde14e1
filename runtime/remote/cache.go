package remote

import (
	"context"

	"github.com/untoldkit/untold/runtime/remote/internal/diskcache"
)

// DefaultCacheBudget is the size in bytes that a cache may have unless told
// otherwise.
const DefaultCacheBudget = diskcache.DefaultBudget

// Cache is the folder in which Fetchers keep files, for those who look after it. It
// may be used while other processes stream through the same folder. All methods may
// be called concurrently.
type Cache struct{ files *diskcache.Cache }

// Entry describes one file of a Cache: Name below the folder, URL, Size, SHA256, ETag,
// LastModified, CachedAt, LastAccess, ModTime; Old when the manifest of its scene has
// changed since it came; Whole, the size of a file of which only parts are there.
type Entry = diskcache.Entry

// CacheStat sums a Cache up: Dir, Budget, Files and Bytes, those of Textures and
// Partial files, and Evictions by this Cache.
type CacheStat = diskcache.Stat

// Damage is a file that Verify found to be not what was stored: its Entry and the
// Reason.
type Damage = diskcache.Damage

// DefaultCacheDir returns the folder untold below the system's cache folder.
func DefaultCacheDir() (string, error) { return diskcache.DefaultDir() }

// OpenCache opens the cache in a folder, which is made when missing and marked as a
// cache when empty. A folder that holds anything else is ErrForeign. Leftovers of a
// crash are cleared away. budget is in bytes; 0: DefaultCacheBudget.
func OpenCache(dir string, budget int64) (*Cache, error) {
	files, err := diskcache.Open(dir, diskcache.Options{Budget: budget})
	if err != nil {
		return nil, err
	}
	return &Cache{files}, nil
}

// Dir returns the folder.
func (c *Cache) Dir() string { return c.files.Dir() }

// Entries returns all entries, the most recently used first.
func (c *Cache) Entries() []Entry { return c.files.Entries() }

// Stat sums up.
func (c *Cache) Stat() CacheStat { return c.files.Stat() }

// Verify reads every file and compares size and hash with what was stored. Damaged
// files are removed, to be downloaded again, unless keep is set.
func (c *Cache) Verify(ctx context.Context, keep bool) ([]Damage, error) {
	return c.files.Verify(ctx, keep)
}

// Clear removes all files of the cache and sums up what they were. Files that are not
// the cache's stay.
func (c *Cache) Clear() (CacheStat, error) { return c.files.Clear() }

// Close writes the index. The Cache of a Fetcher is closed by the Fetcher.
func (c *Cache) Close() error { return c.files.Close() }
