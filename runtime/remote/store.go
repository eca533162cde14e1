package remote

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const tempSuffix = ".tmp"

// staged is a file on its way into the cache. It is used by one goroutine.
type staged struct {
	c     *Cache
	name  string // that it is to have
	tmp   string
	file  diskFile
	hash  hash.Hash
	size  int64
	first byte // of the text: after a byte order mark and white space
	done  bool
}

// stage opens a temporary file for the file of a name. Its bytes become visible
// by commit; abort, which may always be deferred, removes it otherwise.
func (c *Cache) stage(name string) (*staged, error) {
	for range 1000 {
		tmp := c.tempName(tempStem(name))
		var f diskFile
		err := c.roomyApart(func() (err error) {
			f, err = c.root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
			return err
		}, name)
		if err == nil {
			return &staged{c: c, name: name, tmp: tmp, file: f, hash: sha256.New()}, nil
		}
		// A dead process with this number may have left the name behind.
		if !errors.Is(err, fs.ErrExist) {
			return nil, c.failure("store", err)
		}
	}
	return nil, c.failure("store", errors.New("too many temporary files: remove *"+tempSuffix))
}

// tempStem is the key of a name, for textures that of the name itself.
func tempStem(name string) string {
	if stem, _, _ := strings.Cut(name, "."); isKey(stem) {
		return stem
	}
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:])
}

// Write appends to the file.
func (s *staged) Write(p []byte) (int, error) {
	n := 0
	err := s.c.roomyApart(func() error {
		m, err := s.c.writeAll(s.file, p[n:])
		n += m
		return err
	}, s.name)
	s.hash.Write(p[:n])
	if s.first == 0 {
		if text := bytes.TrimLeft(p[:n], "\xef\xbb\xbf \t\r\n"); len(text) > 0 {
			s.first = text[0]
		}
	}
	s.size += int64(n)
	if err != nil {
		return n, s.c.failure("store", err)
	}
	return n, nil
}

// sum is the hash of what was written.
func (s *staged) sum() string { return hex.EncodeToString(s.hash.Sum(nil)) }

// json reports whether what was written is one JSON value.
func (s *staged) json() (bool, error) {
	text, err := s.c.root.ReadFile(s.tmp)
	if err != nil {
		return false, s.c.failure("read", err)
	}
	return json.Valid(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))), nil
}

// abort removes the file unless it was committed.
func (s *staged) abort() {
	if !s.done {
		s.done = true
		s.file.Close()
		s.c.root.Remove(s.tmp)
	}
}

// commit puts the file under e.Name, in one step: readers see the old file or
// the new one. It fills in what the bytes say.
func (s *staged) commit(e Entry) (Entry, error) {
	if !s.c.opts.NoSync {
		if err := s.file.Sync(); err != nil {
			return e, s.c.failure("store", err)
		}
	}
	if err := s.file.Close(); err != nil {
		return e, s.c.failure("store", err)
	}
	now := s.c.opts.Clock.Now().UTC()
	e.Size, e.SHA256 = s.size, s.sum()
	e.CachedAt, e.LastAccess, e.Old = now, now, false
	if !e.valid() {
		return e, s.c.failure("store", fmt.Errorf("%q is no name of a cache file", e.Name))
	}
	if err := s.c.locked(func() error { return s.c.put(&e, s.tmp) }); err != nil {
		return e, s.c.failure("store "+e.Name, err)
	}
	s.done = true
	return e, nil
}

// put gives a complete file its name. The new name need not survive a crash of
// the machine, so the folder is not flushed: an index that names a file which
// is not there, or an older one, is found out by lookup.
func (c *Cache) put(e *Entry, tmp string) error {
	name := filepath.FromSlash(e.Name)
	if err := c.announce(e.Name); err != nil {
		return err
	}
	// The sidecar goes first and comes last, so that none tells of other bytes
	// than those beside it.
	side := sidecarName(e.Name)
	if side != "" {
		if err := c.root.Remove(side); err != nil && !missing(err) {
			return err
		}
	}
	if err := c.roomyHere(func() error { return c.moveTo(tmp, name) }, e.Name); err != nil {
		return err
	}
	// Not earlier: some systems set the time when the file is closed.
	info, err := c.root.Lstat(name)
	if err != nil {
		return err
	}
	e.ModTime = info.ModTime().UnixNano()
	if side != "" && e.ETag != "" {
		if err := c.roomyHere(func() error { return c.writeFile(side, encodeSidecar(e)) }, e.Name); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.append(change{Op: "put", Entry: e}); err != nil {
		return err
	}
	return c.evict(e.Name)
}

// announce writes to the index that a file may get a name, before it does: a crash
// in between leaves no file that nobody knows to be the cache's. The caller holds
// the lock of the folder.
func (c *Cache) announce(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.announceHere(name)
}

// announceHere is announce for a caller that holds mu too.
func (c *Cache) announceHere(name string) error {
	if c.index.entries[name] != nil || c.index.made[name] {
		return nil
	}
	return c.append(change{Op: "make", Name: name})
}

// moveTo renames a file, into a folder that is made if it is missing.
func (c *Cache) moveTo(tmp, name string) error {
	if dir := filepath.Dir(name); dir != "." {
		if err := c.mkdirAll(dir); err != nil {
			return err
		}
	}
	return c.rename(tmp, name)
}

// renew notes that the server has confirmed an entry.
func (c *Cache) renew(e Entry) error {
	err := c.locked(func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		x := c.index.entries[e.Name]
		if x == nil || x.SHA256 != e.SHA256 || !x.Old && x.ETag == e.ETag && x.LastModified == e.LastModified {
			return nil
		}
		renewed := *x
		renewed.Old, renewed.ETag, renewed.LastModified = false, e.ETag, e.LastModified
		return c.append(change{Op: "put", Entry: &renewed})
	})
	if err != nil {
		return c.failure("renew "+e.Name, err)
	}
	return nil
}

