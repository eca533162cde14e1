package remote

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"time"
)

// lookup finds a file that is there and is what was stored: same size, and same
// time of change or else the same hash. It counts as a use.
func (c *Cache) lookup(name string) (Entry, bool) {
	c.mu.Lock()
	current := c.closed || c.index.current(c.root)
	c.mu.Unlock()
	if !current && c.catchUp() != nil {
		return Entry{}, false
	}
	for fresh := false; ; fresh = true {
		c.mu.Lock()
		e, closed := c.index.entries[name], c.closed
		var entry Entry
		if e != nil {
			entry = *e
		}
		c.mu.Unlock()
		if closed {
			return Entry{}, false
		}
		sound, err := false, error(nil)
		if e != nil {
			sound, err = c.sound(&entry, fresh)
		}
		if sound {
			c.use(name)
			return entry, true
		}
		if err != nil {
			return Entry{}, false // it may be there all the same
		}
		if fresh || e == nil {
			if e != nil {
				c.forget(name)
			}
			return Entry{}, false
		}
		// Another process may have replaced it just now.
		if c.catchUp() != nil {
			return Entry{}, false
		}
	}
}

// sound reports whether the file of an entry is what was stored. thorough also
// compares the hash when only the time of change differs. The error says that the
// disk does not tell.
func (c *Cache) sound(e *Entry, thorough bool) (bool, error) {
	info, err := c.root.Lstat(filepath.FromSlash(e.Name))
	if missing(err) || errors.Is(err, fs.ErrInvalid) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if !info.Mode().IsRegular() || info.Size() != e.Size {
		return false, nil
	}
	if info.ModTime().UnixNano() == e.ModTime && e.SHA256 != "" {
		return true, nil
	}
	if !thorough || e.SHA256 == "" {
		return false, nil
	}
	sum, size, err := c.hash(e.Name)
	if err != nil && !missing(err) {
		return false, err
	}
	if err != nil || size != e.Size || sum != e.SHA256 {
		return false, nil
	}
	// The folder was copied, say. Remembered, so that the file is read once.
	e.ModTime = info.ModTime().UnixNano()
	c.mu.Lock()
	defer c.mu.Unlock()
	if x := c.index.entries[e.Name]; x != nil && x.SHA256 == e.SHA256 {
		x.ModTime = e.ModTime
	}
	return true, nil
}

// peek returns an entry as it is in the index.
func (c *Cache) peek(name string) (Entry, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.index.entries[name]; e != nil {
		return *e, true
	}
	return Entry{}, false
}

// latest is peek with what other processes have changed.
func (c *Cache) latest(name string) (Entry, bool) {
	c.mu.Lock()
	current := c.closed || c.index.current(c.root)
	c.mu.Unlock()
	if !current {
		_ = c.catchUp() // what is known already is good enough
	}
	return c.peek(name)
}

// check reads a file again and compares its hash with one, or with that of its
// entry if sum is "". A file that was found after a crash becomes a whole entry
// by it; a damaged one is removed.
func (c *Cache) check(name, sum string) (Entry, bool) {
	known, ok := c.peek(name)
	if sum == "" {
		sum = known.SHA256
	}
	if !ok || sum == "" || known.SHA256 != "" && known.SHA256 != sum {
		return Entry{}, false
	}
	got, size, err := c.hash(name)
	if err != nil || got != sum {
		if known.SHA256 != "" && c.discard(&known) == nil {
			c.mu.Lock()
			c.miss(&known)
			c.mu.Unlock()
		} else {
			c.discard(&known)
		}
		return Entry{}, false
	}
	err = c.locked(func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		e := c.index.entries[name]
		if e == nil || e.Size != size || e.SHA256 != "" && e.SHA256 != sum {
			return fs.ErrNotExist
		}
		if e.SHA256 == sum {
			return nil
		}
		whole := *e
		whole.SHA256, whole.Old = sum, false
		return c.append(change{Op: "put", Entry: &whole})
	})
	if err != nil {
		return Entry{}, false
	}
	return c.lookup(name)
}

// hash reads a file.
func (c *Cache) hash(name string) (sum string, size int64, err error) {
	f, err := c.root.Open(filepath.FromSlash(name))
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha256.New()
	size, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), size, err
}

// use notes an access. The index is written now and then, not each time.
func (c *Cache) use(name string) {
	now := c.opts.Clock.Now()
	c.mu.Lock()
	e := c.index.entries[name]
	if e != nil && now.After(e.LastAccess) {
		e.LastAccess = now.UTC()
		c.touched[name] = e.LastAccess
	}
	due := len(c.touched) > 0 && (now.Sub(c.flushed) >= flushEvery || now.Before(c.flushed))
	c.mu.Unlock()
	if due {
		c.flush(false)
	}
}

// pin keeps a file from eviction by this process until a time: between the
// answer of a Fetcher and the opening of the file.
func (c *Cache) pin(name string, until time.Time) {
	c.mu.Lock()
	c.pinned[name] = until
	c.mu.Unlock()
}

// flush writes last accesses; without wait it does nothing while another
// process has the lock.
func (c *Cache) flush(wait bool) error {
	if wait {
		c.disk.Lock()
	} else if !c.disk.TryLock() {
		return nil
	}
	defer c.disk.Unlock()
	if c.isClosed() {
		return nil
	}
	if ok, err := lockFile(c.lock, true, wait); err == nil && !ok {
		return nil
	} else if err == nil {
		defer unlockFile(c.lock)
	}
	if err := c.catchUp(); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flushed = c.opts.Clock.Now()
	used := make([]change, 0, len(c.touched))
	for _, name := range sortedKeys(c.touched) {
		if c.index.entries[name] != nil {
			used = append(used, change{Op: "use", Name: name, At: c.touched[name].UnixNano()})
		}
	}
	clear(c.touched)
	return c.append(used...)
}

// forget drops an entry whose file is gone or was changed by somebody else. What is
// there stays until a download replaces it, or the cache is opened again.
func (c *Cache) forget(name string) {
	_ = c.locked(func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		e := c.index.entries[name]
		if e == nil || c.sameFile(e) {
			return nil // another process has stored it meanwhile
		}
		c.miss(e)
		list := []change{{Op: "drop", Name: name}}
		if c.present(name) {
			list = append(list, change{Op: "make", Name: name})
		}
		return c.append(list...)
	})
}

func (c *Cache) sameFile(e *Entry) bool {
	info, err := c.root.Lstat(filepath.FromSlash(e.Name))
	return err == nil && info.Mode().IsRegular() && info.Size() == e.Size && info.ModTime().UnixNano() == e.ModTime
}

// missing reports whether an error says that there is no such file.
func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
