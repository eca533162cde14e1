package remote

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
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

// recover brings folder and index into agreement after a crash. It looks at what
// the index names and at the list of the folder itself; it walks through nothing.
// The caller holds the lock of the folder.
func (c *Cache) recover() error {
	found, err := c.scan()
	if err != nil || !c.alone {
		return err // others keep the index in order
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []change
	for _, e := range c.sorted() {
		ok := found[e.Name] != nil
		if isTexture(e.Name) {
			ok = c.present(e.Name) // or nobody can tell: then it is not forgotten
		}
		delete(found, e.Name)
		if !ok {
			c.miss(e)
		}
		if ok && e.Whole > 0 {
			now := c.recoverPart(e.Name, e)
			if ok = now != nil; ok && now.Size != e.Size {
				list = append(list, change{Op: "put", Entry: now})
			} else if !ok && c.remove(e.Name) != nil {
				continue // or nobody would know it any more
			}
		}
		if !ok {
			list = append(list, change{Op: "drop", Name: e.Name})
		}
	}
	// Files that the index does not know, or knows by their names only. What they
	// hold is not certain: they serve only where a manifest declares their hash.
	for _, name := range sortedKeys(found) {
		if e := c.adopt(name, found[name]); e != nil {
			list = append(list, change{Op: "put", Entry: e})
		}
	}
	return c.append(append(list, c.unmake(list)...)...)
}

// unmake removes the files that may have got a name and have no entry, but for
// those that changes put into the index. The caller holds mu.
func (c *Cache) unmake(changes []change) (list []change) {
	put := map[string]bool{}
	for i := range changes {
		if e := changes[i].Entry; e != nil {
			put[e.Name] = true
		}
	}
	for _, name := range sortedKeys(c.index.made) {
		if !put[name] && c.remove(name) == nil {
			list = append(list, change{Op: "drop", Name: name})
		}
	}
	return list
}

// migrate drops the textures of an earlier version, which lie where nobody looks
// for them any more, and what was stored with a password in its address. The
// caller holds the lock of the folder.
func (c *Cache) migrate() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []change
	for _, e := range c.sorted() {
		if (isTexture(e.Name) || e.URL != Redact(e.URL)) && c.remove(e.Name) == nil {
			list = append(list, change{Op: "drop", Name: e.Name})
		}
	}
	if err := c.append(list...); err != nil || c.index.gen == "" {
		return err
	}
	return c.compact() // the lines of what was dropped go too
}

// present reports whether a file may be there: not when it is missing, or something
// else has its name.
func (c *Cache) present(name string) bool {
	info, err := c.root.Lstat(filepath.FromSlash(name))
	if err != nil {
		return !missing(err) && !errors.Is(err, fs.ErrInvalid)
	}
	return info.Mode().IsRegular()
}

// isTexture reports whether a name of the index is that of a texture.
func isTexture(name string) bool { return strings.HasPrefix(name, texturesDir+"/") }

// adopt makes the entry of a file that the index does not know, nil when nothing
// proves that the file is the cache's: a name can be anybody's. Its hash is not
// known.
func (c *Cache) adopt(name string, info fs.FileInfo) *Entry {
	if isPart(name) {
		return c.recoverPart(name, nil)
	}
	s, ok := c.readSidecar(sidecarName(name))
	if !ok || s.name != name {
		return nil
	}
	return &Entry{
		Name: name, URL: s.RemoteURL, ETag: s.ETag, Size: info.Size(), ModTime: info.ModTime().UnixNano(), Old: true,
		CachedAt: info.ModTime().UTC(), LastAccess: info.ModTime().UTC(),
	}
}

// namedSidecar is a sidecar and the name of the file that its address has.
type namedSidecar struct {
	sidecar
	name string
}

// readSidecar reads the <key>.meta file of a name.
func (c *Cache) readSidecar(side string) (n namedSidecar, ok bool) {
	text, err := c.readSmall(side)
	if err != nil {
		return n, false
	}
	if n.sidecar, ok = decodeSidecar(text); !ok {
		return n, false
	}
	u, err := parseAddress(n.RemoteURL)
	if err != nil {
		return n, false
	}
	n.name = fileName(u)
	return n, sidecarName(n.name) == side
}

// scan lists the files in the folder itself that have names of the cache. Alone, it
// removes temporary files of the dead, and sidecars whose files are gone.
func (c *Cache) scan() (map[string]fs.FileInfo, error) {
	found := map[string]fs.FileInfo{}
	list, err := c.root.ReadDir(".")
	if err != nil {
		return nil, err
	}
	stems := map[string]bool{}
	for _, d := range list {
		name := d.Name()
		if !d.Type().IsRegular() {
			continue
		}
		if isTemp(name) {
			c.removeDead(d)
			continue
		}
		if validName(name) {
			if info, err := d.Info(); err == nil {
				stem, _, _ := strings.Cut(name, ".")
				found[name], stems[stem] = info, true
			}
		}
	}
	if !c.alone {
		return found, nil
	}
	for _, d := range list {
		name := d.Name()
		if stem, ok := strings.CutSuffix(name, ".meta"); ok && isKey(stem) && !stems[stem] {
			if _, proved := c.readSidecar(name); proved {
				c.root.Remove(name)
			}
		}
		if whole, ok := strings.CutSuffix(name, haveSuffix); ok && validName(whole) && found[partName(whole)] == nil {
			if _, proved := c.readHave(partName(whole)); proved {
				c.root.Remove(name)
			}
		}
	}
	return found, nil
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
		return c.failure("remove "+e.Name, err)
	}
	return nil
}

// Clear removes all files of the cache and returns what they were. What the index
// does not prove to be the cache's stays.
func (c *Cache) Clear() (CacheStat, error) {
	was := c.Stat()
	err := c.locked(func() error {
		if _, err := c.scan(); err != nil { // temporary files
			return err
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		var failed error
		list := c.unmake(nil)
		for _, e := range c.sorted() {
			if err := c.remove(e.Name); err != nil {
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
		return was, c.failure("clear", err)
	}
	return was, nil
}

// sortedKeys returns the keys in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
