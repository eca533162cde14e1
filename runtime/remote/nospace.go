package remote

import (
	"time"
)

// A disk that is full counts as a smaller budget: before a write fails for want
// of room the least recently used files go, a quarter of what is there at a time.
// So a scene goes on being streamed through what room there is. Where that does
// not help, as others take what becomes free, most of the cache stays.

const (
	// shedTries is how often files go for one write.
	shedTries = 3
	// pinForFull is pinFor of a disk that is full: their readers have opened files
	// by then, as a rule.
	pinForFull = 2 * time.Second
)

// shed removes files but those to keep, which a write needs room for, and reports
// whether there were any. The caller holds the lock of the folder and mu.
func (c *Cache) shed(keep ...string) bool {
	gone := c.trim(int64(evictTo*float64(c.index.bytes)), pinForFull, keep...)
	if c.log(gone) != nil { // others find out when they look for the files
		for i := range gone {
			c.index.apply(&gone[i])
		}
	}
	return len(gone) > 0
}

// roomy writes, and again while the disk is full and files can go instead. write
// must be able to follow on itself. The caller holds the lock of the folder and
// mu.
func (c *Cache) roomy(write func() error, keep ...string) error {
	return whileFull(write, func() bool { return c.shed(keep...) })
}

// roomyHere is roomy for a caller that holds the lock of the folder only.
func (c *Cache) roomyHere(write func() error, keep ...string) error {
	return whileFull(write, func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.shed(keep...)
	})
}

// roomyApart is roomy for a caller that holds neither.
func (c *Cache) roomyApart(write func() error, keep ...string) error {
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
			more = c.evictions != before || c.shed(keep...) // somebody else may have made room
			return nil
		})
		return err == nil && more
	})
}

// whileFull writes until that does not fail for want of room, a few times at most
// and as long as there is more room each time.
func whileFull(write func() error, more func() bool) error {
	for try := 0; ; try++ {
		err := write()
		if !noSpace(err) || try == shedTries || !more() {
			return err
		}
	}
}

// refused asks the test that wants a disk to be full before so many bytes are
// written.
func (c *Cache) refused(bytes int) error {
	if c.full == nil {
		return nil
	}
	return c.full(bytes)
}

// writeAll writes to a file of the cache.
func (c *Cache) writeAll(f diskFile, p []byte) (int, error) {
	if err := c.refused(len(p)); err != nil {
		return 0, err
	}
	return f.Write(p)
}

// writeAt writes to a place in a file of the cache.
func (c *Cache) writeAt(f diskFile, p []byte, off int64) error {
	if err := c.refused(len(p)); err != nil {
		return err
	}
	_, err := f.WriteAt(p, off)
	return err
}

// mkdirAll makes a folder of the cache, unless it is there.
func (c *Cache) mkdirAll(dir string) error {
	if err := c.refused(0); err != nil {
		return err
	}
	return c.root.MkdirAll(dir, 0o700)
}

// writeFile makes a small file of the cache anew.
func (c *Cache) writeFile(name string, p []byte) error {
	if err := c.refused(len(p)); err != nil {
		return err
	}
	return c.root.WriteFile(name, p, 0o600)
}