// age marks what belongs to the scene at base as old: its manifest has changed.
func (c *Cache) age(base, except string) error {
	err := c.locked(func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		var list []change
		for _, e := range c.sorted() {
			if strings.HasPrefix(e.URL, base) && !e.Old && e.Name != except {
				list = append(list, change{Op: "old", Name: e.Name})
			}
		}
		return c.append(list...)
	})
	if err != nil {
		return c.failure("mark what a new manifest makes old", err)
	}
	return nil
}

// evict removes the least recently used files when the budget is exceeded. The
// caller holds the lock of the folder and mu. The file just stored stays, and so
// does what was handed out a moment ago.
func (c *Cache) evict(keep string) error {
	if c.index.bytes <= c.opts.Budget {
		return nil
	}
	return c.append(c.trim(int64(evictTo*float64(c.opts.Budget)), pinFor, keep)...)
}

// trim removes the least recently used files until so many bytes are left, and
// returns what the index has to be told. Those to keep stay, and those handed out
// within a time of at most pinFor.
func (c *Cache) trim(target int64, pinned time.Duration, keep ...string) (gone []change) {
	now := c.opts.Clock.Now()
	for name, until := range c.pinned {
		if !now.Before(until) {
			delete(c.pinned, name)
		}
	}
	left := c.index.bytes
	for _, e := range c.sorted() {
		if left <= target {
			break
		}
		until, held := c.pinned[e.Name]
		if held && until.Sub(now) > pinFor-pinned || slices.Contains(keep, e.Name) || c.remove(e.Name) != nil {
			continue // on Windows an open file cannot be removed: next time
		}
		left -= e.Size
		c.evictions++
		gone = append(gone, change{Op: "drop", Name: e.Name})
	}
	return gone
}

// remove deletes a file that the index names, its sidecar and the folders that it
// leaves empty. What has that name now and is neither a file nor a link is not the
// cache's, nor is what lies behind a link.
func (c *Cache) remove(name string) error {
	local := filepath.FromSlash(name)
	info, err := c.root.Lstat(local)
	if errors.Is(err, fs.ErrInvalid) || err == nil && info.IsDir() {
		return nil
	}
	if err == nil {
		err = c.root.Remove(local)
	}
	if err != nil && !missing(err) {
		return err
	}
	if side := sidecarName(name); side != "" {
		c.root.Remove(side)
	}
	for dir := path.Dir(name); dir != "." && dir != texturesDir; dir = path.Dir(dir) {
		if c.root.Remove(filepath.FromSlash(dir)) != nil {
			break
		}
	}
	return nil
}

// rename replaces a file. Windows refuses while somebody has the old one open,
// usually for a short time.
func (c *Cache) rename(from, to string) error {
	pause := 5 * time.Millisecond
	for try := 0; ; try++ {
		err := c.root.Rename(from, to)
		if err == nil || !inUse(err) || try == 6 {
			return err
		}
		time.Sleep(pause)
		pause *= 2
	}
}

// sidecar is the <key>.meta file beside a file whose server sent an ETag. Its
// fields are those of the reference engine; the time is RFC 3339.
type sidecar struct {
	RemoteURL string `json:"remoteURL"`
	ETag      string `json:"etag"`
	CachedAt  string `json:"cachedAt"`
}

// sidecarName returns the sidecar's name, "" for textures, which have none.
func sidecarName(name string) string {
	if isPart(name) {
		return wholeName(name) + haveSuffix
	}
	if stem, _, _ := strings.Cut(name, "."); isKey(stem) {
		return stem + ".meta"
	}
	return ""
}

func encodeSidecar(e *Entry) []byte {
	text, err := json.Marshal(sidecar{RemoteURL: e.URL, ETag: e.ETag, CachedAt: e.CachedAt.Format(time.RFC3339Nano)})
	if err != nil {
		panic("remote: sidecar: " + err.Error()) // plain data always has a form
	}
	return text
}

// decodeSidecar reads a sidecar, also one whose time has another form.
func decodeSidecar(text []byte) (s sidecar, ok bool) {
	var raw struct {
		RemoteURL string `json:"remoteURL"`
		ETag      string `json:"etag"`
	}
	if len(text) > maxIndexLine || json.Unmarshal(text, &raw) != nil ||
		len(raw.RemoteURL) > maxAddress || len(raw.ETag) > maxValidator {
		return s, false
	}
	return sidecar{RemoteURL: raw.RemoteURL, ETag: raw.ETag}, raw.ETag != ""
}
