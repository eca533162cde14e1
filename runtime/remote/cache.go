package remote

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	texturesDir = "textures"
	lockName    = ".lock"
	usersName   = ".users"
	// maxValidator is the longest ETag or Last-Modified kept, in bytes.
	maxValidator = 1024
	// evictTo is the share of the budget that eviction leaves.
	evictTo = 0.75
	// flushEvery is how long last accesses may be in memory only.
	flushEvery = time.Second
)

// Cache is a folder of downloaded files. Several processes may use one folder
// at a time. All methods may be called concurrently.
type Cache struct {
	dir  string
	opts CacheOptions
	root disk

	// disk orders what changes the folder; it is taken before mu and held
	// together with the lock file.
	disk  sync.Mutex
	lock  *os.File
	users *os.File
	alone bool                  // when opened
	full  func(bytes int) error // asked by tests before every write, and with 0 before a folder is made; else nil
	wrap  func(disk) disk       // set by tests to put another disk in the place of the system's

	mu        sync.Mutex
	index     index
	touched   map[string]time.Time // last accesses not written yet
	flushed   time.Time            // when it was last written
	pinned    map[string]time.Time // not evicted by this process before
	evictions int64
	closed    bool

	lost atomic.Int64   // files that were damaged or gone, without having been evicted
	tell func(e *Entry) // of each of them, when a Fetcher wants to know; called with mu held
}

// CacheOptions changes a Cache.
type CacheOptions struct {
	Budget int64 // as Options.CacheBudget
	NoSync bool  // as Options.NoSync
	Clock  Clock // nil: SystemClock
}

// Entry describes one file of a Cache.
type Entry struct {
	Name         string    `json:"name"` // relative to the folder, with slashes
	URL          string    `json:"url"`  // "" when unknown
	Size         int64     `json:"size"`
	SHA256       string    `json:"sha256"` // lower-case hex; "" when not known yet
	ETag         string    `json:"etag,omitempty"`
	LastModified string    `json:"last_modified,omitempty"` // as the server sent it
	CachedAt     time.Time `json:"cached_at"`
	LastAccess   time.Time `json:"last_access"`
	ModTime      int64     `json:"mod_time"` // of the file, nanoseconds of Unix time
	// Old says that the manifest of its scene has changed since it came.
	Old bool `json:"old,omitempty"`
	// Whole is the size of a file of which only parts are here, else 0. Size is
	// that of the parts then, and SHA256 what the manifest declares of the whole.
	Whole int64 `json:"whole,omitempty"`
}

// CacheStat sums a Cache up.
type CacheStat struct {
	Dir          string `json:"dir"`
	Files        int    `json:"files"`
	Bytes        int64  `json:"bytes"`
	Budget       int64  `json:"budget"`
	Textures     int    `json:"textures"` // of Files
	TextureBytes int64  `json:"texture_bytes"`
	Partial      int    `json:"partial"`       // of Files: those of which only parts are here
	PartialBytes int64  `json:"partial_bytes"` // of these parts
	PartialWhole int64  `json:"partial_whole"` // what those files are as a whole
	Evictions    int64  `json:"evictions"`     // by this Cache
}

// DefaultCacheDir returns the folder untold below the system's cache folder.
func DefaultCacheDir() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("%w: no folder for it: %w; name one with --cache-dir (Options.CacheDir)", ErrCache, err)
	}
	return filepath.Join(dir, "untold"), nil
}

// OpenCache opens the cache in a folder, which is made when missing and marked as
// a cache when empty. A folder that holds anything else is ErrForeign. What a
// crash has left is cleared away.
func OpenCache(dir string, opts CacheOptions) (*Cache, error) { return openCacheOn(dir, opts, nil) }

func openCacheOn(dir string, opts CacheOptions, wrap func(disk) disk) (*Cache, error) {
	if opts.Budget == 0 {
		opts.Budget = DefaultCacheBudget
	}
	if opts.Clock == nil {
		opts.Clock = SystemClock{}
	}
	if opts.Budget < 0 {
		return nil, fmt.Errorf("%w: the budget is %d bytes", ErrCache, opts.Budget)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, cacheError("open", err)
	}
	c := &Cache{
		dir: dir, opts: opts, wrap: wrap, index: newIndex(), touched: map[string]time.Time{}, pinned: map[string]time.Time{}, flushed: opts.Clock.Now(),
	}
	if err := c.open(); err != nil {
		c.closeFiles()
		if errors.Is(err, ErrForeign) {
			return nil, cacheError("open "+dir, fmt.Errorf("%w; name a new or an empty folder with --cache-dir (Options.CacheDir), or remove this one by hand", err))
		}
		return nil, cacheError("open "+dir, fmt.Errorf("%w: it must be a folder that can be written to; name another one with --cache-dir (Options.CacheDir)", err))
	}
	return c, nil
}

