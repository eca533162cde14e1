package diskcache

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
	"path/filepath"
	"strings"
	"time"

	"github.com/untoldkit/untold/internal/bom"
	"github.com/untoldkit/untold/runtime/remote/internal/weburl"
)

// Writer is a file on its way into the cache. One goroutine uses it.
type Writer struct {
	c     *Cache
	name  string // that it is to have
	tmp   string
	file  File
	hash  hash.Hash
	size  int64
	first byte // see FirstByte
	done  bool
}

// Create opens a temporary file for the file of a name. Commit makes its bytes
// visible; otherwise Abort, which may always be deferred, removes it.
func (c *Cache) Create(name string) (*Writer, error) {
	for range 1000 {
		tmp := tempName(tempStem(name))
		var f File
		err := c.withRoom(func() (err error) {
			f, err = c.root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
			return err
		}, name)
		if err == nil {
			return &Writer{c: c, name: name, tmp: tmp, file: f, hash: sha256.New()}, nil
		}
		// A dead process with this number may have left the name behind.
		if !errors.Is(err, fs.ErrExist) {
			return nil, c.root.failure("store", err)
		}
	}
	return nil, c.root.failure("store", errors.New("too many temporary files: remove *"+tempSuffix))
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
func (w *Writer) Write(p []byte) (int, error) {
	n := 0
	err := w.c.withRoom(func() error {
		m, err := w.file.Write(p[n:])
		n += m
		return err
	}, w.name)
	w.hash.Write(p[:n])
	if w.first == 0 {
		if text := bytes.TrimLeft(p[:n], bom.UTF8+" \t\r\n"); len(text) > 0 {
			w.first = text[0]
		}
	}
	w.size += int64(n)
	if err != nil {
		return n, w.c.root.failure("store", err)
	}
	return n, nil
}

// SHA256 is the lower-case hex hash of what was written.
func (w *Writer) SHA256() string { return hex.EncodeToString(w.hash.Sum(nil)) }

// Size is how many bytes were written.
func (w *Writer) Size() int64 { return w.size }

// FirstByte is the first byte of the text that was written, after a byte order mark
// and white space; 0 when there is none.
func (w *Writer) FirstByte() byte { return w.first }

// IsJSON reports whether what was written is one JSON value.
func (w *Writer) IsJSON() (bool, error) {
	text, err := w.c.root.ReadFile(w.tmp)
	if err != nil {
		return false, w.c.root.failure("read", err)
	}
	return json.Valid(bom.Trim(text)), nil
}

// Abort removes the file unless it was committed.
func (w *Writer) Abort() {
	if !w.done {
		w.done = true
		w.file.Close()
		w.c.root.Remove(w.tmp)
	}
}

// Commit puts the file under e.Name in one step: readers see the old file or the new
// one. It returns the entry with size, hash and times filled in.
func (w *Writer) Commit(e Entry) (Entry, error) {
	if !w.c.opts.NoSync {
		if err := w.file.Sync(); err != nil {
			return e, w.c.root.failure("store", err)
		}
	}
	if err := w.file.Close(); err != nil {
		return e, w.c.root.failure("store", err)
	}
	now := w.c.opts.Now().UTC()
	e.Size, e.SHA256 = w.size, w.SHA256()
	e.CachedAt, e.LastAccess, e.Old = now, now, false
	if !e.valid() {
		return e, w.c.root.failure("store", fmt.Errorf("%q is no name of a cache file", e.Name))
	}
	if err := w.c.locked(func() error { return w.c.put(&e, w.tmp) }); err != nil {
		return e, w.c.root.failure("store "+e.Name, err)
	}
	w.done = true
	return e, nil
}

// put gives a complete file its name. The folder is not flushed, as the new name need
// not survive a crash of the machine: Lookup notices when the index names a file
// that is not there or is an older one. The caller holds changes.
func (c *Cache) put(e *Entry, tmp string) error {
	name := filepath.FromSlash(e.Name)
	if err := c.announce(e.Name); err != nil {
		return err
	}
	// The old sidecar goes before the file is replaced and the new one comes after, so
	// that no sidecar stands beside bytes of another version.
	side := sidecarName(e.Name)
	if side != "" {
		if err := c.root.Remove(side); err != nil && !missing(err) {
			return err
		}
	}
	if err := c.withRoomLocked(func() error { return c.root.moveTo(tmp, name) }, e.Name); err != nil {
		return err
	}
	// Not earlier: some systems set the time when the file is closed.
	info, err := c.root.Lstat(name)
	if err != nil {
		return err
	}
	e.ModTime = info.ModTime().UnixNano()
	if side != "" && e.ETag != "" {
		if err := c.withRoomLocked(func() error { return c.root.WriteFile(side, encodeSidecar(e), 0o600) }, e.Name); err != nil {
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

// announce writes to the index that a file may get a name, before it does, so that a
// crash leaves no file that nothing proves to be the cache's. The caller holds
// changes.
func (c *Cache) announce(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.announceMu(name)
}

// announceMu is announce for a caller that holds mu too.
func (c *Cache) announceMu(name string) error {
	if c.index.entries[name] != nil || c.index.made[name] {
		return nil
	}
	return c.append(change{Op: "make", Name: name})
}

// moveTo renames a file, and makes the folder that it goes to.
func (r folder) moveTo(tmp, name string) error {
	if dir := filepath.Dir(name); dir != "." {
		if err := r.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	return r.rename(tmp, name)
}

// Confirm notes that the server still has the version of an entry.
func (c *Cache) Confirm(e Entry) error {
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
		return c.root.failure("renew "+e.Name, err)
	}
	return nil
}

// MarkOld marks the files below the address of a folder as old, but for the one with
// the name except: the manifest there has changed.
func (c *Cache) MarkOld(folder, except string) error {
	err := c.locked(func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		var list []change
		for _, e := range c.byUse() {
			if strings.HasPrefix(e.URL, folder) && !e.Old && e.Name != except {
				list = append(list, change{Op: "old", Name: e.Name})
			}
		}
		return c.append(list...)
	})
	if err != nil {
		return c.root.failure("mark what a new manifest makes old", err)
	}
	return nil
}

// rename replaces a file. Windows refuses while somebody has the old one open, so it
// tries again for a short time.
func (r folder) rename(from, to string) error {
	pause := 5 * time.Millisecond
	for try := 0; ; try++ {
		err := r.Rename(from, to)
		if err == nil || !inUse(err) || try == 6 {
			return err
		}
		time.Sleep(pause)
		pause *= 2
	}
}

// sidecar is the <key>.meta file beside a file whose server sent an ETag, for people
// and other programs. The time is RFC 3339.
type sidecar struct {
	RemoteURL string `json:"remoteURL"`
	ETag      string `json:"etag"`
	CachedAt  string `json:"cachedAt"`
}

func encodeSidecar(e *Entry) []byte {
	text, err := json.Marshal(sidecar{RemoteURL: e.URL, ETag: e.ETag, CachedAt: e.CachedAt.Format(time.RFC3339Nano)})
	if err != nil {
		panic("diskcache: sidecar: " + err.Error()) // plain data always has a form
	}
	return text
}

// decodeSidecar reads a sidecar. It ignores the time, which may have any form.
func decodeSidecar(text []byte) (s sidecar, ok bool) {
	var raw struct {
		RemoteURL string `json:"remoteURL"`
		ETag      string `json:"etag"`
	}
	if len(text) > maxIndexLine || json.Unmarshal(text, &raw) != nil ||
		len(raw.RemoteURL) > weburl.MaxBytes || len(raw.ETag) > maxValidator {
		return s, false
	}
	return sidecar{RemoteURL: raw.RemoteURL, ETag: raw.ETag}, raw.ETag != ""
}
