package diskcache

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

const (
	lockName  = ".lock"
	usersName = ".users"
	// DefaultBudget is the size in bytes that a Cache may have unless told otherwise.
	DefaultBudget = 500_000_000
)

// Cache is a folder of downloaded files. Several processes may use one folder
// at a time. All methods may be called concurrently.
type Cache struct {
	opts Options
	root folder

	// changes is held, together with the lock file, while the folder is changed. It is
	// taken before mu.
	changes sync.Mutex
	lock    *os.File
	users   *os.File
	alone   bool // nobody else had the folder open when this Cache opened it

	mu        sync.Mutex
	index     index
	touched   map[string]time.Time // last accesses not written yet
	flushed   time.Time            // when it was last written
	pinned    map[string]time.Time // not evicted by this process before
	evictions int64
	closed    bool
}

// Options changes a Cache.
type Options struct {
	Budget int64            // bytes; 0: DefaultBudget
	NoSync bool             // leaves out the flush of each file to the disk
	Now    func() time.Time // nil: time.Now
	// Damaged hears of every file that turns out to be damaged or gone without having
	// been evicted. It runs under the lock of the cache and must not call it.
	Damaged func(*Entry)
	// Disk replaces the disk of the folder, for tests.
	Disk func(Disk) Disk
}

// DefaultDir returns the folder untold below the system's cache folder.
func DefaultDir() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("%w: no folder for it: %w; name one with --cache-dir (Options.CacheDir)", ErrCache, err)
	}
	return filepath.Join(dir, "untold"), nil
}

// Open opens the cache in a folder, which is made when missing and marked as a cache
// when empty. A folder that holds anything else is ErrForeign. Leftovers of a crash
// are cleared away.
func Open(dir string, opts Options) (*Cache, error) {
	if opts.Budget == 0 {
		opts.Budget = DefaultBudget
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Damaged == nil {
		opts.Damaged = func(*Entry) {}
	}
	if opts.Budget < 0 {
		return nil, fmt.Errorf("%w: the budget is %d bytes", ErrCache, opts.Budget)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, cacheError("open", err)
	}
	c := &Cache{root: folder{dir: dir, noSync: opts.NoSync}, opts: opts, index: newIndex(), touched: map[string]time.Time{}, pinned: map[string]time.Time{}, flushed: opts.Now()}
	if err := c.open(); err != nil {
		c.closeFiles()
		if errors.Is(err, ErrForeign) {
			return nil, cacheError("open "+dir, fmt.Errorf("%w; name a new or an empty folder with --cache-dir (Options.CacheDir), or remove this one by hand", err))
		}
		var kind *kindError
		if errors.As(err, &kind) {
			return nil, cacheError("open "+dir, fmt.Errorf("%w; remove it, or name another folder with --cache-dir (Options.CacheDir)", err))
		}
		return nil, cacheError("open "+dir, fmt.Errorf("%w: it must be a folder that can be written to; name another one with --cache-dir (Options.CacheDir)", err))
	}
	return c, nil
}

func (c *Cache) open() (err error) {
	if err := os.MkdirAll(c.root.dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(c.root.dir)
	if err != nil {
		return err
	}
	c.root.Disk = rootDisk{root}
	if c.opts.Disk != nil {
		c.root.Disk = c.opts.Disk(c.root.Disk)
	}
	unmarked, err := c.root.claim()
	if err != nil {
		return err
	}
	for _, f := range []struct {
		file **os.File
		name string
	}{{&c.lock, lockName}, {&c.users, usersName}} {
		if info, err := c.root.Lstat(f.name); err == nil && !info.Mode().IsRegular() {
			return &kindError{f.name, info.Mode().Type()}
		}
		if *f.file, err = openRegular(root, f.name, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
			return err
		}
	}
	return c.locked(func() error {
		c.alone = c.register()
		if err := c.recover(); err != nil || !unmarked {
			return err
		}
		return c.migrate()
	})
}

// register marks the cache as open, and reports whether no other process has it
// open. Every process holds the users file shared meanwhile; a process that gets it
// exclusively knows that all temporary files are of processes that have ended.
func (c *Cache) register() (alone bool) {
	alone, err := lockFile(c.users, true, false)
	if err == nil {
		if alone {
			err = unlockFile(c.users)
		}
		_, shareErr := lockFile(c.users, false, true)
		err = errors.Join(err, shareErr)
	}
	return alone && err == nil // a file system without locks cannot tell
}

// locked runs f with the folder locked against other processes and the index
// up to date.
func (c *Cache) locked(f func() error) error {
	c.changes.Lock()
	defer c.changes.Unlock()
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

// Dir returns the folder.
func (c *Cache) Dir() string { return c.root.dir }

// Path returns where a name lies on the disk.
func (c *Cache) Path(name string) string { return c.root.path(name) }

// byUse returns the entries, the least recently used first.
func (c *Cache) byUse() []*Entry {
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
	for _, e := range slices.Backward(c.byUse()) {
		list = append(list, *e)
	}
	return list
}

// Stat sums up.
func (c *Cache) Stat() Stat {
	_ = c.catchUp() // what is known already is good enough
	c.mu.Lock()
	defer c.mu.Unlock()
	s := Stat{Dir: c.root.dir, Budget: c.opts.Budget, Files: len(c.index.entries), Bytes: c.index.bytes, Evictions: c.evictions}
	for _, e := range c.index.entries {
		if isTexture(e.Name) || isCookedTexture(e.Name) {
			s.Textures++
			s.TextureBytes += e.Size
		}
		if e.Whole > 0 {
			s.Partial++
			s.PartialBytes += e.Size
			s.PartialWhole += e.Whole
		}
	}
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
	c.changes.Lock()
	defer c.changes.Unlock()
	c.closeFiles()
	if err != nil {
		return c.root.failure("close", err)
	}
	return nil
}

func (c *Cache) closeFiles() {
	for _, f := range []*os.File{c.lock, c.users} {
		if f != nil {
			f.Close() // and with it the lock
		}
	}
	if c.root.Disk != nil {
		c.root.Close()
	}
}
