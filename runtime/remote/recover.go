package remote

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// temps makes the names of this process's temporary files differ.
var temps atomic.Int64

// deadAfter is the age from which a temporary file is taken for one of a dead
// process where locks cannot tell: longer than any download may last.
const deadAfter = time.Hour

// recover brings folder and index into agreement after a crash. The caller
// holds the lock of the folder.
func (c *Cache) recover() error {
	found, err := c.scan()
	if err != nil || !c.alone {
		return err // others keep the index in order
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []change
	for _, e := range c.sorted() {
		_, ok := found[e.Name]
		delete(found, e.Name)
		if ok && e.Whole > 0 {
			now := c.recoverPart(e.Name, e)
			if ok = now != nil; ok && now.Size != e.Size {
				list = append(list, change{Op: "put", Entry: now})
			} else if !ok {
				c.remove(e.Name)
			}
		}
		if !ok {
			list = append(list, change{Op: "drop", Name: e.Name})
		}
	}
	for _, name := range sortedKeys(found) {
		// Files that the index does not know. What they are is not certain: they
		// serve only where a manifest declares their hash. Textures have none.
		if strings.HasPrefix(name, texturesDir+"/") {
			c.remove(name)
			continue
		}
		if isPart(name) {
			if e := c.recoverPart(name, nil); e != nil {
				list = append(list, change{Op: "put", Entry: e})
			} else {
				c.remove(name)
			}
			continue
		}
		list = append(list, change{Op: "put", Entry: c.adopt(name, found[name])})
	}
	return c.append(list...)
}

// adopt makes the entry of a file without one. Its hash is not known.
func (c *Cache) adopt(name string, info fs.FileInfo) *Entry {
	e := &Entry{
		Name: name, Size: info.Size(), ModTime: info.ModTime().UnixNano(), Old: true,
		CachedAt: info.ModTime().UTC(), LastAccess: info.ModTime().UTC(),
	}
	if text, err := c.root.ReadFile(sidecarName(name)); err == nil {
		if s, ok := decodeSidecar(text); ok {
			if u, err := parseAddress(s.RemoteURL); err == nil && fileName(u) == name {
				e.URL, e.ETag = s.RemoteURL, s.ETag
			}
		}
	}
	return e
}

// scan lists the files of the cache and removes dead temporary files and
// sidecars without a file.
func (c *Cache) scan() (map[string]fs.FileInfo, error) {
	found := map[string]fs.FileInfo{}
	list, err := fs.ReadDir(c.root.FS(), ".")
	if err != nil {
		return nil, err
	}
	stems := map[string]bool{}
	for _, d := range list {
		name := d.Name()
		if strings.HasSuffix(name, tempSuffix) && d.Type().IsRegular() {
			c.removeDead(d)
			continue
		}
		if d.Type().IsRegular() && validName(name) {
			if info, err := d.Info(); err == nil {
				stem, _, _ := strings.Cut(name, ".")
				found[name], stems[stem] = info, true
			}
		}
	}
	for _, d := range list {
		if stem, ok := strings.CutSuffix(d.Name(), ".meta"); ok && c.alone && isKey(stem) && !stems[stem] {
			c.root.Remove(d.Name())
		}
		if whole, ok := strings.CutSuffix(d.Name(), haveSuffix); ok && c.alone && validName(whole) && found[whole+partSuffix] == nil {
			c.root.Remove(d.Name())
		}
	}
	err = fs.WalkDir(c.root.FS(), texturesDir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !validName(name) {
			return nil // what is not ours is left alone
		}
		if info, err := d.Info(); err == nil {
			found[name] = info
		}
		return nil
	})
	return found, err
}

// removeDead removes a temporary file of a process that is no more.
func (c *Cache) removeDead(d fs.DirEntry) {
	info, err := d.Info()
	if err != nil {
		return
	}
	if c.alone || c.opts.Clock.Now().Sub(info.ModTime()) > deadAfter {
		c.root.Remove(d.Name())
	}
}

// Damage is a file that Verify found to be not what was stored.
type Damage struct {
	Entry  Entry  `json:"entry"`
	Reason string `json:"reason"`
}

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

// judge says what is wrong with the file of an entry, "" if nothing is.
func (c *Cache) judge(e *Entry) string {
	if e.Whole > 0 {
		return c.judgePart(e)
	}
	sum, size, err := c.hash(e.Name)
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

// current reports whether an entry is still that of its file, which may have
// been replaced or evicted while it was read.
func (c *Cache) current(e *Entry) bool {
	_ = c.catchUp() // what is known already is good enough
	now, ok := c.peek(e.Name)
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
		if err := c.remove(e.Name); err != nil {
			return err
		}
		return c.append(change{Op: "drop", Name: e.Name})
	})
	if err != nil {
		return cacheError("remove "+e.Name, err)
	}
	return nil
}

// Clear removes all files and returns what they were. Files that the cache did
// not make stay.
func (c *Cache) Clear() (CacheStat, error) {
	was := c.Stat()
	err := c.locked(func() error {
		found, err := c.scan()
		if err != nil {
			return err
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, e := range c.sorted() {
			found[e.Name] = nil
		}
		var list []change
		var failed error
		for _, name := range sortedKeys(found) {
			if err := c.remove(name); err != nil {
				failed = err
				continue
			}
			list = append(list, change{Op: "drop", Name: name})
		}
		if err := c.append(list...); err != nil {
			return err
		}
		return failed
	})
	if err != nil {
		return was, cacheError("clear", err)
	}
	return was, nil
}

// sortedKeys returns the keys in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
