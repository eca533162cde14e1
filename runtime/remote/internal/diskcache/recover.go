package diskcache

import (
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/untoldkit/untold/runtime/remote/internal/weburl"
)

// temps makes the names of this process's temporary files differ.
var temps atomic.Int64

// deadAfter is the age from which a temporary file counts as one of a process that
// has ended, where locks cannot tell: longer than any download may last.
const deadAfter = time.Hour

// recover brings folder and index into agreement after a crash. It looks at the files
// that the index names and at the list of the folder itself, and walks through no
// folder. The caller holds changes.
func (c *Cache) recover() error {
	found, err := c.scan()
	if err != nil || !c.alone {
		return err // others keep the index in order
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []change
	for _, e := range c.byUse() {
		ok := found[e.Name] != nil
		if isTexture(e.Name) {
			ok = c.root.present(e.Name) // or nobody can tell: then it is not forgotten
		}
		delete(found, e.Name)
		if !ok {
			c.opts.Damaged(e)
		}
		if ok && e.Whole > 0 {
			now := c.root.recoverPartial(e.Name, e)
			if ok = now != nil; ok && now.Size != e.Size {
				list = append(list, change{Op: "put", Entry: now})
			} else if !ok && c.root.remove(e.Name) != nil {
				continue // or nobody would know it any more
			}
		}
		if !ok {
			list = append(list, change{Op: "drop", Name: e.Name})
		}
	}
	// Files that the index does not know, or knows by their names only. Their content
	// is not certain: they serve only where a manifest declares their hash.
	for _, name := range sortedKeys(found) {
		if e := c.root.adopt(name, found[name]); e != nil {
			list = append(list, change{Op: "put", Entry: e})
		}
	}
	return c.append(append(list, c.unmake(list)...)...)
}

// unmake removes the files whose names were announced and that have no entry, but
// for those that changes put into the index. The caller holds mu.
func (c *Cache) unmake(changes []change) (list []change) {
	put := map[string]bool{}
	for i := range changes {
		if e := changes[i].Entry; e != nil {
			put[e.Name] = true
		}
	}
	for _, name := range sortedKeys(c.index.made) {
		if !put[name] && c.root.remove(name) == nil {
			list = append(list, change{Op: "drop", Name: name})
		}
	}
	return list
}

// migrate drops the textures of an earlier version, which lie where nobody looks for
// them any more, and the files whose stored address has a password. The caller holds
// changes.
func (c *Cache) migrate() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []change
	for _, e := range c.byUse() {
		if (isTexture(e.Name) || e.URL != weburl.Redact(e.URL)) && c.root.remove(e.Name) == nil {
			list = append(list, change{Op: "drop", Name: e.Name})
		}
	}
	if err := c.append(list...); err != nil || c.index.gen == "" {
		return err
	}
	return c.compact() // the lines of what was dropped go too
}

// present reports whether a file may be there: it is not when it is missing or
// something else has its name.
func (r folder) present(name string) bool {
	info, err := r.Lstat(filepath.FromSlash(name))
	if err != nil {
		return !missing(err) && !errors.Is(err, fs.ErrInvalid)
	}
	return info.Mode().IsRegular()
}

// adopt makes the entry, without a hash, of a file that the index does not know. It
// is nil when nothing proves that the file is the cache's: a name proves nothing.
func (r folder) adopt(name string, info fs.FileInfo) *Entry {
	if isPartial(name) {
		return r.recoverPartial(name, nil)
	}
	s, ok := r.readSidecar(sidecarName(name))
	if !ok || s.name != name {
		return nil
	}
	return &Entry{
		Name: name, URL: s.RemoteURL, ETag: s.ETag, Size: info.Size(), ModTime: info.ModTime().UnixNano(), Old: true,
		CachedAt: info.ModTime().UTC(), LastAccess: info.ModTime().UTC(),
	}
}

// namedSidecar is a sidecar and the name that its address gives.
type namedSidecar struct {
	sidecar
	name string
}

// readSidecar reads a sidecar. It is proved when its address gives its name.
func (r folder) readSidecar(side string) (n namedSidecar, ok bool) {
	text, err := r.readSmall(side)
	if err != nil {
		return n, false
	}
	if n.sidecar, ok = decodeSidecar(text); !ok {
		return n, false
	}
	u, err := weburl.Parse(n.RemoteURL)
	if err != nil {
		return n, false
	}
	n.name = Name(u)
	return n, sidecarName(n.name) == side
}

// scan lists the files in the folder itself that have names of the cache. It removes
// temporary files of processes that have ended and, if no other process has the
// folder open, sidecars whose files are gone.
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
		if stem, ok := strings.CutSuffix(name, sidecarSuffix); ok && isKey(stem) && !stems[stem] {
			if _, proved := c.root.readSidecar(name); proved {
				c.root.Remove(name)
			}
		}
		if whole, ok := strings.CutSuffix(name, mapSuffix); ok && validName(whole) && found[partialName(whole)] == nil {
			if _, proved := c.root.readMap(partialName(whole)); proved {
				c.root.Remove(name)
			}
		}
	}
	return found, nil
}

// removeDead removes a temporary file of a process that has ended.
func (c *Cache) removeDead(d fs.DirEntry) {
	info, err := d.Info()
	if err != nil {
		return
	}
	if c.alone || c.opts.Now().Sub(info.ModTime()) > deadAfter {
		c.root.Remove(d.Name())
	}
}

// sortedKeys returns the keys in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
