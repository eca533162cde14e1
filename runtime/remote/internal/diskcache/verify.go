package diskcache

import (
	"context"
	"fmt"
)

// Verify reads every file and compares size and hash with what was stored.
// Damaged files are removed, to be downloaded again, unless keep is set.
func (c *Cache) Verify(ctx context.Context, keep bool) ([]Damage, error) {
	var bad []Damage
	for _, e := range c.Entries() {
		if err := ctx.Err(); err != nil {
			return bad, err
		}
		why := c.judge(&e)
		if why == "" || !c.current(&e) {
			continue
		}
		bad = append(bad, Damage{e, why})
		if keep {
			continue
		}
		if err := c.discard(&e); err != nil {
			return bad, err
		}
	}
	return bad, nil
}

// judge says what is wrong with the file of an entry, "" if nothing.
func (c *Cache) judge(e *Entry) string {
	if e.Whole > 0 {
		return c.root.judgePartial(e)
	}
	sum, size, err := c.root.hash(e.Name)
	switch {
	case missing(err):
		return "the file is missing"
	case err != nil:
		return "the file cannot be read: " + err.Error()
	case size != e.Size:
		return fmt.Sprintf("the file has %d bytes, %d were stored", size, e.Size)
	case e.SHA256 == "":
		return "the file was found without an entry in the index: its hash is not known"
	case sum != e.SHA256:
		return fmt.Sprintf("the file has the hash %s, %s was stored", sum, e.SHA256)
	}
	return ""
}

// current reports whether a file still has its entry: it may have been replaced or
// evicted while it was read.
func (c *Cache) current(e *Entry) bool {
	_ = c.catchUp() // what is known already is good enough
	now, ok := c.Peek(e.Name)
	return ok && now.SHA256 == e.SHA256 && now.CachedAt.Equal(e.CachedAt)
}

// discard removes the file of an entry, unless it has been replaced meanwhile.
func (c *Cache) discard(e *Entry) error {
	err := c.locked(func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		x := c.index.entries[e.Name]
		if x == nil || x.SHA256 != e.SHA256 || !x.CachedAt.Equal(e.CachedAt) {
			return nil
		}
		if err := c.root.remove(e.Name); err != nil {
			return err
		}
		return c.append(change{Op: "drop", Name: e.Name})
	})
	if err != nil {
		return c.root.failure("remove "+e.Name, err)
	}
	return nil
}

// Clear removes all files of the cache and sums up what they were. Files that the
// index does not prove to be the cache's stay.
func (c *Cache) Clear() (Stat, error) {
	was := c.Stat()
	err := c.locked(func() error {
		if _, err := c.scan(); err != nil { // temporary files
			return err
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		var failed error
		list := c.unmake(nil)
		for _, e := range c.byUse() {
			if err := c.root.remove(e.Name); err != nil {
				failed = err
				continue
			}
			list = append(list, change{Op: "drop", Name: e.Name})
		}
		if err := c.append(list...); err != nil {
			return err
		}
		return failed
	})
	if err != nil {
		return was, c.root.failure("clear", err)
	}
	return was, nil
}
