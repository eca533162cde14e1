package diskcache

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"time"
)

const (
	// evictTo is the share of the budget that eviction leaves.
	evictTo = 0.75
	// PinFor is how long Pin keeps a file from eviction.
	PinFor = 10 * time.Second
	// pinForFull is PinFor of a disk that is full: their readers have opened files by
	// then, as a rule.
	pinForFull = 2 * time.Second
	// roomTries is how often files go for one write to a full disk.
	roomTries = 3
)

// Pin keeps a file from eviction by this process for PinFor: long enough for
// the reader that it was handed out to to open it.
func (c *Cache) Pin(name string) {
	until := c.opts.Now().Add(PinFor)
	c.mu.Lock()
	c.pinned[name] = until
	c.mu.Unlock()
}

// evict removes the least recently used files when the budget is exceeded. The
// caller holds changes and mu. The file just stored stays, and so do files that
// were handed out a moment ago.
func (c *Cache) evict(keep string) error {
	if c.index.bytes <= c.opts.Budget {
		return nil
	}
	return c.append(c.trim(int64(evictTo*float64(c.opts.Budget)), PinFor, keep)...)
}

// trim removes the least recently used files until target bytes are left, and
// returns the changes for the index. The files to keep stay, and so do those pinned
// within the last pinned, which is at most PinFor.
func (c *Cache) trim(target int64, pinned time.Duration, keep ...string) (gone []change) {
	now := c.opts.Now()
	for name, until := range c.pinned {
		if !now.Before(until) {
			delete(c.pinned, name)
		}
	}
	left := c.index.bytes
	for _, e := range c.byUse() {
		if left <= target {
			break
		}
		until, held := c.pinned[e.Name]
		if held && until.Sub(now) > PinFor-pinned || slices.Contains(keep, e.Name) || c.root.remove(e.Name) != nil {
			continue // on Windows an open file cannot be removed: next time
		}
		left -= e.Size
		c.evictions++
		gone = append(gone, change{Op: "drop", Name: e.Name})
	}
	return gone
}

// remove deletes a file that the index names, its sidecar and the folders that it
// leaves empty. A folder in the file's place is not the cache's and stays; so does
// whatever lies behind a link.
func (r folder) remove(name string) error {
	local := filepath.FromSlash(name)
	info, err := r.Lstat(local)
	if errors.Is(err, fs.ErrInvalid) || err == nil && info.IsDir() {
		return nil
	}
	if err == nil {
		err = r.Remove(local)
	}
	if err != nil && !missing(err) {
		return err
	}
	if side := sidecarName(name); side != "" {
		r.Remove(side)
	}
	for dir := path.Dir(name); dir != "." && dir != texturesDir; dir = path.Dir(dir) {
		if r.Remove(filepath.FromSlash(dir)) != nil {
			break
		}
	}
	return nil
}

// A full disk counts as a smaller budget: before a write fails for want of room the
// least recently used files go, a quarter of what is there at a time. So a scene
// goes on streaming through the room that there is. Where that does not help, since
// other programs take what becomes free, most of the cache stays.

// makeRoom removes files, but for those to keep, and reports whether there were any.
// The caller holds changes and mu.
func (c *Cache) makeRoom(keep ...string) bool {
	gone := c.trim(int64(evictTo*float64(c.index.bytes)), pinForFull, keep...)
	if c.log(gone) != nil { // others find out when they look for the files
		for i := range gone {
			c.index.apply(&gone[i])
		}
	}
	return len(gone) > 0
}

// withRoomMu writes, and again while the disk is full and files can go instead. A
// write that is repeated must be able to follow on the one that failed. The caller
// holds changes and mu.
func (c *Cache) withRoomMu(write func() error, keep ...string) error {
	return whileFull(write, func() bool { return c.makeRoom(keep...) })
}

// withRoomLocked is withRoomMu for a caller that holds changes only.
func (c *Cache) withRoomLocked(write func() error, keep ...string) error {
	return whileFull(write, func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.makeRoom(keep...)
	})
}

// withRoom is withRoomMu for a caller that holds neither.
func (c *Cache) withRoom(write func() error, keep ...string) error {
	var before int64
	return whileFull(func() error {
		c.mu.Lock()
		before = c.evictions
		c.mu.Unlock()
		return write()
	}, func() (more bool) {
		err := c.locked(func() error {
			c.mu.Lock()
			defer c.mu.Unlock()
			more = c.evictions != before || c.makeRoom(keep...) // somebody else may have made room
			return nil
		})
		return err == nil && more
	})
}

// whileFull repeats a write that fails for want of room, a few times at most and
// only while more finds room each time.
func whileFull(write func() error, more func() bool) error {
	for try := 0; ; try++ {
		err := write()
		if !noSpace(err) || try == roomTries || !more() {
			return err
		}
	}
}