func (c *Cache) open() (err error) {
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return err
	}
	folder, err := os.OpenRoot(c.dir)
	if err != nil {
		return err
	}
	c.root = rootDisk{folder}
	if c.wrap != nil {
		c.root = c.wrap(c.root)
	}
	older, err := c.claim()
	if err != nil {
		return err
	}
	for _, f := range []struct {
		file **os.File
		name string
	}{{&c.lock, lockName}, {&c.users, usersName}} {
		if info, err := c.root.Lstat(f.name); err == nil && !info.Mode().IsRegular() {
			return fmt.Errorf("%s is no plain file", f.name)
		}
		if *f.file, err = folder.OpenFile(f.name, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
			return err
		}
	}
	return c.locked(func() error {
		// Everyone holds users shared while the cache is open. Who gets it alone
		// knows that all temporary files are of the dead.
		c.alone, err = lockFile(c.users, true, false)
		if err == nil {
			if c.alone {
				err = unlockFile(c.users)
			}
			_, shareErr := lockFile(c.users, false, true)
			err = errors.Join(err, shareErr)
		}
		if err != nil { // a file system without locks
			c.alone = false
		}
		if err := c.recover(); err != nil || !older {
			return err
		}
		return c.migrate()
	})
}

// locked runs f with the folder locked against other processes and the index
// up to date.
func (c *Cache) locked(f func() error) error {
	c.disk.Lock()
	defer c.disk.Unlock()
	if c.isClosed() {
		return ErrClosed
	}
	// Without locks in the file system it is one process at a time.
	if _, err := lockFile(c.lock, true, true); err == nil {
		defer unlockFile(c.lock)
	}
	if err := c.catchUp(); err != nil {
		return err
	}
	return f()
}

func (c *Cache) isClosed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// catchUp reads what other processes have appended to the index.
func (c *Cache) catchUp() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return ErrClosed
	}
	if err := c.index.catchUp(c.root); err != nil {
		return err
	}
	for name, at := range c.touched {
		if e := c.index.entries[name]; e != nil && at.After(e.LastAccess) {
			e.LastAccess = at
		}
	}
	return nil
}

// miss notes that a file is not what was stored. The caller holds mu.
func (c *Cache) miss(e *Entry) {
	c.lost.Add(1)
	if c.tell != nil {
		c.tell(e)
	}
}

// failure says what the cache could not do, and where, and what helps.
func (c *Cache) failure(what string, err error) error {
	if errors.Is(err, ErrClosed) {
		return cacheError(what, err)
	}
	return cacheError(what, fmt.Errorf("%w: check the disk of %s, or use another folder (--cache-dir, Options.CacheDir)", err, c.dir))
}

// Dir returns the folder.
func (c *Cache) Dir() string { return c.dir }

// path returns where a name of the index lies.
func (c *Cache) path(name string) string { return filepath.Join(c.dir, filepath.FromSlash(name)) }

// sorted returns the entries, the least recently used first.
func (c *Cache) sorted() []*Entry {
	list := make([]*Entry, 0, len(c.index.entries))
	for _, e := range c.index.entries {
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b *Entry) int {
		return cmp.Or(a.LastAccess.Compare(b.LastAccess), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// Entries returns all entries, the most recently used first.
func (c *Cache) Entries() []Entry {
	_ = c.catchUp() // what is known already is good enough
	c.mu.Lock()
	defer c.mu.Unlock()
	list := make([]Entry, 0, len(c.index.entries))
	for _, e := range slices.Backward(c.sorted()) {
		list = append(list, *e)
	}
	return list
}

// Stat sums up.
func (c *Cache) Stat() CacheStat {
	s := CacheStat{Dir: c.dir, Budget: c.opts.Budget}
	for _, e := range c.Entries() {
		s.Files++
		s.Bytes += e.Size
		if isTexture(e.Name) {
			s.Textures++
			s.TextureBytes += e.Size
		}
		if e.Whole > 0 {
			s.Partial++
			s.PartialBytes += e.Size
			s.PartialWhole += e.Whole
		}
	}
	c.mu.Lock()
	s.Evictions = c.evictions
	c.mu.Unlock()
	return s
}

// Close writes the index. Files being stored are dropped.
func (c *Cache) Close() error {
	err := c.flush(true)
	if noSpace(err) {
		err = nil // some times of use are lost, and nothing else
	}
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.disk.Lock()
	defer c.disk.Unlock()
	c.closeFiles()
	if err != nil {
		return c.failure("close", err)
	}
	return nil
}

func (c *Cache) closeFiles() {
	for _, f := range []*os.File{c.lock, c.users} {
		if f != nil {
			f.Close() // and with it the lock
		}
	}
	if c.root != nil {
		c.root.Close()
	}
}
