package diskcache

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"time"
)

// flushEvery is how long last accesses may be in memory only.
const flushEvery = time.Second

// Lookup finds a file that is what was stored: it has the same size, and the same
// time of change or else the same hash. That counts as a use.
func (c *Cache) Lookup(name string) (Entry, bool) {
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
			c.Use(name)
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

// sound reports whether the file of an entry is what was stored. With thorough, a
// file whose time of change differs is compared by its hash. The error says that
// the disk cannot tell.
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
	sum, size, err := c.root.hash(e.Name)
	if err != nil && !missing(err) {
		return false, err
	}
	if err != nil || size != e.Size || sum != e.SHA256 {
		return false, nil
	}
	// The folder was copied, say. The time is remembered, so that the file is read once.
	e.ModTime = info.ModTime().UnixNano()
	c.mu.Lock()
	defer c.mu.Unlock()
	if x := c.index.entries[e.Name]; x != nil && x.SHA256 == e.SHA256 {
		x.ModTime = e.ModTime
	}
	return true, nil
}

// Peek returns an entry as this process last saw it in the index, without looking at
// the file.
func (c *Cache) Peek(name string) (Entry, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.index.entries[name]; e != nil {
		return *e, true
	}
	return Entry{}, false
}

// latest is Peek with the changes of other processes.
func (c *Cache) latest(name string) (Entry, bool) {
	c.mu.Lock()
	current := c.closed || c.index.current(c.root)
	c.mu.Unlock()
	if !current {
		_ = c.catchUp() // what is known already is good enough
	}
	return c.Peek(name)
}

// Check reads a file and compares its hash with sum, or with that of its entry if sum
// is "". A file that was found after a crash gets its hash that way; a damaged one is
// removed.
func (c *Cache) Check(name, sum string) (Entry, bool) {
	known, ok := c.Peek(name)
	if sum == "" {
		sum = known.SHA256
	}
	if !ok || sum == "" || known.SHA256 != "" && known.SHA256 != sum {
		return Entry{}, false
	}
	got, size, err := c.root.hash(name)
	if err != nil || got != sum {
		if err := c.discard(&known); err == nil && known.SHA256 != "" {
			c.mu.Lock()
			c.opts.Damaged(&known)
			c.mu.Unlock()
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
	return c.Lookup(name)
}

// hash reads a file and returns its SHA-256.
func (r folder) hash(name string) (sum string, size int64, err error) {
	f, err := r.Open(filepath.FromSlash(name))
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha256.New()
	size, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), size, err
}

// Use notes an access, for eviction. The index is written now and then, not each
// time.
func (c *Cache) Use(name string) {
	now := c.opts.Now()
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

// flush writes last accesses; without wait it does nothing while another
// process has the lock.
func (c *Cache) flush(wait bool) error {
	if wait {
		c.changes.Lock()
	} else if !c.changes.TryLock() {
		return nil
	}
	defer c.changes.Unlock()
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
	c.flushed = c.opts.Now()
	used := make([]change, 0, len(c.touched))
	for _, name := range sortedKeys(c.touched) {
		if c.index.entries[name] != nil {
			used = append(used, change{Op: "use", Name: name, At: c.touched[name].UnixNano()})
		}
	}
	clear(c.touched)
	return c.append(used...)
}

// forget drops an entry whose file is gone or was changed by somebody else. A file of
// that name stays until a download replaces it, or the cache is opened again.
func (c *Cache) forget(name string) {
	_ = c.locked(func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		e := c.index.entries[name]
		if e == nil || c.root.sameFile(e) {
			return nil // another process has stored it meanwhile
		}
		c.opts.Damaged(e)
		list := []change{{Op: "drop", Name: name}}
		if c.root.present(name) {
			list = append(list, change{Op: "make", Name: name})
		}
		return c.append(list...)
	})
}

func (r folder) sameFile(e *Entry) bool {
	info, err := r.Lstat(filepath.FromSlash(e.Name))
	return err == nil && info.Mode().IsRegular() && info.Size() == e.Size && info.ModTime().UnixNano() == e.ModTime
}
